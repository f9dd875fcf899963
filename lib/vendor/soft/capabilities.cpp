// SPDX-License-Identifier: Apache-2.0
#include "vendor/capabilities.h"

namespace fabric {

constinit const DriverFacts kSiwFacts{"siw", {.breaks_nvidia_smi_topo = true}};

std::string_view software_driver(bool has_parent_file, std::string_view protocol) {
  if (has_parent_file) return "rxe";
  return protocol == "iw" ? kSiwFacts.kernel_driver : std::string_view();
}

}  // namespace fabric
