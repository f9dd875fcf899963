// SPDX-License-Identifier: Apache-2.0
// fabric-exporter --lldp: listens for LLDP on the netdevs of RDMA ports and publishes the neighbors. A process of its
// own, because it requires CAP_NET_RAW and parses frames from the network.
#pragma once

#include "base/event.h"
#include "base/fd.h"
#include "kernel/netlink/netlink.h"
#include "wire/neighbor.h"

namespace fabric {

// Neighbors by the netdev on which they were heard, as long as their time to live lasts. No I/O, no clock: times are
// seconds since boot, given by the caller.
class NeighborTable {
 public:
  // A cable has one end there; a few more are firmware's agents beside the host's, or a hub. One more replaces one
  // that has not been heard a second time, or has missed a frame: names that are sent once do not keep out the switch,
  // and of a hub's many the same few stay.
  static constexpr size_t kPerPort = 4;
  // Seconds until a second frame is missing, by the default interval of 30 s.
  static constexpr double kPatience = 45;
  // A frame is valid for 18 h at most (802.1AB 8.5.4). Switches send every 30 s, and every hour at the slowest
  // (msgTxInterval, 9.2.5.7).
  static constexpr unsigned kLongestTtl = 4 * 3600;

  // Sets the netdevs to listen on (ifindex -> name). A renamed one keeps its neighbors, a missing one loses them. True:
  // something changed.
  bool listen(const std::map<int, std::string>& netdevs, double now);
  // A neighbor is known by its chassis and port: a new name replaces the old one. A time to live of 0 takes it out at
  // once. True: a neighbor is new, gone, or differs from before. Of an ifindex that is not listened to: nothing.
  bool hear(int ifindex, Neighbor neighbor, double now);
  // Takes out whose time is over.
  bool expire(double now);
  // When the next one's time is over.
  [[nodiscard]] std::optional<double> next_expiry() const;

  // Times as seconds since boot: Neighbor::heard, and in `listening` since when, or since the last frame of a neighbor
  // that is gone.
  [[nodiscard]] Neighbors neighbors() const;

 private:
  struct Entry : Neighbor {
    bool again = false;  // heard more than once
  };
  struct Port {
    std::string name;
    double since = 0;
    std::vector<Entry> heard{};
  };
  std::map<int, Port> ports_;
};

}  // namespace fabric

namespace fabric::exporter {

// The machine as the listener sees it; tests replace it by a namespace.
struct LldpWorld {
  std::string directory = "/";                          // below it: run/fabric-lldp
  std::function<std::map<int, std::string>()> netdevs;  // ifindex -> name of each netdev to listen on
  std::function<void(const char* level, const std::string& text)> log;
};

class LldpListener {
 public:
  explicit LldpListener(LldpWorld world);
  ~LldpListener();
  LldpListener(const LldpListener&) = delete;
  LldpListener& operator=(const LldpListener&) = delete;

  // Opens its sockets in the loop, which must outlive it. A netdev that fails is logged and tried again with the next
  // rescan; the others are not affected.
  Result<void> start(sd_event* loop);

 private:
  struct Socket;
  void on_frames(Socket& socket);
  void on_expiry();
  void rescan_soon();
  void rescan();
  void listen_to(int ifindex, const std::string& netdev);
  void receive(Socket& socket, const Bytes& frame);
  void publish_within(double seconds);
  void publish();
  void schedule_expiry();

  LldpWorld world_;
  sd_event* loop_ = nullptr;
  std::unique_ptr<NotificationSocket> links_;
  Fd devices_;
  EventSource link_, device_, rescan_timer_, publish_timer_, expiry_timer_;
  bool rescan_is_near_ = false;
  double publish_at_ = 0;  // seconds since boot; 0: not scheduled
  std::map<int, std::unique_ptr<Socket>> sockets_;
  NeighborTable table_;
  std::string reported_;  // the last error of publishing: logged once
};

// The whole program: 0 after SIGTERM or SIGINT.
int listen_for_lldp();

}  // namespace fabric::exporter
