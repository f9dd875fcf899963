// SPDX-License-Identifier: Apache-2.0
// Any bytes as the agent's own files: no crash; the result of a reading is written in a form that reads back the same.
#include <cstdlib>

#include "enforce/confirm.h"
#include "fuzzer.h"
#include "node/inventory.h"
#include "node/pci_state.h"
#include "node/state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fabric::text_of(data, size);
  if (auto originals = fabric::state::parse_originals(text, "fuzz.json")) {
    auto again = fabric::state::parse_originals(fabric::state::originals_text(*originals), "written.json");
    if (!again || *again != *originals) std::abort();
  }
  if (auto state = fabric::state::parse_agent_state(text, "fuzz.json")) {
    auto again = fabric::state::parse_agent_state(fabric::state::agent_state_text(*state), "written.json");
    if (!again || again->ports != state->ports) std::abort();
  }
  if (auto record = fabric::confirm::parse(text, "fuzz.json")) {
    auto again = fabric::confirm::parse(fabric::confirm::record_text(*record), "written.json");
    if (!again || again->before != record->before || again->sysctl != record->sysctl ||
        again->deadline != record->deadline)
      std::abort();
  }
  if (auto inventory = fabric::parse_inventory(text, "fuzz.json")) {
    auto again = fabric::parse_inventory(fabric::inventory_text(*inventory), "written.json");
    if (!again || again->parts != inventory->parts) std::abort();
  }
  return 0;
}
