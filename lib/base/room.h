// SPDX-License-Identifier: Apache-2.0
// Memory for a system call that does not ask how much there is.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace fabric {

// Bytes that end, to eight of them, where nothing can be written: a system call that copies more fails with EFAULT
// there, and writes over nothing.
class Room {
 public:
  Room() = default;
  ~Room() { free(); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // So many, aligned to eight, of no value in particular; those of the last call are gone. Null where there is no
  // memory.
  std::byte* of(size_t size) {
    size = (size + 7) / 8 * 8;
    if (size > size_ && !take(size)) return nullptr;
    return memory_ + size_ - size;
  }

 private:
  bool take(size_t size) {
    free();
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    size = (size + page - 1) / page * page;
    void* memory = ::mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    page_ = page;
    size_ = size;
    memory_ = static_cast<std::byte*>(memory);
    if (::mprotect(memory_ + size, page, PROT_NONE) == 0) return true;
    free();
    return false;
  }
  void free() {
    if (size_ != 0) ::munmap(memory_, size_ + page_);
    size_ = 0;
  }

  std::byte* memory_ = nullptr;
  size_t size_ = 0, page_ = 0;
};

}  // namespace fabric
