// SPDX-License-Identifier: Apache-2.0
#include "judge/engine.h"

#include "base/name_index.h"
#include "judge/cause.h"
#include "judge/inventory.h"
#include "judge/planes.h"
#include "judge/platform_view.h"
#include "judge/port_context.h"
#include "judge/port_state.h"
#include "judge/rails.h"
#include "judge/remedy.h"
#include "judge/topology.h"
#include "topology/built.h"

namespace fabric {
namespace {

constexpr double kRemembered = 12 * kHour;  // for a device that was removed; the window of link_flap

bool is_in_grace(const Health& health, const RulePolicy& policy, const std::string& subject, double now) {
  if (now < policy.boot_grace) return true;
  const HealthDevice* device = find_in(health.devices, subject);
  if (device == nullptr) return false;
  const double age = now - device->since;
  return age >= 0 && age < policy.reload_grace;  // negative: a file of an earlier boot
}

MeasuredList readings_of(const View& view, const RuleWindow& rule) {
  MeasuredList out;
  rule.read(view, rule, out);
  return out;
}

// "12 h", "10 min", "40 s"
std::string length_text(double seconds) {
  if (seconds >= kHour) return number_text(seconds / kHour) + " h";
  if (seconds >= 2 * kMinute) return number_text(seconds / kMinute) + " min";
  return number_text(seconds) + " s";
}

// The result of the windows of a rule for one subject.
struct WindowResult {
  Status status = Status::ok;
  const RuleWindow* rule = nullptr;
  std::string observed, since;
};

WindowResult answer_of_state(const View& view, const RuleWindow& rule, const HealthState& state,
                             const std::string& evidence) {
  WindowResult out{state.status(), &rule, state.evidence.empty() ? evidence : state.evidence, {}};
  if (out.status != Status::ok) {
    out.since = time_text(wall_of(*view.health, state.since()));
    if (rule.measure == Measure::count)
      out.observed = number_text(state.value) + " in " + length_text(limits_of(rule_policy(view), rule).window) +
                     "; latest: " + out.observed;
  }
  if (state.phase() == HealthPhase::clearing) out.observed += "; quiet now, not yet cleared";
  if (state.phase() == HealthPhase::pending) out.observed += "; not yet confirmed";
  return out;
}

WindowResult answer_of_reading(const View& view, const RuleWindow& rule, const Measured& reading) {
  const WindowLimits& limits = limits_of(rule_policy(view), rule);
  const HealthState* state = view.health == nullptr ? nullptr : view.health->find(rule.key, reading.subject);
  WindowResult out{Status::ok, &rule, reading.evidence, {}};
  if (state != nullptr) out = answer_of_state(view, rule, *state, reading.evidence);
  if (view.health != nullptr && view.health->states_only) return out;
  const Status newest = status_of_reading(rule, limits, reading);
  if (rank(newest) < rank(out.status)) out = {newest, &rule, reading.evidence, out.since};
  return out;
}

using WindowResults = std::map<std::string, WindowResult, NaturalLess>;

// Keeps the worst answer per subject; the evidence of all if all are ok.
void add_answer(WindowResults& answers, const std::string& subject, WindowResult answer) {
  const auto [known, is_new] = answers.try_emplace(subject, answer);
  if (is_new) return;
  WindowResult& have = known->second;
  if (rank(answer.status) < rank(have.status)) have = std::move(answer);
  else if (have.status == Status::ok && answer.status == Status::ok && have.observed != answer.observed)
    append_item(have.observed, answer.observed);
}

// The findings of a rule's windows, at most one per subject.
void ask_windows(const Rule& rule, const View& view, Findings& findings) {
  WindowResults answers;
  for (const RuleWindow& window : rule_windows()) {
    if (window.rule != rule.id || limits_of(rule_policy(view), window).is_off()) continue;
    const MeasuredList readings = readings_of(view, window);
    for (const Measured& reading : readings)
      add_answer(answers, reading.subject, answer_of_reading(view, window, reading));
    const auto* states = view.health == nullptr ? nullptr : find_in(view.health->rules, window.key);
    if (states == nullptr) continue;
    for (const auto& [subject, state] : *states)  // subjects without a reading keep their state
      if (state.status() != Status::ok && !contains(readings, subject, &Measured::subject))
        add_answer(answers, subject, answer_of_state(view, window, state, {}));
  }

  for (const auto& each : answers) {
    const std::string& subject = each.first;
    const WindowResult& answer = each.second;
    const std::string expected(answer.rule->expected);
    if (answer.status == Status::ok) {
      findings.push_back(good(subject, answer.observed, expected));
    } else {
      const Port* port = find_port(view.now.ports, subject);
      const bool has_roce_wire = port == nullptr || (is_roce(*port) && !is_virtual(*port));
      const bool is_elsewhere = !has_roce_wire && !answer.rule->elsewhere.empty();
      Fix fix = fix_of(is_elsewhere ? answer.rule->elsewhere : answer.rule->remedy, port, subject);
      if (port != nullptr && is_virtual(*port) && !answer.rule->transport && !is_elsewhere) fix = fix_of_far_link();
      std::string traffic_class;
      if (port != nullptr) traffic_class = traffic_class_text(view, *port);
      for (Step& step : fix.steps) replace_all(step.text, "{traffic_class}", traffic_class);
      findings.push_back(
          bad(answer.status, subject, answer.observed, expected, std::string(answer.rule->meaning), std::move(fix)));
    }
    findings.back().since = answer.since;
  }
}

}  // namespace

void advance_health(Health& health, const View& view, double now, int64_t wall) {
  // A changed index means that the driver was loaded again; another address, that another card has the name.
  const bool is_first = health.now == 0;
  for (const Port& port : view.now.ports) {
    if (is_virtual(port)) continue;  // added and removed with their guests
    const auto [known, is_new] = health.devices.try_emplace(port.id());
    HealthDevice& device = known->second;
    if (!is_new && device.pci == port.pci && device.ifindex == port.ifindex) continue;
    if (!is_new && device.pci != port.pci)
      for (auto& [rule, subjects] : health.rules) subjects.erase(port.id());
    device.pci = port.pci;
    device.ifindex = port.ifindex;
    if (!is_first) device.since = now;
  }

  health.now = now;
  health.wall = wall;
  const RulePolicy& policy = rule_policy(view);
  for (const RuleWindow& rule : rule_windows()) {
    const WindowLimits limits = limits_of(policy, rule);
    Health::Subjects& subjects = health.rules[std::string(rule.key)];
    if (limits.is_off()) {
      subjects.clear();
      continue;
    }
    for (Measured& reading : readings_of(view, rule)) {
      if (rule.graced && is_in_grace(health, policy, reading.subject, now)) reading.amount = 0;
      advance(subjects[reading.subject], rule, limits, &reading, now);
    }
    for (auto& [subject, state] : subjects)
      if (state.seen != now) advance(state, rule, limits, nullptr, now);
    std::erase_if(subjects, [&](const auto& entry) { return is_forgotten(entry.second, limits, now); });
  }
  // A file of another version may name rules that no longer exist.
  std::erase_if(health.rules, [](const auto& entry) { return find_window(entry.first) == nullptr; });

  // Removed devices are marked, and forgotten after a while. A slow device is not in every reading, but in `ages`,
  // in which the members of a bond count as the bond.
  for (auto& [id, device] : health.devices) {
    const bool is_present = health.ages.contains(id.substr(0, id.find('@'))) || contains(view.now.ports, id, &Port::id);
    if (!device.is_gone() && !is_present) device = {.pci = device.pci, .since = now};
  }
  std::erase_if(health.devices,
                [&](const auto& entry) { return entry.second.is_gone() && now - entry.second.since > kRemembered; });

  // [exporter] exclude
  if (view.policy == nullptr || view.policy->exclude.empty()) return;
  const auto is_excluded = [&](const auto& entry) {
    const size_t slash = entry.first.find('/');  // subjects without it are not ports
    return slash != std::string::npos && matches_any(view.policy->exclude, entry.first.substr(0, slash));
  };
  std::erase_if(health.devices, is_excluded);
  for (auto& [rule, subjects] : health.rules) std::erase_if(subjects, is_excluded);
}

std::optional<std::map<std::string, Status>> window_statuses(const View& view, std::string_view key) {
  const RuleWindow* window = find_window(key);
  if (window == nullptr || limits_of(rule_policy(view), *window).is_off()) return std::nullopt;
  std::map<std::string, Status> out;
  for (const Measured& reading : readings_of(view, *window))
    out.try_emplace(reading.subject, answer_of_reading(view, *window, reading).status);
  return out;
}

void mark_acknowledged(Report& report, const std::vector<Ack>& acks, int64_t wall) {
  for (Finding& finding : report.findings) {
    const auto ack =
        std::ranges::find_if(acks, [&](const Ack& each) { return wall < each.until && covers(each, finding); });
    if (ack == acks.end()) continue;
    finding.acknowledged = true;
    finding.acknowledgement = "until " + time_text(ack->until);
    if (!ack->by.empty()) finding.acknowledgement = "by " + ack->by + " " + finding.acknowledgement;
    if (!ack->comment.empty()) finding.acknowledgement += ": " + ack->comment;
  }
}

namespace {

constexpr double kSlack = 1;           // readings are not exactly periodic: a wait may end this much early
constexpr double kForget = 15 * 60;    // a state without readings is dropped after this time
constexpr double kRareWindow = kHour;  // rules with such a window count rare events
constexpr double kPartsInWindow = 60;

// After the clock went back: no time of the trigger is after `now`.
void clamp_to_now(HealthTrigger& trigger, double now) {
  trigger.since = std::min(trigger.since, now);
  if (trigger.turning) trigger.turning = now;
}

double value_of(const RuleWindow& rule, const HealthPart& sum) {
  if (rule.measure == Measure::level) return sum.amount;
  if (sum.amount < rule.least) return 0;
  if (rule.measure == Measure::count) return sum.amount;
  if (sum.base <= 0) return 0;
  return sum.amount / sum.base;
}

// The limits of a reading: its own, or the window's.
struct Thresholds {
  std::optional<double> warning, critical;
};
Thresholds thresholds_of(const WindowLimits& limits, const Measured& reading) {
  Thresholds out{limits.warning, limits.critical};
  if (reading.warning) out.warning = reading.warning;
  if (reading.critical) out.critical = reading.critical;
  return out;
}

struct WindowValues {
  double window, newest;  // over the window; of the newest reading only
};

void advance_trigger(HealthTrigger& trigger, std::optional<double> limit, const RuleWindow& rule,
                     const WindowLimits& limits, const WindowValues& values, double now) {
  if (!limit) {
    trigger = {};
    return;
  }
  if (trigger.on) {
    if (values.window >= *limit * rule.quiet) {
      trigger.turning.reset();
      return;
    }
    if (!trigger.turning) trigger.turning = now;
    if (now - *trigger.turning + kSlack >= limits.clear) trigger = {};
    return;
  }
  if (values.window < *limit) {
    trigger.turning.reset();
    return;
  }
  // A fault in bursts is quiet in most readings: those neither begin a wait nor end one.
  if (values.newest < *limit) return;
  if (!trigger.turning) trigger.turning = now;
  if (now - *trigger.turning + kSlack >= limits.confirm) trigger = HealthTrigger{true, *trigger.turning, std::nullopt};
}

}  // namespace

void advance(HealthState& state, const RuleWindow& rule, const WindowLimits& limits, const Measured* reading,
             double now) {
  if (now < state.seen) {
    clamp_to_now(state.warning, now);
    clamp_to_now(state.critical, now);
    state.seen = now;
  }
  if (reading == nullptr) return;
  state.seen = now;
  const HealthPart own{now, reading->amount, reading->base};
  HealthPart sum = own;
  if (rule.measure != Measure::level) {
    // The window, stored in at most 60 parts; for counts, only parts with events.
    std::vector<HealthPart>& parts = state.parts;
    const double start = now - limits.window;
    std::erase_if(parts, [&](const HealthPart& part) { return part.from <= start || part.from > now; });
    if (rule.measure == Measure::ratio || reading->amount > 0) {
      if (parts.empty() || parts.back().from <= now - limits.window / kPartsInWindow) parts.push_back({now, 0, 0});
      parts.back().amount += reading->amount;
      parts.back().base += reading->base;
    }
    sum = {now, 0, 0};
    for (const HealthPart& part : parts) {
      sum.amount += part.amount;
      sum.base += part.base;
    }
  }
  state.value = value_of(rule, sum);

  const auto [warning, critical] = thresholds_of(limits, *reading);
  if ((warning && state.value >= *warning) || (critical && state.value >= *critical)) {
    // A quiet reading does not replace the evidence of the events that still fill the window.
    if (rule.measure == Measure::level || reading->amount > 0 || state.evidence.empty())
      state.evidence = reading->evidence;
  }
  const bool was_ok = state.status() == Status::ok;
  WindowValues values{state.value, state.value};
  if (rule.measure == Measure::ratio) values.newest = own.base > 0 ? own.amount / own.base : 0;
  advance_trigger(state.warning, warning, rule, limits, values, now);
  advance_trigger(state.critical, critical, rule, limits, values, now);

  // A finding begins when a limit raises it, or when one reading is a finding by itself: a single link down counts,
  // though the limit is several in 12 h. Rules that need a confirmation have no such readings.
  const bool struck =
      rule.measure != Measure::level && limits.confirm <= 0 && status_of_reading(rule, limits, *reading) != Status::ok;
  const bool raised = was_ok && state.status() != Status::ok;
  if ((struck && !state.struck) || (raised && !struck)) {
    ++state.onsets;
    if (!state.first_onset) state.first_onset = now;
  }
  state.struck = struck;
  if (state.phase() == HealthPhase::ok) state.evidence.clear();
}

bool is_forgotten(const HealthState& state, const WindowLimits& limits, double now) {
  return now - state.seen > std::max(kForget, limits.clear);
}

Status status_of_reading(const RuleWindow& rule, const WindowLimits& limits, const Measured& reading) {
  const double value = value_of(rule, {0, reading.amount, reading.base});
  auto [warning, critical] = thresholds_of(limits, reading);
  // In a window of seconds, a single event of a kind that is allowed a few times in 12 h is worth a warning.
  if (warning && rule.measure == Measure::count && limits.window >= kRareWindow)
    warning = std::min(*warning, rule.least);
  if (critical && value >= *critical) return Status::critical;
  if (warning && value >= *warning) return Status::warning;
  return Status::ok;
}

Status status_by_window(const View& view, std::string_view key, const Measured& reading) {
  const RuleWindow& window = *find_window(key);
  const WindowLimits limits = limits_of(rule_policy(view), window);
  if (limits.is_off() || is_suppressed(view, window.rule)) return Status::ok;
  return status_of_reading(window, limits, reading);
}

std::span<const RuleWindow> rule_windows() {
  static const std::vector<RuleWindow> all = [] {
    std::vector<RuleWindow> out;
    for (const Rule& rule : rules())
      for (const Measurement& each : rule.windows) {
        out.push_back({each.window, each, rule.id, false});
        if (each.slow) out.push_back({*each.slow, each, rule.id, true});
      }
    return out;
  }();
  return all;
}

const RuleWindow* find_window(std::string_view key) {
  static const NameIndex<RuleWindow> index(rule_windows(), &RuleWindow::key);
  return index.find(key);
}

WindowLimits limits_of(const RulePolicy& policy, const RuleWindow& window) {
  return limits_of(policy, window.rule, window);
}

double limit_of_window(const View& view, std::string_view key) {
  const RuleWindow& window = *find_window(key);
  const double never = std::numeric_limits<double>::infinity();
  if (is_suppressed(view, window.rule)) return never;
  const WindowLimits limits = limits_of(rule_policy(view), window);
  return std::min(limits.warning.value_or(never), limits.critical.value_or(never));
}

// The names of the port, NIC or GPU that is the subject: Finding::names.
static std::vector<std::string> names_of(const Node& node, const std::string& subject) {
  for (const Port& port : node.ports)
    if (subject == port.id() || subject == port.rdma || (!port.netdev.empty() && subject == port.netdev))
      return {port.netdev, port.pci, port.id(), port.rdma};
  for (const Nic& nic : node.topology.nics) {
    if (subject != nic.name && subject != nic.pci) continue;
    std::string netdev, rdma = nic.name;
    if (!nic.netdevs.empty()) netdev = nic.netdevs.front();
    if (!nic.rdma.empty()) rdma = nic.rdma.front();
    return {netdev, nic.pci, "", rdma};
  }
  for (const Gpu& gpu : node.topology.gpus)
    if (subject == gpu.name || subject == gpu.pci) return {"", gpu.pci, "", gpu.name};
  if (function_of(node, subject) != nullptr) return {"", subject, "", ""};  // a switch or root port
  return {};
}

// Adds the cause of a rule that is also a check to the finding of the check: both are one finding.
static void add_cause(Finding& check, Finding cause) {
  if (check.meaning.empty()) check.meaning = std::move(cause.meaning);
  check.culprit = cause.culprit;
  check.certainty = cause.certainty;
  check.evidence = std::move(cause.evidence);
  check.next = std::move(cause.next);
  if (check.status != Status::ok) check.fix = std::move(cause.fix);
}

// Whether audit mode leaves the port's setting at a value that differs from the policy.
static bool is_left_by_audit(const View& view, const std::string& port, SettingId setting) {
  const Changes* changes = planned_changes(view, port);
  if (changes == nullptr || !is_audit(view)) return false;
  return std::ranges::any_of(*changes, [&](const Change& planned) {
    return planned.setting == setting && !is_done(with_agent_outcome(view.now, planned).outcome);
  });
}

// Whether the difference of the setting from the policy may be the reason of a finding about RoCE: a DSCP map that has
// the same priority for the DSCP of RoCE is not.
static bool concerns_roce(const View& view, const std::string& subject, SettingId setting) {
  const Port* port = find_port(view.now.ports, subject);
  if (setting != SettingId::dscp_map || port == nullptr || !port->qos.dscp_map) return true;
  const PortPolicy* entry = policy_of(view, *port);
  const auto traffic_class = entry == nullptr ? std::nullopt : roce_traffic_class(*entry);
  if (!traffic_class || !entry->want.dscp_map) return true;
  const auto dscp = static_cast<uint8_t>(*traffic_class >> 2U);
  const auto priority = [&](const DscpMap& map) {
    const uint8_t* found = find_in(map, dscp);
    return found == nullptr ? uint8_t{0} : *found;  // a DSCP without an entry has priority 0
  };
  return priority(*port->qos.dscp_map) != priority(*entry->want.dscp_map);
}

Report run_rules(const View& given, std::span<const std::string> only) {
  Report report;
  Findings& findings = report.findings;
  View view = given;
  view.built = built_of(view);
  view.gpu_devices = gpu_devices(view);
  view.rails = rails(view);
  const RulePolicy& policy = rule_policy(view);
  const auto is_wanted = [&](const Rule& rule) {
    return only.empty() || contains(only, rule.id) || contains(only, rule.group);
  };
  for (const Rule& rule : rules()) {
    if (rule.is_cause() || !is_wanted(rule)) continue;
    const size_t first = findings.size();
    if (rule.ask != nullptr) {
      rule.ask(view, findings);
    } else if (rule.ask_host != nullptr) {
      if (auto finding = rule.ask_host(view)) findings.push_back(std::move(*finding));
    } else if (rule.ask_port != nullptr) {
      for (const Port& port : view.now.ports)
        if (auto finding = rule.ask_port(view, port)) findings.push_back(std::move(*finding));
    } else {
      ask_windows(rule, view, findings);
    }
    for (size_t i = first; i < findings.size(); ++i) findings[i].id = rule.id;
  }
  // Causes ask some of the rules above: they must not ask for causes again.
  if (std::ranges::any_of(cause_rules(), [&](const Rule* rule) { return is_wanted(*rule); }))
    for (Finding& cause : diagnose(view)) {
      if (!is_wanted(*find_rule(cause.id))) continue;
      const auto same = std::ranges::find_if(
          findings, [&](const Finding& each) { return each.id == cause.id && each.subject == cause.subject; });
      if (same == findings.end()) findings.push_back(std::move(cause));
      else add_cause(*same, std::move(cause));
    }
  for (Finding& each : findings) {
    const auto is_left = [&](SettingId setting) {
      return is_left_by_audit(view, each.subject, setting) && concerns_roce(view, each.subject, setting);
    };
    if (is_fault(each.status) && std::ranges::any_of(find_rule(each.id)->settings, is_left))
      each = audited(std::move(each));
  }
  mark_maintenance(view, report);
  const Findings accepted = accepted_findings(view);
  for (Finding& each : findings)
    if (is_among(accepted, each)) {
      Finding intended = good(each.subject, each.observed + " (accepted)", each.expected);
      intended.id = each.id;
      each = std::move(intended);
    }
  for (Finding& each : findings)
    if (is_fault(each.status)) each.status = policy.of(each.id).severity.value_or(each.status);
  for (Finding& each : findings) {
    if ((each.status != Status::ok || each.unjudged) && is_suppressed(view, each.id)) {
      each.suppressed = true;
      each.suppression = suppression_text(policy, each.id);
    }
    adapt_remedy(each, view);
    if (is_listed(each)) each.names = names_of(view.now, each.subject);
  }
  std::ranges::stable_sort(findings, {}, [](const Finding& each) { return rank(each.status); });
  return report;
}

}  // namespace fabric
