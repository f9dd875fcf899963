// SPDX-License-Identifier: Apache-2.0
// The parts of the host outside its ports that affect jobs: CPUs, limits of the services that start jobs, interrupts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fabric {

class Root;
struct Node;
struct Topology;

inline constexpr uint64_t kNoLimit = UINT64_MAX;  // RLIM_INFINITY

// A limit of getrlimit(2): bytes of locked memory, a number of open files, ...
struct ResourceLimit {
  uint64_t soft = kNoLimit, hard = kNoLimit;
  bool operator==(const ResourceLimit&) const = default;
};
// "8 MiB", "unlimited", "8 MiB (hard: unlimited)"; a count: "1024".
std::string bytes_text(uint64_t bytes);
std::string memory_text(const ResourceLimit& limit);
std::string count_text(const ResourceLimit& limit);

// A line of a file of the machine: "/etc/systemd/system/slurmd.service.d/limits.conf", 2.
struct FileLine {
  std::string file;
  unsigned line = 0;
  bool operator==(const FileLine&) const = default;
  [[nodiscard]] std::string text() const;  // "FILE:LINE"
};

// A limit that a configuration file sets.
struct LimitSetting {
  ResourceLimit limit;
  FileLine where;
};

struct ProcessLimits {
  std::optional<ResourceLimit> memlock{}, nofile{}, core{};
};

// How a service's own limit affects jobs, weakest effect first.
enum class JobRole : uint8_t {
  forwards,  // asks another service to start them (dockerd asks containerd, kubelet asks the container runtime)
  session,   // users' own services (user@1000.service)
  runtime,   // starts containers, which may be given another limit or CAP_IPC_LOCK
  batch,     // starts users' processes, which inherit the limit
};

struct JobProcess {
  unsigned pid = 0;
  std::string comm;
  ProcessLimits limits;  // absent: not readable
};

// A service that starts jobs. Jobs get the limits of its processes; the limits of its files apply from its next start.
struct JobService {
  std::string unit;  // "slurmd.service"; if no unit started the process, its comm
  JobRole role = JobRole::batch;
  std::string file{};  // the unit file; empty: there is none
  bool masked = false;
  std::optional<LimitSetting> memlock{}, nofile{}, core{};  // of unit files and system.conf; absent: the default
  std::vector<JobProcess> processes{};                      // running now; at most 16
};

// A memlock entry of limits.conf(5) that applies to users other than root.
struct UserLimit {
  std::string domain;  // "*", "@gpu", "alice"
  std::optional<LimitSetting> soft{}, hard{};
};

// slurm.conf(5): whether jobs get the memlock limit of the shell that submitted them.
struct SlurmLimits {
  bool propagates_memlock = true;  // Slurm's default
  FileLine where;                  // line 0: the file does not set it
};

// Versions of the ABI between a driver of the kernel and its provider.
struct AbiRange {
  uint32_t least = 0, most = 0;
  bool operator==(const AbiRange&) const = default;
};

// The user-space side of RDMA on this host: libibverbs loads a provider, lib<NAME>-rdmav<N>.so, for each NAME that its
// configuration lists. N is the version of the interface between them (IBVERBS_PABI_VERSION of rdma-core). Containers
// have their own.
struct VerbsLibrary {
  std::vector<std::string> folders{};                     // that have providers: "/usr/lib64/libibverbs"
  std::map<std::string, std::set<unsigned>> providers{};  // installed: "mlx5" -> versions {34}
  std::set<std::string> listed{};                         // in /etc/libibverbs.d; empty: not readable
  // The ABI versions that each provider of a present device supports, by file name: "libbnxt_re-rdmav34.so". Absent:
  // unknown, or two files of this name differ.
  std::map<std::string, AbiRange> abis{};
  std::map<std::string, uint32_t> kernel_abis{};  // of the RDMA devices: "bnxt_re0" -> 1
};

inline constexpr const char* kMadModule = "ib_umad";  // the devices for management datagrams

// Why a module for RDMA is not loaded: a line of modprobe.d(5), a parameter of the kernel, or a kernel without this
// module. For kMadModule, also that nothing has loaded it.
struct ModuleRule {
  std::string module;    // "ionic_rdma"
  std::string text;      // "blacklist ionic_rdma", "not loaded"; empty: the kernel has no such module
  FileLine where;        // line 0: the kernel command line, or the folder of the kernel's modules
  bool refuses = false;  // modprobe does not load it either; a blacklist prevents only loading for a device
};

// A daemon of DCBX, which writes PFC and ETS to the ports whose DCBX the host owns.
struct DcbDaemon {
  std::string comm;  // "lldpad"
  unsigned pid = 0;
  std::string unit{};                         // "lldpad.service"; empty: none started it
  std::map<std::string, int> admin_status{};  // of lldpad: netdev, or "common" -> adminStatus; absent: its default
  [[nodiscard]] std::string text() const;     // "lldpad (pid 812, lldpad.service)"
  // Whether the daemon neither sends nor receives LLDP at the port. Then lldpad writes its own PFC and ETS once, 15
  // seconds after each time that the link comes up (lldp_8021qaz.c ieee8021qaz_check_pending() of openlldp 1.1). With
  // another adminStatus it writes them at each frame (run_all_sm()), whatever enableTx of its TLVs says.
  [[nodiscard]] bool is_disabled_at(const std::string& netdev) const;
};

