// SPDX-License-Identifier: Apache-2.0
#include "node/burst.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/find.h"
#include "nic/metrics.h"

namespace fabric {
namespace {

using Clock = BurstRecord::Clock;

constexpr std::chrono::seconds kSlice{10};
constexpr auto kSlices = static_cast<int64_t>(BurstTrack::kSlices);

// Sums of a reading's counters. By direction: rx, then tx; by priority: direction * 8 + priority.
enum Slot : uint8_t {
  pause_seconds = 0,
  pause_frames = 16,
  rdma_bytes = 32,
  port_bytes = 34,
  rdma_discards = 36,
  phy_discards = 38,
  port_discards = 40,
  priority_discards = 42,
  cnp_sent = 44,
  cnp_handled,
  ecn_marked,
  out_of_sequence,
  kSlots
};

struct SlotRow {
  const Metric* metric;
  Slot slot;
};
constexpr SlotRow kRows[] = {
    {&metrics::kPfcSeconds, pause_seconds},   {&metrics::kPfcFrames, pause_frames},
    {&metrics::kRdmaBytes, rdma_bytes},       {&metrics::kPortBytes, port_bytes},
    {&metrics::kDiscards, rdma_discards},     {&metrics::kPhyDiscards, phy_discards},
    {&metrics::kPortDiscards, port_discards}, {&metrics::kPriorityDiscards, priority_discards},
    {&metrics::kCnpSent, cnp_sent},           {&metrics::kCnpHandled, cnp_handled},
    {&metrics::kEcnMarked, ecn_marked},       {&metrics::kOutOfSequence, out_of_sequence},
};

std::optional<uint8_t> slot_of(const Counter& counter) {
  if (counter.row == nullptr || counter.row->metric == nullptr) return std::nullopt;
  // A counter that another supersedes is updated once a second: its samples would alternate between zero and twice the
  // rate.
  if (!counter.row->unless.empty()) return std::nullopt;
  const SlotRow* row = find_where(kRows, [&](const SlotRow& each) { return each.metric == counter.row->metric; });
  if (row == nullptr) return std::nullopt;
  const unsigned transmits = counter.row->label.value == "tx" ? 1 : 0;
  if (row->slot == pause_seconds || row->slot == pause_frames) {
    if (counter.priority == 0) return std::nullopt;
    return static_cast<uint8_t>(row->slot + transmits * 8 + static_cast<unsigned>(counter.priority - '0'));
  }
  return static_cast<uint8_t>(row->slot + transmits);
}

int64_t slice_of(Clock::time_point when) { return when.time_since_epoch() / kSlice; }

}  // namespace

std::string_view to_text(BurstEvent value) {
  constexpr std::array<std::string_view, kBurstEvents> kTexts{"cnp_sent",        "cnp_handled", "ecn_marked",
                                                              "out_of_sequence", "rx_discards", "tx_discards"};
  return kTexts[static_cast<size_t>(value)];
}

bool is_burst_counter(const Counter& counter) { return slot_of(counter).has_value(); }

std::optional<double> BurstRecord::peak(const BurstTrack& track, Clock::time_point now) const {
  double highest = -1;
  const int64_t oldest = std::max<int64_t>(slice_of(now) - kSlices + 1, 0);  // the clock begins when the machine boots
  for (int64_t slice = std::max(oldest, newest - kSlices + 1); slice <= newest; ++slice)
    highest = std::max(highest, track.highest[static_cast<size_t>(slice % kSlices)]);
  if (highest < 0) return std::nullopt;
  return highest;
}

// Growth of each slot per second.
struct BurstMeter::SampleRates {
  std::array<RiseSum, kSlots> by{};

