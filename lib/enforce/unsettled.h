// SPDX-License-Identifier: Apache-2.0
// The ports that wait for carrier-up after a write: the driver then computes their thresholds from the link speed
// (Driver::settle), and disruptive writes of the other members of their bond wait. They are kept in a file below /run,
// because the program that wrote them may end before carrier-up; a reboot resets the NIC. agentd and fabric-agentctl
// change the file under the lock state::kLockFile.
#pragma once

#include "enforce/drift.h"
#include "node/state.h"

namespace fabric::qos {

class Unsettled {
 public:
  static constexpr const char* kFile = "run/fabric-agent/unsettled.json";
  using ReportError = std::function<void(const std::string&)>;

  // The file is below `directory`; empty: there is none. `report` gets the texts of errors, which may recur.
  Unsettled(std::string directory, ReportError report);

  // Reads the file: the ports that other programs of this boot have left are included then.
  void load();
  // Call it before a write that may unsettle the port, so that no death of the program loses the port. Records the
  // ports of drivers with settle, and members of bonds. `restart`: the time of a write that takes the link away.
  void add(const Root& root, const Port& port, std::optional<Instant> restart);
  // The port is settled.
  void remove(const Port& port);
  // False for another device of the same name: its thresholds are new. True if its RDMA device was renamed since.
  [[nodiscard]] bool contains(const Port& port) const;
  // The time of the last write that took the link of the port away; nullopt: none did, or the port is settled. All
  // programs of a boot have the same clock (CLOCK_MONOTONIC).
  [[nodiscard]] std::optional<Instant> restart_of(const Port& port) const;
  [[nodiscard]] std::set<std::string> ids() const;

  struct Entry {
    int device = 0;                    // ifindex
    std::optional<int64_t> restart{};  // milliseconds
    bool operator==(const Entry&) const = default;
  };
  using Entries = std::map<std::string, Entry>;  // by the port's id
  static std::string entries_text(const Entries& ports);
  static Result<Entries> parse(std::string_view text, const std::string& name);

 private:
  Result<Entries> read() const;
  // Applies the change to the file and to `ports_`.
  void update(const std::function<void(Entries&)>& change);

  std::string directory_;
  ReportError report_;
  Entries ports_;
};

}  // namespace fabric::qos
