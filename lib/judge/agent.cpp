// SPDX-License-Identifier: Apache-2.0
// The state of fabric-agentd.
#include "judge/network.h"
#include "judge/rule.h"

namespace fabric {

namespace {

constexpr FixRow kStart{Work::service,
                        "systemctl enable --now fabric-agent; if it does not stay up: journalctl -u fabric-agent"};
// The agent that wrote its state runs as usual: this program is the older one.
constexpr FixRow kUseNewer{"Use the fabric-agentctl of the release that wrote the file. ",
                           {Work::service, "If that release was removed: systemctl restart fabric-agent"}};
std::string unwatched(const View& view) {
  if (is_audit(view)) return "In audit mode the agent writes nothing. While it does not run, changes are not recorded.";
  return "Drift will not be repaired: after a reboot, a driver reload or a write by another tool, settings stay wrong.";
}

Finding agent_finding(const View& view, const AgentState& agent) {
  if (!agent.running)
    return bad(Status::warning, kHostSubject,
               "not running, last change " + (agent.updated.empty() ? "-" : agent.updated), "running", unwatched(view),
               kStart);
  const std::string mode = agent.mode ? std::string(to_text(*agent.mode)) + " mode" : "mode unknown";
  if (const auto& lost = agent.lost_originals) {
    std::string fix = "Repair the file and move it back to /var/lib/fabric-agent/originals.json";
    if (lost->is_newer) fix = "Install the newer release of fabric-agent again";
    // The agent of an earlier version names the file in its error only.
    const std::string away = lost->file.empty() ? "move this file to /root/" : "mv " + lost->file + " /root/";
    return bad(
        Status::critical, kHostSubject, "original settings unreadable: " + lost->why, "original settings readable",
        "The settings from before the first write cannot be restored. While the file itself cannot be read, settings "
        "that differ are not written.",
        {fix + ", or abandon those settings: " + away + "; ", {Work::service, "then: systemctl reload fabric-agent"}});
  }
  if (!agent.left_of_self_tests.empty())
    return bad(Status::warning, kHostSubject,
               "running, " + mode + "; a self-test was interrupted, not restored: " + agent.left_of_self_tests,
               "running, no self-test left unfinished",
               "A self-test was killed, and the settings from before it are not back yet: a process uses the port, or "
               "the driver refuses them.",
               {"The agent restores them when the port is idle. ",
                {Work::service, "To try refused settings at once: systemctl reload fabric-agent"}});
  if (!agent.config_error.empty())
    return bad(Status::warning, kHostSubject,
               "running, " + mode + ", with its last valid configuration: " + agent.config_error, "running",
               "The configuration was invalid, or a drop-in was gone. The agent uses the last valid one.",
               {"fabric-agentctl config check", {Work::service, ", then systemctl reload fabric-agent"}});
  if (!agent.lost_entry.empty())
    return bad(
        Status::warning, kHostSubject,
        "running, " + mode + ", no [[port]] entry matches any more: " + joined(agent.lost_entry),
        "every port keeps its [[port]] entry at a reload",
        "A change of the configuration left these ports without an entry. Their settings are no longer enforced.",
        {"Restore the entry",
         {Work::service,
          ", then systemctl reload fabric-agent. If the ports should be unmanaged: systemctl restart fabric-agent"}});
  if (!agent.held.empty())
    return bad(Status::warning, kHostSubject, "running, " + mode + ", suspended: " + agent.held,
               "running, not suspended", "Enforcement is suspended because of an apply with --confirm.",
               fix_of_suspension(agent));
  if (view.policy != nullptr && agent.mode && *agent.mode != view.policy->mode)
    return bad(Status::warning, kHostSubject, "running, " + mode,
               "running, " + std::string(to_text(view.policy->mode)) + " mode",
               "The configuration was changed after the agent read it.",
               {Work::service, "systemctl reload fabric-agent"});
  return good(kHostSubject, "running, " + mode, "running");
}

std::optional<Finding> ask_agent(const View& view) {
  // A host may have no configuration. If this user may not read it, it can still be valid: the agent knows.
  const int code = view.no_policy ? view.no_policy->code : 0;
  const bool is_missing = view.policy == nullptr && code == ENOENT, is_unreadable = code == EACCES;
  if (view.no_policy && !is_missing && !is_unreadable) {
    // A typing error is no fault of the node: schedulers would drain every node of the site.
    std::string meaning = "There is no valid configuration. Nothing is enforced after the next start.";
    if (view.policy != nullptr) meaning = "The agent uses the last valid configuration; later changes have no effect.";
    return bad(Status::warning, kHostSubject, "configuration invalid: " + first_error(view), "configuration valid",
               std::move(meaning),
               {"Correct the errors that fabric-agentctl config check reports",
                {Work::service, ", then systemctl reload-or-restart fabric-agent"}});
  }
  const bool runs = view.now.agent && view.now.agent->running;
  // A site that wants only metrics.
  const bool is_empty = view.policy != nullptr && view.policy->ports.empty() && view.policy->sysctl.empty();
  if (!runs && view.now.agent_unread.empty() && is_empty)
    return good(kHostSubject, "not running; the configuration wants no setting",
                "running if the configuration wants a setting");
  if (view.now.agent) return agent_finding(view, *view.now.agent);
  if (!view.now.agent_unread.empty()) {
    Fix fix{Work::service, "systemctl restart fabric-agent"};
    if (view.now.agent_is_newer) fix = kUseNewer;
    return bad(Status::unknown, kHostSubject, "-", "running",
               "The state of the agent could not be read: " + view.now.agent_unread + ".", std::move(fix));
  }
  if (view.policy != nullptr)
    return bad(Status::warning, kHostSubject, "not running", "running", unwatched(view), kStart);
  if (is_unreadable)
    return bad(Status::unknown, kHostSubject, "no state file; " + first_error(view), "running",
               "This user may not read the configuration.", kStart);
  return bad(Status::unknown, kHostSubject, "no state file and no configuration", "running",
             "fabric-agent is not configured on this host, or this is a captured tree.", kStart);
}

constexpr Rule kAgent{
    .id = "agent",
    .group = group::agent,
    .title = "fabric-agent does not run in the configured mode",
    .meaning =
        "Without the agent, settings are not repaired after a reboot, a driver reload or a write by another tool.",
    .inspect = "systemctl status fabric-agent; fabric-agentctl config check",
    .fix = "systemctl enable --now fabric-agent; after a change of the configuration systemctl reload fabric-agent",
    .ask_host = ask_agent,
};

// The entry for role "compute" on a machine on which that role can be no port's, although there are as many links as
// GPUs: the GPUs have no host bridge in common with a NIC. Links of the front end do not count, and fewer may be for
// storage alone.
const PortPolicy* entry_without_role(const View& view) {
  const size_t gpus = view.now.topology.gpus.size();
  if (gpus < 2) return nullptr;
  const PortPolicy* entry = nullptr;
  size_t links = 0;
  for (const Port& port : view.now.ports) {
    if (port.place == PortPlace::compute) return nullptr;
    if (!is_roce(port) || !is_up(port) || is_front_end(view.now, port)) continue;
    const PortPolicy* other = entry_but_for_role(*view.policy, port);
    if (other == nullptr) continue;
    ++links;
    entry = other;
  }
  if (links < gpus) return nullptr;
  return entry;
}

// The entry of another member of the bond, if none is that of this member, whatever its speed. An entry without
// settings leaves its ports unmanaged.
const PortPolicy* entry_of_other_member(const View& view, const Port& port) {
  if (!port.is_member() ||
      std::ranges::any_of(view.policy->ports, [&](const PortPolicy& entry) { return may_match(entry, port); }))
    return nullptr;
  for (const Port& other : view.now.ports)
    if (other.is_member() && other.bond == port.bond)
      if (const PortPolicy* entry = policy_for(*view.policy, other); entry != nullptr && keys_of(entry->want).any())
        return entry;
  return nullptr;
}

void ask_managed(const View& view, Findings& findings) {
  if (view.policy == nullptr) return;
  size_t managed = 0;
  for (const Port& port : view.now.ports) {
    const std::string why = why_unmanaged(*view.policy, port);
    if (why.empty()) {
      ++managed;
      continue;
    }
    if (const PortPolicy* entry = entry_of_other_member(view, port); entry != nullptr)
      findings.push_back(bad(Status::warning, port.id(), "unmanaged: " + why,
                             "the entry \"" + entry->name + "\", as another member of " + port.bond,
                             "The packets of a bond leave by any of its members, and nothing sets up this one.",
                             {"Let the entry match all members, by driver, pci_id or the names of all",
                              {Work::service, ", then systemctl reload fabric-agent"}}));
    else findings.push_back(good(port.id(), "unmanaged: " + why, "matches the policy"));
  }
  const std::string observed = std::to_string(managed) + " of " + counted(view.now.ports.size(), "port") + " managed";
  if (const PortPolicy* entry = managed == 0 ? entry_without_role(view) : nullptr; entry != nullptr)
    return findings.push_back(bad(
        Status::warning, kHostSubject, observed, "the ports of the GPUs match \"" + entry->name + "\"",
        "The entry \"" + entry->name +
            "\" is for the role compute, and no port of this machine has it: no GPU shares a host bridge with a NIC, "
            "as on NVIDIA Grace and in some virtual machines. Nothing is enforced.",
        {"In the match of this entry, write pci_id, rdma or numa in place of role",
         {Work::service, ", then systemctl reload fabric-agent"}}));
  findings.push_back(good(kHostSubject, observed, "matches the policy"));
}

constexpr Rule kManaged{
    .id = "managed",
    .group = group::agent,
    .title = "Ports that the policy should match, and does not",
    .meaning =
        "Settings of a virtual function, a subfunction or a representor belong to the physical function; InfiniBand "
        "ports have none of these settings; a netdev in another network namespace belongs to its owner. A port that no "
        "[[port]] entry matches is unmanaged. These are listed only. A finding is a machine without any managed port, "
        "whose RoCE ports match an entry in everything but the role compute: no GPU shares a host bridge with a NIC "
        "there, so that no port has this role. So is a member of a bond without an entry, if another one has one.",
    .inspect = "fabric-agentctl status; fabric-agentctl config show",
    .fix =
        "Match by pci_id, rdma or numa in place of role, and all members of a bond, then systemctl reload fabric-agent",
    .ask = ask_managed,
};

// Reported only if the configuration suppresses rules: other machines have no such check.
std::optional<Finding> ask_suppressions(const View& view) {
  const RulePolicy& policy = rule_policy(view);
  std::string ended, in_force, tables;
  for (const auto& [id, rule] : policy.by_id) {
    if (rule.enabled.value_or(true)) continue;
    const bool is_over = policy.has_ended(id, view.wall);
    append_item(is_over ? ended : in_force, id + " " + suppression_text(policy, id), "; ");
    if (is_over) append_item(tables, "[rules." + id + "]");
  }
  if (ended.empty() && in_force.empty()) return std::nullopt;
  const std::string expected = "no suppression that has ended";
  if (ended.empty()) return good(kHostSubject, "suppressed: " + in_force, expected);
  return bad(Status::warning, kHostSubject, "ended: " + ended, expected,
             "The findings of these rules count again. The configuration still suppresses them.",
             {"In " + tables + ": remove enabled = false, or set a later until; ",
              {Work::service, "then systemctl reload fabric-agent"}});
}

}  // namespace

constexpr Rule kSuppressions{
    .id = "suppressions",
    .group = group::agent,
    .title = "A suppression has ended",
    .meaning =
        "[rules.ID] enabled = false suppresses the findings of a rule until its date. After that date they count "
        "again. Without suppressions there is no such check.",
    .inspect = "fabric-agentctl config show",
    .fix = "Remove enabled = false from [rules.ID], or set a later until; then systemctl reload fabric-agent",
    .ask_host = ask_suppressions,
};

constexpr Rule kTable[]{kAgent, kManaged, kSuppressions};
const std::span<const Rule> kAgentRules = kTable;

}  // namespace fabric
