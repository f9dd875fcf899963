// SPDX-License-Identifier: Apache-2.0
// One RDMA device, for the thread that owns it: its readings (DeviceReader), and the burst sampler, which reads a few
// counters of each port many times between two readings (DeviceSampler). The sampler respects its share of the CPU
// budget and slows down for a slow device (node/pace.h).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "kernel/kernel.h"
#include "metrics/family.h"
#include "node/counter_reader.h"
#include "node/pace.h"
#include "node/telemetry.h"
#include "policy/policy.h"
#include "setting/change.h"

namespace fabric::exporter {

using Clock = std::chrono::steady_clock;

// The newest attempt to read one group of values.
struct CollectorRun {
  // "rdma", "pma", "ethtool", "link", "settings", "topology", "agent", "network", "platform", "host", "reader", ...
  std::string collector;
  std::string device;  // empty: the host
  bool success = true;
  double seconds = 0;
  std::string error;
  bool operator==(const CollectorRun&) const = default;
};

struct DeviceReading {
  std::vector<Port> ports;
  Plan plan;
  std::vector<CollectorRun> runs;
  uint64_t scans = 0;  // how often identity, link, settings and GIDs have been read
};

class DeviceReader {
 public:
  using Open = std::function<Result<Kernel>(const std::string& root)>;
  DeviceReader(std::string root, std::string device, std::shared_ptr<const Policy> policy, Open open = open_kernel)
      : root_(std::move(root)), device_(std::move(device)), policy_(std::move(policy)), open_(std::move(open)) {}

  // Reads identity, link, settings and GIDs again and reopens the counters. Opens no other device.
  void rescan();
  // Reads the counters and the state of the link. If the link has changed, calls rescan() first, because rate and
  // settings change with the link. The result is valid until the next call.
  const DeviceReading& read();

 private:
  std::vector<PortReading> read_ports();
  void open_readers();

  std::string root_, device_;
  std::shared_ptr<const Policy> policy_;
  Open open_;
  std::unique_ptr<Kernel> kernel_;  // the readers refer to it
  DeviceReading reading_;
  std::vector<PortReader> readers_;
  OwnerReader owners_;  // outlives a rescan
  std::vector<TelemetryReader> telemetry_;
  // The key is the port id; they outlive a rescan.
  std::map<std::string, Widener> wideners_;
  struct PortBackoffs {
    int ifindex = 0;
    PortReader::CounterBackoffs counters{};
    TelemetryReader::TelemetryBackoffs telemetry{};
  };
  std::map<std::string, PortBackoffs> waiting_;
  CollectorRun settings_;
};

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
  // Records the CPU time of a sample and the time until the device answered. Returns a line for the journal, or
  // nothing.
  std::string finish(const std::string& device, Clock::time_point now, Span cpu, Span answer, bool answered);
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
  using Open = DeviceReader::Open;
  DeviceSampler(std::string root, std::string device, Open open)
      : root_(std::move(root)), device_(std::move(device)), open_(std::move(open)) {}

  // Takes over the ports to read. Called with the mutex.
  void follow(const DeviceBursts& bursts);
  // Reads once. Called without the mutex.
  void read();
  // Adds the reading to the histograms. Called with the mutex. Returns a line for the journal, or nothing.
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
