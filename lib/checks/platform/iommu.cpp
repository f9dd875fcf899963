// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "judge/platform_view.h"

namespace fabric {
namespace {

// The kernel's names of the default domain of a group (drivers/iommu/iommu.c, iommu_group_show_type).
constexpr const char* kPassThrough = "identity";
const std::map<std::string, std::string> kModes{{"DMA", "translate, strict (DMA)"},
                                                {"DMA-FQ", "translate, lazy (DMA-FQ)"},
                                                {kPassThrough, "pass-through (identity)"}};

// iommu=pt is for x86, iommu.passthrough=1 for arm64 (Documentation/admin-guide/kernel-parameters.txt of Linux 6.12);
// on Grace, too (NVIDIA Grace Performance Tuning Guide, "OS Settings").
constexpr const char* kRemedy =
    "Add iommu=pt to the kernel command line (arm64, also NVIDIA Grace: iommu.passthrough=1) and reboot.";

// In a guest the host decides.
std::optional<Finding> ask_host(const View& view) {
  const Node& node = view.now;
  const Platform& platform = node.platform;
  if (!node.topology.hypervisor.empty()) return std::nullopt;
  const auto devices = devices_in_use(view);
  std::map<std::string, std::vector<std::string>> by_type;
  for (const InUse& each : devices) {
    const PlatformFunction* function = function_of(node, each.device->pci);
    const auto* type = function == nullptr ? nullptr : find_in(platform.iommu_groups, function->iommu_group);
    if (type != nullptr && kModes.contains(*type)) by_type[*type].push_back(each.name);
  }
  std::string observed;
  bool translates = false;
  for (const auto& [type, names] : by_type) {
    append_item(observed, kModes.at(type) + ": " + joined(names), "; ");
    translates = translates || type != kPassThrough;
  }
  if (translates) {
    if (!platform.command_line.empty()) observed += "; kernel command line: " + joined(platform.command_line);
    return bad(Status::warning, "host", observed, "pass-through (iommu=pt) or off",
               "The IOMMU translates every DMA of these devices: small messages take longer, and "
               "throughput drops when the IOTLB is too small.",
               kRemedy);
  }
  if (!by_type.empty()) return good("host", observed, "pass-through or off");
  if (platform.iommu == false && !devices.empty()) return good("host", "off", "pass-through or off");
  return std::nullopt;
}

}  // namespace

extern const Check kIommuCheck{
    .id = "iommu",
    .group = group::platform,
    .title = "The IOMMU translates DMA of a GPU or RDMA NIC",
    .meaning =
        "A translating IOMMU looks up every DMA address. Small messages take longer, throughput drops when the IOTLB "
        "is too small for the working set, and peer-to-peer traffic redirected by ACS is translated as well. Not "
        "checked in virtual machines.",
    .inspect =
        "cat /proc/cmdline; cat /sys/kernel/iommu_groups/*/type (DMA strict, DMA-FQ lazy, identity pass-through)",
    .fix =
        "Add iommu=pt to the kernel command line (arm64: iommu.passthrough=1; with devices passed to virtual machines "
        "also intel_iommu=on or amd_iommu=on), run update-grub and reboot.",
    .ask_host = ask_host,
};

}  // namespace fabric
