// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/addresses.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <array>

namespace fabric::exporter {
namespace {

constexpr size_t kMostHeard = 4096;  // after many containers: start over

}  // namespace

Result<AddressWatch> AddressWatch::open() {
  auto socket = NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR});
  if (!socket) return socket.error();
  return AddressWatch(std::move(*socket));
}

// The first renewal of an address from before the start counts as new: one needless reading.
bool AddressWatch::is_new(const Message& message, int& ifindex) {
  ifaddrmsg header{};
  if ((message.type != RTM_NEWADDR && message.type != RTM_DELADDR) || message.payload.size() < sizeof header)
    return false;
  std::memcpy(&header, message.payload.data(), sizeof header);
  ifindex = static_cast<int>(header.ifa_index);
  const auto attributes = parse_attributes(message.payload, sizeof header);
  const Attr* address = find(attributes, IFA_LOCAL);  // of IPv4; IFA_ADDRESS is the far end of a point-to-point link
  if (address == nullptr) address = find(attributes, IFA_ADDRESS);
  if (address == nullptr) return false;
  std::pair<int, Bytes> key{ifindex, {address->value.begin(), address->value.end()}};
  if (message.type == RTM_NEWADDR) return heard_.insert(std::move(key)).second;
  heard_.erase(key);
  return true;
}

std::set<std::string> AddressWatch::drain() {
  std::set<std::string> out;
  if (heard_.size() > kMostHeard) heard_.clear();
  for (const Message& message : socket_.drain().messages) {
    int ifindex = 0;
    std::array<char, IF_NAMESIZE> name{};
    if (is_new(message, ifindex) && ::if_indextoname(static_cast<unsigned>(ifindex), name.data()) != nullptr)
      out.insert(name.data());
  }
  return out;
}

}  // namespace fabric::exporter
