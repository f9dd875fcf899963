// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {
namespace {

// Why jobs get these limits: Slurm propagates the limits of the submitting shell; without a service, shells start jobs.
// Empty: jobs do not get them.
std::string reader_of(const Host& host) {
  if (host.slurm && host.slurm->propagates_memlock)
    return "Slurm propagates the limits of the submitting shell to the job (PropagateResourceLimits, " +
           host.slurm->where.text() + ").";
  const auto starts = [](const JobService& each) {
    return each.unit.starts_with("slurm") || (each.role >= JobRole::runtime && !each.processes.empty());
  };
  if (!host.slurm && !host.processes_hidden && std::ranges::none_of(host.services, starts))
    return "No service starts jobs on this host: jobs start in shells and inherit their limits.";
  return {};
}

// Groups of sound servers, whose packages ship an entry of their own: they do not concern jobs.
constexpr std::string_view kSound[] = {"@audio", "@jackuser", "@pipewire", "@realtime"};

constexpr const char* kFix = "Write \"* - memlock unlimited\" to /etc/security/limits.d/90-rdma.conf and log in again.";

std::string consequence(bool some_only, const std::string& reader) {
  return std::string(some_only ? "Processes of these users" : "Users' processes") +
         " cannot register memory with the NIC beyond this (ibv_reg_mr fails with ENOMEM). " + reader;
}

// root may lock any memory, and system accounts (that of a display manager) start no jobs.
bool is_of_a_user(const JobService& service) {
  constexpr unsigned kFirstUser = 1000;  // UID_MIN of /etc/login.defs
  constexpr std::string_view kPrefix = "user@", kSuffix = ".service";
  if (!service.unit.starts_with(kPrefix) || !service.unit.ends_with(kSuffix)) return false;
  const std::string_view uid = std::string_view(service.unit).substr(kPrefix.size());
  return parse_number<unsigned>(uid.substr(0, uid.size() - kSuffix.size())).value_or(0) >= kFirstUser;
}

// The first session that is too low. Without an entry, sessions have the default limit of services (systemd's: 8 MiB).
std::string low_session(const View& view) {
  const Host& host = *view.now.host;
  if (!has_gpus_and_rdma(view) || host.slurm || reader_of(host).empty()) return {};
  for (const JobService& service : host.services)
    for (const JobProcess& each : service.processes)
      if (is_of_a_user(service) && each.limits.memlock && !is_enough_memlock(view, *each.limits.memlock))
        return memory_text(*each.limits.memlock) + " (" + service.unit + ", pid " + std::to_string(each.pid) + ")";
  return {};
}

std::optional<Finding> ask_host(const View& view) {
  const auto& host = view.now.host;
  if (!host || !has_rdma(view)) return std::nullopt;
  const std::string reader = reader_of(*host), expected = "* unlimited";
  std::string low, all;
  bool some_only = true;  // no low entry for "*"
  bool has_soft = false;  // limits.conf sets the soft limit, which counts
  for (const UserLimit& entry : host->user_limits) {
    const LimitSetting& setting = entry.soft ? *entry.soft : *entry.hard;
    const std::string text = entry.domain + " " + bytes_text(setting.limit.soft) + " (" + setting.where.text() + ")";
    append_item(all, text);
    if (contains(kSound, entry.domain)) continue;
    has_soft = has_soft || entry.soft;
    if (is_enough_memlock(view, setting.limit)) continue;
    append_item(low, text);
    some_only = some_only && entry.domain != "*";
  }
  if (const std::string session = has_soft ? "" : low_session(view); !session.empty())
    return bad(Status::warning, kHostSubject, session + "; no soft limit in limits.conf", expected,
               consequence(false, reader), kFix);
  if (all.empty()) return std::nullopt;
  if (!low.empty() && reader.empty() && host->processes_hidden) return std::nullopt;  // a hidden service may start jobs
  if (low.empty() || reader.empty()) return good(kHostSubject, std::move(all), expected);
  return bad(Status::warning, kHostSubject, low, expected, consequence(some_only, reader),
             std::string(some_only ? "Write unlimited in these lines, or take the lines out if the file has \"* - "
                                     "memlock unlimited\". Then log in again."
                                   : "Replace them with \"* - memlock unlimited\". Then log in again.") +
                 (host->slurm && host->slurm->propagates_memlock
                      ? " Or set PropagateResourceLimitsExcept=MEMLOCK in slurm.conf."
                      : ""));
}

}  // namespace

extern const Check kLimitsConfCheck{
    .id = "limits-conf",
    .group = group::host,
    .title = "limits.conf limits memlock of jobs",
    .meaning =
        "pam_limits applies the memlock entries of /etc/security/limits.conf and limits.d to logins. Jobs get them if "
        "Slurm propagates the limits of the submitting shell (its default), or if no service starts jobs. With a "
        "finite limit ibv_reg_mr fails with ENOMEM. If no service starts jobs and no entry exists, the limit of open "
        "sessions (user@UID.service) counts.",
    .inspect = "ulimit -l in a new shell; grep -r memlock /etc/security/limits.conf /etc/security/limits.d",
    .fix = kFix,
    .ask_host = ask_host,
    .thresholds = {&kMemlock},
};

}  // namespace fabric
