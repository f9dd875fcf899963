// SPDX-License-Identifier: Apache-2.0
#include "checks/cabling/peer.h"
#include "checks/check.h"

namespace fabric {
namespace {

constexpr uint16_t kRocePort = 4791;  // RoCE v2's UDP port (IBTA annex A17)

// DSCPs that both ends map to different priorities, and lossless DSCPs of the switch without an entry here.
void compare_dscp(const Port& port, const DcbxApp& app, std::string& text) {
  if (!port.qos.dscp_map || app.protocol > 63) return;
  const auto* here = find_in(*port.qos.dscp_map, static_cast<uint8_t>(app.protocol));
  const bool differs = here != nullptr ? *here != app.priority
                                       : port.qos.pfc && port.qos.pfc->has(app.priority) && !port.qos.dscp_map->empty();
  if (differs)
    append_item(text,
                "DSCP " + std::to_string(app.protocol) + ": priority " +
                    (here != nullptr ? std::to_string(*here) : "none") + " here, " + std::to_string(app.priority) +
                    " there",
                "; ");
}

std::optional<Finding> ask_port(const View& view, const Port& port) {
  const Neighbor* peer = first_with(view.now, port, &Neighbor::app);
  const bool lossless = port.qos.pfc && port.qos.pfc->bits != 0;
  if (!has_cable(port) || (!port.qos.dscp_map && !lossless) || peer == nullptr) return std::nullopt;
  std::string text;
  for (const DcbxApp& app : *peer->app) {
    const bool is_roce =
        app.protocol == kRocePort && (app.selector == DcbxApp::udp || app.selector == DcbxApp::tcp_or_udp);
    if (app.selector == DcbxApp::dscp) compare_dscp(port, app, text);
    else if (is_roce && lossless && !port.qos.pfc->has(app.priority))
      append_item(text,
                  "RoCE (UDP 4791): lossless priority " + to_text(*port.qos.pfc) + " here, priority " +
                      std::to_string(app.priority) + " there",
                  "; ");
  }
  const std::string expected = "one priority for each kind of packet at both ends";
  if (text.empty()) return good(port.id(), "same as " + peer_name(*peer), expected);
  return bad(Status::warning, port.id(), text, expected,
             "The two ends map the same packets to different priorities: PFC and ECN protect them at one end only.",
             "Change dscp_map in the policy, or the QoS map of " + peer_name(*peer) + ".");
}

}  // namespace

extern const Check kPeerAppCheck{
    .id = "peer-app",
    .group = group::cabling,
    .title = "The switch port maps RoCE to another priority",
    .meaning =
        "The DCBX application table of the switch maps DSCP values and UDP port 4791 (RoCE v2) to priorities. If the "
        "DSCP map of this port differs, packets are lossless at one end only.",
    .inspect = "dcb app show dev NETDEV; fabric-agentctl neighbors --json",
    .fix = "Set dscp_map in the policy to the map of the switch, or the other way round.",
    .ask_port = ask_port,
};

}  // namespace fabric
