// SPDX-License-Identifier: Apache-2.0
#include "node/topology.h"

#include <algorithm>
#include <set>

#include "base/parse.h"
#include "kernel/kernel.h"
#include "kernel/pci/pci.h"
#include "kernel/rdma/infiniband.h"
#include "nic/capabilities.h"
#include "node/gpu.h"
#include "node/inventory.h"
#include "node/machine.h"
#include "node/port_reader.h"
#include "node/port_role.h"
#include "node/topology_xml.h"

namespace fabric {

std::string short_model(const Gpu& gpu) {
  constexpr std::string_view kMaker = "NVIDIA ";
  return gpu.model.starts_with(kMaker) ? gpu.model.substr(kMaker.size()) : gpu.model;
}

std::string card_of(const Nic& nic) {
  if (!nic.card.empty()) return nic.card;
  std::string slot = card_of(nic.pci);
  return slot.empty() ? nic.pci : slot;
}

bool can_have_data_direct(const Nic& nic) {
  constexpr uint16_t kConnectX8 = 0x1023;  // mlx5_core_pci_table
  return nic.vendor == kNvidiaNetworking && nic.device == kConnectX8 && !nic.is_virtual_function();
}

bool carries_rdma(const Nic& nic) {
  return !nic.rdma.empty() || nic.rdma_elsewhere || (nic.vendor == kCray && nic.class_code >> 16 == 0x02);
}

std::optional<PathClass> path_class(const PciDevice& a, const PciDevice& b) {
  // A switch has an upstream port and downstream ports, so that one bridge below the shared one on each side is still
  // the same switch.
  if (const auto below = below_shared(a, b))
    return std::max(below->first, below->second) <= 1 ? PathClass::PIX : PathClass::PXB;
  if (!a.root.empty() && a.root == b.root) return PathClass::PHB;
  if (!a.numa || !b.numa) return std::nullopt;
  return *a.numa == *b.numa ? PathClass::NODE : PathClass::SYS;
}

const PciDevice& nearer_function(const Gpu& gpu, const Nic& nic) {
  const PciDevice& own = nic;
  if (!nic.direct) return own;
  const auto mine = path_class(static_cast<const PciDevice&>(gpu), own), direct = path_class(gpu, *nic.direct);
  return direct && (!mine || *direct < *mine) ? *nic.direct : own;
}

std::optional<PathClass> path_class(const Gpu& gpu, const Nic& nic) {
  return path_class(static_cast<const PciDevice&>(gpu), nearer_function(gpu, nic));
}

std::vector<size_t> nearest_nics(const Topology& topology, const Gpu& gpu) {
  const bool rdma_only = std::ranges::any_of(topology.nics, carries_rdma);
  std::vector<size_t> nearest;
  std::optional<PathClass> best;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    if (rdma_only && !carries_rdma(topology.nics[i])) continue;
    const auto path = path_class(gpu, topology.nics[i]);
    if (!path || (best && *best < *path)) continue;
    if (best != path) nearest.clear();
    best = path;
    nearest.push_back(i);
  }
  return nearest;
}

const Nic* nic_of(const Topology& topology, const std::string& rdma) {
  return find_where(topology.nics, [&](const Nic& nic) { return contains(nic.rdma, rdma); });
}

const Nic* nic_at(const Topology& topology, std::string_view pci) {
  return find_where(topology.nics, [&](const Nic& nic) { return nic.pci == pci && !pci.empty(); });
}

const Gpu* gpu_at(const Topology& topology, std::string_view pci) {
  return find_where(topology.gpus, [&](const Gpu& gpu) { return gpu.pci == pci && !pci.empty(); });
}

std::optional<int> socket_of(const Topology& topology, const PciDevice& device) {
  if (!device.numa) return std::nullopt;
  const int* socket = find_in(topology.numa_socket, *device.numa);
  if (socket == nullptr) return std::nullopt;
  return *socket;
}

std::optional<std::pair<size_t, size_t>> below_shared(const PciDevice& a, const PciDevice& b) {
  const auto shared = std::ranges::find_first_of(a.bridges, b.bridges);
  if (shared == a.bridges.end()) return std::nullopt;
  return std::pair(shared - a.bridges.begin(), std::ranges::find(b.bridges, *shared) - b.bridges.begin());
}

