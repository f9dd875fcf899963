// SPDX-License-Identifier: Apache-2.0
#include "metrics/counters.h"

#include "base/parse.h"
#include "metrics/port_labels.h"
#include "node/counters.h"

namespace fabric {
namespace {

// Untyped, as in node_exporter's ethtool collector: drivers mix gauges and counters without marking them.
constexpr Metric kEthtool{"fabric_ethtool_counters",
                          "Driver statistics of the netdev (ethtool -S) under the driver's names, in its units, "
                          "selected by the configuration.",
                          MetricKind::untyped};

// Whether the traffic of each priority is zero; nullopt: the port does not count it.
using Idle = std::array<std::optional<bool>, kPriorities>;

void add_named(FamilySet& families, const Port& port, const Published& published, const std::vector<Counter>& counters,
               const Idle& idle = {}) {
  const Labels labels = port_labels(port);
  for (const Counter& counter : counters) {
    const CounterRow* row = counter.row;
    if (row == nullptr || row->metric == nullptr) continue;
    const Metric* metric = row->metric;
    const bool of_casts = metric == &metrics::kPortUnicast || metric == &metrics::kPortMulticast;
    // The bits received are the denominator of the lanes' errors.
    const bool of_lanes = metric == &metrics::kPhyLaneErrors || metric == &metrics::kPhyReceivedBytes;
    if (of_casts && !published.has(SeriesGroup::casts)) continue;
    if (of_lanes && !published.has(SeriesGroup::lanes)) continue;
    const bool is_of_infiniband = row->scope == CounterScope::infiniband_link;
    if (counter.value == 0 && is_of_infiniband && port.link_layer == LinkLayer::ethernet) continue;
    if (is_superseded(counter, counters)) continue;
    Label priority;
    if (counter.priority != 0) {
      if (counter.value == 0 && idle[static_cast<size_t>(counter.priority - '0')] == true) continue;
      priority = {"priority", {&counter.priority, 1}};
    }
    families.accumulate(*metric, labels, {row->label, priority}, row->scale.of(counter.value));
  }
}

}  // namespace

void add_counters(FamilySet& families, const Port& port, const Published& published) {
  Idle idle{};
  for (const Counter& counter : port.counters.ethtool) {
    if (counter.priority == 0) continue;
    const Metric* traffic = counter.row->metric;
    if (traffic != &metrics::kPriorityBytes && traffic != &metrics::kPriorityQueueBytes &&
        traffic != &metrics::kPriorityPackets)
      continue;
    std::optional<bool>& is_idle = idle[static_cast<size_t>(counter.priority - '0')];
    is_idle = is_idle.value_or(true) && counter.value == 0;
  }
  add_named(families, port, published, port.counters.hw);
  add_named(families, port, published, port.counters.ethtool, idle);
  add_named(families, port, published, port.counters.pma);
}

void add_raw_counters(FamilySet& families, const Port& port, RawCounters raw) {
  const Labels labels = port_labels(port);
  for (const Counter& counter : port.counters.pma)  // a known one without a metric repeats another counter
    if (counter.row == nullptr)
      families.add(metrics::kPortOther, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
  for (const Counter& counter : port.counters.hw)
    if (raw == RawCounters::all || counter.row == nullptr || counter.row->metric == nullptr)
      families.add(metrics::kHwCounter, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
}

void add_ethtool(FamilySet& families, const Node& node, std::span<const std::string> globs) {
  if (globs.empty()) return;
  std::unordered_map<const char*, bool> is_selected;  // by the address of the name, which all ports share
  for (const Port& port : node.ports) {
    const Labels labels = port_labels(port);
    for (const Counter& counter : port.counters.ethtool) {
      const auto [known, is_new] = is_selected.try_emplace(counter.name.text().data());
      if (is_new) known->second = matches_any(globs, counter.name);
      if (known->second)
        families.accumulate(kEthtool, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
    }
  }
}

}  // namespace fabric
