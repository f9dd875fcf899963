// SPDX-License-Identifier: Apache-2.0
#include "topology/pcie_path.h"

#include <algorithm>

namespace fabric {

std::vector<PcieHop> hops_above(const PciDevice& function) {
  std::vector<PcieHop> hops;
  std::string lower = function.pci;
  for (size_t i = 0; i < function.bridges.size(); i += 2) {
    hops.push_back({lower, function.bridges[i]});
    if (i + 1 < function.bridges.size()) lower = function.bridges[i + 1];
  }
  return hops;
}

std::vector<std::string> bridges_between(const PciDevice& a, const PciDevice& b) {
  const auto shared = std::find_first_of(a.bridges.begin(), a.bridges.end(), b.bridges.begin(), b.bridges.end());
  if (shared == a.bridges.end()) return {};
  std::vector<std::string> out(a.bridges.begin(), shared);
  out.insert(out.end(), b.bridges.begin(), std::ranges::find(b.bridges, *shared));
  return out;
}

}  // namespace fabric
