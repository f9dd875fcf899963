// SPDX-License-Identifier: Apache-2.0
#include "policy/keys.h"

#include <algorithm>

#include "base/ip.h"
#include "base/parse.h"
#include "policy/match.h"
#include "policy/port_entry.h"
#include "policy/rule_keys.h"
#include "setting/sysctl.h"

namespace fabric::config {
namespace {

using std::chrono::milliseconds;

// Restrictions of a value beyond its type.
struct ValueLimits {
  int64_t min = 0, max = 0;  // of a number, or of a time span in milliseconds
  std::string_view what{};   // "expected WHAT, not ..."; empty: the type's own text
  bool (*is_valid)(const std::string& text) = nullptr;
  bool or_zero = false;                               // 0 is valid although it is below min
  Values (*readings)(const Json& written) = nullptr;  // null: those of the type
  bool are_patterns = false;                          // Key::are_patterns
};

// read() for each type of value. After a problem, `out` is unspecified.
template <std::integral T>
MaybeProblem read(const toml::node& node, const ValueLimits& limits, T& out) {
  return read_integer(node, limits.min, limits.max, out);
}

MaybeProblem read(const toml::node& node, const ValueLimits&, bool& out) { return read_switch(node, out); }

template <HasWords Enum>
MaybeProblem read(const toml::node& node, const ValueLimits&, Enum& out) {
  return read_word(node, out);
}

template <class T>
MaybeProblem read(const toml::node& node, const ValueLimits& limits, std::optional<T>& out) {
  T value{};
  auto problem = read(node, limits, value);
  if (!problem) out = value;
  return problem;
}

MaybeProblem read(const toml::node& node, const ValueLimits& limits, milliseconds& out) {
  milliseconds least(limits.min);
  if (limits.or_zero) least = milliseconds(0);
  auto problem = read_span(node, least, milliseconds(limits.max), out);
  if (!problem && (out.count() == 0 || out.count() >= limits.min)) return std::nullopt;
  if (limits.what.empty()) return problem;
  return expected(node, limits.what);
}

MaybeProblem read(const toml::node& node, const ValueLimits& limits, std::string& out) {
  if (auto problem = read_text(node, out)) return problem;
  if (limits.is_valid != nullptr && !limits.is_valid(out)) return expected(node, limits.what);
  return std::nullopt;
}

TomlProblem not_in_list(const toml::node& node, std::string_view what, std::string_view text) {
  return fault_at(node, "expected " + std::string(what) + ", not " + toml_string(text));
}

MaybeProblem read(const toml::node& node, const ValueLimits& limits, std::vector<std::string>& out) {
  if (auto problem = read_texts(node, out)) return problem;
  for (const std::string& text : out)
    if (limits.is_valid != nullptr && !limits.is_valid(text)) return not_in_list(node, limits.what, text);
  return std::nullopt;
}

template <HasWords Enum>
MaybeProblem read(const toml::node& node, const ValueLimits& limits, std::vector<Enum>& out) {
  std::vector<std::string> names;
  if (auto problem = read_texts(node, names)) return problem;
  std::string what(limits.what);
  if (what.empty()) what = "one or more of " + joined(kEnumWords<Enum>, ", ", toml_string);
  out.clear();
  for (const std::string& name : names) {
    const auto value = parse_word<Enum>(name);
    if (!value) return not_in_list(node, what, name);
    out.push_back(*value);
  }
  return std::nullopt;
}

// { "Slot 3 P1" = "mlx5_0" }
using NameMap = std::map<std::string, std::string>;
MaybeProblem read(const toml::node& node, const ValueLimits& limits, NameMap& out) {
  const auto* table = node.as_table();
  if (table == nullptr) return expected(node, limits.what);
  out.clear();
  for (auto&& [key, value] : *table)
    if (auto problem = read_text(value, out[std::string(key.str())])) return problem;
  return std::nullopt;
}

MaybeProblem read(const toml::node& node, const ValueLimits& limits, std::vector<Window>& out) {
  return read_list(node, limits.what, out, [](const toml::node& element) {
    // parse_window("") is nullopt, too.
    return parse_window(element.value<std::string_view>().value_or(""));
  });
}

// readings(): the possible meanings of a rejected value.
template <std::integral T>
Values readings(const T*, const ValueLimits&, const Json& written) {
  return integers(written);
}
Values readings(const bool*, const ValueLimits&, const Json& written) { return switches(written); }
template <HasWords Enum>
Values readings(const Enum*, const ValueLimits&, const Json& written) {
  // known_words() takes those that the key has.
  constexpr OtherNames kOthers[] = {{"enforce", "enforcing"},      {"audit", "monitor|observe|dryrun|readonly|report"},
                                    {"warning", "warn"},           {"critical", "crit"},
                                    {"now", "immediately|always"}, {"leave", "keep"},
                                    {"restore", "revert|rollback"}};
  if constexpr (std::is_same_v<Enum, FabricKind>) return fabric_kinds(written);
  return known_words(written, kEnumWords<Enum>, kOthers);
}
template <class T>
Values readings(const std::optional<T>*, const ValueLimits& limits, const Json& written) {
  const T* kind = nullptr;
  return readings(kind, limits, written);
}
Values readings(const milliseconds*, const ValueLimits& limits, const Json& written) {
  return spans(written, limits.or_zero);
}
Values readings(const std::string*, const ValueLimits&, const Json& written) { return texts(written); }
// Only texts: a number may be a whole version or its beginning.
Values text_lists(const Json& written) {
  return lists(written, [](const Json& each) -> Values {
    if (!each.is_string()) return {};
    return texts(each);
  });
}
Values readings(const std::vector<std::string>*, const ValueLimits&, const Json& written) {
  return text_lists(written);
}
template <HasWords Enum>
Values readings(const std::vector<Enum>*, const ValueLimits&, const Json& written) {
  return lists(written, [&](const Json& each) { return known_words(each, kEnumWords<Enum>); });
}
Values readings(const NameMap*, const ValueLimits&, const Json& written) { return name_maps(written); }
Values readings(const std::vector<Window>*, const ValueLimits&, const Json& written) {
  // A blank is a part of a window.
  Json whole = Json::array();
  if (written.is_array())
    for (const Json& each : written)
      if (const Values one = windows(each); one.size() == 1) whole.push_back(one.front());
  if (!whole.empty() && whole.size() == written.size()) return {whole};
  if (Values one = windows(written); !one.empty()) return one;
  return lists(written, windows);
}

// The addresses of all elements, as one list: ":10479" has two.
Values listen_readings(const Json& written) {
  Json out = Json::array();
  Json elements = written;
  if (!written.is_array()) elements = Json::array({written});
  for (const Json& each : elements) {
    const Values one = listen_addresses(each);
    if (one.size() != 1) return {};
    if (one.front().is_array()) out.insert(out.end(), one.front().begin(), one.front().end());
    else out.push_back(one.front());
  }
  return {out};
}

Values path_readings(const Json& written) {
  constexpr std::string_view kScheme = "file://";
  if (!written.is_string() || !written.get_ref<const std::string&>().starts_with(kScheme)) return {};
  return {written.get_ref<const std::string&>().substr(kScheme.size())};
}

// show(): the value as TOML; empty if absent.
template <class T>
std::string show(const T& value) {
  return value_toml(value);
}
std::string show(bool value) { return value ? "true" : "false"; }
std::string show(milliseconds span) { return toml_string(span_text(span)); }
std::string show(const NameMap& names) {
  if (names.empty()) return "{}";
  return value_toml(names);
}
std::string show(const std::vector<Window>& windows) {
  return "[" + joined(windows, ", ", [](const Window& each) { return toml_string(window_text(each)); }) + "]";
}

// "0.0.0.0:10479", "[::]:10479". Numeric, because a name can have many addresses and needs a resolver at start.
bool is_listen_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  const auto port = parse_number<uint16_t>(std::string_view(text).substr(colon + 1));
  std::string host = text.substr(0, colon);
  const bool is_ipv6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_ipv6) host = host.substr(1, host.size() - 2);
  const auto ip = parse_ip(host);
  return port && *port != 0 && ip && ip->v6 == is_ipv6;
}

