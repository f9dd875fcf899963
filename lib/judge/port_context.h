// SPDX-License-Identifier: Apache-2.0
// A port with its surroundings, and the measurements that several rules use.
#pragma once

#include "judge/engine.h"
#include "nic/metrics.h"

namespace fabric {

struct PortContext;
using Lines = std::vector<std::string>;
using MaybeCause = std::optional<Cause>;

// Limits of symptoms, and limits that several rules use.
inline constexpr Limit kMarked{"ecn-off", "marked_packets", 1000, "ECN-marked packets without a CNP sent", "ours", 1,
                               1e9};
inline constexpr Limit kIgnoredCnps{"ecn-off", "cnp_ignored_share", 0.1, "of the CNPs ignored", "ours", 0.001, 1};
inline constexpr Limit kLossRatio{
    "loss-in-network", "loss_ratio", 1e-6, "of the packets lost", "ours: NCCL over RoCE slows down above it", 0, 1};
inline constexpr Limit kLossyRatio{"loss-in-network",
                                   "lossy_ratio",
                                   1e-3,
                                   "of the packets sent again, on a lossy fabric",
                                   "ours: selective retransmission still gains at 1 in 1000",
                                   0,
                                   1};
inline constexpr Limit kStarved{"paused-by-network",   "starved_share", 0.05, "of the window without credits",
                                "ours, as with pause", 0.001,           1};
inline constexpr Limit kFewEvents{
    "not-enough-evidence", "few_events", 10, "events in the window: fewer are noise of one connection", "ours", 1, 1e6};
inline constexpr Limit kPauseShare{"busy-network", "pause_share", 0.05, "of the window, if pause time is counted",
                                   "ours",         0.001,         1};
inline constexpr Limit kPauseFramesShare{"busy-network",
                                         "pause_frames_share",
                                         0.2,
                                         "of the window, if only pause frames are counted (at most)",
                                         "ours",
                                         0.001,
                                         1};
inline constexpr Limit kFaultPause{
    "slow-host", "fault_pause_share", 0.2, "of the window, pause without congestion", "ours", 0.001, 1};
inline constexpr Limit kStoppedPause{"slow-host",
                                     "stopped_pause_share",
                                     0.9,
                                     "of the window, pause sent by a host that is stopped, not slow",
                                     "ours: a slow host receives in the rest of the time",
                                     0.001,
                                     1};
inline constexpr Limit kStoppedRate{"slow-host",
                                    "stopped_receive_share",
                                    0.01,
                                    "of the port's rate, received by a host that is stopped, at most",
                                    "ours: a slow host receives a little",
                                    0,
                                    1};
inline constexpr Limit kPausedBytes{"paused-by-network",
                                    "paused_bytes_share",
                                    0.5,
                                    "of the RDMA bytes sent, on the paused priority: fewer are other traffic",
                                    "ours",
                                    0,
                                    1};
inline constexpr Limit kBlocked{"loss-in-network",
                                "blocked_share",
                                0.8,
                                "of the window, paused or without credits",
                                "ours, as with pause sent",
                                0.01,
                                1};
inline constexpr Limit kInFlight{"loss-in-network",
                                 "packets_in_flight",
                                 1000,
                                 "packets out of order after one that is lost",
                                 "ours: 1000 packets of 4 kB at 400 Gb/s are 80 us",
                                 1,
                                 1e6};
inline constexpr Limit kTries{"loss-in-network",
                              "transport_retries",
                              7,
                              "losses of a packet break a connection",
                              "IBTA: the retry count has three bits; NCCL_IB_RETRY_CNT: 7",
                              1,
                              7};
inline constexpr Limit kReorderRatio{"loss-in-network",
                                     "reorder_ratio",
                                     1e-5,
                                     "of the packets, out of order",
                                     "ours: adaptive routing reorders a few",
                                     0,
                                     1};
inline constexpr Limit kRnrRate{"far-end", "rnr_rate", 10, "RNR NAKs a second, and 10 s of it", "ours", 0.1, 1e6};
inline constexpr Limit kRnrRatio{"far-end", "rnr_ratio", 1e-3, "RNR NAKs per packet", "ours", 0, 1};
inline constexpr Limit kSendDiscards{
    "send-drops", "discards_per_loss", 0.1, "discards per retransmission", "ours", 0.001, 1};
inline constexpr Limit kUnprotectedShare{
    "roce-unprotected", "unprotected_share", 0.1, "of the RDMA bytes on priorities with PFC", "ours", 0, 1};
inline constexpr Limit kProtected{"roce-unprotected",
                                  "protected_share",
                                  0.9,
                                  "of the RDMA bytes on priorities with PFC, both directions",
                                  "ours",
                                  0,
                                  1};
inline constexpr Limit kMuchTraffic{"roce-unprotected",
                                    "much_traffic",
                                    100e6,
                                    "bytes of RDMA in the window, to judge their priorities",
                                    "ours",
                                    1e3,
                                    1e15};

enum class Direction : uint8_t { rx, tx };
// RDMA's bytes of one direction, and the bytes of the priorities with and without PFC.
struct ByteShares {
  double all = 0, lossless = 0, others = 0;
  PrioSet with_pfc{};  // of the port, or of the policy if PFC is off
};
// nullopt: the port does not count bytes by priority, or neither port nor policy has PFC on a priority. `signals` and
// settings of a bond include those of its members (with_bond(), with_settings_of()).
std::optional<ByteShares> byte_shares(const View& view, const Port& port, const Signals& signals, Direction direction);
// How much of the window one direction was paused.
struct PauseShare {
  Direction direction = Direction::rx;
  double ratio = 0;       // of the most paused priority, 0..1
  int priority = -1;      // -1: global pause
  bool measured = false;  // in time; else an upper bound from the number of frames
  [[nodiscard]] bool is_much(const PortContext& ctx) const;
  [[nodiscard]] std::string text() const;  // "PFC pause sent, priority 3: 37 % of the time"
};

// Sums of the transport's counters.
struct Loss {
  double requester = 0, responder = 0, retries_exceeded = 0;
  std::optional<double> packets{};
};

struct PortContext {
  const View& view;
  const Port& port;
  const Port* before = nullptr;  // the same port in the earlier snapshot
  const Signals& signals;
  const Nic* nic = nullptr;        // the PCI function of the port
  const Neighbor* peer = nullptr;  // an LLDP neighbor that announces its PFC, else one with a name; null: none
  const PortPolicy* policy = nullptr;
  Fabric fabric{};
  std::optional<PrioSet> policy_pfc{}, switch_pfc{};
  std::optional<PrioSet> lossless{};  // by this port, its policy or its switch; nullopt: unknown
  PauseShare sent{}, received{};
  Loss lost{};
  PrioSet discarding{};          // the lossless priorities that discarded frames,
  double lossless_discards = 0;  // and how many
  Symptoms symptoms{};

