// SPDX-License-Identifier: Apache-2.0
// A configfs item: mkdir(2) creates a kernel object with its files, rmdir(2) removes it and keeps the settings made
// through it (Documentation/filesystems/configfs.rst). While it exists its driver cannot be unloaded.
#pragma once

#include "kernel/capture/root.h"

namespace fabric {

// A directory of configfs, which the destructor removes if open() created it.
class ConfigfsItem {
 public:
  // ENOENT: no driver has the folder above it; EACCES: only root may create it; other errors are the driver's. `root`
  // must outlive the item.
  static Result<ConfigfsItem> open(const Root& root, std::string directory) {
    if (root.exists(directory)) return ConfigfsItem(root, std::move(directory), false);
    auto made = root.make_directory(directory);
    if (!made && made.error().code != EEXIST) return made.error();
    return ConfigfsItem(root, std::move(directory), made.ok());
  }

  ConfigfsItem(ConfigfsItem&& other) noexcept
      : root_(other.root_), path_(std::move(other.path_)), made_(std::exchange(other.made_, false)) {}
  ConfigfsItem(const ConfigfsItem&) = delete;
  ConfigfsItem& operator=(const ConfigfsItem&) = delete;
  ConfigfsItem& operator=(ConfigfsItem&&) = delete;
  // A directory that cannot be removed is harmless.
  ~ConfigfsItem() {
    if (made_) (void)root_->remove_directory(path_);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  // False: another process of ours had created the directory, and has removed it meanwhile. Open the item again.
  [[nodiscard]] bool exists() const { return root_->exists(path_); }
  static constexpr int kTries = 3;

 private:
  ConfigfsItem(const Root& root, std::string directory, bool made)
      : root_(&root), path_(std::move(directory)), made_(made) {}

  const Root* root_;
  std::string path_;
  bool made_;
};

}  // namespace fabric
