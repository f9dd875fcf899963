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

// All that there is to read, from the present place on; EFBIG: more than `most`. Its errors have no words.
Result<std::string> read_all(int fd, size_t most);
// False, and errno: not all could be written.
bool write_all(int fd, std::string_view text);

// pread(2) from the start. Not glibc's, which in a program of threads prepares each call for the thread's being
// cancelled: a tenth of reading a file that is in memory.
inline ssize_t read_from_start(int fd, void* into, size_t size) {
  return ::syscall(SYS_pread64, fd, into, size, off_t{0});
}

}  // namespace fabric