// A whole device is excluded, not a port: "mlx5_0/1" would exclude nothing.
bool is_device(const std::string& text) { return text.find('/') == std::string::npos && is_glob(text); }

bool is_absolute(const std::string& path) { return path.empty() || path.front() == '/'; }

// Reads a speed in the form of match.speed: 400000, "400G".
MaybeProblem read_speed(const toml::node& node, Policy& policy) {
  const auto keys = match_keys();
  const auto speed = std::ranges::find(keys, "speed", &MatchKey::name);
  const auto megabits = speed->normal(node);
  if (!megabits) return expected(node, speed->expected);
  policy.expect.speed = parse_number<uint32_t>(*megabits);
  return std::nullopt;
}

// "2%" or 2: percent of one core.
MaybeProblem read_cpu_budget(const toml::node& node, Policy& policy) {
  auto percent = node.value<double>();
  if (const auto text = node.value<std::string_view>(); text && text->ends_with('%'))
    percent = parse_double(text->substr(0, text->size() - 1));
  if (!percent || !(*percent >= 0.1 && *percent <= 100)) return expected(node, "a share of one core from 0.1% to 100%");
  policy.sample_cpu_budget = *percent / 100;
  return std::nullopt;
}

// The shortest text that reads back as the same value.
std::string cpu_budget_toml(const Policy& policy) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), policy.sample_cpu_budget * 100,
                                 std::chars_format::general, 6)
                       .ptr;
  return toml_string(std::string(text.data(), end) + "%");
}

