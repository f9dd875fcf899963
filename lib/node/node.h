// SPDX-License-Identifier: Apache-2.0
// One snapshot of the machine, which scan/ fills from the kernel and everything else judges. No I/O here.
#pragma once

#include <chrono>

#include "kernel/pci/pci_device.h"
#include "kernel/rdma/port.h"
#include "kernel/telemetry.h"
#include "node/host.h"
#include "node/inventory_part.h"
#include "node/network.h"
#include "node/platform.h"
#include "setting/reading.h"
#include "wire/neighbor.h"
#include "wire/transceiver.h"

namespace fabric {

struct Gpu : PciDevice {
  std::string name;                       // "GPU0" in PCI order, as nvidia-smi counts
  std::string model;                      // "NVIDIA H100 80GB HBM3" or empty
  std::string uuid{};                     // as the vendor's runtime takes it: "GPU-8a1f..."; empty: unknown
  std::vector<unsigned> vendor_index{};   // its numbers in the vendor's runtime; several: an AMD GPU in partitions
  std::optional<unsigned> minor{};        // N of /dev/nvidiaN
  std::vector<unsigned> render_minors{};  // N of /dev/dri/renderDN, in the order of vendor_index
  std::string partition{};                // AMD's compute and memory mode, "CPX/NPS4"; empty: unknown
};

// A PCI function with a network or InfiniBand class, or below which the kernel shows a netdev or an RDMA device.
struct Nic : PciDevice {
  std::vector<std::string> netdevs;
  std::vector<std::string> rdma;
  std::string name;  // rdma device, else netdev, else the PCI address
  // Equal for functions of one card, also where it is plugged into two sockets (socket direct, multi-host): its system
  // image GUID, else the PCI address without the function.
  std::string card{};
  bool virtual_function = false;
  std::string bond{};           // the bond that its netdev is a member of
  bool rdma_elsewhere = false;  // its RDMA device is in another network namespace: a container's
  bool subfunctions = false;    // it has some, whatever namespace their netdevs and RDMA devices are in
  // Its Data Direct function: a second way of its DMA, beside a GPU (ConnectX-8 of GB300).
  std::optional<PciDevice> direct{};
};

// A CPU core: its CPUs (hardware threads), "4,100", and where it sits.
struct Core {
  std::vector<unsigned> cpus;
  int numa = 0;
  bool operator==(const Core&) const = default;
};

// nvidia-smi's classes, nearest first.
enum class PathClass : uint8_t { PIX, PXB, PHB, NODE, SYS };
template <>
inline constexpr std::string_view kEnumWords<PathClass>[] { "PIX", "PXB", "PHB", "NODE", "SYS" };

// Can have a Data Direct function (kernel/pci/pci_device.h).
bool can_have_data_direct(const Nic& nic);

// Has an RDMA device, in whatever network namespace, or is a fabric NIC that does RDMA without the kernel's RDMA stack
// (HPE Slingshot).
bool carries_rdma(const Nic& nic);

// The machine's topology. A class is absent where a NUMA node is unknown and no bridge is shared.
struct Topology {
  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
  std::map<int, std::string> numa_cpus;    // NUMA node with CPUs -> them, "0-15,32-47"; empty on a kernel without NUMA
  std::map<int, int> numa_socket{};        // and the package that they are on, if the kernel reports it
  std::vector<int> memory_nodes{};         // NUMA nodes without CPUs: memory of GPUs, HBM, CXL
  std::vector<Core> cores{};               // by socket, NUMA node, number
  std::string hypervisor{};                // "QEMU", "Amazon EC2"; empty: real hardware, or unknown
  std::vector<std::string> differences{};  // between hwloc and sysfs, a line each; sysfs is used
  std::optional<std::vector<Nic>> gone{};  // NICs of the inventory that are not on the bus; absent: no inventory
};

// A port of an RDMA device and the netdev it sits on: the unit of settings, checks and metrics.
struct Port {
  std::string rdma;  // "mlx5_0"
  unsigned number = 1;
  std::string netdev;  // empty on InfiniBand or where none is attached
  int ifindex = 0;
  std::vector<std::string> altnames{};  // other names of the netdev
  std::string pci;                      // of the function below it; empty for software devices
  // What identifies the card's port wherever it is plugged in: "serial:MT2244X12345/0.1" (of the board, with function
  // and port; read on request), else card_address. Empty: not known, or a software device.
  std::string card{};
  // "mac:b8:3f:d2:00:00:01" (permanent address), else "guid:b83f:d203:0000:0001/1" (of the RDMA device, and the port).
  std::string card_address{};
  std::string pci_id;  // vendor and device of that function: "15b3:1021"; empty for software devices
  // "compute": its NIC hangs below the same host bridge as a GPU, or nearer; else "host". Empty: the topology was not
  // read.
  std::string role;
  std::string bond;           // the bond it is (same name as netdev) or, scanned as a port of its own, is a member of
  std::string left_alone;     // why its settings cannot be managed here: "subfunction: ..."; empty: they can be kept
  std::string kernel_driver;  // driver of the PCI function ("mlx5_core"), else the RDMA link type ("rxe"), else empty
  std::string driver_version{};  // of its module; of the kernel's own drivers the kernel's release
  std::string driver;            // our driver's name for it ("mlx5", "upstream"): see lib/nic/
  std::string firmware;          // fw_ver
  std::string board_id;          // PSID and the like
  std::string hca_type;
  std::optional<int> numa;
  bool virtual_function = false;  // or subfunction, or representor: settings belong to the PF then
  bool iwarp = false;             // RDMA over TCP, not RoCE
  bool usnic = false;             // Cisco's datagrams from user space, not RoCE
  LinkLayer link_layer = LinkLayer::unknown;
  std::optional<unsigned> state;       // IB port state: 1 DOWN .. 4 ACTIVE
  std::optional<unsigned> phys_state;  // 2 Polling, 3 Disabled, 5 LinkUp, ...
  std::optional<double> rate;          // bytes per second by the port's IB rate or, for Ethernet, the netdev's speed
  std::optional<uint32_t> speed;       // netdev speed, Mb/s
  std::optional<bool> carrier;
  std::optional<uint32_t> active_mtu;  // path MTU in bytes; from verbs, else by iboe_get_mtu() of the netdev MTU
  std::vector<Gid> gids;
  Qos qos;                          // settings as read
  Capacity capacity;                // and what they could be
  std::vector<std::string> unread;  // what could not be read, with the reason: "ethtool statistics: ... (EPERM)"
  PortCounters counters;
  std::optional<LinkStatus> link_status{};  // the reason for link down; absent: not reported by the driver
  std::optional<FecStatus> fec{};
  std::optional<Transceiver> module{};      // module in the cage; absent: none, not readable, or not read
  std::vector<ResourceCount> resources{};   // of the whole device
  std::vector<HealthReporter> reporters{};  // of the function

