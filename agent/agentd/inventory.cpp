// SPDX-License-Identifier: Apache-2.0
#include "agentd/inventory.h"

#include "agentd/messages.h"
#include "judge/inventory.h"
#include "node/inventory.h"
#include "node/scan.h"
#include "topology/inventory.h"

namespace fabric::agentd {

Result<std::string> record_inventory(Kernel& kernel, const std::string& directory) {
  ScanOptions what = ports_only();
  what.topology = what.platform = true;
  const Node node = scan(kernel, what);
  if (!node.inventory_unread.empty()) return std::string();
  if (!losses_since(node).empty() || has_farther_nics(node)) return std::string();  // the check `inventory` reports it
  Inventory now = inventory_of(node, node.inventory ? &*node.inventory : nullptr);
  if (now.parts.empty()) return std::string();
  if (!now.accepted) now.odd = odd_parts(node);
  if (node.inventory && now.parts == node.inventory->parts && now.odd == node.inventory->odd) return std::string();
  now.taken = utc_now();
  if (auto saved = save_inventory(directory, now); !saved) return saved.error();
  const auto gpus = static_cast<size_t>(std::ranges::count(now.parts, true, &InventoryPart::gpu));
  std::string line =
      "inventory recorded: " + counted(gpus, "GPU") + ", " + counted(now.parts.size() - gpus, "NIC function");
  if (!now.accepted && !now.odd.empty())
    line += "; odd: " + joined(now.odd, "; ") + " (if this is intended: fabric-agentctl inventory accept)";
  return line;
}

}  // namespace fabric::agentd
