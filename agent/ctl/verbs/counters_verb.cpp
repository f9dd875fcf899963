// SPDX-License-Identifier: Apache-2.0
// counters: rates between two samples.
#include <cstdio>

#include "base/clock.h"
#include "base/json.h"
#include "ctl/output/table.h"
#include "ctl/verbs/samples.h"
#include "ctl/verbs/watch.h"
#include "policy/config.h"

namespace fabric::ctl {
namespace {

Node read(Machine& machine, const Options& options, Sample sample) {
  begin(machine.kernel, sample);
  ScanOptions what = ports_only();
  what.counters = what.members = true;
  Node node = scan_machine(machine, what);
  std::erase_if(node.ports, [&](const Port& port) { return !is_chosen(options, port); });
  return node;
}

// The rates between two samples, at the time of the second one.
struct Round {
  std::string head, hostname;
  int64_t wall = 0;
  double seconds = 0;
  std::vector<Rate> rates;
};

// "gpu01  14:30:05  ", in the machine's local time.
std::string head_text(const Machine& machine, const Node& now) {
  const std::tm time = local_now(machine.kernel);
  std::array<char, 16> clock{};
  std::strftime(clock.data(), clock.size(), "%H:%M:%S", &time);
  std::string text;
  if (!now.hostname.empty()) text = now.hostname + "  ";
  return text + clock.data() + "  ";
}

Round round_of(const Machine& machine, const Node& before, const Node& now) {
  const double seconds = in_seconds(now.taken - before.taken);
  return {head_text(machine, now), now.hostname, wall_now(machine.kernel), seconds, rates_of(before, now, seconds)};
}

std::string round_text(const Round& round, const Options& options, const Output& output) {
  auto rates = round.rates;
  if (!options.verbose) std::erase_if(rates, [](const Rate& rate) { return !rate.is_rising(); });
  if (options.json) {
    const Json out = {{"hostname", round.hostname},
                      {"time", time_text(round.wall)},
                      {"seconds", round.seconds},
                      {"counters", rates_json(rates)}};
    if (options.watch) return json_line(out);
    return json_text(out);
  }
  const auto rising = std::ranges::count_if(rates, &Rate::is_rising);
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%.2f s", round.seconds);
  const std::string head = round.head + std::to_string(rising) + " of " + std::to_string(round.rates.size()) +
                           " counters moved in " + seconds.data();
  std::string text = folded(head, output.width) + "\n\n";
  if (!rates.empty()) text += rates_text(rates, output);
  if (options.watch && output.height == 0) text += "\n";
  return text;
}

}  // namespace

int run_counters(const Options& options, Output& output) {
  if (options.arguments.size() > 1)
    return fail(output, kUsage, "counters: too many arguments: " + options.arguments[1]);
  auto interval = options.interval;
  if (!options.arguments.empty()) {
    const auto seconds = parse_span(options.arguments.front());
    if (!seconds)
      return fail(output, kUsage, "counters: " + options.arguments.front() + ": not a time (5, 500ms or 1min)");
    interval = *seconds;
  }
  if (interval < kMinInterval || interval > std::chrono::hours(1))
    return fail(output, kUsage, "counters: interval out of range (100ms to 1h)");
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, "counters: " + machine.error().text());
  Node before = read(*machine, options, Sample::before);
  if (auto known = check_ports(options, before); !known)
    return fail(output, kFailure, "counters: " + known.error().text());
  if (before.ports.empty() && !options.watch) {
    if (options.json) output.text += round_text(round_of(*machine, before, before), options, output);
    else output.text += "No RDMA port found.\n";
    return kDone;
  }
  const bool replays = machine->kernel.root.replays();  // a capture has only two samples
  std::optional<Watch> watch;
  if (options.watch && !replays) watch.emplace(output, !options.json);
  if (!watch) {
    wait_until(machine->kernel, before.taken + interval);
    const Node now = read(*machine, options, Sample::now);
    if (now.taken <= before.taken)
      return fail(output, kFailure,
                  "counters: the capture has one sample of the counters; take two: capture --interval 5");
    output.text += printable(round_text(round_of(*machine, before, now), options, output), output);
    return kDone;
  }
  std::string waiting;
  if (watch->in_place()) waiting = head_text(*machine, before) + "first rates after " + span_text(interval);
  Watch::Draw draw = [waiting](const Output&) { return waiting; };
  while (watch->next(before.taken + interval, draw)) {
    Node now = read(*machine, options, Sample::now);
    draw = [round = round_of(*machine, before, now), &options](const Output& to) {
      return round_text(round, options, to);
    };
    before = std::move(now);
  }
  return kDone;
}

}  // namespace fabric::ctl
