// SPDX-License-Identifier: Apache-2.0
// How GoogleTest shows values of ours where a comparison fails.
#pragma once

#include <ostream>

#include "model/change.h"

namespace fabric {

inline void PrintTo(Outcome outcome, std::ostream* out) { *out << to_text(outcome); }

inline void PrintTo(const Qos& qos, std::ostream* out) {
  for (const Setting& setting : kSettings)
    if (has_value(setting, qos)) *out << setting.key << " = " << value_text(setting, qos) << '\n';
}

}  // namespace fabric
