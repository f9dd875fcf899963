// SPDX-License-Identifier: Apache-2.0
// The neighbors at the other ends of the cables: heard by LLDP, or kept by the firmware's own LLDP agent.
#include <algorithm>

#include "kernel/netlink/dcbnl.h"
#include "scan/port.h"
#include "store/neighbor_state.h"

namespace fabric::scanning {
namespace {

constexpr const char* kRemedy = "start the listener with systemctl enable --now fabric-lldp";

std::optional<Neighbors> ask_listener(const Root& root, std::string& why) {
  auto heard = state::load_neighbors(root);
  if (!heard) why = heard.error().text() + "; systemctl status fabric-lldp";
  else if (!*heard) why = std::string("the LLDP listener is not running; ") + kRemedy;
  else return std::move(**heard);
  return std::nullopt;
}

DcbxEts ets_of(const ieee_ets& from) {
  DcbxEts out;
  out.willing = from.willing != 0;
  out.max_classes = from.ets_cap;
  std::copy_n(from.prio_tc, out.prio_tc.size(), out.prio_tc.begin());
  std::copy_n(from.tc_tx_bw, out.bw.size(), out.bw.begin());
  std::copy_n(from.tc_tsa, out.tsa.size(), out.tsa.begin());
  return out;
}

// The peer's settings that the firmware's DCBX agent received, from the answer about the port's own settings: without
// names or time.
std::optional<Neighbor> ask_firmware(Netlink& route, const std::string& netdev) {
  const auto answer = dcbnl::get(route, netdev);
  if (!answer || (!answer->peer_ets && !answer->peer_pfc && !answer->peer_app)) return std::nullopt;
  Neighbor out;
  out.netdev = netdev;
  out.source = "firmware";
  out.dcbx = "IEEE";
  if (const auto& ets = answer->peer_ets) out.ets = ets_of(*ets);
  if (const auto& pfc = answer->peer_pfc) out.pfc = DcbxPfc{false, pfc->mbc != 0, pfc->pfc_cap, PrioSet{pfc->pfc_en}};
  if (!answer->peer_app) return out;
  out.app.emplace();
  for (const dcb_app& app : *answer->peer_app) out.app->push_back({app.selector, app.protocol, app.priority});
  return out;
}

// Frames are heard on the members of a bond, so these are asked as well where the scan has them.
std::set<std::string> netdevs_of(const std::vector<Port>& ports) {
  std::set<std::string> out;
  for (const Port& port : ports)
    if (!port.netdev.empty() && port.link_layer != LinkLayer::infiniband && !port.virtual_function)
      out.insert(port.netdev);
  return out;
}

}  // namespace

void read_neighbors(Context& context, Node& node) {
  Neighbors& out = node.neighbors;
  std::string why;
  auto found = ask_listener(context.kernel.root, why);
  if (found) out = std::move(*found);
  else out.why_none = why;
  const std::set<std::string> ours = netdevs_of(node.ports);
  std::erase_if(out.listening, [&](const auto& each) { return !ours.contains(each.first); });
  std::erase_if(out.heard, [&](const Neighbor& each) { return !ours.contains(each.netdev); });
  for (const std::string& netdev : ours) {
    const bool known = std::ranges::any_of(out.heard, [&](const Neighbor& each) { return each.netdev == netdev; });
    if (known || !context.kernel.route) continue;
    if (auto told = ask_firmware(*context.kernel.route, netdev)) out.heard.push_back(std::move(*told));
  }
  for (const Neighbor& neighbor : out.heard)
    if (const auto interface = node.network.interfaces.find(neighbor.netdev);
        interface != node.network.interfaces.end() && neighbor.max_frame)
      interface->second.peer_max_frame = neighbor.max_frame;
}

}  // namespace fabric::scanning
