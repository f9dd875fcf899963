// SPDX-License-Identifier: Apache-2.0
// The corpus of machines. Each is judged from its hwloc XML and from its /sys tree, against the oracle's classes. Trees
// that `lspci -tv` printed on real machines: each device's bridges and the class of every GPU x NIC, by our program
// from a /sys made of the text, against the text itself. XML of NCCL and RCCL and matrices of nvidia-smi topo: each is
// rebuilt as a topology, and must then read as its source does: class by class, nearest NICs, and a pairing in which
// each GPU has one of its nearest.
#include "support/corpus.h"

#include <numeric>

#include "base/parse.h"
#include "kernel/kernel.h"
#include "node/topology.h"
#include "node/topology_xml.h"
#include "support/sysfs_topology.h"
#include "support/test.h"
#include "support/tree.h"
#include "topology/built.h"

namespace fabric {
namespace {

using test::has;

// -- The oracle's classes

struct Score {
  int machines = 0, pairs = 0, right = 0;
};

const PciDevice* find_function(const Topology& topology, const std::string& pci) {
  for (const Gpu& gpu : topology.gpus)
    if (gpu.pci == pci) return &gpu;
  for (const Nic& nic : topology.nics)
    if (nic.pci == pci) return &nic;
  return nullptr;
}

std::string class_text(const std::optional<PathClass>& value) { return value ? std::string(to_text(*value)) : "null"; }

void compare_functions(Json& list, const Topology& topology, size_t count, const char* kind) {
  EXPECT_EQ(list.size(), count) << kind;
  for (Json& entry : list) {
    const PciDevice* function = find_function(topology, entry["pci"]);
    ASSERT_NE(function, nullptr) << kind << " " << entry["pci"];
    char ids[16];
    std::snprintf(ids, sizeof ids, "%04x:%04x", function->vendor, function->device);
    EXPECT_EQ(entry["vendor"].get<std::string>() + ":" + entry["device"].get<std::string>(), ids) << function->pci;
    if (!entry["numa"].is_null()) {
      EXPECT_EQ(function->numa, entry["numa"].get<int>()) << function->pci;
    }
  }
}

void compare_names(Json& nics, const Topology& topology) {
  for (Json& entry : nics) {
    const auto* nic = static_cast<const Nic*>(find_function(topology, entry["pci"]));
    const auto names = [](Json& list) {
      std::set<std::string> out;
      for (Json& name : list) out.insert(name);
      return out;
    };
    EXPECT_EQ(names(entry["rdma"]), std::set<std::string>(nic->rdma.begin(), nic->rdma.end())) << nic->pci;
    // The oracle looks at the function alone; virtio's netdev is one device further down.
    if (nic->vendor == 0x1af4) continue;
    EXPECT_EQ(names(entry["netdevs"]), std::set<std::string>(nic->netdevs.begin(), nic->netdevs.end())) << nic->pci;
  }
}

void compare_pairs(Json& pairs, const char* first, const char* second, const Topology& topology, Score& score) {
  for (Json& pair : pairs) {
    const PciDevice* a = find_function(topology, pair[first]);
    const PciDevice* b = find_function(topology, pair[second]);
    ASSERT_TRUE(a != nullptr && b != nullptr) << pair[first] << " " << pair[second];
    const auto ours = path_class(*a, *b);
    if (pair["class"].is_null()) {
      EXPECT_FALSE(ours) << a->pci << " " << b->pci << ": cannot be known, and we printed " << class_text(ours);
      continue;
    }
    ++score.pairs;
    score.right += pair["class"] == class_text(ours) ? 1 : 0;
    EXPECT_EQ(pair["class"], class_text(ours)) << a->pci << " " << b->pci;
  }
}

void compare_nearest(Json& nearest, const Topology& topology, bool any_rdma) {
  for (const auto& [address, answers] : nearest.items()) {
    const auto* gpu = static_cast<const Gpu*>(find_function(topology, address));
    Json& answer = answers[any_rdma ? "rdma" : "any_nic"];
    std::set<std::string> expected, ours;
    if (!answer.is_null())
      for (Json& nic : answer["nics"]) expected.insert(nic);
    for (const size_t index : nearest_nics(topology, *gpu)) ours.insert(topology.nics[index].pci);
    EXPECT_EQ(ours, expected) << "nearest to " << address;
  }
}

bool has_rdma(Json& machine) {
  for (Json& nic : machine["nics"])
    if (!nic["rdma"].empty() || nic["fabric"] == true) return true;
  return false;
}

void compare(Json& machine, const Result<Topology>& topology, Score& score) {
  ASSERT_TRUE(topology) << topology.error().text();
  compare_functions(machine["gpus"], *topology, topology->gpus.size(), "GPUs");
  compare_functions(machine["nics"], *topology, topology->nics.size(), "NICs");
  if (::testing::Test::HasFatalFailure()) return;
  compare_names(machine["nics"], *topology);
  compare_pairs(machine["pairs"], "gpu", "nic", *topology, score);
  compare_pairs(machine["gpu_pairs"], "a", "b", *topology, score);
  compare_nearest(machine["nearest"], *topology, has_rdma(machine));
  ++score.machines;
}

// hwloc's answer, completed from sysfs, against a walk of sysfs alone: the same machine. Known differences:
// - class: hwloc keeps 16 of its 24 bits.
// - cores: the walk reads lists of CPUs (core_cpus_list); trees that have the masks alone are hwloc's to answer.
// - sockets: hwloc shows none on 2pa-pcidomain32bits, a PowerPC machine.
void compare_with_oracle(const Root& root, const Topology& ours) {
  const auto oracle = test::sysfs_topology(root);
  ASSERT_TRUE(oracle);
  const auto text = [](PciDevice device) {
    std::string out = device.pci + " " + device.root + " " + std::to_string(device.vendor) + ":" +
                      std::to_string(device.device) + " " + std::to_string(device.class_code >> 8) + " " +
                      std::to_string(device.numa.value_or(-1)) + (device.numa_assumed ? " assumed" : "");
    for (const std::string& bridge : device.bridges) out += " " + bridge;
    return out;
  };
  ASSERT_EQ(ours.gpus.size(), oracle->gpus.size());
  ASSERT_EQ(ours.nics.size(), oracle->nics.size());
  for (size_t i = 0; i < ours.gpus.size(); ++i) {
    EXPECT_EQ(text(ours.gpus[i]), text(oracle->gpus[i]));
    EXPECT_EQ(ours.gpus[i].link, oracle->gpus[i].link);
    EXPECT_EQ(ours.gpus[i].model, oracle->gpus[i].model);
  }
  for (size_t i = 0; i < ours.nics.size(); ++i) {
    EXPECT_EQ(text(ours.nics[i]), text(oracle->nics[i]));
    EXPECT_EQ(ours.nics[i].netdevs, oracle->nics[i].netdevs);
    EXPECT_EQ(ours.nics[i].rdma, oracle->nics[i].rdma);
    EXPECT_EQ(ours.nics[i].card, oracle->nics[i].card);
  }
  EXPECT_EQ(ours.numa_cpus, oracle->numa_cpus);
  if (!ours.numa_socket.empty()) EXPECT_EQ(ours.numa_socket, oracle->numa_socket);
  EXPECT_EQ(ours.memory_nodes, oracle->memory_nodes);
  EXPECT_EQ(ours.hypervisor, oracle->hypervisor);
  const std::string siblings = "sys/devices/system/cpu/cpu0/topology/";
  if (root.exists(siblings + "core_cpus_list") || root.exists(siblings + "thread_siblings_list"))
    EXPECT_EQ(ours.cores.size(), oracle->cores.size());
  for (const std::string& difference : ours.differences) ADD_FAILURE() << difference;
}

void report(const char* source, const Score& score) {
  std::printf("topology score, %s: %d of %d pairs over %d machines\n", source, score.right, score.pairs,
              score.machines);
  EXPECT_GT(score.machines, 0);
}

void compare_tree(Json& machine, const std::string& archive, Score& score) {
  const test::Unpacked tree(archive);
  const Kernel kernel{.root = Root::open(tree.root()).value()};
  const auto topology = load_topology(kernel);
  compare(machine, topology, score);
  compare_with_oracle(kernel.root, *topology);
}

using CorpusTopology = test::OfCorpus;

TEST_F(CorpusTopology, FromHwlocXml) {
  Score score;
  for (auto& [name, machine] : test::oracle_of(corpus, "hwloc-xml")) {
    SCOPED_TRACE(name);
    compare(machine, load_topology_xml(corpus + "/" + machine["file"].get<std::string>()), score);
  }
  report("hwloc XML", score);
}

TEST_F(CorpusTopology, FromDerivedSysfs) {
  Score score;
  Json oracle = Json::parse(test::slurp(corpus + "/oracle.json"));
  for (const auto& [name, machine] : oracle.items()) {
    if (machine["derived_sysfs"].is_null()) continue;
    SCOPED_TRACE(name);
    compare_tree(machine, corpus + "/" + machine["derived_sysfs"].get<std::string>(), score);
  }
  report("derived /sys", score);
}

TEST_F(CorpusTopology, FromSysfsSnapshots) {
  Score score;
  for (auto& [name, machine] : test::oracle_of(corpus, "sysfs-snapshot")) {
    SCOPED_TRACE(name);
    compare_tree(machine, corpus + "/" + machine["file"].get<std::string>(), score);
  }
  report("snapshots of /sys", score);
}

TEST(LiveTopology, HwlocAndSysfsAgreeOnThisMachine) {
  const auto topology = load_topology({.root = Root::open("/").value()});
  if (!topology) GTEST_SKIP() << topology.error().text();
  compare_with_oracle(Root::open("/").value(), *topology);
}

TEST_F(CorpusTopology, PublishedFilesWithCommentsAndNewerFormats) {
  const auto commented = load_topology_xml(corpus + "/hwloc-xml/ORIGINAL-with-comments__nixl__p5.48xl.xml");
  const auto plain = load_topology_xml(corpus + "/hwloc-xml/nixl__p5.48xl.xml");
  ASSERT_TRUE(commented && plain);
  EXPECT_EQ(commented->nics.size(), plain->nics.size());
  const auto newer = load_topology_xml(corpus + "/hwloc-xml/V3-FORMAT__hwloc__nvidia-dgx-gb10.xml");
  if (newer) EXPECT_EQ(newer->numa_cpus.size(), 1u) << "hwloc 2.12 reads the format of hwloc 3";
  else EXPECT_TRUE(has(newer.error().what, "hwloc 3")) << newer.error().what;
}

// -- `lspci -tv`: no NUMA nodes, link widths or registers, which cannot be scored

struct Bus {
  std::string root;                  // "pci0000:20"
  std::string domain, number;        // "0000", "21"
  std::vector<std::string> bridges;  // above its devices, nearest first
};
struct Device {
  std::string address, name;
  Bus bus;
  bool bridge = false;
};

// Reads the drawn tree: a '+' or '\' is below the '+' of the bus that its device is on.
class TreeReader {
 public:
  std::vector<Device> read(const std::string& text) {
    for (const std::string_view line : split(text, '\n')) {
      const size_t fork = line.find_first_not_of(" |");
      if (fork == std::string_view::npos || line[0] == '$') continue;
      if (line[fork] == '+' || line[fork] == '\\') {
        const auto level =
            std::find_if(levels_.begin(), levels_.end(), [&](const auto& each) { return each.first == fork; });
        if (level == levels_.end()) continue;
        const Bus bus = level->second;
        levels_.erase(level + 1, levels_.end());
        take(line, fork + 2, bus);
      } else if (line[fork] == '-') {
        enter(line, fork, Bus());  // the first line
      }
    }
    return std::move(devices_);
  }

