// SPDX-License-Identifier: Apache-2.0
#include "ctl/topo/topo.h"

#include "base/json.h"

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

// Lines of the columns, each padded to its width but the last.
std::string table(const std::vector<Column>& columns) {
  std::string out;
  for (size_t row = 0; row < columns.front().cells.size(); ++row) {
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

// Blocks of columns that fit the width, each after the rows' names. Columns that belong together, GPUs, NICs, affinity,
// stay in one block if they fit there.
std::string blocks(const Column& names, const std::vector<std::vector<Column>>& groups, unsigned width) {
  std::string out;
  std::vector<Column> block{names};
  size_t used = names.width();
  const auto begin_if_full = [&](size_t needed) {
    if (width == 0 || used + needed <= width + 1 || block.size() == 1) return;
    append_item(out, table(block), "\n");
    block.resize(1);
    used = names.width();
  };
  for (const auto& group : groups) {
    size_t needed = 0;
    for (const Column& column : group) needed += column.width();
    for (const Column& column : group) {
      begin_if_full(std::max(needed, column.width()));
      needed = 0;
      block.push_back(column);
      used += column.width();
    }
  }
  append_item(out, table(block), "\n");
  return out;
}

std::string cell(const PciDevice& row, const PciDevice& column) {
  if (&row == &column) return " X";
  const auto path = path_class(row, column);
  return path ? std::string(to_text(*path)) : "N/A";
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
  std::vector<std::vector<Column>> groups(3);
  for (size_t i = 0; i < devices.size(); ++i) {
    Column column{{names.cells[i + 1]}};
    for (const PciDevice* row : devices) column.cells.push_back(cell(*row, *devices[i]));
    groups[i < topology.gpus.size() ? 0 : 1].push_back(std::move(column));
  }
  if (topology.gpus.empty()) return blocks(names, groups, width);
  // The affinity belongs to GPUs; nvidia-smi leaves it out of the NICs' rows.
  Column cpus{{"CPU Affinity"}}, numa{{"NUMA Affinity"}};
  for (const Gpu& gpu : topology.gpus) {
    const std::string* known = gpu.numa ? find_in(topology.numa_cpus, *gpu.numa) : nullptr;
    cpus.cells.push_back(known == nullptr ? "N/A" : *known);
    numa.cells.push_back(gpu.numa ? std::to_string(*gpu.numa) : "N/A");
  }
  cpus.cells.resize(names.cells.size());
  numa.cells.resize(names.cells.size());
  groups[2] = {cpus, numa};
  return blocks(names, groups, width);
}

std::string nic_legend(const Topology& topology, const std::vector<size_t>& nics) {
  if (nics.empty()) return {};
  std::string out = "\nNIC Legend:\n\n";
  for (size_t i = 0; i < nics.size(); ++i) {
    const Nic& nic = topology.nics[nics[i]];
    const std::string name = nic.rdma.empty() ? nic.name : joined(nic.rdma);
    std::vector<std::string> details;
    for (const std::string& detail : {joined(nic.netdevs), nic.pci})
      if (!detail.empty() && detail != name) details.push_back(detail);
    out += "  NIC" + std::to_string(i) + ": " + name + (details.empty() ? "" : " (" + joined(details) + ")") + "\n";
  }
  return out;
}

std::string nearest(const Topology& topology, const std::vector<size_t>& shown) {
  std::string out = "\nNearest NICs:\n\n";
  for (const Gpu& gpu : topology.gpus) {
    std::vector<std::string> names;
    std::string_view path;
    for (const size_t index : nearest_nics(topology, gpu)) {
      if (!std::ranges::binary_search(shown, index)) continue;
      names.push_back(topology.nics[index].name);
      path = to_text(*path_class(gpu, topology.nics[index]));
    }
    out += "  " + gpu.name + ": " + (names.empty() ? "unknown" : joined(names) + " (" + std::string(path) + ")") + "\n";
  }
  return out;
}

std::string pairing(const TopoView& view) {
  std::string out = "\nBest pairing:\n\n";
  for (size_t g = 0; g < view.topology.gpus.size(); ++g) {
    const Pair& pair = view.pairing.pairs[g];
    out += "  " + view.topology.gpus[g].name + ": ";
    if (pair.nics.empty()) out += "none\n";
    else
      out += joined(pair.nics, ", ", [&](size_t nic) { return view.topology.nics[nic].name; }) + " (" +
             std::string(to_text(*pair.path)) +
             (pair.shared_by > 1 ? ", shared by " + std::to_string(pair.shared_by) + " GPUs" : "") + ")\n";
  }
  return out;
}

std::string left_out(const Topology& topology, const std::vector<size_t>& shown) {
  std::vector<std::string> names;
  size_t more = 0;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    if (std::ranges::binary_search(shown, i)) continue;
    if (carries_rdma(topology.nics[i])) ++more;
    else if (!is_data_direct(topology.nics[i])) names.push_back(topology.nics[i].name);
  }
  std::string out = names.empty() ? "" : "\nNICs without RDMA: " + joined(names) + "\n";
  if (more > 0) out += "\n" + std::to_string(more) + " more NICs: see --json\n";
  return out;
}

std::string notes(const TopoView& view) {
  std::string out;
  for (const Finding& problem : view.problems)
    out += "  " + problem.subject + ": " + problem.observed + "; expected " + problem.expected + "\n";
  if (!out.empty()) out = "\nProblems (see fabric-agentctl check):\n\n" + out;
  const auto list = topo_notes(view);
  if (!list.empty()) out += "\nNotes:\n\n";
  for (const std::string& note : list) out += "  " + note + "\n";
  return out;
}

Json nic_json(const TopoView& view, size_t index) {
  const Nic& nic = view.topology.nics[index];
  Json out = {{"pci", nic.pci},
              {"netdevs", nic.netdevs},
              {"rdma", nic.rdma},
              {"numa", nic.numa},
              {"card", nic.card},
              {"virtual_function", nic.virtual_function},
              {"compute", contains(view.compute, index)}};
  if (!nic.bond.empty()) out["bond"] = nic.bond;
  for (const Port& port : view.node.ports)
    if (contains(nic.rdma, port.rdma) && port.rate) out["rate"] = *port.rate;
  return out;
}

Json gpu_json(const Gpu& gpu) {
  Json out = {{"pci", gpu.pci},   {"name", gpu.name},          {"numa", gpu.numa},  {"model", gpu.model},
              {"uuid", gpu.uuid}, {"index", gpu.vendor_index}, {"minor", gpu.minor}};
  if (!gpu.partition.empty()) out["partition"] = gpu.partition;
  return out;
}

Json class_json(const std::optional<PathClass>& path) { return path ? Json(to_text(*path)) : Json(); }

Json addresses(const Topology& topology, const std::vector<size_t>& nics) {
  Json out = Json::array();
  for (const size_t nic : nics) out.push_back(topology.nics[nic].pci);
  return out;
}

}  // namespace

