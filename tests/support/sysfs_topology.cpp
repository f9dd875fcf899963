// SPDX-License-Identifier: Apache-2.0
#include "support/sysfs_topology.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/parse.h"
#include "kernel/pci/pci.h"
#include "node/gpu.h"
#include "node/machine.h"
#include "node/node.h"
#include "node/port_role.h"
#include "node/topology.h"

namespace fabric::test {
namespace {

struct Found {
  pci::Location place;
  std::vector<std::string> netdevs, rdma;
  bool subfunctions = false;
};
using Functions = std::map<std::string, Found>;

// Bridges, disks and the like are most of a server's functions: the class alone is read of those.
bool may_matter(const Root& root, const std::string& folder) {
  const auto text = root.read_line(folder + "/class");
  const auto code = text ? parse_number<uint32_t>(*text, 16) : std::nullopt;
  if (!code) return false;
  const uint32_t base = *code >> 16;
  return base == 0x02 || base == 0x03 || base == 0x12 || *code >> 8 == 0x0c06;
}

void add_functions(const Root& root, const std::vector<std::string>& names, Functions& functions) {
  for (const std::string& name : names) {
    const std::string link = "sys/bus/pci/devices/" + name;
    if (!may_matter(root, link)) continue;
    if (auto place = pci::location_at(root, link); place && place->below == 0) functions[place->pci].place = *place;
  }
}

// A class device sits on the PCI function itself or on one device below it (virtio, an mlx5 subfunction). More than
// that is another bus: a USB NIC does not make its host controller a NIC.
void add_class(const Root& root, const std::string& kind, std::vector<std::string> Found::*names,
               Functions& functions) {
  const auto devices = root.list("sys/class/" + kind);
  if (!devices) return;
  for (const std::string& name : *devices) {
    const auto place = pci::location_at(root, "sys/class/" + kind + "/" + name + "/device");
    if (!place || place->below > 1) continue;
    Found& found = functions[place->pci];
    if (found.place.pci.empty()) found.place = *place;
    (found.*names).push_back(name);
  }
}

// Auxiliary devices "mlx5_core.sf.4" (mlx5/core/sf/dev/dev.c) stay here while a container has their netdevs and RDMA
// devices.
void add_subfunctions(const Root& root, Functions& functions) {
  const std::string folder = "sys/bus/auxiliary/devices";
  const auto names = root.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    if (name.find(".sf.") == std::string::npos) continue;
    const auto place = pci::location_at(root, folder + "/" + name);
    const auto owner = place ? functions.find(place->pci) : functions.end();
    if (owner != functions.end()) owner->second.subfunctions = true;
  }
}

// A card's system image GUID is one for all its ports and functions; NCCL also distinguishes cards by it. The kernel
// holds it in memory (drivers/infiniband/core/sysfs.c). Drivers without one show zeros.
std::string image_guid(const Root& root, const std::string& device) {
  const auto guid = root.read_line("sys/class/infiniband/" + device + "/sys_image_guid");
  return guid ? *guid : std::string{};
}

// The bond above the netdev (net/core/dev.c, netdev_adjacent_sysfs_add; the bond's own folder has `bonding`).
std::string bond_of(const Root& root, const std::vector<std::string>& netdevs) {
  for (const std::string& name : netdevs) {
    const std::string link = "sys/class/net/" + name + "/master";
    if (!root.exists(link + "/bonding")) continue;
    if (const auto master = root.resolve(link)) return master->substr(master->rfind('/') + 1);
  }
  return {};
}

void read_nic(const Root& root, const std::string& folder, Nic& nic) {
  nic.role = scanning::role_of_function(root, folder).role;
  nic.bond = bond_of(root, nic.netdevs);
  if (!nic.rdma.empty()) nic.card = image_guid(root, nic.rdma.front());
}

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
  auto threads = machine::parse_cpus(list);
  const bool good = threads && std::find(threads->begin(), threads->end(), cpu) != threads->end();
  return good ? std::move(*threads) : std::vector<unsigned>{cpu};
}

std::vector<unsigned> cpus_of(const std::string& list) {
  return machine::parse_cpus(list).value_or(std::vector<unsigned>{});
}

bool has_flag_of_guests(const Root& root) {
  const std::string cpuinfo = root.text_of("proc/cpuinfo");
  for (const std::string_view line : split(cpuinfo, '\n'))
    if (line.starts_with("flags\t")) return contains(words(line), "hypervisor");
  return false;
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
  topology.hypervisor = machine::hypervisor_name(line_of(root, "sys/class/dmi/id/sys_vendor"),
                                                 line_of(root, "sys/class/dmi/id/product_name"));
  if (topology.hypervisor.empty() && line_of(root, "sys/hypervisor/type") == "xen") topology.hypervisor = "Xen";
  if (topology.hypervisor.empty() && has_flag_of_guests(root)) topology.hypervisor = "an unnamed hypervisor";
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

}  // namespace

Result<Topology> sysfs_topology(const Root& root) {
  Functions functions;
  const auto names = root.list("sys/bus/pci/devices");
  if (names) add_functions(root, *names, functions);
  add_class(root, "net", &Found::netdevs, functions);
  add_class(root, "infiniband", &Found::rdma, functions);
  add_subfunctions(root, functions);
  if (!names && functions.empty() && !root.exists("sys/class")) return names.error();

  pci::CpuNodes nodes = pci::cpu_nodes(root);
  std::vector<Nic> found;
  for (auto& [address, function] : functions) {
    Nic nic{pci::read_function(root, function.place), std::move(function.netdevs), std::move(function.rdma), {}};
    nic.subfunctions = function.subfunctions;
    const std::string& folder = function.place.folder;
    const bool gpu = is_gpu(nic);
    if (gpu && root.exists(folder + "/physfn")) continue;  // a vGPU's virtual function belongs to a guest
    nic.numa = pci::numa_node(root, folder, nodes);
    const auto text = root.read_line(folder + "/numa_node");
    nic.numa_assumed = nic.numa && text && *text == "-1";
    nic.link = pci::read_link(root, folder);
    if (!gpu) read_nic(root, folder, nic);
    found.push_back(std::move(nic));
  }
  Topology machine;
  machine.numa_cpus = nodes;
  auto topology = bounded(sort_topology(std::move(found), std::move(machine)));
  if (!topology) return topology.error();
  gpu::identify(root, *topology);
  describe(root, *topology);
  read_cores(root, *topology);
  return topology;
}

}  // namespace fabric::test
