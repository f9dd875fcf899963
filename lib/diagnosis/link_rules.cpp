// SPDX-License-Identifier: Apache-2.0
// A link that does not come up, by the reason that the NIC or its firmware gives.
#include <algorithm>

#include "diagnosis/context.h"
#include "diagnosis/rules.h"
#include "model/link_status.h"

namespace fabric {
Result by_reason(const PortContext& ctx, std::initializer_list<std::string_view> reasons, double confidence) {
  if (!is_down(ctx.port) || !ctx.port.link_status || ctx.port.link_status->reason.empty()) return std::nullopt;
  const LinkStatus& status = *ctx.port.link_status;
  const std::string text = status.detail.empty() ? status.reason : status.reason + ": " + status.detail;
  if (std::none_of(reasons.begin(), reasons.end(),
                   [&](std::string_view each) { return text.find(each) != std::string::npos; }))
    return std::nullopt;
  return RuleResult{confidence, {"the NIC's reason for link down: " + text}};
}

namespace {

using enum Symptom;

Result admin_down(const PortContext& ctx) {
  constexpr unsigned kDisabled = 3;  // enum ib_port_phys_state (rdma/ib_verbs.h)
  if (!is_down(ctx.port)) return std::nullopt;
  if (ctx.port.link_status && ctx.port.link_status->reason == kSwitchedOff)
    return RuleResult{0.95, {"the netdev is administratively down"}};
  if (ctx.port.link_layer != LinkLayer::infiniband || ctx.port.phys_state != kDisabled) return std::nullopt;
  return RuleResult{0.9, {"the physical state is Disabled: the port was disabled on this host"}};
}
constexpr Rule kAdminDown{
    .id = "admin-down",
    .culprit = Culprit::host,
    .explains = {link, loss},
    .conclusion = "The port is administratively down on this host.",
    .next = "Enable it: ip link set {netdev} up",
    .runbook =
        "The netdev is administratively down, or the physical state of an InfiniBand port is Disabled. (RoCE "
        "drivers report Disabled for every port without a link.) Find the program that disabled it: "
        "journalctl -k, then the network manager.",
    .evaluate = admin_down};

Result no_cable(const PortContext& ctx) { return by_reason(ctx, {"No cable"}, 0.9); }
constexpr Rule kNoCable{
    .id = "no-cable",
    .culprit = Culprit::cable,
    .status = Status::critical,
    .explains = {link, loss},
    .conclusion = "No cable is plugged into this port.",
    .next = "Plug the cable in, at this end first.\nThen check: ethtool {netdev}",
    .runbook =
        "The NIC reports No cable. It looks for a module or a copper cable in its own cage; the far end does "
        "not matter.",
    .evaluate = no_cable};

// Reporters of the NIC. Others are of the netdev's queues ("tx", "rx", "tx_hang"), which also stall without a link or
// when paused, or of virtual functions ("mdd", "vnic").
bool is_of_the_nic(std::string_view reporter) { return reporter.starts_with("fw") || reporter.starts_with("hw"); }

// The firmware stopped or was reset; a single reported error is less. mlx5's and ice's "fw" never return to healthy
// after an error (mlx5/core/health.c, Linux 6.12; intel/ice/devlink/health.c, 6.15), and bnxt's "hw" is for its NVM.
bool is_reset(const HealthReporter& then, const HealthReporter& now) {
  return (now.name.starts_with("fw") && now.recoveries > then.recoveries) || (now.name == "fw_fatal" && !now.healthy);
}

Result device_reset(const PortContext& ctx) {
  if (ctx.before == nullptr) return std::nullopt;
  RuleResult out{.confidence = 0.85, .evidence = {}};
  bool was_reset = false;
  for (const HealthReporter& now : ctx.port.reporters)
    for (const HealthReporter& then : ctx.before->reporters)
      if (is_of_the_nic(now.name) && now.name == then.name &&
          (now.errors > then.errors || now.recoveries > then.recoveries || (then.healthy && !now.healthy))) {
        was_reset = was_reset || is_reset(then, now);
        out.evidence.push_back("health reporter " + now.name + ": errors +" +
                               std::to_string(now.errors - std::min(now.errors, then.errors)) + ", recoveries +" +
                               std::to_string(now.recoveries - std::min(now.recoveries, then.recoveries)) +
                               (now.healthy ? "" : ", not healthy now"));
      }
  // A reset takes the link down; it does not cause errors on a link that stays up.
  const bool link_went = is_down(ctx.port) || rose(ctx.signals.link_downs);
  if (out.evidence.empty() || (ctx.symptoms.has(link) ? !link_went : !was_reset)) return std::nullopt;
  append(out.evidence, error_lines(ctx));
  return out;
}
constexpr Rule kDeviceReset{
    .id = "device-reset",
    .culprit = Culprit::host,
    .status = Status::critical,
    .explains = {link, loss},
    .conclusion = "The NIC's firmware failed or was reset, which took down the link and the connections.",
    .next =
        "Read the firmware's dump: devlink health show pci/{pci}, then devlink health dump show pci/{pci} reporter "
        "fw\nRead the kernel log: journalctl -k -g {pci}\nUpdate the firmware; replace the NIC if it happens again.",
    .runbook =
        "A devlink health reporter of the firmware or hardware (fw, fw_fatal, hw) counted an error or a recovery "
        "in the window. Reporters of queues (tx, rx) do not count. If the link stayed up, only a recovery of "
        "the firmware or its fatal state is evidence.",
    .evaluate = device_reset};

Result far_end_silent(const PortContext& ctx) {
  return by_reason(ctx,
                   {"No partner detected", "Ack not received", "Remote side is not ready yet",
                    "Link partner did not set receiver ready"},
                   0.6);
}
constexpr Rule kFarEndSilent{
    .id = "far-end-silent",
    .culprit = Culprit::peer,
    .status = Status::critical,
    .explains = {link, loss},
    .conclusion = "The device at the far end of the cable does not answer link training.",
    .next =
        "Enable the port at {peer}, and compare speed and autonegotiation: ethtool {netdev}\nThen try another "
        "switch port.",
    .runbook =
        "The NIC has a signal or a cable, and reports that no partner was detected or that the remote side is "
        "not ready.",
    .evaluate = far_end_silent};

Result link_mode(const PortContext& ctx) {
  return by_reason(ctx, {"FEC mismatch during override", "No HCD", "FEC is not locked", "Unsupported rate"}, 0.65);
}
constexpr Rule kLinkMode{
    .id = "link-mode-mismatch",
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {link, loss},
    .conclusion = "Speed or FEC differ between the two ends.",
    .next =
        "Compare speed and FEC: ethtool {netdev}; ethtool --show-fec {netdev}\nSet the same on {peer}, or set fec "
        "in the policy.",
    .runbook =
        "The NIC reports that FEC does not lock or that no common mode was found. Both ends have light, and each "
        "waits for the other's mode.",
    .evaluate = link_mode};

constexpr Rule kOff[]{kAdminDown, kNoCable};
constexpr Rule kMode[]{kDeviceReset, kFarEndSilent, kLinkMode};

}  // namespace

std::span<const Rule> link_off_rules() { return kOff; }
std::span<const Rule> link_mode_rules() { return kMode; }

}  // namespace fabric
