// SPDX-License-Identifier: Apache-2.0
#include "scan/host.h"

#include <algorithm>
#include <set>

#include "kernel/host/cpu.h"
#include "kernel/host/irq.h"
#include "kernel/host/limits.h"
#include "kernel/host/services.h"

namespace fabric::scanning {
namespace {

// Where all CPUs are of one NUMA node, none can be far.
std::vector<NicInterrupts> read_nics(const Root& root, const Node& node) {
  std::vector<NicInterrupts> out;
  std::set<std::string> seen;
  const auto& cpus = node.topology.numa_cpus;
  if (cpus.size() < 2) return out;
  for (const Port& port : node.ports) {
    const auto local = port.numa ? cpus.find(*port.numa) : cpus.end();
    if (port.pci.empty() || port.virtual_function || local == cpus.end() || !seen.insert(port.pci).second) continue;
    NicInterrupts nic{.nic = port.rdma, .pci = port.pci, .numa = *port.numa};
    host::read_interrupts(root, local->second, nic);
    if (nic.queues > 0) out.push_back(std::move(nic));
  }
  return out;
}

}  // namespace

void read_host(const Root& root, Node& node) {
  Host& out = node.host.emplace();
  // The CPU may show a hypervisor that the firmware's tables do not name.
  const std::string cpuinfo = host::read_cpuinfo(root);
  if (node.topology.hypervisor.empty() && host::is_virtual_cpu(cpuinfo))
    node.topology.hypervisor = "an unnamed hypervisor";
  out.cpu = host::read_cpu(root, cpuinfo);
  host::read_kernel(root, out);
  host::Services services = host::read_services(root);
  out.services = std::move(services.found);
  out.irqbalance = services.irqbalance;
  out.processes_hidden = services.processes_hidden;
  out.interrupts = read_nics(root, node);
  out.user_limits = host::read_user_limits(root);
  out.slurm = host::read_slurm_limits(root);
  for (std::string& what : services.unread) node.unseen.push_back(std::move(what));
}

}  // namespace fabric::scanning