  // PFC of the port, or of the policy if the driver has no DCB netlink and shows none.
  [[nodiscard]] const std::optional<PrioSet>& pfc() const { return port.qos.pfc ? port.qos.pfc : policy_pfc; }
  [[nodiscard]] std::string pfc_text() const;    // "PFC of this port: 3", or "PFC of the policy: 3"
  [[nodiscard]] std::string peer_label() const;  // "leaf1 Ethernet3", or "the switch"
  [[nodiscard]] double limit(const Limit& of) const { return limit_of(view, of); }
  // The value from which on the window is a finding: one limit for one fact.
  [[nodiscard]] double limit(std::string_view window) const { return limit_of_window(view, window); }
};
PortContext make_context(const View& view, const Port& port, const Signals& signals);

// Whether the port's reading of this window is a finding: one limit for one fact.
bool is_warned(const PortContext& ctx, std::string_view window);

// -- Bonds: RDMA counters are the bond's; port and cable counters are its members'.
// The members of a bond; empty for any other port.
std::vector<const Port*> members_of(const Node& node, const Port& bond);
// The bond with the settings of its members: it has no port settings of its own.
Port with_settings_of(const std::vector<const Port*>& members, Port bond);
// The signals of the port: of a bond with the port counters of its members, of a member with the RDMA counters of its
// bond.
Signals with_bond(const View& view, const Port& port, Signals own);

// -- Pause
// PFC storm, as the check pause-storm judges it: pause is sent nearly all the time, or the NIC counted a storm.
bool is_pfc_storm(const PortContext& ctx);
// A PFC storm that explains the window: pause is still much of it, or the NIC gave up.
bool is_lasting_storm(const PortContext& ctx);
// A PFC storm while nothing is received: the host is stopped, not slow.
bool receives_nothing(const PortContext& ctx);
// Share of the window in which an InfiniBand port had data and no credits; the real share may be larger. nullopt:
// unknown.
std::optional<double> starved_share(const PortContext& ctx);
// The port sends pause, and by its counters receives nearly none: its own host is slower than the link, no network is
// busy. False on a lossy fabric, where pause is off, and if losses or a fault of the PCIe link have to be explained
// too.
bool sends_pause_alone(const PortContext& ctx);
// The peer lets this port send almost nothing and no packet was missed: packets wait here, no peer is silent.
bool is_tx_blocked(const PortContext& ctx);
bool is_pcie_stalled(const PortContext& ctx);
Lines pause_lines(const PortContext& ctx);  // pause sent, and its consequences

// -- Loss, and the part of it that the link, this port or a setting explains
// Many packets out of order or requested twice.
bool is_disordered(const PortContext& ctx);
Lines loss_lines(const PortContext& ctx);      // "packets received out of sequence +120"
Lines all_loss_lines(const PortContext& ctx);  // with the discards on lossless priorities
std::string list_text(PrioSet set);            // "3, 4"
Lines error_lines(const PortContext& ctx);     // "symbol errors +12", for each error of the link
double damaged_frames(const Signals& seen);
// The frames with a wrong CRC were damaged before this link: its FEC corrected every code word. A switch that forwards
// a frame before it has read the CRC (cut-through) passed them on.
bool came_damaged(const Port& port, const Signals& seen);
// Errors or loss of this link are enough for the transport's losses.
bool wire_explains_loss(const PortContext& ctx);
bool is_clean(const PortContext& ctx);     // no error and no retraining
double all_discards(const Signals& seen);  // on receiving
bool has_lossless(const PortContext& ctx);
// So many discards are enough for the transport's losses.
bool discards_explain_loss(const PortContext& ctx, double discards);
// The step that gives a job the traffic class of the port's RoCE, by the policy, else by the port's DSCP map.
std::string traffic_class_text(const View& view, const Port& port);
// Text if RDMA bytes bypassed the priorities with PFC, or empty.
std::string unprotected(const PortContext& ctx, Direction direction);
// Text if RDMA bytes used the priorities with PFC in both directions, or empty.
std::string well_protected(const PortContext& ctx);
double rnr_here(const PortContext& ctx);   // RNR NAKs sent by this port, and packets without a posted receive
double rnr_there(const PortContext& ctx);  // RNR NAKs received
bool is_much_rnr(const PortContext& ctx, double count);
// "RNR NAKs received +1543 (154 a second)", and packets without a posted receive here, each from `rate` a second on,
// whatever the number of packets.
Lines rnr_lines(const Signals& seen, double rate);
// Receivers at the far ends are late, rather than those here.
bool is_far_end_late(const PortContext& ctx);

// RoCE's priorities (roce_priorities(), else the switch's with PFC) that a reaction or notification point (ecn_rp,
// ecn_np) lacks. The switch's come last: it often has PFC on one more priority (SONiC: 3 and 4).
PrioSet without_congestion_control(const PortContext& ctx, const std::optional<PrioSet>& point);
double rise(const Rise& value);  // absent is 0
bool rose(const Rise& value);
// Increase of the counters of one metric, and of one severity if given; 0 if they were reset in between.
double metric_rise(const PortContext& ctx, const Metric& metric, std::string_view severity = {});
std::string plus(std::string_view name, double value);                              // "out_of_buffer +120"
Lines lines_of(std::initializer_list<std::pair<std::string_view, Rise>> counters);  // for each that rose
std::string percent(double ratio);                                                  // "37 %"
void append(Lines& to, Lines lines);

}  // namespace fabric
