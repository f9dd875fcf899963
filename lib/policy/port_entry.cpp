// SPDX-License-Identifier: Apache-2.0
#include "policy/port_entry.h"

#include <algorithm>
#include <tuple>

#include "base/find.h"
#include "base/parse.h"
#include "policy/match.h"
#include "setting/setting_table.h"

namespace fabric::config {
namespace {

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

Correctable correctable(const Setting& setting) {
  return {std::string(setting.key), example_of(setting),
          [&setting](const Json& written) { return setting_values(setting, written); },
          [&setting](const toml::node& value) {
            Qos ignored;
            return read_wanted(setting, value, ignored);
          }};
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
