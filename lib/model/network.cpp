// SPDX-License-Identifier: Apache-2.0
#include "model/network.h"

#include <algorithm>

namespace fabric {

std::optional<unsigned> ConfValue::effective() const {
  if (!all || !own) return std::nullopt;
  return std::max(*all, *own);
}

}  // namespace fabric