bool is_flattened(const Topology& topology) {
  if (topology.gpus.empty()) return false;
  const bool any_on_root_bus =
      std::ranges::any_of(topology.gpus, [](const Gpu& gpu) { return gpu.bridges.empty() && !gpu.root.empty(); });
  if (!topology.is_guest() && !any_on_root_bus) return false;
  std::set<std::string> bridges;
  const auto shares = [&](const PciDevice& device) {
    return std::ranges::any_of(device.bridges, [&](const std::string& bridge) { return bridges.contains(bridge); });
  };
  for (const Gpu& gpu : topology.gpus) {
    if (shares(gpu)) return false;
    bridges.insert(gpu.bridges.begin(), gpu.bridges.end());
  }
  return std::ranges::none_of(topology.nics, shares);
}

std::vector<PcieHop> hops_above(const PciDevice& function) {
  std::vector<PcieHop> hops;
  std::string lower = function.pci;
  for (size_t i = 0; i < function.bridges.size(); i += 2) {
    hops.push_back({lower, function.bridges[i]});
    if (i + 1 < function.bridges.size()) lower = function.bridges[i + 1];
  }
  return hops;
}

std::vector<std::string> turning_ports(const PciDevice& a, const PciDevice& b) {
  const auto below = below_shared(a, b);
  std::vector<std::string> out;
  if (below && below->first > 0) out.push_back(a.bridges[below->first - 1]);
  if (below && below->second > 0) out.push_back(b.bridges[below->second - 1]);
  return out;
}

