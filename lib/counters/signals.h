// SPDX-License-Identifier: Apache-2.0
// Two readings of a port -> what it did between them, in the vocabulary of model/signals.h. Pure.
#pragma once

#include <map>
#include <string>

#include "model/node.h"
#include "model/signals.h"

namespace fabric {

// What rose between two readings of one port, through the catalogue (counter/catalogue.h), Port::fec and the netdev's
// carrier. A counter that was reset, or stands in one of the readings only, leaves its member absent; one that wraps at
// 32 bits (counter/widen.h) counts on (model/counter_class.h). Sources that count the same event are never added up. Of
// two devices that bore one name, nothing. `seconds`: the length of the window.
Signals signals_of(const Port& before, const Port& now, double seconds);

// Port id -> the same, for the ports of `now` that stood in `before` as well; the window is from `before.taken` to
// `now.taken`.
std::map<std::string, Signals> signals_of(const Node& before, const Node& now);

}  // namespace fabric
