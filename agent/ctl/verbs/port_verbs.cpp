// SPDX-License-Identifier: Apache-2.0
// status and show.

#include "base/json.h"
#include "base/parse.h"
#include "config/config.h"
#include "ctl/output/report_text.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/world.h"
#include "model/finding.h"
#include "store/state.h"

namespace fabric::ctl {
namespace {

using AgentSettings = std::map<std::string, SettingState>;

const AgentSettings* agent_settings(const Node& node, const std::string& id) {
  if (!node.agent) return nullptr;
  return find_in(node.agent->ports, id);
}

const Changes* planned(const Plan& plan, const Port& port) { return find_in(plan, port.id()); }

const PortPolicy kHostEntry{};

std::string sync_text(const Node& node, const PortPolicy* entry, const Changes* changes) {
  if (entry == nullptr) return "-";
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

struct Repairs {
  uint64_t count = 0;
  std::string last, of;  // when, and which setting
};

Repairs repairs_of(const AgentSettings* settings) {
  Repairs all;
  if (settings == nullptr) return all;
  for (const auto& [key, setting] : *settings) {
    all.count += setting.repairs;
    if (setting.last_repair <= all.last) continue;  // RFC 3339 in UTC: the text's order is the time's
    all.last = setting.last_repair;
    all.of = key;
  }
  return all;
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
  if (!agent.originals_error.empty()) text += "Agent: original settings unreadable: " + agent.originals_error + "\n";
  return text;
}

std::string drift_line(const std::string& id, const std::string& key, const SettingState& setting) {
  uint64_t count = 0;
  for (const auto& [cause, times] : setting.drifts) count += times;
  if (count == 0) return {};
  return id + " " + key + ": drifted " + (count == 1 ? "once" : std::to_string(count) + " times") + ", last " +
         setting.last_drift + " from " + setting.drift_from + " to " + setting.drift_to + ", by " + setting.drift_by +
         "\n";
}

// Details and drift of each setting, as the agent reports them.
std::string agent_details(const Node& node, const std::string& id) {
  std::string text;
  if (!node.agent) return text;
  const auto found = node.agent->ports.find(id);
  if (found == node.agent->ports.end()) return text;
  for (const auto& [key, setting] : found->second) {
    if (!setting.detail.empty()) text += id + " " + key + ": " + setting.outcome + ": " + setting.detail + "\n";
    text += drift_line(id, key, setting);
  }
  return text;
}

const PortPolicy* entry_for(const Policy* policy, const Port& port) {
  return policy == nullptr ? nullptr : policy_for(*policy, port);
}

Json setting_json(const Node& node, const Change& change) {
  const Change merged = with_agents_word(node, change);
  Json entry = Json::object({{"setting", change.key()},
                             {"outcome", to_text(merged.outcome)},
                             {"from", change.from},
                             {"to", change.to},
                             {"detail", merged.detail}});
  const AgentSettings* agent = agent_settings(node, change.port);
  const auto found = agent == nullptr ? AgentSettings::const_iterator{} : agent->find(change.key());
  const bool known = agent != nullptr && found != agent->end();
  const SettingState state = known ? found->second : SettingState{};
  Json drifts = Json::object();
  for (const auto& [cause, count] : state.drifts) drifts[cause] = count;
  entry.update({{"repairs", state.repairs},
                {"last_repair", state.last_repair},
                {"drifts", std::move(drifts)},
                {"last_drift", state.last_drift},
                {"drift_from", state.drift_from},
                {"drift_to", state.drift_to},
                {"drift_by", state.drift_by}});
  return entry;
}

// Puts in_sync and settings.
void put_changes(Json& out, const Node& node, bool asked, const Changes* changes) {
  Json settings = Json::array();
  bool in_sync = changes != nullptr;
  if (changes != nullptr)
    for (const Change& change : *changes) {
      in_sync = in_sync && with_agents_word(node, change).outcome == Outcome::in_sync;
      settings.push_back(setting_json(node, change));
    }
  out.update({{"in_sync", !asked || changes == nullptr ? Json() : Json(in_sync)}, {"settings", std::move(settings)}});
}

Json port_json(const Node& node, const Port& port, const Policy* policy, const Changes* changes) {
  const PortPolicy* entry = entry_for(policy, port);
  Json out = Json::object({{"port", port.id()},
                           {"netdev", port.netdev},
                           {"state", state_text(port)},
                           {"phys_state", port.phys_state ? Json(phys_state_text(*port.phys_state)) : Json()},
                           {"rate", port.rate},
                           {"policy", entry == nullptr ? Json() : Json(entry->name)},
                           {"left_alone", policy == nullptr ? port.left_alone : why_left_alone(*policy, port)}});
  put_changes(out, node, entry != nullptr, changes);
  return out;
}

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
  const auto host = plan.find(kHostSubject);
  const std::string agent = folded(agent_line(node) + inventory_line(node), output.width);
  if (node.ports.empty() && host == plan.end()) return agent + "No RDMA device found.\n";
  Table table({"PORT", "NETDEV", "STATE", "RATE", "POLICY", "IN SYNC", "REPAIRS", "LAST REPAIR"});
  for (const Port& port : node.ports) {
    const PortPolicy* entry = entry_for(policy, port);
    const Repairs repairs = repairs_of(agent_settings(node, port.id()));
    table.add({port.id(), or_dash(port.netdev), state_text(port), port.rate ? rate_text(*port.rate) : "-",
               entry == nullptr ? "-" : entry->name, sync_text(node, entry, planned(plan, port)),
               std::to_string(repairs.count), repairs.last.empty() ? "-" : repairs.last + " " + repairs.of});
  }
  std::string text = table.empty() ? "" : "\n" + table.text(output), details = agent_details(node, kHostSubject);
  if (host != plan.end()) text += "\nhost: in sync " + sync_text(node, &kHostEntry, &host->second) + "\n";
  if (policy != nullptr)
    if (const std::string unmanaged = unmanaged_text(node, *policy, output); !unmanaged.empty())
      text += "\n" + unmanaged;
  for (const Port& port : node.ports) details += agent_details(node, port.id());
  return agent + text + (details.empty() ? "" : "\n" + folded(details, output.width));
}

Json status_json(const Node& node, const Policy* policy, const Plan& plan) {
  Json agent;
  if (node.agent) {
    agent = Json::object({{"running", node.agent->running},
                          {"mode", node.agent->mode},
                          {"updated", node.agent->updated},
                          {"config_error", node.agent->config_error},
                          {"held", node.agent->held},
                          {"originals_error", node.agent->originals_error}});
  }
  Json ports = Json::array();
  for (const Port& port : node.ports) ports.push_back(port_json(node, port, policy, planned(plan, port)));
  Json out = Json::object({{"hostname", node.hostname},
                           {"agent", std::move(agent)},
                           {"inventory", inventory_json(node)},
                           {"ports", std::move(ports)}});
  Json host;
  if (const auto changes = plan.find(kHostSubject); changes != plan.end())
    put_changes(host = Json::object(), node, true, &changes->second);
  out.update({{"host", std::move(host)}, {"unread", unseen_json(node)}});
  return out;
}

namespace {

using Absent = std::vector<std::pair<std::string, std::string>>;  // key in the file, last place

Absent absent_cards(const World& world, const Node& node) {
  Absent out;
  if (const auto originals = state::load_originals(world.kernel.root.path()))
    for (const auto& entry : state::absent_originals(*originals, node.ports))
      out.emplace_back(entry->first, entry->second.place);
  return out;
}

std::string absent_text(const Absent& absent) {
  std::string text;
  for (const auto& [card, place] : absent)
    text += card + ": original settings kept; the card" + (place.empty() ? "" : ", last in " + place + ",") +
            " is not here now\n";
  return text;
}

Json absent_json(const Absent& absent) {
  Json out = Json::array();
  for (const auto& [card, place] : absent) out.push_back({{"card", card}, {"last_place", place}});
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
  const Absent absent = absent_cards(*world, node);
  std::erase_if(node.ports, [&](const Port& port) { return !is_chosen(options, port); });
  const Plan plan = make_plan(*world, node, options);
  output.text += show(node, world->policy ? &*world->policy : nullptr, plan, absent);
  if (options.json) return kDone;
  if (!world->no_policy.empty())
    output.text +=
        "\n" +
        folded((world->policy ? "Invalid configuration; compared with the last valid one: " : "No policy: ") +
                   world->no_policy,
               output.width) +
        "\n";
  output.text += unseen_text(node, output);
  return kDone;
}

}  // namespace

int run_status(const Options& options, Output& output) {
  return with_ports(
      options, output, [&](const Node& node, const Policy* policy, const Plan& plan, const Absent& absent) {
        if (options.json) {
          Json out = status_json(node, policy, plan);
          out.update({{"absent_cards", absent_json(absent)}});
          return json_text(out);
        }
        const bool host_alone = !options.ports.empty() && node.ports.empty() && !plan.contains(kHostSubject);
        const std::string kept = options.ports.empty() ? absent_text(absent) : std::string();
        return host_alone
                   ? agent_line(node) + inventory_line(node) + "host: no [sysctl] settings.\n"
                   : status_text(node, policy, plan, output) + (kept.empty() ? "" : "\n" + folded(kept, output.width));
      });
}

int run_show(const Options& options, Output& output) {
  return with_ports(options, output, [&](const Node& node, const Policy* policy, const Plan& plan, const Absent&) {
    return options.json ? json_text(show_json(node, policy)) : show_text(node, policy, plan, output);
  });
}

}  // namespace fabric::ctl
