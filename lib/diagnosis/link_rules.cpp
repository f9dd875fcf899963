// SPDX-License-Identifier: Apache-2.0
// A link that does not come up, by the reason that the NIC or its firmware gives.

#include "diagnosis/context.h"

namespace fabric {
MaybeResult by_reason(const PortContext& ctx, std::initializer_list<std::string_view> reasons) {
  if (!is_down(ctx.port) || !ctx.port.link_status || ctx.port.link_status->reason.empty()) return std::nullopt;
  const LinkStatus& status = *ctx.port.link_status;
  const std::string text = status.detail.empty() ? status.reason : status.reason + ": " + status.detail;
  if (std::ranges::none_of(reasons, [&](std::string_view each) { return text.find(each) != std::string::npos; }))
    return std::nullopt;
  return RuleResult{.evidence = {"the NIC's reason for link down: " + text}};
}

namespace {

using enum Symptom;

MaybeResult admin_down(const PortContext& ctx) {
  constexpr unsigned kDisabled = 3;  // enum ib_port_phys_state (rdma/ib_verbs.h)
  if (!is_down(ctx.port)) return std::nullopt;
  if (ctx.port.link_status && ctx.port.link_status->reason == kSwitchedOff)
    return RuleResult{.evidence = {"the netdev is administratively down"}};
  if (ctx.port.link_layer != LinkLayer::infiniband || ctx.port.phys_state != kDisabled) return std::nullopt;
  return RuleResult{.evidence = {"the physical state is Disabled: the port was disabled on this host"}};
}

// Reporters of the NIC. Others are of the netdev's queues ("tx", "rx", "tx_hang"), which also stall without a link or
// when paused, or of virtual functions ("mdd", "vnic").
bool is_of_the_nic(std::string_view reporter) { return reporter.starts_with("fw") || reporter.starts_with("hw"); }

// The firmware stopped or was reset; a single reported error is less. mlx5's and ice's "fw" never return to healthy
// after an error (mlx5/core/health.c, Linux 6.12; intel/ice/devlink/health.c, 6.15), and bnxt's "hw" is for its NVM.
bool is_reset(const HealthReporter& then, const HealthReporter& now) {
  return (now.name.starts_with("fw") && now.recoveries > then.recoveries) || (now.name == "fw_fatal" && !now.healthy);
}

MaybeResult device_reset(const PortContext& ctx) {
  if (ctx.before == nullptr) return std::nullopt;
  RuleResult out;
  bool was_reset = false;
  for (const HealthReporter& now : ctx.port.reporters)
    for (const HealthReporter& then : ctx.before->reporters)
      if (is_of_the_nic(now.name) && now.name == then.name &&
          (now.errors > then.errors || now.recoveries > then.recoveries || (then.healthy && !now.healthy))) {
        was_reset = was_reset || is_reset(then, now);
        out.add("health reporter " + now.name + ": errors +" +
                std::to_string(now.errors - std::min(now.errors, then.errors)) + ", recoveries +" +
                std::to_string(now.recoveries - std::min(now.recoveries, then.recoveries)) +
                (now.healthy ? "" : ", not healthy now"));
      }
  // A reset takes the link down; it does not cause errors on a link that stays up.
  const bool link_went = is_down(ctx.port) || rose(ctx.signals.link_downs);
  if (out.evidence.empty() || (ctx.symptoms.has(link) ? !link_went : !was_reset)) return std::nullopt;
  out.add(error_lines(ctx));
  return out;
}

MaybeResult no_partner(const PortContext& ctx) {
  if (rx_power_low(ctx)) return std::nullopt;  // the lanes identify the fault
  if (auto out = by_reason(ctx, {"FEC mismatch during override", "No HCD", "FEC is not locked", "Unsupported rate"})) {
    out->next.push_back("Compare speed and FEC of both ends: ethtool " + ctx.port.netdev + "; ethtool --show-fec " +
                        ctx.port.netdev);
    return out;
  }
  if (auto out = no_light(ctx)) {
    out->add("ambiguous: a broken fiber and a far transmitter that is off look the same from here");
    out->next.push_back("Read the tx power of the module at " + ctx.peer_label() +
                        ": with light there, it is the fiber");
    return out;
  }
  return by_reason(ctx, {"No partner detected", "Ack not received", "Remote side is not ready yet",
                         "Link partner did not set receiver ready", "Serdes ALOS"});
}

}  // namespace

extern const Rule kAdminDown{
    .id = "admin-down",
    .culprit = Culprit::host,
    .confidence = 0.91,
    .explains = {link, loss},
    .conclusion = "The port is administratively down on this host.",
    .next = "Enable it: ip link set {netdev} up",
    .signature =
        "The netdev is administratively down, or the physical state of an InfiniBand port is Disabled. Find the "
        "program that disabled it: journalctl -k, then the network manager.",
    .excludes = "RoCE drivers report Disabled for every port without a link.",
    .evaluate = admin_down,
};

extern const Rule kBadModule{
    .id = "bad-module",
    .culprit = Culprit::cable,
    .status = Status::critical,
    .confidence = 0.97,
    .explains = {link, loss, overrun},
    .conclusion = "The module or cable in this port is missing, not accepted by the NIC, or failing.",
    .next =
        "Identify the module: ethtool -m {netdev}\nPlug in or reseat module and cable at this end; else replace them "
        "by a type that the NIC's firmware supports.\nIf it was too hot, check the airflow and the neighboring modules "
        "first.",
    .signature =
        "The NIC's reason for link down names the cable, EEPROM, calibration, power budget or heat, or no cable; or "
        "the module (CMIS) is not enabled; or, with link errors, it reports a transmitter fault, or laser bias, tx "
        "power or temperature outside its own alarm limits. Sent packets that do not arrive, with the transmitter "
        "outside its limits now, are this too.",
    .excludes =
        "Limits from memory with a wrong checksum, lanes of a module that is asleep or unused, latched flags of a link "
        "that went down.",
    .evaluate = module_trouble,
};

extern const Rule kDeviceReset{
    .id = "device-reset",
    .culprit = Culprit::host,
    .status = Status::critical,
    .confidence = 0.95,
    .explains = {link, loss},
    .conclusion = "The NIC's firmware failed or was reset, which took down the link and the connections.",
    .next =
        "Read the firmware's dump: devlink health show pci/{pci}, then devlink health dump show pci/{pci} reporter "
        "fw\nRead the kernel log: journalctl -k -g {pci}\nUpdate the firmware; replace the NIC if it happens again.",
    .signature =
        "A devlink health reporter of the firmware or hardware (fw, fw_fatal, hw) counted an error or a recovery in "
        "the window.",
    .excludes = "Reporters of queues (tx, rx). If the link stayed up, errors without a recovery or a fatal state.",
    .evaluate = device_reset,
};

extern const Rule kNoPartner{
    .id = "no-partner",
    .culprit = Culprit::peer,
    .status = Status::critical,
    .confidence = 0.97,
    .explains = {link, loss},
    .conclusion = "The link does not come up with the far end of the cable: it is off, unplugged, or in another mode.",
    .next =
        "Enable the port at {peer}, and compare speed, FEC and autonegotiation: ethtool {netdev}\nThen reseat or "
        "replace the fiber, and try another switch port.",
    .signature =
        "The NIC reports that no partner was detected, that the remote side is not ready, or that FEC or the mode "
        "differs; or our module receives no light on any lane and its transmitter has no fault.",
    .excludes =
        "Low light on some lanes, an own module that is off or failing, a module that measured no light with a link as "
        "well.",
    .evaluate = no_partner,
};

}  // namespace fabric
