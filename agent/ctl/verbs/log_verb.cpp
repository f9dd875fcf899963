// SPDX-License-Identifier: Apache-2.0
// explain LINE, explain --log FILE.
#include <fstream>
#include <iostream>

#include "base/json.h"
#include "ctl/output/table.h"
#include "ctl/world.h"
#include "judge/engine.h"
#include "judge/health_state.h"
#include "judge/lines.h"
#include "judge/lines/names.h"
#include "judge/lines/time.h"
#include "kernel/rdma/infiniband.h"
#include "node/optics_state.h"

namespace fabric::ctl {
namespace {

using lines::kMaxLine;
using lines::Message;
using lines::Named;

constexpr int kNothingKnown = 1;
constexpr size_t kMaxFindings = 200;  // of one log
constexpr size_t kShownOfLine = 400;

// One message at one set of ports.
struct Found {
  const Message* message = nullptr;
  Named named;
  std::string line, vendor;  // of the first
  std::optional<int64_t> time;
  size_t first = 0, count = 0;
};

// Ports and health states. Empty if the machine cannot be read.
struct Machine {
  Node node;
  lines::Lids lids;
  std::optional<HealthMemory> memory;
  int64_t wall = std::time(nullptr);
  double uptime = 0;  // at that time
};

struct Log {
  std::vector<Found> found;
  size_t lines = 0, known = 0, cut = 0;
};

// Colors of a terminal that are in the log would hide where a word begins (ECMA-48, CSI).
std::string without_colors(std::string_view line) {
  std::string out;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line.substr(at).starts_with("\033["))
      at = std::min(line.size(), line.find_first_not_of("0123456789;:", at + 2));
    else out += line[at];
  }
  return out;
}

void add_line(Log& log, std::string_view colored, const Machine& machine) {
  ++log.lines;
  const std::string line = without_colors(colored);
  const Message* message = lines::recognize(line);
  if (message == nullptr) return;
  ++log.known;
  Named named = lines::names_in(line, machine.node, machine.lids);
  Found* same = find_where(
      log.found, [&](const Found& each) { return each.message == message && each.named.ports == named.ports; });
  if (same != nullptr) ++same->count;
  else if (log.found.size() < kMaxFindings)
    log.found.push_back({message, std::move(named), line.substr(0, kShownOfLine), lines::vendor_error(line),
                         lines::time_of(line, machine.wall, machine.uptime), log.lines, 1});
}

