// SPDX-License-Identifier: Apache-2.0
// Machines of which others have told no PCI tree but what follows from one: the XML of NCCL and RCCL, and matrices of
// nvidia-smi topo. Each is rebuilt as a topology, and must then read as its source does: class by class, nearest NICs,
// and a pairing in which each GPU has one of its nearest.
#include <numeric>

#include "support/corpus.h"
#include "support/test.h"
#include "topology/built.h"

namespace fabric {
namespace {

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
