// SPDX-License-Identifier: Apache-2.0
// What can be said of a port before anybody is blamed.
#include "diagnosis/diagnosis_case.h"

#include <algorithm>
#include <cmath>

#include "checks/cabling/peer.h"
#include "model/finding.h"
#include "model/switched_off.h"
#include "vendor/capabilities.h"

namespace fabric {
namespace {

// One pause frame holds a priority for at most 65535 quanta of 512 bit times (IEEE 802.3 annex 31B, 802.1Qbb).
constexpr double kLongestPauseBits = 65535.0 * 512;

const Port* port_of(const Node* node, const std::string& id) {
  if (node == nullptr) return nullptr;
  const auto found =
      std::find_if(node->ports.begin(), node->ports.end(), [&](const Port& port) { return port.id() == id; });
  return found == node->ports.end() ? nullptr : &*found;
}

const Nic* nic_of(const Topology& topology, const std::string& pci) {
  if (pci.empty()) return nullptr;
  const auto found =
      std::find_if(topology.nics.begin(), topology.nics.end(), [&](const Nic& nic) { return nic.pci == pci; });
  return found == topology.nics.end() ? nullptr : &*found;
}

const Neighbor* peer_of(const Node& node, const Port& port) {
  if (const Neighbor* told = who_told(node, port, &Neighbor::pfc)) return told;
  const auto named = named_neighbors(node, port);
  if (!named.empty()) return named.front();
  const Neighbor* any = nullptr;  // of a bond's several, one whose PFC is another than the bond's
  for (const Port* member : members_of(node, port)) {
    const Neighbor* each = peer_of(node, *member);
    if (any == nullptr || (each != nullptr && each->pfc && each->pfc->enabled != port.qos.pfc)) any = each;
  }
  return any;
}

std::optional<PrioSet> lossless_of(const Case& one) {
  std::optional<PrioSet> out;
  const auto join = [&](const std::optional<PrioSet>& set) {
    if (set) out = PrioSet{static_cast<uint8_t>(out.value_or(PrioSet{}).bits | set->bits)};
  };
  join(one.port.qos.pfc);
  if (one.entry != nullptr) join(one.entry->want.pfc);
  if (one.peer != nullptr && one.peer->pfc) join(one.peer->pfc->enabled);
  return out;
}

// Whichever entry it will have with a link (policy_for() waits for the speed): it has one.
bool is_configured(const Case& one) {
  if (one.entry != nullptr || one.view.policy == nullptr || one.port.virtual_function) return one.entry != nullptr;
  Port up = one.port;
  up.carrier = true;
  return policy_for(*one.view.policy, up) != nullptr;
}

// A port that carries nothing and never did is nobody's trouble; one that is planned, configured or was up is.
bool is_missed(const Case& one) {
  if (!is_down(one.port)) return false;
  if (one.before != nullptr && !is_down(*one.before)) return true;
  if (!planned_cables(one.view.policy, one.port).empty()) return true;
  if (is_unused(one.view, one.port)) return false;
  if (is_configured(one)) return true;
  const std::string reason = one.port.link_status ? one.port.link_status->reason : std::string();
  return !reason.empty() && reason != "No cable" && reason != kSwitchedOff;
}

bool link_suffers(const Case& one) {
  const Signals& seen = one.signals;
  return is_missed(one) || rose(seen.link_downs) || rose(seen.link_recoveries) || rose(seen.link_integrity_errors) ||
         rose(seen.symbol_errors) || rose(seen.crc_errors) || rose(seen.fec_uncorrectable);
}

constexpr double kFewEvents = 10;  // less is noise of one connection

// More than one a second, as the check says, and a tenth of all: a few are nothing to a sender that obeys the others.
bool ignores(const Signals& seen) {
  const double count = rise(seen.cnp_ignored);
  return count >= std::max(kFewEvents, seen.seconds) && count >= 0.1 * (count + rise(seen.cnp_handled));
}

// For each flow a notification is sent at most once in some microseconds, but never none at all for so many marks.
bool answers_no_marks(const Case& one) {
  constexpr double kMarks = 1000;
  const Signals& seen = one.signals;
  const auto& answers = one.port.qos.ecn_np;
  // Another way of congestion control. Without PFC no priority is known as RoCE's: then any that is answered.
  if (answers && answers->bits != 0 && without_congestion_control(one, answers).bits == 0) return false;
  return is_roce(one.port) && rise(seen.ecn_marked) >= kMarks && seen.cnp_sent && *seen.cnp_sent == 0;
}

bool pcie_suffers(const Case& one) {
  const Signals& seen = one.signals;
  const bool stalls = seen.seconds > 0 && rise(seen.pcie_stalled_seconds) >= 0.05 * seen.seconds;
  return stalls || rise(seen.pcie_overflows) + rise(seen.pcie_errors) >= kFewEvents || !aer_lines(one).empty();
}

// Of the packets: NCCL over RoCE feels more than that. What arrives out of order can be adaptive routing at work.
constexpr double kLossRatio = 1e-6, kDisorderRatio = 1e-5;
constexpr double kStarved = 0.05;  // as with pause

Symptoms symptoms_of(const Case& one) {
  Symptoms out;
  const Signals& seen = one.signals;
  if (link_suffers(one)) out.add(Symptom::link);
  if (paused(one, Direction::tx).is_much() || rose(seen.pause_storm_events)) out.add(Symptom::tx_pause);
  if (paused(one, Direction::rx).is_much()) out.add(Symptom::rx_pause);
  if (lossless_discards(one).second >= kFewEvents) out.add(Symptom::discards);
  if (pcie_suffers(one)) out.add(Symptom::pcie);
  if (starved(one).value_or(0) >= kStarved) out.add(Symptom::starved);
  if (rise(seen.remote_physical_errors) >= kFewEvents) out.add(Symptom::marked);
  if (rose(seen.buffer_overruns)) out.add(Symptom::overrun);
  const Loss loss = loss_of(one);
  const double packets = loss.packets.value_or(0);
  if (loss.given_up > 0 || (loss.requester >= kFewEvents && loss.requester >= kLossRatio * packets) ||
      is_disordered(one))
    out.add(Symptom::loss);
  if (rose(seen.rnr_retries_exceeded) || is_much_waiting(one, rise(seen.out_of_buffer) + rise(seen.rnr_naks)))
    out.add(Symptom::receiver);
  if (ignores(seen)) out.add(Symptom::ignored);
  if (answers_no_marks(one)) out.add(Symptom::unanswered);
  return out;
}

}  // namespace

PrioSet without_congestion_control(const Case& one, const std::optional<PrioSet>& point) {
  const bool own = one.port.qos.pfc && one.port.qos.pfc->bits != 0;
  const uint8_t of_roce = own ? one.port.qos.pfc->bits : one.lossless.value_or(PrioSet{}).bits;
  return PrioSet{static_cast<uint8_t>(point ? of_roce & ~point->bits : 0)};
}

std::string Case::peer_label() const { return peer == nullptr ? "the switch" : peer_name(*peer); }

bool is_down(const Port& port) {
  constexpr unsigned kDown = 1;  // enum ib_port_state (rdma/ib_verbs.h)
  return (port.carrier && !*port.carrier) || (port.state && *port.state == kDown);
}

double rise(const Rise& value) { return value.value_or(0); }
bool rose(const Rise& value) { return rise(value) > 0; }

std::string plus(std::string_view name, double value) {
  return std::string(name) + " +" + std::to_string(std::llround(value));
}
std::string percent(double ratio) { return number_text(std::round(ratio * 1000) / 10) + " %"; }

double raw_rise(const Case& one, std::initializer_list<std::string_view> names) {
  double out = 0;
  if (one.before == nullptr) return out;
  for (const auto member : {&PortCounters::hw, &PortCounters::ethtool})
    for (const Counter& now : one.port.counters.*member) {
      if (std::find(names.begin(), names.end(), now.name) == names.end()) continue;
      for (const Counter& old : one.before->counters.*member)
        if (old.name == now.name && now.value > old.value) out += static_cast<double>(now.value - old.value);
    }
  return out;
}

Case open_case(const View& view, const Port& port, const Signals& signals) {
  Case one{.view = view,
           .port = port,
           .before = port_of(view.before, port.id()),
           .signals = signals,
           .nic = nic_of(view.now.topology, port.pci),
           .peer = peer_of(view.now, port),
           .entry = view.policy == nullptr ? nullptr : policy_for(*view.policy, port),
           .lossless = {},
           .symptoms = {}};
  one.lossless = lossless_of(one);
  one.symptoms = symptoms_of(one);
  return one;
}

std::string Paused::text(const char* what) const {
  return std::string(what) + (measured ? " " : " at most ") + percent(ratio) + " of the time" +
         (priority < 0 ? ", by global pause" : " on priority " + std::to_string(priority));
}

Paused paused(const Case& one, Direction direction) {
  const Signals& seen = one.signals;
  const bool rx = direction == Direction::rx;
  Paused out;
  if (seen.seconds <= 0) return out;
  const auto take = [&](double seconds, int priority, bool measured) {
    const double ratio = std::min(seconds / seen.seconds, 1.0);
    if (ratio > out.ratio && (measured || !out.measured)) out = {ratio, priority, measured};
  };
  const double speed = one.port.speed.value_or(0) * 1e6;
  const auto at_most = [&](double frames) { return speed > 0 ? frames * kLongestPauseBits / speed : 0; };
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = seen.priority[static_cast<size_t>(priority)];
    if (const Rise& time = rx ? each.rx_pause_seconds : each.tx_pause_seconds) take(*time, priority, true);
    else if (!rx || !one.port.qos.pfc ||
             one.port.qos.pfc->has(priority))  // pause of a priority without PFC stops nothing
      take(at_most(rise(rx ? each.rx_pause_frames : each.tx_pause_frames)), priority, false);
  }
  // Some frames of PFC are no reason to overlook much global pause.
  const Rise& time = rx ? seen.rx_global_pause_seconds : seen.tx_global_pause_seconds;
  const double most = time ? *time : at_most(rise(rx ? seen.rx_global_pause_frames : seen.tx_global_pause_frames));
  const Paused global{std::min(most / seen.seconds, 1.0), -1, time.has_value()};
  if (global.ratio > out.ratio && (!out.measured || global.measured || (global.is_much() && !out.is_much())))
    out = global;
  return out;
}

