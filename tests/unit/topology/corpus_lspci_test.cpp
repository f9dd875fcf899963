// SPDX-License-Identifier: Apache-2.0
// Trees that `lspci -tv` printed on real machines: each device's bridges and the class of every GPU x NIC, by our
// program from a /sys made of the text, against the text itself. It names no NUMA nodes, link widths or registers:
// those cannot be scored.

#include "base/parse.h"
#include "node/topology.h"
#include "support/corpus.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::has;

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

// The tree as it is drawn: a '+' or '\' stands below the '+' of the bus that its device is on.
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
    const char* kind = device.bridge ? "0x060400" : gpu ? "0x030200" : is_nic(device) ? "0x020000" : "0x088000";
    test::add_pci(tree, {parent, device.address, gpu ? "0x10de" : "0x15b3", "0x1021", kind, "-1"});
  }
}

// The corpus' rules 1 to 3; where no bridge is shared, the text does not tell.
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
    std::ifstream in(file.path());
    std::string text((std::istreambuf_iterator<char>(in)), {});
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

}  // namespace
}  // namespace fabric
