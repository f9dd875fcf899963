// SPDX-License-Identifier: Apache-2.0
#include "vendor/capabilities.h"

namespace fabric {

constinit const DriverFacts kBnxtFacts{"bnxt_en", {.priority_bytes = true}};

}  // namespace fabric
