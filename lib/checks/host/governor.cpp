// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {
namespace {

// With these drivers "powersave" leaves the frequency to the hardware, which follows the energy preference.
bool has_energy_preference(const HostCpu& cpu) {
  return cpu.frequency_driver == "intel_pstate" || cpu.frequency_driver == "amd-pstate-epp";
}

std::optional<Finding> ask_host(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->cpu.frequency.empty() || !has_gpus_and_rdma(view) || is_virtual(view)) return std::nullopt;
  const HostCpu& cpu = host->cpu;
  const FrequencyGroup* slow = nullptr;
  std::string observed;
  for (const FrequencyGroup& group : cpu.frequency) {
    append_item(observed, group.governor + (group.preference.empty() ? "" : " (" + group.preference + ")"), "; ");
    if (cpu.frequency.size() > 1) observed += " on CPUs " + group.cpus;
    if (group.governor != "performance" && group.governor != "userspace" &&
        !(has_energy_preference(cpu) && group.preference == "performance"))
      slow = &group;
  }
  observed += " by " + cpu.frequency_driver;
  if (slow == nullptr) return good(kHostSubject, std::move(observed), "performance");
  const bool at_lowest = slow->governor == "powersave" && !has_energy_preference(cpu);
  return bad(Status::warning, kHostSubject, std::move(observed), "performance",
             at_lowest
                 ? "The CPUs stay at their lowest frequency: work of the host takes two to four times as long."
                 : "CPUs start each burst of work at a low frequency. Threads that feed GPUs and NICs work in bursts.",
             "cpupower frequency-set -g performance; persistent: tuned-adm profile throughput-performance");
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
    .ask_host = ask_host,
};

}  // namespace fabric
