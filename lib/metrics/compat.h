// SPDX-License-Identifier: Apache-2.0
// Other exporters' names and labels, in their units, so that a site's dashboards and alerts go on working. Pure.
#pragma once

#include <deque>

#include "metrics/family.h"
#include "nic/counter_catalogue.h"
#include "policy/policy.h"

namespace fabric {

// The exporters selected by [exporter] compat.
void add_compat(FamilySet& families, const Node& node, std::span<const Compat> wanted);

// node_infiniband_* of Prometheus' node_exporter (collector "infiniband"; labels device, port).
void add_node_exporter(FamilySet& families, const Node& node);
// rdma_* of yuuki/rdma_exporter (labels device, port, and netdev if the source is ethtool). Its
// rdma_port_{rcv,xmit}_data_total are words of 4 bytes, its pause durations microseconds.
void add_rdma_exporter(FamilySet& families, const Node& node);
// rdma_qp_* of the same exporter (labels device, port, and one more), if Port::qp_statistics was read.
void add_rdma_exporter_qp(FamilySet& families, const Node& node);

// A raw counter ('#': a priority) and its name in the other exporter.
struct CompatName {
  CounterSource source;
  std::string_view raw, name;
};
std::vector<CompatName> node_exporter_names();
std::vector<CompatName> rdma_exporter_names();
std::vector<CompatName> rdma_exporter_qp_names();  // sums over queue pairs, by kind

// For the compat_*.cpp files only: an exporter's names of raw counters.

struct CompatRow {
  CounterSource source;
  std::string_view raw;   // '#': a priority, which becomes a label
  std::string_view name;  // of the metric, without the exporter's prefix and "_total"
  FixedLabel label{}, more{};
};

class CompatTable {
 public:
  // `in_base_units`: as the catalogue scales them, not as the driver counts.
  CompatTable(std::string prefix, std::span<const CompatRow> rows, bool in_base_units = false);
  CompatTable(CompatTable&&) = default;

  // Rows of counters that the catalogue describes; its text is their help.
  void add(std::span<const CompatRow> rows);
  void add(const CompatRow& row, const CounterRow& described);
  // A series for each counter that has a name here, with `labels` and the row's.
  void publish(FamilySet& families, const Labels& labels, CounterSource source,
               std::span<const Counter> counters) const;
  [[nodiscard]] const std::vector<CompatName>& names() const { return names_; }

 private:
  struct Series {
    const Metric* metric;
    FixedLabel label, more;
    std::string priority;
    Scale scale;
  };
  struct Named {
    std::string name, help;
    Metric metric{};
  };

  std::string prefix_;
  bool in_base_units_;
  std::deque<Named> metrics_;  // does not move what it holds
  std::vector<CompatName> names_;
  std::unordered_multimap<std::string, Series> series_;  // by source and raw name
};

}  // namespace fabric
