// SPDX-License-Identifier: Apache-2.0
// inventory: the parts of the last good state, and the differences now.
#include <unistd.h>

#include "base/json.h"
#include "base/parse.h"
#include "ctl/machine.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/write_verbs.h"
#include "judge/inventory.h"
#include "node/inventory.h"
#include "topology/inventory.h"

namespace fabric::ctl {
namespace {

using Kind = InventoryChange::Kind;

std::string difference_text(const InventoryChange& change) {
  switch (change.kind) {
    case Kind::gone: return "gone";
    case Kind::added: return "not recorded";
    case Kind::replaced: return "model " + change.is;
    case Kind::driver: return "driver " + change.is;
    case Kind::rdma: return "RDMA " + change.is;
    case Kind::rate: return "rate " + change.is;
    case Kind::numa: return "NUMA node " + change.is;
    case Kind::link: return "link " + change.is;
    case Kind::moved: return "now " + change.is;
  }
  return {};
}

std::string state_of(const std::vector<InventoryChange>& changes, const std::string& pci) {
  std::string out;
  for (const InventoryChange& change : changes)
    if (change.pci == pci) append_item(out, difference_text(change));
  if (out.empty()) return "ok";
  return out;
}

Json parts_json(const Inventory& inventory, const std::vector<InventoryChange>& changes) {
  Json parts = Json::array(), added = Json::array();
  for (const InventoryPart& part : inventory.parts) {
    std::string kind = "nic";
    if (part.gpu) kind = "gpu";
    parts.push_back({{"kind", kind},
                     {"name", part.name},
                     {"pci", part.pci},
                     {"model", ids_text(part.vendor, part.device)},
                     {"numa", part.numa},
                     {"width", part.width},
                     {"rdma", part.rdma},
                     {"nics", part.nics},
                     {"state", state_of(changes, part.pci)}});
  }
  for (const InventoryChange& change : changes)
    if (change.kind == Kind::added) added.push_back(change.pci);
  return {{"taken", inventory.taken},
          {"accepted", inventory.accepted},
          {"odd", inventory.odd},
          {"parts", std::move(parts)},
          {"added", std::move(added)}};
}

int accept(const Node& node, const Machine& machine, const Options& options, Output& output) {
  if (auto host = must_be_host(options); !host) return fail(output, kFailure, "inventory: " + host.error().text());
  Node present = node;
  present.inventory.reset();
  Inventory now = inventory_of(present);
  now.accepted = true;
  now.odd = odd_parts(present);
  if (now.parts.empty()) return fail(output, kFailure, "inventory: no GPU and no NIC was found; nothing is recorded");
  now.taken = time_text(wall_now(machine.kernel));
  if (auto saved = save_inventory(options.root, now); !saved) {
    std::string why = "inventory: " + saved.error().text();
    if (::geteuid() != 0) why += "; requires root";
    return fail(output, kFailure, why);
  }
  if (options.json) {
    output.text += json_text(parts_json(now, {}));
    return kDone;
  }
  output.text += counted(now.parts.size(), "part") + " recorded.\n";
  for (const std::string& each : now.odd) output.text += each + ", accepted\n";
  if (!node.inventory) return kDone;
  for (const InventoryChange& change : changes_since(*node.inventory, node))
    output.text += part_text(change) + ": " + difference_text(change) + ", accepted\n";
  return kDone;
}

}  // namespace

int run_inventory(const Options& options, Output& output) {
  const auto& words = options.arguments;
  const bool accepts = words == std::vector<std::string>{"accept"};
  if (!words.empty() && !accepts) return fail(output, kUsage, "inventory: unexpected argument: " + words.back());
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, machine.error().text());
  ScanOptions what = ports_only();
  what.topology = what.platform = true;
  const Node node = scan(machine->kernel, what);
  if (accepts) return accept(node, *machine, options, output);
  if (!node.inventory_unread.empty()) return fail(output, kFailure, "inventory: " + node.inventory_unread);
  if (!node.inventory && options.root != options.host)
    return fail(output, kFailure,
                "inventory: " + options.root + " has no inventory: fabric-agentd of the captured machine records it");
  if (!node.inventory)
    return fail(output, kFailure,
                "inventory: no inventory is recorded: fabric-agentd records it 30 seconds after its start. To "
                "accept the present state: fabric-agentctl inventory accept");
  const Inventory& inventory = *node.inventory;
  const auto changes = changes_since(inventory, node);
  if (options.json) {
    output.text += json_text(parts_json(inventory, changes));
  } else {
    Table table({"PART", "PCI", "MODEL", "NUMA", "WIDTH", "RDMA OR NICS", "STATE"});
    for (const InventoryPart& part : inventory.parts) {
      std::string numa = "-", width = "-", devices = joined(part.rdma);
      if (part.numa) numa = std::to_string(*part.numa);
      if (part.width) width = "x" + std::to_string(*part.width);
      if (part.gpu) devices = joined(part.nics);
      table.add({part.name, part.pci, ids_text(part.vendor, part.device), numa, width, or_dash(devices),
                 state_of(changes, part.pci)});
    }
    for (const InventoryChange& change : changes)
      if (change.kind == Kind::added)
        table.add({change.name, change.pci, change.is, "-", "-", "-", difference_text(change)});
    output.text +=
        std::string(inventory.accepted ? "Accepted " : "Recorded ") + inventory.taken + "\n\n" + table.text(output);
    if (!inventory.odd.empty()) {
      output.text += std::string("\nOdd when it was ") + (inventory.accepted ? "accepted:\n" : "recorded:\n");
      for (const std::string& each : inventory.odd) output.text += "  " + each + "\n";
    }
  }
  if (!losses_since(node).empty() || has_farther_nics(node)) return kChanges;
  return kDone;
}

}  // namespace fabric::ctl
