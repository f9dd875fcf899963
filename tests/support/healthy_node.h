// SPDX-License-Identifier: Apache-2.0
// A GPU server that is in order, as a literal: four GPUs, each on a switch with its NIC. Tests plant their defect in
// it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge/engine.h"
#include "judge/report.h"
#include "judge/view.h"

namespace fabric::test {

struct Healthy {
  // A GPU and a NIC on a switch, so many times; at most nine.
  explicit Healthy(int rails = 4);
  // The view points into this object.
  [[nodiscard]] View view() const;
  Change& change(const std::string& port, const std::string& key);

  mutable Node before, now;  // view() finds the rows of their counters
  Policy policy;
  Plan plan;

 private:
  mutable std::map<std::string, Signals> signals_;  // between the two readings, as they are when view() is called
};

// Parts of it, each in a file of its own. The ports must stand.
// What a real server's platform says when all is well, of every GPU, NIC and bridge of the topology.
void add_healthy_platform(Node& node);
// The host, and what of the topology the group "host" looks at: a bare-metal server with two packages that runs Slurm
// and containers.
void add_healthy_host(Node& node);
// Each rail in a /31 of its own, the switch at its other end: address, route, gateway, GID, firmware, all as they
// should be.
void add_healthy_network(Node& node);
// The other ends of the cables: a leaf switch for each rail, set as the host is, and the plan that says so.
void plug_in_cables(Healthy& node);

// The rails in one subnet, 10.1.0.1/24 and on, each with a rule and a table of its own and ARP set for it.
void share_subnet(Node& node);

// Takes the link of a port down; phys_state as in Port.
void down(Healthy& node, size_t port, unsigned phys_state);

// The findings that are not ok: of a report, or of the checks and groups that are named, all if none is.
std::vector<Finding> complaints(const Report& report);
std::vector<Finding> complaints_of(const View& view, const std::vector<std::string>& only = {});
// "pfc mlx5_0/1 critical: none", a line each.
std::string describe(const Finding& finding);
std::string describe(const std::vector<Finding>& findings);
// The same of complaints_of().
std::string said(const View& view, const std::vector<std::string>& only = {});

}  // namespace fabric::test