  [[nodiscard]] std::optional<double> of(size_t slot) const { return by[slot].total(); }
  [[nodiscard]] std::optional<double> highest(std::initializer_list<size_t> slots) const {
    std::optional<double> out;
    for (size_t slot : slots)
      if (auto rate = of(slot)) out = std::max(out.value_or(0), *rate);
    return out;
  }
};

// A sample shorter than the device's refresh period contains nothing, or a whole period. The limit is a twentieth below
// the period, because the two clocks differ.
BurstMeter::BurstMeter(std::string_view driver) {
  if (const CounterTable* table = find_counter_table(driver); table != nullptr)
    groups_[2].shortest = std::max(kShortest, table->ethtool_period * 95 / 100);
}

void BurstMeter::describe(std::optional<double> rate, uint8_t lossless) {
  rate_ = rate && *rate > 0 ? rate : std::nullopt;
  record_.lossless = lossless;
}

// A list of other counters than before is matched by name: known counters keep their previous value.
void BurstMeter::gather(Group& group, CounterSource source, Clock::time_point when,
                        const std::vector<Counter>& counters, SampleRates& rates) {
  const bool same =
      group.size == counters.size() && std::ranges::all_of(group.sources, [&](const SampledCounter& each) {
        return counters[each.index].name == each.name;
      });
  if (!same) {
    const auto previous = std::exchange(group.sources, {});
    group.size = counters.size();
    for (size_t i = 0; i < counters.size(); ++i) {
      const Counter& counter = counters[i];
      const auto slot = slot_of(counter);
      if (!slot) continue;
      group.sources.push_back({i, counter.name, *slot, counter.row->scale, counter.bits, std::nullopt});
      const SampledCounter* old =
          find_where(previous, [&](const SampledCounter& each) { return each.name == counter.name; });
      if (old != nullptr) group.sources.back().before = old->before;
    }
  }
  if (when - group.last < group.shortest) return;
  const double seconds = in_seconds(when - std::exchange(group.last, when));
  for (SampledCounter& each : group.sources) {
    const uint64_t now = counters[each.index].value;
    const auto before = std::exchange(each.before, now);
    if (!before) continue;
    Rise rate = scaled(counter_rise(source, each.bits, *before, now), each.scale);
    if (rate) *rate /= seconds;
    rates.by[each.slot].add(rate);
  }
}

void BurstMeter::add_sample(BurstTrack& track, double value, std::span<const double> bounds) {
  const auto bucket = std::ranges::lower_bound(bounds, value) - bounds.begin();
  ++track.counts[static_cast<size_t>(bucket)];
  track.sum += value;
  double& highest = track.highest[static_cast<size_t>(record_.newest % kSlices)];
  highest = std::max(highest, value);
  track.seen = true;
  track.moved = track.moved || value > 0;
}

void BurstMeter::take(const ReadTimes& when, const PortCounters& counters) {
  SampleRates rates;
  gather(groups_[0], CounterSource::hw, when.hw, counters.hw, rates);
  gather(groups_[1], CounterSource::pma, when.pma, counters.pma, rates);
  gather(groups_[2], CounterSource::ethtool, when.ethtool, counters.ethtool, rates);

  // Peaks older than the window are dropped.
  const int64_t slice = slice_of(std::max({when.hw, when.pma, when.ethtool}));
  if (slice != record_.newest) {
    using Tracks = std::span<BurstTrack>;
    for (Tracks tracks : {Tracks(record_.pause), Tracks(record_.pause_frames), Tracks(record_.bytes),
                          Tracks(record_.load), Tracks(record_.events)})
      for (BurstTrack& track : tracks)
        for (int64_t stale = std::max(record_.newest + 1, slice - kSlices + 1); stale <= slice; ++stale)
          track.highest[static_cast<size_t>(stale % kSlices)] = -1;
    record_.newest = slice;
  }

  for (size_t i = 0; i < 16; ++i) {
    // The NIC's clock differs from ours: the ratio may slightly exceed 1.
    if (auto paused = rates.of(pause_seconds + i)) add_sample(record_.pause[i], std::min(1.0, *paused), kPauseBounds);
    else if (auto frames = rates.of(pause_frames + i); frames && !rates.by[pause_seconds + i].any)
      add_sample(record_.pause_frames[i], *frames, {});
  }
  for (size_t i = 0; i < 2; ++i) {
    const auto bytes = rates.of((rates.by[rdma_bytes + i].any ? rdma_bytes : port_bytes) + i);
    if (!bytes) continue;
    add_sample(record_.bytes[i], *bytes, {});
    if (rate_) add_sample(record_.load[i], *bytes / *rate_, kLoadBounds);
  }
  const std::pair<BurstEvent, std::optional<double>> events[] = {
      {BurstEvent::cnp_sent, rates.of(cnp_sent)},
      {BurstEvent::cnp_handled, rates.of(cnp_handled)},
      {BurstEvent::ecn_marked, rates.of(ecn_marked)},
      {BurstEvent::out_of_sequence, rates.of(out_of_sequence)},
      // The port, the physical port and the priority may all count the same loss.
      {BurstEvent::rx_discards, rates.highest({rdma_discards, phy_discards, port_discards, priority_discards})},
      {BurstEvent::tx_discards, rates.highest({rdma_discards + 1, phy_discards + 1, port_discards + 1})}};
  for (const auto& [event, rate] : events)
    if (rate) add_sample(record_.events[static_cast<size_t>(event)], *rate, kEventBounds);
}

}  // namespace fabric
