// SPDX-License-Identifier: Apache-2.0
// The PCIe path cannot take what the port receives: its link, its AER errors, and its distance to the GPUs.
#include "checks/check.h"
#include "checks/topology/pcie_link.h"
#include "diagnosis/context.h"
#include "judge/platform_view.h"
#include "topology/pairing.h"

namespace fabric {

extern const Threshold kReplayRatio("pcie_replay_ratio", 1e-12, "of the bits of the PCIe link, corrected errors",
                                    "DCGM; as the health rule pcie_replays", 0, 1);

namespace {

using enum Symptom;

bool exceeds_replay_limit(const PortContext& ctx, const PlatformFunction& function, uint64_t corrected) {
  const double bits = function.link.speed.value_or(0) * 1e9 * function.link.width.value_or(0) * ctx.signals.seconds;
  return corrected >= 2 && static_cast<double>(corrected) >= ctx.limit(kReplayRatio) * bits;
}

std::optional<PathClass> nearest_gpu(const Topology& topology, const Nic& nic) {
  std::optional<PathClass> out;
  for (const Gpu& gpu : topology.gpus)
    if (const auto path = path_class(gpu, nic); path && (!out || *path < *out)) out = path;
  return out;
}

// The NIC is farther from any GPU than similar NICs. Text, or empty.
std::string far_from_gpus(const PortContext& ctx) {
  const Topology& topology = ctx.view.now.topology;
  if (ctx.nic == nullptr || topology.gpus.empty() || is_flattened(topology)) return {};
  const auto own = nearest_gpu(topology, *ctx.nic);
  if (!own || *own < PathClass::NODE) return {};
  std::optional<PathClass> best;
  for (const Nic& other : topology.nics)
    if (&other != ctx.nic && are_alike(other, *ctx.nic))
      if (const auto path = nearest_gpu(topology, other); path && (!best || *path < *best)) best = path;
  const bool odd = best ? *best < *own : *own == PathClass::SYS;
  if (!odd) return {};
  return "the nearest GPU of " + ctx.nic->name + " is at distance " + std::string(to_text(*own)) +
         (ctx.nic->numa ? " (NUMA node " + std::to_string(*ctx.nic->numa) + ")" : "") +
         (best ? "; similar NICs have one at " + std::string(to_text(*best)) : "");
}

std::vector<const Gpu*> gpus_of(const PortContext& ctx) {
  const Topology& topology = ctx.view.now.topology;
  std::vector<const Gpu*> out;
  if (ctx.nic == nullptr || is_flattened(topology)) return out;
  const auto pairs = built_pairing(ctx.view).pairs;
  for (size_t i = 0; i < pairs.size(); ++i)
    if (std::ranges::any_of(pairs[i].nics, [&](size_t nic) { return topology.nics[nic].pci == ctx.nic->pci; }))
      out.push_back(&topology.gpus[i]);
  return out;
}

// A device and the bridges above it.
std::vector<std::string> chain_of(const PciDevice& device) {
  std::vector<std::string> out{device.pci};
  out.insert(out.end(), device.bridges.begin(), device.bridges.end());
  return out;
}

Lines aer_lines_of(const PortContext& ctx, const std::vector<std::string>& chain) {
  Lines out;
  if (ctx.view.before == nullptr) return out;
  for (const std::string& pci : chain) {
    const PlatformFunction *now = function_of(ctx.view.now, pci), *then = function_of(*ctx.view.before, pci);
    if (now == nullptr || then == nullptr) continue;
    const auto add = [&](const char* kind, const std::optional<uint64_t>& by) {
      if (by.value_or(0) > 0)
        out.push_back(pci + " " + plus(std::string(kind) + " PCIe errors", static_cast<double>(*by)));
    };
    add("fatal", rise_of(then->fatal, now->fatal));
    add("non-fatal", rise_of(then->nonfatal, now->nonfatal));
    if (const auto by = rise_of(of_link(then->correctable), of_link(now->correctable));
        exceeds_replay_limit(ctx, *now, by.value_or(0)))
      add("correctable", by);
  }
  return out;
}

// Of the GPUs that use this NIC. Without pause sent, they are the GPU's alone.
Lines aer_lines_of_gpus(const PortContext& ctx) {
  Lines out;
  for (const Gpu* gpu : gpus_of(ctx)) {
    std::vector<std::string> chain = chain_of(*gpu);
    std::erase_if(chain, [&](const std::string& pci) { return contains(ctx.nic->bridges, pci); });
    append(out, aer_lines_of(ctx, chain));
  }
  return out;
}

MaybeResult slow_pcie(const PortContext& ctx) {
  if (!ctx.symptoms.any_of({tx_pause, pcie})) return std::nullopt;
  RuleResult out;
  const std::string degraded = degraded_link(ctx), far = far_from_gpus(ctx);
  for (const std::string& each : {degraded, far})
    if (!each.empty()) out.add(each);
  bool is_slow = !degraded.empty();
  if (ctx.symptoms.has(tx_pause)) {
    for (const Finding& each : faults_before_gpus(ctx)) {
      out.add(fault_text(each));
      out.next.push_back(each.remedy);
      is_slow = is_slow || each.id == "pcie";
    }
    out.add(aer_lines_of_gpus(ctx));
  }
  out.add(aer_lines(ctx));
  const Signals& seen = ctx.signals;
  if (is_pcie_stalled(ctx))
    out.add("the NIC waited for PCIe credits " + percent(std::min(1.0, *seen.pcie_stalled_seconds / seen.seconds)) +
            " of the time");
  out.add(lines_of({{"PCIe buffer overflows", seen.pcie_overflows}, {"PCIe signal errors", seen.pcie_errors}}));
  if (out.evidence.empty()) return std::nullopt;
  out.critical = is_slow;
  if (!is_slow) out.unexplained.add(discards);
  if (!is_slow && far.empty()) {
    out.unexplained.add(receiver);
    if (ctx.nic != nullptr && ctx.nic->link.width && ctx.nic->link.speed)
      out.add("the PCIe link is as wide and fast as that of similar NICs");
  } else {
    out.add(lines_of({{"packets without a posted receive here", seen.out_of_buffer}}));
  }
  out.add(pause_lines(ctx));
  return out;
}

}  // namespace

Lines aer_lines(const PortContext& ctx) { return ctx.nic == nullptr ? Lines() : aer_lines_of(ctx, chain_of(*ctx.nic)); }

std::string fault_text(const Finding& fault) {
  return fault.id + " " + fault.subject + ": " + fault.observed + "; expected " + fault.expected;
}

std::vector<Finding> faults_before_gpus(const PortContext& ctx) {
  std::set<std::string> path;
  for (const Gpu* gpu : gpus_of(ctx)) {
    path.insert(gpu->name);
    for (const std::vector<std::string>& chain : {gpu->bridges, ctx.nic->bridges})
      path.insert(chain.begin(), chain.end());
  }
  if (path.empty()) return {};
  const std::string ids[]{"pcie", "acs"};
  auto found = run_checks(ctx.view, ids).findings;
  std::erase_if(found, [&](const Finding& each) {
    return (each.status != Status::warning && each.status != Status::critical) || !path.contains(each.subject);
  });
  return found;
}

std::string degraded_link(const PortContext& ctx) {
  if (ctx.nic == nullptr) return {};
  const PlatformFunction* slot =
      ctx.nic->bridges.empty() ? nullptr : function_of(ctx.view.now, ctx.nic->bridges.front());
  const PcieLink link =
      slot == nullptr ? ctx.nic->link : link_between(ctx.nic->link, slot->link).value_or(ctx.nic->link);
  const bool is_bare_metal = ctx.view.now.topology.hypervisor.empty();  // a hypervisor may show a guest any link
  const bool starves = is_bare_metal && link.width && link.speed &&
                       bytes_per_second(*link.speed, *link.width) + carried_beside(ctx.view.now, *ctx.nic).sum <
                           ctx.port.rate.value_or(0);
  const bool below = (link.width && link.max_width && *link.width < *link.max_width) ||
                     (link.speed && link.max_speed && *link.speed < *link.max_speed);
  if (!below && !starves) return {};
  bool alone = true, better = false;
  for (const Nic& other : ctx.view.now.topology.nics) {
    if (&other == ctx.nic || !are_alike(other, *ctx.nic)) continue;
    alone = false;
    better = better || other.link.width > link.width || other.link.speed > link.speed;
  }
  if (!alone && !better && !starves) return {};  // the platform's design
  return "PCIe link of " + ctx.nic->pci + " is " + link_text(link.speed, link.width) +
         (below ? ", capable of " + link_text(link.max_speed, link.max_width) : " (the maximum of NIC and slot)") +
         (starves ? ", less than the port's rate, " + rate_text(*ctx.port.rate) : "");
}

extern const Rule kSlowPcie{
    .id = "slow-pcie",
    .culprit = Culprit::host,
    .confidence = 0.99,
    .explains = {tx_pause, pcie, discards, receiver},
    .conclusion = "The path between NIC and memory cannot take what the port receives.",
    .next =
        "Check both ends of the PCIe link: lspci -vvs {pci} | grep LnkSta; journalctl -k -g AER\nCheck slot, IOMMU, "
        "ACS and MRRS: fabric-agentctl check --only platform\nShow the distance to the GPUs: fabric-agentctl "
        "topo\nReseat card and riser; then replace the part that the fault follows.",
    .signature =
        "Pause sent, or PCIe stalls (5 % of the time), ten buffer overflows or signal errors, with one of: a PCIe link "
        "below its maximum and below that of similar NICs, or slower than the port; AER errors (corrected ones: more "
        "than 1e-12 of the bits); a NIC farther from any GPU than similar NICs. With pause sent also: what the checks "
        "pcie and acs find between the NIC and its GPUs, and AER errors of these GPUs.",
    .excludes =
        "A host that receives nothing is stopped, not slow. Links that are narrow on all similar NICs are the "
        "platform's design.",
    .thresholds = {&kPcieStall, &kFewEvents, &kReplayRatio},
    .evaluate = slow_pcie,
};

}  // namespace fabric
