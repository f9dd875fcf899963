// SPDX-License-Identifier: Apache-2.0
// ethtool by the SIOCETHTOOL ioctl (net/ethtool/ioctl.c of Linux 6.12).
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "kernel/telemetry.h"
#include "setting/value.h"

namespace fabric::ethtool {

// The wanted statistics of a netdev. Their positions are looked up again only when the driver's names have changed.
class Selection {
 public:
  // Whether to keep the counter, which has only its name; may fill in its row.
  using Wants = std::function<bool(Counter& counter)>;
  explicit Selection(Wants wants) : wants_(std::move(wants)) {}

  // The wanted counters of pair_statistics(names, values), or of a whole reading.
  std::vector<Counter> of(View8 names, std::span<const uint64_t> values);
  std::vector<Counter> of(const std::vector<Counter>& all);
  // The counters of the newest reading with the values of a later one, which are those of all statistics.
  [[nodiscard]] std::vector<Counter> with(std::span<const uint64_t> values) const;

  // Newest reading: the number of all statistics, and the position of each wanted one.
  struct Position {
    size_t at;
    Counter counter;  // without its value
  };
  [[nodiscard]] size_t total() const { return total_; }
  [[nodiscard]] std::span<const Position> positions() const { return positions_; }

 private:
  Wants wants_;
  std::vector<Position> positions_;
  size_t total_ = 0;
  size_t hash_ = 0;  // of the names, which take 100 kB and more with many queues
};

// `ethtool -S`: all driver statistics, by name. Each call reads the names, because mlx5's set changes with its
// configuration. EOPNOTSUPP: the driver has no statistics.
class Statistics {
 public:
  virtual ~Statistics() = default;
  virtual Result<std::vector<Counter>> read(const std::string& netdev) = 0;
  virtual Result<std::vector<Counter>> read(const std::string& netdev, Selection& wanted);
  // For many readings a second: only the values, in the order of a read() that returned `count` of them. EAGAIN: the
  // number has changed. A change of names without a change of the number is not noticed.
  virtual Result<std::vector<uint64_t>> values(const std::string& netdev, size_t count);
};
Result<std::unique_ptr<Statistics>> open_statistics();

// Combines the names of ETHTOOL_GSTRINGS (ETH_GSTRING_LEN = 32 bytes each, NUL-padded, not always NUL-terminated) with
// the values of ETHTOOL_GSTATS. If the counts differ, the smaller one applies. No I/O.
std::vector<Counter> pair_statistics(View8 names, std::span<const uint64_t> values);

// `ethtool --get-tunable` and `--set-tunable` (ethtool_get_tunable(), ethtool_set_tunable()); the kernel announces no
// change. Reading needs no privilege, setting CAP_NET_ADMIN.
class Tunables {
 public:
  virtual ~Tunables() = default;
  // pfc-prevention-tout (ETHTOOL_PFC_PREVENTION_TOUT, u16 since Linux 4.17): milliseconds without a received frame
  // taken from the NIC's buffers, after which it stops sending pause; 0: never. EOPNOTSUPP: the driver has none (mlx5
  // and fbnic have one, bnxt_en since Linux 6.18), or the NIC's firmware.
  virtual Result<uint16_t> pfc_prevention(const std::string& netdev) = 0;
  virtual Result<void> set_pfc_prevention(const std::string& netdev, uint16_t milliseconds) = 0;
};
std::unique_ptr<Tunables> open_tunables();

// Global pause (ethtool_get_pauseparam()): a second source for the self-test.
Result<Pause> ioctl_pause(const std::string& netdev);

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

  Struct* get() const { return request_; }  // zeros; null: no memory
  const std::byte* trailing() const { return reinterpret_cast<const std::byte*>(request_) + sizeof(Struct); }

 private:
  void* memory_;
  size_t mapped_;
  Struct* request_ = nullptr;
};

}  // namespace fabric::ethtool
