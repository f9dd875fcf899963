// SPDX-License-Identifier: Apache-2.0
// Locks: open file description locks (fcntl(2), Linux 3.15), since asking who holds one neither takes it nor needs
// permission to write.
#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

#include "base/files.h"
#include "base/parse.h"
#include "node/state.h"

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

// 0 when the lock is taken, EWOULDBLOCK when another holds it, or why it cannot be taken.
int try_lock(int fd) {
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EAGAIN || errno == EACCES ? EWOULDBLOCK : errno;
}

// Re-creates a lock file that only readers hold. Every user may read the agent's lock file, to see whether it runs, and
// so may lock it for reading; that is not an agent.
Result<Fd> shed_readers(const Fd& folder, const char* name, const std::string& shown, Fd fd) {
  struct flock writer = whole_file(F_RDLCK);
  if (::fcntl(fd.get(), F_OFD_GETLK, &writer) != 0 || writer.l_type != F_UNLCK) return fd;
  Fd fresh;
  if (::unlinkat(folder.get(), name, 0) == 0)
    fresh = Fd(::openat(folder.get(), name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fresh) return error(errno, shown + ": cannot re-create the lock file");
  return fresh;
}

// Whether the open file is the one of this name.
bool is_at(const Fd& folder, const char* name, int fd) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::fstatat(folder.get(), name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

Result<Fd> take_lock(const std::string& directory, std::chrono::milliseconds patience, const char* file) {
  const std::string path = file, shown = "/" + path, name = base_name(path);
  auto folder = make_directory_of(directory, path);
  if (!folder) return folder.error();
  Result<Fd> fd = Fd(::openat(folder->get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!*fd) return error(errno, shown + ": cannot open the lock");
  // Any user may open the agent's lock to see whether it runs. The others are private: who can read one can hold it up
  // for ever.
  const bool public_lock = path == kAgentLockFile;
  if (!public_lock) (void)!::fchmod(fd->get(), 0600);
  int failure = try_lock(fd->get());
  if (failure == EWOULDBLOCK && public_lock) {
    fd = shed_readers(*folder, name.c_str(), shown, std::move(*fd));
    if (!fd) return fd;
  }
  const auto end = std::chrono::steady_clock::now() + patience;
  while ((failure = try_lock(fd->get())) == EWOULDBLOCK && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kRetry);
  // Another may have re-created the file since it was opened: a lock on the old one has no effect.
  if (failure == 0 && !is_at(*folder, name.c_str(), fd->get())) return take_lock(directory, patience, file);
  if (failure == EWOULDBLOCK) return error(EWOULDBLOCK, shown + ": held by " + holder(fd->get()));
  if (failure != 0) return error(failure, shown + ": cannot take the lock");
  if (public_lock) (void)!::fchmod(fd->get(), 0644);  // whatever the umask
  // Who holds it is for people: where /run is full they must do without, the ports need not.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd->get(), 0) == 0) (void)!::pwrite(fd->get(), pid.data(), pid.size(), 0);
  return fd;
}

}  // namespace fabric::state
