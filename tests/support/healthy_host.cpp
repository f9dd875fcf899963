// SPDX-License-Identifier: Apache-2.0
#include "support/healthy_node.h"

namespace fabric::test {
namespace {

JobService service(const char* unit, JobRole role, unsigned pid, const char* comm) {
  JobService out{.unit = unit, .role = role};
  out.file = std::string("/usr/lib/systemd/system/") + unit;
  out.memlock = LimitSetting{{}, {std::string("/etc/systemd/system/") + unit + ".d/memlock.conf", 2}};
  out.processes = {{pid, comm, {ResourceLimit{}, ResourceLimit{1024, 524'288}, ResourceLimit{0, kNoLimit}}}};
  return out;
}

HostCpu cpu() {
  HostCpu out;
  out.vendor = "GenuineIntel";
  out.model = "Intel(R) Xeon(R) Platinum 8480C";
  out.frequency_driver = "intel_pstate";
  out.frequency = {{"performance", "", "0-63"}};
  out.idle_driver = "intel_idle";
  out.idle = {{"C6", 290, "0-63"}};
  return out;
}

}  // namespace

void add_healthy_host(Node& node) {
  node.topology.numa_socket = {{0, 0}, {1, 1}};
  Host& host = node.host.emplace();
  host.cpu = cpu();
  host.memory = uint64_t{2} << 40;
  host.numa_balancing = 0;
  host.clock = {"tsc", {"tsc", "hpet", "acpi_pm"}};
  host.huge_pages = {{{uint64_t{2} << 20, 0}, {uint64_t{1} << 30, 16}}, "madvise"};
  host.lockdown = "none";
  host.irqbalance = true;
  for (const Port& port : node.ports)
    host.interrupts.push_back(
        {.nic = port.rdma, .pci = port.pci, .numa = port.numa.value_or(0), .queues = 32, .local_cpus = 32});
  host.services = {service("containerd.service", JobRole::runtime, 900, "containerd"),
                   service("slurmd.service", JobRole::batch, 812, "slurmd")};
  const LimitSetting none{{}, {"/etc/security/limits.conf", 60}};
  host.user_limits = {{"*", none, none}};
  host.slurm = SlurmLimits{true, {"/etc/slurm/slurm.conf", 0}};
}

}  // namespace fabric::test
