// SPDX-License-Identifier: Apache-2.0
// explain: checks and rules by ID, error lines of jobs and of the kernel, and whole logs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>

#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"
#include "ctl/machine.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "judge/health_state.h"
#include "judge/lines.h"
#include "judge/lines/advice.h"
#include "judge/lines/envelope.h"
#include "judge/lines/log.h"
#include "judge/lines/names.h"
#include "judge/remedy.h"
#include "judge/rule.h"
#include "kernel/rdma/infiniband.h"
#include "node/machine.h"
#include "node/published.h"

namespace fabric::ctl {
namespace {

using lines::Counted;
using lines::FaultLocation;
using lines::Found;
using lines::LineMessage;
using lines::Log;
using lines::Named;
using lines::Role;

constexpr int kNothingKnown = 1;  // exit code

// This machine, to find the ports that the lines name. Empty if the machine cannot be read.
struct NodeState {
  Node node;
  lines::PortsByLid lids;
  std::optional<HealthMemory> memory;
  std::vector<std::string> pci;  // the addresses of its devices
  std::string hypervisor;        // empty: real hardware, or the lines may be another machine's
  int64_t wall = std::time(nullptr);
  double uptime = 0;  // at `wall`
};

// Requires kMaxRaw bytes of memory, whatever the length of the lines. Returns why the stream cannot be read; empty: it
// was.
std::string read_log(std::istream& stream, Log& log) {
  std::string buffer(lines::kMaxRaw + 1, '\0');
  while (stream.getline(buffer.data(), static_cast<std::streamsize>(buffer.size())) || stream.gcount() > 0) {
    const bool is_cut = stream.fail();
    auto size = static_cast<size_t>(stream.gcount());
    if (!is_cut && !stream.eof()) --size;  // the newline
    std::string_view line = std::string_view(buffer).substr(0, size);
    if (log.lines() == 0) {
      if (std::string why = lines::not_text(line); !why.empty()) return why;
      if (constexpr std::string_view kMark = "\xef\xbb\xbf"; line.starts_with(kMark)) line.remove_prefix(kMark.size());
    }
    log.add(line);
    if (!is_cut) continue;
    stream.clear();
    stream.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  log.finish();
  return {};
}

// The text with `value`(NAME) in place of each {NAME}.
template <class Value>
std::string with_names(std::string_view text, Value&& value) {
  std::string out;
  for (size_t open = 0; (open = text.find('{')) != std::string_view::npos;) {
    const size_t close = std::min(text.find('}', open), text.size() - 1);
    out.append(text.substr(0, open)).append(value(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
  return out.append(text);
}

// The commands, without those of the program that printed the line ("rdma: Failed to ..."): it was just run. Its
// version and its help are news.
std::string without_printer(std::string_view commands, std::string_view line) {
  constexpr std::string_view kSeparator = "; ", kNews[]{" --version", " -V", " --help"};
  line = trim(line);
  const std::string_view printer = line.substr(0, line.find(": "));
  std::string out;
  for (size_t at = 0; at < commands.size();) {
    const size_t end = std::min(commands.find(kSeparator, at), commands.size());
    const std::string_view command = commands.substr(at, end - at);
    const bool is_news = std::ranges::any_of(kNews, [&](std::string_view each) { return command.ends_with(each); });
    if (is_news || command.substr(0, command.find(' ')) != printer) append_item(out, std::string(command), kSeparator);
    at = end + kSeparator.size();
  }
  return out;
}

// The message's next step with the names of the peer and of the first port; unknown names are placeholders in capitals.
// {port} is empty without a port: the command is then about every port. Empty: there is only the command that was run.
std::string next_step(const Found& found) {
  std::map<std::string_view, std::string> values{{"peer", found.named.peer}};
  if (!found.named.ports.empty()) {
    const Port& port = *found.named.ports.front();
    values["netdev"] = port.netdev;
    values["pci"] = port.pci;
    values["rdma"] = port.rdma;
    values["port"] = port.id();
  } else if (!found.pci.empty()) {
    values["pci"] = found.pci.front().text;
  }
  const std::string step = with_names(without_printer(found.message->next, found.line), [&](std::string_view name) {
    const std::string& value = values[name];
    if (value.empty() && name != "port") return upper(name);
    return value;
  });
  return std::string(trim(step));
}

constexpr std::string_view kUnknown = "unknown";
constexpr std::string_view kUnknownMeaning =
    "No rule knows this message: the codes and names in it are all that is known.";
constexpr std::string_view kUnknownBeginning = "No rule knows this message.";
constexpr std::string_view kComponentBeginning = "The component that prints it:";

// The meaning of the message, or of its component and its words, with the fix on the machine that wrote the lines: this
// one, unless they name another. Before a step that ends jobs the node is drained, unless the meaning is only that of a
// component and words, which prove no fault.
std::string meaning_of(const Found& found, const LineMessage* message, const NodeState& state) {
  const auto short_name = [](const std::string& host) { return host.substr(0, host.find('.')); };
  const std::string own = short_name(state.node.hostname);
  const bool is_here = found.hosts.empty() || std::ranges::any_of(found.hosts, [&](const Counted& host) {
                         return short_name(host.text) == own;
                       });
  // If no device of the line is on this machine, the line is another machine's.
  const bool is_other =
      !found.pci.empty() && !state.pci.empty() &&
      std::ranges::none_of(found.pci, [&](const Counted& each) { return contains(state.pci, each.text); });
  const bool is_guests = !state.hypervisor.empty() && is_here && found.elsewhere.empty() && !is_other;
  const auto adapted = [&](const FixRow& meaning) {
    Fix fix = meaning;
    if (is_guests) fix = fix_of_guest(std::move(fix), state.hypervisor);
    const bool is_proved = message != nullptr && !message->is_component();
    return (is_proved ? drained_first(std::move(fix)) : warned_first(std::move(fix))).text();
  };
  // A line without an error gets only the program that prints it, not the usual causes of errors.
  const auto with_printer = [&](std::string text) {
    if (found.printer == nullptr) return text;
    const std::string all = found.printer->meaning.text();
    const size_t end = all.find(". ");
    return text + " " + std::string(kComponentBeginning) + " " + (end == all.npos ? all : all.substr(0, end + 1));
  };
  if (message != nullptr && !message->is_component()) return with_printer(adapted(message->meaning));
  if (message != found.message) return std::string(kUnknownBeginning);
  const lines::Condition* condition = found.condition;
  if (message == nullptr && condition == nullptr) return std::string(kUnknownMeaning);
  std::string text(kUnknownBeginning), objects;
  for (const std::string& object : lines::objects_in(found.line)) append_item(objects, object, ", ");
  if (!objects.empty()) text += " It names " + objects + ".";
  if (condition != nullptr) text += " " + adapted(condition->meaning);
  if (message != nullptr) text += " " + std::string(kComponentBeginning) + " " + adapted(message->meaning);
  return with_printer(std::move(text));
}

// The line's own advice, if no rule knows the message: it says more than the usual causes of its component.
std::string_view own_advice(const Found& found) {
  if (found.message != nullptr && !found.message->is_component()) return {};
  return lines::advice_in(found.line);
}

// The id of the message or component, else that of the condition.
std::string_view id_of(const Found& found) {
  if (found.message != nullptr) return found.message->id;
  if (found.condition != nullptr) return found.condition->id;
  return kUnknown;
}

// The meaning of the errno, for messages that no rule knows. Empty: unknown.
std::string error_text(const Found& found) {
  const bool is_of_driver = found.message != nullptr && has_any(found.message->kind, lines::Printer::nic_driver);
  const lines::ErrorMeaning* meaning = lines::meaning_of(found.error, is_of_driver);
  if (meaning == nullptr) return {};
  return std::string(found.error) + ": " + std::string(meaning->text);
}

// The health rules that were raised for the port at the time of the line; if that is unknown, those raised now.
std::vector<std::string> counters_of(const Port& port, const Found& found, const std::optional<HealthMemory>& memory) {
  if (!memory) return {"not known: fabric-exporter does not run"};
  const Health& health = memory->health;
  std::vector<std::string> subjects{port.id(), port.rdma, port.pci}, out;
  std::erase(subjects, "");
  if (found.time && *found.time <= health.wall) {
    const double moment = health.now - static_cast<double>(health.wall - *found.time);
    for (const PastFinding& past : findings_at(memory->history, subjects, moment)) {
      std::string until = " until now";
      if (past.until) until = " to " + time_text(wall_of(health, *past.until));
      out.push_back(past.rule + " " + std::string(to_text(past.status)) + " from " +
                    time_text(wall_of(health, past.from)) + until + ": " + past.evidence);
    }
    if (const double since = memory->history.since.value_or(health.now); moment < since)
      out.push_back("at " + time_text(*found.time) + ": the history of fabric-exporter begins at " +
                    time_text(wall_of(health, since)));
    if (out.empty()) out.push_back("no health rule was raised at " + time_text(*found.time));
    return out;
  }
  for (const auto& [rule, states] : health.rules)
    for (const std::string& subject : subjects)
      if (const auto* state = find_in(states, subject); state != nullptr && state->status() != Status::ok)
        out.push_back(rule + " " + std::string(to_text(state->status())) + " since " +
                      time_text(wall_of(health, state->since())) + ": " + state->evidence);
  if (out.empty()) out.emplace_back("no health rule is raised now");
  if (!found.time) out.emplace_back("the line has no time: this is the present state");
  return out;
}

// "10.2.0.1 (3 times), 10.2.0.2"
std::string counted_text(const std::vector<Counted>& list) {
  std::string out;
  for (const Counted& each : list) {
    std::string text = each.text;
    if (each.count > 1) text += " (" + std::to_string(each.count) + " times)";
    append_item(out, text, ", ");
  }
  return out;
}

// The place to look at first, by the number of peers at this port.
std::string peers_text(const Found& found) {
  const bool is_path = found.message != nullptr && is_of_path(found);
  const bool is_silence = cause_of(found) == FaultLocation::unknown;
  std::string out = "Peer: ";
  if (found.peers.size() > 1) out = std::to_string(found.peers.size()) + " peers: ";
  out += counted_text(found.peers);
  // The finding does not distinguish the ports of another node.
  if (is_path && found.peers.size() > 1 && found.devices_elsewhere.size() > 1)
    out += ". Several ports: look first at this host, or at the peer if these are its addresses on several rails";
  else if (is_path && found.peers.size() > 1) out += ". Many peers: look at this port, its rail or this host first";
  if (is_path && !is_silence && found.peers.size() == 1 && found.count > 1) out += ". One peer: look there first";
  if (is_path && is_silence && found.peers.size() == 1 && found.count > 1)
    out += ". One peer: look there first, if this host reaches others";
  return out;
}

std::string lines_text(size_t first, size_t count) {
  std::string out = "Line " + std::to_string(first);
  if (count > 1) out += ", " + std::to_string(count) + " times";
  return out;
}

std::string found_text(const Found& found, const NodeState& state, const Output& output) {
  const LineMessage* message = found.message;
  const Named& named = found.named;
  const FaultLocation cause = cause_of(found);
  std::string kind(to_text(cause));
  if (cause == FaultLocation::none) kind = "harmless";
  if (message != nullptr && message->role == Role::consequence) kind = "a consequence";
  std::string text = std::string(id_of(found)) + " (" + kind + ")";
  if (id_of(found) == kUnknown) text = "unknown message";
  std::vector<std::string> paragraphs{lines_text(found.first, found.count) + ": " + clean_text(found.line),
                                      meaning_of(found, message, state)};
  text += "\n";
  if (const std::string_view advice = own_advice(found); !advice.empty())
    paragraphs.push_back("The line itself advises: " + clean_text(advice));
  if (!found.codes.empty()) paragraphs.push_back("Codes: " + counted_text(found.codes));
  if (const std::string error = error_text(found); !error.empty()) paragraphs.push_back(error);
  for (size_t i = 0; i < named.ports.size(); ++i) {
    const Port& port = *named.ports[i];
    std::string port_text = "Port: " + port.id();
    if (!port.netdev.empty()) port_text += ", netdev " + port.netdev;
    if (!port.pci.empty()) port_text += ", PCI " + port.pci;
    paragraphs.push_back(port_text + " (by " + named.by[i] + ")");
    for (const std::string& counters : counters_of(port, found, state.memory))
      paragraphs.push_back("Counters: " + counters);
  }
  if (!found.elsewhere.empty())
    paragraphs.push_back("Not on this node: " + counted_text(found.elsewhere) +
                         ". Run this on the node that wrote the line.");
  if (!found.pci.empty()) paragraphs.push_back("PCI: " + counted_text(found.pci));
  if (!found.peers.empty()) paragraphs.push_back(peers_text(found));
  if (!found.hosts.empty()) paragraphs.push_back("Written by: " + counted_text(found.hosts));
  if (!found.processes.empty()) paragraphs.push_back("Processes: " + counted_text(found.processes));
  if (!found.before.empty())
    paragraphs.push_back("The error before it, line " + std::to_string(found.before_number) + ": " +
                         clean_text(found.before));
  for (const lines::OtherLine& each : found.others)
    paragraphs.push_back("Same component: " + lines_text(each.first, each.count) + ": " + clean_text(each.line));
  for (const lines::Consequence& each : found.consequences) {
    std::string_view relation = "Follows from it: ";
    if (each.message->is_component() || each.may_be_own)
      relation = each.first < found.first ? "Printed before it: " : "Printed after it: ";
    std::string follows =
        std::string(relation) + lines_text(each.first, each.count) + ", " + std::string(each.message->id);
    if (!each.codes.empty()) follows += " (" + counted_text(each.codes) + ")";
    if (!each.peers.empty())
      follows += ", of " + std::string(each.peers.size() > 1 ? "peers " : "peer ") + counted_text(each.peers);
    paragraphs.push_back(follows + ": " + clean_text(each.line));
  }
  if (message != nullptr && !message->next.empty()) {
    if (const std::string step = next_step(found); !step.empty()) paragraphs.push_back("Next: " + step);
    paragraphs.push_back("Source: " + std::string(message->source));
  }
  for (const std::string& paragraph : paragraphs) text += "  " + wrapped(paragraph, output.width, 4) + "\n";
  return text;
}

Json counted_json(const std::vector<Counted>& list, const char* name) {
  Json out = Json::array();
  for (const Counted& each : list) out.push_back({{name, each.text}, {"count", each.count}});
  return out;
}

Json found_json(const Found& found, const NodeState& state) {
  Json time, ports = Json::array(), consequences = Json::array(), others = Json::array();
  if (found.time) time = time_text(*found.time);
  for (size_t i = 0; i < found.named.ports.size(); ++i) {
    const Port& port = *found.named.ports[i];
    ports.push_back({{"port", port.id()},
                     {"netdev", port.netdev},
                     {"pci", port.pci},
                     {"by", found.named.by[i]},
                     {"counters", counters_of(port, found, state.memory)}});
  }
  for (const lines::Consequence& each : found.consequences)
    consequences.push_back({{"id", each.message->id},
                            {"meaning", meaning_of(found, each.message, state)},
                            {"codes", counted_json(each.codes, "code")},
                            {"peers", counted_json(each.peers, "peer")},
                            {"line", clean_text(each.line)},
                            {"first_line", each.first},
                            {"count", each.count}});
  for (const lines::OtherLine& each : found.others)
    others.push_back({{"line", clean_text(each.line)}, {"first_line", each.first}, {"count", each.count}});
  const LineMessage* message = found.message;
  const bool is_consequence = (message != nullptr && message->role == Role::consequence) ||
                              (found.condition != nullptr && found.condition->is_consequence);
  Json out = {{"id", id_of(found)},
              {"cause", to_text(cause_of(found))},
              {"meaning", meaning_of(found, message, state)},
              {"next", ""},
              {"source", ""},
              {"is_component", false},
              {"is_consequence", is_consequence}};
  if (message != nullptr)
    out.update({{"next", next_step(found)}, {"source", message->source}, {"is_component", message->is_component()}});
  std::string elsewhere;
  if (!found.elsewhere.empty()) elsewhere = found.elsewhere.front().text;
  out.update({{"codes", counted_json(found.codes, "code")},
              {"advice", clean_text(own_advice(found))},
              {"error_meaning", error_text(found)},
              {"vendor_error", found.vendor_error},
              {"peer", found.named.peer},
              {"peer_lid", found.named.peer_lid},
              {"peers", counted_json(found.peers, "peer")},
              {"elsewhere", elsewhere},
              {"not_here", counted_json(found.elsewhere, "name")},
              {"addresses", counted_json(found.pci, "pci")},
              {"hosts", counted_json(found.hosts, "host")},
              {"processes", counted_json(found.processes, "pid")},
              {"line", clean_text(found.line)},
              {"first_line", found.first},
              {"count", found.count},
              {"before", clean_text(found.before)},
              {"consequences", std::move(consequences)},
              {"others", std::move(others)},
              {"time", std::move(time)},
              {"ports", std::move(ports)}});
  return out;
}

// "0x1c" or "28"; 0: not readable.
unsigned lid_number(const Root& root, const std::string& file) {
  const std::string line = root.line_of(file);
  if (line.starts_with("0x")) return parse_number<unsigned>(line, 16).value_or(0);
  return parse_number<unsigned>(line).value_or(0);
}

NodeState read_state(const Options& options, Output& output) {
  NodeState out;
  auto machine = open_machine(options);
  if (!machine) {
    output.errors += "fabric-agentctl: " + machine.error().text() + ": ports are not resolved\n";
    return out;
  }
  ScanOptions what = ports_only();
  what.gids = what.members = true;
  out.node = scan_machine(*machine, what);
  const Root& root = machine->kernel.root;
  for (const Port& port : out.node.ports) {
    if (port.link_layer != LinkLayer::infiniband) continue;
    const std::string folder = infiniband::port_folder(port.rdma, port.number);
    const unsigned base = lid_number(root, folder + "/lid");
    // A port has 2 to the power of the mask count LIDs, beginning with its base LID.
    const unsigned count = 1U << std::min(7U, lid_number(root, folder + "/lid_mask_count"));
    for (unsigned i = 0; base != 0 && i < count; ++i) out.lids[base + i] = &port;
  }
  out.pci = root.names_in("sys/bus/pci/devices");
  out.hypervisor = machine::hypervisor(root);
  out.wall = wall_now(machine->kernel);
  out.uptime = state::uptime(root).value_or(0);
  if (auto memory = load_health(root); memory && *memory) {
    out.memory = std::move(**memory);
    out.wall = out.memory->health.wall;
    out.uptime = out.memory->health.now;
  }
  return out;
}

// Explains the lines of --log FILE, of standard input ("-"), or of the arguments.
int explain_lines(const Options& options, Output& output) {
  std::string name = options.log;
  if (!name.empty() && !options.arguments.empty())
    return fail(output, kUsage, "explain: --log and a line exclude each other");
  if (options.arguments.size() == 1 && options.arguments.front() == "-") name = "-";
  std::ifstream file;
  std::istream* stream = &std::cin;
  if (!name.empty() && name != "-") {
    file.open(name, std::ios::binary);
    stream = &file;
    if (!file || file.peek() == std::ifstream::traits_type::eof())
      if (!file.eof()) return fail(output, kFailure, name + ": " + error(errno, "cannot be read").text());
    file.clear();
  }
  NodeState state = read_state(options, output);
  if (stream == &file) state.hypervisor.clear();
  Log log(state.node, state.lids, state.wall, state.uptime);
  if (name.empty()) {
    for (const std::string& argument : options.arguments)
      for (const std::string_view line : split(trim(argument), '\n')) log.add(line);
    log.finish();
  } else {
    if (name == "-") name = "standard input";
    if (const std::string why = read_log(*stream, log); !why.empty()) return fail(output, kFailure, name + ": " + why);
  }
  const std::vector<Found>& answers = log.found();
  if (options.json) {
    Json list = Json::array();
    for (const Found& found : answers) list.push_back(found_json(found, state));
    output.text += json_text(list);
  } else {
    std::string text;
    for (const Found& found : answers) append_item(text, found_text(found, state, output), "\n");
    if (log.known() == 0 && !text.empty()) text += "\n";
    if (log.known() == 0 && log.lines() == 1)
      text += "Unknown line: it matches none of the " + std::to_string(lines::messages().size()) + " known messages.\n";
    else if (log.known() == 0)
      text += "None of the " + std::to_string(log.lines()) + " lines matches a known message" +
              (answers.empty() ? ", and none is marked as an error.\n" : ".\n");
    else if (log.cut() > 0) text += "\n";
    if (log.cut() == 1) text += "1 line is longer than 16 KiB: the rest of it was not read.\n";
    if (log.cut() > 1)
      text += std::to_string(log.cut()) + " lines are longer than 16 KiB: the rest of them was not read.\n";
    output.text += text;
  }
  if (log.known() == 0) return kNothingKnown;
  return kDone;
}

int explain_ids(const Options& options, Output& output) {
  if (options.arguments.empty() && !options.json) {
    Table table({"ID", "GROUP", "TITLE"});
    for (const Rule& rule : rules())
      table.add({std::string(rule.id), std::string(rule.group), std::string(rule.title)});
    output.text += table.text(output);
    return kDone;
  }
  std::vector<Rule> chosen;
  if (options.arguments.empty()) chosen.assign(rules().begin(), rules().end());
  for (const std::string& id : options.arguments) {
    const Rule* found = find_rule(id);
    if (found == nullptr) {
      if (std::error_code none; std::filesystem::is_regular_file(id, none))
        return fail(output, kUsage, "'" + id + "' is a file: fabric-agentctl explain --log " + id);
      std::vector<std::string_view> known;
      for (const Rule& rule : rules()) known.push_back(rule.id);
      return fail(output, kUsage, "unknown check, setting or rule '" + id + "'" + suggestion(id, known, "explain"));
    }
    chosen.push_back(*found);
  }
  if (options.json) {
    Json list = Json::array();
    for (const Rule& rule : chosen) {
      list.push_back({{"id", rule.id}, {"group", rule.group}, {"title", rule.title}, {"runbook", runbook(rule)}});
      if (rule.is_cause()) list.back()["culprit"] = to_text(rule.culprit);
    }
    output.text += json_text(list);
    return kDone;
  }
  std::string text;
  for (const Rule& rule : chosen) {
    if (!text.empty()) text += "\n";
    text += std::string(rule.id) + " (" + std::string(rule.group) + ")\n";
    const std::string book = runbook(rule);
    if (!book.starts_with(rule.title.substr(0, rule.title.find_last_not_of('.') + 1)))
      text += "  " + wrapped(rule.title, output.width, 2) + "\n";
    for (const std::string_view line : split(book, '\n')) text += "  " + wrapped(line, output.width, 2) + "\n";
    text += "  " +
            wrapped("Configuration: [rules." + std::string(rule.id) + "] in fabric-agent.toml(5)", output.width, 2) +
            "\n";
    if (!rule.is_cause()) continue;
    text += "  " + wrapped("Culprit: " + std::string(to_text(rule.culprit)) + ".", output.width, 2) + "\n";
    // The steps have NETDEV in place of {netdev} and so on, since no port is known.
    const std::string fix = rule.fix.text();
    if (!fix.empty())
      for (const std::string_view line : split(fix, '\n'))
        text += "  " + wrapped(with_names(line, upper), output.width, 4) + "\n";
  }
  output.text += text;
  return kDone;
}

}  // namespace

int run_explain(const Options& options, Output& output) {
  bool has_line = !options.log.empty();
  for (const std::string& word : options.arguments)  // an ID has no blanks
    has_line = has_line || word == "-" || word.find_first_of(" \t") != std::string::npos;
  if (has_line) return explain_lines(options, output);
  return explain_ids(options, output);
}

}  // namespace fabric::ctl
