// SPDX-License-Identifier: Apache-2.0
#include "policy/config.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/find.h"
#include "base/parse.h"
#include "policy/config_files.h"
#include "policy/reader.h"
#include "setting/setting_table.h"

namespace fabric {
namespace {

using namespace config;

constexpr size_t kMaxAllBytes = 4 * kMaxBytes;  // of the file and its drop-ins: toml++ needs some 100 bytes for each

void read_section(Reader& reader, std::string_view section, const toml::table& table, Document& document);

void read_ports(Reader& reader, const toml::node& node, Document& document) {
  const auto* array = node.as_array();
  if (array == nullptr || !(array->empty() || array->is_array_of_tables()))
    return reader.fail(expected(node, "[[port]] entries"), "port", "[[port]] with two brackets");
  std::vector<Entry> entries;
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
bool read_table(Reader& reader, std::string_view name, const toml::node& node, Document& document) {
  if (name == "port") read_ports(reader, node, document);
  else if (name == "sysctl") read_sysctl(reader, node, document.policy);
  else if (name == "firmware") read_versions(reader, name, node, document.policy.firmware, document.policy);
  else if (name == "driver_version") read_versions(reader, name, node, document.policy.driver_version, document.policy);
  else if (name == "traffic") read_mark(reader, name, node, document.traffic);
  else if (name == "cnp") read_mark(reader, name, node, document.cnp);
  else return false;
  return true;
}

void read_entry(Reader& reader, std::string_view section, std::string_view name, const toml::source_position& at,
                const toml::node& node, Document& document) {
  const std::string full = full_name(section, name);
  for (const Key& key : keys())
    if (key.section == section && key.name == name) {
      if (reader.good(key.read(node, document.policy), full, key.example))
        document.policy.origin[full] = reader.line(node);
      return;
    }
  if (section.empty() && read_table(reader, name, node, document)) return;
  if (section == "rules") return read_rule(reader, name, at, node, document);
  if (!section.empty() || !is_section(name)) return reader.unknown(at, "key", name, known_in(section));
  if (const auto* table = reader.table(node, full, "[" + full + "]")) read_section(reader, name, *table, document);
}

void read_section(Reader& reader, std::string_view section, const toml::table& table, Document& document) {
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
  Result<const Entry*> find(const std::string& name, const Place& at) {
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
    Reader reader(*file, faults_);
    toml::table table;
    Entry profile;
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
    const auto known = [](const std::string& file) { return toml_string(stem(file)); };
    faults_.fail(at, "profile: there is no " + toml_string(name) + " in " +
                         (directory_.empty() ? "profiles" : directory_) + "; " +
                         (files.empty() ? "no profile is there" : "write " + joined(files, " or ", known)));
  }

  const Files& files_;
  std::string directory_;  // empty: no profile can be named
  Faults& faults_;
  std::unordered_map<std::string, Entry> read_;
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

bool takes_all_of(const Entry& early, const Entry& late) {
  return std::ranges::all_of(match_keys(), [&](const MatchKey& key) {
    return covers(early.port.match.*key.member, late.port.match.*key.member);
  });
}

// Names are unique; every entry can be reached.
void check_entries(std::vector<Entry>& entries, Faults& faults) {
  constexpr size_t kCompared = 256;  // with so many entries before it
  std::unordered_map<std::string, const Entry*> names;
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
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
  for (Entry& entry : document.entries) {
    const auto profile = known.find(entry.port.profile, entry.profile_at);
    if (!profile) return profile.error();
    if (*profile != nullptr) apply_profile(entry, **profile);
    follow_marks(entry, document, *profile, faults);
    check_together(entry, faults);
  }
  check_entries(document.entries, faults);
  for (Entry& entry : document.entries) document.policy.ports.push_back(std::move(entry.port));
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
  bool has_mode = false;
  std::vector<std::string> marks;
  for (const std::string& each : *files) {
    auto text = source.read(each);
    // A dangling link in conf.d, or drop-ins alone, must not count as a machine without configuration.
    const bool missing = !text && text.error().code == ENOENT && &each == &files->front();
    if (!text && files->size() > 1)
      return error(0, text.error().text() +
                          (missing ? "; files in conf.d are read after it: create it, with mode at least" : ""));
    if (!text) return text.error();
    bytes += text->size();
    if (bytes > kMaxAllBytes) return error(0, each + ":1:1: all files together are larger than 4 MiB");
    Reader reader(each, faults);
    toml::table table;
    const bool parsed = parse_file(reader, *text, table);
    if (parsed) read_section(reader, "", table, document);
    has_mode = has_mode || !parsed || table.contains("mode");  // what it would say is not known
    marks.push_back(line_marks(*text));
  }
  if (!has_mode) faults.fail({0, 1, 1}, "mode: not set; write mode = \"audit\" or mode = \"enforce\"");
  auto loaded = finish(std::move(document), source, folder + "profiles", std::move(faults));
  if (loaded) loaded->files = std::move(*files), loaded->marks = std::move(marks);
  return loaded;
}

}  // namespace

Result<LoadedConfig> load_config(const std::string& file, RuleRows rules) {
  const auto root = Root::open("/");
  if (!root) return root.error();
  return load(Files(*root, ""), file, rules);
}

Result<LoadedConfig> load_config(const Root& root, const std::string& file, RuleRows rules) {
  if (!file.empty()) return load_config(file, rules);
  const std::string name = root.name_of(kConfigFile);
  return load(Files(root, name.substr(0, name.size() - std::string_view(kConfigFile).size())), name, rules);
}

Result<LoadedConfig> parse_config(std::string_view text, const std::string& name, const std::string& profiles,
                                  RuleRows rules) {
  Document document{.rules = rules};
  Faults faults;
  if (text.size() > kMaxBytes) return error(0, name + ":1:1: larger than 1 MiB; give a configuration file");
  Reader reader(name, faults);
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

}  // namespace fabric
