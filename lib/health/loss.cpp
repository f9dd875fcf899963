// SPDX-License-Identifier: Apache-2.0
// Health of the transport: lost packets, broken connections, rejected requests.
#include "health/rule.h"
#include "nic/capabilities.h"

namespace fabric {
namespace {

using enum HealthMeasure;
using S = Signals;

std::optional<HealthReading> read_ack_timeouts(const View& view, const HealthRule& rule, const Port& port) {
  if (capabilities_of(port.kernel_driver).resends_on_other_paths) return std::nullopt;
  return read_counters(view, rule, port);
}

constexpr HealthRow kRules[]{
    {.check = "loss",
     .window = {"out_of_sequence", ratio, HealthLimits{1e-5, 1e-3, 20, 10, kMinute}, "retransmissions per packet",
                "ours: at 1 in 1000, go-back-N spends more than it gains", "below 1e-5 of the packets", 10},
     .meaning = "Packets are lost or reordered in the network, and are sent again.",
     .remedy = "Find the cause: fabric-agentctl diagnose {netdev}. Compare PFC, trust, DSCP map and ECN of this port "
               "with its switch: fabric-agentctl neighbors",
     .elsewhere = "Find the cause: fabric-agentctl diagnose {netdev}. Compare with the other hosts of the job.",
     .sum = {.parts = {{{"packets out of sequence", &S::out_of_sequence},
                        {"sequence NAKs", &S::sequence_naks},
                        {"duplicate requests", &S::duplicate_requests}}},
             .per = CounterSum::Per::packet}},
    // Also of transports that repeat over other paths (EFA), and of those that count nothing else (irdma up to 6.12).
    // Without a count of packets (mlx5, bnxt), each NAK and each timeout caused at least one.
    {.check = "loss",
     .window = {"retransmissions", ratio, HealthLimits{1e-3, 1e-1, 20, 10, kMinute}, "retransmissions per packet",
                "ours: as out_of_sequence, without the share that paths reorder", "below 1e-3 of the packets", 100},
     .meaning = "The NIC sends packets again: they, or their ACKs, are lost or late.",
     .remedy = "Find the cause: fabric-agentctl diagnose {netdev}. Compare with the other hosts of the job.",
     .sum = {.parts = {{{"packets sent again", &S::retransmissions},
                        {"sequence NAKs", &S::sequence_naks},
                        {"ACK timeouts", &S::ack_timeouts}}},
             .per = CounterSum::Per::packet,
             .largest = true}},
    {.check = "loss",
     .window = {"ack_timeouts", ratio, HealthLimits{1, kNever, 20, 10, kMinute}, "ACK timeouts per second",
                "NVSentinel: local_ack_timeout_err more than 1 a second", "below 1 a second", 3},
     .meaning = "ACKs do not arrive: packets are lost, or the peer is gone.",
     .remedy = "Find the peers: rdma resource show qp link {rdma}. Check that they are alive, then look for discards "
               "and failed links on the path.",
     .sum = {{{{"ACK timeouts", &S::ack_timeouts}}}},
     .read_port = read_ack_timeouts},
    {.check = "loss",
     .window = {"remote_physical_errors", ratio, HealthLimits{1, kNever, kMinute, 0, kMinute},
                "packets per second (InfiniBand)",
                "a tenth (ours) of NVSentinel's limit of port_rcv_errors, 10 a second", "below 1 a second", 10},
     .meaning = "Packets arrive that a switch has marked as damaged: another link of the InfiniBand fabric is faulty.",
     .remedy = "Look for symbol errors along the path: ibqueryerrors. Compare with the other hosts that report this.",
     .sum = {{{{"packets marked as damaged on the path", &S::remote_physical_errors}}}}},
    {.check = "loss",
     .window = {"retries_exceeded", count, HealthLimits{1, kNever, kMinute, 0, kMinute}, "broken connections",
                "ours: each ends a job, and the other end or the path may be at fault", "none"},
     .meaning = "Transport retry exceeded (IBV_WC_RETRY_EXC_ERR, NCCL error 12): a connection broke, and its job ends.",
     .remedy = "Find the peer in the job's log, and the lossy or broken link between the two: fabric-agentctl diagnose "
               "{netdev}",
     .sum = {{{{"transport retries exceeded", &S::retries_exceeded}}}}},
    {.check = "receiver",
     .window = {"rnr_retries_exceeded", count, HealthLimits{1, kNever, kMinute, 0, kMinute},
                "broken connections; RNR NAKs alone are flow control and not counted",
                "ours: each ends a job, and the other end is at fault", "no RNR retry exceeded"},
     .meaning = "RNR retry exceeded: the receiving application posts its buffers too late, and a connection broke. The "
                "network is not the cause.",
     .remedy = "Find the peers: rdma resource show qp link {rdma}. Check CPU load, pinning and queue depths of the "
               "application there.",
     .sum = {.parts = {{{"RNR retries exceeded", &S::rnr_retries_exceeded}}},
             .context = {{{"RNR NAKs", &S::rnr_naks}, {"packets without a posted receive", &S::out_of_buffer}}}}},
    {.check = "requests",
     .window = {"request_errors", count, HealthLimits{8, kNever, kMinute, 0, kMinute}, "rejected requests",
                "ours: the end of a job may cause a few", "fewer than 8 a minute"},
     .meaning = "One side rejects RDMA requests of the other: a fault of the application or its peer, or a peer died.",
     .remedy = "Find the processes: rdma resource show qp link {rdma}. Look for failed work requests in the job's log "
               "on both sides.",
     .sum = {{{{"rejected requests", &S::request_errors}}}}},
};

}  // namespace

std::span<const HealthRow> loss_health_rules() { return kRules; }

extern const Check kLossCheck{
    .id = "loss",
    .group = group::counters,
    .title = "RDMA packets are lost, reordered or late",
    .meaning =
        "Packets are lost or reordered in the network: packets out of sequence, sequence NAKs and repeated requests "
        "per packet, ACK timeouts per second, transport retry exceeded; on InfiniBand packets that a switch marked as "
        "damaged. Networks with adaptive routing reorder packets by design.",
    .inspect = "fabric-agentctl diagnose; fabric-agentctl counters; rdma statistic show link RDMADEV/1",
    .fix =
        "Configure the same PFC, trust, DSCP map and ECN on this port and on the switches; remove the cause of "
        "discards on the path and at the peer. With adaptive routing raise [health] out_of_sequence.",
};
extern const Check kReceiverCheck{
    .id = "receiver",
    .group = group::counters,
    .title = "The receiving application posts its buffers too late",
    .meaning =
        "RNR retry exceeded: the receiving application posts its buffers too late. The network is not at fault. RNR "
        "NAKs alone are flow control at work and not a fault.",
    .inspect = "rdma statistic show link RDMADEV/1; top on the receiving host",
    .fix = "Fix CPU load, pinning and queue depths of the receiving application.",
};
extern const Check kRequestsCheck{
    .id = "requests",
    .group = group::counters,
    .title = "RDMA requests are rejected",
    .meaning =
        "One side rejects requests of the other (keys, lengths, access rights): the application or its peer is at "
        "fault, or a peer died.",
    .inspect = "rdma statistic show link RDMADEV/1; the log of the job",
    .fix = "Fix or restart the job. The network is not at fault.",
};

}  // namespace fabric
