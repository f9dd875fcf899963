// SPDX-License-Identifier: Apache-2.0
// The burst sampler: a few counters of each port, read many times between two scrapes by the thread that owns the
// device. It keeps to its share of the CPU budget and slows down for a slow device (counters/pace.h).
#pragma once

#include "kernel/kernel.h"
#include "metrics/family.h"
#include "node/counter_reader.h"
#include "node/pace.h"

namespace fabric::exporter {

struct Sampling {
  std::chrono::milliseconds interval{0};           // 0: off
  double cpu_budget = 0.02;                        // a share of one core, for all devices together
  std::function<void(const std::string&)> warn{};  // a line for the journal; called from any thread
};

// How a device is being sampled.
struct SampledDevice {
  std::string device;
  std::chrono::nanoseconds interval{};
  Pace::Brake brake = Pace::Brake::none;
  double cpu_seconds = 0;
  std::optional<std::chrono::nanoseconds> age{};  // of the newest sample; nullopt: none yet
};

// The histograms of a device's ports and its pace: what the reader thread and the page share, under the collector's
// mutex.
class DeviceBursts {
 public:
  using Clock = Pace::Clock;
  using Span = Pace::Span;

  // These ports, and no others, are sampled from now on. Histograms of a port that stays go on.
  void follow(const std::vector<Port>& ports);
  // A sample took this much CPU time and the device this long to answer. Returns a line for the journal, or nothing.
  std::string finish(const std::string& device, Clock::time_point now, Span cpu, Span answer, bool answered);
  [[nodiscard]] SampledDevice state(const std::string& device, Clock::time_point now) const;
  void append(const std::string& device, std::vector<PortBursts>& out) const;

  Pace pace{std::chrono::seconds(1), 1};

 private:
  friend class DeviceSampler;
  // The properties of a port that decide how it is read.
  struct Place {
    unsigned number = 1;
    std::string netdev, driver, bond;
    bool operator==(const Place&) const = default;
  };
  struct SampledPort {
    Place place;
    BurstMeter meter;
  };
  std::map<std::string, SampledPort> ports_;  // by id
  uint64_t generation_ = 1;                   // grows when a place changes
  Span cpu_{};
  Clock::time_point taken_{}, warned_{};
};

// The sampler's descriptors of one device; for its thread only.
class DeviceSampler {
 public:
  using Open = std::function<Result<Kernel>(const std::string& root)>;
  DeviceSampler(std::string root, std::string device, Open open)
      : root_(std::move(root)), device_(std::move(device)), open_(std::move(open)) {}

  // With the mutex: which ports to read.
  void follow(const DeviceBursts& bursts);
  // Without it: one reading.
  void read();
  // With it again: the reading goes into the histograms. Returns a line for the journal, or nothing.
  std::string record(DeviceBursts& bursts);

 private:
  void open(Pace::Clock::time_point now);

  std::string root_, device_;
  Open open_;
  uint64_t generation_ = 0;
  std::vector<std::pair<std::string, DeviceBursts::Place>> places_;
  Backoff opening_;
  std::unique_ptr<Kernel> kernel_;  // the readers refer to it
  std::vector<PortReader> readers_;
  std::vector<PortReading> readings_;  // the newest, one for each reader
  Pace::Span cpu_{}, answer_{};
  bool answered_ = false;
};

// Metrics about the sampler itself. `timings`: not only whether it is slowed down.
void add_sampled(FamilySet& families, const std::vector<SampledDevice>& devices, bool timings = true);

}  // namespace fabric::exporter
