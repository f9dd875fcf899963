// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "model/finding.h"

namespace fabric {
namespace {

std::string joined_text(const std::vector<std::string>& ranges) {
  std::string out;
  for (const std::string& range : ranges) out += (out.empty() ? "" : "; ") + range;
  return out;
}

void ask(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports) {
    if (!port.module || (port.module->bad_checksums.empty() && !port.module->checksum_matched)) continue;
    if (port.module->checksum_matched) {
      findings.push_back(good(port.id(), "a checksum matches", "a checksum matches"));
      continue;
    }
    findings.push_back(bad(
        Status::warning, port.id(), "wrong checksums: " + joined_text(port.module->bad_checksums), "a checksum matches",
        "No checksum of the module's memory is right. Its identity, limits and readings may be wrong: "
        "the memory or its I2C bus is damaged, or the maker never wrote the checksums.",
        "Compare with the label: ethtool -m " + port.netdev +
            ". Reseat the module; if the text is damaged, replace it."));
  }
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
    .ask = ask,
};

}  // namespace fabric
