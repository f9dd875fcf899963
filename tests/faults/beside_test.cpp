// SPDX-License-Identifier: Apache-2.0
// The opposite of others_test.cpp: small traces that are ignored there must not hide large faults, and must not blame a
// port whose driver counts something else. Planted in one machine each, by the names of its counters.
#include "faults/planted.h"
#include "nic/metrics.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

using namespace metrics;

void lose(Machine& m, double out_of_sequence, double naks) {
  m.raise(kOutOfSequence, out_of_sequence);
  m.raise(kSequenceNaks, naks);
}

std::vector<Planted> losses() {
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
         for (Node* node : {&m.before, &m.now}) node->ports[1].iwarp = true;
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
INSTANTIATE_TEST_SUITE_P(Faults, SetAside, testing::ValuesIn(join({losses(), others(), light()})));

}  // namespace
}  // namespace fabric::faults
