// SPDX-License-Identifier: Apache-2.0
#include "metrics/burst.h"

#include "metrics/port_labels.h"

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

// Adds series of one port.
struct BurstWriter {
  FamilySet& families;
  const BurstRecord& record;
  const Labels labels;
  Clock::time_point now;

  void histogram(const Metric& metric, const BurstTrack& track, std::span<const double> bounds,
                 std::initializer_list<Label> more) {
    const auto end = track.counts.begin() + static_cast<ptrdiff_t>(bounds.size()) + 1;
    families.add(metric, {{labels, more}, bounds, {track.counts.begin(), end}, track.sum});
  }
  void peak(const Metric& metric, const BurstTrack& track, std::initializer_list<Label> more) {
    if (auto highest = record.peak(track, now)) families.add(metric, labels, more, *highest);
  }
};

constexpr std::string_view kDirections[] = {"rx", "tx"};

// Whether the track of a priority and direction was sampled, and the priority is lossless or was paused in either
// direction.
bool is_published(const BurstRecord& record, const std::array<BurstTrack, 16>& tracks, size_t i) {
  const size_t priority = i % 8;
  const bool is_lossless = (record.lossless >> priority & 1) != 0;
  return tracks[i].seen && (is_lossless || tracks[priority].moved || tracks[priority + 8].moved);
}

}  // namespace

void add_bursts(FamilySet& families, const PortBursts& port, Clock::time_point now, const Published& published) {
  const BurstRecord& record = port.record;
  BurstWriter out{families, record, id_labels(port.id), now};
  for (size_t i = 0; i < record.pause.size(); ++i) {
    if (!is_published(record, record.pause, i)) continue;
    const std::string priority = std::to_string(i % 8);
    const std::string_view direction = kDirections[i / 8];
    out.histogram(kPause, record.pause[i], kPauseBounds, {{"direction", direction}, {"priority", priority}});
    out.peak(kPausePeak, record.pause[i], {{"direction", direction}, {"priority", priority}});
  }
  for (size_t i = 0; i < record.pause_frames.size(); ++i)
    if (is_published(record, record.pause_frames, i))
      out.peak(kFramesPeak, record.pause_frames[i],
               {{"direction", kDirections[i / 8]}, {"priority", std::to_string(i % 8)}});
  for (size_t i = 0; i < record.bytes.size(); ++i)
    if (record.bytes[i].seen) out.peak(kBytesPeak, record.bytes[i], {{"direction", kDirections[i]}});
  if (!published.has(SeriesGroup::bursts)) return;
  for (size_t i = 0; i < record.load.size(); ++i)
    if (record.load[i].seen) out.histogram(kLoad, record.load[i], kLoadBounds, {{"direction", kDirections[i]}});
  for (size_t i = 0; i < kBurstEvents; ++i) {
    if (!record.events[i].moved) continue;
    const std::string_view event = to_text(static_cast<BurstEvent>(i));
    out.histogram(kEventsPerSecond, record.events[i], kEventBounds, {{"event", event}});
    out.peak(kEventsPeak, record.events[i], {{"event", event}});
  }
}

}  // namespace fabric
