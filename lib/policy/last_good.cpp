// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"
#include "base/parse.h"
#include "policy/config.h"

namespace fabric {
namespace {

constexpr std::string_view kWritten = "# The last valid configuration. Written by fabric-agentd(8), do not edit.\n";
constexpr std::string_view kFrom = "# From ";  // and the main file

}  // namespace

Result<ConfigInUse> load_config_in_use(const Root& root, const std::string& file) {
  auto loaded = load_config(root, file);
  if (loaded) return ConfigInUse{std::move(*loaded)};
  const bool is_default = file.empty() || file == config_file_below(root.path());
  const std::string name = is_default ? root.name_of(kConfigFile) : file;
  const auto text = root.read(kLastGoodFile);
  if (!text || !text->starts_with(std::string(kWritten).append(kFrom).append(name).append("\n"))) return loaded.error();
  auto last = parse_config(*text, std::string("/") + kLastGoodFile);
  if (!last) return error(loaded.error().code, loaded.error().what + "\n" + last.error().what);
  last->files.push_back(name);
  return ConfigInUse{std::move(*last), loaded.error().text()};
}

Result<ConfigInUse> load_config_in_use(const std::string& directory, const std::string& file) {
  const auto root = Root::open(directory);
  return root ? load_config_in_use(*root, file) : Result<ConfigInUse>(root.error());
}

Result<void> save_last_good(const std::string& directory, const LoadedConfig& config) {
  std::string text(kWritten);
  if (!config.files.empty()) text.append(kFrom).append(config.files.front()).append("\n");
  return replace_file(directory, kLastGoodFile, text + show_config(config.policy));
}

}  // namespace fabric
