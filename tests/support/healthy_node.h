// SPDX-License-Identifier: Apache-2.0
// A healthy GPU server as a literal: four GPUs, each on a switch with its NIC. Tests plant defects in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge/engine.h"
#include "judge/report.h"
#include "judge/view.h"

namespace fabric::test {

struct Healthy {
  // Each rail is a GPU and a NIC on a switch. At most nine.
  explicit Healthy(int rails = 4);
  // The view points into this object.
  [[nodiscard]] View view() const;
  Change& change(const std::string& port, const std::string& key);

  mutable Node before, now;  // view() calls resolve() for their counters
  Policy policy;
  Plan plan;

 private:
  mutable std::map<std::string, Signals> signals_;  // events between the two readings at the time of view()
};

// Parts of the healthy server, each defined in a file of its own. The ports must already be present.
// The platform data of every GPU, NIC and bridge in the topology, as on a healthy server.
void add_healthy_platform(Node& node);
// The host, and the parts of the topology that the rules of group "host" read: a bare-metal server with two CPU
// packages that runs Slurm and containers.
void add_healthy_host(Node& node);
// The network of each rail, a /31 with the switch at the other end: correct address, route, gateway, GID and firmware.
void add_healthy_network(Node& node);
// The other ends of the cables: a leaf switch for each rail with the same settings as the host, and a matching plan.
void plug_in_cables(Healthy& node);

// Puts the rails into one subnet, from 10.1.0.1/24 on, each with a routing rule, a table and the required ARP settings.
void share_subnet(Node& node);

// Takes the link of a port down; phys_state as in Port.
void down(Healthy& node, size_t port, unsigned phys_state);

// The findings that are not ok: those of a report, or those of the checks and groups in `only` (empty: of all checks).
std::vector<Finding> complaints(const Report& report);
std::vector<Finding> complaints_of(const View& view, const std::vector<std::string>& only = {});
// "pfc mlx5_0/1 critical: none", one line per finding.
std::string describe(const Finding& finding);
std::string describe(const std::vector<Finding>& findings);
// describe() of complaints_of().
std::string said(const View& view, const std::vector<std::string>& only = {});

}  // namespace fabric::test
