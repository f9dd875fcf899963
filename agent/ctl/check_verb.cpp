// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include "base/parse.h"
#include "check/check.h"
#include "check/health.h"
#include "config/acks.h"
#include "config/config.h"
#include "config/health_state.h"
#include "ctl/check_watch.h"
#include "ctl/report_text.h"
#include "ctl/samples.h"
#include "ctl/verbs.h"
#include "ctl/watch.h"

namespace fabric::ctl {
namespace {

constexpr std::chrono::milliseconds kWatchPace{5'000};
constexpr size_t kChangesShown = 10;

int usage(const std::string& what, Output& output) {
  output.errors += "fabric-agentctl: check: " + what + "\n";
  return kUsage;
}

std::string nearest_check(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Check& check : checks()) {
    known.push_back(check.id);
    known.push_back(check.group);
  }
  const std::string candidate = nearest(name, known);
  return candidate.empty() ? "; fabric-agentctl explain lists them" : "; did you mean " + candidate + "?";
}

int64_t wall_now(const Kernel& kernel) {
  std::tm now = local_now(kernel);
  return static_cast<int64_t>(std::mktime(&now));
}

// What others know: the exporter's states, the operator's acknowledgements.
struct Known {
  HealthMemory memory;
  bool has_memory = false;
  std::vector<Ack> acks;
};

Known read_known(World& world, Node& node) {
  Known out;
  auto memory = load_health(world.kernel.root);
  if (memory && *memory) {
    out.memory = std::move(**memory);
    out.has_memory = true;
  } else if (!memory) {
    node.unseen.push_back("what fabric-exporter has seen over time: " + memory.error().text());
  }
  auto acks = load_acks(world.kernel.root);
  if (acks) out.acks = std::move(*acks);
  else node.unseen.push_back("acknowledgements: " + acks.error().text());
  return out;
}

Report judge(World& world, Samples& samples, const Options& options, int64_t wall) {
  const Plan plan = make_plan(world, samples.now, options);
  const Known known = read_known(world, samples.now);
  View view = view_of(world, samples, plan);
  if (known.has_memory) view.health = &known.memory.health;
  Report report = run_checks(view, options.only);
  mark_acknowledged(report, standing(known.acks, known.memory.acks, wall), wall);
  return report;
}

std::string told(const Report& report, const Samples& samples, const Options& options, const Output& output) {
  if (options.json) return to_json(report).dump() + "\n";
  return report_text(report, samples.now.hostname, options.verbose, output) + unseen_text(samples.now) +
         (samples.before ? "" : "\nThe counters were read once: whether any rises was not checked.\n");
}

// What a round of --watch prints: on a terminal all that stands and the last changes; into a pipe what changed.
std::string round_text(const Report& before, const Report& now, const Samples& samples, int64_t wall, std::vector<std::string>& last, const Options& options, const Output& output) {
  std::string lines;
  for (const ReportChange& change : changes_of(before, now)) {
    last.push_back(change_text(change, wall));
    lines += options.json ? change_json(change, wall) : last.back();
  }
  if (output.height == 0 || options.json) return lines;
  if (last.size() > kChangesShown) last.erase(last.begin(), last.end() - kChangesShown);
  std::string text = time_text(wall) + "  " + told(now, samples, options, output);
  if (!last.empty()) text += "\nChanges, the newest last:\n";
  for (const std::string& line : last) text += "  " + line;
  return screen(text, output);
}

int watch_check(World& world, std::chrono::milliseconds pace, const Options& options, Output& output) {
  Watch watch;
  if (output.height > 0 && !options.json) output.text += "\033[2J";
  Samples samples = take_samples(world, options.interval);
  Report before;
  std::vector<std::string> last;
  const bool replays = world.kernel.tape && world.kernel.tape->replays();  // it has two readings and no more
  for (;;) {
    const int64_t wall = wall_now(world.kernel);
    Report now = judge(world, samples, options, wall);
    output.text += round_text(before, now, samples, wall, last, options, output);
    before = std::move(now);
    if (replays || !watch.next(output, samples.now.taken + pace)) return static_cast<int>(worst(before));
    samples = samples_since(world, std::move(samples.now));
  }
}

// SECONDS of --watch.
Result<std::chrono::milliseconds> pace_of(const Options& options) {
  if (options.arguments.empty()) return kWatchPace;
  const auto given = parse_span(options.arguments.front());
  if (!options.watch || options.arguments.size() > 1) return error(0, "takes no argument but the SECONDS of --watch: " + options.arguments.back());
  if (!given || *given < std::chrono::milliseconds(500) || *given > std::chrono::hours(1)) return error(0, options.arguments.front() + " is no time from 500ms to 1h");
  return *given;
}

}  // namespace

int run_check(const Options& options, Output& output) {
  for (const std::string& name : options.only)
    if (!names_check(name)) return usage(name + " is no check" + nearest_check(name), output);
  const auto pace = pace_of(options);
  if (!pace) return usage(pace.error().text(), output);
  auto world = open_world(options);
  if (!world) {
    output.errors += "fabric-agentctl: " + world.error().text() + "\n";
    return kFailure;
  }
  if (options.watch) return watch_check(*world, *pace, options, output);
  Samples samples = take_samples(*world, options.interval);
  const Report report = judge(*world, samples, options, wall_now(world->kernel));
  output.text += told(report, samples, options, output);
  return static_cast<int>(worst(report));
}

}  // namespace fabric::ctl
