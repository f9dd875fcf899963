// SPDX-License-Identifier: Apache-2.0
// The kernel's uevents about devices that are added or removed, and its notifications about IP addresses. Requires no
// privilege.
#pragma once

#include <set>

#include "base/fd.h"
#include "kernel/netlink/netlink.h"

namespace fabric::exporter {

// A socket that becomes readable with each uevent (NETLINK_KOBJECT_UEVENT, group 1; lib/kobject_uevent.c of
// Linux 6.12).
Result<Fd> open_uevents();
// Reads the waiting messages. True: an RDMA device, a PCI function or a hardware netdev was added, removed, moved or
// bound, or messages were lost.
bool drain_uevents(int fd);
// Whether drain_uevents() reports the message: "ACTION@PATH", then NUL-separated KEY=VALUE. Pure.
bool is_device_event(std::string_view message);

// Watches IP addresses. The kernel derives the GIDs of a port from them.
class AddressWatch {
 public:
  static Result<AddressWatch> open();
  [[nodiscard]] int fd() const { return socket_.fd(); }
  // Reads the notifications. Returns the interfaces that got a new address or lost one; renewed leases and router
  // advertisements do not count. Lost messages are ignored.
  std::set<std::string> drain();

 private:
  explicit AddressWatch(NotificationSocket socket) : socket_(std::move(socket)) {}

  NotificationSocket socket_;
  std::set<std::pair<int, Bytes>> known_;  // interfaces and addresses that a notification has reported
};

}  // namespace fabric::exporter
