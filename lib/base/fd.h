// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "base/result.h"

namespace fabric {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

// Reads from the present position to the end. EFBIG if that is more than `most` bytes. An Error has only a code.
Result<std::string> read_all(int fd, size_t most);
// Returns false, with errno set, if not all could be written. Waits if another process has set O_NONBLOCK on a shared
// pipe or terminal.
bool write_all(int fd, std::string_view text);

// pread(2) from the start of the file. Bypasses glibc, which in a program with threads prepares each call for the
// cancellation of the thread: a tenth of the time that it takes to read a file in memory.
inline ssize_t read_from_start(int fd, void* into, size_t size) {
  return ::syscall(SYS_pread64, fd, into, size, off_t{0});
}

}  // namespace fabric
