// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/view.h"

namespace fabric {

// A number that a check or diagnosis rule compares with, and that a site may judge otherwise: a row
// `extern const Threshold kName(` beside the function, named by the row of the check or rule. CMake lists these rows.
// Numbers of standards are plain constants.
struct Threshold {
  std::string_view key;  // of [thresholds] in the configuration: "pause_share"
  double value = 0;
  std::string_view unit, source;  // who published the value; "ours": unpublished
  double least = 0, most = 1;     // what the configuration accepts
  constexpr Threshold(std::string_view its_key, double its_value, std::string_view its_unit,
                      std::string_view its_source, double its_least, double its_most)
      : key(its_key), value(its_value), unit(its_unit), source(its_source), least(its_least), most(its_most) {}
};

// The configured value, or the row's.
inline double limit_of(const View& view, const Threshold& threshold) {
  if (view.policy == nullptr) return threshold.value;
  const auto given = view.policy->thresholds.find(threshold.key);
  return given == view.policy->thresholds.end() ? threshold.value : given->second;
}

}  // namespace fabric
