// SPDX-License-Identifier: Apache-2.0
// Rules about who holds whom: pause, congestion, receivers that are late, and the slot behind the port.
#include <algorithm>

#include "diagnosis/diagnosis_case.h"
#include "model/finding.h"

namespace fabric::judges {
namespace {

bool holds(const Case& one) { return one.symptoms.has(Symptom::tx_pause); }
bool is_held(const Case& one) { return one.symptoms.has(Symptom::rx_pause); }

void add_hold(const Case& one, std::vector<std::string>& evidence) {
  if (const Paused held = paused(one, Direction::tx); holds(one) && held.ratio > 0)
    evidence.push_back("this port holds the network: " + held.text("tx pause"));
  if (rose(one.signals.pause_storm_events))
    evidence.push_back(plus("pause storms that the NIC itself noticed", *one.signals.pause_storm_events));
  if (const double lost = lossless_discards(one).second; lost > 0 && takes_nothing(one))
    evidence.push_back("what comes all the same is thrown away: " + plus("frames of a lossless priority", lost));
  if (!one.symptoms.has(Symptom::loss) || !holds_without_end(one)) return;
  for (const std::string& line : loss_lines(one)) evidence.push_back("and nothing reaches it meanwhile: " + line);
}

// The first port of this host that stops the network, if not for a moment: what it started may come back.
std::string stopper(const View& view) {
  for (const Port& port : view.now.ports) {
    const auto seen = view.signals->find(port.id());
    if (seen == view.signals->end() || port.virtual_function) continue;
    if (const Case other = open_case(view, port, seen->second);
        other.symptoms.has(Symptom::tx_pause) && holds_without_end(other))
      return port.id();
  }
  return {};
}

bool stalls(const Signals& seen) { return seen.seconds > 0 && rise(seen.pcie_stalled_seconds) >= 0.05 * seen.seconds; }

void add_stall(const Case& one, std::vector<std::string>& evidence) {
  const Signals& seen = one.signals;
  if (stalls(seen))
    evidence.push_back("the NIC waited for PCIe credits in " +
                       percent(std::min(1.0, *seen.pcie_stalled_seconds / seen.seconds)) + " of the seconds");
  if (rose(seen.pcie_overflows))
    evidence.push_back(plus("packets that PCIe could not take in time", *seen.pcie_overflows));
  if (rose(seen.pcie_errors)) evidence.push_back(plus("PCIe signal errors", *seen.pcie_errors));
}

void add_late(const Case& one, std::vector<std::string>& evidence) {
  if (rose(one.signals.out_of_buffer))
    evidence.push_back(plus("packets without a receive posted for them here", *one.signals.out_of_buffer));
}

bool has_loss(const Case& one) { return one.symptoms.any_of({Symptom::loss, Symptom::discards}); }

bool congestion_counted(const Signals& seen) { return seen.cnp_handled || seen.cnp_sent || seen.ecn_marked; }

// CNPs are sent at most once in some microseconds for each flow: a handful in a window of seconds is no congestion.
// Those that arrive are about what this port sends; marks and CNPs sent are about what it receives, which nobody holds.
double congestion_per_second(const Signals& seen) {
  const double marks = seen.cnp_handled ? *seen.cnp_handled : std::max(rise(seen.cnp_sent), rise(seen.ecn_marked));
  return seen.seconds > 0 ? marks / seen.seconds : 0;
}
constexpr double kCongested = 10;

// Of all that this port ever counted: not one mark, nor a notification either way.
bool was_never_marked(const Case& one) {
  constexpr std::string_view kNames[] = {"rp_cnp_handled",     "np_cnp_sent",      "np_ecn_marked_roce_packets",
                                         "rx_cnp_pkts",        "tx_cnp_pkts",      "np_cnp_pkts",
                                         "rx_ecn_marked_pkts", "cnpHandled",       "cnpSent",
                                         "cnpIgnored",         "RxECNMrkd",        "rx_rdma_cnp_pkts",
                                         "tx_rdma_cnp_pkts",   "rx_rdma_ecn_pkts", "rx_cnp_pkt",
                                         "tx_cnp_pkt"};
  bool counted = false;  // a bond's members do not
  for (const Counter& each : one.port.counters.hw) {
    if (std::find(std::begin(kNames), std::end(kNames), each.name.text()) == std::end(kNames)) continue;
    if (each.value > 0) return false;
    counted = true;
  }
  return counted;
}

}  // namespace

Judgement pcie_degraded(const Case& one) {
  const std::string link = degraded_link(one);
  if (link.empty() || !one.symptoms.any_of({Symptom::tx_pause, Symptom::pcie})) return std::nullopt;
  Verdict out{0.75, {link}};
  for (std::string& line : aer_lines(one)) out.evidence.push_back(std::move(line));
  add_stall(one, out.evidence);
  if (out.evidence.size() > 1) out.confidence = 0.9;
  add_hold(one, out.evidence);
  return out;
}

Judgement pcie_errors(const Case& one) {
  Verdict out{0.7, aer_lines(one)};
  if (out.evidence.empty() && !rose(one.signals.pcie_errors)) return std::nullopt;
  add_stall(one, out.evidence);
  if (holds(one) || rose(one.signals.pcie_overflows)) out.confidence = 0.85;
  add_hold(one, out.evidence);
  return out;
}

Judgement far_numa(const Case& one) {
  const std::string far = far_from_gpus(one);
  if (far.empty() || !one.symptoms.any_of({Symptom::tx_pause, Symptom::pcie})) return std::nullopt;
  Verdict out{0.65, {far}};
  add_late(one, out.evidence);
  add_stall(one, out.evidence);
  if (out.evidence.size() > 1) out.confidence = 0.85;
  add_hold(one, out.evidence);
  return out;
}

Judgement pcie_stall(const Case& one) {
  if (!stalls(one.signals) && !rose(one.signals.pcie_overflows)) return std::nullopt;
  Verdict out{holds(one) ? 0.8 : 0.65, {}};
  add_stall(one, out.evidence);
  add_hold(one, out.evidence);
  if (one.nic != nullptr && one.nic->link.width && one.nic->link.speed)
    out.evidence.push_back("the slot's link is no slower than that of NICs like it");
  return out;
}

Judgement slow_receiver(const Case& one) {
  constexpr double kRatio = 1e-6;  // as with losses: fewer hold nobody
  if (!holds(one) || not_ready_here(one) < std::max(10.0, kRatio * loss_of(one).packets.value_or(0)))
    return std::nullopt;
  Verdict out{0.75, {}};
  add_late(one, out.evidence);
  if (out.evidence.empty()) out.evidence.push_back(plus("receiver-not-ready answers sent", not_ready_here(one)));
  add_hold(one, out.evidence);
  return out;
}

Judgement receiver_late(const Case& one) {
  if (!one.symptoms.has(Symptom::receiver) || not_ready_here(one) < 10) return std::nullopt;
  Verdict out{0.75, {plus("packets without a receive posted for them here", not_ready_here(one))}};
  if (is_much_waiting(one, not_ready_there(one)))
    out.evidence.push_back(plus("and receiver-not-ready answers came from others", not_ready_there(one)));
  out.evidence.push_back("this port does not pause the network: flow control ends at the application");
  return out;
}

Judgement peer_not_ready(const Case& one) {
  const Signals& seen = one.signals;
  if (!one.symptoms.has(Symptom::receiver) || !is_far_end_late(one)) return std::nullopt;
  Verdict out{rose(seen.rnr_retries_exceeded) ? 0.8 : 0.6, {}};
  if (rose(seen.rnr_naks)) out.evidence.push_back(plus("receiver-not-ready answers received", *seen.rnr_naks));
  if (rose(seen.rnr_retries_exceeded))
    out.evidence.push_back(plus("connections given up because the far end was not ready", *seen.rnr_retries_exceeded));
  const double here = not_ready_here(one);
  out.evidence.push_back(here > 0 ? plus("here a receive was missing for few of the packets", here)
                                  : "here a receive was always posted");
  return out;
}

Judgement pause_storm(const Case& one) {
  const Paused held = paused(one, Direction::tx);
  if (!rose(one.signals.pause_storm_events) && !(held.measured && held.ratio >= 0.9)) return std::nullopt;
  Verdict out{0.85, {}};
  add_hold(one, out.evidence);
  add_late(one, out.evidence);
  if (std::string link = degraded_link(one); !link.empty()) out.evidence.push_back("beside it: " + link);
  return out;
}

// Pause is sent by nobody but this NIC, whatever makes it do so.
Judgement host_holds(const Case& one) {
  const Paused held = paused(one, Direction::tx);
  if (!holds(one)) return std::nullopt;
  Verdict out{held.measured ? 0.6 : 0.45, {}};
  add_hold(one, out.evidence);
  out.evidence.push_back("nothing that was read of PCIe, NUMA and posted receives says why");
  return out;
}

Judgement ecn_ignored(const Case& one) {
  if (!one.symptoms.has(Symptom::ignored)) return std::nullopt;
  Verdict out{0.8, {plus("congestion notifications received and ignored", *one.signals.cnp_ignored)}};
  const auto& reacts = one.port.qos.ecn_rp;
  if (without_congestion_control(one, reacts).bits != 0) {
    out.evidence.push_back("ecn_rp of this port: " + to_text(*reacts));
    out.confidence = 0.95;
  }
  if (is_held(one))
    out.evidence.push_back("and the network has to hold it: " + paused(one, Direction::rx).text("rx pause"));
  return out;
}

// This receiver is the one that would have to answer: the senders to it run on into the full queue.
Judgement ecn_unanswered(const Case& one) {
  if (!one.symptoms.has(Symptom::unanswered)) return std::nullopt;
  Verdict out{0.55,
              {plus("packets received with a congestion mark", *one.signals.ecn_marked),
               "and not one congestion notification was sent for them"}};
  const auto& answers = one.port.qos.ecn_np;
  if (!answers) return out;
  out.evidence.push_back("ecn_np of this port: " + to_text(*answers));
  out.confidence = 0.9;
  return out;
}

Judgement global_pause(const Case& one) {
  const Paused held = paused(one, Direction::rx);
  if (!is_held(one) || held.priority >= 0 || !one.port.qos.pfc || one.port.qos.pfc->bits == 0) return std::nullopt;
  return Verdict{0.8,
                 {plus("global pause frames received", rise(one.signals.rx_global_pause_frames)), held.text("rx pause"),
                  "PFC of this port: " + to_text(*one.port.qos.pfc)}};
}

Judgement incast(const Case& one) {
  if (!is_held(one) || congestion_per_second(one.signals) < kCongested) return std::nullopt;
  const Signals& seen = one.signals;
  const Paused held = paused(one, Direction::rx);
  Verdict out{!held.measured  ? 0.45
              : has_loss(one) ? 0.6
                              : 0.8,
              {"the network holds this port: " + held.text("rx pause")}};
  if (rose(seen.cnp_handled))
    out.evidence.push_back(plus("congestion notifications received and obeyed", *seen.cnp_handled));
  else if (rose(seen.cnp_sent)) out.evidence.push_back(plus("congestion notifications sent", *seen.cnp_sent));
  if (!rose(seen.cnp_handled) && rose(seen.ecn_marked))
    out.evidence.push_back(plus("packets received with a congestion mark", *seen.ecn_marked));
  if (!has_loss(one)) out.evidence.push_back("nothing was lost");
  return out;
}

// Held without being told to slow down: the queue that is full is not one that marks this port's packets.
Judgement pause_spread(const Case& one) {
  if (!is_held(one)) return std::nullopt;
  const Paused held = paused(one, Direction::rx);
  const bool counted = congestion_counted(one.signals), measured = held.measured;
  Verdict out{counted && measured ? 0.65 : 0.4, {"the network holds this port: " + held.text("rx pause")}};
  out.evidence.push_back(counted ? "and hardly any congestion notification came with it"
                                 : "whether congestion was marked is not counted by this driver");
  const auto& reacts = one.port.qos.ecn_rp;
  if (without_congestion_control(one, reacts).bits != 0) {
    out.evidence.push_back("but ecn_rp of this port is " + to_text(*reacts) + ": it would not react to them");
    out.confidence = 0.4;
  }
  if (counted && was_never_marked(one)) {
    out.evidence.emplace_back(
        "but no mark and no notification was ever counted here: switches that do not mark make any congestion look so");
    out.next.push_back("See first that " + one.peer_label() +
                       " and the switches above mark (ECN) the queue of the RoCE priority, before they pause");
    out.confidence = std::min(out.confidence, 0.5);
  }
  if (const std::string source = stopper(one.view); !source.empty()) {
    out.evidence.push_back("but " + source +
                           " of this host pauses the network without end, which spreads: it may be the source");
    out.next.push_back("Mend " + source + " first, and see whether this goes with it");
    out.confidence = std::min(out.confidence, 0.5);
  }
  return out;
}

// Credits come from the far end of the cable alone. A link that trains anew waits as well.
Judgement no_credits(const Case& one) {
  if (!one.symptoms.has(Symptom::starved)) return std::nullopt;
  const bool broken = one.symptoms.any_of({Symptom::link, Symptom::overrun});
  Verdict out{broken ? 0.4 : 0.65,
              {"data, and no credits to send it, for at least " + percent(*starved(one)) + " of the time; " +
               plus("ticks of port_xmit_wait", *one.signals.transmit_wait)}};
  out.evidence.emplace_back(broken ? "but its own link has errors, and while that trains anew nothing is sent either"
                                   : "this port's own link shows no error");
  return out;
}

}  // namespace fabric::judges
