// SPDX-License-Identifier: Apache-2.0
// Rules about packets that did not arrive: settings that differ between the two ends, and the network beyond.
#include <algorithm>

#include "checks/cabling/peer.h"
#include "diagnosis/diagnosis_case.h"
#include "model/finding.h"

namespace fabric::judges {
namespace {

bool suffers(const Case& one) { return one.symptoms.any_of({Symptom::discards, Symptom::loss}); }

std::string set_text(PrioSet set) {
  std::string out;
  for (int priority = 0; priority < kPriorities; ++priority)
    if (set.has(priority)) out.append(out.empty() ? "" : ", ").append(std::to_string(priority));
  return out;
}

void add_loss(const Case& one, std::vector<std::string>& evidence) {
  if (const auto [where, lost] = lossless_discards(one); lost > 0)
    evidence.push_back(plus("frames of lossless priority " + set_text(where) + " discarded here", lost));
  for (std::string& line : loss_lines(one)) evidence.push_back(std::move(line));
}

// Of these priorities, those that carried more than strays, so far as the port counts that. Where RDMA is a little
// beside much else, a little is no stray; what PTP and its like send always is.
PrioSet with_traffic(const Signals& seen, PrioSet set) {
  constexpr double kSome = 1e4;  // bytes a second (ours): PTP at its most usual rates is about half of it
  const auto bytes = [](const PrioritySignals& each) { return rise(each.rx_bytes) + rise(each.tx_bytes); };
  double most = 0;
  for (const PrioritySignals& each : seen.priority) most = std::max(most, bytes(each));
  if (const double rdma = rise(seen.rx_bytes) + rise(seen.tx_bytes); rdma > 0) most = std::min(most, rdma);
  const double strays = std::max(std::min(most / 1000, 1e6 * seen.seconds), kSome * seen.seconds);
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = seen.priority[static_cast<size_t>(priority)];
    if (each.rx_bytes && each.tx_bytes && bytes(each) <= strays)
      set.bits = static_cast<uint8_t>(set.bits & ~(1u << priority));
  }
  return set;
}

// Of the priorities in trouble, those that `off` lacks: where discards happened, else all in use that anybody calls
// lossless.
PrioSet lacking(const Case& one, PrioSet off) {
  const auto [where, lost] = lossless_discards(one);
  const uint8_t asked = lost > 0 ? where.bits : with_traffic(one.signals, one.lossless.value_or(PrioSet{})).bits;
  return PrioSet{static_cast<uint8_t>(asked & ~off.bits)};
}

// Nothing tells whether RoCE uses these at all, where the port has PFC for another one: no policy, no discard, and no
// count of bytes.
bool is_said_by_the_switch_alone(const Case& one, PrioSet off) {
  if (one.port.qos.pfc->bits == 0 || (one.entry != nullptr && one.entry->want.pfc) || lossless_discards(one).second > 0)
    return false;
  for (int priority = 0; priority < kPriorities; ++priority)
    if (off.has(priority) && one.signals.priority[static_cast<size_t>(priority)].tx_bytes) return false;
  return true;
}

std::optional<PrioSet> switch_pfc(const Case& one) {
  if (one.peer == nullptr || !one.peer->pfc) return std::nullopt;
  return one.peer->pfc->enabled;
}

bool link_counters_known(const Signals& seen) {
  return seen.crc_errors || seen.symbol_errors || seen.fec_uncorrectable || seen.link_downs;
}
bool discards_told_by_priority(const Signals& seen) {
  return std::any_of(seen.priority.begin(), seen.priority.end(),
                     [](const PrioritySignals& each) { return each.discards.has_value(); });
}
// The wire has not lost it; has it been without any error?
std::string link_words(const Case& one) {
  return is_clean(one.signals) ? "this port's own link shows no error in what it receives"
                               : "the few errors of this port's own link are not enough for so much";
}
bool software(const Port& port) { return port.pci.empty(); }

bool differs(const View& view, const Port& port, SettingId setting) {
  if (view.plan == nullptr) return false;
  const auto found = view.plan->find(port.id());
  if (found == view.plan->end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Change& change) {
    return change.setting == setting && change.outcome != Outcome::in_sync && change.outcome != Outcome::applied &&
           change.outcome != Outcome::unsupported;
  });
}

bool differs_from_plan(const Case& one, SettingId setting) {
  const auto members = members_of(one.view.now, one.port);
  return differs(one.view, one.port, setting) || std::any_of(members.begin(), members.end(), [&](const Port* member) {
           return differs(one.view, *member, setting);
         });
}

