// SPDX-License-Identifier: Apache-2.0
// Two NICs in a tree. A test can make their driver statistics answer late, never, or with an error.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "kernel/kernel.h"
#include "support/tree.h"

namespace fabric::test {

// The output of `ethtool -S` for each netdev. All members are guarded by a mutex, because other threads read them.
class DriverStatistics {
 public:
  void set(const std::string& netdev, const std::string& counter, uint64_t value);
  void fail(const std::string& netdev, int code);  // 0: ends the failure
  void hang(const std::string& netdev);
  void answer(const std::string& netdev);  // ends hang(): waiting readers continue
  [[nodiscard]] bool is_waiting(const std::string& netdev) const;
  [[nodiscard]] unsigned asked(const std::string& netdev) const;

  Result<std::vector<Counter>> read(const std::string& netdev);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::vector<Counter>> counters_;
  std::map<std::string, int> failures_;
  std::map<std::string, unsigned> asked_, waiting_;
  std::set<std::string> hung_;
};

// An RDMA NIC below the bridge 0000:16:01.0, as mlx5 shows it in sysfs. Returns the folder of its PCI function.
std::string add_rdma_nic(Tree& tree, const std::string& device, const std::string& netdev, const std::string& pci);

// mlx5_0 with eth2 and mlx5_1 with eth3, each with hardware counters as files and with `statistics`.
class SlowNics {
 public:
  SlowNics();
  ~SlowNics();  // lets all waiting readers continue
  Tree tree;
  std::shared_ptr<DriverStatistics> statistics = std::make_shared<DriverStatistics>();
  // Like open_kernel(), with these statistics.
  [[nodiscard]] std::function<Result<Kernel>(const std::string&)> open() const;
};

}  // namespace fabric::test
