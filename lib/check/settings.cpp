// SPDX-License-Identifier: Apache-2.0
// One check per row of kSettings: what a dry run of the reconcile says, in the operator's words.
#include <algorithm>

#include "base/result.h"
#include "check/checks.h"
#include "check/finding.h"

namespace fabric {
namespace {

// What a difference costs. Critical where packets are lost or misdirected at once; warning where it costs speed, or
// only makes room for trouble. A setting without a row here is critical.
struct Cost {
  std::string_view key;
  Status status;
  std::string_view meaning;
};
constexpr Cost kCosts[] = {
    {"dcbx", Status::warning,
     "Who owns DCBX is not as the policy says; the NIC's firmware can overwrite PFC and ETS without notice."},
    {"pause", Status::critical,
     "Global pause is not as the policy says; where PFC is used it stops all priorities and switches PFC off."},
    {"mtu", Status::warning,
     "The MTU is not as the policy says; RoCE falls back to smaller packets, or the peer's are too big."},
    {"trust", Status::critical,
     "Received frames are classified by the wrong header field, so RoCE lands in a priority without PFC."},
    {"dscp_map", Status::critical,
     "DSCPs are mapped to other priorities than the network maps them, so RoCE or CNP packets lose their class."},
    {"ets", Status::critical,
     "Traffic classes share the link differently from the policy; RoCE can be starved or lose its own queue."},
    {"pfc", Status::critical,
     "PFC is not on for exactly the priorities that the network pauses: RoCE packets are dropped, or others are "
     "stopped."},
    {"cable_length", Status::warning,
     "The headroom is sized for another cable; too short a length loses packets when PFC pauses the link."},
};

Cost cost_of(std::string_view key) {
  const auto* found =
      std::find_if(std::begin(kCosts), std::end(kCosts), [&](const Cost& cost) { return cost.key == key; });
  return found != std::end(kCosts) ? *found : Cost{key, Status::critical, "The port does not do what the policy says."};
}

struct Answer {
  Status status;
  std::string meaning, remedy;
};

constexpr std::string_view kApply =
    "See fabric-agentctl plan, then run fabric-agentctl apply as root, or set mode = \"enforce\" in the configuration.";

Answer answer(const Change& change, bool enforced) {
  const Cost cost = cost_of(change.key);
  const std::string meaning(cost.meaning);
  switch (change.outcome) {
    case Outcome::in_sync:
    case Outcome::applied:
      return {Status::ok, {}, {}};
    case Outcome::differs:
      return {cost.status, meaning,
              enforced ? "The agent enforces and will repair it; if it stays so, read journalctl -u fabric-agent."
                       : std::string(kApply)};
    case Outcome::pending:
      return {Status::warning, meaning + " The write would stop traffic, so it waits.",
              "It is applied when no process uses the port; to do it at once: fabric-agentctl apply --disruptive now."};
    case Outcome::unsupported:
      return {Status::warning, "This port cannot do what the policy says.",
              "Take " + change.key + " out of the policy of this port, or set it with the vendor's own tool."};
    case Outcome::refused:
      return {
          Status::critical,
          meaning + " The driver refused the write" + (change.code == 0 ? "." : " (" + errno_name(change.code) + ")."),
          "See what the driver allows (kernel's log), and give the policy a value that it takes."};
    case Outcome::ignored:
      return {Status::critical, meaning + " The driver accepted the write and did not carry it out.",
              "Look for a limit or a firmware option of this NIC, and report it to its vendor."};
    case Outcome::conflict:
      break;
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
    if (change.key == setting.key) findings.push_back(judge(view, port, change));
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

std::string_view setting_runbook(std::string_view key) { return cost_of(key).meaning; }

}  // namespace fabric
