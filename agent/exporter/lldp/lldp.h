// SPDX-License-Identifier: Apache-2.0
// fabric-exporter --lldp: listens for LLDP on the netdevs of RDMA ports and publishes the neighbors. A separate
// process, because it requires CAP_NET_RAW and parses frames from the network.
#pragma once

#include "base/event.h"
#include "base/fd.h"
#include "base/log_limit.h"
#include "exporter/lldp/neighbor_table.h"
#include "kernel/netlink/netlink.h"

namespace fabric::exporter {

// The machine that receives LLDP; tests replace it with a network namespace.
struct LldpHost {
  std::string directory = "/";                                  // run/fabric-lldp is below it
  std::function<Result<std::map<int, std::string>>()> netdevs;  // ifindex -> name of each netdev to listen on
  std::function<void(const char* level, const std::string& text)> log;
};

class LldpListener {
 public:
  explicit LldpListener(LldpHost host);
  ~LldpListener();
  LldpListener(const LldpListener&) = delete;
  LldpListener& operator=(const LldpListener&) = delete;

  // Opens the sockets in the loop, which must outlive the listener. If a netdev fails, this is logged and tried again
  // with the next rescan; other netdevs are not affected.
  Result<void> start(sd_event* loop);

 private:
  struct Socket;
  void on_frames(Socket& socket);
  void rescan_soon();
  void rescan();
  void listen_to(int ifindex, const std::string& netdev);
  void publish_within(double seconds);
  void publish();
  void schedule_expiry();
  // One line a minute for each subject: neighbors decide how often a frame is malformed.
  void report(const std::string& subject, const char* level, const std::string& text);

  struct JournalLine {
    const char* level;  // of sd-daemon(3)
    std::string text;
  };
  LldpHost host_;
  LogLimit<JournalLine> lines_{
      [this](const JournalLine& line, uint64_t more) { host_.log(line.level, with_more(line.text, more)); }};
  sd_event* loop_ = nullptr;
  std::unique_ptr<NotificationSocket> links_;
  Fd devices_;
  EventSource link_, device_, rescan_timer_, publish_timer_, expiry_timer_;
  bool rescan_is_near_ = false;
  double publish_at_ = 0;  // seconds since boot; 0: not scheduled
  std::map<int, std::unique_ptr<Socket>> sockets_;
  NeighborTable table_;
};

// The whole program. Returns the exit status: 0 after SIGTERM or SIGINT.
int listen_for_lldp();

}  // namespace fabric::exporter
