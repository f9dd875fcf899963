// SPDX-License-Identifier: Apache-2.0
// What the rules of a diagnosis know of a port, and how they speak of it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/diagnosis.h"

namespace fabric {

struct Case {
  const View& view;
  const Port& port;
  const Port* before = nullptr;  // the same port in the earlier snapshot
  const Signals& signals;
  const Nic* nic = nullptr;        // the function below it
  const Neighbor* peer = nullptr;  // who was heard on its cable and tells its PFC; else who tells a name; null: nobody
  const PortPolicy* entry = nullptr;
  std::optional<PrioSet> lossless;  // by this port, its policy or its switch; absent: nothing is known of any of them
  Symptoms symptoms;

  [[nodiscard]] std::string peer_label() const;  // "leaf1 Ethernet3", or "the switch"
};

// Looks at the port; symptoms are filled in.
Case open_case(const View& view, const Port& port, const Signals& signals);

// A bond's members; none of any other port.
std::vector<const Port*> members_of(const Node& node, const Port& bond);
// A bond has no settings of a port itself.
Port with_settings_of(const std::vector<const Port*>& members, Port bond);
// Of a bond with what its members' ports count, of a member with what RDMA counts; of others as they are.
Signals with_bond(const View& view, const Port& port, Signals own);
// Symptoms that the case has, and of which the bond or its members tell.
Symptoms told_elsewhere(const Case& one);

// How much of the window a direction was paused.
struct Paused {
  double ratio = 0;       // of the worst priority, 0..1
  int priority = -1;      // -1: global pause
  bool measured = false;  // in time; else at most so much, by the number of frames
  [[nodiscard]] bool is_much() const { return ratio >= (measured ? 0.05 : 0.2); }
  [[nodiscard]] std::string text(const char* what) const;  // "tx pause 37 % of the time on priority 3"
};
enum class Direction : uint8_t { rx, tx };
Paused paused(const Case& one, Direction direction);
// It pauses the network nearly all the time: what is sent to it cannot be delivered, and is thrown away in the end.
bool holds_without_end(const Case& one);
// And takes nothing meanwhile: it does not stand there as a slow one.
bool takes_nothing(const Case& one);

// Share of the window in which an InfiniBand port had data and no credits, at least; nothing: not known.
std::optional<double> starved(const Case& one);
// The network lets it send nearly nothing, and nobody missed a packet: what is late or given up waits here, and no peer
// is silent.
bool is_held_fast(const Case& one);

// Sums of what the transport noticed.
struct Loss {
  double requester = 0, responder = 0, given_up = 0;
  std::optional<double> packets;
};
Loss loss_of(const Case& one);
// Much came out of order, or was asked for twice.
bool is_disordered(const Case& one);
// "out_of_sequence +120", for each that rose.
std::vector<std::string> loss_lines(const Case& one);
// That RDMA's bytes did not go by the priorities with PFC, where the driver counts them apart; empty: they did, or it
// is not known.
std::string unprotected(const Case& one, Direction direction);
// That nearly all of them did, both ways; empty: not, or it is not known.
std::string well_protected(const Case& one);
// That the switch port takes shorter frames than RoCE's; that none of the port's gateways answers the kernel. Empty:
// not, or it is not known.
std::string frames_too_long(const Case& one);
std::string silent_gateway(const Case& one);
size_t gids_gone(const Case& one);
// "symbol errors +12", for each error of the wire.
std::vector<std::string> error_lines(const Case& one);
inline constexpr double kRetrains =
    6;  // recoveries of a link that trains again and again; NVSentinel: more than five a minute
// The port's own wire may have lost what the transport misses: it was gone, or damaged enough for so much.
bool wire_explains_loss(const Case& one);
// It was without any error.
bool is_clean(const Signals& seen);
inline constexpr double kFewDiscards = 10;  // fewer are nothing: as with symptoms
// One packet that is lost puts out of order what is in flight behind it: a thousand of 4 kB at 400 Gb/s are 80 us
// (ours).
inline constexpr double kInFlight = 1000;
// A connection is given up when one packet has been lost so often (IBTA: the retry count has three bits;
// NCCL_IB_RETRY_CNT: 7).
inline constexpr double kTries = 7;
// What this port threw away that may have been RoCE's: frames of lossless priorities; where no priority is known as
// lossless, of all.
double discards_of_roce(const Case& one);
bool has_lossless(const Case& one);
// So many packets thrown away by this port on receiving are enough for what is missed; so are those it threw away on
// sending.
bool threw_away(const Case& one, double discards);
bool kept_back(const Case& one);

// Receiver-not-ready that this port itself sent, where the driver tells the two directions apart; and that others sent
// it.
double not_ready_here(const Case& one);
double not_ready_there(const Case& one);
// More than a few packets wait for receives.
bool is_much_waiting(const Case& one, double count);
// Of the receivers that are late, it is those at the far ends.
bool is_far_end_late(const Case& one);

// Priorities that are lossless and threw frames away, and how many.
std::pair<PrioSet, double> lossless_discards(const Case& one);

// AER of the function and of the bridges above it: "0000:24:00.0 correctable +12". Few that were corrected are left
// out.
std::vector<std::string> aer_lines(const Case& one);
// Narrower or slower than it could be, and not by the platform's design; empty: it is not, or nothing is known.
std::string degraded_link(const Case& one);
// Farther from any GPU than its twins are; empty: no, or not known.
std::string far_from_gpus(const Case& one);

// RoCE's priorities that this reaction or notification point (ecn_rp, ecn_np) leaves out, where it is known: those of
// the port's own PFC, as far as it has any; a switch often has PFC for one more (SONiC: 3 and 4).
PrioSet without_congestion_control(const Case& one, const std::optional<PrioSet>& point);

bool is_down(const Port& port);
// By its state its lasers and receivers are off: what its lanes read is no evidence.
bool is_asleep(const Transceiver& module);
double rise(const Rise& value);  // absent is 0
bool rose(const Rise& value);
// Of raw counters under their driver's names.
double raw_rise(const Case& one, std::initializer_list<std::string_view> names);
std::string plus(std::string_view name, double value);  // "out_of_buffer +120"
std::string percent(double ratio);                      // "37 %"

// The judges, by area.
using Judgement = std::optional<Verdict>;
namespace judges {
// diagnosis_link.cpp
Judgement admin_down(const Case& one);
Judgement device_reset(const Case& one);
Judgement no_cable(const Case& one);
Judgement module_unusable(const Case& one);
Judgement module_fault(const Case& one);
Judgement rx_power_low(const Case& one);
Judgement no_light(const Case& one);
Judgement far_end_silent(const Case& one);
Judgement link_mode(const Case& one);
Judgement switch_restart(const Case& one);
Judgement bad_lane(const Case& one);
Judgement link_errors(const Case& one);
Judgement flapping_link(const Case& one);
// diagnosis_loss.cpp
Judgement pfc_off_here(const Case& one);
Judgement pfc_off_switch(const Case& one);
Judgement wrong_priority(const Case& one);
Judgement headroom(const Case& one);
Judgement damaged_elsewhere(const Case& one);
Judgement damaged_in_network(const Case& one);
Judgement send_drops(const Case& one);
Judgement peer_silent(const Case& one);
Judgement loss_in_network(const Case& one);
// diagnosis_flow.cpp
Judgement pcie_degraded(const Case& one);
Judgement pcie_errors(const Case& one);
Judgement far_numa(const Case& one);
Judgement pcie_stall(const Case& one);
Judgement slow_receiver(const Case& one);
Judgement receiver_late(const Case& one);
Judgement peer_not_ready(const Case& one);
Judgement pause_storm(const Case& one);
Judgement host_holds(const Case& one);
Judgement ecn_ignored(const Case& one);
Judgement ecn_unanswered(const Case& one);
Judgement global_pause(const Case& one);
Judgement incast(const Case& one);
Judgement pause_spread(const Case& one);
Judgement no_credits(const Case& one);
}  // namespace judges

}  // namespace fabric
