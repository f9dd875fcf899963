// SPDX-License-Identifier: Apache-2.0
#include "judge/platform_view.h"

#include <algorithm>

#include "base/find.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"
#include "topology/built.h"

namespace fabric {

const PlatformFunction* function_of(const Node& node, const std::string& pci) {
  return find_in(node.platform.functions, pci);
}

std::string kernel_driver_of(const Node& node, const std::string& pci) {
  const PlatformFunction* function = function_of(node, pci);
  return function == nullptr ? std::string() : function->kernel_driver;
}

bool records_drivers(const Node& node) {
  return std::ranges::any_of(node.platform.functions,
                             [](const auto& each) { return !each.second.kernel_driver.empty(); });
}

bool is_not_given(const Node& node, const Gpu& gpu) {
  if (!gpu.vendor_index.empty() || gpu.minor) return false;  // one with a minor alone is excluded by the driver
  const std::string driver = kernel_driver_of(node, gpu.pci);
  if (driver.empty()) return false;  // without a driver no runtime lists it
  const auto is_listed = [&](const Gpu& other) {
    return !other.vendor_index.empty() && kernel_driver_of(node, other.pci) == driver;
  };
  return is_container(node) && std::ranges::any_of(node.topology.gpus, is_listed);
}

bool is_given_away(const Node& node, const std::string& pci) {
  const PlatformFunction* function = function_of(node, pci);
  if (function != nullptr && is_given_away(*function)) return true;
  const Gpu* gpu = gpu_at(node.topology, pci);
  return gpu != nullptr && is_not_given(node, *gpu);
}

bool is_in_cloud(const Node& node) {
  return std::ranges::any_of(node.topology.nics, [](const Nic& nic) { return is_cloud_vendor(nic.vendor); }) ||
         std::ranges::any_of(node.ports,
                             [](const Port& port) { return capabilities_of(port.kernel_driver).only_in_clouds; });
}

std::shared_ptr<const Built> built_of(const View& view) {
  if (view.built != nullptr) return view.built;
  return std::make_shared<Built>(built_of(view.now));
}

std::vector<GpuNic> gpu_nic_pairs(const View& view) {
  std::vector<GpuNic> out;
  const Topology& topology = view.now.topology;
  const auto built = built_of(view);
  const std::vector<Pair>& pairs = built->present_pairing.pairs;
  for (size_t gpu = 0; gpu < pairs.size(); ++gpu)
    for (const size_t nic : pairs[gpu].nics)
      if (!is_given_away(view.now, topology.gpus[gpu].pci)) out.push_back({&topology.gpus[gpu], &topology.nics[nic]});
  return out;
}

}  // namespace fabric
