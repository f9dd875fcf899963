// SPDX-License-Identifier: Apache-2.0
// Module memory and the ethtool replies about a link. The input serves the reads in the order in which they are asked
// for, 128 bytes each; the last page may be short, and those after it are missing.
#include <algorithm>
#include <cmath>

#include "fuzzer.h"
#include "kernel/netlink/ethtool_link.h"
#include "wire/eeprom.h"

namespace {

using fabric::require;
using fabric::View8;

class Source {
 public:
  explicit Source(View8 rest) : rest_(rest) {}
  fabric::Bytes read(const fabric::eeprom::PageRequest& request) {
    const View8 taken = rest_.first(std::min<size_t>(rest_.size(), request.length));
    rest_ = rest_.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }

 private:
  View8 rest_;
};

void require_finite(const fabric::ModuleReading& reading) { require(!reading.value || std::isfinite(*reading.value)); }

void read_module(View8 input) {
  Source source(input);
  const auto pages = fabric::eeprom::read_pages([&](const auto& request) { return source.read(request); });
  require(pages.size() <= 14);  // of CMIS: five, page 2Fh, and two for each of four groups
  const auto module = fabric::eeprom::decode(pages);
  if (!module) return;
  require_finite(module->temperature);
  require_finite(module->voltage);
  require(module->lanes.size() <= 8);
  for (const auto& lane : module->lanes)
    for (const auto* reading : {&lane.rx_power, &lane.tx_power, &lane.tx_bias}) require_finite(*reading);
  require(module->inputs.size() <= 18);  // eight lanes and none, of two sides
  for (const auto& arrived : module->inputs) {
    require(arrived.lane <= 8 && (arrived.error_ratio || arrived.snr));
    require(!arrived.error_ratio || (*arrived.error_ratio >= 0 && *arrived.error_ratio <= 1));
    require(!arrived.snr || (*arrived.snr > 0 && *arrived.snr < 256));
  }
  for (const std::string* text : {&module->vendor, &module->part_number, &module->serial_number, &module->date})
    for (char c : *text) require(c >= ' ' && c <= '~');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const View8 input = std::as_bytes(std::span(data, size));
  read_module(input);
  (void)fabric::ethtool::parse_link_status(input);
  (void)fabric::ethtool::parse_fec_status(input);
  (void)fabric::ethtool::parse_module_page(input);
  return 0;
}
