// SPDX-License-Identifier: Apache-2.0
// inventory: the parts of the last good state, and the differences now.

#include "ctl/output/report_text.h"
#include "ctl/verbs/writer.h"
#include "node/inventory.h"
#include "node/pci_state.h"
#include "topology/inventory.h"

namespace fabric::ctl {
namespace {

using Kind = InventoryChange::Kind;

std::string change_text(const InventoryChange& change) {
  switch (change.kind) {
    case Kind::gone: return "gone";
    case Kind::added: return "not recorded";
    case Kind::replaced: return "model " + change.is;
    case Kind::rdma: return "RDMA " + change.is;
    case Kind::numa: return "NUMA node " + change.is;
    case Kind::link: return "link " + change.is;
    case Kind::moved: return "now " + change.is;
  }
  return {};
}

std::string state_of(const std::vector<InventoryChange>& changes, const std::string& pci) {
  std::string out;
  for (const InventoryChange& change : changes)
    if (change.pci == pci) append_item(out, change_text(change));
  return out.empty() ? "ok" : out;
}

std::string parts_text(const Inventory& inventory, const std::vector<InventoryChange>& changes, const Output& output) {
  Table table({"PART", "PCI", "MODEL", "NUMA", "WIDTH", "RDMA OR NICS", "STATE"});
  for (const InventoryPart& part : inventory.parts)
    table.add({part.name, part.pci, ids_text(part.vendor, part.device), part.numa ? std::to_string(*part.numa) : "-",
               part.width ? "x" + std::to_string(*part.width) : "-", or_dash(joined(part.gpu ? part.nics : part.rdma)),
               state_of(changes, part.pci)});
  for (const InventoryChange& change : changes)
    if (change.kind == Kind::added) table.add({change.name, change.pci, change.is, "-", "-", "-", change_text(change)});
  return "Recorded " + inventory.taken + "\n\n" + table.text(output);
}

Json parts_json(const Inventory& inventory, const std::vector<InventoryChange>& changes) {
  Json parts = Json::array(), added = Json::array();
  for (const InventoryPart& part : inventory.parts)
    parts.push_back({{"kind", part.gpu ? "gpu" : "nic"},
                     {"name", part.name},
                     {"pci", part.pci},
                     {"model", ids_text(part.vendor, part.device)},
                     {"numa", part.numa},
                     {"width", part.width},
                     {"rdma", part.rdma},
                     {"nics", part.nics},
                     {"state", state_of(changes, part.pci)}});
  for (const InventoryChange& change : changes)
    if (change.kind == Kind::added) added.push_back(change.pci);
  return {{"taken", inventory.taken}, {"parts", std::move(parts)}, {"added", std::move(added)}};
}

int show(const Node& node, const Options& options, Output& output) {
  if (!node.inventory_unread.empty()) return fail(output, kFailure, "inventory: " + node.inventory_unread);
  if (!node.inventory)
    return fail(output, kFailure,
                "inventory: none is recorded: fabric-agentd records it while no part is missing, or record the "
                "present state: fabric-agentctl inventory accept");
  const auto changes = changes_since(*node.inventory, node.topology);
  output.text +=
      options.json ? json_text(parts_json(*node.inventory, changes)) : parts_text(*node.inventory, changes, output);
  return std::ranges::any_of(changes, &InventoryChange::is_loss) ? kChanges : kDone;
}

int accept(const Node& node, World& world, const Options& options, Output& output) {
  if (auto host = must_be_host(options); !host) return fail(output, kFailure, "inventory: " + host.error().text());
  Inventory now = inventory_of(node);
  if (now.parts.empty()) return fail(output, kFailure, "inventory: no GPU and no NIC was found; nothing is recorded");
  now.taken = time_text(wall_now(world.kernel));
  if (auto saved = save_inventory(options.root, now); !saved)
    return fail(output, kFailure, "inventory: " + saved.error().text() + (::geteuid() == 0 ? "" : "; requires root"));
  if (options.json) {
    output.text += json_text(parts_json(now, {}));
    return kDone;
  }
  output.text += std::to_string(now.parts.size()) + " parts recorded.\n";
  if (!node.inventory) return kDone;
  for (const InventoryChange& change : changes_since(*node.inventory, node.topology))
    output.text += part_text(change) + ": " + change_text(change) + ", accepted\n";
  return kDone;
}

}  // namespace

std::string inventory_line(const Node& node) {
  if (!node.inventory_unread.empty()) return "Inventory: not readable: " + node.inventory_unread + "\n";
  if (!node.inventory) return {};
  const auto losses = std::ranges::count_if(changes_since(*node.inventory, node.topology), &InventoryChange::is_loss);
  return "Inventory: " + std::to_string(node.inventory->parts.size()) + " parts as of " + node.inventory->taken + "; " +
         (losses == 0 ? "none is missing" : std::to_string(losses) + " gone or changed: fabric-agentctl inventory") +
         ".\n";
}

Json inventory_json(const Node& node) {
  if (!node.inventory) return {};
  return {{"taken", node.inventory->taken},
          {"parts", node.inventory->parts.size()},
          {"missing", std::ranges::count_if(changes_since(*node.inventory, node.topology), &InventoryChange::is_loss)}};
}

int run_inventory(const Options& options, Output& output) {
  const auto& words = options.arguments;
  if (words.size() > 1 || (words.size() == 1 && words[0] != "accept"))
    return fail(output, kUsage, "inventory: unexpected argument: " + words.back());
  auto world = open_world(options);
  if (!world) return fail(output, kFailure, world.error().text());
  ScanOptions what = ports_only();
  what.topology = what.platform = true;
  const Node node = scan(world->kernel, what);
  return words.empty() ? show(node, options, output) : accept(node, *world, options, output);
}

}  // namespace fabric::ctl