 private:
  // Behind "-[21]": one device follows, several, or none.
  void enter(std::string_view line, size_t at, const Bus& bus) {
    at = std::min(line.find_first_not_of('-', at), line.size());
    if (at == line.size()) return;
    if (line[at] == '+') {
      levels_.emplace_back(at, bus);
      at += 2;
    }
    take(line, at, bus);
  }

  void take(std::string_view line, size_t at, const Bus& bus) {
    if (at >= line.size()) return;
    if (line[at] == '[') {  // "[0000:20]": a root bus
      const size_t end = line.find(']', at);
      const std::string name(line.substr(at + 1, end - at - 1));
      return enter(line, end + 1, {"pci" + name, name.substr(0, 4), name.substr(5), {}});
    }
    Device device{bus.domain + ":" + bus.number + ":" + std::string(line.substr(at, 4)), {}, bus};
    at += 4;
    device.bridge = line.substr(at).starts_with("-[");
    if (!device.bridge) device.name = trim(line.substr(std::min(at, line.size())));
    devices_.push_back(device);
    if (!device.bridge) return;
    Bus below = bus;
    below.number = line.substr(at + 2, 2);
    below.bridges.insert(below.bridges.begin(), device.address);
    enter(line, line.find(']', at) + 1, below);
  }

  std::vector<std::pair<size_t, Bus>> levels_;  // by the column of their forks
  std::vector<Device> devices_;
};

bool is_gpu(const Device& device) { return has(device.name, "NVIDIA Corporation") && !has(device.name, "Audio"); }
bool is_nic(const Device& device) { return has(device.name, "Ethernet Controller") || has(device.name, "ConnectX"); }

void build(test::Tree& tree, const std::vector<Device>& devices) {
  for (const char* node : {"0", "1"})
    tree.file(std::string("sys/devices/system/node/node") + node + "/cpulist", std::string(node) + "\n");
  for (const Device& device : devices) {
    std::string parent = device.bus.root;
    for (auto bridge = device.bus.bridges.rbegin(); bridge != device.bus.bridges.rend(); ++bridge)
      parent += "/" + *bridge;
    const bool gpu = is_gpu(device);
    const char* kind = "0x088000";
    if (is_nic(device)) kind = "0x020000";
    if (gpu) kind = "0x030200";
    if (device.bridge) kind = "0x060400";
    test::add_pci(tree, {parent, device.address, gpu ? "0x10de" : "0x15b3", "0x1021", kind, "-1"});
  }
}

// The corpus' rules 1 to 3; if no bridge is shared, the text does not decide.
std::optional<PathClass> class_of(const Device& a, const Device& b) {
  const auto& up = a.bus.bridges;
  const auto& other = b.bus.bridges;
  for (size_t i = 0; i < up.size(); ++i)
    if (const auto shared = std::find(other.begin(), other.end(), up[i]); shared != other.end())
      return std::max(i, static_cast<size_t>(shared - other.begin())) <= 1 ? PathClass::PIX : PathClass::PXB;
  return a.bus.root == b.bus.root ? std::optional(PathClass::PHB) : std::nullopt;
}

template <class Kind>
const Kind* find(const std::vector<Kind>& all, const std::string& address) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Kind& each) { return each.pci == address; });
  return found == all.end() ? nullptr : &*found;
}

