// SPDX-License-Identifier: Apache-2.0
// Any bytes as PCI configuration space and vital product data, and as the files that the agent keeps of it and of host
// settings.
#include <cstdlib>

#include "enforce/sysctl.h"
#include "fuzzer.h"
#include "kernel/pci/pci_config.h"
#include "node/pci_state.h"
#include "node/port_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fabric::text_of(data, size);
  if (const auto control = fabric::pci::parse_device_control(text); control && control->offset + 2 > size) std::abort();
  for (const char c : fabric::scanning::vpd_serial(text))
    if (c < ' ' || c > '~') std::abort();
  (void)fabric::pci::parse_acs_control(text).ok();
  (void)fabric::pci::parse_ten_bit_tags(text).ok();
  if (const auto state = fabric::state::parse_pci_state(text, "fuzz.json")) {
    const auto again = fabric::state::parse_pci_state(fabric::state::pci_state_text(*state), "written.json");
    if (!again || *again != *state) std::abort();
  }
  if (const auto values = fabric::qos::parse_sysctl_originals(text, "fuzz.json")) {
    const auto again = fabric::qos::parse_sysctl_originals(fabric::qos::sysctl_originals_text(*values), "written.json");
    if (!again || *again != *values) std::abort();
  }
  (void)fabric::qos::find_sysctl(text);
  (void)fabric::qos::sysctl_problem("net.ipv4.tcp_rmem", text).size();
  return 0;
}
