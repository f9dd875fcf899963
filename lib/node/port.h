// SPDX-License-Identifier: Apache-2.0
// A port of an RDMA device, and its kind.
#pragma once

#include "base/find.h"
#include "base/words.h"
#include "kernel/rdma/port.h"
#include "kernel/telemetry.h"
#include "setting/reading.h"
#include "wire/transceiver.h"

namespace fabric {

// The kind of a port. Its reader decides it once, from the evidence in node/port_role.cpp (bond_members() for a bond's
// members); all other code uses the role, or one of the questions below that the role answers. A new role needs a line
// here, its evidence there, and an answer to each question.
enum class PortRole : uint8_t {
  physical,            // of a physical function, or of a software device
  switchdev_uplink,    // the wire's port of an E-Switch in switchdev mode: RoCE runs over the functions behind it
  virtual_function,    // its PCI function has a link `physfn`, and the physical function has its devices here
  guest_function,      // a virtual function or subfunction whose physical one is not here: in a guest, or in a pod
  subfunction,         // its device is an auxiliary device, "mlx5_core.sf.4"
  representor,         // the E-Switch's port for a virtual function or subfunction: phys_port_name "pf0vf3"
  plane,               // one of three or more ports of an RDMA device: each leads to a plane of the network
  smi,                 // of an SMI sub-device, which carries management packets only: no program can open it
  data_direct,         // on a Data Direct function, by which the DMA of another function reaches GPUs
  multi_pf_secondary,  // on a function whose NIC has one netdev for its functions, below another one (Socket Direct)
  nvlink_management,   // a function inside the machine that manages the NVLink switches (NVLSM, Fabric Manager)
  dpu_owned,           // a host's function of a DPU that owns the E-Switch: the settings are the DPU's
  bond,                // its RDMA device sits on a bond (mlx5 RoCE LAG)
  bond_member,         // a member of that bond, scanned as a port of its own
  netdev_elsewhere,    // an Ethernet port whose netdev is missing or in another network namespace
};
template <>
inline constexpr std::string_view kEnumWords<PortRole>[] {
  "physical", "switchdev-uplink", "virtual-function", "guest-function", "subfunction", "representor", "plane", "smi",
      "data-direct", "multi-pf-secondary", "nvlink-management", "dpu-owned", "bond", "bond-member", "netdev-elsewhere"
};

// Where the NIC of a port is, for match.role of a policy: its place alone, so that no lost link or part changes the
// settings of a port. Whether the NIC serves a GPU is Built::serves_gpu() (topology/built.h).
enum class PortPlace : uint8_t {
  compute,  // it shares a host bridge or a nearer bridge with a GPU
  host,
};
template <>
inline constexpr std::string_view kEnumWords<PortPlace>[] { "compute", "host" };

// By the node type of the RDMA device. infiniband: InfiniBand's transport, also over Ethernet (RoCE); iwarp: RDMA over
// TCP; usnic: Cisco's datagrams from user space.
enum class RdmaTransport : uint8_t { infiniband, iwarp, usnic };

// The parts of a port that are read. `other`: a part that no rule names.
enum class PortPart : uint8_t { other, netdev, speed, rate, state, mtu, gids, eswitch, settings };

// A part of a port that could not be read.
struct UnreadPart {
  PortPart part = PortPart::other;
  std::string why;  // "ethtool statistics: ... (EPERM)"
  bool operator==(const UnreadPart&) const = default;
};

// LACP (802.3ad): the aggregator of a bond's member, and the one that the bond uses. Other aggregators carry nothing.
struct Aggregator {
  unsigned own = 0, of_bond = 0;
  bool operator==(const Aggregator&) const = default;
};

// The settings of a bond that decide about its links (Documentation/networking/bonding.rst of Linux).
struct BondSettings {
  std::string mode;           // "802.3ad", "active-backup"
  bool is_unwatched = false;  // neither miimon nor arp_interval is set: it does not see that a member lost its link
  bool operator==(const BondSettings&) const = default;
};

// A port of an RDMA device and the netdev it sits on: the unit of settings, checks and metrics.
struct Port {
  std::string rdma;  // "mlx5_0"
  unsigned number = 1;
  std::string netdev;  // empty: InfiniBand, or none is attached
  int ifindex = 0;
  std::vector<std::string> altnames{};  // other names of the netdev
  std::string pci;                      // address of its PCI function; empty for software devices
  // Identifies the card's port in whichever slot the card is: "serial:MT2244X12345/0.1" (serial number of the board,
  // function and port; read on request), else card_address. Empty: unknown, or a software device.
  std::string card{};
  // "mac:b8:3f:d2:00:00:01" (permanent address), else "guid:b83f:d203:0000:0001/1" (of the RDMA device, and the port).
  std::string card_address{};
  std::string pci_id;  // vendor and device of that function: "15b3:1021"; empty for software devices
  PortRole role = PortRole::physical;
  // The physical function of a virtual function, "0000:17:00.0"; the primary function of a secondary one; the device of
  // a subfunction, "mlx5_core.sf.4", also of role guest_function; the RDMA device of an SMI sub-device, if the kernel
  // names it.
  std::string owner{};
  std::optional<unsigned> vf{};  // the number of a virtual function that is not ACTIVE: `ip link set PF vf N`
  // The E-Switch above its netdev is in switchdev mode. Role switchdev_uplink says so; a bond over such ports and a
  // port whose netdev is elsewhere have no other sign.
  bool switchdev = false;
  std::optional<PortPlace> place{};  // nullopt: the topology was not read
  bool no_node_guid = false;         // the node GUID of its mlx5 device is zero: the host gave the function none
  std::string bond;  // of role bond: the bond, which is also its netdev; of role bond_member: the bond above it
  std::optional<BondSettings> bonding{};  // of role bond; absent: unknown
  std::string kernel_driver;  // driver of the PCI function ("mlx5_core"), else the RDMA link type ("rxe"), else empty
  std::string driver_version{};  // of its module, else the kernel's release
  std::string driver;            // our driver's name for it ("mlx5", "upstream"): see lib/nic/
  std::string firmware;          // fw_ver
  std::string board_id;          // PSID and the like
  std::string hca_type;
  std::optional<int> numa;
  RdmaTransport transport = RdmaTransport::infiniband;
  LinkLayer link_layer = LinkLayer::unknown;
  std::optional<unsigned> state;       // kPortDown, kPortActive, ... (kernel/rdma/port.h)
  std::optional<unsigned> phys_state;  // kPhysPolling, kPhysLinkUp, ...
  // Bytes per second: the netdev's speed, else the rate of the RDMA port. A VF has the bandwidth that verbs report.
  std::optional<double> rate;
  std::optional<IbWidth> width{};  // InfiniBand: of the link
  // The driver reports no width of the link, so that the kernel answers EINVAL for the rate (rate_show() in
  // drivers/infiniband/core/sysfs.c, Linux 6.12; mana_ib).
  bool has_no_width = false;
  std::optional<uint32_t> speed;  // netdev speed, Mb/s
  std::optional<bool> carrier;
  std::optional<Aggregator> aggregator{};  // of a bond's member; absent: the bond does not use LACP, or unknown
  std::optional<uint32_t> active_mtu;      // path MTU in bytes; from verbs, else by iboe_get_mtu() of the netdev MTU
  std::vector<Gid> gids;
  unsigned full_gid_table = 0;  // the number of entries of its GID table, all of them used; 0: one is free, or unknown
  Qos qos;                      // settings as read
  Capacity capacity;            // the limits of these settings
  std::vector<UnreadPart> unread;
  PortCounters counters;
  std::optional<LinkStatus> link_status{};  // with the reason for link down; absent: not reported by the driver
  std::optional<FecStatus> fec{};
  std::optional<Transceiver> module{};      // module in the cage; absent: none, not readable, or not read
  std::vector<ResourceCount> resources{};   // of the whole device
  std::vector<HealthReporter> reporters{};  // of the function

