// SPDX-License-Identifier: Apache-2.0
#include "topology/inventory.h"

#include "checks/check.h"
#include "judge/platform_view.h"

namespace fabric {
namespace {

using Kind = InventoryChange::Kind;

struct Words {
  Kind kind;
  const char *what, *meaning, *remedy;
};
constexpr Words kWords[]{
    {Kind::replaced, "model ", "Another device is in this place.", "lspci -nn"},
    {Kind::rdma, "RDMA devices ",
     "An RDMA device of this NIC is gone: its driver is not loaded or failed, or the device is in a container.",
     "rdma link show; rdma system show; then reload the RDMA driver"},
    {Kind::numa, "NUMA node ", "The firmware reports another NUMA node: jobs are bound to the wrong CPUs and memory.",
     "Compare the firmware's version and settings (SNC, NPS) with those of equal nodes"},
    {Kind::link, "PCIe link ", "The PCIe link trained lower than before.",
     "Reseat the device or its riser, and check lanes and speed of the slot in the firmware setup"}};

Finding finding_for(const InventoryChange& change, const Inventory& inventory) {
  const std::string& taken = inventory.taken;
  const InventoryPart* old = inventory.find(change.pci);
  const std::string journal = "journalctl -k -g '" + change.pci +
                              (change.gpu && old != nullptr ? gpu_log_word(old->vendor) : "") + "'",
                    part = part_text(change), accept = "If this is intended: fabric-agentctl inventory accept";
  if (change.kind == Kind::gone)
    return bad(Status::critical, change.pci, "gone: " + part, change.was + ", as of " + taken,
               std::string(change.gpu ? "The GPU " : "The NIC ") + part +
                   " is no longer on the PCI bus: it failed, lost power, or did not come up at boot.",
               journal + "; then power the node off and on, check the power of the device, and reseat it. " + accept);
  const Words& words = *find_where(kWords, [&](const Words& each) { return each.kind == change.kind; });
  return bad(Status::warning, change.pci, words.what + change.is + ": " + part,
             words.what + change.was + ", as of " + taken, words.meaning,
             std::string(words.remedy) + "; " + journal + ". " + accept);
}

void ask(const View& view, Findings& findings) {
  const Node& node = view.now;
  if (!node.inventory_unread.empty())
    return findings.push_back(
        bad(Status::warning, "node", "unreadable", "an inventory of the last good state",
            "The inventory cannot be read, so missing parts are found by symmetry only: " + node.inventory_unread + ".",
            "fabric-agentctl inventory accept"));
  if (!node.inventory || (node.topology.gpus.empty() && node.topology.nics.empty())) return;
  Findings found, links;
  find_check("pcie")->ask(view, links);  // reports a narrow link by its equals
  std::erase_if(links, [](const Finding& each) { return each.status == Status::ok; });
  const auto changes = changes_since(*node.inventory, node.topology);
  for (const InventoryChange& change : changes) {
    const bool is_reported = change.kind == Kind::link && contains(links, change.name, &Finding::subject);
    if (change.kind == Kind::rdma && is_given_away(node, change.pci)) continue;  // until the guest gives it back
    if (change.is_loss() && !is_reported && !contains(found, change.pci, &Finding::subject))
      found.push_back(finding_for(change, *node.inventory));
  }
  const auto moved = std::ranges::count(changes, Kind::moved, &InventoryChange::kind);
  if (found.empty())
    found.push_back(good(
        "node",
        "no part is missing" + (moved == 0 ? std::string() : "; " + std::to_string(moved) + " at other PCI addresses"),
        "as of " + node.inventory->taken));
  findings.insert(findings.end(), found.begin(), found.end());
}

}  // namespace

extern const Check kInventoryCheck{
    .id = "inventory",
    .group = group::topology,
    .title = "A GPU, NIC or RDMA device is missing since the last good state",
    .meaning =
        "Compares GPUs, NIC functions, RDMA devices, NUMA nodes and PCIe links with the inventory that fabric-agentd "
        "records while no part is missing. Missing and degraded parts are reported with their slot. With an inventory, "
        "the check symmetry reports nothing. Parts at other PCI addresses are not missing: an added card or a firmware "
        "update renumbers the buses.",
    .inspect = "fabric-agentctl inventory; lspci -nn; journalctl -k -g ADDRESS",
    .fix =
        "Power the node off and on, or reseat the missing device. After an intended change: fabric-agentctl inventory "
        "accept",
    .ask = ask,
};

}  // namespace fabric
