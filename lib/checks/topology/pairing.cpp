// SPDX-License-Identifier: Apache-2.0
#include "checks/topology/pairing.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/parse.h"
#include "checks/check.h"
#include "model/finding.h"
#include "model/node.h"
#include "topology/few_places.h"
#include "topology/inventory.h"
#include "topology/platform.h"
#include "topology/symmetry.h"

namespace fabric {
namespace {

std::string card_name(const Nic& nic) { return nic.card.empty() ? card_of(nic.pci) : nic.card; }

std::optional<PathClass> yardstick_of(const Topology& topology, const Placement& placed, size_t gpu) {
  std::vector<PathClass> paths;
  for (size_t other = 0; other < topology.gpus.size(); ++other)
    if (are_alike(topology.gpus[gpu], topology.gpus[other]) && placed.path(other)) paths.push_back(*placed.path(other));
  std::ranges::sort(paths);
  if (paths.empty()) return std::nullopt;
  return placed.cards >= topology.gpus.size() ? paths.front() : paths[paths.size() / 2];
}

// NIC -> GPUs that it serves, without the GPUs that `locality` reports.
std::map<size_t, std::vector<size_t>> gpus_by_nic(const Topology& topology, const Placement& placed) {
  std::map<size_t, std::vector<size_t>> out;
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
    if (!placed.is_odd(gpu))
      for (const size_t nic : placed.pairing.pairs[gpu].nics) out[nic].push_back(gpu);
  return out;
}

std::string names_of(const Topology& topology, const std::vector<size_t>& gpus) {
  return joined(gpus, " and ", [&](const size_t gpu) { return topology.gpus[gpu].name; });
}

// Number of GPUs served by more than half of the NICs in use.
std::optional<size_t> usual_load(const std::map<size_t, std::vector<size_t>>& served) {
  std::map<size_t, size_t> count;
  for (const auto& [nic, gpus] : served) ++count[gpus.size()];
  for (const auto& [load, nics] : count)
    if (nics * 2 > served.size()) return load;
  return std::nullopt;
}

// No GPU on its NUMA node, while GPUs elsewhere share a NIC although there is one for each.
bool is_stray(const Topology& topology, const Placement& placed, size_t nic) {
  const auto& node = topology.nics[nic].numa;
  const auto is_there = [&](const Gpu& gpu) { return gpu.numa == node; };
  const auto shares = [](const Pair& pair) { return pair.shared_by > 1; };
  const auto& pairs = placed.pairing.pairs;
  return node && placed.cards >= topology.gpus.size() && contains(placed.pairing.idle, nic) &&
         std::ranges::none_of(topology.gpus, is_there) && std::ranges::any_of(pairs, shares);
}

bool any_odd(const Topology& topology, const Placement& placed) {
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
    if (placed.is_odd(gpu)) return true;
  return false;
}

Finding stray(const Nic& nic) {
  const std::string node = std::to_string(*nic.numa);
  return bad(Status::warning, nic.name, "alone on NUMA node " + node, "next to a GPU, like the other NICs",
             "The NUMA node of this NIC has no GPU, while GPUs elsewhere share a NIC.",
             "Move NIC " + nic.pci + " to a slot of the NUMA node where GPUs share a NIC: fabric-agentctl topo");
}

Finding no_rdma(const Nic& nic) {
  return bad(Status::warning, nic.name, "no RDMA device", "one, like the others of its model",
             "This NIC (" + nic.pci + ") has no RDMA device, so no collective can use it.",
             "journalctl -k -g " + nic.pci + ", then reload its RDMA driver.");
}

Finding shared(const Node& node, const Nic& nic, const std::vector<size_t>& gpus, size_t usual, size_t nics) {
  const Topology& topology = node.topology;
  return bad(Status::warning, nic.name, "serves " + names_of(topology, gpus),
             std::to_string(usual) + (usual == 1 ? " GPU" : " GPUs") + ", like the other NICs",
             "A NIC seems to be missing: with " + std::to_string(nics) +
                 " of this model, these GPUs share one. The slowest pair sets the pace of a collective." +
                 missing_text(node, gpus.front()),
             "Find the missing NIC (lspci -nn; journalctl -k), reseat it and its riser, or load its RDMA driver.");
}

std::optional<size_t> without_rdma(const Node& node, const Placement& placed) {
  if (placed.compute.empty()) return std::nullopt;
  const auto found = only_without_rdma(node.topology, node.topology.nics[placed.compute.front()]);
  return found && is_given_away(node, node.topology.nics[*found].pci) ? std::nullopt : found;
}

}  // namespace

Placement placement(const View& view) {
  const Node& node = view.now;
  const Topology& topology = node.topology;
  Placement out;
  out.compute = compute_nics(topology, node.ports);
  out.pairing = built_pairing(view);
  std::set<std::string> cards;
  for (const size_t nic : out.compute) cards.insert(card_name(topology.nics[nic]));
  out.cards = cards.size();
  out.without_rdma = without_rdma(node, out);
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) out.yardstick.push_back(yardstick_of(topology, out, gpu));
  return out;
}