  [[nodiscard]] std::string id() const;  // "mlx5_0/1"; for a bond's member "mlx5_bond_0/1@ens1f0np0"
  // A bond's member, scanned as a port of its own: it has a cable, a module and a netdev; the bond has the RDMA
  // counters.
  [[nodiscard]] bool is_member() const { return role == PortRole::bond_member; }
};

// Whether the id of a port, or a name, is of this device: "mlx5_0/1" and "mlx5_0" of mlx5_0.
inline bool is_of_device(std::string_view id, std::string_view device) {
  return id.starts_with(device) && (id.size() == device.size() || id[device.size()] == '/');
}
// The port with this Port::id(); nullptr: none.
inline const Port* find_port(const std::vector<Port>& ports, std::string_view id) {
  return find_where(ports, [&](const Port& port) { return id.starts_with(port.rdma) && port.id() == id; });
}

// Whether both have the same Port::id(), which costs more.
inline bool is_same_port(const Port& a, const Port& b) {
  return a.rdma == b.rdma && a.number == b.number && a.is_member() == b.is_member() &&
         (!a.is_member() || a.netdev == b.netdev);
}

// The same port in an earlier or later snapshot: of this name, and of the same device. Null: none.
inline const Port* find_same_port(const std::vector<Port>& ports, const Port& port) {
  return find_where(ports, [&](const Port& other) { return is_same_port(other, port) && other.pci == port.pci; });
}

// Whether the port has no wire of its own: no cable, no module, and no settings of its own. The ports of functions for
// guests and containers are added and removed with these.
inline bool is_virtual(const Port& port) {
  switch (port.role) {
    case PortRole::virtual_function:
    case PortRole::guest_function:
    case PortRole::subfunction:
    case PortRole::representor:
    case PortRole::smi:
    case PortRole::data_direct:
    case PortRole::multi_pf_secondary:
    case PortRole::nvlink_management: return true;
    case PortRole::physical:
    case PortRole::switchdev_uplink:
    case PortRole::plane:
    case PortRole::dpu_owned:
    case PortRole::bond:
    case PortRole::bond_member:
    case PortRole::netdev_elsewhere: break;
  }
  return false;
}

// Whether RDMA connections of programs end at this port, so that its transport is judged: loss, retries, GIDs, MTU,
// state. False for ports that no program opens, and for the uplink of an E-Switch in switchdev mode that has no GIDs
// (mlx5: raw packets alone, mlx5_port_rep_immutable() in hw/mlx5/main.c of Linux 6.12).
inline bool is_endpoint(const Port& port) {
  switch (port.role) {
    case PortRole::representor:
    case PortRole::smi:
    case PortRole::data_direct:
    case PortRole::multi_pf_secondary:
    case PortRole::nvlink_management:
    case PortRole::bond_member: return false;
    case PortRole::physical:
    case PortRole::switchdev_uplink:
    case PortRole::virtual_function:
    case PortRole::guest_function:
    case PortRole::subfunction:
    case PortRole::plane:
    case PortRole::dpu_owned:
    case PortRole::bond:
    case PortRole::netdev_elsewhere: break;
  }
  return !port.switchdev || !port.gids.empty();
}

// Whether settings are read and compared, and never written: the Arm cores of the DPU program them, and repeated writes
// would fight with them or be refused for ever.
inline bool is_audit_only(const Port& port) { return port.role == PortRole::dpu_owned; }

// The states that the kernel shows: "DOWN, Disabled"; "ACTIVE, LinkUp, no carrier" of a member without a link, whose
// bond has one; "not known" if the RDMA state could not be read.
std::string link_state_text(const Port& port);
// The link in a word, by the questions below (is_up() and its neighbors): "up", "down", "not active" (INIT and ARMED),
// "state not known".
std::string_view link_word(const Port& port);
// The speed of a port that is up, "200 Gb/s"; without it, and of other ports, link_word().
std::string link_summary(const Port& port);

// "200 Gb/s"
std::string rate_text(double bytes_per_second);

// Four digits, or a whole number from 10,000 on, without trailing zeros: "2.5", "16", "50000".
std::string number_text(double value);

// Whether everything at the port is judged: its wire, its settings and its transport. False for ports without a wire
// (is_endpoint() then decides about their transport) and members of a bond, which are checked with the bond.
inline bool is_judged(const Port& port) { return !is_virtual(port) && !port.is_member(); }

// The wire's port of an E-Switch in switchdev mode, without GIDs of its own: RoCE runs over the functions behind it.
inline bool is_bare_uplink(const Port& port) { return is_judged(port) && !is_endpoint(port); }

// Whether the device is this machine's, with its driver, firmware, health and interrupts: also a guest's or a pod's
// virtual function, whose wire and settings are on the host.
inline bool is_own_device(const Port& port) { return is_judged(port) || port.role == PortRole::guest_function; }

// Whether the port has a cage for a module. A virtual function shows the module of its physical one; a bond has none.
inline bool has_cage(const Port& port) {
  return !port.netdev.empty() && !is_virtual(port) && port.role != PortRole::bond && !port.pci.empty();
}

// Whether the device, or the last one of a path, is a subfunction's: "mlx5_core.sf.4" (mlx5/core/sf/dev/dev.c).
inline bool is_subfunction_device(std::string_view device) { return device.find(".sf.") != std::string_view::npos; }

// Whether the port is of a subfunction, here or in a pod.
inline bool is_subfunction(const Port& port) { return is_subfunction_device(port.owner); }

// Why the port's settings cannot be managed: "subfunction (mlx5_core.sf.4): set on ..."; empty: they can.
std::string why_unmanageable(const Port& port);

// -- The link. A port can be neither active nor down: INIT and ARMED (InfiniBand without its subnet manager), unknown.
// A bond's member has the RDMA state of the bond, and a carrier of its own.

// The RDMA state is ACTIVE. A member is as active as its bond.
inline bool is_active(const Port& port) { return port.state == kPortActive; }
// ACTIVE, or its state could not be read.
inline bool may_be_active(const Port& port) { return port.state.value_or(kPortActive) == kPortActive; }
// No link: DOWN, or the netdev has no carrier, whatever the RDMA state. A member with carrier has a link, also if the
// bond is DOWN (LACP has no partner).
inline bool is_down(const Port& port) {
  if (port.is_member() && port.carrier) return !*port.carrier;
  return port.carrier == false || port.state == kPortDown;
}
// ACTIVE, and this port has a link: packets travel over it.
inline bool is_up(const Port& port) { return is_active(port) && !is_down(port); }

// iWARP (soft-iWARP, Chelsio, Intel in that mode) runs over TCP, without RoCE GIDs and RoCE path MTU.
inline bool is_roce(const Port& port) {
  return port.link_layer == LinkLayer::ethernet && port.transport == RdmaTransport::infiniband;
}

// Why programs that connect queue pairs by verbs alone (NCCL, NVSHMEM, UCX) cannot use the port, whatever its state.
// Empty: its transport allows them to.
std::string_view why_not_by_verbs(const Port& port);
// The command that changes the port from iWARP to RoCE. Empty: it does not run iWARP, or its NIC has no RoCE.
std::string roce_command(const Port& port);

// Whether two ports are of one kind of card: same driver, model and board.
bool are_of_one_board(const Port& a, const Port& b);
// Whether two ports should be equal: of one board, with the same link layer, and in the same position on the card (the
// second port of a dual-port card often serves another network).
bool are_twins(const Port& a, const Port& b);
// Whether they are two ports of one card that are equal but for their place: functions .0 and .1, or port 1 and 2.
bool are_of_one_card(const Port& a, const Port& b);

// True if Port::unread has the part. The netdev's index, MTU, addresses and carrier are one part, `netdev`, without
// which nothing shows which device it is. `eswitch`: whether the E-Switch of a port without any GID is in switchdev
// mode, which explains it.
bool is_unread(const Port& port, PortPart part);

// The reason in Port::unread for the part, else "not readable as this user, or ...".
std::string why_unread(const Port& port, PortPart part);

namespace qos {

// The settings that belong to this port: for a bond (mlx5 RoCE LAG) the MTU and the settings of the RDMA device; for a
// member of a bond the others, because PFC, buffers, rings and so on belong to the physical function; else all.
Keys own_keys(const Port& port);

}  // namespace qos

}  // namespace fabric
