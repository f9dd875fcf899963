// SPDX-License-Identifier: Apache-2.0
// More of the kernel: drivers of NICs and GPUs, PCIe, IOMMU, RDMA storage, and services of the GPUs.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr LineMessage kRows[] = {
    {"bnxt-completion",
     host,
     "Resp cmpl intr err msg|bnxt_en*hwrm_ring_free|hwrm_ring_free*failed|bnxt_en*Error (timeout) "
     "cmd|bnxt_en*hwrm_*failed. rc|Error sending ring_free",
     {"The firmware of the Broadcom NIC did not answer or refused a command in time (to free or allocate a ring): the "
      "firmware hangs, or on a virtual function the driver of the PF does. Update firmware and driver (bnxt_en, "
      "bnxt_re) together; ",
      {Work::in_machine, "power-cycle the node if the NIC stays so."}},
     "journalctl -k -g bnxt_en; devlink dev info pci/{pci}",
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-rdma-resource", host,
     "QPLIB: alloc HWQ failed|QPLIB: Alloc*fail|bnxt_re*Create CQ failed|bnxt_re*Create QP failed|bnxt_re*Failed to "
     "register|exceeds the max*bnxt|Max QPs exceeded|Max CQs exceeded|bnxt_re*requested*max|bnxt_re*Failed to modify "
     "QP",
     "The RDMA driver of the Broadcom NIC (bnxt_re) could not make an object: the queue pairs, completion queues or "
     "memory regions of the NIC or virtual function are used up, the program asks for more than it has, or the "
     "firmware refused it (the line before). Compare rdma resource show with ibv_devinfo -v.",
     "rdma resource show; ibv_devinfo -v -d {rdma} | grep max_; devlink dev info pci/{pci}",
     "Linux drivers/infiniband/hw/bnxt_re"},
    {"ice-tx-queues", host,
     "Number of in use tx queues changed|invalidating tc mappings|Priority traffic classification disabled",
     "The number of transmit queues of the netdev was changed (ethtool -L, a bond, a driver that loads again), so that "
     "the mapping of priorities to traffic classes is gone: DCB classes (PFC, ETS) do not apply to sent packets any "
     "more. Set the traffic classes again (dcb, lldptool, tc mqprio) after the change of queues.",
     "ethtool -l {netdev}; dcb ets show dev {netdev}; tc qdisc show dev {netdev}", "Linux net/core/dev.c"},
    {"ice-dcb", host,
     "ice*Failed to set local DCB|ice*DCB*failed|Failed to set DCB*config|ice*PFC*not|ice*DCB "
     "config|i40e*DCB*failed|Failed to init DCB|Query QoS*failed|dcbnl*failed",
     "The driver of the Intel NIC could not apply a DCB setting (PFC, ETS): the LLDP agent in the firmware owns it "
     "(private flag fw-lldp-agent), or the sum or number of classes is not valid. Switch the agent off (ethtool "
     "--set-priv-flags DEV fw-lldp-agent off) to set it from Linux, then set it again.",
     "ethtool --show-priv-flags {netdev}; dcb pfc show dev {netdev}",
     "Linux drivers/net/ethernet/intel/ice/ice_dcb_lib.c"},
    // After nvidia_peermem's own row. The beginning of the symbol names the stack that the module does not fit.
    {"module-other-stack", host,
     "version of symbol ib_|version of symbol rdma_|version of symbol mlx|version of symbol nvidia_|Unknown symbol "
     "ib_|Unknown symbol rdma_|Unknown symbol mlx|Unknown symbol nvidia_|Unknown symbol nvfs_|belong to kernel which "
     "is not a part of",
     "The kernel rejected a module, because it was built for another RDMA stack or GPU driver than the one that is "
     "loaded (symbols ib_, rdma_ and mlx are of the RDMA stack: Linux's own or that of OFED; nvidia_ of the GPU "
     "driver). Build the module again, or reinstall its package, for the stack and the kernel in use: ko2iblnd with "
     "Lustre, nvme-rdma and rpcrdma with OFED (mlnx_add_kernel_support.sh after an update of the kernel) or the "
     "kernel.",
     "dkms status; modinfo -n ib_core ko2iblnd nvidia; ofed_info -s", "Linux kernel/module/main.c"},
    {"intel-pcie-slow",
     host,
     "PCI-Express bandwidth available for this device may be insufficient|Please move the device to a different PCI-e "
     "link|PCIe bandwidth*may be insufficient|not enough*PCI-e bandwidth|PCIe link speed*lower than|slot with more "
     "lanes and/or higher|not sufficient for optimal performance of this card",
     {"The PCIe link of the NIC is slower or narrower than it can use (slower, no fault): a slot with fewer lanes or "
      "of an older generation, or a link that trained badly. Compare LnkSta with LnkCap; ",
      {Work::in_machine, "use a slot with more lanes, or reseat the NIC and its riser."}},
     "lspci -vv -s {pci} | grep -E 'LnkCap|LnkSta'; fabric-agentctl check --only pcie",
     "Linux i40e_main.c, ixgbe_main.c, cxgb4_main.c"},
    {"intel-nvm-version", host,
     "firmware for the device was too new|The driver for the device detected a newer version of the NVM|detected a "
     "newer version of the NVM image than expected|older version of the NVM image than expected|stopped because the "
     "NVM image|device stopped because the NVM|The driver for the device stopped because",
     "Driver and firmware (NVM) of the Intel NIC are of different releases: update the older of the two (nvmupdate, or "
     "a newer kernel or driver from Intel). If the driver stopped, the ports are missing until then; else it is a "
     "warning.",
     "ethtool -i {netdev}; devlink dev info pci/{pci}", "Linux i40e_main.c, ice_controlq.c"},
    {"edr-dpc",
     host,
     "EDR: Reported EDR dev|EDR event received|EDR: Error|EDR: *DPC|EDR*recovery",
     {"The firmware of the platform reports by EDR (error disconnect recover) that a PCIe port contained an error and "
      "took its link down; Linux recovers the devices below it. The AER or DPC lines after it name the device and the "
      "kind of error. ",
      {Work::in_machine, "Reseat or replace the device, riser or cable if it recurs."}},
     "journalctl -k -g 'AER|DPC|EDR'; lspci -tv; fabric-agentctl check --only aer,pcie",
     "Linux drivers/pci/pcie/edr.c"},
    {"nvme-frozen", host,
     "frozen state error detected, reset controller|nvme*controller is down; will reset|Does your device have a faulty "
     "power saving mode|nvme*Removing after probe failure|nvme*Device not ready; aborting|restart after slot reset",
     "An NVMe drive of this host was reset, because its PCIe channel was frozen by an error or it did not answer "
     "(CSTS). After \"frozen\" it is a consequence: the AER, DPC or EDR line before it names the PCIe error; see that "
     "the drive came back. Alone: power saving (nvme_core.default_ps_max_latency_us=0) or a failing drive.",
     "journalctl -k -g 'AER|DPC|nvme'; nvme list", "Linux drivers/nvme/host/pci.c"},
    {"pciehp-button", unknown, "Slot(*: Attention button|due to button press|Button pressed on Slot",
     "The attention button of a PCIe slot was pressed, or its signal is disturbed: Linux removes the device in "
     "the "
     "slot after five seconds (powering off), or starts it (powering on); a second press cancels that. A GPU or NIC "
     "that is missing since then has no fault. If it was not pressed, look at the slot, its riser and the BMC.",
     "lspci -tv; journalctl -k -g pciehp", "Linux drivers/pci/hotplug/pciehp_ctrl.c"},
    {"pciehp-command",
     host,
     "Timeout on hotplug command|pciehp*Device * already exists|pciehp*Cannot add device|pciehp*Failed to check link "
     "status|pciehp*No adapter|pciehp*Timeout waiting for Presence|pciehp*cannot be "
     "trained|link training error|Slot(*: No link",
     {"A PCIe hotplug slot did not answer a command, or no link came up in it: the slot controller, or a device that "
      "was just lost. The time-out itself is harmless on bridges with a known erratum. Look at the lines before it "
      "(Link Down of the slot)",
      {Work::in_machine, "; check power and seat of the device"},
      "."},
     "lspci -tv; journalctl -k -g pciehp; fabric-agentctl check --only pcie",
     "Linux drivers/pci/hotplug/pciehp_hpc.c"},
    {"pcie-recovery",
     host,
     "AER: Root Port link has been reset|AER: broadcast|AER: device recovery successful|AER: *Downstream Port link has "
     "been reset",
     {"Linux handled a PCIe error: it reset the link, or the recovery of the device succeeded. The device lost its "
      "state, and jobs on it failed; the AER line before it has the severity and the kind. ",
      {Work::in_machine, "Reseat the device if it recurs."}},
     "journalctl -k -g AER; fabric-agentctl check --only aer,pcie",
     "Linux drivers/pci/pcie/err.c"},
    {"pci-config",
     host,
     "can't change power state from D3cold to D0|config space inaccessible|Unable to change power state from|not ready "
     "*ms after|timed out waiting for pending transaction|VPD access failed|device not responding*PCI|Refused to "
     "change power state|unable to read*config space|probe with driver*failed with error -19",
     {"A PCIe device does not answer its configuration space after a reset, a sleep state (D3) or a hot removal; if it "
      "is a function of a GPU, mostly because the GPU has fallen off the bus (Xid 79). Look for Xid and AER lines of "
      "it and of the port above it before this line",
      {Work::in_machine,
       ", power-cycle the node, and look at the slot, its power and the seat of the device if it recurs"},
      "."},
     "lspci -tv; journalctl -k -g {pci}; fabric-agentctl check --only pcie,aer,pci-power",
     "Linux drivers/pci/pci.c"},
    {"iommu-event-overflow", host,
     "IOMMU event log overflow|Event log overflow|AMD-Vi: Event log restart|arm-smmu*event queue overflow|EVTQ "
     "overflow|PRI log overflow|dmar_fault: * callbacks suppressed|DMAR: *faults suppressed",
     "More faults came than the log of the IOMMU holds: a device accesses addresses that it may not use, without end. "
     "The IO_PAGE_FAULT (DMAR, SMMU) lines around it name the device and its driver; for GPUDirect RDMA use iommu=pt, "
     "else update the driver or firmware of that device.",
     "journalctl -k -g 'IO_PAGE_FAULT|DMAR|smmu'; cat /proc/cmdline; fabric-agentctl check --only iommu",
     "Linux drivers/iommu/amd/init.c"},
    {"iommu-bios-note", none, "[Firmware Bug]*applying workaround|[Firmware Bug]*- working around",
     "A table of the BIOS about a device is wrong (reserved memory for the IOMMU, RMRR), and the kernel works around "
     "it. Harmless; no action but an update of the BIOS.",
     "dmidecode -s bios-version", "Linux drivers/iommu/intel/dmar.c, iommu.c"},
    {"iommu-bios", host,
     "Your BIOS is broken|bad RMRR|[Firmware Bug]*DMAR|DMAR*[Firmware Bug]|AMD-Vi: [Firmware Bug]|[Firmware Bug]: "
     "AMD-Vi|IVRS*[Firmware Bug]|[Firmware Bug]*IVRS|BIOS has enabled interrupt remapping|on a chipset that contains "
     "an erratum",
     "The BIOS gives the IOMMU a wrong table (a reserved memory region, RMRR, or an entry for a device): the kernel "
     "ignores or corrects it, or switches interrupt remapping off on a chipset with an erratum. It matters only if "
     "DMAR or IO_PAGE_FAULT lines follow, or if devices are given to virtual machines. Update the BIOS.",
     "dmidecode -s bios-version; journalctl -k -g 'DMAR|AMD-Vi'", "Linux drivers/iommu/intel/dmar.c"},
    // BARs 7 to 12 are those of the virtual functions; from 13 the windows of bridges.
    {"pci-vf-space",
     host,
     "BAR 7: failed to assign|BAR 7: no space|BAR 7: can't assign|BAR 8: failed to assign|BAR 8: no space|BAR 9: "
     "failed to assign|BAR 9: no space|BAR 10: failed to assign|BAR 10: no space|BAR 11: failed to assign|BAR 11: no "
     "space|BAR 12: failed to assign|BAR 12: no space|VF BAR*failed to assign|VF BAR*can't assign|VF BAR*no space",
     {"There is no address space for the virtual functions (SR-IOV) of a PCIe device: the device itself works, but no "
      "virtual functions can be made. ",
      {Work::in_machine,
       "Enable SR-IOV and 'Above 4G decoding' in the BIOS, with a large MMIO window, or boot with pci=realloc; "},
      "harmless if no virtual functions are wanted."},
     "lspci -vv -s {pci} | grep -A 8 SR-IOV; cat /sys/bus/pci/devices/{pci}/sriov_totalvfs",
     "Linux drivers/pci/setup-res.c, iov.c"},
    {"pci-no-space",
     host,
     "^BAR *: no space for [mem|^BAR *: failed to assign [mem|^BAR * [mem*can't assign|^BAR * [mem*failed to "
     "assign|Some PCI device resources are unassigned, try booting with",
     {"There is no address space for the memory (BAR) of a PCIe device. A driver does not start a GPU or NIC without "
      "its BARs. Large BARs (GPUs with resizable BAR) need space above 4 GB. Boot with pci=realloc",
      {Work::at_machine, ", or enable Above 4G Decoding and a large MMIO window in the firmware setup"},
      ". If the device works, the line is harmless: the kernel assigned the space in a later attempt."},
     "lspci -vv -s {pci} | grep Region; cat /proc/cmdline; journalctl -k -g {pci}",
     "Linux drivers/pci/setup-bus.c, setup-res.c"},
    {"verbs-credentials", software, "changed security contexts after opening file descriptor",
     "The kernel rejects the request (EACCES), because the process changed its credentials (setuid, capabilities, su) "
     "after it opened the RDMA device, or received the open device from another process. Open the device after the "
     "change, or start the program as the right user. The NIC is not at fault.",
     "ps -o pid,user,cmd -p PID; getcap PROGRAM", "Linux drivers/infiniband/core/uverbs_main.c, ucma.c"},
    {"iommu-group", host,
     "group * is not viable|group is not viable|Firmware has requested this device have a 1:1 IOMMU "
     "mapping|IOMMU*rejecting configuring the device|vfio*no iommu",
     "A device cannot be given to a virtual machine or to VFIO: another device of its IOMMU group is still in use by a "
     "driver, or the firmware needs a fixed mapping for it. Bind all devices of the group to vfio-pci, or enable ACS.",
     "ls /sys/bus/pci/devices/{pci}/iommu_group/devices; fabric-agentctl check --only iommu,acs", "Linux drivers/vfio"},
    {"nvrm-attached-check",
     host,
     "GPU_ATTACHED_SANITY|rcdbAddRmGpuDump|nvAssertFailed*GPU_IS_LOST|NV_ERR_GPU_IS_LOST|osHandleGpuLost|GPU has been "
     "disconnected|NV_ERR_GPU_NOT_FULL_POWER",
     {"The GPU driver cannot reach the GPU any more: it is lost from the PCIe bus (this goes with Xid 79). Look at the "
      "Xid and PCIe (AER) lines before it, power and temperature; ",
      {Work::in_machine, "power-cycle the node, and reseat the GPU if it recurs."}},
     "journalctl -k -g 'Xid|AER'; nvidia-smi -L; fabric-agentctl check --only pcie,aer",
     "NVIDIA open-gpu-kernel-modules"},
    {"nvrm-timeout",
     host,
     "NVRM: *threadStateCheckTimeout|NVRM: "
     "_threadNodeCheckTimeout|_kgspRpcRecvPoll|GSP*timeout|kfspPollForResponse|NVRM: "
     "*NV_ERR_TIMEOUT|kgspBootstrap*failed|NVRM: *cannot be "
     "initialized|kgspInitRm|gpuHandleSanityCheckRegReadError|possible bad register read",
     {"The GPU, or its firmware (GSP), did not answer the driver in time. The Xid lines before or after it name the "
      "error (119, 120: GSP; 79: lost from the bus). ",
      {Work::ends_jobs, "Reset the GPU or reboot;"},
      " update driver and firmware (VBIOS) if it recurs."},
     "journalctl -k -g NVRM; nvidia-smi -q | grep -i gsp",
     "NVIDIA open-gpu-kernel-modules"},
    {"nvrm-bar",
     host,
     "This PCI I/O region assigned to your NVIDIA device is invalid|No address space to allocate resized BAR|Failed to "
     "re-allocate BAR1|attempting to resize PCIe BARs|BAR1 is 0M|BAR0 is 0M|Request region*nvidia|NVRM: "
     "request_mem_region failed",
     {"The BIOS or kernel gave the GPU no memory window (BAR): too little address space. Boot with pci=realloc",
      {Work::at_machine,
       ", or enable Above 4G Decoding and Resizable BAR in the firmware setup, with a large MMIO window"},
      "."},
     "lspci -vv -s {pci} | grep Region; cat /proc/cmdline",
     "NVIDIA open-gpu-kernel-modules"},
    {"nvidia-no-device-files", host,
     "Failed to query NVIDIA devices|NVIDIA device files (/dev/nvidia|NVIDIA-SMI has failed because it couldn't "
     "communicate|couldn't communicate with the NVIDIA driver|Failed to initialize NVML|NVML: Driver Not Loaded|nvml "
     "error: driver not loaded|NVML_ERROR_DRIVER_NOT_LOADED|NVML_ERROR_LIBRARY_NOT_FOUND|No devices were found|could "
     "not load NVML library|NVRM: No NVIDIA devices probed|no CUDA-capable device is "
     "detected|CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice",
     "The NVIDIA driver is not loaded, found no GPU, or its device files (/dev/nvidia*) are not accessible here: the "
     "driver was not built for this kernel (dkms), nouveau holds the GPU, or the container has no GPU (NVIDIA runtime, "
     "a cgroup that was changed by systemctl daemon-reload: \"Unknown Error\"). Read the NVRM lines of the kernel.",
     "lsmod | grep -E 'nvidia|nouveau'; journalctl -k -g NVRM; ls -l /dev/nvidia*", "nvidia-persistenced, nvidia-smi"},
    {"nscq-version", host,
     "NSCQ returned warning during session creation|Ensure driver version matches NSCQ|NSCQ*version "
     "mismatch|libnvidia-nscq*mismatch|nvsdm*version",
     "DCGM cannot read the NVSwitches: the library libnvidia-nscq does not have the version of the driver. Install "
     "libnvidia-nscq of the driver's version, also in the container of DCGM, and restart the service.",
     "cat /proc/driver/nvidia/version; ldconfig -p | grep nscq", "DCGM modules/nvswitch/DcgmNvSwitchManager.cpp"},
    {"fabricmanager-fault",
     host,
     "fabricmanager*fatal|detected NVSwitch fatal error|detected GPU *fatal|detected number of NVSwitch|is in degraded "
     "mode|NVLink training failed|NVLink initialization*failed|failed to configure*NVSwitch|local fabric manager "
     "instances|fabric manager error handler|failed to find a matching fabric|request to query NVSwitch device "
     "information*fail|not all trunk|NVLink*is not trained|Access link*fail|Trunk "
     "link*fail|multicast*team*failed|failed to allocate resource for multicast",
     {"The fabric manager reports an NVSwitch or NVLink that it could not set up, or that failed: the GPUs behind it "
      "have no NVLink or no multicast. Driver, fabric manager and firmware must be of one release. Read its log",
      {Work::in_machine, "; reset GPUs and NVSwitches together, or power-cycle the node"},
      "."},
     "journalctl -u nvidia-fabricmanager; tail -50 /var/log/fabricmanager.log; nvidia-smi nvlink -s",
     "NVIDIA Fabric Manager user guide"},
    {"imex-node", host,
     "imex*not ready|IMEX*UNAVAILABLE|IMEX*mismatch|imex*Connection*failed|IMEX*DEGRADED|NVLink "
     "domain*not|imex*bind*address|could not find*IMEX channel|No IMEX channel|IMEX channel*not",
     "nvidia-imex, which shares GPU memory between the nodes of an NVLink domain, does not run on all nodes, cannot "
     "reach one of nodes_config.cfg, or has another version there; or the container has no channel "
     "(/dev/nvidia-caps-imex-channels). Compare nvidia-imex-ctl -N on every node.",
     "nvidia-imex-ctl -N; cat /etc/nvidia-imex/nodes_config.cfg; ls /dev/nvidia-caps-imex-channels",
     "NVIDIA IMEX guide"},
    {"amdgpu-ring-test",
     host,
     "amdgpu*IB test failed on |amdgpu*ib ring test failed|amdgpu*ring * test failed",
     {"The driver tested a queue of an AMD GPU (its indirect buffers, IB: not InfiniBand), and the GPU did not answer: "
      "its firmware does not fit or hangs, or the GPU has failed. An error before this line is nearest to the cause. ",
      {Work::ends_jobs, "Reboot with the newest driver and firmware; "},
      "have the GPU replaced if it recurs."},
     "journalctl -k -g amdgpu; amd-smi static; lspci -vv -s {pci}",
     "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_ib.c"},
    {"amdgpu-preemption",
     host,
     "qcm fence wait loop timeout|cp might be in an unrecoverable state|Failed to evict process queues|Failed to "
     "quiesce KFD|MES might be in unrecoverable state|failed to remove hardware queue from MES|MES(*failed to "
     "respond|MES failed to respon",
     {"An AMD GPU did not stop its queues in time when the driver asked for it: the GPU or its scheduler (CP, MES) "
      "hangs, by the kernel of a program or by the firmware, and the driver resets the GPU; all programs on it fail. ",
      {Work::ends_jobs, "Update driver and firmware, then reboot; "},
      "look for the program that ran if it recurs with this program only."},
     "journalctl -k -g amdgpu; amd-smi process; amd-smi static",
     "Linux drivers/gpu/drm/amd/amdkfd/kfd_device_queue_manager.c"},
    consequence(
        {"amdgpu-context-lost", unknown,
         "parser -125|amdgpu_cs_query_fence_status failed|The CS has been cancelled because the context is lost|CS has "
         "been rejected, see dmesg",
         "A program uses an AMD GPU that was reset since it started: the driver cancels its work (ECANCELED, -125), "
         "and it must be started again. A consequence: the kernel log before it has the reason of the reset.",
         "journalctl -k -g 'amdgpu.*(reset|timeout|fault)'", "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_cs.c"}),
    {"amdgpu-fault-status", software,
     "VM_L2_PROTECTION_FAULT_STATUS|GCVM_L2_PROTECTION_FAULT|MMVM_L2_PROTECTION_FAULT|UTCL2*protection "
     "fault|VM_CONTEXT1_PROTECTION_FAULT|[gfxhub] page fault|[mmhub*] page fault|retry page "
     "fault|PERMISSION_FAULTS|WALKER_ERROR|MAPPING_ERROR|Faulty UTCL2 client|amdgpu*in process *pid * thread",
     "A program accessed memory of an AMD GPU that it may not (a page fault), and this line has a part of the details: "
     "the process is named in the lines before it. A bug of the program or of a library (freed memory, a wrong index), "
     "if it comes on several hosts; on one host only, look at RAS errors of that GPU.",
     "journalctl -k -g 'page fault|process'; amd-smi metric --ecc", "Linux drivers/gpu/drm/amd/amdgpu/gmc_v9_0.c"},
    {"amdgpu-wedged", host,
     "device wedged|wedged, needs|amdgpu*GPU reset*succeeded|amdgpu*ring * timeout|reset source:|amdgpu*Process "
     "information: process",
     "An AMD (or other DRM) GPU hung, and its driver reset it: the programs that used it were ended. The ring time-out "
     "or page fault before it is the cause: a kernel of the program that does not end, or the GPU. Update firmware "
     "(ROCm) and driver if it repeats on one GPU.",
     "journalctl -k -g 'amdgpu|drm'; amd-smi metric --ecc", "Linux drivers/gpu/drm/drm_drv.c"},
    {"amdgpu-ras",
     host,
     "correctable hardware errors detected|RAS ERROR*|ras controller interrupt triggered|RAS WARN: "
     "Threshold|poison*consumption|amdgpu*XGMI*error|RAS*XGMI*error|WAFL*error|uncorrectable errors detected in total",
     {"The RAS unit of an AMD GPU counts hardware errors of its memory (UMC), of a unit (GFX, SDMA) or of XGMI, the "
      "links between GPUs. Corrected ones are harmless in small numbers. After uncorrected ones ",
      {Work::ends_jobs, "reset the GPU,"},
      " and ",
      {Work::in_machine, "replace it if bad pages grow."}},
     "amd-smi metric --ecc; amd-smi bad-pages; journalctl -k -g 'amdgpu.*(RAS|xgmi)'",
     "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c"},
    {"rxe-crc", host, "failed to allocate crc algorith|rxe_icrc_init|cannot allocate crc32",
     "The software RoCE module (rdma_rxe) did not find the CRC32 algorithm of the kernel (-2, ENOENT): its module is "
     "missing. modprobe crc32_generic (crc32-pclmul), or install the package of extra kernel modules, also in the "
     "image or initramfs.",
     "modprobe crc32_generic; grep -A 2 crc32 /proc/crypto", "Linux drivers/infiniband/sw/rxe/rxe_icrc.c"},
    {"smbdirect", host,
     "smbd_post_send*ib_post_send failed|smbd_*failed rc=|CIFS*smbd_|CIFS: VFS: smbd|RDMA not supported "
     "by*SMB|smb_direct*failed|ksmbd: smb_direct: *fail|smb_direct: Can't|smb_direct: Send error|smb_direct: Recv "
     "error|smb_direct: warning",
     "SMB Direct (cifs or ksmbd over RDMA) could not send or connect: rc=-22 (EINVAL) means that the driver of the NIC "
     "refused a work request with more parts (max_sge) or larger sizes than it supports. Compare ibv_devinfo -v; use a "
     "newer kernel, smaller wsize/rsize, or mount without the option rdma.",
     "ibv_devinfo -v -d {rdma} | grep max_sge; uname -r", "Linux fs/smb/client/smbdirect.c"},
    {"nfs-server-socket", peer, "nfsd: got error -104|nfsd: got error -32|rpcrdma: connection to * closed (-104",
     "The other side of an NFS connection reset or closed it (-104 is ECONNRESET, -32 EPIPE): reboot or unmount of the "
     "client, or a restart of the server. Repeated: look at its log, then at the link and at retransmissions; over "
     "RDMA (rpcrdma, svcrdma) at the port and its counters.",
     "ss -tn; ping -c 3 {peer}; nfsstat -r", "Linux net/sunrpc/svcsock.c, xprtrdma"},
    on_silence(
        {"nfs-connection", unknown,
         "rpc-srv/tcp: nfsd: got error|svcrdma*failed|svc_rdma*error|rpcrdma: connection to * closed|rpcrdma: removing "
         "device|rpcrdma*connect*fail|svc: failed to register|svcrdma: Error",
         "The NFS server or client lost its connection, or could not make it. The errno decides: ENOMEM, EINVAL, "
         "ENODEV and a device that is removed are of this host; ECONNREFUSED is of the other side; ETIMEDOUT and "
         "EHOSTUNREACH show no place (the other side, the path, or the link of this host). Over RDMA (rpcrdma, "
         "svcrdma) look at the port and its counters.",
         "ss -tn; ping -c 3 {peer}; nfsstat -r; fabric-agentctl diagnose {port}",
         "Linux net/sunrpc/svcsock.c, xprtrdma"}),
    on_silence(
        {"nvmf-keep-alive", unknown,
         "due to keep alive timeout|keep-alive timer (* expired|keep alive timeout*subsystem|nvmet*keep-alive timer",
         "No keep-alive of the initiator (host of the NQN in the line) came in time, and the NVMe target ends its "
         "connection. That does not show the place: the initiator ended, hangs or restarts, the network loses packets, "
         "or the target itself is too slow to see it. The kernel log of the initiator at this time decides first. "
         "Several initiators at one time: look at the target, its link and RDMA port; one of several: at the initiator "
         "and its link.",
         "nvme list-subsys; ping -c 3 {peer}; fabric-agentctl diagnose {port}",
         "SPDK lib/nvmf/ctrlr.c, Linux drivers/nvme/target/core.c"}),
    on_silence(
        {"nvmf-property", unknown, "nvme*Property Set error: |nvme*Property Get error: ",
         "The read or write of a register of the NVMe target (the controller of a fabric) failed; the number is a "
         "status of NVMe. 880 and 881 (0x370, 0x371: the host gave the command up) say only that no answer came in "
         "time: the target does not run or hangs, the path to it, or the port of this host. Another status is an "
         "answer of the target, which refused it. Look whether the target runs, at its log, and at the path to it.",
         "nvme list-subsys; ping -c 3 {peer}; fabric-agentctl diagnose {port}", "Linux drivers/nvme/host/fabrics.c"}),
    consequence_of(
        "nvmf|nvme|wc",
        wrapping({"nvmf-target-fatal", unknown, "nvmet*ctrl*fatal error",
                  "The NVMe target ends this controller after an error of its transport, and the initiator connects "
                  "again. The nvmet_rdma (or nvmet_tcp) line before it names the transfer that failed: retry exceeded "
                  "is of the path or the peer.",
                  "journalctl -k -g nvmet; fabric-agentctl diagnose {port}", "Linux drivers/nvme/target/core.c"})),
    {"nvmf-queue-size", software,
     "support CQ resize|RDMA CQ requirement*exceeds|RDMA CQ resize failed|exceeds device max_cqe limitation",
     "The NVMe target (SPDK) needs a larger completion queue than this NIC can make, or one that it cannot enlarge "
     "(iWARP): no more queue pairs are accepted. Use fewer queue pairs or a smaller queue depth "
     "(max_qpairs_per_ctrlr, max_queue_depth), or a larger queue from the start (num_cqe).",
     "ibv_devinfo -v -d {rdma} | grep max_cqe", "SPDK lib/nvmf/rdma.c"},
    {"nvmf-refused", peer,
     "nvme*Connect for subsystem * is not allowed|nvme*Connect Invalid|nvme*Connect command failed: host not "
     "allowed|Connect command failed, error|Connect command completed with error: sct 1|nvmet: connect by host * for "
     "subsystem * not allowed|nvmet: connect request for invalid subsystem|nvmet: Could not find controller",
     "The NVMe target answered and rejected this host, so the network between them works. The NQN of the host is not "
     "in the list of the subsystem (allowed_hosts), the name of the subsystem or a parameter of the connection is "
     "wrong, or the controller no longer exists after a restart of the target. Compare /etc/nvme/hostnqn with the "
     "configuration of the target.",
     "cat /etc/nvme/hostnqn; nvme discover -t rdma -a {peer}; on the target: ls /sys/kernel/config/nvmet/subsystems/*/"
     "allowed_hosts",
     "Linux drivers/nvme/host/fabrics.c nvmf_log_connect_error(), drivers/nvme/target/core.c"},
    {"nvmf-connected", software,
     "nvme-fabrics*already in progress|nvme*already connected|ib_srp: Already connected to target",
     "The host is connected to this target (an NVMe subsystem, or one of SRP) already, so that a second connection is "
     "refused. Use the one that exists, or end it first (nvme disconnect -n NQN). A second path of SRP needs another "
     "initiator_ext, or allow_duplicate.",
     "nvme list-subsys", "nvme-cli, Linux drivers/nvme/host/fabrics.c"},
    {"nvmf-host-id", software, "found same hostid*but different hostnqn|found same hostnqn*but different hostid",
     "This host was connected to NVMe targets with another pair of host NQN and host ID, and the kernel refuses a "
     "second "
     "pair: an option of nvme connect, or /etc/nvme/hostnqn and /etc/nvme/hostid that were copied or written again. "
     "Use "
     "one pair for this host, and end the connections of the other one.",
     "cat /etc/nvme/hostnqn /etc/nvme/hostid; nvme list-subsys", "Linux drivers/nvme/host/fabrics.c"},
    consequence({"nvme-no-path", unknown, "nvme*: no usable path - |nvme*: no available path - ",
                 "No controller of this NVMe namespace can be used now: its connections or its drive were lost before. "
                 "I/O waits until one is back (requeuing), or fails after ctrl_loss_tmo. The lines of the controller "
                 "before this one have the reason.",
                 "nvme list-subsys; journalctl -k -g nvme", "Linux drivers/nvme/host/multipath.c"}),
    {"nvmf-duplicate", peer, "nvme*Duplicate cntlid|nvme*Mismatching cntlid|nvme*uplicate unshared namespace",
     "Two controllers of one NVMe subsystem report the same controller ID or a namespace that is not shared, or one "
     "reports two IDs: the "
     "targets (the nodes of a cluster that offer one subsystem) were configured as copies, and the host rejects the "
     "second one. Give each target its own range of IDs (cntlid_min, cntlid_max) and the namespaces the same UUID.",
     "nvme list-subsys; on the target: grep . /sys/kernel/config/nvmet/subsystems/*/attr_cntlid_*",
     "Linux drivers/nvme/host/core.c"},
    {"nvme-timeout", unknown,
     "nvme*I/O tag * timeout|nvme*I/O * QID * timeout|nvme*Abort status: 0x|nvme*QID * timeout, reset controller",
     "An NVMe command was not answered in time. For a local drive the cause is the drive, its PCIe link or its power "
     "saving. Over fabrics (RDMA, TCP) the cause is the target or the path to it, and the host connects again. nvme "
     "list-subsys shows the transport.",
     "nvme list-subsys; nvme smart-log /dev/nvmeN; journalctl -k -g 'nvme|AER'",
     "Linux drivers/nvme/host/pci.c, rdma.c nvme_timeout()"},
    {"firmware-flash-failed", host,
     "Firmware flash failed|mlxfw_mfa2: |mlxfw: *err (|devlink*flash*failed|Flash update*failed|Firmware flash*rror",
     "The update of the NIC's firmware failed. Usual causes: the image is for another model (PSID) or damaged, the "
     "firmware rejects the image (signature, older release), another update runs, or the NIC did not answer. The line "
     "has the reason. Check the version in flash before a reset.",
     "devlink dev info pci/{pci}; mstflint -d {pci} query",
     "Linux drivers/net/ethernet/mellanox/mlxfw, net/devlink/dev.c"},
    // An answer of the target proves that it is reached.
    {"nvmf-rejected", peer,
     "nvme*Connect rejected: status|nvme-fabrics*Connection refused|nvme-fabrics*Connection reset|nvme*failed to "
     "connect socket: -111|nvme*failed to connect socket: -104",
     "The host of the NVMe target answered and refused or reset the connection, so that the network between them "
     "works. Status 8 (invalid service ID) and ECONNREFUSED: nothing listens at this address and port (4420): the "
     "target does not run, its port is not set up for this transport, or the address is of another interface. Another "
     "status is a decision of the target: its log has the reason.",
     "nvme discover -t rdma -a {peer}; on the target: grep . /sys/kernel/config/nvmet/ports/*/addr_*",
     "Linux drivers/nvme/host/rdma.c nvme_rdma_conn_rejected(), drivers/nvme/host/tcp.c"},
    {"nvmf-target-address", host, "nvmet_rdma: binding CM ID|nvmet_rdma: listening to|nvmet_rdma: CM ID creation",
     "The NVMe target of this host cannot listen: none of its RDMA devices has this address (-19: the NIC has no "
     "RDMA driver, or RDMA is off; -99: the address is not set up), or another port of the target has it (-98).",
     "rdma link show; ip -br addr; grep . /sys/kernel/config/nvmet/ports/*/addr_*", "Linux drivers/nvme/target/rdma.c"},
    {"nvmf-own-queue", host,
     "nvme*rdma connection establishment failed (-22|nvme*rdma connection establishment failed (-12|nvme*rdma "
     "connection establishment failed (-28|nvme*rdma connection establishment failed (-95|nvme*rdma_resolve_addr wait "
     "failed (-22|nvme*rdma_resolve_addr wait failed (-12|nvme*rdma_resolve_addr wait failed "
     "(-28|nvme*rdma_resolve_addr failed",
     "The NVMe host could not make its own side of the connection: a queue pair, completion queue or memory regions "
     "(EINVAL, ENOMEM, ENOSPC), or it has no address or route for the target (EADDRNOTAVAIL, ENETUNREACH). The target "
     "takes no part. The line of nvme or of the RDMA driver before it has the reason.",
     "journalctl -k -g 'nvme|{rdma}'; rdma resource show; ip route get {peer}",
     "Linux drivers/nvme/host/rdma.c nvme_rdma_alloc_queue()"},
    on_silence({"nvmf-no-connection", unknown,
                "nvme*rdma connection establishment failed|nvme*rdma_resolve_addr wait failed",
                "The connection manager of RDMA did not connect to the NVMe target. ECONNRESET (-104): an event ended "
                "the attempt. If a line \"Connect rejected\" is before this one, the target answered and rejected the "
                "connection: no service listens at this address and port 4420, or at another interface. Without one, "
                "no route or no answer was found. ETIMEDOUT (-110): no event came in 3 seconds, which shows no place: "
                "the target, the path, or the port of this host. nvme discover from another host decides.",
                "journalctl -k -g nvme; ip route get {peer}; nvme discover -t rdma -a {peer}",
                "Linux drivers/nvme/host/rdma.c nvme_rdma_cm_handler()"}),
    on_silence({"nvmf-rdma", unknown,
                "nvme*rdma connect request failed|nvme*Connect command failed|nvme*failed "
                "nvme_keep_alive_end_io|nvme*starting error recovery|Reconnecting in * seconds|nvme*Failed reconnect "
                "attempt|nvme*dentify controller failed|nvme-fabrics*Connection timed out|nvme-fabrics*No "
                "route|nvme-fabrics*Network is unreachable|nvme*failed to connect socket: -",
                "The connection to an NVMe target (NVMe over RDMA or TCP) failed or got no answer in time (keep "
                "alive), and is made again. The line does not show the place: the target or its host ended, hangs or "
                "is overloaded, its port (4420) is not reachable, the path loses packets, or the link or RDMA port of "
                "this host failed. If other hosts lost the same target at this time, look at its log; if this host "
                "lost all of its targets, look at its port.",
                "nvme list-subsys; ping -c 3 {peer}; fabric-agentctl diagnose {port}",
                "Linux drivers/nvme/host/rdma.c, drivers/nvme/target"}),
    {"nvmf-cli", unknown,
     "ailed to write to /dev/nvme-fabrics|ailed to write to nvme-fabrics|ailed to open nvme-fabrics|ailed to open "
     "/dev/nvme-fabrics|ould not add new controller|nvme: failed to discover|nvme*ailed to add controller",
     "nvme-cli could not connect: the kernel rejected the request. EINVAL is an option, address or NQN that it does "
     "not accept, or a transport whose module is not loaded (modprobe nvme-rdma); ENOENT a missing module "
     "nvme-fabrics; an I/O error the target. The kernel log of this moment has the reason.",
     "journalctl -k -g nvme; lsmod | grep nvme; nvme discover -t rdma -a {peer}", "nvme-cli, libnvme"},
    {"nvme-rdma-memory-pool", host,
     "failed to initialize PI MR pool sized|failed to initialize pi mr pool sized|failed to initialize MR pool sized",
     "The NVMe host could not get its memory regions (those with protection information: PI) from the RDMA driver, so "
     "that the queue is not connected: the memory keys of the NIC are used up or limited, or its driver or firmware "
     "refuses them; the mlx5 line before it (create_mkey) has the reason. Fewer or smaller queues need less "
     "(--nr-io-queues, --queue-size).",
     "journalctl -k -g 'mkey|nvme'; rdma resource show mr | wc -l", "Linux drivers/nvme/host/rdma.c"},
    // kiblnd_rejected() and kiblnd_check_reconnect() print the reason of the peer (IBLND_REJECT_*).
    {"lnet-settings-differ", host,
     "kiblnd_*incompatible|kiblnd_*ncompatible version|kiblnd_*protocol version|kiblnd_*message size * too big",
     "The two nodes of a Lustre connection (LNet, o2iblnd) have settings or versions that do not fit each other: the "
     "queue depth (peer_credits), the number of fragments (map_on_demand, concurrent_sends) or the protocol version. "
     "Compare lnetctl net show -v and the module options of ko2iblnd on both, and set the same.",
     "lnetctl net show -v; grep . /sys/module/ko2iblnd/parameters/*; lctl ping {peer}",
     "Lustre lnet/klnds/o2iblnd/o2iblnd_cb.c kiblnd_check_reconnect()"},
    {"lnet-rejected", peer,
     "kiblnd_rejected*rejected|kiblnd_*rejected:|was refused: check that Lustre is running|no listener at",
     "The peer of a Lustre connection (LNet, o2iblnd) answers and rejects it, so that the path works: it has no "
     "resources for another connection (memory, queue pairs), does not run Lustre (no listener), or is restarting "
     "(stale). The log of the peer at this time has its reason; look at its memory, its number of connections, "
     "peer_credits and conns_per_peer.",
     "lctl ping {peer}; lnetctl peer show; lnetctl net show -v",
     "Lustre lnet/klnds/o2iblnd/o2iblnd_cb.c kiblnd_rejected()"},
    {"lnet-interface", host,
     "network interface*not found*kiblnd|failed to find UP interface|IPoIB interface *: it's down",
     "The interface that the Lustre network of this node names (options lnet networks, lnet.conf) does not exist or is "
     "down: LNet does not start on it. Correct the name, or bring the interface up, then configure LNet again.",
     "lnetctl net show -v; ip -br addr; grep -r lnet /etc/modprobe.d /etc/lnet.conf",
     "Lustre lnet/klnds/o2iblnd/o2iblnd.c"},
    {"lnet-path", network,
     "was unreachable: the network or that node may be down|kiblnd_*Can't resolve|kiblnd_*Timed out "
     "RDMA|kiblnd_tx_complete*failed|kiblnd_*ADDR_RESOLV|kiblnd_*ROUTE ERROR|kiblnd_*ADDR ERROR|Bad dest nid|Can't "
     "connect to *: cm_id|lnet_*peer not alive|Failed to * ksock|Deleting messages for * connection failed",
     "Lustre (LNet over InfiniBand or RoCE, o2iblnd) has no connection to a peer: its node is down, the interface of "
     "this NID is down, or its address or route does not resolve (ADDR, ROUTE ERROR: no ARP answer, another VLAN or "
     "subnet).",
     "lctl list_nids; ip neigh; lnetctl net show -v; lctl ping {peer}", "Lustre lnet/klnds/o2iblnd/o2iblnd_cb.c"},
    {"nfs-transport", peer, "mount.nfs*transport protocol is not supported|mount.nfs*Protocol not supported",
     "The NFS server does not offer this version, or no RDMA: its nfsd does not listen for it (rdma=y in "
     "/etc/nfs.conf; \"rdma 20049\" in /proc/fs/nfsd/portlist), or the module xprtrdma is not loaded on this host.",
     "lsmod | grep xprtrdma; on the server: cat /proc/fs/nfsd/portlist /proc/fs/nfsd/versions",
     "nfs-utils utils/mount"},
    {"lnet-down", host, "LNET configure error|IOC_LIBCFS_*error|mount.lustre: *failed: No such device",
     "LNet, the network of Lustre, is not started on this host, or its configuration failed: an interface in "
     "/etc/modprobe.d/lnet.conf or lnet.conf that does not exist or has no address, or a network module (ko2iblnd) "
     "that could not be loaded, because it does not fit the RDMA modules. The kernel log has the reason.",
     "journalctl -k -g LNet; cat /etc/modprobe.d/lnet.conf; modprobe lnet; lnetctl net show",
     "Lustre lnet/lnet/api-ni.c"},
    {"lustre-request", peer,
     "Request sent has timed out for slow reply|Request sent has failed due to network error|was lost; in progress "
     "operations using this service will|This client was evicted by|is processing requests too "
     "slowly|ptlrpc_expire_one_request|Communicating with *: operation|operation * to node * failed|lock callback "
     "timer expired|evicting client at|haven't heard from client|service thread pid",
     "A Lustre server did not answer a request in time, or server and client lost each other: \"slow reply\" means "
     "that the request was sent (the server is overloaded or down), \"network error\" that it could not be sent. Look "
     "at the load and the log of the server (MDS, OSS) named by its NID, test with lctl ping, then look at the "
     "network.",
     "lctl ping {peer}; lfs check servers; lnetctl stats show", "Lustre lustre/ptlrpc/client.c"},
    {"beegfs-option", host, "beegfs*config argument|beegfs*is invalid|beegfs*Unknown",
     "The BeeGFS client has a setting that its loaded module does not know, or a mount that failed: module and "
     "configuration (/etc/beegfs/beegfs-client.conf) are of different versions. Rebuild and load the module "
     "(beegfs-client rebuild), and use the configuration file of the same version.",
     "modinfo -F version beegfs; grep -n conn /etc/beegfs/beegfs-client.conf", "BeeGFS client_module"},
    {"beegfs-connection", peer,
     "beegfs*Connect failed|beegfs*Disconnect|beegfs*Communication*fail|beegfs*Unable to "
     "connect|beegfs*RDMA*fail|Messaging*Communication error|StorageTarget*offline",
     "BeeGFS lost or did not get its connection to a server: the server does not run, its interface list "
     "(connInterfacesFile) has none that this host reaches, or RDMA cannot be used and TCP is tried. Compare "
     "beegfs-ctl --listnodes --nicdetails with the addresses here.",
     "beegfs-net; beegfs-ctl --listnodes --nodetype=storage --nicdetails; ping -c 3 {peer}", "BeeGFS"},
    {"gpfs-access", peer, "VERBS RDMA*IBV_EVENT_QP_ACCESS_ERR|VERBS RDMA*IBV_EVENT_QP_REQ_ERR",
     "GPFS (IBM Storage Scale) got a request on this queue pair for memory that the other node may not access: that "
     "node used a registration (key, address) that is not valid any more. It is about the daemons of the two nodes, "
     "not the network: compare their releases, update GPFS, and look at the log of the other node.",
     "mmdiag --network; mmdiag --version; ibv_devinfo -d {rdma}", "IBM Storage Scale mmfs.log"},
    consequence_of(
        "gpfs|wc",
        wrapping(
            {"gpfs-closed", unknown, "VERBS RDMA closed connection",
             "GPFS (IBM Storage Scale) closed its RDMA connection to this node after an error, and makes it again or "
             "uses TCP. The VERBS RDMA line before it, here or in the log of the other node, has the first error.",
             "mmdiag --network; grep 'VERBS RDMA' /var/adm/ras/mmfs.log.latest", "IBM Storage Scale mmfs.log"})),
    {"gpfs-connection", network,
     "Close connection to * Attempting reconnect|VERBS RDMA async event|VERBS RDMA*disconnect|VERBS RDMA rdma send "
     "error|VERBS RDMA rdma write error|VERBS RDMA rdma read error|VERBS RDMA*disabled|VERBS RDMA*port*failed",
     "GPFS (IBM Storage Scale) lost the connection to the node of the line and tries again, or closed its RDMA "
     "connection: the node hangs or restarts, or the network between them. Look at the state of that node (mmgetstate, "
     "mmhealth), at mmnetverify, and at expel messages after it.",
     "mmgetstate -a; mmhealth node show; mmnetverify; fabric-agentctl diagnose", "IBM Storage Scale mmfs.log"},
    {"gpfs-expelled", network,
     "Lost membership in cluster|Unmounting file systems|is being expelled|was expelled from the cluster|The node was "
     "expelled|Expel * request from|Node * lease renewal is overdue|lease is overdue|Lease is overdue|Probing cluster",
     "The node was removed (expelled) from the GPFS cluster, or the quorum was lost, and unmounts its file systems: it "
     "did not renew its lease, or another node could not reach it. A consequence of lost connections: the log of the "
     "cluster manager says who expelled whom; look at the network between the two nodes.",
     "mmlsmgr -c; mmhealth cluster show; grep -i expel /var/adm/ras/mmfs.log.latest", "IBM Storage Scale mmfs.log"},
    {"ceph-rdma", host,
     "FAILED ceph_assert(socket.fd() >= "
     "0)|ibv_create_comp_channel*ceph|ceph_abort_msg*rdma|RDMAStack*rror|RDMADispatcher*ailed|Infiniband*rdma_*ailed",
     "A Ceph daemon failed in its RDMA messenger: no event file descriptor because the limit of open files is reached "
     "(LimitNOFILE of the OSD), the memlock limit (LimitMEMLOCK=infinity, PrivateDevices=no in the unit), or settings "
     "that do not fit (ms_async_rdma_cm with ms_async_rdma_type, ms_async_rdma_device_name).",
     "systemctl show ceph-osd@0 -p LimitNOFILE -p LimitMEMLOCK; ceph config dump | grep rdma",
     "Ceph src/msg/async/rdma"},
    {"mercury-unreachable", network, "NA_HOSTUNREACH|HG_HOSTUNREACH|na_ofi*FI_EHOSTUNREACH|na_ofi*No route to host",
     "Mercury (DAOS and others) cannot reach the other end: no route to its address, a link that is down, a client "
     "that has gone, or, on Slingshot, a job without a VNI of the server's network. Look at the network of this node "
     "and the VNI of the job, then at the other end.",
     "fi_info -l; ip route get {peer}; env | grep -E 'SLINGSHOT|VNI'", "Mercury src/na"},
    {"daos-fabric", unknown,
     "DER_UNREACH|DER_TIMEDOUT|DER_HG|DER_EXCLUDED|na_ofi_*|HG_*NA_|na_ucx_*|Could not initialize NA|Could not "
     "initialize HG|crt_*unreachable|NA_Initialize*",
     "DAOS (Mercury over libfabric or UCX) could not start or reach an engine: the provider or domain of fabric_iface "
     "does not exist on this host, an engine is down or excluded from its pool, or the path loses packets. Compare the "
     "provider of client and server, and look at dmg system query.",
     "dmg system query; dmg pool query POOL; fi_info -l; env | grep -E 'OFI|CRT|D_'", "DAOS src/cart, Mercury src/na"},
    {"vma-qp", host, "VMA*failed to modify QP|XLIO*failed to modify QP|VMA ERROR|XLIO ERROR",
     "libvma (or XLIO) could not use its queue pair or device: driver, firmware (OFED) and library do not fit each "
     "other, the port is in a bond with RoCE LAG, or it lacks a privilege (CAP_NET_RAW) or memory (hugepages, "
     "memlock). Its number (ret) is not an errno. Test without it: ibv_rc_pingpong, VMA_TRACELEVEL=debug.",
     "ofed_info -s; ethtool -i {netdev}; grep Huge /proc/meminfo", "libvma src/vma/dev"},
    {"mlx5-eswitch", host,
     "E-Switch: failed|E-Switch: Failed|E-Switch: Error|failed to enable eswitch SRIOV|esw_*failed|mlx5*Failed to set "
     "eswitch|mlx5*failed to change mode to switchdev|Failed to create slow path|mlx5_lag*failed|mlx5*Failed to create "
     "LAG|Failed to activate VF LAG|mlx5*Failed to deactivate LAG",
     "mlx5_core could not set up its embedded switch (SR-IOV, switchdev, bond of virtual functions): the firmware "
     "refused a command (the line before has the status), steering needs another mode (devlink dev param "
     "flow_steering_mode), or virtual functions are still bound. Set the mode before the virtual functions are bound, "
     "and compare the firmware.",
     "devlink dev eswitch show pci/{pci}; devlink dev info pci/{pci}; journalctl -k -g {pci}",
     "Linux drivers/net/ethernet/mellanox/mlx5/core/eswitch.c"},
    {"mlx5-tracer", none, "mlx5_fw_tracer|Failed to create FW tracer|FWTracer: ",
     "The firmware tracer of the NIC (a debug log) lost events or could not be used by this function. Harmless for "
     "traffic; it matters only if the health lines of mlx5_core report a fault as well.",
     "devlink health show pci/{pci}", "Linux drivers/net/ethernet/mellanox/mlx5/core/diag/fw_tracer.c"},
    {"qed-mfw",
     host,
     "MFW is not responsive|The MFW failed to respond|The MFW might be non-responsive|qed*MCP*not respond|qed*Ramrod "
     "is stuck|ramrod*stuck|qed_hw_err_notify|qed*Fan failure|qed*fw assertion|qed*Parity|qed*FW assertion|qed*HW "
     "attention",
     {"The management firmware (MFW, MCP) of the Marvell NIC does not answer, or its hardware reports an attention: "
      "the driver resets the NIC. Update firmware and driver",
      {Work::in_machine, "; power-cycle the node if it does not come back"},
      "."},
     "journalctl -k -g qed; ethtool -i {netdev}",
     "Linux drivers/net/ethernet/qlogic/qed"},
    {"cxgb4-firmware",
     host,
     "cxgb4*firmware crashed|Firmware reports adapter error|cxgb4*encountered fatal error|cxgb4*adapter "
     "stopped|cxgb4*mailbox*timed out|command 0x* in mailbox * timed out|cxgb4*firmware not responding",
     {"The firmware of the Chelsio NIC failed or does not answer: the adapter is stopped, and its ports and "
      "connections are gone. ",
      {Work::ends_jobs, "Load the driver again or reboot;"},
      " update the firmware."},
     "journalctl -k -g cxgb4; ethtool -i {netdev}",
     "Linux drivers/net/ethernet/chelsio/cxgb4"},
    // bnxt_io_error_detected(), tg3_io_error_detected(); mlx5_core has words of its own.
    {"driver-pci-error",
     host,
     "PCI I/O error detected",
     {"The kernel has reported an error of the PCIe link to the driver of a device (AER, DPC, EEH): the driver stops "
      "the device and resets it. The line of the port above it, before this one, has the kind of the error. ",
      {Work::in_machine, "Reseat the device if it recurs."}},
     "journalctl -k -g 'AER|DPC|EEH'; fabric-agentctl check --only aer,pcie",
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c, tg3.c"},
    {"ipoib-timeout", host,
     "transmit timeout: latency|ipoib*transmit timeout|ib0: transmit timeout|queue stopped*tx_head|ib*: failed to "
     "modify QP|ib0: post_send failed|ib*: failed to * multicast|RX drain timing out|timing out; will leak|timing "
     "out; * sends",
     "An IPoIB netdev has a transmit queue without progress: the RDMA device is in an error state or reset, or the "
     "peer does not answer. Look at the health of the NIC and at the state of the InfiniBand port.",
     "journalctl -k -g 'ib0|mlx'; ibstat", "Linux drivers/infiniband/ulp/ipoib"},
    // Steps on this host; before the row of steps with a peer.
    {"rdma-storage-local", host,
     "iser*rdma_resolve_addr failed|iser*resolve route failed|iser*failure connecting|ib_srp: *llocat|ib_srp: SCSI "
     "scan failed|ib_srp: *to map|ib_srp: Queueing INV WR|iser: *lloc|isert: *lloc|isert: *dma mapping|iser: *dma "
     "map|isert: *rdma_create_id|isert: *rdma_bind|isert: *rdma_listen|iser: *rdma_create_id|iser: *device "
     "lookup|iser: *does not support memory|isert: *not support|isert: *ib_dma_map|iser: *ib_map|isert: "
     "*register|iser: *register",
     "A step of iSER or SRP (storage over RDMA) failed on this host and did not involve the other side: memory, memory "
     "regions or queue pairs of the NIC are used up, the driver of the NIC does not support the request, this host has "
     "no address or route for the request, or a module could not register. Look at the errno, and at the line of the "
     "RDMA driver before this line.",
     "rdma resource show; ibv_devinfo -v -d {rdma}; journalctl -k -g 'iser|srp|{rdma}'",
     "Linux drivers/infiniband/ulp"},
    // The request arrived, so that the network works.
    {"iser-request", peer, "iser*qp event QP request error|iser*qp event QP access error",
     "A queue pair of iSER received an invalid request from its peer (IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR) "
     "and is in error: the iSCSI connection ends and is made again. The two ends do not agree about the protocol or a "
     "memory key. Look at the log of the target or initiator at the other end, and compare the drivers of both ends.",
     "journalctl -k -g iser; iscsiadm -m session -P 3", "Linux drivers/infiniband/ulp/iser, isert"},
    on_silence(
        {"rds-iser", unknown,
         "RDS/IB: connection|RDS/IB: recv completion|RDS/IB: send completion|rds*connection*error|iser*failed|isert: "
         "*error|scsi host*: ib_srp: *failed|ib_srp*reconnect|SRP abort|ib_srp: failed",
         "A connection of RDS, iSER or SRP (storage or messages over RDMA) failed and is made again. The line does not "
         "show the place: the other side ended or restarts, the path between the two ports loses packets, or the port "
         "of this host failed. Look for the first completion status or event of this connection (REJECTED is of the "
         "other side, UNREACHABLE and retry exceeded of the path), at the log of the other side at this time, then at "
         "the ports.",
         "ping -c 3 {peer}; fabric-agentctl diagnose {port}", "Linux net/rds, drivers/infiniband/ulp"}),
    {"iscsi-refused", peer,
     "due to authorization failure|non-retryable iSCSI login failure|Login authentication failed with target|conn * "
     "login rejected: ",
     "The iSCSI target answered and refused the login, so that the network between them works: name and secret (CHAP), "
     "the list of initiators of the target (ACL), or its portal group. Compare /etc/iscsi/initiatorname.iscsi and "
     "node.session.auth.* with the configuration of the target.",
     "cat /etc/iscsi/initiatorname.iscsi; iscsiadm -m node -P 1", "open-iscsi usr/iscsi_err.c, usr/login.c"},
    on_silence({"iscsi-target-login", unknown,
                "iSCSI Login timeout on Network Portal|iSCSI Login negotiation failed|tx_data returned *, "
                "expecting|rx_data returned *, expecting",
                "The iSCSI target of this host (LIO) gave up a login that did not end in time, or whose connection was "
                "closed. Either side may be the reason: the initiator does not answer or the path loses packets, or "
                "the target hangs on its own storage and lets the login wait. Tasks of the target that are blocked "
                "(\"blocked for more than 120 seconds\", ABORT_TASK) in the log of this host are of this host; without "
                "them look at the initiator.",
                "journalctl -k -g 'iSCSI|blocked for|ABORT_TASK'; targetcli ls", "Linux drivers/target/iscsi"}),
    on_silence({"iscsi-login", unknown,
                "iscsiadm: initiator reported error (|iscsiadm: Could not login to [|iscsid: cannot make a connection "
                "to|iscsiadm: Could not log into all portals",
                "The iSCSI initiator could not log in to a target. The number in the line decides: 4 and 8 (no "
                "connection, or no answer in time) show no place: the target or its portal, the path, or the link of "
                "this host; 12 is a transport (iser) whose module is not loaded here; 15 a session that exists "
                "already; 19 and 24 a refusal by the target. iscsid prints the reason of each attempt in the journal.",
                "journalctl -u iscsid; iscsiadm -m node -P 1; ping -c 3 {peer}", "open-iscsi usr/iscsi_err.c"}),
    on_silence({"iscsi-connection", unknown,
                "detected conn error (|iSCSI connection * error (|connection*: ping timeout of * secs expired",
                "The connection of an iSCSI initiator to its target failed, and is made again; the number names the "
                "kind. iSCSI runs over TCP, or over RDMA (iSER). The target closed it or restarts (1020), does not "
                "answer (1022), or the network between them failed; 1011 names no reason. Look at the log and the "
                "sessions of the target at this time, at the lines of iscsid before it, then at the path.",
                "iscsiadm -m session -P 3; journalctl -u iscsid; ping -c 3 {peer}",
                "Linux drivers/scsi/scsi_transport_iscsi.c iscsi_conn_error_event()"}),
    {"hsa-status", host,
     "HSA_STATUS_ERROR_OUT_OF_RESOURCES|HSA_STATUS_ERROR: |hsa_init*fail|HSA_STATUS_ERROR_MEMORY_APERTURE|HW Exception "
     "by GPU node|amdgpu*Failed to evict queue|Unable to open /dev/kfd|/dev/kfd*Permission "
     "denied|hipErrorNoDevice|ROCk module is NOT loaded|No HIP GPUs are available|HSA Error: Incompatible kernel",
     "The ROCm runtime (HSA) could not use an AMD GPU: /dev/kfd or /dev/dri is not accessible (groups video and "
     "render, the devices of the container), amdgpu is not loaded or does not fit ROCm, the GPU was reset (HW "
     "Exception), or its memory is used up.",
     "ls -l /dev/kfd /dev/dri; rocminfo | head; journalctl -k -g amdgpu", "ROCm ROCR-Runtime"},
    {"cuda-program-build", software,
     "no kernel image is available for execution|invalid device function|hipErrorNoBinaryForGpu|device kernel image is "
     "invalid|the provided PTX was compiled with an unsupported|named symbol not found*CUDA|is not compatible with the "
     "current PyTorch installation|Cuda failure*named symbol not found|Cuda failure*invalid kernel file|HIP "
     "failure*invalid kernel file",
     "The program or library (NCCL, RCCL) has no code for this GPU: it was built for other architectures (sm_NN, "
     "gfxNNN; NVCC_GENCODE), or needs a newer driver for its PTX. Use a build or release for the architecture of this "
     "GPU and CUDA or ROCm. Neither the GPU nor the network is at "
     "fault.",
     "nvidia-smi --query-gpu=name,compute_cap --format=csv; python3 -c \"import torch; "
     "print(torch.cuda.get_arch_list())\"",
     "CUDA driver_types.h, HIP"},
    {"cuda-ordinal", software,
     "invalid device ordinal|cudaErrorInvalidDevice|hipErrorInvalidDevice|CUDA_VISIBLE_DEVICES is set to empty|Invalid "
     "device id",
     "The program asked for a GPU number that this process does not have, or for access between two GPUs that cannot "
     "reach each other: more processes of a node than GPUs (times -g of nccl-tests), a wrong local rank, or "
     "CUDA_VISIBLE_DEVICES or the launcher (srun --gpus-per-task) that hides them, so that the processes of the node "
     "see different sets of GPUs.",
     "nvidia-smi -L; env | grep -E 'VISIBLE_DEVICES|LOCAL_RANK'", "CUDA driver_types.h"},
    {"dcgm-profiling", host,
     "DcgmModuleProfiling|DCGM_PROFILING_|serviced by a module of DCGM that is not|rofiling module returned|sufficient "
     "privileges to expose profiling|Profiling is not supported for this group|profiling metrics cannot be collected|"
     "EnableMetrics returned -",
     "DCGM has no profiling metrics (DCGM_FI_PROF_*) on this host, and goes on with the others: its module is not "
     "loaded, because the GPU does not support it, the container lacks the capability SYS_ADMIN, another nv-hostengine "
     "or profiler (Nsight) uses the GPUs, or only MIG instances are visible. Give it SYS_ADMIN, use one nv-hostengine, "
     "or leave these fields out.",
     "dcgmi modules -l; dcgmi dmon -e 1001 -c 1; ps -C nv-hostengine", "DCGM modules/profiling, dcgm-exporter"},
    {"dcgm-start", host,
     "Error starting nv-hostengine|Cannot initialize the hostengine|DcgmHostEngineHandler::Init|CacheManager Init "
     "Failed|DCGM initialization error|error connecting to nv-hostengine|Failed to start host engine|Failed to start "
     "embedded host engine",
     "DCGM could not start, or the exporter does not reach its nv-hostengine: NVML fails in the container (no driver "
     "library or device, another release), the container sees only a part of a GPU in MIG mode, or the address of the "
     "nv-hostengine is wrong, or another instance has its port (5555). Test nvidia-smi in the same container.",
     "nvidia-smi; systemctl status nvidia-dcgm; dcgmi discovery -l", "DCGM dcgmlib, dcgm-exporter"},
    {"dcgm-imex", host, "DCGM_FR_IMEX|IMEX daemon status|IMEX*not READY",
     "DCGM found that the IMEX service, which shares memory of GPUs between hosts over NVLink, does not run or is not "
     "ready. That is no fault of a GPU: without a multi-node NVLink domain in use it is harmless. Else start it on "
     "every host of the domain, with the same list of nodes.",
     "systemctl status nvidia-imex; nvidia-imex-ctl -N", "DCGM dcgmlib/dcgm_errors.c"},
    {"dcgm-health",
     host,
     "DCGM_FR_|dcgm*Fail -|Overall Health: Failure|Overall Health: Warning|pending page retirements|Row remap*fail|row "
     "remapping failure|dcgm*violation|DBE*DCGM",
     {"DCGM found a fault of a GPU or of its surroundings in a health check or test (dcgmi diag): the code or words "
      "name it (memory, NVLink, PCIe replays, power, heat, an Xid). ",
      {Work::ends_jobs, "Reset or reboot as the Xid asks. "},
      {Work::in_machine, "Replace the GPU if the test fails again."}},
     "dcgmi health -c; dcgmi diag -r 2; journalctl -k -g Xid",
     "DCGM dcgmlib/dcgm_errors.c"},
    {"gpu-remap",
     host,
     "Row Remapping Failure|Remapping Failure Occurred|uncorrectable error*row|remapped rows*pending|Pending*: "
     "Yes*remap|Reset required*remap",
     {"A row of the memory of a GPU is replaced, or could not be. ",
      {Work::ends_jobs, "Reset the GPU when it is idle to finish a pending one. "},
      {Work::in_machine, "Replace it after a failure."}},
     "nvidia-smi -q -d ROW_REMAPPER",
     "NVIDIA driver"},
    // After the rows of drivers that say what they do without the file.
    {"firmware-file",
     host,
     "Direct firmware load for *failed with error",
     {"A driver does not find a firmware file (-2: it is not in /lib/firmware), and most drivers do not start the "
      "device without it. It is harmless if the next lines show another file, or that the device starts. Install the "
      "package with this file (linux-firmware, or the driver's own), also in the initramfs",
      {Work::ends_jobs, ", then reload the driver"},
      ". After devlink dev flash or ethtool -f only the file name of the command is wrong: the file must be in "
      "/lib/firmware, and the device goes on with its firmware."},
     "ls /lib/firmware; journalctl -k -g firmware",
     "Linux drivers/base/firmware_loader/main.c"},
};

}  // namespace

const std::span<const LineMessage> kDeviceMessages = kRows;

}  // namespace fabric::lines