namespace {

// A function as sysfs shows it.
struct SysfsFunction {
  pci::Location place;
  std::vector<std::string> netdevs, rdma, elsewhere;
  bool rdma_elsewhere = false, subfunctions = false;
};
using Functions = std::map<std::string, SysfsFunction>;  // by address

// Adds the devices of a class to their functions. A class device is on the PCI function itself or on one device below
// it (virtio, an mlx5 subfunction); the latter are listed last. A device further down is on another bus: a USB NIC does
// not make its host controller a NIC.
void add_class(const Root& root, const std::string& kind, std::vector<std::string> SysfsFunction::*names,
               Functions& functions) {
  std::map<std::string, std::vector<std::string>> below;  // by function
  for (const std::string& name : root.names_in("sys/class/" + kind)) {
    const auto place = pci::location_at(root, "sys/class/" + kind + "/" + name + "/device");
    if (!place || place->below > 1) continue;
    SysfsFunction& found = functions[place->pci];
    if (found.place.pci.empty()) found.place = *place;
    if (place->below == 0) (found.*names).push_back(name);
    else below[place->pci].push_back(name);
  }
  for (auto& [function, more] : below) std::ranges::move(more, std::back_inserter(functions[function].*names));
}

// The folder of a class below a device. The kernel removes it with the last device in it, while it does not show
// devices of another network namespace (drivers/base/core.c, cleanup_glue_dir() and class_dir_child_ns_type(),
// Linux 6.12).
bool is_class_elsewhere(const Root& root, const std::string& device, const char* kind) {
  const std::string folder = device + "/" + kind;
  const auto names = root.list(folder);
  return names && names->empty();
}

// Adds the RDMA devices in other network namespaces (rdma system set netns exclusive) to their functions. The class
// infiniband_verbs has no namespace: its devices show the names of all (drivers/infiniband/core/uverbs_main.c, ibdev of
// Linux 6.12; a device without verbs for processes is not in it). The folders of the functions show the others.
void add_elsewhere(const Root& root, Functions& functions) {
  const std::string verbs = "sys/class/infiniband_verbs", here = "sys/class/infiniband";
  const bool has_class = root.exists(here);
  std::set<std::string> named;  // folders of devices whose RDMA device is known by name
  for (const std::string& name : root.names_in(verbs)) {
    const std::string device = root.line_of(verbs + "/" + name + "/ibdev");
    if (!has_class || device.empty() || root.exists(here + "/" + device)) continue;
    const auto resolved = root.resolve(verbs + "/" + name + "/device");
    const auto place = resolved ? pci::parse_location(*resolved) : std::nullopt;
    SysfsFunction* function = place ? find_in(functions, place->pci) : nullptr;
    if (function == nullptr || place->below > 1) continue;
    function->elsewhere.push_back(device);
    function->rdma_elsewhere = function->rdma_elsewhere || place->below == 0;
    named.insert(*resolved);
  }
  for (auto& [address, function] : functions)
    if (!named.contains(function.place.folder) && is_class_elsewhere(root, function.place.folder, "infiniband")) {
      function.elsewhere.push_back(address);
      function.rdma_elsewhere = true;
    }

  // The devices of subfunctions stay in this namespace while a container has their netdevs and RDMA devices.
  const std::string auxiliary = "sys/bus/auxiliary/devices";
  for (const std::string& name : root.names_in(auxiliary)) {
    if (!is_subfunction_device(name)) continue;
    const auto resolved = root.resolve(auxiliary + "/" + name);
    const auto place = resolved ? pci::parse_location(*resolved) : std::nullopt;
    SysfsFunction* owner = place ? find_in(functions, place->pci) : nullptr;
    if (owner == nullptr) continue;
    owner->subfunctions = true;
    if (!named.contains(*resolved) && is_class_elsewhere(root, *resolved, "infiniband"))
      owner->elsewhere.push_back(name);
  }
}

// hwloc's XML: of a captured tree its file, else by discovery.
Result<HwlocView> hwloc_view(const Kernel& kernel) {
  if (!kernel.root.is_host()) {
    const auto captured = kernel.root.read(kHwlocFile, kMaxHwlocXml);
    if (captured) return parse_hwloc_xml(*captured, kHwlocFile);
    if (captured.error().code != ENOENT) return captured.error();
  }
  const auto text = query_recorded(kernel, kHwlocQuestion, [&] { return discover_hwloc_xml(kernel.root.path()); });
  if (!text) return text.error();
  const bool fresh = !kernel.root.replays();
  return parse_hwloc_xml(*text, "hwloc", fresh);
}

// hwloc's view with the kernel's NUMA nodes; without an answer of hwloc the view is empty, and sysfs has everything.
// hwloc's CPUs are used only if they are on the kernel's NUMA nodes: for a tree without CPU folders hwloc invents some.
HwlocView checked_hwloc_view(const Kernel& kernel, const pci::CpuNodes& nodes) {
  HwlocView out;
  std::vector<std::string> differences;
  auto view = hwloc_view(kernel);
  if (view) out = std::move(view).value();
  else if (view.error().code != ENODATA) differences.push_back(view.error().text());
  const auto& known = out.machine.numa_cpus;
  const bool same = std::equal(nodes.begin(), nodes.end(), known.begin(), known.end(),
                               [](const auto& a, const auto& b) { return a.first == b.first; });
  if (view && !same && !nodes.empty() && kernel.root.exists("sys/devices/system/cpu/cpu0/topology"))
    differences.push_back("NUMA nodes with CPUs: " + std::to_string(known.size()) + " by hwloc, " +
                          std::to_string(nodes.size()) + " in /sys/devices/system/node");
  if (!same) {
    out.machine = {};
    for (Nic& function : out.functions) function.numa.reset();
  }
  out.machine.numa_cpus = nodes;
  out.machine.differences = std::move(differences);
  return out;
}

// The function by hwloc, completed from sysfs. hwloc needs config space to see bridges, so missing bridges are not
// reported.
Nic merge(const Root& root, const SysfsFunction& found, const Nic* seen, const pci::CpuNodes& nodes,
          std::vector<std::string>& differences) {
  const std::string& folder = found.place.folder;
  Nic nic;
  if (seen == nullptr) static_cast<PciDevice&>(nic) = pci::read_function(root, found.place);
  else nic = *seen;
  const auto differ = [&](const char* subject, const std::string& hwloc, const std::string& sysfs) {
    differences.push_back(nic.pci + ": " + subject + " " + hwloc + " by hwloc, " + sysfs + " in /sys");
  };
  if (nic.bridges != found.place.bridges || nic.root != found.place.root) {
    if (!nic.bridges.empty()) differ("bridges", joined(nic.bridges, " "), joined(found.place.bridges, " "));
    nic.bridges = found.place.bridges;
    nic.root = found.place.root;
  }
  const auto numa = pci::numa_node(root, folder, nodes);
  if (seen != nullptr && seen->numa && numa && *seen->numa != *numa)
    differ("NUMA node", std::to_string(*seen->numa), std::to_string(*numa));
  if (numa) nic.numa = numa;
  nic.numa_assumed = nic.numa && root.line_of(folder + "/numa_node") == "-1" && nodes.size() <= 1;
  if (!nic.bridges.empty()) nic.numa_above = pci::numa_node(root, folder.substr(0, folder.rfind('/')), nodes);
  nic.link = pci::read_link(root, folder);
  nic.netdevs = found.netdevs;
  nic.rdma = found.rdma;
  nic.subfunctions = found.subfunctions;
  nic.rdma_elsewhere = nic.rdma.empty() && (found.rdma_elsewhere || root.exists(folder + "/infiniband"));
  nic.netdev_elsewhere = nic.netdevs.empty() && is_class_elsewhere(root, folder, "net");
  if (is_gpu(nic)) return nic;

  const scanning::RoleOfFunction found_role = scanning::role_of_function(root, folder);
  nic.role = found_role.role;
  if (nic.role == FunctionRole::multi_pf_secondary) nic.primary = found_role.owner;
  // The bond above a netdev (net/core/dev.c, netdev_adjacent_sysfs_add); the bond's own folder has `bonding`.
  for (const std::string& name : nic.netdevs)
    if (const std::string link = "sys/class/net/" + name + "/master"; root.exists(link + "/bonding")) {
      nic.bond = root.link_name(link);
      break;
    }
  // All ports and functions of a card share its system image GUID, by which NCCL distinguishes cards as well. The
  // kernel holds it in memory (drivers/infiniband/core/sysfs.c). Drivers without a GUID show zeros.
  if (!nic.rdma.empty()) nic.card = root.line_of(infiniband::device_folder(nic.rdma.front()) + "/sys_image_guid");
  nic.elsewhere = found.elsewhere;
  if (!nic.primary.empty()) nic.netdev_elsewhere = false;  // the primary function has it
  return nic;
}

// The PCI domain, by which a system on chip numbers its root complexes.
long domain_of(const PciDevice& device) {
  return parse_number<long>(device.pci.substr(0, device.pci.find(':')), 16).value_or(0);
}

// Sets Nic::direct. The kernel matches a NIC with its Data Direct function by the VUID of their VPD, which only root
// can read; both have the serial number of their board in it. Without it: if each card has one function, on the machine
// or on a NUMA node, both are in the same order. If a node lacks cards, those left are at the same distance from the
// node's functions as on a node that lacks none. Else it stays unknown.
void join_data_direct(std::vector<Nic>& nics) {
  struct DataDirectGroup {
    std::vector<std::string> cards;  // addresses without the function
    std::vector<long> domains;       // of the cards
    std::vector<const Nic*> functions;
  };
  // A card without an RDMA device has lost it, or serves no GPU (management) and has no such function.
  std::set<std::string> with_rdma, all;
  size_t functions = 0;
  for (const Nic& nic : nics) {
    if (is_data_direct(nic)) ++functions;
    if (!can_have_data_direct(nic)) continue;
    all.insert(card_of(nic.pci));
    if (!nic.rdma.empty()) with_rdma.insert(card_of(nic.pci));
  }
  const bool all_count = with_rdma.size() < functions && all.size() <= functions;

  DataDirectGroup machine;
  std::map<std::optional<int>, DataDirectGroup> nodes;
  std::map<std::string, const PciDevice*> by_card, by_serial;
  for (const Nic& nic : nics)
    for (DataDirectGroup* place : {&machine, &nodes[nic.numa]}) {
      if (is_data_direct(nic)) {
        place->functions.push_back(&nic);
        if (!nic.serial.empty()) by_serial[nic.serial] = &nic;
      } else if (can_have_data_direct(nic) && !contains(place->cards, card_of(nic.pci)) &&
                 (all_count || with_rdma.contains(card_of(nic.pci)))) {
        place->cards.push_back(card_of(nic.pci));
        place->domains.push_back(domain_of(nic));
      }
    }
  const auto join_in_order = [&](const DataDirectGroup& place) {
    for (size_t i = 0; i < place.cards.size(); ++i) by_card.emplace(place.cards[i], place.functions[i]);
  };
  if (machine.cards.size() == machine.functions.size()) join_in_order(machine);
  for (const auto& [whole, place] : nodes) {
    if (!whole || place.cards.size() != place.functions.size() || place.cards.empty()) continue;
    join_in_order(place);
    for (const auto& [node, other] : nodes) {
      if (!node || other.functions.size() != place.functions.size()) continue;
      for (size_t card = 0; card < other.cards.size(); ++card)
        for (size_t like = 0; like < place.cards.size(); ++like)
          if (other.domains[card] - domain_of(*other.functions[like]) ==
              place.domains[like] - domain_of(*place.functions[like]))
            by_card.emplace(other.cards[card], other.functions[like]);
    }
  }
  std::vector<std::pair<Nic*, PciDevice>> found;  // the functions are among `nics`
  for (Nic& nic : nics) {
    if (!can_have_data_direct(nic)) continue;
    const PciDevice* direct = nullptr;
    if (auto* known = find_in(by_serial, nic.serial); known != nullptr && !nic.serial.empty()) direct = *known;
    else if (auto* likely = find_in(by_card, card_of(nic.pci)); likely != nullptr) direct = *likely;
    if (direct != nullptr) found.emplace_back(&nic, *direct);
  }
  for (auto& [nic, direct] : found) nic->direct = std::move(direct);
}

// Chelsio T4 to T6: function 4 has the netdevs of all ports (device 0x64xx of T6). Functions 0 to 3 (0x60xx) are for
// virtual functions alone: cxgb4 binds them and makes no netdev (CH_PCI_DEVICE_ID_FUNCTION2 in cxgb4_main.c,
// Linux 6.12).
bool is_for_functions_alone(const Nic& nic) {
  constexpr uint16_t kChelsio = 0x1425, kT4 = 4;
  return nic.vendor == kChelsio && nic.device >> 12 >= kT4 && (nic.device & 0x0f00) == 0 && nic.netdevs.empty() &&
         nic.rdma.empty();
}

}  // namespace

