// SPDX-License-Identifier: Apache-2.0
// Where the interrupts of a NIC are delivered (Documentation/core-api/irq/irq-affinity.rst and
// Documentation/ABI/testing/sysfs-bus-pci, msi_irqs, of Linux 6.12).
#pragma once

#include <string>
#include <string_view>

#include "kernel/capture/root.h"
#include "model/host.h"

namespace fabric::host {

// Fills queues and elsewhere of a NIC whose NUMA node has the CPUs `local` ("0-31,64-95"). Vectors that are not
// requested do not count, and those of commands and events are ignored because the driver chooses their CPUs. At most
// 4,096 vectors.
void read_interrupts(const Root& root, std::string_view local, NicInterrupts& nic);

// A handler of commands or events: "mlx5_async0@pci:0000:17:00.0", "ice-0000:17:00.0:misc".
bool is_control_interrupt(std::string_view name);

}  // namespace fabric::host
