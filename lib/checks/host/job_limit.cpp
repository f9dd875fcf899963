// SPDX-License-Identifier: Apache-2.0
#include "checks/host/job_limit.h"

#include "base/parse.h"

namespace fabric {
namespace {

bool is_drop_in(const FileLine& where) { return where.file.find(".d/") != std::string::npos; }

// systemd reads drop-ins by file name in any folder: the new one must sort after the one that sets the limit.
std::string file_name_behind(const JobService& service, const JobLimit& limit) {
  const std::string name = limit.drop_in;
  const auto& setting = service.*limit.file;
  if (!setting || !is_drop_in(setting->where)) return name;
  const std::string other = base_name(setting->where.file);
  return other < name ? name : "z" + other;
}

// The drop-in of an instance belongs to its template: "slurmd@.service.d".
std::string drop_in_of(const JobService& service, const JobLimit& limit) {
  const size_t at = service.unit.find('@');
  const std::string name = at == std::string::npos ? service.unit : service.unit.substr(0, at + 1) + ".service";
  return "/etc/systemd/system/" + name + ".d/" + file_name_behind(service, limit);
}

// Files of packages and files for all services (system.conf, service.d) are not edited.
bool is_own_line(const std::optional<LimitSetting>& setting) {
  return setting && setting->where.file.starts_with("/etc/systemd/system/") &&
         !setting->where.file.starts_with("/etc/systemd/system/service.d/");
}

std::string restart_of(const JobService& service) { return "systemctl restart " + service.unit; }

}  // namespace

const JobProcess* tightest(const JobService& service, const JobLimit& limit) {
  const JobProcess* found = nullptr;
  const auto value = [&](const JobProcess& each) { return (*(each.limits.*limit.process)).*limit.counts; };
  for (const JobProcess& each : service.processes)
    if (each.limits.*limit.process && (found == nullptr || value(each) < value(*found))) found = &each;
  return found;
}

std::string by_files(const JobService& service, const JobLimit& limit) {
  if (service.file.empty()) return {};
  const auto& setting = service.*limit.file;
  return setting ? limit.text(setting->limit) + " by " + setting->where.text() : "its unit sets none";
}

std::string by_process(const JobProcess& process, const JobLimit& limit) {
  return limit.text(*(process.limits.*limit.process)) + " (" + process.comm + ", pid " + std::to_string(process.pid) +
         ")";
}

std::string fix_files(const JobService& service, const JobLimit& limit) {
  if (service.file.empty()) return std::string(limit.by_hand) + ", or from a unit with " + limit.line;
  const std::string then = " Then: systemctl daemon-reload && " + restart_of(service);
  const auto& setting = service.*limit.file;
  if (is_own_line(setting)) return "In " + setting->where.text() + " write " + limit.line + "." + then;
  return "Write " + drop_in_of(service, limit) + " with two lines, [Service] and " + limit.line + "." + then;
}

Finding finding_of(const JobService& service, const JobProcess* process, const JobLimit& limit, const LimitTexts& texts,
                   Status low, const std::function<bool(const ResourceLimit&)>& is_enough) {
  const auto& setting = service.*limit.file;
  const bool files = !setting || is_enough(setting->limit);
  const bool running = process != nullptr ? is_enough(*(process->limits.*limit.process)) : files;
  if (service.role < JobRole::runtime || (running && files)) return good(service.unit, texts.observed, texts.expected);
  if (running)
    return bad(
        Status::warning, service.unit, texts.observed, texts.expected,
        "The running service still has its old limit. From its next start jobs get the lower limit of its unit files.",
        fix_files(service, limit));
  if (process != nullptr && setting && files)
    return bad(low, service.unit, texts.observed, texts.expected,
               texts.meaning + " Its unit files are correct, but the process started before the change.",
               "systemctl daemon-reload && " + restart_of(service));
  return bad(low, service.unit, texts.observed, texts.expected, texts.meaning, fix_files(service, limit));
}

extern const Threshold kMemlock{
    "memlock", 32, "GiB of locked memory, or the whole memory", "ROCm cvs (cvs/input/config_file/preflight)",
    0.001,     1e6};

bool is_enough_memlock(const View& view, const ResourceLimit& limit) {
  constexpr double kGiB = 1 << 30;
  const uint64_t memory = view.now.host->memory;
  return static_cast<double>(limit.soft) >= limit_of(view, kMemlock) * kGiB || (memory != 0 && limit.soft >= memory);
}

bool is_hidden(const View& view, const JobService& service, const JobLimit& limit) {
  return view.now.host->processes_hidden && tightest(service, limit) == nullptr;
}

}  // namespace fabric