// What this port threw away itself speaks against the network.
void weigh_own_discards(const Case& one, Verdict& out) {
  const Signals& seen = one.signals;
  const double lossless = lossless_discards(one).second;
  if (const double all = discards_of_roce(one); !has_lossless(one) && threw_away(one, all)) {
    out.evidence.push_back("but this port discarded packets itself, and no priority is known as lossless: " +
                           plus("discards", all));
    out.confidence = 0.2;
  } else if (lossless > 0)
    out.evidence.push_back("only " + number_text(lossless) + " frames of a lossless priority were discarded here");
  else if (has_lossless(one) && discards_told_by_priority(seen))
    out.evidence.push_back("no frame of a lossless priority was discarded here");
  else if (threw_away(one, rise(seen.rx_discards))) {
    out.evidence.push_back("but this port discarded packets itself, and does not count of which priority: " +
                           plus("discards", *seen.rx_discards));
    out.confidence = 0.2;
  } else if (rise(seen.rx_discards) >= kFewDiscards)
    out.evidence.push_back("what this port discarded itself is not enough for so much: " +
                           plus("discards", *seen.rx_discards));
  else if (seen.rx_discards) out.evidence.push_back("this port discarded hardly anything itself");
  else if (!software(one.port)) out.confidence -= 0.2;
}

// Reasons to doubt that leave the network named, if it was.
void doubt(Verdict& out, std::string why) {
  out.evidence.push_back(std::move(why));
  out.confidence -= std::clamp(out.confidence - kEnough, 0.0, 0.1);
}

// Where RoCE arrives outside the priorities that PFC protects, what this port discarded of the others counts as well.
void weigh_unprotected(const Case& one, Verdict& out) {
  std::string received = unprotected(one, Direction::rx);
  if (received.empty()) return;
  doubt(out, std::move(received));
  double discards = 0;
  for (const PrioritySignals& each : one.signals.priority) discards += rise(each.discards);
  if (discards = std::max(discards, rise(one.signals.rx_discards)); threw_away(one, discards)) {
    out.evidence.push_back("but this port discarded packets itself: " + plus("discards", discards));
    out.confidence = 0.2;
  }
  out.next.emplace_back(
      "The peers send with another traffic class, or a switch rewrites it: check the DSCP at the sending end "
      "(NCCL_IB_TC of fabric-agentctl topo --format nccl there)");
}

// By what the port counts of the priorities that threw frames away.
bool never_asked(const Case& one) {
  const PrioSet where = lossless_discards(one).first;
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = one.signals.priority[static_cast<size_t>(priority)];
    if (where.has(priority) && (rose(each.tx_pause_frames) || rose(each.tx_pause_seconds) ||
                                (!each.tx_pause_frames && !each.tx_pause_seconds)))
      return false;
  }
  return true;
}

}  // namespace

Judgement pfc_off_here(const Case& one) {
  if (!suffers(one) || !one.port.qos.pfc) return std::nullopt;
  PrioSet off = lacking(one, *one.port.qos.pfc);
  if (one.entry != nullptr && one.entry->want.pfc)
    off.bits &= one.entry->want.pfc->bits;  // what is not wanted is not missing
  if (off.bits == 0) return std::nullopt;
  const auto told = switch_pfc(one);
  const bool switch_has = told && (off.bits & ~told->bits) == 0;
  const bool discards = one.symptoms.has(Symptom::discards);
  Verdict out{switch_has ? (discards ? 0.95 : 0.75) : (discards ? 0.7 : 0.5), {}};
  out.evidence.push_back("PFC of this port: " + to_text(*one.port.qos.pfc) + "; priority " + set_text(off) +
                         " is not in it");
  if (told) out.evidence.push_back("PFC of " + one.peer_label() + ": " + to_text(*told));
  if (is_said_by_the_switch_alone(one, off)) out.confidence = 0.4;
  if (one.entry != nullptr && one.entry->want.pfc)
    out.evidence.push_back("PFC that the policy wants here: " + to_text(*one.entry->want.pfc));
  add_loss(one, out.evidence);
  return out;
}

