// SPDX-License-Identifier: Apache-2.0
// The counters that grow between the two readings: load, and planted faults.
#include <algorithm>
#include <cmath>

#include "faults/machines.h"
#include "nic/metrics.h"
#include "support/counters.h"

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

bool is_lossless(const Counter& counter) { return counter.priority == 0 || counter.priority == '3'; }

void grow(Counter& counter, double by) {
  const Scale& scale = counter.row->scale;
  counter.value += static_cast<uint64_t>(std::llround(by * scale.divide / scale.multiply));
}

// Visits the counters that have a metric.
template <class Visit>
void each_counter(Port& port, Visit visit) {
  test::resolve(port);
  for (auto* list : {&port.counters.hw, &port.counters.pma, &port.counters.ethtool})
    for (Counter& counter : *list)
      if (counter.row != nullptr && counter.row->metric != nullptr) visit(counter);
}

}  // namespace

void load(Port& port, double seconds) {
  const double part = port.rate.value_or(50e9) / 50e9;
  each_counter(port, [&](Counter& counter) {
    for (const Pace& pace : kLoad)
      if (counter.row->metric == pace.metric && is_lossless(counter)) grow(counter, pace.per_second * seconds * part);
  });
  if (port.fec && port.fec->corrected_blocks.total)
    *port.fec->corrected_blocks.total += static_cast<uint64_t>(2'500 * seconds);
}

bool Machine::raise(const Metric& metric, double by, std::string_view label) {
  const double window = std::chrono::duration<double>(now.taken - before.taken).count();
  double more = amount(by);
  if (&metric == &kPfcSeconds || &metric == &kPcieStalled) more = std::min(more, window);
  bool done = false;
  each_counter(port(), [&](Counter& counter) {
    if (done || counter.row->metric != &metric || !is_lossless(counter) ||
        (!label.empty() && counter.row->label.value != label))
      return;
    grow(counter, more);
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
  each_counter(port(), [&](Counter& counter) {
    if (counter.row->metric != &metric) return;
    for (const auto* list : {&then.hw, &then.pma, &then.ethtool})
      for (const Counter& old : *list)
        if (old.name == counter.name) counter.value = old.value;
  });
}

}  // namespace fabric::faults
