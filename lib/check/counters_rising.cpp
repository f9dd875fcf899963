// SPDX-License-Identifier: Apache-2.0
// One check per class of counters: did any of the class grow between the two samples?
#include <algorithm>
#include <cctype>
#include <utility>

#include "check/checks.h"
#include "check/finding.h"

namespace fabric {

const std::array<CounterCheck, kCounterClasses.size()> kCounterChecks{{
    {CounterClass::loss, "loss", "Are RDMA packets lost, reordered or answered too late?",
     "Packets vanish or overtake each other in the network: compare PFC, trust, DSCP map and ECN of this port with the "
     "switches, and look "
     "for discards on the path and on the peer."},
    {CounterClass::link, "link-errors", "Does the link damage bits or go down?",
     "The physical link of this port is at fault: clean, reseat or replace the cable and the transceivers, then try "
     "another switch port."},
    {CounterClass::discard, "discards", "Do port buffers overrun?",
     "A buffer overran that PFC should have protected: see that PFC is on for the priority at both ends, and that "
     "cable_length and the "
     "headroom are large enough."},
    {CounterClass::storm, "pause-storm", "Does this port send pause without end?",
     "This host cannot take what it receives and holds up the network: look for a hung process, a slow PCIe link or "
     "failed GPU memory, "
     "and reset the NIC if it stays so."},
    {CounterClass::receiver, "receiver", "Is the receiving host late with its buffers?",
     "The receiving application posts its buffers too late; the network is not at fault: look at its CPU load, pinning "
     "and queue depths. Receiver-not-ready NAKs alone are flow control at work and no fault; retries exceeded are.",
     Status::ok},
    {CounterClass::pcie, "pcie-errors", "Does the PCIe path take what the port receives?",
     "The slot is too slow or disturbed: see the pcie check, reseat the card, and compare relaxed ordering, MRRS and "
     "IOMMU settings."},
    {CounterClass::request, "requests", "Are RDMA requests rejected?",
     "One side rejects the other's requests (keys, lengths, access rights): the application or its peer is at fault, "
     "or a peer died."},
    {CounterClass::ecn, "cnp-ignored", "Does this sender obey congestion notifications?",
     "Congestion notifications arrive and are ignored: switch the ECN reaction point on for the RoCE priority of this "
     "NIC."},
}};

namespace {

struct Rise {
  std::string name;
  uint64_t by = 0;
  bool severe = false;
};

struct Seen {
  size_t counters = 0;  // of the class, in both samples
  std::vector<Rise> rises;
};

void compare(CounterClass kind, const std::vector<Counter>& before, const std::vector<Counter>& now, Seen& seen) {
  for (const Counter& counter : now) {
    const std::optional<CounterMeaning> meaning = classify_counter(counter.name);
    if (!meaning || meaning->kind != kind) continue;
    const auto old =
        std::find_if(before.begin(), before.end(), [&](const Counter& one) { return one.name == counter.name; });
    if (old == before.end()) continue;
    ++seen.counters;
    if (const auto by = counter_rise(old->value, counter.value))
      seen.rises.push_back({counter.name, *by, meaning->severe});
  }
}

std::vector<Counter> carrier(const Port& port) {
  if (!port.counters.carrier_down) return {};
  return {{"carrier_down", *port.counters.carrier_down}};
}

Seen look(CounterClass kind, const Port& before, const Port& now) {
  Seen seen;
  compare(kind, before.counters.hw, now.counters.hw, seen);
  compare(kind, before.counters.pma, now.counters.pma, seen);
  compare(kind, before.counters.ethtool, now.counters.ethtool, seen);
  compare(kind, carrier(before), carrier(now), seen);
  std::stable_sort(seen.rises.begin(), seen.rises.end(), [](const Rise& a, const Rise& b) { return a.by > b.by; });
  return seen;
}

// "Packets vanish: do this." -> {"Packets vanish.", "Do this."}
std::pair<std::string, std::string> split_runbook(std::string_view runbook) {
  const size_t colon = runbook.find(": ");
  std::string meaning(runbook.substr(0, colon));
  std::string remedy(colon == std::string_view::npos ? runbook : runbook.substr(colon + 2));
  remedy.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(remedy.front())));
  return {meaning + ".", remedy};
}

Finding judge(const CounterCheck& check, const Port& port, const Seen& seen) {
  if (seen.rises.empty())
    return good(port.id(), std::to_string(seen.counters) + (seen.counters == 1 ? " counter" : " counters") + " steady",
                "none rising");
  std::string observed;
  bool severe = false;
  for (const Rise& rise : seen.rises) {
    observed += (observed.empty() ? "" : ", ") + rise.name + " +" + std::to_string(rise.by);
    severe = severe || rise.severe;
  }
  if (!severe && check.mild == Status::ok) return good(port.id(), observed, "no connection given up");
  auto [meaning, remedy] = split_runbook(check.runbook);
  return bad(severe ? Status::critical : check.mild, port.id(), observed, "none rising", meaning, remedy);
}

}  // namespace

// Ports seen in both samples whose driver has at least one counter of the class.
void ask_counters(CounterClass kind, const View& view, Findings& findings) {
  if (view.before == nullptr) return;
  for (const Port& port : view.now.ports) {
    const auto& old = view.before->ports;
    const auto before =
        std::find_if(old.begin(), old.end(), [&](const Port& other) { return other.id() == port.id(); });
    if (before == old.end() || !is_judged(port)) continue;
    const Seen seen = look(kind, *before, port);
    if (seen.counters > 0) findings.push_back(judge(kCounterChecks[static_cast<size_t>(kind)], port, seen));
  }
}

}  // namespace fabric
