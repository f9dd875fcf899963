// SPDX-License-Identifier: Apache-2.0
// One defect at a time in a healthy node: that finding, and no other.
#include "support/planted_defect.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

PlantedDefect setting(const char* name, const char* key, Outcome outcome, Status status) {
  return {name,
          [=](Healthy& node) {
            Change& change = node.change("mlx5_1/1", key);
            change.outcome = outcome;
            change.from = "as read";
            change.code = outcome == Outcome::refused ? EOPNOTSUPP : 0;
          },
          {{key, "mlx5_1/1", status, outcome == Outcome::refused ? "-" : "as read"}}};
}

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
      {"switched_off", [](Healthy& n) { down(n, 0, 3); }, finds("port-state", "mlx5_0/1", C, "DOWN, Disabled")},
      {"no_signal", [](Healthy& n) { down(n, 3, 2); }, finds("port-state", "mlx5_3/1", C, "DOWN, Polling")},
      {"initialising", [](Healthy& n) { n.now.ports[0].state = 2; }, finds("port-state", "mlx5_0/1", C, "INIT")},
      {"deferred", [](Healthy& n) { n.now.ports[0].state = 5; }, finds("port-state", "mlx5_0/1", W, "ACTIVE_DEFER")},
      {"state_unread", [](Healthy& n) { n.now.ports[0].state.reset(); }, finds("port-state", "mlx5_0/1", U, "-")},
      {"half_rate", [](Healthy& n) { n.now.ports[2].rate = 25e9; }, finds("rate", "mlx5_2/1", C, "200 Gb/s")},
      {"no_speed", [](Healthy& n) { n.now.ports[2].rate.reset(); }, finds("rate", "mlx5_2/1", U, "-")},
      {"rdma_mtu_behind", [](Healthy& n) { n.now.ports[1].active_mtu = 1024; },
       finds("roce-mtu", "mlx5_1/1", W, "RoCE 1024")},
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
      {"pause_with_pfc",
       [](Healthy& n) {
         n.now.ports[3].qos.pause = Pause{true, false};
       },
       finds("pfc-and-pause", "mlx5_3/1", C, "global pause rx")},
      {"pause_unread", [](Healthy& n) { n.now.ports[3].qos.pause.reset(); },
       finds("pfc-and-pause", "mlx5_3/1", U, "PFC 3")},
      {"gpu_far_from_its_nic",
       [](Healthy& n) {
         n.now.topology.gpus[2].bridges = {"0000:77:00.0"};
         n.now.topology.gpus[2].root = "pci0000:70";
       },
       finds("locality", "GPU2", W, "NODE to")},
      {"gpu_without_numa",
       [](Healthy& n) {
         n.now.topology.gpus[2].bridges.clear();
         n.now.topology.gpus[2].root = "pci0000:70";
         n.now.topology.gpus[2].numa.reset();
       },
       finds("locality", "GPU2", U, "-")},
      {"nic_lost_lanes_and_speed",
       [](Healthy& n) {
         n.now.topology.nics[1].link = {16, 32, 8, 16};
       },
       finds("pcie", "mlx5_1", C, "x8 at 16 GT/s")},
      {"nic_lost_speed",
       [](Healthy& n) {
         n.now.topology.nics[1].link.speed = 16;
         for (Port& port : n.now.ports) port.rate = 12.5e9;
       },
       finds("pcie", "mlx5_1", W, "x16 at 16 GT/s")},
      {"gpu_lost_lanes", [](Healthy& n) { n.now.topology.gpus[1].link.width = 8; }, finds("pcie", "GPU1", W, "x8")},
      {"link_unread", [](Healthy& n) { n.now.topology.gpus[1].link.width.reset(); }, finds("pcie", "GPU1", U, "x?")},
      {"agent_stopped", [](Healthy& n) { n.now.agent->running = false; }, finds("agent", "host", W, "not running")},
      {"agent_never_ran", [](Healthy& n) { n.now.agent.reset(); }, finds("agent", "host", W, "not running")},
      {"agent_state_corrupt",
       [](Healthy& n) {
         n.now.agent.reset();
         n.now.agent_unread = "/run/fabric-agent/state.toml:1:3: nonsense";
       },
       finds("agent", "host", U, "-")},
      {"config_broken", [](Healthy& n) { n.now.agent->config_error = "fabric-agent.toml:3:1: nonsense"; },
       finds("agent", "host", C, "fabric-agent.toml:3:1")},
      {"mode_not_reloaded", [](Healthy& n) { n.now.agent->mode = "audit"; }, finds("agent", "host", W, "audit mode")},
      {"originals_unread",
       [](Healthy& n) {
         n.now.agent->originals_error =
             "/var/lib/fabric-agent/originals.toml.corrupt: it could not be read, and was replaced";
       },
       finds("agent", "host", C, "", "", "mv /var/lib/fabric-agent/originals.toml.corrupt /root/")},
      {"agents_word_beats_the_dry_run",
       [](Healthy& n) {
         n.change("mlx5_0/1", "ets").outcome = Outcome::differs;
         n.now.agent->ports["mlx5_0/1"]["ets"] = {"conflict", "changed back again and again by lldpad", 5, ""};
       },
       finds("ets", "mlx5_0/1", C, "", "lldpad", "that writer")},
      setting("pfc_differs", "pfc", Outcome::differs, C),
      setting("trust_differs", "trust", Outcome::differs, C),
      setting("dscp_map_differs", "dscp_map", Outcome::differs, C),
      setting("ets_differs", "ets", Outcome::differs, C),
      setting("pause_differs", "pause", Outcome::differs, C),
      setting("dcbx_differs", "dcbx", Outcome::differs, W),
      setting("mtu_differs", "mtu", Outcome::differs, W),
      setting("cable_length_differs", "cable_length", Outcome::differs, W),
      setting("pfc_pending", "pfc", Outcome::pending, W),
      setting("pfc_unsupported", "pfc", Outcome::unsupported, W),
      setting("pfc_conflict", "pfc", Outcome::conflict, C),
      setting("pfc_unreadable", "pfc", Outcome::refused, U),
      {"settings_of_a_port_unread",
       [](Healthy& n) {
         n.policy.ports[0].want = Qos{};
         n.policy.ports[0].want.pfc = PrioSet{8};
         n.plan.erase("mlx5_1/1");
       },
       finds("pfc", "mlx5_1/1", U, "-")},
      counter("out_of_sequence", &PortCounters::hw, "loss", W),
      counter("req_rnr_retries_exceeded", &PortCounters::hw, "receiver", C),
      counter("rp_cnp_ignored", &PortCounters::hw, "cnp-ignored", W),
      counter("req_cqe_error", &PortCounters::hw, "requests", W),
      {"symbol_error",
       [](Healthy& node) {
         for (Counter& each : node.now.ports[2].counters.pma)
           if (each.name == "symbol_error") each.value += 60;
       },
       finds("link-errors", "mlx5_2/1", W, "60 ")},
      counter("link_downed", &PortCounters::pma, "link-flap", C),
      counter("rx_prio3_discards", &PortCounters::ethtool, "discards", W),
      counter("tx_pause_storm_error_events", &PortCounters::ethtool, "pause-storm", C),
      counter("outbound_pci_buffer_overflow", &PortCounters::ethtool, "pcie-errors", W),
      {"carrier_lost", [](Healthy& n) { *n.now.ports[0].counters.carrier_down += 2; },
       finds("link-flap", "mlx5_0/1", W, "2 link downs")},
      {"device_gone",
       [](Healthy& n) {
         n.now.ports.pop_back();
         n.plan.erase("mlx5_3/1");
       },
       finds("port-state", "mlx5_3/1", C, "gone")},
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

class OneDefect : public testing::TestWithParam<PlantedDefect> {};

TEST_P(OneDefect, IsNamedAndNothingElse) {
  Healthy node;
  GetParam().plant(node);
  // It has been so: that it has just become so would be another finding.
  for (size_t i = 0; i < node.now.ports.size(); ++i) node.before.ports[i].gids = node.now.ports[i].gids;
  expect_wanted(node, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Check, OneDefect, testing::ValuesIn(defects()), kByName);
INSTANTIATE_TEST_SUITE_P(Sound, OneDefect, testing::ValuesIn(sound_ports()), kByName);

}  // namespace
}  // namespace fabric
