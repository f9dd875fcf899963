// SPDX-License-Identifier: Apache-2.0
#include "policy/port_entry.h"

#include <net/if.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/find.h"
#include "base/parse.h"
#include "nic/capabilities.h"
#include "setting/setting_table.h"

namespace fabric::config {
namespace {

// ---- `match`: which ports. A pattern that can match no port is an error.

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

// ---- one setting: the values that the configuration accepts, fewer than a port can have (read_setting())

// Checks a number against the range of the setting's row, before it is read.
MaybeProblem check_range(const Setting& setting, const toml::node& node) {
  int64_t ignored = 0;
  const bool or_none = std::holds_alternative<std::optional<OrNone> Qos::*>(setting.member);
  if (!or_none && !std::holds_alternative<std::optional<uint32_t> Qos::*>(setting.member)) return std::nullopt;
  if (or_none && node.value<std::string_view>() == "none") return std::nullopt;
  auto problem = read_integer(node, setting.min, setting.max, ignored);
  if (problem && or_none)
    problem->what = "expected an integer from " + std::to_string(setting.min) + " to " + std::to_string(setting.max) +
                    ", or \"none\", not " + describe(node);
  if (problem && !setting.unit.empty()) problem->what.append(" (").append(setting.unit).append(")");
  return problem;
}

// Checks the value that was read by the rule of the setting's row: the sum of ets, ECN bits.
MaybeProblem check_value(const Setting& setting, const toml::node& node, const Qos& value) {
  if (setting.id == SettingId::ets) {
    // A file lists the algorithms of the classes that it uses. Ets has all eight, and does not know which were listed.
    const toml::node* tsa = node.as_table()->get("tsa");
    const size_t listed = tsa->as_array()->size();
    for (size_t prio = 0; prio < kPriorities; ++prio)
      if (const size_t tc = value.ets->prio_tc[prio]; tc >= listed)
        return fault_at(*tsa, "priority " + std::to_string(prio) + " goes to traffic class " + std::to_string(tc) +
                                  ", which has no algorithm: tsa lists " + std::to_string(listed));
  }
  if (setting.check == nullptr) return std::nullopt;
  auto problem = setting.check(value);
  if (!problem) return std::nullopt;
  // Reports the narrowest place that the file has for the problem.
  const toml::node* at = &node;
  if (const auto* table = at->as_table(); table != nullptr && table->contains(problem->part))
    at = table->get(problem->part);
  if (const auto* list = at->as_array(); list != nullptr && problem->element && *problem->element < list->size())
    at = list->get(*problem->element);
  return fault_at(*at, std::move(problem->what));
}

// An example of each kind of value. Empty for numbers: these have one in their row. A kind without one does not
// compile.
template <class Kind>
struct Example {
  std::string_view text;
};
constexpr std::tuple kExamples{
    Example<Dcbx>{"\"host\""},
    Example<bool>{"false"},
    Example<Pause>{"\"off\""},
    Example<uint32_t>{},
    Example<Fec>{"\"rs\""},
    Example<Trust>{"\"dscp\""},
    Example<AppTrust>{"[\"dscp\", \"pcp\"]"},
    Example<DscpMap>{"{ 26 = 3, 48 = 6 }"},
    Example<Ets>{"{ prio_tc = [0,0,0,1,0,0,2,0], tsa = [\"ets\",\"ets\",\"strict\"], bw = [50,50,0] }"},
    Example<Eight>{"[0,0,0,1,0,0,0,0]"},
    Example<Buffers>{"\"auto\""},
    Example<PrioSet>{"[3]"},
    Example<Rates>{"[0,0,0,100000000,0,0,0,0]"},
    Example<RoceMode>{"\"v2\""},
    Example<OrNone>{},
    Example<Names>{"\"all\""},
};

std::string example_of(const Setting& setting) {
  const auto of_kind = []<class Kind>(std::optional<Kind> Qos::*) { return std::get<Example<Kind>>(kExamples).text; };
  const std::string_view text = std::visit(of_kind, setting.member);
  if (!text.empty()) return std::string(text);
  return std::to_string(setting.example != 0 ? setting.example : setting.min);
}

MaybeProblem read_wanted(const Setting& setting, const toml::node& node, Qos& out) {
  auto problem = check_range(setting, node);
  if (!problem) problem = read_setting(setting, node, out);
  if (!problem) problem = check_value(setting, node, out);
  return problem;
}

MaybeProblem read_mark_table(const toml::node& node, Mark& out) {
  const auto* table = node.as_table();
  constexpr std::string_view kWhat = "a table with dscp and priority, or \"none\"";
  if (table == nullptr) return expected(node, kWhat);
  if (table->get("dscp") == nullptr || table->get("priority") == nullptr || table->size() != 2)
    return fault_at(node, "expected " + std::string(kWhat));
  if (auto problem = read_integer(*table->get("dscp"), 0, 63, out.dscp)) return problem;
  return read_integer(*table->get("priority"), 0, kPriorities - 1, out.priority);
}

// ---- the settings that follow from `traffic` and `cnp`, so that a site writes its DSCPs and priorities once

constexpr uint8_t kRest = 0, kLossless = 1, kNotifications = 2;  // traffic classes

Qos settings_for_traffic(const Mark& data, const std::optional<Mark>& cnp, const Qos& want, const Fabric& fabric) {
  Qos out;
  const auto data_bit = static_cast<uint8_t>(1U << data.priority);
  out.pfc = PrioSet{data_bit};  // on a lossy fabric follow_fabric() has chosen
  // Half of the link for RoCE, half for the rest. CNPs are few and urgent, so their class is strict.
  const PrioSet lossless{static_cast<uint8_t>(want.pfc.value_or(PrioSet{}).bits | data_bit)};
  Ets& ets = out.ets.emplace();
  for (const int prio : to_list(lossless)) ets.prio_tc[static_cast<size_t>(prio)] = kLossless;
  if (cnp && !lossless.has(cnp->priority)) ets.prio_tc[cnp->priority] = kNotifications;
  ets.tsa[kRest] = ets.tsa[kLossless] = Tsa::ets;
  ets.bw[kRest] = ets.bw[kLossless] = 50;
  // All priorities, as shipped: RoCE on a priority without PFC needs DCQCN even more.
  // In a scheduled fabric credits take the place of marks, and DCQCN would only slow flows down: it is left as it is.
  if (fabric.kind != FabricKind::scheduled) out.ecn_rp = out.ecn_np = PrioSet{0xff};
  out.roce_prio = data.priority;
  if (want.trust == Trust::pcp) return out;
  out.trust = Trust::dscp;
  out.dscp_map = DscpMap{{data.dscp, data.priority}};
  if (cnp) out.dscp_map->emplace(cnp->dscp, cnp->priority);
  out.roce_dscp = data.dscp;
  out.roce_mode = RoceMode::v2;  // v1 has no IP header that could carry a DSCP
  out.roce_tos = traffic_class_of(data.dscp);
  return out;
}

// Adds the setting to the entry if `from` has it and the entry lacks it.
bool add_missing(PortDraft& entry, size_t row, const Qos& from) {
  if (!has_value(kSettings[row], from) || has_value(kSettings[row], entry.port.want)) return false;
  copy_value(kSettings[row], from, entry.port.want);
  return true;
}

void derive(PortDraft& entry, const Qos& settings, const FilePlace& at, const std::string& origin) {
  for (size_t row = 0; row < kSettingCount; ++row) {
    if (!add_missing(entry, row, settings)) continue;
    entry.port.derived.set(row);
    entry.port.origin[row] = origin;
    entry.places[row] = at;
  }
}

}  // namespace

std::span<const MatchKey> match_keys() { return kMatchKeys; }

Correctable correctable(const Setting& setting) {
  return {std::string(setting.key), example_of(setting),
          [&setting](const Json& written) { return setting_values(setting, written); },
          [&setting](const toml::node& value) {
            Qos ignored;
            return read_wanted(setting, value, ignored);
          }};
}

bool names_driver(const std::string& pattern, const Driver& driver) {
  return glob_match(pattern, std::string(driver.name)) ||
         std::ranges::any_of(driver.kernel_names, [&](std::string_view name) {
           return !name.empty() && glob_match(pattern, std::string(name));
         });
}

void read_mark(ConfigReader& reader, std::string_view key, const toml::node& node, MarkKey& out) {
  std::string example = "{ dscp = 26, priority = 3 }";
  if (key == "cnp") example = "{ dscp = 48, priority = 6 }";
  const auto read = [](const toml::node& value, std::optional<Mark>& mark) -> MaybeProblem {
    if (value.value<std::string_view>() == "none") return std::nullopt;
    return read_mark_table(value, mark.emplace());
  };
  MarkKey mark{true, std::nullopt, reader.place(node)};
  if (reader.read(key, node, {std::string(key), example, marks}, read, mark.mark)) out = mark;
}

namespace {

MaybeProblem read_fabric_table(const toml::node& node, FabricKey& out) {
  const auto* table = node.as_table();
  constexpr std::string_view kWhat = "a table with kind, adaptive_routing or spraying";
  if (table == nullptr || table->empty()) return expected(node, kWhat);
  for (auto&& [key, value] : *table) {
    const std::string_view name = key;
    MaybeProblem problem;
    if (name == "kind") problem = read_word(value, out.kind.emplace());
    else if (name != "adaptive_routing" && name != "spraying")
      problem =
          fault_at(value, "unknown key " + toml_string(name) + "; fabric has kind, adaptive_routing and spraying");
    else problem = read_switch(value, (name == "spraying" ? out.spraying : out.adaptive_routing).emplace());
    if (problem) return problem;
  }
  return std::nullopt;
}

bool read_setting_key(ConfigReader& reader, std::string_view name, const toml::node& node, PortDraft& entry) {
  if (name == "traffic") {
    read_mark(reader, name, node, entry.traffic);
  } else if (name == "cnp") {
    read_mark(reader, name, node, entry.cnp);
  } else if (name == "fabric") {
    FabricKey fabric;
    fabric.at = reader.place(node);
    if (reader.read(name, node, {"fabric", "{ kind = \"lossy\" }", fabrics}, read_fabric_table, fabric))
      entry.fabric = fabric;
  } else if (const auto id = parse_setting(name)) {
    const Setting& setting = setting_of(*id);
    Qos value;
    if (!reader.accept(read_wanted(setting, node, value), setting.key, node, correctable(setting))) return true;
    copy_value(setting, value, entry.port.want);
    entry.port.origin[index(*id)] = reader.line(node);
    entry.places[index(*id)] = reader.place(node);
  } else {
    return false;
  }
  return true;
}

// Reports an unknown key where the settings and `keys` are known. If other programs call a setting so, the line with
// our key and the value is in the error.
void fail_unknown_setting(ConfigReader& reader, const toml::source_position& at, std::string_view name,
                          const toml::node& value, std::span<const std::string_view> keys) {
  const std::string_view key = key_of_others(name);
  if (const auto setting = parse_setting(key))
    return reader.fail(at, "unknown key " + toml_string(name) + ": it is " + std::string(key) + "; " +
                               correction(correctable(setting_of(*setting)), value));
  std::vector<std::string_view> known(keys.begin(), keys.end());
  for (const Setting& setting : kSettings) known.push_back(setting.key);
  reader.fail_unknown(at, "key", name, known);
}

}  // namespace

PortDraft read_port(ConfigReader& reader, const toml::table& table) {
  PortDraft entry;
  entry.at = reader.place(table);
  entry.port.where = reader.line(table);
  each_key(table, [&](std::string_view name, const toml::source_position& at, const toml::node& node) {
    if (name == "match") return read_match(reader, node, entry.port.match);
    if (name == "name") {
      reader.read(name, node, {"name", "\"rail\", or leave it out", texts}, read_name, entry.port.name);
      return;
    }
    if (name == "front_end") {
      entry.front_end_at = reader.place(node);
      entry.port.front_end_origin = reader.line(node);
      reader.read(name, node, {"front_end", "true", switches}, read_switch, entry.port.front_end);
      return;
    }
    entry.has_no_settings = false;
    if (name == "profile") {
      entry.profile_at = reader.place(node);
      entry.port.profile_origin = reader.line(node);
      reader.read(name, node, {"profile", "\"nvidia-dcqcn\"", texts}, read_name, entry.port.profile);
    } else if (!read_setting_key(reader, name, node, entry)) {
      fail_unknown_setting(reader, at, name, node, kPortKeys);
    }
  });
  if (entry.has_no_settings && entry.port.name.empty())
    reader.warn(table.source().begin, "[[port]] has no setting: its ports stay unchanged");
  return entry;
}

PortDraft read_profile(ConfigReader& reader, const toml::table& table) {
  PortDraft profile;
  each_key(table, [&](std::string_view name, const toml::source_position& at, const toml::node& node) {
    if (read_setting_key(reader, name, node, profile)) return;
    if (name == "match" || name == "name" || name == "profile" || name == "front_end" || name == "port")
      return reader.fail(at, std::string(name) + ": a profile has settings only; write " + std::string(name) +
                                 " in the [[port]] entry that names the profile");
    constexpr std::string_view kKeys[] = {"traffic", "cnp", "fabric"};
    fail_unknown_setting(reader, at, name, node, kKeys);
  });
  return profile;
}

namespace {

// The values of the fabric are the entry's, else the site's, else the profile's. On a lossy one PFC is off, unless the
// entry says otherwise.
void follow_fabric(PortDraft& entry, const FabricKey& site, const PortDraft* profile, ConfigFaults& faults) {
  static constexpr FabricKey kNone{};
  const FabricKey& below = profile == nullptr ? kNone : profile->fabric;
  const auto choose = [&](auto FabricKey::*member, auto& out) {
    for (const FabricKey* each : {static_cast<const FabricKey*>(&entry.fabric), &site, &below})
      if (const auto& value = each->*member) return void(out = *value);
  };
  PortPolicy& port = entry.port;
  choose(&FabricKey::kind, port.fabric.kind);
  choose(&FabricKey::adaptive_routing, port.fabric.adaptive_routing);
  choose(&FabricKey::spraying, port.fabric.spraying);
  FilePlace at = site.at;
  if (below.kind && !site.kind) at = below.at;
  if (entry.fabric.kind) at = entry.fabric.at;
  if (entry.fabric.given()) port.fabric_origin = faults.line(entry.fabric.at);
  else if (below.given()) port.fabric_origin = faults.line(below.at);
  if (!port.fabric.is_lossy() || entry.has_no_settings) return;
  Qos settings;
  settings.pfc = PrioSet{};
  derive(entry, settings, at, faults.line(at) + " (from fabric)");
}

// The marks are the entry's, else those of the file, else the profile's. Derives the settings that are not given.
void follow_marks(PortDraft& entry, const SiteKeys& site, const PortDraft* profile, ConfigFaults& faults) {
  if (entry.has_no_settings) return;
  if (!entry.traffic.given && site.traffic.given) entry.traffic = site.traffic;
  if (!entry.cnp.given && site.cnp.given) entry.cnp = site.cnp;
  if (profile != nullptr && !entry.traffic.given) entry.traffic = profile->traffic;
  if (profile != nullptr && !entry.cnp.given) entry.cnp = profile->cnp;
  const auto& data = entry.traffic.mark;
  const auto& notifications = entry.cnp.mark;
  if (data && notifications && data->priority == notifications->priority)
    return faults.fail(entry.cnp.at, "cnp: priority " + std::to_string(notifications->priority) +
                                         " is the lossless one of traffic: while PFC pauses it, the CNPs that would "
                                         "end the congestion wait, too; write another priority");
  if (data && notifications && data->dscp == notifications->dscp)
    return faults.fail(entry.cnp.at, "cnp: DSCP " + std::to_string(notifications->dscp) +
                                         " is that of traffic, which has priority " + std::to_string(data->priority) +
                                         "; write another DSCP");
  PortPolicy& port = entry.port;
  port.traffic = data;
  port.cnp = notifications;
  if (port.traffic) port.traffic_origin = faults.line(entry.traffic.at);
  if (port.cnp) port.cnp_origin = faults.line(entry.cnp.at);
  if (port.traffic)
    derive(entry, settings_for_traffic(*port.traffic, port.cnp, port.want, port.fabric), entry.traffic.at,
           port.traffic_origin + " (from traffic)");
  if (port.cnp) {
    Qos settings;
    settings.cnp_dscp = port.cnp->dscp;
    settings.cnp_prio = OrNone{port.cnp->priority};
    derive(entry, settings, entry.cnp.at, port.cnp_origin + " (from cnp)");
  }
}

}  // namespace

void complete(PortDraft& entry, const PortDraft* profile, const SiteKeys& site, ConfigFaults& faults) {
  for (size_t row = 0; profile != nullptr && row < kSettingCount; ++row) {
    if (!add_missing(entry, row, profile->port.want)) continue;
    entry.port.origin[row] = profile->port.origin[row];
    entry.places[row] = profile->places[row];
  }
  follow_fabric(entry, site.fabric, profile, faults);
  follow_marks(entry, site, profile, faults);
}

}  // namespace fabric::config
