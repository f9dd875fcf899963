// SPDX-License-Identifier: Apache-2.0
#include "kernel/pci/machine.h"

#include <algorithm>
#include <set>

#include "base/parse.h"

namespace fabric::machine {
namespace {

constexpr size_t kMaxCpus = 65'536;
constexpr const char* kCpus = "sys/devices/system/cpu/cpu";

std::string line_of(const Root& root, const std::string& file) {
  auto line = root.read_line(file);
  return line ? std::move(line).value() : std::string{};
}

std::optional<int> socket_of(const Root& root, unsigned cpu) {
  return parse_number<int>(line_of(root, kCpus + std::to_string(cpu) + "/topology/physical_package_id"));
}

// The kernel's new name of the file, and the one before 5.19.
std::vector<unsigned> threads_of(const Root& root, unsigned cpu) {
  const std::string folder = kCpus + std::to_string(cpu) + "/topology/";
  std::string list = line_of(root, folder + "core_cpus_list");
  if (list.empty()) list = line_of(root, folder + "thread_siblings_list");
  auto threads = parse_cpus(list);
  const bool good = threads && std::find(threads->begin(), threads->end(), cpu) != threads->end();
  return good ? std::move(*threads) : std::vector<unsigned>{cpu};
}

std::vector<unsigned> cpus_of(const std::string& list) { return parse_cpus(list).value_or(std::vector<unsigned>{}); }

}  // namespace

std::string hostname(const Root& root) {
  for (const char* file : {"proc/sys/kernel/hostname", "etc/hostname"})
    if (const auto name = root.read_line(file); name && !name->empty()) return *name;
  return {};
}

std::optional<std::vector<unsigned>> parse_cpus(std::string_view list) {
  std::vector<unsigned> cpus;
  for (const std::string_view part : split(trim(list), ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_number<unsigned>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<unsigned>(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kMaxCpus - cpus.size()) return std::nullopt;
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string cpus_text(std::vector<unsigned> cpus) {
  std::sort(cpus.begin(), cpus.end());
  std::string out;
  for (size_t i = 0; i < cpus.size();) {
    size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] <= cpus[last] + 1) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (cpus[last] > cpus[i]) out += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return out;
}

void describe(const Root& root, Topology& topology) {
  for (const auto& [node, list] : topology.numa_cpus) {
    const auto cpus = cpus_of(list);
    const auto socket = cpus.empty() ? std::nullopt : socket_of(root, cpus.front());
    if (socket && *socket >= 0) topology.numa_socket[node] = *socket;  // -1: a kernel or machine without
  }
  for (const unsigned node : cpus_of(line_of(root, "sys/devices/system/node/has_memory")))
    if (topology.numa_cpus.count(static_cast<int>(node)) == 0 && !topology.numa_cpus.empty())
      topology.memory_nodes.push_back(static_cast<int>(node));
  topology.hypervisor =
      hypervisor_name(line_of(root, "sys/class/dmi/id/sys_vendor"), line_of(root, "sys/class/dmi/id/product_name"));
  if (topology.hypervisor.empty() && line_of(root, "sys/hypervisor/type") == "xen") topology.hypervisor = "Xen";
}

void read_cores(const Root& root, Topology& topology) {
  topology.cores.clear();
  std::set<unsigned> seen;
  for (const auto& [node, list] : topology.numa_cpus)
    for (const unsigned cpu : cpus_of(list))
      if (seen.count(cpu) == 0) {
        Core core{threads_of(root, cpu), node};
        seen.insert(core.cpus.begin(), core.cpus.end());
        topology.cores.push_back(std::move(core));
      }
  const auto socket = [&](const Core& core) {
    const auto found = topology.numa_socket.find(core.numa);
    return found == topology.numa_socket.end() ? 0 : found->second;
  };
  std::stable_sort(topology.cores.begin(), topology.cores.end(),
                   [&](const Core& a, const Core& b) { return socket(a) < socket(b); });
}

std::string hypervisor_name(std::string_view vendor, std::string_view product) {
  // Amazon names its real machines alike, and their product "g4dn.metal".
  if (vendor == "Amazon EC2") return product.find(".metal") != std::string_view::npos ? "" : "Amazon EC2";
  if (vendor == "Microsoft Corporation") return product == "Virtual Machine" ? "Hyper-V" : "";
  if (vendor == "Google") return product == "Google Compute Engine" ? "Google Compute Engine" : "";
  if (vendor == "Alibaba Cloud") return "Alibaba Cloud";
  constexpr std::string_view kNames[] = {"QEMU",     "KVM",   "VMware",      "Xen",          "OpenStack",
                                         "KubeVirt", "Bochs", "BHYVE",       "Parallels",    "innotek",
                                         "Nutanix",  "oVirt", "Red Hat KVM", "Tencent Cloud"};
  for (const std::string_view name : kNames)
    if (vendor.starts_with(name) || product.starts_with(name)) return std::string(name);
  return {};
}

}  // namespace fabric::machine
