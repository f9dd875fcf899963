// SPDX-License-Identifier: Apache-2.0
// The host: memory, CPU power saving, clocks and interrupts.
#include <cmath>

#include "judge/platform_view.h"
#include "judge/rule.h"
#include "node/machine.h"

namespace fabric {

namespace {

// On a machine for GPU jobs over RDMA a slow CPU setting costs more than the power it saves. In a guest the host
// controls frequency, idle states and clocks.
bool has_gpus_and_rdma(const View& view) { return !view.now.ports.empty() && !view.now.topology.gpus.empty(); }

constexpr Limit kMostHugePages{
    "hugepages", "limit", 0.5, "of the memory reserved as huge pages", "ours: what a site needs depends on its jobs",
    0.01,        1};

// Guests and DPDK run in huge pages, which then are most of the memory by design.
bool gives_devices_away(const Node& node) {
  for (const Gpu& gpu : node.topology.gpus)
    if (is_given_away(node, gpu.pci)) return true;
  for (const Nic& nic : node.topology.nics)
    if (is_given_away(node, nic.pci)) return true;
  return false;
}

std::optional<Finding> ask_hugepages(const View& view) {
  const auto& host = view.now.host;
  if (!host || view.now.ports.empty()) return std::nullopt;
  std::string observed;
  uint64_t sum = 0;
  for (const auto& [size, pages] : host->huge_pages.reserved) {
    append_item(observed, std::to_string(pages) + " of " + bytes_text(size));
    // Quarters, so that the sum does not overflow.
    if (pages > kNoLimit / size) sum += kNoLimit / 4;
    else sum += pages * size / 4;
  }
  if (!host->huge_pages.transparent.empty())
    append_item(observed, "transparent: " + host->huge_pages.transparent, "; ");
  if (observed.empty()) return std::nullopt;
  const double most = limit_of(view, kMostHugePages);
  if (host->memory != 0 && !gives_devices_away(view.now) &&
      static_cast<double>(sum) > most / 4 * static_cast<double>(host->memory))
    return bad(Status::warning, kHostSubject, observed, "at most " + number_text(100 * most) + " % of the memory",
               "Only programs that ask for huge pages can use them. Jobs find too little of the " +
                   std::to_string(host->memory >> 30) + " GiB of memory free and are killed.",
               "Lower vm.nr_hugepages in /etc/sysctl.d, or hugepages= on the kernel command line.");
  return good(kHostSubject, std::move(observed), "any");
}

constexpr Rule kHugePages{
    .id = "hugepages",
    .group = group::host,
    .title = "Huge pages reserve too much memory",
    .meaning =
        "Memory reserved as huge pages is unavailable to everything that does not ask for huge pages. Not reported "
        "if guests or DPDK have devices of this machine (vfio-pci): they use huge pages.",
    .inspect = "grep Huge /proc/meminfo; sysctl vm.nr_hugepages",
    .fix = "Lower vm.nr_hugepages in /etc/sysctl.d, or hugepages= on the kernel command line.",
    .limits = {&kMostHugePages},
    .ask_host = ask_hugepages,
};

// With these drivers the governor powersave leaves the frequency to the hardware, which follows the energy preference.
bool has_energy_preference(const HostCpu& cpu) {
  return cpu.frequency_driver == "intel_pstate" || cpu.frequency_driver == "amd-pstate-epp";
}

std::optional<Finding> ask_governor(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->cpu.frequency.empty() || !has_gpus_and_rdma(view) || view.now.topology.is_guest())
    return std::nullopt;
  const HostCpu& cpu = host->cpu;
  const FrequencyGroup* slow = nullptr;
  std::string observed;
  for (const FrequencyGroup& group : cpu.frequency) {
    append_item(observed, group.governor, "; ");
    if (!group.preference.empty()) observed += " (" + group.preference + ")";
    if (cpu.frequency.size() > 1) observed += " on CPUs " + group.cpus;
    if (group.governor != "performance" && group.governor != "userspace" &&
        !(has_energy_preference(cpu) && group.preference == "performance"))
      slow = &group;
  }
  observed += " by " + cpu.frequency_driver;
  if (slow == nullptr) return good(kHostSubject, std::move(observed), "performance");
  std::string meaning =
      "CPUs start each burst of work at a low frequency. Threads that feed GPUs and NICs work in bursts.";
  if (slow->governor == "powersave" && !has_energy_preference(cpu))
    meaning = "The CPUs stay at their lowest frequency: work of the host takes two to four times as long.";
  return bad(Status::warning, kHostSubject, std::move(observed), "performance", std::move(meaning),
             "cpupower frequency-set -g performance; persistent: tuned-adm profile throughput-performance");
}

constexpr Rule kGovernor{
    .id = "governor",
    .group = group::host,
    .title = "CPUs do not run at full speed",
    .meaning =
        "The cpufreq governor performance keeps CPUs fast; so does powersave with the energy preference performance on "
        "intel_pstate and amd-pstate-epp. Other governors raise the frequency only after work has begun. Not checked "
        "in virtual machines.",
    .inspect = "cpupower frequency-info",
    .fix = "cpupower frequency-set -g performance; persistent: tuned-adm profile throughput-performance",
    .ask_host = ask_governor,
};

constexpr Limit kIdleLatency{"c-states",
                             "limit",
                             20,
                             "microseconds to leave the deepest idle state",
                             "C1 and C1E of Intel and AMD servers need 1 to 10, C6 and AMD's C2 100 and more",
                             1,
                             1e6};

// Deep idle states are the site's choice between power and latency. Only a choice without effect is a fault.
std::optional<Finding> ask_c_states(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->cpu.idle.empty() || !has_gpus_and_rdma(view) || view.now.topology.is_guest()) return std::nullopt;
  const HostCpu& cpu = host->cpu;
  std::string groups;
  for (const IdleGroup& group : cpu.idle) {
    append_item(groups, group.state + " (" + std::to_string(group.latency) + " us)", "; ");
    if (cpu.idle.size() > 1) groups += " on CPUs " + group.cpus;
  }
  const std::string observed = "deepest " + groups + " by " + cpu.idle_driver;
  const double shallow = limit_of(view, kIdleLatency);
  const auto [least, most] = std::ranges::minmax_element(cpu.idle, {}, &IdleGroup::latency);
  if (least->latency <= shallow && most->latency > shallow)
    return bad(Status::warning, kHostSubject, observed, "the same on all CPUs",
               "Deep idle states are disabled on some CPUs only. Threads on the other CPUs wake up later by " +
                   std::to_string(most->latency) + " microseconds, and the slowest rank sets the pace of a collective.",
               "Disable them on all CPUs: cpupower idle-set -D " + number_text(shallow) +
                   "; or enable them on all CPUs: cpupower idle-set -E");
  // The kernel option that asks for shallow states and that this driver ignores.
  if (cpu.idle_driver == "intel_idle" && most->latency > shallow)
    for (const std::string& option : host->kernel_options) {
      constexpr std::string_view kOption = "processor.max_cstate=";
      if (!option.starts_with(kOption)) continue;
      if (parse_number<unsigned>(std::string_view(option).substr(kOption.size())).value_or(9) > 1) continue;
      return bad(
          Status::warning, kHostSubject, observed, "C1, because of " + option + " on the kernel command line",
          "The option belongs to acpi_idle. The active driver intel_idle ignores it, so all deep idle states "
          "are in use.",
          "Add intel_idle.max_cstate=1 to the kernel command line, or: cpupower idle-set -D " + number_text(shallow));
    }
  return good(kHostSubject, observed, "the same on all CPUs");
}