// A line of any length costs kMaxLine of memory.
void read_log(std::istream& stream, Log& log, const Machine& machine) {
  std::string line(kMaxLine + 1, '\0');
  while (stream.getline(line.data(), static_cast<std::streamsize>(line.size())) || stream.gcount() > 0) {
    const bool is_cut = stream.fail(), has_end = !is_cut && !stream.eof();
    add_line(log, line.substr(0, static_cast<size_t>(stream.gcount()) - (has_end ? 1 : 0)), machine);
    if (!is_cut) continue;
    ++log.cut;
    stream.clear();
    stream.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
}

// The RDMA device by its own name; without a port the names in capitals, and every port for {port}.
std::string next_step(const Found& found) {
  const Port* port = found.named.ports.empty() ? nullptr : found.named.ports.front();
  const auto value = [&](std::string_view name) {
    const std::string known = name == "peer"     ? found.named.peer
                              : port == nullptr  ? ""
                              : name == "netdev" ? port->netdev
                              : name == "pci"    ? port->pci
                              : name == "rdma"   ? port->rdma
                                                 : port->id();
    return !known.empty() ? known : name == "port" ? "" : upper(name);
  };
  return std::string(trim(with_names(found.message->next, value)));
}

// The health rules that were raised for the port at the time of the line, or that are raised now.
std::vector<std::string> counters_of(const Port& port, const Found& found, const std::optional<HealthMemory>& memory) {
  if (!memory) return {"not known: fabric-exporter does not run"};
  const Health& health = memory->health;
  const auto time = [&](double moment) { return time_text(wall_of(health, moment)); };
  std::vector<std::string> subjects{port.id(), port.rdma, port.pci}, out;
  std::erase(subjects, "");
  const bool has_time = found.time && *found.time <= health.wall;
  if (has_time) {
    const double moment = health.now - static_cast<double>(health.wall - *found.time);
    for (const PastFinding& past : findings_at(memory->history, subjects, moment))
      out.push_back(past.rule + " " + std::string(to_text(past.status)) + " from " + time(past.from) +
                    (past.until ? " to " + time(*past.until) : " until now") + ": " + past.evidence);
    if (const double since = memory->history.since.value_or(health.now); moment < since)
      out.push_back("at " + time_text(*found.time) + ": the history of fabric-exporter begins at " + time(since));
  } else {
    for (const auto& [rule, states] : health.rules)
      for (const std::string& subject : subjects)
        if (const auto* state = find_in(states, subject); state != nullptr && state->status() != Status::ok)
          out.push_back(rule + " " + std::string(to_text(state->status())) + " since " + time(state->since()) + ": " +
                        state->evidence);
  }
  if (out.empty())
    out.push_back("no health rule " + (has_time ? "was raised at " + time_text(*found.time) : "is raised now"));
  if (!found.time) out.emplace_back("the line has no time: this is the state of now");
  return out;
}

std::string found_text(const Found& found, const std::optional<HealthMemory>& memory, const Output& output) {
  const Message& message = *found.message;
  const Named& named = found.named;
  std::string text = std::string(message.id) + " (" + std::string(to_text(message.cause)) + ")\n";
  const auto add = [&](const std::string& paragraph) { text += "  " + wrapped(paragraph, output.width, 4) + "\n"; };
  add("Line " + std::to_string(found.first) + (found.count > 1 ? ", " + std::to_string(found.count) + " times" : "") +
      ": " + clean_text(found.line));
  add(std::string(message.meaning));
  if (!found.vendor.empty()) add("The NIC adds " + found.vendor + ".");
  for (size_t i = 0; i < named.ports.size(); ++i) {
    const Port& port = *named.ports[i];
    add("Port: " + port.id() + (port.netdev.empty() ? "" : ", netdev " + port.netdev) +
        (port.pci.empty() ? "" : ", PCI " + port.pci) + " (by " + named.by[i] + ")");
    for (const std::string& counters : counters_of(port, found, memory)) add("Counters: " + counters);
  }
  if (!named.elsewhere.empty())
    add("Not on this node: " + named.elsewhere + ". Run this on the node that wrote the line.");
  if (!named.peer_lid.empty()) add("Peer: " + named.peer_lid + ", not of this node");
  if (!named.peer.empty()) add("Peer: " + named.peer);
  add("Next: " + next_step(found));
  add("Source: " + std::string(message.source));
  return text;
}

Json found_json(const Found& found, const std::optional<HealthMemory>& memory) {
  Json ports = Json::array();
  for (size_t i = 0; i < found.named.ports.size(); ++i) {
    const Port& port = *found.named.ports[i];
    ports.push_back({{"port", port.id()},
                     {"netdev", port.netdev},
                     {"pci", port.pci},
                     {"by", found.named.by[i]},
                     {"counters", counters_of(port, found, memory)}});
  }
  const Message& message = *found.message;
  return {{"id", message.id},
          {"cause", to_text(message.cause)},
          {"meaning", message.meaning},
          {"vendor_error", found.vendor},
          {"peer", found.named.peer},
          {"peer_lid", found.named.peer_lid},
          {"elsewhere", found.named.elsewhere},
          {"next", next_step(found)},
          {"source", message.source},
          {"line", clean_text(found.line)},
          {"first_line", found.first},
          {"count", found.count},
          {"time", found.time ? Json(time_text(*found.time)) : Json()},
          {"ports", std::move(ports)}};
}

// 2 to the power of the mask count: a port has so many LIDs, from its base LID on.
void read_lids(const Root& root, Machine& machine) {
  for (const Port& port : machine.node.ports) {
    if (port.link_layer != LinkLayer::infiniband) continue;
    const std::string folder = infiniband::port_folder(port.rdma, port.number);
    const auto number = [&](const char* file) {
      const std::string line = root.line_of(folder + file);
      return parse_number<unsigned>(line, line.starts_with("0x") ? 16 : 10).value_or(0);
    };
    const unsigned base = number("/lid"), count = 1U << std::min(7U, number("/lid_mask_count"));
    for (unsigned i = 0; base != 0 && i < count; ++i) machine.lids[base + i] = &port;
  }
}

Machine read_machine(const Options& options, Output& output) {
  Machine out;
  auto world = open_world(options);
  if (!world) {
    output.errors += "fabric-agentctl: " + world.error().text() + ": ports are not resolved\n";
    return out;
  }
  ScanOptions what = ports_only();
  what.gids = what.members = true;
  out.node = look(*world, what);
  read_lids(world->kernel.root, out);
  out.wall = wall_now(world->kernel);
  out.uptime = state::uptime(world->kernel.root).value_or(0);
  if (auto memory = load_health(world->kernel.root); memory && *memory) {
    out.memory = std::move(**memory);
    out.wall = out.memory->health.wall;
    out.uptime = out.memory->health.now;
  }
  return out;
}

}  // namespace

int run_explain_log(const Options& options, Output& output) {
  const bool is_file = !options.log.empty();
  if (is_file && !options.arguments.empty())
    return fail(output, kUsage, "explain: --log and a line exclude each other");
  const std::string name = is_file ? options.log : options.arguments.size() == 1 ? options.arguments.front() : "";
  const Machine machine = read_machine(options, output);
  Log log;
  if (name == "-") {
    read_log(std::cin, log, machine);
  } else if (is_file) {
    std::ifstream stream(name, std::ios::binary);
    if (!stream || stream.peek() == std::ifstream::traits_type::eof())
      if (!stream.eof()) return fail(output, kFailure, name + ": " + error(errno, "cannot be read").text());
    stream.clear();
    read_log(stream, log, machine);
  } else {
    for (const std::string& line : options.arguments) {
      log.cut += line.size() > kMaxLine;
      add_line(log, line, machine);
    }
  }
  Json list = Json::array();
  std::string text;
  for (const Found& found : log.found)
    if (options.json) list.push_back(found_json(found, machine.memory));
    else append_item(text, found_text(found, machine.memory, output), "\n");
  if (log.known == 0)
    text += log.lines == 1 ? "Unknown line: it matches none of the " + std::to_string(lines::messages().size()) +
                                 " known messages.\n"
                           : "None of the " + std::to_string(log.lines) + " lines matches a known message.\n";
  if (log.cut != 0 && !options.json)
    text += (log.known == 0 ? "" : "\n") + std::to_string(log.cut) + (log.cut == 1 ? " line is" : " lines are") +
            " longer than 16 KiB: the rest of it was not read.\n";
  output.text += options.json ? json_text(list) : text;
  return log.known == 0 ? kNothingKnown : kDone;
}

}  // namespace fabric::ctl
