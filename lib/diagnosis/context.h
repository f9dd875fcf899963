// SPDX-License-Identifier: Apache-2.0
// One port and its surroundings, and the measurements that the rules share.
#pragma once

#include "diagnosis/diagnosis.h"
#include "health/rule.h"
#include "nic/metrics.h"

namespace fabric {

struct PortContext;
using Lines = std::vector<std::string>;
using MaybeResult = std::optional<RuleResult>;

enum class Direction : uint8_t { rx, tx };
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
  std::optional<PrioSet> policy_pfc{}, switch_pfc{};
  std::optional<PrioSet> lossless{};  // by this port, its policy or its switch; nullopt: unknown to all of them
  PauseShare sent{}, received{};
  Loss lost{};
  PrioSet discarding{};          // the lossless priorities that discarded frames,
  double lossless_discards = 0;  // and how many
  Symptoms symptoms{};

  // PFC of the port; the policy's if the driver has no DCB netlink and shows none.
  [[nodiscard]] const std::optional<PrioSet>& pfc() const { return port.qos.pfc ? port.qos.pfc : policy_pfc; }
  [[nodiscard]] std::string pfc_text() const;    // "PFC of this port: 3", or "PFC of the policy: 3"
  [[nodiscard]] std::string peer_label() const;  // "leaf1 Ethernet3", or "the switch"
  [[nodiscard]] double limit(const Threshold& threshold) const { return limit_of(view, threshold); }
};
PortContext make_context(const View& view, const Port& port, const Signals& signals);
Symptoms symptoms_of(const PortContext& ctx);  // symptoms.cpp

// -- bond.cpp: RDMA counters are the bond's; port and cable counters are its members'.
// The members of a bond; empty for any other port.
std::vector<const Port*> members_of(const Node& node, const Port& bond);
// A bond has no port settings of its own.
Port with_settings_of(const std::vector<const Port*>& members, Port bond);
// A bond with the port counters of its members, a member with the RDMA counters of the bond.
Signals with_bond(const View& view, const Port& port, Signals own);
// Symptoms that the bond reports for its members, or the members for their bond.
Symptoms reported_elsewhere(const PortContext& ctx);

// -- context.cpp
// PFC storm: pause is sent nearly all the time, or the NIC counted a storm.
bool is_pfc_storm(const PortContext& ctx);
// A PFC storm while nothing is received: the host is stopped, not slow.
bool receives_nothing(const PortContext& ctx);
// Share of the window in which an InfiniBand port had data and no credits, at least. nullopt: unknown.
std::optional<double> starved_share(const PortContext& ctx);
// The peer lets this port send almost nothing and no packet was missed: packets wait here, no peer is silent.
bool is_tx_blocked(const PortContext& ctx);
bool is_pcie_stalled(const PortContext& ctx);
Lines pause_lines(const PortContext& ctx);  // pause sent, and its consequences

// -- loss_metrics.cpp
Loss loss_of(const Port& port, const Signals& seen);
// Many packets out of order or requested twice.
bool is_disordered(const PortContext& ctx);
Lines loss_lines(const PortContext& ctx);      // "packets received out of sequence +120"
Lines all_loss_lines(const PortContext& ctx);  // with the discards on lossless priorities
std::string list_text(PrioSet set);            // "3, 4"
Lines error_lines(const PortContext& ctx);     // "symbol errors +12", for each error of the link
double damaged_frames(const Signals& seen);
// The frames with a wrong CRC were damaged before this link, whose FEC corrects code words and left none uncorrected: a
// switch that forwards a frame before it has read the CRC (cut-through) passed them on.
bool came_damaged(const Port& port, const Signals& seen);
// Errors or loss of this link are enough for the transport's losses.
bool wire_explains_loss(const PortContext& ctx);
bool is_clean(const PortContext& ctx);     // no error and no retraining
double all_discards(const Signals& seen);  // on receiving
// Those on lossless priorities; all if no priority is known as lossless.
double discards_of_roce(const PortContext& ctx);
bool has_lossless(const PortContext& ctx);
// So many discards on receiving (of tx_discards: on sending) are enough for the transport's losses.
bool discards_explain_loss(const PortContext& ctx, double discards);
// RDMA bytes bypassed the priorities with PFC: text, or empty. The opposite, in both directions.
std::string unprotected(const PortContext& ctx, Direction direction);
std::string well_protected(const PortContext& ctx);
// The switch port accepts only shorter frames than RoCE's; none of the port's gateways answers. Text, or empty.
std::string frames_too_long(const PortContext& ctx);
std::string silent_gateway(const PortContext& ctx);
// The port's own GIDs that were removed between the readings.
size_t gids_gone(const PortContext& ctx);
// RNR NAKs sent by this port and packets without a posted receive; RNR NAKs received.
double rnr_here(const PortContext& ctx);
double rnr_there(const PortContext& ctx);
bool is_much_rnr(const PortContext& ctx, double count);
// Receivers at the far ends are late, rather than those here.
bool is_far_end_late(const PortContext& ctx);

// Thresholds of several rules (context.cpp, loss_metrics.cpp, symptoms.cpp, pcie_rules.cpp).
extern const Threshold kFewEvents, kInFlight, kTries, kRetrains, kPauseShare, kPauseFramesShare, kFaultPause, kStorm,
    kBlocked, kPcieStall, kLossRatio, kReorderRatio, kRnrRate, kRnrRatio, kMarked, kIgnoredCnps, kStarved, kReplayRatio,
    kSendDiscards, kProtected, kUnprotectedShare, kMuchTraffic;

// -- pcie_rules.cpp
// AER errors of the function and the bridges above it: "0000:24:00.0 correctable +12". Few corrected ones are omitted.
Lines aer_lines(const PortContext& ctx);
// What the checks `pcie` and `acs` find between this NIC and the GPUs that use it; the NIC's own link is not among it.
std::vector<Finding> faults_before_gpus(const PortContext& ctx);
std::string fault_text(const Finding& fault);  // "pcie GPU1: x8 at 32 GT/s; expected x16 at 32 GT/s"
// The PCIe link is narrower or slower than it could be, and not by the platform's design. Text, or empty.
std::string degraded_link(const PortContext& ctx);

// RoCE's priorities that a reaction or notification point (ecn_rp, ecn_np) lacks. RoCE's are those of the port's PFC,
// if it has any: switches often have PFC on one more (SONiC: 3 and 4).
PrioSet without_congestion_control(const PortContext& ctx, const std::optional<PrioSet>& point);
bool is_down(const Port& port);
// The port is down and the NIC's reason contains one of the texts (link_rules.cpp).
MaybeResult by_reason(const PortContext& ctx, std::initializer_list<std::string_view> reasons);
// -- optics.cpp: the module reports that it fails or is not accepted; low light on some lanes; none on all of them.
MaybeResult module_trouble(const PortContext& ctx);
MaybeResult rx_power_low(const PortContext& ctx);
MaybeResult no_light(const PortContext& ctx);
double rise(const Rise& value);  // absent is 0
bool rose(const Rise& value);
// Increase of the counters of one metric, and of one severity if given.
double metric_rise(const PortContext& ctx, const Metric& metric, std::string_view severity = {});
std::string plus(std::string_view name, double value);                              // "out_of_buffer +120"
Lines lines_of(std::initializer_list<std::pair<std::string_view, Rise>> counters);  // for each that rose
std::string percent(double ratio);                                                  // "37 %"
void append(Lines& to, Lines lines);

}  // namespace fabric
