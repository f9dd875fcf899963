// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "checks/cabling/peer.h"
#include "checks/checks.h"
#include "model/finding.h"

namespace fabric {
namespace {

constexpr uint16_t kRocePort = 4791;  // RoCE v2's UDP port (IBTA annex A17)

void append(std::string& text, const std::string& part) { text += (text.empty() ? "" : "; ") + part; }

// DSCPs that both ends map, to different priorities; and those that the switch keeps lossless and this port does not
// know.
void compare_dscp(const Port& port, const DcbxApp& app, std::string& text) {
  if (!port.qos.dscp_map || app.protocol > 63) return;
  const auto here = port.qos.dscp_map->find(static_cast<uint8_t>(app.protocol));
  const bool known = here != port.qos.dscp_map->end();
  const bool counts = known ? here->second != app.priority
                            : port.qos.pfc && port.qos.pfc->has(app.priority) && !port.qos.dscp_map->empty();
  if (counts)
    append(text, "DSCP " + std::to_string(app.protocol) + ": priority " +
                     (known ? std::to_string(here->second) : "none") + " here, " + std::to_string(app.priority) +
                     " there");
}

// The priority that the switch wants RoCE in.
void compare_roce(const Port& port, const DcbxApp& app, std::string& text) {
  if (app.protocol != kRocePort || !port.qos.pfc || port.qos.pfc->bits == 0 || port.qos.pfc->has(app.priority)) return;
  append(text, "RoCE (UDP 4791): lossless priority " + to_text(*port.qos.pfc) + " here, priority " +
                   std::to_string(app.priority) + " there");
}

std::string differences(const Port& port, const std::vector<DcbxApp>& table) {
  std::string text;
  for (const DcbxApp& app : table) {
    if (app.selector == DcbxApp::dscp) compare_dscp(port, app, text);
    if (app.selector == DcbxApp::udp || app.selector == DcbxApp::tcp_or_udp) compare_roce(port, app, text);
  }
  return text;
}

bool can_compare(const Port& port) { return port.qos.dscp_map || (port.qos.pfc && port.qos.pfc->bits != 0); }

Finding judge(const Port& port, const Neighbor& peer) {
  const std::string text = differences(port, *peer.app);
  const std::string expected = "one priority for each kind of packet at both ends";
  if (text.empty()) return good(port.id(), "as " + peer_name(peer), expected);
  return bad(Status::warning, port.id(), text, expected,
             "The two ends put the same packets into different priorities: PFC and ECN of the one do not protect what "
             "the other sends.",
             "Set the map alike: dscp_map in the policy here, or the QoS map of " + peer_name(peer) + ".");
}

}  // namespace

void ask_peer_app(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports) {
    if (!has_cable(port) || !can_compare(port)) continue;
    if (const Neighbor* peer = who_told(view.now, port, &Neighbor::app)) findings.push_back(judge(port, *peer));
  }
}

}  // namespace fabric
