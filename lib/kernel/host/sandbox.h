// SPDX-License-Identifier: Apache-2.0
// The folders that agentd may write to. fabric-agent.service makes folders of /sys writable that a driver creates when
// it is loaded (if they exist when the service starts), and all of /sys/devices; Landlock restricts the latter to the
// folders of settings.
#pragma once

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fabric {

inline const std::vector<std::string> kDriverFolders{"/sys/kernel/debug/mlx5",     // cc_params
                                                     "/sys/kernel/debug/bnxt_re",  // cc_config
                                                     "/sys/kernel/config/rdma_cm", "/sys/kernel/config/bnxt_re",
                                                     "/sys/kernel/config/irdma"};

// Restricts writes of the calling thread, and of the threads and processes that it starts, to these folders. Folders
// that do not exist are left out. ENOSYS, EOPNOTSUPP: the kernel has no Landlock (before 5.13), or it is switched off.
Result<void> confine_writes(const std::vector<std::string>& folders);

inline bool is_mounted_read_only(const std::string& folder) {
  struct statvfs status {};
  return ::statvfs(folder.c_str(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

class Sandbox {
 public:
  using IsReadOnly = std::function<bool(const std::string&)>;
  explicit Sandbox(IsReadOnly is_read_only = is_mounted_read_only, std::string sys = "/sys")
      : is_read_only_(std::move(is_read_only)), sys_(std::move(sys)) {
    std::ranges::copy_if(kDriverFolders, std::back_inserter(closed_), is_read_only_);
  }
  // Must be called before the first thread is started.
  Result<void> confine();
  void remember_devices();
  // A folder that was created since the start and is not writable: only a restart makes it so. Folders that were not
  // writable at the start (in a container) do not count.
  [[nodiscard]] std::optional<std::string> outgrown() const;

 private:
  IsReadOnly is_read_only_;
  std::string sys_;
  // The folders with settings of the devices that were present, and their inodes. nullopt: all are writable.
  std::optional<std::map<std::string, uint64_t>> devices_;
  std::vector<std::string> closed_;
};

}  // namespace fabric
