// SPDX-License-Identifier: Apache-2.0
#include "store/optics_state.h"

#include <algorithm>
#include <cmath>

#include "base/parse.h"
#include "kernel/pci/child.h"
#include "store/files.h"
#include "store/toml_value.h"

namespace fabric::state {
namespace {

constexpr double kMaxTime = 1e12;

// Members by the name that they have in the file.
template <class Object, class Member>
struct Row {
  std::string_view key;
  Member Object::*member;
};

constexpr std::array<Row<Transceiver, std::string>, 11> kTexts{{{"form_factor", &Transceiver::form_factor},
                                                                {"standard", &Transceiver::standard},
                                                                {"vendor", &Transceiver::vendor},
                                                                {"oui", &Transceiver::oui},
                                                                {"part_number", &Transceiver::part_number},
                                                                {"revision", &Transceiver::revision},
                                                                {"serial_number", &Transceiver::serial_number},
                                                                {"date", &Transceiver::date},
                                                                {"connector", &Transceiver::connector},
                                                                {"technology", &Transceiver::technology},
                                                                {"fault_cause", &Transceiver::fault_cause}}};
constexpr std::array<Row<Transceiver, ModuleReading>, 2> kReadings{
    {{"temperature", &Transceiver::temperature}, {"voltage", &Transceiver::voltage}}};
constexpr std::array<Row<Transceiver, ModuleLimits>, 5> kLimits{
    {{"temperature_limits", &Transceiver::temperature_limits},
     {"voltage_limits", &Transceiver::voltage_limits},
     {"rx_power_limits", &Transceiver::rx_power_limits},
     {"tx_power_limits", &Transceiver::tx_power_limits},
     {"tx_bias_limits", &Transceiver::tx_bias_limits}}};
constexpr std::array<Row<ModuleLane, ModuleReading>, 3> kLaneReadings{
    {{"rx_power", &ModuleLane::rx_power}, {"tx_power", &ModuleLane::tx_power}, {"tx_bias", &ModuleLane::tx_bias}}};
constexpr std::array<Row<ModuleLane, std::optional<bool>>, 5> kLaneFlags{{{"rx_los", &ModuleLane::rx_los},
                                                                          {"rx_lol", &ModuleLane::rx_lol},
                                                                          {"tx_los", &ModuleLane::tx_los},
                                                                          {"tx_lol", &ModuleLane::tx_lol},
                                                                          {"tx_fault", &ModuleLane::tx_fault}}};
constexpr std::array<Row<ModuleLimits, std::optional<double>>, 4> kBounds{
    {{"high_alarm", &ModuleLimits::high_alarm},
     {"low_alarm", &ModuleLimits::low_alarm},
     {"high_warning", &ModuleLimits::high_warning},
     {"low_warning", &ModuleLimits::low_warning}}};
constexpr std::array<Row<ModuleFlags, bool>, 4> kFlags{{{"high_alarm", &ModuleFlags::high_alarm},
                                                        {"low_alarm", &ModuleFlags::low_alarm},
                                                        {"high_warning", &ModuleFlags::high_warning},
                                                        {"low_warning", &ModuleFlags::low_warning}}};
constexpr std::array kMedia{Medium::optical, Medium::passive_copper, Medium::active_copper};

// The shortest text that reads back as the same number.
std::string number_toml(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

void add(std::string& members, std::string_view key, const std::string& value) {
  members.append(members.empty() ? "" : ", ").append(key).append(" = ").append(value);
}

std::string reading_toml(std::string_view key, const ModuleReading& reading) {
  std::string members, flags;
  if (reading.value && std::isfinite(*reading.value)) add(members, "value", number_toml(*reading.value));
  if (reading.flags) {
    for (const auto& row : kFlags)
      if ((*reading.flags).*row.member) flags += (flags.empty() ? "" : ", ") + toml_string(row.key);
    add(members, "flags", "[" + flags + "]");
  }
  return members.empty() ? std::string() : std::string(key) + " = { " + members + " }\n";
}

std::string limits_toml(std::string_view key, const ModuleLimits& limits) {
  std::string members;
  for (const auto& row : kBounds)
    if (const auto& bound = limits.*row.member; bound && std::isfinite(*bound))
      add(members, row.key, number_toml(*bound));
  return members.empty() ? std::string() : std::string(key) + " = { " + members + " }\n";
}

std::string lane_toml(const std::string& table, const ModuleLane& lane) {
  std::string out = "\n[[" + table + ".lane]]\nnumber = " + std::to_string(lane.number) + "\n";
  for (const auto& row : kLaneReadings) out += reading_toml(row.key, lane.*row.member);
  for (const auto& row : kLaneFlags)
    if (const auto& flag = lane.*row.member) out += std::string(row.key) + (*flag ? " = true\n" : " = false\n");
  return out;
}

std::string module_toml(const std::string& netdev, const Transceiver& module) {
  const std::string table = "module." + toml_string(netdev);
  std::string out = "\n[" + table + "]\nidentifier = " + std::to_string(module.identifier) + "\n";
  for (const auto& row : kTexts)
    if (!(module.*row.member).empty()) out += std::string(row.key) + " = " + toml_string(module.*row.member) + "\n";
  if (module.medium) out += "medium = " + toml_string(to_text(*module.medium)) + "\n";
  if (module.cable_length && std::isfinite(*module.cable_length))
    out += "cable_length = " + number_toml(*module.cable_length) + "\n";
  if (module.state) out += "state = " + std::to_string(static_cast<unsigned>(*module.state)) + "\n";
  for (const auto& row : kReadings) out += reading_toml(row.key, module.*row.member);
  for (const auto& row : kLimits) out += limits_toml(row.key, module.*row.member);
  std::string ranges;
  for (const std::string& range : module.bad_checksums) ranges += (ranges.empty() ? "" : ", ") + toml_string(range);
  if (!ranges.empty()) out += "bad_checksums = [" + ranges + "]\n";
  if (module.checksum_matched) out += "checksum_matched = true\n";
  for (const ModuleLane& lane : module.lanes) out += lane_toml(table, lane);
  return out;
}

std::optional<double> number_at(const toml::table& table, std::string_view key) {
  const auto* node = table.get(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* whole = node->as_integer()) return static_cast<double>(whole->get());
  if (const auto* number = node->as_floating_point(); number != nullptr && std::isfinite(number->get()))
    return number->get();
  return std::nullopt;
}

ModuleReading reading_at(const toml::table& table, std::string_view key) {
  ModuleReading out;
  const auto* members = table_at(table, key);
  if (members == nullptr) return out;
  out.value = number_at(*members, "value");
  if (members->get("flags") == nullptr) return out;
  ModuleFlags& flags = out.flags.emplace();
  each_of(*members, "flags", [&](const toml::node& node) {
    std::string name;
    if (read_text(node, name)) return;
    for (const auto& row : kFlags)
      if (row.key == name) flags.*row.member = true;
  });
  return out;
}

ModuleLane read_lane(const toml::table& table) {
  ModuleLane out;
  int64_t number = 0;
  if (const auto* node = table.get("number"); node != nullptr && !read_integer(*node, 0, UINT8_MAX, number))
    out.number = static_cast<unsigned>(number);
  for (const auto& row : kLaneReadings) out.*row.member = reading_at(table, row.key);
  for (const auto& row : kLaneFlags)
    if (const auto* node = table.get(row.key))
      if (const auto* flag = node->as_boolean()) out.*row.member = flag->get();
  return out;
}

void read_texts(const toml::table& table, Transceiver& out) {
  for (const auto& row : kTexts)
    if (const auto* node = table.get(row.key))
      if (std::string text; !read_text(*node, text)) out.*row.member = clean_text(text);
  if (std::string medium; const auto* node = table.get("medium"))
    if (!read_text(*node, medium))
      for (const Medium value : kMedia)
        if (to_text(value) == medium) out.medium = value;
  if (const auto* matched = table.get("checksum_matched"))
    if (const auto* flag = matched->as_boolean()) out.checksum_matched = flag->get();
  each_of(table, "bad_checksums", [&](const toml::node& node) {
    if (std::string text; !read_text(node, text)) out.bad_checksums.push_back(clean_text(text));
  });
}

Transceiver read_module(const toml::table& table) {
  Transceiver out;
  int64_t number = 0;
  if (const auto* node = table.get("identifier"); node != nullptr && !read_integer(*node, 0, UINT8_MAX, number))
    out.identifier = static_cast<uint8_t>(number);
  if (const auto* node = table.get("state"); node != nullptr && !read_integer(*node, 1, 5, number))
    out.state = static_cast<ModuleState>(number);
  read_texts(table, out);
  out.cable_length = number_at(table, "cable_length");
  for (const auto& row : kReadings) out.*row.member = reading_at(table, row.key);
  for (const auto& row : kLimits)
    if (const auto* members = table_at(table, row.key))
      for (const auto& bound : kBounds) (out.*row.member).*bound.member = number_at(*members, bound.key);
  each_of(table, "lane", [&](const toml::node& node) {
    if (const auto* members = node.as_table()) out.lanes.push_back(read_lane(*members));
  });
  return out;
}

}  // namespace

std::string optics_toml(const Optics& optics, double read) {
  std::string out =
      "# Written by fabric-agentd; see fabric-agentd(8). Seconds since boot, seconds; celsius, volts, watts, amperes, "
      "meters.\n";
  out += "read = " + number_toml(std::floor(read)) + "\ninterval = " + number_toml(optics.interval) + "\n";
  for (const auto& [netdev, module] : optics.modules) out += module_toml(netdev, module);
  return out;
}

Result<Optics> parse_optics(std::string_view text, const std::string& name, std::optional<double> now) {
  const auto read_table = parse_state(text, name);
  if (!read_table) return read_table.error();
  const toml::table& table = *read_table;
  const auto read = number_at(table, "read"), interval = number_at(table, "interval");
  const auto sane = [](const std::optional<double>& seconds) {
    return seconds && *seconds >= 0 && *seconds <= kMaxTime;
  };
  if (!sane(read) || !sane(interval)) return error(EBADMSG, name + ":1:1: no time in it");
  Optics out;
  out.interval = *interval;
  out.read = *read;
  out.age = std::max(0.0, now.value_or(*read) - *read);
  if (out.age > longest_age(out.interval))
    return error(ESTALE, name + ": written " + std::to_string(static_cast<int64_t>(out.age)) +
                             " s ago: fabric-agentd does not read modules any more");
  if (const auto* modules = table_at(table, "module"))
    for (auto&& [key, node] : *modules)
      if (const auto* members = node.as_table()) out.modules.emplace(clean_text(key), read_module(*members));
  return out;
}

Result<Transceiver> decode_apart(std::span<const eeprom::Page> pages) {
  constexpr ChildLimits kChild{std::chrono::seconds(5), size_t{256} << 10, true};
  const std::string name = "module memory";
  const auto text = run_in_child(
      [&]() -> Result<std::string> {
        auto module = eeprom::decode(pages);
        if (!module) return module.error();
        return optics_toml({{{name, std::move(*module)}}}, 0);
      },
      name, kChild);
  if (!text && (text.error().code == ECHILD || text.error().code == ETIMEDOUT || text.error().code == EFBIG))
    return error(EBADMSG, name + ": its decoder crashed or did not end");
  if (!text) return text.error();
  auto answer = parse_optics(*text, name, {});
  if (!answer || answer->modules.empty()) return error(EBADMSG, name + ": its decoder did not answer");
  return std::move(answer->modules.begin()->second);
}

std::optional<double> uptime(const Root& root) {
  const auto line = root.read_line("proc/uptime");
  if (!line) return std::nullopt;
  const auto fields = words(*line);
  return fields.empty() ? std::nullopt : parse_double(fields.front());
}

Result<std::optional<Optics>> load_optics(const Root& root) {
  auto text = root.read_foreign(kOpticsFile);
  if (!text && text.error().code == ENOENT) return std::optional<Optics>{};
  if (!text) return text.error();
  auto optics = parse_optics(*text, std::string("/") + kOpticsFile, uptime(root));
  if (!optics) return optics.error();
  return std::optional(std::move(*optics));
}

Result<void> save_optics(const std::string& directory, const Optics& optics, double read) {
  return replace_file(directory, kOpticsFile, optics_toml(optics, read));
}

}  // namespace fabric::state
