// SPDX-License-Identifier: Apache-2.0
// Two faults at once, traces that any machine has, and readings that resemble a fault: each in one machine, by the
// names of its counters.
#include "faults/answer.h"
#include "faults/planted.h"
#include "judge/engine.h"
#include "nic/metrics.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

using namespace metrics;

void lose_packets(Machine& m) {
  m.raise(kOutOfSequence, 50'000);
  m.raise(kSequenceNaks, 20'000);
}
// The peers have no traffic class; this end has one.
void receive_unmarked(Machine& m) {
  m.hold(kPriorityBytes);
  grow_ethtool(m, "tx_prio3_bytes", 2'700'000'000'000);
  grow_ethtool(m, "rx_prio0_bytes", 2'700'000'000'000);
}
void lose_link(Machine& m) { ++*m.port().counters.carrier_down; }

std::vector<Planted> losses() {
  return {
      {"one damaged frame, and 50000 lost packets", "hgx", [](Machine& m) { damage_frames(m, 1), lose_packets(m); },
       "loss-in-network not-enough-evidence", "do not explain so many losses", "no receive errors"},
      {"a few symbol errors, and PFC is off at the switch", "hgx",
       [](Machine& m) {
         m.raise(kPhySymbolErrors, 12);
         lose_packets(m);
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0;
       },
       "damaged-link pfc-off-switch"},
      {"a few discards on sending", "hgx", [](Machine& m) { m.raise(kPhyDiscards, 12, "tx"), lose_packets(m); },
       "loss-in-network"},
      {"a few discards of the lossless priority", "hgx",
       [](Machine& m) { m.raise(kPriorityDiscards, 3), lose_packets(m); }, "loss-in-network", "only 3 frames",
       "no frame of a lossless"},
      {"one packet with a wrong ICRC", "hgx", [](Machine& m) { m.raise(kIcrcErrors, 1), lose_packets(m); },
       "loss-in-network"},
      {"a switch damages packets, and one frame came damaged", "hgx",
       [](Machine& m) { m.raise(kIcrcErrors, 50), m.raise(kPhyCrcErrors, 1), m.raise(kOutOfSequence, 50'000); },
       "damaged-on-path not-enough-evidence", "wrong ICRC"},
      {"a NIC that discards RoCE and does not count discards by priority", "mi300x",
       [](Machine& m) { m.raise(kDiscards, 40'000, "rx"), lose_packets(m); }, "not-enough-evidence", "discards +40000",
       "no frame of a lossless"},
      {"packets out of order, and no retransmission", "hgx", [](Machine& m) { m.raise(kOutOfSequence, 50'000); },
       "loss-in-network", "adaptive routing"},
      {"timeouts alone", "hgx", [](Machine& m) { m.raise(kAckTimeouts, 9'000); }, "loss-in-network", "slow far end"},
      {"the peers set no traffic class: their packets overrun a lossy buffer here", "hgx",
       [](Machine& m) { receive_unmarked(m), m.raise(kPhyDiscards, 60'000, "rx"), lose_packets(m); },
       "not-enough-evidence", "discarded packets: discards +60000"},
      {"the peers set no traffic class: switches drop lossy packets, and this end sees gaps only", "hgx",
       [](Machine& m) { receive_unmarked(m), m.raise(kOutOfSequence, 50'000); }, "loss-in-network", "MB RDMA received",
       "discarded packets"},
      {"an unconfigured host: PFC is off, and RDMA uses the default priority", "hgx",
       [](Machine& m) {
         set_pfc(m, PrioSet{});
         m.hold(kPriorityBytes);
         for (const char* name : {"tx_prio0_bytes", "rx_prio0_bytes"}) grow_ethtool(m, name, 2'700'000'000'000);
         lose_packets(m);
       },
       "roce-unprotected", "used priority 3, which has PFC by the policy"},
      {"a peer died, and a few packets of others came out of order", "hgx",
       [](Machine& m) {
         m.raise(kRetriesExceeded, 4);
         m.raise(kAckTimeouts, 32);
         m.raise(kOutOfSequence, 3);
       },
       "far-end", "hardly any NAK"},
      {"the switch port accepts only short frames: large messages hang, and their connections break", "hgx",
       [](Machine& m) {
         m.raise(kRetriesExceeded, 4);
         m.raise(kAckTimeouts, 32);
         m.interface().peer_max_frame = 1518;
       },
       "loss-in-network", "accepts frames up to 1518 bytes; RoCE frames have up to 4206"},
      {"a link that retrains repeatedly loses the packets in flight", "infiniband",
       [](Machine& m) { m.raise(kPortLinkRecoveries, 8), lose_packets(m); }, "damaged-link", "link recoveries +8",
       "no receive errors"},
      {"a link that exceeds its own threshold of errors", "infiniband",
       [](Machine& m) { m.raise(kPortLinkIntegrity, 2), lose_packets(m); }, "damaged-link", "", "no receive errors"},
      {"background traffic on the priority that is lossless at the switch", "hgx",
       [](Machine& m) {
         for (const char* name : {"rx_prio4_bytes", "tx_prio4_bytes"}) grow_ethtool(m, name, 6'000);
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0x10;
         lose_packets(m);
       },
       "pfc-off-switch"},
  };
}

std::vector<Planted> pause() {
  return {
      {"a hung host, and the switch's PFC watchdog drops the packets that wait for it", "hgx",
       [](Machine& m) { m.raise(kPfcSeconds, 57, "tx"), m.raise(kAckTimeouts, 5'000), lose_packets(m); }, "slow-host",
       "packets do not reach this host meanwhile"},
      {"a hung host on a network with global pause", "hgx",
       [](Machine& m) {
         set_pfc(m, PrioSet{});
         grow_ethtool(m, "tx_global_pause_duration", 57'000'000);
         grow_ethtool(m, "tx_global_pause", 600'000);
       },
       "slow-host", "global pause sent: 95 % of the time"},
      {"a few CNPs ignored, and 60000 handled", "hgx",
       [](Machine& m) {
         m.raise(kPfcSeconds, 52, "rx");
         m.raise(kCnpHandled, 60'000);
         m.raise(kCnpIgnored, 12);
       },
       "busy-network"},
      {"paused, and only received packets are marked", "hgx",
       [](Machine& m) { m.raise(kPfcSeconds, 52, "rx"), m.hold(kCnpHandled); }, "paused-by-network"},
      {"a job starts: some receivers are not ready, and there is little traffic yet", "hgx",
       [](Machine& m) {
         m.port().counters = m.before.ports[1].counters;
         m.raise(kRnrNaksReceived, 300);
       },
       ""},
      {"an AER error, and a few milliseconds of pause", "hgx",
       [](Machine& m) { *m.now.platform.functions.at(m.nic().bridges.front()).nonfatal.total += 3; }, "slow-pcie",
       "non-fatal", "pause sent"},
      {"marks that delay-based congestion control does not answer", "hgx",
       [](Machine& m) {
         m.raise(kEcnMarked, 500'000);
         m.hold(kCnpSent);
         m.port().qos.ecn_np = PrioSet{0xff};
       },
       ""},
      {"pause frames of a priority without PFC", "e810",
       [](Machine& m) { grow_ethtool(m, "rx_priority_5_xoff.nic", 6'000'000); }, ""},
      {"12 packets without a posted receive do not cause pause", "hgx",
       [](Machine& m) { m.raise(kPfcSeconds, 40, "tx"), m.raise(kOutOfBuffer, 12); }, "slow-host"},
      {"all NICs in slots of half the speed", "hgx",
       [](Machine& m) {
         for (Nic& nic : m.now.topology.nics) nic.link.speed = 16;
         m.raise(kPfcSeconds, 40, "tx");
       },
       "slow-pcie", "less than the port's rate, 400 Gb/s", "do not explain it"},
      {"all NICs in slots of an older generation", "hgx",
       [](Machine& m) {
         for (Nic& nic : m.now.topology.nics) {
           PcieLink& slot = m.now.platform.functions.at(nic.bridges.front()).link;
           nic.link.speed = slot.speed = slot.max_speed = 16;
         }
         m.raise(kPfcSeconds, 40, "tx");
       },
       "slow-pcie", "of NIC and slot), less than the port's rate, 400 Gb/s", "do not explain it"},
      {"a socket-direct NIC whose other half has no netdev", "hgx",
       [](Machine& m) {
         Nic half = m.nic();
         half.pci = "0000:f4:00.0";
         half.card = "0000:f4:00";
         half.netdevs.clear();
         half.rdma.clear();
         for (Nic* each : {&m.nic(), &half}) each->link.width = each->link.max_width = 8;
         for (const std::string& pci : {m.nic().pci, m.nic().bridges.front()}) {
           PcieLink& link = m.now.platform.functions.at(pci).link;
           link.width = link.max_width = 8;
         }
         m.now.platform.functions[half.pci] = m.now.platform.functions.at(m.nic().pci);
         m.now.topology.nics.push_back(half);
         for (Nic& nic : m.now.topology.nics) nic.link.width = nic.link.max_width = 8;
         m.raise(kPfcSeconds, 40, "tx");
       },
       "slow-host"},
      {"a driver that shows no PFC, and PFC is off at the switch", "mi300x",
       [](Machine& m) {
         m.port().qos.pfc = m.before.ports[1].qos.pfc = {};
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0;
         lose_packets(m);
       },
       "pfc-off-switch", "PFC of the policy: 3"},
      {"a driver that shows no PFC, and the switch sends global pause", "mi300x",
       [](Machine& m) {
         m.port().qos.pfc = m.before.ports[1].qos.pfc = {};
         m.raise(kGlobalPauseFrames, 1'200'000, "rx");
       },
       "paused-by-network", "PFC of the policy: 3"},
      {"a driver that leaves DCQCN off", "e810",
       [](Machine& m) {
         m.raise(kCnpIgnored, 20'000);
         m.port().qos.cc = false;
       },
       "ecn-off", "cc of this port: off"},
      {"marks on a port without PFC, and the notification point is off", "hgx",
       [](Machine& m) {
         set_pfc(m, PrioSet{});
         for (PortPolicy& entry : m.policy.ports) entry.want.pfc = PrioSet{};
         for (Neighbor& each : m.now.neighbors.heard) each.pfc.reset();
         m.raise(kEcnMarked, 500'000);
         m.hold(kCnpSent);
         m.port().qos.ecn_np = PrioSet{};
       },
       "ecn-off"},
      {"marks on a port without PFC that delay-based congestion control does not answer", "hgx",
       [](Machine& m) {
         set_pfc(m, std::nullopt);
         for (PortPolicy& entry : m.policy.ports) entry.want.pfc.reset();
         for (Neighbor& each : m.now.neighbors.heard) each.pfc.reset();
         m.raise(kEcnMarked, 500'000);
         m.hold(kCnpSent);
         m.port().qos.ecn_np = PrioSet{0xff};
       },
       ""},
      {"two ports, two faults", "hgx",
       [](Machine& m) {
         damage_frames(m, 500);
         grow_ethtool(m, "tx_prio3_pause_duration", 40'000'000, 2);
       },
       "mlx5_1/1: damaged-link; mlx5_2/1: slow-host"},
  };
}

// Two ports of a storage network, without errors.
void add_storage(Machine& m) {
  for (Node* node : {&m.before, &m.now})
    for (int i = 0; i < 2; ++i) {
      Port port = m.before.ports[0];
      port.rdma = "mlx5_" + std::to_string(20 + i);
      port.netdev = "stor" + std::to_string(i);
      port.speed = 200'000;
      port.rate = 25e9;
      node->ports.push_back(port);
    }
}

void dark_lanes(Machine& m) {
  for (Port* port : {&m.before.ports[1], &m.port()})
    for (unsigned number = 5; number <= 8; ++number) {
      ModuleLane dark = port->module->lanes.front();
      dark.number = number;
      dark.rx_power.value = 0.0;
      dark.rx_los = true;
      port->module->lanes.push_back(dark);
    }
}

// Two ports share the cage and the module, which has a data path for each. This port has lanes 1 to 4.
void twin_port(Machine& m) {
  for (Port* port : {&m.before.ports[1], &m.port()}) {
    auto& lanes = port->module->lanes;
    for (unsigned number = 5; number <= 8; ++number) {
      lanes.push_back(lanes.front());
      lanes.back().number = number;
    }
    for (ModuleLane& lane : lanes) lane.path = lane.number <= 4 ? 1 : 5;
  }
}

std::vector<Planted> links() {
  return {
      {"8 rails have errors, storage has none", "hgx8",
       [](Machine& m) {
         add_storage(m);
         for (size_t rail = 0; rail < 8; ++rail) damage_frames(m, 300, rail);
       },
       "mlx5_0/1: not-enough-evidence; mlx5_1/1: not-enough-evidence; mlx5_2/1: not-enough-evidence; mlx5_3/1: "
       "not-enough-evidence; mlx5_4/1: not-enough-evidence; mlx5_5/1: not-enough-evidence; mlx5_6/1: "
       "not-enough-evidence; mlx5_7/1: not-enough-evidence",
       "more likely the switch"},
      {"half of the module's lanes are unused, and the link went down once", "hgx",
       [](Machine& m) { dark_lanes(m), lose_link(m); }, "not-enough-evidence", "link downs +1"},
      {"rx power was lost with the link, and is back", "hgx",
       [](Machine& m) {
         for (ModuleLane& lane : m.port().module->lanes) lane.rx_los = true, lane.rx_power.flags->low_alarm = true;
         lose_link(m);
       },
       "not-enough-evidence"},
      {"our laser was off while the link was down", "hgx",
       [](Machine& m) {
         for (ModuleLane& lane : m.port().module->lanes)
           lane.tx_power.flags->low_alarm = lane.tx_bias.flags->low_alarm = true;
         lose_link(m);
       },
       "not-enough-evidence"},
      {"rx power fell below the alarm limit while the link stayed up, with damaged frames", "hgx",
       [](Machine& m) {
         m.port().module->lanes[2].rx_power.flags->low_alarm = true;
         damage_frames(m, 300);
       },
       "damaged-link", "0.9 mW, was below"},
      {"of two ports in one cage, one is shut at the switch", "hgx",
       [](Machine& m) {
         twin_port(m);
         for (size_t lane = 0; lane < 4; ++lane) {
           m.port().module->lanes[lane].rx_power.value = 0.0;
           m.port().module->lanes[lane].rx_los = true;
         }
         lose_carrier(m.port());
       },
       "no-partner", "none of the 4 lanes in use of our module receives light"},
      {"of two ports in one cage, one is off, and the link of the other damages frames", "hgx",
       [](Machine& m) {
         twin_port(m);
         for (size_t lane = 4; lane < 8; ++lane)
           m.port().module->lanes[lane].tx_power.value = m.port().module->lanes[lane].tx_bias.value = 0.0;
         damage_frames(m, 300);
       },
       "damaged-link"},
      {"the switch port is shut, and the module does not report loss of signal", "hgx",
       [](Machine& m) {
         for (ModuleLane& lane : m.port().module->lanes) lane.rx_los.reset(), lane.rx_power.value = 0.0;
         lose_carrier(m.port());
       },
       "no-partner"},
      {"the switch port is shut, and the module never measures rx power", "hgx",
       [](Machine& m) {
         for (Port* port : {&m.before.ports[1], &m.port()})
           for (ModuleLane& lane : port->module->lanes) lane.rx_los = true, lane.rx_power.value = 0.0;
         lose_carrier(m.port());
       },
       "port-state", "", "receives light"},
      {"never a link, and the module has a signal that it cannot measure", "hgx",
       [](Machine& m) {
         for (Port* port : {&m.before.ports[1], &m.port()}) {
           for (ModuleLane& lane : port->module->lanes) lane.rx_los = false, lane.rx_power.value = 0.0;
           lose_carrier(*port);
           port->link_status->reason = "Negotiation failure";
         }
       },
       "port-state", "", "receives light"},
      {"a module that does not measure rx power has a transmitter fault", "hgx",
       [](Machine& m) {
         for (Port* port : {&m.before.ports[1], &m.port()})
           for (ModuleLane& lane : port->module->lanes) lane.rx_power.value = 0.0;
         m.port().module->lanes[3].tx_fault = true;
         damage_frames(m, 300);
       },
       "bad-module", "lane 4 of our module: transmitter fault"},
      {"never up, and two policies could match it", "mi300x",
       [](Machine& m) {
         PortPolicy slow = m.policy.ports.front();
         slow.match.speed = {"100000"};
         m.policy.ports.insert(m.policy.ports.begin(), slow);
         m.policy.cabling = {};
         for (Port* port : {&m.before.ports[1], &m.port()}) {
           port->state = 1;
           port->carrier = false;
           port->speed.reset();
           port->link_status.reset();
           port->module.reset();
         }
       },
       "port-state", "the link is down now"},
      {"a switch restarts, and the links to it make symbol errors", "hgx",
       [](Machine& m) {
         for (size_t port : {1u, 2u})
           ++*m.now.ports[port].counters.carrier_down, grow_ethtool(m, "rx_pcs_symbol_err_phy", 5'000, port);
       },
       "mlx5_1/1: not-enough-evidence; mlx5_2/1: not-enough-evidence", "other links went down too"},
      {"a receive buffer overran: the packets count as receive errors too", "infiniband",
       [](Machine& m) { m.raise(kPortOverruns, 1), m.raise(kPortReceiveErrors, 40); }, "not-enough-evidence",
       "nothing else was damaged"},
      {"12 symbol errors in an hour", "hgx", [](Machine& m) { m.shorten(3'600), m.raise(kPhySymbolErrors, 12); },
       "not-enough-evidence", "within the limit of a good link"},
      {"300 symbol errors in an hour", "hgx", [](Machine& m) { m.shorten(3'600), m.raise(kPhySymbolErrors, 300); },
       "damaged-link", "", "within the limit"},
      {"a cable is pulled and plugged again", "hgx", [](Machine& m) { lose_link(m), m.raise(kPhySymbolErrors, 5'000); },
       "not-enough-evidence", "goes down and up"},
      {"a cable loses its link five times, and damages no frame", "hgx",
       [](Machine& m) { *m.port().counters.carrier_down += 5, m.raise(kPhySymbolErrors, 5'000); }, "damaged-link",
       "goes down and up"},
  };
}

// Compute NICs, and equally fast storage NICs of another model on another network.
void damage_all_but_storage(Machine& m) {
  for (Node* node : {&m.before, &m.now})
    for (size_t port : {6u, 7u}) node->ports[port].hca_type = "BF3", node->ports[port].board_id = "MT_0000000884";
  for (size_t port = 0; port < 6; ++port) damage_frames(m, 300, port);
}

std::vector<Planted> of_many_links() {
  return {
      {"three links are down, and no reading tells why", "hgx8",
       [](Machine& m) {
         for (Port& port : std::span(m.now.ports).first(3)) {
           lose_carrier(port);
           port.phys_state = 2;
           port.link_status->reason.clear();
           port.link_status->detail.clear();
         }
       },
       "mlx5_0/1: port-state; mlx5_1/1: port-state; mlx5_2/1: port-state", "3 ports of this host are down",
       "too little evidence"},
      {"all links of the compute NICs damage frames, those of storage do not", "hgx8", damage_all_but_storage,
       "mlx5_0/1: not-enough-evidence; mlx5_1/1: not-enough-evidence; mlx5_2/1: not-enough-evidence; mlx5_3/1: "
       "not-enough-evidence; mlx5_4/1: not-enough-evidence; mlx5_5/1: not-enough-evidence",
       "NICs like this one"},
      {"all links but one damage frames", "hgx8",
       [](Machine& m) {
         damage_all_but_storage(m);
         m.now.ports[4].counters = m.before.ports[4].counters;
         m.now.ports[4].fec = m.before.ports[4].fec;
       },
       "mlx5_0/1: damaged-link; mlx5_1/1: damaged-link; mlx5_2/1: damaged-link; mlx5_3/1: damaged-link; mlx5_5/1: "
       "damaged-link"},
  };
}

class Beside : public testing::TestWithParam<Planted> {};

TEST_P(Beside, NamesTheCulprit) { expect_blamed(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Faults, Beside, testing::ValuesIn(join({losses(), pause(), links(), of_many_links()})));

// FEC for lanes of 25 Gb/s corrects less: a ratio that is critical there is ok with PAM4.
TEST(PreFecBer, TheLimitDependsOnTheCode) {
  struct Link {
    uint32_t speed;
    const char* fec;
    double ratio;
    Status status;
  };
  for (const Link& link : {Link{400'000, "rs", 1e-5, Status::ok},
                           {100'000, "rs", 1e-5, Status::ok},
                           {400'000, "rs", 3e-5, Status::warning},
                           {25'000, "rs", 1e-6, Status::ok},
                           {25'000, "rs", 1e-5, Status::warning},
                           {25'000, "rs", 6e-5, Status::critical},
                           {25'000, "baser", 1e-7, Status::critical}}) {
    Machine machine = machines().front();
    for (Node* node : {&machine.before, &machine.now}) {
      Port& port = node->ports[1];
      port.speed = link.speed;
      port.rate = link.speed * 1e6 / 8;
      port.fec->active = link.fec;
    }
    machine.port().fec = machine.before.ports[1].fec;
    machine.hold(kPhyCorrectedBits);
    machine.raise(kPhyCorrectedBits, link.ratio * link.speed * 1e6 * 60);
    EXPECT_EQ(health_status(machine.view(), "pre_fec_ber", "mlx5_1/1"), link.status)
        << link.speed << " " << link.fec << " " << link.ratio;
  }
}

}  // namespace
}  // namespace fabric::faults
