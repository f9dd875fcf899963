// SPDX-License-Identifier: Apache-2.0
// The keys outside of [[port]], one row each.
#include <arpa/inet.h>

#include <array>

#include "base/parse.h"
#include "config/reader.h"

namespace fabric::config {
namespace {

using std::chrono::milliseconds;

TomlProblem wrong(const toml::node& node, std::string_view expected) {
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
  return wrong(node, all);
}

MaybeProblem read_span(const toml::node& node, milliseconds min, milliseconds max, milliseconds& out) {
  std::optional<milliseconds> span;
  if (const auto* text = node.as_string()) span = parse_span(text->get());
  else if (const auto* seconds = node.as_integer()) span = parse_span(std::to_string(seconds->get()));
  if (!span || *span < min || *span > max) return wrong(node, "a time span from " + span_text(min) + " to " + span_text(max));
  out = *span;
  return std::nullopt;
}

MaybeProblem read_maintenance(const toml::node& node, Policy& policy) {
  constexpr std::string_view kWhat = "days and times as \"Sat 02:00-04:00\", \"Mon-Fri 23:00-01:00\" or \"daily 03:00-04:00\"";
  std::vector<Window> windows;
  const auto add = [&](const toml::node& element) {
    const auto* text = element.as_string();
    const auto window = text != nullptr ? parse_window(text->get()) : std::nullopt;
    if (window) windows.push_back(*window);
    return window.has_value();
  };
  if (const auto* array = node.as_array()) {
    for (size_t i = 0; i < array->size(); ++i)
      if (!add(*array->get(i))) return wrong(*array->get(i), kWhat);
  } else if (!add(node)) {
    return wrong(node, kWhat);
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

std::string shown(std::string_view text) { return toml_string(text); }
std::string shown(milliseconds span) { return toml_string(span_text(span)); }

constexpr milliseconds kHour{3'600'000};

constexpr std::array kKeys{
    Key{"", "mode", "mode = \"audit\"",
        [](const toml::node& node, Policy& p) { return read_enum(node, {Mode::audit, Mode::enforce}, p.mode); },
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
        [](const toml::node& node, Policy& p) { return read_enum(node, {Release::leave, Release::restore}, p.release); },
        [](const Policy& p) { return shown(to_text(p.release)); }},
    Key{"conflict", "rounds", "rounds = 5",
        [](const toml::node& node, Policy& p) { return read_count(node, 1, 1'000, p.conflict.rounds); },
        [](const Policy& p) { return std::to_string(p.conflict.rounds); }},
    Key{"conflict", "window", "window = \"60s\"",
        [](const toml::node& node, Policy& p) { return read_span(node, milliseconds(1'000), kHour, p.conflict.window); },
        [](const Policy& p) { return shown(p.conflict.window); }},
    Key{"exporter", "listen", "listen = [\"0.0.0.0:10479\", \"[::]:10479\"]", read_listen,
        [](const Policy& p) { return texts_toml(p.listen); }},
    Key{"exporter", "max_age", "max_age = \"5s\"",
        [](const toml::node& node, Policy& p) { return read_span(node, milliseconds(0), kHour, p.max_age); },
        [](const Policy& p) { return shown(p.max_age); }},
    Key{"exporter", "exclude", "exclude = [\"mlx5_bond_*\"]",
        [](const toml::node& node, Policy& p) { return read_texts(node, p.exclude); },
        [](const Policy& p) { return texts_toml(p.exclude); }},
    Key{"exporter", "series_limit", "series_limit = 2000",
        [](const toml::node& node, Policy& p) { return read_count(node, 100, 1'000'000, p.series_limit); },
        [](const Policy& p) { return std::to_string(p.series_limit); }},
};

}  // namespace

std::span<const Key> keys() { return kKeys; }

}  // namespace fabric::config