bool holds_without_end(const Case& one) {
  const Paused held = paused(one, Direction::tx);
  // Then the NIC has ceased to pause by itself, and throws away what comes (net/mlx5e: "Expose PFC stall prevention
  // counters", Linux 4.17; Broadcom: PFC of the RoCE queue is off).
  if (raw_rise(one, {"tx_pause_storm_error_events", "continuous_roce_pause_events"}) > 0) return true;
  // A storm that lasted for a moment of a long window is over.
  if (rose(one.signals.pause_storm_events) && (!held.measured || held.is_much())) return true;
  return held.measured && held.ratio >= 0.8;
}

std::optional<double> starved(const Case& one) {
  const double tick = capabilities_of(one.port.kernel_driver).transmit_wait_bytes;
  const Signals& seen = one.signals;
  if (one.port.link_layer != LinkLayer::infiniband || tick == 0 || !seen.transmit_wait) return std::nullopt;
  const double bytes = one.port.rate.value_or(0) * seen.seconds;
  if (bytes <= 0) return std::nullopt;
  return std::min(1.0, *seen.transmit_wait * tick / bytes);
}

Loss loss_of(const Case& one) {
  const Signals& seen = one.signals;
  Loss out;
  const bool normal = capabilities_of(one.port.kernel_driver).resends_on_other_paths;
  out.requester = rise(seen.sequence_naks) + (normal ? 0 : rise(seen.ack_timeouts));
  out.responder = rise(seen.out_of_sequence) + rise(seen.duplicate_requests);
  out.given_up = rise(seen.retries_exceeded);
  if (seen.rx_packets || seen.tx_packets) out.packets = rise(seen.rx_packets) + rise(seen.tx_packets);
  return out;
}

