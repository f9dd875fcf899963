// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/parse.h"
#include "kernel/rdma/infiniband.h"
#include "scan/port.h"
#include "settings/reconcile.h"

namespace fabric::scanning {
namespace {

// RDMA netlink reads all at once and shows the optional counters, too; sysfs has the rest.
void read_hw(Context& context, Port& port) {
  if (const nldev::Device* device = context.device(port.rdma)) {
    auto answer = nldev::statistics(*context.kernel.rdma, device->index, port.number);
    if (answer) {
      port.counters.hw = std::move(answer).value();
      return;
    }
  }
  auto folder =
      infiniband::counters(context.kernel.root, infiniband::port_folder(port.rdma, port.number) + "/hw_counters");
  port.counters.hw = std::move(folder.counters);
  if (folder.failure) note(port, "hw counters", *folder.failure);
}

// Reported with the first port, after that port's own counters.
void read_device(const Context& context, Port& port) {
  if (port.number != 1) return;
  auto folder = infiniband::counters(context.kernel.root, infiniband::device_counters_folder(port.rdma));
  for (const Counter& counter : folder.counters)
    if (std::ranges::find(port.counters.hw, counter.name, &Counter::name) == port.counters.hw.end())
      port.counters.hw.push_back(counter);
  if (folder.failure) note(port, "hw counters", *folder.failure);
}

void read_pma(const Context& context, Port& port) {
  auto folder =
      infiniband::counters(context.kernel.root, infiniband::port_folder(port.rdma, port.number) + "/counters");
  port.counters.pma = std::move(folder.counters);
  if (folder.failure) note(port, "port counters", *folder.failure);
}

}  // namespace

void read_ethtool(const Context& context, Port& port) {
  if (!context.kernel.statistics || port.netdev.empty()) return;
  auto answer = context.kernel.statistics->read(port.netdev);
  if (answer) port.counters.ethtool = std::move(answer).value();
  else if (answer.error().code != EOPNOTSUPP) note(port, "ethtool statistics", answer.error());
}

void read_settings(Context& context, Port& port) {
  if (port.netdev.empty()) return;
  if (!context.kernel.route) {  // a captured tree: the one setting that is a file
    const auto text = read_noted(context.kernel.root, "sys/class/net/" + port.netdev + "/mtu", "mtu", port);
    if (text) port.qos.mtu = parse_number<uint32_t>(*text);
    return;
  }
  auto read = qos::read(context.kernel, port, context.options.keys, &port.limits);
  if (read) port.qos = std::move(read).value();
  else note(port, "settings", read.error());
}

void read_counters(Context& context, Port& port) {
  if (!context.options.counters) return;
  read_hw(context, port);
  read_device(context, port);
  read_pma(context, port);
  read_ethtool(context, port);
  read_telemetry(context, port);
}

}  // namespace fabric::scanning
