// SPDX-License-Identifier: Apache-2.0
#include "faults/machines.h"

#include "nic/counter_catalogue.h"
#include "support/counters.h"

namespace fabric::faults {
namespace {

constexpr CounterSource kHw = CounterSource::hw, kPma = CounterSource::pma, kEthtool = CounterSource::ethtool;
constexpr std::chrono::seconds kWindow{60};

// Counters of a driver, and their values after some weeks.
struct Readings {
  CounterSource source;
  uint64_t value;
  std::vector<std::string_view> names;
};

const std::vector<Readings> kMlx5{
    {kHw, 7, {"out_of_sequence"}},
    {kHw, 3, {"packet_seq_err"}},
    {kHw,
     0,
     {"implied_nak_seq_err", "req_transport_retries_exceeded", "req_rnr_retries_exceeded", "rx_icrc_encapsulated",
      "req_remote_access_errors", "rp_cnp_ignored", "roce_adp_retrans"}},
    {kHw, 1, {"local_ack_timeout_err", "out_of_buffer"}},
    {kHw, 2, {"duplicate_request", "req_cqe_error"}},
    {kHw, 12, {"rnr_nak_retry_err"}},
    {kHw, 400, {"req_cqe_flush_error"}},
    {kHw, 100'000, {"np_cnp_sent", "rp_cnp_handled"}},
    {kHw, 300'000, {"np_ecn_marked_roce_packets"}},
    {kHw, 9'000'000, {"rx_write_requests"}},
    {kPma, 5, {"symbol_error"}},
    {kPma, 1, {"link_downed"}},
    {kPma, 0, {"link_error_recovery", "port_xmit_discards", "port_rcv_errors"}},
    {kPma, 1'000'000'000'000, {"port_xmit_data", "port_rcv_data"}},
    {kPma, 1'000'000'000, {"port_xmit_packets", "port_rcv_packets"}},
    {kPma, 4'000'000, {"port_xmit_wait"}},
    {kEthtool,
     4'000'000'000'000,
     {"rx_vport_rdma_unicast_bytes", "tx_vport_rdma_unicast_bytes", "rx_prio3_bytes", "tx_prio3_bytes"}},
    {kEthtool, 1'000'000'000, {"rx_vport_rdma_unicast_packets", "tx_vport_rdma_unicast_packets"}},
    {kEthtool, 2'000, {"rx_prio3_pause"}},
    {kEthtool, 1'000, {"tx_prio3_pause"}},
    {kEthtool, 9'000, {"rx_prio3_pause_duration"}},
    {kEthtool, 4'000, {"tx_prio3_pause_duration"}},
    {kEthtool, 4, {"rx_prio3_discards", "rx_discards_phy"}},
    {kEthtool,
     0,
     {"rx_prio3_buf_discard", "rx_prio3_cong_discard", "tx_discards_phy", "rx_crc_errors_phy", "rx_symbol_err_phy",
      "rx_pcs_symbol_err_phy", "rx_out_of_buffer", "tx_pause_storm_warning_events", "tx_pause_storm_error_events",
      "outbound_pci_stalled_rd_events", "outbound_pci_stalled_wr_events", "outbound_pci_buffer_overflow",
      "rx_pci_signal_integrity", "module_unplug", "module_high_temp"}},
    {kEthtool, 7'000'000, {"rx_corrected_bits_phy"}},
    {kEthtool, 1, {"link_down_events_phy"}},
};

const std::vector<Readings> kBnxt{
    {kHw, 7, {"oos_drop_count"}},
    {kHw, 3, {"seq_err_naks_rcvd"}},
    {kHw, 0, {"missing_resp", "max_retry_exceeded", "rx_roce_discards", "tx_roce_discards", "res_tx_pci_err"}},
    {kHw, 1, {"to_retransmits", "rx_out_of_buffer"}},
    {kHw, 2, {"dup_req", "remote_access_err"}},
    {kHw, 12, {"rnr_naks_rcvd"}},
    {kHw, 100'000, {"tx_cnp_pkts", "rx_cnp_pkts"}},
    {kHw, 300'000, {"rx_ecn_marked_pkts"}},
    {kHw, 4'000'000'000'000, {"rx_roce_only_bytes", "tx_roce_only_bytes"}},
    {kHw, 1'000'000'000, {"rx_roce_only_pkts", "tx_roce_only_pkts"}},
    {kEthtool, 2'000, {"rx_pfc_ena_frames_pri3"}},
    {kEthtool, 1'000, {"tx_pfc_ena_frames_pri3"}},
    {kEthtool, 9'000, {"pfc_pri3_rx_duration_us"}},
    {kEthtool, 4'000, {"pfc_pri3_tx_duration_us"}},
    {kEthtool,
     0,
     {"continuous_roce_pause_events", "tx_stat_discard", "rx_fcs_err_frames", "rx_pcs_symbol_err",
      "rx_fec_uncorrectable_blocks", "rx_pause_frames", "tx_pause_frames"}},
    {kEthtool, 4'000'000'000'000, {"rx_bytes_pri3", "tx_bytes_pri3"}},
    {kEthtool, 4, {"rx_stat_discard"}},
    {kEthtool, 7'000'000, {"rx_corrected_bits"}},
    {kEthtool, 5'000'000, {"rx_fec_corrected_blocks"}},
    {kEthtool, 1, {"link_down_events"}},
};

const std::vector<Readings> kIce{
    {kHw, 7, {"Rcvd Out of order packets"}},
    {kHw, 3, {"Nak Sequence Error"}},
    {kHw, 1, {"RTO"}},
    {kHw, 12, {"RNR received", "RNR sent"}},
    {kHw, 0, {"CRC errors", "cnpIgnored", "ip4InDiscards"}},
    {kHw, 4, {"RetransSegs"}},
    {kHw, 100'000, {"cnpSent", "cnpHandled"}},
    {kHw, 300'000, {"RxECNMrkd"}},
    {kHw, 4'000'000'000'000, {"ip4InOctets", "ip4OutOctets"}},
    {kHw, 1'000'000'000, {"RxUDP", "TxUDP"}},
    {kEthtool, 2'000, {"rx_priority_3_xoff.nic"}},
    {kEthtool, 1'000, {"tx_priority_3_xoff.nic"}},
    {kEthtool, 0, {"link_xoff_rx.nic", "link_xoff_tx.nic", "rx_crc_errors.nic"}},
    {kEthtool, 4, {"rx_dropped.nic"}},
    {kEthtool, 1, {"mac_local_faults.nic"}},
};

const std::vector<Readings> kInfiniband{
    {kHw,
     0,
     {"out_of_sequence", "packet_seq_err", "duplicate_request", "req_transport_retries_exceeded",
      "req_rnr_retries_exceeded"}},
    {kHw, 1, {"local_ack_timeout_err", "out_of_buffer"}},
    {kHw, 12, {"rnr_nak_retry_err"}},
    {kHw, 2, {"req_cqe_error"}},
    {kPma,
     0,
     {"symbol_error", "link_error_recovery", "port_xmit_discards", "port_rcv_errors", "local_link_integrity_errors",
      "excessive_buffer_overrun_errors", "VL15_dropped", "port_rcv_remote_physical_errors"}},
    {kPma, 1, {"link_downed"}},
    {kPma, 1'000'000'000'000, {"port_xmit_data", "port_rcv_data"}},
    {kPma, 1'000'000'000, {"port_xmit_packets", "port_rcv_packets"}},
    {kPma, 4'000'000, {"port_xmit_wait"}},
};

void give_counters(Port& port, const std::vector<Readings>& readings) {
  for (const CounterSource source : {kHw, kPma, kEthtool}) test::list(port, source).clear();
  for (const Readings& each : readings)
    for (const std::string_view name : each.names) test::list(port, each.source).push_back({name, each.value});
}

Transceiver optics() {
  Transceiver out;
  out.identifier = 0x19;
  out.form_factor = "OSFP 8X";
  out.standard = "CMIS 5.0";
  out.vendor = "FINISAR CORP.";
  out.part_number = "FTCE4717E1PCB";
  out.connector = "MPO 1x12";
  out.medium = Medium::optical;
  out.state = ModuleState::ready;
  out.temperature = {52.0, ModuleFlags{}};
  out.voltage = {3.3, ModuleFlags{}};
  out.temperature_limits = {75.0, -5.0, 70.0, 0.0};
  out.voltage_limits = {3.63, 2.97, 3.465, 3.135};
  out.rx_power_limits = {3.5e-3, 0.10e-3, 2.8e-3, 0.15e-3};
  out.tx_power_limits = {3.5e-3, 0.25e-3, 2.8e-3, 0.35e-3};
  out.tx_bias_limits = {0.10, 0.01, 0.09, 0.015};
  for (unsigned lane = 1; lane <= 4; ++lane)
    out.lanes.push_back({lane,
                         {0.9e-3, ModuleFlags{}},
                         {1.2e-3, ModuleFlags{}},
                         {0.05, ModuleFlags{}},
                         false,
                         false,
                         false,
                         false,
                         false});
  return out;
}

// A port's readings other than counters, without faults.
void give_telemetry(Port& port) {
  port.link_status = LinkStatus{true, "", "", 1};
  port.fec = FecStatus{FecCode::rs, true, {5'000'000, {}}, {0, {}}, {7'000'000, {}}};
  port.module = optics();
  port.reporters = {{"fw", true, 0, 0, false}, {"fw_fatal", true, 0, 0}, {"tx", true, 0, 0}, {"rx", true, 0, 0}};
  port.resources = {{"qp", "", 66},      {"cq", "", 34},      {"mr", "", 128},
                    {"qp", "user", 64},  {"qp", "kernel", 2}, {"cq", "user", 32},
                    {"cq", "kernel", 2}, {"mr", "user", 128}, {"mr", "kernel", 0}};
}

template <class Change>
void on_each_port(Machine& machine, Change change) {
  for (Port& port : machine.now.ports) change(port);
}

struct Card {
  const char *prefix, *kernel_driver, *driver, *board, *hca;
  uint16_t vendor, device;
};

// Other NICs in the same slots.
void give_cards(Machine& machine, const Card& card) {
  Plan plan;
  for (size_t i = 0; i < machine.now.ports.size(); ++i) {
    const std::string name = card.prefix + std::to_string(i);
    Port& port = machine.now.ports[i];
    Changes changes = machine.plan.at(port.id());
    Nic& nic = machine.now.topology.nics[i];
    nic.vendor = card.vendor;
    nic.device = card.device;
    nic.name = port.rdma = name;
    nic.rdma = {name};
    port.kernel_driver = card.kernel_driver;
    port.driver = card.driver;
    port.board_id = card.board;
    port.hca_type = card.hca;
    machine.now.host->interrupts[i].nic = name;
    machine.now.platform.functions.at(nic.pci).kernel_driver = card.kernel_driver;
    for (Change& change : changes) change.port = port.id();
    plan[port.id()] = changes;
  }
  machine.plan = plan;
}

// The second reading, a minute of load after the first.
Machine& run(Machine& machine, const char* name, const char* what) {
  machine.name = name;
  machine.what = what;
  machine.now.taken = std::chrono::steady_clock::time_point{} + std::chrono::hours(24);
  machine.before = machine.now;
  machine.before.taken -= kWindow;
  on_each_port(machine, [](Port& port) { load(port, std::chrono::duration<double>(kWindow).count()); });
  return machine;
}

Machine connectx(int rails = 4) {
  Machine out(rails);
  on_each_port(out, [](Port& port) { give_counters(port, kMlx5), give_telemetry(port); });
  return out;
}

Machine mi300x_with_broadcom() {
  Machine out = connectx();
  give_cards(out, {"bnxt_re", "bnxt_en", "bnxt", "", "BCM57608", 0x14e4, 0x1760});
  on_each_port(out, [](Port& port) { give_counters(port, kBnxt); });
  for (Gpu& gpu : out.now.topology.gpus) {
    gpu.vendor = 0x1002;
    gpu.device = 0x74a1;
    gpu.model = "AMD Instinct MI300X";
    out.now.platform.functions.at(gpu.pci).kernel_driver = "amdgpu";
  }
  GpuDirect& direct = out.now.platform.gpudirect;
  direct = {};
  direct.amdgpu = true;
  direct.pci_p2pdma = direct.dmabuf_move_notify = true;
  return out;
}

Machine intel() {
  Machine out = connectx();
  give_cards(out, {"irdma", "ice", "ice", "", "E810", 0x8086, 0x1592});
  on_each_port(out, [](Port& port) {
    give_counters(port, kIce);
    port.speed = 100'000;
    port.rate = 12.5e9;
    port.module->identifier = 0x11;  // QSFP28
    port.module->form_factor = "QSFP28";
    port.module->standard = "SFF-8636";
  });
  return out;
}

Machine sub_numa() {
  Machine out = connectx();
  Topology& topology = out.now.topology;
  topology.numa_cpus = {{0, "0-15"}, {1, "16-31"}, {2, "32-47"}, {3, "48-63"}};
  topology.numa_socket = {{0, 0}, {1, 0}, {2, 1}, {3, 1}};
  for (size_t i = 0; i < out.now.ports.size(); ++i) {
    const int numa = static_cast<int>(i);
    topology.gpus[i].numa = topology.nics[i].numa = numa;
    out.now.ports[i].numa = numa;
    NicInterrupts& queues = out.now.host->interrupts[i];
    queues.numa = numa;
    queues.queues = queues.local_cpus = 16;
  }
  return out;
}

Machine infiniband() {
  Machine out = connectx();
  on_each_port(out, [](Port& port) {
    give_counters(port, kInfiniband);
    port.link_layer = LinkLayer::infiniband;
    port.netdev.clear();
    port.ifindex = 0;
    port.qos = {};
    port.gids = {
        {0, "fe80:0000:0000:0000:b83f:d203:0012:345" + port.rdma.substr(port.rdma.size() - 1), "IB/RoCE v1", ""}};
    port.speed.reset();
    port.fec.reset();
  });
  for (Nic& nic : out.now.topology.nics) nic.netdevs.clear();
  out.now.network = {};
  for (const Port& port : out.now.ports) out.now.network.pkeys[port.id()] = {0xffff};
  out.now.neighbors = {};
  out.policy.ports.clear();
  out.policy.cabling = {};
  out.plan.clear();
  return out;
}

// IPv6 alone, a subnet for each rail.
Machine ipv6() {
  Machine out = connectx();
  for (size_t i = 0; i < out.now.ports.size(); ++i) {
    Port& port = out.now.ports[i];
    Interface& interface = out.now.network.interfaces.at(port.netdev);
    const std::string subnet = "fd00:10:1:" + std::to_string(i) + "::";
    const Ip own = *parse_ip(subnet + "1"), gateway = *parse_ip(subnet + "2");
    interface.addresses->front() = {own, 64};
    interface.routes = {{*parse_ip(subnet), 64, 254}, {*parse_ip("fd00:10::"), 32, 254, gateway}};
    interface.gateways = {{gateway, NUD_REACHABLE}};
    port.gids.back().gid = gid_text(own);
  }
  return out;
}

// The rails are in one subnet, and each in a VRF of its own: routing and ARP never meet.
Machine vrf() {
  Machine out = connectx();
  test::share_subnet(out.now);
  out.now.network.rules->clear();
  for (size_t i = 0; i < out.now.ports.size(); ++i) {
    Interface& interface = out.now.network.interfaces.at(out.now.ports[i].netdev);
    interface.vrf = "rail" + std::to_string(i);
    interface.vrf_table = 201 + static_cast<uint32_t>(i);
    std::erase_if(interface.routes, [](const Route& route) { return route.table == 254; });
    interface.arp_ignore = interface.arp_announce = {0, 0};
  }
  return out;
}

// GPUs and NICs passed through: the bridges are the hypervisor's, and little of the platform is visible.
Machine guest() {
  Machine out = connectx();
  Node& now = out.now;
  now.topology.hypervisor = "KVM";
  now.platform.iommu = false;
  now.platform.iommu_groups.clear();
  for (auto& [pci, function] : now.platform.functions) function.correctable = function.nonfatal = function.fatal = {};
  now.pci_settings.reset();
  now.host->cpu.frequency.clear();
  now.host->clock = {"kvm-clock", {"kvm-clock", "tsc"}};
  return out;
}

}  // namespace

std::vector<Machine> healthy_machines() {
  std::vector<Machine> out{connectx(), connectx(8), mi300x_with_broadcom(), intel(), sub_numa(), infiniband(), guest(),
                           ipv6(),     vrf()};
  run(out[0], "hgx", "four H100, ConnectX-7");
  run(out[1], "hgx8", "eight H100, ConnectX-7");
  run(out[2], "mi300x", "four MI300X, Broadcom Thor 2");
  run(out[3], "e810", "four H100, Intel E810");
  run(out[4], "snc", "two NUMA nodes per package");
  run(out[5], "infiniband", "ConnectX-7 as InfiniBand");
  run(out[6], "guest", "a virtual machine with four GPUs and NICs of its own");
  run(out[7], "ipv6", "rails with IPv6 addresses alone");
  run(out[8], "vrf", "rails in one subnet, each in a VRF of its own");
  return out;
}

void set_fabric(Machine& machine, const Fabric& fabric) {
  machine.policy.fabric = fabric;
  for (PortPolicy& entry : machine.policy.ports) {
    entry.fabric = fabric;
    if (!fabric.is_lossy() || !entry.want.pfc) continue;
    if (!entry.traffic && entry.want.pfc->has(3)) entry.traffic = Mark{26, 3};
    entry.want.pfc = PrioSet{};
  }
  if (!fabric.is_lossy()) return;
  for (Node* node : {&machine.before, &machine.now}) {
    for (Port& port : node->ports)
      if (port.qos.pfc) port.qos.pfc = PrioSet{};
    for (Neighbor& neighbor : node->neighbors.heard)
      if (neighbor.pfc) neighbor.pfc->enabled = PrioSet{};
  }
}

}  // namespace fabric::faults
