// SPDX-License-Identifier: Apache-2.0
// Events of a port between two readings, in one vocabulary for all vendors: the input of rules.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "node/node.h"

namespace fabric {

// Growth in the window, in base units (counts, bytes, seconds), never negative. Absent: the port has no such counter,
// it was not read at both ends of the window, or it was reset in between.
using Rise = std::optional<double>;

// rx pause: the network pauses this port; tx pause: this port pauses the network.
struct PrioritySignals {
  Rise rx_pause_seconds, tx_pause_seconds;
  Rise rx_pause_frames, tx_pause_frames;
  Rise discards;  // frames received and dropped because there was no buffer
  Rise rx_bytes, tx_bytes;
};

struct Signals {
  double seconds = 0;  // length of the window
  std::array<PrioritySignals, 8> priority{};

  // Flow control without a priority.
  Rise rx_global_pause_frames, tx_global_pause_frames;
  Rise rx_global_pause_seconds, tx_global_pause_seconds;
  Rise pause_storm_events;  // by the NIC's own watchdog: it sent pause for too long

  // RDMA traffic; the port's if the driver counts no RDMA bytes.
  Rise rx_bytes, tx_bytes, rx_packets, tx_packets;
  Rise requests;  // received, of the operations that the driver counts

  // Transport.
  Rise out_of_sequence;     // packets that arrived out of order
  Rise duplicate_requests;  // retransmitted by the far end
  Rise ack_timeouts;        // no answer came in time
  Rise sequence_naks;       // the far end requested a retransmission
  Rise retransmissions;     // packets sent again, for any reason; not all drivers count them
  Rise retries_exceeded;    // a connection broke after its last retry, or its peer stopped answering (EFA)
  Rise rnr_naks;            // receiver not ready, sent or received
  Rise rnr_retries_exceeded;
  Rise out_of_buffer;   // arrived while no receive was posted
  Rise request_errors;  // access, length, invalid: rejected requests, either side
  Rise icrc_errors;

  // Congestion control.
  Rise cnp_sent, cnp_handled, cnp_ignored, ecn_marked;

  // The port and its link.
  Rise rx_discards, tx_discards;  // at the physical port or by the port counters
  Rise buffer_overruns;
  Rise link_downs;  // the largest of the counts of the carrier, the NIC and InfiniBand
  Rise link_recoveries;
  Rise link_integrity_errors;  // InfiniBand: local errors exceeded their threshold
  Rise symbol_errors, crc_errors;
  Rise remote_physical_errors;            // InfiniBand: packets that another device had marked as damaged
  Rise fec_corrected, fec_uncorrectable;  // code words
  Rise fec_corrected_bits;
  Rise fec_words, fec_words_near_limit;  // of FEC's histogram: see FecWords
  Rise transmit_wait;                    // InfiniBand: ticks without credit; absent once its 32 bits are full

  // Around the wire.
  Rise pcie_stalled_seconds, pcie_errors, pcie_overflows;
};

// Rises between two readings of one port, of the catalogue's counters, Port::fec and the carrier. A member is absent if
// one of its counters was reset or is in one reading only. Sources that count the same event are not added up. All
// members are absent if another device got the name in between. `seconds`: the length of the window.
Signals signals_of(const Port& before, const Port& now, double seconds);

// Port id -> signals, of the ports in both readings; the window is from `before.taken` to `now.taken`.
std::map<std::string, Signals> signals_of(const Node& before, const Node& now);

// Whether the port's lanes are of 25 Gb/s, whose Reed-Solomon code is RS(528,514) (SFF-8024 table 4-4, code 01h).
bool has_lanes_of_25g(const Port& port);

// The code words of FEC's histogram, and those near the limit: FEC corrected two thirds of the symbols that it can, or
// more. That is 15 symbols of RS(544,514), 7 of RS(528,514) and RS(272,258) (IEEE 802.3 91.5.3.3, 134.5.3.3). mlx5's
// histogram ends there; bnxt_en's has 16 bins whatever the code. nullopt: no histogram, or the code is unknown: on a
// port without a link, and at 50 and 100 Gb/s if nothing shows the number of lanes.
struct FecWords {
  uint64_t limit = 0;  // symbols that the code corrects
  uint64_t all = 0, near_limit = 0;
};
std::optional<FecWords> fec_words(const Port& port);

struct BadLane {
  size_t lane = 0;
  double share = 0;  // of the errors of all lanes
};
// The lane with at least this share of the errors between two readings, and at least `few` errors, by the counters of
// FEC, else by the driver's counters of raw errors (kPhyLaneErrors). nullopt on a link
// of one lane.
std::optional<BadLane> bad_lane(const Port& before, const Port& now, double few, double share);

}  // namespace fabric
