// SPDX-License-Identifier: Apache-2.0
// Health over time: takes in each reading at a pace of its own, whoever scrapes, and keeps it over a restart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "checks/check.h"
#include "exporter/collect/collector.h"
#include "model/acks.h"
#include "model/policy.h"

namespace fabric::exporter {

inline constexpr std::chrono::seconds kHealthPace{10};

// Two clocks of one moment.
struct Moment {
  double boot = 0;   // seconds since boot, suspended or not
  int64_t wall = 0;  // seconds since 1970
};
Moment moment_now();

class HealthKeeper {
 public:
  // `root`: where acknowledgements are read. `directory`: where the states are kept over a restart, `lasting`: over a
  // boot, which acknowledgements are over; empty: nowhere.
  HealthKeeper(std::string root, std::string directory, std::string lasting = {})
      : root_(std::move(root)), directory_(std::move(directory)), lasting_(std::move(lasting)) {
    memory_.health.alone = true;
  }

  // What an exporter before this one has kept. An Error says why it starts anew.
  Result<void> load();
  // Takes in what has been read since the last call. Devices that were not read since say nothing. An Error says what
  // could not be kept, or that the acknowledgements cannot be read; each once.
  Result<void> take(const Snapshot& snapshot, const Policy* policy, Moment now);

  [[nodiscard]] const Health& health() const { return memory_.health; }
  // That hold at `wall`.
  [[nodiscard]] std::vector<Ack> acks(int64_t wall) const { return standing(acks_, memory_.acks, wall); }

 private:
  struct Reading {
    Clock::time_point taken;
    std::vector<Port> ports;
  };

  void advance(const Snapshot& snapshot, const Policy* policy, Moment now);
  Result<void> read_acks();
  Result<void> save();
  Result<void> load_states();
  Result<void> load_spent();
  Result<void> save_spent();

  std::string root_, directory_, lasting_;
  HealthMemory memory_;
  std::vector<Ack> acks_;
  std::vector<AckSeen> spent_;             // as they stand in the file
  std::map<std::string, Reading> before_;  // by device
  Platform platform_;                      // at that time
  Clock::time_point taken_{};
  std::string said_;  // the last error: it is told once
};

}  // namespace fabric::exporter
