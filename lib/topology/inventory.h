// SPDX-License-Identifier: Apache-2.0
// The parts of the node now, and compared with the inventory.
#pragma once

#include "model/node.h"

namespace fabric {

// All GPUs and physical NIC functions. A port that was up in `before` stays so: a cable that is out is no other part.
Inventory inventory_of(const Node& node, const Inventory* before = nullptr);

struct InventoryChange {
  enum class Kind : uint8_t { gone, replaced, rdma, numa, link, moved, added } kind = Kind::gone;
  std::string pci, name;  // of the part, by the inventory; of an added one, its own
  std::string was, is;    // "x16 at 32 GT/s", "x8 at 32 GT/s"; of a moved one its addresses
  bool gpu = false;

  [[nodiscard]] bool is_loss() const { return kind != Kind::moved && kind != Kind::added; }
};

// Parts are moved if as many of their model are at new addresses as are missing at old ones: an added card or a
// firmware update renumbers the buses. Links of an idle GPU may be slower than they were, not narrower, unless lanes
// sleep.
std::vector<InventoryChange> changes_since(const Inventory& inventory, const Topology& now);

// Whether lanes of an idle GPU sleep: at 64 GT/s a link can do without some of them (L0p of PCI Express 6.0), and Rubin
// keeps two of sixteen.
bool lanes_sleep(const PcieLink& link);

// NICs of the inventory that are not on the bus, at whatever address.
std::vector<Nic> gone_nics(const Inventory& inventory, const Topology& now);

// Vendor and device: "15b3:1021".
std::string ids_text(uint16_t vendor, uint16_t device);
// "GPU3 (0000:5d:00.0)"
std::string part_text(const InventoryChange& change);

// What the kernel log has of a GPU's faults beside its address, to append to the pattern of journalctl -g: "|Xid" of
// NVIDIA, else the name of the vendor's driver; empty: another vendor.
std::string gpu_log_word(uint16_t vendor);

// The NIC of an unreported pair: the inventory pairs this GPU with a NIC that is gone or has lost its RDMA device.
bool has_lost_nic(const Node& node, const Gpu& gpu);

}  // namespace fabric
