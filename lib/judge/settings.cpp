// SPDX-License-Identifier: Apache-2.0
#include "judge/settings.h"

#include "base/find.h"
#include "base/result.h"
#include "judge/rule.h"
#include "node/port_settings.h"

namespace fabric {

// One check per row of kSettings: the result of a dry run of the reconcile.

namespace {

struct RuleResult {
  Status status;
  std::string meaning;
  Fix fix;
};

constexpr std::string_view kApply = "fabric-agentctl plan; fabric-agentctl apply";
// plan ends with the command that comes next on this machine: an apply may be refused, or not be enough.
constexpr std::string_view kPlan = "fabric-agentctl plan";

RuleResult result_of(const Change& change, const std::string& meaning, bool enforced) {
  const Setting& setting = setting_of(change.setting);
  switch (change.outcome) {
    case Outcome::in_sync:
    case Outcome::applied: return {Status::ok, {}, {}};
    case Outcome::unverified:
      return {Status::unknown, "The driver does not show whether the NIC has the value that the policy wants.",
              "Write the value, so that it is known: " + std::string(kPlan)};
    case Outcome::differs:
      if (!enforced) return {setting.severity, meaning, std::string(kPlan)};
      return {setting.severity,
              meaning,
              {"The agent repairs it. ", {Work::service, "If it stays: journalctl -u fabric-agent"}}};
    case Outcome::pending: {
      // Without an agent nothing writes it later. The exporter, which does not see who uses a port, says that it
      // differs.
      const Status status = enforced ? Status::warning : setting.severity;
      if (!change.detail.empty()) {
        // The waits that end by themselves; a person has to correct the others.
        constexpr WaitsFor kEnd[]{WaitsFor::idle_port, WaitsFor::maintenance, WaitsFor::other_setting,
                                  WaitsFor::confirmation};
        std::string next = "Correct this cause first";
        if (change.wait && contains(kEnd, *change.wait)) next = "When the cause is over";
        next += enforced ? ", then the agent writes it. State of the port: fabric-agentctl status"
                         : ", then: fabric-agentctl apply";
        return {status, meaning + " It is not written now: " + change.detail + ".", next};
      }
      return {status, meaning + " The write would interrupt traffic and waits until no process uses the port.",
              "To write it now, interrupting traffic: fabric-agentctl plan --disruptive now"};
    }
    case Outcome::unsupported:
      return {Status::warning, "The value that the policy wants cannot be set on this port in its present state.",
              "Correct the reported cause, or remove " + change.key() + " from the policy of this port."};
    case Outcome::refused: {
      std::string error;
      if (change.code != 0) error = " (" + errno_name(change.code) + ")";
      return {Status::critical, meaning + " The driver rejected the write" + error + ".",
              "Find the limit of the driver (journalctl -k), then change " + change.key() + " in the policy."};
    }
    case Outcome::ignored:
      return {Status::critical, meaning + " The driver accepted the write without effect.",
              "Find a limit or a firmware option of this NIC, and report it to its vendor."};
    case Outcome::unsaved:
      return {Status::critical, meaning + " Nothing is written, because the original settings could not be saved.",
              "Free disk space, or repair the reported file. If there is no copy of the file, move it away: its "
              "original settings are lost."};
    case Outcome::conflict: break;
  }
  return {Status::critical,
          meaning + " Another program keeps changing it back, and the agent stopped enforcing it.",
          {"Find the other program",
           {Work::service, " (journalctl -u fabric-agent)"},
           " and stop it; the agent then enforces the value again."}};
}

Finding unreadable(const Port& port, const std::string& wanted, const std::string& why) {
  return bad(Status::unknown, port.id(), "-", wanted, "The settings of the port could not be read: " + why + ".",
             "Run the check as root on the machine itself. See journalctl -k.");
}

// Setting::meaning(), or the effect of PFC on a fabric without it.
std::string meaning_of(const View& view, const Port& port, const Setting& setting) {
  const PortPolicy* entry = policy_of(view, port);
  const bool wants_no_pfc = entry != nullptr && entry->want.pfc && entry->want.pfc->bits == 0;
  if (setting.id != SettingId::pfc || !wants_no_pfc || !fabric_of(view, port).is_lossy()) return setting.meaning();
  return "PFC is on at a port of a lossy fabric: it sends pause that no switch obeys, or waits for a peer that does "
         "not "
         "stop.";
}

Finding setting_finding(const View& view, const Port& port, const Change& planned) {
  const Change change = with_agent_outcome(view.now, planned);
  // A dry run writes nothing: a refusal in it is a failed read.
  if (planned.outcome == Outcome::refused && change.outcome == Outcome::refused) {
    std::string why = planned.detail;
    if (why.empty()) why = errno_name(planned.code);
    return unreadable(port, planned.to, why);
  }
  const PortPolicy* entry = policy_of(view, port);
  if (change.outcome == Outcome::unsupported && entry != nullptr &&
      !qos::vendor_command(port, setting_of(change.setting), entry->want).empty()) {
    Finding finding = good(port.id(), "not visible to the kernel: see vendor-settings", change.to);
    finding.outcome = change.outcome;
    return finding;
  }
  if (change.outcome == Outcome::unverified && change.from == change.to) {
    Finding finding = good(port.id(), change.from + " (unverified: " + change.detail + ")", change.to);
    finding.outcome = change.outcome;
    return finding;
  }
  const auto& agent = view.now.agent;
  const std::string meaning = meaning_of(view, port, setting_of(change.setting));
  RuleResult result = result_of(change, meaning, agent && agent->is_enforcing());
  if (result.status == Status::ok) {
    Finding finding = good(port.id(), change.from, change.to);
    finding.outcome = Outcome::in_sync;
    return finding;
  }
  // As long as one of these is open, neither the agent nor an apply writes.
  if (view.policy != nullptr && view.no_policy)
    result.fix = "Correct the configuration first: fabric-agentctl config check";
  else if (agent && agent->running && !agent->held.empty()) result.fix = fix_of_suspension(*agent);
  if (!change.detail.empty() && change.outcome != Outcome::pending)
    result.meaning += " Reported: " + change.detail + ".";
  Finding finding = bad(result.status, port.id(), change.from, change.to, result.meaning, result.fix);
  finding.outcome = change.outcome;
  if (is_audit_only(port)) {
    finding = audited(std::move(finding));
    finding.meaning = meaning + " A DPU owns this port: observed, never written.";
    finding.fix = {"The Arm cores of the DPU own this port: change the setting there, or its value in the policy."};
    return finding;
  }
  if (!is_audit(view)) return finding;
  if (change.outcome == Outcome::pending) {  // today only the mode prevents the write
    std::string why = change.detail;
    if (why.empty()) why = "it interrupts traffic, and a process uses the port";
    finding.meaning = meaning + " In enforce mode its write would wait: " + why + ".";
  }
  return audited(std::move(finding));
}

// A file that is there is corrected, or read as root.
Fix fix_without_policy(const View& view) {
  const int code = view.no_policy ? view.no_policy->code : ENOENT;
  if (code == EACCES) return {Work::as_root, "Run the check as root."};
  if (code != ENOENT) return "Correct the errors that fabric-agentctl config check reports";
  return "Write /etc/fabric-agent/fabric-agent.toml, then fabric-agentctl config check; or name a file with --config.";
}

void ask_setting(const View& view, const Setting& setting, Findings& findings) {
  if (view.policy == nullptr) {
    const std::string why = view.no_policy ? first_error(view) : "no configuration";
    findings.push_back(bad(Status::unknown, kHostSubject, "-", "the value of the policy",
                           "There is no policy to compare with: " + why + ".", fix_without_policy(view)));
    return;
  }
  for (const Port& port : view.now.ports) {
    const PortPolicy* entry = policy_for(*view.policy, port);
    if (entry == nullptr || !has_value(setting, entry->want)) continue;
    const Changes* changes = planned_changes(view, port.id());
    if (changes == nullptr) {
      const std::string wanted = value_text(setting, entry->want);
      // A captured tree has a few of the settings, as the MTU.
      if (has_value(setting, port.qos)) {
        const std::string read = value_text(setting, port.qos);
        const Outcome outcome = read == wanted ? Outcome::in_sync : Outcome::differs;
        findings.push_back(setting_finding(view, port, {port.id(), setting.id, outcome, 0, false, read, wanted, {}}));
      } else {
        findings.push_back(unreadable(port, wanted, why_unread(port, PortPart::settings)));
      }
      continue;
    }
    for (const Change& change : *changes)
      if (change.setting == setting.id) findings.push_back(setting_finding(view, port, change));
  }
}

template <size_t Row>
void ask(const View& view, Findings& findings) {
  ask_setting(view, kSettings[Row], findings);
}

template <size_t Row>
std::string_view meaning() {
  static const std::string text = kSettings[Row].meaning() + " The setting: " + kSettings[Row].help_text() + ".";
  return text;
}

template <size_t... Row>
std::vector<Rule> rows(std::index_sequence<Row...>) {
  return {{.id = kSettings[Row].key,
           .group = group::settings,
           .title = kSettings[Row].title,
           .meaning = meaning<Row>(),
           .inspect = "fabric-agentctl plan; fabric-agentctl show",
           .fix = kApply,
           .ask = ask<Row>}...};
}

}  // namespace

std::vector<Rule> setting_rules() { return rows(std::make_index_sequence<kSettingCount>()); }

namespace {

std::optional<Finding> ask_sysctl(const View& view) {
  if (view.policy == nullptr || view.policy->sysctl.empty()) return std::nullopt;
  std::string observed, expected, details;
  size_t in_sync = 0;
  bool can_be_set = false;
  const Changes* planned = planned_changes(view, kHostSubject);
  for (const auto& [name, wanted] : view.policy->sysctl) {
    // The result of the dry run, else the agent's.
    Change change{kHostSubject, {}, Outcome::unsupported, 0, false, "-", wanted, {}, name};
    bool is_planned = false;
    if (planned != nullptr)
      for (const Change& each : *planned) {
        if (each.sysctl != name) continue;
        change = each;
        is_planned = true;
        break;
      }
    change = with_agent_outcome(view.now, std::move(change));
    if (!is_planned && change.outcome == Outcome::unsupported && change.detail.empty()) continue;  // neither knows
    if (change.outcome == Outcome::in_sync) {
      ++in_sync;
      continue;
    }
    can_be_set |= change.outcome != Outcome::unsupported;
    append_item(observed, name + " = " + change.from + " (" + std::string(to_text(change.outcome)) + ")");
    append_item(expected, name + " = " + wanted);
    if (!change.detail.empty()) details += " Reported: " + name + ": " + change.detail + ".";
  }
  if (observed.empty() && in_sync == 0) return std::nullopt;
  if (observed.empty()) return good(kHostSubject, std::to_string(in_sync) + " in sync", "match [sysctl]");
  std::string remedy = "Correct the name of the interface, or remove the setting from [sysctl].";
  if (can_be_set) remedy = "fabric-agentctl plan --port host";
  Finding finding = bad(Status::warning, kHostSubject, observed, expected,
                        "Host settings differ from [sysctl] of the configuration." + details, std::move(remedy));
  finding.outcome = Outcome::differs;
  return is_audit(view) ? audited(std::move(finding)) : finding;
}

constexpr Rule kSysctl{
    .id = "sysctl",
    .group = group::settings,
    .title = "A host setting differs from [sysctl] of the configuration",
    .meaning = "A setting below /proc/sys that the configuration wants has another value, or could not be set.",
    .inspect = "fabric-agentctl plan --port host",
    .fix = "fabric-agentctl plan --port host; fabric-agentctl apply --port host",
    .ask_host = ask_sysctl,
};

// The settings that the policy wants, also those derived from `traffic` and `cnp`, and that only the vendor's program
// can read and write.
std::optional<Finding> ask_vendor_settings(const View& view, const Port& port) {
  if (!is_judged(port)) return std::nullopt;
  const PortPolicy* entry = policy_of(view, port);
  if (entry == nullptr) return std::nullopt;
  std::string expected, commands;
  for (const Setting& setting : kSettings) {
    const std::string command = qos::vendor_command(port, setting, entry->want);
    if (command.empty()) continue;
    append_item(expected, std::string(setting.key) + " " + value_text(setting, entry->want));
    commands += "\n" + command;
  }
  if (expected.empty()) return std::nullopt;
  return bad(Status::unknown, port.id(), "not visible to the kernel", expected,
             "The kernel can neither show nor write these settings of this NIC (driver " + port.kernel_driver +
                 "): they are not enforced, and nothing here shows whether the NIC has them.",
             "Compare with nicctl show qos; nicctl show dcqcn. If they differ, also after each reboot unless the NIC's "
             "profile has them:" +
                 commands);
}

constexpr Rule kVendorSettings{
    .id = "vendor-settings",
    .group = group::settings,
    .title = "Settings that only the NIC vendor's program can read and write",
    .meaning =
        "The kernel driver of some NICs (AMD's ionic) has no interface for PFC, the DSCP map, trust, ETS and DCQCN: "
        "only the vendor's program can read and set them, and the NIC loses them at a reboot unless they are in its "
        "profile. The agent does not run that program. The values of the policy for such a port are listed with the "
        "commands that set them. If a boot script sets them, [rules.vendor-settings] enabled = false.",
    .inspect = "nicctl show qos; nicctl show dcqcn",
    .fix = "Run the listed commands of nicctl, and again after each reboot (AMD UG1813).",
    .ask_port = ask_vendor_settings,
};

// The agent would write PFC or ETS of the port, and a daemon does so too.
std::optional<Finding> ask_dcbx_daemon(const View& view, const Port& port) {
  const Changes* planned = planned_changes(view, port.id());
  if (!view.now.host || view.now.host->software.dcb_daemons.empty() || planned == nullptr ||
      port.qos.dcbx != Dcbx::host)
    return std::nullopt;
  std::string settings;
  for (const Change& change : *planned)
    if (change.setting == SettingId::pfc || change.setting == SettingId::ets)
      append_item(settings, setting_of(change.setting).key, " and ");
  if (settings.empty()) return std::nullopt;
  const std::vector<DcbDaemon>& daemons = view.now.host->software.dcb_daemons;
  const auto writer =
      std::ranges::find_if(daemons, [&](const DcbDaemon& each) { return !each.is_disabled_at(port.netdev); });
  if (writer == daemons.end())
    return good(port.id(),
                daemons.front().text() + " runs without LLDP on " + port.netdev +
                    " (adminStatus 0): it writes its own values only once, after the link has come up",
                "one writer of " + settings);
  const DcbDaemon& daemon = *writer;
  Finding finding = bad(
      Status::warning, port.id(), daemon.text() + " runs, and the host owns DCBX of " + port.netdev,
      "one writer of " + settings,
      daemon.comm +
          " writes PFC and ETS of the ports whose DCBX the host owns, by its own configuration and by what the "
          "switch announces. It overwrites these settings some seconds after each write, and the driver accepts "
          "both.",
      {"Let one program write them. ",
       {Work::service, "For the agent: systemctl disable --now " + (daemon.unit.empty() ? daemon.comm : daemon.unit) +
                           " (lldpd(8) does LLDP without DCBX). "},
       "For " + daemon.comm + ": remove pfc and ets from the policy of this port, and set them with lldptool."});
  return is_audit(view) ? audited(std::move(finding)) : finding;
}

}  // namespace

constexpr Rule kDcbxDaemon{
    .id = "dcbx-daemon",
    .group = group::settings,
    .title = "A DCBX daemon writes the settings of the policy, too",
    .meaning =
        "lldpad (openlldp) writes PFC and ETS of each port whose DCBX the host owns. If the policy has pfc or ets of "
        "such a port, two programs write them: what fabric-agentd or mlnx_qos writes is overwritten within seconds, "
        "although the driver accepted it. A port with adminStatus 0 (disabled) in /var/lib/lldpad/lldpad.conf is not "
        "reported: lldpad writes its own values there only once, 15 s after the link has come up. lldpd(8) does LLDP "
        "without DCBX and is not reported.",
    .inspect =
        "systemctl status lldpad; dcb dcbx show dev NETDEV; lldptool -l -i NETDEV adminStatus; lldptool -t -i NETDEV "
        "-V PFC",
    .fix = {"Let one program write them: remove pfc and ets from the policy of these ports and set them with lldptool",
            {Work::service, "; or systemctl disable --now lldpad"},
            "."},
    .ask_port = ask_dcbx_daemon,
};

constexpr Rule kTable[]{kSysctl, kVendorSettings, kDcbxDaemon};
const std::span<const Rule> kSettingsRules = kTable;

}  // namespace fabric
