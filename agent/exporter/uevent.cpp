// SPDX-License-Identifier: Apache-2.0
#include "exporter/uevent.h"

#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>

#include "base/parse.h"

namespace fabric::exporter {

Result<Fd> open_uevents() {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT));
  if (!fd) return error(errno, "uevents");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = 1;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return error(errno, "uevents");
  return fd;
}

bool is_device_event(std::string_view message) {
  bool subsystem = false, action = false;
  for (std::string_view field : split(message, '\0')) {
    // Virtual netdevs of containers are ignored.
    if (field == "SUBSYSTEM=net" && message.find("/devices/virtual/") != std::string_view::npos) return false;
    if (field == "SUBSYSTEM=infiniband" || field == "SUBSYSTEM=net" || field == "SUBSYSTEM=pci") subsystem = true;
    for (std::string_view wanted : {"ACTION=add", "ACTION=remove", "ACTION=move", "ACTION=bind", "ACTION=unbind"})
      action = action || field == wanted;
  }
  return subsystem && action;
}

bool drain_uevents(int fd) {
  std::array<char, 8192> buffer;
  for (bool any = false;;) {
    ssize_t size = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size >= 0) any = is_device_event({buffer.data(), static_cast<size_t>(size)}) || any;
    else if (errno == ENOBUFS) any = true;
    else if (errno != EINTR) return any;
  }
}

Result<AddressWatch> AddressWatch::open() {
  auto socket = NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR});
  if (!socket) return socket.error();
  return AddressWatch(std::move(*socket));
}

std::set<std::string> AddressWatch::drain() {
  constexpr size_t kMaxKnown = 4096;
  std::set<std::string> out;
  if (known_.size() > kMaxKnown) known_.clear();  // after many containers: start over
  for (const Message& message : socket_.drain().messages) {
    ifaddrmsg header{};
    if ((message.type != RTM_NEWADDR && message.type != RTM_DELADDR) || message.payload.size() < sizeof header)
      continue;
    std::memcpy(&header, message.payload.data(), sizeof header);
    const auto attributes = parse_attributes(message.payload, sizeof header);
    // IPv4 has IFA_LOCAL: IFA_ADDRESS is then the far end of a point-to-point link.
    const Attr* address = find(attributes, IFA_LOCAL);
    if (address == nullptr) address = find(attributes, IFA_ADDRESS);
    if (address == nullptr) continue;
    // The first renewal of an address that is older than this process counts as new: one needless reading.
    std::pair<int, Bytes> key{static_cast<int>(header.ifa_index), {address->value.begin(), address->value.end()}};
    if (message.type == RTM_DELADDR) known_.erase(key);
    else if (!known_.insert(std::move(key)).second) continue;
    std::array<char, IF_NAMESIZE> name{};
    if (::if_indextoname(header.ifa_index, name.data()) != nullptr) out.insert(name.data());
  }
  return out;
}

}  // namespace fabric::exporter
