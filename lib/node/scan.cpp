// SPDX-License-Identifier: Apache-2.0
#include "node/scan.h"

#include "base/parse.h"
#include "kernel/netlink/ethtool_link.h"
#include "kernel/rdma/infiniband.h"
#include "node/inventory.h"
#include "node/machine.h"
#include "node/optics_state.h"
#include "node/port_reader.h"
#include "node/state.h"

namespace fabric {
namespace {

using scanning::Context;

bool is_excluded(const ScanOptions& options, const std::string& device) {
  return (!options.only.empty() && device != options.only) || matches_any(options.exclude, device);
}

void ask_devices(Context& context) {
  if (!context.kernel.rdma) {
    if (context.kernel.route)
      context.note_unseen(
          "RDMA netlink (not open to this process): hardware counters come from sysfs, without the optional ones");
    return;
  }
  const auto devices = nldev::devices(*context.kernel.rdma);
  if (!devices) return context.note_unseen("RDMA netlink: " + devices.error().text());
  for (const nldev::Device& device : *devices) context.netlink.emplace(device.name, device);
}

// One open of each device, before any counter is read: it can take milliseconds, and counters are of one moment.
void ask_verbs(Context& context) {
  if (!context.options.verbs || !context.kernel.verbs) return;
  for (const std::string& device : infiniband::devices(context.kernel.root)) {
    if (is_excluded(context.options, device)) continue;
    const auto text = query_recorded(context.kernel, "verbs " + device, [&] { return verbs::query(device); });
    if (const auto known = text ? verbs::parse_device(*text) : std::nullopt) context.by_verbs.emplace(device, *known);
    if (!text && (text.error().code == EACCES || text.error().code == EPERM))
      context.note_unseen(
          "port attributes by libibverbs (no access to /dev/infiniband): read from sysfs; the path MTU is computed "
          "from the netdev's MTU");
  }
}

std::vector<Port> scan_ports(Context& context) {
  std::vector<Port> ports;
  const Root& root = context.kernel.root;
  const auto devices = infiniband::devices(root);
  if (devices.empty()) return ports;
  ask_devices(context);
  for (const std::string& device : devices) {
    if (is_excluded(context.options, device)) continue;
    const auto numbers = infiniband::ports(root, device);
    if (!numbers) {
      context.note_unseen("the ports of " + device + ": " + numbers.error().text());
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
  scanning::tell_cards_apart(ports);
  // Behind the counters of all ports: these are of one moment, or what a port did between two scans would seem to be
  // more where the second reads more than the first.
  for (Port& port : ports) {
    if (context.options.settings) scanning::read_settings(context, port);
    if (context.options.gids && !port.is_member()) scanning::read_gids(context, port);
  }
  return ports;
}

// Below the same host bridge as a GPU, or nearer: a NIC that a machine's builder put there for its GPUs.
bool serves_a_gpu(const Topology& topology, const std::string& address) {
  const Nic* nic = find_where(topology.nics, [&](const Nic& each) { return each.pci == address; });
  return nic != nullptr && std::ranges::any_of(topology.gpus, [&](const Gpu& gpu) {
           const auto path = path_class(gpu, *nic);
           return path && *path <= PathClass::PHB;
         });
}

void ask_modules(Context& context, Node& node) {
  if (!context.kernel.generic || !context.kernel.ethtool) return;
  ethtool::ModuleReader reader(state::decode_apart);
  for (Port& port : node.ports) {
    if (!has_cage(port)) continue;
    auto module = reader.read(*context.kernel.generic, *context.kernel.ethtool, port.netdev);
    if (module) port.module = std::move(*module);
    else if (module.error().code == EPERM)
      return context.note_unseen("optical modules (CAP_NET_ADMIN, or fabric-agentd running, which publishes them)");
  }
}

// Port::module of each port.
void read_modules(Context& context, Node& node) {
  auto published = state::load_optics(context.kernel.root);
  if (!published || !*published) return ask_modules(context, node);
  for (Port& port : node.ports)
    if (const Transceiver* module = find_in((*published)->modules, port.netdev); module && has_cage(port))
      port.module = *module;
}

void read_agent(Node& node, const Root& root) {
  auto state = state::load_agent_state(root);
  node.agent_unread = state ? "" : state.error().text();
  if (state) node.agent = std::move(state).value();
  else node.unseen.push_back("the agent's state: " + node.agent_unread);
}

void read_inventory(Node& node, const Root& root) {
  auto inventory = load_inventory(root);
  if (inventory) node.inventory = std::move(*inventory);
  else node.inventory_unread = inventory.error().text();
  if (node.inventory) node.topology.gone = gone_nics(*node.inventory, node.topology);
}

}  // namespace

Node scan(Kernel& kernel, const ScanOptions& options) {
  Node node;
  node.hostname = machine::hostname(kernel.root);
  if (options.topology) {
    auto topology = load_topology(kernel);
    if (topology) node.topology = std::move(topology).value();
    else node.unseen.push_back("GPUs and NICs: " + topology.error().text());
    read_inventory(node, kernel.root);
  }
  Context context{kernel, options, {}, {}, pci::cpu_nodes(kernel.root), node.unseen};
  ask_verbs(context);
  node.taken = steady_now(kernel);
  node.ports = scan_ports(context);
  if (options.topology)
    for (Port& port : node.ports) port.serves = serves_a_gpu(node.topology, port.pci) ? "compute" : "host";
  if (options.network) scanning::read_network(context, node.ports, node.network);
  if (options.neighbors) scanning::read_neighbors(context, node);
  if (options.optics) read_modules(context, node);
  if (options.host) scanning::read_host(kernel.root, node);
  read_agent(node, kernel.root);
  if (options.topology && options.platform) scanning::read_platform(kernel.root, node);
  return node;
}

}  // namespace fabric
