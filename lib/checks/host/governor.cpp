// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <string>
#include <string_view>

#include "checks/checks.h"
#include "checks/host/host.h"
#include "model/finding.h"

namespace fabric {
namespace {

// Drivers whose "powersave" leaves the frequency to the hardware, which goes by the preference.
bool is_choosing(const HostCpu& cpu) {
  return cpu.frequency_driver == "intel_pstate" || cpu.frequency_driver == "amd-pstate-epp";
}

bool is_fast(const HostCpu& cpu, const FrequencyGroup& group) {
  if (group.governor == "performance" || group.governor == "userspace") return true;
  return is_choosing(cpu) && group.preference == "performance";
}

std::string describe(const FrequencyGroup& group) {
  return group.governor + (group.preference.empty() ? "" : " (" + group.preference + ")");
}

std::string meaning_of(const HostCpu& cpu, const FrequencyGroup& group) {
  if (group.governor == "powersave" && !is_choosing(cpu))
    return "The CPUs are held at their lowest frequency: everything that the host does for a job takes two to four "
           "times as long.";
  return "CPUs that idle between two bursts of work run slowly when the next one begins; the threads that feed GPUs "
         "and NICs work in "
         "such bursts.";
}

}  // namespace

void ask_governor(const View& view, Findings& findings) {
  const auto& host = view.now.host;
  if (!host || host->cpu.frequency.empty() || !has_gpus_and_rdma(view) || is_virtual(view)) return;
  const HostCpu& cpu = host->cpu;
  const FrequencyGroup* slow = nullptr;
  std::string observed;
  for (const FrequencyGroup& group : cpu.frequency) {
    if (cpu.frequency.size() == 1) observed = describe(group);
    else observed += (observed.empty() ? "" : "; ") + describe(group) + " on CPUs " + group.cpus;
    if (!is_fast(cpu, group)) slow = &group;
  }
  observed += " by " + cpu.frequency_driver;
  if (slow == nullptr) return findings.push_back(good(kHostSubject, std::move(observed), "performance"));
  findings.push_back(
      bad(Status::warning, kHostSubject, std::move(observed), "performance", meaning_of(cpu, *slow),
          "Now: cpupower frequency-set -g performance. For good: tuned-adm profile throughput-performance, or a unit "
          "that runs it at boot."));
}

}  // namespace fabric
