// SPDX-License-Identifier: Apache-2.0
// Activity of a port between two scrapes: histograms of many small samples and the peaks of the last minute, in one
// vocabulary for all vendors. No I/O: the exporter's sampler does the reading.
//
// Series of a port: 10 for the load, 2 for the peaks of traffic, 14 for each priority that is lossless or has ever been
// paused, 7 for each of the six kinds of event that has ever happened: 26 on a quiet RoCE port, some 50 on a busy one,
// 166 at most.
#pragma once

#include "node/counters.h"
#include "node/node.h"

namespace fabric {

enum class BurstEvent : uint8_t { cnp_sent, cnp_handled, ecn_marked, out_of_sequence, rx_discards, tx_discards };
inline constexpr size_t kBurstEvents = 6;
std::string_view to_text(BurstEvent value);

// One quantity: its samples by size, and its peak in each of the last seven periods of ten seconds.
struct BurstTrack {
  static constexpr size_t kSlices = 7;
  std::array<uint64_t, 4> counts{};
  double sum = 0;
  std::array<double, kSlices> highest{-1, -1, -1, -1, -1, -1, -1};  // negative: no sample
  bool seen = false, moved = false;
};

// Upper bounds of the histograms' buckets. Few, because every bound is a series of every track. A port that is paused
// for a tenth of the time loses a tenth of its throughput.
inline constexpr std::array kPauseBounds{0.01, 0.1, 0.5};
inline constexpr std::array kLoadBounds{0.5, 0.9};
inline constexpr std::array kEventBounds{0.0, 1e3, 1e5};

// Tracks by direction and priority have the index direction * 8 + priority; rx is 0, tx is 1.
struct BurstRecord {
  using Clock = std::chrono::steady_clock;
  std::array<BurstTrack, 16> pause;             // share of the sample that was paused, 0 to 1
  std::array<BurstTrack, 16> pause_frames;      // per second, if the NIC does not count the time
  std::array<BurstTrack, 2> bytes;              // per second: RDMA traffic; if the driver does not count it, the port's
  std::array<BurstTrack, 2> load;               // the same as a share of the line rate
  std::array<BurstTrack, kBurstEvents> events;  // per second
  int64_t newest = 0;                           // number of the newest period since the clock's epoch
  uint8_t lossless = 0;  // priorities that are published even if never active: bit 0 is priority 0

  // The highest sample of the last 60 to 70 seconds, if any.
  [[nodiscard]] std::optional<double> peak(const BurstTrack& track, Clock::time_point now) const;
};

// Whether samples use this counter.
bool is_burst_counter(const Counter& counter);

// When each source of a reading answered. They differ because a source may wait for a lock for as long as a sample
// takes.
struct ReadTimes {
  BurstRecord::Clock::time_point hw, pma, ethtool;
};

// Successive readings of one port -> its record.
class BurstMeter {
 public:
  using Clock = BurstRecord::Clock;
  // Answers of one source that are closer than this are merged into the next sample: the reading after a late one comes
  // too soon.
  static constexpr std::chrono::milliseconds kShortest{5};
  explicit BurstMeter(std::string_view driver = {});

  // Line rate in bytes per second, and the lossless priorities; both may change during the recording.
  void describe(std::optional<double> rate, uint8_t lossless);
  // Adds a reading. Counters that were reset, or that the previous reading lacks, give no sample.
  void take(const ReadTimes& when, const PortCounters& counters);
  void take(Clock::time_point when, const PortCounters& counters) { take({when, when, when}, counters); }
  [[nodiscard]] const BurstRecord& record() const { return record_; }

 private:
  struct SampledCounter {
    size_t index;
    CounterName name;
    uint8_t slot;
    Scale scale;
    unsigned bits;
    std::optional<uint64_t> before;  // its value in the previous reading
  };
  struct Group {
    std::vector<SampledCounter> sources;
    size_t size = 0;  // of the whole list of counters
    Clock::time_point last{};
    std::chrono::milliseconds shortest = kShortest;
  };
  struct SampleRates;

  static void gather(Group& group, CounterSource source, Clock::time_point when, const std::vector<Counter>& counters,
                     SampleRates& rates);
  void add_sample(BurstTrack& track, double value, std::span<const double> bounds);

  std::optional<double> rate_;
  std::array<Group, 3> groups_;
  BurstRecord record_;
};

struct PortBursts {
  std::string id;  // Port::id()
  BurstRecord record;
};

}  // namespace fabric
