// SPDX-License-Identifier: Apache-2.0
// What the ethtool messages have in common. For the ethtool_*.cpp files only.
#pragma once

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/netlink/ethtool.h"

namespace fabric::ethtool {

// A request about one netdev. The header is attribute 1 of every message used here. `flags`: ETHTOOL_FLAG_*.
AttrWriter request(uint8_t command, const std::string& netdev, uint32_t flags = 0);

// `parse` of the reply to it. Errors start with "eth0: read rings: ".
template <class Parse>
auto get(Netlink& generic, const Family& family, uint8_t command, const std::string& netdev, const char* act,
         Parse* parse, uint32_t flags = 0) {
  return ask(generic, family.id, family.id, request(command, netdev, flags), netdev + ": " + act, parse);
}

// A request of `Struct` and `trailing` bytes of data after it, in memory that ends, to eight bytes, at a page that
// cannot be written. Kernels copy as many names and values as the driver has at that moment, regardless of the buffer,
// and queues may have been added since they were counted (CVE-2025-68795, fixed in Linux 6.19, 5.15.198, 6.1.160,
// 6.6.120, 6.12.64 and 6.18.3): EFAULT then.
template <class Struct>
class Guarded {
 public:
  explicit Guarded(size_t trailing) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t size = (sizeof(Struct) + trailing + 7) / 8 * 8, pages = (size + page - 1) / page * page;
    mapped_ = pages + page;
    memory_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED || ::mprotect(static_cast<std::byte*>(memory_) + pages, page, PROT_NONE) != 0) return;
    request_ = reinterpret_cast<Struct*>(static_cast<std::byte*>(memory_) + pages - size);
  }
  ~Guarded() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, mapped_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  Struct* get() const { return request_; }  // zeros; null where there is no memory
  const std::byte* trailing() const { return reinterpret_cast<const std::byte*>(request_) + sizeof(Struct); }

 private:
  void* memory_;
  size_t mapped_;
  Struct* request_ = nullptr;
};

}  // namespace fabric::ethtool
