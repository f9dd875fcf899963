// SPDX-License-Identifier: Apache-2.0
// Facts about a NIC other than its settings and counters, by its kernel driver.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernel/pci/pci_device.h"

namespace fabric {

// PFC_STORM_PREVENTION_AUTO of linux/ethtool.h: the PFC watchdog has the time that the driver or its firmware chooses.
inline constexpr uint32_t kAutomaticPfcWatchdog = 65535;

struct Capabilities {
  bool priority_bytes = false;  // counts RDMA traffic per priority
  // Its RDMA hardware counters are those of queue pairs in the function's counter set. Queue pairs that a library makes
  // for GPUs through DEVX are in none: counter_set_id 0 in ibgda.cpp of NVSHMEM 3.4 and mlx5.cpp of MORI.
  bool counts_by_queue_pair = false;
  bool resends_on_other_paths = false;  // ACK timeouts are normal: the transport sends again over other paths
  // After a warning of a PFC storm the NIC stops sending pause (Broadcom: PFC of the RoCE queue is turned off).
  bool storm_warning_stops_pause = false;
  uint32_t longest_pfc_watchdog = 0;  // milliseconds; 0: unknown, then the driver knows what "auto" is
  double transmit_wait_bytes = 0;     // the fewest bytes in a tick of PortXmitWait (InfiniBand); 0: unknown
  // The command that switches off the LLDP agent in the NIC's firmware, which consumes the frames; empty: there is
  // none.
  std::string_view lldp_agent_off{};
  bool devlink_reload = false;          // its devlink_ops have reload_down() and reload_up()
  bool breaks_nvidia_smi_topo = false;  // nvidia-smi topo -m fails while such a device exists
  bool is_software = false;             // RDMA by the CPUs, over any netdev
  // A device of this driver sends by a netdev that another driver has made, on another PCI function: the MTU of that
  // netdev is the device's.
  bool sends_by_other_netdev = false;
  // The command that changes a port of the driver from iWARP to RoCE; {pci} is the address of the function. Empty: such
  // a NIC has no RoCE, or has it always.
  std::string_view roce_switch{};
  // A function that a cloud makes for its instances: no driver of a physical one is public.
  bool only_in_clouds = false;
  // On Ethernet, too, the node GUID of a virtual function is the one that its host has given it; zero: it gave none.
  bool guid_by_host = false;
  // The parameters of devlink that switch the RDMA device of a function on and off; empty: there are none.
  std::string_view rdma_parameters{};
  // The vendor's programs that write the NIC's firmware, and that show its settings; {pci} is the address of the
  // function. Empty: not known.
  std::string_view firmware_update{}, firmware_settings{};
  // The command that shows the module of a port without a netdev; {device} is the RDMA device. Empty: ethtool -m alone.
  std::string_view module_command{};
};

// All false or 0 for an unknown driver.
const Capabilities& capabilities_of(std::string_view kernel_driver);

// The kernel modules that a NIC needs for RDMA.
struct RdmaModules {
  std::string_view function;  // the driver of its PCI function
  std::string_view rdma;      // the one that makes the RDMA device; may be the same
  unsigned most_ports = 0;    // a card that is split into more ports has no RDMA; 0: no such limit
  std::string_view former{};  // the module that `rdma` has replaced
};
// Matches the driver that is bound, else the PCI ids. Null: not known as a NIC with RDMA.
const RdmaModules* rdma_modules_of(std::string_view kernel_driver, uint16_t vendor, uint16_t device);

// Whether a NIC needs the kernel module for RDMA.
bool is_rdma_module(std::string_view module);

// The kernel modules that only make the RDMA devices of functions with another driver, in a fixed order, each once with
// the drivers of its functions: irdma with ice and i40e.
struct RdmaModule {
  std::string_view name;
  std::vector<std::string_view> functions;
};
std::vector<RdmaModule> rdma_modules();

// The vendors of NICs. One that was bought has a row for each of its names.
struct NicVendor {
  uint16_t id = 0;          // of PCI
  std::string_view name;    // in small letters: "nvidia"
  std::string_view driver;  // of the functions of its NICs
};
std::span<const NicVendor> nic_vendors();

// Whether the vendor makes NICs for its own cloud alone (Capabilities::only_in_clouds).
bool is_cloud_vendor(uint16_t vendor);

// Whether a port of the NIC with these PCI ids ("15b3:1021") is in InfiniBand or in Ethernet mode, as it was
// configured.
bool has_both_link_layers(std::string_view pci_id);

// Whether the ids ("15b3:101e") are of a virtual function, which in a guest has no physical one, or of a function that
// a cloud makes for its instances. For mlx4, mlx5, bnxt, qede, ionic, iavf, idpf, hns3, efa, mana and erdma, by their
// tables (mlx4/main.c, mlx5/core/main.c, bnxt.c, qede_main.c, hnae3.h, efa_main.c, gdma_main.c, erdma_main.c; of
// Linux 6.12).
bool is_guests_function(std::string_view pci_id);

// Whether the ids are of a host's physical function of a BlueField (mlx5_core_pci_table in mlx5/core/main.c, Linux
// 6.12), whose E-Switch its Arm cores may own.
bool is_dpu_function(std::string_view pci_id);

// The second function of a ConnectX-8, by which its DMA reaches GPUs (mlx5_data_direct_pci_table in
// drivers/infiniband/hw/mlx5/data_direct.c, Linux 6.12).
bool is_data_direct(const PciDevice& function);

// The provider of libibverbs for the RDMA devices of this kernel driver: "mlx5" of libmlx5-rdmav34.so. Empty: unknown.
// `former`: of rdma-core before the provider replaced it.
struct VerbsProvider {
  std::string_view name{}, former{};
  std::string_view psm_prefix{};  // the devices that PSM2 finds have names with it: "hfi1_"; empty: no PSM2
};
VerbsProvider verbs_provider_of(std::string_view kernel_driver);
// Whether the provider is one of these.
bool is_known_provider(std::string_view name);

// The beginnings of the names of RDMA devices, before a number or a place: "mlx5_" of the kernel's names, "rocep" of
// those that rdma-core's rules for udev give (kernel-boot/rdma_rename.c).
std::span<const std::string_view> rdma_name_heads();
// Whether the text is like the name of an RDMA device: a beginning, and a digit at the end.
bool is_like_rdma_name(std::string_view text);
// Whether the text, in small letters, has a word of RDMA's devices or drivers: "mlx5_0", "bnxt_en", "libirdma".
bool mentions_rdma_device(std::string_view text);

// The driver of an RDMA device without a device below it: soft-RoCE names its netdev in the file `parent`
// (drivers/infiniband/sw/rxe/rxe_verbs.c), soft-iWARP has protocol "iw". Empty: neither.
std::string_view software_driver(bool has_parent_file, std::string_view protocol);

}  // namespace fabric
