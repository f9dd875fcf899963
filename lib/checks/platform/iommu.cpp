// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include "checks/checks.h"
#include "model/finding.h"
#include "topology/platform.h"

namespace fabric {
namespace {

// What the kernel calls a group's default domain (drivers/iommu/iommu.c, iommu_group_show_type).
constexpr std::string_view kStrict = "DMA", kLazy = "DMA-FQ", kPassThrough = "identity";

std::string_view mode_text(const std::string& type) {
  if (type == kStrict) return "translate, strict (DMA)";
  if (type == kLazy) return "translate, lazy (DMA-FQ)";
  return "pass-through (identity)";
}

std::string words_text(const Platform& platform) {
  return platform.command_line.empty() ? std::string() : "; kernel command line: " + joined(platform.command_line);
}

// iommu=pt is x86's, iommu.passthrough=1 arm64's as well (Documentation/admin-guide/kernel-parameters.txt of
// Linux 6.12). UNVERIFIED on NVIDIA Grace: its GPUs translate addresses by the SMMU (ATS), and arm-smmu-v3 has not
// always shared address spaces with devices in pass-through.
constexpr const char* kRemedy =
    "Add iommu=pt to the kernel's command line (on arm64 iommu.passthrough=1; with NVIDIA Grace try it on one node "
    "first, since its GPUs use the SMMU themselves) and reboot.";

}  // namespace

// On real hardware: in a guest the host decides, and the guest's own IOMMU is there for a reason.
void ask_iommu(const View& view, Findings& findings) {
  const Node& node = view.now;
  const Platform& platform = node.platform;
  if (!node.topology.hypervisor.empty()) return;
  const auto devices = devices_in_use(node);
  std::map<std::string, std::vector<std::string>> by_type;
  for (const InUse& each : devices) {
    const PlatformFunction* function = function_of(node, each.device->pci);
    const auto group =
        function == nullptr ? platform.iommu_groups.end() : platform.iommu_groups.find(function->iommu_group);
    if (group == platform.iommu_groups.end()) continue;
    if (group->second == kStrict || group->second == kLazy || group->second == kPassThrough)
      by_type[group->second].push_back(each.name);
  }
  std::string observed, translated;
  for (const auto& [type, names] : by_type) {
    observed.append(observed.empty() ? "" : "; ").append(mode_text(type)).append(": ").append(joined(names));
    if (type != kPassThrough) translated += (translated.empty() ? "" : ", ") + joined(names);
  }
  if (!translated.empty()) {
    findings.push_back(bad(Status::warning, "host", observed + words_text(platform), "pass-through (iommu=pt) or off",
                           "The IOMMU translates every DMA of these devices: small messages take longer, and "
                           "throughput suffers when its cache "
                           "does not hold all that is in use.",
                           kRemedy));
  } else if (!by_type.empty()) {
    findings.push_back(good("host", observed, "pass-through or off"));
  } else if (platform.iommu == false && !devices.empty()) {
    findings.push_back(good("host", "off", "pass-through or off"));
  }
}

}  // namespace fabric
