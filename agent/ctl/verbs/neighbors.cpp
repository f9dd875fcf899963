// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/json.h"
#include "base/parse.h"
#include "checks/cabling/peer.h"
#include "ctl/output/report_text.h"
#include "ctl/output/table.h"
#include "ctl/world.h"

namespace fabric::ctl {
namespace {

// "12s", "5min", "3h", "2d", as systemd writes spans; without a space, at which a narrow table would break the line
std::string age_text(const Neighbor& neighbor) {
  if (neighbor.source == "firmware") return "-";
  const auto seconds = static_cast<long>(neighbor.age);
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 7200) return std::to_string(seconds / 60) + "min";
  return seconds < 172'800 ? std::to_string(seconds / 3600) + "h" : std::to_string(seconds / 86'400) + "d";
}

std::string expected_text(const std::vector<const Cable*>& cables) {
  std::string text;
  for (const Cable* cable : cables) append_item(text, peer_text(cable->peer));
  return or_dash(text);
}

std::vector<const Neighbor*> neighbors_of(const Node& node, const Port& port) {
  std::vector<const Neighbor*> out;
  for (const Neighbor& each : node.neighbors.heard)
    if (each.netdev == port.netdev) out.push_back(&each);
  return out;
}

std::string remarks_text(const Node& node, const Policy* policy) {
  std::string text;
  if (node.neighbors.source.empty()) text += "No neighbors: " + node.neighbors.why_none + ".\n";
  for (const Port& port : node.ports)
    if (const std::string off = lldp_agent_off(port);
        !off.empty() && has_cable(port) && named_neighbors(node, port).empty())
      text += port.id() + ": the NIC firmware consumes LLDP. To see the neighbor: " + off + ".\n";
  for (const Neighbor& each : node.neighbors.heard)
    for (const std::string& fault : each.malformed)
      text += each.netdev + ": malformed LLDP from " + peer_name(each) + ": " + fault + ".\n";
  if (policy != nullptr && !policy->cabling.problem.empty())
    text += "Cabling plan not readable: " + policy->cabling.problem + ".\n";
  return text;
}

Json ets_json(const std::optional<DcbxEts>& ets) {
  if (!ets) return {};
  return Json::object({{"willing", ets->willing},
                       {"max_classes", ets->max_classes},
                       {"prio_tc", ets->prio_tc},
                       {"bw", ets->bw},
                       {"tsa", ets->tsa}});
}

Json pfc_json(const std::optional<DcbxPfc>& pfc) {
  if (!pfc) return {};
  return Json::object({{"willing", pfc->willing},
                       {"mbc", pfc->mbc},
                       {"capability", pfc->capability},
                       {"enabled", to_json(pfc->enabled)}});
}

Json app_json(const std::optional<std::vector<DcbxApp>>& app) {
  if (!app) return {};
  Json out = Json::array();
  for (const DcbxApp& each : *app)
    out.push_back(
        Json::object({{"selector", each.selector}, {"protocol", each.protocol}, {"priority", each.priority}}));
  return out;
}

Json texts_json(const std::vector<std::string>& texts) {
  Json out = Json::array();
  for (const std::string& text : texts) out.push_back(text);
  return out;
}

Json neighbor_json(const Neighbor& neighbor) {
  return Json::object({{"source", neighbor.source},
                       {"chassis_id", neighbor.chassis_id},
                       {"port_id", neighbor.port_id},
                       {"port_description", neighbor.port_description},
                       {"system_name", neighbor.system_name},
                       {"system_description", neighbor.system_description},
                       {"management", texts_json(neighbor.management)},
                       {"ttl", neighbor.ttl},
                       {"age", std::floor(neighbor.age)},
                       {"max_frame", neighbor.max_frame},
                       {"vlan", neighbor.vlan},
                       {"dcbx", neighbor.dcbx},
                       {"pfc", pfc_json(neighbor.pfc)},
                       {"ets", ets_json(neighbor.ets)},
                       {"ets_recommended", ets_json(neighbor.ets_recommended)},
                       {"app", app_json(neighbor.app)},
                       {"malformed", texts_json(neighbor.malformed)}});
}

}  // namespace

std::string neighbors_text(const Options& options, const Node& node, const Policy* policy, const Output& output) {
  Table table({"PORT", "NETDEV", "SWITCH", "SWITCH-PORT", "PFC", "MTU", "AGE", "SOURCE", "EXPECTED"});
  for (const Port& port : node.ports) {
    if (!has_cable(port) || !is_chosen(options, port)) continue;
    const std::string expected = expected_text(planned_cables(policy, port));
    const auto found = neighbors_of(node, port);
    if (found.empty()) table.add({port.id(), port.netdev, "-", "-", "-", "-", "-", "-", expected});
    for (const Neighbor* each : found)
      table.add({port.id(), port.netdev, or_dash(each->system()), or_dash(each->port()),
                 each->pfc ? to_text(each->pfc->enabled) : "-",
                 each->max_frame ? std::to_string(*each->max_frame) : "-", age_text(*each), each->source, expected});
  }
  const std::string remarks = folded(remarks_text(node, policy), output.width);
  return (table.empty() ? "No RDMA port with a cable.\n" : table.text(output)) +
         (remarks.empty() ? "" : "\n" + remarks);
}

Json neighbors_json(const Options& options, const Node& node, const Policy* policy) {
  Json ports = Json::array();
  for (const Port& port : node.ports) {
    if (!has_cable(port) || !is_chosen(options, port)) continue;
    Json expected = Json::array(), found = Json::array();
    for (const Cable* cable : planned_cables(policy, port))
      expected.push_back(
          Json::object({{"device", cable->peer.device}, {"port", cable->peer.port}, {"where", cable->where}}));
    for (const Neighbor* each : neighbors_of(node, port)) found.push_back(neighbor_json(*each));
    const auto listening = node.neighbors.listening.find(port.netdev);
    ports.push_back(Json::object(
        {{"port", port.id()},
         {"netdev", port.netdev},
         {"listening", listening == node.neighbors.listening.end() ? Json() : Json(std::floor(listening->second))},
         {"expected", std::move(expected)},
         {"neighbors", std::move(found)}}));
  }
  return Json::object(
      {{"source", node.neighbors.source}, {"why_none", node.neighbors.why_none}, {"ports", std::move(ports)}});
}

int run_neighbors(const Options& options, Output& output) {
  auto world = open_world(options);
  if (!world) return fail(output, kFailure, world.error().text());
  ScanOptions what = ports_only();
  what.keys = Keys();
  what.settings = what.neighbors = what.members = true;  // with settings: whether the firmware has an LLDP agent
  const Node node = look(*world, what);
  if (auto known = check_ports(options, node); !known) return fail(output, kFailure, known.error().text());
  const Policy* policy = world->policy ? &*world->policy : nullptr;
  output.text +=
      options.json ? json_text(neighbors_json(options, node, policy)) : neighbors_text(options, node, policy, output);
  return kDone;
}

}  // namespace fabric::ctl
