// SPDX-License-Identifier: Apache-2.0
#include "topology/symmetry.h"

#include "checks/check.h"
#include "checks/topology/pairing.h"
#include "judge/platform_view.h"
#include "topology/few_places.h"
#include "topology/inventory.h"
#include "topology/odd_node.h"

namespace fabric {
namespace {

Finding missing(const Topology& topology, const MissingPart& part) {
  const bool gpu = part.kind == MissingPart::Kind::gpu;
  const std::string kind = gpu ? "GPU" : "NIC function", &pci = part.place.pci;
  const std::string address = pci.empty() ? part.below : pci;
  std::string number;
  if (gpu && !pci.empty()) {  // in the order of PCI addresses, as nvidia-smi counts
    const auto before = std::ranges::count_if(topology.gpus, [&](const Gpu& each) { return each.pci < pci; });
    number = " It was GPU" + std::to_string(before) + "; the GPUs behind it count one less now.";
  }
  return bad(
      Status::critical, address, "no " + kind + " " + place_text(part), "one, as in equal places of this machine",
      "A " + kind + " is missing " + place_text(part) + ": it left the PCI bus, or did not come up at boot." + number,
      "journalctl -k -g '" + address + "|" + part.below +
          (gpu && !topology.gpus.empty() ? gpu_log_word(topology.gpus.front().vendor) : "") +
          "'; then power the node off and on, check the power of the device, and reseat it.");
}

Finding odd_node(const OddNode& odd) {
  const std::string now = std::to_string(*odd.device.numa), expected = std::to_string(odd.expected);
  return bad(Status::warning, odd.name, "NUMA node " + now, "NUMA node " + expected + ", like " + odd.like,
             "The firmware reports a NUMA node for " + odd.device.pci +
                 " that does not fit its place: jobs are bound to the wrong CPUs and memory.",
             "cat /sys/bus/pci/devices/" + odd.device.pci + "/numa_node; then update the firmware, or write " +
                 expected + " to that file.");
}

// `locality` reports it with the GPU that has lost it, else `pairing` with the GPUs that share a NIC. A GPU that shares
// its NIC with one that `locality` reports, or by design, has lost nothing.
bool is_reported(const View& view, const Placement& placed, const Findings& pairings, const MissingPart& part) {
  if (part.kind == MissingPart::Kind::rdma && placed.without_rdma == part.nic) return true;
  const auto& pairs = placed.pairing.pairs;
  bool any_odd = false;
  for (size_t gpu = 0; gpu < pairs.size(); ++gpu) any_odd = any_odd || placed.is_odd(gpu);
  const auto is_named = [&](size_t nic) {
    return contains(pairings, view.now.topology.nics[nic].name, &Finding::subject);
  };
  return part.kind != MissingPart::Kind::gpu && std::ranges::any_of(part.gpus, [&](size_t gpu) {
           return any_odd ? placed.is_odd(gpu) : std::ranges::any_of(pairs[gpu].nics, is_named);
         });
}

void ask(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  if (topology.gpus.empty() && topology.nics.empty()) return;
  if (view.now.inventory) return;  // what is missing since then is `inventory`'s, what was then missing is accepted
  const Placement placed = placement(view);
  Findings found, pairings;
  find_check("pairing")->ask(view, pairings);
  std::erase_if(pairings, [](const Finding& each) { return each.status == Status::ok; });
  const auto add = [&](Finding finding) {
    if (!contains(found, finding.subject, &Finding::subject)) found.push_back(std::move(finding));
  };
  for (const MissingPart& part : missing_parts(topology, view.now.ports)) {
    if (is_reported(view, placed, pairings, part) ||
        (part.nic && is_given_away(view.now, topology.nics[*part.nic].pci)))
      continue;
    add(part.kind == MissingPart::Kind::rdma ? no_rdma(topology.nics[*part.nic], "as in equal places of this machine")
                                             : missing(topology, part));
  }
  const bool gpu = std::ranges::any_of(found, [](const Finding& each) { return each.observed.starts_with("no GPU"); });
  if (const auto odd = odd_gpus(topology, view.now.ports); odd && !gpu)
    add(bad(Status::warning, "GPUs", odd->observed, std::to_string(odd->whole),
            "A GPU seems to be missing " + odd->where + ": it left the PCI bus, or did not come up at boot.",
            "lspci -nnd ::0302; lspci -nnd ::1200; journalctl -k -g 'Xid|pciehp|amdgpu'; then power the node off and "
            "on, and reseat the GPU."));
  for (const OddNode& odd : odd_numa_nodes(topology)) add(odd_node(odd));
  if (found.empty()) add(good("node", "no part is missing", "equal places have equal parts"));
  findings.insert(findings.end(), found.begin(), found.end());
}

}  // namespace

extern const Check kSymmetryCheck{
    .id = "symmetry",
    .group = group::topology,
    .title = "Equal places of the machine have different parts",
    .meaning =
        "Compares cards of one model, then the devices below each bridge and on each root bus. If at least three "
        "equal places have a GPU, NIC function or RDMA device, it is missing where there is none. A GPU is reported "
        "only if the machine then has 2, 4, 8 or 16 of them, the same number on each socket. With fewer places, the "
        "check reports the only NIC function of its model without an RDMA device, a card without function 0, 7 or 15 "
        "GPUs, and one GPU fewer than compute NIC cards, if each socket has the same number of cards. A device is on "
        "the NUMA node of the bridge above it, and devices of one root bus are on one.",
    .inspect = "fabric-agentctl topo; lspci -tv; journalctl -k -g ADDRESS",
    .fix = "Power the node off and on, reseat the missing device, check its power, or load its driver.",
    .ask = ask,
};

}  // namespace fabric
