// SPDX-License-Identifier: Apache-2.0
#include "scan/scan.h"

#include <algorithm>

#include "base/parse.h"
#include "qos/state.h"
#include "scan/port.h"
#include "sys/infiniband.h"
#include "sys/topology.h"

namespace fabric {
namespace {

using scanning::Context;

bool is_excluded(const ScanOptions& options, const std::string& device) {
  return std::any_of(options.exclude.begin(), options.exclude.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, device); });
}

std::string read_hostname(const Root& root) {
  for (const char* file : {"proc/sys/kernel/hostname", "etc/hostname"})
    if (const auto name = root.read_line(file); name && !name->empty()) return *name;
  return {};
}

void ask_devices(Context& context) {
  if (!context.kernel.rdma) {
    if (context.kernel.root.is_host())
      context.note_unseen("RDMA netlink (not open to this process): hardware counters come from sysfs, without the optional ones");
    return;
  }
  const auto devices = nldev::devices(*context.kernel.rdma);
  if (!devices) return context.note_unseen("RDMA netlink: " + devices.error().text());
  for (const nldev::Device& device : *devices) context.netlink.emplace(device.name, device);
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
      scanning::read_rest(context, port);
      ports.push_back(std::move(port));
    }
  }
  return ports;
}

void read_agent(Node& node, const Root& root) {
  auto state = state::load_agent_state(root);
  if (state) node.agent = std::move(state).value();
  else node.agent_unread = state.error().text();
  if (!node.agent_unread.empty()) node.unseen.push_back("the agent's state: " + node.agent_unread);
}

}  // namespace

Node scan(Kernel& kernel, const ScanOptions& options) {
  Node node;
  node.hostname = read_hostname(kernel.root);
  node.taken = std::chrono::steady_clock::now();
  if (options.topology) {
    auto topology = load_topology(kernel.root);
    if (topology) node.topology = std::move(topology).value();
    else node.unseen.push_back("GPUs and NICs: " + topology.error().text());
  }
  Context context{kernel, options, {}, pci::cpu_nodes(kernel.root), node.unseen};
  node.ports = scan_ports(context);
  read_agent(node, kernel.root);
  return node;
}

}  // namespace fabric