std::string topo_text(const TopoView& view) {
  const Topology& topology = view.topology;
  const auto nics = shown_nics(topology);
  if (topology.gpus.empty() && nics.empty()) return "No GPU and no NIC found.\n";
  std::string out = matrix(topology, nics, view.width) + "\nLegend:\n\n";
  for (const auto& [word, meaning] : kLegend)
    out += std::string("  ") + word + " = " + wrapped(meaning, view.width, 9) + "\n";
  out += "  As nvidia-smi topo -mp: PCIe only. Its -m prints NV# between GPUs joined by NVLink.\n";
  if (!topology.gpus.empty()) out += "\nGPU Legend:\n\n";
  for (const Gpu& gpu : topology.gpus)
    out += "  " + gpu.name + ": " + (gpu.model.empty() ? gpu.pci : gpu.model + " (" + gpu.pci + ")") + "\n";
  out += nic_legend(topology, nics);
  if (!topology.gpus.empty() && !nics.empty()) out += nearest(topology, nics);
  if (!topology.gpus.empty() && !view.compute.empty()) out += pairing(view);
  return out + left_out(topology, nics) + notes(view);
}

Json topo_json(const TopoView& view) {
  const Topology& topology = view.topology;
  Json gpus = Json::array(), nics = Json::array(), paths = Json::array(), pairs = Json::array(),
       pairing = Json::array(), problems = Json::array();
  for (size_t i = 0; i < topology.nics.size(); ++i) nics.push_back(nic_json(view, i));
  for (size_t g = 0; g < topology.gpus.size(); ++g) {
    const Gpu& gpu = topology.gpus[g];
    const Pair& pair = view.pairing.pairs[g];
    gpus.push_back(gpu_json(gpu));
    for (const Nic& nic : topology.nics) {
      const auto path = path_class(static_cast<const PciDevice&>(gpu), nic);  // as nvidia-smi: of its own function
      paths.push_back({{"gpu", gpu.pci}, {"nic", nic.pci}, {"class", class_json(path)}});
    }
    pairs.push_back({{"gpu", gpu.pci}, {"nics", addresses(topology, nearest_nics(topology, gpu))}});
    pairing.push_back({{"gpu", gpu.pci},
                       {"nics", addresses(topology, pair.nics)},
                       {"class", class_json(pair.path)},
                       {"shared_by", pair.shared_by}});
  }
  for (const Finding& problem : view.problems)
    problems.push_back({{"id", problem.id}, {"subject", problem.subject}, {"observed", problem.observed}});
  return {{"gpus", std::move(gpus)},   {"nics", std::move(nics)},       {"paths", std::move(paths)},
          {"pairs", std::move(pairs)}, {"pairing", std::move(pairing)}, {"problems", std::move(problems)},
          {"notes", topo_notes(view)}};
}

}  // namespace fabric::ctl
