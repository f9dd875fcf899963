// SPDX-License-Identifier: Apache-2.0
// GPUs, NICs and their PCI paths, and the distance between them by nvidia-smi's definitions, from the PCI tree alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/words.h"
#include "kernel/pci/pci_device.h"

namespace fabric {

struct Kernel;

// The load of a GPU by NVML or amdgpu at the time of the scan; read only if a check uses it (node/nvml.h, gpu.h).
struct GpuLoad {
  unsigned busy = 0;                            // percent of the last sample period (NVML: up to a second)
  std::optional<unsigned> performance_state{};  // N of "PN": 0 is the fastest, 15 the slowest
  std::optional<unsigned> link_generation{};    // of PCIe, at that time
  bool operator==(const GpuLoad&) const = default;
};

struct Gpu : PciDevice {
  std::string name;                       // "GPU0" in PCI order, as nvidia-smi counts
  std::string model;                      // "NVIDIA H100 80GB HBM3" or empty
  std::string uuid{};                     // in the format of the vendor's runtime: "GPU-8a1f..."; empty: unknown
  std::vector<unsigned> vendor_index{};   // in the vendor's runtime; several: an AMD GPU in partitions
  std::optional<unsigned> minor{};        // N of /dev/nvidiaN
  std::vector<unsigned> render_minors{};  // N of /dev/dri/renderDN, in the order of vendor_index
  std::string partition{};                // AMD's compute and memory mode, "CPX/NPS4"; empty: unknown
  std::optional<GpuLoad> load{};          // absent: not asked, or unknown
  bool ports_elsewhere = false;           // its own netdevs or RDMA device (Gaudi) are in another network namespace
};
// The model without NVIDIA's name, for small tiles: "H100 80GB HBM3".
std::string short_model(const Gpu& gpu);

// The role of a PCI function of a NIC, from the evidence in node/port_role.cpp. The roles of its ports (PortRole)
// follow from it: those say more, by the port's link and by whether a physical function is here.
enum class FunctionRole : uint8_t {
  physical,            // also a guest's function: it has no `physfn`
  virtual_function,    // it has a link `physfn`
  multi_pf_secondary,  // of a NIC with one netdev for its functions, below another one (Socket Direct)
  nvlink_management,   // a function inside the machine that manages the NVLink switches (NVLSM, Fabric Manager)
  data_direct,         // a second function of a NIC, for its DMA to GPUs (ConnectX-8)
};

// A function with more lanes manages no NVLink switches. The VPD, which only root can read, decides about three and
// four lanes.
inline constexpr unsigned kMostLanesOfManagement = 4;

// NVIDIA's driver gives these neither peer-to-peer transfers nor GPUDirect RDMA.
inline bool is_geforce(const Gpu& gpu) { return gpu.model.find("GeForce") != std::string::npos; }

// A PCI function with a network or InfiniBand class, or with a netdev or an RDMA device below it.
struct Nic : PciDevice {
  std::vector<std::string> netdevs;
  std::vector<std::string> rdma;
  std::string name;  // rdma device, else netdev, else the PCI address
  // Equal for all functions of one card, even if it is connected to two sockets (socket direct, multi-host): its system
  // image GUID, else the PCI address without the function.
  std::string card{};
  FunctionRole role = FunctionRole::physical;
  std::string primary{};  // of role multi_pf_secondary: the primary function
  std::string bond{};     // the bond that its netdev is a member of
  // Its RDMA devices, and those of its subfunctions, in other network namespaces: each by its name, else by the address
  // of the function or the name of the subfunction.
  std::vector<std::string> elsewhere{};
  bool rdma_elsewhere = false;    // the function's own is one of them, or see Node::rdma_unread
  bool netdev_elsewhere = false;  // its netdev is in another network namespace
  bool subfunctions = false;      // it has subfunctions, in whatever namespace their netdevs and RDMA devices are
  // Its Data Direct function: a second PCI function for its DMA, beside a GPU (ConnectX-8 of GB300). Absent: it has
  // none, or it is unknown which of the machine's it is.
  std::optional<PciDevice> direct{};
  std::string serial{};  // of the board, by its VPD; read only if the machine has Data Direct functions, as root

