// SPDX-License-Identifier: Apache-2.0
// The machine around the PCI tree: sockets, cores, memory without CPUs, and whether it is real.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/capture/root.h"
#include "model/node.h"

namespace fabric::machine {

// The kernel's name of the machine, else that of etc/hostname; empty: none.
std::string hostname(const Root& root);

// "0-3,64" -> 0 1 2 3 64; nothing where it is no list of CPUs, or names more than 65,536.
std::optional<std::vector<unsigned>> parse_cpus(std::string_view list);
std::string cpus_text(std::vector<unsigned> cpus);  // and back

// Fills numa_socket, memory_nodes and hypervisor; numa_cpus must stand.
void describe(const Root& root, Topology& topology);

// Fills cores: one small file for each core (tens of milliseconds on a large server), so only where they are asked for.
void read_cores(const Root& root, Topology& topology);

// Name of the hypervisor by the machine's DMI strings, as systemd-detect-virt(1) knows them; empty: real, or unknown.
std::string hypervisor_name(std::string_view vendor, std::string_view product);

}  // namespace fabric::machine
