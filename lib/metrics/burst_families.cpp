// SPDX-License-Identifier: Apache-2.0
#include "metrics/families.h"

namespace fabric {
namespace {

using Clock = BurstRecord::Clock;

constexpr MetricKind kHistogram = MetricKind::histogram;

constexpr Metric kPause{
    "fabric_burst_pause_ratio",
    "Share of each sample paused by PFC, by direction and priority (rx: the peer paused this port).", kHistogram};
constexpr Metric kLoad{"fabric_burst_link_utilization_ratio",
                       "RDMA traffic of each sample as a share of the line rate, by direction; port traffic if the "
                       "driver does not count RDMA bytes.",
                       kHistogram};
constexpr Metric kEventsPerSecond{"fabric_burst_events_per_second",
                                  "Rate within each sample, by event (cnp_sent, cnp_handled, ecn_marked, "
                                  "out_of_sequence, rx_discards, tx_discards). Absent until the first event.",
                                  kHistogram};
constexpr Metric kPausePeak{
    "fabric_burst_pause_ratio_peak",
    "Highest share of a sample paused by PFC in the last 60 to 70 seconds, by direction and priority."};
constexpr Metric kFramesPeak{"fabric_burst_pause_frames_per_second_peak",
                             "Highest rate of PFC frames within a sample in the last 60 to 70 seconds, by direction "
                             "and priority; only if the NIC does not count paused time."};
constexpr Metric kBytesPeak{"fabric_burst_bytes_per_second_peak",
                            "Highest rate of RDMA traffic within a sample in the last 60 to 70 seconds, by direction; "
                            "port traffic if the driver does not count RDMA bytes."};
constexpr Metric kEventsPeak{
    "fabric_burst_events_per_second_peak",
    "Highest rate within a sample in the last 60 to 70 seconds, by event. Absent until the first event."};

// Writes one port's series.
struct Publisher {
  FamilySet& families;
  const PortBursts& port;
  const Labels labels;
  Clock::time_point now;

  void histogram(const Metric& metric, const BurstTrack& track, std::span<const double> bounds,
                 std::initializer_list<Label> of) {
    const auto end = track.counts.begin() + static_cast<ptrdiff_t>(bounds.size()) + 1;
    families.add(metric, {{labels, of}, bounds, {track.counts.begin(), end}, track.sum});
  }
  void peak(const Metric& metric, const BurstTrack& track, std::initializer_list<Label> of) {
    if (auto highest = port.record.peak(track, now)) families.add(metric, labels, of, *highest);
  }
  // Priorities that are lossless or were paused in either direction.
  void priorities(const std::array<BurstTrack, 16>& tracks, auto&& with) const {
    for (size_t i = 0; i < tracks.size(); ++i) {
      const bool shown = (port.record.lossless >> (i % 8) & 1) != 0 || tracks[i % 8].moved || tracks[i % 8 + 8].moved;
      if (tracks[i].seen && shown)
        with(tracks[i], {{"direction", i < 8 ? "rx" : "tx"}, {"priority", std::to_string(i % 8)}});
    }
  }
  static void directions(const std::array<BurstTrack, 2>& tracks, auto&& with) {
    for (size_t i = 0; i < tracks.size(); ++i)
      if (tracks[i].seen) with(tracks[i], {{"direction", i == 0 ? "rx" : "tx"}});
  }
  void events(auto&& with) const {
    for (size_t i = 0; i < kBurstEvents; ++i)
      if (port.record.events[i].moved) with(port.record.events[i], {{"event", to_text(static_cast<BurstEvent>(i))}});
  }
};

}  // namespace

void add_bursts(FamilySet& families, const PortBursts& port, Clock::time_point now, const Published& published) {
  const bool all = published.has(SeriesGroup::bursts);
  const std::string number = std::to_string(port.port) + (port.member.empty() ? "" : "@" + port.member);
  Publisher out{families, port, {{"device", port.device}, {"port", number}}, now};
  const BurstRecord& record = port.record;
  using Of = std::initializer_list<Label>;
  out.priorities(record.pause, [&](const BurstTrack& track, Of of) {
    out.histogram(kPause, track, kPauseBounds, of);
    out.peak(kPausePeak, track, of);
  });
  out.priorities(record.pause_frames, [&](const BurstTrack& track, Of of) { out.peak(kFramesPeak, track, of); });
  out.directions(record.bytes, [&](const BurstTrack& track, Of of) { out.peak(kBytesPeak, track, of); });
  out.directions(record.load, [&](const BurstTrack& track, Of of) {
    if (all) out.histogram(kLoad, track, kLoadBounds, of);
  });
  if (!all) return;
  out.events([&](const BurstTrack& track, Of of) {
    out.histogram(kEventsPerSecond, track, kEventBounds, of);
    out.peak(kEventsPeak, track, of);
  });
}

}  // namespace fabric
