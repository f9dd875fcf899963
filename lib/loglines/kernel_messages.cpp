// SPDX-License-Identifier: Apache-2.0
// Messages of the kernel: drivers, firmware syndromes, PCIe, netdevs.
#include "loglines/loglines.h"

namespace fabric::loglines {
namespace {

constexpr std::string_view kHealth = "Linux drivers/net/ethernet/mellanox/mlx5/core/health.c";
constexpr std::string_view kEvents = "Linux drivers/net/ethernet/mellanox/mlx5/core/events.c";
constexpr std::string_view kReporter = "devlink health show pci/{pci}";
constexpr std::string_view kModule = "ethtool -m {netdev}";

constexpr Message kMessages[] = {
    // mlx5 firmware health.
    {"mlx5-health-compromised", Cause::host, "device's health compromised",
     "The firmware of the NIC stopped counting: it hangs. The driver starts recovery; jobs on the port fail.",
     kReporter, kHealth},
    {"mlx5-fatal", Cause::host, "mlx5_*Fatal error*detected",
     "The driver found the NIC in a fatal state (PCIe access lost, firmware stopped, or reset by another function).",
     kReporter, kHealth},
    {"mlx5-synd-firmware", Cause::host, "synd 0x1: firmware internal error|firmware internal error",
     "Internal error of the NIC's firmware. Collect the dump for the vendor, and update the firmware.",
     "devlink health dump show pci/{pci} reporter fw", kHealth},
    {"mlx5-synd-irisc", Cause::host, "irisc not responding",
     "A processor of the NIC does not respond: power-cycle the node.", kReporter, kHealth},
    {"mlx5-synd-hardware", Cause::host, "unrecoverable hardware error",
     "The NIC has a hardware fault: replace it if it recurs.", kReporter, kHealth},
    {"mlx5-synd-crc", Cause::host, "firmware CRC error", "The firmware image in memory is damaged: burn it again.",
     "mstflint -d {pci} verify", kHealth},
    {"mlx5-synd-pci-fetch", Cause::host, "ICM fetch PCI error|ICM fetch PCI data poisoned error",
     "The NIC could not read host memory over PCIe: PCIe errors, an IOMMU fault or a memory error.",
     "fabric-agentctl check --only aer,pcie", kHealth},
    {"mlx5-synd-hw-fatal", Cause::host, "HW fatal error", "Fatal hardware error of the NIC.", kReporter, kHealth},
    {"mlx5-synd-async-eq", Cause::host, "async EQ buffer overrun",
     "The event queue overflowed: the host did not handle the NIC's interrupts in time.", "grep mlx5 /proc/interrupts",
     kHealth},
    {"mlx5-synd-eq", Cause::host, "synd 0x*: EQ error|synd 0x*Invalid EQ refer|synd 0x*Invalid EQ refr",
     "The NIC reports a fault of an event queue.", kReporter, kHealth},
    {"mlx5-synd-ffser", Cause::host, "FFSER error", "The NIC reports a serial link or memory fault (FFSER).", kReporter,
     kHealth},
    {"mlx5-high-temperature", Cause::host, "synd 0x*High temp|High temperature on sensors with bit set|High temprature",
     "A sensor of the NIC is too hot; the firmware may stop the NIC.", "sensors; devlink health show pci/{pci}",
     kEvents},
    {"mlx5-recovery-failed", Cause::host,
     "health recovery failed|Health recovery failed|health recovery flow aborted|NIC state*is invalid",
     "The driver could not recover the NIC. Reload the driver or power-cycle the node.", kReporter, kHealth},
    {"mlx5-iseg", Cause::host,
     "FW is unable to respond to initialization segment reads|Waiting for FW initialization, timeout|"
     "in pre-initializing state, aborting",
     "The firmware does not start or does not answer: power-cycle the node, check its image.",
     "mstflint -d {pci} query", kHealth},
    {"mlx5-load-failed", Cause::host,
     "mlx5_init_one failed with error code|mlx5_load_one failed with error code|mlx5_core: probe of*failed with error",
     "The driver could not start the NIC, and its ports are missing. The lines before this one name the step: the "
     "firmware does not answer (-110, -16), or does not fit the driver (-22).",
     "journalctl -k -g mlx5_core; mstflint -d {pci} query", "Linux drivers/net/ethernet/mellanox/mlx5/core/main.c"},
    {"mlx5-command-timeout", Cause::host,
     "timeout. Will cause a leak of a command resource|No done completion|Async, timeout*leak of a command",
     "A firmware command did not finish: the firmware hangs or PCIe lost the command.", kReporter,
     "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c"},
    {"mlx5-command-failed", Cause::software, "failed, status*, syndrome (0x|failed, status*syndrome(0x",
     "The firmware rejected a command of the driver; the syndrome is the vendor's code for the reason.",
     "mstflint -d {pci} query", "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c"},
    {"mlx5-error-cqe", Cause::host, "ERR CQE on SQ|Error cqe on cqn",
     "The NIC could not process a packet of the netdev: often a PCIe or IOMMU fault, or a driver bug.", kReporter,
     "Linux drivers/net/ethernet/mellanox/mlx5/core/en/reporter_tx.c"},
    {"mlx5-pci-error", Cause::host, "Device was enter error state|mlx5_pci_err_detected|PCI I/O error detected",
     "The PCIe slot of the NIC failed; the driver stopped and will reset the NIC.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/net/ethernet/mellanox/mlx5/core/main.c"},
    {"mlx5-dump-cqe", Cause::software, "dump error cqe|Responder error cqe on cqn|Requestor error cqe on cqn",
     "A work request of the kernel failed; the lines around this one have its status or syndrome.",
     "journalctl -k -g 'WC error|syndrome'", "Linux drivers/infiniband/hw/mlx5/cq.c"},

    // Cables and modules.
    {"module-hot", Cause::cable, "Port module event[error]*High Temperature",
     "The module in the cage is too hot, and the NIC switched it off: check airflow, then the module.", kModule,
     kEvents},
    {"module-unsupported", Cause::cable,
     "Port module event[error]*nknown identifier|Port module event[error]*nsupported cable|"
     "Port module event[error]*ong range for non|Port module event[error]*nforce part number|"
     "unsupported or unqualified module was detected|unsupported SFP",
     "The NIC does not accept the module or cable.", kModule, kEvents},
    {"module-bus", Cause::cable,
     "Port module event[error]*us stuck|Port module event[error]*ad cable|Port module event[error]*ad or shorted",
     "The NIC cannot read the module: it is damaged, or not fully inserted.", kModule, kEvents},
    {"module-shorted", Cause::cable, "Port module event[error]*able is shorted", "The cable is shorted: replace it.",
     kModule, kEvents},
    {"module-power", Cause::cable,
     "Port module event[error]*ower budget exceeded|Port module event[error]*nsufficient power",
     "The module needs more power than the cage provides.", kModule, kEvents},
    {"module-unplugged", Cause::cable, "Port module event*able unplugged|Port module event*able removed",
     "The cable or module was unplugged.", "fabric-agentctl diagnose {port}", kEvents},
    {"slot-power", Cause::host, "Detected insufficient power on the PCIe slot",
     "The PCIe slot advertises less power than the NIC needs. Some systems advertise nothing, and the line is "
     "harmless; "
     "else modules may stay off.",
     "lspci -vv -s {pci} | grep -i powerlimit", kEvents},

    // Netdevs.
    {"netdev-watchdog", Cause::host, "NETDEV WATCHDOG",
     "A transmit queue stopped: the NIC or its interrupt stopped, or the peer paused the port without end (PFC "
     "storm).",
     "fabric-agentctl diagnose {port}", "Linux net/sched/sch_generic.c"},
    {"tx-timeout", Cause::host, "TX timeout detected|TX timeout on queue|tx_timeout: VSI_num",
     "The driver found a transmit queue without progress and resets it: NIC fault, lost interrupt or PFC storm.",
     "fabric-agentctl diagnose {port}", "Linux mlx5 en_main.c, bnxt.c, ice_main.c"},
    {"link-down", Cause::cable, "mlx5_core*: Link down|ionic*: Link down|NIC Link is Down",
     "The link went down: cable, module, far end, or an administrator.", "fabric-agentctl diagnose {port}",
     "Linux mlx5 en_main.c, ice_main.c, bnxt.c, ionic_lif.c"},
    {"bond-link-down", Cause::cable, "link status definitely down|: link status down for*disabling it in",
     "A port of the bond lost its link; the bond goes on with the others, at less bandwidth.",
     "grep -A 3 Slave /proc/net/bonding/*", "Linux drivers/net/bonding/bond_main.c"},
    {"checksum-failure", Cause::host, "hw csum failure",
     "The NIC's checksum of a packet is wrong: a driver or firmware bug, or damaged memory.", "ethtool -i {netdev}",
     "Linux net/core/dev.c"},
    {"neighbor-overflow", Cause::host, "neighbor table overflow|neighbour table overflow",
     "The neighbor table is full: new peers cannot be resolved.", "sysctl net.ipv4.neigh.default.gc_thresh3",
     "Linux net/core/neighbour.c"},
    {"duplicate-address", Cause::network, "IPv6: duplicate address detected!|duplicate address*detected!",
     "Another station has the IPv6 address of this netdev; the address and its GID are not usable.",
     "ip -6 addr show dev {netdev} dadfailed", "Linux net/ipv6/addrconf.c"},

    // Other drivers.
    {"bnxt-firmware-fatal", Cause::host, "bnxt_en*irmware fatal reset event|bnxt_en*irmware non-fatal reset event",
     "The firmware of the NIC failed and is reset.", kReporter, "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-command-timeout", Cause::host,
     "bnxt_en*Error (timeout: ", "A firmware command did not finish: the firmware hangs.", kReporter,
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_hwrm.c"},
    {"bnxt-re-stalled", Cause::host, "FW STALL Detected",
     "The firmware of the NIC does not answer the commands of bnxt_re: power-cycle the node, update the firmware.",
     kReporter, "Linux drivers/infiniband/hw/bnxt_re/qplib_rcfw.c"},
    {"qp-command-failed", Cause::host,
     "Couldn't change QP1 state to|bnxt_re*Failed to create HW QP|bnxt_re*Failed to modify HW QP|"
     "bnxt_re*Failed to destroy HW QP",
     "The firmware of the NIC rejected a command for a queue pair, or did not answer it (-110).",
     "journalctl -k -g {rdma}", "Linux drivers/infiniband/core/mad.c, hw/bnxt_re/ib_verbs.c"},
    {"efa-command", Cause::host, "Failed to process command*comp_status",
     "The EFA device rejected a command of the driver: no resource left (err -12), or a wrong request.",
     "rdma resource show", "Linux drivers/infiniband/hw/efa/efa_com.c"},
    {"irdma-critical", Cause::host, "ICE OICR event notification: oicr|critical PE Error, GLPE_CRITERR",
     "The RDMA unit of the NIC reports a critical error, and irdma resets the function: update firmware and driver.",
     "journalctl -k -g irdma; ethtool -i {netdev}", "Linux drivers/infiniband/hw/irdma/icrdma_if.c"},
    {"ice-malicious", Cause::software, "Malicious Driver Detection event",
     "The NIC stopped a queue because of an invalid descriptor: a bug of its driver, or of the user of a virtual "
     "function.",
     "journalctl -k -g 'Malicious Driver'", "Linux ice_main.c, i40e_main.c"},
    {"irdma-abnormal", Cause::peer, "abnormal ae_id",
     "An asynchronous event closed a queue pair; the number is in irdma/defs.h.", "fabric-agentctl counters",
     "Linux drivers/infiniband/hw/irdma/hw.c"},

    // PCIe and IOMMU.
    {"aer-corrected", Cause::host,
     "severity=Correct|AER: Corrected error*received|AER: Multiple Corrected error*received|AER: Correctable error",
     "The PCIe link corrected an error. Many of them cost bandwidth and announce a fault of slot, riser or NIC.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/aer.c"},
    {"aer-nonfatal", Cause::host,
     "severity=Uncorrected (Non-Fatal)|severity=Uncorrectable (Non-Fatal)|Uncorrected (Non-Fatal) error*received|"
     "Uncorrectable (Non-Fatal) error*received",
     "A PCIe transaction was lost. The device may continue with wrong data, or its driver resets it.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/aer.c"},
    {"aer-fatal", Cause::host,
     "severity=Uncorrected (Fatal)|severity=Uncorrectable (Fatal)|Uncorrected (Fatal) error*received|"
     "Uncorrectable (Fatal) error*received",
     "The PCIe link failed and was reset. Reseat or replace the NIC, riser or cable if it recurs.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/aer.c"},
    {"pcie-dpc", Cause::host, "DPC: containment event", "A PCIe port cut off the devices below it after an error.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/dpc.c"},
    {"pcie-link-down", Cause::host, "pciehp*Link Down|Slot(*: Link Down",
     "The device in the slot disappeared from PCIe.", "lspci -tv", "Linux drivers/pci/hotplug/pciehp_ctrl.c"},
    {"pcie-limited", Cause::host, "available PCIe bandwidth, limited by",
     "The PCIe link of the device is slower or narrower than it could be.", "fabric-agentctl check --only pcie",
     "Linux drivers/pci/pci.c"},
    {"iommu-fault", Cause::host, "IO_PAGE_FAULT|DMAR: [DMA |arm-smmu*event*received",
     "The IOMMU blocked an access of the device: a driver bug, or GPUDirect RDMA with an IOMMU that is not in "
     "passthrough.",
     "fabric-agentctl check --only iommu", "Linux drivers/iommu"},
    {"soft-lockup", Cause::host, "soft lockup - CPU#",
     "A CPU did not schedule for many seconds. If the stack names mlx5e_napi_poll, the NIC's driver is stuck.",
     "journalctl -k -g 'soft lockup' -A 30", "Linux kernel/watchdog.c"},
    {"peermem-invalid-context", Cause::software, "nv_get_p2p_free_callback*invalid context",
     "GPU memory was freed while nvidia-peermem had it registered. NVIDIA calls the line harmless; since driver R560 "
     "it "
     "is not written.",
     "cat /proc/driver/nvidia/version", "NVIDIA open-gpu-kernel-modules nvidia-peermem.c"},
    {"gpu-xid", Cause::host, "NVRM: Xid",
     "The GPU driver reports an error; the process that used the GPU ends, and its peers see "
     "remote errors. The number is in NVIDIA's Xid catalog.",
     "nvidia-smi -q | grep -A 5 -i ecc", "NVIDIA open-gpu-kernel-modules"},
};

}  // namespace

std::span<const Message> kernel_messages() { return kMessages; }

}  // namespace fabric::loglines
