// SPDX-License-Identifier: Apache-2.0
// Commands of fixes. One that stops traffic comes after the words that the node is drained, or that no job runs; none
// lacks an argument.
#pragma once

#include <regex>
#include <string>

#include "support/test.h"

namespace fabric::test {

// The first command that stops the traffic of a port, or of the ports of a NIC, and that has no such words before it;
// empty: none.
inline std::string undrained_command(const std::string& text) {
  static const std::regex kStops(
      "ip link set (dev )?\\S+ (down|mtu|nomaster|master)\\b|devlink dev reload|devlink health "
      "recover|mlxfwreset|rmmod|"
      "modprobe -r|/unbind\\b|/reset\\b|/remove\\b|nvidia-smi -r|ifdown|networkctl (reconfigure|down)|"
      "ethtool (-r|--reset|-s|--set-fec) ");
  static const std::regex kDrained("drain|no job runs", std::regex::icase);
  std::smatch found;
  if (!std::regex_search(text, found, kStops) || std::regex_search(found.prefix().str(), kDrained)) return {};
  return found.str();
}

// Where a command lacks an argument, because the name that it was made with is empty: two blanks in a row, or the end
// of the command after a word that a name follows. Empty: nowhere.
inline std::string incomplete_command(const std::string& text) {
  static const std::regex kGap(
      ".{0,40}(\\S  +\\S|\\bdev *($|[;&\\n])|\\bpci/( |$|[;.,&\\n])|-[dms] *($|[;&\\n])).{0,20}");
  std::smatch found;
  if (!std::regex_search(text, found, kGap)) return {};
  return found.str();
}

}  // namespace fabric::test
