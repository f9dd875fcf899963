// SPDX-License-Identifier: Apache-2.0
#include "agentd/inventory.h"

#include "agentd/messages.h"
#include "judge/engine.h"
#include "judge/report.h"
#include "node/inventory.h"
#include "node/pci_state.h"
#include "node/scan.h"
#include "topology/inventory.h"

namespace fabric::agentd {

Result<std::string> record_inventory(Kernel& kernel, const std::string& directory) {
  ScanOptions what = ports_only();
  what.topology = what.platform = true;
  const Node node = scan(kernel, what);
  if (!node.inventory_unread.empty()) return std::string();
  Inventory now = inventory_of(node, node.inventory ? &*node.inventory : nullptr);
  if (now.parts.empty() || (node.inventory && now.parts == node.inventory->parts)) return std::string();
  static const std::vector<std::string> kChecks{"symmetry", "inventory", "pairing", "locality", "pcie"};
  const Report report = run_rules({.now = node, .no_policy = {}}, kChecks);
  if (count_findings(report, Status::warning) + count_findings(report, Status::critical) != 0) return std::string();
  now.taken = utc_now();
  if (auto saved = save_inventory(directory, now); !saved) return saved.error();
  const auto gpus = std::ranges::count(now.parts, true, &InventoryPart::gpu);
  return "inventory recorded: " + std::to_string(gpus) + " GPUs, " +
         std::to_string(static_cast<long>(now.parts.size()) - gpus) + " NIC functions";
}

}  // namespace fabric::agentd
