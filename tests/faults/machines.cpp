// SPDX-License-Identifier: Apache-2.0
#include "faults/machines.h"

#include <span>

#include "counters/catalogue.h"
#include "support/healthy_network.h"

namespace fabric::faults {
namespace {

constexpr CounterSource kHw = CounterSource::hw, kPma = CounterSource::pma, kEthtool = CounterSource::ethtool;
constexpr std::chrono::seconds kWindow{60};

// A counter of a driver, and what it says on a machine that has run for some weeks.
struct Reading {
  CounterSource source;
  std::string_view name;
  uint64_t value;
};

constexpr Reading kMlx5[] = {
    {kHw, "out_of_sequence", 7},
    {kHw, "packet_seq_err", 3},
    {kHw, "implied_nak_seq_err", 0},
    {kHw, "local_ack_timeout_err", 1},
    {kHw, "duplicate_request", 2},
    {kHw, "req_transport_retries_exceeded", 0},
    {kHw, "req_rnr_retries_exceeded", 0},
    {kHw, "rnr_nak_retry_err", 12},
    {kHw, "out_of_buffer", 1},
    {kHw, "rx_icrc_encapsulated", 0},
    {kHw, "req_cqe_error", 2},
    {kHw, "req_cqe_flush_error", 400},
    {kHw, "req_remote_access_errors", 0},
    {kHw, "np_cnp_sent", 100'000},
    {kHw, "rp_cnp_handled", 100'000},
    {kHw, "rp_cnp_ignored", 0},
    {kHw, "np_ecn_marked_roce_packets", 300'000},
    {kHw, "roce_adp_retrans", 0},
    {kHw, "rx_write_requests", 9'000'000},
    {kPma, "symbol_error", 5},
    {kPma, "link_downed", 1},
    {kPma, "link_error_recovery", 0},
    {kPma, "port_xmit_data", 1'000'000'000'000},
    {kPma, "port_rcv_data", 1'000'000'000'000},
    {kPma, "port_xmit_packets", 1'000'000'000},
    {kPma, "port_rcv_packets", 1'000'000'000},
    {kPma, "port_xmit_discards", 0},
    {kPma, "port_rcv_errors", 0},
    {kPma, "port_xmit_wait", 4'000'000},
    {kEthtool, "rx_vport_rdma_unicast_bytes", 4'000'000'000'000},
    {kEthtool, "tx_vport_rdma_unicast_bytes", 4'000'000'000'000},
    {kEthtool, "rx_vport_rdma_unicast_packets", 1'000'000'000},
    {kEthtool, "tx_vport_rdma_unicast_packets", 1'000'000'000},
    {kEthtool, "rx_prio3_pause", 2'000},
    {kEthtool, "tx_prio3_pause", 1'000},
    {kEthtool, "rx_prio3_pause_duration", 9'000},
    {kEthtool, "tx_prio3_pause_duration", 4'000},
    {kEthtool, "rx_prio3_bytes", 4'000'000'000'000},
    {kEthtool, "tx_prio3_bytes", 4'000'000'000'000},
    {kEthtool, "rx_prio3_discards", 4},
    {kEthtool, "rx_prio3_buf_discard", 0},
    {kEthtool, "rx_prio3_cong_discard", 0},
    {kEthtool, "rx_discards_phy", 4},
    {kEthtool, "tx_discards_phy", 0},
    {kEthtool, "rx_crc_errors_phy", 0},
    {kEthtool, "rx_symbol_err_phy", 0},
    {kEthtool, "rx_pcs_symbol_err_phy", 0},
    {kEthtool, "rx_corrected_bits_phy", 7'000'000},
    {kEthtool, "link_down_events_phy", 1},
    {kEthtool, "rx_out_of_buffer", 0},
    {kEthtool, "tx_pause_storm_warning_events", 0},
    {kEthtool, "tx_pause_storm_error_events", 0},
    {kEthtool, "outbound_pci_stalled_rd_events", 0},
    {kEthtool, "outbound_pci_stalled_wr_events", 0},
    {kEthtool, "outbound_pci_buffer_overflow", 0},
    {kEthtool, "rx_pci_signal_integrity", 0},
    {kEthtool, "module_unplug", 0},
    {kEthtool, "module_high_temp", 0},
};

constexpr Reading kBnxt[] = {
    {kHw, "oos_drop_count", 7},
    {kHw, "seq_err_naks_rcvd", 3},
    {kHw, "missing_resp", 0},
    {kHw, "to_retransmits", 1},
    {kHw, "dup_req", 2},
    {kHw, "max_retry_exceeded", 0},
    {kHw, "rnr_naks_rcvd", 12},
    {kHw, "rx_out_of_buffer", 1},
    {kHw, "rx_roce_discards", 0},
    {kHw, "tx_roce_discards", 0},
    {kHw, "remote_access_err", 2},
    {kHw, "tx_cnp_pkts", 100'000},
    {kHw, "rx_cnp_pkts", 100'000},
    {kHw, "rx_ecn_marked_pkts", 300'000},
    {kHw, "rx_roce_only_bytes", 4'000'000'000'000},
    {kHw, "tx_roce_only_bytes", 4'000'000'000'000},
    {kHw, "rx_roce_only_pkts", 1'000'000'000},
    {kHw, "tx_roce_only_pkts", 1'000'000'000},
    {kHw, "res_tx_pci_err", 0},
    {kEthtool, "rx_pfc_ena_frames_pri3", 2'000},
    {kEthtool, "tx_pfc_ena_frames_pri3", 1'000},
    {kEthtool, "pfc_pri3_rx_duration_us", 9'000},
    {kEthtool, "pfc_pri3_tx_duration_us", 4'000},
    {kEthtool, "continuous_roce_pause_events", 0},
    {kEthtool, "rx_bytes_pri3", 4'000'000'000'000},
    {kEthtool, "tx_bytes_pri3", 4'000'000'000'000},
    {kEthtool, "rx_stat_discard", 4},
    {kEthtool, "tx_stat_discard", 0},
    {kEthtool, "rx_fcs_err_frames", 0},
    {kEthtool, "rx_pcs_symbol_err", 0},
    {kEthtool, "rx_corrected_bits", 7'000'000},
    {kEthtool, "rx_fec_corrected_blocks", 5'000'000},
    {kEthtool, "rx_fec_uncorrectable_blocks", 0},
    {kEthtool, "link_down_events", 1},
    {kEthtool, "rx_pause_frames", 0},
    {kEthtool, "tx_pause_frames", 0},
};

constexpr Reading kIce[] = {
    {kHw, "Rcvd Out of order packets", 7},
    {kHw, "Nak Sequence Error", 3},
    {kHw, "RTO", 1},
    {kHw, "RNR received", 12},
    {kHw, "RNR sent", 12},
    {kHw, "CRC errors", 0},
    {kHw, "RetransSegs", 4},
    {kHw, "cnpSent", 100'000},
    {kHw, "cnpHandled", 100'000},
    {kHw, "cnpIgnored", 0},
    {kHw, "RxECNMrkd", 300'000},
    {kHw, "ip4InOctets", 4'000'000'000'000},
    {kHw, "ip4OutOctets", 4'000'000'000'000},
    {kHw, "RxUDP", 1'000'000'000},
    {kHw, "TxUDP", 1'000'000'000},
    {kHw, "ip4InDiscards", 0},
    {kEthtool, "rx_priority_3_xoff.nic", 2'000},
    {kEthtool, "tx_priority_3_xoff.nic", 1'000},
    {kEthtool, "link_xoff_rx.nic", 0},
    {kEthtool, "link_xoff_tx.nic", 0},
    {kEthtool, "rx_dropped.nic", 4},
    {kEthtool, "rx_crc_errors.nic", 0},
    {kEthtool, "mac_local_faults.nic", 1},
};

constexpr Reading kInfiniband[] = {
    {kHw, "out_of_sequence", 0},
    {kHw, "packet_seq_err", 0},
    {kHw, "local_ack_timeout_err", 1},
    {kHw, "duplicate_request", 0},
    {kHw, "req_transport_retries_exceeded", 0},
    {kHw, "req_rnr_retries_exceeded", 0},
    {kHw, "rnr_nak_retry_err", 12},
    {kHw, "out_of_buffer", 1},
    {kHw, "req_cqe_error", 2},
    {kPma, "symbol_error", 0},
    {kPma, "link_downed", 1},
    {kPma, "link_error_recovery", 0},
    {kPma, "port_xmit_data", 1'000'000'000'000},
    {kPma, "port_rcv_data", 1'000'000'000'000},
    {kPma, "port_xmit_packets", 1'000'000'000},
    {kPma, "port_rcv_packets", 1'000'000'000},
    {kPma, "port_xmit_discards", 0},
    {kPma, "port_rcv_errors", 0},
    {kPma, "port_xmit_wait", 4'000'000},
    {kPma, "local_link_integrity_errors", 0},
    {kPma, "excessive_buffer_overrun_errors", 0},
    {kPma, "VL15_dropped", 0},
    {kPma, "port_rcv_remote_physical_errors", 0},
};

void give_counters(Port& port, std::span<const Reading> readings) {
  port.counters.hw.clear();
  port.counters.pma.clear();
  port.counters.ethtool.clear();
  for (const Reading& each : readings) {
    auto& list = each.source == kHw    ? port.counters.hw
                 : each.source == kPma ? port.counters.pma
                                       : port.counters.ethtool;
    list.push_back({std::string(each.name), each.value});
  }
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
  port.fec = FecStatus{"rs", true, {5'000'000, {}}, {0, {}}, {7'000'000, {}}};
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
    port.gids = {{0, "fe80:0000:0000:0000:b83f:d203:0012:3450", "IB/RoCE v1", ""}};
    port.speed.reset();
    port.fec.reset();
  });
  for (Nic& nic : out.now.topology.nics) nic.netdevs.clear();
  out.now.network = {};
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
    interface.gateways = {{gateway, "REACHABLE"}};
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

}  // namespace fabric::faults
