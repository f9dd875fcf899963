// SPDX-License-Identifier: Apache-2.0
// What of the machine changes seldom and belongs to no RDMA device: IP addressing, the platform around GPUs and NICs,
// the host. Each part is read by a thread of its own, at its own interval, beginning when it is known which devices
// there are; none opens an RDMA device. What the service's sandbox hides is absent.
#pragma once

#include <string>
#include <vector>

#include "exporter/collect/collector.h"
#include "kernel/kernel.h"
#include "model/node.h"

namespace fabric::exporter {

struct Part {
  const char* name;  // as collector: "network", "platform", "host"
  std::chrono::seconds CollectorOptions::*every;
  void (*read)(Kernel& kernel, Node& node);    // fills its members; topology and ports stand
  void (*join)(const Node& from, Node& into);  // takes over those members
  bool whole;                                  // what could not be read is a failure
  void (*follow)(const Node& from,
                 Node& into) = nullptr;  // null, or what depends on the neighbours, which are read more often
};
const std::vector<Part>& parts();

struct PartReading {
  std::shared_ptr<const Node> node;  // its members alone; null before the first reading
  CollectorRun run;
};

// `known` is the machine as far as it is known: its topology and the identity of its ports.
PartReading read_part(const Part& part, const std::string& root, Node known);

// Is it the same to read a part for these as for those: the same functions, netdevs and GIDs' netdevs?
bool are_same_subjects(const std::vector<Port>& a, const std::vector<Port>& b);

}  // namespace fabric::exporter
