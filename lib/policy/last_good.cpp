// SPDX-License-Identifier: Apache-2.0
#include "policy/last_good.h"

#include <filesystem>

#include "base/files.h"
#include "base/find.h"
#include "base/parse.h"
#include "base/shell.h"
#include "policy/config_files.h"
#include "policy/kept_config.h"
#include "policy/show_config.h"

namespace fabric {

namespace {

constexpr std::string_view kWritten = "# The last valid configuration. Written by fabric-agentd(8), do not edit.\n";
constexpr std::string_view kFrom = "# From ";  // followed by the main file
constexpr std::string_view kAnd = "# And ";    // followed by a drop-in

// The drop-ins in `folder` that the kept text lists and that do not exist, not even as links to /dev/null.
std::vector<std::string> gone_drop_ins(std::string_view kept, const std::string& folder, const LoadedConfig& present,
                                       const ConfigFiles& source) {
  std::vector<std::string> gone;
  for (const std::string_view line : split(kept, '\n')) {
    if (!is_mark_of_last_good(line)) break;
    if (!line.starts_with(kAnd)) continue;
    const std::string name(line.substr(kAnd.size()));
    // The copy of a captured tree may come from anywhere.
    if (!name.starts_with(folder + "/") || clean_text(name) != name) continue;
    if (!contains(present.files, name) && !source.is_masked(name)) gone.push_back(name);
  }
  return gone;
}

// `unit`: the service that keeps the copy.
std::string gone_text(const std::vector<std::string>& gone, bool folder_exists, const std::string& unit) {
  const std::string folder = gone.front().substr(0, gone.front().rfind('/'));
  std::string out = joined(gone) + ": gone", command;
  std::string fix = "restore it, or, if it is to go (see fabric-rollout(7)), leave a link to /dev/null in its place";
  if (gone.size() > 1)
    fix = "restore them, or, if they are to go (see fabric-rollout(7)), leave links to /dev/null in their place";
  if (!folder_exists) {
    fix = "restore it, or, if it is to go (see fabric-rollout(7)), leave it with links to /dev/null";
    out = folder + ": gone, with " +
          joined(gone, ", ", [](const std::string& each) { return each.substr(each.rfind('/') + 1); });
    command = "mkdir " + shell_word(folder) + " && ";
  }
  for (const std::string& each : gone) command += "ln -s /dev/null " + shell_word(each) + " && ";
  return out + ", which changes the policy; " + fix + " for one reload: " + command + "systemctl reload " + unit;
}

// The main file and all drop-ins are gone.
std::string all_gone_text(const std::string& fault, const std::vector<std::string>& gone) {
  std::string out = fault + "; restore it";
  if (!gone.empty()) out += ", and " + joined(gone);
  return out + "; a link to /dev/null accepts the removal of a drop-in only";
}

// The lines of show_config() without origins, derived settings and names of profiles, which a kept policy lacks.
std::vector<std::string> values_of(const Policy& policy, RuleRows rules) {
  std::vector<std::string> lines;
  const std::string text = without_comments(show_config(policy, rules));
  for (const std::string_view line : split(text, '\n'))
    if (const auto end = line.find_last_not_of(' '); end != std::string_view::npos)
      lines.emplace_back(line.substr(0, end + 1));
  return lines;
}

}  // namespace

bool is_last_good(std::string_view text) { return text.starts_with(kWritten); }

bool is_mark_of_last_good(std::string_view line) {
  return line.starts_with(kFrom) || line.starts_with(kAnd) || line == kWritten.substr(0, kWritten.size() - 1);
}

Result<ConfigInUse> load_config_in_use(const Root& root, const std::string& file, RuleRows rules,
                                       const std::string& own) {
  auto loaded = load_config(root, file, rules);
  const bool is_of_root = is_default_config(root, file);
  const std::string name = is_of_root ? root.name_of(kConfigFile) : file;
  const auto host = Root::open("/");
  if (!host) return host.error();
  const ConfigFiles source = is_of_root ? default_config_files(root) : ConfigFiles(*host, "");
  const auto conf_d = [](const std::string& main) { return main.substr(0, main.rfind('/') + 1) + "conf.d"; };
  std::vector<std::pair<std::string, Result<std::string>>> kept;
  kept.emplace_back(std::string("/") + kLastGoodFile, root.read(kLastGoodFile));
  if (const auto folder = Root::open(own); !own.empty() && folder && (loaded || loaded.error().code != ENOENT))
    kept.emplace_back(own + "/" + kOwnLastGood, folder->read(kOwnLastGood));
  Error fault;
  if (!loaded) fault = loaded.error();
  std::optional<ConfigInUse> last_valid;
  for (const auto& [where, text] : kept) {
    if (!text || !text->starts_with(std::string(kWritten).append(kFrom).append(name).append("\n"))) continue;
    const std::vector<std::string> gone = gone_drop_ins(*text, conf_d(name), loaded ? *loaded : LoadedConfig{}, source);
    if (loaded && gone.empty()) return ConfigInUse{std::move(*loaded)};
    auto last = parse_config(*text, where, {}, rules);
    if (!last) {
      fault.what += "\n" + last.error().what;
      continue;
    }
    if (loaded && values_of(last->policy, rules) == values_of(loaded->policy, rules))
      return ConfigInUse{std::move(*loaded)};
    if (last_valid) continue;
    last->files.push_back(name);
    Error why;
    if (loaded) {
      std::error_code failed;
      const bool folder_exists =
          is_of_root ? root.exists(conf_d(kConfigFile)) : std::filesystem::exists(conf_d(file), failed);
      const bool is_exporters = &text != &kept.front().second;
      why.what = gone_text(gone, folder_exists, is_exporters ? "fabric-exporter" : "fabric-agent");
    } else {
      why = loaded.error();
      if (why.code == ENOENT) why = error(0, all_gone_text(why.text(), gone));
    }
    last_valid = {std::move(*last), std::move(why)};
  }
  if (last_valid) return std::move(*last_valid);
  if (loaded) return ConfigInUse{std::move(*loaded)};
  return fault;
}

Result<ConfigInUse> load_config_in_use(const std::string& directory, const std::string& file, RuleRows rules) {
  const auto root = Root::open(directory);
  if (!root) return root.error();
  return load_config_in_use(*root, file, rules);
}

Result<void> save_last_good(const std::string& directory, const LoadedConfig& config, RuleRows rules,
                            const char* file) {
  std::string text(kWritten);
  std::string_view mark = kFrom;
  for (const std::string& each : config.files) {
    if (each.find('\n') == std::string::npos) text.append(mark).append(each).append("\n");
    mark = kAnd;
  }
  return replace_file(directory, file, text + show_config(config.policy, rules));
}

}  // namespace fabric
