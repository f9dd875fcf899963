// SPDX-License-Identifier: Apache-2.0
#include "model/counter_name.h"

#include <ostream>

namespace fabric {

std::ostream& operator<<(std::ostream& out, const CounterName& name) { return out << name.text(); }

}  // namespace fabric
