// SPDX-License-Identifier: Apache-2.0
#include "node/services.h"

#include <limits.h>

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "node/lldpad.h"
#include "node/systemd.h"

namespace fabric::host {
namespace {

constexpr size_t kMaxUserLimits = 1024, kMaxSlurmFiles = 32;
constexpr const char* kSlurmFiles[] = {"etc/slurm/slurm.conf", "run/slurm/conf/slurm.conf", "etc/slurm-llnl/slurm.conf",
                                       "usr/local/etc/slurm.conf", "opt/slurm/etc/slurm.conf"};

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

std::optional<uint64_t> parse_limit(std::string_view text) {
  if (text == "unlimited") return kNoLimit;
  return parse_number<uint64_t>(text);
}

// "Max locked memory         8388608              unlimited            bytes"
std::optional<ResourceLimit> parse_row(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  const auto columns = words(line.substr(name.size()));
  if (columns.size() < 2) return std::nullopt;
  const auto soft = parse_limit(columns[0]), hard = parse_limit(columns[1]);
  if (!soft || !hard) return std::nullopt;
  return ResourceLimit{*soft, *hard};
}

bool lists_memlock(std::string_view list) {
  return std::ranges::any_of(split(list, ','), [](std::string_view each) {
    const std::string name = lower(trim(each));
    return name == "all" || name == "memlock" || name == "rlimit_memlock";
  });
}

// Parses slurm.conf and the files that it includes; each file is read once, so that a loop of inclusions ends, and a
// file that names another in each line costs no more than the other.
class SlurmReader {
 public:
  SlurmReader(const ReadFile& read, std::string folder, SlurmLimits& limits)
      : read_(read), folder_(std::move(folder)), limits_(limits) {}

  void parse(std::string_view text, const std::string& file) {
    files_.insert(file);
    unsigned number = 0;
    for (const std::string_view line : split(text, '\n')) {
      const auto parts = words(without_comment(line));
      ++number;
      if (parts.size() >= 2 && lower(parts[0]) == "include") {
        // %c is the cluster's name. A path without a leading slash is relative to the folder of slurm.conf.
        std::string path(parts[1]);
        if (!path.starts_with('/')) path = folder_ + path;
        if (const size_t at = path.find("%c"); at != std::string::npos) path.replace(at, 2, cluster_);
        if (!read_ || files_.size() > kMaxSlurmFiles || !files_.insert(path).second) continue;
        if (const auto included = read_(path)) parse(*included, path);
        continue;
      }
      for (const std::string_view word : parts) {
        const size_t equals = word.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string key = lower(word.substr(0, equals));
        const std::string_view value = word.substr(equals + 1);
        if (key == "clustername") cluster_ = value.substr(0, NAME_MAX);
        if (key == "propagateresourcelimits") limits_ = {lists_memlock(value), {file, number}};
        if (key == "propagateresourcelimitsexcept") limits_ = {!lists_memlock(value), {file, number}};
      }
    }
  }

 private:
  const ReadFile& read_;
  std::string folder_, cluster_;
  SlurmLimits& limits_;
  std::set<std::string> files_;
};

}  // namespace

ProcessLimits parse_process_limits(std::string_view text) {
  ProcessLimits limits;
  for (const std::string_view line : split(text, '\n')) {
    if (const auto row = parse_row(line, "Max locked memory ")) limits.memlock = row;
    if (const auto row = parse_row(line, "Max open files ")) limits.nofile = row;
    if (const auto row = parse_row(line, "Max core file size ")) limits.core = row;
  }
  return limits;
}

void parse_user_limits(std::string_view text, const std::string& file, std::vector<UserLimit>& limits) {
  unsigned number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const auto columns = words(without_comment(line));
    if (columns.size() < 4 || lower(columns[2]) != "memlock" || columns[0] == "root") continue;
    const std::string type = lower(columns[1]);
    if (type != "-" && type != "soft" && type != "hard") continue;
    // Values of pam_limits are KiB; "-1" and these words mean no limit.
    const std::string value = lower(columns[3]);
    uint64_t bytes = kNoLimit;
    if (value != "-1" && value != "unlimited" && value != "infinity") {
      const auto kib = parse_number<uint64_t>(value);
      if (!kib) continue;
      if (*kib <= kNoLimit / 1024) bytes = *kib * 1024;
    }
    UserLimit* entry = find_where(limits, [&](const UserLimit& each) { return each.domain == columns[0]; });
    if (entry == nullptr) {
      if (limits.size() == kMaxUserLimits) return;
      entry = &limits.emplace_back(UserLimit{.domain = std::string(columns[0])});
    }
    const LimitSetting setting{{bytes, bytes}, {file, number}};
    if (type != "hard") entry->soft = setting;
    if (type != "soft") entry->hard = setting;
  }
}

