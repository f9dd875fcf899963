// SPDX-License-Identifier: Apache-2.0
// The PCIe path cannot take what the port receives.
#include <algorithm>

#include "diagnosis/context.h"
#include "diagnosis/rules.h"

namespace fabric {
namespace {

using enum Symptom;

bool sends_pause(const PortContext& ctx) { return ctx.symptoms.has(tx_pause); }

Result pcie_degraded(const PortContext& ctx) {
  const std::string degraded = degraded_link(ctx);
  if (degraded.empty() || !ctx.symptoms.any_of({tx_pause, pcie})) return std::nullopt;
  RuleResult out{0.75, {degraded}};
  append(out.evidence, aer_lines(ctx));
  append(out.evidence, stall_lines(ctx));
  if (out.evidence.size() > 1) out.confidence = 0.9;
  append(out.evidence, pause_lines(ctx));
  return out;
}
constexpr Rule kPcieDegraded{
    .id = "pcie-degraded",
    .culprit = Culprit::host,
    .status = Status::critical,
    .explains = {tx_pause, pcie, discards, receiver},
    .conclusion = "The PCIe link of this NIC is degraded and cannot take what the port receives.",
    .next =
        "Check both ends of the link: lspci -vvs {pci} | grep LnkSta\nReseat the card and its riser; then replace "
        "the part that the fault follows.",
    .runbook =
        "Pause sent, PCIe stalls or errors, and a PCIe link below its maximum and below that of similar NICs, or "
        "slower than the port.",
    .evaluate = pcie_degraded};

Result pcie_errors(const PortContext& ctx) {
  RuleResult out{0.7, aer_lines(ctx)};
  if (out.evidence.empty() && !rose(ctx.signals.pcie_errors)) return std::nullopt;
  append(out.evidence, stall_lines(ctx));
  if (sends_pause(ctx) || rose(ctx.signals.pcie_overflows)) out.confidence = 0.85;
  append(out.evidence, pause_lines(ctx));
  return out;
}
constexpr Rule kPciePath{
    .id = "pcie-path",
    .culprit = Culprit::host,
    .explains = {pcie, tx_pause},
    .conclusion = "The PCIe path of this NIC has errors.",
    .next = "Read the kernel log: journalctl -k -g AER\nReseat card and riser between the functions listed.",
    .runbook =
        "AER counted new errors on the function or a bridge above it (corrected ones: more than 1e-12 of the "
        "bits), or the NIC counted signal errors of its PCIe link.",
    .thresholds = {{{1e-12, "of the bits, corrected errors", "DCGM"}}},
    .evaluate = pcie_errors};

Result far_numa(const PortContext& ctx) {
  const std::string far = far_from_gpus(ctx);
  if (far.empty() || !ctx.symptoms.any_of({tx_pause, pcie})) return std::nullopt;
  RuleResult out{0.65, {far}};
  append(out.evidence, late_lines(ctx));
  append(out.evidence, stall_lines(ctx));
  if (out.evidence.size() > 1) out.confidence = 0.85;
  append(out.evidence, pause_lines(ctx));
  return out;
}
constexpr Rule kFarNuma{
    .id = "far-numa",
    .culprit = Culprit::host,
    .explains = {tx_pause, pcie, receiver},
    .conclusion = "The NIC is far from its GPUs: the path between the sockets cannot take what the port receives.",
    .next =
        "Show the matrix: fabric-agentctl topo\nGive each GPU its nearest NIC: fabric-agentctl topo --format nccl; or "
        "move the card to a slot on the GPU's socket.",
    .runbook = "Pause sent or PCIe stalls, and no GPU is as near to this NIC as GPUs are to similar NICs.",
    .evaluate = far_numa};

Result pcie_stall(const PortContext& ctx) {
  if (!is_pcie_stalled(ctx.signals) && !rose(ctx.signals.pcie_overflows)) return std::nullopt;
  RuleResult out{sends_pause(ctx) ? 0.8 : 0.65, stall_lines(ctx)};
  append(out.evidence, pause_lines(ctx));
  if (ctx.nic != nullptr && ctx.nic->link.width && ctx.nic->link.speed)
    out.evidence.emplace_back("the PCIe link is as fast as that of similar NICs");
  return out;
}
constexpr Rule kPcieStallRule{
    .id = "pcie-stall",
    .culprit = Culprit::host,
    .explains = {tx_pause, pcie},
    .conclusion = "PCIe stalls although its link is not degraded.",
    .next =
        "Check IOMMU, ACS, relaxed ordering and MRRS: fabric-agentctl check --only platform\nCheck memory bandwidth "
        "and other load of the socket.",
    .runbook =
        "The NIC waited for PCIe credits for more than 5 % of the time, or its PCIe buffer overflowed ten times, "
        "with a full link and no errors: the root complex or the memory behind it is slow.",
    .thresholds = {{kPcieStall, {10, "PCIe buffer overflows", "ours"}}},
    .evaluate = pcie_stall};

constexpr Rule kRules[]{kPcieDegraded, kPciePath, kFarNuma, kPcieStallRule};

}  // namespace

std::span<const Rule> pcie_rules() { return kRules; }

}  // namespace fabric
