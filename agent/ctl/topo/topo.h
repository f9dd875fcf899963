// SPDX-License-Identifier: Apache-2.0
// The formats of `topo`: each is a pure function of one view.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "ctl/topo/view.h"
#include "kernel/capture/root.h"

namespace fabric::ctl {

struct TopoFormat {
  std::string_view name;
  std::string (*print)(const TopoView& view);
  enum class Fold : uint8_t { none, lines, comments } fold = Fold::none;  // the lines that are folded if too long
};
std::span<const TopoFormat> topo_formats();
// Null: unknown.
const TopoFormat* find_topo_format(std::string_view name);

// The addresses of the PCI functions in a topology file for NCCL (busid="0001:00:00.0"), in lower case.
std::set<std::string> addresses_in(std::string_view xml);
// The topology file of the provider for this machine, whose PCIe switches are hidden: a file in the folders that images
// of clouds have it in, with all GPUs of the machine and their NICs. Empty: there is none, more than one, or the
// switches are visible.
std::string provider_topology_file(const Root& root, const Node& node);

}  // namespace fabric::ctl
