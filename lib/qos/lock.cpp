// SPDX-License-Identifier: Apache-2.0
// Locks: open file description locks (fcntl(2), Linux 3.15), since asking who holds one neither takes it nor needs
// permission to write.
#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "base/parse.h"
#include "qos/files.h"
#include "qos/state.h"

namespace fabric::state {
namespace {

constexpr std::chrono::milliseconds kRetry{20};

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::string holder(int fd) {
  char text[32];
  ssize_t count = ::pread(fd, text, sizeof text, 0);
  auto pid = parse_number<int>(std::string_view(text, count > 0 ? static_cast<size_t>(count) : 0));
  return pid ? "process " + std::to_string(*pid) : "another process";
}

}  // namespace

Result<Fd> take_lock(const std::string& directory, std::chrono::milliseconds patience, const char* file) {
  std::string path = file, shown = "/" + path;
  auto folder = make_directory_of(directory, path);
  if (!folder) return folder.error();
  // Who asks whether the agent runs opens its lock. The others are nobody else's: who can read one can hold it up for ever.
  const mode_t mode = path == kAgentLockFile ? 0644 : 0600;
  Fd fd(::openat(folder->get(), path.substr(path.rfind('/') + 1).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd) return error(errno, shown + ": cannot open the lock");
  (void)!::fchmod(fd.get(), mode);  // whatever the umask
  struct flock lock = whole_file(F_WRLCK);
  int result = 0;
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    result = ::fcntl(fd.get(), F_OFD_SETLK, &lock);
    const bool held = result != 0 && (errno == EAGAIN || errno == EACCES);
    if (!held || std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(kRetry);
  }
  if (result != 0 && (errno == EAGAIN || errno == EACCES)) return error(EWOULDBLOCK, shown + ": held by " + holder(fd.get()));
  if (result != 0) return error(errno, shown + ": cannot take the lock");
  // Who holds it is for people: where /run is full they must do without, the ports need not.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) == 0) (void)!::pwrite(fd.get(), pid.data(), pid.size(), 0);
  return fd;
}

bool is_locked(const Root& root, const char* file) { return root.is_locked(file); }

}  // namespace fabric::state
