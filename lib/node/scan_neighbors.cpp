// SPDX-License-Identifier: Apache-2.0
// The neighbors at the other ends of the cables: heard by LLDP, or kept by the firmware's own LLDP agent.

#include "kernel/netlink/dcbnl.h"
#include "node/neighbor_state.h"
#include "node/scan_port.h"

namespace fabric::scanning {
namespace {

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

}  // namespace

void read_neighbors(Context& context, Node& node) {
  Neighbors& out = node.neighbors;
  auto published = state::load_neighbors(context.kernel.root);
  if (!published) out.why_none = published.error().text() + "; systemctl status fabric-lldp";
  else if (*published) out = std::move(**published);
  else out.why_none = "the LLDP listener is not running; start the listener with systemctl enable --now fabric-lldp";
  // Frames are heard on the members of a bond, so these are asked as well where the scan has them.
  std::set<std::string> ours;
  for (const Port& port : node.ports)
    if (!port.netdev.empty() && port.link_layer != LinkLayer::infiniband && !port.virtual_function)
      ours.insert(port.netdev);
  std::erase_if(out.listening, [&](const auto& each) { return !ours.contains(each.first); });
  std::erase_if(out.heard, [&](const Neighbor& each) { return !ours.contains(each.netdev); });
  for (const std::string& netdev : ours) {
    if (contains(out.heard, netdev, &Neighbor::netdev) || !context.kernel.route) continue;
    if (auto told = ask_firmware(*context.kernel.route, netdev)) out.heard.push_back(std::move(*told));
  }
  for (auto& [netdev, interface] : node.network.interfaces)
    interface.peer_max_frame = announced_frame(out.heard, netdev);
}

}  // namespace fabric::scanning
