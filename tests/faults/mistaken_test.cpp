// SPDX-License-Identifier: Apache-2.0
// Faults that resemble another: the counters that rise most are not those of the culprit. Each in one machine.
#include "faults/fault.h"
#include "faults/planted.h"
#include "nic/metrics.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

using namespace metrics;

// The network pauses the second rail for nearly the whole minute.
void hold_fast(Machine& m) {
  m.raise(kPfcSeconds, 58, "rx");
  hold_marks(m);
}

std::vector<Planted> held() {
  return {
      {"a PFC storm elsewhere reached this port: its connections break, and no peer has died", "hgx",
       [](Machine& m) { hold_fast(m), give_up(m); }, "paused-by-network",
       "arrive late or not at all: transport retries exceeded +12", "single losses"},
      {"the same on a Broadcom NIC", "mi300x", [](Machine& m) { hold_fast(m), give_up(m); }, "paused-by-network",
       "not at all: ACK timeouts +96"},
      {"paused so long that responses are late, and nothing is lost", "hgx",
       [](Machine& m) { hold_fast(m), m.raise(kAckTimeouts, 5'000); }, "paused-by-network"},
      {"incast that breaks connections", "hgx",
       [](Machine& m) {
         m.raise(kPfcSeconds, 55, "rx");
         m.raise(kCnpHandled, 60'000);
         give_up(m);
       },
       "busy-network"},
      {"paused with congestion control off: neither the cause of the pause nor a silent peer can be concluded", "hgx",
       [](Machine& m) {
         hold_fast(m), give_up(m);
         m.port().qos.ecn_rp = PrioSet{};
       },
       "not-enough-evidence", "far-end (peer)"},
      {"no credits until connections break", "infiniband",
       [](Machine& m) {
         m.shorten(2);
         m.raise(kPortWait, 4'200'000'000 * 2.0);
         for (Node* node : {&m.before, &m.now}) node->ports[1].rate = 16e9;
         give_up(m);
       },
       "paused-by-network"},
      {"paused, and the switch's watchdog discards waiting packets: NAKs arrive", "hgx",
       [](Machine& m) { hold_fast(m), m.raise(kSequenceNaks, 20'000); }, "paused-by-network loss-in-network"},
      {"storage is paused on its own priority, and a host of the job died", "hgx",
       [](Machine& m) {
         set_pfc(m, PrioSet{0x18});
         grow_ethtool(m, "rx_prio4_pause_duration", 58'000'000);
         for (const char* name : {"rx_prio4_bytes", "tx_prio4_bytes"}) grow_ethtool(m, name, 40'000'000);
         m.now.neighbors.heard.at(1).pfc->enabled.bits = 0x18;
         give_up(m);
       },
       "busy-network far-end"},
      {"paused for a third of the time, and a host of the job died", "hgx",
       [](Machine& m) {
         hold_fast(m);
         m.hold(kPfcSeconds);
         m.raise(kPfcSeconds, 20, "rx");
         give_up(m);
       },
       "paused-by-network far-end"},
  };
}

// Lossy RoCE: PFC is off at both ends, as the site wants it.
void make_lossy(Machine& m) {
  set_pfc(m, PrioSet{});
  for (PortPolicy& entry : m.policy.ports) entry.want.pfc = PrioSet{};
  m.now.neighbors.heard.at(1).pfc->enabled.bits = 0;
}

std::vector<Planted> lossy() {
  return {
      {"RoCE without PFC, and this port discards packets", "hgx",
       [](Machine& m) {
         make_lossy(m), m.raise(kPriorityDiscards, 60'000), m.raise(kPhyDiscards, 60'000, "rx"),
             m.raise(kOutOfSequence, 50'000);
       },
       "not-enough-evidence", "no priority is known as lossless: discards +60000", "no frame of a lossless priority"},
      {"the same, and responses to this port are among them", "hgx",
       [](Machine& m) {
         make_lossy(m), m.raise(kPhyDiscards, 60'000, "rx"), m.raise(kOutOfSequence, 50'000), give_up(m);
       },
       "not-enough-evidence"},
      {"PFC unknown to policy, switch and driver, and this port discards packets", "hgx",
       [](Machine& m) {
         set_pfc(m, std::nullopt);
         m.policy.ports.clear();
         m.plan.clear();
         m.now.neighbors = {};
         m.raise(kPriorityDiscards, 60'000), m.raise(kOutOfSequence, 50'000);
       },
       "not-enough-evidence", "discards +60000"},
      {"RoCE without PFC, and the network loses it", "hgx",
       [](Machine& m) { make_lossy(m), m.raise(kOutOfSequence, 50'000), m.raise(kSequenceNaks, 20'000); },
       "loss-in-network", "hardly anything", "both ends"},
      {"RoCE without PFC, 12 discards here, and the network loses 500000", "hgx",
       [](Machine& m) {
         make_lossy(m), m.raise(kPhyDiscards, 12, "rx"), m.raise(kOutOfSequence, 400'000),
             m.raise(kSequenceNaks, 100'000);
       },
       "loss-in-network"},
  };
}

std::vector<Planted> receivers() {
  return {
      {"the peers' threads hang, and 12 packets had no posted receive here", "hgx",
       [](Machine& m) { m.raise(kRnrNaksReceived, 5'000'000), m.raise(kOutOfBuffer, 12); }, "far-end",
       "few packets without a posted receive here +12", "always posted"},
      {"a peer hangs until RNR retry is exceeded, and 12 packets had no posted receive here", "hgx",
       [](Machine& m) { m.raise(kRnrRetriesExceeded, 3), m.raise(kRnrNaksReceived, 21), m.raise(kOutOfBuffer, 12); },
       "far-end"},
      {"the same on a Broadcom NIC", "mi300x",
       [](Machine& m) { m.raise(kRnrNaksReceived, 5'000'000), m.raise(kOutOfBuffer, 500); }, "far-end"},
      {"the same on a NIC that counts the RNR NAKs it sends", "e810",
       [](Machine& m) { m.raise(kRnrNaksReceived, 5'000'000), m.raise(kRnrNaksSent, 12); }, "far-end",
       "RNR NAKs received"},
      {"it sends the RNR NAKs itself", "e810",
       [](Machine& m) { m.raise(kRnrNaksReceived, 12), m.raise(kRnrNaksSent, 5'000'000); }, "slow-host"},
      {"receivers are late at both ends", "hgx",
       [](Machine& m) { m.raise(kRnrNaksReceived, 5'000'000), m.raise(kOutOfBuffer, 4'000'000); }, "slow-host",
       "RNR NAKs received as well +5000012"},
      {"the peers hang, and this host is slow too", "hgx",
       [](Machine& m) {
         m.raise(kPfcSeconds, 30, "tx"), m.raise(kRnrNaksReceived, 5'000'000), m.raise(kOutOfBuffer, 2'000);
       },
       "slow-host far-end"},
  };
}

// A GPU hangs: the NIC accepts nothing, and its watchdog counts storms.
void hang(Machine& m) { m.raise(kPfcSeconds, 58, "tx"), m.raise(kPauseStorms, 2); }

std::vector<Planted> hung() {
  return {
      {"a NIC that always was far from its GPU, and the GPU hangs", "hgx",
       [](Machine& m) { move_nic_away(m), hang(m); }, "slow-host"},
      {"the same without a count of storms: nothing is received", "mi300x",
       [](Machine& m) {
         move_nic_away(m);
         m.port().counters = m.before.ports[1].counters;
         m.raise(kPfcSeconds, 58, "tx");
       },
       "slow-host"},
      {"a PCIe completion was lost, and the GPU hangs", "hgx",
       [](Machine& m) {
         ++*m.now.platform.functions.at(m.nic().pci).nonfatal.total;
         hang(m);
       },
       "slow-pcie slow-host"},
      {"PCIe stalls, and the GPU hangs", "hgx", [](Machine& m) { m.raise(kPcieStalled, 30, "write"), hang(m); },
       "slow-pcie slow-host"},
      {"the process hangs, and its last receives were used up before", "hgx",
       [](Machine& m) { m.raise(kOutOfBuffer, 10'000), hang(m); }, "slow-host", "without a posted receive here +10000"},
      {"a host hangs, its NIC stops pausing and discards lossless frames", "hgx",
       [](Machine& m) {
         m.raise(kPfcSeconds, 8, "tx"), m.raise(kPauseStorms, 1, "warning"), m.raise(kPauseStorms, 1, "error");
         m.raise(kPriorityDiscards, 2'000'000), m.raise(kDuplicateRequests, 30'000);
       },
       "slow-host", "frames of a lossless priority discarded meanwhile +2000000"},
      {"a slot with half of its lanes, and the GPU hangs", "hgx", [](Machine& m) { m.nic().link.width = 8, hang(m); },
       "slow-host", "also: pcie mlx5_1: x8 at 32 GT/s: at most 252 of 400 Gb/s; expected x16"},
      {"a far NIC receives as much as it can", "hgx",
       [](Machine& m) { move_nic_away(m), m.raise(kPfcSeconds, 58, "tx"); }, "slow-pcie"},
      {"frames overrun the buffer, and the host is so slow that it pauses nearly all the time", "hgx",
       [](Machine& m) { m.raise(kPfcSeconds, 58, "tx"), m.raise(kPriorityDiscards, 50'000); }, "headroom slow-host"},
  };
}

void lose_on_sending(Machine& m) { m.raise(kSequenceNaks, 20'000), m.raise(kAckTimeouts, 500); }

std::vector<Planted> transmitters() {
  return {
      {"our laser fades: only the switch counts damaged frames", "hgx",
       [](Machine& m) { m.port().module->lanes[2].tx_power.value = 0.1e-3, lose_on_sending(m); }, "bad-module",
       "lane 3 of our module: tx power 0.1 mW"},
      {"a lane of ours has a transmitter fault", "mi300x",
       [](Machine& m) { m.port().module->lanes[1].tx_fault = true, lose_on_sending(m); }, "bad-module",
       "sequence NAKs received +20000"},
      {"our laser fades, and packets to this port are lost", "hgx",
       [](Machine& m) {
         m.port().module->lanes[2].tx_power.value = 0.1e-3, m.raise(kOutOfSequence, 50'000), m.raise(kSequenceNaks, 12);
       },
       "loss-in-network"},
      {"our laser is fine, and an old alarm flag is latched", "hgx",
       [](Machine& m) { m.port().module->lanes[2].tx_power.flags->low_alarm = true, lose_on_sending(m); },
       "loss-in-network"},
      {"the module is hot, and works", "hgx",
       [](Machine& m) { m.port().module->temperature.value = 78, lose_on_sending(m); }, "loss-in-network"},
      {"our laser fades, and nothing is lost yet", "hgx",
       [](Machine& m) { m.port().module->lanes[2].tx_power.value = 0.1e-3; }, ""},
  };
}

std::vector<Planted> settings() {
  const auto differ = [](Machine& m, const char* key) { m.change(m.port().id(), key).outcome = Outcome::differs; };
  const auto lose = [](Machine& m) { m.raise(kOutOfSequence, 50'000), m.raise(kSequenceNaks, 20'000); };
  return {
      {"another DSCP's mapping differs, and the network loses RoCE of the right priority", "hgx",
       [=](Machine& m) { differ(m, "dscp_map"), lose(m); }, "loss-in-network"},
      {"the same on a Broadcom NIC", "mi300x", [=](Machine& m) { differ(m, "dscp_map"), lose(m); }, "loss-in-network"},
      {"VLAN priorities are trusted, and RoCE has the right one", "hgx",
       [=](Machine& m) { differ(m, "trust"), lose(m); }, "loss-in-network"},
      {"the map differs, and bytes are not counted by priority", "e810",
       [=](Machine& m) { differ(m, "dscp_map"), lose(m); }, "roce-unprotected"},
  };
}

std::vector<Planted> gateways() {
  return {
      {"the gateway of a rail is gone, and all connections with it", "hgx",
       [](Machine& m) { m.interface().gateways.front().state = NUD_FAILED, give_up(m); }, "loss-in-network",
       "does not answer (FAILED)"},
      {"one of two gateways does not answer, and a host of the job died", "hgx",
       [](Machine& m) {
         auto& gateways = m.interface().gateways;
         gateways.push_back({*parse_ip("fe80::1"), NUD_FAILED});
         give_up(m);
       },
       "far-end", "", "does not answer ("},
      {"the gateway's entry is stale, and a host of the job died", "hgx",
       [](Machine& m) { m.interface().gateways.front().state = NUD_STALE, give_up(m); }, "far-end"},
      {"the gateway is gone, and packets still come out of order", "hgx",
       [](Machine& m) { m.interface().gateways.front().state = NUD_FAILED, m.raise(kOutOfSequence, 50'000); },
       "loss-in-network", "", "gateway"},
  };
}

std::vector<Planted> beyond() {
  return {
      {"our own cable damages sent packets: only the switch can see that", "hgx", lose_on_sending, "loss-in-network",
       "no receive errors"},
      {"a slow host, and the switch discards packets that wait for it", "hgx",
       [](Machine& m) { m.raise(kPfcSeconds, 24, "tx"), m.raise(kDuplicateRequests, 30'000); },
       "slow-host loss-in-network", "may be discarded before it"},
  };
}

std::vector<Planted> sources() {
  return {
      {"a rail of this host has a PFC storm, and its pause spreads back to another", "hgx",
       [](Machine& m) {
         hold_fast(m);
         grow_ethtool(m, "tx_prio3_pause_duration", 58'000'000, 2);
       },
       "mlx5_1/1: paused-by-network; mlx5_2/1: slow-host", "mlx5_2/1 of this host has a PFC storm"},
      {"the same, and it spreads back to the port itself", "hgx", [](Machine& m) { hold_fast(m), hang(m); },
       "slow-host paused-by-network", "mlx5_1/1 of this host"},
      {"another rail sends a little pause", "hgx",
       [](Machine& m) {
         hold_fast(m);
         grow_ethtool(m, "tx_prio3_pause_duration", 20'000'000, 2);
       },
       "mlx5_1/1: paused-by-network; mlx5_2/1: slow-host", "", "PFC storm"},
  };
}

// Congestion control has never counted anything.
void never_mark(Machine& m) {
  for (const char* name : {"rp_cnp_handled", "np_cnp_sent", "np_ecn_marked_roce_packets", "rx_cnp_pkts", "tx_cnp_pkts",
                           "rx_ecn_marked_pkts"})
    for (Node* node : {&m.before, &m.now})
      for (Counter& each : node->ports[1].counters.hw)
        if (each.name == name) each.value = 0;
}

std::vector<Planted> unmarked() {
  constexpr const char* kSaid = "no mark and no CNP was ever counted here";
  return {
      {"ECN is off at the switches: incast shows as pause alone", "hgx",
       [](Machine& m) { never_mark(m), m.raise(kPfcSeconds, 20, "rx"); }, "paused-by-network", kSaid},
      {"the same on a Broadcom NIC", "mi300x", [](Machine& m) { never_mark(m), m.raise(kPfcSeconds, 20, "rx"); },
       "paused-by-network", kSaid},
      {"pause of some per cent is no fault", "hgx", [](Machine& m) { m.raise(kPfcSeconds, 8, "rx"); }, "busy-network"},
      {"nor is it if this port sends it, too", "mi300x",
       [](Machine& m) { m.raise(kPfcSeconds, 8, "rx"), m.raise(kPfcSeconds, 8, "tx"); }, "busy-network"},
      {"if this port alone sends it, its host is slower than the link", "mi300x",
       [](Machine& m) { m.raise(kPfcSeconds, 8, "tx"); }, "slow-host", "PFC pause sent, priority"},
      {"the switches mark, but not this time", "hgx", [](Machine& m) { hold_fast(m); }, "paused-by-network", "", kSaid},
  };
}

std::vector<Planted> buffers() {
  return {
      {"a firmware reset put the priority into a lossy buffer: it overruns without pause", "hgx",
       [](Machine& m) {
         m.hold(kPfcFrames), m.hold(kPfcSeconds);
         m.raise(kPriorityDiscards, 50'000);
       },
       "headroom", "this port never sent pause"},
      {"the headroom is too small, and pause was short", "hgx", [](Machine& m) { m.raise(kPriorityDiscards, 50'000); },
       "headroom", "PFC pause sent, priority 3", "never sent"},
  };
}

class Mistaken : public testing::TestWithParam<Planted> {};

TEST_P(Mistaken, NamesTheCulprit) { expect_blamed(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Faults, Mistaken,
                         testing::ValuesIn(join({held(), lossy(), receivers(), hung(), transmitters(), settings(),
                                                 gateways(), beyond(), sources(), unmarked(), buffers()})));

}  // namespace
}  // namespace fabric::faults
