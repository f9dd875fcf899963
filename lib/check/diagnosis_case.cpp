// SPDX-License-Identifier: Apache-2.0
// What can be said of a port before anybody is blamed.
#include "check/diagnosis_case.h"

#include <algorithm>
#include <cmath>

#include "check/finding.h"
#include "check/pcie_link.h"
#include "check/peer.h"
#include "check/platform.h"
#include "model/locality.h"
#include "model/switched_off.h"

namespace fabric {
namespace {

// One pause frame holds a priority for at most 65535 quanta of 512 bit times (IEEE 802.3 annex 31B, 802.1Qbb).
constexpr double kLongestPauseBits = 65535.0 * 512;

const Port* port_of(const Node* node, const std::string& id) {
  if (node == nullptr) return nullptr;
  const auto found = std::find_if(node->ports.begin(), node->ports.end(), [&](const Port& port) { return port.id() == id; });
  return found == node->ports.end() ? nullptr : &*found;
}

const Nic* nic_of(const Topology& topology, const std::string& pci) {
  if (pci.empty()) return nullptr;
  const auto found = std::find_if(topology.nics.begin(), topology.nics.end(), [&](const Nic& nic) { return nic.pci == pci; });
  return found == topology.nics.end() ? nullptr : &*found;
}

const Neighbor* peer_of(const Node& node, const Port& port) {
  if (const Neighbor* told = who_told(node, port, &Neighbor::pfc)) return told;
  const auto named = named_neighbors(node, port);
  return named.empty() ? nullptr : named.front();
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

// A port that carries nothing and never did is nobody's trouble; one that is planned, configured or was up is.
bool is_missed(const Case& one) {
  if (!is_down(one.port)) return false;
  if (one.before != nullptr && !is_down(*one.before)) return true;
  if (!planned_cables(one.view.policy, one.port).empty()) return true;
  if (is_unused(one.view, one.port)) return false;
  if (one.entry != nullptr) return true;
  const std::string reason = one.port.link_status ? one.port.link_status->reason : std::string();
  return !reason.empty() && reason != "No cable" && reason != kSwitchedOff;
}

bool link_suffers(const Case& one) {
  const Signals& seen = one.signals;
  return is_missed(one) || rose(seen.link_downs) || rose(seen.link_recoveries) || rose(seen.symbol_errors) || rose(seen.crc_errors) ||
         rose(seen.fec_uncorrectable);
}

constexpr double kFewEvents = 10;      // less is noise of one connection

bool pcie_suffers(const Case& one) {
  const Signals& seen = one.signals;
  const bool stalls = seen.seconds > 0 && rise(seen.pcie_stalled_seconds) >= 0.05 * seen.seconds;
  return stalls || rise(seen.pcie_overflows) + rise(seen.pcie_errors) >= kFewEvents || !aer_lines(one).empty();
}

// Of the packets: NCCL over RoCE feels more than that. What arrives out of order can be adaptive routing at work.
constexpr double kLossRatio = 1e-6, kDisorderRatio = 1e-5;
constexpr double kNotReadyRatio = 1e-3;
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
  if (one.port.is_member()) return out;  // it tells of its link; what RDMA counts is the bond's
  const Loss loss = loss_of(one);
  const double packets = loss.packets.value_or(0);
  const auto is_much = [&](double events, double ratio) { return events >= kFewEvents && events >= ratio * packets; };
  if (loss.given_up > 0 || is_much(loss.requester, kLossRatio) || is_much(loss.responder, kDisorderRatio)) out.add(Symptom::loss);
  const double waits = rise(seen.out_of_buffer) + rise(seen.rnr_naks);
  if (rose(seen.rnr_retries_exceeded) || (waits >= 10 * kFewEvents && waits >= kNotReadyRatio * packets))
    out.add(Symptom::receiver);
  if (rise(seen.cnp_ignored) >= kFewEvents) out.add(Symptom::ignored);
  return out;
}

uint64_t aer_rise(const AerCounts& before, const AerCounts& now) {
  return now.total && before.total && *now.total > *before.total ? *now.total - *before.total : 0;
}

// A PCIe link may have to repeat 1e-12 of its bits (DCGM; the check aer says the same).
bool is_worn(const PlatformFunction& function, uint64_t corrected, double seconds) {
  const double bits = function.link.speed.value_or(0) * 1e9 * function.link.width.value_or(0) * seconds;
  return corrected >= 2 && static_cast<double>(corrected) >= 1e-12 * bits;
}

bool are_alike(const PciDevice& a, const PciDevice& b) { return a.vendor == b.vendor && a.device == b.device; }

std::optional<PathClass> nearest_gpu(const Topology& topology, const Nic& nic) {
  std::optional<PathClass> out;
  for (const Gpu& gpu : topology.gpus)
    if (const auto path = path_class(gpu, nic); path && (!out || *path < *out)) out = path;
  return out;
}

}  // namespace

std::string Case::peer_label() const { return peer == nullptr ? "the switch" : peer_name(*peer); }

bool is_down(const Port& port) {
  constexpr unsigned kDown = 1;  // enum ib_port_state (rdma/ib_verbs.h)
  return (port.carrier && !*port.carrier) || (port.state && *port.state == kDown);
}

double rise(const Rise& value) { return value.value_or(0); }
bool rose(const Rise& value) { return rise(value) > 0; }

std::string plus(std::string_view name, double value) { return std::string(name) + " +" + std::to_string(std::llround(value)); }
std::string percent(double ratio) { return number_text(std::round(ratio * 1000) / 10) + " %"; }

double raw_rise(const Case& one, std::initializer_list<std::string_view> names) {
  double out = 0;
  if (one.before == nullptr) return out;
  for (const Counter& now : one.port.counters.hw) {
    if (std::find(names.begin(), names.end(), now.name) == names.end()) continue;
    for (const Counter& old : one.before->counters.hw)
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
    else take(at_most(rise(rx ? each.rx_pause_frames : each.tx_pause_frames)), priority, false);
  }
  // Some frames of PFC are no reason to overlook much global pause.
  const Paused global{std::min(at_most(rise(rx ? seen.rx_global_pause_frames : seen.tx_global_pause_frames)) / seen.seconds, 1.0), -1, false};
  if (global.ratio > out.ratio && (!out.measured || (global.is_much() && !out.is_much()))) out = global;
  return out;
}

// The tick is the device's own, and not told in sysfs. NVIDIA's count eight bytes of the port since Quantum, 32 of a lane before
// (ibdiagnet's manual 2.13, "Congestion Assessment on InfiniBand Links", of switches; its ib-traffic-monitor takes the same of
// cards): eight are the least.
std::optional<double> starved(const Case& one) {
  constexpr double kTickBytes = 8;
  const Signals& seen = one.signals;
  if (one.port.link_layer != LinkLayer::infiniband || one.port.kernel_driver != "mlx5_core" || !seen.transmit_wait) return std::nullopt;
  const double bytes = one.port.rate.value_or(0) * seen.seconds;
  if (bytes <= 0) return std::nullopt;
  return std::min(1.0, *seen.transmit_wait * kTickBytes / bytes);
}

Loss loss_of(const Case& one) {
  const Signals& seen = one.signals;
  Loss out;
  // EFA's transport repeats over other paths as it pleases.
  const bool efa = one.port.kernel_driver == "efa";
  out.requester = rise(seen.sequence_naks) + (efa ? 0 : rise(seen.ack_timeouts));
  out.responder = rise(seen.out_of_sequence) + rise(seen.duplicate_requests);
  out.given_up = rise(seen.retries_exceeded);
  if (seen.rx_packets || seen.tx_packets) out.packets = rise(seen.rx_packets) + rise(seen.tx_packets);
  return out;
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

std::vector<std::string> aer_lines(const Case& one) {
  std::vector<std::string> out;
  if (one.nic == nullptr || one.view.before == nullptr) return out;
  std::vector<std::string> chain{one.nic->pci};
  chain.insert(chain.end(), one.nic->bridges.begin(), one.nic->bridges.end());
  for (const std::string& pci : chain) {
    const PlatformFunction *now = function_of(one.view.now, pci), *then = function_of(*one.view.before, pci);
    if (now == nullptr || then == nullptr) continue;
    const auto tell = [&](const char* kind, uint64_t by) {
      if (by > 0) out.push_back(pci + " " + plus(std::string(kind) + " PCIe errors", static_cast<double>(by)));
    };
    tell("fatal", aer_rise(then->fatal, now->fatal));
    tell("non-fatal", aer_rise(then->nonfatal, now->nonfatal));
    if (const uint64_t by = aer_rise(then->correctable, now->correctable); is_worn(*now, by, one.signals.seconds)) tell("correctable", by);
  }
  return out;
}

std::string degraded_link(const Case& one) {
  if (one.nic == nullptr) return {};
  const PlatformFunction* slot = one.nic->bridges.empty() ? nullptr : function_of(one.view.now, one.nic->bridges.front());
  const PcieLink link = slot == nullptr ? one.nic->link : link_between(one.nic->link, slot->link).value_or(one.nic->link);
  const bool below = (link.width && link.max_width && *link.width < *link.max_width) || (link.speed && link.max_speed && *link.speed < *link.max_speed);
  if (!below) return {};
  bool alone = true, better = false;
  for (const Nic& other : one.view.now.topology.nics) {
    if (&other == one.nic || !are_alike(other, *one.nic)) continue;
    alone = false;
    better = better || other.link.width > link.width || other.link.speed > link.speed;
  }
  if (!alone && !better) return {};  // the platform's limit
  const auto text = [](std::optional<unsigned> width, std::optional<double> speed) {
    return (width ? "x" + std::to_string(*width) : std::string("x?")) + " at " + (speed ? number_text(*speed) : std::string("?")) + " GT/s";
  };
  return "PCIe link of " + one.nic->pci + " is " + text(link.width, link.speed) + " of " + text(link.max_width, link.max_speed);
}

std::string far_from_gpus(const Case& one) {
  const Topology& topology = one.view.now.topology;
  if (one.nic == nullptr || topology.gpus.empty() || is_flattened(topology)) return {};
  const auto own = nearest_gpu(topology, *one.nic);
  if (!own || *own < PathClass::NODE) return {};
  std::optional<PathClass> best;
  for (const Nic& other : topology.nics)
    if (&other != one.nic && are_alike(other, *one.nic))
      if (const auto path = nearest_gpu(topology, other); path && (!best || *path < *best)) best = path;
  const bool odd = best ? *best < *own : *own == PathClass::SYS;
  if (!odd) return {};
  return "no GPU is nearer to " + one.nic->name + " than " + std::string(to_text(*own)) +
         (one.nic->numa ? " (it is on NUMA node " + std::to_string(*one.nic->numa) + ")" : "") +
         (best ? "; NICs like it have one at " + std::string(to_text(*best)) : "");
}

}  // namespace fabric
