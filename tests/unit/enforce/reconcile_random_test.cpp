// SPDX-License-Identifier: Apache-2.0
// Random wishes from random states: fixed seeds, the same cases each time.
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

// A driver and how many cases.
class AnyDcb : public testing::TestWithParam<std::tuple<Personality, int>> {};
const auto kDrivers = testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full);
const auto kDriverName = [](const auto& each) { return name_of(std::get<0>(each.param)); };
INSTANTIATE_TEST_SUITE_P(Drivers, AnyDcb, testing::Combine(kDrivers, testing::Values(50)), kDriverName);
INSTANTIATE_TEST_SUITE_P(DriversHarder, AnyDcb, testing::Combine(kDrivers, testing::Values(400)), kDriverName);

// Any state, any wish: it ends in sync or says honestly why not, and what it said stays true in a second pass that
// writes nothing but what was refused or ignored before (here nothing is).
Qos random_qos(std::mt19937& random, Personality personality) {
  auto pick = [&](unsigned count) { return static_cast<unsigned>(random() % count); };
  Qos out;
  if (pick(2)) out.dcbx = Dcbx::host;
  if (pick(2)) out.pause = Pause{pick(4) == 0, pick(4) == 0};
  if (pick(2)) out.mtu = 1500 + pick(8) * 1000;
  if (pick(3)) {
    out.dscp_map.emplace();
    for (unsigned i = pick(4); i > 0; --i)
      (*out.dscp_map)[static_cast<uint8_t>(pick(64))] = static_cast<uint8_t>(pick(8));
  }
  if (pick(2)) out.trust = pick(2) ? Trust::dscp : Trust::pcp;
  if (pick(2)) {
    Ets ets;
    if (pick(2) || personality == Personality::ice) ets.prio_tc = kIdentity;
    else
      for (auto& tc : ets.prio_tc) tc = static_cast<uint8_t>(pick(3));
    ets.tsa[0] = ets.tsa[1] = Tsa::ets;
    ets.bw[0] = static_cast<uint8_t>(1 + pick(98));
    ets.bw[1] = static_cast<uint8_t>(100 - ets.bw[0]);
    out.ets = ets;
  }
  if (pick(2)) out.pfc = PrioSet{static_cast<uint8_t>(pick(4) == 0 ? 0 : 1u << pick(8))};
  if (pick(2)) out.cable_length = 1 + pick(999);
  // Global pause beside PFC is a wish that ice refuses; config/ warns of it.
  if (out.pause && (out.pause->rx || out.pause->tx)) out.pfc = PrioSet{};
  return out;
}

TEST_P(AnyDcb, AnyWishFromAnyStateEndsHonestly) {
  const auto [driver, count] = GetParam();
  std::mt19937 random(20'240 + static_cast<unsigned>(driver));
  for (int i = 0; i < count; ++i) {
    Bed bed(driver);
    bed.settle_to(random_qos(random, driver));
    const Qos want = random_qos(random, driver);
    auto plan = bed.plan(want);
    auto first = bed.settle_to(want);
    SCOPED_TRACE("case " + std::to_string(i) + "\n" + text(first));
    expect_all(first, {Outcome::applied, Outcome::in_sync, Outcome::unsupported, Outcome::refused});
    // A plan cannot know what will be refused.
    auto tried = written(first);
    tried.merge(keys_with(first, Outcome::refused));
    auto planned = keys_with(plan, Outcome::differs);
    for (const Change& change : plan)
      if (change.outcome == Outcome::unverified && change.from == "-") planned.insert(change.key());
    // ice shows pause once PFC is off: a plan cannot know that it will have to be written.
    if (keys_with(plan, Outcome::unverified).contains("pause")) tried.erase("pause");
    EXPECT_EQ(planned, tried) << text(plan);
    for (const Change& change : first) {
      const Setting& setting = setting_of(change.setting);
      const Qos expected = driver_for(bed.port.kernel_driver).expected(want, {});
      EXPECT_EQ(same_value(setting, expected, bed.port.qos), is_done(change.outcome)) << change.key();
    }
    const auto writes = bed.nic.writes();
    auto second = bed.settle_to(want);
    EXPECT_TRUE(written(second).empty()) << text(second);
    if (keys_with(first, Outcome::refused).empty()) {
      EXPECT_EQ(bed.nic.writes(), writes) << text(second);
    }
    if (testing::Test::HasFailure()) break;
  }
}

TEST_P(AnyDcb, AnyReadingCanBeRestored) {
  const auto [driver, count] = GetParam();
  std::mt19937 random(7'001 + static_cast<unsigned>(driver));
  for (int i = 0; i < (count + 1) / 2; ++i) {
    Bed bed(driver);
    bed.settle_to(random_qos(random, driver));
    const Qos original = bed.read();
    bed.settle_to(profile(driver));
    auto changes = bed.settle_to(original);
    SCOPED_TRACE("case " + std::to_string(i) + "\n" + text(changes));
    expect_all(changes, {Outcome::applied, Outcome::in_sync});
    EXPECT_EQ(bed.read(), driver_for(bed.port.kernel_driver).expected(original, {}));
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace fabric::test
