// SPDX-License-Identifier: Apache-2.0
// Software: the agent, addresses and routes, versions.

#include "faults/fault.h"
#include "faults/fleet/reported.h"

namespace fabric::faults {
namespace {

// A machine that only exports metrics needs no agent.
Plant at_agent(void (*alter)(Node&)) {
  return [alter](Machine& m) {
    alter(m.now);
    const bool runs = m.now.agent && m.now.agent->running;
    const bool is_needed = !m.policy.ports.empty() || !m.policy.sysctl.empty();
    return std::string(runs || !m.now.agent_unread.empty() || is_needed ? "host" : "");
  };
}

Faults agent() {
  return {
      {"agent-stopped", "fabric-agent was stopped", "AgentState::running false",
       at_agent([](Node& n) { n.agent->running = false; }), "agent", W, "not running"},
      {"agent-never-ran", "the service was never enabled", "no AgentState", at_agent([](Node& n) { n.agent.reset(); }),
       "agent", W, "not running"},
      {"agent-config-broken", "a typing error in the configuration: the agent keeps the old one",
       "AgentState::config_error", at_agent([](Node& n) { n.agent->config_error = "fabric-agent.toml:3:1: nonsense"; }),
       "agent", W, "fabric-agent.toml:3:1"},
      {"agent-lost-entry", "a drop-in was removed, and the service reloaded: no entry matches the port any more",
       "AgentState::lost_entry", at_agent([](Node& n) { n.agent->lost_entry = {"mlx5_0/1"}; }), "agent", W, "mlx5_0/1"},
      {"agent-not-reloaded", "the mode was changed in the file, and the service not reloaded", "AgentState::mode audit",
       at_agent([](Node& n) { n.agent->mode = Mode::audit; }), "agent", W, "audit mode"},
      {"agent-held", "an apply --confirm was never confirmed", "AgentState::held",
       at_agent([](Node& n) { n.agent->held = "apply --confirm by pid 4711"; }), "agent", W, "", "", "confirm"},
      {"suppression-ended", "a rule was suppressed for a month, and the month is over", "RuleSettings::until",
       on_host([](Machine& m) {
         m.policy.rules.by_id["firmware"] = {.enabled = false, .reason = "update in January", .until = 1};
       }),
       "suppressions", W, "ended: firmware until|update in January|[rules.firmware]: remove enabled = false"},
      {"agent-state-corrupt", "the disk was full when the agent wrote its state", "Node::agent_unread",
       at_agent([](Node& n) {
         n.agent.reset();
         n.agent_unread = "/run/fabric-agent/state.json:1:3: nonsense";
       }),
       "agent", U, "-\n"},
  };
}

// The objects are the device's: its first port is the subject.
Faults objects() {
  return {{"queue-pairs-used-up", "killed jobs left processes that hold their queue pairs",
           "ResourceCount::most 70 of 66 queue pairs",
           [](Machine& m) {
             for (Port& port : m.now.ports)
               for (ResourceCount& each : port.resources)
                 if (port.rdma == m.port().rdma && !port.is_member() && each.kind == "qp" && each.owner.empty()) {
                   each.most = 70;
                   return port.id();
                 }
             return std::string();
           },
           "rdma-resources", W, "queue pairs 94 % used (66 of 70)"}};
}

// All NICs, because one alone would be no NIC for GPUs.
Faults transports() {
  return {{"nics-in-iwarp", "the driver of a new image runs the NICs in iWARP mode", "Port::transport iwarp",
           [](Machine& m) {
             if (m.port().kernel_driver != "ice" || m.is_guest()) return std::string();
             for (Node* node : {&m.now, &m.before})
               for (Port& port : node->ports) port.transport = RdmaTransport::iwarp;
             return m.port().id();
           },
           "rdma-transport", W, "iWARP|name enable_roce value true", "", "", "rdma-transport"}};
}

// The GIDs have not changed in this window.
void settle(Machine& m) {
  for (size_t i = 0; i < m.now.ports.size(); ++i) m.before.ports[i].gids = m.now.ports[i].gids;
}

// On RoCE, whose ports have addresses.
Plant on_network(void (*alter)(Machine&)) {
  return on_roce([alter](Machine& m) {
    alter(m);
    settle(m);
    return m.port().id();
  });
}

// False: the rails have tables of their own, each in a VRF.
bool share_subnet(Machine& m) {
  if (!m.interface().vrf.empty()) return false;
  test::share_subnet(m.now);
  settle(m);
  return true;
}

std::string lose_a_rule(Machine& m) {
  if (!share_subnet(m)) return {};
  m.now.network.rules->erase(m.now.network.rules->begin() + 1);
  return "10.1.0.0/24";
}

std::string one_ipv6_subnet(Machine& m) {
  if (!m.is_roce() || !m.interface().addresses->front().ip.v6) return {};
  for (size_t i = 0; i < m.now.ports.size(); ++i) {
    Interface& interface = m.now.network.interfaces.at(m.now.ports[i].netdev);
    const Ip own = *parse_ip("fd00:10:2::" + std::to_string(i + 1)), gateway = *parse_ip("fd00:10:2::ff");
    interface.addresses->front() = {own, 64};
    interface.routes = {{*parse_ip("fd00:10:2::"), 64, 254}, {*parse_ip("fd00:10::"), 32, 254, gateway}};
    interface.gateways = {{gateway, NUD_REACHABLE}};
    m.now.ports[i].gids.back().gid = gid_text(own);
  }
  settle(m);
  return "fd00:10:2::/64";
}

Faults addresses() {
  return {
      {"no-address", "the network configuration of one rail was forgotten",
       "the netdev without addresses, no routable GID", on_network([](Machine& m) {
         m.interface().addresses->clear();
         m.port().gids.resize(2);
       }),
       "address", C, "no IP address on ens1", "", "rails"},
      {"limited-partition-member", "the subnet manager makes one port a limited member of the partition",
       "P_Key 0x7fff; the other ports have 0xffff",
       [](Machine& m) {
         if (m.now.network.pkeys.empty()) return std::string();
         m.now.network.pkeys[m.port().id()] = {0x7fff};
         return m.port().id();
       },
       "partition", W, "0x7fff (limited)"},
      {"address-twice", "a copied configuration: two rails have one address",
       "an address of the second rail on the first, too", on_network([](Machine& m) {
         m.now.network.interfaces.at(m.now.ports[0].netdev).addresses->push_back(m.interface().addresses->front());
       }),
       "address", C, "10.1.1.1 is also on mlx5_0/1 (ens0)", "", "rails"},
      {"duplicate-on-the-link", "another host has this address (IPv6 found it)", "Address::dad_failed",
       on_network([](Machine& m) {
         m.interface().addresses->push_back({*parse_ip("fd00::1"), 64, true, true});
       }),
       "address", C, "fd00::1/64 on ens1"},
      {"no-roce-v2-gid", "the GID table holds RoCE v1 only", "GIDs of type IB/RoCE v1", on_network([](Machine& m) {
         m.now.network = {};
         m.port().gids.resize(1);
       }),
       "gid", C, "no RoCE v2 GID"},
      {"address-changed", "DHCP gave the netdev another address while jobs run: their GID is gone",
       "another address and GID than a minute ago", on_roce(at_port([](Machine& m) {
         const Address old = m.interface().addresses->front();
         const Ip ip = *parse_ip(old.ip.v6 ? "fd00:10:1:1::77" : "10.1.1.77");
         m.interface().addresses->front() = {ip, old.prefix};
         m.port().gids.back().gid = gid_text(ip);
       })),
       "gid-changed", W, "", "", "health: ip address add"},
      {"gid-index-shifted", "IPv6 was switched off on one netdev: its GID table has another order",
       "the routable GID at index 5", on_network([](Machine& m) { m.port().gids.back().index = 5; }), "gid-index", W,
       "IPv4 at index 5"},
      {"gid-twice", "two NICs have one GID", "the first port's GID", on_network([](Machine& m) {
         m.now.network = {};
         m.port().gids.back().gid = m.now.ports[0].gids.back().gid;
       }),
       "gid-index", C, "mlx5_0/1 has 0000:0000:0000:0000:0000:ffff:0a01:0001, too"},
      {"arp-flux", "rails in one subnet answer each other's ARP", "one subnet, arp_ignore 0", on_roce(answer_any_arp),
       "rails", W, "arp_ignore 0 on ens0, ens1, ens2 and ens3", "", "rails"},
      {"no-source-routing", "rails in one subnet, and one without its routing rule: it sends by another rail",
       "one rule less", on_roce(lose_a_rule), "rails", W, "no source routing for ens1", "", "rails"},
      {"one-ipv6-subnet", "rails in one IPv6 subnet, without rules: packets leave by the first rail",
       "fd00:10:2::1/64 and on", one_ipv6_subnet, "rails", W},
      {"two-rails-in-one-vrf", "two rails were put into one VRF: there they share a subnet, without rules",
       "Interface::vrf that of the first rail",
       [](Machine& m) {
         if (!m.is_roce() || m.interface().vrf.empty()) return std::string();
         const Interface& first = m.now.network.interfaces.at(m.now.ports[0].netdev);
         m.interface().vrf = first.vrf;
         m.interface().vrf_table = first.vrf_table;
         for (Route& route : m.interface().routes) route.table = first.vrf_table;
         return "10.1.0.0/24 in " + first.vrf;
       },
       "rails", W},
      {"gateway-dead", "the gateway of a rail does not answer: wrong VLAN", "neighbor entry FAILED",
       on_network([](Machine& m) { m.interface().gateways[0].state = NUD_FAILED; }), "gateway", C,
       "10.1.1.0 is FAILED on ens1", "", "rails"},
  };
}

Faults versions() {
  return {
      {"odd-firmware", "a replaced NIC has other firmware", "firmware of one NIC differs",
       [](Machine& m) {
         if (m.port().board_id.empty() && m.port().pci_id.empty()) return std::string();
         m.port().firmware = "28.43.1000";
         return m.port().rdma;
       },
       "firmware", W, "28.43.1000"},
      {"firmware-not-allowed", "a firmware with a known fault is installed", "[firmware] allows others",
       [](Machine& m) {
         if (m.port().board_id.empty()) return std::string();
         m.policy.firmware = {{m.port().board_id, {"28.39.*"}}};
         m.port().firmware = "28.43.1000";
         return m.port().rdma;
       },
       "firmware", W, "28.43.1000"},
      {"driver-not-allowed", "a kernel update brought another driver", "[driver_version] allows others",
       [](Machine& m) {
         m.policy.driver_version = {{m.port().kernel_driver.substr(0, 3) + "*", {"24.07-*", "24.04-*"}}};
         return m.port().kernel_driver;
       },
       "firmware", W, "24.10-1.1.4"},
  };
}

}  // namespace

std::string answer_any_arp(Machine& m) {
  if (!share_subnet(m)) return {};
  for (auto& [name, interface] : m.now.network.interfaces) interface.arp_ignore = {0, 0};
  return "10.1.0.0/24";
}

Faults software_faults() { return together({agent(), objects(), transports(), addresses(), versions()}); }

}  // namespace fabric::faults