bool is_disordered(const Case& one) {
  const Loss loss = loss_of(one);
  return loss.responder >= kFewEvents && loss.responder >= kDisorderRatio * loss.packets.value_or(0);
}

std::vector<std::string> loss_lines(const Case& one) {
  const Signals& seen = one.signals;
  std::vector<std::string> out;
  const auto tell = [&](std::string_view name, const Rise& value) {
    if (rose(value)) out.push_back(plus(name, *value));
  };
  tell("packets received out of sequence", seen.out_of_sequence);
  tell("duplicate requests received", seen.duplicate_requests);
  tell("sequence NAKs received", seen.sequence_naks);
  tell("ACK timeouts", seen.ack_timeouts);
  tell("connections given up", seen.retries_exceeded);
  return out;
}

std::pair<PrioSet, double> lossless_discards(const Case& one) {
  std::pair<PrioSet, double> out;
  for (int priority = 0; priority < kPriorities; ++priority) {
    const double lost = rise(one.signals.priority[static_cast<size_t>(priority)].discards);
    if (lost <= 0 || !one.lossless || !one.lossless->has(priority)) continue;
    out.first.bits = static_cast<uint8_t>(out.first.bits | 1u << priority);
    out.second += lost;
  }
  return out;
}

}  // namespace fabric
