// SPDX-License-Identifier: Apache-2.0
// Tables of what is planted in the healthy node, and the only findings that it may cause.
#pragma once

#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric::test {

// Texts are parts of what the finding says, with | between them.
struct Wanted {
  std::string id, subject;
  Status status;
  std::string observed{}, meaning{}, remedy{};
  std::string says{};  // parts of what is observed or of its meaning
};
// One finding, as most defects cause.
inline std::vector<Wanted> finds(const std::string& id, const std::string& subject, Status status,
                                 const std::string& observed = "", const std::string& meaning = "",
                                 const std::string& remedy = "") {
  return {{id, subject, status, observed, meaning, remedy}};
}
inline std::vector<Wanted> saying(const std::string& id, const std::string& subject, Status status,
                                  const std::string& says) {
  return {{.id = id, .subject = subject, .status = status, .says = says}};
}

struct PlantedDefect {
  const char* name;
  std::function<void(Healthy&)> plant;
  std::vector<Wanted> wanted{};  // none: it is no defect
};
using PlantedDefects = std::vector<PlantedDefect>;

inline void expect_parts(const std::string& text, std::istringstream parts) {
  for (std::string part; std::getline(parts, part, '|');) EXPECT_TRUE(has(text, part)) << part << " in " << text;
}

// The node's findings are the wanted ones, each of them whole.
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
  }
}

// Each in a healthy node of its own; `then` is done to the node afterwards.
inline void expect_each(
    const PlantedDefects& all, void (*then)(Healthy&) = [](Healthy&) {}) {
  for (const PlantedDefect& planted : all) {
    SCOPED_TRACE(planted.name);
    Healthy node;
    planted.plant(node);
    then(node);
    expect_wanted(node, planted);
  }
}

}  // namespace fabric::test
