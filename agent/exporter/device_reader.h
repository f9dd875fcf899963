// SPDX-License-Identifier: Apache-2.0
// Everything about one RDMA device, read by one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "counter/reader.h"
#include "exporter/collector.h"
#include "sys/kernel.h"

namespace fabric::exporter {

struct DeviceReading {
  std::vector<Port> ports;
  Plan plan;
  std::vector<CollectorRun> runs;
};

class DeviceReader {
 public:
  DeviceReader(std::string root, std::string device, std::shared_ptr<const Policy> policy)
      : root_(std::move(root)), device_(std::move(device)), policy_(std::move(policy)) {}

  // Reads identity, link, settings and GIDs again and reopens what is held; `others` are devices not to be touched.
  void rescan(std::vector<std::string> others);
  // The counters and the state of the link. Where the link has changed, rescan() first: rate and settings changed with it.
  DeviceReading read();

 private:
  std::vector<PortReading> read_ports();
  void plan_ports();

  std::string root_, device_;
  std::shared_ptr<const Policy> policy_;
  std::vector<std::string> others_;
  std::unique_ptr<Kernel> kernel_;  // stays where it is: the readers refer to it
  std::vector<Port> ports_;
  Plan plan_;
  std::vector<PortReader> readers_;
  CollectorRun settings_;
};

}  // namespace fabric::exporter
