// SPDX-License-Identifier: Apache-2.0
// Families as text, in the Prometheus exposition format 0.0.4.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "metrics/family.h"

namespace fabric {

// Sample for sample what prometheus-cpp's TextSerializer says, which prints with 16 digits; here a value is the
// shortest text that reads back as the same double, so integers up to 2^53 stand in full.
std::string to_exposition(const std::vector<Family>& families);

// The text of a set that is begun anew for each page. Of a page with the series of the one before only values that are
// others are printed; what stands between them is copied.
class PageText {
 public:
  using Text = std::shared_ptr<const std::string>;

  // Equal to to_exposition(families.families()). Always of the same set.
  Text of(FamilySet& families);

 private:
  // Where a value stands in last_.
  struct Spot {
    double value = 0;
    uint32_t at = 0, size = 0;
  };
  std::string renewed(const std::vector<Family>& families);

  Text last_;
  uint64_t shape_ = 0;
  std::vector<Spot> spots_;  // in the order of the text
};

}  // namespace fabric
