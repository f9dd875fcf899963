// SPDX-License-Identifier: Apache-2.0
#include "vendor/capabilities.h"

namespace fabric {

const Capabilities& capabilities_of(std::string_view kernel_driver) {
  static constexpr Capabilities kNothing{};
  for (const DriverFacts* facts :
       {&kMlx5Facts, &kBnxtFacts, &kBngeFacts, &kEfaFacts, &kI40eFacts, &kIceFacts, &kSiwFacts})
    if (facts->kernel_driver == kernel_driver) return facts->capabilities;
  return kNothing;
}

}  // namespace fabric
