// SPDX-License-Identifier: Apache-2.0
// The common part of all passes that write, in agentd and fabric-agentctl (apply, restore, the revert of an apply that
// was not confirmed): the ports of a bond take turns. Two members must not be without a link at the same time,
// also of a bond for IP only (bond_above()); and with RoCE LAG a class of traffic moves over all ports of the bond as a
// whole.
#pragma once

#include "enforce/drift.h"
#include "enforce/reconcile.h"
#include "enforce/unsettled.h"

namespace fabric::qos {

// The wait for the link of a member after a disruptive write, before another member of the bond is written: until the
// link is up, but not shorter (the driver may report the loss of the carrier late) and not longer than this.
inline constexpr std::chrono::milliseconds kMemberPause{1'000}, kMemberPatience{20'000};

using Sleep = std::function<void(std::chrono::milliseconds)>;
void sleep_for(std::chrono::milliseconds time);

// The members of bonds whose links restart, and the passes that must know of them. The caller holds the lock
// state::kLockFile during a pass.
class Turns {
 public:
  // Ports that a write may unsettle are recorded in `unsettled`, which must outlive this.
  Turns(Kernel& kernel, Unsettled& unsettled, std::chrono::milliseconds patience = kMemberPatience)
      : kernel_(kernel), unsettled_(unsettled), patience_(patience) {}

  // Why disruptive writes of the port wait: the link of another member of its bond restarts. Empty: they do not.
  [[nodiscard]] std::string why_wait(const Port& port, Instant now);
  // The terms of a pass over the port: its writes are recorded, and while why_wait(), disruptive ones are pending.
  [[nodiscard]] WriteTerms terms_for(const Port& port, Terms terms, Instant now);
  // Call it at the start, and before passes while other programs may write: reads which of the ports they have left
  // without a link, and since when.
  void note_others(const std::vector<Port>& ports, Instant now);

 private:
  void restarted(const Port& port, Instant now);

  Kernel& kernel_;
  Unsettled& unsettled_;
  const std::chrono::milliseconds patience_;
  std::map<std::string, std::map<std::string, Instant>> restarts_{};  // bond -> netdev of the member -> the write
};

// One pass over a port, with the terms that terms_for() has made of the caller's.
using Complete = std::function<WriteTerms(Terms)>;
using WritePort = std::function<Changes(const Port&, const Complete&)>;

// Calls `write` (reconcile(), restore(), ...) for each port, and again for the ports of bonds while settings wait for
// those of another port of the bond: the members protect, the bond moves RoCE, the members release. Returns the changes
// of all ports, each setting once. A port whose disruptive writes wait (why_wait()) has another pass after a
// sleep; without `sleep` they stay pending, and the caller calls again.
Changes write_in_rounds(Turns& turns, const std::vector<Port>& ports, const WritePort& write, const Sleep& sleep);

// Terms::wanted_of: `want` for that one of `ports` which is the given port of the bond. The result refers to `ports`.
WantedOf wanted_among(const std::vector<Port>& ports, std::function<std::optional<Qos>(const Port&)> want);

// Terms::wanted_of: the policy of that one of `ports`. The result refers to both.
WantedOf wanted_by(const Policy& policy, const std::vector<Port>& ports);

// True if the port's netdev has a link now.
bool has_carrier(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
