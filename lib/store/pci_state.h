// SPDX-License-Identifier: Apache-2.0
// The inventory of the node, as fabric-agentd and `fabric-agentctl inventory accept` write it; and what
// fabric-agent-pci.service read of PCI configuration space.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "model/platform.h"

namespace fabric {

inline constexpr const char* kInventoryFile = "var/lib/fabric-agent/inventory.toml";

std::string inventory_toml(const Inventory& inventory);
// An Error has code EBADMSG, and the text says where it is wrong. A part without an address makes the file invalid.
Result<Inventory> parse_inventory(std::string_view text, const std::string& name);

// nullopt: no file.
Result<std::optional<Inventory>> load_inventory(const Root& root);
Result<void> save_inventory(const std::string& directory, const Inventory& inventory);

namespace state {

inline constexpr const char* kPciFile = "run/fabric-agent/pci.toml";

std::string pci_state_toml(const PciState& state);
Result<PciState> parse_pci_state(std::string_view text, const std::string& name);
// nullopt: no file, because the service has not run since boot.
Result<std::optional<PciState>> load_pci_state(const Root& root);
Result<void> save_pci_state(const std::string& directory, const PciState& state);

}  // namespace state
}  // namespace fabric