std::vector<UserLimit> read_user_limits(const Root& root) {
  std::vector<UserLimit> limits;
  const std::string folder = "etc/security/";
  parse_user_limits(root.text_of(folder + "limits.conf"), "/" + folder + "limits.conf", limits);
  auto names = root.names_in(folder + "limits.d");
  std::ranges::sort(names);
  for (const std::string& name : names)
    if (const std::string file = folder + "limits.d/" + name; name.ends_with(".conf"))
      parse_user_limits(root.text_of(file), "/" + file, limits);
  return limits;
}

SlurmLimits parse_slurm_limits(std::string_view text, const std::string& file, const ReadFile& read) {
  SlurmLimits limits{true, {file, 0}};
  SlurmReader(read, file.substr(0, file.rfind('/') + 1), limits).parse(text, file);
  return limits;
}

std::optional<SlurmLimits> read_slurm_limits(const Root& root) {
  for (const char* name : kSlurmFiles) {
    const std::string file = std::string("/") + name;
    if (const auto text = root.read_text(name))
      return parse_slurm_limits(*text, file, [&](const std::string& other) { return root.read_text(other.substr(1)); });
  }
  return std::nullopt;
}

namespace {

// A service by a process's comm (at most 15 characters; if it ends in "-", only the beginning is compared) and by the
// name of its unit.
struct KnownService {
  std::string_view comm, unit;
  JobRole role;
};
constexpr KnownService kKnownServices[] = {
    {"slurmd", "slurmd.service", JobRole::batch},
    {"pbs_mom", "pbs.service", JobRole::batch},      // OpenPBS
    {"pbs_mom", "pbs_mom.service", JobRole::batch},  // TORQUE
    {"sge_execd", "gridengine-exec.service", JobRole::batch},
    {"sge_execd", "sge_execd.service", JobRole::batch},
    {"flux-broker", "flux.service", JobRole::batch},
    {"flux-broker-", "flux.service", JobRole::batch},  // with its rank: src/broker/broker.c of flux-core
    {"sbatchd", "lsfd.service", JobRole::batch},
    {"condor_startd", "condor.service", JobRole::batch},
    {"spurd", "spurd.service", JobRole::batch},  // ROCm/spur
    {"containerd", "containerd.service", JobRole::runtime},
    {"crio", "crio.service", JobRole::runtime},
    {"k3s-server", "k3s.service", JobRole::runtime},
    {"k3s-agent", "k3s-agent.service", JobRole::runtime},
    {"rke2", "rke2-server.service", JobRole::runtime},
    {"rke2", "rke2-agent.service", JobRole::runtime},
    {"nomad", "nomad.service", JobRole::runtime},
    {"dockerd", "docker.service", JobRole::forwards},
    {"kubelet", "kubelet.service", JobRole::forwards},
};
constexpr size_t kMaxProcesses = 16;

// openlldp, and its predecessor. lldpd(8) has no DCBX.
constexpr std::string_view kLldpad = "lldpad", kDcbDaemons[] = {kLldpad, "dcbd"};

// Run virtual machines, or manage them. qemu-ga is the agent within one.
constexpr std::string_view kVmPrograms[] = {"qemu-kvm",       "qemu-system-x86", "qemu-system-aar", "kvm",
                                            "libvirtd",       "virtqemud",       "virt-handler",    "virt-launcher",
                                            "virt-launcher-", "cloud-hyperviso", "firecracker"};

// `name`: as in KnownService.
bool is_named(std::string_view comm, std::string_view name) {
  return comm == name || (name.ends_with('-') && comm.starts_with(name));
}

bool is_vm_program(std::string_view comm) {
  return std::ranges::any_of(kVmPrograms, [&](std::string_view each) { return is_named(comm, each); });
}

const KnownService* known_service(std::string_view comm) {
  return find_where(kKnownServices, [&](const KnownService& each) { return is_named(comm, each.comm); });
}

class ServiceReader {
 public:
  explicit ServiceReader(const Root& root) : root_(root) {}

