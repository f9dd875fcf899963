// SPDX-License-Identifier: Apache-2.0
// The counters that grow between the two readings: load, and planted faults.
#include <algorithm>
#include <cmath>

#include "faults/machines.h"
#include "nic/counter_catalogue.h"
#include "nic/metrics.h"

namespace fabric::faults {
namespace {

using namespace metrics;

// Per second, of a port at 400 Gb/s; per priority: of the lossless one.
struct Pace {
  const Metric* metric;
  double per_second;
};
constexpr double kBytes = 45e9, kPackets = kBytes / 4182;
const Pace kLoad[] = {
    {&kRdmaBytes, kBytes},
    {&kPortBytes, kBytes},
    {&kPriorityBytes, kBytes},
    {&kPriorityQueueBytes, kBytes},
    {&kRdmaPackets, kPackets},
    {&kPortPackets, kPackets},
    {&kRequests, kPackets / 256},
    {&kCnpSent, 40},
    {&kCnpHandled, 40},
    {&kEcnMarked, 120},
    {&kPfcFrames, 20},
    {&kPfcSeconds, 40e-6},
    {&kPhyCorrectedBits, 3'000},
    {&kPhyCorrectedWords, 2'500},
    {&kPortWait, 1'000},
    {&kRnrNaksReceived, 0.2},
    {&kRnrNaksSent, 0.2},
};

bool is_lossless(const CounterMatch& match) { return match.priority == 0 || match.priority == '3'; }

void grow(Counter& counter, const CounterRow& row, double by) {
  counter.value += static_cast<uint64_t>(std::llround(by * row.scale.divide / row.scale.multiply));
}

template <class Visit>
void each_counter(Port& port, Visit visit) {
  using enum CounterSource;
  for (auto [source, list] :
       {std::pair{hw, &port.counters.hw}, {pma, &port.counters.pma}, {ethtool, &port.counters.ethtool}})
    for (Counter& counter : *list)
      if (const auto match = find_counter(source, counter.name, port.kernel_driver)) visit(counter, *match);
}

}  // namespace

void load(Port& port, double seconds) {
  const double part = port.rate.value_or(50e9) / 50e9;
  each_counter(port, [&](Counter& counter, const CounterMatch& match) {
    for (const Pace& pace : kLoad)
      if (match.row->metric == pace.metric && is_lossless(match))
        grow(counter, *match.row, pace.per_second * seconds * part);
  });
  if (port.fec && port.fec->corrected_blocks.total)
    *port.fec->corrected_blocks.total += static_cast<uint64_t>(2'500 * seconds);
}

bool Machine::raise(const Metric& metric, double by, std::string_view label) {
  const double window = std::chrono::duration<double>(now.taken - before.taken).count();
  double more = amount(by);
  if (&metric == &kPfcSeconds || &metric == &kPcieStalled) more = std::min(more, window);
  bool done = false;
  each_counter(port(), [&](Counter& counter, const CounterMatch& match) {
    if (done || match.row->metric != &metric || !is_lossless(match) ||
        (!label.empty() && match.row->label.value != label))
      return;
    grow(counter, *match.row, more);
    if (&metric == &kPortWait) counter.value = std::min<uint64_t>(counter.value, 0xffff'ffff);  // its last value
    done = true;
  });
  return done;
}

void Machine::shorten(int seconds) {
  before.taken = now.taken - std::chrono::seconds(seconds);
  for (size_t i = 0; i < now.ports.size(); ++i) {
    now.ports[i].counters = before.ports[i].counters;
    now.ports[i].fec = before.ports[i].fec;
    load(now.ports[i], seconds);
  }
}

void Machine::hold(const Metric& metric) {
  const PortCounters& then = before.ports.at(1).counters;
  each_counter(port(), [&](Counter& counter, const CounterMatch& match) {
    if (match.row->metric != &metric) return;
    for (const auto* list : {&then.hw, &then.pma, &then.ethtool})
      for (const Counter& old : *list)
        if (old.name == counter.name) counter.value = old.value;
  });
}

}  // namespace fabric::faults