// The member at the end of the path: &Policy::conflict, &ConflictRule::rounds.
// clang-format off
template <class PolicyOrConst, class... Path>
auto& member_at(PolicyOrConst& policy, Path... path) { return (policy .* ... .* path); }
// clang-format on

template <class... Path>
Key key(std::string_view section, std::string_view name, const char* example, ValueLimits limits, Path... path) {
  return {section,
          name,
          example,
          [=](const toml::node& node, Policy& policy) { return read(node, limits, member_at(policy, path...)); },
          [=](const Policy& policy) { return show(member_at(policy, path...)); },
          [=](const Json& written) {
            if (limits.readings != nullptr) return limits.readings(written);
            const std::decay_t<decltype(member_at(std::declval<Policy&>(), path...))>* kind = nullptr;
            return readings(kind, limits, written);
          },
          limits.are_patterns};
}

constexpr int64_t kSecondMs = 1'000, kMinuteMs = 60 * kSecondMs, kHourMs = 60 * kMinuteMs;

const std::array kKeys{
    key("", "mode", "\"audit\"", {}, &Policy::mode),
    key("", "disruptive", "\"idle\"", {}, &Policy::disruptive),
    key("", "reread", "\"30s\"", {kSecondMs, kHourMs}, &Policy::reread),
    key("", "maintenance", "[\"Sat 02:00-04:00\"]",
        {.what = "days and times as \"Sat 02:00-04:00\", \"Mon-Fri 23:00-01:00\" or \"daily 03:00-04:00\""},
        &Policy::maintenance),
    key("", "release", "\"leave\"", {}, &Policy::release),
    // Reading a module takes a few dozen milliseconds of I2C: hence the minimum of 10 s.
    key("", "optics", "\"60s\"", {10 * kSecondMs, kHourMs, "0 or a time span from 10s to 1h", nullptr, true},
        &Policy::optics),
    key("conflict", "rounds", "5", {1, 1'000}, &Policy::conflict, &ConflictRule::rounds),
    key("conflict", "window", "\"60s\"", {kSecondMs, kHourMs}, &Policy::conflict, &ConflictRule::window),
    key("cabling", "file", "\"/etc/fabric-agent/cabling.csv\"",
        {.what = "an absolute path", .is_valid = is_absolute, .readings = path_readings}, &Policy::cabling,
        &Cabling::file),
    key("cabling", "host", "\"gpu01\"", {}, &Policy::cabling, &Cabling::host),
    key("cabling", "ports", "{ \"Slot 3 P1\" = \"mlx5_0\" }", {.what = "a table of names in the plan and names here"},
        &Policy::cabling, &Cabling::ports),
    key("cabling", "rails", "{ \"leaf*-r1\" = \"1\" }", {.what = "a table of switches or ports and their rails"},
        &Policy::cabling, &Cabling::rails),
    key("cabling", "planes", "{ \"ens*f0np0\" = \"A\" }", {.what = "a table of switches or ports and their planes"},
        &Policy::cabling, &Cabling::planes),
    key("cabling", "maintenance", "[\"B\"]", {.what = "planes"}, &Policy::cabling, &Cabling::maintenance),
    key("fabric", "kind", "\"lossy\"", {}, &Policy::fabric, &Fabric::kind),
    key("fabric", "adaptive_routing", "true", {}, &Policy::fabric, &Fabric::adaptive_routing),
    key("fabric", "spraying", "true", {}, &Policy::fabric, &Fabric::spraying),
    key("expect", "gpus", "8", {0, 256}, &Policy::expect, &Expect::gpus),
    key("expect", "compute_nics", "8", {0, 256}, &Policy::expect, &Expect::compute_nics),
    key("expect", "class", "\"PIX\"", {}, &Policy::expect, &Expect::path_class),
    key("expect", "gid_index", "3", {0, 255}, &Policy::expect, &Expect::gid_index),
    Key{"expect", "speed", "400000", read_speed, [](const Policy& p) { return show(p.expect.speed); }, speeds},
    key("exporter", "listen", "[\"0.0.0.0:10479\", \"[::]:10479\"]",
        {.what = "numeric ADDRESS:PORT", .is_valid = is_listen_address, .readings = listen_readings}, &Policy::listen),
    key("exporter", "max_age", "\"5s\"", {0, kHourMs}, &Policy::max_age),
    key("exporter", "exclude", "[\"mlx5_bond_*\"]",
        {.what = "RDMA devices, or patterns of them", .is_valid = is_device, .are_patterns = true}, &Policy::exclude),
    key("exporter", "series_limit", "4000", {100, 1'000'000}, &Policy::series_limit),
    key("exporter", "sample_interval", "\"1s\"",
        {10, kMinuteMs, "a time span from 10ms to 1min, or 0 for none", nullptr, true}, &Policy::sample_interval),
    Key{"exporter", "sample_cpu_budget", "\"2%\"", read_cpu_budget, cpu_budget_toml, shares},
    key("exporter", "groups", "[\"module_limits\", \"lanes\"]", {}, &Policy::published, &Published::groups),
    key("exporter", "raw", "\"unmapped\"", {}, &Policy::published, &Published::raw),
    key("exporter", "ethtool", "[\"*_xdp_drop\"]", {.are_patterns = true}, &Policy::ethtool),
};

}  // namespace

std::span<const Key> keys() {
  static const std::vector<Key> all = [] {
    std::vector<Key> rows(kKeys.begin(), kKeys.end());
    for (Key& each : grace_keys()) rows.push_back(std::move(each));
    return rows;
  }();
  return all;
}

Correctable correctable(const Key& key) {
  return {std::string(key.name), key.example, key.readings, [&key](const toml::node& value) {
            Policy ignored;
            return key.read(value, ignored);
          }};
}

std::optional<Correctable> find_correctable(std::string_view section, std::string_view name) {
  for (const Key& each : keys())
    if (each.section == section && each.name == name) return correctable(each);
  if (const auto setting = parse_setting(name); setting && section == "port") return correctable(setting_of(*setting));
  return std::nullopt;
}

std::string full_name(std::string_view section, std::string_view key) {
  if (section.empty()) return std::string(key);
  return std::string(section).append(".").append(key);
}

// ---- [sysctl]: "net.ipv4.tcp_ecn" = 1, or net.ipv4.tcp_ecn = 1, which TOML reads as nested tables

namespace {

// sysctl(8) writes the dots of an interface's name as slashes: "net.ipv4.conf.eth0.100.rp_filter" is
// "net.ipv4.conf.eth0/100.rp_filter". Empty: the name is not that of an interface's sysctl.
std::string with_slashes(const std::string& name) {
  constexpr std::string_view kInterfaces = "net.ipv4.conf.";
  const size_t last = name.rfind('.');
  if (!name.starts_with(kInterfaces) || last <= kInterfaces.size()) return {};
  std::string out = name;
  std::replace(out.begin() + kInterfaces.size(), out.begin() + static_cast<ptrdiff_t>(last), '.', '/');
  if (qos::find_sysctl(out) == nullptr) return {};
  return out;
}

// A number, or a string of numbers with any white space between them; nullopt for other values.
std::optional<std::string> sysctl_text(const toml::node& node) {
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto text = node.value<std::string_view>()) return joined(words(*text), " ");
  return std::nullopt;
}

Values sysctl_readings(const qos::Sysctl& row, const Json& written) {
  if (row.numbers > 1) {
    if (!written.is_array() && !written.is_string()) return {};
    Json list = written;
    if (written.is_string()) {
      std::string text = written.get<std::string>();
      std::ranges::replace(text, ',', ' ');
      list = words(text);
    }
    std::string numbers;
    for (const Json& each : list) {
      const Values number = integers(each);
      if (number.size() != 1) return {};
      append_item(numbers, number.front().dump(), " ");
    }
    return {numbers};
  }
  if (row.max == 1)
    if (const Values on = switches(written); !on.empty()) return {on.front().get<bool>() ? 1 : 0};
  return integers(written);
}

void read_sysctl_value(ConfigReader& reader, const std::string& name, const toml::source_position& at,
                       const toml::node& node, Policy& policy) {
  const qos::Sysctl* row = qos::find_sysctl(name);
  if (const size_t star = name.find(".*."); star != std::string::npos && row != nullptr)
    return reader.fail(at, "sysctl." + name + ": replace * by an interface, \"all\" or \"default\"; for example \"" +
                               name.substr(0, star) + ".all" + name.substr(star + 2) + "\"");
  if (row == nullptr) {
    if (const std::string correct = with_slashes(name); !correct.empty())
      return reader.fail(at, "sysctl." + name + ": a dot in the name of an interface is written as a slash; write \"" +
                                 correct + "\"");
    std::vector<std::string_view> known;
    for (const qos::Sysctl& each : qos::known_sysctls()) known.push_back(each.name);
    return reader.fail_unknown(at, "host setting", name, known);
  }
  const auto read = [&](const toml::node& value, std::string& out) -> MaybeProblem {
    const std::optional<std::string> text = sysctl_text(value);
    if (!text) return expected(value, "a number or a string of numbers");
    if (const std::string problem = qos::sysctl_problem(name, *text); !problem.empty()) return fault_at(value, problem);
    out = *text;
    return std::nullopt;
  };
  const auto readings = [row](const Json& written) { return sysctl_readings(*row, written); };
  std::string example(row->example), value;
  if (row->numbers > 1) example = toml_string(example);
  if (!reader.read("sysctl." + name, node, {toml_key(name), example, readings}, read, value)) return;
  policy.sysctl[name] = value;
  policy.sysctl_origin[name] = reader.line(node);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the file's tables, which toml++ limits
void read_tables(ConfigReader& reader, const std::string& prefix, const toml::table& table, Policy& policy) {
  each_key(table, [&](std::string_view key, const toml::source_position& at, const toml::node& node) {
    const std::string name = prefix + std::string(key);
    if (const auto* inner = node.as_table()) return read_tables(reader, name + ".", *inner, policy);
    read_sysctl_value(reader, name, at, node, policy);
  });
}

}  // namespace

void read_sysctl(ConfigReader& reader, const toml::node& node, Policy& policy) {
  if (const auto* table = reader.table(node, "sysctl", "write [sysctl]")) read_tables(reader, "", *table, policy);
}

namespace {

MaybeProblem read_version_list(const toml::node& node, std::vector<std::string>& out) {
  auto problem = read_texts(node, out);
  if (!problem && out.empty()) problem = fault_at(node, "the list is empty: no version would be allowed");
  return problem;
}

// ">=28.43", "28.39.1002 - 28.43.2026", "28.39.1002,28.43.2026": no version is called so.
bool is_version_range(const std::string& pattern) {
  return pattern.find_first_of("<>=,;") != std::string::npos || pattern.find(" - ") != std::string::npos;
}

}  // namespace

// The tables [firmware] and [driver_version]: "MT_0000000838" = ["28.39.1002", "28.42.*"].
void read_versions(ConfigReader& reader, std::string_view table, const toml::node& node, Versions& out,
                   Policy& policy) {
  const std::string name(table);
  std::string key_example = "mlx5_core", example = "\"24.10-*\"";
  if (name == "firmware") key_example = "\"MT_0000000838\"", example = "\"28.39.*\"";
  const auto* entries = reader.table(node, name, "write [" + name + "]");
  if (entries == nullptr) return;
  each_key(*entries, [&](std::string_view key, const toml::source_position& at, const toml::node& value) {
    if (key.empty()) return reader.fail(at, name + ": the key is empty; for example " + key_example + " = " + example);
    std::string nic(key);
    if (nic.find(':') != std::string::npos) nic = lower(nic);  // a PCI id, which the kernel writes in lower case
    const std::string full = name + "." + nic;
    std::vector<std::string> versions;
    if (!reader.read(full, value, {toml_key(key), example, text_lists}, read_version_list, versions)) return;
    for (const std::string& version : versions)
      if (is_version_range(version))
        reader.warn(value.source().begin, full + ": " + toml_string(version) +
                                              " allows no version: write versions, or patterns of them as in glob(7)");
    out[nic] = std::move(versions);
    policy.origin[full] = reader.line(value);
  });
}

}  // namespace fabric::config
