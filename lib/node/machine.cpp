// SPDX-License-Identifier: Apache-2.0
#include "node/machine.h"

#include <algorithm>

#include "base/parse.h"
#include "node/host.h"

namespace fabric::machine {

std::string hostname(const Root& root) {
  for (const char* file : {"proc/sys/kernel/hostname", "etc/hostname"})
    if (std::string name = root.line_of(file); !name.empty()) return name;
  return {};
}

std::optional<std::vector<unsigned>> parse_cpus(std::string_view list) {
  constexpr size_t kMaxCpus = 65'536;
  std::vector<unsigned> cpus;
  for (const std::string_view part : split(trim(list), ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_number<unsigned>(part.substr(0, dash));
    auto last = first;
    if (dash != std::string_view::npos) last = parse_number<unsigned>(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMaxCpus) return std::nullopt;
    if (*last - *first >= kMaxCpus - cpus.size()) return std::nullopt;
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string cpus_text(std::vector<unsigned> cpus) {
  std::ranges::sort(cpus);
  std::string out;
  for (size_t i = 0; i < cpus.size();) {
    size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] <= cpus[last] + 1) ++last;
    append_item(out, std::to_string(cpus[i]), ",");
    if (cpus[last] > cpus[i]) out += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return out;
}

std::string hypervisor(const Root& root) {
  std::string name =
      hypervisor_name(root.line_of("sys/class/dmi/id/sys_vendor"), root.line_of("sys/class/dmi/id/product_name"));
  if (name.empty() && root.line_of("sys/hypervisor/type") == "xen") name = "Xen";
  const auto by_cpu = host::is_virtual_cpu(host::read_cpuinfo(root));
  if (name.empty() && by_cpu == true) name = "an unnamed hypervisor";
  // These clouds give their real machines the name of their virtual ones.
  constexpr std::string_view kClouds[] = {"Google Compute Engine", "Alibaba Cloud", "Tencent Cloud"};
  if (by_cpu == false && contains(kClouds, name)) return {};
  return name;
}

std::string cloud_name(std::string_view asset_tag, std::string_view vendor) {
  if (asset_tag == "OracleCloud.com") return "Oracle Cloud";
  if (vendor == "Google") return "Google Cloud";
  return {};
}

std::string hypervisor_name(std::string_view vendor, std::string_view product) {
  // Amazon's real machines have the same vendor; their product is "g4dn.metal".
  const bool is_metal = product.find(".metal") != std::string_view::npos;
  if (vendor == "Amazon EC2" && !is_metal) return "Amazon EC2";
  if (vendor == "Microsoft Corporation" && product == "Virtual Machine") return std::string(kHyperV);
  if (vendor == "Google" && product == "Google Compute Engine") return "Google Compute Engine";
  if (vendor == "Amazon EC2" || vendor == "Microsoft Corporation" || vendor == "Google") return {};
  if (vendor == "Alibaba Cloud") return "Alibaba Cloud";
  constexpr std::string_view kNames[] = {"QEMU",     "KVM",   "VMware",      "Xen",          "OpenStack",
                                         "KubeVirt", "Bochs", "BHYVE",       "Parallels",    "innotek",
                                         "Nutanix",  "oVirt", "Red Hat KVM", "Tencent Cloud"};
  for (const std::string_view name : kNames)
    if (vendor.starts_with(name) || product.starts_with(name)) return std::string(name);
  return {};
}

}  // namespace fabric::machine
