// SPDX-License-Identifier: Apache-2.0
#include "policy/match.h"

#include <net/if.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "base/find.h"
#include "base/parse.h"
#include "nic/capabilities.h"

namespace fabric::config {
namespace {

using Normal = std::optional<std::string>;  // MatchKey::normal

Normal any_text(const toml::node& element) {
  auto text = element.value<std::string>();
  if (!text || text->empty() || !is_glob(*text)) return std::nullopt;
  return text;
}

// Rejects a name with the port that `fabric-agentctl status` prints after a slash.
Normal device_name(const toml::node& element) {
  auto text = any_text(element);
  if (text && text->find('/') != std::string::npos) return std::nullopt;
  return text;
}

// Accepts hexadecimal digits, which it converts to lower case, the characters in `allowed`, and those of glob(7).
Normal hexadecimal_pattern(const toml::node& element, std::string_view allowed) {
  auto text = any_text(element);
  if (!text) return std::nullopt;
  text = lower(*text);
  const bool known = text->find_first_not_of("0123456789abcdef*?[]!-" + std::string(allowed)) == std::string::npos;
  if (!known || text->find_first_of(":*") == std::string::npos) return std::nullopt;
  return text;
}

// Rejects "[15b3:1021]", as lspci(8) prints it: in a pattern, that is one character.
Normal pci_id(const toml::node& element) {
  auto text = hexadecimal_pattern(element, ":");
  if (text && text->starts_with('[') && text->find(']') + 1 == text->size()) return std::nullopt;
  return text;
}

// Requires the domain as the kernel writes it, and the function: "17:00.0", "17:*", "00000000:17:00.0" and "0000:17:00"
// match nothing.
Normal pci_address(const toml::node& element) {
  constexpr size_t kDomain = 4;  // digits, at least
  auto text = hexadecimal_pattern(element, ":.");
  if (!text) return text;
  const std::string domain = text->substr(0, text->find(':'));
  if (domain.size() < kDomain && domain.find('*') == std::string::npos) return std::nullopt;
  if (domain.size() > kDomain && domain.front() == '0') return std::nullopt;
  if (text->find('*') != std::string::npos) return text;
  if (std::ranges::count(*text, ':') != 2 || text->find('.') == std::string::npos) return std::nullopt;
  // A slot has 32 devices of 8 functions.
  const std::string_view slot = std::string_view(*text).substr(text->rfind(':') + 1);
  if (slot.find_first_of("?[") == std::string_view::npos) {
    const auto parts = split(slot, '.');
    const auto device = parse_number<unsigned>(parts.front(), 16), function = parse_number<unsigned>(parts.back(), 16);
    if (parts.size() != 2 || !device || *device > 0x1f || !function || *function > 7) return std::nullopt;
  }
  return text;
}

// 400000, "400G", "2.5G", as Mb/s. Rejects a number below 1000: it is meant as Gb/s, and no link would match it.
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
    megabits = *value;
    if (giga) megabits *= 1000;
  }
  if (!(megabits >= kLeast && megabits <= kMost) || megabits != std::floor(megabits)) return std::nullopt;
  return std::to_string(static_cast<uint32_t>(megabits));
}

Normal numa_node(const toml::node& element) {
  int64_t node = 0;
  if (read_integer(element, 0, 1023, node)) return std::nullopt;
  return std::to_string(node);
}

Normal role(const toml::node& element) {
  const auto text = any_text(element);
  if (!text || !contains(kEnumWords<PortPlace>, *text)) return std::nullopt;
  return text;
}

Values numa_readings(const Json& element) {
  if (!element.is_string()) return integers(element);
  std::string text = lower(element.get<std::string>());
  for (const std::string_view head : {"numa", "-", " ", "node", " "})  // "NUMA node 1", "node1"
    if (text.starts_with(head)) text.erase(0, head.size());
  return integers(text);
}

Values role_readings(const Json& element) { return known_words(element, kEnumWords<PortPlace>); }

const MatchKey kMatchKeys[] = {
    {"driver", &Match::driver, any_text, "a pattern", "\"mlx5_core\""},
    {"rdma", &Match::rdma, device_name, "a device, or a pattern of devices", "\"mlx5_*\"", false, device_names},
    {"netdev", &Match::netdev, device_name, "a netdev, or a pattern of netdevs", "\"ens*\"", false, netdev_names},
    {"pci", &Match::pci, pci_address, "a PCI address with domain and function, or a pattern of it", "\"0000:17:*\"",
     false, pci_addresses},
    {"pci_id", &Match::pci_id, pci_id, "vendor and device in hexadecimal, or a pattern of them", "\"15b3:1021\"", false,
     pci_ids},
    {"speed", &Match::speed, speed, "a speed in Mb/s, or in Gb/s as \"400G\"", "\"400G\"", true, speeds},
    {"numa", &Match::numa, numa_node, "a NUMA node from 0 to 1023", "0", true, numa_readings},
    {"role", &Match::role, role, "\"compute\" or \"host\"", "\"compute\"", false, role_readings},
};

