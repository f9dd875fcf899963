// SPDX-License-Identifier: Apache-2.0
#include "topology/inventory.h"

#include "checks/check.h"
#include "model/finding.h"

namespace fabric {

namespace {

using Kind = InventoryChange::Kind;

constexpr std::string_view kAccept = "If this is intended: fabric-agentctl inventory accept";

std::string journal(const InventoryChange& change) {
  return "journalctl -k -g '" + change.pci + (change.gpu ? "|Xid'" : "'");
}

Finding gone(const InventoryChange& change, const std::string& taken) {
  const std::string kind = change.gpu ? "GPU" : "NIC";
  return bad(Status::critical, change.pci, "gone: " + part_text(change), change.was + ", as of " + taken,
             "The " + kind + " " + part_text(change) +
                 " is no longer on the PCI bus: it failed, lost power, or did not come up at boot.",
             journal(change) + "; then power the node off and on, check the power of the device, and reseat it. " +
                 std::string(kAccept));
}

struct Words {
  Status status;
  std::string_view what, meaning, remedy;
};

Words words_of(Kind kind) {
  switch (kind) {
    case Kind::replaced: return {Status::warning, "model ", "Another device is in this place.", "lspci -nn"};
    case Kind::rdma:
      return {
          Status::warning, "RDMA devices ",
          "An RDMA device of this NIC is gone: its driver is not loaded or failed, or the device is in a container.",
          "rdma link show; rdma system show; then reload the RDMA driver"};
    case Kind::numa:
      return {Status::warning, "NUMA node ",
              "The firmware reports another NUMA node: jobs are bound to the wrong CPUs and memory.",
              "Compare the firmware's version and settings (SNC, NPS) with those of equal nodes"};
    default:
      return {Status::warning, "PCIe link ", "The PCIe link trained lower than before.",
              "Reseat the device or its riser, and check lanes and speed of the slot in the firmware setup"};
  }
}

Finding changed(const InventoryChange& change, const std::string& taken) {
  const Words words = words_of(change.kind);
  return bad(words.status, change.pci, std::string(words.what) + change.is + ": " + part_text(change),
             std::string(words.what) + change.was + ", as of " + taken, std::string(words.meaning),
             std::string(words.remedy) + "; " + journal(change) + ". " + std::string(kAccept));
}

// `pcie` reports a narrow link by its equals.
std::vector<std::string> reported_links(const View& view) {
  Findings findings;
  std::vector<std::string> out;
  find_check("pcie")->ask(view, findings);
  for (const Finding& each : findings)
    if (each.status != Status::ok) out.push_back(each.subject);
  return out;
}

void ask(const View& view, Findings& findings) {
  const Node& node = view.now;
  if (!node.inventory_unread.empty())
    return findings.push_back(
        bad(Status::warning, "node", "unreadable", "an inventory of the last good state",
            "The inventory cannot be read, so missing parts are found by symmetry only: " + node.inventory_unread + ".",
            "fabric-agentctl inventory accept"));
  if (!node.inventory || (node.topology.gpus.empty() && node.topology.nics.empty())) return;
  std::vector<Finding> found;
  const auto links = reported_links(view);
  for (const InventoryChange& change : changes_since(*node.inventory, node.topology)) {
    if (change.kind == Kind::added || (change.kind == Kind::link && contains(links, change.name))) continue;
    Finding finding =
        change.kind == Kind::gone ? gone(change, node.inventory->taken) : changed(change, node.inventory->taken);
    if (!contains(found, finding.subject, &Finding::subject)) found.push_back(std::move(finding));
  }
  if (found.empty()) found.push_back(good("node", "no part is missing", "as of " + node.inventory->taken));
  findings.insert(findings.end(), found.begin(), found.end());
}

}  // namespace

extern const Check kInventoryCheck{
    .id = "inventory",
    .group = group::topology,
    .title = "A GPU, NIC or RDMA device is missing since the last good state",
    .meaning =
        "Compares GPUs, NIC functions, RDMA devices, NUMA nodes and PCIe links with the inventory that fabric-agentd "
        "records while no part is missing. What is gone or less than it was is named by its place. With an inventory, "
        "the check symmetry reports nothing.",
    .inspect = "fabric-agentctl inventory; lspci -nn; journalctl -k -g ADDRESS",
    .fix =
        "Power the node off and on, or reseat the missing device. After an intended change: fabric-agentctl "
        "inventory accept",
    .ask = ask,
};

}  // namespace fabric
