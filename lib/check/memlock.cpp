// SPDX-License-Identifier: Apache-2.0
#include "check/memlock.h"

#include <algorithm>
#include <optional>
#include <string>

#include "check/checks.h"
#include "check/finding.h"
#include "check/host.h"

namespace fabric {
namespace {

constexpr const char* kExpected = "unlimited";

// The process of a service with the least, or null where none could be read.
const JobProcess* tightest(const JobService& service) {
  const JobProcess* found = nullptr;
  for (const JobProcess& each : service.processes)
    if (each.limits.memlock && (found == nullptr || each.limits.memlock->soft < found->limits.memlock->soft)) found = &each;
  return found;
}

bool is_unit(const JobService& service) { return !service.file.empty(); }

std::string by_files(const JobService& service) {
  if (!is_unit(service)) return {};
  if (!service.memlock) return "its unit sets none";
  return memory_text(service.memlock->limit) + " by " + service.memlock->where.text();
}

std::string observed_text(const JobService& service, const JobProcess* process) {
  if (process == nullptr) return "not readable; " + by_files(service);
  std::string text = memory_text(*process->limits.memlock) + " (" + process->comm + ", pid " + std::to_string(process->pid) + ")";
  if (const std::string files = by_files(service); !files.empty()) text += "; " + files;
  if (process->limits.nofile) text += "; nofile " + count_text(*process->limits.nofile);
  if (process->limits.core) text += ", core " + memory_text(*process->limits.core);
  return text;
}

bool is_drop_in(const FileLine& where) { return where.file.find(".d/") != std::string::npos; }

// Drop-ins are read by file name, whatever their folder: this one has to come behind the one that sets the limit.
std::string file_name_behind(const JobService& service) {
  std::string name = "memlock.conf";
  if (!service.memlock || !is_drop_in(service.memlock->where)) return name;
  const std::string& file = service.memlock->where.file;
  const std::string other = file.substr(file.rfind('/') + 1);
  return other < name ? name : "z" + other;
}

// An instance's drop-in is best its template's: "slurmd@.service.d".
std::string drop_in_of(const JobService& service) {
  const size_t at = service.unit.find('@');
  const std::string name = at == std::string::npos ? service.unit : service.unit.substr(0, at + 1) + ".service";
  return "/etc/systemd/system/" + name + ".d/" + file_name_behind(service);
}

std::string restart_of(const JobService& service) { return "systemctl restart " + service.unit + "."; }

// A package's file is not edited, and what holds for every service of the machine (system.conf, service.d) is left.
bool is_own_line(const JobService& service) {
  return service.memlock && service.memlock->where.file.starts_with("/etc/systemd/system/") &&
         !service.memlock->where.file.starts_with("/etc/systemd/system/service.d/");
}

std::string mend_files(const JobService& service) {
  if (!is_unit(service)) return "Start it with ulimit -l unlimited, or by a unit with LimitMEMLOCK=infinity.";
  const std::string then = " Then: systemctl daemon-reload; " + restart_of(service);
  if (is_own_line(service)) return "In " + service.memlock->where.text() + " write LimitMEMLOCK=infinity." + then;
  return "Write " + drop_in_of(service) + " with two lines, [Service] and LimitMEMLOCK=infinity." + then;
}

std::string meaning_of(const JobService& service) {
  constexpr const char* kFails = "Registering memory with the NIC fails beyond it (ibv_reg_mr: ENOMEM, \"Cannot allocate memory\"), whatever "
                                 "limits.conf says.";
  if (service.role == JobRole::batch) return std::string("Jobs inherit this service's limit of locked memory. ") + kFails;
  return std::string("Containers inherit this service's limit of locked memory unless they are started with their own (--ulimit memlock=-1) "
                     "or with CAP_IPC_LOCK. ") + kFails;
}

Finding too_low(const View& view, const JobService& service, const JobProcess* process) {
  const Status status = service.role == JobRole::batch ? Status::critical : Status::warning;
  const bool mended = process != nullptr && service.memlock && is_enough(*view.now.host, service.memlock->limit);
  if (mended)
    return bad(status, service.unit, observed_text(service, process), kExpected,
               meaning_of(service) + " Its files are in order; the process was started before they were.",
               "Run systemctl daemon-reload; " + restart_of(service));
  return bad(status, service.unit, observed_text(service, process), kExpected, meaning_of(service), mend_files(service));
}

Finding judge(const View& view, const JobService& service) {
  const Host& host = *view.now.host;
  const JobProcess* process = tightest(service);
  const bool weak = service.role < JobRole::runtime;
  if (process == nullptr && !service.memlock)
    return weak ? good(service.unit, observed_text(service, process), kExpected)
                : bad(Status::unknown, service.unit, observed_text(service, process), kExpected,
                      "The limits of its running processes could not be read, and jobs depend on them.", "Run the check as root.");
  const ResourceLimit& limit = process != nullptr ? *process->limits.memlock : service.memlock->limit;
  if (weak) return good(service.unit, observed_text(service, process) + " (starts no jobs itself)", "any");
  if (!is_enough(host, limit)) return too_low(view, service, process);
  if (process != nullptr && service.memlock && !is_enough(host, service.memlock->limit))
    return bad(Status::warning, service.unit, observed_text(service, process), kExpected,
               "The running service still has the limit that it was started with; after its next start jobs get the lower one of its files.",
               mend_files(service));
  return good(service.unit, observed_text(service, process), kExpected);
}

}  // namespace

bool is_enough(const Host& host, const ResourceLimit& limit) {
  constexpr uint64_t kPlenty = uint64_t{32} << 30;
  return limit.soft >= kPlenty || (host.memory != 0 && limit.soft >= host.memory);
}

// Of services that run: one that does not starts no jobs.
void ask_memlock(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  for (const JobService& service : view.now.host->services)
    if (!service.processes.empty()) findings.push_back(judge(view, service));
}

}  // namespace fabric
