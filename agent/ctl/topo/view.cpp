// SPDX-License-Identifier: Apache-2.0
#include "ctl/topo/view.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/find.h"
#include "base/parse.h"
#include "ctl/output/table.h"
#include "judge/engine.h"
#include "judge/platform_view.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"
#include "node/topology.h"
#include "topology/boxes.h"
#include "topology/built.h"
#include "topology/compute_nics.h"

namespace fabric::ctl {

bool hides_switches(const Topology& topology) {
  return is_flattened(topology) && !std::ranges::all_of(topology.gpus, [](const Gpu& gpu) { return has_c2c(gpu); });
}

bool is_closed(const Node& node, const Nic& nic) {
  const auto ports = endpoints_of(node, nic);
  return !ports.empty() && std::ranges::all_of(ports, [&](const Port* port) { return lacks_device_file(node, *port); });
}

namespace {

std::string hidden_switches(const TopoView& view) {
  if (!hides_switches(view.topology) && view.topology_file.empty()) return {};
  std::string why = "The PCIe switches are hidden, by a hypervisor or because this topology was recorded without them";
  if (view.topology.is_guest())
    why = "This is a virtual machine of " + view.topology.hypervisor + ", which hides the PCIe switches";
  // A root port and a switch, which nothing shares: the machine may have it so, or the hypervisor made it.
  const auto is_below_switch = [](const Gpu& gpu) { return gpu.bridges.size() > 1; };
  if (view.topology.is_guest() && std::ranges::all_of(view.topology.gpus, is_below_switch))
    why = "This is a virtual machine of " + view.topology.hypervisor +
          ", and no two devices share one of the PCIe switches that it shows: those of the host may be others";
  why += ": devices of the same class may differ in distance. Use the provider's topology file (NCCL_TOPO_FILE)";
  if (!view.topology_file.empty()) why += ": " + view.topology_file;
  return why + ".";
}

bool has_node_path(const TopoView& view) {
  for (const Gpu& gpu : view.topology.gpus) {
    for (const Gpu& other : view.topology.gpus)
      if (&other != &gpu && path_class(gpu, other) == PathClass::NODE) return true;
    for (const size_t nic : shown_nics(view.topology))
      if (path_class(gpu, view.topology.nics[nic]) == PathClass::NODE) return true;
  }
  return false;
}

// numa_node is -1: nvidia-smi prints SYS.
std::string unknown_nodes(const TopoView& view) {
  if (view.topology.gpus.empty()) return {};
  std::vector<std::string> unknown;
  bool assumed = false;
  for (const Gpu& gpu : view.topology.gpus) {
    if (!gpu.numa) unknown.push_back(gpu.name);
    assumed = assumed || gpu.numa_assumed;
  }
  for (const size_t index : shown_nics(view.topology)) {
    const Nic& nic = view.topology.nics[index];
    if (!nic.numa) unknown.push_back(nic.name);
    assumed = assumed || nic.numa_assumed;
  }
  if (!unknown.empty())
    return "NUMA node of " + joined(unknown) +
           " unknown (numa_node -1): N/A without a shared bridge; nvidia-smi prints SYS.";
  if (assumed && has_node_path(view))
    return "NUMA nodes of PCI devices unknown (numa_node -1), but the machine has only one: NODE, while nvidia-smi "
           "prints SYS.";
  return {};
}

// A socket with several NUMA nodes: SYS between them does not cross sockets.
std::string split_sockets(const TopoView& view) {
  std::map<int, size_t> nodes;  // by socket
  for (const auto& [node, socket] : view.topology.numa_socket) ++nodes[socket];
  for (const auto& [socket, count] : nodes)
    if (count > 1)
      return "Each socket is split into " + std::to_string(count) +
             " NUMA nodes (SNC, NPS): SYS between two nodes of one socket does not leave the socket.";
  return {};
}

// Bridges above this device only: its slot's port, and bridges on its own board.
size_t own_bridges(const Topology& topology, const PciDevice& device) {
  std::set<std::string> bridges_of_others;
  for (const Gpu& gpu : topology.gpus)
    if (card_of(gpu.pci) != card_of(device.pci)) bridges_of_others.insert(gpu.bridges.begin(), gpu.bridges.end());
  for (const Nic& nic : topology.nics)
    if (card_of(nic.pci) != card_of(device.pci)) bridges_of_others.insert(nic.bridges.begin(), nic.bridges.end());
  size_t own = 0;
  while (own < device.bridges.size() && !bridges_of_others.contains(device.bridges[own])) ++own;
  return own;
}

// PXB although there is only one switch: bridges on the GPU module or NIC also count. If other devices are below a
// further switch of the path too, it is PXB in any case.
std::string bridges_on_boards(const TopoView& view) {
  const Topology& topology = view.topology;
  std::vector<std::string> names;
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g) {
    const Pair& pair = view.pairing.pairs[g];
    if (pair.path != PathClass::PXB) continue;
    const Gpu& gpu = topology.gpus[g];
    const size_t of_gpu = own_bridges(topology, gpu);
    for (const size_t index : pair.nics) {
      const Nic& nic = topology.nics[index];
      const PciDevice& end = nearer_function(gpu, nic);
      const size_t of_nic = own_bridges(topology, end);
      const auto below = below_shared(gpu, end);
      // One of a device's own bridges is the port of the switch.
      if (!below || below->first > std::max<size_t>(of_gpu, 1) || below->second > std::max<size_t>(of_nic, 1)) continue;
      if (of_gpu > 1) names.push_back(gpu.name);
      if (of_nic > 1) names.push_back(nic.name);
    }
  }
  if (names.empty()) return {};
  std::ranges::sort(names, natural_less);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return "PXB of " + names_text(names) + " counts bridges above " +
         (names.size() == 1 ? "this device only (on its own board" : "each of these devices only (on its own board") +
         ", or one more switch); no other GPU or NIC shares them.";
}

// Grace, Power9, and NICs in slots of their own.
std::string no_shared_bridge(const TopoView& view) {
  if (view.topology.gpus.empty() || view.compute.empty() || hides_switches(view.topology)) return {};
  // Asks every NIC in the matrix: the NICs of the compute network may be the wrong ones while the near ones are down.
  for (const Gpu& gpu : view.topology.gpus)
    for (size_t nic = 0; nic < view.topology.nics.size(); ++nic) {
      if (view.topology.nics[nic].rdma.empty() && !contains(view.compute, nic)) continue;
      if (const auto path = path_class(gpu, view.topology.nics[nic]); !path || *path < PathClass::NODE) return {};
    }
  return "No GPU shares a PCIe switch or host bridge with a NIC: every path is NODE or SYS, and NICs of the same class "
         "are equally near.";
}

// Bound to vfio-pci and the like.
std::string given_away(const TopoView& view) {
  std::vector<std::string> names;
  for (const Gpu& gpu : view.topology.gpus)
    if (is_given_away(view.node, gpu.pci) && !is_not_given(view.node, gpu)) names.push_back(gpu.name);
  if (names.empty()) return {};
  return names_text(names) + (names.size() == 1 ? " belongs" : " belong") +
         " to a virtual machine or to a program in user space (vfio-pci): no NIC of this host is paired with " +
         (names.size() == 1 ? "it." : "them.");
}

std::string not_given(const TopoView& view) {
  std::vector<std::string> names;
  for (const Gpu& gpu : view.topology.gpus)
    if (is_not_given(view.node, gpu)) names.push_back(gpu.name);
  if (names.empty()) return {};
  return names_text(names) + (names.size() == 1 ? " was" : " were") +
         " not given to this container: no NIC is paired with " + (names.size() == 1 ? "it." : "them.");
}

std::string memory_nodes(const TopoView& view) {
  if (view.topology.memory_nodes.empty()) return {};
  std::string nodes;
  for (const int node : view.topology.memory_nodes) append_item(nodes, std::to_string(node));
  return "NUMA nodes without CPUs (memory of GPUs, HBM, CXL): " + nodes + ".";
}

std::string soft_iwarp(const TopoView& view) {
  if (!contains(view.topology.gpus, kNvidia, &Gpu::vendor)) return {};
  for (const Port& port : view.node.ports)
    if (capabilities_of(port.kernel_driver).breaks_nvidia_smi_topo)
      return "nvidia-smi topo -m fails while the soft-iWARP device " + port.rdma + " exists.";
  return {};
}

}  // namespace

