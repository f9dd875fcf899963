// SPDX-License-Identifier: Apache-2.0
#include "node/functions.h"

#include "base/find.h"
#include "node/platform.h"
#include "node/port_reader.h"
#include "node/port_role.h"

namespace fabric {

const VirtualFunction* find_function(const PhysicalFunctions& physical, const std::string& pci) {
  if (pci.empty()) return nullptr;
  for (const auto& [address, each] : physical)
    if (const auto* found = find_where(each.functions, [&](const VirtualFunction& one) { return one.pci == pci; }))
      return found;
  return nullptr;
}

}  // namespace fabric

namespace fabric::scanning {
namespace {

// The netdev through which the limits are set: the function's own, and not that of a representor or of a bond. On
// InfiniBand it is the IPoIB device.
std::string own_netdev(const Root& root, const std::string& folder, const Port& port) {
  const auto netdevs = root.names_in(folder + "/net");
  if (contains(netdevs, port.netdev)) return port.netdev;
  const auto* found = find_where(netdevs, [&](const std::string& each) { return !is_representor(root, each); });
  return found != nullptr ? *found : std::string();
}

void read_use(const Root& root, const std::string& folder, VirtualFunction& out) {
  out.pci = root.link_name(folder);
  if (out.pci.empty()) return;
  out.has_rdma = !root.names_in(folder + "/infiniband").empty();
  out.elsewhere = is_elsewhere(root, folder);
  PlatformFunction function;
  function.kernel_driver = root.link_name(folder + "/driver");
  out.given_away = is_given_away(function);
}

}  // namespace

void read_functions(const Context& context, std::vector<Port>& ports, PhysicalFunctions& out) {
  const Root& root = context.kernel.root;
  if (!context.kernel.route) return;
  for (Port& port : ports) {
    if (is_virtual(port) || port.pci.empty() || out.contains(port.pci)) continue;
    const std::string folder = "sys/bus/pci/devices/" + port.pci;
    if (root.number_in<unsigned>(folder + "/sriov_numvfs").value_or(0) == 0) continue;
    const std::string netdev = own_netdev(root, folder, port);
    if (netdev.empty()) continue;
    auto limits = rtnl::vf_limits(*context.kernel.route, netdev);
    if (!limits) {
      note_unread(port, PortPart::other, "limits of virtual functions", limits.error());
      continue;
    }
    PhysicalFunction& physical = out[port.pci];
    physical.netdev = netdev;
    for (const VfLimits& each : *limits) {
      VirtualFunction& function = physical.functions.emplace_back();
      function.limits = each;
      read_use(root, folder + "/virtfn" + std::to_string(each.number), function);
    }
  }
}

}  // namespace fabric::scanning