constexpr Rule kCStates{
    .id = "c-states",
    .group = group::host,
    .title = "Idle states differ between CPUs",
    .meaning =
        "A CPU in a deep idle state (C6, AMD's C2) needs 100 microseconds and more to wake up. Deep idle states are "
        "the site's choice and listed only. Reported are deep states that are disabled on some CPUs only, and a kernel "
        "option that the active idle driver ignores.",
    .inspect = "cpupower idle-info",
    .fix = "cpupower idle-set -D 20 disables deep states on all CPUs; cpupower idle-set -E enables them.",
    .limits = {&kIdleLatency},
    .ask_host = ask_c_states,
};

// Clocks that are a device register: each read is a system call and slow
// (drivers/clocksource/acpi_pm.c, arch/x86/kernel/hpet.c, kernel/time/jiffies.c of Linux 6.12).
constexpr std::string_view kSlow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};

std::optional<Finding> ask_clock_source(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->clock.current.empty() || view.now.ports.empty()) return std::nullopt;
  const ClockSource& clock = host->clock;
  const bool slow = contains(kSlow, clock.current);
  if (!slow || view.now.topology.is_guest())
    return good(kHostSubject, clock.current, "a clock source without a system call");
  std::string cause = "The kernel found the time stamp counters of the CPUs unstable.";
  std::string remedy =
      "Update the firmware. Reason: journalctl -k -g 'clocksource|tsc'. If the vendor guarantees a stable counter, add "
      "tsc=reliable to the kernel command line.";
  if (contains(clock.available, "tsc")) {
    cause = "It was chosen by clocksource= on the kernel command line or through sysfs.";
    remedy =
        "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, and remove clocksource= from the "
        "kernel command line.";
  }
  return bad(Status::warning, kHostSubject, clock.current, "tsc",
             "Each clock read is a system call and a slow device register: microseconds instead of "
             "nanoseconds. NCCL, MPI and profilers read the clock all the time. " +
                 cause,
             remedy);
}