// The lists that a rejected value may have meant.
Values pattern_lists(const MatchKey& key, const Json& written) {
  // An element that is right already is its own correction.
  const auto element = [&key](const Json& each) -> Values {
    toml::table table;
    if (!parse_toml("x = " + json_toml(each) + "\n", table) && key.normal(*table.get("x"))) return {each};
    if (!each.is_string() && !key.number) return {};
    return key.readings(each);
  };
  // A number may have a blank before its unit: "400 Gb/s" is not two numbers.
  Json whole = written;
  if (key.number && written.is_string()) whole = Json::array({written});
  if (key.number && whole.is_array()) {
    Json out = Json::array();
    for (const Json& each : whole) {
      const Values one = element(each);
      if (one.size() == 1) out.push_back(one.front());
    }
    if (out.size() == whole.size() && !out.empty()) return {out.size() == 1 ? out.front() : out};
  }
  Values out = lists(written, element);
  if (out.size() == 1 && out.front().size() == 1) return {out.front().front()};
  return out;
}

constexpr std::string_view kNetdevNames[] = {"eth", "ens", "enp", "eno", "enP"};

constexpr std::string_view kVerbsFiles[] = {"uverbs", "umad", "issm"};

// Why the name of a driver can match no port, and what to write.
std::optional<PatternDoubt> driver_doubt(const std::string& pattern) {
  std::set<std::string_view> names;
  for (const Driver* driver : drivers()) {
    names.insert(driver->name);
    for (const std::string_view name : driver->kernel_names)
      if (!name.empty()) names.insert(name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (std::ranges::any_of(known, [&](std::string_view name) { return glob_match(pattern, std::string(name)); }))
    return std::nullopt;
  std::string same = pattern;  // modprobe(8) takes "hns-roce-hw-v2", too
  std::ranges::replace(same, '-', '_');
  for (const RdmaModule& module : rdma_modules())
    if (const std::string name(module.name); glob_match(same, name))
      return PatternDoubt{name + " drives RDMA devices, and an entry matches by the driver of the netdev",
                          {module.functions.begin(), module.functions.end()}};
  // drivers/infiniband/core/Makefile and ulp/ipoib/Makefile, Linux 6.12
  constexpr std::string_view kCore[] = {"ib_core",  "ib_cm", "ib_uverbs", "ib_umad",
                                        "ib_ipoib", "iw_cm", "rdma_cm",   "rdma_ucm"};
  for (const std::string_view module : kCore)
    if (const std::string name(module); glob_match(same, name))
      return PatternDoubt{name +
                          " is a module for the NICs of all vendors, and an entry matches by the driver of the netdev"};
  for (const NicVendor& vendor : nic_vendors())
    if (const std::string name(vendor.name); glob_match(pattern, name))
      return PatternDoubt{name + " is a vendor; the driver of its NICs counts", {std::string(vendor.driver)}};
  if (pattern.find_first_of("*?[") != std::string::npos || begins_like(pattern, rdma_name_heads())) return std::nullopt;
  const Values near = known_words(pattern, known);
  if (near.size() != 1) return std::nullopt;
  return PatternDoubt{"no driver is called " + toml_string(pattern), {near.front().get<std::string>()}};
}

// Why a name can match no port. Addresses, ids and numbers have forms of their own.
std::optional<PatternDoubt> name_doubt(std::string_view key, const std::string& pattern) {
  if (key == "pci_id" && pattern.ends_with(':'))
    return PatternDoubt{toml_string(pattern) + " has no device, and matches none", {pattern + "*"}};
  if (key != "driver" && key != "rdma" && key != "netdev") return std::nullopt;
  if (key == "driver")
    if (auto doubt = driver_doubt(pattern)) return doubt;
  const std::string quoted = toml_string(pattern);
  const auto longest = static_cast<std::ptrdiff_t>(IFNAMSIZ - 1);
  if (key == "netdev" && pattern.find_first_of("[,; ") == std::string::npos) {
    // "eth0@if5" of ip(8), "eth0:1" of ifconfig(8)
    if (const size_t sign = pattern.find_first_of("@:"); sign != std::string::npos && sign > 0)
      return PatternDoubt{std::string("the name of a netdev has no \"") + pattern[sign] + "\"",
                          {pattern.substr(0, sign)}};
    if (std::ranges::count_if(pattern, [](char letter) { return letter != '*'; }) > longest)
      return PatternDoubt{quoted + " has more than the " + std::to_string(longest) + " characters of a netdev's name"};
  }
  if (const size_t colon = pattern.rfind(':'); key == "rdma" && colon != std::string::npos)
    return PatternDoubt{"the name of an RDMA device has no \":\", and an entry matches all its ports",
                        {pattern.substr(0, colon)}};
  if (key == "rdma" && begins_like(pattern, kVerbsFiles))
    return PatternDoubt{quoted + " is a file in /dev/infiniband; the name of its device: cat /sys/class/infiniband_" +
                        (pattern.starts_with("uverbs") ? "verbs" : "mad") + "/" + pattern + "/ibdev"};
  // The key is wrong, and the value is right: no value to write for this key. systemd names IPoIB netdevs alike:
  // ibp65s0.
  const bool may_be_ipoib = key == "netdev" && pattern.starts_with("ib");
  if (key != "rdma" && !may_be_ipoib && begins_like(pattern, rdma_name_heads()))
    return PatternDoubt{quoted + " is like the name of an RDMA device; write rdma = " + quoted};
  if (key == "rdma" && begins_like(pattern, kNetdevNames))
    return PatternDoubt{quoted + " is like the name of a netdev; write netdev = " + quoted};
  return pattern_doubt(key, pattern);
}

}  // namespace

std::span<const MatchKey> match_keys() { return kMatchKeys; }

void read_match(ConfigReader& reader, const toml::node& node, Match& match) {
  std::vector<std::string_view> known;
  for (const MatchKey& key : kMatchKeys) known.push_back(key.name);
  const auto* table = reader.table(node, "match", "for example match = { driver = \"mlx5_core\" }");
  if (table == nullptr) return;
  each_key(*table, [&](std::string_view name, const toml::source_position& at, const toml::node& value) {
    const MatchKey* key = find_where(kMatchKeys, [&](const MatchKey& each) { return each.name == name; });
    if (key == nullptr) return reader.fail_unknown(at, "key", name, known);
    std::vector<std::string>& patterns = match.*key->member;
    const auto read = [&](const toml::node& list, std::vector<std::string>& out) {
      auto problem = read_list(list, key->expected, out, key->normal);
      if (!problem && out.empty()) problem = fault_at(list, "the list is empty");
      return problem;
    };
    const auto readings = [key](const Json& written) { return pattern_lists(*key, written); };
    if (!reader.read("match." + std::string(name), value, {std::string(name), std::string(key->example), readings},
                     read, patterns))
      return;
    warn_of_patterns(reader, value, "match", name, patterns,
                     [&](const std::string& pattern) { return name_doubt(name, pattern); });
  });
}

bool names_driver(const std::string& pattern, const Driver& driver) {
  return glob_match(pattern, std::string(driver.name)) ||
         std::ranges::any_of(driver.kernel_names, [&](std::string_view name) {
           return !name.empty() && glob_match(pattern, std::string(name));
         });
}

namespace {

// Whether the patterns show that `early` matches everything that `late` matches. An empty list matches everything.
bool covers(const std::vector<std::string>& early, const std::vector<std::string>& late) {
  if (early.empty()) return true;
  if (late.empty()) return false;
  for (const std::string& text : late) {
    const bool is_plain = text.find_first_of("*?[") == std::string::npos;
    if (!std::ranges::any_of(early, [&](const std::string& pattern) {
          return pattern == text || (is_plain && glob_match(pattern, text));
        }))
      return false;
  }
  return true;
}

// The drivers of the devices with these ids ("15b3:1021"); empty: one of them is a pattern, or not known.
std::vector<std::string> drivers_of(const std::vector<std::string>& ids) {
  std::vector<std::string> out;
  for (const std::string& id : ids) {
    const size_t colon = id.find(':');
    if (colon == std::string::npos) return {};
    const auto vendor = parse_number<uint16_t>(std::string_view(id).substr(0, colon), 16),
               device = parse_number<uint16_t>(std::string_view(id).substr(colon + 1), 16);
    const RdmaModules* modules = vendor && device ? rdma_modules_of({}, *vendor, *device) : nullptr;
    if (modules == nullptr) return {};
    out.emplace_back(modules->function);
  }
  return out;
}

// covers() for one key of match. A PCI id counts as the driver of its devices.
bool covers(const Match& early, const Match& late, std::vector<std::string> Match::*key) {
  if (key == &Match::driver && late.driver.empty()) return covers(early.driver, drivers_of(late.pci_id));
  return covers(early.*key, late.*key);
}

// Whether the pattern has a letter or digit of a name, outside of wildcards and classes (fnmatch(3)).
bool has_literal(std::string_view pattern) {
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '[') {
      size_t end = at + 1;
      if (end < pattern.size() && (pattern[end] == '!' || pattern[end] == '^')) ++end;
      if (end < pattern.size() && pattern[end] == ']') ++end;  // the first one belongs to the class
      for (; end < pattern.size() && pattern[end] != ']'; ++end)
        if (pattern.substr(end).starts_with("[:")) end = std::min(pattern.find(":]", end), pattern.size() - 1) + 1;
      if (end < pattern.size()) at = end;
    } else if (std::isalnum(static_cast<unsigned char>(pattern[at])) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool covers(const Match& early, const Match& late) {
  return std::ranges::all_of(kMatchKeys, [&](const MatchKey& key) { return covers(early, late, key.member); });
}

bool names_ports(const Match& match) {
  const auto has_bus = [](std::string_view pattern) { return has_literal(pattern.substr(pattern.find(':') + 1)); };
  const auto all = [](const std::vector<std::string>& patterns, const auto& names) {
    return !patterns.empty() && std::ranges::all_of(patterns, names);
  };
  return all(match.netdev, has_literal) || all(match.rdma, has_literal) || all(match.pci, has_bus);
}

}  // namespace fabric::config
