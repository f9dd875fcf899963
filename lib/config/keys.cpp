// SPDX-License-Identifier: Apache-2.0
// The keys outside of [[port]], one row each.
#include <arpa/inet.h>

#include <algorithm>

#include "base/parse.h"
#include "config/reader.h"

namespace fabric::config {
namespace {

using std::chrono::milliseconds;

TomlProblem must_be(const toml::node& node, std::string_view expected) {
  return {node.source().begin, "expected " + std::string(expected) + ", not " + describe(node)};
}

template <class Enum>
MaybeProblem read_enum(const toml::node& node, std::initializer_list<Enum> values, Enum& out) {
  std::string all;
  for (Enum value : values) {
    all += (all.empty() ? "\"" : " or \"") + std::string(to_text(value)) + "\"";
    if (const auto* text = node.as_string(); text != nullptr && text->get() == to_text(value)) {
      out = value;
      return std::nullopt;
    }
  }
  return must_be(node, all);
}

MaybeProblem read_span(const toml::node& node, milliseconds min, milliseconds max, milliseconds& out) {
  std::optional<milliseconds> span;
  if (const auto* text = node.as_string()) span = parse_span(text->get());
  else if (const auto* seconds = node.as_integer()) span = parse_span(std::to_string(seconds->get()));
  if (!span || *span < min || *span > max)
    return must_be(node, "a time span from " + span_text(min) + " to " + span_text(max));
  out = *span;
  return std::nullopt;
}

MaybeProblem read_maintenance(const toml::node& node, Policy& policy) {
  constexpr std::string_view kWhat =
      "days and times as \"Sat 02:00-04:00\", \"Mon-Fri 23:00-01:00\" or \"daily 03:00-04:00\"";
  std::vector<Window> windows;
  const auto add = [&](const toml::node& element) {
    const auto* text = element.as_string();
    const auto window = text != nullptr ? parse_window(text->get()) : std::nullopt;
    if (window) windows.push_back(*window);
    return window.has_value();
  };
  if (const auto* array = node.as_array()) {
    for (size_t i = 0; i < array->size(); ++i)
      if (!add(*array->get(i))) return must_be(*array->get(i), kWhat);
  } else if (!add(node)) {
    return must_be(node, kWhat);
  }
  policy.maintenance = std::move(windows);
  return std::nullopt;
}

std::string maintenance_toml(const Policy& policy) {
  std::vector<std::string> texts;
  for (const Window& window : policy.maintenance) texts.push_back(window_text(window));
  return texts_toml(texts);
}

MaybeProblem read_count(const toml::node& node, int64_t min, int64_t max, unsigned& out) {
  int64_t number = 0;
  if (auto problem = read_integer(node, min, max, number)) return problem;
  out = static_cast<unsigned>(number);
  return std::nullopt;
}

// "0.0.0.0:10479", "[::]:10479": numeric, since a name can mean many addresses and needs a resolver at start.
bool is_listen_address(const std::string& text) {
  size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  auto port = parse_number<uint16_t>(std::string_view(text).substr(colon + 1));
  std::string host = text.substr(0, colon);
  in6_addr address{};
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    return port && *port != 0 && ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1;
  return port && *port != 0 && ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

MaybeProblem read_listen(const toml::node& node, Policy& policy) {
  std::vector<std::string> addresses;
  if (auto problem = read_texts(node, addresses)) return problem;
  for (const std::string& address : addresses)
    if (!is_listen_address(address))
      return TomlProblem{node.source().begin, "expected numeric ADDRESS:PORT, not " + toml_string(address)};
  policy.listen = std::move(addresses);
  return std::nullopt;
}

MaybeProblem read_compat(const toml::node& node, Policy& policy) {
  std::vector<std::string> names;
  if (auto problem = read_texts(node, names)) return problem;
  std::vector<Compat> wanted;
  for (const std::string& name : names) {
    size_t known = wanted.size();
    for (Compat one : {Compat::node_exporter, Compat::rdma_exporter, Compat::rdma_exporter_qp})
      if (to_text(one) == name) wanted.push_back(one);
    if (wanted.size() == known)
      return TomlProblem{
          node.source().begin,
          "expected \"node_exporter\", \"rdma_exporter\" or \"rdma_exporter_qp\", not " + toml_string(name)};
  }
  policy.compat = std::move(wanted);
  return std::nullopt;
}

MaybeProblem read_groups(const toml::node& node, Policy& policy) {
  std::vector<std::string> names;
  if (auto problem = read_texts(node, names)) return problem;
  std::vector<SeriesGroup> wanted;
  for (const std::string& name : names) {
    const auto* group = std::ranges::find_if(kSeriesGroups, [&](SeriesGroup each) { return to_text(each) == name; });
    if (group == kSeriesGroups.end()) {
      std::string known;
      for (SeriesGroup each : kSeriesGroups) append_item(known, toml_string(to_text(each)));
      return TomlProblem{node.source().begin, "expected one or more of " + known + ", not " + toml_string(name)};
    }
    wanted.push_back(*group);
  }
  policy.published.groups = std::move(wanted);
  return std::nullopt;
}

std::string groups_toml(const Policy& policy) {
  std::vector<std::string> names;
  for (SeriesGroup one : policy.published.groups) names.emplace_back(to_text(one));
  return texts_toml(names);
}

std::string compat_toml(const Policy& policy) {
  std::vector<std::string> names;
  for (Compat one : policy.compat) names.emplace_back(to_text(one));
  return texts_toml(names);
}

// A device that is not opened is a whole one: "mlx5_0/1" would leave none out.
MaybeProblem read_exclude(const toml::node& node, Policy& policy) {
  std::vector<std::string> devices;
  if (auto problem = read_texts(node, devices)) return problem;
  for (const std::string& device : devices)
    if (device.find('/') != std::string::npos)
      return TomlProblem{node.source().begin, "expected RDMA devices, or patterns of them, not " + toml_string(device)};
  policy.exclude = std::move(devices);
  return std::nullopt;
}

MaybeProblem read_cabling_file(const toml::node& node, Policy& policy) {
  std::string file;
  if (auto problem = read_text(node, file)) return problem;
  if (!file.empty() && file.front() != '/') return must_be(node, "an absolute path");
  policy.cabling.file = std::move(file);
  return std::nullopt;
}

// { "Slot 3 P1" = "mlx5_0" }
MaybeProblem read_names(const toml::node& node, std::string_view what, std::map<std::string, std::string>& out) {
  const auto* table = node.as_table();
  if (table == nullptr) return must_be(node, what);
  std::map<std::string, std::string> names;
  MaybeProblem problem;
  each_key(*table, [&](std::string_view name, const toml::source_position&, const toml::node& value) {
    std::string text;
    if (auto fault = read_text(value, text); fault && !problem) problem = std::move(fault);
    names[std::string(name)] = std::move(text);
  });
  if (!problem) out = std::move(names);
  return problem;
}

std::string names_toml(const std::map<std::string, std::string>& names) {
  std::string out;
  for (const auto& [name, text] : names)
    out += (out.empty() ? " " : ", ") + toml_string(name) + " = " + toml_string(text);
  return "{" + out + (out.empty() ? "}" : " }");
}

MaybeProblem read_pin(const toml::node& node, int64_t min, int64_t max, std::optional<unsigned>& out) {
  unsigned number = 0;
  if (auto problem = read_count(node, min, max, number)) return problem;
  out = number;
  return std::nullopt;
}

MaybeProblem read_path_class(const toml::node& node, Policy& policy) {
  PathClass value{};
  if (auto problem =
          read_enum(node, {PathClass::PIX, PathClass::PXB, PathClass::PHB, PathClass::NODE, PathClass::SYS}, value))
    return problem;
  policy.expect.path_class = value;
  return std::nullopt;
}

// As a match has it: 400000, "400G".
MaybeProblem read_speed(const toml::node& node, Policy& policy) {
  const auto keys = match_keys();
  const auto speed = std::ranges::find_if(keys, [](const MatchKey& key) { return key.name == "speed"; });
  const auto megabits = speed->normal(node);
  if (!megabits) return must_be(node, speed->expected);
  policy.expect.speed = parse_number<uint32_t>(*megabits);
  return std::nullopt;
}

std::string shown(const std::optional<unsigned>& pin) { return pin ? std::to_string(*pin) : std::string(); }
std::string shown(std::string_view text) { return toml_string(text); }
std::string shown(milliseconds span) { return toml_string(span_text(span)); }

constexpr milliseconds kHour{3'600'000};

MaybeProblem read_sample_interval(const toml::node& node, Policy& policy) {
  milliseconds span{};
  const auto problem = read_span(node, milliseconds(0), milliseconds(60'000), span);
  if (problem || (span.count() != 0 && span < milliseconds(10)))
    return must_be(node, "a time span from 10ms to 1min, or 0 for none");
  policy.sample_interval = span;
  return std::nullopt;
}

// "2%" or 2: of one core.
MaybeProblem read_cpu_budget(const toml::node& node, Policy& policy) {
  std::optional<double> percent;
  if (const auto* text = node.as_string(); text != nullptr && text->get().ends_with('%'))
    percent = parse_double(std::string_view(text->get()).substr(0, text->get().size() - 1));
  else percent = node.value<double>();
  if (!percent || !(*percent >= 0.1 && *percent <= 100)) return must_be(node, "a share of one core from 0.1% to 100%");
  policy.sample_cpu_budget = *percent / 100;
  return std::nullopt;
}

// The shortest text that is read back as the same.
std::string cpu_budget_toml(const Policy& policy) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), policy.sample_cpu_budget * 100,
                                 std::chars_format::general, 6)
                       .ptr;
  return toml_string(std::string(text.data(), end) + "%");
}

// Each reading of a module is a few dozen milliseconds of I2C: not as often as one likes.
MaybeProblem read_optics(const toml::node& node, Policy& policy) {
  constexpr milliseconds kShortest{10'000};
  milliseconds span{};
  if (auto problem = read_span(node, milliseconds(0), kHour, span)) return problem;
  if (span.count() != 0 && span < kShortest)
    return must_be(node, "0 or a time span from " + span_text(kShortest) + " to " + span_text(kHour));
  policy.optics = span;
  return std::nullopt;
}

const std::array kKeys{
    Key{"", "mode", "mode = \"audit\"",
        [](const toml::node& node, Policy& p) {
          return read_enum(node, {Mode::audit, Mode::enforce}, p.mode);
        },
        [](const Policy& p) { return shown(to_text(p.mode)); }},
    Key{"", "disruptive", "disruptive = \"idle\"",
        [](const toml::node& node, Policy& p) {
          return read_enum(node, {Disruptive::idle, Disruptive::now, Disruptive::never}, p.disruptive);
        },
        [](const Policy& p) { return shown(to_text(p.disruptive)); }},
    Key{"", "reread", "reread = \"30s\"",
        [](const toml::node& node, Policy& p) { return read_span(node, milliseconds(1'000), kHour, p.reread); },
        [](const Policy& p) { return shown(p.reread); }},
    Key{"", "maintenance", "maintenance = [\"Sat 02:00-04:00\"]", read_maintenance, maintenance_toml},
    Key{"", "release", "release = \"leave\"",
        [](const toml::node& node, Policy& p) {
          return read_enum(node, {Release::leave, Release::restore}, p.release);
        },
        [](const Policy& p) { return shown(to_text(p.release)); }},
    Key{"", "optics", "optics = \"60s\"", read_optics, [](const Policy& p) { return shown(p.optics); }},
    Key{"conflict", "rounds", "rounds = 5",
        [](const toml::node& node, Policy& p) { return read_count(node, 1, 1'000, p.conflict.rounds); },
        [](const Policy& p) { return std::to_string(p.conflict.rounds); }},
    Key{"conflict", "window", "window = \"60s\"",
        [](const toml::node& node, Policy& p) {
          return read_span(node, milliseconds(1'000), kHour, p.conflict.window);
        },
        [](const Policy& p) { return shown(p.conflict.window); }},
    Key{"cabling", "file", "file = \"/etc/fabric-agent/cabling.csv\"", read_cabling_file,
        [](const Policy& p) { return shown(p.cabling.file); }},
    Key{"cabling", "host", "host = \"gpu01\"",
        [](const toml::node& node, Policy& p) { return read_text(node, p.cabling.host); },
        [](const Policy& p) { return shown(p.cabling.host); }},
    Key{"cabling", "ports", "ports = { \"Slot 3 P1\" = \"mlx5_0\" }",
        [](const toml::node& node, Policy& p) {
          return read_names(node, "a table of names in the plan and names here", p.cabling.ports);
        },
        [](const Policy& p) { return names_toml(p.cabling.ports); }},
    Key{"cabling", "rails", "rails = { \"leaf*-r1\" = \"1\" }",
        [](const toml::node& node, Policy& p) {
          return read_names(node, "a table of switches or ports and their rails", p.cabling.rails);
        },
        [](const Policy& p) { return names_toml(p.cabling.rails); }},
    Key{"cabling", "planes", "planes = { \"ens*f0np0\" = \"A\" }",
        [](const toml::node& node, Policy& p) {
          return read_names(node, "a table of switches or ports and their planes", p.cabling.planes);
        },
        [](const Policy& p) { return names_toml(p.cabling.planes); }},
    Key{"expect", "gpus", "gpus = 8",
        [](const toml::node& node, Policy& p) { return read_pin(node, 0, 256, p.expect.gpus); },
        [](const Policy& p) { return shown(p.expect.gpus); }},
    Key{"expect", "compute_nics", "compute_nics = 8",
        [](const toml::node& node, Policy& p) { return read_pin(node, 0, 256, p.expect.compute_nics); },
        [](const Policy& p) { return shown(p.expect.compute_nics); }},
    Key{"expect", "class", "class = \"PIX\"", read_path_class,
        [](const Policy& p) { return p.expect.path_class ? shown(to_text(*p.expect.path_class)) : std::string(); }},
    Key{"expect", "gid_index", "gid_index = 3",
        [](const toml::node& node, Policy& p) { return read_pin(node, 0, 255, p.expect.gid_index); },
        [](const Policy& p) { return shown(p.expect.gid_index); }},
    Key{"expect", "speed", "speed = 400000", read_speed, [](const Policy& p) { return shown(p.expect.speed); }},
    Key{"exporter", "listen", "listen = [\"0.0.0.0:10479\", \"[::]:10479\"]", read_listen,
        [](const Policy& p) { return texts_toml(p.listen); }},
    Key{"exporter", "max_age", "max_age = \"5s\"",
        [](const toml::node& node, Policy& p) { return read_span(node, milliseconds(0), kHour, p.max_age); },
        [](const Policy& p) { return shown(p.max_age); }},
    Key{"exporter", "exclude", "exclude = [\"mlx5_bond_*\"]", read_exclude,
        [](const Policy& p) { return texts_toml(p.exclude); }},
    Key{"exporter", "series_limit", "series_limit = 4000",
        [](const toml::node& node, Policy& p) { return read_count(node, 100, 1'000'000, p.series_limit); },
        [](const Policy& p) { return std::to_string(p.series_limit); }},
    Key{"exporter", "sample_interval", "sample_interval = \"1s\"", read_sample_interval,
        [](const Policy& p) { return shown(p.sample_interval); }},
    Key{"exporter", "sample_cpu_budget", "sample_cpu_budget = \"2%\"", read_cpu_budget, cpu_budget_toml},
    Key{"exporter", "groups", "groups = [\"module_limits\", \"lanes\"]", read_groups, groups_toml},
    Key{"exporter", "raw", "raw = \"unmapped\"",
        [](const toml::node& node, Policy& p) {
          return read_enum(node, {RawCounters::unmapped, RawCounters::all}, p.published.raw);
        },
        [](const Policy& p) { return shown(to_text(p.published.raw)); }},
    Key{"exporter", "ethtool", "ethtool = [\"*_xdp_drop\"]",
        [](const toml::node& node, Policy& p) { return read_texts(node, p.ethtool); },
        [](const Policy& p) { return texts_toml(p.ethtool); }},
    Key{"exporter", "compat", "compat = [\"node_exporter\"]", read_compat, compat_toml},
};

}  // namespace

std::span<const Key> keys() {
  static const std::vector<Key> all = [] {
    std::vector<Key> rows(kKeys.begin(), kKeys.end());
    append_health_keys(rows);
    append_threshold_keys(rows);
    return rows;
  }();
  return all;
}

}  // namespace fabric::config
