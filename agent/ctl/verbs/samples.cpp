// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/samples.h"

#include "judge/rule.h"
#include "node/nvml.h"

namespace fabric::ctl {

Samples samples_since(Machine& machine, std::optional<Node> before) {
  Samples samples;
  samples.before = std::move(before);
  Keys keys = judged_settings();
  if (machine.policy) keys |= wanted_keys(*machine.policy);
  samples.now = scan_machine(
      machine, {.keys = std::move(keys), .members = true, .neighbors = true, .optics = true, .host = true});
  if (nvml::is_load_wanted(samples.now.topology)) ask_nvml(machine, samples.now.topology);
  if (samples.before) samples.signals = signals_of(*samples.before, samples.now);
  return samples;
}

Samples take_samples(Machine& machine, std::chrono::milliseconds interval) {
  if (interval.count() == 0) return samples_since(machine, std::nullopt);
  begin(machine.kernel, Sample::before);
  Node before =
      scan_machine(machine, {.settings = false, .gids = false, .network = false, .verbs = false, .members = true});
  wait_until(machine.kernel, before.taken + interval);
  begin(machine.kernel, Sample::now);
  return samples_since(machine, std::move(before));
}

}  // namespace fabric::ctl
