// SPDX-License-Identifier: Apache-2.0
// One check per row of kSettings: what a dry run of the reconcile says, in the operator's words.
#include <algorithm>

#include "base/result.h"
#include "checks/checks.h"
#include "model/finding.h"
#include "model/pci_kind.h"

namespace fabric {
namespace {

// What a difference costs. Critical where packets are lost or misdirected at once; warning where it costs speed, or
// only makes room for trouble. A setting without a row here is critical.
struct Cost {
  SettingId setting;
  Status status;
  std::string_view meaning;
};
constexpr std::string_view kDcqcn =
    "A parameter of congestion control (DCQCN) is not as the policy says; flows on this port slow down or recover "
    "otherwise "
    "than those of its peers.";
constexpr Cost kCosts[] = {
    {SettingId::dcbx, Status::warning,
     "Who owns DCBX is not as the policy says; the NIC's firmware can overwrite PFC and ETS without notice."},
    {SettingId::fw_lldp, Status::warning,
     "The LLDP agent in the NIC's firmware is not as the policy says; while it runs, it owns DCBX and overwrites PFC "
     "and ETS."},
    {SettingId::pause, Status::critical,
     "Global pause is not as the policy says; where PFC is used it stops all priorities and switches PFC off."},
    {SettingId::mtu, Status::warning,
     "The MTU is not as the policy says; RoCE falls back to smaller packets, or the peer's are too big."},
    {SettingId::ring_rx, Status::warning,
     "The netdev has another number of receive descriptors; TCP/IP bursts can overrun it. RDMA traffic is not "
     "concerned."},
    {SettingId::ring_tx, Status::warning,
     "The netdev has another number of send descriptors; TCP/IP can be slower. RDMA traffic is not concerned."},
    {SettingId::channels, Status::warning,
     "The netdev has another number of queues; TCP/IP can be slower. RDMA traffic is not concerned."},
    {SettingId::fec, Status::warning,
     "Forward error correction is configured otherwise; where the switch does not do the same, the link stays down or "
     "loses packets."},
    {SettingId::trust, Status::critical,
     "Received frames are classified by the wrong header field, so RoCE lands in a priority without PFC."},
    {SettingId::apptrust, Status::critical,
     "Received frames are classified by the header fields in another order, so RoCE can land in a priority without "
     "PFC."},
    {SettingId::dscp_map, Status::critical,
     "DSCPs are mapped to other priorities than the network maps them, so RoCE or CNP packets lose their class."},
    {SettingId::ets, Status::critical,
     "Traffic classes share the link differently from the policy; RoCE can be starved or lose its own queue."},
    {SettingId::prio2buffer, Status::critical,
     "Priorities share receive buffers otherwise; a lossless one that shares with others loses packets, or pauses for "
     "them."},
    {SettingId::buffer_size, Status::critical,
     "The receive buffers have other sizes; one that is too small loses packets of a lossless priority."},
    {SettingId::pfc, Status::critical,
     "PFC is not on for exactly the priorities that the network pauses: RoCE packets are dropped, or others are "
     "stopped."},
    {SettingId::cable_length, Status::warning,
     "The headroom is sized for another cable; too short a length loses packets when PFC pauses the link."},
    {SettingId::maxrate, Status::warning,
     "Traffic classes are limited to other rates; RoCE is slower than it could be, or takes what was reserved."},
    {SettingId::ecn_rp, Status::warning,
     "Congestion notifications do not slow down exactly the priorities of the policy; congestion then ends in PFC "
     "pauses."},
    {SettingId::ecn_np, Status::warning,
     "ECN marks are not answered with CNPs on exactly the priorities of the policy; senders then learn of congestion "
     "by PFC only."},
    {SettingId::cnp_dscp, Status::warning,
     "CNPs carry another DSCP; the network queues them with other traffic, and senders slow down too late."},
    {SettingId::cnp_prio, Status::warning,
     "CNPs have another priority; the network queues them with other traffic, and senders slow down too late."},
    {SettingId::rtt_resp_dscp, Status::warning,
     "Answers to round-trip probes carry another DSCP; the times measured are those of another queue."},
    {SettingId::cc, Status::warning,
     "Congestion control as a whole is not as the policy says; without it, every congestion ends in PFC pauses."},
    {SettingId::roce_dscp, Status::critical,
     "RoCE data carries another DSCP than the network maps to the lossless priority."},
    {SettingId::roce_prio, Status::critical, "RoCE data is sent on another priority than the lossless one."},
    {SettingId::roce_mode, Status::warning,
     "Connections made by rdma_cm use another RoCE version; v1 is not routed and carries no DSCP."},
    {SettingId::roce_tos, Status::warning,
     "Connections made by rdma_cm carry another DSCP, so their packets take another priority; programs that set their "
     "own, as NCCL does, are not concerned."},
    {SettingId::traffic_class, Status::critical,
     "All queue pairs are given another traffic class, so RoCE packets take another priority than the lossless one."},
    {SettingId::optional_counters, Status::warning,
     "Optional counters are not switched on as the policy says; their metrics are missing."},
    {SettingId::mrrs, Status::warning,
     "The PCIe read request size is not as the policy says; reading from memory costs more requests, and bandwidth."},
    {SettingId::min_time_between_cnps, Status::warning, kDcqcn},
    {SettingId::clamp_tgt_rate, Status::warning, kDcqcn},
    {SettingId::clamp_tgt_rate_after_time_inc, Status::warning, kDcqcn},
    {SettingId::rpg_time_reset, Status::warning, kDcqcn},
    {SettingId::rpg_byte_reset, Status::warning, kDcqcn},
    {SettingId::rpg_threshold, Status::warning, kDcqcn},
    {SettingId::rpg_max_rate, Status::warning, kDcqcn},
    {SettingId::rpg_ai_rate, Status::warning, kDcqcn},
    {SettingId::rpg_hai_rate, Status::warning, kDcqcn},
    {SettingId::rpg_gd, Status::warning, kDcqcn},
    {SettingId::rpg_min_dec_fac, Status::warning, kDcqcn},
    {SettingId::rpg_min_rate, Status::warning, kDcqcn},
    {SettingId::rate_to_set_on_first_cnp, Status::warning, kDcqcn},
    {SettingId::dce_tcp_g, Status::warning, kDcqcn},
    {SettingId::dce_tcp_rtt, Status::warning, kDcqcn},
    {SettingId::rate_reduce_monitor_period, Status::warning, kDcqcn},
    {SettingId::initial_alpha_value, Status::warning, kDcqcn},
    {SettingId::cc_mode, Status::warning, kDcqcn},
    {SettingId::cc_g, Status::warning, kDcqcn},
    {SettingId::cc_phases, Status::warning, kDcqcn},
    {SettingId::cc_init_cr, Status::warning, kDcqcn},
    {SettingId::cc_init_tr, Status::warning, kDcqcn},
    {SettingId::cc_rtt, Status::warning, kDcqcn},
    {SettingId::cc_tcp_cp, Status::warning, kDcqcn},
    {SettingId::cc_inactivity_cp, Status::warning, kDcqcn},
};

Cost cost_of(SettingId setting) {
  const auto* found =
      std::find_if(std::begin(kCosts), std::end(kCosts), [&](const Cost& cost) { return cost.setting == setting; });
  return found != std::end(kCosts) ? *found
                                   : Cost{setting, Status::critical, "The port does not do what the policy says."};
}

struct Answer {
  Status status;
  std::string meaning, remedy;
};

constexpr std::string_view kApply =
    "See fabric-agentctl plan, then run fabric-agentctl apply as root, or set mode = \"enforce\" in the configuration.";

Answer answer(const Change& change, bool enforced) {
  const Cost cost = cost_of(change.setting);
  const std::string meaning(cost.meaning);
  switch (change.outcome) {
    case Outcome::in_sync:
    case Outcome::applied: return {Status::ok, {}, {}};
    case Outcome::differs:
      return {cost.status, meaning,
              enforced ? "The agent enforces and will repair it; if it stays so, read journalctl -u fabric-agent."
                       : std::string(kApply)};
    case Outcome::pending:
      return {Status::warning, meaning + " The write would stop traffic, so it waits.",
              "It is applied when no process uses the port; to do it at once: fabric-agentctl apply --disruptive now."};
    case Outcome::unsupported:
      return {Status::warning, "This port cannot do what the policy says.",
              "Take " + change.key() + " out of the policy of this port, or set it with the vendor's own tool."};
    case Outcome::refused:
      return {
          Status::critical,
          meaning + " The driver refused the write" + (change.code == 0 ? "." : " (" + errno_name(change.code) + ")."),
          "See what the driver allows (kernel's log), and give the policy a value that it takes."};
    case Outcome::ignored:
      return {Status::critical, meaning + " The driver accepted the write and did not carry it out.",
              "Look for a limit or a firmware option of this NIC, and report it to its vendor."};
    case Outcome::conflict: break;
  }
  return {Status::critical, meaning + " Another program keeps changing it back, and the agent has given up.",
          "Stop the other writer (lldpad, a vendor's script, firmware DCBX), then systemctl restart fabric-agent."};
}

Finding unreadable(const Port& port, const std::string& wanted, const std::string& why) {
  return bad(Status::unknown, port.id(), "-", wanted, "The port's settings could not be read: " + why + ".",
             "Run the check on the machine itself, where the driver answers netlink, and see the kernel's log.");
}

Finding judge(const View& view, const Port& port, const Change& planned) {
  // A dry run writes nothing: what it was refused is the reading.
  if (planned.outcome == Outcome::refused)
    return unreadable(port, planned.to, planned.detail.empty() ? errno_name(planned.code) : planned.detail);
  const Change change = with_agents_word(view.now, planned);
  if (change.outcome == Outcome::unsupported && is_guests_function(port.pci_id))
    return good(port.id(), "the host's to set: this is a virtual function", change.to);
  // Some drivers show the mode in use alone (Driver::fec_in_use). That there is no link is told elsewhere.
  if (change.setting == SettingId::fec && change.from == "none" && port.carrier == false &&
      change.outcome != Outcome::refused)
    return good(port.id(), "shows when the link is up", change.to);
  const bool enforced = view.now.agent && view.now.agent->running && view.now.agent->mode == to_text(Mode::enforce);
  Answer said = answer(change, enforced);
  if (said.status == Status::ok) return good(port.id(), change.from, change.to);
  if (!change.detail.empty()) said.meaning += " Reported: " + change.detail + ".";
  return bad(said.status, port.id(), change.from, change.to, said.meaning, said.remedy);
}

void ask_port(const View& view, const Port& port, const Setting& setting, Findings& findings) {
  const PortPolicy* entry = policy_for(*view.policy, port);
  if (entry == nullptr || !has_value(setting, entry->want)) return;
  const Changes* changes = nullptr;
  if (view.plan != nullptr)
    if (const auto found = view.plan->find(port.id()); found != view.plan->end()) changes = &found->second;
  if (changes == nullptr) {
    findings.push_back(unreadable(port, value_text(setting, entry->want), why_unread(port, "settings")));
    return;
  }
  for (const Change& change : *changes)
    if (change.setting == setting.id) findings.push_back(judge(view, port, change));
}

}  // namespace

void ask_setting(size_t row, const View& view, Findings& findings) {
  if (view.policy != nullptr) {
    for (const Port& port : view.now.ports) ask_port(view, port, kSettings[row], findings);
    return;
  }
  findings.push_back(
      bad(Status::unknown, "host", "-", "as the policy says",
          "There is no policy to compare with: " + (view.no_policy.empty() ? "no configuration" : view.no_policy) + ".",
          "Write /etc/fabric-agent/fabric-agent.toml, or name another file with --config; fabric-agentctl config check "
          "tells what is wrong."));
}

std::string_view setting_runbook(SettingId setting) { return cost_of(setting).meaning; }

}  // namespace fabric