  [[nodiscard]] bool is_virtual_function() const { return role == FunctionRole::virtual_function; }
};

// A CPU core: its CPUs (hardware threads) and its NUMA node.
struct Core {
  std::vector<unsigned> cpus;
  int numa = 0;
  bool operator==(const Core&) const = default;
};

// nvidia-smi's classes, nearest first.
enum class PathClass : uint8_t { PIX, PXB, PHB, NODE, SYS };
template <>
inline constexpr std::string_view kEnumWords<PathClass>[] { "PIX", "PXB", "PHB", "NODE", "SYS" };

// Whether the two ends are on one PCIe switch, so that data between them does not pass the CPU. False: unknown.
constexpr bool is_on_switch(std::optional<PathClass> path) { return path && *path <= PathClass::PXB; }

// The card of the function: Nic::card, else its slot, else (the place of a missing part) its address.
std::string card_of(const Nic& nic);

// Whether the NIC can have a Data Direct function (kernel/pci/pci_device.h).
bool can_have_data_direct(const Nic& nic);

// Whether the NIC has an RDMA device, in whatever network namespace, or is a fabric NIC that does RDMA without the
// kernel's RDMA stack (HPE Slingshot).
bool carries_rdma(const Nic& nic);

// Whether no network is reached through the function's own ports.
inline bool has_no_network(const Nic& nic) {
  switch (nic.role) {
    case FunctionRole::multi_pf_secondary:
    case FunctionRole::nvlink_management:
    case FunctionRole::data_direct: return true;
    case FunctionRole::physical:
    case FunctionRole::virtual_function: break;
  }
  return false;
}

// The machine's topology.
struct Topology {
  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
  std::map<int, std::string> numa_cpus;  // NUMA nodes with CPUs -> CPUs, "0-15,32-47"; empty on a kernel without NUMA
  std::map<int, int> numa_socket{};      // NUMA node -> its package, if the kernel reports it
  std::vector<int> memory_nodes{};       // NUMA nodes without CPUs: memory of GPUs, HBM, CXL
  std::vector<Core> cores{};             // by socket, NUMA node, number
  std::string hypervisor{};              // "QEMU", "Amazon EC2"; empty: is_guest() is false
  std::string cloud{};                   // "Oracle Cloud"; empty: none, or another (machine::cloud_name())
  // Functions of the class of accelerators that are in no list, because it is unknown what they are: FPGAs, NPUs. Each
  // with its ids and its driver: "0000:11:00.0 (1e52:401e, driver tenstorrent)".
  std::vector<std::string> unknown_accelerators{};
  std::vector<PciDevice> in_recovery{};  // NICs that did not start their firmware (is_in_flash_recovery())
  // The PCI addresses of GPUs that NVIDIA's driver has and /sys does not show: that of a container may lack some.
  std::vector<std::string> hidden_gpus{};
  std::vector<std::string> differences{};  // between hwloc and sysfs, a line each; sysfs is used
  // Whether this machine is a virtual one, as far as is known: a hypervisor may hide itself.
  [[nodiscard]] bool is_guest() const { return !hypervisor.empty(); }
};

// The class of the path between two PCI functions:
//   PIX   at most one bridge between each and their first common bridge (one switch)
//   PXB   a common bridge, more than that
//   PHB   no common bridge, same root bus
//   NODE  different root buses, same NUMA node
//   SYS   different NUMA nodes
// Absent: they share no bridge and no root bus, and a NUMA node is unknown.
std::optional<PathClass> path_class(const PciDevice& a, const PciDevice& b);

// The function that reaches the GPU by the nearest path: the NIC's own, or its Data Direct function.
const PciDevice& nearer_function(const Gpu& gpu, const Nic& nic);
// The class of the path from the GPU to that function.
std::optional<PathClass> path_class(const Gpu& gpu, const Nic& nic);

// Indices into topology.nics of the nearest NICs that carry RDMA (all of the best class), or, if no NIC carries RDMA,
// of the nearest NICs. Empty: no NICs, or their classes are unknown.
std::vector<size_t> nearest_nics(const Topology& topology, const Gpu& gpu);

// Whether the PCIe switches above GPUs are hidden (by a hypervisor, or not recorded), which makes every class wrong: no
// two devices share a bridge, and a GPU is on a root bus itself (never so in a real slot) or the machine is known to be
// virtual.
bool is_flattened(const Topology& topology);

// The NIC that has the RDMA device; null: none.
const Nic* nic_of(const Topology& topology, const std::string& rdma);
// The NIC at the PCI address; null: none, also for the empty address of a software device.
const Nic* nic_at(const Topology& topology, std::string_view pci);
// The GPU at the PCI address; null: none.
const Gpu* gpu_at(const Topology& topology, std::string_view pci);

// The package of the device's NUMA node, if the kernel reports it.
std::optional<int> socket_of(const Topology& topology, const PciDevice& device);

// How many bridges each of two functions has below the first bridge that they share; nullopt: they share none.
std::optional<std::pair<size_t, size_t>> below_shared(const PciDevice& a, const PciDevice& b);

// One link: its end away from the root complex (a device, or a switch's upstream port), and the port above it (a root
// port, or a switch's downstream port).
struct PcieHop {
  std::string lower, upper;
  bool operator==(const PcieHop&) const = default;
};

// Every link above the function, nearest first. A switch is two bridges with no link between them, so that from the
// function up links and switches alternate (PCI Express base specification 6.0, chapter 1.3).
std::vector<PcieHop> hops_above(const PciDevice& function);

// The ports of the first shared switch towards each of the two functions. Data between the functions turns around
// between these ports; it passes every other bridge straight up or down. Empty: no bridge is shared.
std::vector<std::string> turning_ports(const PciDevice& a, const PciDevice& b);

// The topology of the running machine or of a captured tree by hwloc: by discovery, from the capture's kHwlocFile
// (topology_xml.h), or with the tree as HWLOC_FSROOT. sysfs adds by PCI address what hwloc lacks: link width and speed,
// netdevs and RDMA devices, NUMA nodes, functions in domains wider than 16 bits, and everything if hwloc cannot read
// the tree. If the two differ, sysfs is used and Topology::differences reports it. ENOENT: `kernel.root` has no sysfs.
// EOVERFLOW: more GPUs, or GPUs and NICs, than any machine has (kMostGpus, kMostPaths).
Result<Topology> load_topology(const Kernel& kernel);

// Limits of the number of GPUs and of paths between GPUs and NICs, and so of the size of every output. EOVERFLOW:
// above.
inline constexpr size_t kMostGpus = 1'024, kMostPaths = size_t{1} << 20;
Result<Topology> bounded(Topology topology);

// Sorts functions into GPUs and NICs of `machine` in PCI order, and names them. `found` has every function that may be
// a GPU or a NIC. A GPU has its model in `name` and its UUID in `card`, a NIC its system image GUID in `card`; each may
// be empty.
Topology sort_topology(std::vector<Nic> found, Topology machine);

}  // namespace fabric
