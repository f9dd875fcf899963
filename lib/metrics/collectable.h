// SPDX-License-Identifier: Apache-2.0
// Lets any program that uses prometheus-cpp publish this project's metrics; tests/example/embed.cpp shows how.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "metrics/families.h"

namespace fabric {

class FabricCollectable : public prometheus::Collectable {
 public:
  struct CheckedNode {
    Node node;        // from scan()
    Report report{};  // from run_rules(); empty: no fabric_check_status
  };
  struct PublishOptions {
    Published published{};
    size_t series_limit = Policy().series_limit;
  };

  // `source` is called by each Collect(), which may come from several threads at a time.
  explicit FabricCollectable(std::function<CheckedNode()> source) : source_(std::move(source)) {}
  FabricCollectable(std::function<CheckedNode()> source, PublishOptions options)
      : source_(std::move(source)), options_(std::move(options)) {}
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    const CheckedNode checked = source_();
    FamilySet families(options_.series_limit);
    add_node(families, checked.node, checked.report, options_.published);
    return families.families();
  }

 private:
  std::function<CheckedNode()> source_;
  PublishOptions options_;
};

}  // namespace fabric
