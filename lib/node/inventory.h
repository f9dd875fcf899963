// SPDX-License-Identifier: Apache-2.0
// The recorded parts of the node, and the changes since. fabric-agentd and `fabric-agentctl inventory accept` write the
// file.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "node/node.h"

namespace fabric {

// GPUs, then physical NIC functions; without what only ports and drivers show (topology/inventory.h adds it).
std::vector<InventoryPart> inventory_parts(const Topology& topology);

// The recorded parts that are present, as index into inventory.parts -> index into inventory_parts(now). A part is
// known by its place (the root bus and the device and function numbers of the bridges below it, which a renumbering of
// the buses does not change), then by UUID or GUID. Parts of one model that are left, because root buses were
// renumbered or parts were moved, are matched in PCI order, those at the same place below another root bus first.
std::map<size_t, size_t> match_parts(const Inventory& inventory, const std::vector<InventoryPart>& now);

// The way from the root bus to the part, "01.0/00.0/02.0/00.0": device and function numbers do not change when buses
// are renumbered.
std::string way_to(const InventoryPart& part);

struct InventoryChange {
  enum class Kind : uint8_t { gone, replaced, driver, rdma, rate, numa, link, moved, added } kind = Kind::gone;
  std::string pci, name;  // of the part as recorded; of an added part, its present ones
  std::string was, is;    // "x16 at 32 GT/s", "x8 at 32 GT/s"; for a moved part its addresses
  bool gpu = false;
  std::string present{};  // the part's present address; empty: gone
  std::string root{};     // its root bus as recorded
  unsigned port = 0;      // for Kind::rate: its number

  [[nodiscard]] bool is_loss() const { return kind != Kind::moved && kind != Kind::added; }
};

// The link of an idle GPU may be slower than recorded; it may be narrower only if lanes sleep. A driver of guests
// (vfio-pci) in place of the recorded one is no change.
std::vector<InventoryChange> changes_since(const Inventory& inventory, const Node& now);

// Whether lanes of an idle GPU sleep: at 64 GT/s a link can do without some of them (L0p of PCI Express 6.0), and Rubin
// keeps two of sixteen.
bool lanes_sleep(const PcieLink& link);

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
