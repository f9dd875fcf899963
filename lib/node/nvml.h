// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library, where its driver has installed it (NVML API reference; nvml.h of driver 550). It opens
// /dev/nvidiactl and every GPU, which wakes one that sleeps, so only a program that a person runs asks it, and only for
// facts that files do not have (kernel/pci/gpu.h).
#pragma once

#include "base/result.h"
#include "node/node.h"

namespace fabric::nvml {

struct Device {
  std::string pci;  // "0000:17:00.0"
  unsigned index = 0;
  std::string uuid, name;         // empty: unknown
  std::optional<unsigned> minor;  // N of /dev/nvidiaN
  bool operator==(const Device&) const = default;
};

// What libnvidia-ml.so.1 lists; bounded by `patience`, since a GPU that has fallen off the bus can hold it up for
// minutes. ELIBACC: not installed; ENOSYS: it lacks a function; ETIMEDOUT; EPROTO: it refuses (the driver's
// version is another one, say, or no driver is loaded). All of these are ordinary.
Result<std::vector<Device>> devices(std::chrono::milliseconds patience = std::chrono::seconds(5));

// Fills uuid, model, minor and vendor_index of the GPUs at these addresses where they are not known.
void complete(const std::vector<Device>& devices, Topology& topology);

// Whether an NVIDIA GPU lacks a fact that the library knows.
bool is_wanted(const Topology& topology);

}  // namespace fabric::nvml
