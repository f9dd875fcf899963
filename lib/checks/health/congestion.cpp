// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "health/rule.h"
#include "model/finding.h"

namespace fabric {
namespace {

void append(std::string& text, const char* words, const Rise& rise, double seconds) {
  if (rise && seconds > 0) text += (text.empty() ? "" : ", ") + number_text(*rise / seconds) + " " + words;
}

void ask(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports) {
    const Signals* signals = signals_of_port(view, port);
    if (signals == nullptr || !is_judged(port)) continue;
    std::string text;
    append(text, "CNPs sent", signals->cnp_sent, signals->seconds);
    append(text, "CNPs obeyed", signals->cnp_handled, signals->seconds);
    append(text, "packets marked", signals->ecn_marked, signals->seconds);
    if (!text.empty()) findings.push_back(good(port.id(), text + " per second", "any"));
  }
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
    .ask = ask,
    .facts_only = true,
};

}  // namespace fabric