Judgement pfc_off_switch(const Case& one) {
  const auto told = switch_pfc(one);
  if (!suffers(one) || !one.port.qos.pfc || !told) return std::nullopt;
  const PrioSet off = lacking(one, *told);
  if ((off.bits & one.port.qos.pfc->bits) == 0) return std::nullopt;
  const bool discards = one.symptoms.has(Symptom::discards);
  Verdict out{discards ? 0.9 : 0.75,
              {"PFC of " + one.peer_label() + ": " + to_text(*told) + "; priority " + set_text(off) + " is not in it",
               "PFC of this port: " + to_text(*one.port.qos.pfc)}};
  if (paused(one, Direction::tx).ratio > 0) {
    out.evidence.push_back("this port asked for pause, and the switch does not heed it");
    out.confidence = 0.95;
  }
  add_loss(one, out.evidence);
  return out;
}

// RoCE data does not stand where PFC protects it.
Judgement wrong_priority(const Case& one) {
  if (!suffers(one)) return std::nullopt;
  Verdict out{0.7, {}};
  if (one.port.qos.trust && *one.port.qos.trust != Trust::dscp && one.entry != nullptr &&
      one.entry->want.trust == Trust::dscp)
    out.evidence.push_back("this port classifies by pcp, and the policy wants dscp");
  else
    for (const SettingId setting : {SettingId::trust, SettingId::dscp_map, SettingId::apptrust})
      if (differs_from_plan(one, setting))
        out.evidence.push_back(std::string(key_text(setting)) + " of this port is not as the policy wants it");
  if (std::string sent = unprotected(one, Direction::tx); !sent.empty()) {
    if (out.evidence.empty())
      out.next.emplace_back(
          "The application sends with another traffic class: give it the one of this network (NCCL_IB_TC of "
          "fabric-agentctl topo --format nccl; roce_tos in the policy for rdma_cm)");
    out.evidence.push_back(std::move(sent));
  }
  if (out.evidence.empty()) return std::nullopt;
  if (std::string right = well_protected(one); !right.empty()) {  // what differs is of other DSCPs
    out.evidence.push_back(std::move(right));
    out.confidence = 0.4;
  }
  add_loss(one, out.evidence);
  return out;
}

// PFC is on at both ends, pause was asked for, and frames were lost all the same: they did not fit behind it.
Judgement headroom(const Case& one) {
  if (!one.symptoms.has(Symptom::discards) || !one.port.qos.pfc || takes_nothing(one)) return std::nullopt;
  if (lacking(one, *one.port.qos.pfc).bits != 0) return std::nullopt;
  const auto told = switch_pfc(one);
  Verdict out{told ? 0.75 : 0.4,
              {"PFC of this port: " + to_text(*one.port.qos.pfc) +
               (told ? ", and of " + one.peer_label() + ": " + to_text(*told) : "; of the switch nothing is known")}};
  const Paused held = paused(one, Direction::tx);
  if (told && held.ratio > 0) out.confidence = 0.85;
  if (held.ratio > 0) out.evidence.push_back("this port asked for pause: " + held.text("tx pause"));
  else if (never_asked(one)) {
    out.evidence.emplace_back(
        "but not once did this port ask for pause: the priority may stand in a receive buffer that is not lossless");
    out.next.push_back("See prio2buffer and buffer_size first: fabric-agentctl plan --port " + one.port.netdev);
    out.confidence = std::min(out.confidence, 0.55);
  }
  if (one.port.qos.cable_length)
    out.evidence.push_back("cable_length is " + std::to_string(*one.port.qos.cable_length) + " m");
  add_loss(one, out.evidence);
  return out;
}

// A switch that finds a packet damaged while it already sends it on ends it with the bad packet delimiter (EBP): this
// end of the way only sees that.
Judgement damaged_elsewhere(const Case& one) {
  if (!one.symptoms.has(Symptom::marked)) return std::nullopt;
  Verdict out{0.6, {plus("packets received that were marked as damaged before", *one.signals.remote_physical_errors)}};
  if (!is_clean(one.signals) || wire_explains_loss(one)) {
    out.evidence.emplace_back("this port's own link has errors as well, which do not mark packets");
  } else if (link_counters_known(one.signals)) {
    out.evidence.emplace_back("this port's own link shows no error");
    out.confidence = 0.8;
  }
  add_loss(one, out.evidence);
  return out;
}

// Bits that change between two good links change inside something.
Judgement damaged_in_network(const Case& one) {
  if (!rose(one.signals.icrc_errors) || !one.symptoms.has(Symptom::loss)) return std::nullopt;
  if (wire_explains_loss(one) || !link_counters_known(one.signals)) return std::nullopt;
  const Loss loss = loss_of(one);
  if (*one.signals.icrc_errors * kInFlight < loss.requester + loss.responder ||
      *one.signals.icrc_errors < kTries * loss.given_up)
    return std::nullopt;  // not so much
  Verdict out{0.7, {plus("RoCE packets with a wrong invariant CRC", *one.signals.icrc_errors), link_words(one)}};
  add_loss(one, out.evidence);
  return out;
}

