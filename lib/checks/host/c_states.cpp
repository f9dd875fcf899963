// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include "base/parse.h"
#include "checks/checks.h"
#include "checks/host/host.h"
#include "model/finding.h"

namespace fabric {
namespace {

constexpr unsigned kShallow =
    20;  // microseconds: C1 and C1E of Intel and AMD servers take 1 to 10, C6 and AMD's C2 100 and more

std::string describe(const HostCpu& cpu) {
  std::string text;
  for (const IdleGroup& group : cpu.idle) {
    text += (text.empty() ? "" : "; ") + group.state + " (" + std::to_string(group.latency) + " us)";
    if (cpu.idle.size() > 1) text += " on CPUs " + group.cpus;
  }
  return "deepest " + text + " by " + cpu.idle_driver;
}

// The option on the command line that asks for shallow states, and that this driver does not heed; empty: none.
std::string vain_option(const Host& host) {
  if (host.cpu.idle_driver != "intel_idle") return {};
  constexpr std::string_view kOption = "processor.max_cstate=";
  for (const std::string& word : host.kernel_options)
    if (word.starts_with(kOption) &&
        parse_number<unsigned>(std::string_view(word).substr(kOption.size())).value_or(9) <= 1)
      return word;
  return {};
}

}  // namespace

// How deep idle CPUs may sleep is the site's choice between power and latency; that only part of them obeys it is not.
void ask_c_states(const View& view, Findings& findings) {
  const auto& host = view.now.host;
  if (!host || host->cpu.idle.empty() || !has_gpus_and_rdma(view) || is_virtual(view)) return;
  const HostCpu& cpu = host->cpu;
  const auto [least, most] = std::minmax_element(
      cpu.idle.begin(), cpu.idle.end(), [](const IdleGroup& a, const IdleGroup& b) { return a.latency < b.latency; });
  const std::string mend =
      "Switch them off everywhere: cpupower idle-set -D " + std::to_string(kShallow) +
      ", or tuned-adm profile with force_latency; or leave them on everywhere: cpupower idle-set -E.";
  if (least->latency <= kShallow && most->latency > kShallow)
    return findings.push_back(
        bad(Status::warning, kHostSubject, describe(cpu), "the same on all CPUs",
            "Deep idle states are switched off on part of the CPUs only: what runs on the others wakes up later by " +
                std::to_string(most->latency) + " microseconds, and the slowest rank sets the pace of a collective.",
            mend));
  if (const std::string option = vain_option(*host); !option.empty() && most->latency > kShallow)
    return findings.push_back(
        bad(Status::warning, kHostSubject, describe(cpu), "C1, as " + option + " on the kernel's command line asks",
            "The option is acpi_idle's; intel_idle drives these CPUs and does not heed it, so they sleep as deeply as "
            "ever.",
            "Add intel_idle.max_cstate=1 to the kernel's command line, or: cpupower idle-set -D " +
                std::to_string(kShallow) + "."));
  findings.push_back(good(kHostSubject, describe(cpu), "the same on all CPUs"));
}

}  // namespace fabric
