// SPDX-License-Identifier: Apache-2.0
// PCIe, IOMMU, CPUs and memory, as the kernel reports them.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr LineMessage of_aer(Aer bit, LineMessage row) {
  row.aer = bit;
  return row;
}

constexpr LineMessage kKernelRows[] = {
    // PCIe and IOMMU.
    of_aer(
        Aer::corrected,
        {"aer-corrected",
         host,
         "severity=Correct|AER: Corrected error*received|AER: Multiple Corrected error*received|AER: Correctable error|"
         "AER: Multiple Correctable error",
         {"The PCIe link corrected an error. Many of them cost bandwidth and announce a fault: the device below this "
          "port may leave the bus next. ",
          {Work::in_machine, "Reseat the device or its riser, then look at slot and power."}},
         "fabric-agentctl check --only aer,pcie",
         "Linux drivers/pci/pcie/aer.c"}),
    {"aer-nonfatal", host,
     "severity=Uncorrected (Non-Fatal)|severity=Uncorrectable (Non-Fatal)|Uncorrected (Non-Fatal) error*received|"
     "Uncorrectable (Non-Fatal) error*received",
     "A PCIe transaction was lost. The device may continue with wrong data, or its driver resets it.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/aer.c"},
    {"aer-fatal",
     host,
     "severity=Uncorrected (Fatal)|severity=Uncorrectable (Fatal)|Uncorrected (Fatal) error*received|Uncorrectable "
     "(Fatal) error*received",
     {"The PCIe link failed and was reset. ",
      {Work::in_machine, "Reseat or replace the NIC, riser or cable if it recurs."}},
     "fabric-agentctl check --only aer,pcie",
     "Linux drivers/pci/pcie/aer.c"},
    of_aer(Aer::surprise_down,
           {"aer-surprise-down",
            host,
            "",
            {"The PCIe link below this port went down while it was in use: the device left the bus. ",
             {Work::in_machine, "Check its power, slot, riser and cable, or the device itself."}},
            "lspci -tv; fabric-agentctl check --only aer,pcie",
            "Linux drivers/pci/pcie/aer.c"}),
    of_aer(Aer::uncorrected,
           {"aer-uncorrected", host, "",
            "Detail of a PCIe error that was not corrected: the line before names the severity and the device.",
            "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/aer.c"}),
    {"aer-no-details", none, "AER: found *details for",
     "A PCIe device sent an error message, and its registers have no details (any more). Harmless alone; other AER "
     "lines of the port tell more.",
     "fabric-agentctl check --only aer", "Linux drivers/pci/pcie/aer.c"},
    {"aer-not-recovered", host, "AER: device recovery failed|AER: can't recover|AER: subordinate device reset failed",
     "After a PCIe error, Linux could not restore the device, or one beside it. The device works again only after its "
     "driver is loaded again, or the node is restarted.",
     "lspci -tv; fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/err.c"},
    {"pcie-serr", host, "NMI: PCI system error (SERR)",
     "A device reports a fatal PCIe error (SERR). The kernel does not know which device: read the log of the BMC, and "
     "the AER lines around this one.",
     "ipmitool sel elist; fabric-agentctl check --only pcie,aer", "Linux arch/x86/kernel/nmi.c"},
    {"pci-no-room-for-vfs",
     host,
     "not enough MMIO resources for SR-IOV|SR-IOV: bus number out of range|can't enable * VFs (bus * out of range",
     {"The BIOS left too little address space, or too few bus numbers, for the virtual functions of this device. ",
      {Work::in_machine,
       "Enable SR-IOV and 'Above 4G decoding' in the BIOS, or boot with pci=realloc (bus numbers: "
       "pci=assign-busses)."}},
     "lspci -vvs {pci} | grep -A9 SR-IOV; cat /proc/cmdline",
     "Linux drivers/pci/iov.c"},
    {"pci-function-no-answer",
     host,
     "unknown header type 7f, ignoring device",
     {"A PCI function was listed and does not answer: its configuration space reads as ones (7f). A virtual function "
      "fails so if the bridge above does not forward its address (ARI forwarding is off, bus numbers), or if the "
      "device or its firmware did not make it. ",
      {Work::in_machine, "Enable SR-IOV and ARI in the BIOS, update the firmware of the device, or try another slot."}},
     "lspci -tv; lspci -vvs {pci}; journalctl -k -g 'SR-IOV|ARI'",
     "Linux drivers/pci/probe.c pci_setup_device()"},
    {"pci-probe",
     host,
     "PCI device*, aborting|PCI resources, aborting|PCI regions*, aborting|requesting BARs, aborting|set PCI DMA mask|"
     "DMA masks, aborting|does not support DMA, aborting|mapping initialization segment|device registers, "
     "aborting|doorbell registers, aborting|memory-map BAR|Failed to remap regs bar",
     {"The driver could not start the PCI device, so that its netdev and RDMA device are missing: the BIOS gave its "
      "registers (BAR) no address, another driver (vfio-pci) or a module of another release has them, the platform or "
      "the IOMMU allows no DMA for it, or the device does not answer. Look in the kernel log for \"can't assign\" "
      "and for errors of the device before this line. ",
      {Work::in_machine, "Enable Above 4G Decoding in the BIOS, or boot with pci=realloc. "},
      {Work::in_machine, "Power-cycle the node if the device does not answer."}},
     "lspci -vvks {pci}; journalctl -k -g {pci}; fabric-agentctl check --only pcie,iommu",
     "Linux mlx5/core/main.c, bnxt/bnxt.c, ionic_bus_pci.c, amzn-drivers ena_netdev.c"},
    {"pcie-dpc-access",
     host,
     "DPC: RP PIO error detected|DPC: rp_pio_status: |DPC: [*Request Completion Timeout|DPC: [*Request received "
     "UR|DPC: [*Request received "
     "CA",
     {"The root port cut off the devices below it (downstream port containment), because an access of the CPU to one "
      "of them got no answer, or was refused (RP PIO): the device hangs, its firmware failed, or it is gone. The line "
      "names the port; look for the device below it, and for its own errors before this line. ",
      {Work::in_machine, "Reseat or replace the device if it recurs."}},
     "lspci -tv; fabric-agentctl check --only aer,pcie",
     "Linux drivers/pci/pcie/dpc.c"},
    {"pcie-dpc", host,
     "DPC: containment event|DPC: unmasked uncorrectable error detected|DPC: ERR_FATAL detected|DPC: ERR_NONFATAL "
     "detected",
     "A PCIe port cut off the devices below it after an uncorrectable error (downstream port containment): the device, "
     "its slot or riser. The AER lines of the port have the kind of error.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/dpc.c"},
    {"pcie-link-down", host, "pciehp*Link Down|Slot(*: Link Down|Slot(*: Card not present",
     "The device in the slot disappeared from PCIe.", "lspci -tv", "Linux drivers/pci/hotplug/pciehp_ctrl.c"},
    {"pcie-no-answer",
     host,
     "Unable to change power state from *device inaccessible|: not ready *; giving up|DPC: root port still busy",
     {"The device does not answer on PCIe: it has fallen off the bus, or did not come back after a reset or a sleep "
      "state (D3; runtime power management can be switched off: amdgpu.runpm=0, pcie_port_pm=off). ",
      {Work::in_machine, "Power-cycle the node; reseat the device if it recurs."}},
     "lspci -tv; fabric-agentctl check --only pcie,aer,pci-power",
     "Linux drivers/pci/pci.c"},
    {"pcie-power-fault", host, "Slot(*: Power fault|pciehp: Power fault",
     "The PCIe slot reports a fault of its power, and the device in it is gone: a short circuit, a power cable, or the "
     "device.",
     "lspci -tv", "Linux drivers/pci/hotplug/pciehp_ctrl.c"},
    {"pcie-retrain",
     host,
     "retraining non-functional downstream link at",
     {"The PCIe link below this bridge did not come up, and Linux tries it at 2.5 GT/s: the device in the slot is "
      "missing, or slow. ",
      {Work::in_machine, "Reseat the device, riser or cable."}},
     "lspci -tv; fabric-agentctl check --only pcie",
     "Linux drivers/pci/quirks.c"},
    {"pcie-limited",
     host,
     "available PCIe bandwidth, limited by",
     {"The PCIe link of the device is slower or narrower than it could be. The port that the line names is the upper "
      "end of the slowest link of the path. If it is the slot's, a network port faster than the available bandwidth "
      "does not reach its rate. With several ports of the NIC, the link is shared. ",
      {Work::in_machine,
       "Use a slot with more lanes or a newer generation, or correct the lanes (bifurcation) and the speed of this one "
       "in the firmware setup."}},
     "fabric-agentctl check --only pcie; lspci -vv -s {pci} | grep -E 'LnkCap|LnkSta'",
     "Linux drivers/pci/pci.c"},
    {"iommu-fault", host,
     "IO_PAGE_FAULT|DMAR: [DMA |DMAR: [INTR-REMAP]|DMAR: INTR-REMAP: Request|Event logged "
     "[INVALID_DEVICE_REQUEST|Event logged [ILLEGAL_DEV_TABLE_ENTRY|Event logged [INVALID_PPR_REQUEST|Event logged "
     "[RMP_PAGE_FAULT|arm-smmu*event*received|arm-smmu*event: * client: ",
     "The IOMMU blocked an access, or an interrupt (INTR-REMAP), of the device that the line names: a fault of its "
     "driver or firmware (also when the machine shuts down or the device was reset), or GPUDirect RDMA with an IOMMU "
     "that is not in passthrough (iommu=pt on the kernel command line).",
     "fabric-agentctl check --only iommu", "Linux drivers/iommu"},
    {"iommu-tables",
     host,
     "Event logged [*_HARDWARE_ERROR |Event logged [ILLEGAL_COMMAND_ERROR",
     {"The IOMMU could not read or use its own tables or commands in the memory of the host: an error of the memory or "
      "of the platform, or of the kernel. The device in the line only made the access at which it was found. Look for "
      "errors of memory (EDAC, MCE) and of PCIe; update BIOS and kernel. ",
      {Work::in_machine, "Power-cycle the node if it recurs."}},
     "journalctl -k -g 'AMD-Vi|EDAC|mce|AER'; ipmitool sel elist",
     "Linux drivers/iommu/amd/iommu.c"},
    {"iommu-timeout", host,
     "AMD-Vi: *Completion-Wait loop timed out|arm-smmu*CMDQ timeout|arm-smmu*CMD_SYNC timeout|IOTLB_INV_TIMEOUT|VT-d "
     "detected Invalidation Time-out",
     "The IOMMU waits for a device that does not answer an invalidation: a GPU or NIC has fallen off the bus or hangs. "
     "This line (IOTLB_INV_TIMEOUT) or the lines around it name the device.",
     "journalctl -k -g 'AMD-Vi|DMAR|AER'; fabric-agentctl check --only pcie,aer",
     "Linux drivers/iommu/amd/iommu.c, intel/dmar.c"},
    {"soft-lockup", host,
     "soft lockup - CPU#|hard LOCKUP on cpu|self-detected stall on CPU|detected stalls on CPUs|BUG: workqueue lockup",
     "A CPU did not schedule for many seconds. If the stack names mlx5e_napi_poll, the NIC's driver is stuck.",
     "journalctl -k | grep -A 30 -E 'lockup|LOCKUP|stall'", "Linux kernel/watchdog.c, kernel/rcu/tree_stall.h"},
    {"hung-task", host, "INFO: task *blocked for more than",
     "A process has waited in the kernel for minutes, and cannot be killed. The stack below the line names the driver "
     "that it waits for: a NIC's or GPU's firmware that hangs, or a file system.",
     "journalctl -k | grep -A 30 'blocked for more'", "Linux kernel/hung_task.c"},
    {"cpu-throttled",
     host,
     "temperature above threshold, cpu clock throttled|temperature is above threshold, cpu clock is throttled",
     {"A CPU is too hot and runs more slowly: its processes post receives late, and the other ranks wait. ",
      {Work::at_machine, "Check fans, airflow and power limits."}},
     "sensors; grep . /sys/devices/system/cpu/cpu0/thermal_throttle/*",
     "Linux drivers/thermal/intel/therm_throt.c"},
    {"library-segfault", software,
     "segfault at *in libnccl|segfault at *in librccl|segfault at *in libibverbs|segfault at *in libmlx5",
     "A process crashed inside this library: a bug, or libraries and drivers of releases that do not fit together. The "
     "process ends, and its peers see retry or remote errors.",
     "coredumpctl list; grep -h 'NCCL version' FILE", "Linux arch/x86/mm/fault.c"},
    {"out-of-memory", software,
     "ut of memory: Killed process|oom_kill event in StepId|invoked oom-killer: gfp_mask|Out of memory and no killable "
     "processes|oom-kill:constraint=|slurm*memory limit exceeded|Exceeded job memory limit|Exceeded step memory "
     "limit|srun: error: *: Out Of Memory|DataLoader worker (pid *is killed by signal: Killed",
     "Linux killed a process because memory, or the limit of its cgroup (of a Slurm job: --mem), was used up. If the "
     "process was a rank of the job, its peers see retry or remote errors.",
     "journalctl -k -g 'oom-kill'", "Linux mm/oom_kill.c"},
    {"page-pool-stalled", host, "page_pool_release_retry*stalled pool",
     "Pages of a receive queue that no longer exists were not given back (inflight), and hold memory, mostly the "
     "netdev too: a socket or a program that has the packets still, or a driver or another part of the kernel that "
     "lost the pages (update the kernel). The line repeats until they are back.",
     "ss -tmi; ethtool -i {netdev}; uname -r", "Linux net/core/page_pool.c"},
    {"page-allocation-failed", host, "page allocation failure: order:|page allocation stalls for",
     "The kernel could not allocate contiguous memory for a driver or process (order N: 2^N pages). Memory is "
     "fragmented, mostly by the page cache, or used up; at order 0 the host has no free memory. NIC drivers drop "
     "packets or fail to create queues in this state. Raise vm.min_free_kbytes, or leave more memory free.",
     "cat /proc/buddyinfo; free -m; sysctl vm.min_free_kbytes", "Linux mm/page_alloc.c warn_alloc()"},
    {"hugepages-short", host,
     "HugeTLB: allocating * failed|HugeTLB: *ignoring|HugeTLB: unsupported|HugeTLB: Invalid|HugeTLB: huge pages not "
     "supported|HugeTLB: Ignoring|killed due to inadequate hugepage pool|hugetlb_cma: *failed|hugetlb_cma: *invalid",
     "The kernel could not reserve the huge pages that its command line or a program requested. The memory of the NUMA "
     "node is too small or already fragmented, the size or the syntax of the option is not valid, or the pool was too "
     "small for a process, which was killed. DPDK, SPDK, UCX or a database then fails to start or uses small pages.",
     "grep Huge /proc/meminfo; cat /proc/cmdline; grep . /sys/devices/system/node/node*/hugepages/*/nr_hugepages",
     "Linux mm/hugetlb.c"},
    {"interrupt-unhandled", host, "nobody cared (try booting with|Disabling IRQ #",
     "No driver handled an interrupt that occurred repeatedly, and the kernel disabled it. The device of this "
     "interrupt works slowly (by polling) or not at all until a reboot. Usual causes: a device that was reset or "
     "removed, or a fault of its driver or firmware.",
     "cat /proc/interrupts; lspci -vv | grep -i interrupt", "Linux kernel/irq/spurious.c"},
    {"swiotlb-full", host,
     "swiotlb buffer is full|software IO TLB: *ailed|Can not allocate SWIOTLB|software IO TLB: Cannot|software IO TLB: "
     "No low mem",
     "The bounce buffers for DMA (swiotlb) are used up or could not be allocated, and a driver's request fails. "
     "Devices use bounce buffers if memory is encrypted (a confidential virtual machine), if a device cannot address "
     "all memory of the host, or with swiotlb=force. Enlarge the buffers (swiotlb=N on the kernel command line), or "
     "use the IOMMU.",
     "cat /proc/cmdline; cat /sys/kernel/debug/swiotlb/io_tlb_*; journalctl -k -g 'IO TLB'",
     "Linux kernel/dma/swiotlb.c"},
    {"pci-payload",
     host,
     "Max Payload Size *, but upstream",
     {"This PCIe device and the bridge above it have different maximum payload sizes, so the device reports large "
      "packets from the bridge as malformed TLPs. The mismatch is common behind hotplug slots and in virtual "
      "machines. ",
      {Work::ends_jobs, "Boot with pci=pcie_bus_safe. "},
      {Work::in_machine, "Or correct the setting in the BIOS."}},
     "lspci -vv -s {pci} | grep MaxPayload; cat /proc/cmdline",
     "Linux drivers/pci/probe.c pci_configure_mps()"},
    // Before the rows of the module that it names.
    {"module-absent", host, "modprobe: FATAL: Module * not found|modprobe: ERROR: *Module * not found",
     "The running kernel has no module of this name: the package with it is not installed for this kernel (extra "
     "kernel modules, the driver's own package, DKMS that was not built after an update), the kernel was built without "
     "it, or the name is wrong.",
     "uname -r; find /lib/modules/$(uname -r) -name 'NAME*'; dkms status; grep -i NAME /boot/config-$(uname -r)",
     "kmod tools/modprobe.c"},
    {"module-symbols", host,
     "rdma: disagrees about version of symbol|rdma: Unknown symbol|_ib: disagrees about version of symbol|_ib: Unknown "
     "symbol|bnxt_re: disagrees about version of symbol|bnxt_re: Unknown symbol|symbol nvidia_p2p_",
     "The kernel rejected a module: it was built for another kernel or RDMA stack (Linux's own RDMA modules beside "
     "those of OFED or of the NIC's vendor), or a module that it needs is missing. Build the module again for the "
     "stack in use; nvidia-fs for this GPU driver, with its open kernel modules.",
     "dkms status; modinfo -n ib_core mlx5_core bnxt_re irdma ionic_rdma", "Linux kernel/module/main.c"},
    {"memory-error", host,
     "EDAC MC* CE |EDAC MC* UE |Memory failure: 0x|mce: [Hardware Error]: Machine check|[Hardware Error]: CPU *: "
     "Machine Check|mce: Uncorrected hardware memory error|mce: Kernel accessed poison|mce: Memory error not "
     "recovered|mce: Uncorrected memory error in page",
     "A memory module or the CPU reported an error. An uncorrected one (UE) ends the process that used the page; many "
     "corrected ones (CE) announce a failing module.",
     "grep . /sys/devices/system/edac/mc/mc*/[cu]e_count", "Linux drivers/edac/edac_mc.c, mm/memory-failure.c"},
    {"platform-error", host,
     "[Hardware Error]: Hardware error from APEI|[Hardware Error]: event severity: |[Hardware Error]:*section_type: ",
     "The platform's firmware, which handles hardware errors before Linux sees them, reports an error. The lines with "
     "the same number in braces name its kind (section_type) and the device.",
     "journalctl -k -g 'Hardware Error'", "Linux drivers/acpi/apei/ghes.c, drivers/firmware/efi/cper.c"},
};

}  // namespace

const std::span<const LineMessage> kKernelMessages = kKernelRows;

}  // namespace fabric::lines
