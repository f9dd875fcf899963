// SPDX-License-Identifier: Apache-2.0
// GPUs and NVSwitches.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kXid = "NVIDIA open-gpu-kernel-modules, NVIDIA's Xid catalog";

constexpr LineMessage kGpuRows[] = {
    {"gpu-in-use-by-client",
     host,
     "In use by another client|GPUs could not be reset|MIG mode is in pending",
     {"The GPU cannot be reset, or its MIG mode not changed, while another client uses it: a job, a daemon "
      "(nvidia-persistenced, DCGM, the fabric manager, an exporter), nvidia_drm or an X server. The change waits. ",
      {Work::ends_jobs, "Stop the clients, then nvidia-smi --gpu-reset, or reboot."}},
     "nvidia-smi; fuser -v /dev/nvidia*; nvidia-smi -q | grep -A 2 'MIG Mode'",
     "nvidia-smi, NVIDIA mig-parted"},
    consequence(
        {"gpu-channel-removed", none, "NVRM: Xid (*): 45,",
         "The driver ended the GPU channels of a process after another error. This is a consequence: the process is a "
         "victim, and the Xid that the line or an earlier line names is the cause.",
         "journalctl -k -g Xid", kXid}),
    consequence(
        {"gpu-report-detail", none,
         "NVRM: *Lost RC diagnostic record|NVRM: *lease also check logs above|NVRM: Attempting to close unopened",
         "A detail after another error of a GPU: a record about it that was lost, a pointer to the lines above, or a "
         "device file that is closed although it could not be opened. This is a consequence; the Xid, or the failed "
         "start of the GPU, in an earlier line is the cause.",
         "journalctl -k -g 'NVRM|Xid'", kXid}),
    {"gpu-security",
     host,
     "NVRM: Xid (*): 110,",
     {"A GPU reports a security fault: its firewall blocks accesses, or a part of it was not started as signed. The "
      "GPU is not usable. ",
      {Work::ends_jobs, "Reset the GPU"},
      {Work::in_machine, ", or power-cycle the node. Replace the GPU if the fault recurs"},
      "."},
     "nvidia-smi -q | grep -i -E 'vbios|firmware'",
     kXid},
    consequence({"gpu-init-step", host, "bailing out of RmInitAdapter",
                 "A step of the start of a GPU failed, and the driver gave the GPU up: it is not usable. This line "
                 "names the step; the NVRM lines before it have the reason.",
                 "journalctl -k -g NVRM", kXid}),
    {"gpu-fabric-addresses",
     host,
     "NVRM: *FLA bind failed|NVRM: *nit FLA failed",
     {"The addresses by which GPUs reach each other over NVSwitch (FLA) could not be set up, so that peer access over "
      "NVSwitch does not work: the fabric manager does not run or is of another release than the driver, or the GPU "
      "does not have them. Look at its log and at the NVRM lines before. ",
      {Work::ends_jobs, "Reset the GPU."}},
     "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A 3 Fabric",
     kXid},
    {"gpu-dmabuf-export", host,
     "dma-buf attach failed: importer|DMABuf not supported on this system|ailed to retrieve dmabuf|ailed to export "
     "dmabuf|portable_export_dmabuf*ailed",
     "GPU memory could not be given to the NIC by DMA-BUF, so that GPUDirect RDMA does not work this way: the GPU "
     "driver is not the open one or too old, the kernel lacks DMA-BUF with P2PDMA, or the RDMA driver cannot import "
     "such memory. Update driver and kernel, or use the peer memory module (nvidia_peermem; for AMD that of amdgpu).",
     "modinfo -F license nvidia; uname -r; lsmod | grep peermem; fabric-agentctl check --only gpudirect",
     "NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv-dmabuf.c, ROCm, DOCA GPUNetIO"},
    consequence({"gdrcopy-release", unknown,
                 "gdr_unmap failed|gdr_unpin failed|gdr_unpin_buffer(*failed|gdr_unmap(*failed",
                 "GDRCopy could not release a mapping of GPU memory: mostly the memory was freed before, at the end of "
                 "a program or after an error. This is a consequence; the first error of the process is the cause, if "
                 "there is one.",
                 "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "GDRCopy src/gdrapi.c"}),
    {"gpu-pinned-memory", host, "HostMalloc(*failed|HostMalloc failed|HostAlloc failed|MallocHost failed",
     "Pinned memory of the host could not be allocated for a GPU or a NIC: memory of the host or of the cgroup is used "
     "up, or the memlock limit is too low. GPU memory takes no part in it.",
     "free -m; ulimit -l; cat /sys/fs/cgroup/memory.max", "HIP, CUDA"},
    {"gpu-confidential",
     host,
     "NVRM: *CC key derivation failed|NVRM: *SpdmSession|NVRM: *Spdm*fail|NVRM: *onfCompute*fail",
     {"Confidential Computing: the driver could not make the secure session (SPDM) with the firmware of the GPU, and "
      "the GPU does not start. The mode of the GPU (nvtrust), the VBIOS, the driver and the virtual machine must fit "
      "each other. ",
      {Work::ends_jobs, "Reset the GPU after a change of the mode."}},
     "nvidia-smi conf-compute -f; nvidia-smi -q | grep -i vbios",
     kXid},
    {"gpu-address-space", host, "hipMemAddressReserve*ailed|ailed*hipMemAddressReserve",
     "A library could not reserve addresses of GPU memory for its symmetric heap: the heap is too large (all ranks "
     "together), a limit of the virtual memory of the process (ulimit -v), or an earlier error of the GPU. Use a "
     "smaller heap (MORI_SHMEM_HEAP_SIZE, NVSHMEM_SYMMETRIC_SIZE, ROCSHMEM_HEAP_SIZE).",
     "ulimit -v; env | grep -E 'HEAP_SIZE|SYMMETRIC_SIZE'", "ROCm MORI, NVSHMEM, rocSHMEM"},
    {"gpu-numa-memory", host, "NVRM: numa memblock size of zero|NVRM: *ailed to online|NVRM: *emory hotplug",
     "The kernel cannot add the memory of the GPU as a NUMA node, as superchips (Grace Hopper) do: it was built "
     "without memory hotplug, or memory is not set online by the driver. Use the kernel of the vendor for this "
     "platform.",
     "grep -E 'MEMORY_HOTPLUG|MHP' /boot/config-$(uname -r); numactl -H", kXid},
    consequence(
        {"gpu-recovery", unknown, "NVRM: Xid (*): 154,|GPU recovery action changed from",
         "Names the recovery that an earlier error needs; it is no fault of its own. The text in brackets counts (GPU "
         "reset, node reboot), not its number, which differs between drivers.",
         "journalctl -k -g Xid", kXid}),
    consequence({"gpu-probe", host, "NVIDIA probe routine failed|NVRM: None of the NVIDIA devices were initialized",
                 "The GPU driver could not start a GPU; the lines before this one have the reason.",
                 "journalctl -k -g NVRM", kXid}),
    {"gpu-busy", host, "is/are busy or unavailable",
     "Another process holds the GPU in exclusive compute mode (an old process of a job, or two ranks with one GPU), or "
     "the GPU needs a reset: the kernel log then has an Xid or \"Reset required\".",
     "nvidia-smi -q -d COMPUTE,PIDS; journalctl -k -g NVRM", "CUDA driver_types.h (cudaErrorDevicesUnavailable)"},
    {"gpu-lost", host,
     "Unable to determine the device handle for GPU|GPU is lost|GPU requires reset|NV_ERR_RESET_REQUIRED|"
     "NVML_ERROR_GPU_IS_LOST|GPU*Reset required|NVRM*Reset required",
     "A GPU does not answer any more, or works again only after a reset. The kernel log has the first error: a bad "
     "PCIe link (AER lines of the port above it), heat, power, or an Xid.",
     "journalctl -k -g 'NVRM|AER'; nvidia-smi -q | grep -i reset", kXid},
    {"gpu-off-bus", host, "NVRM: Xid (*): 79,|NVRM: *fallen off the bus",
     "A GPU has fallen off the bus (Xid 79): it no longer answers on PCIe. Its power, slot, riser or cooling is at "
     "fault, or the GPU itself. It is unusable until the node has been power-cycled.",
     "fabric-agentctl check --only pcie,aer", kXid},
    {"gpu-memory",
     host,
     "NVRM: Xid (*): 48,|NVRM: Xid (*): 63,|NVRM: Xid (*): 64,|NVRM: Xid (*): 94,|NVRM: Xid (*): 95,|NVRM: Xid (*): "
     "140,|NVRM: Xid (*): 58,|NVRM: Xid (*): 92,|NVRM: Xid (*): 156,|NVRM: Xid (*): 157,|NVRM: Xid (*): 160,|NVRM: Xid "
     "(*): 161,|NVRM: Xid (*): 168,|NVRM: Xid (*): 171,|NVRM: Xid (*): 172,|NVRM: Xid (*): 175,",
     {"The memory of a GPU had an uncorrectable error (Xid 48, 58, 94, 95, 140, 171, 172, 175) or many that were "
      "corrected (92), or the GPU retired a faulty part of its memory (63, 156, 160, 168) or could not retire it (64, "
      "157, 161). After an uncorrectable error the process that used the memory ends, and its peers see remote "
      "errors. ",
      {Work::ends_jobs | Work::when_idle, "Reset the GPU when it is idle"},
      {Work::in_machine, "; replace it after 64, 157 or 161"},
      "."},
     "nvidia-smi -q -d ECC,ROW_REMAPPER",
     kXid},
    {"gpu-nvlink", host,
     "NVRM: Xid (*): 74,|NVRM: Xid (*): 144,|NVRM: Xid (*): 145,|NVRM: Xid (*): 146,|NVRM: Xid (*): 147,|NVRM: Xid "
     "(*): 148,|NVRM: Xid (*): 149,|NVRM: Xid (*): 150,|NVRM: Xid (*): 108,|NVRM: Xid (*): 136,|NVRM: Xid (*): "
     "155,|NVRM: Xid (*): 166,|NVRM: Xid (*): 170,",
     "An NVLink of a GPU reports an error (Xid 74; on newer GPUs 144 to 150, 155, 166, 170; 108: error of the other "
     "end; 136: the link did not train). Usual causes: a connector, an NVSwitch, or a GPU at the other end that was "
     "reset. NVLink is not the RDMA network.",
     "nvidia-smi nvlink -e; nvidia-smi nvlink -s", kXid},
    {"gpu-firmware",
     host,
     "NVRM: Xid (*): 119,|NVRM: Xid (*): 120,|Rate limiting GSP RPC error prints|GspMsgQueue*Bad sequence "
     "number|GspMsgQueue*Bad checksum",
     {"The firmware of a GPU (GSP) does not answer (Xid 119) or has failed (120), or the queue of messages between it "
      "and the driver is damaged: a message was lost, or memory of the host is corrupt (EDAC, IOMMU). ",
      {Work::ends_jobs, "The GPU needs a reset, or the node a reboot. "},
      "If it recurs, update the driver."},
     "nvidia-smi -q | grep -i gsp",
     kXid},
    {"gpu-controller",
     host,
     "NVRM: Xid (*): 59,|NVRM: Xid (*): 61,|NVRM: Xid (*): 62,|NVRM: Xid (*): 93,|NVRM: Xid (*): 122,|NVRM: Xid (*): "
     "123,|NVRM: Xid (*): 124,|NVRM: Xid (*): 125,|NVRM: Xid (*): 143,|NVRM: Xid (*): 158,|nfoROM is corrupted|nfoROM "
     "corrupt",
     {"A controller inside a GPU failed: its power microcontroller (PMU, Xid 59, 61, 62), its flash or InfoROM (93, "
      "122 to 125; the configuration and the records of ECC errors are then not reliable), its start (143) or a "
      "timeout without recovery (158). ",
      {Work::ends_jobs, "Reset the GPU, or reboot. "},
      "Update the driver and the VBIOS if the error recurs; ",
      {Work::in_machine, "replace the GPU if the update does not help."}},
     "journalctl -k -g Xid; nvidia-smi -q | grep -i -E 'vbios|inforom'",
     kXid},
    {"gpu-host-link",
     host,
     "NVRM: Xid (*): 121,|NVRM: Xid (*): 159,|NVRM: Xid (*): 167,|NVRM: Xid (*): 173,|NVRM: Xid (*): 176,",
     {"The link between a GPU and its host had an error: PCIe (Xid 167: fatal timeout, 176: many corrected errors), or "
      "C2C to the CPU of a superchip (121, 159, 173). Copies and GPUDirect RDMA over this link are slow or fail. ",
      {Work::in_machine, "Power-cycle the node; reseat the GPU or its riser if PCIe errors recur."}},
     "fabric-agentctl check --only aer,pcie; nvidia-smi -q | grep -A 12 -i 'GPU Link'",
     kXid},
    {"gpu-program", software,
     "NVRM: Xid (*): 13,|NVRM: Xid (*): 69,|NVRM: Xid (*): 31,|NVRM: Xid (*): 43,|NVRM: Xid (*): 137,*FLA|NVRM: Xid "
     "(*): 137,*faulted @",
     "A program made the GPU fault (Xid 13, 69: exception; 31: page fault; 43: stopped; 137: access to the memory of "
     "another GPU without permission): a bug in the program or a library, or a setting such as NCCL_CHUNK_SIZE. Not "
     "hardware, if it comes on several nodes at once. The program ends, and its peers see remote errors.",
     "journalctl -k -g Xid", kXid},
    {"gpu-versions",
     host,
     "NVRM: API mismatch|Driver/library version mismatch|CUDA driver version is "
     "insufficient|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|cudaErrorInsufficientDriver",
     {"The kernel driver of the GPU and its libraries are of different releases, or the driver is older than the CUDA "
      "runtime of the program needs: update the driver, or use a build for an older CUDA version (or the package "
      "cuda-compat). ",
      {Work::ends_jobs, "After an update of the driver, reload it or reboot. "},
      "In the container, use the host's libraries."},
     "cat /proc/driver/nvidia/version; nvidia-smi",
     "NVIDIA open-gpu-kernel-modules"},
    {"gpu-no-nvswitch", none, "NV_WARN_NOTHING_TO_DO",
     "The fabric manager found no NVSwitch, and does not start. A host without NVSwitch does not need it: harmless; "
     "disable the service. On B100, B200 and B300 with NVSwitch it is a fault: NVLSM, which manages the NVSwitches "
     "there, does not run. Install nvlsm of the driver's version, and load ib_umad.",
     "systemctl status nvidia-fabricmanager", "NVIDIA Fabric Manager user guide"},
    {"gpu-fabric-version",
     host,
     "driver interface version*match with driver version|matching NVIDIA driver package|fabric manager version*does "
     "not match|fabric manager*version mismatch",
     {"The fabric manager and the GPU driver are of different releases: it does not start, and CUDA fails on machines "
      "with NVSwitch. Install nvidia-fabricmanager of the same version as the driver",
      {Work::service, ", then systemctl restart nvidia-fabricmanager"},
      "."},
     "cat /proc/driver/nvidia/version; nv-fabricmanager --version",
     "NVIDIA Fabric Manager user guide"},
    {"gpu-firmware-file",
     host,
     "Direct firmware load for nvidia/*fail|RmFetchGspRmImages: No firmware|NVRM*No firmware image "
     "found|nvidia*gsp_*.bin failed with error",
     {"The GPU driver does not find the file of the GPU's firmware (GSP), and the GPU does not start: the firmware of "
      "this driver version is not installed in /lib/firmware/nvidia, or is not in the initramfs or the image of the "
      "virtual machine. Install the package of the same version as the driver, also in the initramfs",
      {Work::ends_jobs, ", then reload the driver"},
      "."},
     "cat /proc/driver/nvidia/version; ls /lib/firmware/nvidia; modinfo -F firmware nvidia",
     "NVIDIA open-gpu-kernel-modules"},
    {"gpu-open-module", host,
     "Open nvidia.ko is only ready for use on|requires use of the NVIDIA open kernel modules|in this system is not "
     "supported by|NVreg_OpenRmEnable|is not supported by open nvidia.ko",
     "This GPU and this kind of the NVIDIA driver do not fit: the open kernel modules support GPUs from Turing on (at "
     "first data center GPUs only), and the newest GPUs need the open ones. Install the other kind, or a newer driver; "
     "NVreg_OpenRmEnableUnsupportedGpus=1 allows a GPU that the open modules of old releases refuse.",
     "modinfo -F license nvidia; cat /proc/driver/nvidia/version; lspci -d 10de:", "NVIDIA open-gpu-kernel-modules"},
    {"gpu-not-reset",
     host,
     "WPR2 already up|WPR2 is already up",
     {"The firmware (GSP) of a GPU cannot be started or does not answer, because the GPU is in the state of an earlier "
      "failure or of a driver that was not unloaded cleanly. ",
      {Work::ends_jobs, "Reset the GPU, or reboot the node. "},
      "The first NVRM or Xid line before it has the reason; if it recurs, look at the driver version."},
     "journalctl -k -g NVRM; nvidia-smi -q | grep -i reset",
     "NVIDIA open-gpu-kernel-modules kernel_gsp.c"},
    {"gpu-boot",
     host,
     "gpuWaitForGfwBootComplete|WaitForGfwBootOk|GFW_BOOT|GFW boot|FSP command queue to be empty|NVRM: *Cannot "
     "initialize GSP firmware RM|NVRM: *FWSEC|kgspPrepareForBootstrap|kfspSendBootCommands",
     {"The firmware on the GPU (VBIOS: GFW; FSP, GSP) did not finish its boot or does not answer, so that the driver "
      "cannot initialize the GPU and nvidia-smi does not show it: the GPU is in a bad state, its power or its PCIe "
      "slot is faulty, the firmware hangs, or the VBIOS does not fit this driver. ",
      {Work::in_machine, "Power-cycle the node (cold boot). "},
      "Update the VBIOS and the driver, with firmware files of one version",
      {Work::in_machine, "; check power and seat of the GPU, and replace it if the error stays"},
      "."},
     "journalctl -k -g NVRM; nvidia-smi -L",
     "NVIDIA open-gpu-kernel-modules kern_gpu_tu102.c, kernel_gsp.c"},
    {"gpu-fabric-state",
     host,
     "NV_ERR_FABRIC_STATE_OUT_OF_SYNC|NV_ERR_NVLINK_FABRIC_NOT_READY|NV_ERR_NVLINK_FABRIC_FAILURE|"
     "NV_ERR_FABRIC_MANAGER_NOT_PRESENT",
     {"The GPU driver and the fabric manager do not agree about the NVLink fabric: the fabric manager does not run, "
      "has not finished, or was restarted without a reset of the GPUs (out of sync). Multicast over NVLink (NVLS) then "
      "fails in NCCL and NVSHMEM. ",
      {Work::ends_jobs, "Reset all GPUs (nvidia-smi -r) or reboot."}},
     "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A 3 Fabric",
     "NVIDIA open-gpu-kernel-modules nvstatuscodes.h, mem_multicast_fabric.c"},
    {"gpu-fabric-manager", host,
     "system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|Fabric "
     "Manager*rror|fabricmanager*ailed|fabricmanager*rror",
     "The NVSwitches are not set up: nvidia-fabricmanager does not run, or is of another release than the driver.",
     "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A 3 Fabric", "NVIDIA Fabric Manager user guide"},
    {"gpu-cuda-memory",
     host,
     "uncorrectable ECC error encountered|uncorrectable NVLink "
     "error|CUDA_ERROR_ECC_UNCORRECTABLE|CUDA_ERROR_NVLINK_UNCORRECTABLE",
     {"The memory or an NVLink of a GPU had an error that could not be corrected: a fault of its hardware; the kernel "
      "log has its Xid (48, 63, 64, 94: memory; 74, 149: NVLink). ",
      {Work::ends_jobs, "Reset the GPU or reboot"},
      {Work::in_machine, "; replace the GPU if the error comes again."}},
     "journalctl -k -g Xid; nvidia-smi -q -d ECC,ROW_REMAPPER",
     kXid},
    {"gpu-cuda-program", software,
     "an illegal memory access was encountered|unspecified launch "
     "failure|CUDA_ERROR_ILLEGAL_ADDRESS|CUDA_ERROR_LAUNCH_FAILED|device-side assert triggered|an illegal instruction "
     "was encountered|Cuda failure*misaligned address|CUDA error: misaligned address",
     "A kernel of the program, or of a library, accessed an invalid address on the GPU or failed in another way (Xid "
     "13 or 31): a bug of the program. CUDA reports it at the next call, also at one of NCCL, which is not the cause. "
     "The other ranks see errors of the network afterwards. CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer finds the "
     "kernel.",
     "journalctl -k -g Xid", kXid},
    {"gpu-capture", software,
     "previous error during capture|operation not permitted when stream is capturing|would make the legacy stream "
     "depend on a capturing|capture of a CUDA graph*fail",
     "A CUDA graph could not be captured: an earlier call of the program failed during the capture, or did something "
     "that a capture forbids (it allocated memory, synchronized, or used another stream). NCCL or another library only "
     "sees it. Find the first error of the capture; run without CUDA graphs as a test. The network is not at fault.",
     "grep -hE 'rror|Traceback' LOG-OF-EVERY-RANK | head", "CUDA driver_types.h cudaErrorStreamCapture*"},
    {"gpu-not-supported", host, "Cuda failure*'operation not supported'|HIP failure*'operation not supported'",
     "The driver or the GPU does not support a call that the library (NCCL, RCCL) makes, such as memory pools, CUDA "
     "IPC, DMA-BUF or multicast: the driver is too old for this release of the library, or it is a virtual GPU, or a "
     "container or kernel without the feature. Update the driver, or use an older release of the library.",
     "nvidia-smi; env | grep NCCL_; fabric-agentctl check --only gpudirect",
     "CUDA driver_types.h cudaErrorNotSupported"},
    {"gpu-handle", software,
     "Cuda failure*invalid resource handle|Cuda failure*invalid device context|Cuda failure*context is destroyed|HIP "
     "failure*invalid resource handle|HIP failure*invalid device context",
     "The program used a stream, an event, memory or a context of the GPU that does not exist (any more), or is of "
     "another GPU or process: it was destroyed before, made before a fork, or the current device was changed. The "
     "network is not at fault.",
     "grep -hE 'rror|Traceback' LOG-OF-EVERY-RANK | head", "CUDA driver_types.h cudaErrorInvalidResourceHandle"},
    {"gpu-peer-limit", software, "peer mapping resources exhausted|CUDA_ERROR_TOO_MANY_PEERS|cudaErrorTooManyPeers",
     "A GPU can have peer access to at most 8 other GPUs at a time, if they are not connected by NVSwitch. The job "
     "uses more GPUs of one node in one process (or its processes map them all), so that the peer mappings are "
     "exhausted. Use at most 9 GPUs that map each other (CUDA_VISIBLE_DEVICES), one process for each GPU, or less peer "
     "access (NCCL_P2P_LEVEL, NCCL_P2P_DISABLE=1).",
     "nvidia-smi topo -p2p r; env | grep -E 'VISIBLE_DEVICES|NCCL_P2P'", "CUDA driver_types.h cudaErrorTooManyPeers"},
    {"gpu-no-peer-access", host,
     "Cuda failure*peer access is not supported|CUDA error*peer access is not supported|"
     "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED|cudaErrorPeerAccessUnsupported|Cuda failure*peer access has not been enabled",
     "One GPU of this host cannot access the memory of another one (no peer to peer): neither NVLink nor PCIe between "
     "the two allows it (the model of the GPU, another CPU socket, IOMMU or ACS, a virtual machine), or a process does "
     "not see the other GPU (CUDA_VISIBLE_DEVICES). NCCL_P2P_DISABLE=1, or the option of the program, goes through "
     "memory of the host, slower. If NCCL's transport/shm.cc fails, access to that memory does: set "
     "NCCL_CUMEM_HOST_ENABLE=0.",
     "nvidia-smi topo -p2p r; env | grep VISIBLE_DEVICES", "CUDA driver_types.h"},
    {"gpu-xid", host, "NVRM: Xid",
     "The GPU driver reports an error. Most kinds end the process that used the GPU, and its peers see remote errors. "
     "The number is in NVIDIA's Xid catalog.",
     "nvidia-smi -q | grep -A 5 -i ecc", kXid},
    {"gpu-other-driver", host,
     "obtained ownership of the NVIDIA device|NVRM: GPU *is already bound to|NVRM: *Tried to get IRQ *, but another "
     "driver|NVRM: *conflicting driver",
     "Another driver is bound to this GPU, so nvidia.ko cannot start it: nouveau, vfio-pci (for a virtual machine), or "
     "a frame buffer driver. Unbind that driver, or blacklist nouveau, also in the initramfs.",
     "lspci -nnks {pci}; lsmod | grep -E 'nouveau|vfio'", "NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv.c"},
    {"gpu-init", host,
     "NVRM: *RmInitAdapter failed|NVRM: *rm_init_adapter failed|NVRM: *rm_init_private_state() failed|NVRM: Device "
     "start failed for|NVRM: pci_enable_device failed|Can't find an IRQ for your NVIDIA card|[Assign IRQ to VGA] "
     "should|[Plug & Play OS] should|NVRM: *Failed to enable MSI-X|NVRM: failed to wait for bar firewall",
     "The driver could not start a GPU, and nvidia-smi does not show it: its firmware did not start, or only a reset "
     "of the GPU helps.",
     "journalctl -k -g NVRM; nvidia-smi -L", "NVIDIA open-gpu-kernel-modules"},
    {"amdgpu-reset", host,
     "amdgpu*GPU reset begin|amdgpu*MES failed to respond to msg=|amdgpu*timeout, signaled seq=|amdgpu*ncorrectable "
     "hardware error|amdgpu*VRAM is lost due to GPU reset",
     "The driver of an AMD GPU resets it after a hang (a ring, or its scheduler firmware MES, which does not answer a "
     "message as REMOVE_QUEUE) or an uncorrectable hardware error (RAS); its memory is lost, the processes that used "
     "the GPU end, and their peers see remote errors. The first of these lines is the cause; a page fault of a program "
     "before it is, too. If hangs recur, update the firmware (linux-firmware), the kernel and ROCm.",
     "journalctl -k -g amdgpu; amd-smi metric --ecc", "Linux drivers/gpu/drm/amd/amdgpu"},
    {"amdgpu-smu",
     host,
     "amdgpu*SMU: I'm not done with your previous command|amdgpu*SMU: No response|amdgpu*response 0xffffffff",
     {"The power management firmware (SMU) of an AMD GPU does not answer its driver: the GPU hangs or left the bus. ",
      {Work::ends_jobs, "Reset the GPU or reboot. "},
      "Look at the versions of firmware and driver."},
     "journalctl -k -g amdgpu; amd-smi metric --ecc",
     "Linux drivers/gpu/drm/amd/pm/swsmu/smu_cmn.c"},
    {"amdgpu-lost", host,
     "amdgpu*device lost from bus|amdgpu*GPU reset(*) failed|amdgpu*ASIC reset failed|amdgpu*ode2 reset failed",
     "An AMD GPU has left the bus, or its reset failed. It is unusable until the node has been restarted, or powered "
     "off and on.",
     "fabric-agentctl check --only pcie,aer", "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_device.c"},
    {"amdgpu-memory",
     host,
     "amdgpu*oison is consumed by|amdgpu*oison is created|amdgpu*ad pages*reaches threshold|amdgpu*deferred hardware "
     "errors detected",
     {"The memory of an AMD GPU had an error that could not be corrected. The process that uses it ends, and its peers "
      "see remote errors. ",
      {Work::in_machine, "Replace the GPU when its bad pages reach the threshold."}},
     "amd-smi bad-pages; amd-smi metric --ecc",
     "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c, amd/amdkfd"},
    {"amdgpu-program", software, "amdgpu*page fault (src_id|Memory access fault by GPU",
     "A program accessed GPU memory that is not mapped or not allowed (on NVIDIA GPUs: Xid 31), usually because of a "
     "bug in the program or a library: memory that was freed, an index out of bounds, a ROCm that does not know this "
     "GPU. The next lines name the process and the address. The program ends, and its peers see remote errors.",
     "journalctl -k -g 'page fault'", "Linux drivers/gpu/drm/amd/amdgpu/gmc_v9_0.c, ROCr-Runtime runtime.cpp"},
    {"amdgpu-init", host, "amdgpu*Fatal error during GPU init",
     "The driver could not start an AMD GPU, and amd-smi does not show it. The lines before this one name the part.",
     "journalctl -k -g amdgpu; amd-smi list", "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_kms.c"},
    {"nvswitch-sxid-nonfatal", none, ": SXid (PCI:*), Non-fatal|: SXid (PCI:*: *, Non-fatal,",
     "An NVSwitch of this node notes an event of a link that is not fatal: NVLink goes on. Harmless by itself; many of "
     "the same link, or a fatal one after it, are not.",
     "journalctl -k -g SXid; nvidia-smi nvlink -e", "NVIDIA Fabric Manager user guide, appendix D"},
    {"nvswitch-sxid", host, ": SXid (PCI:",
     "An NVSwitch of this node reports an error of NVLink, which is not the RDMA network. After a fatal one the GPUs "
     "behind it cannot be used until GPUs and NVSwitches are reset.",
     "journalctl -u nvidia-fabricmanager; nvidia-smi nvlink -s", "NVIDIA Fabric Manager user guide, appendix D"},
    {"peermem-invalid-context", software, "nv_get_p2p_free_callback*invalid context",
     "GPU memory was freed while nvidia-peermem had it registered. NVIDIA calls the line harmless; drivers since R560 "
     "do not print it.",
     "cat /proc/driver/nvidia/version", "NVIDIA open-gpu-kernel-modules nvidia-peermem.c"},
    {"peer-memory-symbol", host, "symbol ib_register_peer_memory_client",
     "The GPU driver cannot register with the RDMA stack (nvidia-peermem is not loaded): it was built for another "
     "stack. Linux's own RDMA stack has no such function and needs DMA-BUF; with OFED or DOCA, build the GPU driver "
     "again.",
     "dkms status; fabric-agentctl check --only gpudirect", "NVIDIA open-gpu-kernel-modules nvidia-peermem.c"},
    {"gdrcopy-call", software,
     "ERR:  error * while mapping handle|ERR:  error * while pinning|ERR: *pin_buffer*Invalid argument",
     "GDRCopy rejects a buffer of the program: its address is not of cudaMalloc or not aligned to a page of the GPU "
     "(64 kB), or it was not pinned or is mapped already.",
     "gdrcopy_sanity; gdrcopy_copybw", "GDRCopy src/gdrapi.c"},
    {"gdrcopy", host,
     "gdr_pin_buffer*ailed|error in gdr_pin_buffer|Error in gdr_|unable to open GDR driver|gdrdrv:*failed|GDRCOPY "
     "failure",
     "GDRCopy could not use GPU memory: its module gdrdrv is not loaded or /dev/gdrdrv is not in the container, it "
     "does not fit the GPU driver or CUDA, or the GPU (GeForce) does not support GPUDirect RDMA (EINVAL).",
     "ls -l /dev/gdrdrv; modinfo -F version gdrdrv; cat /proc/driver/nvidia/version",
     "GDRCopy src/gdrdrv/gdrdrv.c, NCCL src/misc/gdrwrap.cc"},
    {"gpu-pages", software, "error -22 while calling nvidia_p2p_get_pages",
     "The GPU driver does not know the address that the job registered (-22, EINVAL): it is not from cudaMalloc, was "
     "freed already, or was allocated without GPUDirect RDMA (CUDA's virtual memory: cuMem, expandable segments). See "
     "how the job allocates the buffer.",
     "journalctl -k -g peermem; echo $PYTORCH_CUDA_ALLOC_CONF $NCCL_CUMEM_ENABLE",
     "NVIDIA open-gpu-kernel-modules nvidia-peermem.c"},
    {"gpu-peermem", host,
     "nv_mem_client_init|registering traditional client|nvidia_p2p_get_pages|nvidia-peermem*ERROR|nvidia-peermem*rror "
     "|nv_peer_mem*rror",
     "nvidia_peermem could not register with the RDMA stack or could not map GPU memory: the GPU driver was built for "
     "another RDMA stack. Build it again after OFED or DOCA, or use DMA-BUF.",
     "dkms status; lsmod | grep peermem; fabric-agentctl check --only gpudirect",
     "NVIDIA open-gpu-kernel-modules nvidia-peermem.c"},
};

}  // namespace

const std::span<const LineMessage> kGpuMessages = kGpuRows;

}  // namespace fabric::lines
