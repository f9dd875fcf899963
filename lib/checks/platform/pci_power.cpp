// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "judge/platform_view.h"

namespace fabric {
namespace {

Finding asleep(const InUse& each, const PlatformFunction& function) {
  const std::string control = function.power_control.empty() ? "" : ", power/control " + function.power_control;
  return bad(Status::warning, each.name, function.power_state + control, "D0, power/control on",
             "The kernel suspended this device. The first access wakes it up, takes up to seconds and can fail.",
             "echo on > /sys/bus/pci/devices/" + each.device->pci +
                 "/power/control; then remove the tool or udev rule that set it to auto (powertop, TLP, tuned).");
}

// By default amdgpu and xe suspend an idle GPU (amdgpu_driver_load_kms() and xe_pm_runtime_init(), Linux 6.12).
bool may_sleep(const InUse& each) {
  return !each.nic && (each.device->vendor == kAmd || each.device->vendor == kIntel);
}

// A NIC without an active port may sleep. Devices without a driver are not checked.
void ask(const View& view, Findings& findings) {
  const Node& node = view.now;
  size_t awake = 0;
  for (const InUse& each : devices_in_use(view)) {
    const PlatformFunction* function = function_of(node, each.device->pci);
    if (function == nullptr || function->power_state.empty() || function->kernel_driver.empty()) continue;
    const bool sleeps = function->power_state.starts_with("D3");
    const bool used = std::ranges::any_of(
        node.ports, [&](const Port& port) { return is_active(port) && (!each.nic || port.pci == each.device->pci); });
    if (used && sleeps && !may_sleep(each)) findings.push_back(asleep(each, *function));
    else awake += sleeps ? 0 : 1;
  }
  if (awake > 0) findings.push_back(good("host", std::to_string(awake) + " GPUs and NICs awake", "D0 while in use"));
}

}  // namespace

extern const Check kPciPowerCheck{
    .id = "pci-power",
    .group = group::platform,
    .title = "A GPU or NIC in use is not in power state D0",
    .meaning =
        "A function in D3 wakes up on its first access, which takes up to seconds and can fail. On a server only a "
        "laptop tool (powertop, TLP) suspends a GPU or NIC in use. Idle GPUs of AMD and Intel may sleep: amdgpu and xe "
        "suspend them.",
    .inspect = "cat /sys/bus/pci/devices/ADDRESS/power_state /sys/bus/pci/devices/ADDRESS/power/control",
    .fix =
        "echo on > /sys/bus/pci/devices/ADDRESS/power/control, and remove the tool or udev rule that set it to auto.",
    .ask = ask,
};

}  // namespace fabric
