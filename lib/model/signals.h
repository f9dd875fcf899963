// SPDX-License-Identifier: Apache-2.0
// What a port did between two readings, in one vocabulary for all vendors: what rules judge.
#pragma once

#include <array>
#include <optional>

namespace fabric {

// By how much it grew in the window, in base units (counts, bytes, seconds). Absent: the port does not have such a
// counter, it was not read at both ends of the window, or it was reset in between. Never negative.
using Rise = std::optional<double>;

// Direction as the counters have it. rx pause: the far end (the network) holds this port; tx pause: this port (the
// host) holds the network.
struct PrioritySignals {
  Rise rx_pause_seconds, tx_pause_seconds;
  Rise rx_pause_frames, tx_pause_frames;
  Rise discards;  // frames received and thrown away for want of buffer
  Rise rx_bytes, tx_bytes;
};

struct Signals {
  double seconds = 0;  // length of the window
  std::array<PrioritySignals, 8> priority{};

  // Flow control without a priority.
  Rise rx_global_pause_frames, tx_global_pause_frames;
  Rise rx_global_pause_seconds, tx_global_pause_seconds;
  Rise pause_storm_events;  // counted by the NIC itself: it held the network for long

  // RDMA traffic; where the driver counts no RDMA bytes, the port's.
  Rise rx_bytes, tx_bytes, rx_packets, tx_packets;

  // Transport.
  Rise out_of_sequence;     // packets that arrived out of order
  Rise duplicate_requests;  // the far end sent again
  Rise ack_timeouts;        // this end waited for an answer in vain
  Rise sequence_naks;       // the far end asked to send again
  Rise retries_exceeded;    // a connection was given up
  Rise rnr_naks;            // receiver not ready, sent or received
  Rise rnr_retries_exceeded;
  Rise out_of_buffer;   // arrived, and no receive was posted
  Rise request_errors;  // access, length, invalid: rejected requests, either side
  Rise icrc_errors;

  // Congestion control.
  Rise cnp_sent, cnp_handled, cnp_ignored, ecn_marked;

  // The port and its link.
  Rise rx_discards, tx_discards;  // at the physical port or by the port counters
  Rise buffer_overruns;
  Rise link_downs;  // carrier, NIC's own or InfiniBand's count, whichever grew most
  Rise link_recoveries;
  Rise link_integrity_errors;  // InfiniBand: its own local errors passed their threshold
  Rise symbol_errors, crc_errors;
  Rise remote_physical_errors;            // InfiniBand: packets that a device on the way had marked as damaged already
  Rise fec_corrected, fec_uncorrectable;  // code words
  Rise fec_corrected_bits;
  Rise transmit_wait;  // InfiniBand: ticks without credit; absent once its 32 bits are full

  // Around the wire.
  Rise pcie_stalled_seconds, pcie_errors, pcie_overflows;
  Rise host_buffer_drops;  // the netdev's queues had no buffer
};

}  // namespace fabric