Topology sort_topology(std::vector<Nic> found, Topology machine) {
  std::ranges::sort(found, [](const Nic& a, const Nic& b) { return pci::address_less(a.pci, b.pci); });
  Topology topology = std::move(machine);
  std::vector<Nic>& nics = topology.nics;
  for (Nic& function : found) {
    const bool has_devices = !function.netdevs.empty() || !function.rdma.empty();
    bool is_nic = is_network(function) || has_devices;
    if (is_gpu(function)) {
      Gpu gpu{function, "GPU" + std::to_string(topology.gpus.size()), std::move(function.name),
              std::move(function.card)};
      gpu.ports_elsewhere = function.rdma_elsewhere || function.netdev_elsewhere;
      topology.gpus.push_back(std::move(gpu));
      function.card.clear();
      function.rdma_elsewhere = function.netdev_elsewhere = false;
      // An accelerator with ports of its own (Gaudi) is its own nearest NIC. Its library needs no RDMA device.
      is_nic = !function.rdma.empty() || (function.vendor == kHabana && !function.netdevs.empty());
    }
    if (!is_nic || is_for_functions_alone(function)) continue;
    if (!function.rdma.empty()) function.name = function.rdma.front();
    else if (!function.netdevs.empty()) function.name = function.netdevs.front();
    else function.name = function.pci;
    nics.push_back(std::move(function));
  }

  // A known GUID names the card of every function in the same slot. NVIDIA's GUID distinguishes cards even if a guest
  // sees several in one slot; bnxt_re and irdma make each port's GUID of its own MAC address
  // (bnxt_re_query_device(), irdma_query_device(), Linux 6.12), so that two ports of a card differ.
  std::map<std::string, std::string> by_slot;
  for (Nic& nic : nics) {
    if (nic.card.find_first_not_of("0:") == std::string::npos) nic.card.clear();
    if (!nic.card.empty()) by_slot.emplace(card_of(nic.pci), nic.card);
  }
  for (Nic& nic : nics)
    if (nic.card.empty() || nic.vendor != kNvidiaNetworking)
      nic.card = by_slot.try_emplace(card_of(nic.pci), card_of(nic.pci)).first->second;

  join_data_direct(nics);
  return topology;
}

