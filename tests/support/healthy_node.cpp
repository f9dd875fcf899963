// SPDX-License-Identifier: Apache-2.0
#include "support/healthy_node.h"

#include "node/signals.h"
#include "support/counters.h"

namespace fabric::test {
namespace {

PciDevice function(int rails, int bus, int slot, uint16_t vendor, uint16_t device) {
  const std::string digit = std::to_string(bus);
  PciDevice out;
  out.pci = "0000:" + digit + std::to_string(slot) + ":00.0";
  out.vendor = vendor;
  out.device = device;
  out.numa = bus <= rails / 2 ? 0 : 1;
  out.bridges = {"0000:" + digit + "2:0" + std::to_string(slot) + ".0", "0000:" + digit + "1:00.0",
                 "0000:" + digit + "0:01.0"};
  out.root = "pci0000:" + digit + "0";
  out.link = {32, 32, 16, 16};
  return out;
}

Qos profile() {
  Qos want;
  want.dcbx = Dcbx::host;
  want.pause = Pause{};
  want.mtu = 9000;
  want.trust = Trust::dscp;
  want.dscp_map = DscpMap{{26, 3}, {48, 6}};
  Ets ets;
  ets.prio_tc = {0, 0, 0, 1, 0, 0, 2, 0};
  ets.tsa = {Tsa::ets, Tsa::ets, Tsa::strict};
  ets.bw = {50, 50, 0};
  want.ets = ets;
  want.pfc = PrioSet{0x08};
  want.cable_length = 10;
  return want;
}

// 1 mW on each of four lanes, at 52 degrees.
Transceiver warm_module() {
  Transceiver out;
  out.identifier = 0x1e;
  out.form_factor = "QSFP-DD";
  out.medium = Medium::optical;
  out.temperature.value = 52;
  out.temperature_limits = {75, -5, 70, 0};
  out.rx_power_limits = out.tx_power_limits = {3.5e-3, 5e-5, 2.8e-3, 1e-4};
  out.tx_bias_limits = {13e-3, 3e-3, 12e-3, 4e-3};
  for (unsigned lane = 1; lane <= 4; ++lane) {
    ModuleLane each;
    each.number = lane;
    each.rx_power.value = each.tx_power.value = 1e-3;
    each.tx_bias.value = 7.5e-3;
    out.lanes.push_back(each);
  }
  out.checksum_matched = true;
  return out;
}

Port port(int index, const Nic& nic) {
  Port out;
  out.rdma = nic.name;
  out.netdev = nic.netdevs.front();
  out.ifindex = 2 + index;
  out.pci = nic.pci;
  out.kernel_driver = "mlx5_core";
  out.driver = "mlx5";
  out.board_id = "MT_0000000838";
  out.hca_type = "MT4129";
  out.numa = nic.numa;
  out.link_layer = LinkLayer::ethernet;
  out.state = 4;
  out.phys_state = 5;
  out.speed = 400'000;
  out.rate = 50e9;
  out.carrier = true;
  out.active_mtu = 4096;
  out.gids = {{0, "fe80:0000:0000:0000:0a00:00ff:fe00:0001", "IB/RoCE v1", out.netdev},
              {1, "fe80:0000:0000:0000:0a00:00ff:fe00:0001", "RoCE v2", out.netdev},
              {3, "0000:0000:0000:0000:0000:ffff:0a01:0001", "RoCE v2", out.netdev}};
  out.qos = profile();
  out.counters.hw = {{"out_of_sequence", 7},          {"np_cnp_sent", 100},  {"out_of_buffer", 1},
                     {"req_rnr_retries_exceeded", 0}, {"rp_cnp_ignored", 0}, {"req_cqe_error", 2}};
  out.counters.pma = {{"symbol_error", 5}, {"link_downed", 1}, {"port_xmit_data", 1000}, {"port_rcv_packets", 5000}};
  out.counters.ethtool = {
      {"rx_prio3_discards", 4},         {"tx_pause_storm_error_events", 0}, {"outbound_pci_buffer_overflow", 0},
      {"rx_prio3_pause_duration", 700}, {"tx_prio3_pause_duration", 20},    {"rx_corrected_bits_phy", 9000}};
  out.counters.carrier_down = 1;
  out.module = warm_module();
  out.reporters = {{"fw", true, 0, 0, false}, {"tx", true, 2, 2}};
  return out;
}

Changes in_sync(const Port& port) {
  Changes changes;
  for (const Setting& setting : kSettings) {
    if (!has_value(setting, port.qos)) continue;
    const std::string text = value_text(setting, port.qos);
    changes.push_back({port.id(), setting.id, Outcome::in_sync, 0, false, text, text, {}, {}});
  }
  return changes;
}

}  // namespace

Healthy::Healthy(int rails) {
  now.hostname = "gpu01";
  now.topology.numa_cpus = {{0, "0-31"}, {1, "32-63"}};
  for (int i = 0; i < rails; ++i) {
    now.topology.gpus.push_back(
        Gpu{function(rails, i + 1, 3, 0x10de, 0x2330), "GPU" + std::to_string(i), "NVIDIA H100 80GB HBM3"});
    const std::string name = "mlx5_" + std::to_string(i);
    now.topology.nics.push_back(
        Nic{function(rails, i + 1, 4, 0x15b3, 0x1021), {"ens" + std::to_string(i)}, {name}, name});
    now.ports.push_back(port(i, now.topology.nics.back()));
    plan[now.ports.back().id()] = in_sync(now.ports.back());
  }
  AgentState agent;
  agent.running = true;
  agent.mode = Mode::enforce;
  agent.updated = "2026-01-01T00:00:00Z";
  now.agent = agent;
  policy.mode = Mode::enforce;
  PortPolicy entry;
  entry.name = "roce";
  entry.want = profile();
  policy.ports = {entry};
  add_healthy_platform(now);
  add_healthy_host(now);
  add_healthy_network(now);
  plug_in_cables(*this);
  resolve(now);
  before = now;
  now.taken += std::chrono::seconds(10);
  for (Port& each : now.ports) {  // traffic and congestion control go on
    each.counters.hw[1].value += 5;
    each.counters.pma[2].value += 100'000;
    each.counters.pma[3].value += 100'000;
  }
}

View Healthy::view() const {
  resolve(before);
  resolve(now);
  signals_ = signals_of(before, now);
  return {.now = now,
          .before = &before,
          .policy = &policy,
          .plan = &plan,
          .signals = &signals_,
          .wall = 1'798'761'600};  // 2027-01-01T00:00:00Z
}

Change& Healthy::change(const std::string& port, const std::string& key) {
  for (Change& each : plan.at(port))
    if (each.key() == key) return each;
  Change& added = plan.at(port).emplace_back();
  added.port = port;
  added.setting = *parse_setting(key);
  return added;
}

void down(Healthy& node, size_t port, unsigned phys_state) {
  node.now.ports[port].state = 1;
  node.now.ports[port].phys_state = phys_state;
}

std::string describe(const Finding& finding) {
  return finding.id + " " + finding.subject + " " + std::string(to_text(finding.status)) + ": " + finding.observed;
}

static bool is_cause(const Finding& finding) {
  const Rule* rule = find_rule(finding.id);
  return rule != nullptr && rule->is_cause();
}

std::vector<Finding> complaints(const Report& report) {
  std::vector<Finding> out;
  for (const Finding& finding : report.findings)
    if (finding.status != Status::ok && !is_cause(finding)) out.push_back(finding);
  return out;
}

std::vector<Finding> complaints_of(const View& view, const std::vector<std::string>& only) {
  return complaints(run_rules(view, only));
}

std::string said(const View& view, const std::vector<std::string>& only) { return describe(complaints_of(view, only)); }

std::string describe(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += describe(finding) + "\n";
  return text;
}

}  // namespace fabric::test
