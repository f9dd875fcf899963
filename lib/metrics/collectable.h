// SPDX-License-Identifier: Apache-2.0
// Lets any program that uses prometheus-cpp publish this project's metrics; tests/example/embed.cpp shows how.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "model/node.h"
#include "model/policy.h"
#include "model/report.h"

namespace fabric {

class FabricCollectable : public prometheus::Collectable {
 public:
  struct Machine {
    Node node;        // from scan()
    Report report{};  // from run_checks(); empty: no fabric_check_status
  };
  struct Options {
    Published published{};
    size_t series_limit = Policy().series_limit;
  };

  // `source` is called by each Collect(), which may come from several threads at a time.
  explicit FabricCollectable(std::function<Machine()> source);
  FabricCollectable(std::function<Machine()> source, Options options);
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::function<Machine()> source_;
  Options options_;
};

}  // namespace fabric
