// SPDX-License-Identifier: Apache-2.0
// Writes several ports in one call: a bond (RoCE LAG) and its members wait for each other, and two members must not be
// without a link at the same time.
#pragma once

#include <chrono>

#include "enforce/reconcile.h"

namespace fabric::qos {

// The longest wait for the link of a member that a write took down, before the next member is written.
inline constexpr std::chrono::milliseconds kMemberPatience{10'000};

using Sleep = std::function<void(std::chrono::milliseconds)>;
void sleep_for(std::chrono::milliseconds time);

// Calls `write` (reconcile(), restore(), ...) for each port, and again for the ports of bonds while settings wait for
// those of another port of the bond: the members protect, the bond moves RoCE, the members release. Returns the changes
// of all ports, each setting once. After a write that took down the link of a member, waits for the link, for
// `patience` at most, before it writes the next member of the bond.
Changes write_in_rounds(Kernel& kernel, std::vector<Port>& ports, std::chrono::milliseconds patience,
                        const std::function<Changes(Port&)>& write, const Sleep& sleep = sleep_for);

// True if the port's netdev has a link now.
bool has_carrier(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
