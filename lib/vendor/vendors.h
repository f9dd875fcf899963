// SPDX-License-Identifier: Apache-2.0
// The drivers and the features, one per file of the same name.
#pragma once

#include "vendor/driver.h"

namespace fabric {

extern const Driver kMlx4, kMlx5, kMlx5Ofed, kBnxt, kIce, kI40e, kIonic, kQede, kRxe, kUpstream;
extern const Feature kEthtoolFeature, kRdmaCm, kOptionalCounters, kMrrs;

}  // namespace fabric
