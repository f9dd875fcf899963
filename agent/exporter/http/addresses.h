// SPDX-License-Identifier: Apache-2.0
// IP addresses that come and go: a port's GIDs are made of them.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "kernel/netlink/netlink.h"

namespace fabric::exporter {

// Listens to rtnetlink (RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR), which anybody may.
class AddressWatch {
 public:
  static Result<AddressWatch> open();
  [[nodiscard]] int fd() const { return socket_.fd(); }
  // Reads what has come: the interfaces that have got an address which they had not, or lost one. A router's
  // advertisement or a lease that renews an address is neither. What was lost on the way is not told.
  std::set<std::string> drain();

 private:
  explicit AddressWatch(NotificationSocket socket) : socket_(std::move(socket)) {}
  bool is_new(const Message& message, int& ifindex);

  NotificationSocket socket_;
  std::set<std::pair<int, Bytes>> heard_;  // interface and address; what stood before the start is not in it
};

}  // namespace fabric::exporter
