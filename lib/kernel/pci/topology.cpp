// SPDX-License-Identifier: Apache-2.0
#include "kernel/pci/topology.h"

#include <algorithm>
#include <map>

#include "base/parse.h"
#include "kernel/pci/gpu.h"
#include "kernel/pci/machine.h"
#include "kernel/pci/pci.h"
#include "model/pci_kind.h"

namespace fabric {
namespace {

struct Found {
  pci::Place place;
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
    const auto resolved = root.resolve(link);
    if (!resolved) continue;
    if (auto place = pci::parse_place(*resolved); place && place->below == 0) functions[place->pci].place = *place;
  }
}

// A class device sits on the PCI function itself or on one device below it (virtio, an mlx5 subfunction). More than
// that is another bus: a USB NIC does not make its host controller a NIC.
void add_class(const Root& root, const std::string& kind, std::vector<std::string> Found::*names,
               Functions& functions) {
  const auto devices = root.list("sys/class/" + kind);
  if (!devices) return;
  for (const std::string& name : *devices) {
    const auto resolved = root.resolve("sys/class/" + kind + "/" + name + "/device");
    const auto place = resolved ? pci::parse_place(*resolved) : std::nullopt;
    if (!place || place->below > 1) continue;
    Found& found = functions[place->pci];
    if (found.place.pci.empty()) {
      found.place = *place;
      found.place.folder = resolved->substr(0, place->folder.size());
    }
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
    const auto resolved = root.resolve(folder + "/" + name);
    const auto place = resolved ? pci::parse_place(*resolved) : std::nullopt;
    const auto owner = place ? functions.find(place->pci) : functions.end();
    if (owner != functions.end()) owner->second.subfunctions = true;
  }
}

// A card's system image GUID is one for all its ports and functions: NCCL tells cards apart by it, too. The kernel
// holds it in memory (drivers/infiniband/core/sysfs.c). Drivers that have none show zeros.
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
  nic.virtual_function = root.exists(folder + "/physfn");
  nic.bond = bond_of(root, nic.netdevs);
  if (!nic.rdma.empty()) nic.card = image_guid(root, nic.rdma.front());
}

constexpr uint16_t kNvidiaNetworking = 0x15b3;

std::string slot_of(const std::string& address) { return address.substr(0, address.rfind('.')); }

// The GUIDs that are known name the card of every function in the same slot. NVIDIA's tells cards apart also where a
// guest sees several in one slot; bnxt_re and irdma make each port's GUID of its own MAC address
// (bnxt_re_query_device(), irdma_query_device(), Linux 6.12), so that two ports of a card differ.
void name_cards(std::vector<Nic>& nics) {
  std::map<std::string, std::string> by_slot;
  for (Nic& nic : nics) {
    if (nic.card.find_first_not_of("0:") == std::string::npos) nic.card.clear();
    if (!nic.card.empty()) by_slot.emplace(slot_of(nic.pci), nic.card);
  }
  for (Nic& nic : nics) {
    const auto known = by_slot.find(slot_of(nic.pci));
    if (nic.card.empty() || nic.vendor != kNvidiaNetworking)
      nic.card = known != by_slot.end() ? known->second : slot_of(nic.pci);
  }
}

}  // namespace

Topology sort_topology(std::vector<Nic> found, std::map<int, std::string> numa_cpus) {
  std::sort(found.begin(), found.end(), [](const Nic& a, const Nic& b) { return pci::address_less(a.pci, b.pci); });
  Topology topology;
  topology.numa_cpus = std::move(numa_cpus);
  for (Nic& function : found) {
    if (is_gpu(function)) {
      Gpu gpu{function, "GPU" + std::to_string(topology.gpus.size()), std::move(function.name),
              std::move(function.card)};
      topology.gpus.push_back(std::move(gpu));
      function.card.clear();
    }
    // An accelerator with RDMA ports of its own (Gaudi) is its own nearest NIC.
    if (is_gpu(function) ? !function.rdma.empty()
                         : is_network(function) || !function.netdevs.empty() || !function.rdma.empty()) {
      function.name = !function.rdma.empty()      ? function.rdma.front()
                      : !function.netdevs.empty() ? function.netdevs.front()
                                                  : function.pci;
      topology.nics.push_back(std::move(function));
    }
  }
  name_cards(topology.nics);
  return topology;
}

Result<Topology> bounded(Topology topology) {
  const size_t gpus = topology.gpus.size(), nics = topology.nics.size();
  if (gpus <= kMostGpus && gpus * nics <= kMostPaths) return topology;
  return error(EOVERFLOW, std::to_string(gpus) + " GPUs and " + std::to_string(nics) + " NICs");
}

Result<Topology> load_topology(const Root& root) {
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
    const auto told = root.read_line(folder + "/numa_node");
    nic.numa_assumed = nic.numa && told && *told == "-1";
    nic.link = pci::read_link(root, folder);
    if (!gpu) read_nic(root, folder, nic);
    found.push_back(std::move(nic));
  }
  auto topology = bounded(sort_topology(std::move(found), std::move(nodes)));
  if (!topology) return topology.error();
  gpu::identify(root, *topology);
  machine::describe(root, *topology);
  return topology;
}

}  // namespace fabric