Judgement send_drops(const Case& one) {
  if (!one.symptoms.has(Symptom::loss) || !kept_back(one)) return std::nullopt;
  // What waits for the link, for the end of a pause or for credits is discarded in the end as well.
  const bool could_send =
      !wire_explains_loss(one) && !one.symptoms.has(Symptom::rx_pause) && one.port.link_layer != LinkLayer::infiniband;
  Verdict out{could_send ? 0.75 : 0.4, {plus("packets discarded by this port on sending", *one.signals.tx_discards)}};
  add_loss(one, out.evidence);
  return out;
}

// Connections given up while nothing came back at all.
Judgement peer_silent(const Case& one) {
  const Signals& seen = one.signals;
  if (!rose(seen.retries_exceeded)) return std::nullopt;
  const double naks = rise(seen.sequence_naks), disorder = rise(seen.out_of_sequence);
  const bool one_by_one =
      seen.sequence_naks ? naks >= std::clamp(kTries * *seen.retries_exceeded, 10.0, 100.0) : disorder >= 10;
  if (one_by_one || wire_explains_loss(one) || threw_away(one, discards_of_roce(one))) return std::nullopt;
  Verdict out{0.6, loss_lines(one)};
  out.evidence.push_back(
      disorder >= 10
          ? "hardly a NAK came back: packets were not lost one by one; what arrived out of order came from others"
      : naks + disorder > 0
          ? "hardly a NAK came back and hardly anything arrived out of order: packets were not lost one by one"
          : "no NAK came back and nothing arrived out of order: packets were not lost one by one");
  const size_t gone = gids_gone(one);
  const std::string gateway = silent_gateway(one);
  for (std::string why :
       {frames_too_long(one), gateway.empty() ? gateway : "but " + gateway,
        std::string(
            is_held_fast(one) ? "but the network lets this port send nearly nothing: it may be that nobody heard" : ""),
        gone > 0 ? "but " + std::to_string(gone) + " of this port's GIDs went meanwhile" : std::string()}) {
    if (why.empty()) continue;
    out.evidence.push_back(std::move(why));
    out.confidence = 0.4;
  }
  return out;
}

Judgement loss_in_network(const Case& one) {
  const Signals& seen = one.signals;
  const auto told = switch_pfc(one);
  if (!one.symptoms.has(Symptom::loss) || threw_away(one, lossless_discards(one).second) || kept_back(one) ||
      wire_explains_loss(one) || is_held_fast(one))
    return std::nullopt;
  if (gids_gone(one) > 0 && !rose(seen.sequence_naks) && !rose(seen.out_of_sequence))
    return std::nullopt;  // answers may go astray
  Verdict out{software(one.port) ? 0.5 : 0.6, loss_lines(one)};
  weigh_own_discards(one, out);
  if (link_counters_known(seen)) out.evidence.push_back(link_words(one));
  else if (!software(one.port)) out.confidence -= 0.1;
  weigh_unprotected(one, out);
  if (!rose(seen.sequence_naks) && !rose(seen.duplicate_requests) && !rose(seen.ack_timeouts) &&
      !rose(seen.retries_exceeded)) {
    doubt(out, "nothing had to be sent again from here: with adaptive routing this is reordering, and no loss");
  } else if (!rose(seen.sequence_naks) && !rose(seen.duplicate_requests) && !rose(seen.out_of_sequence)) {
    if (std::string gateway = silent_gateway(one); !gateway.empty()) {
      out.evidence.push_back(std::move(gateway));
      out.next.emplace_back("See fabric-agentctl check --only gateway: VLAN, address and the gateway on the switch");
    } else
      doubt(out,
            "no NAK came back: a far end that is slow to answer, or whose frames are too long for the way, looks the "
            "same");
  }
  if (one.symptoms.has(Symptom::tx_pause) && is_disordered(one))
    doubt(out, "this port holds the network meanwhile: what waits for it may be thrown away before it");
  if (std::string why = frames_too_long(one); !why.empty()) {
    out.evidence.push_back(std::move(why));
    out.confidence += 0.2;
  }
  if (told && one.port.qos.pfc && *told == *one.port.qos.pfc && told->bits != 0) {
    out.evidence.push_back("PFC is " + to_text(*told) + " at both ends of the cable");
    out.confidence += 0.15;
  }
  return out;
}

}  // namespace fabric::judges
