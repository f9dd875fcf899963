// SPDX-License-Identifier: Apache-2.0
// Settings: the port or the switch differs from the policy.
#include <cerrno>

#include "faults/fault.h"

namespace fabric::faults {
namespace {

// A dry run finds the setting otherwise; a setting that the healthy machine's policy does not ask for is asked for
// first.
std::string plant_setting(Machine& m, std::string_view key, Outcome outcome) {
  if (!m.is_roce()) return {};
  const std::string id = m.port().id();
  const Setting& setting = setting_of(*parse_setting(key));
  if (!has_value(setting, m.policy.ports[0].want)) {
    visit_member(setting, m.policy.ports[0].want, [](auto& value) { value.emplace(); });
    const std::string wanted = value_text(setting, m.policy.ports[0].want);
    for (auto& [port, changes] : m.plan)
      changes.push_back({port, setting.id, Outcome::in_sync, 0, false, wanted, wanted, {}, {}});
  }
  Change& change = m.change(id, std::string(key));
  change.outcome = outcome;
  change.from = "otherwise";
  change.code = outcome == Outcome::refused ? EOPNOTSUPP : 0;
  return id;
}

struct Row {
  std::string_view key;
  Status status;
  const char* happens;
  const char* server = "";
};
constexpr Row kRows[] = {
    {"dcbx", W, "the NIC's firmware owns DCBX again after a firmware update"},
    {"fw_lldp", W, "the firmware's LLDP agent was switched on by an update of the driver"},
    {"pause", C, "a tuning script switches global pause on (ethtool -A)", "drift"},
    {"mtu", W, "the network configuration sets the MTU of a new netdev back to 1500", "drift"},
    {"ring_rx", W, "a driver reload brings the default receive rings back"},
    {"ring_tx", W, "a driver reload brings the default send rings back"},
    {"channels", W, "the number of queues was tuned for another workload"},
    {"fec", W, "FEC was forced by hand to find a bad cable, and not restored"},
    {"trust", C, "the port trusts VLAN priorities after a driver reload", "drift"},
    {"apptrust", C, "the order of trusted headers was reversed"},
    {"dscp_map", C, "lldpad replaced the DSCP map by its own", "drift"},
    {"ets", C, "another tool made all classes strict", "drift"},
    {"prio2buffer", C, "a firmware reset put all priorities into one receive buffer"},
    {"buffer_size", C, "the receive buffers are the firmware's defaults: no headroom"},
    {"pfc", C, "PFC is off after a firmware reset", "drift"},
    {"cable_length", W, "the headroom is sized for the default of 7 meters"},
    {"maxrate", W, "a rate limit of a test was left on a traffic class"},
    {"ecn_rp", W, "CNPs do not slow this sender: reaction point off on priority 3"},
    {"ecn_np", W, "this receiver answers no ECN marks: notification point off on priority 3"},
    {"cnp_dscp", W, "CNPs carry DSCP 0 and queue behind the data that they are to slow down"},
    {"cnp_prio", W, "CNPs travel on the lossy priority"},
    {"min_time_between_cnps", W, "a DCQCN parameter of another site's tuning guide was set"},
    {"clamp_tgt_rate", W, "the same: target rate follows the current rate"},
    {"clamp_tgt_rate_after_time_inc", W, "the same: also after an increase by the timer"},
    {"rpg_time_reset", W, "the same: flows recover more slowly than their peers'"},
    {"rpg_byte_reset", W, "the same: flows recover by bytes"},
    {"rpg_threshold", W, "the same: phases of recovery are longer"},
    {"rpg_max_rate", W, "the same: flows are capped below the port's speed"},
    {"rpg_ai_rate", W, "the same: additive increase is smaller"},
    {"rpg_hai_rate", W, "the same: hyper increase is smaller"},
    {"rpg_gd", W, "the same: a CNP cuts more of the rate"},
    {"rpg_min_dec_fac", W, "the same: a CNP may take half of the rate"},
    {"rpg_min_rate", W, "the same: flows may fall to a very low rate"},
    {"rate_to_set_on_first_cnp", W, "the same: the first CNP nearly stops a flow"},
    {"dce_tcp_g", W, "the same: alpha has another weight"},
    {"dce_tcp_rtt", W, "the same: alpha is updated rarely"},
    {"rate_reduce_monitor_period", W, "the same: rates fall several times for one congestion"},
    {"initial_alpha_value", W, "the same: new flows begin slowly"},
    {"rtt_resp_dscp", W, "round-trip probes measure another queue"},
    {"cc", W, "congestion control of a Broadcom NIC was switched off for a benchmark"},
    {"cc_mode", W, "a Broadcom NIC runs TCP-like congestion control among NICs with DCQCN"},
    {"cc_g", W, "the same: another weight of the running average"},
    {"cc_phases", W, "the same: another number of phases"},
    {"cc_init_cr", W, "the same: another initial rate"},
    {"cc_init_tr", W, "the same: another initial target rate"},
    {"cc_rtt", W, "the same: another round-trip time"},
    {"cc_tcp_cp", W, "the same: another TCP congestion parameter"},
    {"cc_inactivity_cp", W, "the same: another inactivity threshold"},
    {"roce_dscp", C, "a Broadcom NIC sends RoCE with another DSCP than the switches map"},
    {"roce_prio", C, "a Broadcom NIC sends RoCE on a lossy priority"},
    {"roce_mode", W, "rdma_cm connections are RoCE v1: not routed, no DSCP"},
    {"roce_tos", W, "rdma_cm connections carry DSCP 0"},
    {"traffic_class", C, "a traffic class forced on all queue pairs was lost in a reload"},
    {"optional_counters", W, "optional counters are off again after a reload: their metrics are missing"},
    {"mrrs", W, "the BIOS set the read request size to 128 bytes"},
};

Faults of_each_setting() {
  Faults out;
  for (const Row& row : kRows) {
    std::string id = "setting-";
    for (const char letter : row.key) id += letter == '_' ? '-' : letter;
    out.push_back({id, row.happens, "the dry run finds another `" + std::string(row.key) + "` than the policy wants",
                   [key = row.key](Machine& m) { return plant_setting(m, key, Outcome::differs); },
                   std::string(row.key), row.status, "otherwise", "", row.server});
  }
  return out;
}

Fault outcome(const char* id, const char* happens, Outcome what, Status status, const char* server = "") {
  return {id,
          happens,
          "the dry run, or the agent's state, reports " + std::string(to_text(what)) + " of `pfc`",
          [what](Machine& m) { return plant_setting(m, "pfc", what); },
          "pfc",
          status,
          what == Outcome::refused ? "-\n" : "otherwise",
          "",
          server};
}

Faults others() {
  return {
      outcome("setting-pending", "a job runs: the repair that would stop its traffic waits", Outcome::pending, W,
              "busy"),
      outcome("setting-unsupported", "the policy wants PFC of a driver that has no DCB", Outcome::unsupported, W,
              "faults"),
      outcome("setting-conflict", "lldpad and the agent undo each other's work", Outcome::conflict, C, "drift"),
      outcome("setting-ignored", "the driver says yes and does nothing", Outcome::ignored, C, "faults"),
      outcome("setting-refused", "the driver refuses to be read: the card's firmware does not answer", Outcome::refused,
              U),
      {"settings-unread", "dcbnl is not built into this kernel: nothing can be compared",
       "the port has no entry in the dry run", on_roce(at_port([](Machine& m) {
         m.policy.ports[0].want = Qos{};
         m.policy.ports[0].want.pfc = PrioSet{8};
         m.plan.erase(m.port().id());
       })),
       "pfc", U, "-\n"},
      {"sysctl-differs", "a host setting that the policy wants was changed",
       "the dry run of the host finds another value", on_host([](Machine& m) {
         m.policy.sysctl["net.ipv4.tcp_ecn"] = "1";
         m.plan["host"] = {{"host", {}, Outcome::differs, 0, false, "2", "1", {}, "net.ipv4.tcp_ecn"}};
       }),
       "sysctl", W},
      {"pause-beside-pfc", "global pause and PFC are on together", "Qos::pause rx beside Qos::pfc",
       on_roce(at_port([](Machine& m) {
         m.port().qos.pause = Pause{true, false};
       })),
       "pfc-and-pause", C, "global pause rx"},
      {"rdma-mtu-behind", "the MTU was raised after the RDMA device came up: RoCE stays at 1024",
       "Port::active_mtu 1024", on_roce(at_port([](Machine& m) { m.port().active_mtu = 1024; })), "roce-mtu", W,
       "RoCE 1024"},
      {"netdev-mtu-too-small", "the MTU of the netdev was lowered under a running RoCE device",
       "Qos::mtu 4150 under a path MTU of 4096", on_roce(at_port([](Machine& m) { m.port().qos.mtu = 4150; })),
       "mtu-chain", C, "netdev 4150, RoCE 4096"},
      {"switch-mtu-too-small", "the switch port accepts frames up to 1518 bytes only: large messages hang",
       "Interface::peer_max_frame 1518", on_roce(at_port([](Machine& m) { m.interface().peer_max_frame = 1518; })),
       "mtu-chain", C, "frames of 1518"},
      {"switch-pfc-off", "PFC was never configured on the switch port", "the neighbor announces PFC on no priority",
       at_switch([](Neighbor& n) { n.pfc->enabled.bits = 0; }), "peer-pfc", C,
       "PFC 3 here, none at leaf1.example.com|priority 3"},
      {"switch-pfc-other-priority", "the switch has PFC on priority 4, this port on 3",
       "the neighbor announces PFC on 4", at_switch([](Neighbor& n) { n.pfc->enabled.bits = 0x10; }), "peer-pfc", C,
       "4 at|priority 4 the switch pauses", "", "cabling"},
      {"switch-pfc-more", "the switch has PFC on a priority that this port lacks",
       "the neighbor announces PFC on 3 and 4", at_switch([](Neighbor& n) { n.pfc->enabled.bits = 0x18; }), "peer-pfc",
       W, "On priority 4 the switch pauses"},
      {"switch-ets-share", "the switch's scheduler gives RoCE 20 %, this port 50", "the neighbor recommends bw 20",
       at_switch([](Neighbor& n) { n.ets_recommended->bw[3] = 20; }), "peer-ets", W, "50 % here, 3 at 20 % there"},
      {"switch-ets-group", "the switch puts storage into the lossless class", "the neighbor groups priority 4 with 3",
       at_switch([](Neighbor& n) { n.ets_recommended->prio_tc[4] = 3; }), "peer-ets", W,
       "priority 3 in group 3 at 50 % here, 3,4 at 50 % there"},
      {"switch-dscp-map", "the switch maps DSCP 26 to priority 4", "the neighbor's APP table maps 26 to 4",
       at_switch([](Neighbor& n) { n.app->at(1).priority = 4; }), "peer-app", W, "DSCP 26: priority 3 here, 4 there"},
      {"switch-roce-priority", "the switch expects RoCE on priority 5", "the neighbor's APP table maps UDP 4791 to 5",
       at_switch([](Neighbor& n) { n.app->at(0).priority = 5; }), "peer-app", W,
       "RoCE (UDP 4791): lossless priority 3 here, priority 5 there"},
  };
}

}  // namespace

Faults settings_faults() { return together({of_each_setting(), others()}); }

}  // namespace fabric::faults
