// SPDX-License-Identifier: Apache-2.0
// Every captured machine with each single part lost or degraded, and with its buses renumbered: the NICs of the GPUs
// that the fault does not concern never change, and with the inventory of the healthy machine the fault is named.
#include "topology/built.h"

#include "judge/engine.h"
#include "node/scan.h"
#include "support/corpus.h"
#include "support/healthy_node.h"
#include "support/test.h"
#include "topology/inventory.h"

namespace fabric::faults {
namespace {

// GPU -> its NICs, by the addresses before buses were renumbered.
using Pairs = std::map<std::string, std::set<std::string>>;

Pairs pairs_of(const Node& node, const std::map<std::string, std::string>& old = {}) {
  const auto name = [&](const std::string& pci) { return old.contains(pci) ? old.at(pci) : pci; };
  const Pairing pairing = built_pairing(node.topology, node.ports, recorded_in(node));
  Pairs out;
  for (size_t gpu = 0; gpu < pairing.pairs.size(); ++gpu)
    for (const size_t nic : pairing.pairs[gpu].nics)
      out[name(node.topology.gpus[gpu].pci)].insert(name(node.topology.nics[nic].pci));
  return out;
}

struct Fault {
  std::string kind, part;  // the part's address, or the root bus
  std::string name;        // of a GPU, port or root bus in findings
  std::function<void(Node&)> plant;
};

void drop_ports(Node& node, const std::string& pci) {
  std::erase_if(node.ports, [&](const Port& port) { return port.pci == pci; });
}

// Every fault that a part of the machine can have.
std::vector<Fault> faults_of(const Node& node) {
  std::vector<Fault> out;
  const auto& gpus = node.topology.gpus;
  const auto& nics = node.topology.nics;
  for (size_t i = 0; i < gpus.size(); ++i) {
    out.push_back({"gpu", gpus[i].pci, gpus[i].pci, [i](Node& now) {
                     now.topology.gpus.erase(now.topology.gpus.begin() + static_cast<long>(i));
                     for (size_t g = 0; g < now.topology.gpus.size(); ++g)
                       now.topology.gpus[g].name = "GPU" + std::to_string(g);
                   }});
    out.push_back({"driver", "", gpus[i].name,
                   [i](Node& now) { now.platform.functions[now.topology.gpus[i].pci].kernel_driver.clear(); }});
    if (gpus[i].link.width.value_or(0) >= 8)
      out.push_back({"width", "", gpus[i].name, [i](Node& now) { now.topology.gpus[i].link.width = 4; }});
    const std::string& root = gpus[i].root;
    const bool is_alone = std::ranges::count(gpus, root, &Gpu::root) + std::ranges::count(nics, root, &Nic::root) == 1;
    if (gpus[i].numa && !gpus[i].numa_assumed && node.topology.numa_cpus.size() > 1)
      out.push_back({"root", root, is_alone ? gpus[i].pci : root, [root](Node& now) {
                       for (Gpu& gpu : now.topology.gpus)
                         if (gpu.root == root) gpu.numa = gpu.numa_above = std::nullopt;
                       for (Nic& nic : now.topology.nics)
                         if (nic.root == root) nic.numa = nic.numa_above = std::nullopt;
                     }});
  }
  for (size_t i = 0; i < nics.size(); ++i) {
    if (!carries_rdma(nics[i]) || nics[i].virtual_function || nics[i].rdma.empty()) continue;
    const std::string pci = nics[i].pci;
    out.push_back({"nic", pci, pci, [i, pci](Node& now) {
                     now.topology.nics.erase(now.topology.nics.begin() + static_cast<long>(i));
                     drop_ports(now, pci);
                   }});
    out.push_back({"rdma", pci, pci, [i, pci](Node& now) {
                     now.topology.nics[i].rdma.clear();
                     now.topology.nics[i].name = pci;
                     drop_ports(now, pci);
                   }});
    if (nics[i].link.width.value_or(0) >= 4)
      out.push_back({"width", "", nics[i].name, [i](Node& now) { now.topology.nics[i].link.width = 1; }});
    for (const Port& port : node.ports)
      if (port.pci == pci && is_judged(port) && is_active(port) && port.rate)
        out.push_back({"rate", "", port.id(), [id = port.id()](Node& now) {
                         for (Port& each : now.ports)
                           if (each.id() == id) each.rate = *each.rate / 2;
                       }});
  }
  return out;
}

// As after a card or an update of the firmware has added a bus below every root bus. Returns present -> old address.
std::map<std::string, std::string> renumber(Node& node) {
  std::map<std::string, std::string> old;
  const auto moved = [&](const std::string& pci) {
    const size_t bus = pci.find(':') + 1;
    if (bus == 0 || pci.size() < bus + 2) return pci;
    const std::string number =
        hex_digits(std::string(1, static_cast<char>(std::stoi(pci.substr(bus, 2), nullptr, 16) + 1)));
    std::string out = pci;
    out.replace(bus, 2, number);
    old[out] = pci;
    return out;
  };
  const auto move = [&](PciDevice& device) {
    for (std::string& bridge : device.bridges)
      if (device.root.find(bridge.substr(0, bridge.rfind(':'))) == std::string::npos) bridge = moved(bridge);
    if (device.bridges.empty()) return;
    const std::string was = device.pci;
    device.pci = moved(was);
    if (auto function = node.platform.functions.extract(was)) {
      function.key() = device.pci + "+";
      node.platform.functions.insert(std::move(function));
    }
  };
  std::map<std::string, std::string> ports;
  for (const auto& nic : node.topology.nics)
    if (!nic.bridges.empty()) ports[nic.pci] = moved(nic.pci);
  for (Gpu& gpu : node.topology.gpus) move(gpu);
  for (Nic& nic : node.topology.nics) move(nic);
  for (Port& port : node.ports)
    if (ports.contains(port.pci)) port.pci = ports.at(port.pci);
  std::map<std::string, PlatformFunction> functions;
  for (auto& [pci, function] : node.platform.functions)
    functions[pci.ends_with('+') ? pci.substr(0, pci.size() - 1) : pci] = function;
  node.platform.functions = std::move(functions);
  return old;
}

struct Score {
  size_t faults = 0, changed = 0, named = 0;
};

// Plants the fault, and compares the pairing of all GPUs that it does not concern.
void compare(const std::string& machine, const Node& healthy, const Fault& fault, bool inventory, bool moved,
             Score& score) {
  Node now = healthy;
  fault.plant(now);
  std::map<std::string, std::string> old;
  if (moved) old = renumber(now);
  if (!inventory) now.inventory.reset();
  ++score.faults;
  Node whole = healthy;
  whole.inventory.reset();
  const Pairs before = pairs_of(whole), after = pairs_of(now, old);
  bool same = true;
  for (auto [gpu, nics] : before) {
    nics.erase(fault.part);
    const auto& gpus = healthy.topology.gpus;
    const auto is_on_root = [&, &pci = gpu](const Gpu& each) { return each.pci == pci && each.root == fault.part; };
    if (gpu != fault.part && std::ranges::none_of(gpus, is_on_root) && !nics.empty())
      same = same && after.contains(gpu) && after.at(gpu) == nics;
  }
  score.changed += same ? 0 : 1;
  const std::vector<std::string> rules{"topology", "rate"};
  std::string said;
  for (const Finding& each : run_rules({.now = now, .no_policy = {}}, rules).findings)
    if (each.status == Status::warning || each.status == Status::critical)
      said += each.id + " " + each.subject + " " + each.observed + " " + each.meaning + "\n";
  const bool named = test::has(said, fault.name);
  score.named += named ? 1 : 0;
  if (!inventory || (same && named)) return;
  ADD_FAILURE() << machine << ": " << fault.kind << " of " << fault.name << (moved ? ", renumbered" : "")
                << (same ? "" : ": other GPUs changed their NICs") << (named ? "" : ": not named") << "\n"
                << said;
}

// Whether no two parts of one root bus have the same way: where the bridges are unknown, a part that moved is not
// known.
bool are_ways_known(const Topology& topology) {
  std::set<std::pair<std::string, std::string>> ways;
  const auto parts = inventory_parts(topology);
  return std::ranges::all_of(parts,
                             [&](const InventoryPart& part) { return ways.emplace(part.root, way_to(part)).second; });
}

// `step`: of so many faults one is planted.
void plant_faults(size_t step) {
  Score with, without, renumbered;
  size_t machines = 0, number = 0;
  for (const std::string& archive : test::healthy_archives()) {
    const test::Unpacked tree(archive);
    auto kernel = open_kernel(tree.root());
    if (!kernel) continue;
    Node node = scan(*kernel);
    if (node.topology.gpus.empty() || node.ports.empty()) continue;
    for (const Gpu& gpu : node.topology.gpus) node.platform.functions[gpu.pci].kernel_driver = "gpu_driver";
    node.inventory = inventory_of(node);
    ++machines;
    for (const Fault& fault : faults_of(node)) {
      if (number++ % step != 0) continue;
      compare(test::machine_of(archive), node, fault, true, false, with);
      compare(test::machine_of(archive), node, fault, false, false, without);
      // Findings of a moved part have its present address.
      if ((fault.kind == "gpu" || fault.kind == "nic") && are_ways_known(node.topology))
        compare(test::machine_of(archive), node, fault, true, true, renumbered);
    }
  }
  if (machines == 0) GTEST_SKIP() << "no machine has GPUs and RDMA ports";
  std::printf(
      "figure: built: %zu machines; other GPUs changed / fault named / faults: %zu / %zu / %zu with an inventory, "
      "%zu / %zu / %zu with renumbered buses, %zu / %zu / %zu without an inventory\n",
      machines, with.changed, with.named, with.faults, renumbered.changed, renumbered.named, renumbered.faults,
      without.changed, without.named, without.faults);
  EXPECT_EQ(with.changed + renumbered.changed, 0u);
  // Of two GPUs at one switch that share two NICs, one cannot be known to be missing.
  EXPECT_LE(without.changed * 20, without.faults);
}

TEST(Built, AFaultChangesNothingElse) { plant_faults(5); }
TEST(Built, AnyFaultChangesNothingElseHarder) { plant_faults(1); }

}  // namespace
}  // namespace fabric::faults
