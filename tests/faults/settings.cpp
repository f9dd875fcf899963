// SPDX-License-Identifier: Apache-2.0
// Settings: the port or the switch differs from the policy.
#include <algorithm>

#include "faults/fault.h"

namespace fabric::faults {

Faults settings_faults() {
  return {
      {"settings-unread", "dcbnl is not built into this kernel: nothing can be compared",
       "the port has no entry in the dry run", on_roce(at_port([](Machine& m) {
         m.policy.ports[0].want = Qos{};
         m.policy.ports[0].want.pfc = PrioSet{8};
         m.plan.erase(m.port().id());
         m.port().qos.pfc.reset();
       })),
       "pfc", U, "-\n"},
      {"settings-of-nicctl", "AMD's driver has no interface for PFC: only nicctl shows and sets it",
       "driver ionic, and the policy wants PFC 3", on_roce(at_port([](Machine& m) {
         m.policy.ports[0].want = Qos{};
         m.policy.ports[0].want.pfc = PrioSet{8};
         m.port().kernel_driver = "ionic";
         m.plan[m.port().id()] = {{m.port().id(), SettingId::pfc, Outcome::unsupported, 0, false, "-", "3", {}, {}}};
       })),
       "vendor-settings", U, "not visible|--priority 3 --no-drop enable"},
      {"pause-beside-pfc", "global pause and PFC are on together", "Qos::pause rx beside Qos::pfc",
       on_roce(at_port([](Machine& m) {
         m.port().qos.pause = Pause{true, false};
       })),
       "pfc-and-pause", C, "global pause rx"},
      {"pfc-on-a-lossy-fabric", "PFC was switched on at a port of a fabric that has none",
       "Fabric::kind lossy, and Qos::pfc 3 at the port alone", on_roce(at_port([](Machine& m) {
         set_fabric(m, {.kind = FabricKind::lossy});
         for (PortPolicy& entry : m.policy.ports) entry.want.pfc.reset();
         m.port().qos.pfc = PrioSet{8};
       })),
       "pfc-on-lossy", W, "PFC 3|The fabric is lossy"},
      {"dcbx-daemon-runs", "a package brought lldpad, which writes PFC by its own configuration",
       "DcbDaemon lldpad, and Qos::dcbx host",
       [](Machine& m) {
         const Changes* changes = find_in(m.plan, m.port().id());
         const bool is_written = changes != nullptr && std::ranges::any_of(*changes, [](const Change& each) {
                                   return each.setting == SettingId::pfc || each.setting == SettingId::ets;
                                 });
         if (!m.now.host || m.port().qos.dcbx != Dcbx::host || !is_written) return std::string();
         m.now.host->software.dcb_daemons = {{"lldpad", 812, "lldpad.service"}};
         return m.port().id();
       },
       "dcbx-daemon", W, "lldpad (pid 812, lldpad.service)|systemctl disable --now lldpad.service", "", "",
       "dcbx-daemon"},
      {"watchdog-off", "a script switched the NIC's PFC watchdog off: a host that hangs pauses the network for ever",
       "Qos::pfc_watchdog 0 beside Qos::pfc", on_roce(at_port([](Machine& m) { m.port().qos.pfc_watchdog = 0; })),
       "pfc-watchdog", W, "watchdog off"},
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

}  // namespace fabric::faults
