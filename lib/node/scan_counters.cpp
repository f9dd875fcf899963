// SPDX-License-Identifier: Apache-2.0
// Settings and counters of a port, and its other state: link status, FEC, objects in use, the module in its cage.

#include "base/parse.h"
#include "kernel/netlink/ethtool_link.h"
#include "node/counter_groups.h"
#include "node/optics_state.h"
#include "node/port_kind.h"
#include "node/port_settings.h"
#include "node/scan_port.h"

namespace fabric::scanning {
void read_settings(Context& context, Port& port) {
  if (port.netdev.empty()) return;
  if (!context.kernel.route) {  // a captured tree: the one setting that is a file
    const auto text = read_noted(context.kernel.root, "sys/class/net/" + port.netdev + "/mtu", "mtu", port);
    if (text) port.qos.mtu = parse_number<uint32_t>(*text);
    return;
  }
  auto reading = qos::read(context.kernel, port, context.options.keys);
  if (!reading) return note(port, "settings", reading.error());
  port.qos = std::move(reading->values);
  port.capacity = std::move(reading->capacity);
}

void read_counters(Context& context, Port& port) {
  if (!context.options.counters) return;
  const Kernel& kernel = context.kernel;
  const nldev::Device* device = context.device(port.rdma);
  const CounterAccess access{.root = kernel.root,
                             .rdma = device != nullptr ? kernel.rdma.get() : nullptr,
                             .statistics = kernel.statistics.get(),
                             .device = device != nullptr ? std::optional(device->index) : std::nullopt,
                             .once = true};
  PortReading reading = PortReader(access, port).read();
  port.counters.hw = std::move(reading.counters.hw);
  port.counters.pma = std::move(reading.counters.pma);
  port.counters.ethtool = std::move(reading.counters.ethtool);
  for (const Attempt& attempt : reading.attempts) {
    const std::string subject = attempt.collector == "rdma"  ? "hw counters"
                                : attempt.collector == "pma" ? "port counters"
                                                             : "ethtool statistics";
    if (!attempt.success) port.unread.push_back(subject + ": " + attempt.error);
  }
  TelemetryReader telemetry({kernel.root, kernel.generic.get(), kernel.ethtool, kernel.rdma.get()}, port);
  if (const Attempt attempt = telemetry.read(port); !attempt.success)
    port.unread.push_back("telemetry: " + attempt.error);
}

namespace {

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

void read_modules(Context& context, Node& node) {
  auto published = state::load_optics(context.kernel.root);
  if (!published || !*published) return ask_modules(context, node);
  for (Port& port : node.ports)
    if (const Transceiver* module = find_in((*published)->modules, port.netdev); module && has_cage(port))
      port.module = *module;
}

}  // namespace fabric::scanning
