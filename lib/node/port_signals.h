// SPDX-License-Identifier: Apache-2.0
// Two readings of a port -> what it did between them, in the vocabulary of model/signals.h. Pure.
#pragma once

#include "node/node.h"
#include "node/signals.h"

namespace fabric {

// Rises between two readings of one port: of the catalogue's counters, Port::fec and the carrier. A member is absent if
// one of its counters was reset or is in one reading only. Sources that count the same event are not added. Empty if
// another device got the name in between. `seconds`: the length of the window.
Signals signals_of(const Port& before, const Port& now, double seconds);

// Port id -> signals, of the ports in both readings; the window is from `before.taken` to `now.taken`.
std::map<std::string, Signals> signals_of(const Node& before, const Node& now);

}  // namespace fabric