constexpr Rule kClockSource{
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
    .ask_host = ask_clock_source,
};

Finding irq_finding(const Host& host, const NicInterrupts& nic) {
  const std::string numa = std::to_string(nic.numa), node = "NUMA node " + numa;
  const size_t far = nic.elsewhere.size();
  // With more queues than local CPUs, drivers place the rest on remote ones.
  if (far + std::min<size_t>(nic.local_cpus, nic.queues) <= nic.queues)
    return good(nic.nic, std::to_string(nic.queues - far) + " of " + counted(nic.queues, "queue") + " on " + node,
                node);
  constexpr size_t kShown = 4;
  std::string irqs;
  for (size_t i = 0; i < far && i < kShown; ++i) {
    const Interrupt& each = nic.elsewhere[i];
    append_item(irqs, std::to_string(each.irq) + " " + each.name + " on CPU " + each.cpus);
  }
  if (far > kShown) irqs += ", ...";
  std::string meaning =
      "CPUs on another NUMA node serve the interrupts of these queues: each packet and completion crosses the link "
      "between NUMA nodes. ";
  Fix fix = "For each IRQ: cat /sys/devices/system/node/node" + numa +
            "/cpulist > /proc/irq/IRQ/smp_affinity_list; NVIDIA: set_irq_affinity_bynode.sh " + numa + " NETDEV.";
  if (host.irqbalance == true) {
    meaning += "irqbalance runs and may have placed them there.";
    fix += " First ";
    fix += {Work::service, "systemctl disable --now irqbalance, or "};
    fix += "ban these IRQs (--banirq).";
  } else {
    meaning += "The driver, irqaffinity= or a tuning script may have placed them there.";
  }
  return bad(Status::warning, nic.nic,
             std::to_string(far) + " of " + counted(nic.queues, "queue") + " elsewhere: IRQ " + irqs, node,
             std::move(meaning), std::move(fix));
}

void ask_irq_affinity(const View& view, Findings& findings) {
  if (!view.now.host || view.now.topology.is_guest()) return;
  for (const NicInterrupts& nic : view.now.host->interrupts) findings.push_back(irq_finding(*view.now.host, nic));
}

constexpr Rule kIrqAffinity{
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
    .ask = ask_irq_affinity,
};

std::optional<Finding> ask_numa_balancing(const View& view) {
  const auto& host = view.now.host;
  if (!host || !host->numa_balancing || !has_gpus_and_rdma(view) || view.now.topology.numa_cpus.size() < 2)
    return std::nullopt;
  const unsigned mode = *host->numa_balancing;
  if (view.policy != nullptr)
    if (const auto* wanted = find_in(view.policy->sysctl, "kernel.numa_balancing"))
      return good(kHostSubject, std::to_string(mode), *wanted + " (the configuration's [sysctl])");
  if (mode == 0) return good(kHostSubject, "0 (off)", "0");
  if ((mode & 1) == 0)  // 2 alone moves pages between kinds of memory only
    return good(kHostSubject, std::to_string(mode) + " (memory tiering only)", "0");
  std::string meaning =
      "The kernel unmaps pages of processes to see which CPU uses them, and moves pages between NUMA nodes. Jobs bound "
      "to a NUMA node only pay for the page faults, which delay GPU work.";
  // RCCL issue 1377: by the BIOS name "Hyper-V UEFI Release".
  if (view.now.topology.hypervisor == machine::kHyperV && view.now.platform.gpudirect.amdgpu)
    meaning += " On Hyper-V, RCCL also turns GPUDirect RDMA off if NCCL_IB_PCI_RELAXED_ORDERING is 0.";
  return bad(
      Status::warning, kHostSubject, std::to_string(mode) + " (on)", "0", std::move(meaning),
      "sysctl -w kernel.numa_balancing=0; persistent: \"kernel.numa_balancing\" = 0 in [sysctl] of fabric-agent.toml");
}

