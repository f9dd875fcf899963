// SPDX-License-Identifier: Apache-2.0
#include "node/counter_source.h"

#include "base/parse.h"

namespace fabric {
namespace {

constexpr std::chrono::seconds kFirstWait{10}, kLongestWait{300};

// The file's text, at most one page. By its path if it is not held open (a scan, or out of descriptors).
Result<std::string> read_text(const Root& root, const std::string& path, int fd) {
  if (fd < 0) return root.read_line(path);
  std::array<char, 4096> buffer;
  const ssize_t size = read_from_start(fd, buffer.data(), buffer.size());
  if (size < 0) return error(errno, path);
  return std::string(buffer.data(), static_cast<size_t>(size));
}

}  // namespace

void Attempt::fail(std::string why) {
  success = false;
  if (error.empty()) error = std::move(why);
}

void Backoff::failed(Clock::time_point now) {
  wait_ = wait_.count() == 0 ? kFirstWait : std::min(wait_ * 2, kLongestWait);
  until_ = now + wait_;
}

void Source::ask(Attempt& attempt, Backoff::Clock::time_point now, const std::function<Result<void>()>& reading,
                 bool (*lacks)(int code)) {
  if (!there) return;
  if (backoff.due(now)) {
    const Result<void> done = reading();
    if (done) return backoff.succeeded();
    if (lacks(done.error().code)) {
      there = false;
      return;
    }
    backoff.failed(now);
    error = done.error().text();
  }
  attempt.fail(error);
}

std::optional<uint64_t> parse_counter_file(std::string_view text) { return parse_number<uint64_t>(text); }

void read_files(const Root& root, std::vector<CounterFile>& files, Backoff::Clock::time_point now, Attempt& attempt,
                const std::function<void(CounterFile& file, std::string_view text)>& with) {
  for (CounterFile& file : files) {
    if (file.idle) {
      with(file, file.usual);
      continue;
    }
    if (!file.backoff.due(now)) {
      attempt.fail(file.path + ": failed before, retried later");
      continue;
    }
    const auto text = read_text(root, file.path, file.fd.get());
    if (text) {
      file.backoff.succeeded();
      with(file, *text);
      // Not counted by the driver: mlx5 on some ports (core/sysfs.c get_perf_mad, hw/mlx5/mad.c of Linux 6.12).
    } else if (text.error().code != ENOENT && !is_unsupported(text.error().code)) {
      file.backoff.failed(now);
      attempt.fail(text.error().text());
      if (text.error().code != ENODEV) continue;
      if (auto again = root.hold(file.path)) file.fd = std::move(*again);  // of a device that was created again
    }
  }
}

void read_counters(const Root& root, std::vector<CounterFile>& files, Backoff::Clock::time_point now, Attempt& attempt,
                   std::vector<Counter>& counters) {
  counters.reserve(files.size());
  read_files(root, files, now, attempt, [&](CounterFile& file, std::string_view text) {
    const auto value = parse_counter_file(text);
    if (value) counters.push_back({file.name, *value});
    file.idle = file.rarely_changes && value == 0u;
  });
}

}  // namespace fabric
