// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

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

// Closes this descriptor and all above it. In a child process.
void close_from(int first);

// pread(2) from the start. Not glibc's, which in a program of threads prepares each call for the thread's being
// cancelled: a tenth of reading a file that is in memory.
inline ssize_t read_from_start(int fd, void* into, size_t size) {
  return ::syscall(SYS_pread64, fd, into, size, off_t{0});
}

}  // namespace fabric
