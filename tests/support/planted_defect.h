// SPDX-License-Identifier: Apache-2.0
// Tables of defects to plant in the healthy node, and the only findings that they may cause.
#pragma once

#include "support/drained.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric::test {

// Each text is a list of parts, separated by |, which the text of the finding must contain.
struct Wanted {
  std::string id, subject;
  Status status;
  std::string observed{}, meaning{}, remedy{};
  std::string says{};  // parts of the finding's observed value or meaning
};
// A single finding, as most defects cause.
inline std::vector<Wanted> finds(const std::string& id, const std::string& subject, Status status,
                                 const std::string& observed = "", const std::string& meaning = "",
                                 const std::string& remedy = "") {
  return {{id, subject, status, observed, meaning, remedy}};
}

struct PlantedDefect {
  const char* name;
  std::function<void(Healthy&)> plant;
  std::vector<Wanted> wanted{};  // empty: not a defect
};
using PlantedDefects = std::vector<PlantedDefect>;

inline void expect_parts(const std::string& text, std::istringstream parts) {
  for (std::string part; std::getline(parts, part, '|');) EXPECT_TRUE(has(text, part)) << part << " in " << text;
}

// Expects exactly the wanted findings, with complete texts.
inline void expect_wanted(const Healthy& node, const PlantedDefect& planted) {
  const std::vector<Finding> found = complaints_of(node.view());
  ASSERT_EQ(found.size(), planted.wanted.size()) << describe(found);
  for (size_t i = 0; i < found.size(); ++i) {
    const Wanted& wanted = planted.wanted[i];
    const Finding& finding = found[i];
    EXPECT_EQ(finding.id, wanted.id);
    EXPECT_EQ(finding.subject, wanted.subject);
    EXPECT_EQ(finding.status, wanted.status) << describe(finding);
    expect_parts(finding.observed, std::istringstream(wanted.observed));
    expect_parts(finding.meaning, std::istringstream(wanted.meaning));
    expect_parts(finding.remedy, std::istringstream(wanted.remedy));
    expect_parts(finding.observed + "\n" + finding.meaning, std::istringstream(wanted.says));
    for (const std::string& sentence : {finding.expected, finding.meaning, finding.remedy})
      EXPECT_NE(sentence, "") << describe(finding);
    EXPECT_EQ(finding.meaning.back(), '.') << finding.meaning;
    EXPECT_EQ(undrained_command(finding.remedy), "") << finding.id << ": " << finding.remedy;
    EXPECT_EQ(incomplete_command(finding.remedy), "") << finding.id << ": " << finding.remedy;
  }
}

// The same defect on a machine of which less is known: whatever is found there, its commands can be run.
inline void expect_commands_without_names(Healthy& node) {
  for (Port& port : node.now.ports) {
    port.netdev.clear();
    port.pci.clear();
    port.kernel_driver.clear();
    port.firmware.clear();
    port.board_id.clear();
  }
  for (Nic& nic : node.now.topology.nics) nic.netdevs.clear();
  for (const Finding& finding : complaints_of(node.view()))
    EXPECT_EQ(incomplete_command(finding.remedy), "") << finding.id << ": " << finding.remedy;
}

// Plants each defect in a new healthy node, calls `then` on the node, and expects the wanted findings.
inline void expect_each(
    const PlantedDefects& all, void (*then)(Healthy&) = [](Healthy&) {}) {
  for (const PlantedDefect& planted : all) {
    SCOPED_TRACE(planted.name);
    Healthy node;
    planted.plant(node);
    then(node);
    expect_wanted(node, planted);
    expect_commands_without_names(node);
  }
}

}  // namespace fabric::test
