// SPDX-License-Identifier: Apache-2.0
// status and show.

#include "ctl/output/report_text.h"
#include "judge/finding.h"
#include "node/state.h"
#include "policy/config.h"

namespace fabric::ctl {
namespace {

using AgentSettings = std::map<std::string, SettingState>;

const AgentSettings* agent_settings(const Node& node, const std::string& id) {
  return node.agent ? find_in(node.agent->ports, id) : nullptr;
}

std::string sync_text(const Node& node, const Changes* changes) {
  if (changes == nullptr) return "unknown";
  std::string text;
  bool done = true;
  for (const Change& change : *changes) {
    const Outcome outcome = with_agents_word(node, change).outcome;
    if (outcome == Outcome::in_sync) continue;
    done = done && is_done(outcome);
    const bool unread = change.outcome == Outcome::refused && outcome == Outcome::refused;  // a dry run only reads
    append_item(text, change.key() + " " + (unread ? "unknown" : std::string(to_text(outcome))));
  }
  return text.empty() ? "yes" : (done ? "yes, but " : "no: ") + text;
}

// How often the agent repaired a setting of the port; when it last did, and which: both are empty if it never did.
std::pair<uint64_t, std::string> repairs_of(const AgentSettings* settings) {
  uint64_t count = 0;
  std::string last;  // begins with the time, RFC 3339 in UTC: the text's order is the time's
  if (settings != nullptr)
    for (const auto& [key, setting] : *settings) {
      count += setting.repairs;
      if (setting.last_repair > last.substr(0, last.find(' '))) last = setting.last_repair + " " + key;
    }
  return {count, last};
}

std::string state_text(const Port& port) { return port.state ? std::string(port_state_text(*port.state)) : "-"; }

std::string agent_line(const Node& node) {
  if (!node.agent_unread.empty()) return "Agent: state not readable.\n";
  if (!node.agent) return "Agent: not running; no state published.\n";
  const AgentState& agent = *node.agent;
  std::string text = agent.running ? "Agent: running, " + agent.mode + " mode; last change " + agent.updated + ".\n"
                                   : "Agent: not running; last change " + or_dash(agent.updated) + ".\n";
  if (!agent.held.empty()) text += "Agent: enforcement suspended: " + agent.held + ".\n";
  if (!agent.config_error.empty())
    text += "Agent: invalid configuration, the last valid one is in use (/" + std::string(kLastGoodFile) +
            "): " + agent.config_error + "\n";
  if (!agent.lost_entry.empty())
    text += "Agent: no [[port]] entry matches any more since a reload: " + names_text(agent.lost_entry) + "\n";
  if (!agent.originals_error.empty()) text += "Agent: original settings unreadable: " + agent.originals_error + "\n";
  return text;
}

// Details and drift of each setting, as the agent reports them.
std::string agent_details(const Node& node, const std::string& id) {
  std::string text;
  const AgentSettings* settings = agent_settings(node, id);
  if (settings == nullptr) return text;
  for (const auto& [key, setting] : *settings) {
    if (!setting.detail.empty()) text += id + " " + key + ": " + setting.outcome + ": " + setting.detail + "\n";
    uint64_t count = 0;
    for (const auto& [cause, times] : setting.drifts) count += times;
    if (count > 0)
      text += id + " " + key + ": drifted " + (count == 1 ? "once" : std::to_string(count) + " times") + ", last " +
              setting.last_drift + " from " + setting.drift_from + " to " + setting.drift_to + ", by " +
              setting.drift_by + "\n";
  }
  return text;
}

const PortPolicy* entry_for(const Policy* policy, const Port& port) {
  return policy == nullptr ? nullptr : policy_for(*policy, port);
}

Json setting_json(const Node& node, const Change& change) {
  const Change merged = with_agents_word(node, change);
  const AgentSettings* agent = agent_settings(node, change.port);
  const SettingState* known = agent == nullptr ? nullptr : find_in(*agent, change.key());
  const SettingState state = known == nullptr ? SettingState() : *known;
  return {{"setting", change.key()},
          {"outcome", to_text(merged.outcome)},
          {"from", change.from},
          {"to", change.to},
          {"detail", merged.detail},
          {"repairs", state.repairs},
          {"last_repair", state.last_repair},
          {"drifts", state.drifts},
          {"last_drift", state.last_drift},
          {"drift_from", state.drift_from},
          {"drift_to", state.drift_to},
          {"drift_by", state.drift_by}};
}

// Puts in_sync and settings.
void put_changes(Json& out, const Node& node, bool asked, const Changes* changes) {
  Json settings = Json::array();
  bool in_sync = true;
  for (const Change& change : changes == nullptr ? Changes() : *changes) {
    in_sync = in_sync && with_agents_word(node, change).outcome == Outcome::in_sync;
    settings.push_back(setting_json(node, change));
  }
  out.update({{"in_sync", !asked || changes == nullptr ? Json() : Json(in_sync)}, {"settings", std::move(settings)}});
}

Json port_json(const Node& node, const Port& port, const Policy* policy, const Changes* changes) {
  const PortPolicy* entry = entry_for(policy, port);
  Json out = {{"port", port.id()},
              {"netdev", port.netdev},
              {"state", port.state ? Json(state_text(port)) : Json()},
              {"phys_state", port.phys_state ? Json(phys_state_text(*port.phys_state)) : Json()},
              {"rate", port.rate},
              {"policy", entry == nullptr ? Json() : Json(entry->name)},
              {"left_alone", policy == nullptr ? port.left_alone : why_left_alone(*policy, port)}};
  put_changes(out, node, entry != nullptr, changes);
  return out;
}

// SETTING, READ, WANTED, OUTCOME.
std::string settings_text(const Port& port, const PortPolicy* entry, const Changes* changes, const Output& output) {
  Table table({"SETTING", "READ", "WANTED", "OUTCOME"});
  for (const Setting& setting : kSettings) {
    const bool asked = entry != nullptr && has_value(setting, entry->want);
    if (!asked && !has_value(setting, port.qos)) continue;
    const std::string read = value_text(setting, port.qos);
    std::string wanted = entry == nullptr ? "-" : value_text(setting, entry->want), outcome = "-";
    const auto is_it = [&](const Change& change) { return change.setting == setting.id; };
    if (const Change* change = changes == nullptr ? nullptr : find_where(*changes, is_it)) {
      wanted = change->to;
      outcome = to_text(change->outcome);
    }
    table.add({std::string(setting.key), read, wanted == read && read != "-" ? "same" : wanted, outcome});
  }
  return table.empty() ? "  no settings could be read\n" : table.text(output);
}

Json show_json(const Node& node, const Policy* policy) {
  Json ports = Json::array();
  for (const Port& port : node.ports) {
    const PortPolicy* entry = entry_for(policy, port);
    Json settings = Json::object();
    for (const Setting& setting : kSettings)
      settings[std::string(setting.key)] = {{"read", value_json(setting, port.qos)},
                                            {"wanted", entry == nullptr ? Json() : value_json(setting, entry->want)}};
    ports.push_back({{"port", port.id()},
                     {"netdev", port.netdev},
                     {"policy", entry == nullptr ? Json() : Json(entry->name)},
                     {"settings", std::move(settings)}});
  }
  return Json::object({{"ports", std::move(ports)}, {"unread", unseen_lines(node)}});
}

struct Absent {
  std::string card, place;  // key in the file of original settings; where it was last
};

std::vector<Absent> absent_cards(const World& world, const Node& node) {
  std::vector<Absent> out;
  if (const auto originals = state::load_originals(world.kernel.root))
    for (const auto& entry : state::absent_originals(*originals, node.ports))
      out.push_back({entry->first, entry->second.place});
  return out;
}

// Reads the chosen ports and passes them to `show`.
template <class Show>
int with_ports(const Options& options, Output& output, Show&& show) {
  auto world = open_world(options);
  if (!world) return fail(output, kFailure, world.error().text());
  ScanOptions what = ports_only();
  what.topology = options.verb == "status";
  what.settings = what.serials = what.members = true;
  Node node = look(*world, what);
  if (auto known = check_ports(options, node); !known) return fail(output, kFailure, known.error().text());
  const std::vector<Absent> absent = absent_cards(*world, node);
  std::erase_if(node.ports, [&](const Port& port) { return !is_chosen(options, port); });
  const Plan plan = make_plan(*world, node, options);
  output.text += show(*world, node, plan, absent);
  if (options.json) return kDone;
  const std::string kind = world->policy ? "Invalid configuration; compared with the last valid one: " : "No policy: ";
  if (!world->no_policy.empty()) output.text += "\n" + folded(kind + world->no_policy, output.width) + "\n";
  output.text += unseen_text(node, output);
  return kDone;
}

const Policy* policy_of(const World& world) { return world.policy ? &*world.policy : nullptr; }

// What the text says below "No policy" or "Invalid configuration".
Json config_error(const World& world) { return world.no_policy.empty() ? Json() : Json(world.no_policy); }

}  // namespace

std::string unmanaged_text(const Node& node, const Policy& policy, const Output& output) {
  std::map<std::string, std::vector<std::string>> ports;
  for (const Port& port : node.ports)
    if (const std::string why = why_left_alone(policy, port); !why.empty()) ports[why].push_back(port.id());
  std::string text;
  for (const auto& [why, names] : ports) text += names_text(names) + ": unmanaged: " + why + "\n";
  return folded(text, output.width);
}

std::string status_text(const Node& node, const Policy* policy, const Plan& plan, const Output& output) {
  const Changes* host = find_in(plan, kHostSubject);
  const std::string agent = folded(agent_line(node) + inventory_line(node), output.width);
  if (node.ports.empty() && host == nullptr) return agent + "No RDMA port found.\n";
  Table table({"PORT", "NETDEV", "STATE", "RATE", "POLICY", "IN SYNC", "REPAIRS", "LAST REPAIR"});
  for (const Port& port : node.ports) {
    const PortPolicy* entry = entry_for(policy, port);
    const auto [repairs, last] = repairs_of(agent_settings(node, port.id()));
    table.add({port.id(), or_dash(port.netdev), state_text(port), port.rate ? rate_text(*port.rate) : "-",
               entry == nullptr ? "-" : entry->name, entry == nullptr ? "-" : sync_text(node, find_in(plan, port.id())),
               std::to_string(repairs), or_dash(last)});
  }
  std::string text = table.empty() ? "" : "\n" + table.text(output), details = agent_details(node, kHostSubject);
  if (host != nullptr) text += "\nhost: in sync " + sync_text(node, host) + "\n";
  const std::string unmanaged = policy == nullptr ? "" : unmanaged_text(node, *policy, output);
  if (!unmanaged.empty()) text += "\n" + unmanaged;
  for (const Port& port : node.ports) details += agent_details(node, port.id());
  return agent + text + (details.empty() ? "" : "\n" + folded(details, output.width));
}

Json status_json(const Node& node, const Policy* policy, const Plan& plan) {
  Json agent, host;
  if (node.agent)
    agent = {{"running", node.agent->running},
             {"mode", node.agent->mode},
             {"updated", node.agent->updated},
             {"config_error", node.agent->config_error},
             {"held", node.agent->held},
             {"originals_error", node.agent->originals_error},
             {"lost_entry", node.agent->lost_entry}};
  Json ports = Json::array();
  for (const Port& port : node.ports) ports.push_back(port_json(node, port, policy, find_in(plan, port.id())));
  if (const Changes* changes = find_in(plan, kHostSubject)) put_changes(host, node, true, changes);
  return {{"hostname", node.hostname}, {"agent", std::move(agent)}, {"inventory", inventory_json(node)},
          {"ports", std::move(ports)}, {"host", std::move(host)},   {"unread", unseen_lines(node)}};
}

std::string show_text(const Node& node, const Policy* policy, const Plan& plan, const Output& output) {
  if (node.ports.empty()) return "No RDMA port found.\n";
  std::vector<PortText> ports;
  for (const Port& port : node.ports) {
    const PortPolicy* entry = entry_for(policy, port);
    ports.push_back({port.id(), entry == nullptr ? " (unmanaged)" : " (policy " + entry->name + ")",
                     settings_text(port, entry, find_in(plan, port.id()), output)});
  }
  return blocks_text(ports, output);
}

int run_status(const Options& options, Output& output) {
  using Cards = std::vector<Absent>;
  return with_ports(options, output, [&](const World& world, const Node& node, const Plan& plan, const Cards& absent) {
    if (options.json) {
      Json out = status_json(node, policy_of(world), plan);
      out["config_error"] = config_error(world);
      Json& cards = out["absent_cards"] = Json::array();
      for (const auto& [card, place] : absent) cards.push_back({{"card", card}, {"last_place", place}});
      return json_text(out);
    }
    if (!options.ports.empty() && node.ports.empty() && !plan.contains(kHostSubject))
      return agent_line(node) + inventory_line(node) + "host: no [sysctl] settings.\n";
    std::string text = status_text(node, policy_of(world), plan, output), kept;
    for (const auto& [card, place] : absent)
      kept += card + ": original settings kept; the card" + (place.empty() ? "" : ", last in " + place + ",") +
              " is not here now\n";
    if (options.ports.empty() && !kept.empty()) text += "\n" + folded(kept, output.width);
    return text;
  });
}

int run_show(const Options& options, Output& output) {
  return with_ports(options, output, [&](const World& world, const Node& node, const Plan& plan, const auto&) {
    if (!options.json) return show_text(node, policy_of(world), plan, output);
    Json out = show_json(node, policy_of(world));
    out["config_error"] = config_error(world);
    return json_text(out);
  });
}

}  // namespace fabric::ctl
