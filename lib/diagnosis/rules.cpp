// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/rules.h"

namespace fabric {
namespace {

constexpr Rule kNotEnoughEvidence{.id = "not-enough-evidence",
                                  .status = Status::unknown,
                                  .conclusion = "The evidence does not identify a cause.",
                                  .signature = "Symptoms that no rule explains with certain evidence.",
                                  .excludes = "The diagnosis lists what to collect, and the rules that came close."};

}  // namespace

// The most specific first.
const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> out;
    for (const auto family : {link_rules(), cable_rules(), setting_rules(), pcie_rules(), host_rules(),
                              congestion_rules(), path_rules(), far_end_rules(), loss_rules()})
      out.insert(out.end(), family.begin(), family.end());
    return out;
  }();
  return all;
}

const Rule* find_rule(std::string_view id) {
  if (id == kNotEnoughEvidence.id) return &kNotEnoughEvidence;
  return find_where(rules(), [&](const Rule& rule) { return rule.id == id; });
}

}  // namespace fabric
