// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"

namespace fabric {
namespace {

std::optional<Finding> ask_port(const View&, const Port& port) {
  const std::string expected = "a checksum matches";
  if (!port.module) return std::nullopt;
  if (port.module->checksum_matched) return good(port.id(), expected, expected);
  if (port.module->bad_checksums.empty()) return std::nullopt;
  return bad(
      Status::warning, port.id(), "wrong checksums: " + joined(port.module->bad_checksums, "; "), expected,
      "No checksum of the module's memory is right. Its identity, limits and readings may be wrong: the memory or its "
      "I2C bus is damaged, or the maker never wrote the checksums.",
      "Compare with the label: ethtool -m " + port.netdev + ". Reseat the module; if the text is damaged, replace it.");
}

}  // namespace

extern const Check kModuleMemoryCheck{
    .id = "module-memory",
    .group = group::link,
    .title = "The memory of a module has a wrong checksum",
    .meaning =
        "The memory (EEPROM) of a module has a checksum for each range: SFF-8472, SFF-8636 and CMIS. If one range is "
        "wrong, its limits are not used. If all are wrong, nothing that the module reports can be relied on.",
    .inspect = "ethtool -m NETDEV; ethtool -m NETDEV raw on",
    .fix = "Reseat the module. If the text that it reports is damaged, replace it.",
    .ask_port = ask_port,
};

}  // namespace fabric
