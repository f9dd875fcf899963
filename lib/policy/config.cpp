// SPDX-License-Identifier: Apache-2.0
#include "policy/config.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/find.h"
#include "base/parse.h"
#include "nic/driver.h"
#include "policy/config_files.h"
#include "policy/keys.h"
#include "policy/match.h"
#include "policy/port_entry.h"
#include "policy/rule_keys.h"
#include "policy/validate.h"
#include "setting/setting_table.h"

namespace fabric {
namespace {

using namespace config;

// The file and its drop-ins together. toml++ needs some 100 bytes of memory for each byte.
constexpr size_t kMaxAllBytes = 4 * kMaxConfigBytes;

// All files together, before profiles and marks are applied to the entries.
struct ConfigDraft {
  Policy policy;
  std::vector<PortDraft> entries;  // last first, because the entries of a later file are tried first
  SiteKeys site;
  RuleRows rules;              // the rules that [rules.ID] may name
  FilePlace maintenance_at{};  // of [cabling] maintenance
};

void read_section(ConfigReader& reader, std::string_view section, const toml::table& table, ConfigDraft& draft);

// Records a value of [fabric], which applies to entries without their own.
void note_fabric(std::string_view name, const FilePlace& at, ConfigDraft& draft) {
  const Fabric& given = draft.policy.fabric;
  FabricKey& out = draft.site.fabric;
  if (name == "kind") out.kind = given.kind, out.at = at;
  if (name == "adaptive_routing") out.adaptive_routing = given.adaptive_routing;
  if (name == "spraying") out.spraying = given.spraying;
}

// Keys of [cabling] rails and planes are patterns. The name of a switch may have dots, as "leaf1.*".
void note_cabling(ConfigReader& reader, std::string_view name, const toml::node& node, ConfigDraft& draft) {
  if (name == "maintenance") draft.maintenance_at = reader.place(node);
  if (name != "rails" && name != "planes") return;
  const Cabling& cabling = draft.policy.cabling;
  for (const auto& each : name == "rails" ? cabling.rails : cabling.planes) {
    if (each.first.find_first_of(",;|^$") == std::string::npos) continue;
    if (const auto doubt = pattern_doubt(name, each.first))
      reader.warn(node.source().begin, "cabling." + std::string(name) + ": " + doubt->what);
  }
}

// Warns of a plane that no machine can have: [cabling] planes does not give the name, and it is no number, as planes
// without a name have.
void check_maintenance(const Cabling& cabling, const FilePlace& at, ConfigFaults& faults) {
  std::set<std::string> names;
  for (const auto& [pattern, plane] : cabling.planes) names.insert(plane);
  for (const std::string& plane : cabling.maintenance) {
    if (names.contains(plane) || parse_number<unsigned>(plane)) continue;
    std::string known = "no [cabling] planes gives names to planes";
    if (!names.empty()) known = "[cabling] planes has " + joined(names);
    faults.warn(at, "cabling.maintenance: " + toml_string(plane) +
                        " is no plane, so that nothing is in maintenance by it: " + known +
                        ", and planes without a name have numbers");
  }
}

void read_ports(ConfigReader& reader, const toml::node& node, ConfigDraft& draft) {
  const auto* array = node.as_array();
  if (array == nullptr || !(array->empty() || array->is_array_of_tables()))
    return reader.fail(expected(node, "[[port]] entries"), "port", "write [[port]] with two brackets");
  const auto first = static_cast<std::ptrdiff_t>(draft.entries.size());
  for (const toml::node& each : *array) draft.entries.push_back(read_port(reader, *each.as_table()));
  std::reverse(draft.entries.begin() + first, draft.entries.end());
}

// Keys at the top of the file, besides the keys and sections of keys().
constexpr std::string_view kTables[] = {"traffic", "cnp", "firmware", "driver_version", "sysctl", "port"};

void read_key(ConfigReader& reader, std::string_view section, std::string_view name, const toml::source_position& at,
              const toml::node& node, ConfigDraft& draft) {
  Policy& policy = draft.policy;
  const std::string full = full_name(section, name);
  for (const Key& key : keys()) {
    if (key.section != section || key.name != name) continue;
    if (!reader.accept(key.read(node, policy), full, node, correctable(key))) return;
    policy.origin[full] = reader.line(node);
    if (section == "fabric") note_fabric(name, reader.place(node), draft);
    if (section == "cabling") note_cabling(reader, name, node, draft);
    if (std::vector<std::string> patterns; key.are_patterns && !read_texts(node, patterns))
      warn_of_patterns(reader, node, section, key.name, patterns,
                       [&](const std::string& pattern) { return pattern_doubt(key.name, pattern); });
    return;
  }
  if (section == "rules") return read_rule(reader, name, at, node, draft.rules, policy);
  if (section.empty()) {
    if (name == "port") return read_ports(reader, node, draft);
    if (name == "sysctl") return read_sysctl(reader, node, policy);
    if (name == "firmware") return read_versions(reader, name, node, policy.firmware, policy);
    if (name == "driver_version") return read_versions(reader, name, node, policy.driver_version, policy);
    if (name == "traffic") return read_mark(reader, name, node, draft.site.traffic);
    if (name == "cnp") return read_mark(reader, name, node, draft.site.cnp);
    if (!name.empty() && contains(keys(), name, &Key::section)) {
      if (const auto* table = reader.table(node, full, "write [" + full + "]"))
        read_section(reader, name, *table, draft);
      return;
    }
  }
  std::vector<std::string_view> known;
  for (const Key& key : keys()) {
    if (key.section == section) known.push_back(key.name);
    else if (section.empty() && (known.empty() || known.back() != key.section)) known.push_back(key.section);
  }
  if (section.empty()) known.insert(known.end(), std::begin(kTables), std::end(kTables));
  reader.fail_unknown(at, "key", name, known);
}

// `section` is empty for the top of the file.
void read_section(ConfigReader& reader, std::string_view section, const toml::table& table, ConfigDraft& draft) {
  each_key(table, [&](std::string_view name, const toml::source_position& at, const toml::node& node) {
    read_key(reader, section, name, at, node, draft);
  });
}

// The profiles that entries name. Lists the folders once, and reads each profile once.
class Profiles {
 public:
  Profiles(const ConfigFiles& files, std::string directory, ConfigFaults& faults)
      : files_(files), directory_(std::move(directory)), faults_(faults) {}

