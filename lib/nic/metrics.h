// SPDX-License-Identifier: Apache-2.0
// One name per meaning, for all vendors. The vendors' tables map the drivers' counters to them (counter_row.h).
// Every series has the labels device and port; the help names further labels.
#pragma once

#include <cstdint>
#include <string_view>

namespace fabric {

// untyped: each series is a counter or a gauge, but the driver does not show which.
enum class MetricKind : uint8_t { counter, gauge, histogram, untyped };

// One family. The name and the help are literals: they live as long as the program.
struct Metric {
  std::string_view name;
  std::string_view help;  // one line, plain ASCII without backslash: needs no escaping
  MetricKind kind = name.ends_with("_total") ? MetricKind::counter : MetricKind::gauge;
};

// An empty name: no label.
struct Label {
  std::string_view name, value;  // the name a literal, the value any bytes
  bool operator==(const Label&) const = default;
};

namespace metrics {

// RDMA transport. Losses, reordering and their repair.
inline constexpr Metric kOutOfSequence{
    "fabric_rdma_out_of_sequence_packets_total",
    "Packets received out of order (responder): an earlier packet was lost or overtaken."},
    kSequenceNaks{"fabric_rdma_sequence_naks_received_total",
                  "NAKs for a packet sequence error received (requester): the peer missed a packet."},
    kImpliedNaks{"fabric_rdma_implied_naks_received_total",
                 "Acknowledgements beyond a READ or ATOMIC response that never came (requester)."},
    kAckTimeouts{"fabric_rdma_ack_timeouts_total", "ACK timeouts (requester); the packets were sent again."},
    kRetries{"fabric_rdma_retries_total",
             "Times the requester went back and sent again, after a NAK as well as after a timeout."},
    kDuplicateRequests{"fabric_rdma_duplicate_requests_total",
                       "Duplicate requests received (responder): the response was lost or late."},
    kRetriesExceeded{"fabric_rdma_retries_exceeded_total",
                     "Transport retry exceeded (IBV_WC_RETRY_EXC_ERR): connections that failed after the last retry."},
    kRnrRetriesExceeded{"fabric_rdma_rnr_retries_exceeded_total",
                        "RNR retry exceeded: connections that failed after the last receiver-not-ready retry."},
    kAdaptiveRetransmissions{"fabric_rdma_adaptive_retransmissions_total", "Adaptive retransmissions (RoCE)."},
    kAdaptiveTimeouts{"fabric_rdma_adaptive_retransmission_timeouts_total",
                      "Timeouts that adaptive retransmission handled (RoCE)."},
    kSlowRestarts{"fabric_rdma_slow_restarts_total", "Times a RoCE slow restart was used."},
    kIcrcErrors{"fabric_rdma_icrc_errors_total",
                "RoCE packets received with a wrong invariant CRC: damaged between the end points."},
    kDiscards{"fabric_rdma_discarded_packets_total", "RoCE packets discarded by the NIC, by direction."},
    kRetransmittedPackets{"fabric_rdma_retransmitted_packets_total", "Packets sent again."},
    kRetransmittedBytes{"fabric_rdma_retransmitted_bytes_total", "Bytes sent again."},
    kErroredPackets{"fabric_rdma_errored_packets_total", "RDMA packets with an error, by direction."};

// RDMA transport. The receiver's side.
inline constexpr Metric kOutOfBuffer{
    "fabric_rdma_out_of_buffer_total",
    "Packets dropped because no receive work request was posted: the application is late."},
    kRnrNaksReceived{"fabric_rdma_rnr_naks_received_total",
                     "Receiver-not-ready NAKs received: the peer had no receive posted."},
    kRnrNaksSent{"fabric_rdma_rnr_naks_sent_total", "Receiver-not-ready NAKs sent: this host had no receive posted."},
    kCqeErrors{"fabric_rdma_cqe_errors_total",
               "Work requests completed with an error, by side (requester, responder)."},
    kCqeFlushes{"fabric_rdma_cqe_flushes_total",
                "Work requests flushed with their queue pair, by side; normal when a connection closes."},
    kAccessErrors{"fabric_rdma_remote_access_errors_total",
                  "Requests rejected because access rights were missing, by side."},
    kInvalidRequests{"fabric_rdma_invalid_requests_total", "Requests that the responder could not accept, by side."},
    kLengthErrors{"fabric_rdma_local_length_errors_total", "Messages longer than the receive buffer posted for them."},
    kLocalErrors{"fabric_rdma_local_errors_total",
                 "Work requests that failed in this host's NIC (operation, protection, memory management), by side."},
    kOperationErrors{"fabric_rdma_remote_operation_errors_total",
                     "Requests that the responder could not complete, by side."};

// Congestion control (DCQCN).
inline constexpr Metric kCnpSent{
    "fabric_rdma_cnp_sent_total",
    "Congestion notification packets sent (notification point): marked packets arrived here."},
    kCnpHandled{"fabric_rdma_cnp_handled_total",
                "Congestion notification packets received and handled (reaction point): this sender slowed down."},
    kCnpIgnored{"fabric_rdma_cnp_ignored_total",
                "Congestion notification packets received and ignored: ECN is off at this reaction point."},
    kEcnMarked{"fabric_rdma_ecn_marked_packets_total", "RoCEv2 packets received with the congestion-experienced mark."};

// RDMA traffic and requests.
inline constexpr Metric kRdmaBytes{"fabric_rdma_bytes_total", "RDMA traffic as the driver counts it, by direction."},
    kRdmaPackets{"fabric_rdma_packets_total", "RDMA packets as the driver counts them, by direction."},
    kOptionalBytes{"fabric_rdma_optional_bytes_total",
                   "RDMA traffic as counted by steering rules of the NIC that name no queue pair (optional counters), "
                   "by direction."},
    kOptionalPackets{"fabric_rdma_optional_packets_total",
                     "RDMA packets as counted by steering rules of the NIC that name no queue pair (optional "
                     "counters), by direction."},
    kRequests{"fabric_rdma_requests_received_total", "Requests received, by operation (write, read, atomic, send)."},
    kHwCounter{"fabric_rdma_hw_counters_total",
               "RDMA hardware counters under their driver's own names, in the driver's own unit: those without a "
               "common name, or all; a few count things at this moment."};

// Port counters of InfiniBand's performance management (ports/N/counters).
inline constexpr Metric kPortBytes{
    "fabric_port_bytes_total",
    "Port traffic by direction (port_xmit_data, port_rcv_data; the kernel's words of 4 bytes made bytes)."},
    kPortPackets{"fabric_port_packets_total", "Port packets by direction."},
    kPortUnicast{"fabric_port_unicast_packets_total", "Unicast packets by direction."},
    kPortMulticast{"fabric_port_multicast_packets_total", "Multicast packets by direction."},
    kPortDiscards{"fabric_port_discarded_packets_total", "Packets discarded by the port, by direction."},
    kPortConstraint{"fabric_port_constraint_errors_total",
                    "Packets that partition or raw filters refused, by direction."},
    kPortReceiveErrors{"fabric_port_receive_errors_total", "Packets received with an error."},
    kPortRemotePhysical{"fabric_port_remote_physical_errors_total",
                        "Packets received with the bad-packet delimiter: damaged before the far end."},
    kPortSwitchRelay{"fabric_port_switch_relay_errors_total", "Packets that could not be forwarded."},
    kPortSymbolErrors{"fabric_port_symbol_errors_total",
                      "Symbol errors on the link; saturates at 65535 on old counters."},
    kPortLinkRecoveries{"fabric_port_link_error_recoveries_total", "Times the link trained again and recovered."},
    kPortLinkDowned{"fabric_port_link_downed_total", "Times the link failed to recover and went down."},
    kPortLinkIntegrity{"fabric_port_local_link_integrity_errors_total",
                       "Times the local error count passed its threshold."},
    kPortOverruns{"fabric_port_buffer_overruns_total",
                  "Times receive buffers overran for long (excessive_buffer_overrun_errors)."},
    kPortVl15{"fabric_port_vl15_dropped_total", "Management packets dropped because buffers were full."},
    kPortWait{"fabric_port_transmit_wait_ticks_total",
              "Ticks during which the port had data to send and no credit; the tick is the device's own."},
    kPortOther{"fabric_port_pma_total", "Every other file of ports/N/counters under its own name, in its own unit."};

// Flow control. Direction rx: the peer pauses this port; tx: this port pauses the peer.
inline constexpr Metric kPfcFrames{"fabric_pfc_pause_frames_total", "PFC frames by direction and priority."},
    kPfcSeconds{"fabric_pfc_paused_seconds_total", "Time paused by PFC, by direction and priority."},
    kPfcTransitions{"fabric_pfc_pause_transitions_total",
                    "Changes between paused and not paused, by direction and priority."},
    kPfcAllFrames{"fabric_pfc_frames_total", "PFC frames of all priorities together, by direction."},
    kGlobalPauseFrames{"fabric_global_pause_frames_total",
                       "Global (802.3x) pause frames by direction; none are expected with PFC."},
    kGlobalPauseSeconds{"fabric_global_paused_seconds_total", "Time paused by global pause frames, by direction."},
    kPauseStorms{"fabric_pause_storm_events_total", "Pause storms sent by the NIC, by severity (warning, error)."};

// Per priority, on the wire.
inline constexpr Metric kPriorityBytes{"fabric_priority_bytes_total", "Bytes on the wire by direction and priority."},
    kPriorityQueueBytes{"fabric_priority_queue_bytes_total",
                        "Bytes of the NIC's queue that the priority maps to, by direction and priority; priorities of "
                        "one queue show the same counter, so that they must not be added up."},
    kPriorityPackets{"fabric_priority_packets_total",
                     "Frames on the wire by direction and priority, where the NIC does not count bytes."},
    kPriorityDiscards{"fabric_priority_discarded_packets_total",
                      "Received frames discarded because the priority's buffer was full: headroom too small, or a "
                      "lossy priority overrun."},
    kPriorityCongestionDiscards{"fabric_priority_congestion_discarded_packets_total",
                                "Received frames discarded for congestion in the NIC, by priority."},
    kPriorityHostDiscards{"fabric_priority_host_buffer_discarded_packets_total",
                          "Received frames discarded because the host's receive buffer was full, by priority."},
    kPriorityMarked{"fabric_priority_ecn_marked_packets_total",
                    "Frames that the NIC itself marked with ECN, by priority."};

// The physical port.
inline constexpr Metric kPhyDiscards{"fabric_phy_discarded_packets_total",
                                     "Frames discarded at the physical port, by direction."},
    kPhyCrcErrors{"fabric_phy_crc_errors_total", "Frames received with a wrong FCS."},
    kPhySymbolErrors{"fabric_phy_symbol_errors_total", "Symbol errors that FEC could not correct."},
    kPhyCorrectedBits{"fabric_phy_fec_corrections_total", "Single bits corrected by FEC."},
    kPhyCorrectedWords{"fabric_phy_fec_corrected_words_total", "FEC code words corrected."},
    kPhyUncorrectableWords{"fabric_phy_fec_uncorrectable_words_total", "FEC code words that could not be corrected."},
    kPhyLinkDowns{"fabric_phy_link_downs_total", "Times the physical link went down, as the NIC counts it."},
    kPhyCodingErrors{"fabric_phy_coding_errors_total",
                     "Frames received and dropped for errors of the physical coding."},
    kPhyLaneErrors{"fabric_phy_lane_errors_total", "Raw bit errors before FEC, by lane."},
    kPhyReceivedBytes{"fabric_phy_received_bytes_total",
                      "All bytes received on the wire: the reference for error ratios."},
    kPhyOversize{"fabric_phy_oversize_frames_total",
                 "Frames received that are longer than the MTU: the peer's MTU is larger."},
    kPhyBufferThreshold{"fabric_phy_buffer_threshold_events_total",
                        "Times the port's receive buffer filled beyond its threshold (mlx5: 85 percent)."},
    kPhyRecoveries{"fabric_phy_link_recoveries_total", "Times the physical link recovered without going down."},
    kPhyMacFaults{"fabric_phy_mac_faults_total",
                  "Faults signalled by the MAC (local: detected here; remote: reported by the peer), by end."};

// The host's queues, the module, PCIe.
inline constexpr Metric kNetdevOutOfBuffer{
    "fabric_netdev_out_of_buffer_total",
    "Frames dropped because the netdev's receive queues were full: the host is late; RDMA is not affected."},
    kModuleEvents{
        "fabric_module_events_total",
        "Events of the module in the cage, by event (unplugged, bus_stuck, high_temperature, bad_or_shorted)."},
    kPcieSignal{"fabric_pcie_signal_integrity_errors_total", "Errors of the PCIe physical layer, by direction."},
    kPcieStalled{"fabric_pcie_stalled_seconds_total",
                 "Seconds in which PCIe credits were missing for more than 30 percent of the time, so that the NIC "
                 "could not issue requests, by operation (read, write)."},
    kPcieOverflows{"fabric_pcie_buffer_overflows_total", "Packets dropped because PCIe was slower than the link."},
    kDeviceQueues{"fabric_device_queue_out_of_buffer_total", "Times the NIC's own internal queues ran out of buffers."};

}  // namespace metrics
}  // namespace fabric
