// SPDX-License-Identifier: Apache-2.0
// The drivers, one per file of the same name.
#pragma once

#include "driver/driver.h"

namespace fabric {

extern const Driver kMlx5, kBnxt, kIce, kRxe, kUpstream;

}  // namespace fabric