struct LspciScore {
  size_t machines = 0, right = 0, classes = 0;
};

void compare_classes(const std::vector<Device>& devices, LspciScore& score) {
  test::Tree tree;
  build(tree, devices);
  const auto topology = load_topology({.root = tree.root()});
  ASSERT_TRUE(topology) << topology.error().text();
  EXPECT_EQ(topology->gpus.size(), static_cast<size_t>(std::count_if(devices.begin(), devices.end(), is_gpu)));
  EXPECT_EQ(topology->nics.size(), static_cast<size_t>(std::count_if(devices.begin(), devices.end(), is_nic)));
  for (const Device& one : devices) {
    const Gpu* gpu = is_gpu(one) ? find(topology->gpus, one.address) : nullptr;
    if (gpu == nullptr) continue;
    EXPECT_EQ(gpu->bridges, one.bus.bridges) << one.address;
    EXPECT_EQ(gpu->root, one.bus.root);
    for (const Device& other : devices) {
      const Nic* nic = is_nic(other) ? find(topology->nics, other.address) : nullptr;
      if (nic == nullptr) continue;
      ++score.classes;
      const bool right = path_class(*gpu, *nic) == class_of(one, other);
      EXPECT_TRUE(right) << one.address << " x " << other.address;
      score.right += right ? 1 : 0;
    }
  }
  ++score.machines;
}

