// SPDX-License-Identifier: Apache-2.0
// GPUs, NICs and their PCI paths; the distance between them by nvidia-smi's definitions, from the PCI tree alone.
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

// The class of the path between two PCI functions:
//   PIX   at most one bridge between each and their first common bridge (one switch)
//   PXB   a common bridge, more than that
//   PHB   no common bridge, same root bus
//   NODE  different root buses, same NUMA node
//   SYS   different NUMA nodes
// Absent when they share no bridge and no root bus, and a NUMA node is unknown.
std::optional<PathClass> path_class(const PciDevice& a, const PciDevice& b);

// The function by which the NIC reaches the GPU: its own, or its Data Direct function where that is nearer.
const PciDevice& nearer_function(const Gpu& gpu, const Nic& nic);
// The class of the path from the GPU to that function.
std::optional<PathClass> path_class(const Gpu& gpu, const Nic& nic);

// The NICs with an RDMA device that are nearest to the GPU (all of the best class), as indices into topology.nics.
// Without RDMA NICs, the nearest of all NICs. Empty: no NICs, or their classes are unknown.
std::vector<size_t> nearest_nics(const Topology& topology, const Gpu& gpu);

// Whether the PCIe switches above GPUs are hidden (by a hypervisor, or not recorded), which makes every class wrong: no
// two devices share a bridge, and a GPU sits on a root bus itself (never so in a real slot) or the machine is known to
// be virtual.
bool is_flattened(const Topology& topology);

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

// The ports of the first shared switch towards each of the two: data from one to the other turns around between them,
// and passes any other bridge straight up or down. Empty: no bridge is shared.
std::vector<std::string> turning_ports(const PciDevice& a, const PciDevice& b);

// hwloc is configured by environment variables and can crash on damaged input, so each discovery and each trial load of
// an unknown file runs in a child process, which sends XML back.
inline constexpr size_t kMaxHwlocXml = size_t{64} << 20;

// hwloc's XML (format 2) of the running machine ("/") or of a raw sysfs tree (HWLOC_FSROOT). Serial numbers, host
// name and addresses are left out, and so are OS devices: their names are read from sysfs.
Result<std::string> discover_hwloc_xml(const std::string& root);

// Every PCI function, and the machine around them. `machine` has numa_cpus, numa_socket, memory_nodes, cores and
// hypervisor.
struct HwlocView {
  std::vector<Nic> functions;  // of a GPU, `name` is its model and `card` its UUID, where hwloc knows them
  Topology machine;
};
// `name` is for the message. `trusted`: written by discover_hwloc_xml(); other text is tried in a child first.
Result<HwlocView> parse_hwloc_xml(const std::string& text, const std::string& name, bool trusted = false);

// Where a captured tree keeps hwloc's XML.
inline constexpr const char* kHwlocFile = "fabric-agent/hwloc.xml";
// The question on the tape whose answer it is.
inline constexpr const char* kHwlocQuestion = "hwloc topology";

// The running machine's or a captured tree's, as hwloc sees it: by discovery, from the capture's kHwlocFile, or with
// the tree as HWLOC_FSROOT. sysfs adds by PCI address what hwloc lacks: link width and speed, netdevs and RDMA devices,
// NUMA nodes, functions in domains wider than 16 bits, and all of a tree that hwloc cannot read. If the
// two differ, sysfs is used and Topology::differences reports it.
// ENOENT: `kernel.root` holds no sysfs. EOVERFLOW: more GPUs, or GPUs and NICs, than any machine has (kMostGpus,
// kMostPaths).
Result<Topology> load_topology(const Kernel& kernel);

// From an hwloc XML file (version 1 or 2, as lstopo writes it; "-" is standard input), at most 64 MiB. A message says
// why it was refused. Links are absent.
Result<Topology> load_topology_xml(const std::string& file);

// The number of paths between GPUs and NICs, and with it the size of every output, has a limit.
inline constexpr size_t kMostGpus = 1'024, kMostPaths = size_t{1} << 20;
Result<Topology> bounded(Topology topology);

// Sorts functions into GPUs and NICs of `machine` in PCI order and names them. `found` holds every function that may be
// one: of a GPU, `name` is its model and `card` its UUID; of a NIC, `card` is its system image GUID; each may be empty.
Topology sort_topology(std::vector<Nic> found, Topology machine);

}  // namespace fabric
