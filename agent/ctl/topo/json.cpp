// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include "base/find.h"
#include "ctl/topo/view.h"
#include "node/topology.h"

namespace fabric::ctl {
namespace {

Json class_json(const std::optional<PathClass>& path) {
  if (!path) return {};
  return to_text(*path);
}

Json addresses(const Topology& topology, const std::vector<size_t>& nics) {
  Json out = Json::array();
  for (const size_t nic : nics) out.push_back(topology.nics[nic].pci);
  return out;
}

}  // namespace

// {"gpus":[{"pci","name","numa"}],"nics":[{"pci","netdevs":[],"rdma":[],"numa"}],"paths":[{"gpu","nic","class"}],
// "pairs":[{"gpu","nics":[]}]}: GPUs and NICs are referred to by PCI address, every pair of a GPU and a NIC has its
// path, pairs are nearest_nics(). numa and class are null if unknown. Not part of this contract: names of the devices,
// "pairing", "problems", "notes".
std::string topo_json(const TopoView& view) {
  const Topology& topology = view.topology;
  Json gpus = Json::array(), nics = Json::array(), paths = Json::array(), pairs = Json::array(),
       pairing = Json::array(), problems = Json::array();
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    Json& out = nics.emplace_back(Json{{"pci", nic.pci},
                                       {"netdevs", nic.netdevs},
                                       {"rdma", nic.rdma},
                                       {"numa", nic.numa},
                                       {"card", nic.card},
                                       {"virtual_function", nic.is_virtual_function()},
                                       {"compute", contains(view.compute, i)}});
    if (!nic.bond.empty()) out["bond"] = nic.bond;
    for (const Port& port : view.node.ports)
      if (contains(nic.rdma, port.rdma) && port.rate) out["rate"] = *port.rate;
  }
  for (size_t g = 0; g < topology.gpus.size(); ++g) {
    const Gpu& gpu = topology.gpus[g];
    const Pair& pair = view.pairing.pairs[g];
    Json& out = gpus.emplace_back(Json{{"pci", gpu.pci},
                                       {"name", gpu.name},
                                       {"numa", gpu.numa},
                                       {"model", gpu.model},
                                       {"uuid", gpu.uuid},
                                       {"index", gpu.vendor_index},
                                       {"minor", gpu.minor}});
    if (!gpu.partition.empty()) out["partition"] = gpu.partition;
    for (const Nic& nic : topology.nics) {
      // Like nvidia-smi, this reports the path to the NIC's own function, not to its Data Direct function.
      const auto path = path_class(static_cast<const PciDevice&>(gpu), nic);
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
  return json_text({{"gpus", std::move(gpus)},
                    {"nics", std::move(nics)},
                    {"paths", std::move(paths)},
                    {"pairs", std::move(pairs)},
                    {"pairing", std::move(pairing)},
                    {"problems", std::move(problems)},
                    {"notes", topo_notes(view)}});
}

}  // namespace fabric::ctl
