// SPDX-License-Identifier: Apache-2.0
// The platform between GPUs and NICs: ACS, IOMMU, BARs, GPUDirect, power saving and tuning of PCI devices.
#pragma once

#include <span>

namespace fabric {

struct Rule;

std::span<const Rule> platform_rules();

}  // namespace fabric
