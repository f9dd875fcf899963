// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "judge/engine.h"
#include "ctl/topo/topo.h"
#include "ctl/world.h"
#include "node/machine.h"
#include "node/nvml.h"
#include "node/topology_reader.h"

namespace fabric::ctl {
namespace {

using Fold = TopoFormat::Fold;

constexpr TopoFormat kFormats[] = {
    {"text", "the matrix of nvidia-smi topo -m, the best pairing, problems", topo_text, Fold::lines},
    {"tree", "sockets, NUMA nodes, switches and devices", topo_tree, Fold::lines},
    {"json", "everything, for programs", [](const TopoView& view) { return json_text(topo_json(view)); }},
    {"dot", "a graph for Graphviz", topo_dot},
    {"svg", "a picture", topo_svg},
    {"nccl", "nccl.conf with comments", topo_nccl, Fold::comments},
    {"cpuset", "CPUs of each GPU, for srun --cpu-bind", topo_cpuset},  // with a command, which stays in one line
    {"slurm", "lines of gres.conf", topo_slurm, Fold::comments},
    {"rankfile", "one rank for each GPU, for Open MPI", topo_rankfile, Fold::comments},
};

// The kernel's tables of routes: a line each, and the columns of the interface, the destination, its mask or length,
// and the metric (net/ipv4/fib_trie.c, fib_route_seq_show(); net/ipv6/ip6_fib.c, ipv6_route_native_seq_show(),
// Linux 6.12).
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

// A line for each GPU, so that a captured machine gives the same answer: address, index, minor, UUID, name.
Result<std::string> nvml_text() {
  const auto devices = nvml::devices();
  if (!devices) return devices.error();
  std::string text;
  for (const nvml::Device& each : *devices)
    text += each.pci + "\t" + std::to_string(each.index) + "\t" + (each.minor ? std::to_string(*each.minor) : "") +
            "\t" + each.uuid + "\t" + each.name + "\n";
  return text;
}

std::vector<nvml::Device> nvml_devices(const std::string& text) {
  std::vector<nvml::Device> out;
  for (const std::string_view line : split(text, '\n')) {
    const auto field = split(line, '\t');
    const auto index = field.size() == 5 ? parse_number<unsigned>(field[1]) : std::nullopt;
    if (index)
      out.push_back({std::string(field[0]), *index, std::string(field[3]), std::string(field[4]),
                     parse_number<unsigned>(field[2])});
  }
  return out;
}

Result<Node> read_node(const Options& options, World& world) {
  Node node;
  if (!options.hwloc_xml.empty()) {
    auto topology = load_topology_xml(options.hwloc_xml);
    if (!topology) return topology.error();
    node.topology = std::move(topology).value();
    return node;
  }
  if (!world.kernel.root.exists("sys/class") && !world.kernel.root.exists("sys/bus"))
    return load_topology(world.kernel).error();
  node = look(world, {.settings = false, .counters = false, .network = false, .verbs = false});
  // Report a machine that is too large or not readable, instead of an empty one.
  if (node.topology.gpus.empty() && node.topology.nics.empty())
    if (const auto topology = load_topology(world.kernel); !topology) return topology.error();
  if (world.kernel.route && nvml::is_wanted(node.topology))
    if (const auto text = query_recorded(world.kernel, "nvml devices", nvml_text))
      nvml::complete(nvml_devices(*text), node.topology);
  return node;
}

}  // namespace

std::span<const TopoFormat> topo_formats() { return kFormats; }

const TopoFormat* find_topo_format(std::string_view name) {
  return find_where(kFormats, [&](const TopoFormat& format) { return format.name == name; });
}

TopoView topo_view(const Node& node, const Policy* policy, std::string bootstrap) {
  std::vector<std::string> only{"locality", "pairing", "pcie"};
  if (!node.ports.empty()) only.emplace_back("port-state");
  Report report = run_rules({.now = node, .no_policy = {}}, only);
  std::erase_if(report.findings, [](const Finding& finding) {
    return finding.status == Status::ok || finding.status == Status::unknown;
  });
  return {node,
          node.topology,
          policy,
          compute_nics(node.topology, node.ports),
          best_pairing(node.topology, node.ports),
          std::move(report.findings),
          std::move(bootstrap)};
}

bool is_about(const Finding& problem, const std::string& name) {
  return problem.subject == name || problem.subject.starts_with(name + "/");
}

std::string nic_title(const Nic& nic) {
  const std::string name = nic.rdma.empty() ? nic.name : joined(nic.rdma);
  const std::string netdevs = joined(nic.netdevs);
  return netdevs.empty() || netdevs == name ? name : name + " (" + netdevs + ")";
}

int run_topo(const Options& options, Output& output) {
  auto world = open_world(options);
  if (!world) return fail(output, kFailure, world.error().text());
  const TopoFormat* format = find_topo_format(options.json ? "json" : options.format);
  const auto node = read_node(options, *world);
  if (!node) return fail(output, kFailure, node.error().text());
  const bool alone = !options.hwloc_xml.empty();
  TopoView view = topo_view(*node, world->policy ? &*world->policy : nullptr,
                            alone ? std::string{} : default_route(world->kernel.root));
  view.width = output.width;
  const std::string text = format->print(view);
  const bool folds = format->fold != TopoFormat::Fold::none;
  output.text += folds ? folded(text, output.width, format->fold == TopoFormat::Fold::comments ? "# " : "") : text;
  return kDone;
}

}  // namespace fabric::ctl
