// SPDX-License-Identifier: Apache-2.0
// `match` of a [[port]] entry: which ports. A pattern that no port could ever match is an error.
#include <algorithm>
#include <cmath>

#include "base/find.h"
#include "base/parse.h"
#include "policy/reader.h"

namespace fabric::config {
namespace {

using Normal = std::optional<std::string>;

Normal any_text(const toml::node& element) {
  auto text = element.value<std::string>();
  return text && !text->empty() && is_glob(*text) ? text : std::nullopt;
}

// Without the port that `fabric-agentctl status` names behind a slash.
Normal device_name(const toml::node& element) {
  auto text = any_text(element);
  return text && text->find('/') == std::string::npos ? text : std::nullopt;
}

// Lower-case hexadecimal digits, the other characters of `allowed`, and those of glob(7).
Normal hexadecimal_pattern(const toml::node& element, std::string_view allowed) {
  auto text = any_text(element);
  if (!text) return std::nullopt;
  text = lower(*text);
  const bool known = text->find_first_not_of("0123456789abcdef*?[]!-" + std::string(allowed)) == std::string::npos;
  return known && (text->find(':') != std::string::npos || text->find('*') != std::string::npos) ? text : std::nullopt;
}

Normal pci_id(const toml::node& element) { return hexadecimal_pattern(element, ":"); }

// With domain and function: "17:00.0", "17:*" and "0000:17:00" match nothing.
Normal pci_address(const toml::node& element) {
  constexpr size_t kDomain = 4;  // digits at least
  auto text = hexadecimal_pattern(element, ":.");
  if (!text) return text;
  const std::string domain = text->substr(0, text->find(':'));
  if (domain.size() < kDomain && domain.find('*') == std::string::npos) return std::nullopt;
  if (text->find('*') != std::string::npos) return text;
  return std::ranges::count(*text, ':') == 2 && text->find('.') != std::string::npos ? text : std::nullopt;
}

// 400000, "400G", "2.5G": Mb/s. A number below is one of Gb/s, which no link would match.
Normal speed(const toml::node& element) {
  constexpr double kLeast = 1'000, kMost = 10'000'000;
  double megabits = 0;
  if (const auto* number = element.as_integer()) {
    megabits = static_cast<double>(number->get());
  } else if (const auto* text = element.as_string()) {
    std::string_view word = text->get();
    const bool giga = word.ends_with('G');
    if (giga) word.remove_suffix(1);
    const auto value = parse_double(word);
    if (!value) return std::nullopt;
    megabits = *value * (giga ? 1000 : 1);
  }
  if (!(megabits >= kLeast && megabits <= kMost) || megabits != std::floor(megabits)) return std::nullopt;
  return std::to_string(static_cast<uint32_t>(megabits));
}

Normal numa_node(const toml::node& element) {
  int64_t node = 0;
  return read_integer(element, 0, 1023, node) ? std::nullopt : Normal(std::to_string(node));
}

Normal role(const toml::node& element) {
  const auto text = any_text(element);
  return text == "compute" || text == "host" ? text : std::nullopt;
}

const MatchKey kMatchKeys[] = {
    {"driver", &Match::driver, any_text, "a pattern", "driver = \"mlx5_core\""},
    {"rdma", &Match::rdma, device_name, "a device, or a pattern of devices", "rdma = \"mlx5_*\""},
    {"netdev", &Match::netdev, device_name, "a netdev, or a pattern of netdevs", "netdev = \"ens*\""},
    {"pci", &Match::pci, pci_address, "a PCI address with domain and function, or a pattern of it",
     "pci = \"0000:17:*\""},
    {"pci_id", &Match::pci_id, pci_id, "vendor and device in hexadecimal, or a pattern of them",
     "pci_id = \"15b3:1021\""},
    {"speed", &Match::speed, speed, "a speed in Mb/s, or in Gb/s as \"400G\"", "speed = \"400G\"", true},
    {"numa", &Match::numa, numa_node, "a NUMA node from 0 to 1023", "numa = 0", true},
    {"role", &Match::role, role, "\"compute\" or \"host\"", "role = \"compute\""},
};

MaybeProblem read_patterns(const toml::node& node, const MatchKey& key, std::vector<std::string>& out) {
  auto problem = read_list(node, key.expected, out, key.normal);
  if (!problem && out.empty()) return fault_at(node, "the list is empty");
  return problem;
}

}  // namespace

std::span<const MatchKey> match_keys() { return kMatchKeys; }

bool is_glob(std::string_view pattern) {
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char letter = pattern[at];
    if (letter == '{' || letter == '}') return false;
    if (letter == '\\') ++at;
    if (letter != '[') continue;
    const std::string_view set = pattern.substr(at + 1);
    const bool negated = set.starts_with('!') || set.starts_with('^');
    at = pattern.find(']', at + (negated ? 3 : 2));  // one right in front is a member
    if (at == std::string_view::npos) return false;
  }
  return true;
}

void read_match(Reader& reader, const toml::node& node, Match& match) {
  std::vector<std::string_view> known;
  for (const MatchKey& key : kMatchKeys) known.push_back(key.name);
  const auto* table = reader.table(node, "match", "match = { driver = \"mlx5_core\" }");
  if (table == nullptr) return;
  each_key(*table, [&](std::string_view name, const toml::source_position& at, const toml::node& value) {
    if (const MatchKey* key = find_where(kMatchKeys, [&](const MatchKey& each) { return each.name == name; }))
      reader.good(read_patterns(value, *key, match.*key->member), "match." + std::string(name), key->example);
    else reader.unknown(at, "key", name, known);
  });
}

}  // namespace fabric::config
