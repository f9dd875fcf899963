// SPDX-License-Identifier: Apache-2.0
#include "metrics/compat.h"

namespace fabric {
namespace {

std::string key_of(CounterSource source, std::string_view raw) {
  return static_cast<char>('0' + static_cast<int>(source)) + std::string(raw);
}

std::string with_priority(std::string_view raw, char priority) {
  std::string out(raw);
  std::ranges::replace(out, '#', priority);
  return out;
}

// What a value counts that is not scaled to the unit of the help.
std::string_view raw_unit(const Scale& scale) {
  if (scale.divide == 1e6) return " In microseconds.";
  if (scale.divide == 8) return " In bits.";
  return scale.multiply == 4 ? " In words of 4 bytes." : "";
}

}  // namespace

CompatTable::CompatTable(std::string prefix, std::span<const CompatRow> rows, bool in_base_units)
    : prefix_(std::move(prefix)), in_base_units_(in_base_units) {
  add(rows);
}

void CompatTable::add(std::span<const CompatRow> rows) {
  for (const CompatRow& row : rows)
    if (const auto match = describe_counter(row.source, with_priority(row.raw, '0'))) add(row, *match->row);
}

void CompatTable::add(const CompatRow& row, const CounterRow& described) {
  const std::string name = prefix_ + std::string(row.name) + (row.name.ends_with("_percent") ? "" : "_total");
  auto metric = std::ranges::find(metrics_, name, &Named::name);  // one, whichever source it comes from
  if (metric == metrics_.end()) {
    metric = metrics_.insert(metrics_.end(), {name, std::string(meaning(described))});
    if (!in_base_units_) metric->help += raw_unit(described.scale);
    metric->metric = {metric->name, metric->help};
  }
  const auto known = [&](const CompatName& each) {
    return each.source == row.source && each.raw == row.raw && each.name == name;
  };
  if (std::ranges::any_of(names_, known)) return;
  names_.push_back({row.source, row.raw, metric->name});
  const Series series{&metric->metric, row.label, row.more, {}, in_base_units_ ? described.scale : Scale{}};
  if (row.raw.find('#') == std::string_view::npos) series_.emplace(key_of(row.source, row.raw), series);
  else
    for (char priority = '0'; priority <= '7'; ++priority)
      series_.emplace(key_of(row.source, with_priority(row.raw, priority)), series)->second.priority = priority;
}

void CompatTable::publish(FamilySet& families, const Labels& labels, CounterSource source,
                          std::span<const Counter> counters) const {
  for (const Counter& counter : counters) {
    const auto [first, last] = series_.equal_range(key_of(source, counter.name));
    for (auto each = first; each != last; ++each) {
      const auto& [metric, label, more, priority, scale] = each->second;
      families.add(*metric, labels, {label, more, {priority.empty() ? "" : "priority", priority}},
                   static_cast<double>(counter.value) * scale.multiply / scale.divide);
    }
  }
}

void add_compat(FamilySet& families, const Node& node, std::span<const Compat> wanted) {
  for (const Compat one : wanted) {
    switch (one) {
      case Compat::node_exporter: add_node_exporter(families, node); break;
      case Compat::rdma_exporter: add_rdma_exporter(families, node); break;
      case Compat::rdma_exporter_qp: add_rdma_exporter_qp(families, node); break;
    }
  }
}

}  // namespace fabric