struct RdmaSoftware {
  std::optional<VerbsLibrary> verbs{};  // absent: no provider is installed where rdma-core installs them
  std::vector<ModuleRule> modules{};    // of NICs without an RDMA device
  std::set<std::string> loaded{};       // of the modules that these NICs need
  std::vector<DcbDaemon> dcb_daemons{};
  bool exclusive_namespaces = false;  // an RDMA device belongs to one network namespace (rdma system, netns exclusive)
};

// CPUs with the same settings.
struct FrequencyGroup {
  std::string governor;    // "performance", "powersave", "schedutil"
  std::string preference;  // energy_performance_preference, if the governor leaves the choice to the hardware
  std::string cpus;        // "0-127"
};
struct IdleGroup {
  std::string state;     // name of the deepest state that is not disabled: "C6"
  unsigned latency = 0;  // microseconds to leave it
  std::string cpus;
};

struct HostCpu {
  std::string vendor, model;              // of /proc/cpuinfo: "GenuineIntel", "Intel(R) Xeon(R) Platinum 8480C"
  unsigned family = 0, model_number = 0;  // of x86, by CPUID: 6 and 0x8f; 0: unknown
  std::string frequency_driver;  // "intel_pstate", "amd-pstate-epp", "acpi-cpufreq"; empty: no frequency scaling
  std::vector<FrequencyGroup> frequency;
  std::string idle_driver;  // "intel_idle", "acpi_idle"; "none" or empty
  std::vector<IdleGroup> idle;
};
inline bool is_intel(const HostCpu& cpu) { return cpu.vendor == "GenuineIntel"; }
// Hygon builds AMD's.
inline bool is_amd(const HostCpu& cpu) { return cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine"; }

struct Interrupt {
  unsigned irq = 0;
  std::string name;  // as /proc/interrupts names it: "mlx5_comp3@pci:0000:17:00.0"
  std::string cpus;  // where it is delivered: "64"
};

// The interrupts of the queues of a NIC, which is near one NUMA node.
struct NicInterrupts {
  std::string nic;  // RDMA device or netdev
  std::string pci;
  int numa = 0;
  unsigned queues = 0;                 // message-signalled interrupts in use
  unsigned local_cpus = 0;             // CPUs of its NUMA node
  std::vector<Interrupt> elsewhere{};  // delivered only to CPUs of other NUMA nodes
};

struct ClockSource {
  std::string current;  // "tsc"
  std::vector<std::string> available;
};

struct HugePages {
  std::map<uint64_t, uint64_t> reserved;  // size in bytes -> pages
  std::string transparent;                // "always", "madvise", "never"; empty: unknown
};

// The CPUs of a NUMA node that are present and offline. Topology knows no node without an online CPU.
struct OfflineCpus {
  int node = 0;
  std::string cpus;  // "32-63"
  unsigned count = 0;
  std::vector<std::string> devices{};  // PCI addresses of GPUs and NICs on a node without an online CPU
};

// Unknown values are absent or empty.
struct Host {
  HostCpu cpu;
  std::vector<OfflineCpus> offline_cpus{};  // by node
  uint64_t memory = 0;                      // bytes, 0: unknown
  std::vector<std::string> kernel_options;  // the kernel command line
  std::optional<unsigned> numa_balancing;   // 0 off, 1 on, 2 memory tiering (admin-guide/sysctl/kernel.rst)
  ClockSource clock;
  HugePages huge_pages;
  std::string lockdown;            // "none", "integrity", "confidentiality"
  std::optional<bool> irqbalance;  // whether it runs
  std::string vm_program{};        // a process that runs or manages virtual machines, "qemu-kvm"; empty: none is seen
  // Processes of other users are hidden (hidepid of proc(5), ProtectProc= of systemd): services may be missing.
  bool processes_hidden = false;
  std::vector<NicInterrupts> interrupts;
  std::vector<JobService> services;
  std::vector<UserLimit> user_limits;
  std::optional<SlurmLimits> slurm;  // absent: no slurm.conf
  RdmaSoftware software{};
};

namespace scanning {

// Fills Node::host; ports and topology must be filled.
void read_host(const Root& root, Node& node);

}  // namespace scanning

}  // namespace fabric

// Sources: Documentation/admin-guide/pm/{cpufreq,cpuidle,intel_pstate,amd-pstate}.rst, Documentation/ABI/testing/
// sysfs-devices-system-cpu, Documentation/admin-guide/mm/{hugetlbpage,transhuge}.rst of Linux 6.12.
namespace fabric::host {

// The kernel's parameters, split as by next_arg() of lib/cmdline.c (Linux 6.12): a space within quotes does not split,
// and quotes around a parameter or its value are removed. Parameters after "--" belong to init.
std::vector<std::string> kernel_parameters(std::string_view command_line);

// Whether the CPU reports that it is virtual: the flag "hypervisor" of /proc/cpuinfo; nullopt: not x86.
std::optional<bool> is_virtual_cpu(std::string_view cpuinfo);

// The text of /proc/cpuinfo, some 2 KiB for each CPU; empty: not readable.
std::string read_cpuinfo(const Root& root);

// Reads two or three small files for each CPU: its governor, the preference of the hardware if the governor is
// "powersave", and whether its deepest idle states are disabled.
HostCpu read_cpu(const Root& root, std::string_view cpuinfo);

// The NUMA nodes that have CPUs offline. Costs two files on a machine without.
std::vector<OfflineCpus> read_offline_cpus(const Root& root, const Topology& topology);

// Fills memory, kernel_options, numa_balancing, clock, huge_pages, lockdown.
void read_kernel(const Root& root, Host& host);

}  // namespace fabric::host
