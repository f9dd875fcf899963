// SPDX-License-Identifier: Apache-2.0
#include "health/health.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/parse.h"
#include "model/finding.h"
#include "model/policy.h"

namespace fabric {
namespace {

constexpr std::string_view kGone = " gone";  // in place of the netdev
constexpr double kRemembered = 12 * kHour;   // a device that went; as link_flap counts

const HealthPolicy& policy_of(const View& view) {
  static const HealthPolicy defaults;
  return view.policy == nullptr ? defaults : view.policy->health;
}

bool is_off(const HealthLimits& limits) { return !limits.warning && !limits.critical; }

// A device that is another one than before has just been made: its driver was loaded anew.
void note_devices(Health& health, const View& view, double now) {
  const bool first = health.now == 0;  // nobody has looked before
  for (const Port& port : view.now.ports) {
    if (port.virtual_function) continue;  // guests' come and go
    const std::string identity = port.pci + " " + std::to_string(port.ifindex);
    const auto [known, is_new] = health.devices.try_emplace(port.id());
    if (!is_new && known->second.identity == identity) continue;
    if (!is_new && !known->second.identity.starts_with(port.pci + " "))  // another card has the name now
      for (auto& [rule, subjects] : health.rules) subjects.erase(port.id());
    known->second.identity = identity;
    if (!first) known->second.since = now;
  }
}

bool in_grace(const Health& health, const HealthPolicy& policy, const std::string& subject, double now) {
  if (now < policy.boot_grace) return true;
  const auto device = health.devices.find(subject);
  if (device == health.devices.end()) return false;
  const double age = now - device->second.since;
  return age >= 0 && age < policy.reload_grace;  // below 0: a file of another boot
}

// Read just now, or known to be there: a slow device is not read each time. A bond's members come and go with it.
bool is_there(const Health& health, const View& view, std::string_view id) {
  if (health.ages.contains(std::string(id.substr(0, id.find('@'))))) return true;
  return std::any_of(view.now.ports.begin(), view.now.ports.end(), [&](const Port& port) { return port.id() == id; });
}

// Who bears a name next that was gone has just been made, and may be another card. After a while the name is free
// again.
void note_gone(Health& health, const View& view, double now) {
  for (auto& [id, device] : health.devices)
    if (!place_of_gone(device) && !is_there(health, view, id))
      device = {device.identity.substr(0, device.identity.find(' ')).append(kGone), now};
  std::erase_if(health.devices, [&](const auto& entry) {
    return place_of_gone(entry.second) && now - entry.second.since > kRemembered;
  });
}

// [exporter] exclude: nobody wants to hear of them.
void forget_excluded(Health& health, const View& view) {
  if (view.policy == nullptr || view.policy->exclude.empty()) return;
  const auto is_excluded = [&](const auto& entry) {
    const size_t slash = entry.first.find('/');  // others are no ports
    return slash != std::string::npos && std::ranges::any_of(view.policy->exclude, [&](const std::string& glob) {
             return glob_match(glob, entry.first.substr(0, slash));
           });
  };
  std::erase_if(health.devices, is_excluded);
  for (auto& [rule, subjects] : health.rules) std::erase_if(subjects, is_excluded);
}

void advance_rule(Health& health, const View& view, const HealthRule& rule, const HealthLimits& limits, double now) {
  Health::Subjects& subjects = health.rules[std::string(rule.key)];
  if (is_off(limits)) subjects.clear();
  else
    for (HealthReading& reading : read_health(view, rule.key)) {
      if (rule.graced && in_grace(health, policy_of(view), reading.subject, now)) reading.amount = 0;
      advance(subjects[reading.subject], rule, limits, &reading, now);
    }
  for (auto& [subject, state] : subjects)
    if (state.seen != now) advance(state, rule, limits, nullptr, now);
  std::erase_if(subjects, [&](const auto& entry) { return is_forgotten(entry.second, limits, now); });
}

std::string wall_text(const Health& health, double moment) {
  return time_text(health.wall - static_cast<int64_t>(std::max(0.0, health.now - moment)));
}

// What one rule says of one subject.
struct Word {
  Status status = Status::ok;
  const HealthRule* rule = nullptr;
  std::string observed, since;
};

// "12 h", "10 min", "40 s"
std::string window_text(double seconds) {
  if (seconds >= kHour) return number_text(seconds / kHour) + " h";
  return seconds >= 2 * kMinute ? number_text(seconds / kMinute) + " min" : number_text(seconds) + " s";
}

Word word_of_state(const Health& health, const HealthRule& rule, const HealthLimits& limits, const HealthState& state,
                   const std::string& evidence) {
  Word out{state.status(), &rule, state.evidence.empty() ? evidence : state.evidence, {}};
  if (rule.measure == HealthMeasure::count && out.status != Status::ok)
    out.observed = number_text(state.value) + " within " + window_text(limits.window) + ", the last: " + out.observed;
  const HealthPhase phase = state.phase();
  if (out.status != Status::ok) out.since = wall_text(health, state.since());
  if (phase == HealthPhase::clearing) out.observed += "; quiet again, not yet for long enough";
  if (phase == HealthPhase::pending) out.observed += "; not yet for long enough to be believed";
  return out;
}

Word word_of(const View& view, const HealthRule& rule, const HealthLimits& limits, const HealthReading& reading) {
  const HealthState* state = view.health == nullptr ? nullptr : view.health->find(rule.key, reading.subject);
  Word out{Status::ok, &rule, reading.evidence, {}};
  if (state != nullptr) out = word_of_state(*view.health, rule, limits, *state, reading.evidence);
  if (view.health != nullptr && view.health->alone) return out;
  const Status once = judge_once(rule, limits, reading);
  if (rank(once) < rank(out.status)) out = {once, &rule, reading.evidence, out.since};
  return out;
}

using Words = std::map<std::string, Word>;

void add(Words& words, const std::string& subject, Word word) {
  const auto [known, is_new] = words.try_emplace(subject, word);
  if (is_new) return;
  Word& have = known->second;
  if (rank(word.status) < rank(have.status)) have = std::move(word);
  else if (have.status == Status::ok && word.status == Status::ok) have.observed += ", " + word.observed;
}

void hear_rule(const View& view, const HealthRule& rule, const HealthLimits& limits, Words& words) {
  std::vector<std::string> read;
  for (const HealthReading& reading : read_health(view, rule.key)) {
    read.push_back(reading.subject);
    add(words, reading.subject, word_of(view, rule, limits, reading));
  }
  if (view.health == nullptr) return;
  const auto subjects = view.health->rules.find(rule.key);
  if (subjects == view.health->rules.end()) return;
  for (const auto& [subject, state] : subjects->second)  // what was seen, and is not readable just now
    if (state.status() != Status::ok && std::find(read.begin(), read.end(), subject) == read.end())
      add(words, subject, word_of_state(*view.health, rule, limits, state, {}));
}

}  // namespace

std::optional<std::string> place_of_gone(const HealthDevice& device) {
  if (!device.identity.ends_with(kGone)) return std::nullopt;
  return device.identity.substr(0, device.identity.size() - kGone.size());
}

void advance_health(Health& health, const View& view, double now, int64_t wall) {
  note_devices(health, view, now);
  health.now = now;
  health.wall = wall;
  const HealthPolicy& policy = policy_of(view);
  for (size_t i = 0; i < kHealthRules.size(); ++i) advance_rule(health, view, kHealthRules[i], policy.limits[i], now);
  note_gone(health, view, now);
  forget_excluded(health, view);
}

void ask_health(std::string_view check, const View& view, std::vector<Finding>& findings) {
  Words words;
  const HealthPolicy& policy = policy_of(view);
  for (size_t i = 0; i < kHealthRules.size(); ++i)
    if (kHealthRules[i].check == check && !is_off(policy.limits[i]))
      hear_rule(view, kHealthRules[i], policy.limits[i], words);
  for (const auto& [subject, word] : words) {
    const HealthText& text = health_text(word.rule->key);
    if (word.status == Status::ok) findings.push_back(good(subject, word.observed, std::string(text.expected)));
    else
      findings.push_back(bad(word.status, subject, word.observed, std::string(text.expected), std::string(text.meaning),
                             std::string(text.remedy)));
    findings.back().since = word.since;
  }
}

std::optional<Status> health_status(const View& view, std::string_view rule, std::string_view subject) {
  for (size_t i = 0; i < kHealthRules.size(); ++i) {
    const HealthLimits& limits = policy_of(view).limits[i];
    if (kHealthRules[i].key != rule || is_off(limits)) continue;
    for (const HealthReading& reading : read_health(view, rule))
      if (reading.subject == subject) return word_of(view, kHealthRules[i], limits, reading).status;
  }
  return std::nullopt;
}

std::string time_text(int64_t wall) {
  using namespace std::chrono;
  const sys_seconds moment{seconds(wall)};
  const auto day = floor<days>(moment);
  const year_month_day date{day};
  const hh_mm_ss time{moment - day};
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  return text;
}

}  // namespace fabric
