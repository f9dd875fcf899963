// SPDX-License-Identifier: Apache-2.0
// The recorded parts of a node: its GPUs and NICs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/find.h"

namespace fabric {

// A GPU or a physical NIC function.
struct InventoryPart {
  bool gpu = false;
  std::string pci, name;  // "0000:17:00.0"; "GPU3" or the NIC's name
  uint16_t vendor = 0, device = 0;
  std::optional<int> numa{};
  std::string root{};
  std::vector<std::string> bridges{};     // root and bridges as in PciDevice
  std::string guid{};                     // UUID of a GPU, GUID of a NIC's card; empty: unknown
  std::optional<unsigned> width{};        // of the PCIe link
  std::optional<double> speed{};          // GT/s; absent for a GPU, which lowers it when idle
  std::string driver{};                   // of a GPU: its kernel driver; empty: none, or unknown
  std::vector<std::string> rdma{};        // RDMA devices
  std::vector<std::string> up{};          // ports that had a link: "mlx5_0/1"
  std::map<std::string, double> rates{};  // of these, in bytes per second, by number of the port
  std::string direct{};                   // address of a NIC's Data Direct function
  bool compute = false;                   // a NIC for GPUs
  std::vector<std::string> nics{};        // for a GPU: the PCI addresses of the NICs that it was paired with
  bool operator==(const InventoryPart&) const = default;
};

// The parts of the node, as recorded.
struct Inventory {
  std::string taken{};  // RFC 3339
  // The operator has accepted it (`inventory accept`): the rules about parts report only differences from it.
  bool accepted = false;
  std::vector<std::string> odd{};  // the findings when it was recorded: "locality GPU2: SYS to mlx5_0"
  std::vector<InventoryPart> parts{};

  [[nodiscard]] const InventoryPart* find(std::string_view pci) const {
    return find_where(parts, [&](const InventoryPart& part) { return part.pci == pci; });
  }
};

}  // namespace fabric
