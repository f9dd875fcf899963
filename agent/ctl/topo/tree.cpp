// SPDX-License-Identifier: Apache-2.0
// `topo --format tree` and `--format dot`.

#include "ctl/topo/topo.h"
#include "judge/finding.h"

namespace fabric::ctl {
namespace {

std::string problems_of(const TopoView& view, const std::string& name) {
  std::string out;
  for (const Finding& problem : view.problems)
    if (is_about(problem, name)) out += "  ! " + problem.observed + " (expected " + problem.expected + ")";
  return out;
}

std::string gpu_line(const TopoView& view, const Gpu& gpu) {
  std::string line = gpu.name + "  " + gpu.pci;
  if (!gpu.model.empty()) line += "  " + gpu.model;
  if (!gpu.partition.empty()) line += "  " + gpu.partition;
  return line + problems_of(view, gpu.name);
}

std::string nic_line(const TopoView& view, size_t index) {
  const Nic& nic = view.topology.nics[index];
  std::string line = nic_title(nic) + "  " + nic.pci;
  for (const Port& port : view.node.ports)
    if (contains(nic.rdma, port.rdma))
      line += is_active(port) ? (port.rate ? "  " + rate_text(*port.rate) : "")
                              : "  port " + std::to_string(port.number) + " not active";
  if (nic.virtual_function) line += "  virtual function";
  std::string gpus;
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g)
    if (contains(view.pairing.pairs[g].nics, index)) append_item(gpus, view.topology.gpus[g].name);
  if (!gpus.empty()) line += "  serves " + gpus;
  return line + problems_of(view, nic.name);
}

void tree(const TopoView& view, const TopologyBox& box, const std::string& indent, std::string& out) {
  const size_t count = box.gpus.size() + box.nics.size() + box.boxes.size();
  size_t at = 0;
  const auto branch = [&] { return indent + (++at == count ? "└─ " : "├─ "); };
  for (const size_t gpu : box.gpus) out += branch() + gpu_line(view, view.topology.gpus[gpu]) + "\n";
  for (const size_t nic : box.nics) out += branch() + nic_line(view, nic) + "\n";
  for (const TopologyBox& below : box.boxes) {
    out += branch() + below.title + "\n";
    tree(view, below, indent + (at == count ? "   " : "│  "), out);
  }
}

// A quoted string of Graphviz: only a quote ends it, a backslash begins an escape.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

void dot_box(const TopoView& view, const TopologyBox& box, const std::string& indent, unsigned& number,
             std::string& out) {
  const auto node = [&](const char* kind, size_t index, const std::string& label, const std::string& name) {
    const bool bad = !problems_of(view, name).empty();
    out += indent + kind + std::to_string(index) + " [label=" + in_quotes(label) +
           (bad ? ", color=red, fontcolor=red" : "") + "];\n";
  };
  for (const size_t gpu : box.gpus)
    node("gpu", gpu, view.topology.gpus[gpu].name + "  " + view.topology.gpus[gpu].pci, view.topology.gpus[gpu].name);
  for (const size_t nic : box.nics)
    node("nic", nic, nic_title(view.topology.nics[nic]) + "  " + view.topology.nics[nic].pci,
         view.topology.nics[nic].name);
  for (const TopologyBox& below : box.boxes) {
    out += indent + "subgraph cluster_" + std::to_string(number++) + " {\n" + indent +
           "  label=" + in_quotes(below.title) + ";\n";
    dot_box(view, below, indent + "  ", number, out);
    out += indent + "}\n";
  }
}

}  // namespace

std::string topo_tree(const TopoView& view) {
  std::vector<size_t> all;
  for (size_t i = 0; i < view.topology.nics.size(); ++i) all.push_back(i);
  std::string out;
  for (const TopologyBox& socket : topology_boxes(view.topology, all).boxes) {
    out += socket.title + "\n";
    tree(view, socket, "", out);
  }
  for (const std::string& note : topo_notes(view)) out += note + "\n";
  return out.empty() ? "No GPU and no NIC found.\n" : out;
}

std::string topo_dot(const TopoView& view) {
  std::string out =
      "graph topology {\n  node [shape=box, fontname=\"sans-serif\"];\n  graph [fontname=\"sans-serif\"];\n";
  unsigned number = 0;
  dot_box(view, topology_boxes(view.topology, shown_nics(view.topology)), "  ", number, out);
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g)
    for (const size_t nic : view.pairing.pairs[g].nics)
      out += "  gpu" + std::to_string(g) + " -- nic" + std::to_string(nic) +
             " [label=" + in_quotes(to_text(*view.pairing.pairs[g].path)) + "];\n";
  return out + "}\n";
}

}  // namespace fabric::ctl
