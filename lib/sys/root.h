// SPDX-License-Identifier: Apache-2.0
// The root directory of everything that is read from files: "/" or a captured tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace fabric {

// Paths are given without a leading slash ("sys/class/infiniband") and are resolved below the root;
// absolute symbolic links of a captured tree stay inside it (openat2 RESOLVE_IN_ROOT).
class Root {
 public:
  static Result<Root> open(const std::string& directory);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_host() const { return path_ == "/"; }

  // At most 1 MiB; longer files are an error (EFBIG). Regular files only, as all of sysfs and procfs is: a FIFO, socket or
  // device is EINVAL and is never waited for.
  [[nodiscard]] Result<std::string> read(const std::string& file) const;
  // A descriptor to be read again and again with pread(2), under the same rules: five times cheaper than opening a sysfs
  // file each time. A removed device's file answers ENODEV from then on, also when another takes its name.
  [[nodiscard]] Result<Fd> hold(const std::string& file) const;
  // read() and trim(); a missing or unreadable file is an error as well.
  [[nodiscard]] Result<std::string> read_line(const std::string& file) const;
  // Entry names in natural order, without "." and ".."; at most 65,536 (E2BIG).
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& directory) const;
  [[nodiscard]] bool exists(const std::string& file) const;
  // Where the link leads, below the root and without it: "sys/devices/pci0000:17/0000:17:01.0/...".
  [[nodiscard]] Result<std::string> resolve(const std::string& link) const;
  // Writes the whole text with one write(2), as sysfs wants it. Never creates a file.
  [[nodiscard]] Result<void> write(const std::string& file, std::string_view text) const;

 private:
  [[nodiscard]] std::string full(const std::string& file) const;
  [[nodiscard]] Result<Fd> open_file(const std::string& file, int flags) const;
  [[nodiscard]] Result<Fd> open_regular(const std::string& file, int flags) const;

  std::string path_;
  Fd fd_;
};

}  // namespace fabric
