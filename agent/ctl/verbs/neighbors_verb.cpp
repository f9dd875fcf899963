// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/neighbors_verb.h"

#include <cmath>

#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"
#include "ctl/machine.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "judge/cabling.h"
#include "node/neighbor_state.h"

namespace fabric::ctl {
namespace {

// "12s", "5min", "3h", "2d", as systemd writes spans, but without a space: a narrow table breaks lines at spaces.
std::string age_text(const Neighbor& neighbor) {
  if (neighbor.source == kFirmwareSource) return "-";
  const auto seconds = static_cast<long>(neighbor.age);
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 7200) return std::to_string(seconds / 60) + "min";
  if (seconds < 172'800) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86'400) + "d";
}

std::vector<const Neighbor*> neighbors_of(const Node& node, const Port& port) {
  std::vector<const Neighbor*> out;
  for (const Neighbor& each : node.neighbors.heard)
    if (each.netdev == port.netdev) out.push_back(&each);
  return out;
}

Json neighbor_json(const Neighbor& neighbor) {
  Json json = neighbor;
  json.erase("heard");
  json["source"] = neighbor.source;
  json["age"] = std::floor(neighbor.age);
  return json;
}

}  // namespace

std::string neighbors_table(const Options& options, const Node& node, const Policy* policy, const Output& output) {
  Table table({"PORT", "NETDEV", "SWITCH", "SWITCH-PORT", "PFC", "MAX-FRAME", "AGE", "SOURCE", "EXPECTED"});
  for (const Port& port : node.ports) {
    if (!has_cable(port) || !is_chosen(options, port)) continue;
    std::string expected;
    for (const Cable* cable : planned_cables(policy, port)) append_item(expected, peer_text(cable->peer));
    expected = or_dash(expected);
    const auto found = neighbors_of(node, port);
    if (found.empty()) table.add({port.id(), port.netdev, "-", "-", "-", "-", "-", "-", expected});
    for (const Neighbor* each : found) {
      std::string pfc = "-", mtu = "-";
      if (each->pfc) pfc = to_text(each->pfc->enabled);
      if (each->max_frame) mtu = std::to_string(*each->max_frame);
      table.add({port.id(), port.netdev, or_dash(each->system()), or_dash(each->port()), pfc, mtu, age_text(*each),
                 each->source, expected});
    }
  }
  std::string text = "No RDMA port with a cable.\n";
  if (!table.empty()) text = table.text(output);

  std::string remarks;
  if (node.neighbors.source.empty()) {
    remarks += "No neighbors: " + node.neighbors.why_none + ".";
    // A captured tree has no services.
    if (options.root == options.host) remarks += " Start the listener: systemctl enable --now fabric-lldp";
    remarks += "\n";
  }
  for (const Port& port : node.ports)
    if (const std::string off = lldp_agent_off(port);
        !off.empty() && has_cable(port) && named_neighbors(node, port).empty())
      remarks += port.id() + ": the NIC firmware consumes LLDP. To see the neighbor: " + off + ".\n";
  for (const Neighbor& neighbor : node.neighbors.heard)
    for (const std::string& fault : neighbor.malformed)
      remarks += neighbor.netdev + ": malformed LLDP from " + peer_name(neighbor) + ": " + fault + ".\n";
  if (policy != nullptr && !policy->cabling.problem.empty())
    remarks += "Cabling plan not readable: " + policy->cabling.problem + ".\n";
  if (!remarks.empty()) text += "\n" + folded(remarks, output.width);
  return text;
}

int run_neighbors(const Options& options, Output& output) {
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, machine.error().text());
  ScanOptions what = ports_only();
  what.keys = Keys();
  what.settings = what.neighbors = what.members = true;  // the settings show whether the firmware has an LLDP agent
  const Node node = scan_machine(*machine, what);
  if (auto known = check_ports(options, node); !known) return fail(output, kFailure, known.error().text());
  const Policy* policy = machine->policy_or_null();
  if (!options.json) {
    output.text += neighbors_table(options, node, policy, output);
    return kDone;
  }
  Json ports = Json::array();
  for (const Port& port : node.ports) {
    if (!has_cable(port) || !is_chosen(options, port)) continue;
    Json listening, expected = Json::array(), found = Json::array();
    if (const double* since = find_in(node.neighbors.listening, port.netdev)) listening = std::floor(*since);
    for (const Cable* cable : planned_cables(policy, port))
      expected.push_back({{"device", cable->peer.device}, {"port", cable->peer.port}, {"where", cable->where}});
    for (const Neighbor* neighbor : neighbors_of(node, port)) found.push_back(neighbor_json(*neighbor));
    ports.push_back({{"port", port.id()},
                     {"netdev", port.netdev},
                     {"listening", std::move(listening)},
                     {"expected", std::move(expected)},
                     {"neighbors", std::move(found)}});
  }
  output.text += json_text(
      {{"source", node.neighbors.source}, {"why_none", node.neighbors.why_none}, {"ports", std::move(ports)}});
  return kDone;
}

}  // namespace fabric::ctl