TopoView topo_view(const Node& node, const Policy* policy, std::string bootstrap, int64_t wall) {
  const std::vector<std::string> only{"expect", "inventory", "symmetry",   "locality", "pairing",  "planes",
                                      "pcie",   "rate",      "port-state", "acs",      "gpudirect"};
  Report report = run_rules({.now = node, .policy = policy, .no_policy = {}, .wall = wall}, only);
  std::erase_if(report.findings,
                [](const Finding& finding) { return !is_fault(finding.status) || finding.suppressed; });
  std::vector<size_t> compute = built_of(node).present_compute();
  Pairing pairing = best_pairing(node.topology, node.ports, recorded_in(node));
  std::vector<size_t> own = compute;  // without those that this container was not given
  std::erase_if(own, [&](size_t nic) { return is_closed(node, node.topology.nics[nic]); });
  if (!own.empty() && own.size() < compute.size())
    pairing = best_pairing(node.topology, usable_nics(node.topology, node.ports, own));
  // The GPUs that this container was not given take no NIC from its own.
  std::vector<size_t> given;
  Topology ours = node.topology;
  ours.gpus.clear();
  for (size_t gpu = 0; gpu < node.topology.gpus.size(); ++gpu)
    if (!is_not_given(node, node.topology.gpus[gpu])) {
      given.push_back(gpu);
      ours.gpus.push_back(node.topology.gpus[gpu]);
    }
  if (given.size() < node.topology.gpus.size()) {
    Pairing part = best_pairing(ours, usable_nics(ours, node.ports, own.empty() ? compute : own));
    pairing.pairs.assign(node.topology.gpus.size(), {});
    for (size_t i = 0; i < given.size(); ++i) pairing.pairs[given[i]] = std::move(part.pairs[i]);
    pairing.idle = std::move(part.idle);
  }
  for (size_t gpu = 0; gpu < pairing.pairs.size(); ++gpu)
    if (is_given_away(node, node.topology.gpus[gpu].pci)) pairing.pairs[gpu] = {};
  return {node,
          node.topology,
          policy,
          std::move(compute),
          std::move(pairing),
          std::move(report.findings),
          std::move(bootstrap)};
}

