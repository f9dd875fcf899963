// SPDX-License-Identifier: Apache-2.0
// Devices that come and go: the kernel's uevents, which anybody may listen to.
#pragma once

#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fabric::exporter {

// A socket that becomes readable with each uevent (NETLINK_KOBJECT_UEVENT, group 1; lib/kobject_uevent.c of
// Linux 6.12).
Result<Fd> open_uevents();
// Reads what has come. True: an RDMA device, a PCI function or a netdev of hardware was added, removed, moved or bound,
// or messages were lost, which may have said so.
bool drain_uevents(int fd);
// Is this message ("ACTION@PATH", then NUL-separated KEY=VALUE) one of those? Pure.
bool is_device_event(std::string_view message);

}  // namespace fabric::exporter
