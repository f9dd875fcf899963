// SPDX-License-Identifier: Apache-2.0
// What a diagnosis knows of the slot behind a port: its PCIe link, its errors, and how far it is from the GPUs.
#include <algorithm>

#include "checks/topology/pcie_link.h"
#include "diagnosis/diagnosis_case.h"
#include "model/finding.h"
#include "topology/locality.h"
#include "topology/platform.h"

namespace fabric {
namespace {

uint64_t aer_rise(const AerCounts& before, const AerCounts& now) {
  return now.total && before.total && *now.total > *before.total ? *now.total - *before.total : 0;
}

// A PCIe link may have to repeat 1e-12 of its bits (DCGM; the check aer says the same).
bool is_worn(const PlatformFunction& function, uint64_t corrected, double seconds) {
  const double bits = function.link.speed.value_or(0) * 1e9 * function.link.width.value_or(0) * seconds;
  return corrected >= 2 && static_cast<double>(corrected) >= 1e-12 * bits;
}

bool are_alike(const PciDevice& a, const PciDevice& b) { return a.vendor == b.vendor && a.device == b.device; }

std::optional<PathClass> nearest_gpu(const Topology& topology, const Nic& nic) {
  std::optional<PathClass> out;
  for (const Gpu& gpu : topology.gpus)
    if (const auto path = path_class(gpu, nic); path && (!out || *path < *out)) out = path;
  return out;
}

}  // namespace

std::vector<std::string> aer_lines(const Case& one) {
  std::vector<std::string> out;
  if (one.nic == nullptr || one.view.before == nullptr) return out;
  std::vector<std::string> chain{one.nic->pci};
  chain.insert(chain.end(), one.nic->bridges.begin(), one.nic->bridges.end());
  for (const std::string& pci : chain) {
    const PlatformFunction *now = function_of(one.view.now, pci), *then = function_of(*one.view.before, pci);
    if (now == nullptr || then == nullptr) continue;
    const auto tell = [&](const char* kind, uint64_t by) {
      if (by > 0) out.push_back(pci + " " + plus(std::string(kind) + " PCIe errors", static_cast<double>(by)));
    };
    tell("fatal", aer_rise(then->fatal, now->fatal));
    tell("non-fatal", aer_rise(then->nonfatal, now->nonfatal));
    if (const uint64_t by = aer_rise(then->correctable, now->correctable); is_worn(*now, by, one.signals.seconds))
      tell("correctable", by);
  }
  return out;
}

std::string degraded_link(const Case& one) {
  if (one.nic == nullptr) return {};
  const PlatformFunction* slot =
      one.nic->bridges.empty() ? nullptr : function_of(one.view.now, one.nic->bridges.front());
  const PcieLink link =
      slot == nullptr ? one.nic->link : link_between(one.nic->link, slot->link).value_or(one.nic->link);
  const bool real = one.view.now.topology.hypervisor.empty();  // what a guest is shown may be the hypervisor's own
  const bool starves =
      real && link.width && link.speed &&
      bytes_per_second(*link.speed, *link.width) + carried_beside(one.view.now, *one.nic) < one.port.rate.value_or(0);
  const bool below = (link.width && link.max_width && *link.width < *link.max_width) ||
                     (link.speed && link.max_speed && *link.speed < *link.max_speed);
  if (!below && !starves) return {};
  bool alone = true, better = false;
  for (const Nic& other : one.view.now.topology.nics) {
    if (&other == one.nic || !are_alike(other, *one.nic)) continue;
    alone = false;
    better = better || other.link.width > link.width || other.link.speed > link.speed;
  }
  if (!alone && !better && !starves) return {};  // the platform's limit
  const auto text = [](std::optional<unsigned> width, std::optional<double> speed) {
    return (width ? "x" + std::to_string(*width) : std::string("x?")) + " at " +
           (speed ? number_text(*speed) : std::string("?")) + " GT/s";
  };
  return "PCIe link of " + one.nic->pci + " is " + text(link.width, link.speed) +
         (below ? " of " + text(link.max_width, link.max_speed) : " (the most that card and slot can do)") +
         (starves ? ", less than the port's " + rate_text(*one.port.rate) : "");
}

std::string far_from_gpus(const Case& one) {
  const Topology& topology = one.view.now.topology;
  if (one.nic == nullptr || topology.gpus.empty() || is_flattened(topology)) return {};
  const auto own = nearest_gpu(topology, *one.nic);
  if (!own || *own < PathClass::NODE) return {};
  std::optional<PathClass> best;
  for (const Nic& other : topology.nics)
    if (&other != one.nic && are_alike(other, *one.nic))
      if (const auto path = nearest_gpu(topology, other); path && (!best || *path < *best)) best = path;
  const bool odd = best ? *best < *own : *own == PathClass::SYS;
  if (!odd) return {};
  return "no GPU is nearer to " + one.nic->name + " than " + std::string(to_text(*own)) +
         (one.nic->numa ? " (it is on NUMA node " + std::to_string(*one.nic->numa) + ")" : "") +
         (best ? "; NICs like it have one at " + std::string(to_text(*best)) : "");
}

}  // namespace fabric
