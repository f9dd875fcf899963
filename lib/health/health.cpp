// SPDX-License-Identifier: Apache-2.0
#include "health/health.h"

#include "health/rule.h"
#include "nic/capabilities.h"

namespace fabric {
namespace {

constexpr std::string_view kGone = " gone";  // in place of the netdev's index
constexpr double kRemembered = 12 * kHour;   // for a device that was removed; the window of link_flap

bool is_off(const HealthLimits& limits) { return !limits.warning && !limits.critical; }

// A changed identity means that the driver was loaded again, or that another card has the name.
void track_devices(Health& health, const View& view, double now) {
  const bool is_first = health.now == 0;
  for (const Port& port : view.now.ports) {
    if (port.virtual_function) continue;  // added and removed with their guests
    const std::string identity = port.pci + " " + std::to_string(port.ifindex);
    const auto [known, is_new] = health.devices.try_emplace(port.id());
    if (!is_new && known->second.identity == identity) continue;
    if (!is_new && !known->second.identity.starts_with(port.pci + " "))  // another card
      for (auto& [rule, subjects] : health.rules) subjects.erase(port.id());
    known->second.identity = identity;
    if (!is_first) known->second.since = now;
  }
}

bool in_grace(const Health& health, const HealthPolicy& policy, const std::string& subject, double now) {
  if (now < policy.boot_grace) return true;
  const HealthDevice* device = find_in(health.devices, subject);
  const double age = device == nullptr ? -1 : now - device->since;
  return age >= 0 && age < policy.reload_grace;  // negative: a file of an earlier boot
}

// Marks removed devices, and forgets them after a while. A slow device is not in every reading, but in `ages`, where
// the members of a bond count as the bond.
void track_removed(Health& health, const View& view, double now) {
  for (auto& [id, device] : health.devices) {
    const bool is_present = health.ages.contains(id.substr(0, id.find('@'))) || contains(view.now.ports, id, &Port::id);
    if (!place_of_gone(device) && !is_present)
      device = {device.identity.substr(0, device.identity.find(' ')).append(kGone), now};
  }
  std::erase_if(health.devices, [&](const auto& entry) {
    return place_of_gone(entry.second) && now - entry.second.since > kRemembered;
  });
}

// [exporter] exclude
void drop_excluded(Health& health, const View& view) {
  if (view.policy == nullptr || view.policy->exclude.empty()) return;
  const auto is_excluded = [&](const auto& entry) {
    const size_t slash = entry.first.find('/');  // subjects without it are not ports
    return slash != std::string::npos && matches_any(view.policy->exclude, entry.first.substr(0, slash));
  };
  std::erase_if(health.devices, is_excluded);
  for (auto& [rule, subjects] : health.rules) std::erase_if(subjects, is_excluded);
}

HealthReadings readings_of(const View& view, const HealthRule& rule) {
  HealthReadings out;
  rule.read(view, rule, out);
  return out;
}

void advance_rule(Health& health, const View& view, const HealthRule& rule, double now) {
  const HealthPolicy& policy = health_policy(view);
  const HealthLimits& limits = limits_of(policy, rule);
  Health::Subjects& subjects = health.rules[std::string(rule.key)];
  if (is_off(limits)) subjects.clear();
  else
    for (HealthReading& reading : readings_of(view, rule)) {
      if (rule.graced && in_grace(health, policy, reading.subject, now)) reading.amount = 0;
      advance(subjects[reading.subject], rule, limits, &reading, now);
    }
  for (auto& [subject, state] : subjects)
    if (state.seen != now) advance(state, rule, limits, nullptr, now);
  std::erase_if(subjects, [&](const auto& entry) { return is_forgotten(entry.second, limits, now); });
}

// "12 h", "10 min", "40 s"
std::string window_text(double seconds) {
  if (seconds >= kHour) return number_text(seconds / kHour) + " h";
  return seconds >= 2 * kMinute ? number_text(seconds / kMinute) + " min" : number_text(seconds) + " s";
}

// What one rule reports about one subject.
struct Answer {
  Status status = Status::ok;
  const HealthRule* rule = nullptr;
  std::string observed, since;
};

Answer answer_of_state(const View& view, const HealthRule& rule, const HealthState& state,
                       const std::string& evidence) {
  Answer out{state.status(), &rule, state.evidence.empty() ? evidence : state.evidence, {}};
  if (out.status != Status::ok) {
    out.since = time_text(wall_of(*view.health, state.since()));
    if (rule.measure == HealthMeasure::count)
      out.observed = number_text(state.value) + " in " + window_text(limits_of(health_policy(view), rule).window) +
                     "; latest: " + out.observed;
  }
  if (state.phase() == HealthPhase::clearing) out.observed += "; quiet now, not yet cleared";
  if (state.phase() == HealthPhase::pending) out.observed += "; not yet confirmed";
  return out;
}

Answer answer_of_reading(const View& view, const HealthRule& rule, const HealthReading& reading) {
  const HealthLimits& limits = limits_of(health_policy(view), rule);
  const HealthState* state = view.health == nullptr ? nullptr : view.health->find(rule.key, reading.subject);
  Answer out{Status::ok, &rule, reading.evidence, {}};
  if (state != nullptr) out = answer_of_state(view, rule, *state, reading.evidence);
  if (view.health != nullptr && view.health->alone) return out;
  const Status newest = status_of_reading(rule, limits, reading);
  if (rank(newest) < rank(out.status)) out = {newest, &rule, reading.evidence, out.since};
  return out;
}

using Answers = std::map<std::string, Answer>;

// The worst answer per subject; the evidence of all if all are ok.
void add(Answers& answers, const std::string& subject, Answer answer) {
  const auto [known, is_new] = answers.try_emplace(subject, answer);
  if (is_new) return;
  Answer& have = known->second;
  if (rank(answer.status) < rank(have.status)) have = std::move(answer);
  else if (have.status == Status::ok && answer.status == Status::ok && have.observed != answer.observed)
    append_item(have.observed, answer.observed);
}

void ask_rule(const View& view, const HealthRule& rule, Answers& answers) {
  const HealthReadings readings = readings_of(view, rule);
  for (const HealthReading& reading : readings) add(answers, reading.subject, answer_of_reading(view, rule, reading));
  const auto* states = view.health == nullptr ? nullptr : find_in(view.health->rules, rule.key);
  if (states == nullptr) return;
  for (const auto& [subject, state] : *states)  // subjects without a reading keep their state
    if (state.status() != Status::ok && !contains(readings, subject, &HealthReading::subject))
      add(answers, subject, answer_of_state(view, rule, state, {}));
}

void replace(std::string& text, std::string_view mark, const std::string& by) {
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
}

// InfiniBand has no netdev: commands that need one, and what shows the same there.
constexpr std::pair<std::string_view, std::string_view> kInfinibandWords[] = {
    {"ethtool -m {netdev}", "mlxlink -d {device} -m"},
    {"ethtool -S {netdev}", "perfquery -x -C {device} -P {port}"},
    {"ethtool {netdev}", "ibportstate -C {device} -P {port} -D 0 {port} query"},
    {"ip link show dev {netdev}", "ibstat {device} {port}"},
    {"ip link set {netdev} up", "ibportstate -C {device} -P {port} -D 0 {port} enable"},
};

// Drivers without a reload of devlink: the function is taken from its driver and given back.
constexpr std::string_view kReload = "devlink dev reload pci/{pci}", kActivate = " action fw_activate";
constexpr std::string_view kRebind =
    "echo {pci} > /sys/bus/pci/drivers/{driver}/unbind && echo {pci} > /sys/bus/pci/drivers/{driver}/bind";

bool must_rebind(const Port& port) {
  return !port.pci.empty() && !port.kernel_driver.empty() && !capabilities_of(port.kernel_driver).devlink_reload;
}

}  // namespace

std::optional<std::string> place_of_gone(const HealthDevice& device) {
  if (!device.identity.ends_with(kGone)) return std::nullopt;
  return device.identity.substr(0, device.identity.size() - kGone.size());
}

void advance_health(Health& health, const View& view, double now, int64_t wall) {
  track_devices(health, view, now);
  health.now = now;
  health.wall = wall;
  for (const HealthRule& rule : health_rules()) advance_rule(health, view, rule, now);
  // A file of another version may name rules that no longer exist.
  std::erase_if(health.rules, [](const auto& entry) { return find_health_rule(entry.first) == nullptr; });
  track_removed(health, view, now);
  drop_excluded(health, view);
}

void ask_health(std::string_view check, const View& view, std::vector<Finding>& findings) {
  Answers answers;
  for (const HealthRule& rule : health_rules())
    if (rule.check == check && !is_off(limits_of(health_policy(view), rule))) ask_rule(view, rule, answers);
  for (const auto& [subject, answer] : answers) {
    const std::string expected(answer.rule->expected);
    if (answer.status == Status::ok) findings.push_back(good(subject, answer.observed, expected));
    else {
      const Port* found = find_where(view.now.ports, [&id = subject](const Port& each) { return each.id() == id; });
      const bool elsewhere = found != nullptr && !is_roce(*found) && !answer.rule->elsewhere.empty();
      findings.push_back(bad(answer.status, subject, answer.observed, expected, std::string(answer.rule->meaning),
                             fill_names(elsewhere ? answer.rule->elsewhere : answer.rule->remedy, found, subject)));
    }
    findings.back().since = answer.since;
  }
}

std::optional<Status> health_status(const View& view, std::string_view rule, std::string_view subject) {
  const HealthRule* found = find_health_rule(rule);
  if (found == nullptr || is_off(limits_of(health_policy(view), *found))) return std::nullopt;
  for (const HealthReading& reading : readings_of(view, *found))
    if (reading.subject == subject) return answer_of_reading(view, *found, reading).status;
  return std::nullopt;
}

void mark_acknowledged(Report& report, const std::vector<Ack>& acks, int64_t wall) {
  for (Finding& finding : report.findings) {
    const auto ack =
        std::ranges::find_if(acks, [&](const Ack& each) { return wall < each.until && covers(each, finding); });
    if (ack == acks.end()) continue;
    finding.acknowledged = true;
    finding.acknowledgement = (ack->by.empty() ? "" : "by " + ack->by + " ") + "until " + time_text(ack->until) +
                              (ack->comment.empty() ? "" : ": " + ack->comment);
  }
}

std::string fill_names(std::string_view text, const Port* port, const std::string& subject, const std::string& peer) {
  std::string out(text);
  if (port != nullptr && port->link_layer == LinkLayer::infiniband) {
    for (const auto& [ethernet, infiniband] : kInfinibandWords) replace(out, ethernet, std::string(infiniband));
    replace(out, "{device}", port->rdma);
    replace(out, "{port}", std::to_string(port->number));
  }
  if (port != nullptr && must_rebind(*port)) {
    replace(out, std::string(kReload).append(kActivate), std::string(kRebind));
    replace(out, kReload, std::string(kRebind));
    replace(out, "{driver}", port->kernel_driver);
  }
  replace(out, "{netdev}", port == nullptr ? subject : port->netdev.empty() ? port->rdma : port->netdev);
  replace(out, "{rdma}", port == nullptr ? subject : port->rdma + "/" + std::to_string(port->number));
  replace(out, "{pci}", port == nullptr ? subject : port->pci);
  replace(out, "{peer}", peer);
  return out;
}

}  // namespace fabric
