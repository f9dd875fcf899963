// SPDX-License-Identifier: Apache-2.0
// counters: rates between two samples.
#include <cstdio>

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

// The rates between two samples.
struct Round {
  std::string head, hostname;
  int64_t wall = 0;
  double seconds = 0;
  std::vector<Rate> rates;
};

// "gpu01  14:30:05  ", local time of the machine.
std::string head_text(const Machine& machine, const Node& now) {
  const std::tm time = local_now(machine.kernel);
  std::array<char, 16> clock{};
  std::strftime(clock.data(), clock.size(), "%H:%M:%S", &time);
  return (now.hostname.empty() ? "" : now.hostname + "  ") + clock.data() + "  ";
}

Round round_of(const Machine& machine, const Node& before, const Node& now) {
  const double seconds = std::chrono::duration<double>(now.taken - before.taken).count();
  return {head_text(machine, now), now.hostname, wall_now(machine.kernel), seconds, rates_of(before, now, seconds)};
}

std::string round_text(const Round& round, const Options& options, const Output& output) {
  const auto moves = [](const Rate& rate) { return rate.per_second.value_or(0) > 0; };
  auto rates = round.rates;
  if (!options.verbose) std::erase_if(rates, std::not_fn(moves));
  if (options.json) {
    const Json out = {{"hostname", round.hostname},
                      {"time", time_text(round.wall)},
                      {"seconds", round.seconds},
                      {"counters", rates_json(rates)}};
    return options.watch ? json_line(out) : json_text(out);
  }
  const auto moving = std::ranges::count_if(rates, moves);
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%.2f s", round.seconds);
  const std::string text = round.head + std::to_string(moving) + " of " + std::to_string(round.rates.size()) +
                           " counters moved in " + seconds.data();
  return folded(text, output.width) + "\n\n" + (rates.empty() ? "" : rates_text(rates, output)) +
         (options.watch && output.height == 0 ? "\n" : "");
}

// SECONDS, else --interval.
Result<std::chrono::milliseconds> interval_of(const Options& options) {
  if (options.arguments.size() > 1) return error(0, "too many arguments: " + options.arguments[1]);
  auto interval = options.interval;
  if (!options.arguments.empty()) {
    const auto given = parse_span(options.arguments.front());
    if (!given) return error(0, options.arguments.front() + ": not a time (5, 500ms or 1min)");
    interval = *given;
  }
  if (interval < kMinInterval || interval > std::chrono::hours(1))
    return error(0, "interval out of range (100ms to 1h)");
  return interval;
}

}  // namespace

int run_counters(const Options& options, Output& output) {
  const auto interval = interval_of(options);
  if (!interval) return fail(output, kUsage, "counters: " + interval.error().text());
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, "counters: " + machine.error().text());
  Node before = read(*machine, options, Sample::before);
  if (auto known = check_ports(options, before); !known)
    return fail(output, kFailure, "counters: " + known.error().text());
  if (before.ports.empty() && !options.watch) {
    output.text +=
        options.json ? round_text(round_of(*machine, before, before), options, output) : "No RDMA port found.\n";
    return kDone;
  }
  const bool replays = machine->kernel.tape && machine->kernel.tape->replays();  // a capture has two samples
  std::optional<Watch> watch;
  if (options.watch && !replays) watch.emplace(output, !options.json);
  Watch::Draw draw = [text = head_text(*machine, before) + "first rates after " + span_text(*interval),
                      &watch](const Output&) { return watch->in_place() ? text : ""; };
  for (;;) {
    if (!watch) wait_until(machine->kernel, before.taken + *interval);
    else if (!watch->next(before.taken + *interval, draw)) return kDone;
    Node now = read(*machine, options, Sample::now);
    draw = [round = round_of(*machine, before, now), &options](const Output& to) {
      return round_text(round, options, to);
    };
    if (!watch) return output.text += printable(draw(output), output), kDone;
    before = std::move(now);
  }
}

}  // namespace fabric::ctl
