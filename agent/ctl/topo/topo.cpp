// SPDX-License-Identifier: Apache-2.0
#include "ctl/topo/topo.h"

#include <algorithm>
#include <cstdint>

#include "base/find.h"
#include "base/parse.h"
#include "ctl/machine.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "kernel/rdma/infiniband.h"
#include "node/nvml.h"
#include "node/topology.h"
#include "node/topology_xml.h"
#include "topology/compute_nics.h"

namespace fabric::ctl {

// Each function is defined in the file of its format.
using Print = std::string(const TopoView& view);
Print topo_text, topo_tree, topo_json, topo_dot, topo_svg, topo_nccl, topo_ucx, topo_nvshmem, topo_cpuset, topo_slurm,
    topo_rankfile;

namespace {

using Fold = TopoFormat::Fold;

constexpr TopoFormat kFormats[] = {
    {"text", topo_text, Fold::lines},
    {"tree", topo_tree, Fold::lines},
    {"json", topo_json},
    {"dot", topo_dot},
    {"svg", topo_svg},
    {"nccl", topo_nccl, Fold::comments},
    {"ucx", topo_ucx, Fold::comments},
    {"nvshmem", topo_nvshmem, Fold::comments},
    {"cpuset", topo_cpuset},  // not folded: it contains a command
    {"slurm", topo_slurm, Fold::comments},
    {"rankfile", topo_rankfile, Fold::comments},
};

// The kernel's route tables, with the columns of the interface, the destination, its mask or length, and the metric
// (net/ipv4/fib_trie.c, fib_route_seq_show(); net/ipv6/ip6_fib.c, ipv6_route_native_seq_show(), Linux 6.12).
struct RouteTable {
  const char* file;
  size_t name, destination, mask, metric;
  int base;  // of the metric
  std::string_view anywhere, no_mask;
};
constexpr RouteTable kRouteTables[] = {
    {"proc/net/route", 0, 1, 7, 6, 10, "00000000", "00000000"},
    {"proc/net/ipv6_route", 9, 0, 1, 5, 16, "00000000000000000000000000000000", "00"},
};

// The interface of the default route with the lowest metric: IPv4, else IPv6. Unreachable routes have lo or "*".
std::string default_route(const Root& root) {
  for (const RouteTable& table : kRouteTables) {
    const std::string text = root.text_of(table.file);
    std::string best;
    unsigned least = UINT32_MAX;
    for (const std::string_view line : split(text, '\n')) {
      const auto field = words(line);
      if (field.size() <= std::max(table.name, table.mask) || field[table.destination] != table.anywhere ||
          field[table.mask] != table.no_mask || field[table.name] == "lo" || field[table.name] == "*")
        continue;
      const auto metric = parse_number<unsigned>(field[table.metric], table.base);
      if (!metric || *metric >= least) continue;
      least = *metric;
      best = field[table.name];
    }
    if (!best.empty()) return best;
  }
  return {};
}

// HPC images of Azure, images of Crusoe, NVIDIA's daemon for virtual machines.
constexpr const char* kTopologyFolders[] = {"opt/microsoft", "opt/microsoft/ncv4", "etc/crusoe/nccl_topo",
                                            "var/run/nvidia-topologyd"};

Result<Node> read_node(Machine& machine) {
  if (!machine.kernel.root.exists("sys/class") && !machine.kernel.root.exists("sys/bus"))
    return load_topology(machine.kernel).error();
  Node node = scan_machine(machine, {.settings = false, .counters = false, .network = false, .verbs = false});
  // Reports a machine that is too large or not readable, instead of showing an empty one.
  if (node.topology.gpus.empty() && node.topology.nics.empty())
    if (const auto topology = load_topology(machine.kernel); !topology) return topology.error();
  // The addresses of this network namespace show which GIDs are its own (is_here()).
  const auto has_other_netdev = [](const Port& port) {
    return std::ranges::any_of(port.gids, [&](const Gid& gid) { return gid.netdev != port.netdev && !gid.above; });
  };
  if (std::ranges::any_of(node.ports, has_other_netdev)) scanning::read_network(machine.kernel, node);
  // Jobs choose a partition by the index of its P_Key.
  for (const Port& port : node.ports)
    if (port.link_layer == LinkLayer::infiniband && is_endpoint(port))
      if (auto keys = infiniband::pkeys(machine.kernel.root, port.rdma, port.number))
        node.network.pkeys[port.id()] = std::move(*keys);
  if (nvml::is_wanted(node.topology)) ask_nvml(machine, node.topology);
  return node;
}

}  // namespace

std::set<std::string> addresses_in(std::string_view xml) {
  constexpr std::string_view kName = "busid=\"";
  std::set<std::string> out;
  for (size_t at = xml.find(kName); at != std::string_view::npos; at = xml.find(kName, at)) {
    at += kName.size();
    const std::string address = lower(xml.substr(at, xml.find('"', at) - at));
    if (!address.empty() && address.find_first_not_of("0123456789abcdef:.") == std::string::npos) out.insert(address);
  }
  return out;
}

std::string provider_topology_file(const Root& root, const Node& node) {
  const Topology& topology = node.topology;
  if (!is_flattened(topology)) return {};
  // Files of other machines of the provider may have the same GPUs, or more of them.
  const std::vector<size_t> nics = compute_nics(topology, node.ports);
  std::vector<std::string> found;
  for (const std::string folder : kTopologyFolders)
    for (const std::string& name : root.names_in(folder)) {
      if (!name.ends_with(".xml")) continue;
      const auto text = root.read(folder + "/" + name);
      if (!text) continue;
      const std::set<std::string> known = addresses_in(*text);
      const bool has_all =
          std::ranges::all_of(topology.gpus, [&](const Gpu& gpu) { return known.contains(lower(gpu.pci)); }) &&
          std::ranges::all_of(nics, [&](size_t nic) { return known.contains(lower(topology.nics[nic].pci)); });
      if (has_all) found.push_back("/" + folder + "/" + name);
    }
  return found.size() == 1 ? found.front() : std::string();
}

std::span<const TopoFormat> topo_formats() { return kFormats; }

const TopoFormat* find_topo_format(std::string_view name) {
  return find_where(kFormats, [&](const TopoFormat& format) { return format.name == name; });
}

int run_topo(const Options& options, Output& output) {
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, machine.error().text());
  Node node;
  std::string bootstrap;
  if (options.hwloc_xml.empty()) {
    auto read = read_node(*machine);
    if (!read) return fail(output, kFailure, read.error().text());
    node = std::move(read).value();
    bootstrap = default_route(machine->kernel.root);
  } else {
    auto topology = load_topology_xml(options.hwloc_xml);
    if (!topology) return fail(output, kFailure, topology.error().text());
    node.topology = std::move(topology).value();
  }
  TopoView view = topo_view(node, machine->policy_or_null(), std::move(bootstrap), wall_now(machine->kernel));
  view.width = output.width;
  if (options.hwloc_xml.empty()) view.topology_file = provider_topology_file(machine->kernel.root, node);
  const TopoFormat* format = find_topo_format(options.format);
  if (options.json) format = find_topo_format("json");
  const std::string text = format->print(view);
  switch (format->fold) {
    case Fold::none: output.text += text; break;
    case Fold::lines: output.text += folded(text, output.width); break;
    case Fold::comments: output.text += folded(text, output.width, "# "); break;
  }
  return kDone;
}

}  // namespace fabric::ctl
