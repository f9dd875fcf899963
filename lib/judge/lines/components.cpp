// SPDX-License-Identifier: Apache-2.0
// Any other error, by the component that prints it: the file of a library, the functions or the subject of a driver.
// The message itself is not known. A cause is given only where the component can have no other.
#include "judge/lines/component_rows.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

// A library that rejects a call or a value of its program. A line with an errno reports another fault.
constexpr LineMessage refusing(std::string_view id, std::string_view printer, std::string_view patterns,
                               const FixRow& meaning, std::string_view next, std::string_view source,
                               Printer kind = Printer::other) {
  LineMessage out = component(Severity::plain, id, software, printer, patterns, meaning, next, source, kind);
  out.errors = kNoErrno;
  return out;
}

// Drivers: the kernel's log does not show the severity.
constexpr LineMessage failing(std::string_view id, FaultLocation cause, std::string_view printer,
                              std::string_view patterns, const FixRow& meaning, std::string_view next,
                              std::string_view source, Printer kind = Printer::other) {
  return component(Severity::failure, id, cause, printer, patterns, meaning, next, source, kind);
}

constexpr std::string_view kNccl = "NCCL WARN|NCCL ERROR";
constexpr std::string_view kMori =
    "[application] [error]|[application] [warning]|[application] [critical]|[io] [error]|[io] [warning]|[io] "
    "[critical]|[shmem] [error]|[shmem] [warning]|[shmem] [critical]|[core] [error]|[ops] [error]|"
    "LocalBootstrapNetwork|[mori]";
constexpr std::string_view kUccl =
    "rdma_endpoint.cc:|rdma_connection.cc:|rdma_data_channel|rdma_context.cc:|rdma_device.cc:|cxi_endpoint.cc:|"
    "nccl_endpoint.cc:|epoll_client.cc:|epoll_server.cc:|efa_data_channel|ib_data_channel|util_efa.|eqds.cc:|"
    "memory_allocator.cc:|[ERROR *engine.cc:|[WARN *engine.cc:|[ERROR *transport.cc:|[WARN *transport.cc:|[ERROR "
    "*rdma/|[WARN *rdma/|[FATAL *rdma/|UCCL P2P: |uccl_engine|UcclProxy|[Native RDMA|UCCL_|[AtomicsImm::|[RDMA "
    "ERROR]|[internode::|post_barrier_msg";
constexpr std::string_view kMscclpp = "MSCCLPP WARN|MSCCLPP ERROR|mscclpp failure: |mscclpp::|_mscclpp.|MSCCLPP_";
constexpr std::string_view kDoca = "DOCA doca_error.h, doca_log.h";
constexpr std::string_view kRanks = "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head";
constexpr std::string_view kUcxDevices = "ucx_info -d | grep -E 'Transport|Device'";
constexpr std::string_view kKernelLog = "journalctl -k -p warning -g {pci}; devlink dev info pci/{pci}";
// Every error and warning of mlx5_core and mlx5_ib has the function, the line and the process.
constexpr std::string_view kMlx5 = "mlx5_core*:(pid ";
constexpr std::string_view kMlx5Ib = "infiniband *:(pid |mlx5_*:(pid ";
constexpr std::string_view kMlx5Log = "journalctl -k -g {pci}; devlink health show pci/{pci}";
constexpr std::string_view kBnxt = "^bnxt_en ";
constexpr std::string_view kIce = "^ice *:*:*.*: |^ice: ";
constexpr std::string_view kHns = "^hns3 |^hns3: |^hclge|^hns_roce|^infiniband hns_";
constexpr std::string_view kHnsRdma =
    "^hns_roce|^hns3 *:*:*.* hns_|^hns3 *:*:*.* roce|^infiniband hns_|^hns3 *mailbox|^hns3 *hem|^hns3 *qp|^hns3 "
    "*QP|^hns3 *cq|^hns3 *srq";
constexpr std::string_view kQed = "[qed_|[qede_|[qedr_|[__qed|^qede |^qedr |^qed ";
constexpr std::string_view kAmd = "^amdgpu *:*:*.*: |^amdgpu: |[amdgpu]";
constexpr std::string_view kAmdLog = "journalctl -k -g amdgpu; amd-smi static; amd-smi metric";
// A driver's own steps on this host. Whichever part of the driver prints the line, these are not requests of a program
// or a virtual function, and not events of the link or the network.
constexpr std::string_view kOwnStep =
    "irmware|FW |fw |mailbox|adminq|dmin queue|dmin "
    "Queue|cmdq|CMDQ|command|probe|^init|_init|^reinit|alloc|^memory|DMA|^dma|IRQ|^irq|MSI|^vector|nterrupt|PCI|^reset|"
    "^Reset|register|imeout|imed out|time out|ardware|NVM|apabilit|^start|^resume|^suspend|rebuild|reload|queues: "
    "-|^clock|EEPROM|eporter|auxiliary|restarting traffic";
// Words with which a library rejects a call or a value of its program.
constexpr std::string_view kRefusals =
    "NULL|^null|nullptr|rovided|not initiali|nitialized via|must be|must have|should be|Invalid |invalid "
    "|nsupported|not support|doesn't support|only support|out of range|out of bound|lready|ismatch|different|differ "
    "|Unexpected|unexpected|uplicate|too many|Too many|too large|too long|too small|exceed|overlap|not registered|not "
    "found|not find|an't find|not a multiple|not implemented|issing |mpty|is required|requires|no common|No common|no "
    "available|no backend|No backend|no potential|no specified|nconsistent|violated|not within|not "
    "aligned|rebuild|Rebuild|not compiled|deprecated|Ignor|gnoring|verflow|won't fit|is disabled|not enabled|not "
    "complete|lugin directory|lugin file|lugin list|find nixl_|Corrupted|conn string|arse error|ailed to parse|Unknown "
    "*type|nknown command|nknown transport|nknown op|nknown message|nknown heap|nknown pointer|nknown IPC|nknown "
    "ctrl|nknown device|cannot be |at least |greater than|larger than|Not an |tried to |Tried to |without ";
constexpr std::string_view kMlx5Source = "Linux drivers/net/ethernet/mellanox/mlx5/core";

// cuFile: "DD-MM-YYYY HH:MM:SS:MS [pid=N tid=N] ERROR  cufio-fs:204 ".
constexpr std::string_view kCufile = "[pid=*tid=*] ERROR|[pid=*tid=*] WARN|cufio*ERROR|cuFile*rror|cuFile*failed";

