// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "checks/checks.h"
#include "checks/host/host.h"
#include "model/finding.h"

namespace fabric {
namespace {

// Clocks that are a device's register: the kernel offers no way around the system call, and the register is slow
// (drivers/clocksource/acpi_pm.c, arch/x86/kernel/hpet.c, kernel/time/jiffies.c of Linux 6.12).
constexpr std::string_view kSlow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};

}  // namespace

void ask_clock_source(const View& view, Findings& findings) {
  const auto& host = view.now.host;
  if (!host || host->clock.current.empty() || !has_rdma(view)) return;
  const ClockSource& clock = host->clock;
  const bool slow = std::find(std::begin(kSlow), std::end(kSlow), clock.current) != std::end(kSlow);
  if (!slow || is_virtual(view))
    return findings.push_back(good(kHostSubject, clock.current, "one that is read without a system call"));
  const bool has_tsc = std::find(clock.available.begin(), clock.available.end(), "tsc") != clock.available.end();
  const std::string cause =
      has_tsc ? "Somebody chose it (clocksource= on the kernel's command line, or the file below)."
              : "The kernel has found the CPUs' time stamp counters unstable and taken another clock.";
  const std::string mend = has_tsc
                               ? "Now: echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource. "
                                 "Take clocksource= off the kernel's "
                                 "command line."
                               : "Look for the reason: journalctl -k -g 'clocksource|tsc'; update the firmware. Where "
                                 "the vendor vouches for the counter, "
                                 "tsc=reliable on the kernel's command line.";
  findings.push_back(bad(
      Status::warning, kHostSubject, clock.current, "tsc",
      "Each look at the clock is a system call and a slow device register, microseconds instead of nanoseconds; NCCL, "
      "MPI and profilers look all the time. " +
          cause,
      mend));
}

}  // namespace fabric
