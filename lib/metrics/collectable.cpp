// SPDX-License-Identifier: Apache-2.0
#include "metrics/collectable.h"

#include "metrics/families.h"

namespace fabric {

FabricCollectable::FabricCollectable(std::function<Machine()> source)
    : FabricCollectable(std::move(source), Options()) {}

FabricCollectable::FabricCollectable(std::function<Machine()> source, Options options)
    : source_(std::move(source)), options_(std::move(options)) {}

std::vector<prometheus::MetricFamily> FabricCollectable::Collect() const {
  const Machine machine = source_();
  FamilySet families(options_.series_limit);
  add_node(families, machine.node, machine.report, options_.published);
  return families.take();
}

}  // namespace fabric
