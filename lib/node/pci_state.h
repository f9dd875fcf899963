// SPDX-License-Identifier: Apache-2.0
// The settings that fabric-agent-pci.service read from PCI configuration space.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "node/platform.h"

namespace fabric::state {

inline constexpr const char* kPciFile = "run/fabric-agent/pci.json";

std::string pci_state_text(const PciState& state);
Result<PciState> parse_pci_state(std::string_view text, const std::string& name);
// nullopt: no file, because the service has not run since boot.
Result<std::optional<PciState>> load_pci_state(const Root& root);
Result<void> save_pci_state(const std::string& directory, const PciState& state);

}  // namespace fabric::state
