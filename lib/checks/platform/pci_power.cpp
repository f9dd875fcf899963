// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "checks/checks.h"
#include "model/finding.h"
#include "topology/platform.h"

namespace fabric {
namespace {

bool sleeps(const PlatformFunction& function) { return function.power_state.starts_with("D3"); }

bool has_active_port(const Node& node, const std::string& pci) {
  return std::any_of(node.ports.begin(), node.ports.end(),
                     [&](const Port& port) { return port.pci == pci && is_active(port); });
}

Finding asleep(const InUse& each, const PlatformFunction& function) {
  const std::string control = function.power_control.empty() ? "" : ", power/control " + function.power_control;
  return bad(Status::warning, each.name, function.power_state + control, "D0, power/control on",
             "The kernel put this device to sleep: the first access wakes it, which takes up to seconds, and may fail.",
             "echo on > /sys/bus/pci/devices/" + each.device->pci +
                 "/power/control, and find what set it to auto (powertop, TLP, tuned, a udev rule).");
}

}  // namespace

// A NIC may sleep while nobody uses its ports; a GPU that serves a cluster may not. One without a driver is another
// trouble.
void ask_pci_power(const View& view, Findings& findings) {
  const Node& node = view.now;
  const bool any_port_up = std::any_of(node.ports.begin(), node.ports.end(), is_active);
  size_t awake = 0;
  for (const InUse& each : devices_in_use(node)) {
    const PlatformFunction* function = function_of(node, each.device->pci);
    if (function == nullptr || function->power_state.empty() || function->kernel_driver.empty()) continue;
    const bool used = each.nic ? has_active_port(node, each.device->pci) : any_port_up;
    if (used && sleeps(*function)) findings.push_back(asleep(each, *function));
    else awake += sleeps(*function) ? 0 : 1;
  }
  if (awake > 0) findings.push_back(good("host", std::to_string(awake) + " GPUs and NICs awake", "D0 while in use"));
}

}  // namespace fabric
