// SPDX-License-Identifier: Apache-2.0
#include "support/healthy_cabling.h"

namespace fabric::test {

void plug_in_cables(Healthy& node) {
  Neighbors& neighbors = node.now.neighbors;
  neighbors.source = "fabric-lldp";
  Cabling& plan = node.policy.cabling;
  plan.file = "/etc/fabric-agent/cabling.csv";
  plan.host = node.now.hostname;
  for (size_t i = 0; i < node.now.ports.size(); ++i) {
    const Port& port = node.now.ports[i];
    const std::string leaf = "leaf" + std::to_string(i);
    Neighbor peer;
    peer.netdev = port.netdev;
    peer.source = neighbors.source;
    peer.chassis_id = "70:06:92:00:00:0" + std::to_string(i);
    peer.system_name = leaf + ".example.com";
    peer.port_id = "Ethernet7";
    peer.ttl = 120;
    peer.age = 12;
    peer.max_frame = 9216;
    peer.dcbx = "IEEE";
    // Its classes are numbered as its vendor likes.
    peer.ets_recommended =
        DcbxEts{false, 8, {0, 0, 0, 3, 0, 0, 6, 0}, {50, 0, 0, 50, 0, 0, 0, 0}, {2, 2, 2, 2, 2, 2, 0, 2}};
    peer.pfc = DcbxPfc{false, false, 8, PrioSet{0x08}};
    peer.app = {{DcbxApp::udp, 4791, 3}, {DcbxApp::dscp, 26, 3}, {DcbxApp::dscp, 48, 6}};
    neighbors.heard.push_back(peer);
    neighbors.listening[port.netdev] = 3600;
    plan.cables.push_back({port.netdev, {leaf, "Eth7"}, plan.file + ":" + std::to_string(i + 2)});
  }
}

}  // namespace fabric::test
