// SPDX-License-Identifier: Apache-2.0
#include "node/services.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "node/systemd.h"

namespace fabric::host {
namespace {

constexpr size_t kMaxUserLimits = 1024, kMaxSlurmFiles = 32;
constexpr const char* kSlurmFiles[] = {"etc/slurm/slurm.conf", "run/slurm/conf/slurm.conf", "etc/slurm-llnl/slurm.conf",
                                       "usr/local/etc/slurm.conf", "opt/slurm/etc/slurm.conf"};

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

std::optional<uint64_t> parse_limit(std::string_view text) {
  return text == "unlimited" ? std::optional<uint64_t>(kNoLimit) : parse_number<uint64_t>(text);
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

// pam_limits takes KiB; "-1" and these words mean no limit.
std::optional<uint64_t> parse_kib(std::string_view text) {
  if (text == "-1" || text == "unlimited" || text == "infinity") return kNoLimit;
  const auto value = parse_number<uint64_t>(text);
  if (!value) return std::nullopt;
  return *value > kNoLimit / 1024 ? kNoLimit : *value * 1024;
}

UserLimit* entry_of(std::vector<UserLimit>& limits, std::string_view domain) {
  if (auto* found = find_where(limits, [&](const UserLimit& each) { return each.domain == domain; })) return found;
  return limits.size() == kMaxUserLimits ? nullptr : &limits.emplace_back(UserLimit{.domain = std::string(domain)});
}

bool lists_memlock(std::string_view list) {
  return std::ranges::any_of(split(list, ','), [](std::string_view each) {
    const std::string name = lower(trim(each));
    return name == "all" || name == "memlock" || name == "rlimit_memlock";
  });
}

// slurm.conf and what it includes, inline; each file once, so that a loop ends.
class SlurmReader {
 public:
  SlurmReader(const ReadFile& read, std::string folder, SlurmLimits& limits)
      : read_(read), folder_(std::move(folder)), limits_(limits) {}

  void parse(std::string_view text, const std::string& file) {
    if (files_.size() == kMaxSlurmFiles || !files_.insert(file).second) return;
    unsigned number = 0;
    for (const std::string_view line : split(text, '\n')) {
      const auto parts = words(without_comment(line));
      ++number;
      if (parts.size() >= 2 && lower(parts[0]) == "include") include(path_of(parts[1]));
      else
        for (const std::string_view word : parts) take(word, {file, number});
    }
  }

 private:
  void include(const std::string& file) {
    if (const auto text = read_ ? read_(file) : error(ENOENT, file)) parse(*text, file);
  }

  void take(std::string_view word, const FileLine& where) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return;
    const std::string key = lower(word.substr(0, equals));
    const std::string_view value = word.substr(equals + 1);
    if (key == "clustername") cluster_ = value;
    if (key == "propagateresourcelimits") limits_ = {lists_memlock(value), where};
    if (key == "propagateresourcelimitsexcept") limits_ = {!lists_memlock(value), where};
  }

  // %c: the cluster's name. Without a leading slash, beside slurm.conf.
  std::string path_of(std::string_view name) const {
    std::string path = name.starts_with('/') ? std::string(name) : folder_ + std::string(name);
    if (const size_t at = path.find("%c"); at != std::string::npos) path.replace(at, 2, cluster_);
    return path;
  }

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
    const auto bytes = parse_kib(lower(columns[3]));
    if (!bytes || (type != "-" && type != "soft" && type != "hard")) continue;
    UserLimit* entry = entry_of(limits, columns[0]);
    if (entry == nullptr) return;
    const LimitSetting setting{{*bytes, *bytes}, {file, number}};
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

// By a process's comm (at most 15 characters; one that ends in "-" is the beginning of it) and by the unit's name.
struct Row {
  std::string_view comm, unit;
  JobRole role;
};
constexpr Row kRows[] = {
    {"slurmd", "slurmd.service", JobRole::batch},
    {"pbs_mom", "pbs.service", JobRole::batch},      // OpenPBS
    {"pbs_mom", "pbs_mom.service", JobRole::batch},  // TORQUE
    {"sge_execd", "gridengine-exec.service", JobRole::batch},
    {"sge_execd", "sge_execd.service", JobRole::batch},
    {"flux-broker", "flux.service", JobRole::batch},
    {"flux-broker-", "flux.service", JobRole::batch},  // with its rank: src/broker/broker.c of flux-core
    {"sbatchd", "lsfd.service", JobRole::batch},
    {"condor_startd", "condor.service", JobRole::batch},
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

const Row* row_of_comm(std::string_view comm) {
  return find_where(kRows, [&](const Row& each) {
    return comm == each.comm || (each.comm.ends_with('-') && comm.starts_with(each.comm));
  });
}

// More than one process id: also in a process namespace of its own, a container ("NSpid:" of fs/proc/array.c).
bool is_in_container(const Root& root, const std::string& folder) {
  const std::string status = root.text_of(folder + "/status");
  for (const std::string_view line : split(status, '\n'))
    if (line.starts_with("NSpid:")) return words(line).size() > 2;
  return false;
}

class Reader {
 public:
  explicit Reader(const Root& root) : root_(root), units_(root), defaults_(systemd::default_limits(root)) {}

  void look_at_processes() {
    bool sees_all = false;
    for (const std::string& entry : root_.names_in("proc")) {
      const auto pid = parse_number<unsigned>(entry);
      const auto comm = pid ? root_.read_line("proc/" + entry + "/comm") : error(0, {});
      if (!comm) continue;
      sees_all = sees_all || pid == 1u;
      out_.irqbalance = out_.irqbalance.value_or(false) || *comm == "irqbalance";
      take_process(*pid, *comm);
    }
    out_.processes_hidden = !sees_all;
    if (!sees_all && out_.irqbalance == false) out_.irqbalance.reset();
  }

  // Also a unit whose process has another name (a wrapper), or is hidden: its control group lists it.
  void look_at_units() {
    for (const Row& row : kRows) {
      const std::string name(row.unit);
      if (const JobService* known = find_in(services_, name); known != nullptr && !known->processes.empty()) continue;
      const auto pids = control_group(name);
      if (pids.empty() && !units_.find(name)) continue;
      JobService& service = service_of(name, row.role);
      for (const unsigned pid : pids) add_process(service, pid);
    }
  }

  Services finish() {
    for (auto& [name, service] : services_) {
      if (const auto unit = units_.find(name)) {
        service.file = unit->file;
        service.masked = unit->masked;
        const systemd::Limits limits = systemd::service_limits(root_, unit->parts, defaults_);
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
  void take_process(unsigned pid, const std::string& comm) {
    const Row* row = row_of_comm(comm);
    if (row == nullptr && comm != "systemd") return;
    const std::string folder = "proc/" + std::to_string(pid);
    if (is_in_container(root_, folder)) return;
    const std::string unit = unit_of_cgroup(root_.text_of(folder + "/cgroup"));
    if (row == nullptr && !unit.starts_with("user@")) return;
    add_process(service_of(unit.empty() ? comm : unit, row == nullptr ? JobRole::session : row->role), pid);
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

  std::vector<unsigned> control_group(const std::string& unit) const {
    std::vector<unsigned> pids;
    for (const char* tree : {"sys/fs/cgroup/system.slice/", "sys/fs/cgroup/systemd/system.slice/"}) {
      const std::string text = root_.text_of(tree + unit + "/cgroup.procs");
      for (const std::string_view word : words(text))
        if (const auto pid = parse_number<unsigned>(word); pid && *pid != 0 && pids.size() < kMaxProcesses)
          pids.push_back(*pid);
      if (!pids.empty()) break;
    }
    return pids;
  }

  JobService& service_of(const std::string& name, JobRole role) {
    JobService& service = services_.try_emplace(name, JobService{.unit = name, .role = role}).first->second;
    service.role = std::max(service.role, role);
    return service;
  }

  const Root& root_;
  systemd::UnitFiles units_;
  systemd::Limits defaults_;
  std::map<std::string, JobService> services_;
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

Services read_services(const Root& root) {
  Reader reader(root);
  reader.look_at_processes();
  reader.look_at_units();
  return reader.finish();
}

}  // namespace fabric::host
