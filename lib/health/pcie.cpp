// SPDX-License-Identifier: Apache-2.0
// Health of the PCIe path, by the NIC's own counters and by AER.
#include "health/rule.h"
#include "judge/platform_view.h"

namespace fabric {
namespace {

using enum HealthMeasure;
using S = Signals;

template <AerCounts PlatformFunction::*Member>
void read_uncorrected(const View& view, const HealthRule& rule, HealthReadings& out) {
  if (view.before == nullptr) return;
  for (const auto& [pci, now] : view.now.platform.functions)
    if (const PlatformFunction* before = function_of(*view.before, pci); before != nullptr)
      if (const std::optional<double> count = rise_of(before->*Member, now.*Member))
        out.push_back({pci, *count, 0, number_text(*count) + " " + std::string(rule.unit)});
}

void read_pcie_replays(const View& view, const HealthRule& /*rule*/, HealthReadings& out) {
  const double seconds = window_of(view);
  if (view.before == nullptr || seconds <= 0) return;
  for (const auto& [pci, now] : view.now.platform.functions) {
    const PlatformFunction* before = function_of(*view.before, pci);
    const std::optional<double> count =
        before == nullptr ? std::nullopt : rise_of(of_link(before->correctable), of_link(now.correctable));
    const double bits = now.link.speed.value_or(0) * 1e9 * now.link.width.value_or(0) * seconds;
    if (count && bits > 0) out.push_back({pci, *count, bits, number_text(*count) + " correctable errors"});
  }
}

constexpr std::string_view kLost =
                               "An uncorrectable PCIe error lost data or the link: the device may be reset or gone.",
                           kReseat =
                               "Reseat device, riser and cable of this link, and replace the part that the errors "
                               "follow. Log: journalctl -k -g AER";

constexpr HealthRow kRules[]{
    {.check = "pcie-errors",
     .window = {"pcie_errors", ratio, HealthLimits{1, kNever, kMinute, 0, kMinute}, "errors per second", "ours",
                "below 1 a second", 3},
     .meaning = "The PCIe link of this NIC is too slow or has signal errors, and the port's buffers fill up.",
     .remedy = "Check the slot: fabric-agentctl check --only pcie,acs,iommu,pci-tuning. Reseat the card.",
     .sum = {{{{"PCIe errors", &S::pcie_errors}, {"PCIe buffer overflows", &S::pcie_overflows}}}}},
    {.check = "pcie-errors",
     .window = {"pcie_stalls", ratio, HealthLimits{0.5, kNever, 20, 10, kMinute}, "share of the time", "ours",
                "less than half of the time", 0},
     .meaning = "The host takes or supplies data more slowly than the port: PCIe is the bottleneck.",
     .remedy = "Check the slot and the distance to the GPU: fabric-agentctl check --only pcie,acs,iommu,locality",
     .sum = {{{{"seconds stalled by PCIe", &S::pcie_stalled_seconds}}}}},
    {.check = "aer",
     .window = {"pcie_replays", ratio, HealthLimits{1e-12, kNever, kMinute, 0, kMinute},
                "corrected errors per bit of the PCIe link",
                "DCGM: 1e-12, which is 0.96 a minute and lane at 16 GT/s, 1.92 at 32, 3.84 at 64",
                "below 1e-12 of the bits", 2},
     .meaning = "The PCIe link retransmits damaged packets more often than allowed.",
     .remedy = "Read the kernel log: journalctl -k -g {pci}. Reseat card, riser and cable of this link, and replace "
               "the part that the errors follow.",
     .slow = {{"pcie_replays_slow", count, HealthLimits{240, kNever, 2 * kHour, 0, 10 * kMinute},
               "corrected errors of the PCIe link", "ours: 120 an hour; a healthy link has a few a day",
               "below 120 an hour", 30}},
     .read = read_pcie_replays},
    {.check = "aer",
     .window = {"pcie_fatal", count, HealthLimits{kNever, 1, 10 * kMinute, 0, 0}, "fatal PCIe errors",
                "PCI Express base specification, 6.2.2: the link is not reliable any more", "none"},
     .meaning = kLost,
     .remedy = kReseat,
     .read = read_uncorrected<&PlatformFunction::fatal>},
    {.check = "aer",
     .window = {"pcie_nonfatal", count, HealthLimits{kNever, 1, 10 * kMinute, 0, 0},
                "non-fatal uncorrectable PCIe errors", "PCI Express base specification, 6.2.2: a transaction is lost",
                "none"},
     .meaning = kLost,
     .remedy = kReseat,
     .read = read_uncorrected<&PlatformFunction::nonfatal>},
};

}  // namespace

std::span<const HealthRow> pcie_health_rules() { return kRules; }

extern const Check kPcieErrorsCheck{
    .id = "pcie-errors",
    .group = group::counters,
    .title = "The PCIe path stalls, overflows or has errors",
    .meaning =
        "The PCIe counters of the NIC show signal errors, overflows or stalls: the slot is too slow or has bit errors.",
    .inspect = "ethtool -S NETDEV | grep pci; fabric-agentctl check --only pcie --only aer --only pci-tuning",
    .fix = "Reseat the NIC. Set relaxed ordering, MRRS and IOMMU mode as on the other NICs.",
};

}  // namespace fabric
