// SPDX-License-Identifier: Apache-2.0
// Ports, PCIe links and the agent: a defect in a healthy node gives its finding and no other.
#include "support/planted_defect.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

const PlantedDefects& defects() {
  constexpr auto C = Status::critical, W = Status::warning, U = Status::unknown;
  static const PlantedDefects all{
      {"initializing", [](Healthy& n) { n.now.ports[0].state = 2; }, finds("port-state", "mlx5_0/1", C, "INIT")},
      {"no_speed", [](Healthy& n) { n.now.ports[2].rate.reset(); }, finds("rate", "mlx5_2/1", U, "-")},
      {"small_mtu",
       [](Healthy& n) {
         n.now.ports[1].qos.mtu = 1500;
         n.now.ports[1].active_mtu = 1024;
       },
       finds("roce-mtu", "mlx5_1/1", W, "netdev 1500, RoCE 1024")},
      {"link_local_only", [](Healthy& n) { n.now.ports[0].gids.resize(2); },
       finds("gid", "mlx5_0/1", W, "only link-local")},
      {"gid_types_unread",
       [](Healthy& n) {
         for (Gid& gid : n.now.ports[0].gids) gid.type.clear();
       },
       finds("gid", "mlx5_0/1", U, "unknown type")},
      {"gids_unread",
       [](Healthy& n) {
         n.now.ports[0].gids.clear();
         n.now.ports[0].unread = {"gids: Permission denied (EACCES)"};
       },
       finds("gid", "mlx5_0/1", U, "-")},
      {"pause_unread", [](Healthy& n) { n.now.ports[3].qos.pause.reset(); },
       finds("pfc-and-pause", "mlx5_3/1", U, "PFC 3")},
      {"link_unread", [](Healthy& n) { n.now.topology.gpus[1].link.width.reset(); }, finds("pcie", "GPU1", U, "x?")},
      {"originals_unread",
       [](Healthy& n) {
         n.now.agent->originals_error =
             "/var/lib/fabric-agent/originals.json.corrupt: it could not be read, and was replaced";
       },
       finds("agent", "host", C, "", "", "mv /var/lib/fabric-agent/originals.json.corrupt /root/")},
      {"the_agents_outcome_overrides_the_dry_run",
       [](Healthy& n) {
         n.change("mlx5_0/1", "ets").outcome = Outcome::differs;
         n.now.agent->ports["mlx5_0/1"]["ets"] = {"conflict", "changed back again and again by lldpad", 5, ""};
       },
       finds("ets", "mlx5_0/1", C, "", "lldpad", "the other program")},
      {"link_downed_of_the_port_counters",
       [](Healthy& n) {
         for (Counter& each : n.now.ports[2].counters.pma)
           if (each.name == "link_downed") each.value += 12;
       },
       finds("link-flap", "mlx5_2/1", C, "12 ")},
  };
  return all;
}

PlantedDefects sound_ports() {
  return {
      // Such as a GID that was removed while it was read.
      {"unread_type_beside_a_good_gid", [](Healthy& n) { n.now.ports[0].gids.front().type.clear(); }},
      {"idle_gpus_may_slow_down", [](Healthy& n) { n.now.topology.gpus[1].link.speed = 2.5; }},
  };
}

// The GIDs have been the same before: their change would be another finding.
void settle(Healthy& node) {
  for (size_t i = 0; i < node.now.ports.size(); ++i) node.before.ports[i].gids = node.now.ports[i].gids;
}

TEST(OneDefect, GivesItsFindingAlone) { expect_each(defects(), settle); }
TEST(OneDefect, HealthyPortsAreSilent) { expect_each(sound_ports(), settle); }

}  // namespace
}  // namespace fabric
