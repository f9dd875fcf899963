// SPDX-License-Identifier: Apache-2.0
// Health over time: evaluates the rules every 10 seconds, independently of scrapes, and keeps its state over a restart.
#pragma once

#include "exporter/collect/collector.h"
#include "judge/engine.h"

namespace fabric::exporter {

inline constexpr std::chrono::seconds kHealthInterval{10};

// The same moment on two clocks.
struct Moment {
  double boot = 0;   // seconds since boot, including suspend
  int64_t wall = 0;  // seconds since 1970
};
Moment moment_now();

class HealthKeeper {
 public:
  // Acknowledgements are read below `root`. The state is kept over a restart in `directory`, expired acknowledgements
  // over a reboot in `lasting`; empty: not kept.
  HealthKeeper(std::string root, std::string directory, std::string lasting = {})
      : root_(std::move(root)), directory_(std::move(directory)), lasting_(std::move(lasting)) {
    memory_.health.states_only = true;
  }

  // Loads the state of the exporter before this one. After an Error it starts empty.
  Result<void> load();
  // Evaluates the readings made since the last call. An Error: the state could not be saved, or the acknowledgements
  // not be read; each reported once.
  Result<void> update(const Snapshot& snapshot, const Policy* policy, Moment now);

  [[nodiscard]] const Health& health() const { return memory_.health; }
  // In force at `wall`.
  [[nodiscard]] std::vector<Ack> acks(int64_t wall) const { return active_acks(acks_, memory_.acks, wall); }

 private:
  struct Reading {
    Clock::time_point taken;
    std::vector<Port> ports;
  };

  void advance(const Snapshot& snapshot, const Policy* policy, Moment now);
  Result<void> save_spent();

  std::string root_, directory_, lasting_;
  HealthMemory memory_;
  std::vector<Ack> acks_;
  std::vector<AckSeen> spent_;             // as saved
  std::map<std::string, Reading> before_;  // by device
  Platform platform_;                      // of the last update
  Clock::time_point taken_{};
  std::string reported_;  // the last error: it is reported once
};

}  // namespace fabric::exporter
