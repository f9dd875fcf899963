// SPDX-License-Identifier: Apache-2.0
// The table of `topo`'s formats and their common functions.

#include "base/json.h"
#include "checks/check.h"
#include "ctl/topo/topo.h"
#include "model/report.h"
#include "model/view.h"

namespace fabric::ctl {
namespace {

std::string print_json(const TopoView& view) { return json_text(topo_json(view)); }

using Fold = TopoFormat::Fold;

constexpr TopoFormat kFormats[] = {
    {"text", "the matrix of nvidia-smi topo -m, the best pairing, problems", topo_text, Fold::lines},
    {"tree", "sockets, NUMA nodes, switches and devices", topo_tree, Fold::lines},
    {"json", "everything, for programs", print_json},
    {"dot", "a graph for Graphviz", topo_dot},
    {"svg", "a picture", topo_svg},
    {"nccl", "nccl.conf with comments", topo_nccl, Fold::comments},
    {"cpuset", "CPUs of each GPU, for srun --cpu-bind", topo_cpuset, Fold::comments},
    {"slurm", "lines of gres.conf", topo_slurm, Fold::comments},
    {"rankfile", "one rank for each GPU, for Open MPI", topo_rankfile, Fold::comments},
};

std::vector<Finding> problems_of(const Node& node) {
  std::vector<std::string> only{"locality", "pairing", "pcie"};
  if (!node.ports.empty()) only.emplace_back("port-state");
  Report report =
      run_checks({.now = node, .before = nullptr, .policy = nullptr, .plan = nullptr, .no_policy = {}}, only);
  std::erase_if(report.findings, [](const Finding& finding) {
    return finding.status == Status::ok || finding.status == Status::unknown;
  });
  return std::move(report.findings);
}

}  // namespace

std::span<const TopoFormat> topo_formats() { return kFormats; }

const TopoFormat* find_topo_format(std::string_view name) {
  for (const TopoFormat& format : kFormats)
    if (format.name == name) return &format;
  return nullptr;
}

TopoView topo_view(const Node& node, const Policy* policy, std::string bootstrap) {
  TopoView view{
      node, node.topology, policy, compute_nics(node.topology, node.ports), {}, problems_of(node), std::move(bootstrap),
      0};
  view.pairing = best_pairing(node.topology, node.ports);
  return view;
}

bool is_about(const Finding& problem, const std::string& name) {
  return problem.subject == name || problem.subject.starts_with(name + "/");
}

std::string nic_title(const Nic& nic) {
  const std::string name = nic.rdma.empty() ? nic.name : joined(nic.rdma);
  const std::string netdevs = joined(nic.netdevs);
  return netdevs.empty() || netdevs == name ? name : name + " (" + netdevs + ")";
}

}  // namespace fabric::ctl
