// SPDX-License-Identifier: Apache-2.0
// The other side of others_test.cpp: what is set aside there as a trace, an end of the window or somebody else's, must
// not hide what is large, nor blame where a driver counts something else. Planted in one machine each, in its own
// counters' names.
#include <gtest/gtest.h>

#include <algorithm>

#include "faults/planted.h"
#include "model/metrics.h"

namespace fabric::faults {
namespace {

using namespace metrics;

void grow_ethtool(Machine& m, const std::string& name, uint64_t by) {
  for (Node* node : {&m.before, &m.now}) {
    std::vector<Counter>& all = node->ports[1].counters.ethtool;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Counter& each) { return each.name == name; });
    Counter& counter = found == all.end() ? all.emplace_back(Counter{name, 100}) : *found;
    if (node == &m.now) counter.value += by;
  }
}

void lose(Machine& m, double out_of_sequence, double naks) {
  m.raise(kOutOfSequence, out_of_sequence);
  m.raise(kSequenceNaks, naks);
}

std::vector<Planted> losses() {
  return {
      {"a dozen discards of whatever priority, and half a million losses",
       "e810",
       [](Machine& m) { m.raise(kPhyDiscards, 12, "rx"), lose(m, 400'000, 100'000); },
       {{"irdma1/1", "loss-in-network"}}},
      {"a dozen discards of a lossy buffer, and peers that send without a traffic class",
       "hgx",
       [](Machine& m) {
         m.hold(kPriorityBytes);
         grow_ethtool(m, "tx_prio3_bytes", 2'700'000'000'000);
         grow_ethtool(m, "rx_prio0_bytes", 2'700'000'000'000);
         m.raise(kPhyDiscards, 12, "rx");
         lose(m, 400'000, 100'000);
       },
       {{"mlx5_1/1", "loss-in-network"}}},
      {"no policy, and the switch has PFC for one priority more than a card that does not count by priority",
       "e810",
       [](Machine& m) {
         m.policy.ports.clear();
         m.plan.clear();
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0x18;
         lose(m, 50'000, 20'000);
       },
       {{"irdma1/1", "loss-in-network"}}},
      {"every host has the rate limit that drops on sending: each misses what the others did not send",
       "hgx",
       [](Machine& m) { m.raise(kPhyDiscards, 4'000, "tx"), lose(m, 400'000, 20'000); },
       {{"mlx5_1/1", "send-drops"}}},
      {"the link trained once, and packets are lost all the time",
       "hgx",
       [](Machine& m) { grow_ethtool(m, "total_success_recovery_phy", 1), lose(m, 400'000, 100'000); },
       {{"mlx5_1/1", "loss-in-network not-enough-evidence"}}},
      {"the link trained once, and a host of the job died",
       "hgx",
       [](Machine& m) {
         grow_ethtool(m, "total_success_recovery_phy", 1);
         m.raise(kRetriesExceeded, 4);
         m.raise(kAckTimeouts, 32);
       },
       {{"mlx5_1/1", "peer-silent not-enough-evidence"}}},
      {"the firmware told an error and went on, while packets are lost in the network",
       "hgx",
       [](Machine& m) {
         for (HealthReporter& each : m.port().reporters)
           if (each.name == "fw") ++each.errors;
         lose(m, 50'000, 20'000);
       },
       {{"mlx5_1/1", "loss-in-network"}}},
      {"the link trained once, and a rate limit drops on sending",
       "hgx",
       [](Machine& m) {
         grow_ethtool(m, "total_success_recovery_phy", 1), m.raise(kPhyDiscards, 4'000, "tx"),
             m.raise(kSequenceNaks, 20'000);
       },
       {{"mlx5_1/1", "send-drops not-enough-evidence"}}},
      {"a few discards on sending, and answers that are lost all the time",
       "hgx",
       [](Machine& m) { m.raise(kPhyDiscards, 12, "tx"), m.raise(kDuplicateRequests, 40'000); },
       {{"mlx5_1/1", "loss-in-network"}}},
      {"a dozen discards of whatever priority, and nine thousand timeouts",
       "e810",
       [](Machine& m) { m.raise(kPhyDiscards, 12, "rx"), m.raise(kAckTimeouts, 9'000); },
       {{"irdma1/1", "loss-in-network"}}},
      {"a dozen discards on sending, and adaptive routing brings packets out of order",
       "hgx",
       [](Machine& m) { m.raise(kPhyDiscards, 12, "tx"), m.raise(kOutOfSequence, 100'000); },
       {{"mlx5_1/1", "loss-in-network"}},
       "adaptive routing"},
      // mlx5's "fw" has nothing that recovers it: after its first error it never is healthy again.
      {"the firmware told an error and stays in that state, while packets are lost in the network",
       "hgx",
       [](Machine& m) {
         for (HealthReporter& each : m.port().reporters)
           if (each.name == "fw") ++each.errors, each.healthy = false;
         lose(m, 50'000, 20'000);
       },
       {{"mlx5_1/1", "loss-in-network"}}},
      {"a dozen frames of a lossless priority did not fit, and half a million losses elsewhere",
       "hgx",
       [](Machine& m) { m.raise(kPriorityDiscards, 12), m.raise(kPhyDiscards, 12, "rx"), lose(m, 400'000, 100'000); },
       {{"mlx5_1/1", "headroom loss-in-network"}},
       "only 12 frames of a lossless priority"},
      {"some thousand discards of whatever priority, and many more are lost on their way to others",
       "e810",
       [](Machine& m) { m.raise(kPhyDiscards, 3'000, "rx"), m.raise(kSequenceNaks, 40'000); },
       {{"irdma1/1", "loss-in-network"}},
       "not enough for so much",
       "hardly anything"},
      {"a moment's pause storm, and packets are lost in the network all the time",
       "hgx",
       [](Machine& m) { m.raise(kPauseStorms, 1, "warning"), lose(m, 50'000, 20'000); },
       {{"mlx5_1/1", "endless-pause loss-in-network"}}},
      {"a host that hangs, and its NIC soon stops pausing by itself: what comes then is thrown away",
       "hgx",
       [](Machine& m) {
         m.raise(kPauseStorms, 1, "error"), m.raise(kRetriesExceeded, 12), m.raise(kDuplicateRequests, 30'000);
       },
       {{"mlx5_1/1", "endless-pause"}}},
      {"a host that hangs, whose NIC by Broadcom switches its PFC off for that",
       "mi300x",
       [](Machine& m) { m.raise(kPauseStorms, 3), m.raise(kOutOfSequence, 30'000); },
       {{"bnxt_re1/1", "endless-pause"}}},
      {"the firmware was reset so fast that no link was seen to go, and its connections with it",
       "hgx",
       [](Machine& m) {
         for (HealthReporter& each : m.port().reporters)
           if (each.name == "fw_fatal") ++each.errors, ++each.recoveries;
         lose(m, 50'000, 20'000);
       },
       {{"mlx5_1/1", "device-reset"}}},
  };
}

std::vector<Planted> others() {
  return {
      {"a storage node, with a little RoCE beside much TCP, has PFC off",
       "hgx",
       [](Machine& m) {
         m.port().counters = m.before.ports[1].counters;
         m.raise(kRdmaBytes, 40'000'000, "tx"), m.raise(kRdmaPackets, 10'000, "tx");
         m.raise(kPriorityBytes, 40'000'000, "tx");
         grow_ethtool(m, "tx_prio0_bytes", 300'000'000'000);
         grow_ethtool(m, "rx_prio0_bytes", 300'000'000'000);
         m.raise(kSequenceNaks, 60);
         m.port().qos.pfc = PrioSet{};
       },
       {{"mlx5_1/1", "pfc-off-here"}}},
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
       {{"mlx5_1/1", "peer-silent"}}},
      {"a host of the job died, where adaptive routing brings packets out of order all the time",
       "hgx",
       [](Machine& m) { m.raise(kRetriesExceeded, 12), m.raise(kAckTimeouts, 96), m.raise(kOutOfSequence, 100'000); },
       {{"mlx5_1/1", "peer-silent loss-in-network"}},
       "came from others"},
      {"a host of the job died, and a dozen packets of others came out of order",
       "hgx",
       [](Machine& m) { m.raise(kRetriesExceeded, 12), m.raise(kAckTimeouts, 96), m.raise(kOutOfSequence, 12); },
       {{"mlx5_1/1", "peer-silent"}}},
      {"a host of the job died, and a dozen packets of others were lost",
       "hgx",
       [](Machine& m) { m.raise(kRetriesExceeded, 12), m.raise(kAckTimeouts, 96), m.raise(kSequenceNaks, 12); },
       {{"mlx5_1/1", "peer-silent"}}},
      {"hundreds of connections are given up in a network that loses some thousand packets",
       "hgx",
       [](Machine& m) { m.raise(kRetriesExceeded, 500), m.raise(kAckTimeouts, 4'000), m.raise(kSequenceNaks, 3'000); },
       {{"mlx5_1/1", "loss-in-network"}}},
      {"a host of the job died, and a dozen frames were damaged on the wire",
       "hgx",
       [](Machine& m) { m.raise(kRetriesExceeded, 12), m.raise(kAckTimeouts, 96), m.raise(kPhyCrcErrors, 12); },
       {{"mlx5_1/1", "damaged-link peer-silent"}}},
      {"a host of the job died, and a dozen frames did not fit here",
       "hgx",
       [](Machine& m) { m.raise(kRetriesExceeded, 12), m.raise(kAckTimeouts, 96), m.raise(kPriorityDiscards, 12); },
       {{"mlx5_1/1", "headroom peer-silent"}}},
      {"a host of the job died, and a dozen packets were discarded on sending",
       "hgx",
       [](Machine& m) { m.raise(kRetriesExceeded, 12), m.raise(kAckTimeouts, 96), m.raise(kPhyDiscards, 12, "tx"); },
       {{"mlx5_1/1", "peer-silent"}}},
      {"a host of the job died, and a dozen packets of others had a wrong invariant CRC",
       "hgx",
       [](Machine& m) { m.raise(kRetriesExceeded, 12), m.raise(kAckTimeouts, 96), m.raise(kIcrcErrors, 12); },
       {{"mlx5_1/1", "peer-silent"}}},
      {"a host of another job died, and a container of this one ended: its macvlan took its GID along",
       "hgx",
       [](Machine& m) {
         m.before.ports[1].gids.push_back({7, "0000:0000:0000:0000:0000:ffff:0a02:0007", "RoCE v2", "net1"});
         m.raise(kRetriesExceeded, 4);
       },
       {{"mlx5_1/1", "peer-silent"}},
       "",
       "went meanwhile"},
      {"a VLAN was deleted, and its connections are given up",
       "hgx",
       [](Machine& m) {
         m.before.ports[1].gids.push_back({7, "0000:0000:0000:0000:0000:ffff:0a02:0007", "RoCE v2", "roce100", true});
         m.raise(kRetriesExceeded, 4);
       },
       {{"mlx5_1/1", "not-enough-evidence"}},
       "went meanwhile"},
      {"a host of the job died, and of what type the GIDs are could not be read this time",
       "hgx",
       [](Machine& m) {
         for (Gid& gid : m.port().gids) gid.type.clear();
         m.raise(kRetriesExceeded, 4);
       },
       {{"mlx5_1/1", "peer-silent"}},
       "",
       "went meanwhile"},
      {"an Omni-Path link sends a few packets again, as all do",
       "infiniband",
       [](Machine& m) {
         for (Node* node : {&m.before, &m.now}) node->ports[1].kernel_driver = node->ports[1].driver = "hfi1";
         m.raise(kPortLinkIntegrity, 5);
       },
       {}},
      {"iWARP's packets are marked as TCP's, which answers for itself",
       "e810",
       [](Machine& m) {
         for (Node* node : {&m.before, &m.now}) node->ports[1].iwarp = true;
         m.raise(kEcnMarked, 500'000);
         m.hold(kCnpSent);
       },
       {}},
      {"marks that another congestion control does not answer, and the switch has PFC for one priority more",
       "hgx",
       [](Machine& m) {
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0x18;
         m.raise(kEcnMarked, 500'000);
         m.hold(kCnpSent);
         m.port().qos.ecn_np = PrioSet{0x08};
       },
       {}},
      {"pause that spreads, and the switch has PFC for one priority more",
       "hgx",
       [](Machine& m) {
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0x18;
         m.port().qos.ecn_rp = PrioSet{0x08};
         m.hold(kCnpHandled);
         m.raise(kPfcSeconds, 52, "rx");
       },
       {{"mlx5_1/1", "pause-spread"}}},
      {"a hypervisor shows a link that is none",
       "guest",
       [](Machine& m) {
         m.nic().link = {5, 5, 1, 1};
         m.raise(kPfcSeconds, 40, "tx");
       },
       {{"mlx5_1/1", "host-holds-network"}}},
      {"a link damages bits as another goes, and damaged frames are not counted",
       "hgx",
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
       {{"mlx5_1/1", "damaged-link"}, {"mlx5_3/1", "not-enough-evidence"}},
       "",
       "no frame was damaged"},
  };
}

// Nobody has read the flags since the light came.
void latch_loss_of_signal(Machine& m) {
  for (ModuleLane& lane : m.port().module->lanes) lane.rx_los = lane.rx_power.flags->low_alarm = true;
}

std::vector<Planted> light() {
  return {
      {"loss of signal stands from when the module was plugged, and frames are damaged",
       "hgx",
       [](Machine& m) {
         for (ModuleLane& lane : m.port().module->lanes) lane.rx_los = true;
         m.raise(kPhyCrcErrors, 300);
       },
       {{"mlx5_1/1", "damaged-link"}}},
      {"the switch came back with another FEC: the light is back, and the link is not",
       "hgx",
       [](Machine& m) {
         latch_loss_of_signal(m);
         ++*m.port().counters.carrier_down;
         m.port().state = 1;
         m.port().carrier = false;
         m.port().link_status = LinkStatus{false, "Logical mismatch", "RS FEC is not locked", 2};
       },
       {{"mlx5_1/1", "link-mode-mismatch"}}},
      {"no light at all at a module whose low alarm is the least that it can say",
       "hgx",
       [](Machine& m) {
         latch_loss_of_signal(m);
         m.port().module->rx_power_limits = {3.5e-3, 0.1e-6, 2.8e-3, 0.1e-6};
         for (ModuleLane& lane : m.port().module->lanes) lane.rx_power.value = 0.3e-6;
         ++*m.port().counters.carrier_down;
         m.port().state = 1;
         m.port().carrier = false;
       },
       {{"mlx5_1/1", "no-light"}}},
      {"loss of signal on one lane of a module that has no limits",
       "hgx",
       [](Machine& m) {
         m.port().module->rx_power_limits = {};
         m.port().module->lanes[2].rx_los = true;
         m.port().module->lanes[2].rx_power.value = 0.01e-3;
         m.raise(kPhyCrcErrors, 300);
       },
       {{"mlx5_1/1", "rx-power-low"}}},
  };
}

std::vector<Planted> all() {
  std::vector<Planted> out = losses();
  for (const auto& more : {others(), light()}) out.insert(out.end(), more.begin(), more.end());
  return out;
}

class SetAside : public testing::TestWithParam<Planted> {};

TEST_P(SetAside, HidesNothing) { expect_blamed(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Faults, SetAside, testing::ValuesIn(all()));

}  // namespace
}  // namespace fabric::faults
