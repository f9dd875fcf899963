// SPDX-License-Identifier: Apache-2.0
#include "ctl/topo/topo.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "model/pci_kind.h"
#include "topology/locality.h"

namespace fabric::ctl {
namespace {

struct Column {
  std::string name;  // "GPU0", "NIC3"
  const PciDevice* function = nullptr;
};

// nvidia-smi's own words.
constexpr std::string_view kLegend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node\n"
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  As nvidia-smi topo -mp: PCIe alone. Its -m prints NV# between GPUs that NVLink joins.\n";

std::string cell(const PciDevice& row, const PciDevice& column) {
  if (&row == &column) return " X ";
  const auto path = path_class(row, column);
  return path ? std::string(to_text(*path)) : "N/A";
}

// The affinity columns belong to GPUs; nvidia-smi leaves them out of the NICs' rows.
std::string affinity(const Topology& topology, const PciDevice& gpu) {
  if (!gpu.numa) return "\tN/A\tN/A";
  const auto cpus = topology.numa_cpus.find(*gpu.numa);
  return "\t" + (cpus == topology.numa_cpus.end() ? "N/A" : cpus->second) + "\t" + std::to_string(*gpu.numa);
}

std::string matrix(const Topology& topology, const std::vector<size_t>& nics) {
  std::vector<Column> columns;
  for (const Gpu& gpu : topology.gpus) columns.push_back({gpu.name, &gpu});
  for (size_t i = 0; i < nics.size(); ++i) columns.push_back({"NIC" + std::to_string(i), &topology.nics[nics[i]]});

  std::string out;
  for (const Column& column : columns) out += "\t" + column.name;
  out += topology.gpus.empty() ? "\n" : "\tCPU Affinity\tNUMA Affinity\n";
  for (size_t i = 0; i < columns.size(); ++i) {
    out += columns[i].name;
    for (const Column& column : columns) out += "\t" + cell(*columns[i].function, *column.function);
    if (i < topology.gpus.size()) out += affinity(topology, *columns[i].function);
    out += "\n";
  }
  return out;
}

std::string nic_legend(const Topology& topology, const std::vector<size_t>& nics) {
  if (nics.empty()) return {};
  std::string out = "\nNIC Legend:\n\n";
  for (size_t i = 0; i < nics.size(); ++i) {
    const Nic& nic = topology.nics[nics[i]];
    const std::string name = nic.rdma.empty() ? nic.name : join(nic.rdma);
    std::vector<std::string> details;
    for (const std::string& detail : {join(nic.netdevs), nic.pci})
      if (!detail.empty() && detail != name) details.push_back(detail);
    out += "  NIC" + std::to_string(i) + ": " + name + (details.empty() ? "" : " (" + join(details) + ")") + "\n";
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
      if (!std::binary_search(shown.begin(), shown.end(), index)) continue;
      names.push_back(topology.nics[index].name);
      path = to_text(*path_class(gpu, topology.nics[index]));
    }
    out += "  " + gpu.name + ": " + (names.empty() ? "not known" : join(names) + " (" + std::string(path) + ")") + "\n";
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
      out += join(list) + " (" + std::string(to_text(*pair.path)) +
             (pair.shared_by > 1 ? ", shared by " + std::to_string(pair.shared_by) + " GPUs" : "") + ")\n";
  }
  return out;
}

std::string left_out(const Topology& topology, const std::vector<size_t>& shown) {
  std::vector<std::string> names;
  size_t more = 0;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    if (std::binary_search(shown.begin(), shown.end(), i)) continue;
    if (carries_rdma(topology.nics[i])) ++more;
    else names.push_back(topology.nics[i].name);
  }
  std::string out = names.empty() ? "" : "\nNICs without RDMA, not shown: " + join(names) + "\n";
  if (more > 0) out += "\n" + std::to_string(more) + " more NICs are not shown; --json has them.\n";
  return out;
}

