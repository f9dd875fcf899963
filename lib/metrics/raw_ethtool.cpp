// SPDX-License-Identifier: Apache-2.0
#include "metrics/raw_ethtool.h"

#include <unordered_map>

#include "counters/reader.h"
#include "metrics/telemetry_families.h"

namespace fabric {
namespace {

// Untyped, as in node_exporter's ethtool collector: drivers mix gauges with counters and do not mark them.
constexpr Metric kEthtool{"fabric_ethtool_counters",
                          "Driver statistics of the netdev (ethtool -S) under the driver's names, in its units, "
                          "selected by the configuration.",
                          MetricKind::untyped};

}  // namespace

void add_ethtool(FamilySet& families, const Node& node, std::span<const std::string> globs) {
  if (globs.empty()) return;
  std::unordered_map<const char*, bool> asked;  // by where the name is kept, once for all ports
  for (const Port& port : node.ports) {
    const Labels labels = port_labels(port);
    for (const Counter& counter : port.counters.ethtool) {
      const auto [known, is_new] = asked.try_emplace(counter.name.text().data());
      if (is_new) known->second = matches_any(globs, counter.name);
      if (known->second)
        families.accumulate(kEthtool, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
    }
  }
}

}  // namespace fabric
