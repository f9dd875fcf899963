// SPDX-License-Identifier: Apache-2.0
// The minimum cost of a reader of files: one pread of each file that a process holds open below a folder. usage: floor
// PID FOLDER [ROUNDS]; prints how many files, and the microseconds of CPU of one round, the median of all: one after
// the other, and after a pause each, as a scrape finds the machine.
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
    if (failed || path.compare(0, folder.size(), folder) != 0 || !std::filesystem::is_regular_file(path, failed))
      continue;
    if (const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC); fd >= 0) out.push_back(fd);
  }
  return out;
}

void tell(const char* how, const std::vector<int>& files, size_t rounds, useconds_t pause) {
  std::vector<double> spent(rounds);
  char text[4096];
  long bytes = 0;
  for (double& round : spent) {
    if (pause > 0) ::usleep(pause);
    const double before = cpu_us();
    for (int fd : files) bytes += ::pread(fd, text, sizeof text, 0);
    round = cpu_us() - before;
  }
  std::sort(spent.begin(), spent.end());
  std::printf("floor     %zu files, %ld bytes: %.1f us of CPU for one pread of each, %s (%.1f-%.1f)\n", files.size(),
              bytes / static_cast<long>(rounds), spent[rounds / 2], how, spent.front(), spent.back());
}

}  // namespace

int main(int count, char** values) {
  if (count < 3) return std::fputs("usage: floor PID FOLDER [ROUNDS]\n", stderr), 2;
  const std::vector<int> files = held_by(values[1], values[2]);
  const auto rounds = static_cast<size_t>(count > 3 ? std::atoi(values[3]) : 1000);
  tell("at once", files, rounds, 0);
  tell("rested", files, std::max<size_t>(rounds / 30, 1), 100'000);
}
