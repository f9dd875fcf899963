// SPDX-License-Identifier: Apache-2.0
#include "node/scan.h"

#include "base/json.h"
#include "base/parse.h"
#include "kernel/netlink/ethtool_link.h"
#include "kernel/rdma/infiniband.h"
#include "node/endpoints.h"
#include "node/inventory.h"
#include "node/machine.h"
#include "node/optics_state.h"
#include "node/port_reader.h"
#include "node/rdma_software.h"
#include "node/services.h"
#include "node/state.h"

namespace fabric {
namespace {

using scanning::Context;

bool is_excluded(const ScanOptions& options, const std::string& device) {
  return (!options.only.empty() && device != options.only) || matches_any(options.exclude, device);
}

// `unread`: Node::rdma_unread.
std::vector<Port> scan_ports(Context& context, const std::vector<std::string>& devices, std::string& unread) {
  std::vector<Port> ports;
  const Kernel& kernel = context.kernel;
  if (devices.empty()) return ports;
  if (kernel.rdma) {
    const auto known = nldev::devices(*kernel.rdma);
    if (!known) context.note_unseen("RDMA netlink: " + known.error().text());
    else
      for (const nldev::Device& device : *known) context.netlink.emplace(device.name, device);
  } else if (kernel.route) {
    context.note_unseen(
        "RDMA netlink (not open to this process): hardware counters come from sysfs, without the optional ones");
  }
  for (const std::string& device : devices) {
    if (is_excluded(context.options, device)) continue;
    const auto numbers = infiniband::ports(kernel.root, device);
    if (!numbers) {
      const bool is_gone = numbers.error().code == ENOENT || numbers.error().code == ENODEV;
      if (is_gone) context.note_unseen("the ports of " + device + ": " + numbers.error().text());
      else append_item(unread, numbers.error().text(), "; ");
      continue;
    }
    for (const unsigned number : *numbers) {
      Port port;
      port.rdma = device;
      port.number = number;
      scanning::read_identity(context, port);
      scanning::read_link(context, port);
      scanning::read_counters(context, port);
      ports.push_back(std::move(port));
      if (!context.options.members) continue;
      for (Port& member : scanning::bond_members(context, ports.back())) ports.push_back(std::move(member));
    }
  }
  scanning::make_cards_unique(ports);
  // Settings are read after the counters of all ports, so that the counters are of one moment: otherwise a port's
  // growth between two scans would seem larger if the second scan reads more settings than the first.
  for (Port& port : ports) {
    if (context.options.settings) scanning::read_settings(context, port);
    if (context.options.gids && !port.is_member()) scanning::read_gids(context, port);
  }
  return ports;
}

// Whether the tree was copied without its symbolic links: the kernel has one for each PCI device.
bool lacks_links(const Root& root) {
  return root.names_in("sys/bus/pci/devices").empty() &&
         std::ranges::any_of(root.names_in("sys/devices"), [](const auto& name) { return name.starts_with("pci"); });
}

PortPlace place_of(const Topology& topology, const std::string& address) {
  const Nic* nic = nic_at(topology, address);
  if (nic == nullptr) return PortPlace::host;
  const bool is_near = std::ranges::any_of(topology.gpus, [&](const Gpu& gpu) {
    const auto path = path_class(gpu, *nic);
    return path && *path <= PathClass::PHB;
  });
  return is_near ? PortPlace::compute : PortPlace::host;
}

// Fills Port::module of each port: from fabric-agentd's file, else from the modules.
void read_modules(Context& context, Node& node) {
  Kernel& kernel = context.kernel;
  auto published = state::load_optics(kernel.root);
  if (published && *published) {
    for (Port& port : node.ports)
      if (const Transceiver* module = find_in((*published)->modules, port.netdev); module && has_cage(port))
        port.module = *module;
    return;
  }
  if (!kernel.generic || !kernel.ethtool) return;
  ethtool::ModuleReader reader(state::decode_apart);
  for (Port& port : node.ports) {
    if (!has_cage(port)) continue;
    auto module = reader.read(*kernel.generic, *kernel.ethtool, port.netdev);
    if (module) port.module = std::move(*module);
    else if (module.error().code == EPERM) {
      context.note_unseen("optical modules (CAP_NET_ADMIN, or fabric-agentd running, which publishes them)");
      return;
    }
  }
}

}  // namespace

Node scan(Kernel& kernel, const ScanOptions& options) {
  Node node;
  node.hostname = machine::hostname(kernel.root);
  if (options.topology) {
    auto topology = load_topology(kernel);
    if (topology) node.topology = std::move(topology).value();
    else node.topology_unread = topology.error().text();
    auto inventory = load_inventory(kernel.root);
    if (inventory) node.inventory = std::move(*inventory);
    else {
      node.inventory_unread = inventory.error().text();
      node.inventory_is_newer = inventory.error().code == kNewerFormat;
    }
  }
  Context context{kernel, options, {}, {}, pci::cpu_nodes(kernel.root), node.unseen};
  const auto devices = infiniband::devices(kernel.root);
  if (!devices) node.rdma_unread = devices.error().text();
  const std::vector<std::string> names = devices ? *devices : std::vector<std::string>{};
  if (devices && names.empty() && lacks_links(kernel.root))
    node.rdma_unread =
        "/sys has PCI devices, and /sys/bus has no links to them: the tree was copied without its symbolic links "
        "(fabric-agentctl capture and tar keep them)";
  if (options.topology) {  // of the machine: not once for each device that a scan opens
    node.verbs_files = host::read_verbs_files(kernel);
    if (!names.empty()) node.rdma_cm = host::read_rdma_cm(kernel, !node.verbs_files.empty());
  }
  // Each device is opened once, before any counter is read: opening can take milliseconds, and counters should be of
  // one moment.
  if (options.verbs && kernel.verbs)
    for (const std::string& device : names) {
      if (is_excluded(options, device)) continue;
      const auto text = query_recorded(kernel, "verbs " + device, [&] { return verbs::query(device); });
      if (const auto known = text ? verbs::parse_device(*text) : std::nullopt) context.by_verbs.emplace(device, *known);
      if (!text && (text.error().code == EACCES || text.error().code == EPERM))
        context.note_unseen(
            "port attributes by libibverbs (no access to /dev/infiniband): read from sysfs; the path MTU is computed "
            "from the netdev's MTU");
    }
  node.taken = steady_now(kernel);
  node.ports = scan_ports(context, names, node.rdma_unread);
  // An SMI sub-device is on the function of its NIC, and no program can open it.
  for (const Port& port : node.ports) {
    if (port.role != PortRole::smi) continue;
    for (Nic& nic : node.topology.nics)
      if (std::erase(nic.rdma, port.rdma) > 0 && nic.name == port.rdma && !nic.rdma.empty())
        nic.name = nic.rdma.front();
  }
  if (options.topology)
    for (Port& port : node.ports) port.place = place_of(node.topology, port.pci);
  if (options.network) scanning::read_network(context, node.ports, node.network);
  if (options.neighbors) scanning::read_neighbors(context, node);
  if (options.optics) read_modules(context, node);
  if (options.host) scanning::read_host(kernel.root, node);
  if (auto state = state::load_agent_state(kernel.root)) node.agent = std::move(state).value();
  else {
    node.agent_unread = state.error().text();
    node.agent_is_newer = state.error().code == kNewerFormat;
  }
  if (options.topology && options.platform) scanning::read_platform(kernel.root, node);
  node.has_container_processes = host::has_container_processes(kernel.root);
  if (options.topology) node.lacks_verbs = !names.empty() && host::lacks_verbs(kernel, is_container(node));
  return node;
}

}  // namespace fabric
