// SPDX-License-Identifier: Apache-2.0
// show: current and wanted settings.
#include <algorithm>

#include "base/json.h"
#include "base/parse.h"
#include "ctl/output/report_text.h"

namespace fabric::ctl {
namespace {

using SettingRows = std::vector<std::vector<std::string>>;  // SETTING, READ, WANTED, OUTCOME

SettingRows setting_rows(const Port& port, const PortPolicy* entry, const Plan& plan) {
  const auto changes = plan.find(port.id());
  SettingRows rows;
  for (const Setting& setting : kSettings) {
    const bool asked = entry != nullptr && has_value(setting, entry->want);
    if (!asked && !has_value(setting, port.qos)) continue;
    const std::string read = value_text(setting, port.qos);
    std::string wanted = entry == nullptr ? "-" : value_text(setting, entry->want), outcome = "-";
    if (changes != plan.end())
      for (const Change& change : changes->second)
        if (change.setting == setting.id) {
          wanted = change.to;
          outcome = to_text(change.outcome);
        }
    rows.push_back({std::string(setting.key), read, wanted == read && read != "-" ? "same" : wanted, outcome});
  }
  return rows;
}

}  // namespace

std::string show_text(const Node& node, const Policy* policy, const Plan& plan, const Output& output) {
  if (node.ports.empty()) return "No RDMA device found.\n";
  struct Group {
    std::string policy;
    SettingRows rows;
    std::vector<std::string> ports;
  };
  std::vector<Group> groups;
  for (const Port& port : node.ports) {
    const PortPolicy* entry = policy == nullptr ? nullptr : policy_for(*policy, port);
    Group group{entry == nullptr ? "unmanaged" : "policy " + entry->name, setting_rows(port, entry, plan), {port.id()}};
    const auto same = std::ranges::find_if(
        groups, [&](const Group& other) { return other.policy == group.policy && other.rows == group.rows; });
    if (same == groups.end()) groups.push_back(std::move(group));
    else same->ports.push_back(port.id());
  }
  std::string text;
  for (const Group& group : groups) {
    Table table({"SETTING", "READ", "WANTED", "OUTCOME"});
    for (const auto& row : group.rows) table.add(row);
    append_item(text,
                wrapped(names_text(group.ports) + " (" + group.policy + ")", output.width, 2) + "\n" +
                    (table.empty() ? "  no settings could be read\n" : table.text(output)),
                "\n");
  }
  return text;
}

Json show_json(const Node& node, const Policy* policy) {
  Json ports = Json::array();
  for (const Port& port : node.ports) {
    const PortPolicy* entry = policy == nullptr ? nullptr : policy_for(*policy, port);
    Json settings = Json::object();
    for (const Setting& setting : kSettings) {
      Json pair = Json::object({{"read", value_json(setting, port.qos)},
                                {"wanted", entry == nullptr ? Json() : value_json(setting, entry->want)}});
      settings[std::string(setting.key)] = std::move(pair);
    }
    Json out = Json::object();
    out.update(
        {{"port", port.id()}, {"netdev", port.netdev}, {"policy", entry == nullptr ? Json() : Json(entry->name)}});
    out["settings"] = std::move(settings);
    ports.push_back(std::move(out));
  }
  return Json::object({{"ports", std::move(ports)}, {"unread", unseen_json(node)}});
}

}  // namespace fabric::ctl