  [[nodiscard]] std::string id() const;  // "mlx5_0/1"; of a bond's member "mlx5_bond_0/1@ens1f0np0"
  // A bond's member, scanned as a port of its own: it has a cable, a module and a netdev; what RDMA counts is the
  // bond's.
  [[nodiscard]] bool is_member() const;
};

// What agentd says of one setting of one port (its state file).
struct SettingState {
  std::string outcome{};  // to_text(Outcome)
  std::string detail{};
  uint64_t repairs = 0;
  std::string last_repair{};  // RFC 3339, empty: never
  // Drift: it was in sync, and then differed.
  std::map<std::string, uint64_t> drifts{};  // how often, by class of cause (to_text(Cause))
  std::string last_drift{};                  // RFC 3339, empty: never
  std::string drift_from{}, drift_to{};      // of the last one: the wanted and the found value
  std::string drift_by{};                    // and its likely cause in words: "lldpad (pid 812)"
  bool operator==(const SettingState&) const = default;
};

// agentd's published state, as /run/fabric-agent/state.json holds it.
struct AgentState {
  bool running = false;                   // holds its lock now
  std::string mode;                       // "audit" / "enforce"
  std::string updated;                    // RFC 3339
  std::string config_error;               // of the last reload, empty when good
  std::string held;                       // why the policy is not enforced just now; empty: it is
  std::string originals_error{};          // why the original settings cannot be read; empty: they can
  std::vector<std::string> lost_entry{};  // ports that no [[port]] entry matches any more since a reload
  std::map<std::string, std::map<std::string, SettingState>> ports;  // port id -> setting key -> state
  bool operator==(const AgentState&) const = default;
};

struct Node {
  std::string hostname;
  std::chrono::steady_clock::time_point taken{};
  Topology topology;
  std::vector<Port> ports;
  std::optional<Host> host;              // absent: not asked for
  Network network{};                     // addresses, routes, ARP settings of the ports' netdevs
  std::optional<AgentState> agent;       // absent: no state file readable
  std::string agent_unread;              // why, where there is one
  std::optional<Inventory> inventory{};  // the last good state; absent: none was recorded
  std::string inventory_unread{};        // why it cannot be read, where there is one
  Neighbors neighbors{};                 // who is at the other end of the cables, so far as anybody listens
  std::vector<std::string> unseen;       // what this caller lacked the privilege to read, in words
  Platform platform{};
  std::optional<PciState> pci_settings{};  // absent: neither published by fabric-agent-pci.service nor readable here
};

namespace qos {

// The settings of this port: all of them; for a bond (mlx5 RoCE LAG) its MTU and those of the RDMA device; for a member
// of a bond the others, because PFC, buffers, rings and so on belong to the physical function.
Keys own_keys(const Port& port);

}  // namespace qos

}  // namespace fabric
