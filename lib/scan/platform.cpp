// SPDX-License-Identifier: Apache-2.0
#include "scan/platform.h"

#include <utility>

#include "kernel/pci/pci_config.h"
#include "kernel/pci/platform.h"
#include "store/pci_state.h"

namespace fabric::scanning {
namespace {

// Without published data (the service needs a configuration; a tree may be another program's): read here, if the
// process may. A sleeping device is not woken.
std::optional<PciState> read_config_space(const Root& root, const Node& node) {
  PciState out;
  bool any = false;
  const auto read = [&](const std::string& address) {
    if (address.empty() || out.functions.contains(address)) return;
    const auto known = node.platform.functions.find(address);
    const bool sleeps = known != node.platform.functions.end() && known->second.power_state.starts_with("D3");
    PciSettings& function = out.functions[address];
    if (sleeps) function.unread = "it sleeps (" + known->second.power_state + ")";
    else function = pci::read_settings(root, address);
    any = any || function.mrrs;
  };
  const auto read_way = [&](const PciDevice& device) {
    if (!any && root.is_host() && !out.functions.empty()) return;  // no right to: it is the same for all
    read(device.pci);
    for (const std::string& bridge : device.bridges) read(bridge);
  };
  for (const Gpu& gpu : node.topology.gpus) read_way(gpu);
  for (const Nic& nic : node.topology.nics) read_way(nic);
  return any ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

void read_platform(const Root& root, Node& node) {
  node.platform = platform::read(root, node.topology);
  auto published = state::load_pci_state(root);
  if (published) node.pci_settings = std::move(published).value();
  else node.unseen.push_back("PCI configuration space: " + published.error().text());
  if (!node.pci_settings) node.pci_settings = read_config_space(root, node);
}

}  // namespace fabric::scanning
