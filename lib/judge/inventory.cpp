// SPDX-License-Identifier: Apache-2.0
// The inventory: the parts of the machine when it was recorded, and those that it has lost since.
#include "judge/inventory.h"

#include "judge/engine.h"
#include "judge/gpu.h"
#include "judge/platform_view.h"
#include "judge/topology.h"
#include "nic/capabilities.h"
#include "node/gpu.h"

namespace fabric {

Fix fix_of_flash_recovery(const std::string& pci) {
  return {
      "mstflint -d " + pci + " query. ",
      {Work::in_machine,
       "Write the firmware of its board (the PSID is that of an equal card: mstflint -d ADDRESS query), which keeps "
       "its GUIDs: mstflint -d " +
           pci +
           " -i FILE burn. Then power-cycle the node. If it is in flash recovery again, or the flash cannot be "
           "written, replace the card."}};
}

Fix fix_of_missing(const Topology& topology, const std::string& pci, const std::string& journal) {
  if (contains(topology.in_recovery, pci, &PciDevice::pci)) return fix_of_flash_recovery(pci);
  const auto is_efa = [](const Nic& nic) { return nic.vendor == kAmazon && carries_rdma(nic); };
  if (!pci.empty() && topology.is_guest() && std::ranges::any_of(topology.nics, is_efa))
    return {
        "An instance has the EFA interfaces that it was launched with: compare its network cards with those of the "
        "instance type (aws ec2 describe-instances, NetworkCardIndex). ",
        {Work::ends_jobs,
         "If one has none, stop the instance, attach an EFA interface to that network card, and start it; correct "
         "its launch template. "},
        "If all have one: " + journal + "; then report it to AWS."};
  const auto is_beside = [&](const PciDevice& device) {
    return !pci.empty() && device.pci != pci && card_of(device.pci) == card_of(pci);
  };
  const Nic* nic = find_where(topology.nics, is_beside);
  if (nic == nullptr)
    return {journal + "; ",
            {Work::in_machine, "then power-cycle the node, check the power of the device, and reseat it."}};
  std::string show;
  if (const RdmaModules* modules = rdma_modules_of({}, nic->vendor, nic->device))
    show = capabilities_of(modules->function).firmware_settings;
  replace_all(show, "{pci}", nic->pci);
  if (!show.empty()) show = " (" + show + ")";
  return {journal + "; then rescan the bus: echo 1 > /sys/bus/pci/rescan. ",
          {Work::at_machine,
           "If it stays away, " + nic->pci +
               " lives, so the slot is in order: compare the firmware settings that decide how many functions and "
               "ports the card has" +
               show + " with those of an equal card."}};
}

namespace {

// The rules about parts.
const std::string kPartRules[]{"symmetry", "pairing", "locality", "pcie", "rate"};

// Puts a part that is in another slot now where the inventory has it.
void restore_place(PciDevice& device, const Built& built) {
  const PciDevice* place = find_in(built.moved, device.pci);
  if (place == nullptr) return;
  device.root = place->root;
  device.bridges = place->bridges;
  if (place->numa) device.numa = device.numa_above = place->numa;
}

// The machine as it was when its inventory was accepted. It has no inventory, so that the rules report the same
// findings as then.
Node as_recorded(const View& view) {
  const Inventory& inventory = *view.now.inventory;
  const auto built = built_of(view);
  Node out{.hostname = view.now.hostname, .topology = built->topology, .ports = view.now.ports};
  out.platform = view.now.platform;
  const auto restore_link = [&](PciDevice& device) {
    const InventoryPart* part = built->record_of(inventory, device.pci);
    if (part == nullptr) return;
    if (part->width) device.link.width = part->width;
    if (part->speed) device.link.speed = part->speed;
  };
  for (Gpu& gpu : out.topology.gpus) {
    restore_link(gpu);
    restore_place(gpu, *built);
    const InventoryPart* part = built->record_of(inventory, gpu.pci);
    if (auto* function = find_in(out.platform.functions, gpu.pci); function != nullptr && part != nullptr)
      function->kernel_driver = part->driver;
  }
  for (Nic& nic : out.topology.nics) {
    restore_link(nic);
    restore_place(nic, *built);
  }
  for (Port& port : out.ports) {
    const InventoryPart* part = built->record_of(inventory, port.pci);
    if (part == nullptr) continue;
    // Without a recorded rate nothing was accepted about it.
    const double* rate = find_in(part->rates, std::to_string(port.number));
    if (rate != nullptr) port.rate = *rate;
    else port.rate.reset();
  }
  return out;
}

}  // namespace

Findings accepted_findings(const View& view) {
  if (!view.now.inventory || !view.now.inventory->accepted) return {};
  const Node then = as_recorded(view);
  Findings out = run_rules({.now = then, .policy = view.policy, .no_policy = {}}, kPartRules).findings;
  std::erase_if(out, [&](const Finding& each) {
    // The inventory has no links between bridges: their oddities at that time are accepted word by word.
    const bool is_bridge = then.platform.functions.contains(each.subject) &&
                           !contains(then.topology.gpus, each.subject, &Gpu::name) &&
                           !contains(then.topology.nics, each.subject, &Nic::name);
    return !is_fault(each.status) || (is_bridge && !contains(view.now.inventory->odd, fault_text(each)));
  });
  return out;
}

std::vector<std::string> odd_parts(const Node& node) {
  std::vector<std::string> out;
  for (const Finding& each : run_rules({.now = node, .no_policy = {}}, kPartRules).findings)
    if (is_fault(each.status)) out.push_back(fault_text(each));
  return out;
}

namespace {

using Kind = InventoryChange::Kind;

struct Words {
  Kind kind;
  const char *what, *meaning;
  FixRow fix;  // before the command that shows the log
};
constexpr Words kWords[]{
    {Kind::replaced, "model ", "Another device is in this place.", "lspci -nn; "},
    {Kind::driver, "kernel driver ", "The GPU has no kernel driver for jobs any more: no job can use it.",
     "lspci -k; modprobe the driver; "},
    {Kind::rdma,
     "RDMA devices ",
     "An RDMA device of this NIC is gone: its driver is not loaded or failed, or the device is in a container.",
     {"rdma link show; rdma system show; ", {Work::ends_jobs, "then reload the RDMA driver; "}}},
    {Kind::rate,
     "",
     "The link is slower than recorded. Every collective runs at the speed of its slowest link.",
     {{Work::ends_jobs, "Configure the same speed and FEC as on the switch port; "},
      {Work::at_link, "replace a cable or transceiver that brings up fewer lanes; "}}},
    {Kind::numa, "NUMA node ",
     "The firmware reports another NUMA node (-1: none) for this root bus: jobs are bound to the wrong CPUs and "
     "memory.",
     "Compare the firmware's version and settings (SNC, NPS) with those of equal nodes; "},
    {Kind::link,
     "PCIe link ",
     "The PCIe link trained lower than before.",
     {Work::in_machine,
      "Reseat the device or its riser, and check lanes and speed of the slot in the firmware setup; "}}};

// `parts`: the changed part, or all of one root bus with the same change.
Finding inventory_finding(const std::vector<InventoryChange>& parts, const Inventory& inventory,
                          const Topology& topology) {
  const std::string& taken = inventory.taken;
  const InventoryChange& change = parts.front();
  std::string pattern = change.present.empty() ? change.pci : change.present;
  std::string subject = pattern;
  if (change.gpu)
    if (const InventoryPart* old = inventory.find(change.pci); old != nullptr) pattern += gpu_log_word(old->vendor);
  const std::string journal = "journalctl -k -g '" + pattern + "'",
                    accept = "If this is intended: fabric-agentctl inventory accept";
  const std::string part = joined(parts, ", ", [](const InventoryChange& each) { return part_text(each); });
  if (change.kind == Kind::gone) {
    Fix fix = fix_of_missing(topology, change.gpu ? "" : change.pci, journal);
    fix.steps.back().text += " ";
    fix += accept;
    return bad(Status::critical, change.pci, "gone: " + part, change.was + ", as of " + taken,
               std::string(change.gpu ? "The GPU " : "The NIC ") + part +
                   " is no longer on the PCI bus: it failed, lost power, or did not come up at boot.",
               std::move(fix));
  }
  if (parts.size() > 1) subject = change.root;
  const Words& words = *find_where(kWords, [&](const Words& each) { return each.kind == change.kind; });
  Fix fix = words.fix;
  if (change.kind == Kind::driver && change.is != "none") {
    fix = fix_of_other_driver(change.present, change.is, change.was);
    fix.steps.back().text += " ";
  }
  fix += journal + ". " + accept;
  // A NIC without any RDMA device is lost for the GPU that it was paired with, as if it were gone.
  const bool serves_gpu = change.kind == Kind::rdma && change.is == "none" &&
                          std::ranges::any_of(inventory.parts, [&](const InventoryPart& each) {
                            return each.gpu && contains(each.nics, change.pci);
                          });
  const bool is_lost = change.kind == Kind::driver || serves_gpu;
  return bad(is_lost ? Status::critical : Status::warning, subject, words.what + change.is + ": " + part,
             words.what + change.was + ", as of " + taken, words.meaning, std::move(fix));
}

// The port of a change of rate, or nullptr.
const Port* port_of(const Node& node, const InventoryChange& change) {
  return find_where(node.ports, [&](const Port& port) {
    return port.pci == change.present && port.number == change.port && is_judged(port);
  });
}

// A NIC that is farther from its GPU than recorded, because one of the two is in another slot.
struct FartherNic {
  const Gpu* gpu;
  const Nic* nic;
  PathClass was, is;
  std::string part, slot;  // that was moved, and its recorded address
};

std::vector<FartherNic> farther_nics(const View& view) {
  const auto built = built_of(view);
  std::vector<FartherNic> out;
  if (built->moved.empty()) return out;
  const Inventory& inventory = *view.now.inventory;
  for (const Gpu& gpu : view.now.topology.gpus)
    for (const Nic& nic : view.now.topology.nics) {
      const bool has_gpu_moved = built->moved.contains(gpu.pci), has_nic_moved = built->moved.contains(nic.pci);
      const InventoryPart *own = built->record_of(inventory, gpu.pci), *other = built->record_of(inventory, nic.pci);
      if ((!has_gpu_moved && !has_nic_moved) || own == nullptr || other == nullptr || !contains(own->nics, other->pci))
        continue;
      Gpu gpu_then = gpu;
      Nic nic_then = nic;
      restore_place(gpu_then, *built);
      restore_place(nic_then, *built);
      const auto was = path_class(gpu_then, nic_then), is = path_class(gpu, nic);
      if (!was || !is || *is <= *was) continue;
      FartherNic each{&gpu, &nic, *was, *is, {}, {}};
      // If the root buses were renumbered, too, it is not known which of the two was moved.
      if (has_gpu_moved) each.part = gpu.name, each.slot = own->pci;
      if (has_nic_moved) append_item(each.part, name_and_address(nic), " or "), append_item(each.slot, other->pci);
      out.push_back(std::move(each));
    }
  return out;
}

// The NUMA node of a part in another slot is that of the slot, and no loss.
std::vector<InventoryChange> losses_of(const View& view) {
  const auto built = built_of(view);
  auto out = changes_since(*view.now.inventory, view.now);
  std::erase_if(out, [&](const InventoryChange& each) {
    return !each.is_loss() || (each.kind == Kind::numa && built->moved.contains(each.present));
  });
  return out;
}

// The findings of the rule that are not ok and that the inventory does not have.
Findings faults_of(const View& view, const std::string& rule, const Findings& accepted) {
  Findings out;
  find_rule(rule)->ask(view, out);
  for (Finding& each : out) each.id = rule;
  std::erase_if(out, [&](const Finding& each) { return each.status == Status::ok || is_among(accepted, each); });
  return out;
}

// `locality` reports those of a GPU whose equals have theirs nearer.
void add_farther_nics(const View& view, const Findings& accepted, Findings& found) {
  const auto nics = farther_nics(view);
  if (nics.empty()) return;
  const Findings far = faults_of(view, "locality", accepted);
  for (const FartherNic& each : nics) {
    if (contains(far, each.gpu->name, &Finding::subject)) continue;
    found.push_back(bad(Status::warning, each.nic->name, std::string(to_text(each.is)) + " to " + each.gpu->name,
                        std::string(to_text(each.was)) + ", as of " + view.now.inventory->taken,
                        each.part + " is in another slot than recorded (" + each.slot +
                            "): the path between the GPU and its NIC is longer, and GPUDirect RDMA slower or not used.",
                        {{Work::in_machine, "Move the card back to its slot. "},
                         "If this is intended: fabric-agentctl inventory accept"}));
  }
}

void ask_inventory(const View& view, Findings& findings) {
  const Node& node = view.now;
  if (!node.inventory_unread.empty()) {
    Fix fix = "fabric-agentctl inventory accept";
    if (node.inventory_is_newer) fix = "Use the programs of the release that wrote the file: it stays as it is.";
    return findings.push_back(
        bad(Status::warning, "node", "unreadable", "an inventory of the last good state",
            "The inventory cannot be read, so missing parts are found by symmetry only: " + node.inventory_unread + ".",
            std::move(fix)));
  }
  if (!node.inventory || (node.topology.gpus.empty() && node.topology.nics.empty())) return;
  const Inventory& inventory = *node.inventory;
  const Findings accepted = accepted_findings(view);
  // These rules compare equal devices.
  const Findings slow_slots = faults_of(view, "pcie", accepted), slow_links = faults_of(view, "rate", accepted);
  Findings found;
  const auto losses = losses_of(view);
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<InventoryChange>> nodes;  // by root bus
  for (const InventoryChange& change : losses)
    if (change.kind == Kind::numa) nodes[{change.root, change.was, change.is}].push_back(change);
  for (const InventoryChange& change : losses) {
    std::string subject = change.name;
    const Port* port = change.kind == Kind::rate ? port_of(node, change) : nullptr;
    if (port != nullptr) subject = port->id();
    if (change.kind == Kind::link) {
      if (const Nic* nic = nic_at(node.topology, change.present); nic != nullptr) subject = nic->name;
      if (const Gpu* gpu = gpu_at(node.topology, change.present); gpu != nullptr) subject = gpu->name;
    }
    if (contains(slow_slots, subject, &Finding::subject) || contains(slow_links, subject, &Finding::subject)) continue;
    if (change.kind == Kind::rdma && is_given_away(node, change.present)) continue;  // until the guest gives it back
    std::vector<InventoryChange> parts{change};
    if (change.kind == Kind::numa) {
      auto& all = nodes[{change.root, change.was, change.is}];
      if (all.empty()) continue;  // reported with another part of the root
      parts = std::exchange(all, {});
    }
    Finding finding = inventory_finding(parts, inventory, view.now.topology);
    if (port != nullptr) finding.subject = port->id();
    if (!contains(found, finding.subject, &Finding::subject)) found.push_back(std::move(finding));
  }
  add_farther_nics(view, accepted, found);
  if (found.empty()) {
    std::string observed = "no part is missing";
    const auto renumbered = std::ranges::count(changes_since(inventory, node), Kind::moved, &InventoryChange::kind);
    if (renumbered > 0) observed += "; " + std::to_string(renumbered) + " at other PCI addresses";
    found.push_back(good("node", std::move(observed), "as of " + inventory.taken));
  }
  findings.insert(findings.end(), found.begin(), found.end());
}

}  // namespace

std::vector<InventoryChange> losses_since(const Node& node) {
  if (!node.inventory) return {};
  return losses_of({.now = node, .no_policy = {}});
}

bool has_farther_nics(const Node& node) { return !farther_nics({.now = node, .no_policy = {}}).empty(); }

constexpr Rule kInventory{
    .id = "inventory",
    .group = group::topology,
    .title = "A GPU, NIC or RDMA device is missing since the last good state",
    .meaning =
        "Compares GPUs and their drivers, NIC functions, RDMA devices, port rates, NUMA nodes, PCIe links and the "
        "paths "
        "between GPUs and their NICs with the inventory that fabric-agentd records while no recorded part is missing. "
        "Missing and degraded parts are "
        "reported with their slot. Parts at other PCI addresses are not missing: an added card or a firmware update "
        "renumbers the buses, and a part is known by its place below the root bus, its UUID or GUID. After "
        "fabric-agentctl inventory accept, what the checks symmetry, pairing, locality, pcie and rate found then is "
        "intended.",
    .inspect = "fabric-agentctl inventory; lspci -nn; journalctl -k -g ADDRESS",
    .fix =
        "Power-cycle the node, or reseat the missing device. After an intended change: fabric-agentctl inventory "
        "accept",
    .ask = ask_inventory,
};

constexpr Rule kTable[]{kInventory};
const std::span<const Rule> kInventoryRules = kTable;

}  // namespace fabric
