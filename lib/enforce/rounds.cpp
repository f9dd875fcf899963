// SPDX-License-Identifier: Apache-2.0
#include "enforce/rounds.h"

#include <algorithm>
#include <thread>

#include "base/find.h"
#include "kernel/netlink/rtnl.h"

namespace fabric::qos {
namespace {

using Clock = std::chrono::steady_clock;

// Replaces the changes of the same settings by those of a later pass. A setting that the first pass has written stays
// written.
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

// Whether a write may change the values that the driver computes from the link: Driver::settle.
bool may_unsettle(SettingId setting, bool disruptive) {
  return disruptive || setting == SettingId::pfc || setting == SettingId::mtu;
}

}  // namespace

void sleep_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

bool has_carrier(Kernel& kernel, const Port& port) {
  if (!kernel.route) return false;
  const auto link = rtnl::link(*kernel.route, port.netdev);
  return link && link->carrier.value_or(false);
}

std::string Turns::why_wait(const Port& port, Instant now) {
  const std::string bond = bond_above(kernel_.root, port);
  if (bond.empty()) return {};
  auto& members = restarts_[bond];
  std::string why;
  std::erase_if(members, [&](const auto& each) {
    const auto& [netdev, since] = each;
    if (netdev == port.netdev) return false;
    Port other;
    other.netdev = netdev;
    const auto passed = now - since;
    if (passed >= patience_ || (passed >= kMemberPause && has_carrier(kernel_, other))) return true;
    why = "the link of " + netdev + ", of the same bond, restarts";
    return false;
  });
  return why;
}

WriteTerms Turns::terms_for(const Port& port, Terms terms, Instant now) {
  if (std::string why = why_wait(port, now); !why.empty() && terms.disruptive != Disruptive::never) {
    terms.disruptive = Disruptive::idle;
    terms.in_use = [why = std::move(why)](const Port&) { return Use{why}; };
  }
  WriteTerms::OnWrite record = [this, now, begun = Clock::now(), had_link = has_carrier(kernel_, port)](
                                   const Port& written, SettingId setting, bool disruptive) {
    std::optional<Instant> restart;
    if (disruptive && had_link) restart = now + (Clock::now() - begun);  // a pass takes seconds with slow firmware
    if (may_unsettle(setting, disruptive)) unsettled_.add(kernel_.root, written, restart);
    if (restart) restarted(written, *restart);
  };
  return {std::move(terms), std::move(record)};
}

void Turns::note_others(const std::vector<Port>& ports, Instant now) {
  unsettled_.load();
  for (const Port& port : ports) {
    if (bond_above(kernel_.root, port).empty()) continue;
    if (const auto restart = unsettled_.restart_of(port)) restarted(port, std::min(*restart, now));
  }
}

void Turns::restarted(const Port& port, Instant now) {
  if (const std::string bond = bond_above(kernel_.root, port); !bond.empty()) restarts_[bond][port.netdev] = now;
}

Changes write_in_rounds(Turns& turns, const std::vector<Port>& ports, const WritePort& write, const Sleep& sleep) {
  const auto write_one = [&](const Port& port) {
    constexpr std::chrono::milliseconds kPoll{50};
    Instant now = Clock::now();
    const auto pass = [&] {
      return write(port, [&](Terms terms) { return turns.terms_for(port, std::move(terms), now); });
    };
    Changes out = pass();
    if (!sleep || !contains(out, WaitsFor::idle_port, &Change::wait) || turns.why_wait(port, now).empty()) return out;
    for (; !turns.why_wait(port, now).empty(); now += kPoll) sleep(kPoll);
    replace(out, pass());
    return out;
  };
  Changes all;
  for (const Port& port : ports) {
    const Changes changes = write_one(port);
    all.insert(all.end(), changes.begin(), changes.end());
  }
  constexpr int kMoreRounds = 2;
  for (int round = 0; round < kMoreRounds; ++round)
    for (const Port& port : ports)
      if (std::ranges::any_of(all, [&](const Change& change) {
            return change.port == port.id() && change.wait == WaitsFor::other_setting && !port.bond.empty();
          }))
        replace(all, write_one(port));
  return all;
}

WantedOf wanted_among(const std::vector<Port>& ports, std::function<std::optional<Qos>(const Port&)> want) {
  return [&ports, want = std::move(want)](const Port& other) -> std::optional<Qos> {
    const Port* found = find_where(ports, [&](const Port& each) {
      return each.rdma == other.rdma && each.number == other.number && each.netdev == other.netdev;
    });
    if (found == nullptr) return std::nullopt;
    return want(*found);
  };
}

WantedOf wanted_by(const Policy& policy, const std::vector<Port>& ports) {
  return wanted_among(ports, [&policy](const Port& port) -> std::optional<Qos> {
    const PortPolicy* entry = policy_for(policy, port);
    if (entry == nullptr) return std::nullopt;
    return entry->want;
  });
}

}  // namespace fabric::qos
