// SPDX-License-Identifier: Apache-2.0
#include "ctl/topo.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "model/locality.h"
#include "model/pci_kind.h"

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
    "  PIX  = Connection traversing at most a single PCIe bridge\n";

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::vector<const Nic*> shown_nics(const Topology& topology) {
  const bool rdma = std::any_of(topology.nics.begin(), topology.nics.end(), carries_rdma);
  std::vector<const Nic*> shown;
  for (const Nic& nic : topology.nics)
    if (!rdma || carries_rdma(nic)) shown.push_back(&nic);
  return shown;
}

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

std::string matrix(const Topology& topology, const std::vector<const Nic*>& nics) {
  std::vector<Column> columns;
  for (const Gpu& gpu : topology.gpus) columns.push_back({gpu.name, &gpu});
  for (size_t i = 0; i < nics.size(); ++i) columns.push_back({"NIC" + std::to_string(i), nics[i]});

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

std::string nic_legend(const std::vector<const Nic*>& nics) {
  if (nics.empty()) return {};
  std::string out = "\nNIC Legend:\n\n";
  for (size_t i = 0; i < nics.size(); ++i) {
    const Nic& nic = *nics[i];
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

std::string pairing(const Topology& topology) {
  std::string out = "\nNearest NICs:\n\n";
  for (const Gpu& gpu : topology.gpus) {
    std::vector<std::string> names;
    std::string_view path;
    for (const size_t index : nearest_nics(topology, gpu)) {
      names.push_back(topology.nics[index].name);
      path = to_text(*path_class(gpu, topology.nics[index]));
    }
    out += "  " + gpu.name + ": " + (names.empty() ? "not known" : join(names) + " (" + std::string(path) + ")") + "\n";
  }
  return out;
}

std::string left_out(const Topology& topology, const std::vector<const Nic*>& shown) {
  std::vector<std::string> names;
  for (const Nic& nic : topology.nics)
    if (std::find(shown.begin(), shown.end(), &nic) == shown.end()) names.push_back(nic.name);
  return names.empty() ? std::string{} : "\nNICs without RDMA, not shown: " + join(names) + "\n";
}

Json names(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const std::string& name : list) out.push(name);
  return out;
}

}  // namespace

std::string topo_text(const Topology& topology) {
  const auto nics = shown_nics(topology);
  if (topology.gpus.empty() && nics.empty()) return "No GPU and no NIC found.\n";
  std::string out = matrix(topology, nics) + std::string(kLegend);
  if (!topology.gpus.empty()) out += gpu_legend(topology);
  out += nic_legend(nics);
  if (!topology.gpus.empty() && !nics.empty()) out += pairing(topology);
  return out + left_out(topology, nics);
}

Json topo_json(const Topology& topology) {
  Json gpus = Json::array(), nics = Json::array(), paths = Json::array(), pairs = Json::array();
  for (const Nic& nic : topology.nics) {
    nics.push(Json::object().put("pci", nic.pci).put("netdevs", names(nic.netdevs)).put("rdma", names(nic.rdma)).put("numa", nic.numa));
  }
  for (const Gpu& gpu : topology.gpus) {
    gpus.push(Json::object().put("pci", gpu.pci).put("name", gpu.name).put("numa", gpu.numa));
    for (const Nic& nic : topology.nics) {
      const auto path = path_class(gpu, nic);
      paths.push(Json::object().put("gpu", gpu.pci).put("nic", nic.pci).put("class", path ? Json(to_text(*path)) : Json()));
    }
    Json nearest = Json::array();
    for (const size_t index : nearest_nics(topology, gpu)) nearest.push(topology.nics[index].pci);
    pairs.push(Json::object().put("gpu", gpu.pci).put("nics", std::move(nearest)));
  }
  return Json::object()
      .put("gpus", std::move(gpus))
      .put("nics", std::move(nics))
      .put("paths", std::move(paths))
      .put("pairs", std::move(pairs));
}

}  // namespace fabric::ctl
