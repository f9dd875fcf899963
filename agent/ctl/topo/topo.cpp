// SPDX-License-Identifier: Apache-2.0
#include "ctl/topo/topo.h"

#include <algorithm>

#include "base/json.h"
#include "model/node.h"
#include "topology/locality.h"

namespace fabric::ctl {
namespace {

struct Column {
  std::string name;  // "GPU0", "NIC3"
  const PciDevice* function = nullptr;
};

// nvidia-smi's own words.
constexpr std::pair<const char*, const char*> kLegend[] = {
    {"X   ", "Self"},
    {"SYS ", "Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)"},
    {"NODE", "Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node"},
    {"PHB ", "Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)"},
    {"PXB ", "Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)"},
    {"PIX ", "Connection traversing at most a single PCIe bridge"},
};

std::string legend(unsigned width) {
  std::string out = "\nLegend:\n\n";
  for (const auto& [word, meaning] : kLegend)
    out += std::string("  ") + word + " = " + wrapped(meaning, width, 9) + "\n";
  return out + "  As nvidia-smi topo -mp: PCIe only. Its -m prints NV# between GPUs joined by NVLink.\n";
}

std::string cell(const PciDevice& row, const PciDevice& column) {
  if (&row == &column) return " X";
  const auto path = path_class(row, column);
  return path ? std::string(to_text(*path)) : "N/A";
}

struct MatrixColumn {
  std::string title;
  std::vector<std::string> cells;
};

// Columns that belong together, GPUs, NICs, affinity, stay in one block if they fit there.
std::string blocks(const std::vector<Column>& rows, const std::vector<std::vector<MatrixColumn>>& groups,
                   unsigned width) {
  const auto width_of = [](const MatrixColumn& column) {
    size_t widest = column.title.size();
    for (const std::string& text : column.cells) widest = std::max(widest, text.size());
    return widest + 1;
  };
  size_t name_width = 0, used = 0;
  for (const Column& row : rows) name_width = std::max(name_width, row.name.size());
  std::vector<std::vector<const MatrixColumn*>> out(1);
  used = name_width;
  for (const auto& group : groups) {
    size_t needed = 0;
    for (const MatrixColumn& column : group) needed += width_of(column);
    bool starts = width > 0 && used + needed > width && !out.back().empty();
    for (const MatrixColumn& column : group) {
      starts = starts || (width > 0 && used + width_of(column) > width && !out.back().empty());
      if (starts) {
        out.emplace_back();
        used = name_width;
      }
      starts = false;
      out.back().push_back(&column);
      used += width_of(column);
    }
  }
  std::string text;
  for (const auto& block : out) {
    text += text.empty() ? "" : "\n";
    for (size_t row = 0; row <= rows.size(); ++row) {  // the header first
      std::string line = row == 0 ? "" : rows[row - 1].name;
      size_t end = name_width;
      for (const MatrixColumn* column : block) {
        line.resize(end + 1, ' ');
        line += row == 0 ? column->title : column->cells[row - 1];
        end += width_of(*column);
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  return text;
}

std::string matrix(const Topology& topology, const std::vector<size_t>& nics, unsigned width) {
  std::vector<Column> devices;
  for (const Gpu& gpu : topology.gpus) devices.push_back({gpu.name, &gpu});
  for (size_t i = 0; i < nics.size(); ++i) devices.push_back({"NIC" + std::to_string(i), &topology.nics[nics[i]]});
  std::vector<std::vector<MatrixColumn>> groups(3);
  for (size_t i = 0; i < devices.size(); ++i) {
    MatrixColumn column{devices[i].name, {}};
    for (const Column& row : devices) column.cells.push_back(cell(*row.function, *devices[i].function));
    groups[i < topology.gpus.size() ? 0 : 1].push_back(std::move(column));
  }
  if (topology.gpus.empty()) return blocks(devices, groups, width);
  // The affinity belongs to GPUs; nvidia-smi leaves it out of the NICs' rows.
  groups[2] = {{"CPU Affinity", {}}, {"NUMA Affinity", {}}};
  for (size_t i = 0; i < devices.size(); ++i) {
    const auto numa = devices[i].function->numa;
    const auto cpus = numa ? topology.numa_cpus.find(*numa) : topology.numa_cpus.end();
    const bool gpu = i < topology.gpus.size();
    groups[2][0].cells.push_back(!gpu ? "" : cpus == topology.numa_cpus.end() ? "N/A" : cpus->second);
    groups[2][1].cells.push_back(!gpu ? "" : numa ? std::to_string(*numa) : "N/A");
  }
  return blocks(devices, groups, width);
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

std::string gpu_legend(const Topology& topology) {
  std::string out = "\nGPU Legend:\n\n";
  for (const Gpu& gpu : topology.gpus)
    out += "  " + gpu.name + ": " + (gpu.model.empty() ? gpu.pci : gpu.model + " (" + gpu.pci + ")") + "\n";
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
    std::vector<std::string> list;
    for (const size_t nic : pair.nics) list.push_back(view.topology.nics[nic].name);
    out += "  " + view.topology.gpus[g].name + ": ";
    if (list.empty()) out += "none\n";
    else
      out += joined(list) + " (" + std::string(to_text(*pair.path)) +
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

Json names(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const std::string& name : list) out.push_back(name);
  return out;
}

Json nic_json(const TopoView& view, const Nic& nic, bool compute) {
  Json out =
      Json::object({{"pci", nic.pci}, {"netdevs", names(nic.netdevs)}, {"rdma", names(nic.rdma)}, {"numa", nic.numa}});
  out.update({{"card", nic.card}, {"virtual_function", nic.virtual_function}, {"compute", compute}});
  if (!nic.bond.empty()) out["bond"] = nic.bond;
  for (const Port& port : view.node.ports)
    if (contains(nic.rdma, port.rdma) && port.rate) out["rate"] = *port.rate;
  return out;
}

Json gpu_json(const Gpu& gpu) {
  Json indices = Json::array();
  for (const unsigned index : gpu.vendor_index) indices.push_back(index);
  Json out = Json::object({{"pci", gpu.pci}, {"name", gpu.name}, {"numa", gpu.numa}});
  out.update({{"model", gpu.model}, {"uuid", gpu.uuid}, {"index", std::move(indices)}, {"minor", gpu.minor}});
  if (!gpu.partition.empty()) out["partition"] = gpu.partition;
  return out;
}

Json pair_json(const TopoView& view, size_t g) {
  const Pair& pair = view.pairing.pairs[g];
  Json nics = Json::array();
  for (const size_t nic : pair.nics) nics.push_back(view.topology.nics[nic].pci);
  return Json::object({{"gpu", view.topology.gpus[g].pci},
                       {"nics", std::move(nics)},
                       {"class", pair.path ? Json(to_text(*pair.path)) : Json()},
                       {"shared_by", pair.shared_by}});
}

}  // namespace

std::string topo_text(const TopoView& view) {
  const Topology& topology = view.topology;
  const auto nics = shown_nics(topology);
  if (topology.gpus.empty() && nics.empty()) return "No GPU and no NIC found.\n";
  std::string out = matrix(topology, nics, view.width) + legend(view.width);
  if (!topology.gpus.empty()) out += gpu_legend(topology);
  out += nic_legend(topology, nics);
  if (!topology.gpus.empty() && !nics.empty()) out += nearest(topology, nics);
  if (!topology.gpus.empty() && !view.compute.empty()) out += pairing(view);
  return out + left_out(topology, nics) + notes(view);
}

Json topo_json(const TopoView& view) {
  const Topology& topology = view.topology;
  Json gpus = Json::array(), nics = Json::array(), paths = Json::array(), pairs = Json::array(),
       pairing = Json::array();
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const bool compute = contains(view.compute, i);
    nics.push_back(nic_json(view, topology.nics[i], compute));
  }
  for (size_t g = 0; g < topology.gpus.size(); ++g) {
    const Gpu& gpu = topology.gpus[g];
    gpus.push_back(gpu_json(gpu));
    for (const Nic& nic : topology.nics) {
      const auto path = path_class(static_cast<const PciDevice&>(gpu), nic);  // as nvidia-smi: of its own function
      paths.push_back(
          Json::object({{"gpu", gpu.pci}, {"nic", nic.pci}, {"class", path ? Json(to_text(*path)) : Json()}}));
    }
    Json near = Json::array();
    for (const size_t index : nearest_nics(topology, gpu)) near.push_back(topology.nics[index].pci);
    pairs.push_back(Json::object({{"gpu", gpu.pci}, {"nics", std::move(near)}}));
    pairing.push_back(pair_json(view, g));
  }
  Json problems = Json::array();
  for (const Finding& problem : view.problems)
    problems.push_back(
        Json::object({{"id", problem.id}, {"subject", problem.subject}, {"observed", problem.observed}}));
  return Json::object({{"gpus", std::move(gpus)},
                       {"nics", std::move(nics)},
                       {"paths", std::move(paths)},
                       {"pairs", std::move(pairs)},
                       {"pairing", std::move(pairing)},
                       {"problems", std::move(problems)},
                       {"notes", names(topo_notes(view))}});
}

}  // namespace fabric::ctl
