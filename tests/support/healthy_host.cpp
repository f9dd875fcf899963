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

PlatformFunction function(const PcieLink& link, const std::string& driver) {
  PlatformFunction out;
  out.link = link;
  out.kernel_driver = driver;
  out.power_state = "D0";
  out.power_control = "on";
  out.correctable.total = 7;  // long ago
  out.correctable.kinds = {{"RxErr", 2}, {"BadTLP", 5}};
  out.nonfatal.total = out.fatal.total = 0;
  return out;
}

void add(Node& node, const PciDevice& device, const std::string& driver) {
  const std::string group = std::to_string(node.platform.iommu_groups.size());
  for (const std::string& bridge : device.bridges) {
    node.platform.functions.emplace(bridge, function({32, 32, 16, 16}, "pcieport"));
    node.pci_settings->functions[bridge] = {128, 512, false, uint16_t{kAcsSourceValidation}, "", {}};
  }
  PlatformFunction own = function(device.link, driver);
  own.iommu_group = group;
  node.platform.iommu_groups[group] = "identity";
  node.platform.functions[device.pci] = own;
  node.pci_settings->functions[device.pci] = {4096, 512, true, {}, "", true};
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

void add_healthy_platform(Node& node) {
  node.pci_settings.emplace();
  node.pci_settings->updated = "2026-01-01T00:00:00Z";
  node.platform.iommu = true;
  node.platform.command_line = {"intel_iommu=on", "iommu=pt"};
  for (const Gpu& gpu : node.topology.gpus) {
    add(node, gpu, "nvidia");
    constexpr uint64_t kMiB = 1u << 20;
    node.platform.functions[gpu.pci].bars = {
        {0, 16 * kMiB, false}, {1, 131072 * kMiB, true, 0x3f000}, {3, 32 * kMiB, true}};
  }
  for (const Nic& nic : node.topology.nics) add(node, nic, "mlx5_core");
  node.platform.gpudirect.nvidia_driver = "570.86.15";
  node.platform.gpudirect.nvidia_open = true;
}

}  // namespace fabric::test
