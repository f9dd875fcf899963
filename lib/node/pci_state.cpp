// SPDX-License-Identifier: Apache-2.0
#include "node/pci_state.h"

#include "base/files.h"
#include "setting/record.h"

namespace fabric {
template <>
inline constexpr std::tuple kFields<PciSettings>{Field{"mrrs", &PciSettings::mrrs},
                                                 Field{"max_payload", &PciSettings::max_payload},
                                                 Field{"relaxed_ordering", &PciSettings::relaxed_ordering},
                                                 Field{"ten_bit_tags", &PciSettings::ten_bit_tags},
                                                 Field{"acs", &PciSettings::acs},
                                                 Field{"unread", &PciSettings::unread}};
template <>
inline constexpr std::tuple kFields<PciState>{Field{"updated", &PciState::updated},
                                              Field{"function", &PciState::functions}};

namespace state {

std::string pci_state_toml(const PciState& state) {
  return document_toml("# Written by fabric-agent-pci.service; see fabric-agentd(8). Do not edit.\n", state);
}

Result<PciState> parse_pci_state(std::string_view text, const std::string& name) {
  return parse_record<PciState>(text, name);
}

Result<std::optional<PciState>> load_pci_state(const Root& root) {
  return parse_file(root.read_foreign(kPciFile), kPciFile, parse_pci_state);
}

Result<void> save_pci_state(const std::string& directory, const PciState& state) {
  return replace_file(directory, kPciFile, pci_state_toml(state));
}

}  // namespace state
}  // namespace fabric
