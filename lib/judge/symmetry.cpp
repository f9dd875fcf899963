// SPDX-License-Identifier: Apache-2.0
// Equal places of the machine have equal parts: the findings about what topology/symmetry.h found.
#include "judge/gpu.h"
#include "judge/inventory.h"
#include "judge/no_rdma.h"
#include "judge/platform_view.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "node/gpu.h"
#include "node/machine.h"

namespace fabric {
namespace {

// " It was GPU2; the GPUs behind it count one less now.": the number in the order of PCI addresses, as nvidia-smi
// counts, with all GPUs that are missing.
std::string former_number(const Built& built, const std::string& pci) {
  const auto& gpus = built.topology.gpus;
  const auto before = std::ranges::count_if(gpus, [&](const Gpu& each) { return each.pci < pci; });
  std::string out = " It was GPU" + std::to_string(before);
  if (gpus.size() - built.gpus > 1) return out + "; the GPUs behind the missing ones have lower numbers now.";
  return out + "; the GPUs behind it count one less now.";
}

Finding missing_part_finding(const Built& built, const Topology& topology, const MissingPart& part) {
  const bool gpu = part.kind == MissingPart::Kind::gpu;
  const std::string kind = gpu ? "GPU" : "NIC function", &pci = part.place.pci;
  const std::string address = pci.empty() ? part.below : pci;
  std::string meaning =
      "A " + kind + " is missing " + place_text(part) + ": it left the PCI bus, or did not come up at boot.";
  if (gpu && !pci.empty()) meaning += former_number(built, pci);
  std::string pattern = address + "|" + part.below;
  if (gpu && !topology.gpus.empty()) pattern += gpu_log_word(topology.gpus.front().vendor);
  return bad(Status::critical, address, "no " + kind + " " + place_text(part),
             "one, as in equal places of this machine", std::move(meaning),
             fix_of_missing(topology, gpu ? "" : pci, "journalctl -k -g '" + pattern + "'"));
}

// "A GPU seems", "3 GPUs seem"
std::string gpus_seem(size_t count) { return count == 1 ? "A GPU seems" : std::to_string(count) + " GPUs seem"; }

std::string left_the_bus(size_t count) {
  return std::string(count == 1 ? "it" : "they") + " left the PCI bus, or did not come up at boot.";
}

// The GPUs that are missing, but not certainly, in one finding. nullopt: none.
std::optional<Finding> gpus_of_places(const Built& built) {
  std::string places;
  size_t count = 0;
  for (const MissingPart& part : built.missing) {
    if (part.certain) continue;
    append_item(places, place_text(part), "; ");
    ++count;
  }
  if (count == 0) return std::nullopt;
  return bad(
      Status::warning, "GPUs", counted(built.gpus, "GPU"), std::to_string(built.topology.gpus.size()),
      gpus_seem(count) + " to be missing where other GPUs have an equal NIC (" + places + "): " + left_the_bus(count),
      {"lspci -tv; " + kGpuLog,
       {Work::in_machine, "then power-cycle the node, and check the power and the boards that these GPUs share."}});
}

// Whether each GPU has a NIC of its own on its switch, and no NIC is left: a missing GPU has taken its NIC with it.
bool are_nics_missing_too(const Placement& placed) {
  return placed.pairing.idle.empty() && !placed.pairing.pairs.empty() &&
         std::ranges::all_of(placed.pairing.pairs,
                             [](const Pair& pair) { return pair.shared_by == 1 && is_on_switch(pair.path); });
}

// The ports that equal those above GPUs, with nothing below them.
std::vector<std::string> empty_ports(const Node& node) {
  std::set<std::string> used;
  const auto add = [&](const PciDevice& device) {
    used.insert(device.pci);
    used.insert(device.bridges.begin(), device.bridges.end());
  };
  for (const Gpu& gpu : node.topology.gpus) add(gpu);
  for (const Nic& nic : node.topology.nics) add(nic);
  std::vector<std::string> out;
  for (const auto& [pci, function] : node.platform.functions)
    if (!used.contains(pci)) out.push_back(pci);
  return out;
}

// The GPUs and NICs next below other ports of the same switch. Empty for a root port.
std::vector<const PciDevice*> devices_beside(const Topology& topology, std::string_view port) {
  const auto bus_of = [](std::string_view address) { return address.substr(0, address.rfind(':')); };
  std::vector<const PciDevice*> out;
  const auto add = [&](const PciDevice& device) {
    if (device.bridges.size() > 1 && bus_of(device.bridges.front()) == bus_of(port)) out.push_back(&device);
  };
  for (const Gpu& gpu : topology.gpus) add(gpu);
  for (const Nic& nic : topology.nics) add(nic);
  return out;
}

// The number of GPUs by socket, or NUMA node. Empty: a place is unknown, or the GPUs are of several models.
std::map<int, size_t> gpus_by_socket(const Topology& topology) {
  std::map<int, size_t> out;
  for (const Gpu& gpu : topology.gpus) {
    const auto socket = socket_of(topology, gpu);
    if ((!socket && !gpu.numa) || !are_of_one_model(gpu, topology.gpus.front())) return {};
    ++out[socket ? *socket : *gpu.numa];
  }
  return out;
}

// GPUs that are missing below switches: an equal port has nothing below it, and the machine is plausible only with a
// GPU below each of these ports. If the sockets have equally many GPUs, each switch must have a NIC: slots are sold
// empty, too.
std::optional<Finding> gpus_of_empty_ports(const Node& node, const Built& built) {
  const Topology& whole = built.topology;
  const std::map<int, size_t> sockets = gpus_by_socket(whole);
  if (sockets.size() < 2) return std::nullopt;
  const bool is_even =
      std::ranges::all_of(sockets, [&](const auto& each) { return each.second == sockets.begin()->second; });
  std::vector<std::string> ports;
  std::vector<const PciDevice*> places;
  for (const std::string& port : empty_ports(node)) {
    const auto beside = devices_beside(node.topology, port);
    if (beside.empty()) continue;
    const auto is_gpu = [&](const PciDevice* each) { return gpu_at(node.topology, each->pci) != nullptr; };
    if (is_even && std::ranges::all_of(beside, is_gpu)) return std::nullopt;
    ports.push_back(port);
    places.push_back(beside.front());
  }
  if (places.empty() || are_plausible(whole, {}) || !are_plausible(whole, places)) return std::nullopt;
  const std::string list = joined(ports, " and ");
  return bad(Status::warning, "GPUs", counted(whole.gpus.size(), "GPU") + ", and nothing below " + list,
             counted(whole.gpus.size() + places.size(), "GPU"),
             gpus_seem(places.size()) + " to be missing below " + list +
                 ", where equal ports of switches have one: " + left_the_bus(places.size()),
             {"lspci -vv -s " + ports.front() + " (LnkSta); journalctl -k -g '" + joined(ports, "|") + "|pciehp" +
                  gpu_log_word(whole.gpus.front().vendor) + "'; ",
              {Work::in_machine, "then power-cycle the node, check the power of the GPU, and reseat it."}});
}

Finding odd_gpus_finding(const Placement& placed, const Node& node) {
  const Topology& topology = node.topology;
  const OddGpus& odd = *placed.built->odd_gpus;
  const size_t count = odd.whole - topology.gpus.size();
  std::vector<std::string> empty = empty_ports(node);
  std::erase_if(empty, [&](const std::string& port) { return !devices_beside(topology, port).empty(); });
  if (are_nics_missing_too(placed) && empty.size() == count && count * 3 <= topology.gpus.size()) {
    const std::string ports = joined(empty, " and ");
    return bad(
        Status::critical, empty.front(), "nothing below " + ports,
        "a GPU and a NIC, as below " + std::to_string(topology.gpus.size()) + " equal ports",
        "Nothing is below " + ports + ", where equal ports have a GPU and its NIC: the PCIe switch above both, or " +
            "the link to it, did not come up.",
        {"lspci -vv -s " + empty.front() + " (LnkSta); journalctl -k -g '" + joined(empty, "|") + "|pciehp'; ",
         {Work::in_machine, "then power-cycle the node, and check the switch board, its cables and its power."}});
  }
  if (are_nics_missing_too(placed))
    return bad(
        Status::warning, "GPUs", odd.observed, std::to_string(odd.whole),
        (count == 1 ? "A GPU and its NIC seem" : std::to_string(count) + " GPUs and their NICs seem") +
            " to be missing " + odd.where + ": the PCIe switch above both, or the link to it, did not come up.",
        {"lspci -tv (look for a port with nothing below it); " + kGpuLog,
         {Work::in_machine, "then power-cycle the node, and check the switch board, its cables and its power."}});
  return bad(Status::warning, "GPUs", odd.observed, std::to_string(odd.whole),
             gpus_seem(count) + " to be missing " + odd.where + ": " + left_the_bus(count),
             {"lspci -nnd ::0302; lspci -nnd ::1200; " + kGpuLog,
              {Work::in_machine,
               std::string("then power-cycle the node, and reseat the ") + (count == 1 ? "GPU." : "GPUs.")}});
}

// `locality` reports the missing part with the GPU that has lost it, else `pairing` with the GPUs that share a NIC. A
// GPU that shares its NIC with one that `locality` reports, or by design, has lost nothing.
bool is_reported(const View& view, const Placement& placed, const Findings& pairings, const MissingPart& part) {
  if (part.kind == MissingPart::Kind::rdma && placed.without_rdma == part.nic) return true;
  if (part.kind == MissingPart::Kind::gpu) return false;
  const auto& pairs = placed.pairing.pairs;
  bool any_too_far = false;
  for (size_t gpu = 0; gpu < pairs.size(); ++gpu) any_too_far = any_too_far || placed.is_too_far(gpu);
  for (const size_t gpu : part.gpus) {
    if (gpu >= pairs.size()) continue;  // missing itself
    if (any_too_far) {
      if (placed.is_too_far(gpu)) return true;
      continue;
    }
    for (const size_t nic : pairs[gpu].nics)
      if (contains(pairings, view.now.topology.nics[nic].name, &Finding::subject)) return true;
  }
  return false;
}

// The GPUs that NVIDIA's driver has and this /sys does not show. They are on the bus: the driver forgets a GPU that has
// left it.
Finding hidden_gpus_finding(const Topology& topology) {
  const size_t hidden = topology.hidden_gpus.size(), shown = topology.gpus.size();
  const std::string list = joined(topology.hidden_gpus);
  return bad(
      Status::warning, "GPUs", counted(shown, "GPU") + " in /sys, and " + list + " in the driver alone",
      counted(shown + hidden, "GPU") + " in both",
      "NVIDIA's driver has " + counted(shown + hidden, "GPU") + ", and /sys/bus/pci/devices lacks " + list +
          ". The hardware is in order: the /sys of this container does not show the whole machine. CUDA sees all "
          "GPUs; NCCL and the daemons of network plugins, which read the PCI topology from /sys, do not.",
      {"Compare with the host: ls /sys/bus/pci/devices; ls /proc/driver/nvidia/gpus. ",
       {Work::ends_jobs,
        "Give the container the /sys of the host: in Kubernetes hostNetwork: true, or a mount of /sys."}});
}

// Whether the device is on a NUMA node whose CPUs are all offline: its node is right, although the topology has none.
bool is_at_offline_cpus(const Node& node, const std::string& pci) {
  return node.host && std::ranges::any_of(node.host->offline_cpus,
                                          [&](const OfflineCpus& each) { return contains(each.devices, pci); });
}

// NUMA nodes with a larger share of their CPUs offline than another one. Where SMT is off, or CPUs are left out on
// purpose, the share is the same everywhere. One CPU more is no difference: CPU 0 stays online.
Findings nodes_with_offline_cpus(const Node& node) {
  if (!node.host || node.host->offline_cpus.empty()) return {};
  const Topology& topology = node.topology;
  struct NodeCpus {
    size_t online = 0, offline = 0;
    [[nodiscard]] size_t all() const { return online + offline; }
    [[nodiscard]] std::string text() const {
      return std::to_string(online) + " of " + counted(all(), "CPU") + " online";
    }
  };
  std::map<int, NodeCpus> nodes;
  for (const auto& [number, list] : topology.numa_cpus)
    nodes[number].online = machine::parse_cpus(list).value_or(std::vector<unsigned>{}).size();
  for (const OfflineCpus& each : node.host->offline_cpus) nodes[each.node].offline = each.count;
  const auto best = std::ranges::max_element(nodes, {}, [](const auto& each) {
    return static_cast<double>(each.second.online) / static_cast<double>(std::max<size_t>(each.second.all(), 1));
  });
  if (best->second.online == 0) return {};  // a captured tree without the lists of the nodes
  Findings out;
  for (const OfflineCpus& each : node.host->offline_cpus) {
    const NodeCpus& own = nodes[each.node];
    const size_t usual = own.all() * best->second.offline / best->second.all();
    if (own.online > 0 && own.offline <= usual + 1) continue;
    std::string devices;
    for (const Gpu& gpu : topology.gpus)
      if (contains(each.devices, gpu.pci)) append_item(devices, gpu.name);
    for (const Nic& nic : topology.nics)
      if (contains(each.devices, nic.pci) && carries_rdma(nic) && !nic.is_virtual_function())
        append_item(devices, nic.name);
    std::string meaning = "Jobs lose these CPUs, and their threads crowd on the others.";
    if (!devices.empty())
      meaning = "Jobs that use " + devices +
                ", and their interrupts, run on CPUs of another NUMA node: each access crosses the link between the "
                "sockets. No node is known for these devices, so that nothing is bound near them.";
    out.push_back(
        bad(devices.empty() ? Status::warning : Status::critical, "NUMA node " + std::to_string(each.node), own.text(),
            best->second.text() + " on NUMA node " + std::to_string(best->first), std::move(meaning),
            "grep -oE '(max|nr)_?cpus=[0-9]+' /proc/cmdline; journalctl -k -g 'smpboot|CPU.*(offline|failed)'; then "
            "chcpu -e " +
                each.cpus));
  }
  return out;
}

void ask_symmetry(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  if (topology.gpus.empty() && topology.nics.empty()) return;
  const Placement placed = placement(view);
  Findings found, pairings;
  find_rule("pairing")->ask(view, pairings);
  std::erase_if(pairings, [](const Finding& each) { return each.status == Status::ok; });
  const auto add = [&](Finding finding) {
    if (!contains(found, finding.subject, &Finding::subject)) found.push_back(std::move(finding));
  };
  // The places where GPUs are missing are those of the hidden ones, unless they are more.
  const bool any_hidden = !topology.hidden_gpus.empty();
  const auto missing_gpus = std::ranges::count(placed.built->missing, MissingPart::Kind::gpu, &MissingPart::kind);
  const bool are_hidden_ones = any_hidden && std::cmp_less_equal(missing_gpus, topology.hidden_gpus.size());
  if (any_hidden) add(hidden_gpus_finding(topology));
  for (const MissingPart& part : placed.built->missing) {
    if (part.kind == MissingPart::Kind::gpu && (are_hidden_ones || contains(topology.hidden_gpus, part.place.pci)))
      continue;
    if (is_reported(view, placed, pairings, part) ||
        (part.nic && is_given_away(view.now, topology.nics[*part.nic].pci)))
      continue;
    if (part.kind == MissingPart::Kind::rdma)
      add(no_rdma_finding(view.now, topology.nics[*part.nic], "as in equal places of this machine"));
    else if (part.certain) add(missing_part_finding(*placed.built, topology, part));
  }
  const bool gpu = contains(placed.built->missing, MissingPart::Kind::gpu, &MissingPart::kind);
  const bool is_accepted = view.now.inventory && view.now.inventory->accepted;
  std::optional<Finding> below_switches;
  if (!gpu && !is_accepted && !any_hidden) below_switches = gpus_of_empty_ports(view.now, *placed.built);
  if (auto places = any_hidden ? std::nullopt : gpus_of_places(*placed.built)) add(std::move(*places));
  else if (below_switches) add(std::move(*below_switches));
  else if (placed.built->odd_gpus && !gpu && !any_hidden) add(odd_gpus_finding(placed, view.now));
  for (const OddNode& odd : placed.built->odd_nodes) {
    const std::string pci = odd.device.pci;
    if (is_at_offline_cpus(view.now, pci)) continue;
    // A device, or all devices of a root bus.
    std::string subject = odd.name, place = pci;
    std::string observed = "NUMA node " + (odd.device.numa ? std::to_string(*odd.device.numa) : "-1");
    if (odd.whole_root) {
      subject = place = odd.device.root;
      std::string names;
      for (const OddNode& other : placed.built->odd_nodes)
        if (other.device.root == odd.device.root) append_item(names, other.name);
      observed += ": " + names;
    }
    std::string expected = "a node";
    const bool is_guest = topology.is_guest();
    std::string fix = "cat /sys/bus/pci/devices/" + pci + "/numa_node; then ";
    fix += is_guest ? "correct the node in the definition of this virtual machine" : "update the firmware";
    if (odd.expected) {
      const std::string node = std::to_string(*odd.expected);
      expected = "NUMA node " + node;
      if (!odd.whole_root) fix += ", or write " + node + " to that file";
    }
    add(bad(Status::warning, subject, observed, expected + ", like " + odd.like,
            std::string(is_guest ? "The hypervisor" : "The firmware") + " reports a NUMA node for " + place +
                " that does not fit its place: jobs are bound to the wrong CPUs and memory.",
            fix + "."));
  }
  for (Finding& each : nodes_with_offline_cpus(view.now)) add(std::move(each));
  Findings unusable, notes;
  add_unusable_gpus(view, unusable, notes);
  for (Finding& each : unusable) add(std::move(each));
  if (found.empty()) add(good("node", "no part is missing", "equal places have equal parts"));
  for (Finding& each : notes) add(std::move(each));
  findings.insert(findings.end(), found.begin(), found.end());
}

}  // namespace

constexpr Rule kSymmetry{
    .id = "symmetry",
    .group = group::topology,
    .title = "Equal places of the machine have different parts",
    .meaning =
        "Compares cards of one model, then the devices below each bridge and on each root bus. If at least three "
        "equal places have a GPU, NIC function or RDMA device, a place without one is reported. A GPU is reported "
        "only if the machine then has 2, 4, 8 or 16 of them, the same number on each socket; if several are missing, "
        "the places without one that have a NIC as those of the other GPUs are reported as a warning. With fewer "
        "places, the check reports the only NIC function of its model without an RDMA device, and NICs without one "
        "if every GPU has a NIC of their model on its switch, or each NUMA node as many of them as GPUs; a card "
        "without "
        "function 0; a Data Direct function "
        "without its ConnectX-8, or without a GPU on its root bus; a port of a switch with nothing below it, if "
        "other ports have a GPU and the numbers of GPUs are even only with one there; 7 or 15 GPUs (with the empty "
        "root port, if one equals those above the GPUs); fewer GPUs than compute NIC cards, if each socket has the "
        "same number of cards and at most one GPU fewer or another socket has a GPU for each; four or eight GPUs on "
        "one socket and fewer on the other, each on a switch with a NIC. A device is on the NUMA node of the bridge "
        "above it, and devices of one root bus are on one (not on the flat bus of a virtual machine); a root bus is on "
        "the node with which equal devices are evenly spread. The NUMA nodes have the same share of their CPUs online; "
        "a node without one that has a GPU or "
        "NIC is critical. GPUs that NVIDIA's driver has and the /sys of a container does not show are one finding: "
        "they are not missing. A GPU has a kernel driver if equal GPUs have one; GPUs for data centers must have one, "
        "other "
        "than nouveau, and so must any GPU on a card if no other GPU runs jobs and jobs need one ([expect] gpus, or a "
        "service such as slurmd on a machine with RDMA). All GPUs of a model that are bound to vfio-pci are a warning "
        "if jobs need one, and ok if another device is bound to vfio-pci, a virtual machine runs, most of the memory "
        "is reserved as pages of 1 GiB, or the kernel option vfio-pci.ids names them. A GPU of AMD is in the partition "
        "mode of the equal ones.",
    .inspect = "fabric-agentctl topo; lspci -tv; journalctl -k -g ADDRESS",
    .fix = "Power-cycle the node, reseat the missing device, check its power, or load its driver.",
    .ask = ask_symmetry,
};

constexpr Rule kTable[]{kSymmetry};
const std::span<const Rule> kSymmetryRules = kTable;

}  // namespace fabric
