// SPDX-License-Identifier: Apache-2.0
// Host, cable or network: rules over a port's counters in a window, its settings, its PCIe slot and its switch. Pure.
// A rule is one row beside its function in the file of its subject (*_rules.cpp); rules() lists them in order.
#pragma once

#include "judge/view.h"

namespace fabric {

// A fault at a port, without a culprit. A port without symptoms has no diagnosis.
enum class Symptom : uint8_t {
  tx_pause,    // this port sends pause
  rx_pause,    // this port is paused by its peer
  loss,        // RDMA packets were lost, reordered or not acknowledged
  discards,    // this port discarded frames of a lossless priority
  link,        // damaged bits, or link down
  receiver,    // no receive was posted, here or at the far end (RNR)
  pcie,        // PCIe stalls, overflows or errors
  ignored,     // CNPs arrived and were ignored
  unanswered,  // ECN-marked packets arrived and no CNP was sent
  starved,     // InfiniBand: data to send, and no credits
  marked,      // InfiniBand: packets arrived that a device on the path had marked as damaged
  overrun,     // InfiniBand: the receive buffer overran
};

class Symptoms {
 public:
  constexpr Symptoms(std::initializer_list<Symptom> list = {}) {
    for (Symptom each : list) add(each);
  }
  constexpr void add(Symptom symptom) { bits_ = static_cast<uint16_t>(bits_ | 1u << static_cast<unsigned>(symptom)); }
  [[nodiscard]] constexpr bool has(Symptom symptom) const { return (bits_ >> static_cast<unsigned>(symptom) & 1) != 0; }
  [[nodiscard]] constexpr bool any_of(Symptoms other) const { return (bits_ & other.bits_) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  constexpr void remove(Symptoms other) { bits_ = static_cast<uint16_t>(bits_ & ~other.bits_); }

 private:
  uint16_t bits_ = 0;
};

struct PortContext;  // one port and all that is known about it: context.h

struct RuleResult {
  bool certain = true;  // false: only a candidate, which not-enough-evidence mentions
  std::vector<std::string> evidence;
  std::vector<std::string> next{};  // steps of this case, before the rule's own
  Symptoms unexplained{};           // of the rule's symptoms, those it does not explain in this case
  Symptoms shared{};                // those it explains only in part: other rules are asked about them too
  bool critical = false;            // in this case, although the row says warning

  void add(std::string line) { evidence.push_back(std::move(line)); }
  void add(const std::vector<std::string>& lines) { evidence.insert(evidence.end(), lines.begin(), lines.end()); }
  void doubt(std::string line) {
    certain = false;
    add(std::move(line));
  }
};

// Asked in order, the most specific first, while one of its symptoms is unexplained. One rule for causes of one remedy.
struct Rule {
  std::string_view id;  // "slow-pcie": stable, a metric's label, an argument of explain
  Culprit culprit = Culprit::unknown;
  Status status = Status::warning;
  // How often the rule is right in tests/faults: the test CatalogueTable.Matrix fails if this is another number.
  double confidence = 0;
  Symptoms explains{};
  bool explains_stopped_host = false;        // also a host that receives nothing at all while it sends pause
  std::string_view conclusion;               // one sentence
  std::string_view next{};                   // steps between newlines, with {netdev} {rdma} {pci} {peer} (fill_names)
  std::string_view signature{}, excludes{};  // for `explain`: the evidence, and what contradicts it
  std::array<const Threshold*, 6> thresholds{};
  std::optional<RuleResult> (*evaluate)(const PortContext& ctx) = nullptr;
};
const std::vector<Rule>& rules();
// Null: unknown id. "not-enough-evidence" is one.
const Rule* find_rule(std::string_view id);

// Every port with symptoms in the window of `view.signals`, in the order of the node; empty without signals. Symptoms
// that no rule explains with certain evidence are reported as "not-enough-evidence", with what to collect.
Diagnoses diagnose(const View& view);

// Every Threshold of checks and diagnosis rules, sorted by key: [thresholds] of the configuration.
std::span<const Threshold* const> thresholds();

}  // namespace fabric
