// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/files.h"
#include "base/parse.h"
#include "policy/config.h"
#include "setting/toml_value.h"

namespace fabric {
namespace {

constexpr std::string_view kWritten = "# The last valid configuration. Written by fabric-agentd(8), do not edit.\n";
constexpr std::string_view kComment = "# ";
constexpr std::string_view kEnd = "# end\n";  // replace_file()

struct Known {
  std::string file, marks;
};

// The files that the text names; the first is the main file.
std::vector<Known> files_of(std::string_view text) {
  std::vector<Known> files;
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with(kComment)) break;
    toml::table table;
    if (parse_toml(line.substr(kComment.size()), table)) continue;
    if (std::string file = text_at(table, "file"); !file.empty()) files.push_back({std::move(file), {}});
    if (!files.empty() && table.contains("marks")) files.back().marks = text_at(table, "marks");
  }
  return files;
}

// The file where it lies below the root as the package puts it: its links do not leave the root.
struct Source {
  const Root& root;
  std::string given, name;  // empty: as the package puts it; as messages show it
};

Source source_of(const Root& root, const std::string& file) {
  const bool is_default = file.empty() || file == config_file_below(root.path());
  return {root, is_default ? std::string() : file, is_default ? root.name_of(kConfigFile) : file};
}

// Empty: there is none of this file.
Result<std::string> read_last_good(const Source& source) {
  auto text = source.root.read(kLastGoodFile);
  if (!text && text.error().code == ENOENT) return std::string();
  if (!text) return text.error();
  if (!text->ends_with(kEnd)) return std::string();  // cut: the comments alone are a valid file
  const auto files = files_of(*text);
  return !files.empty() && files.front().file == source.name ? std::move(*text) : std::string();
}

// The missing part of the file; empty: none.
std::string what_is_missing(const LoadedConfig& loaded, const Known& known) {
  const auto found = std::ranges::find(loaded.files, known.file);
  if (found == loaded.files.end()) return ": missing, and part of the configuration in use; restore it";
  const std::string& marks = loaded.marks[static_cast<size_t>(found - loaded.files.begin())];
  if (marks.empty() || marks.size() >= known.marks.size() || !known.marks.starts_with(marks)) return {};
  return ":" + std::to_string(marks.size() / 8) + ":1: truncated: the file in use has " +
         std::to_string(known.marks.size() / 8) + " lines, of which these are the first; restore them";
}

Result<LoadedConfig> load_whole(const Source& source, RuleRows rules) {
  auto loaded = load_config(source.root, source.given, rules);
  const auto last = read_last_good(source);
  if (!loaded || !last) return loaded;
  for (const Known& known : files_of(*last))
    if (const std::string what = what_is_missing(*loaded, known); !what.empty())
      return error(0, known.file + what + ", or accept the removal: fabric-agentctl config accept");
  return loaded;
}

}  // namespace

Result<LoadedConfig> load_whole_config(const std::string& directory, const std::string& file, RuleRows rules) {
  const auto root = Root::open(directory);
  return root ? load_whole(source_of(*root, file), rules) : Result<LoadedConfig>(root.error());
}

Result<ConfigInUse> load_config_in_use(const Root& root, const std::string& file, RuleRows rules) {
  const Source source = source_of(root, file);
  auto loaded = load_whole(source, rules);
  if (loaded) return ConfigInUse{std::move(*loaded)};
  const auto text = read_last_good(source);
  if (!text || text->empty()) return loaded.error();
  auto last = parse_config(*text, std::string("/") + kLastGoodFile, {}, rules);
  if (!last) return error(loaded.error().code, loaded.error().what + "\n" + last.error().what);
  for (Known& known : files_of(*text)) last->files.push_back(std::move(known.file));
  return ConfigInUse{std::move(*last), loaded.error().text()};
}

Result<ConfigInUse> load_config_in_use(const std::string& directory, const std::string& file, RuleRows rules) {
  const auto root = Root::open(directory);
  return root ? load_config_in_use(*root, file, rules) : Result<ConfigInUse>(root.error());
}

Result<void> save_last_good(const std::string& directory, const LoadedConfig& config, RuleRows rules) {
  std::string text(kWritten);
  for (size_t i = 0; i < config.files.size(); ++i) {
    text.append(kComment).append("file = " + toml_string(config.files[i]) + "\n");
    if (i < config.marks.size()) text.append(kComment).append("marks = " + toml_string(config.marks[i]) + "\n");
  }
  return replace_file(directory, kLastGoodFile, text + show_config(config.policy, rules));
}

}  // namespace fabric
