// SPDX-License-Identifier: Apache-2.0
// Congestion and loss: counters of a port that show faults of the network, of this host and of its peers.
#include "faults/fault.h"
#include "faults/fleet/reported.h"
#include "nic/counter_catalogue.h"
#include "nic/metrics.h"

namespace fabric::faults {
namespace {

using namespace metrics;

const std::vector<Grow> kLost{{&kOutOfSequence, 50'000}, {&kSequenceNaks, 20'000}, {&kAckTimeouts, 500}};
constexpr const char* kLostText = "out of sequence +50000, NAKs +20000, timeouts +500";

void switch_pfc_off(Machine& m) {
  m.port().qos.pfc = PrioSet{};
  m.change(m.port().id(), "pfc").outcome = Outcome::differs;
}
void trust_vlan_priorities(Machine& m) {
  move_to_priority_0(m);
  m.change(m.port().id(), "trust").outcome = Outcome::differs;
}
void answer_no_marks(Machine& m) {
  m.hold(kCnpSent);
  m.port().qos.ecn_np = PrioSet{};
}

Faults losses() {
  return {
      {"packets-lost", "the network drops RoCE packets: incast without PFC further on", kLostText,
       on_roce(counted(kLost)), "loss", W, "50000 packets out of sequence", "loss-in-network", "health: netem loss"},
      {"answers-lost", "duplicate requests: responses are lost on the way back", "duplicate requests +40000",
       on_roce(counted({{&kDuplicateRequests, 40'000}})), "loss", W, "", "loss-in-network"},
      {"acks-lost", "ACKs arrive too late or never", "timeouts +9000", on_roce(counted({{&kAckTimeouts, 9'000}})),
       "loss", W, "", "loss-in-network"},
      {"packets-sent-again", "packets are lost, and the driver counts nothing but what is sent again (irdma to 6.12)",
       "retransmitted packets +4000000, no counter of NAKs, order and timeouts",
       [](Machine& m) {
         if (!m.is_roce() || !grow(m, {{&kRetransmittedPackets, 4'000'000}})) return std::string();
         for (Node* node : {&m.before, &m.now})
           std::erase_if(node->ports.at(1).counters.hw, [&](const Counter& each) {
             const auto match = describe_counter(CounterSource::hw, each.name, m.port().kernel_driver);
             return match.row != nullptr && match.row->metric != nullptr &&
                    match.row->rise.kind == CounterClass::loss && match.row->metric != &kRetransmittedPackets;
           });
         return m.port().id();
       },
       "loss", W, "", "loss-in-network"},
      {"packets-lost-on-infiniband", "a bad link somewhere in an InfiniBand fabric", kLostText,
       [](Machine& m) { return !m.is_roce() && grow(m, kLost) ? m.port().id() : std::string(); }, "loss", W, "",
       "not-enough-evidence"},
      {"damaged-on-another-link", "a bad cable between two InfiniBand switches: packets arrive marked as damaged",
       "port_rcv_remote_physical_errors +600", counted({{&kPortRemotePhysical, 600}}), "loss", W, "",
       "damaged-on-path"},
      {"damaged-on-another-link-and-lost", "the same, with retransmissions",
       "port_rcv_remote_physical_errors +6000, out of sequence +50000",
       counted({{&kPortRemotePhysical, 6'000}, {&kOutOfSequence, 50'000}}), "loss", W, "", "damaged-on-path"},
      {"peer-died", "a host of the job died: transport retry exceeded", "retries exceeded +4, timeouts +32",
       counted({{&kRetriesExceeded, 4}, {&kAckTimeouts, 32}}), "loss", W, "", "far-end"},
      {"damaged-in-a-switch", "a switch's memory damages packets, without errors on any link",
       "ICRC errors +50, out of sequence +50000", counted({{&kIcrcErrors, 50}, {&kOutOfSequence, 50'000}}),
       "link-errors", W, "", "damaged-on-path", "", "loss"},
      {"dropped-on-sending", "a rate limit or steering rule drops packets on sending",
       "discards on sending +4000, NAKs +20000", counted({{&kPhyDiscards, 4'000, "tx"}, {&kSequenceNaks, 20'000}}),
       "discards", W, "", "send-drops", "", "loss"},
      {"pfc-off-here-and-loss", "PFC is off on this port alone: RoCE is lost in bursts",
       "no PFC on priority 3, " + std::string(kLostText), on_roce(both(counted(kLost), at_port(switch_pfc_off))), "pfc",
       C, "", "roce-unprotected", "", "loss peer-pfc peer-app"},
      {"pfc-off-at-the-switch-and-loss", "PFC is off on the switch port alone: RoCE is lost in bursts",
       "the neighbor's PFC is empty, " + std::string(kLostText),
       both(counted(kLost), at_switch([](Neighbor& n) { n.pfc->enabled.bits = 0; })), "peer-pfc", C, "",
       "pfc-off-switch", "", "loss"},
      {"pfc-of-another-priority-at-the-switch-and-loss",
       "the switch has PFC on priority 4, this port on 3: RoCE is lost in bursts",
       "the neighbor's PFC is 4, " + std::string(kLostText),
       both(counted(kLost), at_switch([](Neighbor& n) { n.pfc->enabled.bits = 0x10; })), "peer-pfc", C, "",
       "pfc-off-switch", "", "loss"},
      {"sent-on-a-lossy-priority", "the job has no NCCL_IB_TC: RoCE uses priority 0 and is lost in bursts",
       "bytes of priority 0 in place of 3, " + std::string(kLostText),
       [](Machine& m) {
         return m.is_roce() && move_to_priority_0(m) && grow(m, kLost) ? m.port().id() : std::string();
       },
       "loss", W, "", "roce-unprotected", "", "unprotected-traffic"},
      {"sent-on-a-lossy-priority-without-loss",
       "the job has no NCCL_IB_TC: RoCE uses priority 0, and nothing is lost before the network is congested",
       "bytes of priority 0 in place of 3",
       [](Machine& m) { return m.is_roce() && move_to_priority_0(m) ? m.port().id() : std::string(); },
       "unprotected-traffic", W, "used no priority with PFC (3)|NCCL_IB_TC=106"},
      {"wrong-priority-and-loss", "the port trusts VLAN priorities: RoCE uses a lossy priority",
       "trust differs in the dry run, bytes of priority 0 in place of 3, " + std::string(kLostText),
       on_roce(both(counted(kLost), at_port(trust_vlan_priorities))), "trust", C, "", "roce-unprotected", "",
       "loss unprotected-traffic"},
  };
}

Faults discards() {
  return {
      {"headroom-too-small", "the headroom is too small for the cable: frames are discarded despite PFC",
       "discards of priority 3 +4000, tx pause 2 s", counted({{&kPriorityDiscards, 4'000}, {&kPfcSeconds, 2, "tx"}}),
       "discards", W, "4000 ", "headroom", "health: rx_prio3_discards"},
      {"port-discards", "a lossy priority overruns the port's buffer", "discards at the physical port +4000",
       counted({{&kPhyDiscards, 4'000, "rx"}}), "discards", W},
      {"roce-discards", "a Broadcom NIC discards RoCE packets", "RoCE discards +4000",
       counted({{&kDiscards, 4'000, "rx"}}), "discards", W},
      {"buffer-overrun", "an InfiniBand port received more than its credits allow",
       "excessive_buffer_overrun_errors +1", counted({{&kPortOverruns, 1}}), "discards", W, "", "not-enough-evidence"},
      {"buffer-overrun-of-a-bad-cable", "a cable damages data and credits, and the buffer overruns",
       "excessive_buffer_overrun_errors +1, symbol_error +5000",
       counted({{&kPortOverruns, 1}, {&kPortSymbolErrors, 5'000}}), "discards", W, "", "damaged-link", "",
       "link-errors"},
  };
}

// Pause sent for most of a minute.
Grow holds(double seconds) { return {&kPfcSeconds, seconds, "tx"}; }

Faults host_pause() {
  return {
      {"pause-storm", "PFC storm: a hung GPU, and the NIC drains nothing", "storm events +1, tx pause 57 of 60 seconds",
       counted({{&kPauseStorms, 1}, holds(57), {&kPfcFrames, 600'000, "tx"}}), "pause-storm", C, "1 ", "slow-host"},
      {"host-holds-the-network", "the host is slow for an unknown reason", "tx pause 50 of 60 seconds",
       counted({holds(50)}), "pause-storm", W, "", "slow-host", "health: tx_prio3_pause_duration"},
      {"late-application", "the application posts no receives: the port sends PFC pause",
       "tx pause 50 of 60 seconds, out of buffer +10000", counted({holds(50), {&kOutOfBuffer, 10'000}}), "pause-storm",
       W, "", "slow-host"},
      {"pcie-overflow", "memory is slower than the port", "PCIe buffer overflows +700",
       counted({{&kPcieOverflows, 700}}), "pcie-errors", W, "700 ", "slow-pcie",
       "health: outbound_pci_buffer_overflow"},
      {"pcie-stall", "the root complex stalls the NIC", "stalled for 40 of 60 seconds",
       counted({{&kPcieStalled, 40, "write"}}), "pcie-errors", W, "", "slow-pcie"},
      {"narrow-slot-and-pause", "the NIC lost PCIe lanes and is slower than the port",
       "PcieLink x2 of x16, tx pause 50 of 60 seconds",
       both(counted({holds(50)}), at_nic([](Machine& m) { m.nic().link.width = 2; })), "pcie", C, "", "slow-pcie", "",
       "pause-storm"},
      {"narrow-gpu-and-pause", "the GPU lost PCIe lanes: what the NIC receives for it waits",
       "PcieLink x4 of x16 of the GPU, tx pause 50 of 60 seconds",
       [](Machine& m) {
         if (m.is_guest() || !grow(m, {holds(50)})) return std::string();
         m.gpu().link.width = 4;
         return m.gpu().name;
       },
       "pcie", W, "", "slow-pcie", "", "pause-storm"},
      {"pcie-errors-and-pause", "a PCIe link retransmits so much that the NIC sends pause",
       "AER BadTLP +600, tx pause 50 of 60 seconds",
       [](Machine& m) {
         AerCounts& counts = m.now.platform.functions.at(m.nic().pci).correctable;
         if (!counts.total || !grow(m, {holds(50)})) return std::string();
         *counts.total += m.events(600);
         counts.kinds["BadTLP"] += m.events(600);
         return m.nic().pci;
       },
       "aer", W, "", "slow-pcie", "", "pause-storm"},
      {"far-nic-and-pause", "the NIC is on the other socket: the path between the sockets is full",
       "the NIC on a root bus at the other node, tx pause 50 of 60 seconds",
       both(counted({holds(50), {&kOutOfBuffer, 10'000}}), at_gpu(move_nic_away)), "locality", W, "", "slow-pcie", "",
       "pause-storm"},
  };
}

Faults network_pause() {
  return {
      {"incast", "incast: the switch pauses this port, and CNPs arrive", "rx pause 52 of 60 seconds, CNPs +60000",
       counted({{&kPfcSeconds, 52, "rx"}, {&kCnpHandled, 60'000}}), "pause-held", W, "", "busy-network"},
      {"pause-spreads", "a PFC storm elsewhere spread to this rail: pause without congestion",
       "rx pause 52 of 60 seconds, CNPs and marks unchanged",
       both(counted({{&kPfcSeconds, 52, "rx"}}), at_port(hold_marks)), "pause-held", W, "", "paused-by-network",
       "health: rx_prio3_pause_duration"},
      // Other drivers show no global pause while their own is off, or count the time of PFC alone.
      {"switch-sends-global-pause", "802.3x flow control is on at the switch: it stops all priorities",
       "global pause frames received +1200000", counted({{&kGlobalPauseFrames, 1'200'000, "rx"}}), "", W, "",
       "paused-by-network"},
      {"no-credits", "a slow receiver has filled an InfiniBand network up to this port's switch",
       "port_xmit_wait +2500000000 in five seconds: 8 % of them",
       [](Machine& m) {
         m.shorten(5);
         return grow(m, {{&kPortWait, 2'500'000'000}}) && !m.is_roce() ? m.port().id() : std::string();
       },
       "", W, "", "paused-by-network"},
      {"marks-unanswered", "the notification point is off: ECN-marked packets arrive, and no CNP is sent",
       "ECN marks +500000, CNPs sent unchanged, ecn_np empty",
       on_roce(both(counted({{&kEcnMarked, 500'000}}), at_port(answer_no_marks))), "", W, "", "ecn-off"},
      {"cnp-ignored", "congestion control is off at this sender: CNPs are ignored", "CNPs ignored +20000",
       counted({{&kCnpIgnored, 20'000}}), "cnp-ignored", W, "20000 CNPs ignored", "ecn-off", "health: rp_cnp_ignored"},
  };
}

Faults applications() {
  return {
      {"receiver-never-ready", "the peer's application hangs: RNR retry exceeded",
       "RNR retries exceeded +3, RNR NAKs +21", counted({{&kRnrRetriesExceeded, 3}, {&kRnrNaksReceived, 21}}),
       "receiver", W, "3 ", "far-end"},
      {"late-receives", "an application here posts its receives too late", "packets without a receive +3000000",
       counted({{&kOutOfBuffer, 3'000'000}}), "", W, "", "slow-host"},
      {"requests-rejected", "an application uses a key that the peer has revoked", "remote access errors +8",
       counted({{&kAccessErrors, 8}}), "requests", W, "8 "},
      {"counters-frozen", "the firmware hangs: traffic flows, and no RDMA counter moves",
       "RDMA counters unchanged, bytes of priority 3 growing",
       [](Machine& m) {
         bool by_priority = false;
         for (const Counter& each : m.port().counters.ethtool)
           by_priority = by_priority || each.name.text().find("pri") != std::string::npos;
         if (!m.is_roce() || !by_priority || m.port().driver == "ice") return std::string();
         m.port().counters.hw = m.before.ports[1].counters.hw;
         m.port().counters.pma = m.before.ports[1].counters.pma;
         return m.port().id();
       },
       "counters-frozen", W},
  };
}

}  // namespace

bool move_to_priority_0(Machine& m) {
  bool done = false;
  for (Node* node : {&m.before, &m.now}) {
    std::vector<Counter>& all = node->ports.at(1).counters.ethtool;
    for (size_t i = 0; i < all.size(); ++i) {
      std::string name(all[i].name.text());
      if (name.find("bytes") == std::string::npos || name.find('3') == std::string::npos) continue;
      name[name.find('3')] = '0';
      all.push_back({name, all[i].value});
      done = true;
    }
  }
  m.hold(kPriorityBytes);
  m.hold(kPriorityQueueBytes);
  for (Counter& counter : m.port().counters.ethtool)
    if (counter.name.text().find("prio0_bytes") != std::string_view::npos ||
        counter.name.text().find("bytes_pri0") != std::string_view::npos)
      counter.value += 2'700'000'000'000;
  return done;
}

Faults congestion_faults() { return together({losses(), discards(), host_pause(), network_pause(), applications()}); }

}  // namespace fabric::faults
