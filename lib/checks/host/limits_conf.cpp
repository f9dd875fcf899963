// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "checks/checks.h"
#include "checks/host/host.h"
#include "checks/host/memlock.h"
#include "model/finding.h"

namespace fabric {
namespace {

bool is_slurm(const JobService& service) { return service.unit.starts_with("slurm"); }

// Who would get it: Slurm hands a job the limits of the shell that submitted it; where no service starts jobs, shells
// do.
std::string reader_of(const Host& host) {
  const auto starts = [](const JobService& each) { return each.role >= JobRole::runtime && !each.processes.empty(); };
  const bool has_slurm = host.slurm || std::any_of(host.services.begin(), host.services.end(), is_slurm);
  if (has_slurm && host.slurm && host.slurm->propagates_memlock)
    return "Slurm hands the limits of the submitting shell on to the job (PropagateResourceLimits, " +
           host.slurm->where.text() + ").";
  if (!has_slurm && !host.processes_hidden && std::none_of(host.services.begin(), host.services.end(), starts))
    return "No service starts jobs here: they begin in users' shells and have their limits.";
  return {};
}

// Groups of sound servers, whose packages bring an entry of their own: no job's user is in one for its sake.
bool is_for_sound(const UserLimit& entry) {
  constexpr std::string_view kGroups[] = {"@audio", "@jackuser", "@pipewire", "@realtime"};
  return std::find(std::begin(kGroups), std::end(kGroups), entry.domain) != std::end(kGroups);
}

std::string entry_text(const UserLimit& entry, const LimitSetting& setting) {
  return entry.domain + " " + bytes_text(setting.limit.soft) + " (" + setting.where.text() + ")";
}

}  // namespace

// Only what a file says: where none does, sessions have the limit of the service that opened them.
void ask_limits_conf(const View& view, Findings& findings) {
  const auto& host = view.now.host;
  if (!host || !has_rdma(view) || host->user_limits.empty()) return;
  const std::string reader = reader_of(*host);
  std::string low, all;
  bool some_only = true;  // the entry for everybody is in order, or there is none
  for (const UserLimit& entry : host->user_limits) {
    const auto& setting = entry.soft ? entry.soft : entry.hard;
    const std::string text = entry_text(entry, *setting);
    all += (all.empty() ? "" : ", ") + text;
    if (is_for_sound(entry) || is_enough(*host, setting->limit)) continue;
    low += (low.empty() ? "" : ", ") + text;
    some_only = some_only && entry.domain != "*";
  }
  const std::string expected = "* unlimited";
  if (!low.empty() && reader.empty() && host->processes_hidden) return;  // a service may start jobs, unseen
  if (low.empty() || reader.empty()) return findings.push_back(good(kHostSubject, std::move(all), expected));
  const std::string mend =
      host->slurm && host->slurm->propagates_memlock
          ? " Or let Slurm leave this limit out: PropagateResourceLimitsExcept=MEMLOCK in slurm.conf."
          : "";
  findings.push_back(bad(
      Status::warning, kHostSubject, low, expected,
      std::string(some_only ? "Processes of these users" : "Users' processes") +
          " cannot register memory with the NIC beyond this (ibv_reg_mr fails with ENOMEM). " + reader,
      (some_only
           ? "Write unlimited there, or take the lines out where \"* - memlock unlimited\" stands, and log in again."
           : "Write \"* - memlock unlimited\" instead, and log in again.") +
          mend));
}

}  // namespace fabric
