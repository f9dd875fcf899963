// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {
namespace {

std::string names_of(const NicInterrupts& nic) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < nic.elsewhere.size() && i < kShown; ++i) {
    const Interrupt& each = nic.elsewhere[i];
    append_item(text, std::to_string(each.irq) + " " + each.name + " on CPU " + each.cpus);
  }
  return text + (nic.elsewhere.size() > kShown ? ", ..." : "");
}

Finding finding_for(const Host& host, const NicInterrupts& nic) {
  const std::string node = "NUMA node " + std::to_string(nic.numa);
  const size_t far = nic.elsewhere.size();
  // With more queues than local CPUs, drivers place the rest on remote ones.
  if (far + std::min<size_t>(nic.local_cpus, nic.queues) <= nic.queues)
    return good(nic.nic, std::to_string(nic.queues - far) + " of " + std::to_string(nic.queues) + " queues on " + node,
                node);
  const bool balanced = host.irqbalance == true;
  return bad(
      Status::warning, nic.nic,
      std::to_string(far) + " of " + std::to_string(nic.queues) + " queues elsewhere: IRQ " + names_of(nic), node,
      "CPUs on another NUMA node serve the interrupts of these queues: each packet and completion crosses the link "
      "between NUMA nodes. " +
          std::string(balanced ? "irqbalance runs and may have placed them there."
                               : "The driver, irqaffinity= or a tuning script may have placed them there."),
      "For each IRQ: cat /sys/devices/system/node/node" + std::to_string(nic.numa) +
          "/cpulist > /proc/irq/IRQ/smp_affinity_list; NVIDIA: set_irq_affinity_bynode.sh " + std::to_string(nic.numa) +
          " NETDEV." + (balanced ? " First systemctl disable --now irqbalance, or ban these IRQs (--banirq)." : ""));
}

void ask(const View& view, Findings& findings) {
  if (!view.now.host || is_virtual(view)) return;
  for (const NicInterrupts& nic : view.now.host->interrupts) findings.push_back(finding_for(*view.now.host, nic));
}

}  // namespace

extern const Check kIrqAffinityCheck{
    .id = "irq-affinity",
    .group = group::host,
    .title = "NIC queues interrupt CPUs on another NUMA node",
    .meaning =
        "Each queue of a NIC interrupts one CPU (/proc/irq/N/effective_affinity_list), which should be on the NUMA "
        "node of the NIC. Queues that exceed the number of local CPUs are not reported, nor are interrupts for "
        "commands and events. irqbalance moves interrupts every 10 seconds unless they are banned.",
    .inspect = "grep NETDEV /proc/interrupts; cat /proc/irq/*/effective_affinity_list; systemctl status irqbalance",
    .fix =
        "set_irq_affinity_bynode.sh NODE NETDEV, and systemctl disable --now irqbalance or ban these interrupts "
        "(--banirq).",
    .ask = ask,
};

}  // namespace fabric