constexpr Rule kNumaBalancing{
    .id = "numa-balancing",
    .group = group::host,
    .title = "Automatic NUMA balancing is on",
    .meaning =
        "With NUMA balancing the kernel unmaps pages to see which CPU uses them, and migrates them. GPU jobs are "
        "already bound to their NUMA node and only pay for the page faults. A value wanted by [sysctl] in "
        "fabric-agent.toml is not reported.",
    .inspect = "sysctl kernel.numa_balancing",
    .fix = "sysctl -w kernel.numa_balancing=0, and add \"kernel.numa_balancing\" = 0 to [sysctl] in fabric-agent.toml.",
    .ask_host = ask_numa_balancing,
};

// NODE and SYS have a different meaning with SNC.
std::optional<Finding> ask_snc(const View& view) {
  const Topology& topology = view.now.topology;
  if (!view.now.host || topology.numa_socket.empty()) return std::nullopt;
  std::map<int, unsigned> nodes;  // by package
  for (const auto& [node, socket] : topology.numa_socket) ++nodes[socket];
  unsigned most = 0;
  for (const auto& [socket, count] : nodes) most = std::max(most, count);
  std::string observed = counted(most, "NUMA node") + " per package";
  if (most == 1) return good(kHostSubject, observed, "any");
  // The firmware's name for this number of nodes. AMD has up to NPS4.
  const auto& cpu = view.now.host->cpu;
  if (is_intel(cpu)) observed += " (SNC" + std::to_string(most) + ")";
  else if (is_amd(cpu) && most <= 4) observed += " (NPS" + std::to_string(most) + ")";
  else if (is_amd(cpu)) observed += " (L3 cache as NUMA domain)";
  observed +=
      ": NODE is within one node, SYS includes the other nodes of the same package, so a SYS pair can be as close as a "
      "NODE pair without clustering";
  return good(kHostSubject, std::move(observed), "any");
}

constexpr Rule kSnc{
    .id = "snc",
    .group = group::host,
    .title = "NUMA nodes per CPU package",
    .meaning =
        "Sub-NUMA clustering (Intel SNC, AMD NPS) divides a package into several NUMA nodes. Listed only. A GPU and a "
        "NIC on one package can then be SYS, and a process bound to the node of its GPU has only that part of the "
        "package's CPUs and memory bandwidth.",
    .inspect = "lscpu; numactl -H",
    .ask_host = ask_snc,
};

std::optional<Finding> ask_lockdown(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->lockdown.empty() || view.now.ports.empty()) return std::nullopt;
  std::string observed = host->lockdown;
  if (observed != "none")
    observed +=
        ": denies opening root-only debugfs files (mlx5 congestion control), and writes to PCI configuration space "
        "(mrrs, ACS, vendor firmware tools)";
  return good(kHostSubject, std::move(observed), "any");
}

constexpr Rule kLockdown{
    .id = "lockdown",
    .group = group::host,
    .title = "Kernel lockdown mode",
    .meaning =
        "Under lockdown (Secure Boot) the kernel denies root some debugfs files and writes to PCI configuration space. "
        "Listed only, because it explains why some settings cannot be read or applied.",
    .inspect = "cat /sys/kernel/security/lockdown",
    .ask_host = ask_lockdown,
};

}  // namespace

constexpr Rule kTable[]{kHugePages, kGovernor, kCStates, kClockSource, kIrqAffinity, kNumaBalancing, kSnc, kLockdown};
const std::span<const Rule> kHostRules = kTable;

}  // namespace fabric
