// SPDX-License-Identifier: Apache-2.0
#include "metrics/raw_ethtool.h"

#include <unordered_map>

#include "counters/reader.h"
#include "metrics/telemetry_families.h"

namespace fabric {
namespace {

// Untyped, as node_exporter's ethtool collector has them: drivers put levels and states among what they count, and do
// not say which is which.
constexpr Metric kEthtool{"fabric_ethtool_counters",
                          "Driver statistics of the netdev (ethtool -S) under the driver's own names, in its own "
                          "units: those that the configuration asks for.",
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
