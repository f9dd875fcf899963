// SPDX-License-Identifier: Apache-2.0
#include "checks/checks.h"
#include "model/finding.h"

namespace fabric {
namespace {

Finding judge(const Port& port) {
  const bool pfc = port.qos.pfc->bits != 0;
  if (!port.qos.pause && !pfc) return good(port.id(), "PFC none", "not both");
  const std::string observed =
      "PFC " + to_text(*port.qos.pfc) + ", global pause " + (port.qos.pause ? to_text(*port.qos.pause) : "-");
  const std::string expected = pfc ? "PFC " + to_text(*port.qos.pfc) + ", global pause off" : "not both";
  if (!port.qos.pause)
    return bad(Status::unknown, port.id(), observed, expected,
               "PFC is on and global pause could not be read: " + why_unread(port, "pause") + ".",
               "Ask the driver: ethtool -a " + port.netdev + ".");
  const bool pause = port.qos.pause->rx || port.qos.pause->tx;
  if (!pfc || !pause) return good(port.id(), observed, expected);
  return bad(
      Status::critical, port.id(), observed, expected,
      "Global pause stops all priorities and excludes PFC: the port may ignore PFC frames and lose RoCE packets.",
      "Switch global pause off: ethtool -A " + port.netdev + " rx off tx off, and set pause = \"off\" in the policy.");
}

}  // namespace

// Ports whose driver offers no PFC cannot have both.
void ask_pfc_and_pause(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports)
    if (is_judged(port) && port.qos.pfc) findings.push_back(judge(port));
}

}  // namespace fabric
