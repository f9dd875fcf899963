// SPDX-License-Identifier: Apache-2.0
#include "node/pci_state.h"

#include "base/files.h"
#include "base/json.h"

namespace fabric {

static void to_json(Json& json, const PciSettings& settings) {
  json = {{"mrrs", settings.mrrs},
          {"max_payload", settings.max_payload},
          {"relaxed_ordering", settings.relaxed_ordering},
          {"ten_bit_tags", settings.ten_bit_tags},
          {"acs", settings.acs},
          {"unread", settings.unread}};
}

static void from_json(const Json& json, PciSettings& settings) {
  read_member(json, "mrrs", settings.mrrs);
  read_member(json, "max_payload", settings.max_payload);
  read_member(json, "relaxed_ordering", settings.relaxed_ordering);
  read_member(json, "ten_bit_tags", settings.ten_bit_tags);
  read_member(json, "acs", settings.acs);
  read_member(json, "unread", settings.unread);
}

static void from_json(const Json& json, PciState& state) {
  read_member(json, "updated", state.updated);
  read_member(json, "functions", state.functions);
}

namespace state {

std::string pci_state_text(const PciState& state) {
  return state_text({{"updated", state.updated}, {"functions", state.functions}});
}

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
