// SPDX-License-Identifier: Apache-2.0
// The second rail is a bond of two ports (mlx5 RoCE LAG). The bond has the RDMA counters; its members have pause,
// discards, bytes by priority, settings and switches. The culprit is the same as without a bond.
#include "faults/answer.h"
#include "faults/planted.h"
#include "support/ports.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

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
void lose_packets(Machine& m) { grow(bond(m), "out_of_sequence", 50'000), grow(bond(m), "packet_seq_err", 20'000); }

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
       [](Machine& m) { grow(member(m), "tx_prio3_pause_duration", 57'000'000), lose_packets(m); },
       "mlx5_1/1@ens1: slow-host", "packets do not reach this host meanwhile"},
      {"the NIC of a hung host stopped pausing", "hgx",
       [](Machine& m) {
         grow(member(m), "tx_pause_storm_error_events", 1);
         grow(bond(m), "packet_seq_err", 20'000);
       },
       "mlx5_1/1@ens1: slow-host"},
      {"the headroom of a member is too small", "hgx",
       [](Machine& m) { grow(member(m), "rx_prio3_discards", 5'000), lose_packets(m); },
       "mlx5_1/1: headroom; mlx5_1/1@ens1: headroom"},
      {"PFC is off at the switch of one member", "hgx",
       [](Machine& m) {
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0;
         lose_packets(m);
       },
       "pfc-off-switch"},
      {"PFC is off at one member", "hgx",
       [](Machine& m) {
         member(m).qos.pfc = PrioSet{};
         lose_packets(m);
       },
       "roce-unprotected"},
      {"a member drops on sending", "hgx",
       [](Machine& m) { grow(member(m), "tx_discards_phy", 40'000), grow(bond(m), "packet_seq_err", 20'000); },
       "send-drops"},
      {"the network loses packets", "hgx", lose_packets, "loss-in-network",
       "no frame of a lossless priority was discarded here"},
  };
}

class Bond : public testing::TestWithParam<Planted> {};

TEST_P(Bond, NamesTheCulprit) { expect_blamed(GetParam(), bonded()); }
INSTANTIATE_TEST_SUITE_P(Faults, Bond, testing::ValuesIn(faults()));

}  // namespace
}  // namespace fabric::faults
