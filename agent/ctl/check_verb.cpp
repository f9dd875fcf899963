// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"
#include "ctl/report_text.h"
#include "ctl/verbs.h"
#include "ctl/world.h"

namespace fabric::ctl {
namespace {

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

// The second sample needs the counters alone, but is a whole scan: a port that vanished in between shows.
struct Samples {
  std::optional<Node> before;
  Node now;
};

Samples take_samples(World& world, std::chrono::milliseconds interval) {
  Samples samples;
  if (interval.count() > 0) {
    begin(world.kernel, Sample::before);
    samples.before = look(world, {.settings = false, .gids = false, .network = false, .verbs = false});
    wait_until(world.kernel, samples.before->taken + interval);
    begin(world.kernel, Sample::now);
  }
  samples.now = look(world, {.keys = world.policy ? wanted_keys(*world.policy) : Keys(), .members = true, .neighbors = true, .lldpd = true, .host = true});
  return samples;
}

}  // namespace

int run_check(const Options& options, Output& output) {
  for (const std::string& name : options.only)
    if (!names_check(name)) return usage(name + " is no check" + nearest_check(name), output);
  auto world = open_world(options);
  if (!world) {
    output.errors += "fabric-agentctl: " + world.error().text() + "\n";
    return kFailure;
  }
  Samples samples = take_samples(*world, options.interval);
  const Plan plan = make_plan(*world, samples.now, options);
  const View view{.now = samples.now,
                  .before = samples.before ? &*samples.before : nullptr,
                  .policy = world->policy ? &*world->policy : nullptr,
                  .plan = &plan,
                  .no_policy = world->no_policy};
  const Report report = run_checks(view, options.only);
  if (options.json) {
    output.text += to_json(report).dump() + "\n";
  } else {
    output.text += report_text(report, samples.now.hostname, options.verbose, output) + unseen_text(samples.now);
    if (!samples.before) output.text += "\nThe counters were read once: whether any rises was not checked.\n";
  }
  return static_cast<int>(worst(report));
}

}  // namespace fabric::ctl
