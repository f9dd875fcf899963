// SPDX-License-Identifier: Apache-2.0
// How the CPUs run (frequency, idle states, clock), and what of memory and the kernel's own restrictions bears on jobs.
// Sources: Documentation/admin-guide/pm/{cpufreq,cpuidle,intel_pstate,amd-pstate}.rst, Documentation/ABI/testing/
// sysfs-devices-system-cpu, Documentation/admin-guide/mm/{hugetlbpage,transhuge}.rst of Linux 6.12.
#pragma once

#include "kernel/capture/root.h"
#include "node/host.h"

namespace fabric::host {

// The kernel's parameters, split as by next_arg() of lib/cmdline.c (Linux 6.12): a space within quotes does not split,
// and quotes around a parameter or its value are removed. Parameters after "--" belong to init.
std::vector<std::string> kernel_parameters(std::string_view command_line);

// Whether the CPU says that it is a virtual machine's: the flag "hypervisor" of /proc/cpuinfo; nullopt: not x86.
std::optional<bool> is_virtual_cpu(std::string_view cpuinfo);

// The text of /proc/cpuinfo, some 2 KiB for each CPU; empty: not readable.
std::string read_cpuinfo(const Root& root);

// Two or three small files for each CPU: its governor, with "powersave" what the hardware prefers, whether its deepest
// idle states are disabled.
HostCpu read_cpu(const Root& root, std::string_view cpuinfo);

// memory, kernel_options, numa_balancing, clock, huge_pages, lockdown.
void read_kernel(const Root& root, Host& host);

// Where the interrupts of a NIC are delivered (Documentation/core-api/irq/irq-affinity.rst and
// Documentation/ABI/testing/sysfs-bus-pci, msi_irqs, of Linux 6.12).

// Fills queues and elsewhere of a NIC whose NUMA node has the CPUs `local` ("0-31,64-95"). Vectors that are not
// requested do not count, and those of commands and events are ignored because the driver chooses their CPUs. At most
// 4,096 vectors.
void read_interrupts(const Root& root, std::string_view local, NicInterrupts& nic);

// A handler of commands or events: "mlx5_async0@pci:0000:17:00.0", "ice-0000:17:00.0:misc".
bool is_control_interrupt(std::string_view name);

}  // namespace fabric::host
