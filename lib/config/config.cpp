// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/fd.h"
#include "base/parse.h"
#include "config/reader.h"

namespace fabric {
namespace {

using namespace config;

constexpr size_t kMaxBytes = 1 << 20;
constexpr size_t kMaxErrors = 10;

Result<std::string> read_file(const std::string& file) {
  // O_NONBLOCK: a FIFO must not hang the daemon's start.
  Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return error(errno, file + ": cannot read the configuration");
  if (!S_ISREG(status.st_mode)) return error(0, file + ":1:1: not a regular file; give the path of a TOML file");
  std::string text(kMaxBytes + 1, '\0');
  size_t filled = 0;
  for (;;) {
    ssize_t count = ::read(fd.get(), text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error(errno, file + ": cannot read the configuration");
    filled += static_cast<size_t>(count);
    if (count == 0 || filled > kMaxBytes) break;
  }
  if (filled > kMaxBytes) return error(0, file + ":1:1: larger than 1 MiB; give a configuration file");
  text.resize(filled);
  return text;
}

void read_section(Reader& reader, std::string_view section, const toml::table& table, Policy& policy);

void read_ports(Reader& reader, const toml::node& node, Policy& policy) {
  const auto* array = node.as_array();
  for (size_t i = 0; array != nullptr && i < array->size(); ++i)
    if (!array->get(i)->is_table()) array = nullptr;
  if (array == nullptr) {
    reader.fail(node.source().begin, "port: expected [[port]] entries, not " + describe(node) + "; write [[port]] with two brackets");
    return;
  }
  std::vector<PortPolicy> ports;
  for (size_t i = 0; i < array->size(); ++i) ports.push_back(read_port(reader, *array->get(i)->as_table()));
  policy.ports.insert(policy.ports.begin(), std::make_move_iterator(ports.begin()), std::make_move_iterator(ports.end()));
}

bool is_section(std::string_view name) {
  return std::any_of(keys().begin(), keys().end(), [&](const Key& key) { return !name.empty() && key.section == name; });
}

std::vector<std::string_view> known_in(std::string_view section) {
  std::vector<std::string_view> known;
  for (const Key& key : keys()) {
    if (key.section == section) known.push_back(key.name);
    else if (section.empty() && (known.empty() || known.back() != key.section)) known.push_back(key.section);
  }
  if (section.empty()) known.push_back("port");
  return known;
}

void read_entry(Reader& reader, std::string_view section, std::string_view name, const toml::source_position& at,
                const toml::node& node, Policy& policy) {
  std::string full = (section.empty() ? "" : std::string(section) + ".") + std::string(name);
  for (const Key& key : keys())
    if (key.section == section && key.name == name) {
      if (reader.good(key.read(node, policy), full, key.example)) policy.origin[full] = reader.line(node);
      return;
    }
  if (section.empty() && name == "port") return read_ports(reader, node, policy);
  if (!section.empty() || !is_section(name)) return reader.unknown_key(at, name, known_in(section));
  if (const auto* table = node.as_table()) return read_section(reader, name, *table, policy);
  reader.fail(node.source().begin, full + ": expected a table, not " + describe(node) + "; write [" + full + "]");
}

void read_section(Reader& reader, std::string_view section, const toml::table& table, Policy& policy) {
  each_key(table, [&](std::string_view name, const toml::source_position& at, const toml::node& node) {
    read_entry(reader, section, name, at, node, policy);
  });
}

// toml++ says what is wrong; for the commonest slips there is more to say than "write TOML".
std::string_view instead_of(std::string_view fault) {
  if (fault.find("could not determine value type") != std::string_view::npos) return "put text into quotes: mode = \"audit\"";
  if (fault.find("cannot redefine") != std::string_view::npos) return "keep one of the two";
  return "write TOML in UTF-8, as in fabric-agent.toml(5)";
}

void read_text_into(std::string_view text, const std::string& name, Policy& policy, Faults& faults) {
  Reader reader(name, faults);
  toml::table table;
  if (auto problem = parse_toml(text, table))
    return reader.fail(problem->at, problem->what + "; " + std::string(instead_of(problem->what)));
  read_section(reader, "", table, policy);
}

// Checks that need all files: names are unique, every entry can be reached.
void check_ports(Policy& policy, Faults& faults) {
  for (size_t i = 0; i < policy.ports.size(); ++i) {
    PortPolicy& port = policy.ports[i];
    if (port.name.empty()) port.name = "port#" + std::to_string(i + 1);
    for (size_t earlier = 0; earlier < i; ++earlier) {
      const PortPolicy& other = policy.ports[earlier];
      if (other.name == port.name)
        faults.errors.push_back(port.where + ":1: name: " + toml_string(port.name) + " is taken by the entry at " + other.where +
                                "; write another name");
      if (other.match == Match{} || other.match == port.match) {
        faults.warnings.push_back({port.where + ":1", "[[port]] is never reached: the entry at " + other.where +
                                                          " matches all its ports and comes first; put this one before it"});
        break;
      }
    }
  }
}

Result<LoadedConfig> finish(Policy policy, Faults faults) {
  check_ports(policy, faults);
  if (faults.errors.empty()) return LoadedConfig{std::move(policy), std::move(faults.warnings)};
  std::string text;
  for (size_t i = 0; i < faults.errors.size() && i < kMaxErrors; ++i) text += (i == 0 ? "" : "\n") + faults.errors[i];
  if (faults.errors.size() > kMaxErrors) text += "\nand " + std::to_string(faults.errors.size() - kMaxErrors) + " more";
  return error(0, text);
}

struct CloseDir {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Result<std::vector<std::string>> drop_ins(const std::string& file) {
  std::string directory = file.substr(0, file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1) + "conf.d";
  std::unique_ptr<DIR, CloseDir> open(::opendir(directory.c_str()));
  std::vector<std::string> files;
  if (open == nullptr && errno == ENOENT) return files;
  if (open == nullptr) return error(errno, directory + ": cannot list the drop-in files");
  while (const dirent* entry = ::readdir(open.get())) {
    std::string_view name = entry->d_name;
    if (name.ends_with(".toml") && name.front() != '.') files.push_back(directory + "/" + std::string(name));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<LoadedConfig> load_config(const std::string& file) {
  auto others = drop_ins(file);
  if (!others) return others.error();
  others->insert(others->begin(), file);
  Policy policy;
  Faults faults;
  for (const std::string& each : *others) {
    auto text = read_file(each);
    if (!text) return text.error();
    read_text_into(*text, each, policy, faults);
  }
  return finish(std::move(policy), std::move(faults));
}

Result<LoadedConfig> parse_config(std::string_view text, const std::string& name) {
  Policy policy;
  Faults faults;
  if (text.size() > kMaxBytes) return error(0, name + ":1:1: larger than 1 MiB; give a configuration file");
  read_text_into(text, name, policy, faults);
  return finish(std::move(policy), std::move(faults));
}

std::vector<std::string> config_keys() {
  std::vector<std::string> all;
  for (const Key& key : keys()) all.push_back((key.section.empty() ? "" : std::string(key.section) + ".") + std::string(key.name));
  all.emplace_back("port.name");
  for (const MatchKey& key : kMatchKeys) all.push_back("port.match." + std::string(key.name));
  for (const Setting& setting : kSettings) all.push_back("port." + std::string(setting.key));
  return all;
}

}  // namespace fabric