std::string notes(const TopoView& view) {
  std::string out;
  for (const Finding& problem : view.problems)
    out += "  " + problem.subject + ": " + problem.observed + "; expected " + problem.expected + "\n";
  if (!out.empty()) out = "\nProblems (fabric-agentctl check tells more):\n\n" + out;
  const auto list = topo_notes(view);
  if (!list.empty()) out += "\nNotes:\n\n";
  for (const std::string& note : list) out += "  " + note + "\n";
  return out;
}

Json names(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const std::string& name : list) out.push(name);
  return out;
}

Json nic_json(const TopoView& view, const Nic& nic, bool compute) {
  Json out = Json::object();
  out.put("pci", nic.pci).put("netdevs", names(nic.netdevs)).put("rdma", names(nic.rdma)).put("numa", nic.numa);
  out.put("card", nic.card).put("virtual_function", nic.virtual_function).put("compute", compute);
  if (!nic.bond.empty()) out.put("bond", nic.bond);
  for (const Port& port : view.node.ports)
    if (std::find(nic.rdma.begin(), nic.rdma.end(), port.rdma) != nic.rdma.end() && port.rate)
      out.put("rate", *port.rate);
  return out;
}

Json gpu_json(const Gpu& gpu) {
  Json indices = Json::array();
  for (const unsigned index : gpu.vendor_index) indices.push(index);
  Json out = Json::object();
  out.put("pci", gpu.pci).put("name", gpu.name).put("numa", gpu.numa);
  out.put("model", gpu.model).put("uuid", gpu.uuid).put("index", std::move(indices)).put("minor", gpu.minor);
  if (!gpu.partition.empty()) out.put("partition", gpu.partition);
  return out;
}

Json pair_json(const TopoView& view, size_t g) {
  const Pair& pair = view.pairing.pairs[g];
  Json nics = Json::array();
  for (const size_t nic : pair.nics) nics.push(view.topology.nics[nic].pci);
  return Json::object()
      .put("gpu", view.topology.gpus[g].pci)
      .put("nics", std::move(nics))
      .put("class", pair.path ? Json(to_text(*pair.path)) : Json())
      .put("shared_by", pair.shared_by);
}

}  // namespace

std::string topo_text(const TopoView& view) {
  const Topology& topology = view.topology;
  const auto nics = shown_nics(topology);
  if (topology.gpus.empty() && nics.empty()) return "No GPU and no NIC found.\n";
  std::string out = matrix(topology, nics) + std::string(kLegend);
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
    const bool compute = std::find(view.compute.begin(), view.compute.end(), i) != view.compute.end();
    nics.push(nic_json(view, topology.nics[i], compute));
  }
  for (size_t g = 0; g < topology.gpus.size(); ++g) {
    const Gpu& gpu = topology.gpus[g];
    gpus.push(gpu_json(gpu));
    for (const Nic& nic : topology.nics) {
      const auto path = path_class(gpu, nic);
      paths.push(
          Json::object().put("gpu", gpu.pci).put("nic", nic.pci).put("class", path ? Json(to_text(*path)) : Json()));
    }
    Json near = Json::array();
    for (const size_t index : nearest_nics(topology, gpu)) near.push(topology.nics[index].pci);
    pairs.push(Json::object().put("gpu", gpu.pci).put("nics", std::move(near)));
    pairing.push(pair_json(view, g));
  }
  Json problems = Json::array();
  for (const Finding& problem : view.problems)
    problems.push(
        Json::object().put("id", problem.id).put("subject", problem.subject).put("observed", problem.observed));
  return Json::object()
      .put("gpus", std::move(gpus))
      .put("nics", std::move(nics))
      .put("paths", std::move(paths))
      .put("pairs", std::move(pairs))
      .put("pairing", std::move(pairing))
      .put("problems", std::move(problems))
      .put("notes", names(topo_notes(view)));
}

}  // namespace fabric::ctl
