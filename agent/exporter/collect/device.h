// SPDX-License-Identifier: Apache-2.0
// The readings of one RDMA device, for the thread that owns it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "kernel/kernel.h"
#include "node/counter_reader.h"
#include "node/telemetry.h"
#include "policy/policy.h"
#include "setting/change.h"

namespace fabric::exporter {

using Clock = std::chrono::steady_clock;

inline constexpr const char* kTopologyCollector = "topology";  // the one that the landing page asks for

// The newest attempt to read one group of values.
struct CollectorRun {
  // "rdma", "pma", "ethtool", "link", "settings", "topology", "agent", "network", "platform", "host", "reader", ...
  std::string collector;
  std::string device;  // empty: the host
  bool success = true;
  double seconds = 0;
  std::string error;
  bool is_hanging = false;  // the reading thread does not answer, or could not be started
  [[nodiscard]] bool is_of_hanging_device() const { return is_hanging && !device.empty(); }
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

}  // namespace fabric::exporter
