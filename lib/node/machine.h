// SPDX-License-Identifier: Apache-2.0
// The machine around the PCI tree: its name, its hypervisor, lists of its CPUs.
#pragma once

#include "kernel/capture/root.h"
#include "node/node.h"

namespace fabric::machine {

// The kernel's host name, else that of etc/hostname; empty: neither.
std::string hostname(const Root& root);

// "0-3,64" -> 0 1 2 3 64; nullopt: not a list of CPUs, a number beyond 65,535, or more
// than 65,536 of them.
std::optional<std::vector<unsigned>> parse_cpus(std::string_view list);
std::string cpus_text(std::vector<unsigned> cpus);  // and back

// The hypervisor's name by the machine's DMI strings, as systemd-detect-virt(1) knows them; "an unnamed hypervisor" if
// the CPU alone says so; empty: real hardware, or unknown.
std::string hypervisor(const Root& root);
std::string hypervisor_name(std::string_view vendor, std::string_view product);

}  // namespace fabric::machine
