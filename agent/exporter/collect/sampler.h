// SPDX-License-Identifier: Apache-2.0
// The burst sampler of one RDMA device: reads a few counters of each port many times between two readings of the
// device. It respects its share of the CPU budget and slows down for a slow device (node/pace.h).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>

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

// The state of the sampler of one device.
struct SampledDevice {
  std::string device;
  std::chrono::nanoseconds interval{};
  Pace::Brake brake = Pace::Brake::none;
  double cpu_seconds = 0;
  std::optional<std::chrono::nanoseconds> age{};  // age of the newest sample; nullopt: none yet
};

// The histograms of a device's ports and the pace of its sampler. The reader thread and the page share them under the
// collector's mutex.
class DeviceBursts {
 public:
  using Clock = Pace::Clock;
  using Span = Pace::Span;

  // Sets the ports to sample. A port that was sampled before keeps its histograms.
  void follow(const std::vector<Port>& ports);
  [[nodiscard]] SampledDevice state(const std::string& device, Clock::time_point now) const;
  void append(std::vector<PortBursts>& out) const;

  Pace pace{std::chrono::seconds(1), 1};

 private:
  friend class DeviceSampler;
  // The properties of a port that decide how it is read.
  struct Place {
    unsigned number = 1;
    PortRole role = PortRole::physical;
    std::string netdev, driver;
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

// The sampler's descriptors of one device; used only by the device's thread.
class DeviceSampler {
 public:
  using Open = std::function<Result<Kernel>(const std::string& root)>;
  DeviceSampler(std::string root, std::string device, Open open)
      : root_(std::move(root)), device_(std::move(device)), open_(std::move(open)) {}

  // Takes over the ports to read. Called with the mutex.
  void follow(const DeviceBursts& bursts);
  // Reads once. Called without the mutex.
  void read();
  // Adds the reading to the histograms, and its cost to the pace. Called with the mutex. Returns a line for the
  // journal, or nothing.
  std::string record(DeviceBursts& bursts);

 private:
  void open(Pace::Clock::time_point now);

  std::string root_, device_;
  Open open_;
  uint64_t generation_ = 0;
  std::vector<std::pair<std::string, DeviceBursts::Place>> places_;
  Backoff opening_;
  std::unique_ptr<Kernel> kernel_;  // the readers refer to it
  std::vector<BurstReader> readers_;
  std::vector<BurstReading> readings_;  // the newest, one for each reader
  Pace::Span cpu_{}, answer_{};
  bool answered_ = false;
};

// Metrics about the sampler itself. Without `timings`, only whether it is slowed down.
void add_sampled(FamilySet& families, const std::vector<SampledDevice>& devices, bool timings = true);

}  // namespace fabric::exporter
