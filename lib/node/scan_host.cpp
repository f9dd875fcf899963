// SPDX-License-Identifier: Apache-2.0

#include "kernel/pci/pci_config.h"
#include "node/host_cpu.h"
#include "node/host_limits.h"
#include "node/pci_state.h"
#include "node/platform_reader.h"
#include "node/scan.h"

namespace fabric::scanning {
namespace {

// Where all CPUs are of one NUMA node, none can be far.
std::vector<NicInterrupts> read_nics(const Root& root, const Node& node) {
  std::vector<NicInterrupts> out;
  std::set<std::string> seen;
  const auto& cpus = node.topology.numa_cpus;
  if (cpus.size() < 2) return out;
  for (const Port& port : node.ports) {
    const auto local = port.numa ? cpus.find(*port.numa) : cpus.end();
    if (port.pci.empty() || port.virtual_function || local == cpus.end() || !seen.insert(port.pci).second) continue;
    NicInterrupts nic{.nic = port.rdma, .pci = port.pci, .numa = *port.numa};
    host::read_interrupts(root, local->second, nic);
    if (nic.queues > 0) out.push_back(std::move(nic));
  }
  return out;
}

}  // namespace

void read_host(const Root& root, Node& node) {
  Host& out = node.host.emplace();
  out.cpu = host::read_cpu(root, host::read_cpuinfo(root));
  host::read_kernel(root, out);
  host::Services services = host::read_services(root);
  out.services = std::move(services.found);
  out.irqbalance = services.irqbalance;
  out.processes_hidden = services.processes_hidden;
  out.interrupts = read_nics(root, node);
  out.user_limits = host::read_user_limits(root);
  out.slurm = host::read_slurm_limits(root);
  for (std::string& what : services.unread) node.unseen.push_back(std::move(what));
}

// Without published data (the service needs a configuration; a tree may be another program's): read here, if the
// process may. A sleeping device is not woken.
static std::optional<PciState> read_config_space(const Root& root, const Node& node) {
  PciState out;
  bool any = false, tried = false;
  const auto read = [&](const std::string& address) {
    if (address.empty() || out.functions.contains(address)) return;
    const PlatformFunction* known = find_in(node.platform.functions, address);
    PciSettings& function = out.functions[address];
    if (known != nullptr && known->power_state.starts_with("D3"))
      function.unread = "it sleeps (" + known->power_state + ")";
    else if (known != nullptr && known->link.all_ones) function.unread = "it does not answer";
    else {
      tried = true;
      function = pci::read_settings(root, address);
    }
    any = any || function.mrrs;
  };
  const auto read_way = [&](const PciDevice& device) {
    if (!any && root.is_host() && tried) return;  // no right to: it is the same for all
    read(device.pci);
    for (const std::string& bridge : device.bridges) read(bridge);
  };
  for (const Gpu& gpu : node.topology.gpus) read_way(gpu);
  for (const Nic& nic : node.topology.nics) read_way(nic);
  return any ? std::optional(std::move(out)) : std::nullopt;
}

void read_platform(const Root& root, Node& node) {
  node.platform = platform::read(root, node.topology);
  auto published = state::load_pci_state(root);
  if (published) node.pci_settings = std::move(published).value();
  else node.unseen.push_back("PCI configuration space: " + published.error().text());
  if (!node.pci_settings) node.pci_settings = read_config_space(root, node);
}

}  // namespace fabric::scanning