  Services read() {
    bool sees_all = false;
    for (const std::string& entry : root_.names_in("proc")) {
      const auto pid = parse_number<unsigned>(entry);
      if (!pid) continue;
      const std::string folder = "proc/" + entry;
      const auto comm = root_.read_line(folder + "/comm");
      if (!comm) continue;
      sees_all = sees_all || pid == 1u;
      out_.irqbalance = out_.irqbalance.value_or(false) || *comm == "irqbalance";
      if (out_.vm_program.empty() && is_vm_program(*comm)) out_.vm_program = *comm;
      const KnownService* known = known_service(*comm);
      const bool is_dcb = contains(kDcbDaemons, *comm);
      if (known == nullptr && !is_dcb && *comm != "systemd") continue;
      if (is_in_container(folder)) continue;
      const std::string unit = unit_of_cgroup(root_.text_of(folder + "/cgroup"));
      if (is_dcb && out_.dcb_daemons.size() < kMaxProcesses) {
        DcbDaemon& daemon = out_.dcb_daemons.emplace_back(DcbDaemon{*comm, *pid, unit});
        if (*comm == kLldpad) daemon.admin_status = read_lldpad(root_, *pid);
      }
      if (known != nullptr) add_process(service_of(unit.empty() ? *comm : unit, known->role), *pid);
      else if (unit.starts_with("user@")) add_process(service_of(unit, JobRole::session), *pid);
    }
    out_.processes_hidden = !sees_all;
    if (!sees_all && out_.irqbalance == false) out_.irqbalance.reset();

    // The control group of a unit lists processes that have another name (a wrapper) or are hidden.
    const systemd::UnitFiles units(root_);
    for (const KnownService& row : kKnownServices) {
      const std::string name(row.unit);
      if (const JobService* known = find_in(services_, name); known != nullptr && !known->processes.empty()) continue;
      std::vector<unsigned> pids;
      for (const char* tree : {"sys/fs/cgroup/system.slice/", "sys/fs/cgroup/systemd/system.slice/"}) {
        const std::string text = root_.text_of(tree + name + "/cgroup.procs");
        for (const std::string_view word : words(text))
          if (const auto pid = parse_number<unsigned>(word); pid && *pid != 0 && pids.size() < kMaxProcesses)
            pids.push_back(*pid);
        if (!pids.empty()) break;
      }
      if (pids.empty() && !units.find(name)) continue;
      JobService& service = service_of(name, row.role);
      for (const unsigned pid : pids) add_process(service, pid);
    }

    add_container();
    const systemd::Limits defaults = systemd::default_limits(root_);
    for (auto& [name, service] : services_) {
      if (const auto unit = units.find(name)) {
        service.file = unit->file;
        service.masked = unit->masked;
        const systemd::Limits limits = systemd::service_limits(root_, unit->parts, defaults);
        service.memlock = limits.memlock;
        service.nofile = limits.nofile;
        service.core = limits.core;
      }
      out_.found.push_back(std::move(service));
    }
    std::ranges::sort(out_.found,
                      [](const JobService& a, const JobService& b) { return natural_less(a.unit, b.unit); });
    return std::move(out_);
  }

 private:
  // A process with more than one id also has one in a container's process namespace ("NSpid:" of fs/proc/array.c).
  [[nodiscard]] bool is_in_container(const std::string& folder) const {
    const std::string status = root_.text_of(folder + "/status");
    for (const std::string_view line : split(status, '\n'))
      if (line.starts_with("NSpid:")) return words(line).size() > 2;
    return false;
  }

  // Without limits of their own the processes of a container have those of the first.
  void add_container() {
    if (!has_container_processes(root_)) return;
    JobService& container = service_of(kContainer, JobRole::batch);
    if (!root_.exists("proc/1/limits")) return;
    add_process(container, 1);
    if (has_ipc_lock(root_.text_of("proc/1/status")))
      for (JobProcess& each : container.processes) each.limits.memlock = ResourceLimit{};
  }

  void add_process(JobService& service, unsigned pid) {
    if (service.processes.size() == kMaxProcesses) return;
    const std::string folder = "proc/" + std::to_string(pid);
    JobProcess process{pid, root_.line_of(folder + "/comm"), {}};
    const auto limits = root_.read_text(folder + "/limits");
    if (limits) process.limits = parse_process_limits(*limits);
    else
      out_.unread.push_back("the limits of " + service.unit + " (pid " + std::to_string(pid) +
                            "): " + limits.error().text());
    service.processes.push_back(std::move(process));
  }

  JobService& service_of(const std::string& name, JobRole role) {
    JobService& service = services_.try_emplace(name, JobService{.unit = name, .role = role}).first->second;
    service.role = std::max(service.role, role);
    return service;
  }

  const Root& root_;
  std::map<std::string, JobService> services_;  // by unit
  Services out_;
};

}  // namespace

std::string unit_of_cgroup(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {  // "0::/system.slice/slurmd.service", "1:name=systemd:/..."
    const size_t first = line.find(':'), second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers != "name=systemd") continue;
    for (const std::string_view part : split(line.substr(second + 1), '/')) {
      if (part.ends_with(".scope")) break;
      if (part.ends_with(".service")) return std::string(part);
    }
  }
  return {};
}

bool is_known_process(std::string_view comm) {
  return comm == "systemd" || comm == "irqbalance" || contains(kDcbDaemons, comm) || is_vm_program(comm) ||
         known_service(comm) != nullptr;
}

bool may_begin_container(std::string_view comm) {
  return !comm.empty() && comm != "systemd" && comm != "init" && comm != "pause" && !comm.starts_with("fabric-");
}

bool has_ipc_lock(std::string_view status) {
  constexpr uint64_t kIpcLock = uint64_t{1} << 14;
  return std::ranges::any_of(split(status, '\n'), [](std::string_view line) {
    const auto columns = words(line);
    if (columns.size() != 2 || columns[0] != "CapEff:") return false;
    return (parse_number<uint64_t>(columns[1], 16).value_or(0) & kIpcLock) != 0;
  });
}

bool has_container_processes(const Root& root) {
  return may_begin_container(root.line_of("proc/1/comm")) && root.line_of("proc/2/comm") != kKernelThreads;
}

Services read_services(const Root& root) { return ServiceReader(root).read(); }

}  // namespace fabric::host
