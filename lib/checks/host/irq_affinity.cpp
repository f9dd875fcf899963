// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "checks/checks.h"
#include "checks/host/host.h"
#include "model/finding.h"

namespace fabric {
namespace {

// With more queues than near CPUs, drivers put the rest on far ones.
unsigned unavoidable(const NicInterrupts& nic) { return nic.queues > nic.local_cpus ? nic.queues - nic.local_cpus : 0; }

std::string names_of(const NicInterrupts& nic) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < nic.elsewhere.size() && i < kShown; ++i) {
    const Interrupt& each = nic.elsewhere[i];
    text += (text.empty() ? "" : ", ") + std::to_string(each.irq) + " " + each.name + " on CPU " + each.cpus;
  }
  return text + (nic.elsewhere.size() > kShown ? ", ..." : "");
}

Finding judge(const Host& host, const NicInterrupts& nic) {
  const std::string node = "NUMA node " + std::to_string(nic.numa);
  const size_t far = nic.elsewhere.size();
  if (far <= unavoidable(nic))
    return good(nic.nic, std::to_string(nic.queues - far) + " of " + std::to_string(nic.queues) + " queues on " + node,
                node);
  std::string cause = "Somebody has set their affinity (a tuning script, set_irq_affinity).";
  if (host.irqbalance == true) cause = "irqbalance runs and may have put them there.";
  return bad(
      Status::warning, nic.nic,
      std::to_string(far) + " of " + std::to_string(nic.queues) + " queues elsewhere: IRQ " + names_of(nic), node,
      "Interrupts of these queues are served by CPUs on the other side of the machine: each packet and completion "
      "crosses the link "
      "between NUMA nodes once more. " +
          cause,
      "Write the CPUs of " + node + " (/sys/devices/system/node/node" + std::to_string(nic.numa) +
          "/cpulist) to /proc/irq/IRQ/smp_affinity_list of each; NVIDIA: set_irq_affinity_bynode.sh " +
          std::to_string(nic.numa) + " NETDEV." +
          (host.irqbalance == true ? " Tell irqbalance to keep off them (--banirq, --policyscript), or stop it." : ""));
}

}  // namespace

void ask_irq_affinity(const View& view, Findings& findings) {
  if (!view.now.host || is_virtual(view)) return;
  for (const NicInterrupts& nic : view.now.host->interrupts) findings.push_back(judge(*view.now.host, nic));
}

}  // namespace fabric
