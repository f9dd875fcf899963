// SPDX-License-Identifier: Apache-2.0
// The inventory of the node, as fabric-agentd and `fabric-agentctl inventory accept` write it.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "model/inventory.h"

namespace fabric {

inline constexpr const char* kInventoryFile = "var/lib/fabric-agent/inventory.toml";

std::string inventory_toml(const Inventory& inventory);
// An Error has code EBADMSG, and the text says where it is wrong. A part without an address makes the file invalid.
Result<Inventory> parse_inventory(std::string_view text, const std::string& name);

// nullopt: no file.
Result<std::optional<Inventory>> load_inventory(const Root& root);
Result<void> save_inventory(const std::string& directory, const Inventory& inventory);

}  // namespace fabric
