// SPDX-License-Identifier: Apache-2.0
// The formats of `topo`: pure functions of one view.
#pragma once

#include "ctl/output/table.h"
#include "judge/report.h"
#include "topology/boxes.h"
#include "topology/pairing.h"

namespace fabric::ctl {

struct TopoView {
  const Node& node;
  const Topology& topology;        // the node's
  const Policy* policy = nullptr;  // null: no configuration
  std::vector<size_t> compute;     // compute_nics()
  Pairing pairing;                 // of those that are up
  std::vector<Finding> problems;   // of locality, pairing, pcie and port-state
  std::string bootstrap;           // netdev of the default route; empty: unknown
  unsigned width = 0;              // of the output; 0: no limit
};
// `node` and `policy` must outlive the view.
TopoView topo_view(const Node& node, const Policy* policy = nullptr, std::string bootstrap = {});

// The table of nvidia-smi topo -mp, in blocks of columns that fit the width, its legends, the nearest NICs of each GPU,
// the best pairing, and notes. Columns are the NICs with RDMA; if there is none, all NICs. "N/A": class unknown.
std::string topo_text(const TopoView& view);

// {"gpus":[{"pci","name","numa"}],"nics":[{"pci","netdevs":[],"rdma":[],"numa"}],"paths":[{"gpu","nic","class"}],
// "pairs":[{"gpu","nics":[]}]}: GPUs and NICs are referred to by PCI address, every GPU x NIC has its path, pairs are
// nearest_nics(). numa and class are null if unknown. Not part of this contract: names of the devices, "pairing",
// "problems", "notes".
Json topo_json(const TopoView& view);

std::string topo_tree(const TopoView& view);  // sockets, NUMA nodes, switches, devices, as a tree of lines
std::string topo_dot(const TopoView& view);   // Graphviz
std::string topo_svg(const TopoView& view);   // a picture without external resources
std::string topo_nccl(const TopoView& view);  // NAME=VALUE for nccl.conf, with comments

// These three need topology.cores.
std::string topo_cpuset(const TopoView& view);  // CPUs of each GPU, and srun's --cpu-bind
// Lines of gres.conf(5) of Slurm 22.05. Cores: logical cores, 0 the first of the first socket, as `lstopo -l`
// numbers them. Links: the place in the list is the device's number by PCI address; -1 the device itself, 0 no
// connection; such a line has one File.
std::string topo_slurm(const TopoView& view);
// "Rankfiles" in mpirun(1) of Open MPI 4.1 and 5.0: "rank N=+nHOST slot=CORES", logical cores in both. A comment warns
// of ranks that share cores, which is an error without "--bind-to :overload-allowed" of 5.0.
std::string topo_rankfile(const TopoView& view);

struct TopoFormat {
  std::string_view name, help;
  std::string (*print)(const TopoView& view);
  enum class Fold : uint8_t { none, lines, comments } fold = Fold::none;  // long lines of the text
};
std::span<const TopoFormat> topo_formats();
// Null: unknown.
const TopoFormat* find_topo_format(std::string_view name);

// Limits of the classes and differences from nvidia-smi: a hypervisor that hides the tree, unknown NUMA nodes, several
// in a socket, bridges on a card, no shared bridge, cards on two sockets.
std::vector<std::string> topo_notes(const TopoView& view);
// True if the subject is the device or a port of it.
bool is_about(const Finding& problem, const std::string& name);
// "mlx5_0 (ens0)"
std::string nic_title(const Nic& nic);

}  // namespace fabric::ctl
