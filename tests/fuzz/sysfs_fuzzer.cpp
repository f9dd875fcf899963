// SPDX-License-Identifier: Apache-2.0
// The texts of sysfs files and the paths of its links: a captured tree may hold anything.
#include <cstdlib>

#include "fuzzer.h"
#include "kernel/pci/pci.h"
#include "kernel/rdma/infiniband.h"
#include "node/platform.h"
#include "node/rdma_software.h"
#include "wire/gzip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fabric::text_of(data, size);
  (void)fabric::pci::parse_address(text);
  (void)fabric::infiniband::parse_state(text);
  if (const auto place = fabric::pci::parse_location(text)) {
    if (place->folder.size() > size || !fabric::pci::parse_address(place->pci) || place->root.empty()) std::abort();
  }
  if (const auto speed = fabric::pci::parse_link_speed(text); speed && !(*speed > 0)) std::abort();
  if (const auto width = fabric::pci::parse_link_width(text); width && (*width == 0 || *width >= 255)) std::abort();
  if (const auto rate = fabric::infiniband::parse_rate(text); rate && !(*rate > 0)) std::abort();
  if (fabric::platform::parse_aer(text).kinds.size() > 64) std::abort();
  for (const fabric::Bar& bar : fabric::platform::parse_bars(text))
    if (bar.number > 5 || bar.size == 0) std::abort();
  if (fabric::platform::parse_command_line(text).size() > 64) std::abort();
  if (const auto version = fabric::platform::parse_nvidia_version(text); version && version->version.empty())
    std::abort();
  (void)fabric::platform::parse_kernel_option(text, "CONFIG_PCI_P2PDMA");
  (void)fabric::host::parse_module_files(text);
  constexpr size_t kMost = 1 << 16;
  if (const auto file = fabric::gunzip(text, kMost); file && file->size() > kMost) std::abort();
  return 0;
}
