// SPDX-License-Identifier: Apache-2.0
// A simulated port under reconcile(), and how its tests look at what came out.
#pragma once

#include "settings/reconcile.h"
#include "support/sim_nic.h"
#include "support/test.h"

namespace fabric::test {

inline constexpr Eight kIdentity{0, 1, 2, 3, 4, 5, 6, 7};

// A RoCE profile that every personality can obey: DSCP 26 on priority 3 without loss, CNP on 6.
inline Qos profile(Personality personality) {
  Qos want;
  want.dcbx = Dcbx::host;
  want.pause = Pause{};
  want.mtu = 4200;
  want.trust = Trust::dscp;
  want.dscp_map = DscpMap{{26, 3}, {48, 6}};
  Ets ets;
  ets.prio_tc = kIdentity;
  ets.tsa.fill(Tsa::strict);
  ets.tsa[0] = ets.tsa[3] = Tsa::ets;
  ets.bw[0] = ets.bw[3] = 50;
  want.ets = ets;
  want.pfc = PrioSet{0x08};
  if (personality == Personality::mlx5) want.cable_length = 30;
  return want;
}

struct Bed {
  explicit Bed(Personality personality)
      : nic(sim.add_nic("eth0", personality)), kernel(sim.kernel()), port(nic.port()) {}

  Changes apply(const Qos& want) { return qos::reconcile(kernel, port, want, options); }
  Changes plan(const Qos& want) {
    qos::Options dry = options;
    dry.dry_run = true;
    return qos::reconcile(kernel, port, want, dry);
  }
  Qos read(const Keys& keys = Keys().set()) {
    auto now = qos::read(kernel, port, keys);
    EXPECT_TRUE(now.ok()) << now.error().text();
    return now.ok() ? *now : Qos{};
  }
  // Applies, and brings up the link as the peer's side would.
  Changes settle_to(const Qos& want) {
    auto changes = apply(want);
    nic.link_up();
    return changes;
  }

  SimKernel sim;
  SimNic& nic;
  Kernel kernel;
  Port port;
  qos::Options options;
};

inline const Change& of(const Changes& changes, std::string_view key) {
  for (const Change& change : changes)
    if (change.key() == key) return change;
  static const Change none;
  ADD_FAILURE() << "no change for " << key;
  return none;
}

inline std::string text(const Changes& changes) {
  std::string out;
  for (const Change& c : changes)
    out += c.key() + " " + std::string(to_text(c.outcome)) + " (" + c.from + " -> " + c.to + ") " + c.detail + "\n";
  return out;
}

inline std::set<std::string> keys_with(const Changes& changes, Outcome outcome) {
  std::set<std::string> out;
  for (const Change& change : changes)
    if (change.outcome == outcome) out.insert(change.key());
  return out;
}

// unverified passes for in_sync: a reading that proves nothing has tests of its own.
inline void expect_all(const Changes& changes, std::set<Outcome> allowed) {
  if (allowed.contains(Outcome::in_sync)) allowed.insert(Outcome::unverified);
  for (const Change& change : changes) EXPECT_TRUE(allowed.contains(change.outcome)) << text(changes);
}

// The settings that were written, whether their reading proves it or not.
inline std::set<std::string> written(const Changes& changes) {
  std::set<std::string> out;
  for (const Change& change : changes)
    if (was_written(change)) out.insert(change.key());
  return out;
}

inline std::string personality_name(const testing::TestParamInfo<Personality>& param) {
  switch (param.param) {
    case Personality::mlx5: return "mlx5";
    case Personality::bnxt: return "bnxt";
    case Personality::ice: return "ice";
    case Personality::nodcb: return "nodcb";
    case Personality::full: return "full";
    case Personality::i40e: return "i40e";
    case Personality::qede: return "qede";
  }
  return "";
}

}  // namespace fabric::test
