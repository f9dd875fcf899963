// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/status_verb.h"

#include <map>

#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"
#include "ctl/machine.h"
#include "ctl/output/report_text.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/findings.h"
#include "enforce/selftest.h"
#include "judge/finding.h"
#include "judge/inventory.h"
#include "judge/report.h"
#include "node/port.h"
#include "node/state.h"
#include "policy/last_good.h"

namespace fabric::ctl {
namespace {

using AgentSettings = std::map<std::string, SettingState>;

const AgentSettings* agent_settings(const Node& node, const std::string& id) {
  if (!node.agent) return nullptr;
  return find_in(node.agent->ports, id);
}

const PortPolicy* policy_of(const Policy* policy, const Port& port) {
  if (policy == nullptr) return nullptr;
  return policy_for(*policy, port);
}

std::string state_text(const Port& port) {
  if (!port.state) return "-";
  return std::string(port_state_text(*port.state));
}

// Whether a port is in sync, for people and for JSON alike.
struct Sync {
  std::string_view word;   // "yes", "unverified", "no"; "unknown" without changes
  std::string exceptions;  // "pfc pending, mtu refused"; of "unverified" the settings alone
  [[nodiscard]] std::string text() const {
    if (exceptions.empty()) return std::string(word);
    return std::string(word) + ": " + exceptions;
  }
};

Sync sync_of(const Node& node, const Changes* changes) {
  if (changes == nullptr) return {"unknown", {}};
  std::string unverified, exceptions;
  bool done = true;
  for (const Change& change : *changes) {
    const Outcome outcome = with_agent_outcome(node, change).outcome;
    if (outcome == Outcome::in_sync || outcome == Outcome::applied) continue;
    done = done && is_done(outcome);
    append_item(exceptions, change.key() + " " + std::string(to_text(outcome)));
    append_item(unverified, change.key());
  }
  if (exceptions.empty()) return {"yes", {}};
  if (done) return {to_text(Outcome::unverified), unverified};
  return {"no", exceptions};
}

// "2026-01-01T00:10:00Z (5 min ago)", or "-"
std::string moment_text(const std::string& time, int64_t wall) {
  const std::string ago = ago_text(time, wall);
  if (ago == time) return or_dash(time);
  return time + " (" + ago + ")";
}

// Empty: unknown.
std::string_view mode_word(const AgentState& agent) { return agent.mode ? to_text(*agent.mode) : std::string_view(); }

std::string agent_lines(const Node& node, int64_t wall) {
  if (!node.agent_unread.empty()) return "Agent: state not readable.\n";
  if (!node.agent) return "Agent: not running; no state published.\n";
  const AgentState& agent = *node.agent;
  std::string state = "not running";
  if (agent.running) state = "running, " + std::string(mode_word(agent)) + " mode";
  std::string text = "Agent: " + state + "; last change " + moment_text(agent.updated, wall) + ".\n";
  if (!agent.held.empty()) text += "Agent: enforcement suspended: " + agent.held + ".\n";
  if (!agent.config_error.empty())
    text += "Agent: invalid configuration, the last valid one is in use (/" + std::string(kLastGoodFile) +
            "): " + agent.config_error + "\n";
  if (!agent.lost_entry.empty())
    text += "Agent: no [[port]] entry matches any more since a reload: " + names_text(agent.lost_entry) + "\n";
  if (agent.lost_originals) text += "Agent: original settings unreadable: " + agent.lost_originals->why + "\n";
  return text;
}

// "Inventory: 24 parts as of 2026-01-01T00:00:00Z; none is missing." Empty: none is recorded.
std::string inventory_line(const Node& node, int64_t wall) {
  if (!node.inventory_unread.empty()) return "Inventory: not readable: " + node.inventory_unread + "\n";
  if (!node.inventory) return {};
  const size_t lost = losses_since(node).size();
  std::string state = "none is missing";
  if (lost > 0) state = std::to_string(lost) + " gone or changed: fabric-agentctl inventory";
  return "Inventory: " + counted(node.inventory->parts.size(), "part") + " as of " +
         moment_text(node.inventory->taken, wall) + "; " + state + ".\n";
}

// Null: none is recorded, or the inventory cannot be read.
Json inventory_json(const Node& node) {
  if (!node.inventory) return {};
  return {{"taken", node.inventory->taken},
          {"parts", node.inventory->parts.size()},
          {"missing", losses_since(node).size()}};
}

// Details and drift of each setting, as the agent reports them.
std::string agent_details(const Node& node, const std::string& id, int64_t wall) {
  std::string text;
  const AgentSettings* settings = agent_settings(node, id);
  if (settings == nullptr) return text;
  for (const auto& [key, setting] : *settings) {
    const std::string outcome(setting.outcome ? to_text(*setting.outcome) : "unknown");
    if (!setting.detail.empty()) text += id + " " + key + ": " + outcome + ": " + setting.detail + "\n";
    uint64_t count = 0;
    for (const auto& [cause, times] : setting.drifts) count += times;
    if (count == 0) continue;
    std::string how_often = "once";
    if (count > 1) how_often = std::to_string(count) + " times";
    text += id + " " + key + ": drifted " + how_often + ", last " + moment_text(setting.last_drift, wall) + " from " +
            setting.drift_from + " to " + setting.drift_to + ", by " + setting.drift_by + "\n";
  }
  return text;
}

// Adds "in_sync" (Sync::word; null: there is no policy) and "settings".
void add_changes(Json& out, const Node& node, bool has_policy, const Changes* changes) {
  Json in_sync, settings = Json::array();
  if (has_policy) in_sync = sync_of(node, changes).word;
  if (changes != nullptr) {
    for (const Change& change : *changes) {
      const Change merged = with_agent_outcome(node, change);
      SettingState state;
      if (const AgentSettings* known = agent_settings(node, change.port))
        if (const SettingState* found = find_in(*known, change.key())) state = *found;
      settings.push_back({{"setting", change.key()},
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
                          {"drift_by", state.drift_by}});
    }
  }
  out["in_sync"] = std::move(in_sync);
  out["settings"] = std::move(settings);
}

// SETTING, READ, WANTED, OUTCOME.
std::string settings_text(const Port& port, const PortPolicy* policy, const Changes* changes, const Output& output) {
  Table table({"SETTING", "READ", "WANTED", "OUTCOME"});
  for (const Setting& setting : kSettings) {
    const bool is_wanted = policy != nullptr && has_value(setting, policy->want);
    if (!is_wanted && !has_value(setting, port.qos)) continue;
    const std::string read = value_text(setting, port.qos);
    std::string wanted = "-", outcome = "-";
    if (policy != nullptr) wanted = value_text(setting, policy->want);
    if (changes != nullptr)
      for (const Change& change : *changes) {
        if (change.setting != setting.id) continue;
        wanted = change.to;
        outcome = to_text(change.outcome);
        break;
      }
    if (wanted == read && read != "-") wanted = "same";
    table.add({std::string(setting.key), read, wanted, outcome});
  }
  if (table.empty()) return "  no settings could be read\n";
  return table.text(output);
}

// A NIC that has recorded original settings, but is not in the machine.
struct AbsentCard {
  std::string card;   // key in the file of original settings
  std::string place;  // last known place; empty: unknown
};

// The data of both verbs.
struct ShownPorts {
  Machine machine;
  Node node;  // the chosen ports
  Plan plan;
  std::vector<AbsentCard> absent;
  Result<std::vector<qos::OpenSelfTest>> self_tests = std::vector<qos::OpenSelfTest>();
  std::string unconfirmed{};  // UnconfirmedApply::text
};

Result<ShownPorts> read_ports(const Options& options) {
  auto machine = open_machine(options);
  if (!machine) return machine.error();
  ScanOptions what = ports_only();
  what.topology = options.verb == "status";
  what.settings = what.serials = what.members = true;
  Node node = scan_machine(*machine, what);
  if (auto known = check_ports(options, node); !known) return known.error();
  std::vector<AbsentCard> absent;
  if (const auto originals = state::load_originals(machine->kernel.root))
    for (const auto& entry : state::absent_originals(*originals, node.ports))
      absent.push_back({entry->first, entry->second.place});
  auto self_tests = qos::open_self_tests(machine->kernel.root, node.ports);
  std::erase_if(node.ports, [&](const Port& port) { return !is_chosen(options, port); });
  if (self_tests && !options.ports.empty())
    std::erase_if(*self_tests,
                  [&](const qos::OpenSelfTest& test) { return !contains(node.ports, test.port, &Port::id); });
  Plan plan = make_plan(*machine, node, options);
  std::string unconfirmed = unconfirmed_apply(machine->kernel.root, node, options).text;
  return ShownPorts{std::move(machine).value(), std::move(node),       std::move(plan),
                    std::move(absent),          std::move(self_tests), std::move(unconfirmed)};
}

// A self-test that was killed leaves only its record, if its guard was killed with it and no agent runs.
std::string self_tests_text(const ShownPorts& shown, const Output& output) {
  if (!shown.self_tests) {
    if (shown.self_tests.error().code == EACCES) return {};  // root reads it
    return "\n" + folded(shown.self_tests.error().text() + "\n", output.width);
  }
  const std::optional<bool> is_running = qos::is_writing(shown.machine.kernel.root);
  std::string text;
  for (const qos::OpenSelfTest& test : *shown.self_tests) {
    text += qos::text_of(test, is_running);
    if (is_running == false) text += ": " + end_of_self_test(shown.node);
    text += "\n";
  }
  if (text.empty()) return text;
  text.front() = 'A';
  return "\n" + folded(text, output.width);
}

Json self_tests_json(const ShownPorts& shown) {
  Json out = Json::array();
  if (!shown.self_tests) return out;
  for (const qos::OpenSelfTest& test : *shown.self_tests) {
    Json keys = Json::array();
    for (const Setting& setting : kSettings)
      if (has_key(test.differing, setting.id)) keys.push_back(setting.key);
    out.push_back({{"port", test.port}, {"absent", test.absent}, {"differing", std::move(keys)}});
  }
  return out;
}

// Null: there is a valid policy. Else the reason, which the text has in "No policy" or "Invalid configuration".
Json config_error_json(const Machine& machine) {
  if (!machine.no_policy) return {};
  return machine.no_policy->text();
}

// The lines below the ports: why there is no valid policy, and the readings that failed.
std::string remarks_text(const ShownPorts& shown, const Output& output) {
  std::string text;
  if (shown.machine.no_policy) {
    const std::string why = shown.machine.no_policy->text();
    std::string remark = "No policy: " + why;
    if (shown.machine.policy) remark = "Invalid configuration; compared with the last valid one: " + why;
    text = "\n" + folded(remark, output.width) + "\n";
  }
  return text + unseen_text(shown.node, output);
}

}  // namespace

std::string unmanaged_text(const Node& node, const Policy& policy, const Output& output) {
  std::vector<std::pair<std::string, std::vector<std::string>>> ports;  // by reason, in the order of their first port
  for (const Port& port : node.ports) {
    const std::string why = why_unmanaged(policy, port);
    if (why.empty()) continue;
    auto* same = find_where(ports, [&](const auto& each) { return each.first == why; });
    if (same == nullptr) same = &ports.emplace_back(why, std::vector<std::string>{});
    same->second.push_back(port.id());
  }
  std::string text;
  for (const auto& [why, names] : ports) text += names_text(names) + ": unmanaged: " + why + "\n";
  return folded(text, output.width);
}

std::string status_text(const Node& node, const Policy* policy, const Plan& plan, int64_t wall, const Output& output) {
  const Changes* host = find_in(plan, kHostSubject);
  std::string text = folded(agent_lines(node, wall) + inventory_line(node, wall), output.width);
  if (node.ports.empty() && host == nullptr) return text + "No RDMA port found.\n";
  Table table({"PORT", "NETDEV", "STATE", "RATE", "POLICY", "IN SYNC", "REPAIRS", "LAST REPAIR"}, {}, {7});
  for (const Port& port : node.ports) {
    if (port.role == PortRole::smi) continue;  // named below: no program can open it
    std::string rate = "-", policy_name = "-", in_sync = "-";
    if (port.rate && !is_down(port)) rate = unbroken(rate_text(*port.rate));  // without a link, sysfs has a lowest rate
    if (const PortPolicy* own = policy_of(policy, port)) {
      policy_name = own->name;
      in_sync = sync_of(node, find_in(plan, port.id())).text();
    }
    uint64_t repairs = 0;
    std::string latest, last_repair;  // times are RFC 3339 in UTC: they sort as text
    if (const AgentSettings* settings = agent_settings(node, port.id()))
      for (const auto& [key, setting] : *settings) {
        repairs += setting.repairs;
        if (setting.last_repair <= latest) continue;
        latest = setting.last_repair;
        last_repair = key + " " + unbroken(ago_text(latest, wall));
      }
    table.add({port.id(), or_dash(port.netdev), state_text(port), rate, policy_name, in_sync, std::to_string(repairs),
               or_dash(last_repair)});
  }
  if (!table.empty()) text += "\n" + table.text(output);
  if (host != nullptr) text += "\nhost: in sync " + sync_of(node, host).text() + "\n";
  if (policy != nullptr)
    if (const std::string unmanaged = unmanaged_text(node, *policy, output); !unmanaged.empty())
      text += "\n" + unmanaged;
  std::string details = agent_details(node, kHostSubject, wall);
  for (const Port& port : node.ports) details += agent_details(node, port.id(), wall);
  if (!details.empty()) text += "\n" + folded(details, output.width);
  return text;
}

Json status_json(const Node& node, const Policy* policy, const Plan& plan) {
  Json agent, host, ports = Json::array();
  if (node.agent)
    agent = {{"running", node.agent->running},
             {"version", node.agent->version},
             {"mode", mode_word(*node.agent)},
             {"policy", node.agent->config},
             {"updated", node.agent->updated},
             {"config_error", node.agent->config_error},
             {"held", node.agent->held},
             {"originals_error", node.agent->lost_originals ? node.agent->lost_originals->why : ""},
             {"lost_entry", node.agent->lost_entry}};
  for (const Port& port : node.ports) {
    const PortPolicy* own = policy_of(policy, port);
    Json& out = ports.emplace_back(Json{{"port", port.id()},
                                        {"netdev", port.netdev},
                                        {"role", to_text(port.role)},
                                        {"state", nullptr},
                                        {"phys_state", nullptr},
                                        {"rate", port.rate},
                                        {"policy", nullptr},
                                        {"left_alone", why_unmanageable(port)}});
    if (port.state) out["state"] = state_text(port);
    if (port.phys_state) out["phys_state"] = phys_state_text(*port.phys_state);
    if (own != nullptr) out["policy"] = own->name;
    if (policy != nullptr) out["left_alone"] = why_unmanaged(*policy, port);
    add_changes(out, node, own != nullptr, find_in(plan, port.id()));
  }
  if (const Changes* changes = find_in(plan, kHostSubject)) add_changes(host, node, true, changes);
  return {{"hostname", node.hostname}, {"agent", std::move(agent)}, {"inventory", inventory_json(node)},
          {"ports", std::move(ports)}, {"host", std::move(host)},   {"unread", unseen_lines(node)}};
}

std::string show_text(const Node& node, const Policy* policy, const Plan& plan, const Output& output) {
  if (node.ports.empty()) return "No RDMA port found.\n";
  std::vector<PortText> ports;
  for (const Port& port : node.ports) {
    const PortPolicy* own = policy_of(policy, port);
    std::string remark = " (unmanaged)";
    if (own != nullptr) remark = " (policy " + own->name + ")";
    ports.push_back({port.id(), remark, settings_text(port, own, find_in(plan, port.id()), output)});
  }
  return blocks_text(ports, output);
}

int run_status(const Options& options, Output& output) {
  const auto shown = read_ports(options);
  if (!shown) return fail(output, kFailure, shown.error().text());
  const auto& [machine, node, plan, absent, self_tests, unconfirmed] = *shown;
  if (options.json) {
    Json out = status_json(node, machine.policy_or_null(), plan);
    out["config_error"] = config_error_json(machine);
    Json& cards = out["absent_cards"] = Json::array();
    for (const auto& [card, place] : absent) cards.push_back({{"card", card}, {"last_place", place}});
    out["self_tests"] = self_tests_json(*shown);
    out["unconfirmed_apply"] = unconfirmed;
    output.text += json_text(out);
    return kDone;
  }
  const int64_t wall = wall_now(machine.kernel);
  if (!options.ports.empty() && node.ports.empty() && !plan.contains(kHostSubject)) {
    output.text += agent_lines(node, wall) + inventory_line(node, wall) + "host: no [sysctl] settings.\n";
  } else {
    output.text += status_text(node, machine.policy_or_null(), plan, wall, output);
    std::string absent_text;
    for (const auto& [card, place] : absent) {
      std::string last;
      if (!place.empty()) last = ", last in " + place + ",";
      absent_text += card + ": original settings kept; the NIC" + last + " is absent\n";
    }
    if (options.ports.empty() && !absent_text.empty()) output.text += "\n" + folded(absent_text, output.width);
  }
  if (!unconfirmed.empty()) output.text += "\n" + folded("A" + unconfirmed.substr(1) + "\n", output.width);
  output.text += self_tests_text(*shown, output) + remarks_text(*shown, output);
  return kDone;
}

int run_show(const Options& options, Output& output) {
  const auto shown = read_ports(options);
  if (!shown) return fail(output, kFailure, shown.error().text());
  const auto& [machine, node, plan, absent, self_tests, unconfirmed] = *shown;
  if (options.json) {
    Json ports = Json::array();
    for (const Port& port : node.ports) {
      const PortPolicy* own = policy_of(machine.policy_or_null(), port);
      Json name, settings = Json::object();
      if (own != nullptr) name = own->name;
      for (const Setting& setting : kSettings) {
        Json& out = settings[std::string(setting.key)] = {{"read", value_json(setting, port.qos)}, {"wanted", nullptr}};
        if (own != nullptr) out["wanted"] = value_json(setting, own->want);
      }
      ports.push_back({{"port", port.id()},
                       {"netdev", port.netdev},
                       {"policy", std::move(name)},
                       {"settings", std::move(settings)}});
    }
    output.text += json_text(
        {{"ports", std::move(ports)}, {"unread", unseen_lines(node)}, {"config_error", config_error_json(machine)}});
    return kDone;
  }
  output.text += show_text(node, machine.policy_or_null(), plan, output) + remarks_text(*shown, output);
  return kDone;
}

}  // namespace fabric::ctl
