// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {

extern const Threshold kIdleLatency("idle_latency", 20, "microseconds to leave the deepest idle state",
                                    "C1 and C1E of Intel and AMD servers need 1 to 10, C6 and AMD's C2 100 and more", 1,
                                    1e6);

namespace {

// The kernel option that asks for shallow states and that this driver ignores; empty: none.
std::string ignored_option(const Host& host) {
  if (host.cpu.idle_driver != "intel_idle") return {};
  constexpr std::string_view kOption = "processor.max_cstate=";
  for (const std::string& word : host.kernel_options)
    if (word.starts_with(kOption) &&
        parse_number<unsigned>(std::string_view(word).substr(kOption.size())).value_or(9) <= 1)
      return word;
  return {};
}

// Deep idle states are the site's choice between power and latency. Only a choice without effect is a fault.
std::optional<Finding> ask_host(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->cpu.idle.empty() || !has_gpus_and_rdma(view) || is_virtual(view)) return std::nullopt;
  const HostCpu& cpu = host->cpu;
  const auto describe = [&](const IdleGroup& group) {
    return group.state + " (" + std::to_string(group.latency) + " us)" +
           (cpu.idle.size() > 1 ? " on CPUs " + group.cpus : "");
  };
  const std::string observed = "deepest " + joined(cpu.idle, "; ", describe) + " by " + cpu.idle_driver;
  const double shallow = limit_of(view, kIdleLatency);
  const auto [least, most] = std::ranges::minmax_element(cpu.idle, {}, &IdleGroup::latency);
  if (least->latency <= shallow && most->latency > shallow)
    return bad(Status::warning, kHostSubject, observed, "the same on all CPUs",
               "Deep idle states are disabled on some CPUs only. Threads on the other CPUs wake up later by " +
                   std::to_string(most->latency) + " microseconds, and the slowest rank sets the pace of a collective.",
               "Disable them on all CPUs: cpupower idle-set -D " + number_text(shallow) +
                   "; or enable them on all CPUs: cpupower idle-set -E");
  if (const std::string option = ignored_option(*host); !option.empty() && most->latency > shallow)
    return bad(
        Status::warning, kHostSubject, observed, "C1, because of " + option + " on the kernel command line",
        "The option belongs to acpi_idle. The active driver intel_idle ignores it, so all deep idle states are in use.",
        "Add intel_idle.max_cstate=1 to the kernel command line, or: cpupower idle-set -D " + number_text(shallow));
  return good(kHostSubject, observed, "the same on all CPUs");
}

}  // namespace

extern const Check kCStatesCheck{
    .id = "c-states",
    .group = group::host,
    .title = "Idle states differ between CPUs",
    .meaning =
        "A CPU in a deep idle state (C6, AMD's C2) needs 100 microseconds and more to wake up. Deep idle states are "
        "the site's choice and listed only. Reported are deep states that are disabled on some CPUs only, and a kernel "
        "option that the active idle driver ignores.",
    .inspect = "cpupower idle-info",
    .fix = "cpupower idle-set -D 20 disables deep states on all CPUs; cpupower idle-set -E enables them.",
    .ask_host = ask_host,
    .thresholds = {&kIdleLatency},
};

}  // namespace fabric
