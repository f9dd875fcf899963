// SPDX-License-Identifier: Apache-2.0
#include "policy/config_files.h"

#include <algorithm>
#include <filesystem>

#include "policy/config.h"

namespace fabric {

// fabric-agentd runs as root without CAP_DAC_OVERRIDE, fabric-exporter as an unprivileged user. Neither can read a file
// that only a deployment tool's user may read, although root's shell can.
static Error unreadable(int code, const std::string& what) {
  Error out = error(code, what);
  if (code == EACCES) out.what += " (make it root's and readable by all: chown root, chmod 644, its folders 755)";
  return out;
}

std::string ConfigFiles::path_of(const std::string& name) const {
  std::error_code failed;
  if (below_.empty()) return std::filesystem::absolute(name, failed).string();
  return name.substr(std::min(name.size(), below_.size()));
}

Result<std::string> ConfigFiles::read(const std::string& file) const {
  auto text = root_.read(path_of(file), kMaxConfigBytes);
  if (text) return text;
  const int code = text.error().code;
  if (code == EISDIR || code == EINVAL)
    return error(0, file + ":1:1: not a regular file; give the path of a TOML file");
  if (code == EFBIG) return error(0, file + ":1:1: larger than 1 MiB; give a configuration file");
  return unreadable(code, file + ": cannot read the configuration");
}

Result<std::vector<std::string>> ConfigFiles::drop_ins(const std::string& folder) const {
  const auto names = root_.list(path_of(folder));
  std::vector<std::string> files;
  if (!names && names.error().code == ENOENT) return files;
  if (!names) return unreadable(names.error().code, folder + ": cannot list the files");
  for (const std::string& name : *names)
    if (name.ends_with(".toml") && name.front() != '.') files.push_back(folder + "/" + name);
  std::ranges::sort(files);
  return files;
}

bool ConfigFiles::is_masked(const std::string& file) const {
  const std::string path = path_of(file);
  const auto target = root_.read_link(path);
  // In a capture the link is relative.
  const std::filesystem::path folder = (std::filesystem::path("/") / path).parent_path();
  return target && (folder / *target).lexically_normal() == "/dev/null";
}

std::string ConfigFiles::shipped_profiles() const {
  std::string root = below_;
  if (root.empty()) root = "/";
  return root + "usr/share/fabric-agent/profiles";
}

bool is_default_config(const Root& root, const std::string& file) {
  return file.empty() || file == config_file_below(root.path());
}

ConfigFiles default_config_files(const Root& root) {
  const std::string name = root.name_of(kConfigFile);
  return {root, name.substr(0, name.size() - std::string_view(kConfigFile).size())};
}

}  // namespace fabric
