// SPDX-License-Identifier: Apache-2.0
// What nobody who reads by files can do without: one pread of each file that a process holds open below a folder.
// usage: floor PID FOLDER [ROUNDS]; prints how many files, and the microseconds of CPU of one round, the median of all.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace {

double cpu_us() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

std::vector<int> held_by(const std::string& pid, const std::string& folder) {
  std::vector<int> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + pid + "/fd")) {
    std::error_code failed;
    const std::string path = std::filesystem::read_symlink(entry.path(), failed).string();
    if (failed || path.compare(0, folder.size(), folder) != 0 || !std::filesystem::is_regular_file(path, failed)) continue;
    if (const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC); fd >= 0) out.push_back(fd);
  }
  return out;
}

}  // namespace

int main(int count, char** values) {
  if (count < 3) return std::fputs("usage: floor PID FOLDER [ROUNDS]\n", stderr), 2;
  const std::vector<int> files = held_by(values[1], values[2]);
  std::vector<double> spent(static_cast<size_t>(count > 3 ? std::atoi(values[3]) : 1000));
  char text[4096];
  long bytes = 0;
  for (double& round : spent) {
    const double before = cpu_us();
    for (int fd : files) bytes += ::pread(fd, text, sizeof text, 0);
    round = cpu_us() - before;
  }
  std::sort(spent.begin(), spent.end());
  std::printf("floor     %zu files, %ld bytes: %.1f us of CPU for one pread of each (%.1f-%.1f)\n", files.size(),
              bytes / static_cast<long>(spent.size()), spent[spent.size() / 2], spent.front(), spent.back());
}
