// SPDX-License-Identifier: Apache-2.0
#include "model/locality.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "check/checks.h"
#include "check/finding.h"
#include "model/pci_kind.h"

namespace fabric {
namespace {

struct Nearest {
  std::optional<PathClass> path;
  std::string names;
};

Nearest nearest(const Topology& topology, const Gpu& gpu) {
  Nearest result;
  for (size_t index : nearest_nics(topology, gpu)) {
    const Nic& nic = topology.nics[index];
    result.path = path_class(gpu, nic);
    result.names.append(result.names.empty() ? "" : " ").append(nic.name);
  }
  return result;
}

constexpr std::string_view kRemedy =
    "Run fabric-agentctl topo; see that every NIC is in its slot and on the PCI bus, and that the job pairs each GPU "
    "with its nearest NIC.";

// With one card for all, some GPU must be far from it: that is how the machine was built.
bool has_one_card(const Topology& topology) {
  std::set<std::string> cards;
  for (const Nic& nic : topology.nics)
    if (carries_rdma(nic)) cards.insert(card_of(nic.pci));
  return cards.size() == 1;
}

Finding judge(const Gpu& gpu, const Nearest& own, std::optional<PathClass> best, bool one_card) {
  if (!own.path)
    return bad(Status::unknown, gpu.name, "-", "a NIC on the same PCIe switch or NUMA node",
               "The machine does not tell how far this GPU (" + gpu.pci +
                   ") is from any NIC: no bridge is shared and a NUMA node is unknown.",
               "Let the firmware report NUMA nodes of PCI devices, or the hypervisor pass the PCI tree through.");
  const std::string observed = std::string(to_text(*own.path)) + " to " + own.names;
  const std::string expected(to_text(best.value_or(*own.path)));
  if (*own.path > *best && one_card) return good(gpu.name, observed + ", the only one", expected + " or farther");
  if (*own.path > *best)
    return bad(Status::warning, gpu.name, observed, expected + ", as other GPUs here have",
               "This GPU's nearest NIC is farther away than that of the GPUs beside it, and the slowest pair sets the "
               "pace of a collective.",
               std::string(kRemedy));
  if (*own.path == PathClass::SYS)
    return bad(
        Status::warning, gpu.name, observed, "NODE or nearer",
        "Every byte between this GPU and its nearest NIC goes from one NUMA node to another, mostly over the link "
        "between CPU sockets.",
        std::string(kRemedy));
  return good(gpu.name, observed, expected);
}

}  // namespace

// By structure, not by a list of models: what the best-placed GPU of this machine has is what all should have.
void ask_locality(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  const bool has_rdma =
      std::any_of(topology.nics.begin(), topology.nics.end(), [](const Nic& nic) { return !nic.rdma.empty(); });
  if (!has_rdma) return;  // port-state says that there is no RDMA device
  std::vector<Nearest> all;
  std::optional<PathClass> best;
  for (const Gpu& gpu : topology.gpus) {
    all.push_back(nearest(topology, gpu));
    if (all.back().path && (!best || *all.back().path < *best)) best = all.back().path;
  }
  const bool one_card = has_one_card(topology);
  for (size_t i = 0; i < all.size(); ++i) findings.push_back(judge(topology.gpus[i], all[i], best, one_card));
}

}  // namespace fabric
