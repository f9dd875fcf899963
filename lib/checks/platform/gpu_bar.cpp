// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "checks/checks.h"
#include "model/finding.h"
#include "topology/platform.h"

namespace fabric {
namespace {

// What a BIOS without large apertures leaves a GPU.
constexpr uint64_t kSmall = 256ull << 20;

std::string size_text(uint64_t bytes) {
  constexpr uint64_t kGiB = 1ull << 30, kMiB = 1ull << 20;
  if (bytes % kGiB == 0) return std::to_string(bytes / kGiB) + " GiB";
  return bytes % kMiB == 0 ? std::to_string(bytes / kMiB) + " MiB" : std::to_string(bytes) + " bytes";
}

// The aperture into the GPU's memory, through which a NIC reaches it: the largest prefetchable one (NVIDIA's BAR1).
const Bar* memory_bar(const Node& node, const std::string& pci) {
  const PlatformFunction* function = function_of(node, pci);
  const Bar* largest = nullptr;
  if (function == nullptr) return largest;
  for (const Bar& bar : function->bars)
    if (bar.prefetchable && (largest == nullptr || bar.size > largest->size)) largest = &bar;
  return largest;
}

// Bit N of the mask is 2^N MiB (Documentation/ABI/testing/sysfs-bus-pci, resourceN_resize).
std::optional<uint64_t> largest_offered(const Bar& bar) {
  if (!bar.resizable || *bar.resizable == 0) return std::nullopt;
  const auto bits = std::bit_width(*bar.resizable);
  return bits <= 44 ? std::optional(uint64_t{1} << (bits + 19)) : std::nullopt;
}

using Model = std::pair<uint16_t, uint16_t>;
Model model_of(const Gpu& gpu) { return {gpu.vendor, gpu.device}; }

std::map<Model, uint64_t> largest_by_model(const Node& node) {
  std::map<Model, uint64_t> out;
  for (const Gpu& gpu : node.topology.gpus)
    if (const Bar* bar = memory_bar(node, gpu.pci)) out[model_of(gpu)] = std::max(out[model_of(gpu)], bar->size);
  return out;
}

Finding small(const Gpu& gpu, const Bar& bar, uint64_t expected, const std::string& why) {
  return bad(Status::warning, gpu.name, "BAR" + std::to_string(bar.number) + " of " + size_text(bar.size),
             size_text(expected) + ", " + why,
             "NICs reach this GPU's memory (" + gpu.pci +
                 ") through this aperture: what does not fit goes through host memory, and "
                 "registering it for GPUDirect fails.",
             "Switch on Above 4G Decoding and Resizable BAR in the firmware setup (64-bit MMIO large enough for all "
             "GPUs), then see "
             "lspci -vv -s " +
                 gpu.pci + ".");
}

Finding judge(const Gpu& gpu, const Bar& bar, uint64_t siblings) {
  if (bar.size < siblings) return small(gpu, bar, siblings, "as others of its model");
  const auto offered = largest_offered(bar);
  if (offered && bar.size <= kSmall && *offered > bar.size)
    return small(gpu, bar, *offered, "which the GPU offers (Resizable BAR)");
  return good(gpu.name, "BAR" + std::to_string(bar.number) + " of " + size_text(bar.size), "as others of its model");
}

}  // namespace

// GPUs that a NIC serves.
void ask_gpu_bar(const View& view, Findings& findings) {
  const auto largest = largest_by_model(view.now);
  const Gpu* last = nullptr;  // a GPU's pairs stand together
  for (const auto& [gpu, nic] : gpu_nic_pairs(view.now)) {
    const Bar* bar = memory_bar(view.now, gpu->pci);
    if (bar != nullptr && gpu != last) findings.push_back(judge(*gpu, *bar, largest.at(model_of(*gpu))));
    last = gpu;
  }
}

}  // namespace fabric
