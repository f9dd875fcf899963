// SPDX-License-Identifier: Apache-2.0
// The part of /sys beside /sys/devices that fabric-agent.service makes writable: folders that a driver makes when it is
// loaded. systemd looks for them when the service starts.
#pragma once

#include <sys/statvfs.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fabric {

inline const std::vector<std::string> kDriverFolders{"/sys/kernel/debug/mlx5",     // cc_params
                                                     "/sys/kernel/debug/bnxt_re",  // cc_config
                                                     "/sys/kernel/config/rdma_cm", "/sys/kernel/config/bnxt_re",
                                                     "/sys/kernel/config/irdma"};

inline bool is_mounted_read_only(const std::string& folder) {
  struct statvfs status {};
  return ::statvfs(folder.c_str(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

class Sandbox {
 public:
  using IsReadOnly = std::function<bool(const std::string&)>;
  explicit Sandbox(IsReadOnly is_read_only = is_mounted_read_only) : is_read_only_(std::move(is_read_only)) {
    std::ranges::copy_if(kDriverFolders, std::back_inserter(closed_), is_read_only_);
  }
  // A folder that has been made since the start and is closed to us: only a restart opens it. One that was closed at
  // the start (a container) stays so, and is not named.
  [[nodiscard]] std::optional<std::string> outgrown() const {
    for (const std::string& folder : kDriverFolders)
      if (is_read_only_(folder) && std::ranges::find(closed_, folder) == closed_.end()) return folder;
    return std::nullopt;
  }

 private:
  IsReadOnly is_read_only_;
  std::vector<std::string> closed_;
};

}  // namespace fabric