constexpr LineMessage kRows[] = {
    // ---- Units of systemd.
    complaining(
        "service-rdma-other", host,
        "systemd[*openibd|systemd[*^rdma|systemd[*mlnx|systemd[*opensm|systemd[*ibacm|systemd[*srp_daemon|"
        "systemd[*^mst.|systemd[*iwpmd|systemd[*opafm|systemd[*^roce|systemd[*^bnxt|systemd[*sriov|systemd[*^efa|"
        "systemd[*lldpad|systemd[*lldpd|systemd[*^dcb|systemd[*^lnet|^openibd|^opensm.service|^ibacm.service|"
        "^rdma-*.service|^lldpad.service",
        "",
        {"A service of the RDMA stack did not start or ended (openibd, rdma-load-modules, rdma-ndd, which sets the "
         "node description, opensm, lldpad, ...). Usual causes: a module that does not fit the kernel, a device that "
         "is missing, or a file of its configuration. ",
         {Work::service, "Its log has the reason: systemctl status UNIT, journalctl -u UNIT."}},
        "systemctl --failed; journalctl -p warning -b", "systemd"),
    complaining(
        "service-gpu-other", host,
        "systemd[*nvidia|^nvidia-*.service: |^dcgm-*.service: "
        "|systemd[*dcgm|systemd[*nvlsm|systemd[*^imex|systemd[*amdgpu|systemd[*rocm|systemd[*fabricmanager|systemd[*"
        "gdrcopy|systemd[*gdrdrv|systemd[*habana|systemd[*neuron",
        "",
        {"A service of the GPUs did not start or ended (fabric manager, IMEX, persistence daemon, DCGM). Usual causes: "
         "a driver that is not loaded or of another release, or a GPU or NVSwitch that failed. ",
         {Work::service, "Its log has the reason: systemctl status UNIT, journalctl -u UNIT."}},
        "systemctl --failed; nvidia-smi", "systemd"),
    complaining("service-network-other", host,
                "NetworkManager[*<warn>|NetworkManager[*<error>|nm-dispatcher[|/etc/netplan/*rror|^netplan: |^ifup: |"
                "^ifdown: |ifup[|^networking.service|^NetworkManager.service|^systemd-networkd.service|^wickedd",
                "",
                "A service that sets up the netdevs of this host (NetworkManager, netplan, ifupdown, wicked) could not "
                "apply its configuration. Usual causes: a netdev that is absent, renamed or without carrier, a setting "
                "that its driver does not offer, or another service that sets up the same netdev.",
                "ip -br link; nmcli device; journalctl -u NetworkManager -u systemd-networkd -p warning",
                "NetworkManager, netplan"),
    marked(
        "lldpd-other", host, "[WARN/|[CRIT/|[ALRT/|[EMRG/|lldpd[*]: unable|lldpd[*]: cannot|lldpd[*]: could not", "",
        "lldpd, which sends and receives LLDP. Usual causes: a permission that it lacks (raw sockets in a container, "
        "seccomp), a netdev that is gone, an invalid frame of a neighbor, or a command of lldpcli that it does not "
        "accept. RDMA does not depend on it; what the switch announces (its name, port, DCBX) is missing then.",
        "systemctl status lldpd; lldpcli show neighbors; fabric-agentctl neighbors", "lldpd src/daemon"),
    complaining(
        "lldpad-other", host, "lldpad[|^lldpad: ", "",
        "lldpad, which speaks LLDP and DCBX and writes DCB settings. Usual causes: a netdev that is gone or whose "
        "driver has no DCB, a module of lldpad (VDP, EVB) that is not set up, an invalid frame of the switch, or "
        "memory. The DCB settings of the port stay as they are.",
        "systemctl status lldpad; lldptool -t -i {netdev}; dcb pfc show dev {netdev}", "lldpad"),
    complaining("service-job-other", host,
                "systemd[*slurm|^kubelet.service|^slurmd.service|^slurmctld.service|^containerd.service|^docker."
                "service|systemd[*^munge|systemd[*kubelet|systemd[*containerd|systemd[*docker|systemd[*crio|systemd[*"
                "pbs|systemd[*^lsf",
                "",
                {"A service that starts jobs did not start or ended (Slurm, kubelet, containerd). Usual causes: its "
                 "configuration, a full file system, or a service that it needs. ",
                 {Work::service, "Its log has the reason: systemctl status UNIT, journalctl -u UNIT."}},
                "systemctl --failed; df -h", "systemd"),

    // ---- The libfabric plugin of NCCL.
    marked("ofi-nccl-topology-other", unknown, "NET/OFI",
           "topology|hwloc|real path|pciPath|device property|link speed|link width|PCI speed|PCI NIC|PCI tag|CPU "
           "tag|bridge tag|NIC info|product name",
           "NCCL's libfabric plugin (aws-ofi-nccl) reads the NICs, GPUs and PCIe bridges of the host and writes the "
           "topology file of NCCL. Usual causes: a container that shows only a part of /sys, a device that is missing "
           "or not of this instance type, or a file that cannot be written.",
           "fi_info -p efa; lspci -tv; env | grep -E 'OFI_NCCL|NCCL_TOPO'", "aws-ofi-nccl src/nccl_ofi_topo.cpp",
           Printer::library),
    marked("ofi-nccl-gpu-other", host, "NET/OFI",
           "cuda|CUDA|cuMem|cuStream|cuCtx|vmm_alloc|HIP |gdr_|gdrcopy|GDRCopy|gdrapi|flush buffer|gpu_mem",
           "NCCL's libfabric plugin (aws-ofi-nccl) calls CUDA, HIP or GDRCopy. Usual causes: libraries of the driver "
           "are not in the container, the module gdrdrv or its device is missing, the memory of the GPU is used up, or "
           "the GPU had an earlier error. The network is not at fault.",
           "nvidia-smi; lsmod | grep gdrdrv; journalctl -k -g NVRM", "aws-ofi-nccl src/nccl_ofi_cuda.cpp",
           Printer::library),
    marked("ofi-nccl-memory-other", host, "NET/OFI", "allocat|malloc|calloc",
           "NCCL's libfabric plugin (aws-ofi-nccl) could not allocate memory. Usual causes: a limit of the host or "
           "container (memory, memlock, huge pages), or an endpoint that the provider could not create: the number is "
           "then the errno of the provider.",
           "ulimit -l; free -g; grep Huge /proc/meminfo", "aws-ofi-nccl src/nccl_ofi_freelist.cpp", Printer::library),
    refusing("ofi-nccl-call-other", "NET/OFI", kRefusals,
             "NCCL's libfabric plugin (aws-ofi-nccl) rejects a call, or its own state is invalid. Usual causes: "
             "incompatible releases of NCCL and the plugin, settings that differ between the ranks (OFI_NCCL "
             "variables, number of NICs), or an earlier error of this rank.",
             "grep -h 'NCCL version' LOG-OF-EVERY-RANK | sort | uniq -c; env | grep OFI_NCCL", "aws-ofi-nccl src",
             Printer::library),
    marked("ofi-nccl-rdma-other", unknown, "NET/OFI", "^rdma_|_rdma_|rdma.c|rail|endpoint|domain|^fi_",
           "NCCL's libfabric plugin (aws-ofi-nccl): it maps the connections of NCCL to endpoints of EFA or another "
           "provider, over all rails (NICs) of the instance. Usual causes: no EFA device in the container, a security "
           "group that blocks the instances, a libfabric that is too old, or a peer that ended. The number is an errno "
           "or one of libfabric.",
           "fi_info -p efa; ls -l /dev/infiniband; env | grep -E 'OFI_NCCL|FI_'", "aws-ofi-nccl src", Printer::library),
    marked("ofi-nccl-other", unknown, "NCCL WARN NET/OFI|NET/OFI*ERROR|NET/OFI*rror", "",
           "NCCL's libfabric plugin (aws-ofi-nccl). Usual causes: a wrong value of an OFI_NCCL variable, no EFA device "
           "in the container, a libfabric or plugin that does not fit NCCL, or memory that cannot be registered. The "
           "number is an errno or one of libfabric.",
           "fi_info -p efa; env | grep -E 'OFI_NCCL|FI_'", "aws-ofi-nccl src", Printer::library),

    // ---- DOCA, after the rules of its messages. Names of errors: doca_error.h.
    marked(
        "doca-driver", host, "DOCA_ERROR_DRIVER|DOCA_ERROR_OPERATING_SYSTEM|DOCA_ERROR_IO_FAILED", "",
        "A call of DOCA, NVIDIA's library for its NICs and DPUs, that failed in the driver below it: mlx5's firmware "
        "or the kernel refused the request, as for a queue or a DEVX object. Usual causes: a firmware or driver that "
        "is older than this DOCA needs, a function (VF, SF) without the privilege, or objects that are used up. The "
        "DOCA line before it has the syndrome or the errno.",
        "journalctl -k -g mlx5; ibv_devinfo -d {rdma} | grep fw_ver; dpkg -l | grep -i doca", kDoca),
    marked(
        "doca-other", unknown,
        "[DOCA][ERR]|[DOCA][CRT]|DOCA exception|^DOCA_ERROR_|^doca_gpu_|^doca_eth|^doca_verbs.cpp", "",
        "A program that uses DOCA, NVIDIA's library for its NICs and DPUs. Usual causes: a device or representor that "
        "the process or container was not given, too few huge pages, a firmware or driver that is older than this DOCA "
        "needs, or a peer that ended. DOCA_ERROR_... names the kind of error; the first DOCA line of the process has "
        "the part that failed.",
        "ls -l /dev/infiniband; ibv_devinfo -d {rdma} | grep fw_ver; dpkg -l | grep -i doca", kDoca, Printer::library),

    // ---- NCCL and RCCL, by the source file.
    marked(
        "nccl-gin-other", unknown, kNccl, "/gdaki/|net_ib/gin|gin/gin_|gin/proxy|gin_host|plugin/gin",
        "NCCL's GPU-initiated networking (GIN): the GPU posts RDMA requests itself (GDAKI, through DOCA), or a proxy "
        "thread does it. Usual causes: a driver, firmware or DOCA that is too old, no GPUDirect RDMA, or ranks with "
        "other settings. NCCL_GIN_ENABLE=0 goes on without it, as a test.",
        "env | grep NCCL_GIN; ibv_devinfo -d {rdma} | grep fw_ver; fabric-agentctl check --only gpudirect",
        "NCCL src/gin, src/transport/net_ib/gdaki", Printer::library),
    marked("nccl-ib-recovery-other", unknown, kNccl, "p2p_resiliency",
           "NCCL's recovery of an RDMA connection: after an error on one port it goes on with the others and connects "
           "again. An earlier line of this rank has the error that began it: a port or a link that failed.",
           "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head; fabric-agentctl diagnose {port}",
           "NCCL src/transport/net_ib/p2p_resiliency.cc", Printer::library),
    // No Printer::library: the switches of the network take part in a step.
    marked("nccl-collnet-other", unknown, kNccl, "coll_net.cc|sharp_plugin|SHARP",
           "NCCL's CollNet: collectives that the network calculates (SHARP), or a plugin for it. Usual causes: no "
           "SHARP (aggregation manager sharp_am, switches with it) in the fabric, no free resources for a SHARP job, "
           "or a plugin that does not fit. NCCL_COLLNET_ENABLE=0 goes on without it.",
           "env | grep -E 'COLLNET|SHARP'; sharp_hello", "NCCL src/transport/coll_net.cc"),
    marked("nccl-ib-other", unknown, kNccl,
           "net_ib|ibvwrap|ibvsymbols|ibvcore|mlx5dvwrap|mlx5dvsymbols|ib_plugin.c|ibv_plugin|NET/IB|NET/RoCE|^ibv_",
           "NCCL's RDMA transport: it opens the ports, registers memory, connects queue pairs and polls for "
           "completions. Usual causes: a port that is down, a GID index or traffic class that does not fit, the "
           "memlock limit, missing devices in the container, or a peer that ended. The errno or status decides.",
           "fabric-agentctl check; fabric-agentctl topo; env | grep NCCL_IB",
           "NCCL src/transport/net_ib, src/misc/ibvwrap.cc", Printer::library),
    marked("nccl-nvls-other", host, kNccl, "^nvls.cc",
           "NCCL's NVLink SHARP (NVLS): multicast between the GPUs of a node, or of an NVLink domain, through "
           "NVSwitch. Usual causes: the fabric manager or IMEX is not ready or was restarted without a reset of the "
           "GPUs, a driver or virtual machine without multicast, or GPU memory is used up. NCCL_NVLS_ENABLE=0 goes on "
           "without it, as a test. The RDMA network is not at fault.",
           "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A 3 Fabric", "NCCL src/transport/nvls.cc",
           Printer::library),
    marked("nccl-mnnvl-other", host, kNccl, "^mnnvl.cc",
           "NCCL's NVLink between nodes (MNNVL): GPUs of several nodes in one NVLink domain share memory. Usual "
           "causes: nvidia-imex does not run on every node or has another list of nodes, the fabric state of a GPU is "
           "not 'Completed', or no channel (/dev/nvidia-caps-imex-channels) is in the container. NCCL_MNNVL_ENABLE=0 "
           "goes on without it, as a test.",
           "systemctl status nvidia-imex; nvidia-smi -q | grep -A 3 Fabric", "NCCL src/mnnvl.cc", Printer::library),
    marked(
        "nccl-shm-other", host, kNccl,
        "^shm.cc|shmutils.cc|ipcsocket.cc|ShmObject.h*shm_open|CliqueManager.cc*memory|os/linux.cc*hared memory|"
        "os/linux.cc*map|os/linux.cc*extend",
        "NCCL's shared memory between the ranks of a host: segments in /dev/shm, or memory of the GPU driver that is "
        "passed over a Unix socket. Usual causes: /dev/shm is full or too small (64 MB in a container by default), "
        "the containers of the ranks do not share it, or a peer rank ended. The RDMA network is not at fault.",
        "df -h /dev/shm; ls -l /dev/shm; ulimit -n", "NCCL src/transport/shm.cc, src/misc/shmutils.cc, src/os/linux.cc",
        Printer::library),
    marked("nccl-p2p-other", host, kNccl, "^p2p.cc",
           "NCCL's transport between the GPUs of a host (NVLink, XGMI or PCIe peer-to-peer). Usual causes: ACS or the "
           "IOMMU between the GPUs, ranks in containers that do not see each other's GPU or share no IPC namespace, or "
           "an error of a GPU. NCCL_P2P_DISABLE=1 as a test. The RDMA network is not at fault.",
           "nvidia-smi topo -p2p r; fabric-agentctl check --only acs,iommu", "NCCL src/transport/p2p.cc",
           Printer::library),
    marked(
        "nccl-gdrcopy-other", host, kNccl, "gdrwrap",
        "NCCL's use of GDRCopy, by which the CPU writes to GPU memory for low latency (NCCL_GDRCOPY_ENABLE=1). Usual "
        "causes: the module gdrdrv is not loaded or is of another release, /dev/gdrdrv is not in the container, or "
        "the BAR of the GPU is used up. NCCL works without it.",
        "lsmod | grep gdrdrv; ls -l /dev/gdrdrv; echo $NCCL_GDRCOPY_ENABLE", "NCCL src/misc/gdrwrap.cc",
        Printer::library),
    marked("nccl-gpu-other", host, kNccl,
           "cudawrap|rocmwrap|nvmlwrap|rocm_smi|alt_rsmi|amdsmi|strongstream|enhcompat|include/checks.h|libnvidia-ml",
           "NCCL's calls of the GPU driver or its management library (CUDA, NVML, HIP, ROCm SMI). Usual causes: a "
           "driver that is older than the CUDA or ROCm of the image, libraries of the driver that are not in the "
           "container, or a GPU in a bad state. The RDMA network is not at fault.",
           "nvidia-smi; journalctl -k -g 'NVRM|amdgpu'",
           "NCCL src/misc/cudawrap.cc, nvmlwrap.cc, RCCL src/misc/rocmwrap.cc", Printer::library),
    marked("nccl-suspend-other", software, kNccl,
           "MemManager: *uspend|MemManager: Resume|MemManager: MemStats|MemManager: Cannot|MemManager: Buffer|Memory "
           "suspend|Memory resume",
           "NCCL could not suspend or resume a communicator; a suspended communicator frees its GPU memory. Usual "
           "causes: calls in the wrong order, or a communicator that cannot be suspended (shared resources, memory "
           "manager switched off).",
           kRanks, "NCCL src/mem_manager.cc", Printer::library),
    marked("nccl-memory-other", host, kNccl,
           "include/alloc.h|mem_manager*lloc|mem_manager*cuMem|mem_manager*CuMem|mem_manager*CPU backup|register.cc|"
           "register/|malloc|calloc",
           "NCCL's memory of the GPU and the host: allocation, export to other ranks, and registration of the buffers "
           "of the program. Usual causes: the memory of a GPU is used up, a buffer that was not allocated with "
           "ncclMemAlloc, or a limit of the host (memlock, open files, memory of the container).",
           "nvidia-smi; ulimit -l; ulimit -n", "NCCL src/allocator.cc, src/mem_manager.cc, src/register",
           Printer::library),
    marked("nccl-symmetric-call-other", software, kNccl,
           "dev_runtime*NCCL version|dev_runtime*nitialized via|dev_runtime*must be|dev_runtime*requested|"
           "dev_runtime*support symmetric|dev_runtime*user pointer|dev_runtime*invalid pointer|dev_runtime*not find|"
           "dev_runtime*valid range|dev_runtime*valid lsaSize|dev_runtime*not a member|dev_runtime*barrier|"
           "dev_runtime*unsupported location|dev_runtime*identical segment|devcomm*compiled|ncclPutSignal|symmetric "
           "registration check",
           "NCCL rejects a call of its device API, or a window of symmetric memory. Usual causes: an application that "
           "was built for another NCCL release, a structure that was not initialized with its macro, GIN that was not "
           "requested, an address outside of the window, or calls that differ between the ranks. The line does not "
           "report a network error.",
           "grep -h 'NCCL version' LOG-OF-EVERY-RANK | sort | uniq -c; ldd PROGRAM | grep nccl",
           "NCCL src/dev_runtime.cc, src/devcomm", Printer::library),
    marked("nccl-symmetric-other", unknown, kNccl, "dev_runtime|sym_kernels|symmetric|ce_coll|rma/|rma.cc|ncclWindow",
           "NCCL's windows of symmetric memory and device API: every rank of the NVLink domain maps the memory of the "
           "others, and kernels or copy engines access it. Usual causes: the program's call (size, alignment, a "
           "communicator without it), a program that was built for another NCCL release, or no NVLink or IMEX between "
           "the GPUs. NCCL_WIN_ENABLE=0 goes on without it, as a test.",
           "grep -h 'NCCL version' LOG-OF-EVERY-RANK | sort | uniq -c; nvidia-smi topo -m",
           "NCCL src/dev_runtime.cc, src/ce_coll.cc, src/rma", Printer::library),
    marked(
        "nccl-bootstrap-other", unknown, kNccl, "bootstrap.cc",
        "NCCL's bootstrap: the ranks find each other over TCP, on the netdev that NCCL_SOCKET_IFNAME names; RDMA is "
        "not used yet. Usual causes: a rank that did not start or ended, a firewall, a netdev that the others cannot "
        "reach, or ranks that disagree about the number of ranks or the version of NCCL.",
        "ip -br addr; env | grep -E 'SOCKET_IFNAME|NCCL_COMM_ID'", "NCCL src/bootstrap.cc",
        Printer::ranks | Printer::library),
    marked("nccl-ras-other", unknown, kNccl, "ras/|ras.cc|rasnet|client_support",
           "NCCL's RAS threads, which report the state of the job over TCP. Usual causes: a process of the job that "
           "ended, or a port or netdev that cannot be used. The collectives do not depend on it; NCCL_RAS_ENABLE=0 "
           "switches it off.",
           "env | grep NCCL_RAS; ip -br addr", "NCCL src/ras", Printer::library),
    marked(
        "nccl-socket-other", unknown, kNccl,
        "socket.cc|net_socket|NET/Socket|socket_pair|os/linux.cc*ocket|os/linux.cc*connect|ncclSocket|ncclOsSocket",
        "NCCL's TCP sockets: the bootstrap, the connections that set up a transport, and all data where NCCL uses no "
        "RDMA. Usual causes: the peer's process ended, a firewall, a netdev without a path to the peer "
        "(NCCL_SOCKET_IFNAME), or the limit of open files. The errno decides.",
        "ping -c 3 {peer}; env | grep SOCKET_IFNAME; ulimit -n", "NCCL src/misc/socket.cc, src/transport/net_socket.cc",
        Printer::ranks | Printer::library),
    marked(
        "nccl-proxy-other", unknown, kNccl, "^proxy.cc",
        "NCCL's proxy threads, which set up the transports of a rank and move the data of the network. Usual causes: "
        "an error of the transport, in the line before this one, or another rank of this host that ended.",
        kRanks, "NCCL src/proxy.cc", Printer::library),
    marked("nccl-topology-other", unknown, kNccl,
           "graph/|^topo.cc|^xml.cc|^paths.cc|^search.cc|^tuning.cc|^rings.cc|^rome_models.cc|NCCL_TOPO",
           "NCCL's topology: it reads the GPUs, NICs and PCIe bridges of the host, or the file of NCCL_TOPO_FILE, and "
           "searches for rings and trees. Usual causes: a container or virtual machine that shows only a part of the "
           "machine in /sys, a topology file of another machine, wrong values of NCCL_ALGO, NCCL_PROTO or "
           "NCCL_GRAPH_FILE, or a GPU or NIC that is missing.",
           "nvidia-smi topo -m; env | grep -E 'NCCL_(TOPO|GRAPH|ALGO|PROTO|CROSS)'; fabric-agentctl topo",
           "NCCL src/graph", Printer::library),
    marked("nccl-ucx-plugin-other", unknown, kNccl, "ucx_plugin.c|ucx_uct|ucx_rma|NET/UCX|NET UCX|p2p_plugin.c",
           "The UCX mode of NVIDIA's network plugin for NCCL (NCCL_PLUGIN_P2P=ucx, ucx_rma, ucx_uct) failed. Usual "
           "causes: an error of UCX, which UCX prints in a line of its own, a peer that ended, or UCX_TLS that "
           "excludes the required transports. Test with NCCL_PLUGIN_P2P=ib.",
           "env | grep -E 'NCCL_PLUGIN|UCX_'; ucx_info -v", "nccl-rdma-sharp-plugins src", Printer::library),
    complaining("sharp-other", unknown, "^sharp_|^SHARP_|unique id *] ERROR|unique id *] WARN|^sharpd|sharp_am[", "",
                "SHARP, by which the switches of InfiniBand calculate collectives (libsharp, sharpd, sharp_am). Usual "
                "causes: no aggregation manager, a port of this host that is not active or that the subnet manager "
                "uses, or no resources of the switches. The job goes on without SHARP.",
                "sharp_hello; ibstat; env | grep SHARP", "SHARP libsharp", Printer::fabric),
    marked("nccl-fastrak-other", unknown, "FasTrak|NCCL*TCPXO|NCCL*GPUDirectTCPX", "",
           "Google's network plugin for NCCL (GPUDirect-TCPXO, FasTrak) moves GPU memory over the NICs of the host "
           "with a daemon on the node (RxDM). Usual causes: the daemon does not run or has another version, a network "
           "interface of the GPUs is not in the pod, or the ranks run different releases of the plugin. The plugin "
           "does not use RDMA verbs.",
           "ip -br addr; env | grep -E 'NCCL_FASTRAK|NCCL_SOCKET'; docker ps", "nccl-plugin-gpudirect-tcpxo",
           Printer::library),
    marked(
        "nccl-plugin-other", software, kNccl,
        "^net.cc|PLUGIN|lugin|profiler|tuner|TUNER/|PROFILER/|ext-net|libnccl-net",
        "NCCL's plugins for the network, the tuner, the profiler or the environment. Usual causes: a library that "
        "NCCL_NET_PLUGIN, NCCL_TUNER_PLUGIN or NCCL_PROFILER_PLUGIN names and that is missing or of another version, "
        "or an error inside of the plugin. Without it NCCL uses its own transports: check that the job uses RDMA "
        "('NET/IB' in the log with NCCL_DEBUG=INFO).",
        "env | grep -E 'NCCL_.*PLUGIN|NCCL_NET'; grep -h 'Using network' LOG-OF-EVERY-RANK", "NCCL src/plugin",
        Printer::library),
    marked("nccl-parameter-other", software, kNccl, "^param|param/|env.cc|NCCL_PARAM",
           "NCCL's parameters: a variable of the environment or of /etc/nccl.conf has a value that NCCL does not "
           "understand or ignores. Correct the variable that the line names.",
           "env | grep -E 'NCCL_|RCCL_'; cat /etc/nccl.conf", "NCCL src/param, src/misc/param.cc", Printer::library),
    marked("nccl-msccl-other", software, kNccl, "msccl",
           "RCCL's custom algorithms (MSCCL): it reads their files and runs them. Usual causes: a file of another "
           "release, or one that does not fit the number of ranks. RCCL_MSCCL_ENABLE=0 goes on without them.",
           "env | grep MSCCL", "RCCL src/misc/msccl", Printer::library),
    marked(
        "nccl-async-other", unknown, kNccl,
        "ncclAsyncJobComplete|hostStreamPlanCallback|asyncJobLaunch|pthread_join|commReclaim|commDestroySync|kernel "
        "attributes|MemManager|CliqueManager|MsgQueue|ShmObject",
        "A step of NCCL's own threads failed: the setup of a communicator, the launch of an operation, or the end of a "
        "communicator. Usual causes: an error that this or another rank printed earlier, or an error of the GPU.",
        kRanks, "NCCL src/group.cc, src/init.cc", Printer::library),
    marked("nccl-call-other", software, kNccl,
           "enqueue.cc|^group.cc|allocator.cc|argcheck|collectives.cc|scheduler/|api_trace|^misc/utils.cc",
           "NCCL's check and launch of a call of the program: arguments, communicator, groups of calls and kernels. "
           "Usual causes: a wrong argument, a communicator that failed or was freed before, different calls on the "
           "ranks, or an earlier error of the GPU. The network is not at fault.",
           kRanks, "NCCL src/enqueue.cc, src/group.cc, src/misc/argcheck.cc", Printer::library),
    marked(
        "nccl-init-other", unknown, kNccl, "^init.cc|init_nvtx",
        "NCCL's setup and end of a communicator: number and devices of the ranks, their versions and settings. Usual "
        "causes: ranks that disagree (different NCCL, GPUs or variables), a wrong argument of the program, a rank "
        "that ended, or an error in the lines before this one.",
        kRanks, "NCCL src/init.cc", Printer::library),
    marked("nccl-transport-other", unknown, kNccl,
           "^transport.cc|transport/net.cc|^channel.cc|transport/generic|^connect.cc",
           "NCCL's choice and setup of the transports between two ranks. Usual causes: no transport fits (a container "
           "without RDMA devices, GPUs that cannot reach each other), a peer that ended, or an error in the lines "
           "before this one.",
           kRanks, "NCCL src/transport.cc, src/transport/net.cc", Printer::library),

    marked("nccl-other", unknown, "NCCL WARN|NCCL ERROR|RCCL ERROR", "",
           "NCCL or RCCL, or a plugin of it, warns of an error in the call that it was in. The first such line of all "
           "ranks is nearest to the cause.",
           kRanks, "NCCL src/debug.cc", Printer::library),

    // ---- UCX, by the source file.
    marked(
        "ucx-memory-other", host, kUcx,
        "ib_md.c|ib_mlx5dv_md.c|ib_mlx5_md|ib_umem|^uct_ib_reg|^uct_ib_mem|allocate memory pool (name=",
        "UCX's memory domain of a NIC: it opens the device (DEVX) and registers memory. Usual causes: the memlock "
        "limit of the process, no peer memory module or DMA-BUF for GPU memory, a NIC or virtual function without free "
        "memory keys, or a driver that does not know the request (DEVX, on-demand paging, relaxed ordering): libraries "
        "of the container that do not fit it (UCX_IB_MLX5_DEVX=no as a test).",
        "ulimit -l; fabric-agentctl check --only memlock,gpudirect", "UCX src/uct/ib/base/ib_md.c, src/uct/ib/mlx5",
        Printer::library),
    marked("ucx-srd-other", unknown, kUcx, "srd_|ib_efa|efa_md",
           "UCX's transport for EFA (SRD). Usual causes: a peer that ended or that the security group does not reach, "
           "no EFA device in the container, or an EFA driver or rdma-core that is too old.",
           "fi_info -p efa; ls -l /dev/infiniband", "UCX src/uct/ib/efa", Printer::library),
    marked("ucx-dc-other", unknown, kUcx, "dc_mlx5|dc_mlx5_ep",
           "UCX's DC transport (dynamically connected queue pairs) of NVIDIA NICs. Usual causes: a peer that ended, an "
           "address handle or GID that does not fit, a lost connection, or resources of the NIC that are used up.",
           kUcxDevices, "UCX src/uct/ib/mlx5/dc", Printer::library),
    marked("ucx-mlx5-other", unknown, kUcx,
           "ib_mlx5_|ib_mlx5.|rc_mlx5_|rc_mlx5.|ud_mlx5_|ud_mlx5.|gga_mlx5_|gga_mlx5.|gdaki|mlx5_ep|mlx5_iface|mlx5_"
           "common|mlx5_md|devx",
           "UCX's support of NVIDIA NICs: queues that it fills and polls itself, and firmware commands (DEVX). Usual "
           "causes: a connection error (then a status is in the line or the one before), firmware or rdma-core that is "
           "too old, or resources of the NIC that are used up.",
           "journalctl -k -g {pci}; ibv_devinfo -d {rdma} | grep fw_ver", "UCX src/uct/ib/mlx5", Printer::library),
    marked("ucx-ud-other", unknown, kUcx, "^ud_|ud_verbs|ud_iface|ud_ep",
           "UCX's UD transport, which connects first and for small jobs: it resends packets itself. Usual causes: the "
           "peer does not answer (it ended, its port is down, or the path loses packets), or the memlock limit at its "
           "setup.",
           "fabric-agentctl diagnose {port}; ulimit -l", "UCX src/uct/ib/ud", Printer::library),
    marked("ucx-rdmacm-other", unknown, kUcx, "rdmacm_",
           "UCX's connections through librdmacm (client and server). Usual causes: an address that is not that of an "
           "RDMA port, no route to the peer, or a peer that does not listen. The name of the event or the errno "
           "decides.",
           "rdma link show; ip -br addr; ip route get {peer}", "UCX src/uct/ib/rdmacm", Printer::library),
    marked(
        "ucx-rc-other", unknown, kUcx, "rc_verbs|rc_iface|rc_ep|rc_def",
        "UCX's RC transport (reliable connections). Usual causes: a peer that ended or does not answer, or resources "
        "of the NIC (queue pairs, receive queues, the memlock limit) that are used up.",
        "fabric-agentctl diagnose {port}; rdma resource show", "UCX src/uct/ib/rc", Printer::library),
    marked("ucx-device-other", host, kUcx, "ib_device|ib_iface|ib_verbs|ib_log|^ib_|^uct_ib_",
           "UCX's RDMA devices: ports, GIDs, addresses, queues and events of the NIC. Usual causes: a port that is "
           "down, a GID index without an address (UCX_IB_GID_INDEX), wrong UCX_IB variables, a container without the "
           "device, or the memlock limit.",
           "ibv_devinfo -v -d {rdma} | grep -E 'state|GID'; env | grep UCX_", "UCX src/uct/ib/base", Printer::library),
    marked(
        "ucx-tcp-other", unknown, kUcx, "^tcp_|^sock.c|netlink.c|tcp_sockcm",
        "UCX's TCP transport and sockets. Usual causes: the peer's process ended, a firewall, a netdev that the peer "
        "cannot reach (UCX_NET_DEVICES), or the limit of open files. RDMA is not used here.",
        "ip -br addr; ping -c 3 {peer}; env | grep UCX_", "UCX src/uct/tcp, src/ucs/sys/sock.c",
        Printer::ranks | Printer::library),
    marked(
        "ucx-cuda-ipc-other", host, kUcx, "cuda_ipc",
        "UCX's transport between the GPUs of a host or an NVLink domain (CUDA IPC). Usual causes: the other process "
        "ended or is in another container, memory that cannot be shared, or IMEX between nodes. UCX_TLS=^cuda_ipc as "
        "a test.",
        "nvidia-smi topo -p2p r; systemctl status nvidia-imex", "UCX src/uct/cuda/cuda_ipc", Printer::library),
    marked("ucx-gdrcopy-other", host, kUcx, "gdr_copy|gdrcopy",
           "UCX's use of GDRCopy, by which the CPU writes to GPU memory. Usual causes: the module gdrdrv is not loaded "
           "or of another release, /dev/gdrdrv is not in the container, or the BAR of the GPU is used up. UCX works "
           "without it, with a higher latency of small messages.",
           "lsmod | grep gdrdrv; ls -l /dev/gdrdrv", "UCX src/uct/cuda/gdr_copy", Printer::library),
    marked(
        "ucx-gpu-other", host, kUcx, "cuda_|^cuda|nvml|rocm_|^ze_|gaudi_|hsa_",
        "UCX's access to GPU memory (CUDA, ROCm, Level Zero, Gaudi). Usual causes: the memory of the GPU is used up, "
        "an earlier error of the GPU, no active context in the calling thread, or a driver that is older than the "
        "library in the image. The network is not at fault.",
        "nvidia-smi; journalctl -k -g 'NVRM|amdgpu'", "UCX src/uct/cuda, src/uct/rocm", Printer::library),
    marked("ucx-shm-other", host, kUcx, "mm_posix|mm_sysv|mm_iface|mm_ep|mm_md|^mm_|cma_|knem_|xpmem|scopy_|^sm_",
           "UCX's shared memory between the processes of a host (POSIX, System V, CMA, XPMEM, KNEM). Usual causes: "
           "/dev/shm is full or too small, containers that share no IPC or PID namespace, ptrace that is forbidden "
           "(CMA), or a peer process that ended. The network is not at fault.",
           "df -h /dev/shm; sysctl kernel.yama.ptrace_scope; lsmod | grep -E 'xpmem|knem'", "UCX src/uct/sm",
           Printer::library),
    marked("ucx-hooks-other", software, kUcx,
           "rcache|memtype|memory_type|malloc_hook|bistro|reloc.c|install.c|^ucm|mmap|mprotect|^mem.c|event.c",
           "UCX's cache of registrations and its hooks of memory calls (mmap, munmap, cudaFree). Usual causes: another "
           "library that hooks the same calls, a static program, or memory that was freed while in use. "
           "UCX_MEM_EVENTS=n or UCX_MEMTYPE_CACHE=n as a test.",
           "env | grep UCX_; ucx_info -v", "UCX src/ucs/memory, src/ucm", Printer::library),
    marked("ucx-configuration-other", software, kUcx, "parser.c|config|UCX_*=|nvironment|nvalid value",
           "UCX's configuration: a variable (UCX_...) has a value or a name that this release does not know. Correct "
           "the variable that the line names.",
           "env | grep UCX_; ucx_info -cf", "UCX src/ucs/config", Printer::library),
    marked("ucx-wireup-other", unknown, kUcx, "wireup|ucp_ep.c|ucp_listener|ucp_worker|address.c|select.c",
           "UCX's setup and end of connections between two processes: it exchanges addresses and chooses transports. "
           "Usual causes: a peer that ended or does not answer, peers with different devices, UCX releases or UCX_TLS, "
           "or the memlock limit and the open files of this process.",
           kUcxDevices, "UCX src/ucp/wireup, src/ucp/core/ucp_ep.c, ucp_worker.c", Printer::ranks | Printer::library),
    marked("ucx-context-other", software, kUcx,
           "ucp_context|ucp_mm.c|ucp_rkey|ucp_device|ucp_version|uct_md|uct_component",
           "UCX's context: the devices, transports and memory types that it may use. Usual causes: UCX_TLS or "
           "UCX_NET_DEVICES exclude the needed devices, a transport that this UCX was built without, memory that no "
           "transport can register, or a wrong argument of the program.",
           kUcxDevices, "UCX src/ucp/core", Printer::library),
    marked("ucx-protocol-other", unknown, kUcx,
           "rndv|proto|^tag_|eager|amo_|rma_|flush|stream_|uct_iface|^offload|ucp_",
           "UCX's protocols for messages, remote memory access and atomics. Usual causes: the peer failed or closed "
           "the connection (the first error line has the reason), memory that no transport reaches, or an error of the "
           "program.",
           kUcxDevices, "UCX src/ucp", Printer::library),
    marked("ucx-system-other", host, kUcx,
           "async|signal.c|^sys.c|event_set|^topo|^log.c|debug.c|mpool|callbackq|stats|profile|vfs|^client_server|"
           "^thread|^module.c|^serialization|^time.c|^init.c|^cpu.c|^string.c|^uid.c|^math.c|pipe.c|epoll|timer_wheel",
           "UCX's services: threads, timers, files, modules, statistics and the topology of the host. Usual causes: a "
           "limit of the process (open files, memory), a container that hides a file of /proc or /sys, or a module of "
           "UCX that cannot be loaded. The network is not at fault.",
           "ulimit -a; env | grep UCX_; ucx_info -v", "UCX src/ucs", Printer::library),
    marked("ucx-perftest-other", software, kUcx, "libperf|perftest|^perf_",
           "ucx_perftest, the benchmark of UCX. Usual causes: options that the device or the memory type does not "
           "support, another release on the other side, or an error of UCX in the lines before this one.",
           kUcxDevices, "UCX src/tools/perf", Printer::library),
    // No Printer::library: UCX goes on by another way, so that no step has failed.
    marked("ucx-diagnostic-other", none, "UCX  DIAG", "",
           "UCX's diagnostic output (UCX_LOG_LEVEL=diag or more): a try that failed and that UCX handles itself, by "
           "another way or another device. It is a fault only if an ERROR line of UCX or of the program follows.",
           "grep -h UCX LOG-OF-EVERY-RANK | grep -E 'ERROR|WARN' | head", "UCX src"),
    marked("ucx-other", unknown, kUcx, "",
           "UCX, the communication library of Open MPI, NIXL and others. The first UCX line of all ranks is nearest to "
           "the cause.",
           "grep -h UCX LOG-OF-EVERY-RANK | grep -E 'ERROR|WARN' | head", "UCX src", Printer::library),

    // ---- libfabric, by the provider.
    marked("efa-provider-other", unknown, kOfi, ":efa:",
           "libfabric's provider for EFA, the network of AWS. Usual causes: no EFA device in the container, a security "
           "group that blocks the instances, the memlock limit or huge pages, GPU memory without peer memory or "
           "DMA-BUF, or a peer that ended. A note about a fallback to another setting is harmless.",
           "fi_info -p efa; ls -l /dev/infiniband; rdma link show", "libfabric prov/efa", Printer::library),
    marked("cxi-provider-other", unknown, kOfi, ":cxi:",
           "libfabric's provider for HPE Slingshot (CXI). Usual causes: a VNI or service that the job may not use "
           "(SLINGSHOT_VNIS), resources of the NIC that are used up (FI_CXI variables), a peer that ended, or a link "
           "that is down.",
           "cxi_stat; env | grep -E 'FI_CXI|SLINGSHOT'; journalctl -k -g cxi", "libfabric prov/cxi", Printer::library),
    marked("opx-provider-other", unknown, kOfi, ":opx:",
           "libfabric's provider for Omni-Path (OPX). Usual causes: no active port, all contexts of the NIC in use, "
           "/dev/hfi1 that is not accessible, a wrong FI_OPX variable, or a peer that ended.",
           "opainfo; ls -l /dev/hfi1_*; env | grep FI_OPX", "libfabric prov/opx", Printer::library),
    marked("psm-provider-other", unknown, kOfi, ":psm3:|:psm2:|:psm:",
           "libfabric's provider PSM3 (Ethernet RDMA) or PSM2 (Omni-Path). Usual causes: a NIC or port that is not "
           "active, the memlock limit, a wrong PSM3 variable, or a peer that ended.",
           "rdma link show; env | grep -E 'PSM|FI_'", "libfabric prov/psm3, prov/psm2", Printer::library),
    marked("ofi-verbs-other", unknown, kOfi, ":verbs:",
           "libfabric's provider for RDMA NICs (verbs), through librdmacm. Usual causes: an address that is not that "
           "of an RDMA port, no route to the peer, the memlock limit, a peer that ended, or no device in the "
           "container. The errno decides.",
           "fi_info -p verbs; rdma link show; ulimit -l", "libfabric prov/verbs", Printer::library),
    marked("ofi-rxm-other", unknown, kOfi, ":ofi_rxm:|:ofi_rxd:|:rxm:|:rxd:|:mrail:|:ofi_mrail:|:lnx:|:ofi_hook",
           "A layer of libfabric above a provider: RXM and RXD (reliable datagrams), MRAIL (several rails), LNX or a "
           "hook. Usual causes: an error of the provider below, in the line before this one, or a peer that ended.",
           "fi_info -l; env | grep FI_", "libfabric prov/rxm, prov/rxd, prov/mrail", Printer::library),
    marked("ofi-tcp-other", unknown, kOfi, ":tcp:|:sockets:|:udp:|:net:",
           "libfabric's providers for TCP and UDP: RDMA is not used. Usual causes: a peer that ended, a firewall, an "
           "interface that the peer cannot reach (FI_TCP_IFACE), or the limit of open files. If the job should use "
           "RDMA, the provider was chosen wrongly (FI_PROVIDER).",
           "fi_info -l; env | grep FI_; ip -br addr", "libfabric prov/tcp", Printer::ranks | Printer::library),
    marked("ofi-shm-other", host, kOfi, ":shm:|:sm2:",
           "libfabric's provider for shared memory of a host. Usual causes: /dev/shm is full or too small, segments of "
           "killed jobs, containers without a common IPC namespace, ptrace that is forbidden (CMA), or a peer process "
           "that ended. The network is not at fault.",
           "df -h /dev/shm; ls -l /dev/shm; sysctl kernel.yama.ptrace_scope", "libfabric prov/shm", Printer::library),
    marked("ofi-ucx-other", unknown, kOfi, ":ucx:|:mlx:",
           "libfabric's provider for UCX. Usual causes: an error of UCX, in its own line, or a UCX of another release.",
           "fi_info -p ucx; ucx_info -v", "libfabric prov/ucx", Printer::library),
    marked("ofi-core-other", unknown, kOfi, ":core:",
           "The core of libfabric: it loads the providers, watches memory, and opens the libraries of GPUs. Usual "
           "causes: a provider or a GPU library that is missing, a wrong FI variable, or a limit of the process. A "
           "library of a GPU that this host does not have is harmless.",
           "fi_info -l; env | grep FI_", "libfabric src, prov/util", Printer::library),
    marked("ofi-other", unknown, kOfi, "",
           "libfabric, the network library of MPI and of NCCL's plugin for EFA and Slingshot; the line names its "
           "provider after the process. The errno decides.",
           "fi_info -l; env | grep FI_", "libfabric prov", Printer::library),

    // ---- MPI.
    complaining(
        "ompi-openib-other", unknown, "btl_openib|^btl:openib|openib BTL", "",
        "Open MPI's old RDMA transport (the openib BTL), which UCX has replaced. Usual causes: a NIC that it does not "
        "know, the memlock limit, a port that is down or a peer that ended. Use UCX: mpirun --mca pml ucx --mca btl "
        "^openib.",
        "ompi_info | grep ucx; ulimit -l", "Open MPI opal/mca/btl/openib", Printer::library),
    complaining(
        "ompi-ucx-other", unknown,
        "pml_ucx|osc_ucx|^osc/ucx|^pml/ucx|common_ucx|scoll_|hcoll|^HCOLL|^UCC |^ucc_|coll_ucc", "",
        "Open MPI's use of UCX, or of the collectives above it (HCOLL, UCC). Usual causes: an error of UCX, in its own "
        "line, no RDMA device for it, a peer that ended, or a UCX or UCC that was built without threads "
        "(MPI_THREAD_MULTIPLE). UCC and HCOLL can be disabled (--mca coll ^ucc,hcoll).",
        "ompi_info | grep ucx; ucx_info -d | grep -E 'Transport|Device'", "Open MPI ompi/mca/pml/ucx",
        Printer::library),
    complaining("ompi-uct-other", unknown, "btl_uct|^btl/uct|^btl:uct", "",
                "Open MPI's transport on the lower layer of UCX (BTL uct), for one-sided operations. Usual causes: an "
                "error of UCX, in its own line, a transport or memory domain that btl_uct_memory_domains excludes, or "
                "a peer that ended. --mca btl ^uct goes on without it.",
                "ompi_info --param btl uct; ucx_info -d | grep Transport", "Open MPI opal/mca/btl/uct",
                Printer::library),
    complaining(
        "ompi-ofi-other", unknown, "mtl_ofi|btl_ofi|common_ofi|^mtl:ofi|mtl_psm", "",
        "Open MPI's use of libfabric (MTL or BTL ofi). Usual causes: a provider that was not found or that lacks an "
        "operation, no device in the container, or a peer that ended. libfabric's own lines (FI_LOG_LEVEL=warn) have "
        "the reason.",
        "fi_info -l; ls -l /dev/infiniband", "Open MPI ompi/mca/mtl/ofi", Printer::library),
    complaining("ompi-tcp-other", unknown, "btl_tcp|oob_tcp|^btl:tcp|^oob:tcp|tcp_peer_|ptl_tcp|^ptl:tcp", "",
                "Open MPI's TCP connections: data without RDMA (btl), or the control connections of its daemons (oob, "
                "ptl). Usual causes: a firewall, an interface that the peers cannot reach (btl_tcp_if_include, "
                "oob_tcp_if_include), or a process that ended.",
                "ip -br addr; ping -c 3 {peer}", "Open MPI opal/mca/btl/tcp, PRRTE src/mca/oob",
                Printer::ranks | Printer::library),
    complaining(
        "ompi-shm-other", host, "btl_sm|btl_vader|shmem_mmap|shmem_posix|common_sm|coll_sm|^shmem:|osc_sm", "",
        "Open MPI's shared memory between the processes of a host. Usual causes: /dev/shm or the session directory in "
        "/tmp is full, or the containers of the processes do not share them. The network is not at fault.",
        "df -h /dev/shm /tmp", "Open MPI opal/mca/btl/sm", Printer::library),
    marked("ompi-runtime-other", unknown,
           "ORTE_ERROR_LOG|PRTE ERROR|PRTE_ERROR_LOG|PMIX ERROR|OPAL ERROR|PMIX_ERROR_LOG|ORTE ERROR|OMPI "
           "ERROR|OPAL_ERROR_LOG",
           "",
           "The runtime of Open MPI (PRRTE, ORTE, PMIx), which starts the processes and connects them to mpirun. Usual "
           "causes: a daemon that ended or cannot be reached, different releases of PMIx in Slurm and Open MPI, a full "
           "/tmp, or the error of the line before. RDMA is not used here.",
           "grep -hE 'rror' LOG-OF-EVERY-RANK | head; df -h /tmp", "Open MPI PRRTE, OpenPMIx", Printer::library),
    complaining(
        "ompi-launch-other", unknown, "plm_|^plm:|ras_base|rmaps|odls|^prte|^prun |^mpirun|^orted|^orterun|pmix_|PMIx_",
        "",
        "The launch of processes by mpirun or PMIx: allocation, mapping, start by ssh or Slurm. Usual causes: ssh or "
        "srun to a node fails, a program or library that is missing there, or more processes than slots. RDMA is not "
        "used here.",
        "mpirun --display allocation,map hostname", "Open MPI PRRTE src/mca/plm, rmaps", Printer::library),
    complaining("mpich-network-other", unknown,
                "MPIDI_OFI|MPIDI_UCX|ofi_init.c|ofi_vni|ucx_init|netmod|ch4r_|MPIDI_CH4|MPIDI_NM", "",
                "MPICH's (also Intel MPI's and Cray MPICH's) network layer on libfabric or UCX. Usual causes: a "
                "provider that was not found (FI_PROVIDER, MPIR_CVAR_OFI_USE_PROVIDER), no device in the container, or "
                "a peer that ended. The lines of libfabric or UCX have the reason.",
                "fi_info -l; env | grep -E 'FI_|MPIR_CVAR|I_MPI'", "MPICH src/mpid/ch4/netmod", Printer::library),
    complaining(
        "mpich-other", unknown,
        "MPIR_|MPID_|MPIDU_|MPIDI_|HYD_|HYDU_|^mpiexec|PMI_|PMIU_|^Fatal error in PMPI|^Fatal error in MPI|^Fatal "
        "error in internal_|Other MPI error, error stack",
        "",
        "MPICH or a library made of it (Intel MPI, Cray MPICH, MVAPICH), or its launcher (Hydra, PMI). Usual causes: "
        "an error of the program's call, a process that ended, a host name that does not resolve, or different "
        "releases of PMI. The last line of the error stack is nearest to the cause.",
        kRanks, "MPICH src"),

    // ---- PyTorch.
    marked(
        "torch-nccl-other", unknown,
        "[E*ProcessGroupNCCL|[F*ProcessGroupNCCL|[E*NCCLUtils|[E*NCCLComm|ncclUnhandled|[E*FlightRecorder", "",
        "PyTorch's NCCL process group: it runs the collectives, and its watchdog reports their errors. Usual causes: "
        "an error of NCCL in the log of this or another rank, a rank that ended, or an error of CUDA. Set "
        "NCCL_DEBUG=WARN and read the first error of all ranks.",
        kRanks, "PyTorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp"),
    refusing("gloo-call-other", "gloo/|[gloo", kRefusals,
             "Gloo, PyTorch's transport for the CPU, rejects a call or a value. Usual causes: ranks that called "
             "different collectives or used different sizes, an operation that this transport or store does not "
             "support, or an interface or file that does not exist. RDMA is not used here.",
             "echo $GLOO_SOCKET_IFNAME; grep -hE 'Traceback|rror' LOG-OF-EVERY-RANK | head", "Gloo gloo"),
    complaining(
        "torch-store-other", unknown,
        "TCPStore|FileStore|HashStore|PrefixStore|[E*socket.cpp|[W*socket.cpp|[c10d]|c10d::|DistStore|torch*rendezvous|"
        "[rendezvous",
        "",
        "PyTorch's store and rendezvous, by which the ranks find each other over TCP (MASTER_ADDR, MASTER_PORT). Usual "
        "causes: rank 0 ended or does not listen yet, a firewall, or a name that resolves to another address. A "
        "warning with an address family (errno 97), where IPv6 is off, is harmless. RDMA is not used here.",
        "env | grep MASTER_; getent hosts $MASTER_ADDR; ss -ltnp",
        "PyTorch torch/csrc/distributed/c10d/TCPStore.cpp, socket.cpp", Printer::ranks),
    complaining(
        "gloo-other", unknown, "gloo/|[E*gloo|^gloo|Gloo", "",
        "Gloo, PyTorch's transport for the CPU: it uses TCP, not RDMA. Usual causes: a rank that ended, an interface "
        "that the others cannot reach (GLOO_SOCKET_IFNAME), or a host name that resolves to 127.0.1.1.",
        "echo $GLOO_SOCKET_IFNAME; getent hosts $HOSTNAME", "Gloo transport/tcp, PyTorch ProcessGroupGloo.cpp",
        Printer::ranks),
    complaining(
        "torch-elastic-other", unknown,
        "torch/distributed/|torch.distributed|torchelastic|elastic_launch|DistBackendError|DistNetworkError", "",
        "PyTorch's distributed package or its launcher (torchrun). Usual causes: a rank that failed (its own output "
        "has the reason), ranks that cannot reach the first one, or an error of NCCL or Gloo.",
        kRanks, "PyTorch torch/distributed", Printer::ranks),

    // ---- NVSHMEM, NIXL, Mooncake, DeepEP.
    marked("mooncake-ep-other", unknown, "[EP IBGDA]|[EP P2P]|[Device NCCL]|_device_transport.cpp:", "",
           "Mooncake's transports for the exchange between experts: the GPU posts RDMA requests itself (IBGDA), writes "
           "to the GPUs of its host (P2P), or uses NCCL's device API. Usual causes: GPUDirect RDMA or DMA-BUF is "
           "missing, a firmware, driver or rdma-core without DEVX, a GPU driver without PeerMappingOverride, an NCCL "
           "without GIN, or a build without one of them.",
           "fabric-agentctl check --only gpudirect; ibv_devinfo -v; env | grep MC_", "Mooncake device transports",
           Printer::library),
    marked("nvshmem-device-other", host, "ibrc.cpp:|ibgda.cpp:|ibdevx.cpp:|transport_ib_common|transport_mlx5_common",
           "creation failed|create|alloc_pd|initialization failed|registration failed|query|get_device|device_name|"
           "mlx_path|cannot register|cannot allocate|map_qp_uar|nic_mem|warp size|threads per block|mpc count|"
           "peer_mem|atomic|ftable|_devx_uar|cudaHost",
           "NVSHMEM could not open an RDMA device of this host or create queues on it, for the CPU (IBRC) or the GPU "
           "(IBGDA, IBDEVX). Usual causes: GPUDirect RDMA or DMA-BUF is missing, the firmware or driver has no DEVX or "
           "PeerMappingOverride (IBGDA), the memlock limit is too low, objects of the NIC are used up, or the device "
           "is not in the container.",
           "fabric-agentctl check --only gpudirect,memlock; ibv_devinfo -v; env | grep NVSHMEM",
           "NVSHMEM src/modules/transport", Printer::library),
    marked("nvshmem-ib-other", unknown,
           "ibrc.cpp:|ibgda.cpp:|ibdevx.cpp:|transport_ib_common|transport_mlx5_common|ibgda_|nvshmemt_ib|transport_"
           "gdr_common",
           "",
           "NVSHMEM's RDMA transports: IBRC (the CPU posts), IBGDA and IBDEVX (the GPU posts). Usual causes: a NIC or "
           "GID that was chosen wrongly (NVSHMEM_HCA_LIST, NVSHMEM_IB_GID_INDEX), GPUDirect RDMA or DMA-BUF that is "
           "missing, firmware or driver without DEVX or PeerMappingOverride (IBGDA), or a peer that ended.",
           "env | grep NVSHMEM; fabric-agentctl check --only gpudirect,gid", "NVSHMEM src/modules/transport",
           Printer::library),
    complaining(
        "nvshmem-transport-other", unknown,
        "libfabric.cpp:|modules/transport|nvshmemt_|transport/ucx|transport_common.cpp|host/"
        "transport|proxy.cpp:*nvshmem|nvshmem*proxy",
        "",
        "A transport of NVSHMEM (libfabric, UCX, peer-to-peer) or its proxy thread. Usual causes: an error of the "
        "library below, a device that is not in the container, NVSHMEM_REMOTE_TRANSPORT that does not fit, or a peer "
        "that ended.",
        "env | grep NVSHMEM; ls -l /dev/infiniband", "NVSHMEM src/modules/transport", Printer::library),
    marked("nvshmem-bootstrap-other", unknown, "modules/bootstrap/|ncclsocket_socket.cpp", "",
           "NVSHMEM's bootstrap, by which its processes find each other over MPI, PMI, SHMEM or TCP (UID), failed. "
           "Usual causes: a process that ended or did not start, an interface that the other processes cannot reach "
           "(NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME), or different releases of MPI, PMI or NVSHMEM on the hosts. RDMA is "
           "not used here.",
           "env | grep NVSHMEM; ip -br addr; grep -hE 'WARN|ERROR|non-zero' LOG-OF-EVERY-RANK | head",
           "NVSHMEM src/modules/bootstrap", Printer::ranks | Printer::library),
    marked("nvshmem-other", unknown,
           "NVSHMEM WARN|NVSHMEM ERROR|nvshmem*non-zero status|nvshmem*NULL value|src/host/*non-zero "
           "status|src/host/*NULL value|src/host/*.cpp:*ailed|src/device/init",
           "",
           "NVSHMEM's setup, memory (symmetric heap), teams or bootstrap. Usual causes: the memory of a GPU is used up "
           "(NVSHMEM_SYMMETRIC_SIZE), a bootstrap (MPI, PMI, UID) that does not fit, NVLink or IMEX between the GPUs, "
           "or an error in the lines before this one.",
           "env | grep NVSHMEM; nvidia-smi", "NVSHMEM src/host", Printer::library),
    complaining(
        "nvshmem-program-other", unknown, "^nvshmem|NVSHMEM", "",
        "NVSHMEM, which gives the kernels of GPUs access to the memory of other GPUs. Usual causes: the setup of its "
        "RDMA transport (GPUDirect RDMA, GID, IBGDA), its heap that is larger than the memory of the GPU, or a "
        "process that ended.",
        "env | grep NVSHMEM; fabric-agentctl check --only gpudirect,gid", "NVSHMEM src", Printer::library),
    complaining("rocshmem-provider-other", software, "GDAProvider", "",
                "rocSHMEM's choice of the NIC that the GPU drives itself (GDA): the provider that was asked for "
                "(ROCSHMEM_GDA_PROVIDER: bnxt, ionic, mlx5) and the selected NIC (ROCSHMEM_HCA_LIST) are of different "
                "vendors, or rocSHMEM was built without this provider. Choose those that belong together.",
                "env | grep ROCSHMEM; ibv_devinfo -l", "rocSHMEM src/gda", Printer::library),
    complaining("oneccl-other", unknown, "CCL_ERROR|CCL_WARN|^oneCCL", "",
                "oneCCL, Intel's library for collectives. Usual causes: no provider of libfabric that it can use "
                "(FI_PROVIDER, FI_PROVIDER_PATH), a launcher that is not the one of its transport "
                "(CCL_ATL_TRANSPORT), or CPUs for its workers that the process may not use (CCL_WORKER_AFFINITY).",
                "fi_info; env | grep -E 'CCL_|FI_'", "oneCCL src", Printer::library),
    complaining("gasnet-other", unknown, "gasnetc_|GASNet|gasnet_", "",
                "GASNet, the communication library of Legion, UPC++ and Chapel. Usual causes: shared memory (/dev/shm "
                "of the container), the limit of locked memory, the conduit that was built, or its launcher.",
                "env | grep GASNET; df -h /dev/shm; ulimit -l", "GASNet *-conduit", Printer::library),
    complaining("rocshmem-other", unknown, "^rocshmem|^ROCSHMEM|rocSHMEM", "",
                "rocSHMEM, which gives the kernels of AMD GPUs access to the memory of other GPUs. Usual causes: the "
                "setup of its NIC (provider, GPUDirect RDMA, GID), its heap (ROCSHMEM_HEAP_SIZE) that is larger than "
                "the memory of the GPU, or a process that ended.",
                "env | grep ROCSHMEM; fabric-agentctl check --only gpudirect,gid", "rocSHMEM src", Printer::library),
    marked("objects-freed-other", unknown,
           "rdma_context.cpp:|efa_context.cpp:|endpoint.cpp:|rdma/"
           "context.cpp:|verbs.cpp:|gpunetio_utils.cpp:|libfabric_rail.cpp:|libfabric_rail_manager.cpp:|cxi_endpoint."
           "cc:|rdma_transport.cpp:|efa_transport.cpp:|transfer_engine_impl.cpp:|FinalizeVMM|EndpointNoThrow|src/core/"
           "gpu_ipc_mem.cc",
           "destroy|Destroy|nregister|lose |dealloc|eregister|dereg_mr|fi_close|nmap |av_remove|elease|ree GPU|oll "
           "back|ollback|roxy: flush",
           "A library could not free an object of RDMA or of the GPU, at the end of a connection or of the process. "
           "Usual causes: the object is still in use, or the device or process failed before, and an earlier line has "
           "the reason. Without an earlier error the line is harmless: the kernel frees the RDMA objects of a process "
           "that ends.",
           "grep -hE 'WARN|ERROR|rror' LOG-OF-EVERY-RANK | head; rdma resource show", "Mooncake, NIXL, MORI, MSCCL++"),
    refusing(
        "nixl-call-other",
        "nixl_agent.cpp:|nixl_plugin_manager|nixl_md_manager|ucx_backend.cpp:|ucx_utils.cpp:|libfabric_backend.cpp:|"
        "libfabric_handshake.cpp:|libfabric_rail.cpp:|libfabric_rail.h:|nixl_etcd*label is|nixl_tcpstore*label is|"
        "nixl_*lugin |nixl_*embeds mismatched|nixl_*etadata mismatch|libfabric_common.cpp:*configuration value|"
        "libfabric_rail_manager.cpp:*nvalid|libfabric_rail_manager.cpp:*configuration value|"
        "libfabric_rail_manager.cpp:*not found|uccl_backend.cpp:|gpunetio_backend.cpp:|mem_list.cpp:",
        kRefusals,
        "NIXL rejects a call of its program, or its own state is invalid. Usual causes: a backend (plugin) that is not "
        "installed or was not created, metadata of the other agent that was not loaded or is outdated, descriptors "
        "that were not registered or differ between the agents, or different releases. The line does not report a "
        "network error.",
        "env | grep NIXL; pip show nixl", "NIXL src/core, src/plugins", Printer::library),
    marked("nixl-metadata-other", peer,
           "nixl_etcd_metadata|nixl_tcpstore_metadata|nixl_p2p_metadata|metadata_stream.cpp:|gpunetio*onnect to server",
           "onnect|etcd|TCPStore|poll timed out|ailed to send|Send failed|Error sending|ailed to receive|Error "
           "receiving|fetch|atch|from peer",
           "NIXL agents could not exchange metadata over TCP or through a store (etcd, TCPStore). Usual causes: the "
           "other agent or the store does not run, ended or has not sent its metadata yet, a wrong address or port "
           "(NIXL_ETCD_ENDPOINTS, NIXL_TCPSTORE_ENDPOINT), or a firewall. RDMA is not used here.",
           "env | grep NIXL_; ss -ltnp", "NIXL src/core, src/utils/stream", Printer::ranks | Printer::library),
    marked("nixl-setup-other", host,
           "gpunetio_utils.cpp:|gpunetio_backend.cpp:*doca|gpunetio_backend.cpp:*DOCA|libfabric_topology.cpp:|"
           "libfabric_common.cpp:|libfabric_rail_manager.cpp:*NUMA|libfabric_rail_manager.cpp:*EFA|libfabric_rail_"
           "manager.cpp:*switch|libfabric_rail_manager.cpp:*egister|libfabric_rail.cpp:*llocat|libfabric_rail.cpp:*fi_"
           "mr_|libfabric_rail_manager.cpp:*o network devices|libfabric_rail_manager.cpp:*ails available|hw_info.cpp:",
           "",
           "NIXL reports a problem with the NICs or GPUs of this host. Usual causes: no RDMA or EFA device in the "
           "container, a container or virtual machine that hides the topology, missing DOCA libraries or drivers, or "
           "limits (memlock, memory). A note about a default or a fallback is harmless.",
           "fi_info -l; ls -l /dev/infiniband; nvidia-smi topo -m", "NIXL src/utils/libfabric, src/plugins/gpunetio",
           Printer::library),
    complaining(
        "doca-gpunetio-other", host, "doca_gpunetio|doca_verbs_", "",
        "The library by which a GPU drives an NVIDIA NIC itself (DOCA GPUNetIO, in NCCL's GIN and others). Usual "
        "causes: no GPUDirect RDMA (DMA-BUF, nvidia_peermem) or GDRCopy, a driver or firmware that is too old, a GID "
        "index that is not valid, or an invalid call of the program above.",
        "ibv_devinfo -v -d {rdma} | grep -E 'fw_ver|GID'; ls -l /dev/gdrdrv; fabric-agentctl check --only gpudirect",
        "NCCL src/transport/net_ib/gdaki/doca-gpunetio, DOCA", Printer::library),
    marked("nixl-backend-other", unknown,
           "ucx_backend|ucx_plugin|ucx_utils|ucx_engine|libfabric_backend|libfabric_rail|mooncake_backend|gds_backend|"
           "posix_backend|obj_backend|uccl_backend|gpunetio_|hf3fs_backend|infinia_backend|gusli_backend|azure_blob|"
           "libfabric_topology|libfabric_handshake|libfabric_common|verbs.cpp:",
           "",
           "A backend of NIXL (UCX, libfabric, GDS, ...), which moves the caches of inference programs, failed. Usual "
           "causes: an error of the library that the backend uses, which prints a line of its own, memory that cannot "
           "be registered, no RDMA device in the container, or an agent at the other end that ended.",
           "env | grep -E 'UCX_|NIXL_'; ls -l /dev/infiniband", "NIXL src/plugins", Printer::ranks | Printer::library),
    complaining(
        "nixl-other", unknown, "^nixl|^NIXL*: |NIXL ERROR|NIXL WARN|NIXL_|[NIXL|metadata_stream.cpp:", "",
        "NIXL, which moves the caches of inference programs between workers. Usual causes: a plugin that is missing "
        "in the image, metadata of an agent that ended or was not exchanged, or an error of UCX or libfabric in the "
        "lines before.",
        "env | grep -E 'NIXL_|UCX_'; ls -l /dev/infiniband", "NIXL src/core", Printer::ranks | Printer::library),
    marked(
        "mooncake-device-other", host,
        "rdma_context.cpp:|efa_context.cpp:|cxi_context.cpp:|rdma/"
        "context.cpp:|rdma_transport.cpp:|worker_pool.cpp:*GID|topology.cpp:*realpath|topology.cpp:*devices were found",
        "ailed to open|GID|query port|completion vectors|get_device_list|GPU device|DMA BUF|realpath|were "
        "found|dmabuf|dma_buf|epoll|completion channel|completion queue|protection "
        "domain|attributes|CUDA|HIP|cuMem|hip|gister "
        "memory|CONFIG_|fork|fi_getinfo|fi_fabric|fi_domain|fi_av_open|fi_cq_open|fi_endpoint|fi_ep_bind|fi_enable|fi_"
        "getname|fi_mr",
        "Mooncake could not open an RDMA device of this host or register memory on it. Usual causes: a device that is "
        "not in the container, a port that is down, an empty GID index (MC_GID_INDEX), missing GPUDirect RDMA or "
        "DMA-BUF, or the memlock limit. The errno shows the cause.",
        "ibv_devinfo -l; fabric-agentctl check --only gid,memlock,gpudirect; env | grep MC_",
        "Mooncake rdma_context.cpp, efa_context.cpp", Printer::library),
    refusing(
        "mooncake-call-other",
        "transfer_engine_impl.cpp:|transfer_engine.cpp:|transfer_task.cpp:|multi_transport.cpp:|transfer_metadata.cpp:|"
        "master_client.cpp:|transfer_metadata_plugin.cpp:*parse|transfer_metadata_plugin.cpp:*nvalid|transfer_metadata_"
        "plugin.cpp:*nable to "
        "find|client_service.cpp:|rdma_transport.cpp:|efa_transport.cpp:|efa_context.cpp:|tcp_transport|nccl_transport."
        "cpp:|worker_pool.cpp:|endpoint.cpp:|rpc_service.cpp:|rail_monitor.cpp:|topology.cpp:*arse|real_client.cpp:|"
        "client_buffer",
        kRefusals,
        "Mooncake rejects a call of its program, or a value. Usual causes: memory or a segment that was not registered "
        "or opened, sizes and numbers that do not match, a transport that this build does not have, metadata of an "
        "instance that was restarted, or different releases on the two sides. The line does not report a network "
        "error.",
        "env | grep -E 'MC_|MOONCAKE'; pip show mooncake-transfer-engine", "Mooncake mooncake-transfer-engine/src",
        Printer::library),
    marked("mooncake-control-other", peer,
           "transfer_metadata_plugin.cpp:|transfer_metadata.cpp:|master_client.cpp:|tcp_transport*connection|"
           "client_service.cpp:*ping master|client_service.cpp:*leader|client_service.cpp:*master view|"
           "client_service.cpp:*onnect|client_service.cpp:*publish|client_service.cpp:*g from master|"
           "client_service.cpp:*r from master|client_service.cpp:*HA backend|real_client.cpp:*ailed to invoke|"
           "transfer_task.cpp:*open *egment",
           "",
           "A TCP connection of Mooncake failed: to the metadata server (etcd, Redis, HTTP), to another instance "
           "(handshake), or to the master of its store. Usual causes: the other side does not run, ended or was "
           "restarted, a wrong address, port or proxy, or a firewall. RDMA is not used here.",
           "env | grep -E 'MC_|MOONCAKE|proxy'; ss -ltnp", "Mooncake transfer_metadata_plugin.cpp, master_client.cpp",
           Printer::ranks | Printer::library),
    marked("mooncake-rdma-other", unknown,
           "rdma_transport.cpp:|rdma_context.cpp:|rdma_endpoint.cpp:|cxi_context.cpp:|cxi_endpoint.cpp:|"
           "cxi_transport.cpp:|worker_pool.cpp:|endpoint_store.cpp:|"
           "memory_location|efa_context.cpp:|efa_endpoint.cpp:|efa_transport.cpp:|context.cpp:*] ibv_|cq.cpp:*] ibv_|"
           "endpoint.cpp:*] ibv_",
           "",
           "Mooncake's RDMA transport reports an error. Usual causes: a wrong device or GID (MC_GID_INDEX, the device "
           "list), memory that cannot be registered (memlock, GPUDirect RDMA), a peer that ended, or a path between "
           "two rails that does not exist.",
           "env | grep MC_; fabric-agentctl check --only gid,memlock,gpudirect",
           "Mooncake mooncake-transfer-engine/src/transport/rdma_transport", Printer::ranks | Printer::library),
    marked("mooncake-store-other", unknown,
           "client_service.cpp:|real_client.cpp:|master_service.cpp:|rpc_service.cpp:|storage_backend.cpp:|file_"
           "storage.cpp:|"
           "segment.cpp:|master.cpp:|dummy_client.cpp:|store_py.cpp:",
           "",
           "A client or the master of Mooncake's store of caches reports an error. Usual causes: a transfer that "
           "failed (earlier lines of the transfer engine have the reason), a full store, objects that were evicted, or "
           "a master or client that was restarted.",
           "grep -hE 'rdma_|worker_pool|transfer_' LOG-OF-EVERY-RANK | head; env | grep MOONCAKE",
           "Mooncake mooncake-store/src", Printer::ranks | Printer::library),
    complaining(
        "mooncake-other", unknown,
        "transfer_engine|transfer_task.cpp|master_client|store_py.cpp|pybind_client|real_client|coro_rpc|client.cpp:*"
        "ransfer|transfer_metadata|mooncake|Mooncake|master_service|multi_transport|_transport.cpp:|"
        "control_plane.cpp|workers.cpp:|endpoint.cpp:|transport_selector.cpp:|buffers.cpp:*egment",
        "",
        "Mooncake's transfer engine or store. Usual causes: a metadata server or master that cannot be reached, a "
        "segment of a peer that ended, memory that is used up, or an error of its transport in the lines before.",
        "env | grep -E 'MC_|MOONCAKE'; ss -ltnp", "Mooncake mooncake-transfer-engine, mooncake-store",
        Printer::ranks | Printer::library),
    refusing("mori-call-other", kMori,
             "MORI_IO_|MORI_SHMEM_HEAP|MORI_SHMEM_MODE|MORI_GOR|MORI_DISABLE|config:|^heap|HeapVA|VA alloc|VA address|"
             "reserved as|sentinel|misalign|nvalid |gnor|not support|nsupported|not implemented|not fully implemented|"
             "not registered|symmetric memory|chunk mismatch|inconsistent|not found|requires|is null|to self|too long|"
             "exceeds|not initialized|must |NOT aligned|unknown pointer|not loaded|no barrier kernel|create backend "
             "first|WITH_MPI|isolation mode|is greater than|is less than|is smaller than",
             "MORI rejects a call or a setting, which the line names: a variable (MORI_...), the size of its heap "
             "(MORI_SHMEM_HEAP_SIZE), an address outside of the heap, calls that differ between the ranks, or a mode "
             "that this build does not have. The line does not report a network error.",
             "env | grep MORI; pip show mori", "ROCm MORI src/shmem, src/io", Printer::library),
    marked("mori-gpu-other", host, kMori,
           "hip|Hip|XGMI: Failed|FABRIC|ROCm|ROCM|rsmi|IPC |VMMAlloc|VMM Init|FinalizeVMM|HSA|P2P|affinity|CPU set|"
           "dmabuf|Dmabuf|copy module",
           "MORI's access to the GPUs of this host failed (HIP, XGMI, memory that the ranks share). Usual causes: the "
           "memory of a GPU is used up, the containers do not see each other's GPUs, ROCm and the driver are "
           "incompatible, or the GPU had an earlier error. The network is not at fault.",
           "amd-smi static; amd-smi topology; env | grep MORI", "ROCm MORI src/application, src/io/xgmi",
           Printer::library),
    marked("mori-bootstrap-other", peer, kMori,
           "ank *connect|failed to send|failed to receive|AcceptSocket timed out|llgather|llToAll|arrier *timeout|"
           "Barrier op|PhoneHomeProtocol|control-plane handler|connect(",
           "A TCP connection of MORI between the ranks failed; MORI uses TCP to start and control transfers. Usual "
           "causes: another rank ended or did not start, an interface that the other ranks cannot reach "
           "(MORI_SOCKET_IFNAME), or a firewall. RDMA is not used here.",
           "env | grep -E 'MORI_SOCKET|MASTER_'; ip -br addr; ss -ltnp", "ROCm MORI src/application/bootstrap",
           Printer::ranks | Printer::library),
    marked("mori-other", unknown, kMori, "",
           "MORI, AMD's library for RDMA between GPUs, reports an error. Usual causes: a wrong device or GID, memory "
           "that cannot be registered (memlock, DMA-BUF), a completion with an error (the first one of all ranks is "
           "the cause), or a peer that ended.",
           "env | grep MORI; fabric-agentctl check --only gid,memlock,gpudirect", "ROCm MORI src", Printer::library),
    refusing("uccl-call-other", kUccl, kRefusals,
             "UCCL rejects a call or a setting: a connection or memory that was not registered, sizes and numbers that "
             "do not match, a library that cannot be loaded, or a variable (UCCL_...). Usual causes: a wrong call of "
             "its program, different releases on the two sides, or an earlier error.",
             "env | grep UCCL; pip show uccl", "UCCL p2p, ep, collective", Printer::library),
    marked("uccl-connection-other", peer, kUccl,
           "handshake|Timeout waiting|control channel|failed to connect|rror sending to|send error|recv error|"
           "Error/HUP|endpoint metadata|reverse connection|otification|metadata for channel|ncclSend failed|ncclRecv "
           "failed",
           "A TCP connection of UCCL, on which the two sides exchange addresses and notifications, failed. Usual "
           "causes: the other process ended or did not start, an address that this host cannot reach, or a firewall.",
           "ss -ltnp; ip -br addr; env | grep UCCL", "UCCL p2p/util, p2p/rdma", Printer::ranks | Printer::library),
    marked("uccl-other", unknown, kUccl, "",
           "UCCL, which moves data between GPUs over RDMA, EFA or Slingshot, reports an error. Usual causes: a wrong "
           "device or GID (UCCL_IB_GID_INDEX), memory that cannot be registered (GPUDirect RDMA, DMA-BUF), a "
           "completion with an error, or a peer that ended.",
           "env | grep UCCL; fabric-agentctl check --only gid,memlock,gpudirect", "UCCL p2p, ep, collective",
           Printer::library),
    marked("mscclpp-ib-other", host, kMscclpp,
           "(Ib failure: |ibv_*ailed|RDMA atomics|DMABUF is|peermem|usable port|recvThread",
           "MSCCL++ could not use RDMA: open a device (MSCCLPP_HCA_DEVICES), register memory or create a queue pair. "
           "Usual causes: a device or library that is not in the container, a port that is down, a GID index that does "
           "not exist, missing GPUDirect RDMA, or the memlock limit.",
           "ibv_devinfo -l; fabric-agentctl check --only gid,memlock,gpudirect; env | grep MSCCLPP",
           "MSCCL++ src/core/ib.cc", Printer::library),
    marked("mscclpp-gpu-other", host, kMscclpp,
           "(Cu failure: |Cuda failure|CUDA*failed|Cuda*failed|NVLS is not supported|MNNVL|requires "
           "GDRCopy|gdr_|gdrdrv|multicast handle|createMulticast|GpuIpcMemHandle|NUMA node from",
           "MSCCL++ could not use the GPUs of a host or an NVLink domain. Usual causes: NVLink multicast (fabric "
           "manager, IMEX) is not ready, the containers of the ranks do not share an IPC namespace, GDRCopy is "
           "missing, or the GPU had an earlier error. The RDMA network is not at fault.",
           "nvidia-smi topo -m; systemctl status nvidia-fabricmanager; env | grep MSCCLPP", "MSCCL++ src/core",
           Printer::library),
    refusing("mscclpp-call-other", kMscclpp, kRefusals,
             "MSCCL++ rejects a call of its program, or a value. Usual causes: transports and devices of the two ends "
             "that do not match, buffers that were not registered or are not aligned, a rank or GPU that is out of "
             "range, or a variable (MSCCLPP_...). The line does not report a network error.",
             "env | grep MSCCLPP", "MSCCL++ src/core", Printer::library),
    marked("mscclpp-other", unknown, kMscclpp, "",
           "MSCCL++, a library for communication between GPUs, reports an error. Usual causes: ranks with different "
           "settings (number of ranks, transports), an interface that the other ranks cannot reach "
           "(MSCCLPP_SOCKET_IFNAME), a rank that ended, or a wrong call of the program.",
           "env | grep MSCCLPP; ip -br addr", "MSCCL++ src/core", Printer::library),
    complaining(
        "deepep-other", unknown,
        "DeepEP|deep_ep|deepep|internode_ll.cu|internode.cu|intranode.cu|^mori|MORI|^uccl|UCCL|flashinfer*omm", "",
        "A library for the exchange between experts (DeepEP, MORI, UCCL): kernels of GPUs that send over NVLink and "
        "RDMA. Usual causes: a rank that ended or hangs (the others time out), NVSHMEM or RDMA that is not set up "
        "(GPUDirect RDMA, IBGDA, GID), or a buffer that is too small.",
        "nvidia-smi topo -m; fabric-agentctl check --only gpudirect,gid", "DeepEP csrc, MORI src, UCCL",
        Printer::library),
    marked("tcpxo-other", unknown,
           "buffer_mgmt_daemon|fastrak_|dxs-client.cc:|nccl_shim.cc:|gpu_ip_server.cc:|a3_gpu_rxq|buffer_mgr_client|"
           "guest-llcm|llcm-handler|sctp-handler|unix_socket_server.cc:",
           "",
           "The daemon or plugin of Google's GPUDirect-TCPXO (RxDM, DXS), which writes received data to GPU memory, "
           "reports an error. Usual causes: a NIC or GPU that is not in the container, a daemon that was restarted or "
           "has another version than the plugin, or a lost connection.",
           "ip -br addr; nvidia-smi -L; docker ps", "nccl-plugin-gpudirect-tcpxo"),

    // ---- Rejected requests: the text of the driver (netlink extack), as the tools print it.
    marked("driver-refused-other", host,
           "^Error: mlx5_core: |^Error: mlx4_core: |^Error: mlx4_en: |^Error: ice: |^Error: i40e: |^Error: iavf: "
           "|^Error: bnxt_en: |^Error: ionic: |^Error: pds_core: |^Error: hns3: |^Error: hclge: |^Error: qede: "
           "|^Error: qed: |^Error: cxgb4: |^Error: gve: |^Error: nfp: |^Error: octeontx2: |^Error: mlxsw|^Error: "
           "mlx5_ib: |^Error: devlink: ",
           "",
           "The driver rejected the request of devlink, ip, tc, ethtool, dcb or rdma. The text after the name of the "
           "driver is the reason (netlink extack). Usual causes: a mode that must be changed first (virtual functions "
           "in use, switchdev, a netdev that is up), a value or a rule that the NIC or its firmware does not support, "
           "or a reset in progress. The setting is unchanged.",
           "devlink dev info pci/{pci}; devlink dev eswitch show pci/{pci}; journalctl -k -g {pci}",
           "Linux include/linux/netlink.h NL_SET_ERR_MSG_MOD()"),

    // ---- mlx5_core: errors and warnings name the function.
    marked(
        "mlx5-vdpa-other", host, kMlx5, "vdpa|_vq|vhost",
        "The virtio emulation of the NIC (vDPA) for virtual machines. Usual causes: firmware without it, queues that "
        "are used up, or a device in use. RDMA does not depend on it.",
        "vdpa dev show; journalctl -k -g vdpa", "Linux drivers/vdpa/mlx5", Printer::nic_driver),
    marked("mlx5-steering-other", host, kMlx5,
           "mlx5dr|^dr_|mlx5hws|^hws_|mlx5_cmd_dr|smfs|_fte|flow_group|flow_table|^mlx5_fc_|modify_header|packet_"
           "reformat|fs_chains|mlx5_chains|ttc_rule|match_definer|flow_namespace|_fwd_rule|connect_fts|check_"
           "conflicting|check_valid_spec|find_root|^add_rule_|hw_flow|_rule_create|rx_underlay",
           "The packet steering of the NIC (flow tables, rules, counters; in firmware, or written by the driver: DR, "
           "HWS). Usual causes: a rule that the firmware does not support, or tables and counters that are used up. "
           "Offloaded rules (tc, Open vSwitch, IPsec) are missing then; RDMA without them goes on.",
           "journalctl -k -g {pci}; devlink dev param show pci/{pci} name flow_steering_mode", kMlx5Source,
           Printer::nic_driver),
    marked("mlx5-eswitch-other", host, kMlx5,
           "^esw_|mlx5_esw|eswitch|vport|termtbl|indir_table|_rep_|mlx5e_init_rep|mlx5e_init_ul_rep|mlx5e_init_uplink_"
           "rep|representor|__esw_|spoofchk|mlx5_host_pf|mlx5_ec_|ESW|E-Switch",
           "The embedded switch of the NIC, which connects virtual functions and subfunctions to the port (SR-IOV; "
           "legacy or switchdev mode). Usual causes: virtual functions in use during a change of the mode, a firmware "
           "setting (SRIOV_EN, NUM_OF_VFS), a rule that the firmware does not support, or a rate or VLAN that it "
           "rejects.",
           "devlink dev eswitch show pci/{pci}; ip link show {netdev}; journalctl -k -g {pci}", kMlx5Source,
           Printer::nic_driver),
    marked(
        "mlx5-sriov-other", host, kMlx5,
        "sriov|enable_hca_vf|^mlx5_device_enable|^mlx5_device_disable|restore_guids|vf_",
        "The virtual functions of the NIC (SR-IOV): the driver makes or removes them. Usual causes: SRIOV_EN or "
        "NUM_OF_VFS in the NIC's firmware settings, PCIe resources of the platform, or functions in use in a virtual "
        "machine or a pod.",
        "cat /sys/class/net/{netdev}/device/sriov_totalvfs; journalctl -k -g {pci}", kMlx5Source, Printer::nic_driver),
    marked(
        "mlx5-subfunction-other", host, kMlx5, "^mlx5_sf|sf_dev|_sf_|SF DEV|^mlx5_adev|sf_hw",
        "The subfunctions of the NIC (devlink port add ... flavour pcisf). Usual causes: subfunctions that are off or "
        "used up in the firmware settings (PF_SF_BAR_SIZE, PF_TOTAL_SF), or one in use during its removal.",
        "devlink port show; mlxconfig -d {pci} query | grep SF", kMlx5Source, Printer::nic_driver),
    marked(
        "mlx5-bond-other", host, kMlx5,
        "^mlx5_lag|lag_|^mlx5_activate_lag|^mlx5_deactivate_lag|^mlx5_create_lag|^mlx5_modify_lag|mpesw|__mlx5_lag|_"
        "lag:|bond",
        "The hardware bond of the two ports of a NIC (LAG, multipath, multiport switch). Usual causes: the two ports "
        "differ (number of virtual functions, switch mode, firmware), a mode of the bond that the NIC does not "
        "offload, or a use that excludes it. RDMA then has one device for each port, or fails over more slowly.",
        "cat /proc/net/bonding/*; devlink dev eswitch show pci/{pci}; journalctl -k -g {pci}", kMlx5Source,
        Printer::nic_driver),
    marked("mlx5-firmware-reset-other", host, kMlx5,
           "fw_reset|sync_reset|mlx5_sync_pci_reset|live_patch|_pci_link_toggle|check_hotplug|mlx5_check_dev_ids|is_"
           "reset_now|reset_complete_reload",
           {"The reset or live update of the NIC's firmware. Usual causes: another host or function of the NIC does "
            "not agree, a PCIe switch or hotplug slot between, or a driver that is bound to no function. ",
            {Work::in_machine, "A cold reboot activates the firmware in any case."}},
           "devlink dev info pci/{pci}; journalctl -k -g {pci}",
           "Linux drivers/net/ethernet/mellanox/mlx5/core/fw_reset.c", Printer::nic_driver),
    marked("mlx5-health-other", host, kMlx5,
           "health|crdump|rsc_dump|fw_tracer|fw_fatal|reporter_|sw_reset|handle_bad_state|reset_fw_if|error_sw|mtrc|"
           "pci_vsc|vsc_|hang|trigger_timed|hw_error",
           {"The supervision of the NIC's firmware and its dumps (health, resource dump, firmware tracer). Usual "
            "causes: the firmware failed or does not answer, the NIC left PCIe, or it is overheated. The first line "
            "about health decides. ",
            {Work::in_machine, "Power-cycle the node if the NIC does not recover."}},
           kMlx5Log, "Linux drivers/net/ethernet/mellanox/mlx5/core/health.c, diag", Printer::nic_driver),
    marked(
        "mlx5-pages-other", host, kMlx5, "page|reclaim|^alloc_4k|^free_4k|uars|^up_rel_func|_uar|frag_buf|doorbell",
        "The memory of the host that the NIC's firmware uses (pages), and the doorbell pages. Usual causes: memory of "
        "the host is used up, firmware that asks for many pages (many virtual functions or queue pairs), a firmware "
        "that does not answer, or the IOMMU.",
        "journalctl -k -g {pci}; free -m; fabric-agentctl check --only iommu",
        "Linux drivers/net/ethernet/mellanox/mlx5/core/pagealloc.c", Printer::nic_driver),
    marked(
        "mlx5-interrupt-other", host, kMlx5, "_eq|eq_|irq_|cq_err_event|cpu_get_least|msix|_irq",
        "The event queues and interrupts of the NIC. Usual causes: interrupt vectors (MSI-X) that are used up by many "
        "queues or functions, CPUs that are isolated or offline, or a queue that the firmware could not make. An EQ "
        "that is recovered by the driver means a lost interrupt.",
        "grep mlx5 /proc/interrupts; devlink dev param show pci/{pci}",
        "Linux drivers/net/ethernet/mellanox/mlx5/core/eq.c, pci_irq.c", Printer::nic_driver),
    marked("mlx5-module-other", host, kMlx5,
           "_module|eeprom|mlx5_query_pddr|cable|MPEIN|mlx5_set_port|ptys|paos|mlx5_toggle_port|fec",
           {"The module or cable of the port, and its settings (speed, FEC, EEPROM). Usual causes: no module, a module "
            "that does not answer, is too hot or not supported, or a speed that the two ends do not share. ",
            {Work::at_link, "Reseat the module or cable if the errors go on."}},
           "ethtool -m {netdev}; ethtool {netdev}; fabric-agentctl optics {port}",
           "Linux drivers/net/ethernet/mellanox/mlx5/core/events.c, port.c", Printer::nic_driver),
    marked(
        "mlx5-tc-other", host, kMlx5,
        "tc_|flower|pedit|hairpin|_encap|_decap|tun_|mlx5_ct_|int_port|post_act|meter|police|sampler|mirred|vxlan|"
        "geneve|gre_|bridge|neigh|arfs|ethtool_flow|mlx5e_add_offloaded",
        "The offload of tc rules, tunnels, connection tracking and bridges (Open vSwitch in hardware). Usual causes: "
        "a rule that the NIC cannot offload, or resources that are used up. The rule then runs in software: slower, "
        "not wrong. RDMA does not depend on it.",
        "tc -s filter show dev {netdev} ingress; ethtool -k {netdev} | grep tc-offload",
        "Linux drivers/net/ethernet/mellanox/mlx5/core/en/tc, en_tc.c", Printer::nic_driver),
    marked(
        "mlx5-crypto-other", host, kMlx5, "ipsec|macsec|_tls|tls_|ktls|crypto|_dek|psp_|_aso|aso_",
        "The encryption in the NIC (IPsec, MACsec, TLS). Usual causes: a feature that the firmware or this model does "
        "not have, keys or objects that are used up, or settings that exclude each other. The traffic is encrypted by "
        "the CPU, or dropped, then.",
        "ip -s xfrm state; ethtool -k {netdev} | grep -E 'esp|tls|macsec'",
        "Linux drivers/net/ethernet/mellanox/mlx5/core/en_accel", Printer::nic_driver),
    marked("mlx5-clock-other", host, kMlx5, "clock|pps|perout|dpll|ptp|hwmon|hv_vhca|mlx5_hv|timestamp|tstamp|adj",
           "The clock, the sensors or the synchronization of the NIC (PTP, DPLL, hwmon). Usual causes: a firmware "
           "without the feature, or a pin in use. RDMA does not depend on it.",
           "ethtool -T {netdev}; journalctl -k -g {pci}",
           "Linux drivers/net/ethernet/mellanox/mlx5/core/lib/clock.c, dpll.c, hwmon.c", Printer::nic_driver),
    marked("mlx5-devlink-other", host, kMlx5, "devlink|mlx5_fw_version|component_query|fw_image|boot_img|trap",
           "devlink of the NIC: parameters, traps, versions, reload and write of the firmware. Usual causes: a value "
           "that the firmware or the present mode does not allow, or a function that is not the owner of the port.",
           "devlink dev info pci/{pci}; devlink dev param show pci/{pci}",
           "Linux drivers/net/ethernet/mellanox/mlx5/core/devlink.c", Printer::nic_driver),
    marked("mlx5-netdev-other", host, kMlx5,
           "^mlx5e_|^mlx5i_|_mlx5e|dcbnl|xoff|_sq|_rq|xsk|rx_res|^mlx5_rdma_setup_rn|set_pflag|port_update|_pfc|ets|"
           "buffer|MLX5E|mlx5_wq_|^mlx5_cqwq",
           "The network interface of the NIC: its queues, and the settings by ethtool and dcb (channels, rings, PFC, "
           "buffers). Usual causes: a value that the NIC does not support, memory of the host that is used up, or a "
           "queue that hangs and is recovered.",
           "ethtool -i {netdev}; ethtool -l {netdev}; devlink health show pci/{pci}",
           "Linux drivers/net/ethernet/mellanox/mlx5/core/en_main.c", Printer::nic_driver),
    marked(
        "mlx5-command-other", host, kMlx5,
        "cmd|wait_func|dump_command|mlx5_core_access_reg|_mkey|mlx5_core_create|mlx5_core_destroy|^mlx5_access|"
        "internal_err|dbg_read|read_field|_cq|^mlx5_rl_|_alias",
        "The firmware commands of the NIC: every change of its state is one. Usual causes: a command that the "
        "firmware rejects (the status and the syndrome in the line name the reason), an object that is still in use, "
        "limits of the NIC, or a firmware that does not answer (timeout).",
        kMlx5Log, "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c", Printer::nic_driver),
    marked(
        "mlx5-load-other", host, kMlx5,
        "mlx5_load|mlx5_unload|probe|_init|init_|mlx5_function|mlx5_pci|mlx5_attach|mlx5_detach|add_drivers|set_dma|"
        "request_bar|handle_hca|_caps|set_issi|mdev|uninit|slot_reset|teardown|rescan|roce|sd_|_open|verify|gid|rdma",
        "The start, stop or reset of the driver on this NIC. Usual causes: a firmware that does not answer or is "
        "still in its start, a firmware that does not fit the driver, memory or PCIe resources of the host, or a NIC "
        "that left PCIe.",
        kMlx5Log, "Linux drivers/net/ethernet/mellanox/mlx5/core/main.c", Printer::nic_driver),
    marked("mlx5-other", host, kMlx5, "",
           "The driver of an NVIDIA NIC; the line names its function. Usual causes: a request that the firmware or the "
           "model does not support, resources that are used up, or a firmware that does not answer.",
           kMlx5Log, kMlx5Source, Printer::nic_driver),
    complaining(
        "mlx5-interface-offload-other", host, "^mlx5_core ",
        "HWS|tunnel|encap|decap|vxlan|geneve|offload|flow|rule|action|header|match|tc |TC |MACsec|macsec|IPsec|filter",
        "An offload of an NVIDIA NIC: tc rules, tunnels, filters, MACsec, IPsec, or the steering below them. Usual "
        "causes: a rule or combination that the NIC does not support, or tables that are used up. The traffic then "
        "takes the way through the CPU; RDMA does not depend on it.",
        "ethtool -k {netdev}; tc -s filter show dev {netdev} ingress; journalctl -k -g {pci}",
        "Linux drivers/net/ethernet/mellanox/mlx5/core/en_tc.c, steering/hws", Printer::nic_driver),
    complaining(
        "mlx5-interface-setting-other", host, "^mlx5_core ",
        "ETS|ets|PFC|pfc|priority|buffer|DCB|dcb|speed|autoneg|pause|ring|channel|coalesc|MTU|mtu|RSS|rss|rate|pflag|"
        "EEPROM",
        "A setting of the network interface of an NVIDIA NIC by ethtool, ip or dcb (PFC, ETS, buffers, speed, queues). "
        "Usual causes: a value that the NIC or the port does not support, or settings that exclude each other. The "
        "former setting stays.",
        "ethtool {netdev}; dcb ets show dev {netdev}; fabric-agentctl check --only pfc",
        "Linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, en_ethtool.c", Printer::nic_driver),
    complaining("mlx5-interface-other", host, "^mlx5_core ",
                "^ens|^eth|^enp|^eno|^rdma|^roce|^ib|^gpu|^p0|^p1|^pf|np0|np1|NETDEV|queue|rule|offload|PTP|VLAN|MTU|"
                "filter",
                "The network interface of an NVIDIA NIC, or a setting of it (queues, offloads, filters, PTP). Usual "
                "causes: a value or a combination that the NIC does not support, a queue that hangs and is recovered, "
                "or resources that are used up.",
                "ethtool -i {netdev}; devlink health show pci/{pci}; journalctl -k -g {pci}",
                "Linux drivers/net/ethernet/mellanox/mlx5/core/en_main.c", Printer::nic_driver),
    complaining(
        "mlx5-lag-other", host, "^mlx5_core", "LAG|^lag|_lag|^bond",
        "The bond of the ports of an NVIDIA NIC, for RDMA (RoCE LAG). Usual causes: ports in different modes (eswitch, "
        "virtual functions on one of them), a mode of the bond that the NIC does not have (only active-backup, "
        "balance-xor and 802.3ad), or a firmware that rejects it. RDMA on the bond then uses one port or none.",
        "cat /proc/net/bonding/*; devlink dev eswitch show pci/{pci}; rdma link show",
        "Linux drivers/net/ethernet/mellanox/mlx5/core/lag", Printer::nic_driver),
    complaining(
        "mlx5-driver-other", host, "^mlx5_core|^mlx5:", "",
        "The driver of an NVIDIA NIC. Usual causes: a firmware that does not answer or rejects a request, a feature "
        "that the firmware does not have, or resources of the host or of the NIC that are used up.",
        kMlx5Log, kMlx5Source, Printer::nic_driver),

    // ---- mlx5_ib.
    marked(
        "mlx5-rdma-odp-other", host, kMlx5Ib, "odp|pfault|pagefault|page_fault|implicit",
        "On-demand paging (ODP): the NIC asks the host for pages of a region that is not locked. Usual causes: a "
        "program that freed memory in use, an access outside of the region, or memory pressure. Regions that are not "
        "ODP do not depend on it.",
        "grep . /sys/class/infiniband/{rdma}/hw_counters/*odp* ; journalctl -k -g {rdma}",
        "Linux drivers/infiniband/hw/mlx5/odp.c", Printer::nic_driver),
    marked(
        "mlx5-rdma-memory-other", host, kMlx5Ib,
        "_mr|mr_|reg_create|mkey|umr|^add_keys|integrity|sig_|psv|cache_work|xlt|dmabuf|data_direct|_mw",
        "Memory regions of the RDMA driver: registration, their keys and the cache of them. Usual causes: a firmware "
        "that does not answer or rejects the command, keys that are used up, memory of the host, or an invalid "
        "request of a program.",
        "rdma resource show mr | wc -l; journalctl -k -g {pci}", "Linux drivers/infiniband/hw/mlx5/mr.c, umr.c",
        Printer::nic_driver),
    marked("mlx5-rdma-queue-other", host, kMlx5Ib,
           "_qp|qp_|_cq|cq_|srq|_rq|_sq|_wq|dct|post_send|set_path|poll_one|resize|_event|set_data|wr_|qpc",
           "Queue pairs, completion queues and shared receive queues of the RDMA driver. Usual causes: a request that "
           "is larger than the limits of the NIC or not supported, a firmware that rejects the command, or an event of "
           "a queue that failed (a program's error, or a peer that ended).",
           "rdma resource show; ibv_devinfo -v -d {rdma}; journalctl -k -g {pci}",
           "Linux drivers/infiniband/hw/mlx5/qp.c, cq.c, srq.c", Printer::nic_driver),
    marked(
        "mlx5-rdma-gsi-other", host, kMlx5Ib, "gsi|mad|modify_to_rt|setup_qp|outstanding_wr|smi",
        "The management queue pairs (QP 0 and 1) of the RDMA driver, which carry connection requests. Usual causes: a "
        "firmware command that failed, or a port that was removed. Without QP 1 rdma_cm does not work on the port.",
        "journalctl -k -g {rdma}; rdma link show", "Linux drivers/infiniband/hw/mlx5/gsi.c, mad.c",
        Printer::nic_driver),
    marked(
        "mlx5-rdma-other", host, kMlx5Ib, "",
        "The RDMA driver of an NVIDIA NIC (mlx5_ib); the line names its function. Usual causes: a command that the "
        "firmware rejects, limits of the NIC, a request that it does not support, or a device that is being removed.",
        "journalctl -k -g {rdma}; rdma resource show; ibv_devinfo -v -d {rdma}", "Linux drivers/infiniband/hw/mlx5",
        Printer::nic_driver),
    complaining(
        "mlx5-rdma-driver-other", host, "^mlx5_ib", "",
        "The RDMA driver of a NIC. Usual causes: a firmware command that failed, limits of the NIC, or a device that "
        "is being removed.",
        "journalctl -k -g {rdma}; rdma resource show", "Linux drivers/infiniband/hw/mlx5", Printer::nic_driver),

    // ---- Broadcom.
    complaining(
        "bnxt-rdma-queue-other", unknown,
        "^bnxt_re|^bnxt_en *:*:*.* roce|^bnxt_en *QPLIB|^bnxt_en *FP:|^bnxt_en *SP:|^bnxt_en *RCFW",
        "FP:| QP | QP(|QP1| CQ|SRQ|NQ|creq|post|poll|FENCE|shadow|Shadow| WR|wqe|cqe|process_cq",
        "Queue pairs, completion queues and their events in the RDMA driver of a Broadcom NIC. The state of the queue "
        "in the line shows the cause: one that could not be made or changed is a limit of the NIC or a command that "
        "its firmware rejects (this host), a full queue or an invalid request is the program, an event of a queue pair "
        "in use often the peer that ended.",
        "rdma resource show; ibv_devinfo -v -d {rdma}; journalctl -k -g bnxt", "Linux drivers/infiniband/hw/bnxt_re",
        Printer::nic_driver),
    complaining(
        "bnxt-rdma-other", host,
        "^bnxt_re|^bnxt_en *:*:*.* roce|^bnxt_en *QPLIB|^bnxt_en *RCFW|^bnxt_en *SP:|^bnxt_en *HW channel", "",
        "The RDMA driver of a Broadcom NIC (bnxt_re). Usual causes: a firmware command that failed or timed out, a "
        "firmware and drivers (bnxt_en, bnxt_re) of different releases, limits of the NIC, or a GID or memory region "
        "that it rejects.",
        "journalctl -k -g bnxt; devlink dev info pci/{pci}; modinfo -F version bnxt_re",
        "Linux drivers/infiniband/hw/bnxt_re", Printer::nic_driver),
    complaining(
        "bnxt-sriov-other", host, kBnxt, "SRIOV|SR-IOV| VF|VFs|vf ",
        "The virtual functions (SR-IOV) of a Broadcom NIC. Usual causes: SR-IOV that is off in the firmware, a PF "
        "whose netdev is down or in a reset, or queues of the NIC that are used up.",
        "cat /sys/class/net/{netdev}/device/sriov_totalvfs; journalctl -k -g {pci}",
        "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_sriov.c", Printer::nic_driver),
    failing(
        "bnxt-setting-other", host, kBnxt,
        "raffic class|TC mapping|TC count|TC bandwidth|^tc *bandwidth|^tc *tsa|^tc "
        "*bw|^ETS|^ets|^PFC|^pfc|^DCB|^dcb|^DSCP|^app |ax supported|pause|MTU|^mtu|channels|EEE|WoL|wol",
        "A setting of a Broadcom NIC that a program on this host asked for (lldpad or dcb: traffic classes, ETS, PFC; "
        "ethtool; ip) and that the NIC does not have, or not so many of: it is not applied, and the former one stays. "
        "Find the program that asks for it, and give it values that the NIC has.",
        "dcb ets show dev {netdev}; dcb pfc show dev {netdev}; ethtool {netdev}; systemctl status lldpad",
        "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c, bnxt_ethtool.c", Printer::nic_driver),
    complaining("bnxt-offload-other", unknown, kBnxt,
                "flow|ntuple|tunnel|tc_|TC |filter|neighbor|encap|decap|RSS|rss|vnic|VNIC|switchdev|rep ",
                "Offloads and filters of a Broadcom NIC (tc, ntuple, tunnels, RSS). The origin of the rule shows the "
                "cause: a rule that the NIC cannot offload is one of a program (Open vSwitch, tc, ethtool), resources "
                "that are used up are of this host. RDMA does not depend on them, except on the flow that gives RoCE "
                "its own queue.",
                "ethtool -k {netdev}; ethtool -n {netdev}; journalctl -k -g {pci}",
                "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_tc.c", Printer::nic_driver | Printer::driver_rest),
    failing(
        "bnxt-update-other", host, kBnxt,
        "NVM|nvm|nvram|flash|devlink|package|PKG|install|image|dump|reload|live patch",
        "devlink, dumps or the update of the firmware of a Broadcom NIC. Usual causes: a package for another model, "
        "another update in progress, or a firmware that does not support the request.",
        "devlink dev info pci/{pci}; journalctl -k -g {pci}", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_devlink.c",
        Printer::nic_driver),
    failing(
        "bnxt-clock-other", host, kBnxt, "PTP|ptp|timestamp|hwmon|PHC|pps|PPS",
        "The clock or the sensors of a Broadcom NIC (PTP, hwmon). Usual causes: a firmware without the feature, or a "
        "function that may not change it. RDMA does not depend on it.",
        "ethtool -T {netdev}; journalctl -k -g {pci}", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_ptp.c",
        Printer::nic_driver),
    failing(
        "bnxt-ring-other", host, kBnxt,
        "ring|IRQ|irq|MSIX|MSI-X|buffer|skb|TX |RX |tpa|mem alloc|NAPI|napi|xps|coalesc",
        "The rings and interrupts of a Broadcom NIC. Usual causes: rings or interrupt vectors (MSI-X) that are used up "
        "by other functions, memory of the host, or a ring that hangs and makes the driver reset the NIC.",
        "ethtool -l {netdev}; ethtool -g {netdev}; journalctl -k -g {pci}",
        "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c", Printer::nic_driver),
    failing(
        "bnxt-command-other", host, kBnxt, "hwrm|HWRM|req_type|cmdq|irmware|fw |FW ",
        "The firmware commands (HWRM) of a Broadcom NIC. Usual causes: a firmware that does not answer, is in a reset "
        "or does not know the command (older than the driver), or a function without permission.",
        "devlink dev info pci/{pci}; devlink health show pci/{pci}; journalctl -k -g {pci}",
        "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_hwrm.c", Printer::nic_driver),
    failing("bnxt-step-other", host, kBnxt, kOwnStep,
            "The driver of a Broadcom NIC, in a step of its own. Usual causes: a firmware that does not answer or "
            "rejects a request, PCIe or memory of the host, or resources that are used up.",
            kKernelLog, "Linux drivers/net/ethernet/broadcom/bnxt", Printer::nic_driver),
    failing("bnxt-other", unknown, kBnxt, "",
            "The driver of a Broadcom NIC. The subject of the line shows the cause: a setting is one that a program "
            "asked for, a module, link or speed is the cable and its other end, a request of a virtual function is its "
            "user, the rest is the NIC or its firmware.",
            kKernelLog, "Linux drivers/net/ethernet/broadcom/bnxt", Printer::nic_driver | Printer::driver_rest),

    // ---- AMD Pensando.
    complaining(
        "ionic-rdma-other", host,
        "^infiniband ionic|^ionic*rdma|^ionic *:*:*.* ionic_0: |^ionic *:*:*.* ionic_1: |^ionic *:*:*.* roce", "",
        "The RDMA driver of an AMD Pensando NIC (ionic_rdma). Usual causes: a command that the firmware rejects or "
        "does not answer, a driver, firmware and libionic of different releases, or limits of the NIC.",
        "modinfo -F version ionic_rdma; devlink dev info pci/{pci}; journalctl -k -g ionic",
        "Linux drivers/infiniband/hw/ionic", Printer::nic_driver),
    failing(
        "ionic-step-other", host, "^ionic ", kOwnStep,
        "The driver of an AMD Pensando NIC (ionic), in a step of its own: its functions (LIFs), queues and firmware "
        "commands. Usual causes: a firmware that does not answer or is restarting, a driver and firmware of different "
        "releases, a change of queues or of an XDP program that it cannot combine, or interrupts and memory that are "
        "used up.",
        "ethtool -l {netdev}; ip link show {netdev}; devlink dev info pci/{pci}; journalctl -k -g ionic",
        "Linux drivers/net/ethernet/pensando/ionic", Printer::nic_driver),
    failing("ionic-other", unknown, "^ionic ", "",
            "The driver of an AMD Pensando NIC (ionic). The subject of the line shows the cause: a setting or filter "
            "is one that a program asked for, a module or link is the cable and its other end, the rest is the NIC or "
            "its firmware.",
            "devlink dev info pci/{pci}; journalctl -k -g ionic", "Linux drivers/net/ethernet/pensando/ionic",
            Printer::nic_driver | Printer::driver_rest),

    // ---- Intel.
    complaining(
        "irdma-other", host, "^irdma|^infiniband rocep*s*f|^ice *:*:*.* roce|^ice *:*:*.* iwp|^i40e *:*:*.* iwp|^i40iw",
        "",
        "The RDMA driver of an Intel NIC (irdma). Usual causes: a command of the RDMA unit that failed (CQP; major and "
        "minor codes), limits of queue pairs or memory that the profile of the driver sets, an NVM that does not fit, "
        "or a reset of the NIC.",
        "journalctl -k -g irdma; devlink dev info pci/{pci}; modinfo irdma | grep parm",
        "Linux drivers/infiniband/hw/irdma", Printer::nic_driver),
    complaining(
        "ice-vf-other", host, kIce, "VF|virtchnl|SR-IOV|sriov|VM |mailbox|eswitch|switchdev|subfunction|SF ",
        "The virtual functions of an Intel NIC, and their requests to the PF. Usual causes: a request that the "
        "settings of the function forbid (trust, MAC, VLAN), interrupts or queues that are used up, or a function "
        "that is in a reset.",
        "ip link show {netdev}; journalctl -k -g {pci}",
        "Linux drivers/net/ethernet/intel/ice/ice_virtchnl.c, ice_sriov.c", Printer::nic_driver),
    failing("ice-dcb-other", host, kIce, "DCB|dcb|LLDP|lldp|PFC|pfc|ETS|DSCP|QoS|MIB",
            "DCB of an Intel NIC: PFC, ETS and DSCP, set by the host or by the LLDP agent in the firmware. Usual "
            "causes: the firmware's LLDP agent and the host exclude each other, or a configuration that the NIC does "
            "not support. RoCE drops packets if PFC is not set.",
            "ethtool --show-priv-flags {netdev}; dcb pfc show dev {netdev}; fabric-agentctl check --only pfc",
            "Linux drivers/net/ethernet/intel/ice/ice_dcb_lib.c", Printer::nic_driver),
    failing("ice-clock-other", host, kIce, "PTP|ptp|timestamp|Timestamp|DPLL|dpll|1PPS|GNSS|clock|PHC|TSPLL|CGU|TCXO",
            "The clock of an Intel NIC (PTP, DPLL, GNSS). Usual causes: a firmware or model without the feature, or a "
            "source of the clock that is missing. RDMA does not depend on it.",
            "ethtool -T {netdev}; journalctl -k -g {pci}", "Linux drivers/net/ethernet/intel/ice/ice_ptp.c",
            Printer::nic_driver),
    failing(
        "ice-update-other", host, kIce,
        "NVM|flash|firmware|Firmware|FW |fwlog|package|Package|DDP|devlink|module|EEPROM|anti-rollback|EMP",
        "The firmware of an Intel NIC, its update (devlink dev flash), the DDP package, or the module of the port. "
        "Usual causes: a firmware or package that does not fit the driver, another update in progress, or a reset of "
        "the management processor (EMP) that is pending until a reboot.",
        "devlink dev info pci/{pci}; journalctl -k -g {pci}", "Linux drivers/net/ethernet/intel/ice/ice_fw_update.c",
        Printer::nic_driver),
    complaining(
        "ice-filter-other", unknown, kIce,
        "filter|Filter|FDIR|fdir|Flow|flow|RSS|rss|VLAN|vlan|rule|LAG|lag|bond|tunnel|promisc|MAC",
        "Filters of an Intel NIC (Flow Director, RSS, VLAN, MAC, tc) or its bond. The origin of the rule shows the "
        "cause: a rule or combination that the NIC does not support is one of a program or of the configuration, a "
        "full table is of this host. In a bond RDMA works only in active-backup mode.",
        "ethtool -n {netdev}; cat /proc/net/bonding/*; journalctl -k -g {pci}",
        "Linux drivers/net/ethernet/intel/ice/ice_main.c, ice_lag.c", Printer::nic_driver | Printer::driver_rest),
    failing(
        "ice-step-other", host, kIce, kOwnStep,
        "The driver of an Intel NIC (ice), in a step of its own: its queues, interrupts and commands to the firmware "
        "(admin queue). Usual causes: a reset in progress, resources that are used up, or a firmware that does not "
        "answer or does not fit the driver.",
        kKernelLog, "Linux drivers/net/ethernet/intel/ice", Printer::nic_driver),
    failing(
        "ice-other", unknown, kIce, "",
        "The driver of an Intel NIC (ice). The subject of the line shows the cause: a setting (rate, queues, speed) is "
        "one that a program asked for, a module or link is the cable and its other end, a request of a virtual "
        "function is its user, the rest is the NIC or its firmware.",
        kKernelLog, "Linux drivers/net/ethernet/intel/ice", Printer::nic_driver | Printer::driver_rest),
    failing("iavf-step-other", host, "^iavf |^iavf: ", kOwnStep,
            "The driver of an Intel virtual function (iavf), in a step of its own, for which it needs its PF. Usual "
            "causes: the PF rejects the request, is down or in a reset, or the resources of the function are used up. "
            "The PF's log, on the host, has the reason.",
            "journalctl -k -g iavf; on the host: ip link show PF", "Linux drivers/net/ethernet/intel/iavf",
            Printer::nic_driver),
    failing("iavf-other", unknown, "^iavf |^iavf: ", "",
            "The driver of an Intel virtual function (iavf), which asks its PF for everything. The subject of the line "
            "shows the cause: a setting (rings, queues, filter) is one that a program of this machine asked for; an "
            "address, VLAN or mode that is refused is the policy of the PF (trust), whose log, on the host, has the "
            "reason.",
            "journalctl -k -g iavf; on the host: ip link show PF", "Linux drivers/net/ethernet/intel/iavf",
            Printer::nic_driver | Printer::driver_rest),
    failing(
        "i40e-other", host, "^i40e |^i40e: |^ixgbe |^igb |^idpf ", "",
        "The driver of an Intel NIC (i40e, ixgbe, idpf). Usual causes: a firmware (NVM) that does not fit the driver, "
        "a setting that the NIC does not support, or a reset in progress.",
        kKernelLog, "Linux drivers/net/ethernet/intel", Printer::nic_driver),

    // ---- Clouds.
    complaining(
        "efa-driver-other", host, "^efa *:*:*.*: |^efa: |^infiniband efa_|^infiniband rdmap", "",
        "The kernel driver of EFA (AWS). Usual causes: a command that the device rejects (limits of queue pairs, "
        "memory regions or address handles), a device that does not answer, or an EFA driver that is older than the "
        "instance type.",
        "modinfo -F version efa; rdma resource show; journalctl -k -g efa", "Linux drivers/infiniband/hw/efa",
        Printer::nic_driver),
    failing(
        "ena-other", host, "^ena *:*:*.*: |^ena: ", "",
        "The driver of the Ethernet interface of an AWS instance (ENA): TCP, and not EFA. Usual causes: a limit of the "
        "instance type, a device that does not answer and is reset, or an old driver. RDMA over EFA does not use it; "
        "the bootstrap of the jobs does.",
        "ethtool -S {netdev} | grep exceeded; modinfo -F version ena; journalctl -k -g ena",
        "Linux drivers/net/ethernet/amazon/ena", Printer::nic_driver),
    failing("mana-other", host, "^mana *:*:*.*: |^mana: |^infiniband mana_|^mana_ib", "",
            "The driver of the NIC of an Azure machine (MANA), or its RDMA driver. Usual causes: a request that the "
            "host rejects, servicing of the host, limits of the machine's size, or an error of an old driver (update "
            "the kernel). An object that cannot be destroyed follows from the first error of its queue.",
            "journalctl -k -g mana; rdma link show", "Linux drivers/net/ethernet/microsoft/mana", Printer::nic_driver),
    failing(
        "netvsc-other", host, "^hv_netvsc|^hv_pci|^hv_vmbus|^virtio_net|^vmxnet3|^gve |^gve: |^gvnic |^idpf: ", "",
        "A network driver of a virtual machine (Hyper-V, virtio, VMware, Google). Usual causes: the hypervisor "
        "removed or changed the device, or limits of the machine's size. It carries TCP; RDMA uses a function of its "
        "own.",
        "ip -br link; journalctl -k -p warning", "Linux drivers/net/hyperv, drivers/net/virtio_net.c",
        Printer::nic_driver),

    // ---- HiSilicon, Chelsio, Marvell, others.
    failing(
        "hns-reset-other", host, kHns,
        "reset|RAS|ras |ECC|ecc|overflow|fatal|poison|PPP|parity|hw err|hardware|bnormal|ABNORMAL|_INT_",
        "The error handling and resets of a HiSilicon NIC. Usual causes: an internal error (ECC, overflow) that the "
        "NIC reports by an interrupt, whose register is in the line (PPU: queues and descriptors, SSU: buffers, "
        "ROCEE: RDMA), or a PF that was reset with all its virtual functions. With a vf_id above 0 the guest that has "
        "this virtual function is the cause, and only the function is reset. The first line of the kernel log decides.",
        "journalctl -k -g 'hns|hclge'; ethtool -i {netdev}",
        "Linux drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_err.c", Printer::nic_driver),
    complaining(
        "hns-rdma-step-other", host, kHnsRdma, kOwnStep,
        "The RDMA driver of a HiSilicon NIC (hns_roce), in a step of its own. Usual causes: a command or mailbox that "
        "the firmware or hardware does not answer, mostly during or after a reset (lines of hns3 before it), or memory "
        "of the host.",
        "journalctl -k -g hns; rdma link show", "Linux drivers/infiniband/hw/hns", Printer::nic_driver),
    complaining("hns-rdma-other", unknown, kHnsRdma, "",
                "The RDMA driver of a HiSilicon NIC (hns_roce). The subject of the line shows the cause: a size, "
                "length or operation that is not valid is one that a program asked for, an event of a queue pair in "
                "use is the program or its peer, the rest is the NIC.",
                "ibv_devinfo -v -d {rdma}; journalctl -k -g hns", "Linux drivers/infiniband/hw/hns",
                Printer::nic_driver | Printer::driver_rest),
    failing("hns-step-other", host, kHns, kOwnStep,
            "The driver of a HiSilicon NIC (hns3), in a step of its own. Usual causes: a firmware (IMP) that does not "
            "answer or rejects a command, mostly during or after a reset, or a virtual function whose PF is down.",
            "journalctl -k -g hns3; ethtool -i {netdev}", "Linux drivers/net/ethernet/hisilicon/hns3",
            Printer::nic_driver),
    complaining(
        "hns-other", unknown, kHns, "",
        "The driver of a HiSilicon NIC (hns3). The subject of the line shows the cause: a setting or filter is one "
        "that a program asked for and the NIC cannot combine, a module or link is the cable and its other end, the "
        "rest is the NIC or its firmware.",
        "journalctl -k -g hns3; ethtool -i {netdev}", "Linux drivers/net/ethernet/hisilicon/hns3",
        Printer::nic_driver | Printer::driver_rest),
    failing(
        "cxgb4-rdma-other", host, "^iw_cxgb4|^infiniband cxgb4|^c4iw", "",
        "The iWARP driver of a Chelsio NIC (iw_cxgb4). Usual causes: a peer that closed or rejected the connection, a "
        "request that is larger than the limits of the NIC, or a NIC in a fatal state.",
        "journalctl -k -g cxgb4; rdma link show", "Linux drivers/infiniband/hw/cxgb4", Printer::nic_driver),
    failing(
        "cxgb4-other", host, "^cxgb4 |^cxgb4: |^cxgb4vf", "",
        "The driver of a Chelsio NIC (cxgb4). Usual causes: a firmware that does not fit the driver, filters or queues "
        "that are used up, or a hardware error (parity) after which the NIC needs a reset.",
        "journalctl -k -g cxgb4; ethtool -i {netdev}", "Linux drivers/net/ethernet/chelsio/cxgb4", Printer::nic_driver),
    complaining(
        "qed-rdma-other", unknown, "[__qedr|[_qedr|[qed_rdma|[qed_roce|[qed_iwarp|[__process_resp_one|^qedr", "",
        "The RDMA driver of a Marvell FastLinQ NIC (qedr; RoCE or iWARP) reports an error. The line names the subject: "
        "a program requested an unsupported size, number or attribute; an event of a queue pair in use often means "
        "that the peer ended; other subjects concern the NIC or its firmware.",
        "ibv_devinfo -v -d {rdma}; rdma resource show; journalctl -k -g qed", "Linux drivers/infiniband/hw/qedr",
        Printer::nic_driver),
    complaining("qed-vf-other", host, "[qed_iov|[qed_vf|[qed_sriov|[_qed_vf|[qed_pf_validate|[qede_sriov", "",
                "A virtual function (SR-IOV) of a Marvell FastLinQ NIC reports an error. Usual causes: a request that "
                "the settings of the function forbid (trust, MAC, VLAN), a PF that does not answer or is being reset, "
                "or queues that are used up.",
                "ip link show {netdev}; journalctl -k -g qed",
                "Linux drivers/net/ethernet/qlogic/qed/qed_sriov.c, qed_vf.c", Printer::nic_driver),
    complaining(
        "qed-firmware-other", host,
        "[qed_mcp|[_qed_mcp|[__qed_mcp|[qed_load_mcp|[qed_get_mfw|[eocre_|[qed_hw_|[qed_int|[qed_init|[qed_spq|[qed_fw|"
        "[qed_dbg|[qed_dmae|[qed_nvm",
        "",
        {"The firmware (management firmware MFW, ramrods) or the hardware of a Marvell FastLinQ NIC reports an error. "
         "Usual causes: firmware that does not answer or is too old for the driver, an error of the chip (attention, "
         "parity), or PCIe. ",
         {Work::in_machine, "Power-cycle the node if the NIC does not recover."}},
        "ethtool -i {netdev}; devlink health show pci/{pci}; journalctl -k -g qed",
        "Linux drivers/net/ethernet/qlogic/qed/qed_mcp.c, qed_int.c", Printer::nic_driver),
    complaining(
        "qed-other", host, kQed, "",
        "The drivers of a Marvell FastLinQ NIC (qed, qede, qedr). Usual causes: a firmware command (MCP, ramrod) that "
        "failed or timed out, limits of the NIC, a setting that it does not support, or a hardware attention, after "
        "which the NIC is reset.",
        "journalctl -k -g qed; ethtool -i {netdev}", "Linux drivers/net/ethernet/qlogic, drivers/infiniband/hw/qedr",
        Printer::nic_driver),
    complaining(
        "erdma-other", host, "^erdma", "",
        "The RDMA driver of Alibaba Cloud (erdma). Usual causes: a command that the device rejects or does not answer, "
        "limits of the instance type, or a device without its netdev.",
        "journalctl -k -g erdma; rdma link show", "Linux drivers/infiniband/hw/erdma", Printer::nic_driver),
    failing("hfi1-other", host, "^hfi1 |^hfi1: |^hfi1_|^qib |^ib_qib", "",
            "The driver of an Omni-Path NIC (hfi1). Usual causes: a cable or module of the port, a fabric manager that "
            "does not run, a firmware that is missing, or a hardware error of the NIC.",
            "opainfo; journalctl -k -g hfi1", "Linux drivers/infiniband/hw/hfi1", Printer::nic_driver),
    failing(
        "mlx4-other", host, "^mlx4_core|^mlx4_en|^mlx4_ib|^infiniband mlx4", "",
        "The driver of an older Mellanox NIC (ConnectX-3). Usual causes: a firmware that does not answer or rejects a "
        "command, or limits that module parameters set.",
        "journalctl -k -g mlx4; ibv_devinfo -v -d {rdma}", "Linux drivers/net/ethernet/mellanox/mlx4",
        Printer::nic_driver),
    failing("cxi-driver-other", host, "^cxi_core|^cxi_user|^cxi_eth|^cxi_ss|^cxi*: cxi|^kfabric|^kdreg", "",
            "The kernel driver of an HPE Slingshot NIC. Usual causes: a link that is down or has errors, resources or "
            "services (VNI) that are used up, or a hardware error of the NIC.",
            "cxi_stat; journalctl -k -g cxi", "HPE shs-cxi-driver"),
    complaining(
        "soft-rdma-other", software, "^rdma_rxe|^rxe0|^rxe1|^siw|^infiniband rxe", "",
        "A software RDMA device (rxe: Soft-RoCE, siw: software iWARP) on an ordinary netdev. Usual causes: a program "
        "that uses a queue pair wrongly, a netdev that was removed, or limits of the device. It is for tests: no NIC "
        "is at fault.",
        "rdma link show; journalctl -k -g 'rxe|siw'", "Linux drivers/infiniband/sw"),

    // ---- The kernel's RDMA stack and what uses it.
    marked(
        "kernel-warning-other", software,
        "WARNING: CPU: *at drivers/|kernel BUG at drivers/|WARNING: CPU: *at net/|WARNING: drivers/|WARNING: CPU: *at "
        "lib/dma-debug|DMA-API: *device driver|DMA-API: *cpu touching|DMA-API: *overlapping mappings|DMA-API: *mapping "
        "sg|BUG: KASAN: ",
        "",
        "The kernel found a state in a driver that its code excludes (WARN or BUG), or a checker of a debug kernel a "
        "wrong use of memory (KASAN) or of the DMA interface (DMA-API), and prints the stack below the line. It is a "
        "fault of the driver that the path, the function or the stack names, often after an error of its device or "
        "firmware, which an earlier line has. After a BUG the driver may hang: update the kernel or the driver.",
        "journalctl -k | grep -A 40 -E 'WARNING: CPU|kernel BUG'; uname -r",
        "Linux lib/bug.c, mm/kasan, kernel/dma/debug.c"),
    failing(
        "kernel-cm-other", unknown,
        "^rdma_cm|^rdma_ucm|^iw_cm|^ib_cm|^ib_sa|^ib_mad|^ib_umad|^ib_addr|^iwpm|^infiniband*MAD|^infiniband*agent|^"
        "infiniband*SM AH|^cm_destroy_id|^infiniband*: ib_post_send|^infiniband*dr_slid|^infiniband*Agents",
        "",
        "The kernel's connection manager or management packets (MAD). Usual causes: a device that is being removed, a "
        "QP 1 that could not be made (the driver's line before has the reason), or a peer or subnet manager that does "
        "not answer.",
        "rdma link show; journalctl -k -p warning -g 'infiniband|rdma'", "Linux drivers/infiniband/core/cma.c, mad.c",
        Printer::library),
    failing(
        "ipoib-other", unknown, "^ib_ipoib|^ib0: |^ib1: |^ib2: |^ib3: |^ib4: |^ib5: |^ib6: |^ib7: |^ipoib", "",
        "IP over InfiniBand (ib_ipoib). Usual causes: a subnet manager that does not answer or refuses the join of "
        "the multicast group (partition, rate, MTU), a queue that is full, or an address of a peer that is unknown. "
        "RDMA without IP does not depend on it.",
        "sminfo; ip -d link show {netdev}; journalctl -k -g ipoib", "Linux drivers/infiniband/ulp/ipoib"),
    failing("nvme-rdma-other", unknown, "^nvme nvme|^nvme_rdma|^nvmet|^nvme-rdma",
            "RDMA|rdma|queue|onnect|CM |cm |QP|CQ|MR |nvmet|error recovery|keep_alive|keep-alive|REG_MR",
            "NVMe over fabrics (nvme_rdma at the host, nvmet_rdma at the target), or a local NVMe drive. Usual causes: "
            "a target that does not answer or refuses the connection, a network path that is lost, resources of the "
            "NIC, or the drive itself.",
            "nvme list-subsys; journalctl -k -g nvme; rdma link show",
            "Linux drivers/nvme/host/rdma.c, drivers/nvme/target/rdma.c", Printer::storage),
    failing(
        "nfs-rdma-other", unknown, "^rpcrdma|^svcrdma|^xprtrdma|^svc_rdma|RPC:*rdma", "",
        "NFS over RDMA (client: rpcrdma, server: svcrdma). Usual causes: a server that does not answer or listen on "
        "the RDMA port, a connection that was lost, or memory that the NIC cannot register. The client connects "
        "again.",
        "mount | grep rdma; nfsstat -m; journalctl -k -g rpcrdma", "Linux net/sunrpc/xprtrdma", Printer::storage),
    failing(
        "srp-other", unknown, "ib_srp: |^ib_srp|^scsi host*ib_srp", "",
        "SRP storage over RDMA (ib_srp: host, ib_srpt: target). Usual causes: a target that rejects the login or does "
        "not answer, a path that is lost, or resources of the NIC.",
        "journalctl -k -g srp; lsscsi", "Linux drivers/infiniband/ulp/srp", Printer::storage),
    failing(
        "iser-other", unknown, "^iser:|^iser |^ib_iser|^isert|connection*iser", "",
        "iSCSI storage over RDMA (iser: host, isert: target). Usual causes: a target that does not answer or closed "
        "the connection, a path that is lost, or resources of the NIC.",
        "iscsiadm -m session -P 3; journalctl -k -g iser", "Linux drivers/infiniband/ulp/iser", Printer::storage),
    failing("rtrs-other", unknown, "^rtrs|^rnbd|rtrs_server|rtrs_client|rnbd_", "",
            "Network block devices over RDMA (RTRS, RNBD). Usual causes: a peer that does not answer or closed the "
            "connection, a path that is lost, or memory that the NIC cannot register.",
            "ls /sys/class/rtrs-client; journalctl -k -g rtrs", "Linux drivers/infiniband/ulp/rtrs", Printer::storage),
    failing(
        "smc-other", unknown, "^smc: |^smc_|^smcr_|^smcd_", "",
        "SMC, which carries TCP connections over RDMA. Usual causes: an RDMA device or PNET ID that is missing, a link "
        "that was lost, or a peer without SMC; the connection then uses TCP.",
        "smcr stats; smc_rnics; journalctl -k -g smc", "Linux net/smc"),
    failing(
        "rds-other", unknown, "^RDS|^rds|RDS/IB|RDS/RDMA", "",
        "RDS, Oracle's datagrams over RDMA. Usual causes: a peer that does not answer or rejects the connection, or a "
        "path that is lost; it connects again.",
        "rds-info -I; journalctl -k -g RDS", "Linux net/rds"),
    failing("lustre-rdma-other", unknown, "o2iblnd|kiblnd_|LNet*@o2ib", "",
            "Lustre's network on RDMA (o2iblnd). Usual causes: a server or client that does not answer or rejects the "
            "connection, a path that is lost, settings of the module that differ between the nodes (peer_credits, "
            "map_on_demand), or memory that the NIC cannot register.",
            "lnetctl net show -v; lnetctl peer show; journalctl -k -g LNet", "Lustre lnet/klnds/o2iblnd",
            Printer::storage),
    marked(
        "lustre-other", unknown, "LNetError|LustreError|LNet: *Error", "",
        "Lustre or its network (LNet). Usual causes: a server that does not answer or was restarted, an LNet network "
        "or route that is not set up on this node, or a path that is lost. LNet over tcp does not use RDMA.",
        "lnetctl net show -v; lctl get_param *.*.import | grep -E 'target|state'; journalctl -k -g 'LNet|Lustre'",
        "Lustre lnet, lustre", Printer::storage),
    complaining("storage-mount-other", unknown, "mount.nfs: |mount.nfs4: |mount.lustre: |mount error(|mount.ceph", "",
                "The mount of a network file system (NFS, Lustre, CephFS, SMB) that failed. Usual causes: a server "
                "that does not run or does not export it to this host, a module that is not loaded (xprtrdma, lustre, "
                "ko2iblnd), an option that one side does not know, or no path to the server.",
                "journalctl -k -p warning; showmount -e {peer}; lctl ping {peer}; ping -c 3 {peer}",
                "nfs-utils, Lustre mount_lustre.c, cifs-utils", Printer::storage),
    complaining(
        "storage-client-other", unknown,
        "^mmfs|^GPFS|^weka|^beegfs|^ceph|^libceph|^daos|DAOS|mercury|^HG_|^NA_|^spdk|_rdma.c:*ERROR|nvme_rdma.c|^rdma."
        "c:",
        "",
        "A storage client or server that can use RDMA (GPFS, Weka, BeeGFS, DAOS, SPDK). Usual causes: a server that "
        "does not answer, a path that is lost, an RDMA port that was not found or may not be used, or the memlock "
        "limit.",
        "rdma link show; ping -c 3 {peer}; journalctl -p warning", "documentation of the product", Printer::storage),
    complaining(
        "rdma-core-other", unknown,
        "^infiniband |^infiniband: |^ib_core|^ib_uverbs|^rdma: |^rdma_rw_|^rdma_nl_|^ib_umem|^iwpm_|^ib_mr_pool", "",
        "The kernel's RDMA core: devices, GIDs, access of programs to them. Usual causes: a device that is being "
        "removed or whose driver failed before, limits, or network namespaces (rdma system show).",
        "rdma link show; rdma system show; journalctl -k -p warning -g infiniband", "Linux drivers/infiniband/core",
        Printer::library),

    complaining("nvmf-connect-other", host, "^nvme_fabrics: ", "",
                "The kernel rejected a connection to an NVMe target before it sent anything. Usual causes: an option "
                "of nvme connect that this kernel does not support or that is invalid (queue sizes, timeouts, host NQN "
                "and host ID, keys), or a transport whose module (nvme_rdma, nvme_tcp) is not loaded.",
                "cat /etc/nvme/hostnqn /etc/nvme/hostid; lsmod | grep nvme; nvme connect --help",
                "Linux drivers/nvme/host/fabrics.c"),
    complaining("smbdirect-other", unknown, "^ksmbd: smb_direct|^ksmbd_rdma|CIFS: *smbd_|^smbdirect|CIFS: VFS: *RDMA",
                "",
                "SMB over RDMA (SMB Direct: cifs on the client, ksmbd on the server) reports an error. Usual causes: a "
                "peer that closed the connection or does not support RDMA, a size that only one side supports, or a "
                "request that the NIC rejects.",
                "ibv_devinfo -v -d {rdma} | grep max_sge; rdma link show; journalctl -k -g 'ksmbd|CIFS'",
                "Linux fs/smb/client/smbdirect.c, fs/smb/server/transport_rdma.c", Printer::storage),
    complaining("bond-other", host, "^bond0: |^bond1: |^bond2: |^bond3: |^bond4: |^bond5: |^bonding: |: (slave ", "",
                "A bond of this host (Linux bonding) reports an error. Usual causes: an option that the mode of the "
                "bond does not support or that must be set before the bond has ports or is up, a netdev that cannot be "
                "a port of the bond (no support, in use, its MAC address cannot be set), or monitoring (miimon, ARP) "
                "that is off or cannot see the link. A rejected option is unchanged.",
                "cat /proc/net/bonding/*; ip -d link show type bond", "Linux drivers/net/bonding"),
    complaining("sfp-other", cable, "^sfp sfp|^sfp *: ", "",
                {"The kernel's driver of the transceiver cage (sfp) reports an error. Usual causes: a module or cable "
                 "whose EEPROM is damaged or does not follow the standard, a module that requires more power than the "
                 "cage provides, a transmit fault, or a module that is not fully inserted. ",
                 {Work::at_link, "Reseat the module, then try another module or cable."}},
                "ethtool -m {netdev}; journalctl -k -g sfp", "Linux drivers/net/phy/sfp.c"),
    complaining("pds-other", host, "^pds_core|^pds_vdpa|^vfio-pci*pds|^infiniband pds", "",
                "The driver of the shared functions of an AMD Pensando NIC (pds_core) reports an error. Usual causes: "
                "firmware that does not answer or is restarting, a missing BAR or missing interrupts, or firmware and "
                "a driver that are incompatible.",
                "devlink dev info pci/{pci}; devlink health show pci/{pci}; journalctl -k -g pds_core",
                "Linux drivers/net/ethernet/amd/pds_core", Printer::nic_driver),

    // ---- GPUDirect Storage, by the part of the library.
    marked("cufile-rdma-other", host, "cufio-rdma|cufio-dr:|cufio-dr ", "",
           "GPUDirect Storage's use of RDMA: the module nvidia_peermem is not loaded (modprobe nvidia_peermem), or no "
           "network device near the GPU is listed. Check the RDMA devices and the PCIe topology; their addresses "
           "belong in rdma_dev_addr_list of cufile.json. Reads and writes then go through the memory of the host.",
           "lsmod | grep peermem; gdscheck -p; grep rdma_ /etc/cufile.json; ibv_devinfo -l",
           "GPUDirect Storage libcufile"),
    marked("cufile-call-other", software, kCufile,
           "for device pointer is not registered|pointer lookup|not aligned|lignment|nvalid argument|nvalid "
           "value|O_DIRECT|already registered|out of range|nvalid flag|nvalid size|nvalid offset",
           "GPUDirect Storage rejects a call of the program: a buffer that was not registered (its registration failed "
           "before) or is registered twice, an offset or size that is not aligned, or a file that was not opened with "
           "O_DIRECT. The first error of the process in cufile.log is the cause of the later ones.",
           "grep -m 3 ERROR cufile.log; gdscheck -p", "GPUDirect Storage libcufile"),
    marked(
        "cufile-memory-other", host, kCufile, "nvfs handle|bar-usage|BAR|BufRegister|pin memory|pinned|shadow buffer",
        "GPUDirect Storage could not register or map a buffer of GPU memory: the GPU has no GPUDirect RDMA (GeForce), "
        "BAR1 is used up (fewer or smaller buffers, max_device_pinned_mem_size in cufile.json), or nvidia-fs does not "
        "fit the GPU driver.",
        "nvidia-smi -q -d MEMORY | grep -A 3 BAR1; journalctl -k -g nvidia-fs; gdscheck -p",
        "GPUDirect Storage libcufile, nvidia-fs"),
    marked("cufile-driver-other", host, "cufio-drv|cufio-plugin|nvidia-fs:|nvidia_fs:|cufio*registered with nvidia-fs",
           "not loaded|not open|ersion|mismatch|not support|ailed to load|ailed to open|nable to load|nable to "
           "open|registered with nvidia-fs",
           "GPUDirect Storage's kernel module (nvidia-fs) or a plugin of its library. Usual causes: the module is not "
           "loaded, was built for another GPU driver or kernel, or is not in the container (/dev/nvidia-fs*); \"NVMe "
           "Driver not registered\": the nvme module of this kernel has no support for it (install that of MLNX_OFED "
           "with nvmf or of DOCA, and write the initramfs again). allow_compat_mode of cufile.json goes on without it.",
           "lsmod | grep nvidia_fs; gdscheck -p; ls /dev/nvidia-fs*", "GPUDirect Storage libcufile, nvidia-fs"),
    marked(
        "cufile-file-other", host, kCufile,
        "cufio-fs|file checks|on current file|olume attributes|block device|mount|file object|ile system|filesystem",
        "GPUDirect Storage cannot use this file, by its file system, mount or device. Supported are ext4 (mounted with "
        "data=ordered) and XFS on local NVMe, and the network file systems that gdscheck lists; not device mapper "
        "(LVM, dm-crypt), overlay or tmpfs. In a container /run/udev and the mount table must be visible. "
        "allow_compat_mode of cufile.json reads through the memory of the host instead.",
        "gdscheck -p; findmnt -T FILE; lsblk -f; grep -m 3 ERROR cufile.log", "GPUDirect Storage libcufile"),
    complaining("cufile-other", host, "cufio|libcufile|cuFile|^CUFILE|[pid=*tid=*] ERROR", "",
                "GPUDirect Storage (cuFile), which reads files into GPU memory. Usual causes: a GPU that CUDA does not "
                "see (driver, container, CUDA_VISIBLE_DEVICES), a file system or block device that it does not support "
                "(device mapper, LVM: use a file system on NVMe or RAID that GDS supports, or the compat mode), or a "
                "wrong cufile.json.",
                "gdscheck -p; nvidia-smi; findmnt -T FILE; grep -c ERROR cufile.log", "GPUDirect Storage libcufile"),

    // ---- NVIDIA's GPUs and their services.
    // The resource manager prints "NVRM: FUNCTION: TEXT" or "NVRM: GPU0 FUNCTION: TEXT" for errors only.
    marked("nvrm-nvlink-other", host,
           "NVRM: *@ kernel_nvlink|NVRM: *@ kernel_ioctrl|NVRM: *^knvlink|NVRM: *^_knvlink|NVRM: *^nvlink|NVRM: "
           "*^_nvlink|NVRM: *^kioctrl|^NVLink: *ail|^nvidia-nvlink: *ail|^nvidia-nvlink: *rror",
           "",
           {"The GPU driver reports an error of NVLink, the links between GPUs and NVSwitches. Usual causes: a link "
            "that does not train or has errors, an NVSwitch or another GPU that failed or was reset without the "
            "others, or a fabric manager that does not run. The RDMA network is not at fault. ",
            {Work::ends_jobs, "Reset all GPUs of the NVLink domain together, or reboot."}},
           "nvidia-smi nvlink -s; nvidia-smi nvlink -e; systemctl status nvidia-fabricmanager",
           "NVIDIA open-gpu-kernel-modules src/nvidia/src/kernel/gpu/nvlink", Printer::gpu),
    marked("nvrm-firmware-other", host,
           "NVRM: *@ kernel_gsp|NVRM: *@ message_queue|NVRM: *^kgsp|NVRM: *^_kgsp|NVRM: *^rpc|NVRM: *^_rpc|NVRM: "
           "*^_issueRpc|NVRM: *^issueRpc|NVRM: *^GspMsgQueue|NVRM: *^_gsp|NVRM: *^gsp|NVRM: *^kfsp|NVRM: *^_kfsp|NVRM: "
           "*^ksec2|NVRM: *^_ksec2|NVRM: *^kflcn|NVRM: *^_kflcn|NVRM: *^khfrp|NVRM: *^kcrashcat",
           "",
           {"The GPU driver reports an error of the GPU's firmware (GSP), of its calls to the firmware (RPC), or of "
            "the processors that start the firmware (FSP, SEC2). Usual causes: a GPU that hangs or has left the bus "
            "(Xid 79, 119 or 120 in a line nearby), a firmware file of another release than the driver, or a GPU that "
            "was not reset after a failure. ",
            {Work::ends_jobs, "Reset the GPU, or reboot; "},
            "update the driver if the error recurs."},
           "journalctl -k -g 'NVRM|Xid'; nvidia-smi -q | grep -i gsp",
           "NVIDIA open-gpu-kernel-modules src/nvidia/src/kernel/gpu/gsp, vgpu/rpc.c", Printer::gpu),
    marked("nvrm-fabric-other", host,
           "NVRM: *@ mem_multicast|NVRM: *@ mem_fabric|NVRM: *^memoryfabric|NVRM: *^_memoryfabric|NVRM: "
           "*^memorymulticast|NVRM: *^_memorymulticast|NVRM: *^fabric|NVRM: *^_fabric|NVRM: *^imex|NVRM: *^_imex|NVRM: "
           "*^memoryexport|NVRM: *^_memoryexport|NVRM: *^gpuFabric|NVRM: *^_gpuFabric|nv-caps-imex *ail",
           "",
           "The GPU driver could not use the shared memory of the NVLink fabric (multicast for NVLS, fabric handles, "
           "channels of IMEX). Usual causes: a fabric manager or nvidia-imex that does not run, is not ready or was "
           "restarted, a process or container without an IMEX channel, or fabric addresses that are used up. The RDMA "
           "network is not at fault.",
           "systemctl status nvidia-fabricmanager nvidia-imex; nvidia-smi -q | grep -A 3 Fabric",
           "NVIDIA open-gpu-kernel-modules src/nvidia/src/kernel/mem_mgr", Printer::gpu),
    marked("nvrm-bus-other", host,
           "NVRM: *@ kern_bus|NVRM: *@ kernel_bif|NVRM: *@ third_party_p2p|NVRM: *^kbus|NVRM: *^_kbus|NVRM: "
           "*^kbif|NVRM: *^_kbif|NVRM: *^objClInitPcie|NVRM: *^nvidia_p2p|NVRM: *^RmP2P|NVRM: *^RmThirdPartyP2P|NVRM: "
           "*^_RmP2P|NVRM: *^CliP2P|NVRM: *^p2p|NVRM: *^thirdpartyp2p|NVRM: *^nv_p2p|NVRM: *^nv_dma|NVRM: *dma-buf",
           "",
           "The GPU driver reports an error of PCIe: the windows of the GPU (BARs), its PCIe functions, or access by "
           "other GPUs and NICs (peer-to-peer, GPUDirect RDMA, DMA-BUF). Usual causes: a BAR1 that is too small or "
           "used up, address space that the BIOS did not assign, an IOMMU between the devices, a GPU that left the "
           "bus, or memory that the program freed.",
           "nvidia-smi -q -d MEMORY; lspci -vv -s {pci} | grep Region; fabric-agentctl check --only gpudirect,iommu",
           "NVIDIA open-gpu-kernel-modules src/nvidia/src/kernel/gpu/bus, gpu/bif", Printer::gpu),
    marked("nvrm-partition-other", host,
           "NVRM: *@ kernel_mig|NVRM: *^kmigmgr|NVRM: *^migconfig|NVRM: *^cisubscription|NVRM: *^_kmigmgr|NVRM: "
           "*^gisubscription|NVRM: *^kgrmgr|NVRM: *^_kgrmgr|NVRM: *^vgpu|NVRM: *^kvgpumgr|NVRM: *^_kvgpumgr|NVRM: "
           "*^kernelhostvgpu|^nvidia-vgpu",
           "",
           "The GPU driver could not divide a GPU between programs (MIG) or virtual machines (vGPU). Usual causes: a "
           "profile that the GPU does not have or that does not fit next to the other instances, a GPU that was in use "
           "when its mode was changed, or guest and host drivers of incompatible releases.",
           "nvidia-smi mig -lgi; nvidia-smi vgpu; cat /proc/driver/nvidia/version",
           "NVIDIA open-gpu-kernel-modules src/nvidia/src/kernel/gpu/mig_mgr, virtualization", Printer::gpu),
    marked("nvrm-confidential-other", host,
           "NVRM: *@ conf_compute|NVRM: *^spdm|NVRM: *^_spdm|NVRM: *^confCompute|NVRM: *^_confCompute|NVRM: "
           "*^ccsl|NVRM: *^libspdm",
           "",
           "The GPU driver reports an error of the confidential computing mode (SPDM, encrypted transfer). Usual "
           "causes: a GPU, firmware or VBIOS without this mode, a virtual machine without memory encryption, or a GPU "
           "that must be reset after a failed session.",
           "nvidia-smi conf-compute -f; cat /proc/driver/nvidia/version; journalctl -k -g NVRM",
           "NVIDIA open-gpu-kernel-modules src/nvidia/src/kernel/gpu/spdm, gpu/conf_compute", Printer::gpu),
    marked(
        "nvrm-memory-other", unknown,
        "NVRM: *@ mem|NVRM: *@ phys_mem|NVRM: *@ kern_gmmu|NVRM: *@ virtual_mem|NVRM: *@ video_mem|NVRM: *@ "
        "standard_mem|NVRM: *@ system_mem|NVRM: *^memmgr|NVRM: *^_memmgr|NVRM: *^kmemsys|NVRM: *^_kmemsys|NVRM: "
        "*^heap|NVRM: *^_heap|NVRM: *^pma|NVRM: *^_pma|NVRM: *^kgmmu|NVRM: *^_kgmmu|NVRM: *^gmmu|NVRM: *^vaspace|NVRM: "
        "*^gvaspace|NVRM: *^_gvaspace|NVRM: *^dmaAlloc|NVRM: *^dmaFreeMap|NVRM: *^memdesc|NVRM: *^sysmem|NVRM: "
        "*^vidmem|NVRM: *^virtmem|NVRM: *^mmuWalk|NVRM: *^btree|NVRM: *^faultbuf|NVRM: *^ctxBufPool|NVRM: "
        "*^osCreateMem|NVRM: *^memConstruct|NVRM: *^stdmem",
        "",
        "The GPU driver reports an error of memory: of the GPU, of the host for the GPU, or of the page tables. Usual "
        "causes: memory of the GPU or the host that is used up (by this or another program), a program that ended "
        "during a request, or a GPU that failed, which an Xid line shows.",
        "nvidia-smi; free -m; journalctl -k -g 'NVRM|Xid'",
        "NVIDIA open-gpu-kernel-modules src/nvidia/src/kernel/gpu/mem_mgr, gpu/mmu", Printer::gpu),
    marked("nvrm-channel-other", unknown,
           "NVRM: *@ kernel_fifo|NVRM: *@ kernel_channel|NVRM: *@ kernel_graphics|NVRM: *@ kernel_rc|NVRM: "
           "*^kfifo|NVRM: *^_kfifo|NVRM: *^kchannel|NVRM: *^_kchannel|NVRM: *^kchangrp|NVRM: *^krc|NVRM: *^_krc|NVRM: "
           "*^kgraphics|NVRM: *^_kgraphics|NVRM: *^kgrctx|NVRM: *^kce|NVRM: *^_kce|NVRM: *^_ceChannel|NVRM: "
           "*^semsurf|NVRM: *^ceutils|NVRM: *^intr|NVRM: *^_intr|NVRM: *^chandes",
           "",
           "The GPU driver reports an error of work queues (channels), engines or interrupts. Usual causes: a "
           "program's kernel that faulted or hangs, a limit of channels (many processes or contexts on one GPU), or a "
           "GPU that failed. An Xid line nearby shows the cause.",
           "journalctl -k -g Xid; nvidia-smi -q -d PIDS",
           "NVIDIA open-gpu-kernel-modules src/nvidia/src/kernel/gpu/fifo, gpu/rc", Printer::gpu),
    failing("nvswitch-other", host, "^nvidia-nvswitch", "",
            {"The driver of the NVSwitches of this node reports an error. Usual causes: an NVSwitch that failed or "
             "does not answer on PCIe (SXid and AER lines nearby), an NVSwitch that is excluded (blacklisted), or "
             "interrupts and memory that the driver could not allocate. CUDA does not start on these machines without "
             "the NVSwitches. ",
             {Work::in_machine, "Power-cycle the node if an NVSwitch stays missing."}},
            "lspci -d 10de: | grep -i bridge; journalctl -k -g 'nvswitch|SXid'; systemctl status nvidia-fabricmanager",
            "NVIDIA open-gpu-kernel-modules kernel-open/nvidia/linux_nvswitch.c", Printer::gpu),
    failing("nvidia-uvm-other", unknown, "^nvidia_uvm: |^uvm: ", "",
            "NVIDIA's unified memory module (nvidia-uvm), which CUDA requires, reports an error. The module moves "
            "pages between GPUs and the host and handles page faults of the GPU. Usual causes: a program that accessed "
            "freed memory (Xid 31), a GPU that failed or left the bus, memory of the host that is used up, or a module "
            "of another release than nvidia.ko.",
            "journalctl -k -g 'Xid|nvidia-uvm'; modinfo -F version nvidia nvidia-uvm; ls -l /dev/nvidia-uvm",
            "NVIDIA open-gpu-kernel-modules kernel-open/nvidia-uvm"),
    complaining(
        "gdrdrv-other", host, "^gdrdrv:", "",
        "GDRCopy's module (gdrdrv), with which the CPU maps GPU memory, reports an error. Usual causes: memory that "
        "the program freed or did not allocate with cudaMalloc, a module that was built for another GPU driver, or a "
        "BAR1 of the GPU that is used up. NCCL, UCX and NVSHMEM work without GDRCopy, with more latency.",
        "modinfo -F version gdrdrv; ls -l /dev/gdrdrv; nvidia-smi -q -d MEMORY", "GDRCopy src/gdrdrv/gdrdrv.c"),
    complaining("gpu-driver-other", host,
                "NVRM: |^nvidia-modeset:|^nvidia *:*:*.*: |^nvidia: "
                "|^nvidia-nvlink|^nvidia-nvswitch|^nvidia_p2p|^nvidia-peermem|^nvidia_peermem|^nvidia-drm|^nv_peer_mem",
                "",
                "NVIDIA's GPU driver or one of its modules (memory: uvm, NVLink, NVSwitch, GPUDirect RDMA: peermem) "
                "reports an error. Usual causes: a GPU that does not answer or has failed (an Xid line), modules and "
                "libraries of different releases, or PCIe resources that the BIOS did not assign.",
                "journalctl -k -g 'NVRM|nvidia'; nvidia-smi -q; fabric-agentctl check --only gpudirect",
                "NVIDIA open-gpu-kernel-modules", Printer::gpu),
    complaining(
        "fabricmanager-other", host, "fabricmanager|FabricManager|Fabric Manager|nvlsm|NVLSM|^nvlink_sm", "",
        "NVIDIA's fabric manager (or NVLSM), which sets up NVSwitch and NVLink between the GPUs. Usual causes: a "
        "release that is not that of the driver, an NVSwitch or NVLink that failed, or a GPU that was reset or is "
        "missing. Without it CUDA does not start on machines with NVSwitch. The RDMA network is not at fault.",
        "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A 3 Fabric; nvidia-smi nvlink -s",
        "NVIDIA fabric manager"),
    complaining(
        "imex-other", host, "^imex|IMEX", "",
        "nvidia-imex, which lets GPUs of several nodes share memory over NVLink. Usual causes: a node of its list "
        "(nodes_config.cfg) that does not run it or is not reachable over TCP, different releases, or a domain that "
        "is not complete.",
        "systemctl status nvidia-imex; nvidia-imex-ctl -N", "NVIDIA IMEX"),
    complaining(
        "gpu-service-other", host,
        "nvidia-persistenced|nv-hostengine|dcgm|DCGM|nvidia-smi|NVML|nvidia-ctk|^nvsm|nvidia-bug", "",
        "A service or tool of NVIDIA's GPUs (DCGM, persistence daemon, nvidia-smi). Usual causes: a driver that is not "
        "loaded or of another release, or a GPU that does not answer. The RDMA network is not at fault.",
        "nvidia-smi; journalctl -k -g NVRM", "NVIDIA DCGM, nvidia-smi", Printer::gpu),

    // ---- AMD's GPUs.
    failing(
        "amdgpu-ras-other", host, kAmd,
        "RAS|ras |ras_|ECC|poison|correctable|hardware error|ACA|bad page|eeprom|UMC|umc|MCA|retire|deferred",
        {"Hardware errors of an AMD GPU (RAS): memory, caches, links, and the list of bad pages. Usual causes: memory "
         "of the GPU with errors, or a threshold of bad pages that is reached. An uncorrectable error ends the "
         "processes on the GPU. ",
         {Work::in_machine, "Replace the GPU if it recurs."}},
        "amd-smi metric --ecc; journalctl -k -g 'amdgpu.*(RAS|error)'", "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c",
        Printer::gpu),
    failing(
        "amdgpu-xgmi-other", host, kAmd, "xgmi|XGMI|hive|WAFL|link training",
        "The links between the AMD GPUs of a node (XGMI). Usual causes: a link that did not come up or has errors, a "
        "GPU of the group (hive) that failed or was reset alone. The RDMA network is not at fault.",
        "amd-smi xgmi; amd-smi topology; journalctl -k -g xgmi", "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_xgmi.c",
        Printer::gpu),
    failing("amdgpu-hang-other", host, kAmd,
            "imeout waiting for VM|imeout waiting for sem|ailed to write reg|ait for *idle|VM flush",
            {"An AMD GPU does not answer its driver: the GPU hangs, or is not accessible on PCIe. The first line of "
             "amdgpu or pcieport decides. The processes on the GPU end. ",
             {Work::ends_jobs, "Reset the GPU or reboot."}},
            kAmdLog, "Linux drivers/gpu/drm/amd/amdgpu/gmc_v*.c, gfx_v*.c", Printer::gpu),
    failing(
        "amdgpu-memory-fault-other", unknown, kAmd,
        "page fault|retry "
        "fault|VM_L2|PROTECTION_FAULT|gmc|GMC|gfxhub|mmhub|TLB|tlb|PERMISSION_FAULTS|MAPPING_ERROR|WALKER_ERROR|MORE_"
        "FAULTS|in page starting",
        "An access of an AMD GPU to memory that is not mapped, with its details. Usual causes: an error of the "
        "program's kernel, memory that was freed while in use, or a follow-up of a reset. The line names the process.",
        "journalctl -k -g amdgpu; coredumpctl list", "Linux drivers/gpu/drm/amd/amdgpu/gmc_v9_0.c", Printer::gpu),
    failing("amdgpu-firmware-other", host, kAmd,
            "psp|PSP|firmware|Firmware|microcode|ucode|SMU|smu|^smc|SMC|pmfw|PMFW|^MES|^mes|IMU|TMR|^TA |^ta "
            "|^fw|^FW|discovery|vbios|BIOS",
            "The firmware of an AMD GPU: its processors for security (PSP), power (SMU) and scheduling (MES). Usual "
            "causes: a firmware file that is missing or does not fit the driver, a GPU that does not answer, or a "
            "power or thermal limit.",
            kAmdLog, "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_psp.c, drivers/gpu/drm/amd/pm", Printer::gpu),
    failing("amdgpu-ring-other", unknown, kAmd,
            "^ring|unlist|HWS|HQD|hqd|MQD|mqd|oorbell|vmid|VMID|is hung|sdma|SDMA|job|fence|Fence|queue|Queue|^CP |^cp "
            "|gfx|GFX|compute|VCN|vcn|JPEG|jpeg|UVD|uvd|VCE|vce|KIQ|kiq|IB test|^IH ",
            "A queue of an AMD GPU (graphics, compute, SDMA, video). Usual causes: a program's kernel that hangs (the "
            "driver then resets the queue or the GPU), or a GPU that failed before.",
            kAmdLog, "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_job.c, amdgpu_ring.c", Printer::gpu),
    failing(
        "amdkfd-other", unknown,
        "^kfd|amdkfd|^amdgpu: *kfd|[amdgpu]*kfd|^amdgpu: *init_user_pages|^amdgpu: *KFD|HSA_STATUS|^hsa_|ROCr", "",
        "The compute interface of AMD GPUs (amdkfd), or ROCm above it. Usual causes: memory pages of a program that "
        "cannot be pinned, mapped or evicted (userptr; memlock limit), a queue that hangs or cannot be resumed, "
        "/dev/kfd that the container has no access to, or a process that ended. If it recurs, update kernel, driver "
        "and firmware.",
        "ls -l /dev/kfd /dev/dri; rocminfo | head; journalctl -k -g 'kfd|amdgpu'", "Linux drivers/gpu/drm/amd/amdkfd"),
    failing(
        "amdgpu-reset-other", host, kAmd, "reset|RESET|recover|BACO|mode1|mode2|bus|PCI|pcie|suspend|resume|init|probe",
        "The start, stop or reset of an AMD GPU. Usual causes: a GPU that hangs or has failed (the first line of the "
        "kernel log decides), a PCIe link that is lost, or a driver that does not fit.",
        kAmdLog, "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_device.c", Printer::gpu),
    failing(
        "amdgpu-power-other", host, kAmd,
        "clk|CLK|^clock|fan |Fan |ower limit|PPT|pptable|verdrive|^OD |performance "
        "level|^dpm|DPM|voltage|thermal|emperature|powerplay|power profile|powergating",
        "The power management of an AMD GPU (clocks, power limit, cooling, sensors) reports an error. Usual causes: a "
        "value that this GPU or its firmware does not allow, power firmware (SMU) that does not answer, or a virtual "
        "function, whose settings only its host can change. A rejected setting is unchanged.",
        "amd-smi metric --clock --power; amd-smi static --limit; journalctl -k -g amdgpu",
        "Linux drivers/gpu/drm/amd/pm/swsmu", Printer::gpu),
    failing(
        "amdgpu-buffer-other", unknown, kAmd,
        "^bo |BO |^bo)|^BOs|VRAM|vram|GTT|^VM |^vm |TTM|userptr|drm_exec|GEM|^gem|HMM|SVM|^svm|alloc|evict|^pin |unpin|"
        "page table|^pages|memory|map ",
        "The driver of an AMD GPU reports an error of memory, of the GPU or of the host for the GPU: buffers, their "
        "addresses or their movement. Usual causes: memory of the GPU (VRAM) or of the host that is used up, a program "
        "that ended or freed memory in use, or an invalid address.",
        "amd-smi monitor; free -m; journalctl -k -g amdgpu",
        "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_vm.c, amdgpu_object.c", Printer::gpu),
    failing("amdgpu-other", host, kAmd, "",
            "The driver of an AMD GPU (amdgpu). Usual causes: a GPU that failed or hangs, memory that is used up, a "
            "setting that the GPU does not support, or a firmware that does not fit.",
            kAmdLog, "Linux drivers/gpu/drm/amd/amdgpu", Printer::gpu),
    complaining(
        "amd-tools-other", host, "amd-smi|rocm-smi|rocminfo|amdsmi|^rsmi|^rdc|gpuagent|device-metrics-exporter", "",
        "A tool or service of AMD's GPUs (amd-smi, RDC). Usual causes: amdgpu that is not loaded, /dev/kfd or /dev/dri "
        "without permission, or a library of another release. The RDMA network is not at fault.",
        "amd-smi list; ls -l /dev/kfd /dev/dri; lsmod | grep amdgpu", "ROCm amd-smi"),

    // ---- Other accelerators.
    failing(
        "intel-gpu-other", host, "^xe *:*:*.*: |^i915 *:*:*.*: |^xe: |^i915: |^xe_guc|^drm/i915", "",
        "The driver of an Intel GPU (xe, i915). Usual causes: a GPU whose firmware (GuC, HuC) failed or is missing, a "
        "program's kernel that hangs, or a memory or PCIe error. The RDMA network is not at fault.",
        "journalctl -k -g 'xe |i915'; xpu-smi discovery", "Linux drivers/gpu/drm/xe, i915", Printer::gpu),
    failing(
        "ascend-other", unknown, "HCCL(|HCCP(|^EI00*: [PID: |^EJ00*: [PID: ", "",
        "HCCL or HCCP, which connect the Ascend NPUs of Huawei over RoCE and HCCS. Usual causes: a network port of an "
        "NPU without a link or address, a rank that ended or is late, or a rank table that does not fit the hosts. "
        "hcclRet, ret and return are of enum HcclResult (9 timeout, 11 TCP connection, 12 RoCE connection, 19 "
        "network) or errnos; a line with 'call trace' passes on the error before it.",
        "npu-smi info; hccn_tool -i NPU -link -g; grep -h ERROR LOG-OF-EVERY-RANK | head", "CANN HCCL src"),
    failing("habanalabs-access-other", software, "^habanalabs", "RAZWI|razwi|page fault|PAGE FAULT",
            "An engine of an Intel Gaudi accelerator read or wrote an address that does not exist or is not mapped "
            "(RAZWI, page fault). Usual causes: an error of the program or of a kernel of its graph, or of the Gaudi "
            "software; the job ends. The lines after it name the engine and the address.",
            "hl-smi; journalctl -k -g habanalabs", "Linux drivers/accel/habanalabs"),
    failing(
        "habanalabs-other", host, "^hl-smi|^hlthunk|^habana|^hl_|^hccl|^HCCL|HCL |^synapse", "",
        "The driver or software of an Intel Gaudi accelerator. Usual causes: a device that hangs or has failed and is "
        "reset, a firmware that does not fit the driver, or a scale-out port (NIC of the accelerator) that is down.",
        "hl-smi; journalctl -k -g habanalabs", "Linux drivers/accel/habanalabs", Printer::gpu),
    failing(
        "neuron-other", host, "^neuron|NRT:|^nrt_|neuron:|NEURON|NCCOM|^TDRV|TDRV:|NMGR:", "",
        "The driver or runtime of an AWS Trainium or Inferentia accelerator (Neuron). Usual causes: an error of the "
        "device or its memory, a runtime and driver of different releases, or EFA that is not set up for the ranks.",
        "neuron-ls; journalctl -k -g neuron; fi_info -p efa", "AWS Neuron runtime", Printer::gpu),

    // ---- PCIe, IOMMU, memory.
    failing(
        "pcie-error-other", host, "AER: |DPC: |^pcieport*EDR|PCIe Bus Error|ACPI*EDR", "",
        {"PCIe error reporting and containment (AER, DPC). Usual causes: a device that does not answer or sends wrong "
         "packets, its slot, riser or cable. The address in the line is that of the port or the device. ",
         {Work::in_machine, "Reseat the device or riser if it recurs."}},
        "lspci -tv; fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie"),
    failing(
        "pcie-hotplug-other", host, "pciehp|^shpchp|^acpiphp|Slot(", "",
        {"A PCIe slot with hotplug. Usual causes: a device that left or returned, a slot without power, or a link that "
         "does not come up. ",
         {Work::in_machine, "Reseat the device if it was not removed on purpose."}},
        "lspci -tv; fabric-agentctl check --only pcie", "Linux drivers/pci/hotplug"),
    failing(
        "vfio-other", host, "^vfio|VFIO|^pci *VF token|^nvgrace", "",
        "vfio, which gives a PCI device to a virtual machine or a user-space driver. Usual causes: a device without "
        "its own IOMMU group (ACS), one that cannot be reset or is still in use, an IOMMU that is off, or the memlock "
        "limit of the virtual machine.",
        "lspci -nnks {pci}; ls -l /sys/bus/pci/devices/{pci}/iommu_group; fabric-agentctl check --only iommu,acs",
        "Linux drivers/vfio"),
    failing("iommu-start-other", host, "^arm-smmu|^AMD-Vi|^DMAR|^iommu:|^pci *:*:*.*: stream",
            "register iommu|probe|stream * already|nitializ|nable to map|llocate|enable",
            "The kernel cannot start an IOMMU: two PCI devices have the same stream ID, a table of the BIOS (IVRS, "
            "DMAR, IORT) is wrong, or the kernel has an error that a newer one corrects. The devices behind it have no "
            "IOMMU then.",
            "journalctl -k -g 'DMAR|AMD-Vi|smmu|iommu'; uname -r; fabric-agentctl check --only iommu",
            "Linux drivers/iommu"),
    failing("iommu-other", unknown,
            "^DMAR|^AMD-Vi|^arm-smmu|^iommu:|^iommu |^dmar|^IOMMU|^iommufd|DMAR-IR|^SMMU|^tegra241_cmdqv", "",
            "The IOMMU, which translates and limits the memory access of devices. Usual causes: a device that accessed "
            "memory that is not mapped (its driver or firmware), a device that does not answer an invalidation, or a "
            "BIOS table that is wrong. GPUDirect RDMA needs iommu=pt.",
            "cat /proc/cmdline; journalctl -k -g 'DMAR|AMD-Vi|smmu'; fabric-agentctl check --only iommu",
            "Linux drivers/iommu"),
    failing("memory-error-other", host,
            "^EDAC|^MCE|[Hardware Error]|^GHES|^HEST|^BERT|^ERST|^Memory failure|^mce:|^RAS: "
            "|^CPER|{*}[Hardware|^MCA:|^ras:|rasdaemon|mcelog",
            "",
            {"Errors of memory, CPU or platform, as the hardware or its firmware reports them. Usual causes: a memory "
             "module, a CPU or a PCIe device. The lines with the same number or CPU belong together. ",
             {Work::in_machine, "Replace the part that the lines name if the errors go on."}},
            "journalctl -k -g 'Hardware Error|EDAC|mce'; ipmitool sel elist", "Linux drivers/edac, drivers/acpi/apei"),
    failing("pcie-other", unknown,
            "^pcieport|^pci *:*:*.*: |^pci_bus|^pci_hp|^PCI:|^pci:|^pcie_bwctrl|^nvme*PCI|^xhci*PCI", "",
            "PCIe: enumeration, address space (BARs), power states and bridges. Usual causes: a BIOS that leaves too "
            "little address space, a device that does not answer, or a feature of a bridge that is not supported. "
            "Lines about bridge windows at boot are often harmless.",
            "lspci -tv; journalctl -k -g {pci}; fabric-agentctl check --only pcie", "Linux drivers/pci"),

    // ---- Programs on the libraries of RDMA: after the kernel, whose functions have the same names.
    complaining(
        "ucx-program-other", unknown, "^ucp_|^uct_|ucxx|UCXX|ucx-py", "",
        "A program that uses UCX reports an error of one of its calls. UCX's own line, with UCX_LOG_LEVEL=warn or "
        "higher, has the reason.",
        "env | grep UCX_; ucx_info -d | grep -E 'Transport|Device'", "UCX src/ucp/api/ucp.h", Printer::library),
    complaining(
        "opensm-other", unknown, "^opensm|^osm_|OpenSM|__osm|] 0x02 -> |] 0x80 -> ", "",
        "OpenSM, the subnet manager of InfiniBand: it gives the ports LIDs and routes. Usual causes: a node or switch "
        "that does not answer, a second subnet manager, or a link with errors.",
        "sminfo; iblinkinfo; ibqueryerrors", "OpenSM opensm", Printer::fabric),
    complaining(
        "ib-diagnostics-other", unknown,
        "^ibwarn|^iberror|^ibdiag|^iblinkinfo|^ibqueryerrors|^perfquery|^smpquery|^saquery|^ibping|^ibnetdiscover|^"
        "ibstat|^ibtracert|^mlxlink|^mlxconfig|^mlxfwmanager|^flint|^mst:|^mft|^-E- |^mlxreg",
        "",
        "A diagnostic program of InfiniBand or of the NIC's firmware (infiniband-diags, ibdiagnet, MFT). Usual causes: "
        "a device of management packets that is not accessible (ib_umad, root), an Ethernet port, a node that does not "
        "answer, or a firmware that does not know the request.",
        "ls -l /dev/infiniband; rdma link show; devlink dev info pci/{pci}", "rdma-core infiniband-diags, MFT",
        Printer::fabric),
    complaining(
        "ibacm-other", unknown, "^ibacm|^acm_|acmp|^ib_acme", "",
        "ibacm, the service that caches addresses and paths of InfiniBand. Usual causes: no InfiniBand port, a port "
        "in use, or a subnet manager that does not answer. RoCE does not need it.",
        "systemctl status ibacm; sminfo", "rdma-core ibacm"),
    complaining(
        "srp-daemon-other", unknown, "^srp_daemon|^ibsrpdm|^run_srp_daemon", "",
        "srp_daemon, which looks for SRP storage on InfiniBand. Usual causes: no InfiniBand port (it has no use on "
        "Ethernet), ib_umad or ib_srp that is not loaded, or a target that refuses the login.",
        "systemctl status srp_daemon; ls -l /dev/infiniband", "rdma-core srp_daemon", Printer::storage),
    complaining(
        "rdmacm-library-other", unknown,
        "librdmacm|^rdma_|^rping|^ucmatose|^rstream|^riostream|^cmtime|^udaddy|^mckey|RDMA_CM|^rdmacm", "",
        "librdmacm, or a program that connects through it. Usual causes: an address that is not that of an RDMA port, "
        "rdma_ucm that is not loaded, /dev/infiniband/rdma_cm that is not in the container, no route, or a peer that "
        "does not listen. The errno or the event decides.",
        "rdma link show; ip -br addr; ls -l /dev/infiniband", "rdma-core librdmacm", Printer::library),
    complaining(
        "verbs-provider-other", unknown,
        "^libmlx5|^libbnxt_re|^bnxt_re_|^libirdma|^irdma_|^libionic|^ionic_|^libefa|^efa_|^libhns|^hns_roce_u|^"
        "libcxgb4|^libqedr|^qelr|^liberdma|^libsiw|libsiw:|^libmana|^librxe|^mlx5dv_|^efadv_|^hnsdv_|^manadv_|^mlx5: "
        "|^libhfi1|^libmlx4",
        "",
        "The provider of libibverbs for this NIC, in the process of the program. Usual causes: an object that the NIC "
        "cannot make (limits of queue pairs, sizes, an operation that it lacks), a provider that does not fit the "
        "kernel's driver, or a NIC in an error state. The errno decides.",
        "ibv_devinfo -v -d {rdma}; rdma resource show; uname -r", "rdma-core providers", Printer::library),
    complaining(
        "verbs-library-other", unknown, "libibverbs|libibumad|libibmad|libibnetdisc|^ibverbs|^umad_|^ibv_|^verbs_", "",
        "libibverbs or libibumad, the libraries of RDMA, or a program that calls them. Usual causes: a device that is "
        "not in the container or of another network namespace, a provider that is missing, the memlock limit, or "
        "limits of the NIC. The errno decides.",
        "ls -l /dev/infiniband; ibv_devinfo -l; ulimit -l", "rdma-core libibverbs", Printer::library),

    failing(
        "rdma-program-other", unknown,
        "^QP |^QP.|^QPs|^qp |^CQ |^CQ.|^SRQ|^MR |^MR.|^PD |^GID |^GIDs|^GID:|^RDMA|RoCE|InfiniBand|^HCA|^UMAD|^XRC|^AH "
        "|queue pair|completion queue|memory region|protection domain|^recv "
        "CQ|^rdma|^perftest|ib_write_bw|ib_read_bw|ib_send_bw|ib_write_lat|ib_send_lat|ib_read_lat|infiniband",
        "",
        "A program on RDMA (perftest, a storage client, an inference engine) reports a failed operation. Usual causes: "
        "a device that is not in the container, a GID, MTU or address that does not fit, a limit (memlock, queue "
        "pairs, sizes), or a peer that does not answer. The errno, and the lines around, decide.",
        "ibv_devinfo -l; rdma link show; ulimit -l", "libibverbs(3), perftest src", Printer::library),

    // ---- Services of the node.
    marked("slurm-other", unknown,
           "slurmd: error:|slurmctld: error:|slurmstepd: error:|slurmdbd: error:|srun: error:|sbatch: error:|salloc: "
           "error:|scontrol: error:|sinfo: error:|slurmd: fatal:|slurmctld: fatal:|slurmstepd: "
           "fatal:|slurmd[*error:|slurmctld[*error:|slurmstepd[*error:|slurmd[*fatal:|slurmctld[*fatal:|sacctmgr: "
           "error:|squeue: error:|pam_slurm*error|[*-*-*T*:*:*.*] error: |[*-*-*T*:*:*.*] fatal: ",
           "",
           "Slurm: the controller (slurmctld), a node's daemon (slurmd), a job step (slurmstepd) or a client (srun). "
           "Usual causes: daemons that do not reach each other, a file of the configuration that differs between the "
           "nodes, munge and clocks, resources (GPUs, cgroups) that do not exist as configured, or a task that failed. "
           "RDMA is not used here.",
           "scontrol show node; scontrol ping; journalctl -u slurmd -p warning", "Slurm src", Printer::slurm),
    complaining(
        "slurm-daemon-other", unknown,
        "^slurmd|^slurmctld|^slurmstepd|^munged|^srun:|^sackd|^slurmrestd|^pyxis|pyxis:|enroot", "",
        "Slurm, or its plugins for containers (pyxis, enroot). Usual causes: daemons that do not reach each other, an "
        "image that cannot be read, a hook that failed, a full file system, or configuration that differs between the "
        "nodes.",
        "scontrol show node; journalctl -u slurmd -p warning; df -h", "Slurm src, pyxis, enroot", Printer::slurm),
    complaining(
        "k8s-device-plugin-other", host,
        "device-plugin|evice plugin|ailed to start plugin|config vfs "
        "for|device_plugin|rdma-shared-dp|k8s-rdma|deviceplugin|nvidia-device|amdgpu-dp|dra-driver|gpu-operator|"
        "network-operator|gpu-feature|nfd-worker|node-feature",
        "",
        "A device plugin or operator of Kubernetes, which gives GPUs or RDMA devices to pods. Usual causes: a selector "
        "of its configuration that matches no device, a driver that is not loaded, or a kubelet that was restarted "
        "(its socket is gone). Pods then wait for the resource or start without the device.",
        "kubectl describe node NODE | grep -A 8 Allocatable; rdma link show",
        "NVIDIA k8s-device-plugin, k8s-rdma-shared-dev-plugin", Printer::node_service),
    complaining(
        "k8s-network-other", host,
        "multus|sriov-cni|sriov-network|SriovNetwork|ib-sriov|rdma-cni|SRIOV-CNI|type=\"sriov|type=\"rdma|type=\"host-"
        "device|type=\"macvlan|type=\"ipvlan|whereabouts|type=\"ovs|config-daemon",
        "",
        "The additional network interfaces of pods (Multus, SR-IOV CNI, RDMA CNI, IPAM). Usual causes: a virtual "
        "function that is in use or gone, no free address, RDMA's network namespace mode (rdma system show), or a "
        "network attachment that does not exist.",
        "kubectl describe pod POD; ip link show; rdma system show", "Multus, sriov-cni, rdma-cni",
        Printer::node_service),
    complaining(
        "nvidia-container-other", host,
        "nvidia-container|nvidia-ctk|NVIDIA Container|nvidia-oci|container-toolkit|nvidia.com/gpu|nvidia-cdi", "",
        "NVIDIA's container toolkit, which adds the GPUs to containers. Usual causes: a driver that is not loaded or "
        "of another release, a runtime that is not configured for it, a device or CDI file that is missing, or "
        "cgroups. The RDMA network is not at fault.",
        "nvidia-smi; nvidia-container-cli info; nvidia-ctk cdi list", "NVIDIA container toolkit",
        Printer::node_service),
    complaining(
        "kubelet-other", unknown, "kubelet[*]: E|kubelet[*]: F|kubelet[*rror|^kubelet:|^kube-proxy|^kubelet ", "",
        "The kubelet, which runs the pods of a node. Usual causes: a container runtime, device plugin or network "
        "plugin that does not answer, a full disk or memory, or an API server that cannot be reached.",
        "kubectl describe node NODE; journalctl -u kubelet -p warning", "Kubernetes pkg/kubelet",
        Printer::node_service),
    complaining(
        "container-runtime-other", unknown,
        "containerd[|dockerd[|crio[|^containerd:|^dockerd:|^docker:|^runc|^crun|^podman|^crio|runc run|OCI "
        "runtime|^apptainer|^singularity",
        "",
        "The container runtime (containerd, Docker, CRI-O, runc, Podman, Apptainer). Usual causes: an image, device or "
        "mount that does not exist, a hook that failed, a full file system, or cgroups.",
        "journalctl -u containerd -p warning; df -h; ls -l /dev/infiniband", "containerd, runc", Printer::node_service),

    // ---- Switches.
    marked("sonic-pfc-other", network, "ERR swss#|ERR syncd#|NOTICE swss#orchagent: :- *PFC Watchdog",
           "pfc|PFC|watermark|uffer|headroom|ueue",
           "SONiC's handling of PFC, queues and buffers. Usual causes: a host or switch that sends PFC without end, a "
           "profile of buffers that the chip rejects, or a configuration that does not fit the port's speed.",
           "show pfcwd stats; show pfc counters; show buffer configuration", "SONiC sonic-swss orchagent",
           Printer::switch_software),
    marked("sonic-other", unknown,
           "ERR swss#|ERR pmon#|ERR bgp#|ERR lldp#|ERR teamd#|ERR orchagent|ERR syncd|CRIT syncd#|CRIT swss#|ERR "
           "dockerd|ERR xcvrd|ERR snmp#|ERR database#|ERR gnmi#|ERR radv#|ERR monit|ERR kernel",
           "",
           "A container of SONiC on a switch: orchagent (swss) writes the configuration, syncd drives the chip, pmon "
           "the modules and the cooling, bgp the routes. Usual causes: a configuration that the chip rejects, a table "
           "that is used up, a module or the cooling, or a chip that does not answer (syncd).",
           "show interfaces status; show logging; show platform summary; docker ps", "SONiC sonic-swss, sonic-sairedis",
           Printer::switch_software),
    complaining(
        "sonic-warning-other", unknown,
        "WARNING swss#|WARNING syncd#|WARNING pmon#|WARNING bgp#|WARNING teamd#|WARNING lldp#|WARNING orchagent", "",
        "A container of SONiC on a switch warns: orchagent (swss) writes the configuration, syncd drives the chip, "
        "pmon the modules and the cooling, bgp the routes. Usual causes: a request that is repeated later, a module or "
        "neighbor that is not ready, or a configuration that the chip does not support. An ERR line of the same time "
        "has more.",
        "show interfaces status; show logging", "SONiC sonic-swss, sonic-sairedis", Printer::switch_software),
    complaining(
        "cumulus-other", network,
        "^switchd[|^switchd:|^switchd.service|^ports.conf|^portwd|^nvued|^clagd|^ptmd|hal_mlx|hal_bcm|^smond|^ledmgrd|^"
        "sx_|SXD|sx_sdk|^hw-management|^sdk_",
        "",
        "A service of Cumulus Linux or NVIDIA's switches (switchd, clagd, nvued, the SDK of the chip). Usual causes: a "
        "configuration that the chip rejects, a table that is used up, a module, or a peer switch of the MLAG that "
        "does not answer.",
        "nv show interface; systemctl status switchd; tail -n 50 /var/log/switchd.log", "Cumulus Linux switchd",
        Printer::switch_software),
    marked("switch-log-other", network, "%*-0-|%*-1-|%*-2-|%*-3-|%*-4-",
           "%ETH|%PFC|%QOS|%LACP|%LLDP|%BGP|%MLAG|%IF|%PORT|%XCVR|%TRANSCEIVER|%HARDWARE|%SAND|%IPQOSMGR|%PLATFORM|%"
           "VPC|%PHY|%LINEPROTO|%LINK|%FWK|%TAH|%SPANTREE|%STP|%MODULE|%SFF8472|%ACL|%MTC|%AGENT|%PROCMGR|%ROUTING|%"
           "BFD|%EVPN|%ARP|%L2|%L3|%QUEUE|%POWER|%FAN|%TEMP|%ENVMON|%SYSTEM|%KERN|%USER|%SNMP|%FEX|%NVE|%ELTM|%DCBX|%"
           "VSHD|%PIM|%OSPF|%CAPACITY|%RIB|%FIB|%PTP|%REDUNDANCY",
           "A switch (NX-OS, EOS or similar) reports an event of severity 0 to 4: %FACILITY-SEVERITY-NAME. The "
           "facility is the part of the switch: ETHPORT and LINEPROTO the ports, PFC and QOS the queues, XCVR the "
           "modules, BGP and LACP the protocols.",
           "show interface status; show interface counters errors; show logging", "vendors' lists of system messages",
           Printer::switch_software),

    // ---- Any other operation that a driver reports as failed.
    {.id = "driver-error",
     .cause = host,
     .patterns = "",
     .meaning = "The driver of a NIC or RDMA device reports a failed operation of its own. No rule knows this message "
                "more closely: its codes are all that is known. Look at the versions of driver and firmware, and at "
                "the first such line in the kernel log.",
     .next = kKernelLog,
     .source = "Linux drivers/net/ethernet, drivers/infiniband",
     .call = Call::of_driver},

    // ---- Any other program.
    {.id = "object-failed",
     .cause = host,
     .patterns = "",
     .meaning =
         "A queue pair, completion queue or another object of the RDMA device could not be created on this host: the "
         "limit of locked memory, the number or the size that was asked for, a device that is not in the container, or "
         "a failed NIC. Compare with ib_write_bw on the same device.",
     .next = "ulimit -l; rdma resource show; ibv_devinfo -v -d {rdma}; journalctl -k -g {rdma}",
     .source = "rdma-core libibverbs",
     .call = Call::create_object},
};

}  // namespace

const std::span<const LineMessage> kComponentMessages = kRows;

}  // namespace fabric::lines
