// SPDX-License-Identifier: Apache-2.0
// The units of systemd/, as far as their files tell.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "kernel/host/unit_file.h"

namespace fabric {
namespace {

std::vector<unit_file::Assignment> unit(const std::string& name) {
  std::ifstream in(std::string(FABRIC_SOURCE_DIR "/systemd/") + name);
  EXPECT_TRUE(in.good()) << name;
  return unit_file::parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

// Also= is followed by `systemctl disable` as well (systemd.unit(5)).
TEST(Units, WhoSwitchesTheAgentOffKeepsTheMetrics) {
  for (const auto& each : unit("fabric-agent.service"))
    EXPECT_FALSE(each.key == "Also" && each.value.find("fabric-exporter") != std::string::npos) << each.value;
}

}  // namespace
}  // namespace fabric
