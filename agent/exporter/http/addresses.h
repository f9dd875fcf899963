// SPDX-License-Identifier: Apache-2.0
// Watches IP addresses: the kernel derives the GIDs of a port from them.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "kernel/netlink/netlink.h"

namespace fabric::exporter {

// rtnetlink groups RTNLGRP_IPV4_IFADDR and RTNLGRP_IPV6_IFADDR; requires no privilege.
class AddressWatch {
 public:
  static Result<AddressWatch> open();
  [[nodiscard]] int fd() const { return socket_.fd(); }
  // Reads the notifications. Returns the interfaces that got a new address or lost one; renewed leases and router
  // advertisements do not count. Lost messages are ignored.
  std::set<std::string> drain();

 private:
  explicit AddressWatch(NotificationSocket socket) : socket_(std::move(socket)) {}
  bool is_new(const Message& message, int& ifindex);

  NotificationSocket socket_;
  std::set<std::pair<int, Bytes>> heard_;  // interface and address, without those from before the start
};

}  // namespace fabric::exporter
