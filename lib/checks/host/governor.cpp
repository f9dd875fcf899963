// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/parse.h"
#include "checks/check.h"
#include "checks/host/host.h"
#include "model/finding.h"

namespace fabric {
namespace {

// With these drivers "powersave" leaves the frequency to the hardware, which follows the energy preference.
bool has_energy_preference(const HostCpu& cpu) {
  return cpu.frequency_driver == "intel_pstate" || cpu.frequency_driver == "amd-pstate-epp";
}

bool is_fast(const HostCpu& cpu, const FrequencyGroup& group) {
  if (group.governor == "performance" || group.governor == "userspace") return true;
  return has_energy_preference(cpu) && group.preference == "performance";
}

std::string describe(const FrequencyGroup& group) {
  return group.governor + (group.preference.empty() ? "" : " (" + group.preference + ")");
}

std::string meaning_of(const HostCpu& cpu, const FrequencyGroup& group) {
  if (group.governor == "powersave" && !has_energy_preference(cpu))
    return "The CPUs stay at their lowest frequency: work of the host takes two to four times as long.";
  return "CPUs start each burst of work at a low frequency. Threads that feed GPUs and NICs work in bursts.";
}

void ask(const View& view, Findings& findings) {
  const auto& host = view.now.host;
  if (!host || host->cpu.frequency.empty() || !has_gpus_and_rdma(view) || is_virtual(view)) return;
  const HostCpu& cpu = host->cpu;
  const FrequencyGroup* slow = nullptr;
  std::string observed;
  for (const FrequencyGroup& group : cpu.frequency) {
    if (cpu.frequency.size() == 1) observed = describe(group);
    else append_item(observed, describe(group) + " on CPUs " + group.cpus, "; ");
    if (!is_fast(cpu, group)) slow = &group;
  }
  observed += " by " + cpu.frequency_driver;
  if (slow == nullptr) return findings.push_back(good(kHostSubject, std::move(observed), "performance"));
  findings.push_back(
      bad(Status::warning, kHostSubject, std::move(observed), "performance", meaning_of(cpu, *slow),
          "cpupower frequency-set -g performance; persistent: tuned-adm profile throughput-performance"));
}

}  // namespace

extern const Check kGovernorCheck{
    .id = "governor",
    .group = group::host,
    .title = "CPUs do not run at full speed",
    .meaning =
        "The cpufreq governor performance keeps CPUs fast; so does powersave with the energy preference performance on "
        "intel_pstate and amd-pstate-epp. Other governors raise the frequency only after work has begun. Not checked "
        "in virtual machines.",
    .inspect = "cpupower frequency-info",
    .fix = "cpupower frequency-set -g performance; persistent: tuned-adm profile throughput-performance",
    .ask = ask,
};

}  // namespace fabric
