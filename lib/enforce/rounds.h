// SPDX-License-Identifier: Apache-2.0
// Writes several ports in one call: a bond (RoCE LAG) and its members wait for each other, and two members must not be
// without a link at the same time.
#pragma once

#include <chrono>

#include "enforce/reconcile.h"

namespace fabric::qos {

// The wait for the link of a member after a disruptive write, before the next member of the bond is written: until the
// link is up, but not shorter (the driver may report the loss of the carrier late) and not longer than this.
inline constexpr std::chrono::milliseconds kMemberPause{1'000}, kMemberPatience{20'000};

using Sleep = std::function<void(std::chrono::milliseconds)>;
void sleep_for(std::chrono::milliseconds time);

// Calls `write` (reconcile(), restore(), ...) for each port, and again for the ports of bonds while settings wait for
// those of another port of the bond: the members protect, the bond moves RoCE, the members release. Returns the changes
// of all ports, each setting once. After a disruptive write of a member waits for its link, for `patience` at most,
// before it writes the next member of the bond.
Changes write_in_rounds(Kernel& kernel, std::vector<Port>& ports, std::chrono::milliseconds patience,
                        const std::function<Changes(Port&)>& write, const Sleep& sleep = sleep_for);

// True if a disruptive write succeeded.
bool is_restarted(const Changes& changes);
// True if the port's netdev has a link now.
bool has_carrier(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