using CorpusLspci = test::OfCorpus;
TEST_F(CorpusLspci, EveryClassIsTheTrees) {
  LspciScore score;
  for (const auto& file : std::filesystem::directory_iterator(corpus + "/lspci")) {
    SCOPED_TRACE(file.path().string());
    std::string text = test::slurp(file.path());
    text.resize(std::min(text.find("\n$ "), text.size()));  // the same was printed twice
    const auto devices = TreeReader().read(text);
    ASSERT_GT(devices.size(), 50u);
    // Every line with a name or an empty bus is one device at least.
    EXPECT_GE(devices.size(), static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) - 2);
    compare_classes(devices, score);
  }
  EXPECT_GE(score.machines, 2u);
  EXPECT_GT(score.classes, 0u);
  std::printf(
      "topology score: lspci trees: %zu of %zu GPU x NIC classes on %zu machines (no NUMA nodes, links or registers in "
      "them)\n",
      score.right, score.classes, score.machines);
}

// -- XML of NCCL and RCCL, matrices of nvidia-smi topo: facts derived from a PCI tree

struct MatrixScore {
  int machines = 0, pairs = 0, right = 0, gpus = 0, nearest = 0, paired = 0;
};

void print(const char* source, const MatrixScore& score) {
  std::printf("topology score, %s: %d of %d pairs over %d machines; nearest NICs of %d and pairing of %d of %d GPUs\n",
              source, score.right, score.pairs, score.machines, score.nearest, score.paired, score.gpus);
}

