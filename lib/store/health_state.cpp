// SPDX-License-Identifier: Apache-2.0
#include "store/health_state.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "store/report_state.h"
#include "store/toml_value.h"

namespace fabric {
namespace {

constexpr double kFreshFor = 60;

std::string number_toml(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string trigger_toml(const HealthTrigger& trigger) {
  std::string out =
      std::string("{ on = ") + (trigger.on ? "true" : "false") + ", since = " + number_toml(trigger.since);
  if (trigger.turning) out += ", turning = " + number_toml(*trigger.turning);
  return out + " }";
}

bool is_plain(const HealthState& state) {
  return state.phase() == HealthPhase::ok && state.onsets == 0 && !state.struck &&
         std::ranges::all_of(state.parts, [](const HealthPart& part) { return part.amount == 0; });
}

std::string state_toml(const std::string& rule, const std::string& subject, const HealthState& state) {
  std::string out = "\n[[state]]\nrule = " + toml_string(rule) + "\nsubject = " + toml_string(subject) +
                    "\nseen = " + number_toml(state.seen) + "\nvalue = " + number_toml(state.value) +
                    "\nevidence = " + toml_string(state.evidence) + "\nonsets = " + std::to_string(state.onsets) +
                    (state.first_onset ? "\nfirst_onset = " + number_toml(*state.first_onset) : "") +
                    (state.struck ? "\nstruck = true" : "") + "\nwarning = " + trigger_toml(state.warning) +
                    "\ncritical = " + trigger_toml(state.critical) + "\nparts = [";
  for (const HealthPart& part : state.parts)
    out += std::string(&part == &state.parts.front() ? "" : ", ") + "[" + number_toml(part.from) + ", " +
           number_toml(part.amount) + ", " + number_toml(part.base) + "]";
  return out + "]\n";
}

std::optional<double> number_of(const toml::node* node) {
  if (node == nullptr) return std::nullopt;
  if (const auto* whole = node->as_integer()) return static_cast<double>(whole->get());
  const auto* real = node->as_floating_point();
  return real != nullptr && std::isfinite(real->get()) ? std::optional(real->get()) : std::nullopt;
}

int64_t wall_at(const toml::table& table, std::string_view key) {
  constexpr double kYear9999 = 253402300799;
  return static_cast<int64_t>(std::clamp(number_of(table.get(key)).value_or(0), 0.0, kYear9999));
}

// Nothing began after the subject was `seen` last: a time that is damaged must not hold a state.
HealthTrigger trigger_at(const toml::table& table, std::string_view key, double seen) {
  const auto* node = table.get(key);
  const auto* inner = node == nullptr ? nullptr : node->as_table();
  if (inner == nullptr) return {};
  HealthTrigger out{flag_at(*inner, "on"), std::min(number_of(inner->get("since")).value_or(0), seen),
                    number_of(inner->get("turning"))};
  if (out.turning) out.turning = std::min(*out.turning, seen);
  return out;
}

std::vector<HealthPart> parts_at(const toml::table& table) {
  std::vector<HealthPart> out;
  const auto* list = table.get("parts") == nullptr ? nullptr : table.get("parts")->as_array();
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* three = list->get(i)->as_array();
    if (three == nullptr || three->size() != 3) continue;
    out.push_back({number_of(three->get(0)).value_or(0), number_of(three->get(1)).value_or(0),
                   number_of(three->get(2)).value_or(0)});
  }
  return out;
}

template <class Each>
void each_entry(const toml::table& table, std::string_view key, Each&& each) {
  const auto* list = table.get(key) == nullptr ? nullptr : table.get(key)->as_array();
  for (size_t i = 0; list != nullptr && i < list->size(); ++i)
    if (const auto* entry = list->get(i)->as_table()) each(*entry);
}

void read_state(const toml::table& entry, Health& health) {
  const std::string rule = clean_text_at(entry, "rule"), subject = clean_text_at(entry, "subject");
  const auto seen = number_of(entry.get("seen"));
  if (rule.empty() || subject.empty() || !seen) return;
  HealthState& state = health.rules[rule][subject];
  state.warning = trigger_at(entry, "warning", *seen);
  state.critical = trigger_at(entry, "critical", *seen);
  state.seen = *seen;
  state.value = number_of(entry.get("value")).value_or(0);
  state.evidence = clean_text_at(entry, "evidence");
  state.parts = parts_at(entry);
  state.onsets = static_cast<uint64_t>(std::clamp(number_of(entry.get("onsets")).value_or(0), 0.0, 1e15));
  if (const auto first = number_of(entry.get("first_onset"))) state.first_onset = std::min(*first, *seen);
  state.struck = flag_at(entry, "struck");
}

}  // namespace

std::string health_toml(const HealthMemory& memory) {
  const Health& health = memory.health;
  std::string out =
      "# Written by fabric-exporter; see fabric-exporter(8). Times are seconds since boot, those of acknowledgements "
      "since 1970.\nupdated = " +
      number_toml(health.now) + "\nwall = " + std::to_string(health.wall) + "\n";
  for (const auto& [port, device] : health.devices) {
    out += "\n[[device]]\nport = " + toml_string(port) + "\nidentity = " + toml_string(device.identity) + "\n";
    if (std::isfinite(device.since)) out += "since = " + number_toml(device.since) + "\n";
  }
  for (const auto& [rule, subjects] : health.rules)
    for (const auto& [subject, state] : subjects)
      if (!is_plain(state)) out += state_toml(rule, subject, state);
  for (const AckSeen& ack : memory.acks)
    out += "\n[[acknowledged]]\nid = " + toml_string(ack.id) + "\nsubject = " + toml_string(ack.subject) +
           "\nat = " + std::to_string(ack.at) + "\nmet = " + std::to_string(ack.met) +
           "\nspent = " + (ack.spent ? "true" : "false") + "\n";
  return out;
}

Result<HealthMemory> parse_health(std::string_view text, const std::string& name) {
  const auto read_table = parse_state(text, name);
  if (!read_table) return read_table.error();
  const toml::table& table = *read_table;
  const auto updated = number_of(table.get("updated"));
  if (!updated) return error(EBADMSG, name + ":1:1: no time in it");
  HealthMemory out;
  out.health.now = *updated;
  out.health.wall = wall_at(table, "wall");
  each_entry(table, "device", [&](const toml::table& entry) {
    HealthDevice& device = out.health.devices[clean_text_at(entry, "port")];
    device.identity = clean_text_at(entry, "identity");
    if (const auto since = number_of(entry.get("since"))) device.since = *since;
  });
  each_entry(table, "state", [&](const toml::table& entry) { read_state(entry, out.health); });
  each_entry(table, "acknowledged", [&](const toml::table& entry) {
    out.acks.push_back({clean_text_at(entry, "id"), clean_text_at(entry, "subject"), wall_at(entry, "at"),
                        wall_at(entry, "met"), flag_at(entry, "spent")});
  });
  return out;
}

Result<std::optional<HealthMemory>> load_health(const Root& root) {
  auto text = root.read_foreign(kHealthFile);
  if (!text && text.error().code == ENOENT) return std::optional<HealthMemory>{};
  if (!text) return text.error();
  auto memory = parse_health(*text, std::string("/") + kHealthFile);
  if (!memory) return memory.error();
  if (auto age = age_of(root, kHealthFile, memory->health.now, kFreshFor); !age) return age.error();
  return std::optional(std::move(*memory));
}

}  // namespace fabric
