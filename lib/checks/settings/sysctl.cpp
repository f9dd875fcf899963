// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"

namespace fabric {
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

std::optional<Finding> ask_host(const View& view) {
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

extern const Check kSysctlCheck{
    .id = "sysctl",
    .group = group::settings,
    .title = "A host setting differs from [sysctl] of the configuration",
    .meaning = "A setting below /proc/sys that the configuration wants has another value, or could not be set.",
    .inspect = "fabric-agentctl plan --port host",
    .fix = "fabric-agentctl plan --port host; fabric-agentctl apply --port host",
    .ask_host = ask_host,
};

}  // namespace fabric
