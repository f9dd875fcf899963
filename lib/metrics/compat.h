// SPDX-License-Identifier: Apache-2.0
// Other exporters' names and labels, in their units, so that a site's dashboards and alerts go on working. Pure.
#pragma once

#include "counters/catalogue.h"
#include "metrics/family.h"
#include "model/node.h"
#include "model/policy.h"

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

}  // namespace fabric
