// SPDX-License-Identifier: Apache-2.0
#include "checks/checks.h"
#include "health/rule.h"
#include "model/finding.h"

namespace fabric {
namespace {

void tell(std::string& text, const char* words, const Rise& rise, double seconds) {
  if (rise && seconds > 0) text += (text.empty() ? "" : ", ") + number_text(*rise / seconds) + " " + words;
}

}  // namespace

// Congestion control at work is no fault: told, never judged.
void ask_congestion(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports) {
    const Signals* signals = signals_of_port(view, port);
    if (signals == nullptr || !is_judged(port)) continue;
    std::string text;
    tell(text, "CNPs sent", signals->cnp_sent, signals->seconds);
    tell(text, "CNPs obeyed", signals->cnp_handled, signals->seconds);
    tell(text, "packets marked", signals->ecn_marked, signals->seconds);
    if (!text.empty()) findings.push_back(good(port.id(), text + " a second", "told, never judged"));
  }
}

}  // namespace fabric
