// SPDX-License-Identifier: Apache-2.0
#include "checks/checks.h"
#include "model/finding.h"

namespace fabric {
namespace {

constexpr std::string_view kStart =
    "Start it: systemctl enable --now fabric-agent, then journalctl -u fabric-agent if it does not stay up.";
constexpr std::string_view kUnwatched =
    "Nobody watches the settings: after a reboot, a driver reload or another tool's write they stay wrong.";

Finding judge(const View& view, const AgentState& agent) {
  const std::string mode = agent.mode.empty() ? "mode unknown" : agent.mode + " mode";
  if (!agent.running)
    return bad(Status::warning, "host", "not running, last change " + (agent.updated.empty() ? "-" : agent.updated),
               "running", std::string(kUnwatched), std::string(kStart));
  if (!agent.config_error.empty())
    return bad(Status::critical, "host",
               "running, " + mode + ", with its previous configuration: " + agent.config_error, "running",
               "The configuration was changed and cannot be used; the agent keeps the one before.",
               "Correct it (fabric-agentctl config check), then systemctl reload fabric-agent.");
  if (!agent.held.empty())
    return bad(
        Status::warning, "host", "running, " + mode + ", held: " + agent.held, "running, not held",
        "The agent watches and writes nothing, since an apply on trial has not been confirmed.",
        "Keep what was applied with fabric-agentctl confirm while there is time; after it lapsed, systemctl reload "
        "fabric-agent enforces the configuration as it is on disk.");
  if (view.policy != nullptr && !agent.mode.empty() && agent.mode != to_text(view.policy->mode))
    return bad(
        Status::warning, "host", "running, " + mode, "running, " + std::string(to_text(view.policy->mode)) + " mode",
        "The configuration was changed after the agent read it.", "Let it read again: systemctl reload fabric-agent.");
  return good("host", "running, " + mode, "running");
}

// A site that wants metrics alone has nothing for the agent to keep.
bool asks_for_nothing(const View& view) {
  return view.policy != nullptr && view.policy->ports.empty() && view.policy->sysctl.empty();
}

}  // namespace

void ask_agent(const View& view, Findings& findings) {
  const bool runs = view.now.agent && view.now.agent->running;
  if (!runs && view.now.agent_unread.empty() && asks_for_nothing(view)) {
    findings.push_back(
        good("host", "not running; the configuration asks for no setting", "running where it asks for some"));
  } else if (view.now.agent) {
    findings.push_back(judge(view, *view.now.agent));
  } else if (!view.now.agent_unread.empty()) {
    findings.push_back(bad(Status::unknown, "host", "-", "running",
                           "What the agent says of itself could not be read: " + view.now.agent_unread + ".",
                           "See systemctl status fabric-agent; restarting it writes its state anew."));
  } else if (view.policy != nullptr) {
    findings.push_back(
        bad(Status::warning, "host", "not running", "running", std::string(kUnwatched), std::string(kStart)));
  } else {
    findings.push_back(
        bad(Status::unknown, "host", "no state file and no configuration", "running",
            "Whether an agent should run here is not known: it is not configured, or this is a captured tree.",
            std::string(kStart)));
  }
}

void ask_kept(const View& view, Findings& findings) {
  if (view.policy == nullptr) return;
  size_t kept = 0;
  for (const Port& port : view.now.ports) {
    const std::string why = why_left_alone(*view.policy, port);
    if (why.empty()) ++kept;
    else findings.push_back(good(port.id(), "left alone: " + why, "as the policy says"));
  }
  findings.push_back(good("host",
                          std::to_string(kept) + " of " + std::to_string(view.now.ports.size()) + " ports are kept",
                          "as the policy says"));
}

}  // namespace fabric
