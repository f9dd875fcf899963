// SPDX-License-Identifier: Apache-2.0
// The Vital Product Data of a PCI function (PCI Local Bus Specification 3.0, appendix I).
#pragma once

#include <string_view>
#include <vector>

namespace fabric {

struct VpdField {
  std::string_view key;   // two letters: "PN", "SN", "V0"
  std::string_view text;  // points into the bytes that were given; ends with them at the latest
};

// The read-only fields, in their order; empty if `vpd` is not valid VPD.
std::vector<VpdField> vpd_fields(std::string_view vpd);

}  // namespace fabric
