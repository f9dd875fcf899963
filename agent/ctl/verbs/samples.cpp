// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/samples.h"

#include "counters/signals.h"

namespace fabric::ctl {
namespace {

Node full_scan(World& world) {
  return look(world, {.keys = world.policy ? wanted_keys(*world.policy) : Keys(),
                      .members = true,
                      .neighbors = true,
                      .optics = true,
                      .host = true});
}

}  // namespace

Samples samples_since(World& world, Node before) {
  Samples samples;
  samples.before = std::move(before);
  samples.now = full_scan(world);
  samples.signals = signals_of(*samples.before, samples.now);
  return samples;
}

Samples take_samples(World& world, std::chrono::milliseconds interval) {
  Samples samples;
  if (interval.count() > 0) {
    begin(world.kernel, Sample::before);
    samples.before = look(world, {.settings = false, .gids = false, .network = false, .verbs = false, .members = true});
    wait_until(world.kernel, samples.before->taken + interval);
    begin(world.kernel, Sample::now);
  }
  samples.now = full_scan(world);
  if (samples.before) samples.signals = signals_of(*samples.before, samples.now);
  return samples;
}

View view_of(const World& world, const Samples& samples, const Plan& plan) {
  return {.now = samples.now,
          .before = samples.before ? &*samples.before : nullptr,
          .policy = world.policy ? &*world.policy : nullptr,
          .plan = &plan,
          .signals = samples.before ? &samples.signals : nullptr,
          .no_policy = world.no_policy};
}

}  // namespace fabric::ctl
