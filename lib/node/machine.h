// SPDX-License-Identifier: Apache-2.0
// The machine around the PCI tree: its name, its hypervisor, lists of its CPUs.
#pragma once

#include "kernel/capture/root.h"
#include "node/node.h"

namespace fabric::machine {

// The kernel's host name, else that of etc/hostname; empty: both are missing.
std::string hostname(const Root& root);

// "0-3,64" -> 0 1 2 3 64; nullopt: not a list of CPUs, a number beyond 65,535, or more than 65,536 CPUs.
std::optional<std::vector<unsigned>> parse_cpus(std::string_view list);
// 0 1 2 3 64 -> "0-3,64"
std::string cpus_text(std::vector<unsigned> cpus);

// The hypervisor's name by the machine's DMI strings, as systemd-detect-virt(1) knows them; "an unnamed hypervisor" if
// only the CPU reports one; empty: real hardware, or unknown.
std::string hypervisor(const Root& root);
inline constexpr std::string_view kHyperV = "Hyper-V";
std::string hypervisor_name(std::string_view vendor, std::string_view product);

// The cloud whose machine this is, virtual or real, by the chassis' asset tag and the vendor, as cloud-init's
// ds-identify knows them; empty: none, or another.
std::string cloud_name(std::string_view asset_tag, std::string_view vendor);

}  // namespace fabric::machine
