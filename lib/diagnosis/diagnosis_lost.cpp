// SPDX-License-Identifier: Apache-2.0
// How much the wire can have lost, this port itself, and the way before the network; by which priorities RDMA went; and
// which receivers were late.
#include <algorithm>
#include <cmath>

#include "checks/network/network.h"
#include "diagnosis/diagnosis_case.h"
#include "health/health_ports.h"
#include "model/finding.h"
#include "vendor/capabilities.h"

namespace fabric {
namespace {

double damaged(const Signals& seen) {
  return rise(seen.crc_errors) + rise(seen.symbol_errors) + rise(seen.fec_uncorrectable);
}

// Nothing passes meanwhile.
bool was_gone(const Signals& seen) {
  return rose(seen.link_downs) || rose(seen.link_integrity_errors) || rise(seen.link_recoveries) >= kRetrains;
}

// A link that trains anew once loses what ten connections have in flight (ours), and none of them is given up for that.
bool loses(const Signals& seen, const Loss& loss) {
  const double packets = damaged(seen) + (loss.given_up > 0 ? 0 : 10 * rise(seen.link_recoveries));
  return was_gone(seen) ||
         (packets > 0 && packets * kInFlight >= loss.requester + loss.responder && packets >= kTries * loss.given_up);
}

// The same answers as out_of_buffer counts, by drivers that count what they send.
double not_ready_sent(const Case& one) { return raw_rise(one, {"RNR sent", "send_rnr_err", "resp_tx_rnr_retry_err"}); }

// By the port's PFC; where that is off and the policy wants it, by the policy.
PrioSet protected_priorities(const Case& one) {
  if (!one.port.qos.pfc) return {};
  if (one.port.qos.pfc->bits != 0 || one.entry == nullptr) return *one.port.qos.pfc;
  return one.entry->want.pfc.value_or(PrioSet{});
}

// RDMA's bytes, and what went by the priorities that PFC protects and by others, where the driver counts them apart and
// they are many.
struct Shares {
  double all = 0, by_lossless = 0, by_others = 0;
};
std::optional<Shares> shares_of(const Case& one, Direction direction) {
  constexpr double kMuch = 100e6;
  const bool rx = direction == Direction::rx, counted = capabilities_of(one.port.kernel_driver).priority_bytes;
  Shares out{.all = rise(rx ? one.signals.rx_bytes : one.signals.tx_bytes)};
  const PrioSet meant = protected_priorities(one);
  if (!counted || meant.bits == 0 || out.all < kMuch) return std::nullopt;
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = one.signals.priority[static_cast<size_t>(priority)];
    (meant.has(priority) ? out.by_lossless : out.by_others) += rise(rx ? each.rx_bytes : each.tx_bytes);
  }
  return out;
}

std::string megabytes(double bytes) { return std::to_string(std::llround(bytes / 1e6)) + " MB"; }

bool is_its_member(const Case& one, const Port& port) {
  return port.is_member() && port.rdma == one.port.rdma && !one.port.is_member();
}

}  // namespace

bool is_clean(const Signals& seen) { return damaged(seen) <= 0 && !was_gone(seen) && !rose(seen.link_recoveries); }

// Errors on the wire lose packets, and so does a port that is not ACTIVE. A bond's wires are its members'.
bool wire_explains_loss(const Case& one) {
  const Loss loss = loss_of(one);
  if (is_down(one.port) || one.port.state.value_or(kPortActive) < kPortActive || loses(one.signals, loss)) return true;
  return std::any_of(one.view.now.ports.begin(), one.view.now.ports.end(), [&](const Port& port) {
    const auto seen = one.view.signals->find(port.id());
    return is_its_member(one, port) && seen != one.view.signals->end() && loses(seen->second, loss);
  });
}

// A NIC counts a storm when its receive buffers did not move for long. One that is slow goes on, if at little of its
// speed.
bool takes_nothing(const Case& one) {
  const Signals& seen = one.signals;
  if (rose(seen.pause_storm_events)) return holds_without_end(one);
  const Paused held = paused(one, Direction::tx);
  return held.measured && held.ratio >= 0.9 && seen.rx_bytes &&
         *seen.rx_bytes < 0.01 * one.port.rate.value_or(0) * seen.seconds;
}

// Small messages pass then, and the first packet of a large one is lost each time that it is sent.
std::string frames_too_long(const Case& one) {
  constexpr uint32_t kHeaders =
      96 + 14 + 4;  // RoCE's by iboe_get_mtu(), Ethernet's and the FCS: as the check mtu-chain
  const auto interface = one.view.now.network.interfaces.find(one.port.netdev);
  if (interface == one.view.now.network.interfaces.end() || !one.port.active_mtu) return {};
  const auto& most = interface->second.peer_max_frame;
  if (!most || *most >= *one.port.active_mtu + kHeaders) return {};
  return one.peer_label() + " takes frames of " + std::to_string(*most) + " bytes, and RoCE's are up to " +
         std::to_string(*one.port.active_mtu + kHeaders);
}

