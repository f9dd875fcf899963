// SPDX-License-Identifier: Apache-2.0
// The kernel's uevents about devices that are added or removed; requires no privilege.
#pragma once

#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fabric::exporter {

// A socket that becomes readable with each uevent (NETLINK_KOBJECT_UEVENT, group 1; lib/kobject_uevent.c of
// Linux 6.12).
Result<Fd> open_uevents();
// Reads the waiting messages. True: an RDMA device, a PCI function or a hardware netdev was added, removed, moved or
// bound, or messages were lost.
bool drain_uevents(int fd);
// Whether a message ("ACTION@PATH", then NUL-separated KEY=VALUE) is one of those. Pure.
bool is_device_event(std::string_view message);

}  // namespace fabric::exporter