  // Null if the name is empty, or if there is no such profile, which is reported. An Error: its file cannot be read.
  Result<const PortDraft*> find(const std::string& name, const FilePlace& at) {
    if (name.empty()) return nullptr;
    if (auto known = read_.find(name); known != read_.end()) return &known->second;
    if (!listed_) list();
    const std::string* file = find_in(files_by_name_, name);
    if (file == nullptr) {
      std::string folder = directory_;
      if (folder.empty()) folder = "profiles";
      faults_.fail(at, "profile: there is no " + toml_string(name) + " in " + folder + "; " + fix_for(name));
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
  // The profile that the name is near to, if it is one; else all of them.
  [[nodiscard]] std::string fix_for(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const auto& each : files_by_name_) names.push_back(each.first);
    std::string bare = name;
    if (bare.ends_with(".toml")) bare.resize(bare.size() - std::string_view(".toml").size());
    bare.erase(0, bare.rfind('/') + 1);
    constexpr size_t kMost = 100;  // letters of a name that was typed
    if (const Values near = known_words(bare.substr(0, kMost), names); bare.size() <= kMost && near.size() == 1)
      return "write profile = " + json_toml(near.front());
    return fix_;
  }

  // The operator's profiles, then those of the package that the operator has not replaced.
  void list() {
    constexpr size_t kNamed = 20;
    listed_ = true;
    std::vector<std::string> names;
    if (!directory_.empty())
      for (const std::string& folder : {directory_, files_.shipped_profiles()})
        for (const std::string& file : files_.drop_ins(folder).value_or({}))
          if (const std::string name = std::filesystem::path(file).stem().string();
              files_by_name_.emplace(name, file).second)
            names.push_back(toml_string(name));
    if (names.empty()) fix_ = "the folder has no profiles";
    else if (names.size() > kNamed) fix_ = "give the name of one of its files, without .toml";
    else fix_ = "it has " + joined(names, ", ");
  }

  const ConfigFiles& files_;
  std::string directory_;  // empty: no profile can be named
  ConfigFaults& faults_;
  bool listed_ = false;
  std::unordered_map<std::string, std::string> files_by_name_;
  std::string fix_;  // for a name without a profile
  std::unordered_map<std::string, PortDraft> read_;
};

// Whether the DSCP of CNPs is written at a port that the entry matches: some drivers only show it.
bool marks_cnps(const PortPolicy& entry) {
  if (!entry.want.cnp_dscp) return false;
  const auto is_matched = [&](const Driver& driver) {
    const auto& patterns = entry.match.driver;
    return patterns.empty() ||
           std::ranges::any_of(patterns, [&](const std::string& pattern) { return names_driver(pattern, driver); });
  };
  return std::ranges::any_of(drivers(), [&](const Driver* driver) {
    return is_matched(*driver) && op_of(*driver, SettingId::cnp_dscp).write != nullptr;
  });
}

// Warns of an entry whose CNPs have another DSCP than those of an entry of the same fabric before it.
void warn_other_cnps(const PortDraft& entry, std::span<const PortDraft> before, ConfigFaults& faults) {
  const auto& dscp = entry.port.want.cnp_dscp;
  if (!marks_cnps(entry.port)) return;
  const PortDraft* first = find_where(
      before, [&](const PortDraft& each) { return marks_cnps(each.port) && each.port.fabric == entry.port.fabric; });
  if (first == nullptr || first->port.want.cnp_dscp == dscp) return;
  faults.warn(entry.at, "cnp_dscp: CNPs have DSCP " + std::to_string(*dscp) + " here and " +
                            std::to_string(*first->port.want.cnp_dscp) + " in the entry at " + first->port.where +
                            ": the switches have one queue for CNPs, and the others wait among the data; write one "
                            "value for the fabric, for example cnp at the top of the file");
}

// Checks that names are unique, and that every entry can be reached.
void check_entries(std::vector<PortDraft>& entries, ConfigFaults& faults) {
  constexpr size_t kCompared = 256;  // each entry is compared with so many entries before it
  std::unordered_map<std::string, const PortDraft*> names;
  for (size_t i = 0; i < entries.size(); ++i) {
    PortDraft& entry = entries[i];
    if (entry.port.name.empty()) entry.port.name = "port#" + std::to_string(i + 1);
    if (const auto [other, is_new] = names.emplace(entry.port.name, &entry); !is_new)
      faults.fail(entry.at, "name: " + toml_string(entry.port.name) + " is taken by the entry at " +
                                other->second->port.where + "; write another name");
    for (const PortDraft& early : std::span(entries).first(std::min(i, kCompared))) {
      if (!covers(early.port.match, entry.port.match)) continue;
      faults.warn(entry.at, "[[port]] is never reached: the entry at " + early.port.where +
                                " matches all its ports and comes first; put this one before it");
      break;
    }
    warn_other_cnps(entry, std::span(entries).first(std::min(i, kCompared)), faults);
  }
}

// Completes each entry by its profile and the keys of the site, and checks the values together.
Result<LoadedConfig> finish(ConfigDraft draft, const ConfigFiles& files, const std::string& profiles,
                            ConfigFaults faults) {
  std::ranges::reverse(draft.entries);
  Profiles known(files, profiles, faults);
  for (PortDraft& entry : draft.entries) {
    const auto profile = known.find(entry.port.profile, entry.profile_at);
    if (!profile) return profile.error();
    complete(entry, *profile, draft.site, faults);
    check_together(entry, faults);
    if (entry.port.front_end && !names_ports(entry.port.match))
      faults.fail(
          entry.front_end_at,
          "front_end: its ports may carry the machine's default route, so the entry must name them, for example by "
          "match = { netdev = \"eth0\" }; or leave front_end out");
  }
  check_entries(draft.entries, faults);
  check_maintenance(draft.policy.cabling, draft.maintenance_at, faults);
  for (PortDraft& entry : draft.entries) draft.policy.ports.push_back(std::move(entry.port));
  return std::move(faults).finish(std::move(draft.policy));
}

Result<LoadedConfig> load(const ConfigFiles& source, const std::string& file, RuleRows rules) {
  const std::string folder = file.substr(0, file.rfind('/') + 1);  // empty if the name has no slash
  auto files = source.drop_ins(folder + "conf.d");
  if (!files) return files.error();
  std::erase_if(*files, [&](const std::string& each) { return source.is_masked(each); });
  files->insert(files->begin(), file);
  ConfigDraft draft{.rules = rules};
  ConfigFaults faults;
  size_t bytes = 0;
  bool has_mode = false, has_entry = false;
  for (const std::string& each : *files) {
    auto text = source.read(each);
    if (!text) {
      if (files->size() == 1 || text.error().code != ENOENT) return text.error();
      // Not an errno: a dangling link in conf.d, or drop-ins alone, must not count as a machine without configuration.
      std::string what = text.error().text();
      if (&each == &files->front())
        what += "; files in conf.d are read after it: restore it, or create it, with mode at least";
      return error(0, what);
    }
    bytes += text->size();
    if (bytes > kMaxAllBytes) return error(0, each + ":1:1: all files together are larger than 4 MiB");
    ConfigReader reader(each, faults);
    toml::table table;
    const bool parsed = parse_file(reader, *text, table);
    if (parsed) read_section(reader, "", table, draft);
    // A file that is not TOML may have either of them.
    has_mode = has_mode || !parsed || table.contains("mode");
    has_entry = has_entry || !parsed || table.contains("port") || table.contains("sysctl");
  }
  // A truncated file lacks these keys.
  if (!has_mode) faults.fail({0, 1, 1}, "mode: not set; write mode = \"audit\" or mode = \"enforce\"");
  if (draft.policy.mode == Mode::enforce && !has_entry)
    faults.fail({0, 1, 1},
                "mode: \"enforce\" with neither a [[port]] entry nor [sysctl]; write one, or mode = \"audit\"");
  auto loaded = finish(std::move(draft), source, folder + "profiles", std::move(faults));
  if (loaded) loaded->files = std::move(*files);
  return loaded;
}

}  // namespace

Result<LoadedConfig> load_config(const std::string& file, RuleRows rules) {
  const auto root = Root::open("/");
  if (!root) return root.error();
  return load(ConfigFiles(*root, ""), file, rules);
}

Result<LoadedConfig> load_config(const Root& root, const std::string& file, RuleRows rules) {
  if (!is_default_config(root, file)) return load_config(file, rules);
  return load(default_config_files(root), root.name_of(kConfigFile), rules);
}

Result<LoadedConfig> parse_config(std::string_view text, const std::string& name, const std::string& profiles,
                                  RuleRows rules) {
  ConfigDraft draft{.rules = rules};
  ConfigFaults faults;
  if (text.size() > kMaxConfigBytes) return error(0, name + ":1:1: larger than 1 MiB; give a configuration file");
  ConfigReader reader(name, faults);
  toml::table table;
  if (parse(reader, text, table)) read_section(reader, "", table, draft);
  const auto root = Root::open("/");
  if (!root) return root.error();
  return finish(std::move(draft), ConfigFiles(*root, ""), profiles, std::move(faults));
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
