// SPDX-License-Identifier: Apache-2.0
#include "config/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/fd.h"

namespace fabric::config {

namespace {

// fabric-agentd is root without CAP_DAC_OVERRIDE, fabric-exporter an unprivileged user: neither can read a file that
// only a deployment tool's user may read, although root's shell can.
Error unreadable(int code, const std::string& file) {
  Error out = error(code, file + ": cannot read the configuration");
  if (code == EACCES) out.what += " (make it root's and readable by all: chown root, chmod 644, its folders 755)";
  return out;
}

}  // namespace

Result<std::string> read_file(const std::string& file) {
  // O_NONBLOCK: a FIFO must not hang the daemon's start.
  Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return unreadable(errno, file);
  if (!S_ISREG(status.st_mode)) return error(0, file + ":1:1: not a regular file; give the path of a TOML file");
  std::string text(kMaxBytes + 1, '\0');
  size_t filled = 0;
  for (;;) {
    ssize_t count = ::read(fd.get(), text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(errno, file);
    filled += static_cast<size_t>(count);
    if (count == 0 || filled > kMaxBytes) break;
  }
  if (filled > kMaxBytes) return error(0, file + ":1:1: larger than 1 MiB; give a configuration file");
  text.resize(filled);
  return text;
}

std::string folder_of(const std::string& file) {
  const size_t slash = file.rfind('/');
  return file.substr(0, slash == std::string::npos ? 0 : slash + 1);
}

namespace {

struct CloseDir {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

Result<std::vector<std::string>> drop_ins(const std::string& folder) {
  std::unique_ptr<DIR, CloseDir> open(::opendir(folder.c_str()));
  std::vector<std::string> files;
  if (open == nullptr && errno == ENOENT) return files;
  if (open == nullptr) return error(errno, folder + ": cannot list the files");
  while (const dirent* entry = ::readdir(open.get())) {
    std::string_view name = entry->d_name;
    if (name.ends_with(".toml") && name.front() != '.') files.push_back(folder + "/" + std::string(name));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> toml_files(const std::string& folder) {
  auto files = drop_ins(folder);
  return files ? std::move(files).value() : std::vector<std::string>{};
}

}  // namespace fabric::config
