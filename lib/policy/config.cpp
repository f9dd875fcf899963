// SPDX-License-Identifier: Apache-2.0
#include "policy/config.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/files.h"
#include "base/find.h"
#include "base/parse.h"
#include "policy/keys.h"
#include "policy/port_entry.h"
#include "policy/rule_keys.h"
#include "policy/validate.h"
#include "setting/setting_table.h"

namespace fabric {
namespace {

using namespace config;

constexpr size_t kMaxBytes = 1 << 20;

// Where a configuration is read from. Names are as messages show them.
class Files {
 public:
  // Names begin with `below`, and lead to files below the root, which a captured tree's links do not leave. Empty:
  // the root is the host's, and names are paths of this process.
  Files(const Root& root, std::string below) : root_(root), below_(std::move(below)) {}

  // A regular file of at most kMaxBytes.
  [[nodiscard]] Result<std::string> read(const std::string& file) const;
  // The names of *.toml in the folder, sorted, without hidden ones; errors as errno. No folder: none.
  [[nodiscard]] Result<std::vector<std::string>> drop_ins(const std::string& folder) const;
  // The folder of the package's profiles.
  [[nodiscard]] std::string shipped_profiles() const;

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const;
  const Root& root_;
  std::string below_;
};

// fabric-agentd is root without CAP_DAC_OVERRIDE, fabric-exporter an unprivileged user: neither can read a file that
// only a deployment tool's user may read, although root's shell can.
Error unreadable(int code, const std::string& what) {
  Error out = error(code, what);
  if (code == EACCES) out.what += " (make it root's and readable by all: chown root, chmod 644, its folders 755)";
  return out;
}

std::string Files::path_of(const std::string& name) const {
  std::error_code failed;
  if (below_.empty()) return std::filesystem::absolute(name, failed).string();
  return name.substr(below_.size());
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

// ---- all files together

constexpr size_t kMaxAllBytes = 4 * kMaxBytes;  // of the file and its drop-ins: toml++ needs some 100 bytes for each

// All files together, before profiles and marks are laid under the entries.
struct Document {
  Policy policy;
  std::vector<PortDraft> entries;
  MarkKey traffic, cnp;
  RuleRows rules;  // that [rules.ID] may name
};

void read_section(ConfigReader& reader, std::string_view section, const toml::table& table, Document& document);

void read_ports(ConfigReader& reader, const toml::node& node, Document& document) {
  const auto* array = node.as_array();
  if (array == nullptr || !(array->empty() || array->is_array_of_tables()))
    return reader.fail(expected(node, "[[port]] entries"), "port", "[[port]] with two brackets");
  std::vector<PortDraft> entries;
  for (const toml::node& each : *array) entries.push_back(read_port(reader, *each.as_table()));
  std::move(document.entries.begin(), document.entries.end(), std::back_inserter(entries));
  document.entries = std::move(entries);
}

// At the top, beside the keys and sections of keys().
constexpr std::string_view kTables[] = {"traffic", "cnp", "firmware", "driver_version", "sysctl", "port"};

bool is_section(std::string_view name) {
  return std::ranges::any_of(keys(), [&](const Key& key) { return !name.empty() && key.section == name; });
}

std::vector<std::string_view> known_in(std::string_view section) {
  std::vector<std::string_view> known;
  for (const Key& key : keys()) {
    if (key.section == section) known.push_back(key.name);
    else if (section.empty() && (known.empty() || known.back() != key.section)) known.push_back(key.section);
  }
  if (section.empty()) known.insert(known.end(), std::begin(kTables), std::end(kTables));
  return known;
}

// One of kTables.
bool read_table(ConfigReader& reader, std::string_view name, const toml::node& node, Document& document) {
  if (name == "port") read_ports(reader, node, document);
  else if (name == "sysctl") read_sysctl(reader, node, document.policy);
  else if (name == "firmware") read_versions(reader, name, node, document.policy.firmware, document.policy);
  else if (name == "driver_version") read_versions(reader, name, node, document.policy.driver_version, document.policy);
  else if (name == "traffic") read_mark(reader, name, node, document.traffic);
  else if (name == "cnp") read_mark(reader, name, node, document.cnp);
  else return false;
  return true;
}

void read_entry(ConfigReader& reader, std::string_view section, std::string_view name, const toml::source_position& at,
                const toml::node& node, Document& document) {
  const std::string full = full_name(section, name);
  for (const Key& key : keys())
    if (key.section == section && key.name == name) {
      if (reader.good(key.read(node, document.policy), full, key.example))
        document.policy.origin[full] = reader.line(node);
      return;
    }
  if (section.empty() && read_table(reader, name, node, document)) return;
  if (section == "rules") return read_rule(reader, name, at, node, document.rules, document.policy);
  if (!section.empty() || !is_section(name)) return reader.unknown(at, "key", name, known_in(section));
  if (const auto* table = reader.table(node, full, "[" + full + "]")) read_section(reader, name, *table, document);
}

void read_section(ConfigReader& reader, std::string_view section, const toml::table& table, Document& document) {
  each_key(table, [&](std::string_view name, const toml::source_position& at, const toml::node& node) {
    read_entry(reader, section, name, at, node, document);
  });
}

// The profiles that entries name, each read once.
class Profiles {
 public:
  Profiles(const Files& files, std::string directory, Faults& faults)
      : files_(files), directory_(std::move(directory)), faults_(faults) {}

  // Null: no name, or, with an error, an unknown one. An Error: its file cannot be read.
  Result<const PortDraft*> find(const std::string& name, const Place& at) {
    if (name.empty()) return nullptr;
    if (auto known = read_.find(name); known != read_.end()) return &known->second;
    const auto names = all();
    const auto file = std::ranges::find(names, name, stem);
    if (file == names.end()) {
      unknown(name, at, names);
      return nullptr;
    }
    auto text = files_.read(*file);
    if (!text) return text.error();
    ConfigReader reader(*file, faults_);
    toml::table table;
    PortDraft profile;
    if (parse_file(reader, *text, table)) profile = read_profile(reader, table);
    return &read_.emplace(name, std::move(profile)).first->second;
  }

 private:
  static std::string stem(const std::string& file) { return std::filesystem::path(file).stem().string(); }

  // The operator's, then those of the package that the operator has not replaced.
  [[nodiscard]] std::vector<std::string> all() const {
    if (directory_.empty()) return {};
    std::vector<std::string> files;
    for (const std::string& folder : {directory_, files_.shipped_profiles()})
      if (const auto found = files_.drop_ins(folder))
        for (const std::string& file : *found)
          if (!contains(files, stem(file), stem)) files.push_back(file);
    return files;
  }

  void unknown(const std::string& name, const Place& at, const std::vector<std::string>& files) {
    std::string known = "no profile is there";
    if (!files.empty())
      known = "write " + joined(files, " or ", [](const std::string& file) { return toml_string(stem(file)); });
    const std::string folder = directory_.empty() ? "profiles" : directory_;
    faults_.fail(at, "profile: there is no " + toml_string(name) + " in " + folder + "; " + known);
  }

  const Files& files_;
  std::string directory_;  // empty: no profile can be named
  Faults& faults_;
  std::unordered_map<std::string, PortDraft> read_;
};

// True if the patterns show that `early` matches everything that `late` matches. An empty list matches everything.
bool covers(const std::vector<std::string>& early, const std::vector<std::string>& late) {
  const auto is_covered = [&](const std::string& each) {
    const bool plain = each.find_first_of("*?[") == std::string::npos;
    return std::ranges::any_of(
        early, [&](const std::string& pattern) { return pattern == each || (plain && glob_match(pattern, each)); });
  };
  return early.empty() || (!late.empty() && std::ranges::all_of(late, is_covered));
}

bool takes_all_of(const PortDraft& early, const PortDraft& late) {
  return std::ranges::all_of(match_keys(), [&](const MatchKey& key) {
    return covers(early.port.match.*key.member, late.port.match.*key.member);
  });
}

// Names are unique; every entry can be reached.
void check_entries(std::vector<PortDraft>& entries, Faults& faults) {
  constexpr size_t kCompared = 256;  // with so many entries before it
  std::unordered_map<std::string, const PortDraft*> names;
  for (size_t i = 0; i < entries.size(); ++i) {
    PortDraft& entry = entries[i];
    if (entry.port.name.empty()) entry.port.name = "port#" + std::to_string(i + 1);
    if (const auto [other, is_new] = names.emplace(entry.port.name, &entry); !is_new)
      faults.fail(entry.at, "name: " + toml_string(entry.port.name) + " is taken by the entry at " +
                                other->second->port.where + "; write another name");
    const auto end = entries.begin() + static_cast<ptrdiff_t>(std::min(i, kCompared));
    const auto before = std::find_if(entries.begin(), end, [&](auto& early) { return takes_all_of(early, entry); });
    if (before != end)
      faults.warn(entry.at, "[[port]] is never reached: the entry at " + before->port.where +
                                " matches all its ports and comes first; put this one before it");
  }
}

// Profile and marks below each entry, and whether it all fits together.
Result<LoadedConfig> finish(Document document, const Files& files, const std::string& profiles, Faults faults) {
  Profiles known(files, profiles, faults);
  for (PortDraft& entry : document.entries) {
    const auto profile = known.find(entry.port.profile, entry.profile_at);
    if (!profile) return profile.error();
    if (*profile != nullptr) apply_profile(entry, **profile);
    follow_marks(entry, document.traffic, document.cnp, *profile, faults);
    check_together(entry, faults);
  }
  check_entries(document.entries, faults);
  for (PortDraft& entry : document.entries) document.policy.ports.push_back(std::move(entry.port));
  return std::move(faults).finish(std::move(document.policy));
}

Result<LoadedConfig> load(const Files& source, const std::string& file, RuleRows rules) {
  const std::string folder = file.substr(0, file.rfind('/') + 1);  // "" of a bare name
  auto files = source.drop_ins(folder + "conf.d");
  if (!files) return files.error();
  files->insert(files->begin(), file);
  Document document{.rules = rules};
  Faults faults;
  size_t bytes = 0;
  bool has_mode = false, has_entry = false;
  for (const std::string& each : *files) {
    auto text = source.read(each);
    if (!text) {
      if (files->size() == 1) return text.error();
      // A dangling link in conf.d, or drop-ins alone, must not count as a machine without configuration.
      std::string what = text.error().text();
      if (text.error().code == ENOENT && &each == &files->front())
        what += "; files in conf.d are read after it: create it, with mode at least";
      return error(0, what);
    }
    bytes += text->size();
    if (bytes > kMaxAllBytes) return error(0, each + ":1:1: all files together are larger than 4 MiB");
    ConfigReader reader(each, faults);
    toml::table table;
    const bool parsed = parse_file(reader, *text, table);
    if (parsed) read_section(reader, "", table, document);
    has_mode = has_mode || !parsed || table.contains("mode");  // what it would say is not known
    has_entry = has_entry || !parsed || table.contains("port") || table.contains("sysctl");
  }
  // What a file that was cut off lacks first.
  if (!has_mode) faults.fail({0, 1, 1}, "mode: not set; write mode = \"audit\" or mode = \"enforce\"");
  if (document.policy.mode == Mode::enforce && !has_entry)
    faults.fail({0, 1, 1},
                "mode: \"enforce\" with neither a [[port]] entry nor [sysctl]; write one, or mode = \"audit\"");
  auto loaded = finish(std::move(document), source, folder + "profiles", std::move(faults));
  if (loaded) loaded->files = std::move(*files);
  return loaded;
}

}  // namespace

Result<LoadedConfig> load_config(const std::string& file, RuleRows rules) {
  const auto root = Root::open("/");
  if (!root) return root.error();
  return load(Files(*root, ""), file, rules);
}

Result<LoadedConfig> load_config(const Root& root, const std::string& file, RuleRows rules) {
  if (!file.empty() && file != config_file_below(root.path())) return load_config(file, rules);
  const std::string name = root.name_of(kConfigFile);
  return load(Files(root, name.substr(0, name.size() - std::string_view(kConfigFile).size())), name, rules);
}

Result<LoadedConfig> parse_config(std::string_view text, const std::string& name, const std::string& profiles,
                                  RuleRows rules) {
  Document document{.rules = rules};
  Faults faults;
  if (text.size() > kMaxBytes) return error(0, name + ":1:1: larger than 1 MiB; give a configuration file");
  ConfigReader reader(name, faults);
  toml::table table;
  if (parse(reader, text, table)) read_section(reader, "", table, document);
  const auto root = Root::open("/");
  if (!root) return root.error();
  return finish(std::move(document), Files(*root, ""), profiles, std::move(faults));
}

std::vector<std::string> config_keys() {
  std::vector<std::string> all;
  for (const Key& key : keys()) all.push_back(full_name(key.section, key.name));
  for (std::string_view key : kTables)
    if (key != "port") all.emplace_back(key);
  for (std::string_view key : kPortKeys)
    if (key != "match") all.push_back("port." + std::string(key));
  for (const MatchKey& key : match_keys()) all.push_back("port.match." + std::string(key.name));
  for (const Setting& setting : kSettings) all.push_back("port." + std::string(setting.key));
  return all;
}

// ---- the last valid configuration

namespace {

constexpr std::string_view kWritten = "# The last valid configuration. Written by fabric-agentd(8), do not edit.\n";
constexpr std::string_view kFrom = "# From ";  // and the main file

}  // namespace

Result<ConfigInUse> load_config_in_use(const Root& root, const std::string& file, RuleRows rules) {
  auto loaded = load_config(root, file, rules);
  if (loaded) return ConfigInUse{std::move(*loaded)};
  std::string name = file;
  if (file.empty() || file == config_file_below(root.path())) name = root.name_of(kConfigFile);
  const auto text = root.read(kLastGoodFile);
  if (!text || !text->starts_with(std::string(kWritten).append(kFrom).append(name).append("\n"))) return loaded.error();
  auto last = parse_config(*text, std::string("/") + kLastGoodFile, {}, rules);
  if (!last) return error(loaded.error().code, loaded.error().what + "\n" + last.error().what);
  last->files.push_back(name);
  return ConfigInUse{std::move(*last), loaded.error().text()};
}

Result<ConfigInUse> load_config_in_use(const std::string& directory, const std::string& file, RuleRows rules) {
  const auto root = Root::open(directory);
  if (!root) return root.error();
  return load_config_in_use(*root, file, rules);
}

Result<void> save_last_good(const std::string& directory, const LoadedConfig& config, RuleRows rules) {
  std::string text(kWritten);
  if (!config.files.empty()) text.append(kFrom).append(config.files.front()).append("\n");
  return replace_file(directory, kLastGoodFile, text + show_config(config.policy, rules));
}

// ---- show_config()

namespace {

constexpr size_t kCommentColumn = 40;

std::string line(std::string_view name, const std::string& value, const std::string& origin) {
  std::string text = std::string(name) + " = " + value;
  text.resize(std::max(text.size() + 1, kCommentColumn), ' ');
  return text + "# " + origin + "\n";
}

template <class Origins>
std::string origin_of(const Origins& origins, const std::string& name, const char* otherwise = "") {
  const std::string* found = find_in(origins, name);
  if (found == nullptr) return otherwise;
  return *found;
}

std::string match_toml(const Match& match) {
  std::string out;
  for (const config::MatchKey& key : config::match_keys()) {
    const std::vector<std::string>& patterns = match.*key.member;
    if (patterns.empty()) continue;
    std::string list = value_toml(patterns);
    if (key.number) list = "[" + joined(patterns) + "]";
    append_item(out, std::string(key.name) + " = " + list);
  }
  if (out.empty()) return out;
  return "{ " + out + " }";
}

std::string mark_toml(const Mark& mark) {
  return "{ dscp = " + std::to_string(mark.dscp) + ", priority = " + std::to_string(mark.priority) + " }";
}

std::string port_toml(const PortPolicy& port) {
  std::string out = "\n[[port]]\n" + line("name", toml_string(port.name), port.where);
  if (auto match = match_toml(port.match); !match.empty()) out += line("match", match, port.where);
  // Its values stand below, so the file is not needed to read this.
  if (!port.profile.empty()) out += line("#profile", toml_string(port.profile), port.profile_origin);
  if (port.traffic) out += line("traffic", mark_toml(*port.traffic), port.traffic_origin);
  if (port.cnp) out += line("cnp", mark_toml(*port.cnp), port.cnp_origin);
  for (size_t i = 0; i < kSettingCount; ++i) {
    if (!has_value(kSettings[i], port.want)) continue;
    std::string key(kSettings[i].key);
    if (port.derived[i]) key.insert(0, "#");
    out += line(key, setting_toml(kSettings[i], port.want), port.origin[i]);
  }
  return out;
}

std::string rules_toml(const Policy& policy, RuleRows rules) {
  std::string out, section;
  for (const RuleRow& row : rules)
    for (const config::RuleValue& each : config::rule_values(row, policy.rules)) {
      if (each.section != section) out += "\n[" + each.section + "]\n";
      section = each.section;
      out += line(each.key, each.toml, origin_of(policy.origin, config::full_name(section, each.key), "default"));
    }
  return out;
}

std::string versions_toml(const Policy& policy, const std::string& table, const Versions& versions) {
  if (versions.empty()) return {};
  std::string out = "\n[" + table + "]\n";
  for (const auto& [name, allowed] : versions)
    out += line(toml_string(name), value_toml(allowed), origin_of(policy.origin, table + "." + name));
  return out;
}

std::string sysctl_toml(const Policy& policy) {
  if (policy.sysctl.empty()) return {};
  std::string out = "\n[sysctl]\n";
  for (const auto& [name, value] : policy.sysctl) {
    const bool plain = value.find_first_not_of("0123456789") == std::string::npos;
    out += line(toml_string(name), plain ? value : toml_string(value), origin_of(policy.sysctl_origin, name));
  }
  return out;
}

}  // namespace

std::string show_config(const Policy& policy, RuleRows rules) {
  std::string out;
  std::string_view section;
  for (const config::Key& key : config::keys()) {
    const std::string value = key.show(policy);
    if (value.empty()) continue;
    if (key.section != section) out += "\n[" + std::string(key.section) + "]\n";
    section = key.section;
    out += line(key.name, value, origin_of(policy.origin, config::full_name(key.section, key.name), "default"));
  }
  out += rules_toml(policy, rules);
  out += versions_toml(policy, "firmware", policy.firmware) +
         versions_toml(policy, "driver_version", policy.driver_version) + sysctl_toml(policy);
  for (const PortPolicy& port : policy.ports) out += port_toml(port);
  return out;
}

std::string wanted_config(const Policy& policy) {
  Policy alone;
  alone.mode = policy.mode;
  alone.exclude = policy.exclude;
  alone.ports = policy.ports;
  alone.sysctl = policy.sysctl;
  for (PortPolicy& port : alone.ports) {
    port.origin.fill({});
    for (std::string* place : {&port.where, &port.traffic_origin, &port.cnp_origin, &port.profile_origin})
      place->clear();
  }
  return show_config(alone, {});
}

}  // namespace fabric
