// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "health/rule.h"

namespace fabric {
namespace {

void append(std::string& text, const char* words, const Rise& rise, double seconds) {
  if (rise && seconds > 0) append_item(text, number_text(*rise / seconds) + " " + words);
}

std::optional<Finding> ask_port(const View& view, const Port& port) {
  const Signals* signals = signals_of_port(view, port);
  if (signals == nullptr || !is_judged(port)) return std::nullopt;
  std::string text;
  append(text, "CNPs sent", signals->cnp_sent, signals->seconds);
  append(text, "CNPs obeyed", signals->cnp_handled, signals->seconds);
  append(text, "packets marked", signals->ecn_marked, signals->seconds);
  return text.empty() ? std::nullopt : std::optional(good(port.id(), text + " per second", "any"));
}

}  // namespace

extern const Check kCongestionCheck{
    .id = "congestion",
    .group = group::counters,
    .title = "Congestion signals",
    .meaning =
        "Rates of congestion notification packets (CNP) sent and obeyed, and of packets received with the ECN mark. "
        "DCQCN at work is not a fault. Listed only.",
    .inspect = "fabric-agentctl counters",
    .ask_port = ask_port,
};

}  // namespace fabric
