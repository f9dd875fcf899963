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

// -- Machines that the corpus has with a planted fault only

// The part that is gone, as a copy of an equal part.
struct LostPart {
  std::string archive;
  std::string equal;                                         // a function, and a folder in it
  std::string above;                                         // the function that contains the lost part
  std::vector<std::pair<std::string, std::string>> other{};  // what differs in the copy: names, GUIDs, addresses
  const char* numa = nullptr;                                // null: the node of the equal part
};

const std::vector<LostPart>& lost_parts() {
  static const std::vector<LostPart> parts{
      {"xe9680-rail1-without-rdma",
       "0000:4d:00.0/infiniband",
       "0000:3a:00.0",
       {{"0000:4d:00.0", "0000:3a:00.0"},
        {"roce_rail2", "roce_rail1"},
        {"c203:0004:", "c203:00f4:"},
        {"0a04", "0af4"}}},
      {"p5en-one-efa-without-rdma",
       "0000:58:00.0/infiniband",
       "0000:57:00.0",
       {{"0000:58:00.0", "0000:57:00.0"}, {"rdmap88s0", "rdmap87s0"}, {"0000:0000:", "0000:00f4:"}}},
      {"gb300-one-function-gone",
       "0002:03:00.1",
       "0002:02:00.0",
       {{"0002:03:00.1", "0002:03:00.0"},
        {"mlx5_3", "mlx5_2"},
        {"enP2p3s0f1np1", "enP2p3s0f0np0"},
        {"a088:c203:0c01:0000", "a088:c203:0c01:00f4"},
        {"0a04", "0af4"}}},
      // The archive has the Data Direct functions of two of four cards.
      {"gb300-one-function-gone", "0009:02:00.0", "0018:01:00.0", {{"0009:", "0018:"}}, "1"},
      {"gb300-one-function-gone", "0009:02:00.0", "0019:01:00.0", {{"0009:", "0019:"}}, "1"},
      {"mi325x-gpu-gone",
       "0000:02:00.0",
       "0000:11:00.0",
       {{"0000:02:", "0000:12:"}, {"0000:03:", "0000:13:"}, {"0000:04:", "0000:14:"}, {"0000:05:", "0000:15:"}}},
  };
  return parts;
}

std::string replaced(std::string text, const LostPart& part) {
  for (const auto& [was, is] : part.other) replace_all(text, was, is);
  return text;
}

void restore(const fs::path& root, const LostPart& part) {
  const fs::path functions = root / "sys/bus/pci/devices";
  const fs::path from = fs::canonical(functions / part.equal), above = fs::canonical(functions / part.above);
  fs::path top = above / replaced(from.filename().string(), part);
  std::vector<fs::path> folders{from};
  for (const auto& entry : fs::recursive_directory_iterator(from))
    if (entry.is_directory() && !entry.is_symlink()) folders.push_back(entry.path());
  for (const fs::path& folder : folders) {
    const fs::path copy = folder == from ? top : top / replaced(fs::relative(folder, from).string(), part);
    fs::create_directories(copy);
    for (const auto& entry : fs::directory_iterator(folder)) {
      const fs::path path = copy / replaced(entry.path().filename().string(), part);
      if (entry.is_symlink()) fs::create_symlink(replaced(fs::read_symlink(entry.path()).string(), part), path);
      else if (entry.is_regular_file()) std::ofstream(path) << replaced(slurp(entry.path().string()), part);
    }
    if (part.numa != nullptr && fs::exists(copy / "numa_node")) std::ofstream(copy / "numa_node") << part.numa << "\n";
    const std::string name = copy.filename().string(), kind = copy.parent_path().filename().string();
    fs::path link;
    if (fs::exists(copy / "vendor")) link = functions / name;
    else if (kind == "infiniband" || kind == "net") link = root / "sys/class" / kind / name;
    if (!link.empty()) fs::create_symlink(fs::relative(copy, fs::canonical(link.parent_path())), link);
  }
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
    std::set<std::string> faulty;
    for (const LostPart& part : lost_parts()) faulty.insert(part.archive);
    for (const std::string& name : faulty)
      out.push_back(*corpus + "/field/rail-changes-after-fault/" + name + ".tar.gz");
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
  for (const LostPart& part : lost_parts())
    if (machine_of(archive) == part.archive) restore(root(), part);
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
