// SPDX-License-Identifier: Apache-2.0
#include "exporter/self.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <optional>
#include <string>

#include "base/parse.h"
#include "sys/root.h"

namespace fabric::exporter {
namespace {

constexpr MetricKind kGauge = MetricKind::gauge;

constexpr Metric kSuccess{"fabric_collector_success", "1 when the last attempt to read this group of values could read all of it.", kGauge};
constexpr Metric kDuration{"fabric_collector_duration_seconds", "How long the last attempt took.", kGauge};
constexpr Metric kAge{"fabric_snapshot_age_seconds", "Age of the readings shown of this device.", kGauge};
constexpr Metric kModuleAge{"fabric_module_readings_age_seconds", "Age of the readings of the modules, which fabric-agentd makes; absent when none are shown.", kGauge};
constexpr Metric kRequestsServed{"fabric_exporter_http_requests_total", "HTTP requests answered, by status."};
constexpr Metric kConnections{"fabric_exporter_http_connections", "HTTP connections open.", kGauge};
constexpr Metric kBuild{"fabric_exporter_build_info", "Version of the exporter; the value is always 1.", kGauge};
constexpr Metric kSeries{"fabric_series", "Series on this page, before those about the page itself.", kGauge};
constexpr Metric kDropped{"fabric_series_dropped", "Series left out of this page, by reason (limit: more than series_limit; duplicate: the same labels twice).", kGauge};

constexpr Metric kCpu{"process_cpu_seconds_total", "Total user and system CPU time spent in seconds."};
constexpr Metric kResident{"process_resident_memory_bytes", "Resident memory size in bytes.", kGauge};
constexpr Metric kVirtual{"process_virtual_memory_bytes", "Virtual memory size in bytes.", kGauge};
constexpr Metric kStart{"process_start_time_seconds", "Start time of the process since unix epoch in seconds.", kGauge};
constexpr Metric kOpenFds{"process_open_fds", "Number of open file descriptors.", kGauge};
constexpr Metric kMaxFds{"process_max_fds", "Maximum number of open file descriptors.", kGauge};

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

// Unix time at which the machine was booted, by the difference of the two clocks.
double boot_time() {
  timespec real{}, since_boot{};
  ::clock_gettime(CLOCK_REALTIME, &real);
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  return static_cast<double>(real.tv_sec - since_boot.tv_sec) + static_cast<double>(real.tv_nsec - since_boot.tv_nsec) * 1e-9;
}

// The start is computed once: the two clocks drift apart, and a process does not start twice.
double start_time(uint64_t ticks_after_boot) {
  static const double start = boot_time() + static_cast<double>(ticks_after_boot) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return start;
}

// Fields of /proc/self/stat behind the command in parentheses, which may hold anything; the first is field 3 of proc(5).
void add_stat(FamilySet& families, std::string_view stat) {
  size_t after = stat.rfind(')');
  if (after == std::string_view::npos) return;
  auto fields = words(stat.substr(after + 1));
  auto field = [&](size_t number) { return number - 3 < fields.size() ? parse_number<uint64_t>(fields[number - 3]) : std::nullopt; };
  auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (field(14) && field(15)) families.add(kCpu, {}, static_cast<double>(*field(14) + *field(15)) / ticks);
  if (field(22)) families.add(kStart, {}, start_time(*field(22)));
  if (field(23)) families.add(kVirtual, {}, static_cast<double>(*field(23)));
  if (field(24)) families.add(kResident, {}, static_cast<double>(*field(24)) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

// Linux 6.2 and later tell the number as the folder's size; before, all must be listed.
std::optional<double> open_descriptors(const Root& root) {
  struct stat status {};
  if (::stat("/proc/self/fd", &status) == 0 && status.st_size > 0) return static_cast<double>(status.st_size);
  auto listed = root.list("proc/self/fd");
  if (!listed) return std::nullopt;
  return static_cast<double>(listed->size() - 1);  // not the one that it was listed through
}

}  // namespace

void add_self(FamilySet& families, const Snapshot& snapshot, const HttpCounts& http, Clock::time_point now) {
  for (const CollectorRun& run : snapshot.runs) {
    const Labels labels{{"collector", run.collector}, {"device", run.device}};
    families.add(kSuccess, labels, run.success ? 1 : 0);
    families.add(kDuration, labels, run.seconds);
  }
  for (const DeviceAge& age : snapshot.ages) families.add(kAge, {{"device", age.device}}, seconds(now - age.taken));
  if (snapshot.modules_taken) families.add(kModuleAge, {}, seconds(now - *snapshot.modules_taken));
  for (const auto& [status, count] : http.requests)
    families.add(kRequestsServed, {{"code", std::to_string(status)}}, static_cast<double>(count));
  families.add(kConnections, {}, static_cast<double>(http.connections));
  families.add(kBuild, {{"version", FABRIC_VERSION}}, 1);
}

void add_series(FamilySet& families) {
  auto series = families.series(), limit = families.dropped_by_limit(), duplicate = families.dropped_duplicates();
  families.raise_limit(3);
  families.add(kSeries, {}, static_cast<double>(series));
  families.add(kDropped, {{"reason", "limit"}}, static_cast<double>(limit));
  families.add(kDropped, {{"reason", "duplicate"}}, static_cast<double>(duplicate));
}

void add_process(FamilySet& families) {
  static const auto root = Root::open("/");
  static const auto held = root ? root->hold("proc/self/stat") : Result<Fd>(root.error());
  std::array<char, 4096> text;
  if (const ssize_t size = held ? ::pread(held->get(), text.data(), text.size(), 0) : 0; size > 0) add_stat(families, {text.data(), static_cast<size_t>(size)});
  if (auto descriptors = root ? open_descriptors(*root) : std::nullopt) families.add(kOpenFds, {}, *descriptors);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) families.add(kMaxFds, {}, static_cast<double>(limit.rlim_cur));
}

}  // namespace fabric::exporter
