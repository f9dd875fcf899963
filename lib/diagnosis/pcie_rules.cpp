// SPDX-License-Identifier: Apache-2.0
// The PCIe path cannot take what the port receives.

#include "diagnosis/context.h"
#include "diagnosis/rules.h"

namespace fabric {
namespace {

using enum Symptom;

Result slow_pcie(const PortContext& ctx) {
  if (!ctx.symptoms.any_of({tx_pause, pcie})) return std::nullopt;
  RuleResult out;
  const std::string degraded = degraded_link(ctx), far = far_from_gpus(ctx);
  for (const std::string& each : {degraded, far})
    if (!each.empty()) out.evidence.push_back(each);
  append(out.evidence, aer_lines(ctx));
  append(out.evidence, stall_lines(ctx));
  if (out.evidence.empty()) return std::nullopt;
  out.critical = !degraded.empty();
  if (degraded.empty()) out.unexplained.add(discards);
  if (degraded.empty() && far.empty()) {
    out.unexplained.add(receiver);
    if (ctx.nic != nullptr && ctx.nic->link.width && ctx.nic->link.speed)
      out.evidence.emplace_back("the PCIe link is as wide and fast as that of similar NICs");
  } else {
    append(out.evidence, late_lines(ctx));
  }
  append(out.evidence, pause_lines(ctx));
  return out;
}
constexpr Rule kSlowPcie{
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
        "Pause sent, or PCIe stalls (5 % of the time), ten buffer overflows or signal errors, with one of: a PCIe "
        "link below its maximum and below that of similar NICs, or slower than the port; AER errors (corrected ones: "
        "more than 1e-12 of the bits); a NIC farther from any GPU than similar NICs.",
    .excludes =
        "A host that receives nothing is stopped, not slow. Links that are narrow on all similar NICs are the "
        "platform's design.",
    .thresholds = {&kPcieStall, &kFewEvents, &kReplayRatio},
    .evaluate = slow_pcie};

constexpr Rule kRules[]{kSlowPcie};

}  // namespace

std::span<const Rule> pcie_rules() { return kRules; }

}  // namespace fabric