std::string missing_text(const Node& node, size_t gpu) {
  for (const MissingPart& part : missing_parts(node.topology, node.ports))
    if (part.kind == MissingPart::Kind::nic && contains(part.gpus, gpu))
      return " Missing: a NIC function " + place_text(part) + ".";
  return {};
}

std::set<std::string> devices_for_gpus(const View& view) {
  std::set<std::string> out;
  const auto& nics = view.now.topology.nics;
  for (const Pair& pair : built_pairing(view).pairs)
    for (const size_t nic : pair.nics) out.insert(nics[nic].rdma.begin(), nics[nic].rdma.end());
  return out;
}

namespace {

// The reference is the symmetry of the NICs of this machine.
void ask(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  if (topology.gpus.empty()) return;
  const Placement placed = placement(view);
  const auto served = gpus_by_nic(topology, placed);
  const auto usual = usual_load(served);
  const bool odd = any_odd(topology, placed);  // reported by `locality`
  const bool lost = placed.without_rdma.has_value();
  const bool known = std::ranges::any_of(topology.gpus, [&](const Gpu& gpu) { return has_lost_nic(view.now, gpu); });
  const auto is_stray_here = [&](size_t nic) { return !odd && !lost && !known && is_stray(topology, placed, nic); };
  const bool explained = odd || lost || known || std::ranges::any_of(placed.compute, is_stray_here);
  if (lost && !odd && !known) findings.push_back(no_rdma(topology.nics[*placed.without_rdma]));
  for (const size_t index : placed.compute) {
    const Nic& nic = topology.nics[index];
    const auto mine = served.find(index);
    if (is_stray_here(index)) {
      findings.push_back(stray(nic));
    } else if (!explained && usual && mine != served.end() && mine->second.size() > *usual) {
      findings.push_back(shared(view.now, nic, mine->second, *usual, placed.compute.size()));
    } else {
      const std::string text = mine == served.end() ? "no GPU" : names_of(topology, mine->second);
      findings.push_back(good(nic.name, "serves " + text, "like the other NICs"));
    }
  }
}

}  // namespace

extern const Check kPairingCheck{
    .id = "pairing",
    .group = group::topology,
    .title = "A GPU has no NIC of its own",
    .meaning =
        "Pairs GPUs and NICs as well as the machine allows, and reports a NIC that breaks the symmetry: it serves more "
        "GPUs than the others (a NIC is missing), it is on a NUMA node without a GPU while GPUs share a NIC (wrong "
        "slot), or it has no RDMA device. Groups of NICs that differ as a whole count as intended.",
    .inspect = "fabric-agentctl topo; lspci -nn; journalctl -k -g ADDRESS",
    .fix = "Reseat the missing NIC or load its RDMA driver; move a NIC from the wrong slot.",
    .ask = ask,
};

}  // namespace fabric
