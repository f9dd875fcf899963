// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/self.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/parse.h"
#include "kernel/capture/root.h"

namespace fabric::exporter {
namespace {

constexpr Metric kSuccess{"fabric_collector_success",
                          "1 when the last attempt to read this group of values could read all of it."};
constexpr Metric kDuration{"fabric_collector_duration_seconds", "How long the last attempt took."};
constexpr Metric kAge{"fabric_snapshot_age_seconds", "Age of the readings shown of this device."};
constexpr Metric kModuleAge{
    "fabric_module_readings_age_seconds",
    "Age of the readings of the modules, which fabric-agentd makes; absent when none are shown."};
constexpr Metric kVnicAge{"fabric_device_vnic_readings_age_seconds",
                          "Age of the readings of mlx5's devlink health reporters vnic, which fabric-agentd makes; "
                          "absent when none are shown."};
constexpr Metric kRequestsServed{"fabric_exporter_http_requests_total", "HTTP requests answered, by status."};
constexpr Metric kConnections{"fabric_exporter_http_connections", "HTTP connections open."};
constexpr Metric kBuild{"fabric_exporter_build_info", "Version of the exporter; the value is always 1."};
constexpr Metric kSeries{"fabric_series", "Series on this page, before those about the page itself."};
constexpr Metric kDropped{
    "fabric_series_dropped",
    "Series left out of this page, by reason (limit: more than series_limit; duplicate: the same labels twice)."};

constexpr Metric kCpu{"process_cpu_seconds_total", "Total user and system CPU time spent in seconds."};
constexpr Metric kResident{"process_resident_memory_bytes", "Resident memory size in bytes."};
constexpr Metric kVirtual{"process_virtual_memory_bytes", "Virtual memory size in bytes."};
constexpr Metric kStart{"process_start_time_seconds", "Start time of the process since unix epoch in seconds."};
constexpr Metric kOpenFds{"process_open_fds", "Number of open file descriptors."};
constexpr Metric kMaxFds{"process_max_fds", "Maximum number of open file descriptors."};

// The text of an open file, at most as much as fits the buffer. Empty: it could not be read.
template <size_t size>
std::string_view text_of(const Result<Fd>& file, std::array<char, size>& buffer) {
  if (!file) return {};
  const ssize_t read = read_from_start(file->get(), buffer.data(), size);
  return {buffer.data(), static_cast<size_t>(std::max<ssize_t>(read, 0))};
}

// Field 22 of /proc/self/stat, in ticks after boot. The fields follow the command in parentheses, which may contain any
// character (proc(5)). Computed once, because the two clocks drift apart.
std::optional<double> start_time(const Root& root) {
  std::array<char, 4096> buffer;
  const std::string_view stat = text_of(root.hold("proc/self/stat"), buffer);
  const size_t command = stat.rfind(')');
  if (command == std::string_view::npos) return std::nullopt;
  const auto fields = words(stat.substr(command + 1));  // from field 3 on
  if (fields.size() <= 22 - 3) return std::nullopt;
  const auto ticks = parse_number<uint64_t>(fields[22 - 3]);
  if (!ticks) return std::nullopt;
  const double boot = seconds_on(CLOCK_REALTIME) - seconds_on(CLOCK_BOOTTIME);
  return boot + static_cast<double>(*ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

void add_self(FamilySet& families, const Snapshot& snapshot, const HttpCounts& http, Clock::time_point now,
              bool timings) {
  for (const CollectorRun& run : snapshot.runs) {
    const Labels labels{{"collector", run.collector}, {"device", run.device}};
    families.add(kSuccess, labels, run.success ? 1 : 0);
    if (timings || run.is_of_hanging_device()) families.add(kDuration, labels, run.seconds);
  }
  for (const DeviceAge& age : snapshot.ages) families.add(kAge, {{"device", age.device}}, in_seconds(now - age.taken));
  if (snapshot.modules_taken) families.add(kModuleAge, {}, in_seconds(now - *snapshot.modules_taken));
  if (snapshot.vnic_taken) families.add(kVnicAge, {}, in_seconds(now - *snapshot.vnic_taken));
  for (const auto& [status, count] : http.requests)
    families.add(kRequestsServed, {{"code", std::to_string(status)}}, static_cast<double>(count));
  families.add(kConnections, {}, static_cast<double>(http.connections));
  families.add(kBuild, {{"version", FABRIC_VERSION}}, 1);
}

void add_series(FamilySet& families) {
  auto series = families.series(), limit = families.dropped_by_limit(), duplicate = families.dropped_duplicates();
  families.raise_limit(kSeriesOfSeries);
  families.add(kSeries, {}, static_cast<double>(series));
  families.add(kDropped, {{"reason", "limit"}}, static_cast<double>(limit));
  families.add(kDropped, {{"reason", "duplicate"}}, static_cast<double>(duplicate));
}

void add_process(FamilySet& families) {
  static const auto root = Root::open("/");
  if (!root) return;
  static const auto start = start_time(*root);
  static const auto memory = root->hold("proc/self/statm");
  std::array<char, 256> buffer;
  families.add(kCpu, {}, seconds_on(CLOCK_PROCESS_CPUTIME_ID));
  if (start) families.add(kStart, {}, *start);
  if (const auto pages = words(text_of(memory, buffer)); pages.size() >= 2) {
    const auto page_size = static_cast<double>(::sysconf(_SC_PAGESIZE));
    const auto size = parse_number<uint64_t>(pages[0]), resident = parse_number<uint64_t>(pages[1]);
    if (size) families.add(kVirtual, {}, static_cast<double>(*size) * page_size);
    if (resident) families.add(kResident, {}, static_cast<double>(*resident) * page_size);
  }
  // Linux 6.2 and later report the number of descriptors as the folder's size; earlier kernels need a listing.
  static const auto folder = Fd(::open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (::fstat(folder.get(), &status) == 0 && status.st_size > 0)
    families.add(kOpenFds, {}, static_cast<double>(status.st_size));
  else if (auto listed = root->list("proc/self/fd"))
    families.add(kOpenFds, {}, static_cast<double>(listed->size() - 1));  // without the descriptor of the listing
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) families.add(kMaxFds, {}, static_cast<double>(limit.rlim_cur));
}

}  // namespace fabric::exporter
