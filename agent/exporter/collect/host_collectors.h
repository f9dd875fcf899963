// SPDX-License-Identifier: Apache-2.0
// Readings that change rarely and belong to no RDMA device: IP addresses, the platform around GPUs and NICs, the host.
// The host's thread runs each at its own interval, for the first time when the devices are known. None opens an RDMA
// device. Data that the service's sandbox hides is absent.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "exporter/collect/collector.h"
#include "kernel/kernel.h"
#include "model/node.h"

namespace fabric::exporter {

struct HostCollector {
  const char* name;  // as in fabric_collector_success: "network", "platform", "host"
  std::chrono::seconds CollectorOptions::*every;
  void (*read)(Kernel& kernel, Node& node);    // fills its members; topology and ports are there
  void (*copy)(const Node& from, Node& into);  // copies those members
  bool is_partial_failure;                     // a part that could not be read makes the collector fail
};
const std::vector<HostCollector>& host_collectors();

struct HostCollection {
  std::shared_ptr<const Node> node;  // the collector's members only; null before the first reading
  CollectorRun run;
};

// `known` has the topology and the identity of the ports.
HostCollection run_collector(const HostCollector& collector, const std::string& root, Node known);

// Do the collectors read the same for these ports as for those: the same functions, netdevs and netdevs of GIDs?
bool are_same_subjects(const std::vector<Port>& a, const std::vector<Port>& b);

}  // namespace fabric::exporter
