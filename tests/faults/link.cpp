// SPDX-License-Identifier: Apache-2.0
// Links: the cable, its errors, and its far end.
#include <algorithm>
#include <utility>

#include "faults/fault.h"
#include "faults/fleet/reported.h"
#include "nic/metrics.h"

namespace fabric::faults {
namespace {

std::string take_down(Machine& m, unsigned phys_state, const char* reason, const char* detail) {
  Port& port = m.port();
  port.state = 1;
  port.phys_state = phys_state;
  port.carrier = false;
  port.link_status->up = false;
  port.link_status->reason = reason;
  port.link_status->detail = detail;
  return port.id();
}

Fault down(const char* id, const char* happens, unsigned phys_state, const char* reason, const char* detail,
           const char* rule, const char* server = "") {
  const std::string words = *detail == 0 ? reason : std::string(reason) + ", " + detail;
  return {id,
          happens,
          "Port::state DOWN, " + std::string(phys_state_text(phys_state)) +
              (words.empty() ? "" : "; the NIC reports: " + words),
          [=](Machine& m) { return take_down(m, phys_state, reason, detail); },
          "port-state",
          C,
          "DOWN, " + std::string(phys_state_text(phys_state)),
          rule,
          server};
}

Faults states() {
  return {
      down("cable-pulled", "a cable was pulled at this end", 2, "No cable", "", "bad-module",
           "health: fabsim 0 carrier 0"),
      down("switched-off", "ip link set down", 3, "Switched off", "", "admin-down"),
      down("far-end-dark", "the switch port is shut", 2, "Autoneg", "No partner detected", "no-partner",
           "health: fabsim 0 carrier 0"),
      down("module-refused", "a module that the NIC's firmware does not support", 2, "Cable issue", "Unsupported cable",
           "bad-module"),
      down("module-faulty", "a module reports a fault to the NIC (bnxt_get_link_ext_state() of Linux 7.0)", 2, "Module",
           "", "bad-module"),
      down("far-end-fault", "the switch port reports a remote fault (bnxt_get_link_ext_state() of Linux 7.0)", 2,
           "Link training failure", "Remote side is not ready yet", "no-partner"),
      down("dead-link", "the link does not come up, and the NIC has no reason: cable, module or switch port", 2, "", "",
           "port-state"),
      down("speed-mismatch", "the switch port is forced to another speed or FEC: the ends never agree", 4, "Autoneg",
           "No HCD", "no-partner"),
      {.id = "no-subnet-manager",
       .happens = "the subnet manager is dead, or does not reach this port",
       .planted = "Port::state INIT",
       .plant =
           [](Machine& m) {
             if (m.is_roce()) return std::string();
             m.port().state = 2;
             return m.port().id();
           },
       .check = "port-state",
       .status = C,
       .rule = "port-state",
       .blames = Culprit::network},
      {"link-just-lost", "a bond's member just lost its link", "Port::state ACTIVE_DEFER",
       at_port([](Machine& m) { m.port().state = 5; }), "port-state", W, "ACTIVE_DEFER", "not-enough-evidence"},
      {"function-limited", "the SR-IOV configuration limits a virtual function to a tenth of the port",
       "VfLimits::max_tx_rate a tenth of the port's speed",
       [](Machine& m) {
         const Port& port = m.port();
         if (is_virtual(port) || port.pci.empty() || !port.rate) return std::string();
         const auto tenth = static_cast<uint32_t>(*port.rate * 8 / 1e6 / 10);
         m.now.network.physical_functions[port.pci] = {port.netdev,
                                                       {{.limits = {.max_tx_rate = tenth}, .has_rdma = true}}};
         for (const Port& each : m.now.ports)  // several ports of one function
           if (each.pci == port.pci && !is_virtual(each)) return each.id();
         return port.id();
       },
       "vf-limits", W, "VF 0: at most|max_tx_rate 0"},
      {"device-gone", "the NIC fell off the bus while it was monitored", "the port is in the first reading only",
       [](Machine& m) {
         const std::string id = m.port().id();
         m.plan.erase(id);
         m.now.ports.erase(m.now.ports.begin() + 1);
         return id;
       },
       "port-state", C, "gone", "", "faults"},
      {"state-unread", "the driver does not answer", "Port::state absent",
       at_port([](Machine& m) { m.port().state.reset(); }), "port-state", U, "-\n"},
      {"half-rate", "the link came up with half of its lanes", "Port::rate and speed half of the twins'",
       at_port([](Machine& m) {
         m.port().rate = *m.port().rate / 2;
         if (m.port().speed) m.port().speed = *m.port().speed / 2;
       }),
       "rate", C, "200 Gb/s"},
  };
}

Faults ends() {
  return {
      {"cables-swapped", "two cables were swapped at the switch: rails are mixed",
       "the neighbors of two ports, swapped", swap_cables, "cabling", C, "", "", "cabling", "cabling"},
      {"wrong-switch", "the cable ends on a switch of another rail", "the neighbor is leaf9",
       at_switch([](Neighbor& n) { n.system_name = "leaf9"; }), "cabling", C, "leaf9 Ethernet7|another switch"},
      {"wrong-switch-port", "the cable ends on another port of the right switch", "the neighbor's port is Ethernet17",
       at_switch([](Neighbor& n) { n.port_id = "Ethernet17"; }), "cabling", W,
       "Ethernet17|another port of the right switch"},
      {"neighbor-silent", "LLDP is off on the switch port", "no LLDP neighbor for an hour on one port",
       [](Machine& m) {
         auto& heard = m.now.neighbors.heard;
         if (heard.empty()) return std::string();
         heard.erase(heard.begin() + 1);
         return m.port().id();
       },
       "cabling", W, "no LLDP for 3600 s|cannot be compared"},
      {"nobody-listens", "cables are planned, and the LLDP listener does not run", "no source of neighbors",
       [](Machine& m) {
         if (m.now.neighbors.heard.empty()) return std::string();
         m.now.neighbors = {};
         m.now.neighbors.why_none = "fabric-lldp.service is not running";
         return std::string("host");
       },
       "cabling", U, "-\n|fabric-lldp.service is not running", "", "cabling"},
  };
}

void lose_link(Port& port, uint64_t times) { *port.counters.carrier_down += times; }

// The cables of the second and the third rail end on one switch. False: no neighbors.
bool join_at_one_switch(Machine& m) {
  if (m.now.neighbors.heard.empty()) return false;
  Neighbor& other = m.now.neighbors.heard.at(2);
  other.chassis_id = m.now.neighbors.heard.at(1).chassis_id;
  other.system_name = m.now.neighbors.heard.at(1).system_name;
  other.port_id = "Ethernet8";
  m.policy.cabling.cables.at(2).peer = {m.policy.cabling.cables.at(1).peer.device, "Eth8"};
  return true;
}

Faults flaps() {
  return {
      {"link-flaps", "a loose connector: the link goes down and comes back", "carrier_down +4",
       at_port([](Machine& m) { lose_link(m.port(), m.events(4)); }), "link-flap", W, "4 link downs",
       "not-enough-evidence", "health: for _ in 1 2 3"},
      {"link-flaps-much", "a loose connector: the link flaps all the time", "carrier_down +6",
       at_port([](Machine& m) { lose_link(m.port(), m.events(6)); }), "link-flap", C, "", "not-enough-evidence"},
      {"switch-restarts", "the switch reboots repeatedly: all links to it go down together",
       "two ports of one switch, carrier_down +3 on both",
       [](Machine& m) {
         if (!join_at_one_switch(m)) return std::string();
         for (Port* port : {&m.now.ports[1], &m.now.ports[2]}) lose_link(*port, m.events(3));
         return m.port().id();
       },
       "link-flap", W, "", "switch-restart", "", "link-flap"},
      {"one-of-two-links-flaps", "a loose connector: one of two links to one switch flaps",
       "two ports of one switch, carrier_down +4 on one",
       [](Machine& m) {
         if (!join_at_one_switch(m)) return std::string();
         lose_link(m.port(), m.events(4));
         return m.port().id();
       },
       "link-flap", W, "", "damaged-link"},
      {"unrelated-links-flap", "two links to two switches flap: host, cables or network",
       "carrier_down +4 on two ports of two switches", at_port([](Machine& m) {
         for (Port* port : {&m.now.ports[1], &m.now.ports[2]}) lose_link(*port, m.events(4));
       }),
       "link-flap", W, "", "not-enough-evidence", "", "link-flap"},
  };
}

Faults errors() {
  return {
      {"symbol-errors", "bits beyond what FEC corrects: a dirty connector", "symbol errors after FEC +5000",
       counted({{&metrics::kPhySymbolErrors, 5'000}}), "link-errors", W, "5000 ", "damaged-link"},
      {"symbol-errors-infiniband", "symbol errors of an InfiniBand link", "symbol_error +5000",
       counted({{&metrics::kPortSymbolErrors, 5'000}}), "link-errors", W, "", "damaged-link"},
      {"crc-errors", "frames arrive with a wrong checksum", "CRC errors +300, uncorrectable words +300",
       [](Machine& m) {
         if (!grow(m, {{&metrics::kPhyCrcErrors, 300}})) return std::string();
         m.raise(metrics::kPhyUncorrectableWords, 300);
         if (m.port().fec) *m.port().fec->uncorrectable_blocks.total += m.events(300);
         return m.port().id();
       },
       "link-errors", W, "", "damaged-link"},
      {"crc-errors-forwarded", "another link damages frames, and a cut-through switch forwards them",
       "CRC errors +300, and FEC corrects every code word",
       [](Machine& m) {
         return m.port().fec && grow(m, {{&metrics::kPhyCrcErrors, 300}}) ? m.port().id() : std::string();
       },
       "link-errors", W, "CRC errors without uncorrectable FEC words", "damaged-on-path", "health: rx_crc_errors_phy"},
      {"fec-bursts", "a connector with a scratch: errors come in bursts that FEC just corrects",
       "FecStatus::histogram: 4e9 code words, 60 of them with 12 corrected symbols",
       [](Machine& m) {
         const auto before = std::ranges::find(m.before.ports, m.port().id(), &Port::id);
         if (!m.port().fec || before == m.before.ports.end() || !before->fec) return std::string();
         for (uint32_t symbols = 0; symbols <= 15; ++symbols) {
           before->fec->histogram.push_back({symbols, symbols, 0});
           m.port().fec->histogram.push_back({symbols, symbols, symbols == 0 ? 4'000'000'000u : 0u});
         }
         m.port().fec->histogram[12].words = m.events(60);
         return m.port().id();
       },
       "pre-fec-ber", W, "code words needed two thirds"},
      {"link-recoveries", "an InfiniBand link retrains repeatedly", "link_error_recovery +8",
       counted({{&metrics::kPortLinkRecoveries, 8}}), "link-errors", W, "", "damaged-link"},
      {"link-integrity", "the errors of an InfiniBand link exceed the port's own threshold",
       "local_link_integrity_errors +2", counted({{&metrics::kPortLinkIntegrity, 2}}), "link-errors", W, "",
       "damaged-link"},
      {"icrc-errors", "RoCE packets are damaged between the ends, without errors on any link", "ICRC errors +500",
       counted({{&metrics::kIcrcErrors, 500}}), "link-errors", W},
  };
}

Faults device() {
  return {
      {"completion-queue-overrun", "a program creates its completion queues too small",
       "devlink reporter vnic: cq_overrun +2",
       [](Machine& m) {
         const auto before = std::ranges::find(m.before.ports, m.port().id(), &Port::id);
         if (m.port().reporters.empty() || before == m.before.ports.end()) return std::string();
         HealthReporter vnic{.name = "vnic"};
         vnic.diagnosis = {{"cq_overrun", 5}, {"nic_receive_steering_discard", 9}};
         before->reporters.push_back(vnic);
         vnic.diagnosis = {{"cq_overrun", 7}, {"nic_receive_steering_discard", 900}};
         m.port().reporters.push_back(vnic);
         return m.port().id();
       },
       "device-health", W, "2 completion queues overrun"},
      {"firmware-hangs", "the NIC's firmware failed and did not recover",
       "devlink reporter fw_fatal in state error, its errors +1", at_port([](Machine& m) {
         m.port().reporters[1].healthy = false;
         ++m.port().reporters[1].errors;
       }),
       "device-health", C},
      {"firmware-error-of-old", "the NIC's firmware reported an error long ago, and the driver has no recovery for it",
       "devlink reporter fw in state error, no new errors",
       at_port([](Machine& m) { m.port().reporters[0].healthy = false; }), "device-health", W},
      {"firmware-reset", "the NIC's firmware failed and recovered, and the link went down",
       "devlink reporter fw: errors and recoveries +1, carrier_down +1", at_port([](Machine& m) {
         ++m.port().reporters[0].errors;
         ++m.port().reporters[0].recoveries;
         lose_link(m.port(), 1);
       }),
       "device-health", W, "", "device-reset", "", "link-flap"},
  };
}

}  // namespace

std::string swap_cables(Machine& m) {
  auto& heard = m.now.neighbors.heard;
  if (heard.empty()) return {};
  std::swap(heard.at(1).netdev, heard.at(2).netdev);
  return m.port().id();
}

Faults link_faults() { return together({states(), ends(), flaps(), errors(), device()}); }

}  // namespace fabric::faults
