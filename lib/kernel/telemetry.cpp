// SPDX-License-Identifier: Apache-2.0
#include "kernel/telemetry.h"

#include <ostream>

namespace fabric {

std::ostream& operator<<(std::ostream& out, const CounterName& name) { return out << name.text(); }

}  // namespace fabric