Result<Topology> bounded(Topology topology) {
  const size_t gpus = topology.gpus.size(), nics = topology.nics.size();
  if (gpus <= kMostGpus && gpus * nics <= kMostPaths) return topology;
  return error(EOVERFLOW, std::to_string(gpus) + " GPUs and " + std::to_string(nics) + " NICs");
}

Result<Topology> load_topology(const Kernel& kernel) {
  const Root& root = kernel.root;
  Functions functions;
  add_class(root, "net", &SysfsFunction::netdevs, functions);
  add_class(root, "infiniband", &SysfsFunction::rdma, functions);
  const auto names = root.list("sys/bus/pci/devices");
  if (!names && functions.empty() && !root.exists("sys/class")) return names.error();

  const pci::CpuNodes nodes = pci::cpu_nodes(root);
  HwlocView view;
  if (names) view = checked_hwloc_view(kernel, nodes);
  else view.machine.numa_cpus = nodes;
  std::map<std::string, Nic> by_hwloc;  // by address
  for (Nic& function : view.functions) by_hwloc.emplace(function.pci, std::move(function));
  if (names)
    for (const std::string& name : *names) {
      const std::string link = "sys/bus/pci/devices/" + name;
      bool is_recovering = false;
      if (const Nic* known = find_in(by_hwloc, name)) {
        is_recovering = is_in_flash_recovery(*known);
        if (!is_gpu(*known) && !is_network(*known) && !is_accelerator(*known) && !is_recovering) continue;
      } else {
        // Only the class is read of functions that hwloc lacks: most functions of a server are bridges and disks.
        PciDevice function;
        function.class_code = root.number_in<uint32_t>(link + "/class", 16).value_or(0);
        const uint32_t base = function.class_code >> 16;
        if (is_accelerator(function) || is_peripheral(function) || is_memory(function)) {
          function.vendor = root.number_in<uint16_t>(link + "/vendor", 16).value_or(0);
          function.device = root.number_in<uint16_t>(link + "/device", 16).value_or(0);
        }
        is_recovering = is_in_flash_recovery(function);
        if (!is_network(function) && base != 0x03 && base != 0x12 && !is_gpu(function) && !is_recovering) continue;
      }
      const auto place = pci::location_at(root, link);
      if (!place || place->below != 0) continue;
      if (is_recovering) view.machine.in_recovery.push_back(pci::read_function(root, *place));
      else functions[place->pci].place = *place;
    }
  add_elsewhere(root, functions);

  std::vector<Nic> found;
  for (const auto& [address, function] : functions) {
    Nic nic = merge(root, function, find_in(by_hwloc, address), nodes, view.machine.differences);
    // A vGPU's virtual function belongs to a guest.
    if (is_gpu(nic) && root.exists(function.place.folder + "/physfn")) continue;
    // On a root bus itself are the NPUs of desktop CPUs.
    if (is_accelerator(nic) && !is_gpu(nic) && !is_network(nic) && !nic.bridges.empty()) {
      std::string driver = root.link_name(function.place.folder + "/driver");
      driver = driver.empty() ? "no driver" : "driver " + driver;
      view.machine.unknown_accelerators.push_back(address + " (" + ids_text(nic.vendor, nic.device) + ", " + driver +
                                                  ")");
    }
    found.push_back(std::move(nic));
  }
  // Reading VPD is a command to the NIC's firmware.
  if (std::ranges::any_of(found, [](const Nic& nic) { return is_data_direct(nic); }))
    for (Nic& nic : found)
      if (is_data_direct(nic) || can_have_data_direct(nic))
        if (const auto vpd = root.read("sys/bus/pci/devices/" + nic.pci + "/vpd"))
          nic.serial = scanning::vpd_serial(*vpd);
  view.machine.hypervisor = machine::hypervisor(root);
  view.machine.cloud = machine::cloud_name(root.line_of("sys/class/dmi/id/chassis_asset_tag"),
                                           root.line_of("sys/class/dmi/id/sys_vendor"));
  auto topology = bounded(sort_topology(std::move(found), std::move(view.machine)));
  if (topology) gpu::identify(root, *topology);
  return topology;
}

}  // namespace fabric
