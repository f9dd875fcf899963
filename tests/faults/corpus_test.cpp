// SPDX-License-Identifier: Apache-2.0
// All captured machines of the corpus, and constructed ones: no false findings, and every diagnosis is of a port that
// has another finding. Every captured machine with each single part lost or degraded, and with its buses renumbered:
// the NICs of the GPUs that the fault does not concern never change, and with the inventory of the healthy machine the
// fault is named. Every captured machine with one or two parts gone or broken: with the inventory of its healthy state,
// which the agent keeps, and without.
#include "support/corpus.h"

#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/finding.h"
#include "node/scan.h"
#include "node/signals.h"
#include "support/counters.h"
#include "support/healthy_node.h"
#include "support/mutate.h"
#include "support/test.h"
#include "support/tree.h"
#include "topology/built.h"
#include "topology/inventory.h"

namespace fabric::faults {
namespace {

using test::Mutated;
using test::Part;

// -- Captured machines, unchanged

// A true finding of a machine: "check subject status", and the reason.
struct Truth {
  const char *finding, *why;
};
const std::multimap<std::string, Truth> kTrue{
    {"psmgmt__mel3001",
     {"port-state mlx5_3/1 warning", "the second Ethernet port of its card was down when it was captured"}},
    {"gb300", {"acs host unknown", "it was captured without PCI configuration space"}},
    {"oci16", {"acs host unknown", "it was captured without PCI configuration space"}},
};

bool is_true(const std::string& machine, const Finding& finding) {
  const std::string text = finding.id + " " + finding.subject + " " + std::string(to_text(finding.status));
  const auto [first, last] = kTrue.equal_range(machine);
  return std::any_of(first, last, [&](const auto& each) { return text == each.second.finding; });
}

// A captured tree has no agent and no configuration: empty ones are added. The diagnosis is of a minute without
// traffic; each port that only a cause names counts as a finding.
std::vector<Finding> said(Node node) {
  node.agent = AgentState{.running = true, .mode = Mode::audit};
  const Policy policy;
  const Plan plan;
  auto out = test::complaints_of({.now = node, .policy = &policy, .plan = &plan});
  Node before = node;
  node.taken = before.taken + std::chrono::minutes(1);
  const auto signals = signals_of(before, node);
  for (const Finding& each : diagnose({.now = node, .before = &before, .policy = &policy, .signals = &signals}))
    if (std::ranges::find(out, each.subject, &Finding::subject) == out.end())
      out.push_back(bad(Status::warning, each.subject, each.id, "", each.meaning, ""));
  return out;
}

class Captured : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() {
    std::printf(
        "figure: fault catalogue: %zu captured machines: %zu false alarms, %zu true findings, %zu questions that the "
        "capture does not answer\n",
        machines, untrue, truths, unanswered);
  }
  static inline size_t machines = 0, untrue = 0, truths = 0, unanswered = 0;
};

TEST_P(Captured, HasNoFalseFindings) {
  const test::Unpacked tree(GetParam());
  auto kernel = open_kernel(tree.root());
  ASSERT_TRUE(kernel) << kernel.error().text();
  ++machines;
  for (const Finding& each : said(scan(*kernel, {.neighbors = true, .host = true}))) {
    const Rule* check = find_rule(each.id);
    // Every user may read the platform, except for ACS.
    const bool is_readable = check != nullptr && (check->group == group::platform || each.id == "pcie");
    if (each.status == Status::unknown && check != nullptr && (!is_readable || each.id == "acs")) {
      ++unanswered;
    } else if (is_true(test::machine_of(GetParam()), each)) {
      ++truths;
    } else {
      ++untrue;
      ADD_FAILURE() << test::describe(each) << "\n" << each.meaning;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Machine, Captured, testing::ValuesIn(test::healthy_archives()), [](const auto& each) {
  std::string name = test::machine_of(each.param);
  std::replace_if(
      name.begin(), name.end(), [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
});

// Cisco's usNIC sends datagrams from user space: it has GIDs, but neither RoCE v2 nor PFC nor a path MTU.
TEST(Constructed, UsnicIsNoRoce) {
  test::Tree tree;
  tree.file("proc/sys/kernel/hostname", "gpu01\n");
  for (const std::string number : {"0", "1"}) {
    const std::string device = "sys/class/infiniband/usnic_" + number, port = device + "/ports/1/";
    tree.file(device + "/node_type", "6: usNIC UDP\n").file(port + "link_layer", "Ethernet\n");
    tree.file(port + "state", "4: ACTIVE\n").file(port + "phys_state", "5: LinkUp\n");
    tree.file(port + "rate", "40 Gb/sec (4X QDR)\n").file(port + "gid_attrs/ndevs/0", "eth" + number + "\n");
    tree.file(port + "gids/0", "fe80:0000:0000:0000:0200:00ff:fe00:000" + number + "\n")
        .file(port + "gid_attrs/types/0", "IB/RoCE v1\n")
        .file("sys/class/net/eth" + number + "/mtu", "1500\n");
  }
  auto kernel = open_kernel(tree.path());
  ASSERT_TRUE(kernel);
  const auto silent = [&] {
    const Node node = scan(*kernel, {.neighbors = true, .host = true});
    EXPECT_EQ(node.ports.size(), 2u);
    return std::ranges::all_of(said(node), [](const Finding& each) { return each.status == Status::unknown; });
  };
  EXPECT_TRUE(silent());
  for (const char* number : {"0", "1"})
    tree.file(std::string("sys/class/infiniband/usnic_") + number + "/node_type", "1: CA\n");
  EXPECT_FALSE(silent()) << "as RoCE it would have faults";
}

// -- Each single part lost or degraded

// GPU -> its NICs, by the addresses before buses were renumbered.
using Pairs = std::map<std::string, std::set<std::string>>;

Pairs pairs_of(const Node& node, const std::map<std::string, std::string>& old = {}) {
  const auto name = [&](const std::string& pci) { return old.contains(pci) ? old.at(pci) : pci; };
  const Pairing pairing = built_of(node).present_pairing;
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
    if (!carries_rdma(nics[i]) || nics[i].is_virtual_function() || nics[i].rdma.empty()) continue;
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

// Adds a bus below every root bus, as a card or an update of the firmware can do. Returns present -> old address.
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

// Faults that nothing shows without an inventory, by machine and kind, so that other GPUs get other NICs.
const std::map<std::string, std::string> kUndecidable{
    {"fluxcore__sierra gpu", "of two GPUs at one switch that share two NICs, one is gone: the other takes both"},
    {"mpibind__coral-lassen gpu", "likewise"},
};

struct NamedFaults {
  size_t faults = 0, changed = 0, named = 0, wrong = 0;
};

Findings faults_found(const Node& node) {
  const std::vector<std::string> rules{"topology", "rate"};
  Findings out = run_rules({.now = node, .no_policy = {}}, rules).findings;
  std::erase_if(out, [](const Finding& each) { return !is_fault(each.status); });
  return out;
}

std::string text_of(const Finding& finding) {
  return finding.id + " " + finding.subject + " " + finding.observed + " " + finding.meaning + "\n";
}

// The names that a finding of the fault may contain: the part, the bridges and the root bus above it, the GPUs that it
// serves and those that serve it, the other parts of a root bus.
std::set<std::string> concerned(const Node& healthy, const Node& now, const Fault& fault, const Pairs& pairs) {
  std::set<std::string> out{fault.name, fault.name.substr(0, fault.name.find('/'))}, gpus;  // "mlx5_3/1", its device
  const auto add = [&](const PciDevice& device) {
    if (device.pci != fault.part && device.root != fault.part) return;
    out.insert(device.pci);
    out.insert(device.root);
    out.insert(device.bridges.begin(), device.bridges.end());
    gpus.insert(device.pci);
  };
  for (const Gpu& gpu : healthy.topology.gpus) add(gpu);
  for (const Nic& nic : healthy.topology.nics) {
    add(nic);
    if (nic.pci == fault.part && nic.direct) out.insert(nic.direct->pci);
  }
  for (const auto& [gpu, nics] : pairs)
    if (nics.contains(fault.part)) gpus.insert(gpu);
  for (const Gpu& gpu : now.topology.gpus)
    if (gpus.contains(gpu.pci)) out.insert(gpu.name);
  if (fault.kind == "gpu") out.insert("symmetry GPUs");
  return out;
}

// The findings that the healthy machine does not have, and that are of other parts.
std::string wrong_findings(const Node& healthy, const Node& now, const Fault& fault, const Pairs& pairs) {
  const std::set<std::string> names = concerned(healthy, now, fault, pairs);
  std::set<std::string> before;
  for (const Finding& each : faults_found(healthy)) before.insert(each.id + each.meaning);
  std::string out;
  for (const Finding& each : faults_found(now)) {
    const std::string text = text_of(each);
    if (!before.contains(each.id + each.meaning) &&
        std::ranges::none_of(names, [&](const std::string& name) { return test::has(text, name); }))
      out += text;
  }
  return out;
}

// Plants the fault, and compares the pairing of all GPUs that it does not concern.
void compare(const std::string& machine, const Node& healthy, const Fault& fault, bool inventory, bool moved,
             NamedFaults& score) {
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
  same = same || (!inventory && kUndecidable.contains(machine + " " + fault.kind));
  std::string said;
  for (const Finding& each : faults_found(now)) said += text_of(each);
  const bool named = test::has(said, fault.name);
  score.named += named ? 1 : 0;
  const std::string wrong = moved ? std::string() : wrong_findings(whole, now, fault, before);
  score.wrong += wrong.empty() ? 0 : 1;
  if (same && wrong.empty() && (named || !inventory)) return;
  ADD_FAILURE() << machine << ": " << fault.kind << " of " << fault.name << (moved ? ", renumbered" : "")
                << (inventory ? "" : ", without an inventory") << (same ? "" : ": other GPUs changed their NICs")
                << (named ? "" : ": not named") << "\n"
                << said << (wrong.empty() ? "" : "of other parts:\n") << wrong;
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
  NamedFaults with, without, renumbered;
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
      "%zu / %zu / %zu with renumbered buses, %zu / %zu / %zu without an inventory; other parts blamed: %zu and %zu\n",
      machines, with.changed, with.named, with.faults, renumbered.changed, renumbered.named, renumbered.faults,
      without.changed, without.named, without.faults, with.wrong, without.wrong);
}

TEST(Built, AFaultChangesNothingElse) { plant_faults(5); }
TEST(Built, AnyFaultChangesNothingElseHarder) { plant_faults(1); }

// -- GPUs gone

void remove_gpus(Node& node, const std::set<std::string>& pcis) {
  std::erase_if(node.topology.gpus, [&](const Gpu& gpu) { return pcis.contains(gpu.pci); });
  for (size_t g = 0; g < node.topology.gpus.size(); ++g) node.topology.gpus[g].name = "GPU" + std::to_string(g);
}

// The NICs below the bridges that are above these GPUs and no others.
void remove_nics_below(Node& node, const Node& healthy, const std::set<std::string>& gpus) {
  std::set<std::string> bridges, others;
  for (const Gpu& gpu : healthy.topology.gpus)
    (gpus.contains(gpu.pci) ? bridges : others).insert(gpu.bridges.begin(), gpu.bridges.end());
  const auto is_below = [&](const Nic& nic) {
    return std::ranges::any_of(
        nic.bridges, [&](const std::string& bridge) { return bridges.contains(bridge) && !others.contains(bridge); });
  };
  for (const Nic& nic : node.topology.nics)
    if (is_below(nic)) drop_ports(node, nic.pci);
  std::erase_if(node.topology.nics, is_below);
}

struct LostGpus {
  size_t planted = 0, named = 0, blamed = 0;
};

// Whether `symmetry` reports the loss. A finding of a present part that the healthy machine does not have is a failure:
// `blamed` if it is a warning that a GPU is far from its NIC.
void judge_lost_gpus(const std::string& what, const Node& healthy, const Node& now, LostGpus& score) {
  const std::vector<std::string> rules{"topology", "rate", "port-state"};
  std::set<std::string> before;
  for (const Finding& each : run_rules({.now = healthy, .no_policy = {}}, rules).findings)
    if (is_fault(each.status)) before.insert(each.id + each.meaning);
  bool named = false, blamed = false;
  for (const Finding& each : run_rules({.now = now, .no_policy = {}}, rules).findings) {
    if (!is_fault(each.status) || before.contains(each.id + each.meaning)) continue;
    named = named || each.id == "symmetry";
    blamed = blamed || each.id != "symmetry";
    if (each.id != "symmetry") EXPECT_NE(each.status, Status::critical) << what << "\n" << test::describe(each);
    if (each.id != "symmetry") std::printf("    %s: %s\n", what.c_str(), test::describe(each).c_str());
  }
  ++score.planted;
  score.named += named ? 1 : 0;
  score.blamed += blamed ? 1 : 0;
}

// The healthy machines, and others of the corpus that have eight GPUs and all their NICs, with faults of their own.
std::vector<std::string> archives_with_gpus() {
  std::vector<std::string> out = test::healthy_archives();
  if (const auto corpus = test::corpus_directory()) {
    out.push_back(*corpus + "/repro/dell_h100_port_down.tgz");
    for (const char* name : {"gpu-stuck-at-gen2", "half-of-the-ports-slow", "hygon-dcu", "ib-vf-down-on-host",
                             "smi-subdevices", "switchdev-pf"})
      out.push_back(*corpus + "/field/" + name + "/tree.tar.gz");
  }
  return out;
}

// The GPUs of each of two sockets; empty if these are not four and four.
std::vector<std::vector<std::string>> halves_of(const Topology& topology) {
  std::map<int, std::vector<std::string>> sockets;
  for (const Gpu& gpu : topology.gpus)
    sockets[socket_of(topology, gpu).value_or(gpu.numa.value_or(-1))].push_back(gpu.pci);
  std::vector<std::vector<std::string>> out;
  for (const auto& [socket, gpus] : sockets)
    if (gpus.size() == 4) out.push_back(gpus);
  if (topology.gpus.size() != 8) out.clear();
  return out;
}

// Every captured machine without any one GPU; those with eight, four on each socket, without several of one socket, as
// the bits of `masks` say, alone or with the NICs and switches above.
void lose_gpus(const std::vector<unsigned>& masks) {
  LostGpus one, several, switches;
  size_t machines = 0;
  for (const std::string& archive : archives_with_gpus()) {
    const test::Unpacked tree(archive);
    auto kernel = open_kernel(tree.root());
    if (!kernel) continue;
    Node healthy = scan(*kernel);
    healthy.inventory.reset();
    if (healthy.topology.gpus.empty() || healthy.ports.empty()) continue;
    const std::string name = archive.substr(archive.rfind('/', archive.rfind('/') - 1) + 1);
    for (const Gpu& gpu : healthy.topology.gpus) {
      Node now = healthy;
      remove_gpus(now, {gpu.pci});
      judge_lost_gpus(name + " without " + gpu.pci, healthy, now, one);
    }
    const auto halves = halves_of(healthy.topology);
    machines += halves.empty() ? 0 : 1;
    for (const auto& half : halves)
      for (const unsigned mask : masks) {
        std::set<std::string> lost;
        std::string what = name + " without";
        for (size_t i = 0; i < 4; ++i) {
          if ((mask >> i & 1U) == 0) continue;
          lost.insert(half[i]);
          what += " " + half[i];
        }
        Node now = healthy;
        remove_gpus(now, lost);
        if (lost.size() > 1) judge_lost_gpus(what, healthy, now, several);
        remove_nics_below(now, healthy, lost);
        if (now.ports.size() < healthy.ports.size() && lost.size() < 4)
          judge_lost_gpus(what + " and their switches", healthy, now, switches);
      }
  }
  if (machines == 0) GTEST_SKIP() << "no machine has eight GPUs";
  std::printf(
      "figure: lost GPUs: named / another part blamed / planted: one %zu / %zu / %zu; several of a socket, on %zu "
      "machines with eight, %zu / %zu / %zu; with their switches %zu / %zu / %zu\n",
      one.named, one.blamed, one.planted, machines, several.named, several.blamed, several.planted, switches.named,
      switches.blamed, switches.planted);
  EXPECT_EQ(one.blamed, 0u);
  EXPECT_GE(several.named * 100, several.planted * 75);  // not where few GPUs share a switch with a NIC
  EXPECT_GE(switches.named * 100, switches.planted * 90);
}

TEST(LostGpus, MakeNothingElseAFault) { lose_gpus({1, 6, 11, 15}); }
TEST(LostGpus, MakeNothingElseAFaultHarder) { lose_gpus({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}); }

// -- One or two parts gone or broken

struct CapturedNode {
  std::string name;
  Node node;
};

std::vector<CapturedNode> machines() {
  std::vector<CapturedNode> out;
  for (const std::string& archive : test::healthy_archives()) {
    const test::Unpacked tree(archive);
    auto kernel = open_kernel(tree.root());
    if (!kernel) continue;
    Node node = scan(*kernel, {.neighbors = true, .host = true});
    node.agent = AgentState{.running = true, .mode = Mode::audit};
    out.push_back({test::machine_of(archive), std::move(node)});
  }
  return out;
}

void give_inventory(Node& node, const Node& healthy) {
  node.inventory = inventory_of(healthy);
  node.inventory->taken = "2026-01-01T00:00:00Z";
}

// Findings and diagnoses, as text.
std::vector<std::string> all_said(Mutated& machine) {
  machine.now.taken = machine.before.taken + std::chrono::seconds(60);
  const Policy policy;
  const Plan plan;
  test::resolve(machine.before);
  test::resolve(machine.now);
  const auto signals = signals_of(machine.before, machine.now);
  const View view{.now = machine.now, .before = &machine.before, .policy = &policy, .plan = &plan, .signals = &signals};
  std::vector<std::string> out;
  for (const Finding& each : run_rules(view).findings)
    if (each.status == Status::warning || each.status == Status::critical)
      out.push_back(each.id + " " + each.subject + " " + each.observed + " " + each.expected + " " + each.meaning);
  for (const Finding& each : diagnose(view)) {
    std::string text = each.subject + " " + each.id + " " + each.meaning;
    for (const std::string& line : each.evidence) text += " " + line;
    out.push_back(std::move(text));
  }
  return out;
}

bool names_all(const Mutated& machine, const std::vector<std::string>& texts) {
  return std::ranges::all_of(machine.names, [&](const std::vector<std::string>& names) {
    return std::ranges::any_of(texts, [&](const std::string& text) {
      return std::ranges::any_of(names, [&](const std::string& name) { return test::has(text, name); });
    });
  });
}

using Parts = std::vector<std::pair<Part, double>>;

// One of each kind, and three pairs.
std::vector<Parts> combinations() {
  std::vector<Parts> out;
  for (const Part part : test::kParts) out.push_back({{part, 0.5}});
  out.push_back({{Part::gpu, 0.2}, {Part::port, 0.9}});
  out.push_back({{Part::nic, 0.1}, {Part::link, 0.9}});
  out.push_back({{Part::function, 0.3}, {Part::gpu, 0.9}});
  return out;
}

std::string text_of(const Parts& parts) {
  std::string out;
  for (const auto& [part, at] : parts) out.append(out.empty() ? "" : "+").append(test::to_text(part));
  return out;
}

struct NamedParts {
  size_t planted = 0, named = 0;
  std::map<std::string, std::pair<size_t, size_t>> kinds{};  // named, planted
};

void plant(const CapturedNode& machine, const Parts& parts, bool inventory, NamedParts& score) {
  Mutated mutated{machine.node, machine.node};
  for (const auto& [part, at] : parts)
    if (!test::mutate(mutated, part, at)) return;
  if (inventory)
    for (Node* node : {&mutated.before, &mutated.now}) give_inventory(*node, machine.node);
  const auto texts = all_said(mutated);
  const bool named = names_all(mutated, texts);
  ++score.planted;
  score.named += named ? 1 : 0;
  auto& kind = score.kinds[text_of(parts)];
  kind.first += named ? 1 : 0;
  ++kind.second;
  if (named || !inventory) return;
  std::printf("not named: %s, %s %s\n", machine.name.c_str(), text_of(parts).c_str(), mutated.names[0][0].c_str());
  for (const std::string& text : texts) std::printf("    %s\n", text.c_str());
}

size_t false_alarms(const CapturedNode& machine, bool inventory) {
  Mutated healthy{machine.node, machine.node};
  if (inventory)
    for (Node* node : {&healthy.before, &healthy.now}) give_inventory(*node, machine.node);
  size_t out = 0;
  for (const std::string& text : all_said(healthy)) {
    // The second Ethernet port of its card was down when it was captured.
    if (machine.name == "psmgmt__mel3001" && test::has(text, "mlx5_3/1")) continue;
    ++out;
    ADD_FAILURE() << machine.name << ": " << text;
  }
  return out;
}

void print(const char* how, const NamedParts& score, size_t alarms, size_t count) {
  std::printf("figure: mutations: %zu of %zu named %s, %zu false alarms on %zu unmutated machines\n", score.named,
              score.planted, how, alarms, count);
  for (const auto& [kind, counts] : score.kinds)
    std::printf("  %s: %zu of %zu\n", kind.c_str(), counts.first, counts.second);
}

TEST(Mutations, AreNamed) {
  const auto all = machines();
  NamedParts with, without;
  size_t alarms_with = 0, alarms_without = 0;
  for (const CapturedNode& machine : all) {
    for (const Parts& parts : combinations()) {
      plant(machine, parts, true, with);
      plant(machine, parts, false, without);
    }
    alarms_with += false_alarms(machine, true);
    alarms_without += false_alarms(machine, false);
  }
  print("with the inventory", with, alarms_with, all.size());
  print("without an inventory", without, alarms_without, all.size());
  EXPECT_GE(with.named * 124, with.planted * 120);
  EXPECT_GE(without.named * 100, without.planted * 55);  // most of these machines have too few equal parts
}

}  // namespace
}  // namespace fabric::faults
