// SPDX-License-Identifier: Apache-2.0
#include "enforce/rounds.h"

#include <algorithm>
#include <thread>

#include "base/find.h"
#include "kernel/netlink/rtnl.h"

namespace fabric::qos {
namespace {

// Replaces the changes of the same settings by those of a later pass. What the first one has written stays written.
void replace(Changes& all, const Changes& later) {
  for (const Change& change : later) {
    Change* known = find_where(all, [&](const Change& each) {
      return each.port == change.port && each.sysctl.empty() && each.setting == change.setting;
    });
    if (known == nullptr || (was_written(*known) && is_done(change.outcome))) continue;
    const std::string from = std::exchange(known->from, {});
    *known = change;
    known->from = from;
  }
}

}  // namespace

void sleep_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

bool is_restarted(const Changes& changes) {
  return std::ranges::any_of(changes, [](const Change& each) { return was_written(each) && each.disruptive; });
}

bool has_carrier(Kernel& kernel, const Port& port) {
  if (!kernel.route) return false;
  const auto link = rtnl::link(*kernel.route, port.netdev);
  return link && link->carrier.value_or(false);
}

Changes write_in_rounds(Kernel& kernel, std::vector<Port>& ports, std::chrono::milliseconds patience,
                        const std::function<Changes(Port&)>& write, const Sleep& sleep) {
  // The member of each bond that was written disruptively last.
  std::map<std::string, const Port*> restarting;
  const auto wait_for_link = [&](const std::string& bond) {
    constexpr std::chrono::milliseconds kPoll{50};
    const auto member = restarting.find(bond);
    if (member == restarting.end()) return;
    for (std::chrono::milliseconds slept{}; slept < patience; slept += kPoll) {
      if (slept >= kMemberPause && has_carrier(kernel, *member->second)) break;
      sleep(kPoll);
    }
    restarting.erase(member);
  };
  const auto write_one = [&](Port& port) {
    if (!port.is_member()) return write(port);
    wait_for_link(port.bond);
    const bool had_link = has_carrier(kernel, port);
    Changes changes = write(port);
    if (had_link && is_restarted(changes)) restarting[port.bond] = &port;
    return changes;
  };

  Changes all;
  for (Port& port : ports) {
    const Changes changes = write_one(port);
    all.insert(all.end(), changes.begin(), changes.end());
  }
  constexpr int kMoreRounds = 2;
  for (int round = 0; round < kMoreRounds; ++round)
    for (Port& port : ports)
      if (std::ranges::any_of(all, [&](const Change& change) {
            return change.port == port.id() && change.wait == WaitsFor::other_setting && !port.bond.empty();
          }))
        replace(all, write_one(port));
  return all;
}

}  // namespace fabric::qos
