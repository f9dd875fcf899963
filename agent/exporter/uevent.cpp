// SPDX-License-Identifier: Apache-2.0
#include "exporter/uevent.h"

#include <linux/netlink.h>
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
    // Virtual links of containers are ignored.
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

}  // namespace fabric::exporter
