// SPDX-License-Identifier: Apache-2.0
// The input of the rules.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/ip.h"
#include "judge/health.h"
#include "node/signals.h"
#include "policy/policy.h"
#include "setting/change.h"

namespace fabric {

struct Built;

// `before` is an earlier snapshot of the same machine, or nullptr.
struct View {
  const Node& now;
  const Node* before = nullptr;
  const Policy* policy = nullptr;  // null: no configuration could be read
  // Port id -> result of qos::plan() for each setting of its policy. No entry: not compared.
  const Plan* plan = nullptr;
  // Port id -> activity between `before` and `now`, or over the window of the caller; nullptr: only one reading.
  const std::map<std::string, Signals>* signals = nullptr;
  // State of the window rules over time; nullptr: not observed.
  const Health* health = nullptr;
  // built_of() `now`, which run_rules() computes once for all rules; nullptr: not computed.
  std::shared_ptr<const Built> built{};
  // gpu_devices() and rails() of `now`, likewise.
  std::shared_ptr<const std::set<std::string>> gpu_devices{};
  std::shared_ptr<const std::vector<const Port*>> rails{};
  // Why `policy` is null ("/etc/...: No such file or directory"), or is the last valid one instead of the files'.
  std::optional<Error> no_policy{};
  // Ids of the ports that the user named: one that is DOWN is a finding, even if it is unused.
  std::set<std::string> named{};
  bool is_captured = false;  // `now` is of a captured tree: commands would act on another machine
  int64_t wall = 0;          // seconds since 1970; 0: unknown
  std::vector<Ip> peers{};   // the addresses of another host that the user named
};

// [rules] of the configuration, or the defaults.
const RulePolicy& rule_policy(const View& view);
// The first line of view.no_policy, which there is, and how many errors follow.
std::string first_error(const View& view);
// Whether the configuration suppresses the rule now ([rules.ID] enabled = false).
bool is_suppressed(const View& view, std::string_view rule);
// The configured value, or the row's.
double limit_of(const View& view, const Limit& limit);

// The fabric of the port by the policy. InfiniBand is lossless by its credits.
Fabric fabric_of(const View& view, const Port& port);
// The policy of the port. nullptr: no policy was read, or the port is unmanaged.
const PortPolicy* policy_of(const View& view, const Port& port);
// RoCE's priorities: those with PFC at the port; if it has none, by its policy.
PrioSet roce_priorities(const View& view, const Port& port);
// The plan of a port or of kHostSubject. nullptr: not compared.
const Changes* planned_changes(const View& view, const std::string& subject);

// The port in the earlier reading. Null: absent, or on another PCI function.
const Port* port_before(const View& view, const Port& port);
double window_of(const View& view);  // seconds between the two readings; 0 if there is one
const Signals* signals_of_port(const View& view, const Port& port);

}  // namespace fabric