// The port's own GIDs that went between the two readings: answers to them do not arrive. A container's goes when its
// processes have ended. A type may be unreadable.
size_t gids_gone(const Case& one) {
  if (one.before == nullptr || one.port.gids.empty()) return 0;
  const auto& now = one.port.gids;
  return static_cast<size_t>(std::count_if(one.before->gids.begin(), one.before->gids.end(), [&](const Gid& old) {
    return is_own(one.view, *one.before, old) && std::none_of(now.begin(), now.end(), [&](const Gid& gid) {
             return gid.gid == old.gid && (gid.type == old.type || gid.type.empty() || old.type.empty());
           });
  }));
}

std::string silent_gateway(const Case& one) {
  std::string out;
  for (const NamedInterface& each : interfaces_of(one.view.now, one.port))
    for (const Neighbour& gateway : each.interface->gateways) {
      if (gateway.state != "FAILED" && gateway.state != "INCOMPLETE") return {};
      out = "the gateway " + to_text(gateway.ip) + " of " + each.netdev + " does not answer: it is " + gateway.state;
    }
  return out;
}

bool is_held_fast(const Case& one) {
  const Paused held = paused(one, Direction::rx);
  const Rise by = held.priority < 0 ? Rise() : one.signals.priority[static_cast<size_t>(held.priority)].tx_bytes;
  const bool is_of_others = by && *by < 0.5 * rise(one.signals.tx_bytes);  // RDMA goes by another priority
  const bool is_held = (held.measured && held.ratio >= 0.8 && !is_of_others) || starved(one).value_or(0) >= 0.8;
  return is_held && rise(one.signals.sequence_naks) < 10 && !is_disordered(one);
}

std::string unprotected(const Case& one, Direction direction) {
  const auto seen = shares_of(one, direction);
  if (!seen || seen->by_lossless >= 0.1 * seen->all || seen->by_others < 0.5 * seen->all)
    return {};  // what loops back in the card has no priority
  return "of " + megabytes(seen->all) + " that RDMA " + (direction == Direction::rx ? "received" : "sent") +
         ", at most " + megabytes(seen->by_lossless) + " went by priority " + to_text(protected_priorities(one)) +
         (one.port.qos.pfc->bits != 0 ? ", which PFC protects" : ", which PFC is to protect and does not yet");
}

std::string well_protected(const Case& one) {
  const auto sent = shares_of(one, Direction::tx), received = shares_of(one, Direction::rx);
  if (!sent || !received || sent->by_lossless < 0.9 * sent->all || received->by_lossless < 0.9 * received->all)
    return {};
  const double by_lossless = std::min(sent->all, sent->by_lossless) + std::min(received->all, received->by_lossless);
  return "but of " + megabytes(sent->all + received->all) + " of RDMA, " + megabytes(by_lossless) +
         " went by priority " + to_text(protected_priorities(one));
}

bool has_lossless(const Case& one) { return one.lossless && one.lossless->bits != 0; }

double discards_of_roce(const Case& one) {
  if (has_lossless(one)) return lossless_discards(one).second;
  double by_priority = 0;
  for (const PrioritySignals& each : one.signals.priority) by_priority += rise(each.discards);
  return std::max(by_priority, rise(one.signals.rx_discards));
}

// Of what is missed, these are answers that this port waits for, and requests of others.
bool threw_away(const Case& one, double discards) {
  const Loss loss = loss_of(one);
  return discards >= std::max({kFewDiscards, 0.1 * loss.requester, loss.responder / kInFlight, kTries * loss.given_up});
}

// These are requests, which the far end asks for again, and answers: where nothing had to be sent again, they were not
// missed. What arrives here out of order was thrown away elsewhere, where it is much.
bool kept_back(const Case& one) {
  const Signals& seen = one.signals;
  const Loss loss = loss_of(one);
  if (loss.requester + loss.given_up + rise(seen.duplicate_requests) <= 0) return false;
  return rise(seen.tx_discards) >=
         std::max({kFewDiscards, 0.1 * loss.requester, loss.responder / kInFlight, kTries * loss.given_up});
}

double not_ready_here(const Case& one) { return rise(one.signals.out_of_buffer) + not_ready_sent(one); }

double not_ready_there(const Case& one) { return std::max(0.0, rise(one.signals.rnr_naks) - not_ready_sent(one)); }

bool is_much_waiting(const Case& one, double count) {
  constexpr double kRatio = 1e-3;  // of the packets
  return count >= 10 * std::max(10.0, one.signals.seconds) && count >= kRatio * loss_of(one).packets.value_or(0);
}

bool is_far_end_late(const Case& one) {
  const double here = not_ready_here(one),
               there = not_ready_there(one) + kTries * rise(one.signals.rnr_retries_exceeded);
  return there > here && !is_much_waiting(one, here);
}

}  // namespace fabric
