// SPDX-License-Identifier: Apache-2.0
#include "node/host.h"

#include <algorithm>

#include "base/parse.h"
#include "node/machine.h"
#include "node/node.h"
#include "node/rdma_software.h"
#include "node/services.h"

namespace fabric {

static std::string pair_text(const ResourceLimit& limit, std::string (*text)(uint64_t)) {
  if (limit.soft == limit.hard) return text(limit.soft);
  return text(limit.soft) + " (hard: " + text(limit.hard) + ")";
}

std::string bytes_text(uint64_t bytes) {
  if (bytes == kNoLimit) return "unlimited";
  constexpr const char* kUnits[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + kUnits[unit];
}

std::string memory_text(const ResourceLimit& limit) { return pair_text(limit, bytes_text); }

static std::string plain_count_text(uint64_t count) {
  if (count == kNoLimit) return "unlimited";
  return std::to_string(count);
}

std::string count_text(const ResourceLimit& limit) { return pair_text(limit, plain_count_text); }

std::string DcbDaemon::text() const {
  std::string out = comm + " (pid " + std::to_string(pid);
  if (!unit.empty()) out += ", " + unit;
  return out + ")";
}

bool DcbDaemon::is_disabled_at(const std::string& netdev) const {
  const int* status = find_in(admin_status, netdev);
  if (status == nullptr) status = find_in(admin_status, std::string("common"));
  return status != nullptr && *status == 0;
}

std::string FileLine::text() const {
  if (line == 0) return file;
  return file + ":" + std::to_string(line);
}

}  // namespace fabric

namespace fabric::host {
namespace {

constexpr const char* kCpus = "sys/devices/system/cpu/";
constexpr size_t kFirstCpu = 8192;  // bytes of /proc/cpuinfo
constexpr size_t kMaxVectors = 4096;

std::string cpu_folder(unsigned cpu) { return kCpus + std::string("cpu") + std::to_string(cpu) + "/"; }

}  // namespace

std::vector<std::string> kernel_parameters(std::string_view command_line) {
  std::vector<std::string> out;
  std::string word;
  bool quoted = false;
  const auto is_end = [&](char c) { return !quoted && (c == ' ' || (c >= '\t' && c <= '\r')); };
  for (size_t at = 0; at <= command_line.size(); ++at) {
    const char c = at < command_line.size() ? command_line[at] : ' ';
    if (at < command_line.size() && !is_end(c)) {
      word += c;
      quoted = quoted != (c == '"');
      continue;
    }
    if (word == "--") break;
    // A quoted parameter begins with a quote; a quoted value has it after the first "=".
    const size_t value = word.starts_with('"') ? 0 : word.find('=') + 1;
    if (value < word.size() && word[value] == '"') {
      word.erase(value, 1);
      if (word.ends_with('"')) word.pop_back();
    }
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  }
  return out;
}

std::optional<bool> is_virtual_cpu(std::string_view cpuinfo) {
  for (const std::string_view line : split(cpuinfo.substr(0, kFirstCpu), '\n')) {
    if (line.starts_with("flags")) return contains(words(line), "hypervisor");
  }
  return std::nullopt;
}

std::string read_cpuinfo(const Root& root) {
  constexpr size_t kMost = size_t{16} << 20;  // 8,192 CPUs (NR_CPUS of arch/x86/Kconfig)
  return root.text_of("proc/cpuinfo", kMost);
}

HostCpu read_cpu(const Root& root, std::string_view cpuinfo) {
  HostCpu out;
  // "model name\t: Intel(R) Xeon(R) ..." of the first CPU; the line "model\t\t: 143" precedes it.
  for (const std::string_view line : split(cpuinfo.substr(0, kFirstCpu), '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
    if (key == "vendor_id" && out.vendor.empty()) out.vendor = value;
    if (key == "model name" && out.model.empty()) out.model = value;
    if (key == "cpu family" && out.family == 0) out.family = parse_number<unsigned>(value).value_or(0);
    if (key == "model" && out.model_number == 0) out.model_number = parse_number<unsigned>(value).value_or(0);
  }
  const auto cpus = machine::parse_cpus(root.line_of(std::string(kCpus) + "online")).value_or(std::vector<unsigned>{});
  out.idle_driver = root.line_of(std::string(kCpus) + "cpuidle/current_driver");
  if (cpus.empty()) return out;

  out.frequency_driver = root.line_of(cpu_folder(cpus.front()) + "cpufreq/scaling_driver");
  if (!out.frequency_driver.empty()) {
    std::map<std::pair<std::string, std::string>, std::vector<unsigned>> alike;  // by governor and preference
    for (const unsigned cpu : cpus) {
      const std::string folder = cpu_folder(cpu) + "cpufreq/";
      const std::string governor = root.line_of(folder + "scaling_governor");
      // With "performance" the preference follows from the governor, and reading it may cost an interrupt of that CPU.
      std::string preference;
      if (governor == "powersave") preference = root.line_of(folder + "energy_performance_preference");
      if (!governor.empty()) alike[{governor, std::move(preference)}].push_back(cpu);
    }
    for (auto& [settings, group] : alike)
      out.frequency.push_back({settings.first, settings.second, machine::cpus_text(std::move(group))});
  }

  // The first CPU's idle states are used for all CPUs.
  constexpr unsigned kMaxStates = 10;  // CPUIDLE_STATE_MAX (include/linux/cpuidle.h of Linux 6.12)
  struct IdleState {
    std::string name;
    unsigned latency = 0;
  };
  std::vector<IdleState> states;
  for (unsigned i = 0; i < kMaxStates; ++i) {
    const std::string folder = cpu_folder(cpus.front()) + "cpuidle/state" + std::to_string(i) + "/";
    const auto latency = root.number_in<unsigned>(folder + "latency");
    if (!latency) break;
    states.push_back({root.line_of(folder + "name"), *latency});
  }
  // The states of a CPU are read from the deepest upwards until one is enabled: one file if none is disabled.
  std::map<size_t, std::vector<unsigned>> alike;  // by the deepest enabled state
  for (const unsigned cpu : cpus)
    for (size_t i = states.size(); i-- > 0;) {
      const std::string disabled = root.line_of(cpu_folder(cpu) + "cpuidle/state" + std::to_string(i) + "/disable");
      if (disabled.empty()) break;  // a CPU without idle states, or a kernel without the switch
      if (disabled == "0" || i == 0) {
        alike[i].push_back(cpu);
        break;
      }
    }
  for (auto& [state, group] : alike)
    out.idle.push_back({states[state].name, states[state].latency, machine::cpus_text(std::move(group))});
  return out;
}

std::vector<OfflineCpus> read_offline_cpus(const Root& root, const Topology& topology) {
  constexpr size_t kMost = 8192;  // NR_CPUS of distributions
  const auto present = machine::parse_cpus(root.line_of(std::string(kCpus) + "present"));
  const auto online = machine::parse_cpus(root.line_of(std::string(kCpus) + "online"));
  if (!present || !online) return {};
  std::vector<unsigned> offline;
  std::ranges::set_difference(*present, *online, std::back_inserter(offline));
  if (offline.size() > kMost) return {};
  // A CPU that is present has a link to its node, online or not (drivers/base/node.c, register_cpu_under_node()).
  std::map<int, std::vector<unsigned>> by_node;
  for (const unsigned cpu : offline)
    for (const std::string& name : root.names_in(cpu_folder(cpu)))
      if (name.starts_with("node"))
        if (const auto node = parse_number<int>(name.substr(4))) by_node[*node].push_back(cpu);

  std::vector<OfflineCpus> out;
  for (auto& [node, cpus] : by_node) {
    const auto count = static_cast<unsigned>(cpus.size());
    OfflineCpus& each = out.emplace_back(OfflineCpus{node, machine::cpus_text(std::move(cpus)), count});
    if (topology.numa_cpus.contains(node)) continue;
    const auto add = [&](const PciDevice& device) {
      if (root.number_in<int>("sys/bus/pci/devices/" + device.pci + "/numa_node") == each.node)
        each.devices.push_back(device.pci);
    };
    for (const Gpu& gpu : topology.gpus) add(gpu);
    for (const Nic& nic : topology.nics) add(nic);
  }
  return out;
}

void read_kernel(const Root& root, Host& host) {
  const std::string meminfo = root.text_of("proc/meminfo");
  for (const std::string_view line : split(meminfo, '\n')) {
    const auto columns = words(line);  // "MemTotal:       2113461612 kB"
    if (columns.size() < 2 || columns[0] != "MemTotal:") continue;
    const auto size = parse_number<uint64_t>(columns[1]);
    if (size && *size < (uint64_t{1} << 50)) host.memory = *size * 1024;
    break;
  }
  host.kernel_options = kernel_parameters(root.line_of("proc/cmdline"));
  host.numa_balancing = root.number_in<unsigned>("proc/sys/kernel/numa_balancing");

  const std::string clock = "sys/devices/system/clocksource/clocksource0/";
  host.clock.current = root.line_of(clock + "current_clocksource");
  const std::string available = root.line_of(clock + "available_clocksource");
  for (const std::string_view name : words(available)) host.clock.available.emplace_back(name);

  constexpr std::string_view kPrefix = "hugepages-", kSuffix = "kB";
  const std::string folder = "sys/kernel/mm/hugepages";
  for (const std::string& name : root.names_in(folder)) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const auto size =
        parse_number<uint64_t>(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
    const auto count = root.number_in<uint64_t>(folder + "/" + name + "/nr_hugepages");
    if (size && count && *size > 0 && *size < (uint64_t{1} << 40)) host.huge_pages.reserved[*size * 1024] = *count;
  }
  host.huge_pages.transparent = chosen_word(root.line_of("sys/kernel/mm/transparent_hugepage/enabled"));

  if (const std::string lockdown = root.line_of("sys/kernel/security/lockdown"); !lockdown.empty())
    host.lockdown = chosen_word(lockdown);
}

namespace {

// Whether the name is of a handler of commands or events: "mlx5_async0@pci:0000:17:00.0", "ice-0000:17:00.0:misc".
bool is_control_interrupt(std::string_view name) {
  constexpr std::string_view kWords[] = {"async", "pages", "cmd", "misc",   "ctrl", "mgmt",
                                         "mgmnt", "aeq",   "AEQ", "adminq", "mbx",  "health"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

// Fills queues and elsewhere of a NIC whose NUMA node has the CPUs `local` ("0-31,64-95"), of at most 4,096 vectors
// (Documentation/core-api/irq/irq-affinity.rst and Documentation/ABI/testing/sysfs-bus-pci, msi_irqs, of Linux 6.12).
// Vectors that are not requested do not count. Vectors of commands and events are ignored because the driver chooses
// their CPUs.
void read_interrupts(const Root& root, std::string_view local, NicInterrupts& nic) {
  const auto cpus = machine::parse_cpus(local);
  const auto vectors = root.names_in("sys/bus/pci/devices/" + nic.pci + "/msi_irqs");
  if (!cpus || vectors.empty() || vectors.size() > kMaxVectors) return;
  const std::set<unsigned> near(cpus->begin(), cpus->end());
  nic.local_cpus = static_cast<unsigned>(near.size());
  for (const std::string& name : vectors) {
    const auto irq = parse_number<unsigned>(name);
    if (!irq) continue;
    const std::string folder = "proc/irq/" + name;
    // The vector's effective CPUs; the requested ones before Linux 4.13 and for controllers that do not report them.
    std::string list = root.line_of(folder + "/effective_affinity_list");
    if (list.empty()) list = root.line_of(folder + "/smp_affinity_list");
    const auto places = machine::parse_cpus(list);
    if (list.empty() || !places) continue;
    if (std::ranges::any_of(*places, [&](unsigned cpu) { return near.contains(cpu); })) {
      ++nic.queues;
      continue;
    }
    // A handler has a folder of its name beside these files (kernel/irq/proc.c register_handler_proc).
    constexpr std::string_view kFiles[] = {"affinity_hint", "effective_affinity", "effective_affinity_list",
                                           "node",          "smp_affinity",       "smp_affinity_list",
                                           "spurious"};
    const auto entries = root.names_in(folder);
    const std::string* handler =
        find_where(entries, [&](const std::string& entry) { return !contains(kFiles, entry); });
    if (handler == nullptr || is_control_interrupt(*handler)) continue;
    ++nic.queues;
    nic.elsewhere.push_back({*irq, *handler, list});
  }
}

}  // namespace
}  // namespace fabric::host

namespace fabric::scanning {

void read_host(const Root& root, Node& node) {
  Host& out = node.host.emplace();
  out.cpu = host::read_cpu(root, host::read_cpuinfo(root));
  host::read_kernel(root, out);
  out.offline_cpus = host::read_offline_cpus(root, node.topology);
  host::Services services = host::read_services(root);
  out.services = std::move(services.found);
  out.irqbalance = services.irqbalance;
  out.vm_program = std::move(services.vm_program);
  out.processes_hidden = services.processes_hidden;
  // On a machine with one NUMA node no CPU is far from a NIC.
  if (const auto& cpus = node.topology.numa_cpus; cpus.size() >= 2) {
    std::set<std::string> seen;
    for (const Port& port : node.ports) {
      const auto local = port.numa ? cpus.find(*port.numa) : cpus.end();
      if (port.pci.empty() || (is_virtual(port) && !is_own_device(port)) || local == cpus.end() ||
          !seen.insert(port.pci).second)
        continue;
      NicInterrupts nic{.nic = port.rdma, .pci = port.pci, .numa = *port.numa};
      host::read_interrupts(root, local->second, nic);
      if (nic.queues > 0) out.interrupts.push_back(std::move(nic));
    }
  }
  out.user_limits = host::read_user_limits(root);
  out.slurm = host::read_slurm_limits(root);
  out.software.verbs = host::read_verbs_library(root);
  out.software.modules = host::read_module_rules(root, node.topology, out.kernel_options);
  out.software.loaded = host::read_loaded_modules(root, node.topology);
  out.software.dcb_daemons = std::move(services.dcb_daemons);
  // Y: shared (ib_devices_shared_netns in drivers/infiniband/core/device.c of Linux 6.12).
  out.software.exclusive_namespaces = root.line_of("sys/module/ib_core/parameters/netns_mode") == "N";
  for (std::string& what : services.unread) node.unseen.push_back(std::move(what));
}

}  // namespace fabric::scanning