// A machine as it was rebuilt, and the names by which the oracle knows its devices.
struct Rebuilt {
  Topology topology;
  std::map<std::string, size_t> gpus, nics;
};

void add(Rebuilt& machine, const PciDevice& device, const std::string& name, bool gpu) {
  if (gpu) {
    machine.gpus[name] = machine.topology.gpus.size();
    machine.topology.gpus.push_back(Gpu{device, name, ""});
  } else {
    machine.nics[name] = machine.topology.nics.size();
    machine.topology.nics.push_back(Nic{device, {}, {name}, name, name});
  }
}

// "PHB|NODE" is one of both.
bool is_class(const std::string& expected, std::optional<PathClass> ours) {
  return ours && ("|" + expected + "|").find("|" + std::string(to_text(*ours)) + "|") != std::string::npos;
}

void compare_matrix(Json& machine, const Rebuilt& ours, MatrixScore& score) {
  const Topology& topology = ours.topology;
  for (Json& pair : machine["pairs"]) {
    if (pair["nic"].is_null() || pair["nic"] == "") continue;
    ASSERT_TRUE(ours.gpus.count(pair["gpu"]) == 1 && ours.nics.count(pair["nic"]) == 1);
    const auto path = path_class(topology.gpus[ours.gpus.at(pair["gpu"])], topology.nics[ours.nics.at(pair["nic"])]);
    ++score.pairs;
    score.right += is_class(pair["class"], path) ? 1 : 0;
    EXPECT_TRUE(is_class(pair["class"], path)) << pair;
  }
  const Pairing pairing = best_pairing(topology, std::span<const Port>{});
  for (const auto& [name, answer] : machine["nearest"].items()) {
    const size_t gpu = ours.gpus.at(name);
    std::set<std::string> expected, found;
    for (Json& nic : answer["nics"]) expected.insert(nic);
    if (expected.count("") != 0) continue;  // a bridge or a veth, which NCCL takes for a NIC
    for (const size_t nic : nearest_nics(topology, topology.gpus[gpu])) found.insert(topology.nics[nic].name);
    const Pair& pair = pairing.pairs[gpu];
    const bool paired = !pair.nics.empty() && std::all_of(pair.nics.begin(), pair.nics.end(), [&](size_t nic) {
      return expected.count(topology.nics[nic].name) != 0;
    });
    ++score.gpus;
    score.nearest += found == expected ? 1 : 0;
    score.paired += paired ? 1 : 0;
    EXPECT_EQ(found, expected) << name;
    std::string nics;
    for (const size_t nic : pair.nics) nics += " " + topology.nics[nic].name;
    EXPECT_TRUE(paired) << name << " with" << nics;
  }
  ++score.machines;
}

// NCCL's <pci> is a switch, both of its functions in one; so each is two bridges here. No root buses: <cpu> is all
// there is.
class NcclXml {
 public:
  explicit NcclXml(Json& machine) {
    for (Json& gpu : machine["gpus"]) kinds_[gpu["pci"]] = true;
    for (Json& nic : machine["nics"])
      if (!nic["pci"].is_null()) kinds_[nic["pci"]] = false;
  }

