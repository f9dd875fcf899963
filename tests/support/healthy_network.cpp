// SPDX-License-Identifier: Apache-2.0
#include "support/healthy_node.h"

namespace fabric::test {
namespace {

constexpr uint32_t kMain = 254;

Ip ip(const std::string& text) { return *parse_ip(text); }

void give_address(Port& port, Interface& interface, const std::string& text, unsigned prefix) {
  const Address address{ip(text), prefix};
  interface.addresses = std::vector<Address>{address, Address{ip("fe80::a00:ff:fe00:1"), 64, false}};
  port.gids.at(2).gid = gid_text(address.ip);
}

}  // namespace

void add_healthy_network(Node& node) {
  node.network.rules.emplace();
  node.network.tables = {kMain, 255};
  for (size_t i = 0; i < node.ports.size(); ++i) {
    Port& port = node.ports[i];
    port.firmware = "28.39.1002";
    port.driver_version = "24.10-1.1.4";
    Interface& interface = node.network.interfaces[port.netdev];
    interface.ifindex = port.ifindex;
    const std::string subnet = "10.1." + std::to_string(i) + ".";
    give_address(port, interface, subnet + "1", 31);
    interface.routes = {{ip(subnet + "0"), 31, kMain}, {ip("10.0.0.0"), 8, kMain, ip(subnet + "0")}};
    interface.gateways = {{ip(subnet + "0"), NUD_REACHABLE}};
    interface.arp_ignore = interface.arp_announce = interface.arp_filter = {0, 0};
    interface.rp_filter = {2, 0};
    interface.ipv6_disabled = false;
    interface.peer_max_frame = 9216;
  }
}

void share_subnet(Node& node) {
  for (size_t i = 0; i < node.ports.size(); ++i) {
    Interface& interface = node.network.interfaces[node.ports[i].netdev];
    const std::string address = "10.1.0." + std::to_string(i + 1);
    const uint32_t table = 201 + static_cast<uint32_t>(i);
    give_address(node.ports[i], interface, address, 24);
    interface.routes = {
        {ip("10.1.0.0"), 24, kMain}, {ip("10.1.0.0"), 24, table}, {ip("0.0.0.0"), 0, table, ip("10.1.0.254")}};
    interface.gateways = {{ip("10.1.0.254"), NUD_REACHABLE}};
    interface.arp_ignore = {1, 0};
    interface.arp_announce = {0, 2};
    node.network.rules->push_back({32000 + static_cast<uint32_t>(i), table, ip(address), 32, {}});
    node.network.tables.insert(table);
  }
}

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
    peer.dcbx = DcbxVersion::ieee;
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
