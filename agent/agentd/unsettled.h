// SPDX-License-Identifier: Apache-2.0
// The ports that wait for carrier-up after a write: the driver then computes their thresholds from the link speed
// (Driver::settle). They are kept in a file below /run, because the agent may end before carrier-up; a reboot resets
// the NIC.
#pragma once

#include "agentd/environment.h"
#include "agentd/port_table.h"

namespace fabric::agentd {

class Unsettled {
 public:
  Unsettled(Environment& environment, ErrorLog& errors) : environment_(environment), errors_(errors) {}

  // Reads the ports that an earlier agent of this boot has left.
  void load();
  // Call it before the write, so that no death of the agent loses the port. Does nothing for a driver without settle.
  void add(const Port& port);
  // The port is settled, or was not written.
  void remove(const std::string& id);
  // The port has another device now, whose thresholds are new.
  void new_device(const Port& port);
  [[nodiscard]] bool contains(const std::string& id) const { return ports_.contains(id); }
  // The ids, once each, of the ports that an earlier agent has left and whose link is up: nothing will announce it.
  std::vector<std::string> left_with_link(const PortTable& table);

 private:
  void save();

  Environment& environment_;
  ErrorLog& errors_;
  state::Devices ports_;
  std::set<std::string> left_;  // by an earlier agent, and not returned by left_with_link() yet
};

}  // namespace fabric::agentd
