// SPDX-License-Identifier: Apache-2.0
// fabric-exporter --lldp: hears LLDP on the netdevs of RDMA ports, and publishes who is there. A process of its own,
// since it takes CAP_NET_RAW and reads what strangers send.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "kernel/netlink/netlink.h"
#include "model/neighbor_table.h"

struct sd_event;
struct sd_event_source;

namespace fabric::exporter {

// Where the listener's work meets the machine; tests put a namespace's netdevs there.
struct LldpWorld {
  std::string directory = "/";                          // below it: run/fabric-lldp
  std::function<std::map<int, std::string>()> netdevs;  // ifindex -> name of what is to be listened to
  std::function<void(const char* level, const std::string& text)> log;
};
// The netdevs of the RDMA ports of this machine: of a bond its members, no virtual functions, no InfiniBand.
LldpWorld real_lldp_world();

class LldpListener {
 public:
  explicit LldpListener(LldpWorld world);
  ~LldpListener();
  LldpListener(const LldpListener&) = delete;
  LldpListener& operator=(const LldpListener&) = delete;

  // Opens its sockets in the loop, which must outlive it. A netdev that cannot be listened to is said, and tried again
  // with the next change; the others go on.
  Result<void> start(sd_event* loop);

 private:
  struct Socket;
  static int on_frames(sd_event_source*, int fd, uint32_t events, void* socket);
  static int on_links(sd_event_source*, int fd, uint32_t events, void* self);
  static int on_devices(sd_event_source*, int fd, uint32_t events, void* self);
  static int on_rescan(sd_event_source*, uint64_t, void* self);
  static int on_publish(sd_event_source*, uint64_t, void* self);
  static int on_expiry(sd_event_source*, uint64_t, void* self);

  void rescan_soon();
  void rescan();
  void listen_to(int ifindex, const std::string& netdev);
  void take(Socket& socket, const Bytes& frame);
  void publish_within(double seconds);
  void publish();
  void schedule_expiry();
  void set_timer(sd_event_source*& timer, double seconds, int (*run)(sd_event_source*, uint64_t, void*));

  LldpWorld world_;
  sd_event* loop_ = nullptr;
  std::unique_ptr<NotificationSocket> links_;
  Fd devices_;
  sd_event_source *rescan_timer_ = nullptr, *publish_timer_ = nullptr, *expiry_timer_ = nullptr;
  bool rescan_is_near_ = false;
  double publish_at_ = 0;  // seconds since boot; 0: not waiting
  std::map<int, std::unique_ptr<Socket>> sockets_;
  NeighborTable table_;
  std::string told_;  // the last fault of publishing, said once
};

// The whole program: 0 when it was told to end.
int listen_for_lldp();

}  // namespace fabric::exporter
