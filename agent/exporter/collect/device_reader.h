// SPDX-License-Identifier: Apache-2.0
// All readings of one RDMA device, made by its thread.
#pragma once

#include "exporter/collect/collector.h"
#include "node/counter_groups.h"

namespace fabric::exporter {

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

  // Reads identity, link, settings and GIDs again and reopens the counters. No other device is touched.
  void rescan();
  // Reads the counters and the state of the link; if the link has changed, after a rescan(), because rate and settings
  // changed with it. The result is valid until the next call.
  const DeviceReading& read();

 private:
  std::vector<PortReading> read_ports();
  void plan_ports();
  void open_readers();
  void apply(size_t port, PortReading reading);

  std::string root_, device_;
  std::shared_ptr<const Policy> policy_;
  Open open_;
  std::unique_ptr<Kernel> kernel_;  // the readers refer to it
  DeviceReading reading_;
  std::vector<PortReader> readers_;
  OwnerReader owners_;  // outlives a rescan
  std::vector<TelemetryReader> telemetry_;
  // By port id; they outlive a rescan.
  std::map<std::string, Widener> wideners_;
  struct Waiting {
    int ifindex = 0;
    PortReader::Waiting counters{};
    TelemetryReader::Waiting telemetry{};
  };
  std::map<std::string, Waiting> waiting_;
  CollectorRun settings_;
};

}  // namespace fabric::exporter
