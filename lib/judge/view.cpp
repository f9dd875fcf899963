// SPDX-License-Identifier: Apache-2.0
#include "judge/view.h"

#include "base/clock.h"
#include "base/parse.h"

namespace fabric {

const RulePolicy& rule_policy(const View& view) {
  static const RulePolicy defaults;
  if (view.policy == nullptr) return defaults;
  return view.policy->rules;
}

std::string first_error(const View& view) {
  const std::string text = view.no_policy->text();
  const auto more = std::ranges::count(text, '\n');
  std::string out = text.substr(0, text.find('\n'));
  if (more > 0) out += " (and " + counted(static_cast<size_t>(more), "more error") + ")";
  return out;
}

bool is_suppressed(const View& view, std::string_view rule) { return rule_policy(view).is_suppressed(rule, view.wall); }

double limit_of(const View& view, const Limit& limit) { return limit_of(rule_policy(view), limit); }

Fabric fabric_of(const View& view, const Port& port) {
  if (view.policy == nullptr) return {};
  const PortPolicy* entry = policy_for(*view.policy, port);
  Fabric out = entry == nullptr ? view.policy->fabric : entry->fabric;
  if (port.link_layer == LinkLayer::infiniband) out.kind = FabricKind::lossless;
  return out;
}

const PortPolicy* policy_of(const View& view, const Port& port) {
  if (view.policy == nullptr) return nullptr;
  return policy_for(*view.policy, port);
}

PrioSet roce_priorities(const View& view, const Port& port) {
  if (port.qos.pfc && port.qos.pfc->bits != 0) return *port.qos.pfc;
  const PortPolicy* entry = policy_of(view, port);
  return entry == nullptr ? PrioSet{} : roce_priorities(*entry);
}

const Changes* planned_changes(const View& view, const std::string& subject) {
  if (view.plan == nullptr) return nullptr;
  return find_in(*view.plan, subject);
}

const Port* port_before(const View& view, const Port& port) {
  if (view.before == nullptr) return nullptr;
  return find_same_port(view.before->ports, port);
}

double window_of(const View& view) {
  if (view.before == nullptr) return 0;
  return in_seconds(view.now.taken - view.before->taken);
}

const Signals* signals_of_port(const View& view, const Port& port) {
  if (view.signals == nullptr) return nullptr;
  return find_in(*view.signals, port.id());
}

}  // namespace fabric
