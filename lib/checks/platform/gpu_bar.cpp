// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "checks/check.h"
#include "judge/platform_view.h"

namespace fabric {
namespace {

std::string size_text(uint64_t bytes) {
  constexpr uint64_t kGiB = 1ull << 30, kMiB = 1ull << 20;
  if (bytes % kGiB == 0) return std::to_string(bytes / kGiB) + " GiB";
  return bytes % kMiB == 0 ? std::to_string(bytes / kMiB) + " MiB" : std::to_string(bytes) + " bytes";
}

// A NIC reaches GPU memory through the largest prefetchable BAR (NVIDIA: BAR1).
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

Finding small(const Gpu& gpu, const Bar& bar, uint64_t expected, const std::string& why) {
  return bad(Status::warning, gpu.name, "BAR" + std::to_string(bar.number) + " of " + size_text(bar.size),
             size_text(expected) + ", " + why,
             "NICs reach the memory of this GPU (" + gpu.pci +
                 ") through this BAR. Registering memory beyond it for GPUDirect fails.",
             "Enable Above 4G Decoding and Resizable BAR in the firmware setup, with 64-bit MMIO space for all GPUs. "
             "Verify: lspci -vv -s " +
                 gpu.pci);
}

Finding finding_for(const Gpu& gpu, const Bar& bar, uint64_t siblings) {
  if (bar.size < siblings) return small(gpu, bar, siblings, "equal to others of its model");
  const auto offered = largest_offered(bar);
  constexpr uint64_t kSmall = 256ull << 20;  // if the firmware has no space for a larger one
  if (offered && bar.size <= kSmall && *offered > bar.size)
    return small(gpu, bar, *offered, "which the GPU offers (Resizable BAR)");
  return good(gpu.name, "BAR" + std::to_string(bar.number) + " of " + size_text(bar.size),
              "equal to others of its model");
}

// GPUs with a NIC.
void ask(const View& view, Findings& findings) {
  const Gpu* last = nullptr;  // the pairs of a GPU are adjacent
  for (const auto& [gpu, nic] : gpu_nic_pairs(view)) {
    const Bar* bar = memory_bar(view.now, gpu->pci);
    if (bar == nullptr || gpu == last) continue;
    last = gpu;
    uint64_t largest = 0;
    for (const Gpu& other : view.now.topology.gpus)
      if (const Bar* each = are_alike(other, *gpu) ? memory_bar(view.now, other.pci) : nullptr)
        largest = std::max(largest, each->size);
    findings.push_back(finding_for(*gpu, *bar, largest));
  }
}

}  // namespace

extern const Check kGpuBarCheck{
    .id = "gpu-bar",
    .group = group::platform,
    .title = "The BAR of a GPU does not cover its memory",
    .meaning =
        "A NIC reaches GPU memory through the largest prefetchable BAR of the GPU (NVIDIA: BAR1). If this BAR is "
        "smaller than that of other GPUs, or 256 MiB although the GPU offers more, the firmware had no address space "
        "for it.",
    .inspect = "lspci -vv -s ADDRESS (Region, Physical Resizable BAR); nvidia-smi -q -d MEMORY (BAR1)",
    .fix = "Enable Above 4G Decoding and Resizable BAR in the firmware setup, or update the firmware.",
    .ask = ask,
};

}  // namespace fabric
