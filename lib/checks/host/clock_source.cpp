// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {
namespace {

// Clocks that are a device register: each read is a system call and slow
// (drivers/clocksource/acpi_pm.c, arch/x86/kernel/hpet.c, kernel/time/jiffies.c of Linux 6.12).
constexpr std::string_view kSlow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};

std::optional<Finding> ask_host(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->clock.current.empty() || !has_rdma(view)) return std::nullopt;
  const ClockSource& clock = host->clock;
  const bool slow = contains(kSlow, clock.current);
  if (!slow || is_virtual(view)) return good(kHostSubject, clock.current, "a clock source without a system call");
  const bool has_tsc = contains(clock.available, "tsc");
  const std::string cause = has_tsc ? "It was chosen by clocksource= on the kernel command line or through sysfs."
                                    : "The kernel found the time stamp counters of the CPUs unstable.";
  const std::string remedy = has_tsc ? "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, "
                                       "and remove clocksource= from the kernel command line."
                                     : "Update the firmware. Reason: journalctl -k -g 'clocksource|tsc'. If the vendor "
                                       "guarantees a stable counter, add tsc=reliable to the kernel command line.";
  return bad(Status::warning, kHostSubject, clock.current, "tsc",
             "Each clock read is a system call and a slow device register: microseconds instead of "
             "nanoseconds. NCCL, MPI and profilers read the clock all the time. " +
                 cause,
             remedy);
}

}  // namespace

extern const Check kClockSourceCheck{
    .id = "clock-source",
    .group = group::host,
    .title = "The clock source needs a system call",
    .meaning =
        "Reading the clock takes some 20 nanoseconds with tsc. With hpet or acpi_pm it takes microseconds and "
        "serializes all CPUs. The kernel falls back to them when it finds the time stamp counters of the CPUs "
        "unsynchronized. Not reported in virtual machines.",
    .inspect = "cat /sys/devices/system/clocksource/clocksource0/current_clocksource; journalctl -k -g clocksource",
    .fix =
        "Remove clocksource= from the kernel command line, or update the firmware if the kernel marked tsc unstable.",
    .ask_host = ask_host,
};

}  // namespace fabric
