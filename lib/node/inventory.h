// SPDX-License-Identifier: Apache-2.0
// The recorded parts of the node, and the changes since. fabric-agentd and `fabric-agentctl inventory accept` write the
// file.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "node/node.h"

namespace fabric {

// GPUs, then physical NIC functions.
std::vector<InventoryPart> inventory_parts(const Topology& topology);

struct InventoryChange {
  enum class Kind : uint8_t { gone, replaced, rdma, numa, link, moved, added } kind = Kind::gone;
  std::string pci, name;  // of the part as recorded; of an added part, its present ones
  std::string was, is;    // "x16 at 32 GT/s", "x8 at 32 GT/s"; for a moved part its addresses
  bool gpu = false;

  [[nodiscard]] bool is_loss() const { return kind != Kind::moved && kind != Kind::added; }
};

// Parts count as moved if the number of parts of their model at new addresses equals the number missing at old ones: an
// added card or a firmware update renumbers the buses. The link of an idle GPU may be slower than recorded; it may be
// narrower only if lanes sleep.
std::vector<InventoryChange> changes_since(const Inventory& inventory, const Topology& now);

// Whether lanes of an idle GPU sleep: at 64 GT/s a link can do without some of them (L0p of PCI Express 6.0), and Rubin
// keeps two of sixteen.
bool lanes_sleep(const PcieLink& link);

// NICs of the inventory that are not on the bus at any address.
std::vector<Nic> gone_nics(const Inventory& inventory, const Topology& now);

// Vendor and device: "15b3:1021".
std::string ids_text(uint16_t vendor, uint16_t device);
// "GPU3 (0000:5d:00.0)"
std::string part_text(const InventoryChange& change);

inline constexpr const char* kInventoryFile = "var/lib/fabric-agent/inventory.json";

std::string inventory_text(const Inventory& inventory);
// EBADMSG: the text is invalid; the message says where. A part without an address makes the file invalid.
Result<Inventory> parse_inventory(std::string_view text, const std::string& name);

// nullopt: no file.
Result<std::optional<Inventory>> load_inventory(const Root& root);
Result<void> save_inventory(const std::string& directory, const Inventory& inventory);

}  // namespace fabric
