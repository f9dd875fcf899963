// SPDX-License-Identifier: Apache-2.0
// One [[port]] entry: its values, and whether they fit each other.
#include <array>

#include "config/reader.h"

namespace fabric::config {
namespace {

// RoCE path MTU 4096 plus its headers (BTH, extended headers, ICRC, IP, UDP): kernel's iboe_get_mtu() wants 4096 + 96.
constexpr uint32_t kMtuForPath4096 = 4'192;

std::string example(const Setting& setting) {
  struct Visitor {
    std::string operator()(std::optional<Dcbx> Qos::*) const { return "\"host\""; }
    std::string operator()(std::optional<Pause> Qos::*) const { return "\"off\""; }
    std::string operator()(std::optional<uint32_t> Qos::*) const { return "a number"; }
    std::string operator()(std::optional<bool> Qos::*) const { return "false"; }
    std::string operator()(std::optional<Eight> Qos::*) const { return "[0,0,0,1,0,0,0,0]"; }
    std::string operator()(std::optional<Buffers> Qos::*) const { return "\"auto\""; }
    std::string operator()(std::optional<Rates> Qos::*) const { return "[0,0,0,100000000,0,0,0,0]"; }
    std::string operator()(std::optional<RoceMode> Qos::*) const { return "\"v2\""; }
    std::string operator()(std::optional<TrafficClass> Qos::*) const { return "106"; }
    std::string operator()(std::optional<Fec> Qos::*) const { return "\"rs\""; }
    std::string operator()(std::optional<AppTrust> Qos::*) const { return "[\"dscp\", \"pcp\"]"; }
    std::string operator()(std::optional<Names> Qos::*) const { return "\"all\""; }
    std::string operator()(std::optional<Trust> Qos::*) const { return "\"dscp\""; }
    std::string operator()(std::optional<DscpMap> Qos::*) const { return "{ 26 = 3, 48 = 6 }"; }
    std::string operator()(std::optional<Ets> Qos::*) const {
      return "{ prio_tc = [0,0,0,1,0,0,2,0], tsa = [\"ets\",\"ets\",\"strict\"], bw = [50,50,0] }";
    }
    std::string operator()(std::optional<PrioSet> Qos::*) const { return "[3]"; }
  };
  if (setting.key == "mtu") return "mtu = 4200";
  if (setting.key == "cable_length") return "cable_length = 30";
  return std::string(setting.key) + " = " + std::visit(Visitor{}, setting.member);
}

MaybeProblem check_range(const Setting& setting, const toml::node& node) {
  int64_t ignored = 0;
  if (!std::holds_alternative<std::optional<uint32_t> Qos::*>(setting.member)) return std::nullopt;
  return read_integer(node, setting.min, setting.max, ignored);
}

std::string class_text(int tc) { return "traffic class " + std::to_string(tc); }

// Where the part of an ets table stands, else the table itself.
toml::source_position at_part(const toml::node& node, std::string_view part) {
  const toml::node* found = node.as_table()->get(part);
  return (found != nullptr ? *found : node).source().begin;
}

MaybeProblem check_ets_class(const Ets& ets, const toml::node& node, size_t tc) {
  const auto* tsa = node.as_table()->get("tsa")->as_array();
  for (int prio = 0; prio < kPriorities; ++prio)
    if (ets.prio_tc[prio] == tc && tc >= tsa->size())
      return TomlProblem{at_part(node, "tsa"), "priority " + std::to_string(prio) + " goes to " + class_text(static_cast<int>(tc)) +
                                                   ", which has no algorithm: tsa lists " + std::to_string(tsa->size())};
  if (tc < tsa->size() && (ets.tsa[tc] == Tsa::vendor || ets.tsa[tc] == Tsa::cb_shaper))
    return TomlProblem{tsa->get(tc)->source().begin, "expected \"strict\" or \"ets\", which every driver has"};
  if (ets.tsa[tc] != Tsa::ets && ets.bw[tc] != 0)
    return TomlProblem{at_part(node, "bw"), class_text(static_cast<int>(tc)) + " is strict and takes what it needs: its bw must be 0, not " +
                                                std::to_string(ets.bw[tc])};
  return std::nullopt;
}

MaybeProblem check_ets(const Ets& ets, const toml::node& node) {
  unsigned sum = 0;
  bool any = false;
  for (size_t tc = 0; tc < ets.tsa.size(); ++tc) {
    if (auto problem = check_ets_class(ets, node, tc)) return problem;
    any = any || ets.tsa[tc] == Tsa::ets;
    sum += ets.tsa[tc] == Tsa::ets ? ets.bw[tc] : 0U;
  }
  if (any && sum != 100)
    return TomlProblem{at_part(node, "bw"), "the bandwidths of the ets classes add up to " + std::to_string(sum) + ", not 100"};
  return std::nullopt;
}

void read_match(Reader& reader, const toml::node& node, Match& match) {
  std::vector<std::string_view> known;
  for (const MatchKey& key : kMatchKeys) known.push_back(key.name);
  const auto* table = node.as_table();
  if (table == nullptr) {
    reader.fail(node.source().begin, "match: expected a table, not " + describe(node) + "; write match = { driver = \"mlx5_core\" }");
    return;
  }
  each_key(*table, [&](std::string_view name, const toml::source_position& at, const toml::node& value) {
    for (const MatchKey& key : kMatchKeys)
      if (key.name == name) {
        reader.good(read_texts(value, match.*key.member), "match." + std::string(name), std::string(name) + " = [\"PATTERN\"]");
        return;
      }
    reader.unknown_key(at, name, known);
  });
}

void read_key(Reader& reader, std::string_view name, const toml::source_position& at, const toml::node& node, PortPolicy& port) {
  if (name == "match") return read_match(reader, node, port.match);
  if (name == "name") {
    if (!reader.good(read_text(node, port.name), name, "name = \"rail\"")) return;
    if (port.name.empty()) reader.fail(node.source().begin, "name: the string is empty; leave the key out, or write name = \"rail\"");
    return;
  }
  auto row = setting_index(name);
  if (!row) {
    std::vector<std::string_view> known(std::begin(kPortKeys), std::end(kPortKeys));
    for (const Setting& setting : kSettings) known.push_back(setting.key);
    return reader.unknown_key(at, name, known);
  }
  const Setting& setting = kSettings[*row];
  auto problem = read_setting(setting, node, port.want);
  if (!problem) problem = check_range(setting, node);
  if (!problem && setting.key == "ets") problem = check_ets(*port.want.ets, node);
  if (reader.good(problem, name, example(setting))) port.origin[*row] = reader.line(node);
}

// Values that are right alone and wrong together.
void check_together(Reader& reader, const toml::table& table, const Qos& want) {
  auto at = [&](std::string_view key) { return table.get(key)->source().begin; };
  bool pfc = want.pfc && want.pfc->bits != 0;
  if (pfc && want.pause && (want.pause->rx || want.pause->tx))
    reader.fail(at("pause"), "pause: global pause and pfc exclude each other (802.1Qbb); write pause = \"off\"");
  if (want.trust == Trust::pcp && want.dscp_map && !want.dscp_map->empty())
    reader.fail(at("trust"), "trust: dscp_map has no effect while trust is \"pcp\"; write trust = \"dscp\", or leave dscp_map out");
  if (want.mtu && *want.mtu < kMtuForPath4096)
    reader.warn(at("mtu"), "mtu: " + std::to_string(*want.mtu) + " gives a RoCE path MTU below 4096; write mtu = 4200 or more");
  if (want.cable_length && !pfc)
    reader.warn(at("cable_length"), "cable_length: sizes the headroom of lossless priorities, and this entry has no pfc");
  if (!pfc || !want.dscp_map || want.trust == Trust::pcp) return;
  PrioSet reached;
  for (const auto& [dscp, prio] : *want.dscp_map) reached.bits = static_cast<uint8_t>(reached.bits | 1U << prio);
  for (int prio = 0; prio < kPriorities; ++prio)
    if (want.pfc->has(prio) && !reached.has(prio))
      reader.warn(at("pfc"), "pfc: no DSCP maps to priority " + std::to_string(prio) + ", so nothing is sent without loss on it; add it to dscp_map");
}

}  // namespace

PortPolicy read_port(Reader& reader, const toml::table& table) {
  PortPolicy port;
  port.where = reader.line(table);
  each_key(table, [&](std::string_view name, const toml::source_position& at, const toml::node& node) {
    read_key(reader, name, at, node, port);
  });
  check_together(reader, table, port.want);
  if (port.want == Qos{} && table.size() <= std::size(kPortKeys))
    reader.warn(table.source().begin, "[[port]] gives no setting: its ports are left as they are");
  return port;
}

}  // namespace fabric::config
