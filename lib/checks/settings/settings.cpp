// SPDX-License-Identifier: Apache-2.0
// One check per row of kSettings: the result of a dry run of the reconcile.
#include <algorithm>
#include <utility>

#include "base/result.h"
#include "checks/registry.h"
#include "model/finding.h"

namespace fabric {
namespace {

// Critical: packets are lost or misdirected at once. Warning: lower speed or less margin. A setting without a row here
// is critical.
struct Cost {
  SettingId setting;
  Status status;
  std::string_view meaning;
};
constexpr std::string_view kDcqcn =
    "A parameter of congestion control (DCQCN) differs from the policy. Flows on this port slow down or recover "
    "differently from those of their peers.";
constexpr Cost kCosts[] = {
    {SettingId::dcbx, Status::warning,
     "The owner of DCBX differs from the policy. NIC firmware that owns DCBX can overwrite PFC and ETS without "
     "notice."},
    {SettingId::fw_lldp, Status::warning,
     "The LLDP agent in the NIC firmware differs from the policy. While it runs, it owns DCBX and overwrites PFC and "
     "ETS."},
    {SettingId::pause, Status::critical,
     "Global pause differs from the policy. With PFC in use, global pause stops all priorities and disables PFC."},
    {SettingId::mtu, Status::warning,
     "The MTU differs from the policy. RoCE uses smaller packets, or the packets of the peer are too large."},
    {SettingId::ring_rx, Status::warning,
     "The netdev has a different number of receive descriptors. Bursts of TCP/IP can overrun it. RDMA is not "
     "affected."},
    {SettingId::ring_tx, Status::warning,
     "The netdev has a different number of transmit descriptors. TCP/IP can be slower. RDMA is not affected."},
    {SettingId::channels, Status::warning,
     "The netdev has a different number of queues. TCP/IP can be slower. RDMA is not affected."},
    {SettingId::fec, Status::warning,
     "Forward error correction differs from the policy. If the switch uses another mode, the link stays down or loses "
     "packets."},
    {SettingId::trust, Status::critical,
     "Received frames are classified by the wrong header field: RoCE lands in a priority without PFC."},
    {SettingId::apptrust, Status::critical,
     "Received frames are classified by header fields in a different order: RoCE can land in a priority without PFC."},
    {SettingId::dscp_map, Status::critical,
     "The DSCP map differs from that of the network: RoCE or CNP packets lose their class."},
    {SettingId::ets, Status::critical,
     "Traffic classes share the link differently from the policy: RoCE can starve or lose its own queue."},
    {SettingId::prio2buffer, Status::critical,
     "Priorities share receive buffers differently from the policy: a lossless priority that shares a buffer loses "
     "packets, or pauses for others."},
    {SettingId::buffer_size, Status::critical,
     "The sizes of the receive buffers differ from the policy: a buffer that is too small loses packets of a lossless "
     "priority."},
    {SettingId::pfc, Status::critical,
     "PFC differs from the priorities that the network pauses: RoCE drops packets under congestion, or other "
     "priorities are paused."},
    {SettingId::cable_length, Status::warning,
     "The headroom is sized for a different cable. A length that is too short loses packets when PFC pauses the link."},
    {SettingId::maxrate, Status::warning,
     "The rate limits of traffic classes differ from the policy: RoCE is slower than it could be, or uses reserved "
     "bandwidth."},
    {SettingId::ecn_rp, Status::warning,
     "Congestion notifications slow down other priorities than the policy wants: congestion then ends in PFC pause."},
    {SettingId::ecn_np, Status::warning,
     "ECN marks are answered with CNPs on other priorities than the policy wants: senders then notice congestion by "
     "PFC only."},
    {SettingId::cnp_dscp, Status::warning,
     "CNPs carry a different DSCP: the network queues them with other traffic, and senders slow down too late."},
    {SettingId::cnp_prio, Status::warning,
     "CNPs have a different priority: the network queues them with other traffic, and senders slow down too late."},
    {SettingId::rtt_resp_dscp, Status::warning,
     "Answers to round-trip probes carry a different DSCP: they measure the delay of another queue."},
    {SettingId::cc, Status::warning,
     "Congestion control as a whole differs from the policy. Without it, every congestion ends in PFC pause."},
    {SettingId::roce_dscp, Status::critical,
     "RoCE data carries a DSCP that the network does not map to the lossless priority."},
    {SettingId::roce_prio, Status::critical, "RoCE data is sent on another priority than the lossless one."},
    {SettingId::roce_mode, Status::warning,
     "Connections of rdma_cm use another RoCE version. RoCE v1 is not routed and carries no DSCP."},
    {SettingId::roce_tos, Status::warning,
     "Connections of rdma_cm carry a different DSCP, so their packets use another priority. Programs that set their "
     "own DSCP, such as NCCL, are not affected."},
    {SettingId::traffic_class, Status::critical,
     "All queue pairs get a different traffic class: RoCE packets use another priority than the lossless one."},
    {SettingId::optional_counters, Status::warning,
     "Optional counters are off that the policy wants. Their metrics are missing."},
    {SettingId::mrrs, Status::warning,
     "The PCIe read request size differs from the policy: reads from memory need more requests and lose bandwidth."},
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
  return found != std::end(kCosts) ? *found : Cost{setting, Status::critical, "The port differs from the policy."};
}

struct Answer {
  Status status;
  std::string meaning, remedy;
};

constexpr std::string_view kApply = "fabric-agentctl plan, then fabric-agentctl apply as root.";

Answer answer_of(const Change& change, bool enforced) {
  const Cost cost = cost_of(change.setting);
  const std::string meaning(cost.meaning);
  switch (change.outcome) {
    case Outcome::in_sync:
    case Outcome::applied: return {Status::ok, {}, {}};
    case Outcome::differs:
      return {cost.status, meaning,
              enforced ? "The agent repairs it. If it stays: journalctl -u fabric-agent" : std::string(kApply)};
    case Outcome::pending:
      return {Status::warning, meaning + " The write would interrupt traffic and waits until no process uses the port.",
              "Apply it now, interrupting traffic: fabric-agentctl apply --disruptive now"};
    case Outcome::unsupported:
      return {Status::warning, "This port does not support the value that the policy wants.",
              "Remove " + change.key() + " from the policy of this port, or set it with the vendor's tool."};
    case Outcome::refused:
      return {
          Status::critical,
          meaning + " The driver rejected the write" + (change.code == 0 ? "." : " (" + errno_name(change.code) + ")."),
          "Find the limit of the driver (journalctl -k), then change " + change.key() + " in the policy."};
    case Outcome::ignored:
      return {Status::critical, meaning + " The driver accepted the write without effect.",
              "Find a limit or a firmware option of this NIC, and report it to its vendor."};
    case Outcome::unsaved:
      return {Status::critical, meaning + " Nothing is written, because the original settings could not be saved.",
              "Make room, or repair the file that is reported; without a copy of it, move it away: its originals are "
              "lost."};
    case Outcome::conflict: break;
  }
  return {Status::critical, meaning + " Another program keeps changing it back, and the agent stopped enforcing it.",
          "Stop the other writer (lldpad, a vendor script, firmware DCBX), then systemctl reload fabric-agent"};
}

Finding unreadable(const Port& port, const std::string& wanted, const std::string& why) {
  return bad(Status::unknown, port.id(), "-", wanted, "The settings of the port could not be read: " + why + ".",
             "Run the check as root on the machine itself. See journalctl -k.");
}

bool is_enforced(const View& view) {
  return view.now.agent && view.now.agent->running && view.now.agent->mode == to_text(Mode::enforce);
}

// Until it is done, neither the agent nor an apply writes.
std::string what_comes_first(const View& view) {
  if (view.policy != nullptr && !view.no_policy.empty())
    return "Correct the configuration first: fabric-agentctl config check";
  if (view.now.agent && view.now.agent->running && !view.now.agent->held.empty())
    return "Decide on the apply first: fabric-agentctl confirm; or, after its deadline: systemctl reload fabric-agent";
  return {};
}

Finding compare(const View& view, const Port& port, const Change& planned) {
  const Change change = with_agents_word(view.now, planned);
  // A dry run writes nothing: a refusal in it is a failed read.
  if (planned.outcome == Outcome::refused && change.outcome == Outcome::refused)
    return unreadable(port, planned.to, planned.detail.empty() ? errno_name(planned.code) : planned.detail);
  Answer answer = answer_of(change, is_enforced(view));
  if (answer.status == Status::ok) return good(port.id(), change.from, change.to);
  if (std::string first = what_comes_first(view); !first.empty()) answer.remedy = std::move(first);
  if (!change.detail.empty()) answer.meaning += " Reported: " + change.detail + ".";
  return bad(answer.status, port.id(), change.from, change.to, answer.meaning, answer.remedy);
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
    if (change.setting == setting.id) findings.push_back(compare(view, port, change));
}

template <size_t Row>
void ask(const View& view, Findings& findings) {
  if (view.policy != nullptr) {
    for (const Port& port : view.now.ports) ask_port(view, port, kSettings[Row], findings);
    return;
  }
  findings.push_back(bad(
      Status::unknown, "host", "-", "the value of the policy",
      "There is no policy to compare with: " + (view.no_policy.empty() ? "no configuration" : view.no_policy) + ".",
      "Write /etc/fabric-agent/fabric-agent.toml, then fabric-agentctl config check; or name a file with --config."));
}

template <size_t... Row>
std::vector<Check> rows(std::index_sequence<Row...>) {
  return {{.id = kSettings[Row].key,
           .group = group::settings,
           .title = kSettings[Row].help,
           .meaning = cost_of(kSettings[Row].id).meaning,
           .inspect = "fabric-agentctl plan; fabric-agentctl show",
           .fix = kApply,
           .ask = ask<Row>}...};
}

}  // namespace

std::vector<Check> checks_of_settings() { return rows(std::make_index_sequence<kSettingCount>()); }

}  // namespace fabric
