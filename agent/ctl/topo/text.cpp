// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "ctl/output/table.h"
#include "ctl/topo/view.h"
#include "judge/platform_view.h"
#include "nic/capabilities.h"
#include "node/topology.h"
#include "topology/boxes.h"

namespace fabric::ctl {
namespace {

// nvidia-smi's own words.
constexpr std::pair<const char*, const char*> kLegend[] = {
    {"X   ", "Self"},
    {"SYS ", "Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)"},
    {"NODE", "Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node"},
    {"PHB ", "Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)"},
    {"PXB ", "Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)"},
    {"PIX ", "Connection traversing at most a single PCIe bridge"},
};

struct Column {
  std::vector<std::string> cells;  // the title first
  [[nodiscard]] size_t width() const { return std::ranges::max(cells, {}, &std::string::size).size() + 1; }
};

// The lines of the columns; every column but the last is padded to its width. A row that has its name alone is left
// out.
std::string block_text(const std::vector<Column>& columns) {
  std::string out;
  for (size_t row = 0; row < columns.front().cells.size(); ++row) {
    const auto is_empty = [&](const Column& column) { return column.cells[row].empty(); };
    if (row > 0 && std::all_of(columns.begin() + 1, columns.end(), is_empty)) continue;
    std::string line;
    size_t end = 0;
    for (const Column& column : columns) {
      line.resize(end, ' ');
      line += column.cells[row];
      end += column.width();
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

// Blocks of columns that fit the width, each beginning with the names of the rows. The columns of a group (GPUs, NICs,
// affinity) stay in one block if they fit.
std::string in_blocks(const Column& names, const std::vector<std::vector<Column>>& groups, unsigned width) {
  std::string out;
  std::vector<Column> block{names};
  size_t used = names.width();
  for (const auto& group : groups) {
    size_t needed = 0;  // the first column of a group needs the width of the whole group
    for (const Column& column : group) needed += column.width();
    for (const Column& column : group) {
      needed = std::max(needed, column.width());
      if (width != 0 && used + needed > width + 1 && block.size() > 1) {
        append_item(out, block_text(block), "\n");
        block.resize(1);
        used = names.width();
      }
      needed = 0;
      block.push_back(column);
      used += column.width();
    }
  }
  append_item(out, block_text(block), "\n");
  return out;
}

std::string matrix(const Topology& topology, const std::vector<size_t>& nics, unsigned width) {
  std::vector<const PciDevice*> devices;
  Column names{{""}};
  for (const Gpu& gpu : topology.gpus) {
    devices.push_back(&gpu);
    names.cells.push_back(gpu.name);
  }
  for (size_t i = 0; i < nics.size(); ++i) {
    devices.push_back(&topology.nics[nics[i]]);
    names.cells.push_back("NIC" + std::to_string(i));
  }
  std::vector<Column> gpu_columns, nic_columns, affinity;
  for (size_t i = 0; i < devices.size(); ++i) {
    Column column{{names.cells[i + 1]}};
    for (const PciDevice* row : devices) {
      if (row == devices[i]) column.cells.emplace_back(" X");
      else if (const auto path = path_class(*row, *devices[i])) column.cells.emplace_back(to_text(*path));
      else column.cells.emplace_back("N/A");
    }
    if (i < topology.gpus.size()) gpu_columns.push_back(std::move(column));
    else nic_columns.push_back(std::move(column));
  }
  if (!topology.gpus.empty()) {
    // The affinity belongs to GPUs; nvidia-smi leaves it out of the NICs' rows.
    Column cpus{{"CPU Affinity"}}, numa{{"NUMA Affinity"}};
    for (const Gpu& gpu : topology.gpus) {
      std::string cpus_cell = "N/A", numa_cell = "N/A";
      if (gpu.numa) {
        numa_cell = std::to_string(*gpu.numa);
        if (const std::string* known = find_in(topology.numa_cpus, *gpu.numa)) cpus_cell = *known;
      }
      cpus.cells.push_back(cpus_cell);
      numa.cells.push_back(numa_cell);
    }
    cpus.cells.resize(names.cells.size());
    numa.cells.resize(names.cells.size());
    affinity = {cpus, numa};
  }
  return in_blocks(names, {gpu_columns, nic_columns, affinity}, width);
}

}  // namespace

// The table of nvidia-smi topo -mp in blocks of columns that fit the width, its legends, the nearest NICs of each GPU,
// the best pairing, and notes. The columns are the NICs with RDMA; if there is none, all NICs. "N/A": class unknown.
std::string topo_text(const TopoView& view) {
  const Topology& topology = view.topology;
  const auto nics = shown_nics(topology);
  if (topology.gpus.empty() && nics.empty()) return "No GPU and no NIC found.\n";
  std::string out;
  if (!view.problems.empty()) {
    out += "Problems (see fabric-agentctl check):\n\n";
    for (const std::string& line : problem_lines(view.problems)) out += "  " + line + "\n";
    out += "\n";
  }
  if (!topology.gpus.empty()) {
    out += "Best pairing:\n\n";
    if (view.compute.empty()) out += "  none: no NIC with RDMA serves the GPUs\n";
    for (size_t g = 0; g < topology.gpus.size() && !view.compute.empty(); ++g) {
      const Pair& pair = view.pairing.pairs[g];
      out += "  " + topology.gpus[g].name + ": ";
      if (pair.nics.empty()) {
        out += "none\n";
        continue;
      }
      std::string names;
      for (const size_t nic : pair.nics) append_item(names, topology.nics[nic].name);
      out += names + " (" + std::string(to_text(*pair.path));
      if (pair.shared_by > 1) out += ", shared by " + std::to_string(pair.shared_by) + " GPUs";
      out += ")\n";
    }
    out += "\n";
  }
  out += matrix(topology, nics, view.width) + "\nLegend:\n\n";
  for (const auto& [word, meaning] : kLegend)
    out += std::string("  ") + word + " = " + wrapped(meaning, view.width, 9) + "\n";
  out += "  As nvidia-smi topo -mp: PCIe only. nvidia-smi topo -m prints NV# between GPUs joined by NVLink.\n";
  if (!topology.gpus.empty()) out += "\nGPU Legend:\n\n";
  for (const Gpu& gpu : topology.gpus) {
    out += "  " + gpu.name + ": ";
    if (gpu.model.empty()) out += gpu.pci + "\n";
    else out += gpu.model + " (" + gpu.pci + ")\n";
  }

  if (!nics.empty()) out += "\nNIC Legend:\n\n";
  for (size_t i = 0; i < nics.size(); ++i) {
    const Nic& nic = topology.nics[nics[i]];
    std::string name = joined(nic.rdma);
    if (name.empty()) name = nic.name;
    std::string details;
    for (const std::string& detail : {joined(nic.netdevs), nic.pci})
      if (!detail.empty() && detail != name) append_item(details, detail);
    if (!details.empty()) details = " (" + details + ")";
    out += "  NIC" + std::to_string(i) + ": " + name + details + "\n";
  }

  if (!topology.gpus.empty() && !nics.empty()) {
    out += "\nNearest NICs:\n\n";
    for (const Gpu& gpu : topology.gpus) {
      if (is_given_away(view.node, gpu.pci)) continue;
      std::string names, path;
      for (const size_t index : nearest_nics(topology, gpu)) {
        if (!std::ranges::binary_search(nics, index)) continue;
        append_item(names, topology.nics[index].name);
        path = to_text(*path_class(gpu, topology.nics[index]));
      }
      if (names.empty()) out += "  " + gpu.name + ": unknown\n";
      else out += "  " + gpu.name + ": " + names + " (" + path + ")\n";
    }
  }

  std::string without_rdma;
  size_t more = 0;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    if (std::ranges::binary_search(nics, i)) continue;
    if (carries_rdma(topology.nics[i])) ++more;
    else if (!is_data_direct(topology.nics[i])) append_item(without_rdma, topology.nics[i].name);
  }
  if (!without_rdma.empty()) out += "\nNICs without RDMA: " + without_rdma + "\n";
  if (more > 0) out += "\n" + counted(more, "more NIC") + ": see --json\n";

  const auto notes = topo_notes(view);
  if (!notes.empty()) out += "\nNotes:\n\n";
  for (const std::string& note : notes) out += "  " + note + "\n";
  return out;
}

}  // namespace fabric::ctl
