// SPDX-License-Identifier: Apache-2.0
// State of a port beside its settings and counters: link status, FEC, objects in use, the module in its cage.
#include "counters/telemetry.h"

#include <set>
#include <utility>

#include "kernel/netlink/ethtool_link.h"
#include "scan/port.h"
#include "store/optics_state.h"

namespace fabric::scanning {
namespace {

// A virtual function shows the module of its physical one, a bond that of none.
bool has_cage(const Port& port) {
  return !port.netdev.empty() && !port.virtual_function && port.bond != port.netdev && !port.pci.empty();
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

}  // namespace

void read_telemetry(Context& context, Port& port) {
  const Kernel& kernel = context.kernel;
  TelemetryReader reader({kernel.root, kernel.generic.get(), kernel.ethtool, kernel.rdma.get()}, port);
  Telemetry found = reader.read();
  if (!found.attempt.success) port.unread.push_back("telemetry: " + found.attempt.error);
  apply(std::move(found), port);
}

void read_modules(Context& context, Node& node) {
  auto published = state::load_optics(context.kernel.root);
  if (!published || !*published) return ask_modules(context, node);
  for (Port& port : node.ports)
    if (auto module = (*published)->modules.find(port.netdev); has_cage(port) && module != (*published)->modules.end())
      port.module = module->second;
}

}  // namespace fabric::scanning
