// SPDX-License-Identifier: Apache-2.0
// One defect at a time in a healthy node: that finding, and no other.
#include "support/planted_defect.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

PlantedDefect counter(const char* name, std::vector<Counter> PortCounters::*list, const char* id, Status status) {
  return {name,
          [=](Healthy& node) {
            for (Counter& each : node.now.ports[2].counters.*list)
              if (each.name == name) each.value += 12;
          },
          {{id, "mlx5_2/1", status, "12 "}}};
}

const PlantedDefects& defects() {
  constexpr auto C = Status::critical, W = Status::warning, U = Status::unknown;
  static const PlantedDefects all{
      {"initialising", [](Healthy& n) { n.now.ports[0].state = 2; }, finds("port-state", "mlx5_0/1", C, "INIT")},
      {"no_speed", [](Healthy& n) { n.now.ports[2].rate.reset(); }, finds("rate", "mlx5_2/1", U, "-")},
      {"small_mtu",
       [](Healthy& n) {
         n.now.ports[1].qos.mtu = 1500;
         n.now.ports[1].active_mtu = 1024;
       },
       finds("roce-mtu", "mlx5_1/1", W, "netdev 1500, RoCE 1024")},
      {"no_v2_gid", [](Healthy& n) { n.now.ports[0].gids.resize(1); }, finds("gid", "mlx5_0/1", C, "no RoCE v2 GID")},
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
      {"nic_lost_lanes_and_speed",
       [](Healthy& n) {
         n.now.topology.nics[1].link = {16, 32, 8, 16};
       },
       finds("pcie", "mlx5_1", C, "x8 at 16 GT/s")},
      {"link_unread", [](Healthy& n) { n.now.topology.gpus[1].link.width.reset(); }, finds("pcie", "GPU1", U, "x?")},
      {"originals_unread",
       [](Healthy& n) {
         n.now.agent->originals_error =
             "/var/lib/fabric-agent/originals.json.corrupt: it could not be read, and was replaced";
       },
       finds("agent", "host", C, "", "", "mv /var/lib/fabric-agent/originals.json.corrupt /root/")},
      {"agents_word_beats_the_dry_run",
       [](Healthy& n) {
         n.change("mlx5_0/1", "ets").outcome = Outcome::differs;
         n.now.agent->ports["mlx5_0/1"]["ets"] = {"conflict", "changed back again and again by lldpad", 5, ""};
       },
       finds("ets", "mlx5_0/1", C, "", "lldpad", "the other program")},
      counter("req_cqe_error", &PortCounters::hw, "requests", W),
      counter("link_downed", &PortCounters::pma, "link-flap", C),
  };
  return all;
}

PlantedDefects sound_ports() {
  return {
      // One that vanished while it was read, say.
      {"unread_type_beside_a_good_gid", [](Healthy& n) { n.now.ports[0].gids.front().type.clear(); }},
      {"idle_gpus_may_slow_down", [](Healthy& n) { n.now.topology.gpus[1].link.speed = 2.5; }},
  };
}

// It has been so: that it has just become so would be another finding.
void settle(Healthy& node) {
  for (size_t i = 0; i < node.now.ports.size(); ++i) node.before.ports[i].gids = node.now.ports[i].gids;
}

TEST(OneDefect, IsNamedAndNothingElse) { expect_each(defects(), settle); }
TEST(OneDefect, SoundPortsHaveNone) { expect_each(sound_ports(), settle); }

}  // namespace
}  // namespace fabric
