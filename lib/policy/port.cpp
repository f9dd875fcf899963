// SPDX-License-Identifier: Apache-2.0
// Reads one [[port]] entry or profile.
#include "policy/reader.h"
#include "setting/setting_table.h"

namespace fabric::config {
namespace {

// What a value looks like, by its kind, in the order of Setting::Member; of numbers, empty.
constexpr std::array<std::string_view, std::variant_size_v<Setting::Member>> kExamples{
    "\"host\"",
    "false",
    "\"off\"",
    "",
    "\"rs\"",
    "\"dscp\"",
    "[\"dscp\", \"pcp\"]",
    "{ 26 = 3, 48 = 6 }",
    "{ prio_tc = [0,0,0,1,0,0,2,0], tsa = [\"ets\",\"ets\",\"strict\"], bw = [50,50,0] }",
    "[0,0,0,1,0,0,0,0]",
    "\"auto\"",
    "[3]",
    "[0,0,0,100000000,0,0,0,0]",
    "\"v2\"",
    "",
    "\"all\""};

std::string example(const Setting& setting) {
  const std::string_view of_kind = kExamples[setting.member.index()];
  const uint32_t number = setting.example != 0 ? setting.example : setting.min;
  return std::string(setting.key) + " = " + (of_kind.empty() ? std::to_string(number) : std::string(of_kind));
}

void read_one_setting(Reader& reader, size_t row, const toml::node& node, Entry& entry) {
  const Setting& setting = kSettings[row];
  Qos value;
  auto problem = check_range(setting, node);
  if (!problem) problem = read_setting(setting, node, value);
  if (!problem) problem = check_value(setting, node, value);
  if (!reader.good(problem, setting.key, example(setting))) return;
  copy_value(setting, value, entry.port.want);
  entry.port.origin[row] = reader.line(node);
  entry.places[row] = reader.place(node);
}

bool read_setting_key(Reader& reader, std::string_view name, const toml::node& node, Entry& entry) {
  if (name == "traffic" || name == "cnp") {
    read_mark(reader, name, node, name == "cnp" ? entry.cnp : entry.traffic);
    return true;
  }
  const auto setting = parse_setting(name);
  if (setting) read_one_setting(reader, index(*setting), node, entry);
  return setting.has_value();
}

std::vector<std::string_view> with_settings(std::span<const std::string_view> keys) {
  std::vector<std::string_view> known(keys.begin(), keys.end());
  for (const Setting& setting : kSettings) known.push_back(setting.key);
  return known;
}

void read_port_key(Reader& reader, std::string_view name, const toml::source_position& at, const toml::node& node,
                   Entry& entry) {
  if (name == "match") return read_match(reader, node, entry.port.match);
  if (name == "name") {
    reader.good(read_name(node, entry.port.name), name, "name = \"rail\", or leave it out");
    return;
  }
  entry.leaves_alone = false;
  if (name == "profile") {
    entry.profile_at = reader.place(node);
    entry.port.profile_origin = reader.line(node);
    reader.good(read_name(node, entry.port.profile), name, "profile = \"nvidia-dcqcn\"");
  } else if (!read_setting_key(reader, name, node, entry)) {
    reader.unknown(at, "key", name, with_settings(kPortKeys));
  }
}

MaybeProblem read_mark_table(const toml::node& node, Mark& out) {
  const auto* table = node.as_table();
  if (table == nullptr || table->get("dscp") == nullptr || table->get("priority") == nullptr || table->size() != 2)
    return fault_at(node, "expected a table with dscp and priority, or \"none\"" +
                              (table == nullptr ? ", not " + describe(node) : std::string()));
  if (auto problem = read_integer(*table->get("dscp"), 0, 63, out.dscp)) return problem;
  return read_integer(*table->get("priority"), 0, kPriorities - 1, out.priority);
}

}  // namespace

void read_mark(Reader& reader, std::string_view key, const toml::node& node, MarkKey& out) {
  const std::string instead =
      std::string(key) + (key == "cnp" ? " = { dscp = 48, priority = 6 }" : " = { dscp = 26, priority = 3 }");
  MarkKey mark{true, std::nullopt, reader.place(node)};
  MaybeProblem problem;
  if (node.value<std::string_view>() != "none") problem = read_mark_table(node, mark.mark.emplace());
  if (reader.good(problem, key, instead)) out = mark;
}

Entry read_port(Reader& reader, const toml::table& table) {
  Entry entry;
  entry.at = reader.place(table);
  entry.port.where = reader.line(table);
  each_key(table, [&](std::string_view name, const toml::source_position& at, const toml::node& node) {
    read_port_key(reader, name, at, node, entry);
  });
  if (entry.leaves_alone && entry.port.name.empty())
    reader.warn(table.source().begin, "[[port]] has no setting: its ports stay unchanged");
  return entry;
}

Entry read_profile(Reader& reader, const toml::table& table) {
  Entry profile;
  each_key(table, [&](std::string_view name, const toml::source_position& at, const toml::node& node) {
    if (read_setting_key(reader, name, node, profile)) return;
    if (name == "match" || name == "name" || name == "profile" || name == "port")
      return reader.fail(at, std::string(name) + ": a profile has settings only; write " + std::string(name) +
                                 " in the [[port]] entry that names the profile");
    reader.unknown(at, "key", name, with_settings(kProfileKeys));
  });
  return profile;
}

}  // namespace fabric::config
