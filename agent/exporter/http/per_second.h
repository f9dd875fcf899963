// SPDX-License-Identifier: Apache-2.0
// Limits of what clients may do in a second. No I/O, no clock.
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace fabric::exporter {

class PerSecond {
 public:
  using Clock = std::chrono::steady_clock;
  PerSecond(unsigned of_one, unsigned of_all) : of_one_(of_one), of_all_(of_all) {}

  // Counts one more of this client; false: it or all together have had theirs.
  bool take(const std::string& client, Clock::time_point now) {
    if (now - window_ >= std::chrono::seconds(1)) {
      window_ = now;
      taken_.clear();
      all_ = 0;
    }
    if (all_ >= of_all_ || taken_[client] >= of_one_) return false;
    ++taken_[client];
    ++all_;
    return true;
  }

 private:
  unsigned of_one_, of_all_, all_ = 0;
  std::map<std::string, unsigned> taken_;
  Clock::time_point window_{};
};

}  // namespace fabric::exporter
