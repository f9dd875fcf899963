// SPDX-License-Identifier: Apache-2.0
#include "kernel/host/sandbox.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "base/find.h"

namespace fabric {
namespace {

// All rights to change files that Linux 5.13 knows; reading is not restricted.
constexpr uint64_t kChanges = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                              LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                              LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                              LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                              LANDLOCK_ACCESS_FS_MAKE_SYM;

// The folders with settings of the present devices, and their inodes, which differ for a device that was created again.
std::map<std::string, uint64_t> device_folders(const std::string& sys) {
  std::map<std::string, uint64_t> out;
  for (const char* pattern : {"/class/net/*/ecn", "/class/infiniband/*/tc"}) {  // nic/nvidia/mlx5_ofed.cpp
    glob_t found{};
    if (::glob((sys + pattern).c_str(), GLOB_NOSORT, nullptr, &found) == 0)
      for (size_t i = 0; i < found.gl_pathc; ++i)
        if (struct stat status{}; ::stat(found.gl_pathv[i], &status) == 0) out[found.gl_pathv[i]] = status.st_ino;
    ::globfree(&found);
  }
  return out;
}

}  // namespace

Result<void> confine_writes(const std::vector<std::string>& folders) {
  landlock_ruleset_attr handled{};  // newer kernels' headers have more members
  handled.handled_access_fs = kChanges;
  const Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
  if (!rules) return error(errno, "landlock_create_ruleset");
  for (const std::string& folder : folders) {
    const Fd open_folder(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!open_folder && errno == ENOENT) continue;
    // Without its rule the process could not write there any more.
    if (!open_folder) return error(errno, folder + ": cannot be opened");
    const landlock_path_beneath_attr beneath{kChanges, open_folder.get()};
    if (::syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0)
      return error(errno, folder + ": landlock_add_rule");
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0)
    return error(errno, "landlock_restrict_self");
  return {};
}

Result<void> Sandbox::confine() {
  // /dev is for /dev/null; /proc/sys for the part that the unit leaves writable.
  std::vector<std::string> folders{"/run/fabric-agent", "/var/lib/fabric-agent", "/proc/sys", "/dev"};
  folders.insert(folders.end(), kDriverFolders.begin(), kDriverFolders.end());
  const auto devices = device_folders(sys_);
  for (const auto& [folder, inode] : devices) folders.push_back(folder);
  auto confined = confine_writes(folders);
  if (confined) devices_ = devices;
  return confined;
}

void Sandbox::remember_devices() { devices_ = device_folders(sys_); }

std::optional<std::string> Sandbox::outgrown() const {
  for (const std::string& folder : kDriverFolders)
    if (is_read_only_(folder) && !contains(closed_, folder)) return folder;
  if (devices_)
    for (const auto& folder : device_folders(sys_))
      if (const auto known = devices_->find(folder.first); known == devices_->end() || *known != folder)
        return folder.first;
  return std::nullopt;
}

}  // namespace fabric
