// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"
#include "judge/engine.h"

namespace fabric {

// One check per row of kSettings: the result of a dry run of the reconcile.

namespace {

struct Answer {
  Status status;
  std::string meaning, remedy;
};

constexpr std::string_view kApply = "fabric-agentctl plan; fabric-agentctl apply";

Answer answer_of(const Change& change, bool enforced) {
  const Setting& setting = setting_of(change.setting);
  const std::string meaning(setting.meaning);
  switch (change.outcome) {
    case Outcome::in_sync:
    case Outcome::applied: return {Status::ok, {}, {}};
    case Outcome::unverified:
      return {Status::unknown, "The driver does not show whether the NIC has the value that the policy wants.",
              "A write makes it known: " + std::string(kApply)};
    case Outcome::differs:
      return {setting.severity, meaning,
              enforced ? "The agent repairs it. If it stays: journalctl -u fabric-agent" : std::string(kApply)};
    case Outcome::pending:
      return {Status::warning, meaning + " The write would interrupt traffic and waits until no process uses the port.",
              "Apply it now, interrupting traffic: fabric-agentctl apply --disruptive now"};
    case Outcome::unsupported:
      return {Status::warning, "The value that the policy wants cannot be set on this port, as it is.",
              "Correct the reported cause, or remove " + change.key() + " from the policy of this port."};
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
  return {
      Status::critical, meaning + " Another program keeps changing it back, and the agent stopped enforcing it.",
      "Stop that writer (who it is: journalctl -u fabric-agent); the agent then enforces the value again by itself."};
}

Finding unreadable(const Port& port, const std::string& wanted, const std::string& why) {
  return bad(Status::unknown, port.id(), "-", wanted, "The settings of the port could not be read: " + why + ".",
             "Run the check as root on the machine itself. See journalctl -k.");
}

Finding compare(const View& view, const Port& port, const Change& planned) {
  const Change change = with_agents_word(view.now, planned);
  // A dry run writes nothing: a refusal in it is a failed read.
  if (planned.outcome == Outcome::refused && change.outcome == Outcome::refused)
    return unreadable(port, planned.to, planned.detail.empty() ? errno_name(planned.code) : planned.detail);
  if (change.outcome == Outcome::unverified && change.from == change.to) {
    Finding finding = good(port.id(), change.from + " (unverified: " + change.detail + ")", change.to);
    finding.unverified = true;
    return finding;
  }
  const auto& agent = view.now.agent;
  Answer answer = answer_of(change, agent && agent->running && agent->mode == to_text(Mode::enforce));
  if (answer.status == Status::ok) return good(port.id(), change.from, change.to);
  // Until it is done, neither the agent nor an apply writes.
  if (view.policy != nullptr && !view.no_policy.empty())
    answer.remedy = "Correct the configuration first: fabric-agentctl config check";
  else if (agent && agent->running && !agent->held.empty())
    answer.remedy =
        "Decide on the apply first: fabric-agentctl confirm; or, after its deadline: systemctl reload fabric-agent";
  if (!change.detail.empty()) answer.meaning += " Reported: " + change.detail + ".";
  return bad(answer.status, port.id(), change.from, change.to, answer.meaning, answer.remedy);
}

void ask_port(const View& view, const Port& port, const Setting& setting, Findings& findings) {
  const PortPolicy* entry = policy_for(*view.policy, port);
  if (entry == nullptr || !has_value(setting, entry->want)) return;
  const Changes* changes = view.plan == nullptr ? nullptr : find_in(*view.plan, port.id());
  if (changes == nullptr)
    return findings.push_back(unreadable(port, value_text(setting, entry->want), why_unread(port, "settings")));
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
      "There is no policy to compare with: " + (view.no_policy.empty() ? "no configuration" : first_error(view)) + ".",
      "Write /etc/fabric-agent/fabric-agent.toml, then fabric-agentctl config check; or name a file with --config."));
}

// The first clause of the meaning: "The MTU differs from the policy".
constexpr std::string_view title(std::string_view meaning) {
  const size_t end = std::min(meaning.find(": "), meaning.find(". "));
  return end == std::string_view::npos ? meaning.substr(0, meaning.size() - 1) : meaning.substr(0, end);
}

template <size_t Row>
std::string_view meaning() {
  static const std::string text =
      std::string(kSettings[Row].meaning) + " The setting: " + std::string(kSettings[Row].help) + ".";
  return text;
}

template <size_t... Row>
std::vector<Rule> rows(std::index_sequence<Row...>) {
  return {{.id = kSettings[Row].key,
           .group = group::settings,
           .title = title(kSettings[Row].meaning),
           .meaning = meaning<Row>(),
           .inspect = "fabric-agentctl plan; fabric-agentctl show",
           .fix = kApply,
           .ask = ask<Row>}...};
}

}  // namespace

std::vector<Rule> setting_rules() { return rows(std::make_index_sequence<kSettingCount>()); }

namespace {

// By the dry run, else by the agent; nullopt: neither knows.
std::optional<Change> change_of(const View& view, const std::string& name, const std::string& wanted) {
  const Changes* host = view.plan == nullptr ? nullptr : find_in(*view.plan, kHostSubject);
  const Change* planned =
      host == nullptr ? nullptr : find_where(*host, [&](const Change& each) { return each.sysctl == name; });
  Change change{kHostSubject, {}, Outcome::unsupported, 0, false, "-", wanted, {}, name};
  change = with_agents_word(view.now, planned != nullptr ? *planned : change);
  const bool is_known = planned != nullptr || change.outcome != Outcome::unsupported || !change.detail.empty();
  return is_known ? std::optional(change) : std::nullopt;
}

std::optional<Finding> ask_sysctl(const View& view) {
  if (view.policy == nullptr || view.policy->sysctl.empty()) return std::nullopt;
  std::string observed, expected, details;
  size_t in_sync = 0;
  bool can_be_set = false;
  for (const auto& [name, wanted] : view.policy->sysctl) {
    const auto change = change_of(view, name, wanted);
    if (!change) continue;
    if (change->outcome == Outcome::in_sync) {
      ++in_sync;
      continue;
    }
    can_be_set |= change->outcome != Outcome::unsupported;
    append_item(observed, name + " = " + change->from + " (" + std::string(to_text(change->outcome)) + ")");
    append_item(expected, name + " = " + wanted);
    if (!change->detail.empty()) details += " Reported: " + name + ": " + change->detail + ".";
  }
  if (!observed.empty())
    return bad(Status::warning, kHostSubject, observed, expected,
               "Host settings differ from [sysctl] of the configuration." + details,
               can_be_set ? "fabric-agentctl plan --port host; fabric-agentctl apply --port host"
                          : "Correct the name of the interface, or remove the setting from [sysctl].");
  if (in_sync == 0) return std::nullopt;
  return good(kHostSubject, std::to_string(in_sync) + " in sync", "match [sysctl]");
}

}  // namespace

constexpr Rule kSysctl{
    .id = "sysctl",
    .group = group::settings,
    .title = "A host setting differs from [sysctl] of the configuration",
    .meaning = "A setting below /proc/sys that the configuration wants has another value, or could not be set.",
    .inspect = "fabric-agentctl plan --port host",
    .fix = "fabric-agentctl plan --port host; fabric-agentctl apply --port host",
    .ask_host = ask_sysctl,
};

std::span<const Rule> settings_rules() {
  static constexpr Rule kAll[]{kSysctl};
  return kAll;
}

}  // namespace fabric
