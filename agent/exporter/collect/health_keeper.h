// SPDX-License-Identifier: Apache-2.0
// Health over time: evaluates the rules every 10 seconds, independently of scrapes, and keeps its state across a
// restart.
#pragma once

#include <functional>

#include "exporter/collect/collector.h"
#include "judge/engine.h"

namespace fabric::exporter {

inline constexpr std::chrono::seconds kHealthInterval{10};

// The same moment on two clocks.
struct Moment {
  double boot = 0;   // seconds since boot, including suspend
  int64_t wall = 0;  // seconds since 1970
};

class HealthKeeper {
 public:
  // Reads acknowledgements below `root`. Keeps the state across a restart in `directory`, and expired acknowledgements
  // across a reboot in `lasting`; empty: not kept.
  HealthKeeper(std::string root, std::string directory, std::string lasting = {})
      : root_(std::move(root)), directory_(std::move(directory)), lasting_(std::move(lasting)) {
    memory_.health.states_only = true;
  }

  // Loads the state of the previous exporter process. After an Error the state is empty.
  Result<void> load();
  // Evaluates the readings made since the last call. `judge` is called then: the findings that all programs show, which
  // decide whether an acknowledged finding is over (null: the machine has not been read yet). An Error, returned once:
  // the state could not be saved, or the acknowledgements could not be read.
  Result<void> update(const Snapshot& snapshot, const Policy* policy, Moment now,
                      const std::function<const Report*()>& judge);

  [[nodiscard]] const Health& health() const { return memory_.health; }
  // The acknowledgements in force at `wall`.
  [[nodiscard]] std::vector<Ack> acks(int64_t wall) const { return active_acks(acks_, memory_.acks, wall); }

 private:
  struct EarlierPorts {
    Clock::time_point taken;
    std::vector<Port> ports;
  };

  void advance(const Snapshot& snapshot, const Policy* policy, Moment now);
  Result<void> save_spent();

  std::string root_, directory_, lasting_;
  HealthMemory memory_;
  std::vector<Ack> acks_;
  std::vector<AckSeen> spent_;                  // as saved
  std::map<std::string, EarlierPorts> before_;  // the previous readings, by device
  Platform platform_;                           // at the last update
  Clock::time_point taken_{};                   // at the last update
  std::string reported_;                        // the last error, which is reported once
};

}  // namespace fabric::exporter
