// SPDX-License-Identifier: Apache-2.0
// What all formats of `topo` share, their table, and the verb.
#include <algorithm>
#include <map>

#include "base/parse.h"
#include "check/check.h"
#include "ctl/topo.h"
#include "ctl/verbs.h"
#include "ctl/world.h"
#include "model/pci_kind.h"
#include "sys/machine.h"
#include "sys/topology.h"

namespace fabric::ctl {
namespace {

std::string print_json(const TopoView& view) { return topo_json(view).dump() + "\n"; }

constexpr TopoFormat kFormats[] = {
    {"text", "the matrix of nvidia-smi topo -m, the best pairing, problems", topo_text},
    {"tree", "sockets, NUMA nodes, switches and devices", topo_tree},
    {"json", "all of it for programs", print_json},
    {"dot", "a graph for Graphviz", topo_dot},
    {"svg", "a picture", topo_svg},
    {"nccl", "nccl.conf: variables that follow, and why", topo_nccl},
    {"cpuset", "CPUs of each GPU, for srun --cpu-bind", topo_cpuset, true},
    {"slurm", "lines of gres.conf", topo_slurm, true},
    {"rankfile", "one rank for each GPU, for Open MPI", topo_rankfile, true},
};

std::vector<Finding> problems_of(const Node& node) {
  const std::vector<std::string> only{"locality", "pairing", "pcie"};
  Report report = run_checks({.now = node, .before = nullptr, .policy = nullptr, .plan = nullptr, .no_policy = {}}, only);
  std::erase_if(report.findings, [](const Finding& finding) {
    return finding.status == Status::ok || finding.status == Status::unknown;
  });
  return std::move(report.findings);
}

// Of /proc/net/route (net/ipv4/fib_trie.c, fib_route_seq_show): name, destination, gateway, flags, refcount, use, metric,
// mask. The default route is all zeros; the least metric wins.
std::string default_route(const Root& root) {
  const auto text = root.read("proc/net/route");
  std::string best;
  unsigned least = UINT32_MAX;
  for (const std::string_view line : split(text ? std::string_view(*text) : std::string_view{}, '\n')) {
    const auto field = words(line);
    if (field.size() < 8 || field[1] != "00000000" || field[7] != "00000000") continue;
    const auto metric = parse_number<unsigned>(field[6]);
    if (!metric || *metric >= least) continue;
    least = *metric;
    best = field[0];
  }
  return best;
}

// Several nodes to a socket: SYS between them is not the link between sockets.
std::string split_sockets(const Topology& topology) {
  std::map<int, std::vector<std::string>> nodes;
  for (const auto& [node, socket] : topology.numa_socket) nodes[socket].push_back(std::to_string(node));
  for (const auto& [socket, list] : nodes)
    if (list.size() > 1)
      return "Each socket is split into " + std::to_string(list.size()) +
             " NUMA nodes (SNC, NPS): SYS between two nodes of one socket does not leave the socket.";
  return {};
}

std::vector<std::string> split_cards(const Topology& topology) {
  std::map<std::string, std::vector<const Nic*>> cards;
  for (const Nic& nic : topology.nics)
    if (!nic.rdma.empty() && !nic.virtual_function) cards[nic.card].push_back(&nic);
  std::vector<std::string> out;
  for (const auto& [card, nics] : cards) {
    std::vector<std::string> names;
    bool roots_differ = false;
    for (const Nic* nic : nics) {
      names.push_back(nic->name);
      roots_differ = roots_differ || nic->root != nics.front()->root;
    }
    if (roots_differ && !card.empty())
      out.push_back(join(names) + " are one card on several PCI trees (socket direct, multi-host): its ports are shared.");
  }
  return out;
}

Result<Node> read_node(const Options& options, World& world, bool cores) {
  Node node;
  if (!options.hwloc_xml.empty()) {
    auto topology = load_topology_xml(options.hwloc_xml);
    if (!topology) return topology.error();
    node.topology = std::move(topology).value();
    return node;
  }
  if (!world.kernel.root.exists("sys/class") && !world.kernel.root.exists("sys/bus")) return load_topology(world.kernel.root).error();
  node = look(world, {.settings = false, .counters = false, .verbs = false});
  if (cores) machine::read_cores(world.kernel.root, node.topology);
  return node;
}

int failure(const std::string& what, Output& output) {
  output.errors += "fabric-agentctl: " + what + "\n";
  return kFailure;
}

}  // namespace

std::span<const TopoFormat> topo_formats() { return kFormats; }

const TopoFormat* find_topo_format(std::string_view name) {
  for (const TopoFormat& format : kFormats)
    if (format.name == name) return &format;
  return nullptr;
}

TopoView topo_view(const Node& node, const Policy* policy, std::string bootstrap) {
  TopoView view{node, node.topology, policy, compute_nics(node.topology, node.ports), {}, problems_of(node), std::move(bootstrap)};
  view.pairing = best_pairing(node.topology, usable_nics(node.topology, node.ports, view.compute));
  return view;
}

std::vector<size_t> shown_nics(const Topology& topology) {
  const bool rdma = std::any_of(topology.nics.begin(), topology.nics.end(), carries_rdma);
  std::vector<size_t> shown;
  for (size_t i = 0; i < topology.nics.size(); ++i)
    if (!rdma || carries_rdma(topology.nics[i])) shown.push_back(i);
  return shown;
}

std::vector<std::string> topo_notes(const TopoView& view) {
  std::vector<std::string> notes;
  if (is_flattened(view.topology))
    notes.push_back("This is a virtual machine" +
                    (view.topology.hypervisor.empty() ? std::string{} : " (" + view.topology.hypervisor + ")") +
                    " whose hypervisor hides the PCIe switches: the classes are what the guest sees, and devices that look "
                    "equally near may not be. Take the provider's topology file (NCCL_TOPO_FILE).");
  if (const std::string note = split_sockets(view.topology); !note.empty()) notes.push_back(note);
  for (std::string& note : split_cards(view.topology)) notes.push_back(std::move(note));
  std::vector<std::string> memory;
  for (const int node : view.topology.memory_nodes) memory.push_back(std::to_string(node));
  if (!memory.empty()) notes.push_back("NUMA nodes without CPUs (memory of GPUs, HBM, CXL): " + join(memory) + ".");
  for (const Nic& nic : view.topology.nics)
    if (!nic.bond.empty()) notes.push_back(nic.name + " is a member of " + nic.bond + ".");
  return notes;
}

std::string nic_title(const Nic& nic) {
  const std::string name = nic.rdma.empty() ? nic.name : join(nic.rdma);
  const std::string netdevs = join(nic.netdevs);
  return netdevs.empty() || netdevs == name ? name : name + " (" + netdevs + ")";
}

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) out.append(i == 0 ? "" : between).append(parts[i]);
  return out;
}

int run_topo(const Options& options, Output& output) {
  auto world = open_world(options);
  if (!world) return failure(world.error().text(), output);
  const TopoFormat* format = find_topo_format(options.json ? "json" : options.format);
  const auto node = read_node(options, *world, format->needs_cores);
  if (!node) return failure(node.error().text(), output);
  const bool alone = !options.hwloc_xml.empty();
  output.text += format->print(topo_view(*node, world->policy ? &*world->policy : nullptr,
                                         alone ? std::string{} : default_route(world->kernel.root)));
  return kDone;
}

}  // namespace fabric::ctl
