// SPDX-License-Identifier: Apache-2.0
// A simulated port for tests of reconcile(), and functions that check the results.
#pragma once

#include "enforce/restore.h"
#include "support/sim_files.h"
#include "support/sim_nic.h"
#include "support/test.h"
#include "support/turns.h"

namespace fabric::test {

inline constexpr Eight kIdentity{0, 1, 2, 3, 4, 5, 6, 7};

// All traffic classes use ETS.
inline Ets shares(const Eight& prio_tc, const Eight& bw) {
  Ets out{.prio_tc = prio_tc, .bw = bw};
  out.tsa.fill(Tsa::ets);
  return out;
}

// A RoCE profile that every personality supports: DSCP 26 on lossless priority 3, CNPs on 6.
inline Qos profile(Personality personality) {
  Ets ets{.prio_tc = kIdentity};
  ets.tsa[0] = ets.tsa[3] = Tsa::ets;
  ets.bw[0] = ets.bw[3] = 50;
  return {.dcbx = Dcbx::host,
          .pause = Pause{},
          .mtu = 4200,
          .trust = Trust::dscp,
          .dscp_map = DscpMap{{26, 3}, {48, 6}},
          .ets = ets,
          .pfc = PrioSet{0x08},
          .cable_length = personality == Personality::mlx5 ? std::optional<uint32_t>(30) : std::nullopt};
}

inline const qos::UseCheck kIdle = [](const Port&) { return false; };
inline const qos::UseCheck kInUse = [](const Port&) { return true; };
// Terms that do not delay a disruptive write.
inline qos::Terms free_terms() {
  return {.in_use = kIdle, .wanted_of = qos::WantedOf::same_policy(), .window = qos::Maintenance::open};
}
// Discards the original settings.
inline const qos::SaveOriginal kSaveNowhere = [](const Port&, const Qos&) { return Result<void>(); };

// Passes of a port that is alone: no other member of a bond waits for it.
inline Changes reconcile(Kernel& kernel, const Port& port, const Qos& want, const qos::Terms& terms,
                         const qos::SaveOriginal& save) {
  return qos::reconcile(kernel, port, want, FreeTurns(kernel).terms_for(port, terms, {}), save).changes;
}
inline Changes write_back(Kernel& kernel, const Port& port, const Qos& saved, const qos::Terms& terms) {
  return qos::write_back(kernel, port, saved, FreeTurns(kernel).terms_for(port, terms, {})).changes;
}
// `all`: the ports with which a class of traffic moves.
inline Changes restore(Kernel& kernel, const Port& port, const std::vector<Port>& all, state::Originals& originals,
                       qos::Terms terms) {
  terms.wanted_of = qos::saved_settings(all, originals);
  return qos::restore(kernel, port, originals, FreeTurns(kernel).terms_for(port, terms, {})).changes;
}

struct Bed {
  explicit Bed(Personality personality, const std::string& root_directory = "/")
      : nic(sim.add_nic("eth0", personality)), kernel(sim.kernel(root_directory)), port(nic.port()) {}

  Changes apply(const Qos& want) {
    qos::Reconciled done = qos::reconcile(kernel, port, want, FreeTurns(kernel).terms_for(port, terms, {}), save);
    have = std::move(done.have);
    return std::move(done.changes);
  }
  Changes plan(const Qos& want) {
    qos::Reconciled done = qos::plan(kernel, port, want, terms);
    have = std::move(done.have);
    return std::move(done.changes);
  }
  Qos read(const Keys& keys = Keys().set()) {
    auto now = qos::read(kernel, port, keys);
    EXPECT_TRUE(now.ok()) << now.error().text();
    if (!now) return {};
    notes = now->notes;
    return now->values;
  }
  // Applies the settings, and then brings up the link.
  Changes settle_to(const Qos& want) {
    auto changes = apply(want);
    nic.link_up();
    return changes;
  }

  SimKernel sim;
  SimNic& nic;
  Kernel kernel;
  Port port;
  qos::Terms terms = free_terms();
  qos::SaveOriginal save = kSaveNowhere;
  Notes notes;              // from the last read()
  std::optional<Qos> have;  // from the last apply() or plan()
};

// A tree of files with simulated behavior.
struct TreeWithFiles {
  Tree tree;
  std::shared_ptr<SimFiles> files = std::make_shared<SimFiles>(tree);
};

struct FileBed : TreeWithFiles, Bed {
  // debugfs and configfs look mounted, because they are not empty.
  explicit FileBed(Personality personality) : Bed(personality, tree.path()) {
    tree.folder("sys/kernel/debug/clk").folder("sys/kernel/config/usb_gadget");
    tree.file("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
    set_speed(nic.speed);
    tree.file("sys/class/net/eth0/ifindex", std::to_string(nic.ifindex) + "\n");
    kernel.root.set_behind(files);
    files->vanished = [this] { nic.present = false; };
  }

  // Sets the speed of the link; it is visible only with a carrier.
  void set_speed(uint32_t mbps) {
    nic.speed = mbps;
    tree.file("sys/class/net/eth0/speed", std::to_string(mbps) + "\n");
  }
};

// A test of one driver.
template <Personality which>
struct On : testing::Test {
  Bed bed{which};
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

// The setting has this outcome, and its detail contains `detail`.
inline testing::AssertionResult has_outcome(const Changes& changes, std::string_view key, Outcome outcome,
                                            std::string_view detail = {}) {
  const Change& change = of(changes, key);
  return testing::AssertionResult(change.outcome == outcome && has(change.detail, detail))
         << key << " is wanted to be " << to_text(outcome) << ": " << detail << "\n"
         << text(changes);
}

inline std::set<std::string> keys_with(const Changes& changes, Outcome outcome) {
  std::set<std::string> out;
  for (const Change& change : changes)
    if (change.outcome == outcome) out.insert(change.key());
  return out;
}

// Accepts unverified instead of in_sync: other tests cover readings that do not prove the value.
inline void expect_all(const Changes& changes, std::set<Outcome> allowed) {
  if (allowed.contains(Outcome::in_sync)) allowed.insert(Outcome::unverified);
  for (const Change& change : changes) EXPECT_TRUE(allowed.contains(change.outcome)) << text(changes);
}

// Expects that another pass finds the port in sync and writes nothing.
inline void expect_settled(Bed& bed, const Qos& want) {
  const unsigned writes = bed.nic.writes();
  expect_all(bed.apply(want), {Outcome::in_sync});
  EXPECT_EQ(bed.nic.writes(), writes);
}

// The settings that were written, whether their reading proves the value or not.
inline std::set<std::string> written(const Changes& changes) {
  std::set<std::string> out;
  for (const Change& change : changes)
    if (was_written(change)) out.insert(change.key());
  return out;
}

inline std::string personality_name(const testing::TestParamInfo<Personality>& param) { return name_of(param.param); }

}  // namespace fabric::test
