// SPDX-License-Identifier: Apache-2.0
// The boxes of the machine: sockets, NUMA nodes, root buses, switches and the devices in them.
#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "ctl/topo/view.h"
#include "node/port.h"
#include "topology/boxes.h"

namespace fabric::ctl {
namespace {

std::string problems_text(const TopoView& view, const std::string& device) {
  std::string out;
  for (const Finding* problem : problems_of(view, device))
    out += "  ! " + problem->observed + " (expected " + problem->expected + ")";
  return out;
}

// "mlx5_0 (ens0)"
std::string nic_title(const Nic& nic) {
  std::string name = joined(nic.rdma);
  if (name.empty()) name = nic.name;
  const std::string netdevs = joined(nic.netdevs);
  if (netdevs.empty() || netdevs == name) return name;
  return name + " (" + netdevs + ")";
}

// The branch to a line below which `left` more lines of the same box follow.
const char* branch(size_t left) {
  if (left == 0) return "└─ ";
  return "├─ ";
}

void add_lines(const TopoView& view, const TopologyBox& box, const std::string& indent, std::string& out) {
  size_t left = box.gpus.size() + box.nics.size() + box.boxes.size();
  for (const size_t index : box.gpus) {
    const Gpu& gpu = view.topology.gpus[index];
    out += indent + branch(--left) + gpu.name + "  " + gpu.pci;
    if (!gpu.model.empty()) out += "  " + gpu.model;
    if (!gpu.partition.empty()) out += "  " + gpu.partition;
    out += problems_text(view, gpu.name) + "\n";
  }
  for (const size_t index : box.nics) {
    const Nic& nic = view.topology.nics[index];
    out += indent + branch(--left) + nic_title(nic) + "  " + nic.pci;
    for (const Port& port : view.node.ports) {
      if (!contains(nic.rdma, port.rdma)) continue;
      if (!is_up(port)) out += "  port " + std::to_string(port.number) + " " + std::string(link_word(port));
      else if (port.rate) out += "  " + rate_text(*port.rate);
    }
    if (nic.is_virtual_function()) out += "  virtual function";
    std::string gpus;
    for (size_t g = 0; g < view.pairing.pairs.size(); ++g)
      if (contains(view.pairing.pairs[g].nics, index)) append_item(gpus, view.topology.gpus[g].name);
    if (!gpus.empty()) out += "  serves " + gpus;
    out += problems_text(view, nic.name) + "\n";
  }
  for (const TopologyBox& below : box.boxes) {
    out += indent + branch(--left) + below.title + "\n";
    std::string indent_below = indent + "│  ";
    if (left == 0) indent_below = indent + "   ";
    add_lines(view, below, indent_below, out);
  }
}

// A quoted string of Graphviz: a quote ends it, a backslash begins an escape.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string dot_node(const TopoView& view, const std::string& id, const std::string& title, const std::string& name,
                     const std::string& pci) {
  std::string color;
  if (!problems_of(view, name).empty()) color = ", color=red, fontcolor=red";
  return id + " [label=" + in_quotes(title + "  " + pci) + color + "];\n";
}

// `number`: the number of the next cluster.
void add_dot_box(const TopoView& view, const TopologyBox& box, const std::string& indent, unsigned& number,
                 std::string& out) {
  for (const size_t index : box.gpus) {
    const Gpu& gpu = view.topology.gpus[index];
    out += indent + dot_node(view, "gpu" + std::to_string(index), gpu.name, gpu.name, gpu.pci);
  }
  for (const size_t index : box.nics) {
    const Nic& nic = view.topology.nics[index];
    out += indent + dot_node(view, "nic" + std::to_string(index), nic_title(nic), nic.name, nic.pci);
  }
  for (const TopologyBox& below : box.boxes) {
    out += indent + "subgraph cluster_" + std::to_string(number) + " {\n";
    out += indent + "  label=" + in_quotes(below.title) + ";\n";
    ++number;
    add_dot_box(view, below, indent + "  ", number, out);
    out += indent + "}\n";
  }
}

}  // namespace

// Prints the topology as a tree of lines.
std::string topo_tree(const TopoView& view) {
  std::vector<size_t> all;
  for (size_t i = 0; i < view.topology.nics.size(); ++i) all.push_back(i);
  std::string out;
  for (const TopologyBox& socket : topology_boxes(view.topology, all).boxes) {
    out += socket.title + "\n";
    add_lines(view, socket, "", out);
  }
  std::vector<Finding> elsewhere;  // than at a GPU or NIC: of the host, a switch port or a missing part
  for (const Finding& problem : view.problems) {
    const auto is_about = [&](const auto& device) { return is_of_device(problem.subject, device.name); };
    if (std::ranges::none_of(view.topology.gpus, is_about) && std::ranges::none_of(view.topology.nics, is_about))
      elsewhere.push_back(problem);
  }
  for (const std::string& line : problem_lines(elsewhere)) out += "! " + line + "\n";
  for (const std::string& note : topo_notes(view)) out += note + "\n";
  if (out.empty()) return "No GPU and no NIC found.\n";
  return out;
}

// Prints the topology as a graph for Graphviz.
std::string topo_dot(const TopoView& view) {
  std::string out =
      "graph topology {\n  node [shape=box, fontname=\"sans-serif\"];\n  graph [fontname=\"sans-serif\"];\n";
  unsigned number = 0;
  add_dot_box(view, topology_boxes(view.topology, shown_nics(view.topology)), "  ", number, out);
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g)
    for (const size_t nic : view.pairing.pairs[g].nics)
      out += "  gpu" + std::to_string(g) + " -- nic" + std::to_string(nic) +
             " [label=" + in_quotes(to_text(*view.pairing.pairs[g].path)) + "];\n";
  return out + "}\n";
}

}  // namespace fabric::ctl
