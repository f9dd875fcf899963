// SPDX-License-Identifier: Apache-2.0
#include "node/pci_state.h"

#include "base/files.h"
#include "base/json.h"

namespace fabric {

FABRIC_JSON(PciSettings, mrrs, max_payload, relaxed_ordering, ten_bit_tags, acs, unread)
FABRIC_JSON(PciState, updated, functions)

namespace state {

std::string pci_state_text(const PciState& state) { return state_text(state); }

Result<PciState> parse_pci_state(std::string_view text, const std::string& name) {
  return read_state<PciState>(text, name);
}

Result<std::optional<PciState>> load_pci_state(const Root& root) {
  return parse_file(root.read_foreign(kPciFile), kPciFile, parse_pci_state);
}

Result<void> save_pci_state(const std::string& directory, const PciState& state) {
  return replace_file(directory, kPciFile, pci_state_text(state));
}

}  // namespace state
}  // namespace fabric
