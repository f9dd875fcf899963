// SPDX-License-Identifier: Apache-2.0
// What `topo` shows. Every format is a pure function of one view.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "model/node.h"
#include "model/policy.h"
#include "model/report.h"
#include "topology/pairing.h"

namespace fabric::ctl {

struct TopoView {
  const Node& node;
  const Topology& topology;        // the node's
  const Policy* policy = nullptr;  // null: none could be read
  std::vector<size_t> compute;     // compute_nics()
  Pairing pairing;                 // over those of them that are up
  std::vector<Finding> problems;   // of the checks locality, pairing, pcie and port-state, without the good ones
  std::string bootstrap;           // netdev of the default route; empty: not known
};
// `node` and `policy` must outlive the view.
TopoView topo_view(const Node& node, const Policy* policy = nullptr, std::string bootstrap = {});

// nvidia-smi's `topo -mp` table (columns separated by tabs, as there), its legends, the nearest NICs of each GPU, the
// best pairing, and notes. Columns are the NICs that carry RDMA; where none does, all NICs. "N/A" where a class cannot
// be known.
std::string topo_text(const TopoView& view);

// {"gpus":[{"pci","name","numa"}],"nics":[{"pci","netdevs":[],"rdma":[],"numa"}],"paths":[{"gpu","nic","class"}],
// "pairs":[{"gpu","nics":[]}]}: GPUs and NICs are referred to by PCI address, every GPU x NIC has its path, pairs are
// nearest_nics(). numa and class are null where unknown. Beside this contract: who each device is, "pairing",
// "problems", "notes".
Json topo_json(const TopoView& view);

std::string topo_tree(const TopoView& view);  // sockets, NUMA nodes, switches, devices, as a tree of lines
std::string topo_dot(const TopoView& view);   // Graphviz
std::string topo_svg(const TopoView& view);   // a picture that needs nothing from outside
std::string topo_nccl(const TopoView& view);  // NAME=VALUE for nccl.conf, each with a comment why

// These three need topology.cores.
std::string topo_cpuset(const TopoView& view);  // CPUs of each GPU, and srun's --cpu-bind
// Lines of gres.conf(5) of Slurm 22.05. Cores: logical cores, 0 the first of the first socket, as `lstopo -l`
// numbers them. Links: the place in the list is the device's number by PCI address; -1 the device itself, 0 no
// connection; such a line has one File.
std::string topo_slurm(const TopoView& view);
// "Rankfiles" in mpirun(1) of Open MPI 4.1 and 5.0: "rank N=+nHOST slot=CORES", logical cores on both. Where ranks
// share cores it says so: by default that is an error ("--bind-to :overload-allowed" of 5.0).
std::string topo_rankfile(const TopoView& view);

struct TopoFormat {
  std::string_view name, help;
  std::string (*print)(const TopoView& view);
};
std::span<const TopoFormat> topo_formats();
// Null: there is none of that name.
const TopoFormat* find_topo_format(std::string_view name);

// The NICs worth a column: those that carry RDMA; where none does, all. At most 256, virtual functions last.
std::vector<size_t> shown_nics(const Topology& topology);
// What the classes cannot say, and where nvidia-smi would read otherwise: a hypervisor that hides the tree, NUMA nodes
// that the kernel does not tell, several in a socket, bridges on a card, no shared bridge at all, cards on two sockets.
std::vector<std::string> topo_notes(const TopoView& view);
// Is the device of this name what the problem is about? A port's is its NIC's.
bool is_about(const Finding& problem, const std::string& name);
// "mlx5_0 (ens0)"
std::string nic_title(const Nic& nic);
std::string join(const std::vector<std::string>& parts, std::string_view between = ", ");

}  // namespace fabric::ctl
