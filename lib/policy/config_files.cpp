// SPDX-License-Identifier: Apache-2.0
#include "policy/config_files.h"

#include <algorithm>
#include <filesystem>

namespace fabric::config {
namespace {

// fabric-agentd is root without CAP_DAC_OVERRIDE, fabric-exporter an unprivileged user: neither can read a file that
// only a deployment tool's user may read, although root's shell can.
Error unreadable(int code, const std::string& what) {
  Error out = error(code, what);
  if (code == EACCES) out.what += " (make it root's and readable by all: chown root, chmod 644, its folders 755)";
  return out;
}

}  // namespace

std::string Files::path_of(const std::string& name) const {
  std::error_code failed;
  return below_.empty() ? std::filesystem::absolute(name, failed).string() : name.substr(below_.size());
}

Result<std::string> Files::read(const std::string& file) const {
  auto text = root_.read(path_of(file), kMaxBytes);
  if (text) return text;
  const int code = text.error().code;
  if (code == EISDIR || code == EINVAL)
    return error(0, file + ":1:1: not a regular file; give the path of a TOML file");
  if (code == EFBIG) return error(0, file + ":1:1: larger than 1 MiB; give a configuration file");
  return unreadable(code, file + ": cannot read the configuration");
}

Result<std::vector<std::string>> Files::drop_ins(const std::string& folder) const {
  const auto names = root_.list(path_of(folder));
  std::vector<std::string> files;
  if (!names && names.error().code == ENOENT) return files;
  if (!names) return unreadable(names.error().code, folder + ": cannot list the files");
  for (const std::string& name : *names)
    if (name.ends_with(".toml") && name.front() != '.') files.push_back(folder + "/" + name);
  std::ranges::sort(files);
  return files;
}

std::string Files::shipped_profiles() const {
  return (below_.empty() ? "/" : below_) + "usr/share/fabric-agent/profiles";
}

}  // namespace fabric::config
