// SPDX-License-Identifier: Apache-2.0
// An exporter of its own that also publishes the metrics of this project: embed [ROOT]
#include <prometheus/counter.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "metrics/collectable.h"
#include "node/scan.h"

int main(int argc, char** argv) {
  auto kernel = fabric::open_kernel(argc > 1 ? argv[1] : "/");
  if (!kernel) {
    std::cerr << kernel.error().text() << '\n';
    return 1;
  }
  const fabric::FabricCollectable fabric([&] { return fabric::FabricCollectable::CheckedNode{fabric::scan(*kernel)}; });

  prometheus::Registry own;
  prometheus::BuildCounter()
      .Name("site_starts_total")
      .Help("Starts of this exporter.")
      .Register(own)
      .Add({})
      .Increment();

  // With prometheus::Exposer: exposer.RegisterCollectable() of both.
  auto page = own.Collect();
  std::ranges::move(fabric.Collect(), std::back_inserter(page));
  std::cout << prometheus::TextSerializer().Serialize(page);
}