  Rebuilt read(const std::string& text) {
    static const std::regex tag("<(/?)([a-z]+)((?:\\s+[\\w-]+=\"[^\"]*\")*)\\s*(/?)>");
    static const std::regex busid("busid=\"([^\"]*)\"");
    for (std::sregex_iterator at(text.begin(), text.end(), tag), end; at != end; ++at) {
      const std::string kind = (*at)[2], attributes = (*at)[3];
      const bool closes = (*at)[1].length() > 0, empty = (*at)[4].length() > 0;
      if (kind == "cpu" && !closes) ++cpu_;
      if (kind != "pci") continue;
      std::smatch bus;
      if (!closes && std::regex_search(attributes, bus, busid)) open(bus[1]);
      if (closes || empty) above_.pop_back();
    }
    return std::move(machine_);
  }

 private:
  void open(const std::string& pci) {
    if (const auto kind = kinds_.find(pci); kind != kinds_.end()) {
      PciDevice device;
      device.pci = pci;
      device.numa = cpu_;
      std::string below = pci;
      for (auto bridge = above_.rbegin(); bridge != above_.rend(); ++bridge) {
        device.bridges.push_back(*bridge + " to " + below);
        device.bridges.push_back(*bridge);
        below = *bridge;
      }
      add(machine_, device, pci, kind->second);
    }
    above_.push_back(pci);
  }

  std::map<std::string, bool> kinds_;  // address -> is a GPU
  std::vector<std::string> above_;
  int cpu_ = -1;
  Rebuilt machine_;
};

// Devices that a matrix joins at some class or nearer are one group of that class; groups of a nearer class lie in
// them.
class Matrix {
 public:
  Rebuilt read(Json& machine) {
    for (Json& gpu : machine["gpus"]) names_.push_back(gpu["name"]);
    gpus_ = names_.size();
    for (Json& nic : machine["nics"]) names_.push_back(nic["name"]);
    for (const char* level : {"PIX", "PXB", "PHB", "NODE"}) {
      groups_.push_back(groups_.empty() ? std::vector<size_t>(names_.size()) : groups_.back());
      if (groups_.size() == 1) std::iota(groups_[0].begin(), groups_[0].end(), 0);
      join(machine["pairs"], "gpu", "nic", level);
      join(machine["gpu_pairs"], "a", "b", level);
    }
    Rebuilt out;
    for (size_t i = 0; i < names_.size(); ++i) {
      const auto group = [&](size_t level) { return std::to_string(groups_[level][i]); };
      PciDevice device;
      device.pci = names_[i];
      const std::string own = "port of " + names_[i], near = "switch " + group(0), far = "upper switch " + group(1);
      device.bridges = {own, near, "port of " + near, far};
      device.root = "root " + group(2);
      device.numa = static_cast<int>(groups_[3][i]);
      add(out, device, names_[i], i < gpus_);
    }
    return out;
  }

 private:
  void join(Json& pairs, const char* first, const char* second, const std::string& level) {
    const auto at = [&](Json& name, bool gpu) {
      const auto from = names_.begin() + static_cast<long>(gpu ? 0 : gpus_);
      return static_cast<size_t>(std::find(from, names_.end(), name) - names_.begin());
    };
    for (Json& pair : pairs) {
      if (pair["class"] != level) continue;
      const size_t to = groups_.back()[at(pair[first], true)],
                   from = groups_.back()[at(pair[second], std::string(second) == "b")];
      std::replace(groups_.back().begin(), groups_.back().end(), from, to);
    }
  }

  std::vector<std::string> names_;
  size_t gpus_ = 0;
  std::vector<std::vector<size_t>> groups_;  // by level, of each device
};

using CorpusMatrix = test::OfCorpus;
TEST_F(CorpusMatrix, NcclAndRcclXml) {
  MatrixScore score;
  for (auto& [name, machine] : test::oracle_of(corpus, "nccl-xml")) {
    SCOPED_TRACE(name);
    compare_matrix(machine, NcclXml(machine).read(test::slurp(corpus + "/" + machine["file"].get<std::string>())),
                   score);
  }
  print("NCCL XML", score);
  EXPECT_GT(score.machines, 0);
}

TEST_F(CorpusMatrix, NvidiaSmi) {
  MatrixScore score;
  for (auto& [name, machine] : test::oracle_of(corpus, "nvidia-smi-topo-m")) {
    SCOPED_TRACE(name);
    compare_matrix(machine, Matrix().read(machine), score);
  }
  print("nvidia-smi matrices", score);
  EXPECT_GT(score.machines, 0);
}

}  // namespace
}  // namespace fabric
