// SPDX-License-Identifier: Apache-2.0
// Two faults at once, traces that any machine has, and readings that resemble a fault: each in one machine, by the
// names of its counters. The opposite: small traces that are ignored there must not hide large faults, and must not
// blame a port whose driver counts something else. The second rail is a bond of two ports (mlx5 RoCE LAG): the bond has
// the RDMA counters; its members have pause, discards, bytes by priority, settings and switches. The culprit is the
// same as without a bond.
#include "faults/answer.h"
#include "faults/planted.h"
#include "judge/engine.h"
#include "nic/metrics.h"
#include "support/ports.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

using namespace metrics;

// -- Traces that are ignored

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
      {"one of two jobs sets no traffic class: its packets overrun a lossy buffer here, by the discards of its "
       "priority",
       "hgx",
       [](Machine& m) {
         m.hold(kPriorityBytes);
         grow_ethtool(m, "tx_prio3_bytes", 2'700'000'000'000);
         grow_ethtool(m, "rx_prio0_bytes", 1'800'000'000'000);
         grow_ethtool(m, "rx_prio3_bytes", 900'000'000'000);
         grow_ethtool(m, "rx_prio0_discards", 60'000);
         m.raise(kPhyDiscards, 60'000, "rx"), m.raise(kOutOfSequence, 50'000);
       },
       "roce-unprotected", "frames of priority 0, without PFC, discarded here +60000", "loss-in-network"},
      {"discards of TCP/IP on priority 0 do not explain the losses of RoCE on its own", "hgx",
       [](Machine& m) {
         grow_ethtool(m, "rx_prio0_bytes", 900'000'000'000);
         grow_ethtool(m, "rx_prio0_discards", 60'000);
         lose_packets(m);
       },
       "loss-in-network", "no frame of a lossless priority was discarded here"},
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
       "slow-pcie", "slower than the network port (400 Gb/s)", "do not explain it"},
      {"all NICs in slots of an older generation", "hgx",
       [](Machine& m) {
         for (Nic& nic : m.now.topology.nics) {
           PcieLink& slot = m.now.platform.functions.at(nic.bridges.front()).link;
           nic.link.speed = slot.speed = slot.max_speed = 16;
         }
         m.raise(kPfcSeconds, 40, "tx");
       },
       "slow-pcie", "slower than the network port (400 Gb/s)", "do not explain it"},
      {"a socket-direct NIC whose other half has no netdev", "hgx",
       [](Machine& m) {
         Nic half = m.nic();
         half.pci = "0000:f4:00.0";
         half.card = "0000:f4:00";
         half.role = FunctionRole::multi_pf_secondary;
         half.primary = m.nic().pci;
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
    FecCode fec;
    double ratio;
    Status status;
  };
  for (const Link& link : {Link{400'000, FecCode::rs, 1e-5, Status::ok},
                           {100'000, FecCode::rs, 1e-5, Status::ok},
                           {400'000, FecCode::rs, 3e-5, Status::warning},
                           {25'000, FecCode::rs, 1e-6, Status::ok},
                           {25'000, FecCode::rs, 1e-5, Status::warning},
                           {25'000, FecCode::rs, 6e-5, Status::critical},
                           {25'000, FecCode::baser, 1e-7, Status::critical}}) {
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
    EXPECT_EQ(window_statuses(machine.view(), "pre_fec_ber").value().at("mlx5_1/1"), link.status)
        << link.speed << " " << to_text(link.fec) << " " << link.ratio;
  }
}

// -- Traces that hide nothing

void lose(Machine& m, double out_of_sequence, double naks) {
  m.raise(kOutOfSequence, out_of_sequence);
  m.raise(kSequenceNaks, naks);
}

std::vector<Planted> losses_beside_traces() {
  return {
      {"12 discards of an unknown priority, and 500000 losses", "e810",
       [](Machine& m) { m.raise(kPhyDiscards, 12, "rx"), lose(m, 400'000, 100'000); }, "loss-in-network"},
      {"12 discards of a lossy buffer, and peers that set no traffic class", "hgx",
       [](Machine& m) {
         m.hold(kPriorityBytes);
         grow_ethtool(m, "tx_prio3_bytes", 2'700'000'000'000);
         grow_ethtool(m, "rx_prio0_bytes", 2'700'000'000'000);
         m.raise(kPhyDiscards, 12, "rx");
         lose(m, 400'000, 100'000);
       },
       "loss-in-network"},
      {"no policy, and the switch has PFC on one priority more than a NIC that does not count by priority", "e810",
       [](Machine& m) {
         m.policy.ports.clear();
         m.plan.clear();
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0x18;
         lose(m, 50'000, 20'000);
       },
       "loss-in-network"},
      {"every host has a rate limit that drops on sending: each misses packets of the others", "hgx",
       [](Machine& m) { m.raise(kPhyDiscards, 4'000, "tx"), lose(m, 400'000, 20'000); }, "send-drops"},
      {"the link retrained once, and packets are lost all the time", "hgx",
       [](Machine& m) { grow_ethtool(m, "total_success_recovery_phy", 1), lose(m, 400'000, 100'000); },
       "loss-in-network not-enough-evidence"},
      {"the link retrained once, and a host of the job died", "hgx",
       [](Machine& m) {
         grow_ethtool(m, "total_success_recovery_phy", 1);
         m.raise(kRetriesExceeded, 4);
         m.raise(kAckTimeouts, 32);
       },
       "far-end not-enough-evidence"},
      {"the firmware reported an error and went on, and packets are lost in the network", "hgx",
       [](Machine& m) {
         for (HealthReporter& each : m.port().reporters)
           if (each.name == "fw") ++each.errors;
         lose(m, 50'000, 20'000);
       },
       "loss-in-network"},
      {"the link retrained once, and a rate limit drops on sending", "hgx",
       [](Machine& m) {
         grow_ethtool(m, "total_success_recovery_phy", 1), m.raise(kPhyDiscards, 4'000, "tx"),
             m.raise(kSequenceNaks, 20'000);
       },
       "send-drops not-enough-evidence"},
      {"12 discards on sending, and responses are lost all the time", "hgx",
       [](Machine& m) { m.raise(kPhyDiscards, 12, "tx"), m.raise(kDuplicateRequests, 40'000); }, "loss-in-network"},
      {"12 discards of an unknown priority, and 9000 timeouts", "e810",
       [](Machine& m) { m.raise(kPhyDiscards, 12, "rx"), m.raise(kAckTimeouts, 9'000); }, "loss-in-network"},
      {"12 discards on sending, and adaptive routing reorders packets", "hgx",
       [](Machine& m) { m.raise(kPhyDiscards, 12, "tx"), m.raise(kOutOfSequence, 100'000); }, "loss-in-network",
       "adaptive routing"},
      // mlx5's reporter "fw" has no recovery: after its first error it never is healthy again.
      {"the firmware reported an error and stays in that state, and packets are lost in the network", "hgx",
       [](Machine& m) {
         for (HealthReporter& each : m.port().reporters)
           if (each.name == "fw") ++each.errors, each.healthy = false;
         lose(m, 50'000, 20'000);
       },
       "loss-in-network"},
      {"12 frames of a lossless priority were discarded, and 500000 losses elsewhere", "hgx",
       [](Machine& m) { m.raise(kPriorityDiscards, 12), m.raise(kPhyDiscards, 12, "rx"), lose(m, 400'000, 100'000); },
       "headroom loss-in-network", "only 12 frames of a lossless priority"},
      {"3000 discards of an unknown priority, and many more losses of packets to others", "e810",
       [](Machine& m) { m.raise(kPhyDiscards, 3'000, "rx"), m.raise(kSequenceNaks, 40'000); }, "loss-in-network",
       "do not explain so many losses", "hardly anything"},
      {"a short PFC storm, and packets are lost in the network all the time", "hgx",
       [](Machine& m) { m.raise(kPauseStorms, 1, "warning"), lose(m, 50'000, 20'000); }, "slow-host loss-in-network"},
      {"a hung host, and its NIC stops pausing and discards packets", "hgx",
       [](Machine& m) {
         m.raise(kPauseStorms, 1, "error"), m.raise(kRetriesExceeded, 12), m.raise(kDuplicateRequests, 30'000);
       },
       "slow-host"},
      {"a hung host, and its Broadcom NIC turns its PFC off", "mi300x",
       [](Machine& m) { m.raise(kPauseStorms, 3), m.raise(kOutOfSequence, 30'000); }, "slow-host"},
      {"the firmware was reset so fast that the link counted no down, and connections broke", "hgx",
       [](Machine& m) {
         for (HealthReporter& each : m.port().reporters)
           if (each.name == "fw_fatal") ++each.errors, ++each.recoveries;
         lose(m, 50'000, 20'000);
       },
       "device-reset"},
  };
}

std::vector<Planted> others() {
  return {
      {"a storage node with a little RoCE and much TCP has PFC off", "hgx",
       [](Machine& m) {
         m.port().counters = m.before.ports[1].counters;
         m.raise(kRdmaBytes, 40'000'000, "tx"), m.raise(kRdmaPackets, 10'000, "tx");
         m.raise(kPriorityBytes, 40'000'000, "tx");
         grow_ethtool(m, "tx_prio0_bytes", 300'000'000'000);
         grow_ethtool(m, "rx_prio0_bytes", 300'000'000'000);
         m.raise(kSequenceNaks, 60);
         m.port().qos.pfc = PrioSet{};
       },
       "roce-unprotected"},
      {"a host of the job died and RDMA stands still, beside much TCP and PTP on a priority that the switch has PFC "
       "for",
       "hgx",
       [](Machine& m) {
         m.port().counters = m.before.ports[1].counters;
         m.policy.ports.clear();
         m.plan.clear();
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0x18;
         m.raise(kRdmaBytes, 20'000, "tx"), m.raise(kRdmaPackets, 200, "tx");
         m.raise(kPriorityBytes, 20'000, "tx");
         for (const char* each : {"tx_prio0_bytes", "rx_prio0_bytes"}) grow_ethtool(m, each, 300'000'000'000);
         for (const char* each : {"tx_prio4_bytes", "rx_prio4_bytes"}) grow_ethtool(m, each, 150'000);
         m.raise(kRetriesExceeded, 4);
       },
       "far-end"},
      {"a host of the job died, and adaptive routing reorders packets all the time", "hgx",
       [](Machine& m) { give_up(m), m.raise(kOutOfSequence, 100'000); }, "far-end loss-in-network",
       "came from other peers"},
      {"a host of the job died, and 12 packets of others came out of order", "hgx",
       [](Machine& m) { give_up(m), m.raise(kOutOfSequence, 12); }, "far-end"},
      {"a host of the job died, and 12 packets of others were lost", "hgx",
       [](Machine& m) { give_up(m), m.raise(kSequenceNaks, 12); }, "far-end"},
      {"500 connections break in a network that loses 3000 packets", "hgx",
       [](Machine& m) { m.raise(kRetriesExceeded, 500), m.raise(kAckTimeouts, 4'000), m.raise(kSequenceNaks, 3'000); },
       "loss-in-network"},
      {"a host of the job died, and 12 frames were damaged on the link", "hgx",
       [](Machine& m) { give_up(m), damage_frames(m, 12); }, "damaged-link far-end"},
      {"a host of the job died, and 12 frames were discarded here", "hgx",
       [](Machine& m) { give_up(m), m.raise(kPriorityDiscards, 12); }, "headroom far-end"},
      {"a host of the job died, and 12 packets were discarded on sending", "hgx",
       [](Machine& m) { give_up(m), m.raise(kPhyDiscards, 12, "tx"); }, "far-end"},
      {"a host of the job died, and 12 packets of others had a wrong ICRC", "hgx",
       [](Machine& m) { give_up(m), m.raise(kIcrcErrors, 12); }, "far-end"},
      {"a host of the job died, and a container ended, whose macvlan's GID was removed", "hgx",
       [](Machine& m) {
         m.before.ports[1].gids.push_back({7, "0000:0000:0000:0000:0000:ffff:0a02:0007", "RoCE v2", "net1"});
         m.raise(kRetriesExceeded, 4);
       },
       "far-end", "", "removed meanwhile"},
      {"a VLAN was deleted, and its connections break", "hgx",
       [](Machine& m) {
         m.before.ports[1].gids.push_back({7, "0000:0000:0000:0000:0000:ffff:0a02:0007", "RoCE v2", "roce100", true});
         m.raise(kRetriesExceeded, 4);
       },
       "not-enough-evidence", "removed meanwhile"},
      {"a host of the job died, and the types of the GIDs could not be read", "hgx",
       [](Machine& m) {
         for (Gid& gid : m.port().gids) gid.type.clear();
         m.raise(kRetriesExceeded, 4);
       },
       "far-end", "", "removed meanwhile"},
      {"an Omni-Path link retransmits a few packets, as all do", "infiniband",
       [](Machine& m) {
         for (Node* node : {&m.before, &m.now}) node->ports[1].kernel_driver = node->ports[1].driver = "hfi1";
         m.raise(kPortLinkIntegrity, 5);
       },
       ""},
      {"iWARP packets are ECN-marked: TCP handles that itself", "e810",
       [](Machine& m) {
         for (Node* node : {&m.before, &m.now}) node->ports[1].transport = RdmaTransport::iwarp;
         m.raise(kEcnMarked, 500'000);
         m.hold(kCnpSent);
       },
       ""},
      {"marks that delay-based congestion control does not answer, and the switch has PFC on one priority more", "hgx",
       [](Machine& m) {
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0x18;
         m.raise(kEcnMarked, 500'000);
         m.hold(kCnpSent);
         m.port().qos.ecn_np = PrioSet{0x08};
       },
       ""},
      {"pause that spreads, and the switch has PFC on one priority more", "hgx",
       [](Machine& m) {
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0x18;
         m.port().qos.ecn_rp = PrioSet{0x08};
         m.hold(kCnpHandled);
         m.raise(kPfcSeconds, 52, "rx");
       },
       "paused-by-network"},
      {"a hypervisor shows a made-up PCIe link", "guest",
       [](Machine& m) {
         m.nic().link = {5, 5, 1, 1};
         m.raise(kPfcSeconds, 40, "tx");
       },
       "slow-host"},
      {"a link damages bits while another goes down, and damaged frames are not counted", "hgx",
       [](Machine& m) {
         for (Node* node : {&m.before, &m.now}) {
           std::erase_if(node->ports[1].counters.ethtool,
                         [](const Counter& each) { return each.name == "rx_crc_errors_phy"; });
           std::erase_if(node->ports[1].counters.pma,
                         [](const Counter& each) { return each.name == "port_rcv_errors"; });
         }
         ++*m.port().counters.carrier_down;
         ++*m.now.ports[3].counters.carrier_down;
         m.raise(kPhySymbolErrors, 5'000'000);
       },
       "mlx5_1/1: damaged-link; mlx5_3/1: not-enough-evidence", "", "no frame was damaged"},
  };
}

// Latched flags, which were not read since the light returned.
void latch_loss_of_signal(Machine& m) {
  for (ModuleLane& lane : m.port().module->lanes) lane.rx_los = lane.rx_power.flags->low_alarm = true;
}

std::vector<Planted> light() {
  return {
      {"loss of signal is latched since the module was plugged in, and frames are damaged", "hgx",
       [](Machine& m) {
         for (ModuleLane& lane : m.port().module->lanes) lane.rx_los = true;
         damage_frames(m, 300);
       },
       "damaged-link"},
      {"the switch came back with another FEC: rx power is back, the link is not", "hgx",
       [](Machine& m) {
         latch_loss_of_signal(m);
         ++*m.port().counters.carrier_down;
         m.port().state = 1;
         m.port().carrier = false;
         m.port().link_status = LinkStatus{false, "Logical mismatch", "RS FEC is not locked", 2};
       },
       "no-partner"},
      {"no light at a module whose low alarm is its lowest reading", "hgx",
       [](Machine& m) {
         latch_loss_of_signal(m);
         m.port().module->rx_power_limits = {3.5e-3, 0.1e-6, 2.8e-3, 0.1e-6};
         for (ModuleLane& lane : m.port().module->lanes) lane.rx_power.value = 0.3e-6;
         ++*m.port().counters.carrier_down;
         m.port().state = 1;
         m.port().carrier = false;
       },
       "no-partner"},
      {"loss of signal on one lane of a module that has no limits", "hgx",
       [](Machine& m) {
         m.port().module->rx_power_limits = {};
         m.port().module->lanes[2].rx_los = true;
         m.port().module->lanes[2].rx_power.value = 0.01e-3;
         damage_frames(m, 300);
       },
       "damaged-link"},
  };
}

class SetAside : public testing::TestWithParam<Planted> {};

TEST_P(SetAside, HidesNoFault) { expect_blamed(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Faults, SetAside, testing::ValuesIn(join({losses_beside_traces(), others(), light()})));

// -- A bond

constexpr const char* kBond = "mlx5_1/1";

Machine bonded() {
  Machine out =
      *std::find_if(machines().begin(), machines().end(), [](const Machine& each) { return each.name == "hgx"; });
  for (Node* node : {&out.before, &out.now}) {
    Port member = node->ports[1];
    Port& bond = node->ports[1];
    test::make_bond(bond);
    test::make_member(member);
    bond.qos = {};
    bond.module.reset();
    bond.fec.reset();
    bond.link_status.reset();
    bond.counters.ethtool.clear();
    member.counters.hw.clear();
    member.counters.pma.clear();
    member.gids.clear();
    node->ports.push_back(member);
    member.netdev = "ens1f1";
    node->ports.push_back(member);
  }
  out.plan.erase(kBond);  // settings are kept of members
  return out;
}

Port& bond(Machine& m) { return m.now.ports[1]; }
Port& member(Machine& m) { return m.now.ports[m.now.ports.size() - 2]; }

void grow(Port& port, const char* name, uint64_t by) {
  for (auto* list : {&port.counters.hw, &port.counters.ethtool})
    for (Counter& each : *list)
      if (each.name == name) each.value += by;
}
void lose_packets_of_bond(Machine& m) {
  grow(bond(m), "out_of_sequence", 50'000), grow(bond(m), "packet_seq_err", 20'000);
}

std::vector<Planted> faults() {
  return {
      {"nothing", "hgx", [](Machine&) {}, ""},
      {"congestion", "hgx",
       [](Machine& m) {
         grow(member(m), "rx_prio3_pause_duration", 40'000'000), grow(bond(m), "rp_cnp_handled", 60'000);
       },
       "mlx5_1/1@ens1: busy-network", "no loss"},
      {"pause spreads", "hgx",
       [](Machine& m) {
         grow(member(m), "rx_prio3_pause_duration", 40'000'000);
         bond(m).counters.hw = m.before.ports[1].counters.hw;
       },
       "mlx5_1/1@ens1: paused-by-network"},
      {"the application is late", "hgx",
       [](Machine& m) {
         grow(member(m), "tx_prio3_pause_duration", 30'000'000), grow(bond(m), "out_of_buffer", 3'000'000);
       },
       "mlx5_1/1: slow-host; mlx5_1/1@ens1: slow-host", "", "sends no pause"},
      {"the host hangs", "hgx",
       [](Machine& m) { grow(member(m), "tx_prio3_pause_duration", 57'000'000), lose_packets_of_bond(m); },
       "mlx5_1/1@ens1: slow-host", "packets do not reach this host meanwhile"},
      {"the NIC of a hung host stopped pausing", "hgx",
       [](Machine& m) {
         grow(member(m), "tx_pause_storm_error_events", 1);
         grow(bond(m), "packet_seq_err", 20'000);
       },
       "mlx5_1/1@ens1: slow-host"},
      {"the headroom of a member is too small", "hgx",
       [](Machine& m) { grow(member(m), "rx_prio3_discards", 5'000), lose_packets_of_bond(m); },
       "mlx5_1/1: headroom; mlx5_1/1@ens1: headroom"},
      {"PFC is off at the switch of one member", "hgx",
       [](Machine& m) {
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0;
         lose_packets_of_bond(m);
       },
       "pfc-off-switch"},
      {"PFC is off at one member", "hgx",
       [](Machine& m) {
         member(m).qos.pfc = PrioSet{};
         lose_packets_of_bond(m);
       },
       "roce-unprotected"},
      {"a member drops on sending", "hgx",
       [](Machine& m) { grow(member(m), "tx_discards_phy", 40'000), grow(bond(m), "packet_seq_err", 20'000); },
       "send-drops"},
      {"the network loses packets", "hgx", lose_packets_of_bond, "loss-in-network",
       "no frame of a lossless priority was discarded here"},
  };
}

class Bond : public testing::TestWithParam<Planted> {};

TEST_P(Bond, NamesTheCulprit) { expect_blamed(GetParam(), bonded()); }
INSTANTIATE_TEST_SUITE_P(Faults, Bond, testing::ValuesIn(faults()));

}  // namespace
}  // namespace fabric::faults
