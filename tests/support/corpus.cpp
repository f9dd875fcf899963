// SPDX-License-Identifier: Apache-2.0
#include "support/corpus.h"

#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include "base/parse.h"
#include "support/test.h"

namespace fabric::test {
namespace fs = std::filesystem;
namespace {

std::vector<Counter> numbers_in(const fs::path& folder) {
  std::vector<Counter> out;
  if (!fs::is_directory(folder)) return out;
  for (const auto& file : fs::directory_iterator(folder)) {
    std::string text;
    std::ifstream in(file.path());
    std::getline(in, text);
    if (file.path().filename() == "lifespan" || text.empty() ||
        text.find_first_not_of("0123456789") != std::string::npos)
      continue;
    out.push_back({file.path().filename().string(), std::stoull(text)});
  }
  return out;
}

}  // namespace

std::optional<std::string> corpus_directory() {
  const char* given = std::getenv("FABRIC_CORPUS");
  const std::string path = given != nullptr ? given : FABRIC_SOURCE_DIR "/../shared/corpus";
  if (!fs::is_directory(path)) return std::nullopt;
  return path;
}

std::map<std::string, Json> oracle_of(const std::string& corpus, std::string_view kind) {
  std::map<std::string, Json> out;
  Json oracle = Json::parse(slurp(corpus + "/oracle.json"));
  for (const auto& [name, machine] : oracle.items())
    if (machine["kind"] == kind) out.emplace(name, machine);
  return out;
}

std::string own_archive(const std::string& name) { return FABRIC_SOURCE_DIR "/tests/corpus/" + name + ".tgz"; }

std::vector<std::string> healthy_archives() {
  std::vector<std::string> out{own_archive("whole")};
  if (const auto corpus = corpus_directory()) {
    // The others of the folder have a fault. gb300: functions that reach the GPU directly, without a link of their own.
    out.insert(out.end(), {*corpus + "/repro/oci16.tgz", *corpus + "/repro/gb300.tgz"});
    for (const char* folder : {"/sysfs-derived", "/hwloc-fsroot", "/ib-sysfs"})
      for (const auto& file : fs::directory_iterator(*corpus + folder)) {
        const std::string path = file.path().string();
        // One archive is of pieces of sysfs, without a root.
        if (has(path, ".tar") && !has(path, "yuuki")) out.push_back(path);
      }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string machine_of(const std::string& archive) {
  const std::string name = fs::path(archive).filename().string();
  return name.substr(0, name.find(".t"));
}

Unpacked::Unpacked(const std::string& archive) {
  std::string name = (fs::temp_directory_path() / "fabric-corpus-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
  path_ = name;
  const std::string command = "tar -xf '" + archive + "' -C '" + path_ + "'";
  if (std::system(command.c_str()) != 0) throw std::runtime_error(command);
}

Unpacked::~Unpacked() {
  // Captured folders may be read-only, so that only root could empty them.
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(path_, ignored))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored))
      fs::permissions(entry.path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  fs::remove_all(path_, ignored);
}

std::string Unpacked::root() const {
  if (fs::is_directory(path_ + "/sys")) return path_;
  for (const auto& entry : fs::directory_iterator(path_))
    if (fs::is_directory(entry.path() / "sys")) return entry.path().string();
  throw std::runtime_error("no sys folder in " + path_);
}

void each_rdma_machine(const std::function<void(const fs::path& root)>& each) {
  std::vector<std::string> archives;
  for (const char* name : {"whole", "nic_gone", "port_down", "link_narrow"}) archives.push_back(own_archive(name));
  if (const auto corpus = corpus_directory())
    for (const auto& archive : fs::directory_iterator(*corpus + "/ib-sysfs"))
      if (archive.path().string().ends_with(".tar.gz")) archives.push_back(archive.path().string());
  for (const std::string& archive : archives) {
    const Unpacked tree(archive);
    std::set<fs::path> roots;
    for (const auto& entry : fs::recursive_directory_iterator(tree.path()))
      if (entry.path().string().ends_with("/sys/class/infiniband"))
        roots.insert(entry.path().parent_path().parent_path().parent_path());
    for (const fs::path& root : roots) each(root);
  }
}

std::vector<CapturedPort> captured_ports(const fs::path& root) {
  std::vector<CapturedPort> out;
  for (const auto& device : fs::directory_iterator(root / "sys/class/infiniband"))
    for (const auto& port : fs::directory_iterator(device.path() / "ports"))
      out.push_back({device.path().filename().string(), port.path().filename().string(),
                     numbers_in(port.path() / "hw_counters"), numbers_in(port.path() / "counters")});
  return out;
}

std::vector<Counter> printed_by_ethtool(const std::string& text) {
  std::vector<Counter> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.rfind(": ");
    const auto value = colon == std::string::npos
                           ? std::nullopt
                           : parse_number<uint64_t>(trim(std::string_view(line).substr(colon + 2)));
    if (value && std::isspace(static_cast<unsigned char>(line[0])) != 0)
      out.push_back({std::string(trim(std::string_view(line).substr(0, colon))), *value});
  }
  return out;
}

}  // namespace fabric::test
