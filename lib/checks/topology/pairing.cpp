// SPDX-License-Identifier: Apache-2.0
#include "checks/topology/pairing.h"

#include "checks/check.h"
#include "judge/platform_view.h"
#include "topology/compute_nics.h"
#include "topology/few_places.h"
#include "topology/inventory.h"
#include "topology/symmetry.h"

namespace fabric {
namespace {

std::optional<PathClass> yardstick_of(const Topology& topology, const Placement& placed, size_t gpu) {
  std::vector<PathClass> paths;
  for (size_t other = 0; other < topology.gpus.size(); ++other)
    if (are_alike(topology.gpus[gpu], topology.gpus[other]) && placed.path(other)) paths.push_back(*placed.path(other));
  std::ranges::sort(paths);
  if (paths.empty()) return std::nullopt;
  return placed.cards >= topology.gpus.size() ? paths.front() : paths[paths.size() / 2];
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

Finding stray(const Nic& nic) {
  return bad(Status::warning, nic.name, "alone on NUMA node " + std::to_string(*nic.numa),
             "next to a GPU, like the other NICs",
             "The NUMA node of this NIC has no GPU, while GPUs elsewhere share a NIC.",
             "Move NIC " + nic.pci + " to a slot of the NUMA node where GPUs share a NIC: fabric-agentctl topo");
}

// The GPUs are served by one NIC, while most NICs serve `usual`.
Finding shared(const View& view, const Nic& nic, const std::vector<size_t>& gpus, size_t usual, size_t nics) {
  const auto name = [&](size_t gpu) { return view.now.topology.gpus[gpu].name; };
  return bad(Status::warning, nic.name, "serves " + joined(gpus, " and ", name),
             std::to_string(usual) + (usual == 1 ? " GPU" : " GPUs") + ", like the other NICs",
             "A NIC seems to be missing: with " + std::to_string(nics) +
                 " of this model, these GPUs share one. The slowest pair sets the pace of a collective." +
                 missing_text(view.now, gpus.front()),
             "Find the missing NIC (lspci -nn; journalctl -k), reseat it and its riser, or load its RDMA driver.");
}

// GPUs of other models (for video, for the display) have no NIC of their own by design.
size_t most_alike(const Topology& topology, const std::vector<size_t>& gpus) {
  size_t most = 0;
  for (const size_t gpu : gpus)
    most = std::max<size_t>(most, std::ranges::count_if(gpus, [&](size_t other) {
                              return are_alike(topology.gpus[gpu], topology.gpus[other]);
                            }));
  return most;
}

// The reference is the symmetry of the NICs of this machine.
void ask(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  if (topology.gpus.empty()) return;
  const Placement placed = placement(view);
  std::map<size_t, std::vector<size_t>> served;  // NIC -> GPUs
  bool odd = false;                              // a GPU is reported by `locality`
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
    if (placed.is_odd(gpu)) odd = true;
    else
      for (const size_t nic : placed.pairing.pairs[gpu].nics) served[nic].push_back(gpu);
  std::map<size_t, size_t> loads;
  for (const auto& [nic, gpus] : served) ++loads[most_alike(topology, gpus)];
  const auto usual = majority(loads);
  const bool lost = placed.without_rdma.has_value();
  const bool known = std::ranges::any_of(topology.gpus, [&](const Gpu& gpu) { return has_lost_nic(view.now, gpu); });
  const auto is_stray_here = [&](size_t nic) { return !odd && !lost && !known && is_stray(topology, placed, nic); };
  const bool explained = odd || lost || known || std::ranges::any_of(placed.compute, is_stray_here);
  if (lost && !odd && !known)
    findings.push_back(no_rdma(topology.nics[*placed.without_rdma], "like the others of its model"));
  for (const size_t index : placed.compute) {
    const Nic& nic = topology.nics[index];
    const std::vector<size_t>& mine = served[index];
    if (is_stray_here(index)) findings.push_back(stray(nic));
    else if (!explained && usual && most_alike(topology, mine) > *usual)
      findings.push_back(shared(view, nic, mine, *usual, placed.compute.size()));
    else
      findings.push_back(good(
          nic.name,
          "serves " +
              (mine.empty() ? "no GPU" : joined(mine, " and ", [&](size_t gpu) { return topology.gpus[gpu].name; })),
          "like the other NICs"));
  }
}

}  // namespace

Placement placement(const View& view) {
  const Node& node = view.now;
  const Topology& topology = node.topology;
  Placement out;
  out.compute = compute_nics(topology, node.ports);
  out.pairing = built_pairing(view);
  std::set<std::string> cards;
  for (const size_t index : out.compute) {
    const Nic& nic = topology.nics[index];
    cards.insert(nic.card.empty() ? card_of(nic.pci) : nic.card);
  }
  out.cards = cards.size();
  if (!out.compute.empty()) out.without_rdma = only_without_rdma(topology, topology.nics[out.compute.front()]);
  if (out.without_rdma && is_given_away(node, topology.nics[*out.without_rdma].pci)) out.without_rdma.reset();
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) out.yardstick.push_back(yardstick_of(topology, out, gpu));
  return out;
}

Finding no_rdma(const Nic& nic, const std::string& like) {
  return bad(Status::warning, nic.name, "no RDMA device", "one, " + like,
             "This NIC (" + nic.pci + ") has no RDMA device, so no collective can use it.",
             "journalctl -k -g " + nic.pci + ", then reload its RDMA driver.");
}

std::string missing_text(const Node& node, size_t gpu) {
  std::string out;
  for (const MissingPart& part : missing_parts(node.topology, node.ports))
    if (part.kind == MissingPart::Kind::nic && contains(part.gpus, gpu))
      out.append(out.empty() ? " Missing: a NIC function " : "; a NIC function ").append(place_text(part));
  return out.empty() ? out : out + ".";
}

std::set<std::string> devices_for_gpus(const View& view) {
  std::set<std::string> out;
  const auto& nics = view.now.topology.nics;
  for (const Pair& pair : built_pairing(view).pairs)
    for (const size_t nic : pair.nics) out.insert(nics[nic].rdma.begin(), nics[nic].rdma.end());
  return out;
}

bool has_other_purpose(const View& view, const Port& port) {
  // Some NICs may be in containers, and have no devices here.
  const bool any = std::ranges::any_of(built_pairing(view).pairs, [](const Pair& pair) { return !pair.nics.empty(); });
  return any && !devices_for_gpus(view).contains(port.rdma);
}

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
