// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library, if its driver has installed it (NVML API reference; nvml.h of driver 550). It opens
// /dev/nvidiactl and every GPU, which wakes a sleeping GPU, so only a program that a person runs uses it, and only for
// facts that files lack (node/gpu.h).
#pragma once

#include "base/result.h"
#include "node/node.h"

namespace fabric::nvml {

struct ListedGpu {
  std::string pci;  // "0000:17:00.0"
  unsigned index = 0;
  std::string uuid, name;         // empty: unknown
  std::optional<unsigned> minor;  // N of /dev/nvidiaN
  std::optional<GpuLoad> load{};  // absent: the library or the GPU does not report it
  bool operator==(const ListedGpu&) const = default;
};

// The GPUs that libnvidia-ml.so.1 lists. A GPU that has fallen off the bus can block the library for minutes: the call
// returns after `patience`. Expected errors: ELIBACC: not installed; ENOSYS: a function is missing; ETIMEDOUT; EPROTO:
// the library refuses (the driver has another version, or is not loaded).
Result<std::vector<ListedGpu>> devices(std::chrono::milliseconds patience = std::chrono::seconds(5));

// Fills those of uuid, model, minor and vendor_index that the GPUs at these addresses lack, and replaces their load.
void complete(const std::vector<ListedGpu>& devices, Topology& topology);

// Whether an NVIDIA GPU lacks a fact that the library can report.
bool is_wanted(const Topology& topology);

// Whether the link of an NVIDIA GPU is slower than that of another one of its model: its load shows whether it is idle.
bool is_load_wanted(const Topology& topology);

// devices() as text, so that a capture can record them: a line for each GPU, its fields separated by tabs.
std::string to_text(const std::vector<ListedGpu>& devices);
// Ignores lines of another form.
std::vector<ListedGpu> parse_devices(std::string_view text);

}  // namespace fabric::nvml
