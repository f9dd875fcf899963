// SPDX-License-Identifier: Apache-2.0
#include "vendor/capabilities.h"

namespace fabric {

constinit const DriverFacts kEfaFacts{"efa", {.resends_on_other_paths = true}};

}  // namespace fabric
