// SPDX-License-Identifier: Apache-2.0
// Frequent faults of RoCE clusters, from public reports: the counters are those that the reports name, and the rules
// were not written for them. The expected answer is the cause that the operators found in the end, not the text of our
// rules.
#include "faults/fleet/reported.h"

#include "nic/metrics.h"

namespace fabric::faults {
namespace {

using namespace metrics;

constexpr const char *kMsr = "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016",
                     *kMeta = "Gangidi et al., RDMA over Ethernet for Distributed AI Training, SIGCOMM 2024",
                     *kMegaScale = "Jiang et al., MegaScale, NSDI 2024", *kNccl = "NVIDIA/nccl issues",
                     *kSonic = "SONiC PFC watchdog", *kOci = "oci-hpc health checks", *kByteps = "bytedance/byteps#179",
                     *kLlama = "The Llama 3 Herd of Models, 3.3.4";

Plant roce(std::vector<Grow> all) { return on_roce(counted(std::move(all))); }

std::string silence_switch(Machine& m) {
  if (m.now.neighbors.heard.empty()) return {};
  for (Neighbor& each : m.now.neighbors.heard) each.pfc.reset(), each.app.reset(), each.ets_recommended.reset();
  return m.port().id();
}
void flap(Machine& m) { *m.port().counters.carrier_down += 4; }
void slow_slot(Machine& m) { m.nic().link.speed = 8; }
std::string translate(Machine& m) {
  if (m.now.platform.iommu_groups.empty()) return {};
  for (auto& [number, type] : m.now.platform.iommu_groups) type = "DMA";
  return "host";
}

ReportedFaults cables() {
  return {
      {"copper-cable-dies", "an active copper cable damages bits in bursts, then the link drops", kLlama,
       both(roce({{&kPhySymbolErrors, 400}}), at_port(flap)), "link-errors link-flap", Culprit::cable},
      {"dirty-connector", "dust on a connector: FEC corrects 5e-5 of the bits, and loses nothing yet", kOci,
       roce({{&kPhyCorrectedBits, 1.2e9}}), "pre-fec-ber", Culprit::none},
      {"optic-flaps", "a transceiver flaps, without errors before", kMegaScale, on_roce(at_port(flap)), "link-flap",
       Culprit::cable, true},
      {"slow-bit-errors", "40 uncorrectable code words a minute", kOci, roce({{&kPhyUncorrectableWords, 40}}),
       "link-errors", Culprit::cable},
      {"optic-too-hot", "a fan failed: the module is at 78 degrees", kOci,
       in_module([](Transceiver& t) { t.temperature.value = 78; }), "module-temperature", Culprit::none},
      {"lane-dark", "a lane's light is 10 dB low, and code words are lost", kOci,
       both(roce({{&kPhyUncorrectableWords, 900}}),
            in_module([](Transceiver& t) { t.lanes[2].rx_power.value = 0.05e-3; })),
       "optics link-errors", Culprit::cable},
      {"cables-swapped-at-leaf", "LLDP names the wrong port: two cables were swapped", kMeta, swap_cables, "cabling",
       Culprit::none},
  };
}

ReportedFaults switches() {
  return {
      {"pfc-on-another-priority", "the switch has PFC on priority 4 and announces nothing: out_of_sequence 6 million",
       kNccl, both(roce({{&kOutOfSequence, 6e6}, {&kSequenceNaks, 930'000}}), silence_switch), "loss",
       Culprit::network},
      {"dscp-stripped", "a hop rewrites DSCP 26 to 0: the receiver gets RoCE on priority 0 and drops it", kMeta,
       roce({{&kPhyDiscards, 20'000, "rx"}, {&kOutOfSequence, 200'000}, {&kDuplicateRequests, 40'000}}),
       "loss discards", Culprit::network, true},
      {"mtu-of-one-hop", "one hop has MTU 1500: small messages pass, large ones never arrive", kNccl,
       roce({{&kAckTimeouts, 4'000}, {&kRetriesExceeded, 12}}), "loss", Culprit::network, true},
      {"ecmp-member-dead", "one ECMP member is black: an eighth of the flows break", kMeta,
       roce({{&kAckTimeouts, 900}, {&kRetriesExceeded, 6}, {&kOutOfSequence, 4'000}}), "loss", Culprit::network},
      {"ecmp-member-lossy", "one ECMP member drops one packet in 1000", kMeta,
       roce({{&kSequenceNaks, 9'000}, {&kOutOfSequence, 60'000}, {&kAckTimeouts, 60}}), "loss", Culprit::network},
      {"switch-alpha", "dynamic buffer threshold 1/64 instead of 1/16: the switch pauses long before it marks", kMsr,
       both(roce({{&kPfcSeconds, 25, "rx"}, {&kPfcFrames, 900'000, "rx"}}), at_port(hold_marks)), "", Culprit::network},
      {"ecn-off-at-switch", "no ECN profile on the queue: pause for 25 % of the time, and no mark", kMeta,
       both(roce({{&kPfcSeconds, 15, "rx"}}), at_port(hold_marks)), "", Culprit::network},
      {"switch-headroom", "the switch's headroom is for 5 m, the cables have 100: it drops lossless packets", kMsr,
       roce({{&kSequenceNaks, 12'000}, {&kOutOfSequence, 30'000}, {&kPfcSeconds, 2, "rx"}}), "loss", Culprit::network},
      {"watchdog-drops", "the switch's PFC watchdog drops the queue towards this host, a victim", kSonic,
       roce({{&kOutOfSequence, 80'000}, {&kSequenceNaks, 4'000}, {&kAckTimeouts, 20'000}}), "loss", Culprit::network},
      {"cnp-in-wrong-queue", "CNPs wait behind data: marks are many, CNPs arrive late, PFC works instead", kMeta,
       roce({{&kPfcSeconds, 18, "rx"}, {&kEcnMarked, 900'000}, {&kCnpSent, 200'000}}), "", Culprit::none},
      {"global-pause-at-switch", "802.3x is on at the switch: it stops everything", kNccl,
       roce({{&kGlobalPauseFrames, 1'500'000, "rx"}}), "", Culprit::network},
      {"switch-damages-packets", "a line card flips bits: wrong ICRC, and no CRC error", kMsr,
       roce({{&kIcrcErrors, 120}, {&kOutOfSequence, 60'000}}), "loss link-errors", Culprit::network},
      {"no-dcb-anywhere", "PFC nowhere on the path: drops under load (irdma counts what it sends again)", kNccl,
       both(roce({{&kRetransmittedPackets, 9'000'000}}), silence_switch), "loss", Culprit::network},
  };
}

ReportedFaults hosts() {
  return {
      {"gpu-hang-storm", "a hung GPU: the NIC sends pause for 59 of 60 seconds", kMsr,
       roce({{&kPfcSeconds, 59, "tx"}, {&kPauseStorms, 1}}), "pause-storm", Culprit::host},
      {"slow-receiver", "the NIC misses its translation cache: pause for 15 % of the time", kMsr,
       roce({{&kPfcSeconds, 9, "tx"}}), "", Culprit::host, true},
      {"late-receiver", "a straggler posts its receives late", kMegaScale, roce({{&kOutOfBuffer, 4e6}}), "",
       Culprit::host},
      {"pcie-downtrained", "the slot trained at 8 GT/s: PCIe buffers overflow, pause for 20 % of the time", kMegaScale,
       both(roce({{&kPfcSeconds, 12, "tx"}, {&kPcieOverflows, 4'000}}), at_nic(slow_slot)), "pcie pcie-errors",
       Culprit::host},
      {"acs-after-update", "a firmware update turned ACS on again", kOci,
       [](Machine& m) {
         if (!m.now.pci_settings) return std::string();
         m.now.pci_settings->functions.at(m.nic().bridges[0]).acs = uint16_t{0x1d};
         return m.nic().bridges[0];
       },
       "acs", Culprit::none},
      {"memlock-of-service", "ibv_reg_mr: Cannot allocate memory, in jobs of slurmd alone", kOci,
       [](Machine& m) {
         JobService& service = m.now.host->services[1];
         service.memlock = LimitSetting{{65'536, 65'536}, {"/etc/systemd/system/slurmd.service", 9}};
         service.processes[0].limits.memlock = ResourceLimit{65'536, 65'536};
         return service.unit;
       },
       "memlock", Culprit::none},
      {"gid-by-networkmanager", "NetworkManager reconnects and gives the netdev another address", kNccl,
       on_roce(at_port([](Machine& m) {
         const Address old = m.interface().addresses->front();
         const Ip ip = *parse_ip(old.ip.v6 ? "fd00:10:1:1::99" : "10.1.1.99");
         m.interface().addresses->front() = {ip, old.prefix};
         m.port().gids.back().gid = gid_text(ip);
       })),
       "gid-changed", Culprit::none},
      {"firmware-mix", "a replaced NIC has other firmware", kMeta,
       [](Machine& m) {
         if (m.port().board_id.empty() && m.port().pci_id.empty()) return std::string();
         m.port().firmware = "28.33.1000";
         return m.port().rdma;
       },
       "firmware", Culprit::none},
      {"host-headroom", "100 m of cable, headroom for 7: 900 lossless frames discarded while pause was sent", kMeta,
       roce({{&kPriorityDiscards, 900}, {&kPfcSeconds, 1, "tx"}}), "discards", Culprit::host},
      {"wrong-numa", "the NIC was moved to the other socket: pause for 25 % of the time", kMegaScale,
       both(roce({{&kPfcSeconds, 15, "tx"}}), at_gpu(move_nic_away)), "locality", Culprit::host},
      {"iommu-strict", "iommu=pt was lost: the NIC waits for the IOMMU for 10 of 60 seconds", kNccl,
       both(roce({{&kPcieStalled, 10, "write"}}), translate), "iommu pcie-errors", Culprit::host},
      {"no-traffic-class", "no NCCL_IB_TC: all bytes on priority 0, local_ack_timeout_err 2705", kByteps,
       both(roce({{&kAckTimeouts, 2'705}, {&kOutOfSequence, 9'000}}),
            [](Machine& m) { return move_to_priority_0(m) ? m.port().id() : std::string(); }),
       "loss unprotected-traffic", Culprit::host},
      {"arp-flux", "rails in one subnet answer for each other: packets arrive at the wrong port", kNccl,
       both(roce({{&kAckTimeouts, 800}}), answer_any_arp), "rails loss", Culprit::host, true},
      {"congestion-control-off", "the reaction point is off: CNPs are ignored", kMeta, roce({{&kCnpIgnored, 40'000}}),
       "cnp-ignored", Culprit::host},
      {"firmware-assert", "the NIC's firmware asserts and recovers: the link is gone for seconds", kMegaScale,
       [](Machine& m) {
         if (m.port().reporters.empty()) return std::string();
         ++m.port().reporters[0].errors, ++m.port().reporters[0].recoveries;
         ++*m.port().counters.carrier_down;
         return m.port().id();
       },
       "device-health link-flap", Culprit::host},
      {"half-the-lanes", "the link came up with half of its lanes", kOci, at_port([](Machine& m) {
         m.port().rate = *m.port().rate / 2;
         if (m.port().speed) m.port().speed = *m.port().speed / 2;
       }),
       "rate", Culprit::none},
  };
}

ReportedFaults far_ends() {
  return {
      {"peer-rebooted", "a host of the job rebooted: NCCL error 12", kNccl,
       roce({{&kRetriesExceeded, 8}, {&kAckTimeouts, 64}}), "loss", Culprit::peer},
      {"peer-straggles", "the far end's GPU is late: RNR NAKs for every hundredth packet", kMegaScale,
       roce({{&kRnrNaksReceived, 6e6}}), "", Culprit::peer},
  };
}

}  // namespace

const ReportedFaults& reported_faults() {
  static const ReportedFaults all = [] {
    ReportedFaults out;
    for (const ReportedFaults& each : {cables(), switches(), hosts(), far_ends()})
      out.insert(out.end(), each.begin(), each.end());
    return out;
  }();
  return all;
}

}  // namespace fabric::faults
