// SPDX-License-Identifier: Apache-2.0
// Host, cable or network? A table of rules over what a port did in a window, how it is set, where it sits, and what the
// switch says of itself. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checks/check.h"
#include "model/diagnosis.h"

namespace fabric {

// What can be wrong at a port, before anybody is blamed. A port without symptoms has no diagnosis.
enum class Symptom : uint8_t {
  tx_pause,    // this port holds the network
  rx_pause,    // the network holds this port
  loss,        // RDMA packets were lost, reordered or not answered
  discards,    // frames of a lossless priority were thrown away here
  link,        // bits were damaged, or the link went down
  receiver,    // a receiver was not ready, here or at the far end
  pcie,        // the slot stalled, overflowed or had errors
  ignored,     // congestion notifications came and were not obeyed
  unanswered,  // packets came with a congestion mark, and no sender was told
  starved,     // InfiniBand: data, and no credits from the far end to send it
  marked,      // InfiniBand: packets arrived that a device on the way had marked as damaged
  overrun,     // InfiniBand: the receive buffer overran
};
inline constexpr size_t kSymptoms = 12;

class Symptoms {
 public:
  constexpr Symptoms(std::initializer_list<Symptom> list = {}) {
    for (Symptom one : list) add(one);
  }
  constexpr void add(Symptom one) { bits_ = static_cast<uint16_t>(bits_ | 1u << static_cast<unsigned>(one)); }
  [[nodiscard]] constexpr bool has(Symptom one) const { return (bits_ >> static_cast<unsigned>(one) & 1) != 0; }
  [[nodiscard]] constexpr bool any_of(Symptoms other) const { return (bits_ & other.bits_) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  constexpr void remove(Symptoms other) { bits_ = static_cast<uint16_t>(bits_ & ~other.bits_); }

 private:
  uint16_t bits_ = 0;
};

struct Case;  // one port and all that is known of it: diagnosis_case.h

struct Verdict {
  double confidence = 0;  // below kEnough the rule is a mere candidate and blames nobody
  std::vector<std::string> evidence;
  std::vector<std::string> next{};  // what only this case knows; stands before the rule's own
};
inline constexpr double kEnough = 0.5;

// One row, one rule. Rules are asked in the order of the table, the most specific first; a rule is asked as long as one
// of the symptoms that it can explain has not been explained by a rule above it.
struct Rule {
  std::string_view id;  // "far-numa": stable, a metric's label, an argument of explain
  Culprit culprit = Culprit::unknown;
  Status status = Status::warning;
  Symptoms explains;
  std::string_view conclusion;  // one sentence
  std::string_view next;        // what to do, steps between newlines; {netdev} {rdma} {pci} {peer} are the case's
  std::string_view runbook;     // for `explain`: what it rests on, and what would contradict it
  std::optional<Verdict> (*judge)(const Case& one);
};
std::span<const Rule> rules();
// Null when there is none of that id; "not-enough-evidence" is one.
const Rule* find_rule(std::string_view id);

// Every port that has symptoms in the window of `view.signals`, in the order of the node; none without signals. A
// symptom that no rule explains with confidence is told as "not-enough-evidence", with what to collect.
Diagnoses diagnose(const View& view);

}  // namespace fabric
