// SPDX-License-Identifier: Apache-2.0
// The table of settings: complete, and known wherever an operator meets it.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "driver/driver.h"
#include "model/qos.h"

namespace fabric {
namespace {

// A member of Qos without a row here does not compile, and one without a row in kSettings is not found.
TEST(Setting, EveryMemberOfQosHasItsRow) {
  Qos qos;
  auto& [dcbx, pause, mtu, trust, dscp_map, ets, pfc, cable_length] = qos;
  const std::set<const void*> members{&dcbx, &pause, &mtu, &trust, &dscp_map, &ets, &pfc, &cable_length};
  std::set<const void*> rows;
  for (const Setting& setting : kSettings)
    visit_member(setting, qos, [&](auto& value) {
      rows.insert(&value);
      return 0;
    });
  EXPECT_EQ(rows, members);
  EXPECT_EQ(kSettings.size(), members.size()) << "no member twice";
}

TEST(Setting, KeysAreUniqueAndFound) {
  std::set<std::string_view> keys;
  for (size_t i = 0; i < kSettingCount; ++i) {
    keys.insert(kSettings[i].key);
    EXPECT_EQ(setting_index(kSettings[i].key), i);
    EXPECT_FALSE(kSettings[i].help.empty());
  }
  EXPECT_EQ(keys.size(), kSettingCount);
  EXPECT_FALSE(setting_index("nosuch"));
}

TEST(Setting, AbsentIsNotZero) {
  Qos none, zero;
  zero.pfc = PrioSet{};
  const Setting& pfc = kSettings[*setting_index("pfc")];
  EXPECT_FALSE(has_value(pfc, none));
  EXPECT_TRUE(has_value(pfc, zero));
  EXPECT_EQ(value_text(pfc, none), "-");
  EXPECT_EQ(value_text(pfc, zero), "none");
  EXPECT_EQ(value_json(pfc, none).dump(true), "null");
  EXPECT_EQ(value_json(pfc, zero).dump(true), "[]");
  EXPECT_FALSE(same_value(pfc, none, zero));
  EXPECT_FALSE(same_value(pfc, none, none)) << "what is not known is not equal";
  EXPECT_TRUE(same_value(pfc, zero, zero));
}

TEST(Setting, CopiesAlsoWhatIsAbsent) {
  Qos from, to;
  from.mtu = 4200;
  to.pfc = PrioSet{8};
  for (const Setting& setting : kSettings) copy_value(setting, from, to);
  EXPECT_EQ(from, to);
}

TEST(Setting, EveryDriverAnswersForEveryKey) {
  for (const Driver* driver : drivers()) {
    SCOPED_TRACE(driver->name);
    std::set<std::string_view> ordered(driver->order.begin(), driver->order.end());
    for (const Setting& setting : kSettings) {
      EXPECT_TRUE(ordered.contains(setting.key)) << setting.key << " is never written";
      if (op_of(*driver, setting.key).write != nullptr) continue;
      EXPECT_FALSE(driver->remedy(setting, Qos{}, "eth0", 0).empty())
          << setting.key << ": unsupported without a reason";
    }
    EXPECT_EQ(ordered.size(), kSettingCount);
  }
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(Setting, TheSampleConfigurationNamesEachKey) {
  const std::string sample = read_file(FABRIC_SOURCE_DIR "/etc/fabric-agent.toml");
  if (sample.empty()) GTEST_SKIP() << "no sample configuration beside the source";
  for (const Setting& setting : kSettings) EXPECT_NE(sample.find(setting.key), std::string::npos) << setting.key;
}

}  // namespace
}  // namespace fabric