std::vector<std::string> topo_notes(const TopoView& view) {
  std::vector<std::string> notes;
  for (const auto& note : {hidden_switches, unknown_nodes, split_sockets, bridges_on_boards, no_shared_bridge,
                           given_away, not_given, memory_nodes, soft_iwarp})
    if (std::string text = note(view); !text.empty()) notes.push_back(std::move(text));
  if (!view.node.rdma_unread.empty())
    notes.push_back("RDMA devices could not be listed: " + view.node.rdma_unread + ". NICs appear without them.");
  if (const auto& unknown = view.topology.unknown_accelerators; !unknown.empty())
    notes.push_back("Accelerators that are not known to this program, and have no row: " + joined(unknown) + ".");
  for (const std::string& difference : view.topology.differences)
    notes.push_back("sysfs is used because hwloc fails or differs: " + difference);
  std::map<std::string, std::vector<const Nic*>> cards;
  for (const Nic& nic : view.topology.nics)
    if (!nic.rdma.empty() && !nic.is_virtual_function() && !nic.card.empty()) cards[nic.card].push_back(&nic);
  for (const auto& [card, nics] : cards) {
    std::string names;
    bool one_root = true;
    for (const Nic* nic : nics) {
      append_item(names, nic->name);
      one_root = one_root && nic->root == nics.front()->root;
    }
    if (!one_root)
      notes.push_back(names + " are one NIC on several PCI trees (socket direct, multi-host): they share its ports.");
  }
  std::map<std::string, std::vector<std::string>, NaturalLess> bonds;
  for (const Nic& nic : view.topology.nics) {
    if (nic.bond.empty()) continue;
    std::string name = joined(nic.netdevs);
    if (name.empty()) name = nic.name;
    bonds[nic.bond].push_back(name);
  }
  for (const auto& [bond, members] : bonds)
    notes.push_back(names_text(members) + (members.size() == 1 ? " is a member of " : " are members of ") + bond + ".");
  for (const Nic& nic : view.topology.nics)
    if (nic.direct)
      notes.push_back(nic.name + " reaches its GPU through its Data Direct function " + nic.direct->pci +
                      "; the matrix shows the NIC's own function, as nvidia-smi does.");
  return notes;
}

std::vector<std::string> problem_lines(const std::vector<Finding>& problems) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;  // the problem, and its subjects
  for (const Finding& problem : problems) {
    const std::string text = problem.observed + "; expected " + problem.expected;
    const auto same = std::ranges::find(lines, text, [](const auto& line) { return line.first; });
    if (same == lines.end()) lines.push_back({text, {problem.subject}});
    else same->second.push_back(problem.subject);
  }
  std::vector<std::string> out;
  for (const auto& [text, subjects] : lines) out.push_back(names_text(subjects) + ": " + text);
  return out;
}

std::vector<const Finding*> problems_of(const TopoView& view, const std::string& device) {
  std::vector<const Finding*> out;
  for (const Finding& problem : view.problems)
    if (is_of_device(problem.subject, device)) out.push_back(&problem);
  return out;
}

std::string host_title(const TopoView& view) {
  if (view.node.hostname.empty()) return "this machine";
  return view.node.hostname;
}

}  // namespace fabric::ctl
