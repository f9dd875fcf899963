// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"

namespace fabric {
namespace {

std::optional<Finding> ask_port(const View&, const Port& port) {
  if (!is_judged(port) || !port.qos.pfc) return std::nullopt;
  const bool pfc = port.qos.pfc->bits != 0;
  if (!port.qos.pause && !pfc) return good(port.id(), "PFC none", "not both");
  const std::string observed =
      "PFC " + to_text(*port.qos.pfc) + ", global pause " + (port.qos.pause ? to_text(*port.qos.pause) : "-");
  const std::string expected = pfc ? "PFC " + to_text(*port.qos.pfc) + ", global pause off" : "not both";
  if (!port.qos.pause)
    return bad(Status::unknown, port.id(), observed, expected,
               "PFC is on and global pause could not be read: " + why_unread(port, "pause") + ".",
               "ethtool -a " + port.netdev);
  const bool pause = port.qos.pause->rx || port.qos.pause->tx;
  if (!pfc || !pause) return good(port.id(), observed, expected);
  return bad(
      Status::critical, port.id(), observed, expected,
      "Global pause stops all priorities and excludes PFC: the port may ignore PFC frames and lose RoCE packets.",
      "ethtool -A " + port.netdev + " rx off tx off, and set pause = \"off\" in the policy.");
}

}  // namespace

extern const Check kPfcAndPauseCheck{
    .id = "pfc-and-pause",
    .group = group::settings,
    .title = "Global pause is on at a port with PFC",
    .meaning =
        "Global (802.3x) pause and PFC exclude each other. With both on, pause stops every priority and the port may "
        "ignore PFC frames.",
    .inspect = "ethtool -a NETDEV; dcb pfc show dev NETDEV",
    .fix = "ethtool -A NETDEV rx off tx off, and set pause = \"off\" in the policy.",
    .ask_port = ask_port,
};

}  // namespace fabric
