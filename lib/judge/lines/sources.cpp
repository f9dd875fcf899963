// SPDX-License-Identifier: Apache-2.0
// Any other error of libraries and programs in user space, by the source file, the log component or the subject of the
// line. The rows are narrower than those of components.cpp: each is a group of messages with one cause.
#include "judge/lines/component_rows.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kOfiCore = "libfabric:*core:*<warn>|libfabric:*core:*<critical>";
constexpr std::string_view kMpich =
    "MPIR_|MPID_|MPIDU_|MPIDI_|MPIDIG_|MPL_|^Fatal error in PMPI|^Fatal error in internal";
constexpr std::string_view kSlurm =
    "slurmd: error:|slurmctld: error:|slurmstepd: error:|slurmdbd: error:|srun: error:|sbatch: error:|salloc: "
    "error:|slurmd: fatal:|slurmctld: fatal:|slurmstepd: "
    "fatal:|slurmd[*error:|slurmctld[*error:|slurmstepd[*error:|slurmd[*fatal:|slurmctld[*fatal:|srun: "
    "fatal:|[*-*-*T*:*:*.*] error: |[*-*-*T*:*:*.*] fatal: ";  // the last two: its log files
constexpr std::string_view kDpdk =
    "^EAL: |^mlx5_common: |^mlx5_net: |^net_mlx5: |^mlx5_pci: |^common_mlx5: |^net_mlx4: |^mlx4_net: |^testpmd: "
    "|^ETHDEV: |^VHOST_CONFIG|dpdk(pmd-|_rx_pkt(): |_recv_pkts(): |_rx_ring(): |_dev_init(): |_dev_start(): "
    "|_dev_configure(): |_dev_probe(): |_queue_setup(): |_load_pkg_type(): |_load_pkg(): |^ICE_INIT|^PMD: |^vmbus_*(): "
    "|^vfio_*(): |rte_eal_|rte_eth_|rte_pktmbuf";
// The levels of errors: 0x01, and with 0x80 those that it also sends to syslog. 0x02 is information.
constexpr std::string_view kOpensm = "] 0x01 -> |] 0x81 -> ";
constexpr std::string_view kTargetNext = "rpc.py nvmf_get_subsystems; rdma link show; journalctl -p warning";

// verbs_err() of rdma-core: "efa: efa_create_qp_ex:2300: ". The kernel's drivers have no function there.
constexpr std::string_view kProvider =
    "^efa: efa|^hns: *:*: |^ionic: ionic_|^bnxt_re: bnxt_re_|^irdma: irdma_|^mlx5: mlx5|^mlx5: dr_|^mana: mana|^erdma: "
    "erdma|^mlx4: mlx4|^cxgb4: c4iw|^librdmacm: rdma|^libibverbs: ibv";

constexpr LineMessage kRows[] = {
    // ---- Providers of libibverbs, in the process of the program.
    marked("verbs-provider-call", software, kProvider,
           "nsupported|not support|nvalid|only supported| > | < |is full|must |not a |exceed|too many|too large|too "
           "small|too long|not posted|not IBV_|no such|nknown|not aligned|mismatch",
           "The library of this NIC (a provider of libibverbs) rejects a call of the program: a type, a flag or a size "
           "that the device does not have, more elements or requests than the queue was made for, or a queue that is "
           "full because the program posts faster than it reads completions. The line names the limit; the network and "
           "the driver are not at fault.",
           "ibv_devinfo -v -d {rdma}", "rdma-core providers", Printer::library),
    marked("verbs-provider-step-other", host, kProvider, "",
           "The library of this NIC (a provider of libibverbs), in the process of the program: a request to its driver "
           "or device failed. Usual causes: a limit of the NIC or of locked memory, a library that does not fit the "
           "kernel's driver, or a device in reset. The errno, or the kernel's line of the same time, has the reason.",
           "ibv_devinfo -v -d {rdma}; journalctl -k -g {rdma}; ulimit -l", "rdma-core providers", Printer::library),

    // ---- UCX: files whose errors have another cause than the rows of UCX in components.cpp.
    marked("ucx-profile-other", software, kUcx, "vfs_fuse.c|vfs_sock.c|stats.c:|client_server.c|/profile|profile.c",
           "The statistics, profile or virtual file system of UCX (UCX_STATS_DEST, UCX_PROFILE_MODE, ucx_vfs), which "
           "only observe UCX, report an error. Usual causes: a wrong value of the variable, or a file or FUSE mount "
           "that the process may not write. Communication does not depend on these functions: unset the variable.",
           "env | grep -E 'UCX_STATS|UCX_PROFILE|UCX_VFS'", "UCX src/ucs/stats, src/ucs/profile, src/ucs/vfs",
           Printer::library),

    // ---- UCC, by its component.
    marked("ucc-arguments-other", software,
           "TL_UCP ERROR|TL_NCCL ERROR|TL_SHARP ERROR|TL_CUDA ERROR|TL_MLX5 ERROR|CL_HIER ERROR|CL_BASIC ERROR|UCC  "
           "ERROR|UCC ERROR|CL_DOCA_UROM ERROR",
           "not supported|nsupported|^invalid|^incorrect|^wrong|datatype|mismatch|^unknown|user defined|must "
           "be|inconsistent|failed to parse",
           "UCC rejects a call or a setting: a datatype, operation, memory type or size that no transport layer of "
           "this team supports, an invalid value of a UCC_ variable, or arguments that differ between the ranks. Open "
           "MPI then uses its own collective.",
           "env | grep UCC_; ucc_info -s", "UCC src/coll_score, src/core/ucc_coll.c"),
    marked("ucc-cuda-other", host,
           "TL_CUDA ERROR|TL_CUDA WARN|CUDA MC ERROR|CUDA MC WARN|CUDA EC ERROR|CUDA EC WARN|ROCM MC ERROR|ROCM EC "
           "ERROR|mc_cuda*UCC  ERROR|ec_cuda*UCC  ERROR|mc_rocm*UCC  ERROR|ec_rocm*UCC  ERROR",
           "",
           "UCC reports an error of its collectives between the GPUs of a host, or of its use of GPU memory and "
           "kernels (CUDA, ROCm). Usual causes: GPUs that cannot share memory (no NVLink or peer access, containers "
           "without a common IPC namespace), NVLink SHARP without fabric manager or IMEX, GPU memory that is used up, "
           "or an earlier error of the GPU. Test with UCC_TLS=^cuda.",
           "nvidia-smi topo -p2p r; nvidia-smi; env | grep UCC_", "UCC src/components/tl/cuda, mc, ec"),
    marked("ucc-mlx5-other", host, "TL_MLX5 ERROR|TL_MLX5 WARN", "",
           "UCC's transport layer for NVIDIA NICs (alltoall by memory keys, multicast) reports an error. Usual causes: "
           "no IPoIB address or multicast group for the port, a NIC or firmware without the feature (UMR, DEVX), the "
           "memlock limit, or queue pairs that are used up. With UCC_TLS=^mlx5, UCC uses UCX instead.",
           "ibv_devinfo -v -d {rdma} | grep fw_ver; ulimit -l; env | grep UCC_", "UCC src/components/tl/mlx5"),
    marked("ucc-sharp-other", network, "TL_SHARP ERROR|TL_SHARP WARN", "",
           "UCC could not use SHARP (collectives that the switches calculate). Usual causes: no aggregation manager "
           "(sharp_am) for the subnet, no free tree or group, or sharpd of another release. UCC_TLS=^sharp disables "
           "SHARP.",
           "sharp_hello; systemctl status sharpd; env | grep SHARP", "UCC src/components/tl/sharp"),
    marked("ucc-transport-other", unknown,
           "TL_UCP ERROR|TL_UCP WARN|TL_NCCL ERROR|TL_NCCL WARN|TL_RCCL ERROR|TL_SELF ERROR|TL_SPIN ERROR", "",
           "A transport layer of UCC on UCX (ucp) or NCCL (nccl, rccl) reports an error. Usual causes: an error of "
           "that library in the lines before, a datatype or operation that the library does not support, ranks that "
           "call different collectives, or a rank that ended.",
           "grep -hE 'UCX|NCCL|UCC' LOG-OF-EVERY-RANK | grep -E 'ERROR|WARN' | head; env | grep UCC_",
           "UCC src/components/tl"),
    marked(
        "ucc-layer-other", unknown,
        "CL_BASIC ERROR|CL_BASIC WARN|CL_HIER ERROR|CL_HIER WARN|CL_DOCA_UROM ERROR|CL_UROM ERROR|UCC  ERROR|UCC  "
        "WARN|UCC ERROR|UCC WARN|UCC FATAL|UCC  FATAL",
        "",
        "UCC could not start, or could not choose transport layers for a team of processes. Usual causes: UCC_TLS or "
        "UCC_CLS that exclude all suitable layers, a component that this UCC was built without, memory that is used "
        "up, or an error of a transport layer in the lines before. --mca coll_ucc_enable 0 disables UCC in Open MPI.",
        "ucc_info -cf | grep TLS; ucc_info -s; env | grep UCC_", "UCC src/core, src/components/cl"),

    // ---- libfabric.
    marked(
        "ofi-arguments-other", software, kOfi,
        "nvalid fid class|nvalid flag|^bad flags|nvalid format|nvalid AV type|nvalid attr|nvalid wait|nvalid "
        "fi_addr|nvalid tag|^unknown fid|^iov_count|^iov count|exceeds max iov|inject size|ddrlen exceeds|nsupported "
        "event|nsupported wait|nsupported CQ format|nsupported format|nsupported endpoint type|nsupported ep "
        "type|nsupported av type|nsupported mode|nsupported capabilities|nsupported data ordering|nsupported message "
        "ordering|nsupported protocol|nsupported op|nsupported datatype|nsupported flags|unsupported fid|nknown "
        "control command|mode bit|must be bound|not bound to|bind a CQ|is already bound|has not been bound|lready "
        "enabled|before it is enabled|nsupported domain|attr*exceed|requested*supported*supported:",
        "The program or its library requested a feature that the provider of libfabric does not support, or used an "
        "object wrongly: a format, flag, size, capability or order of calls. At start the request is often a probe, "
        "and the program uses another provider. If the program ends with this error, use another provider "
        "(FI_PROVIDER) or compatible releases. The line does not report a network error.",
        "fi_info -v | head -40; fi_info --version; env | grep FI_", "libfabric prov/util/src/util_attr.c, prov",
        Printer::library),
    marked("ofi-gpu-other", host, kOfiCore,
           "cuda|^cu_|cuMem|cuPointer|cuDevice|hsa_|^hip|rocr|^ze_|synapse|neuron|nrt_|gdrcopy|gdr_|hmem|dmabuf|dlopen|"
           "dlsym|GPU",
           "libfabric could not access the memory of a GPU or another accelerator (CUDA, ROCm, Level Zero, Neuron, "
           "SynapseAI). Usual causes: a library of the GPU's driver that is missing in the container or has another "
           "release, no context in the thread, an earlier error of the GPU, or memory that the driver does not export "
           "(DMA-BUF, IPC). A missing library is harmless if the host has no such GPU.",
           "ldconfig -p | grep -E 'libcuda|libhsa|libze|libnrt'; env | grep FI_HMEM", "libfabric src/hmem*.c",
           Printer::library),
    marked("ofi-memory-monitor-other", host, kOfiCore, "uffd|kdreg|memhooks|monitor|intercept|mem_hook",
           "libfabric's memory monitor (userfaultfd, memhooks, kdreg2) reports an error. The cache of registrations "
           "requires the monitor to detect freed memory. Usual causes: userfaultfd is not allowed "
           "(vm.unprivileged_userfaultfd, the container), or a program replaces malloc. FI_MR_CACHE_MONITOR selects "
           "another monitor or disables the cache.",
           "sysctl vm.unprivileged_userfaultfd; env | grep FI_MR_CACHE", "libfabric prov/util/src/*_mem_monitor.c",
           Printer::library),

    // ---- MPICH and the libraries based on it.
    complaining("mpich-gpu-other", host, kMpich, "gpu_|GPU|gpu |^cuda|CUDA|^hip|^ze_|Level Zero|ipc handle|IPC handle",
                "MPICH, Intel MPI or Cray MPICH could not use the memory of a GPU. Usual causes: a GPU that another "
                "process or container of the host does not see, memory that cannot be shared (IPC), an earlier error "
                "of the GPU, or a library of another release. Test with host memory and MPIR_CVAR_ENABLE_GPU=0.",
                "nvidia-smi; env | grep -E 'MPIR_CVAR|I_MPI_OFFLOAD|MPICH_GPU'", "MPICH src/mpl/src/gpu, src/mpid/ch4"),
    complaining(
        "mpich-shm-other", host, kMpich,
        "hared memory|shm_|shmem|_shm|shmget|shmat|shmctl|mmap|^ftruncate|memory segment|map shared",
        "MPICH, Intel MPI or Cray MPICH could not use shared memory between the processes of a host. Usual causes: "
        "/dev/shm is full or too small (64 MB in a container by default), the containers of the ranks do not share "
        "/dev/shm, or the rank that created the memory ended. Shared memory does not use the RDMA network.",
        "df -h /dev/shm; ls -l /dev/shm", "MPICH src/mpid/common/shm, src/mpid/ch4/shm"),
    complaining("mpich-argument-other", software, kMpich,
                "nvalid communicator|nvalid datatype|nvalid rank|nvalid tag|nvalid count|nvalid group|nvalid "
                "root|nvalid window|nvalid info|nvalid keyval|nvalid request|nvalid argument*value is|nvalid "
                "buffer|nvalid op|nvalid error handler|nvalid errhandler|Null |^null |has not been committed|permanent "
                "communicator|permanent group|predefined |Message truncated|truncated;|may not be aliased|buffers must "
                "not be aliased|overlap|must be positive|must be non-negative|is not a|before initializing|after "
                "finalizing|called twice|not initialized|mismatch|UNIMPLEMENTED|Wrong synchronization|out of range",
                "MPICH rejects a call of the program: its communicator, datatype, rank, tag, buffer, window or the "
                "order of the calls is wrong, or the calls differ between the ranks. The last line of the error stack "
                "names the argument, the first line the call. The line does not report a network error.",
                "grep -hE 'Fatal error|MPI' OUTPUT-OF-EVERY-RANK | head", "MPICH src/mpi/errhan/errnames.txt"),

    // ---- Open MPI: the transport for usNIC, and OpenSHMEM.
    complaining("ompi-usnic-other", host, "btl_usnic|usNIC|^usnic", "",
                "Open MPI's transport for Cisco usNIC reports an error. Usual causes: usNIC is not set up on this host "
                "(libfabric, driver or virtual functions), an MTU or a route differs between the hosts, or a peer "
                "ended. On a host without a Cisco VIC, exclude the transport: --mca btl ^usnic.",
                "fi_info -p usnic; ip -br link", "Open MPI opal/mca/btl/usnic", Printer::library),
    complaining("ompi-oshmem-other", host,
                "oshmem|OSHMEM|OpenSHMEM|Open SHMEM|^SHMEM_|memheap|MEMHEAP|sshmem|^spml|mkey attach|base segment "
                "address|remote segments|local mkey|RKEY_REQ",
                "",
                "OpenSHMEM of Open MPI could not set up its symmetric heap or exchange its keys. Usual causes: a heap "
                "that is larger than the memory or /dev/shm of the host (SHMEM_SYMMETRIC_HEAP_SIZE), an address that "
                "is in use on one of the hosts, the memlock limit, or UCX without a device.",
                "df -h /dev/shm; env | grep -E 'SHMEM|OSHMEM'; ulimit -l", "Open MPI oshmem/mca/memheap, spml",
                Printer::library),

    // ---- SPDK: "FILE: LINE:FUNCTION: *ERROR*: ".
    marked("spdk-arguments-other", software,
           "^app.c:*: *ERROR|reactor.c:*: *ERROR|nvme_pcie_common.c:*: *ERROR|nvme.c:*: *ERROR|nvme_ctrlr.c:*: "
           "*ERROR|nvme_ns_cmd.c:*: *ERROR",
           " flag| option|aligned|nvalid argument|nvalid lcore|nvalid core|nvalid cpu|nvalid thread|nvalid "
           "config|usage|cmdline|command line|nvalid trid|nvalid opts|opts_size|opts cannot|cannot be NULL|must not "
           "be|should not be|nvalid parameter|nvalid size",
           "SPDK rejects an argument: an option of the command line, a core mask, a structure or size that the program "
           "passed, or a buffer that is not aligned. The line does not report an error of the device or the network.",
           "rpc.py spdk_get_version; PROGRAM --help", "SPDK lib/event/app.c, lib/nvme"),
    marked("spdk-rdma-other", unknown,
           "nvme_rdma.c:*: *ERROR|^rdma.c:*: *ERROR|rdma_utils.c:*: *ERROR|rdma_provider_verbs.c:*: "
           "*ERROR|rdma_provider_mlx5_dv.c:*: *ERROR|nvme_rdma.c:*: *WARNING|^rdma.c:*: *WARNING|rdma_utils.c:*: "
           "*WARNING|rdma_provider_mlx5_dv.c:*: *WARNING|rdma/common.c:*: *ERROR",
           "nvmf_rdma|nvme_rdma|spdk_rdma|rdma_|^ibv|RDMA|QP|qpair|CQ|cm_id|poller|PD |MR |ERROR|WARNING",
           "SPDK's NVMe over RDMA reports an error, on the host (nvme_rdma) or the target (nvmf/rdma.c). Usual causes: "
           "an address that does not belong to an RDMA port, a peer that does not listen or ended, a queue or "
           "in-capsule size that only one side supports, limits of the NIC (queue pairs, shared receive queue), or "
           "memory that cannot be registered.",
           "rdma link show; rdma resource show; ping -c 3 {peer}", "SPDK lib/nvme/nvme_rdma.c, lib/nvmf/rdma.c",
           Printer::storage),
    marked("spdk-mlx5-other", host,
           "accel_mlx5.c:*: *ERROR|mlx5_crypto.c:*: *ERROR|mlx5_qp.c:*: *ERROR|mlx5_umr.c:*: *ERROR|mlx5_dma.c:*: "
           "*ERROR|accel_mlx5.c:*: *WARNING|accel_mlx5_rpc.c:*: *ERROR",
           "",
           "SPDK could not use an NVIDIA NIC as accelerator (encryption, CRC, copies by memory keys). Usual causes: a "
           "NIC or firmware without the feature, keys or queue pairs that are used up, too few tasks or buffers "
           "(mlx5_scan_accel_module), or a device that is not in the container.",
           "ibv_devinfo -v -d {rdma} | grep fw_ver; rdma resource show", "SPDK module/accel/mlx5, lib/mlx5"),
    marked(
        "spdk-request-other", software,
        "_rpc.c:*: *ERROR|json_config.c:*: *ERROR|scheduler_*.c:*: *ERROR|iscsi_subsystem.c:*: *ERROR|init_grp.c:*: "
        "*ERROR|tgt_node.c:*: *ERROR|cpuset.c:*: *ERROR|^rpc.c:*: *ERROR|scheduler_*.c:*: *WARNING",
        "",
        "SPDK rejects a request of rpc.py or an entry of its JSON configuration: a name, address or number that does "
        "not exist or is in use, or a wrong order of requests. Compare the request with the objects of the target.",
        "rpc.py spdk_get_version; rpc.py bdev_get_bdevs; rpc.py nvmf_get_subsystems", "SPDK lib, module: *_rpc.c"),
    marked("spdk-start-other", host,
           "env_dpdk/init.c:*: *ERROR|^init.c:*spdk_env*: *ERROR|^init.c:*build_eal*: *ERROR|pci_event.c:*: "
           "*ERROR|pci_dpdk*.c:*: *ERROR|sigbus_handler.c:*: *ERROR|memory.c:*vtophys*: *ERROR|memory.c:*mem_map*: "
           "*ERROR|^pci.c:*: *ERROR|threads.c:*: *ERROR|reactor.c:*: *ERROR|^app.c:*: *ERROR|reactor.c:*: "
           "*WARNING|^app.c:*: *WARNING|huge*spdk*ERROR",
           "",
           "An SPDK program could not start: cores, huge pages, PCI devices. Usual causes: too few huge pages "
           "(setup.sh, HUGEMEM), cores that another SPDK process has locked or that do not exist (-m), an unknown "
           "option, or devices that are not bound to vfio-pci or uio.",
           "grep Huge /proc/meminfo; ls /var/tmp/spdk_cpu_lock*; scripts/setup.sh status",
           "SPDK lib/event/app.c, reactor.c, lib/env_dpdk"),
    marked("spdk-local-drive-other", host,
           "nvme_pcie.c:*: *ERROR|nvme_pcie_common.c:*: *ERROR|nvme_opal.c:*: *ERROR|vbdev_opal.c:*: "
           "*ERROR|nvme_cuse.c:*: *ERROR|nvme_pcie*.c:*: *WARNING|nvme_vfio_user.c:*: *ERROR",
           "",
           "SPDK's driver for local NVMe drives (PCIe), or its device nodes (CUSE), report an error. Usual causes: a "
           "drive that does not answer or was removed, huge pages or DMA memory that are used up, or a buffer with a "
           "wrong alignment. The RDMA network is not at fault.",
           "lspci -nn | grep -i nvme; journalctl -k -g nvme; grep Huge /proc/meminfo", "SPDK lib/nvme/nvme_pcie.c"),
    marked(
        "spdk-controller-other", unknown,
        "nvme_ctrlr.c:*: *ERROR|nvme_ctrlr_cmd.c:*: *ERROR|nvme_qpair.c:*: *ERROR|nvme_ns.c:*: *ERROR|nvme_ns_cmd.c:*: "
        "*ERROR|nvme.c:*nvme*: *ERROR|nvme_fabric.c:*: *ERROR|nvme_discovery.c:*: *ERROR|nvme_auth.c:*: "
        "*ERROR|nvme_transport.c:*: *ERROR|nvme_poll_group.c:*: *ERROR|bdev_nvme.c:*: *ERROR|nvme_util.c:*: "
        "*ERROR|nvme_io_msg.c:*: *ERROR|nvme_stubs.c:*: *ERROR|bdev_mdns_client.c:*: *ERROR|nvme_ctrlr.c:*: "
        "*WARNING|bdev_nvme.c:*: *WARNING|nvme_qpair.c:*: *NOTICE*INVALID|nvme_tcp.c:*: *ERROR|nvme_tcp.c:*: *WARNING",
        "",
        "SPDK's NVMe host reports an error of a controller or namespace, local or of a target on the network. Usual "
        "causes: a target or drive that does not answer or was reset, a connection that was lost (the transport's line "
        "before has the reason), a key or name (NQN) that the target does not accept, or a namespace that was removed.",
        "rpc.py bdev_nvme_get_controllers; ping -c 3 {peer}", "SPDK lib/nvme, module/bdev/nvme", Printer::storage),
    marked("spdk-target-other", unknown,
           "nvmf.c:*: *ERROR|ctrlr.c:*: *ERROR|ctrlr_bdev.c:*: *ERROR|ctrlr_discovery.c:*: *ERROR|subsystem.c:*: "
           "*ERROR|transport.c:*: *ERROR|tcp.c:*nvmf*: *ERROR|mdns_server.c:*: *ERROR|vfio_user.c:*: "
           "*ERROR|nvmf_tgt.c:*: *ERROR|nvmf/*.c:*: *ERROR|fc.c:*nvmf*: *ERROR|fc_ls.c:*: *ERROR|tcp.c:*nvmf*: "
           "*WARNING|ctrlr.c:*: *WARNING|subsystem.c:*: *WARNING|auth.c:*nvmf*: *ERROR|stubs.c:*: *ERROR",
           "",
           "SPDK's NVMe over fabrics target reports an error of its subsystems, controllers or connections. Usual "
           "causes: a host that is not allowed, sends an invalid request or closed its connection, a setting of the "
           "transport that SPDK changes at start (queue depth, in-capsule data), or a block device that was removed. "
           "Read the log of the host, too.",
           kTargetNext, "SPDK lib/nvmf"),
    marked("spdk-iscsi-other", unknown,
           "iscsi.c:*: *ERROR|conn.c:*: *ERROR|param.c:*: *ERROR|portal_grp.c:*: *ERROR|task.c:*iscsi*: "
           "*ERROR|iscsi/*.c:*: *ERROR",
           "",
           "SPDK's iSCSI target (TCP) reports an error. Usual causes: an initiator that sends an invalid parameter or "
           "login or closed its connection, or an address of the portal that is in use or not on this host. RDMA is "
           "not used here.",
           "rpc.py iscsi_get_target_nodes; rpc.py iscsi_get_connections; ip -br addr", "SPDK lib/iscsi"),
    marked("spdk-socket-other", unknown,
           "posix.c:*: *ERROR|uring.c:*: *ERROR|^sock.c:*: *ERROR|net.c:*: *ERROR|posix.c:*: *WARNING", "",
           "A TCP socket of SPDK (NVMe/TCP, iSCSI, RPC) reports an error. Usual causes: an address or port that is in "
           "use or not on this host, a peer that does not listen or closed the connection, a wrong TLS key (PSK), or a "
           "limit of the process. RDMA is not used here. The errno shows the cause.",
           "ss -ltnp; ping -c 3 {peer}; ulimit -n", "SPDK module/sock"),
    marked("spdk-pools-other", software,
           "thread.c:*spdk*: *ERROR|thread.c:*thread*: *ERROR|iobuf.c:*: *ERROR|thread.c:*: *WARNING|bdev.c:*: "
           "*ERROR|fd_group.c:*: *ERROR|pipe.c:*: *ERROR|dif.c:*: *ERROR",
           "",
           "SPDK reports an error of its threads, channels or pools of buffers (iobuf, bdev_io), or of a check of data "
           "(DIF). Usual causes: a pool that is too small for the number of cores and connections (iobuf_set_options, "
           "bdev_set_options), a device that is registered twice or still in use when it is removed, or a bug of the "
           "program on SPDK.",
           "rpc.py iobuf_get_stats; rpc.py thread_get_stats", "SPDK lib/thread"),

    // ---- DPDK: "EAL: ", "DRIVER: ", "function(): ".
    complaining(
        "dpdk-verbs-other", host, kDpdk,
        "erbs device|ib_uverbs|glue|rdma-core|nitialize device context|aborted after encountering|Failed to load "
        "driver|evX|devx|ibdev|IB device|cannot list devices|kernel drivers",
        "DPDK's driver for an NVIDIA NIC (mlx5, mlx4), which works beside the kernel's, could not use this function. "
        "Usual causes: mlx5_ib and ib_uverbs are not loaded, the function is bound to vfio-pci instead of mlx5_core, "
        "/dev/infiniband or the netdev is not in the container, rdma-core or its glue library is missing, or firmware "
        "and kernel driver lack a feature (a bond, flow priorities, DevX).",
        "dpdk-devbind.py --status; ibv_devices; ls -l /dev/infiniband; lsmod | grep mlx5_ib",
        "DPDK drivers/common/mlx5, drivers/net/mlx5", Printer::dpdk),
    complaining(
        "dpdk-memory-other", host, kDpdk, "huge|Huge|mbuf|mempool|socket-mem|memseg|emory|lloc",
        "DPDK has too little memory: huge pages on the NUMA node of the NIC, or a pool of buffers (mbufs) that is "
        "smaller than the rings of all queues. Reserve more huge pages, give the program more of them (--socket-mem, "
        "dpdk-socket-mem, more mbufs), or use fewer and shorter queues.",
        "grep Huge /proc/meminfo; grep . /sys/devices/system/node/node*/hugepages/*/free_hugepages", "DPDK lib/eal",
        Printer::dpdk),
    complaining(
        "dpdk-device-other", host, kDpdk,
        "annot be used|robe|bound|VFIO|vfio|IOMMU|iommu|uio|driver|ermission|irmware|HW|DDP|_init(|reset|attach",
        "DPDK could not start a device of this host. Usual causes: the device is not bound to a driver of DPDK "
        "(vfio-pci; NVIDIA's NICs stay with mlx5_core), the IOMMU is off or its group has other devices, the program "
        "lacks rights (root, /dev/vfio, IPC_LOCK), or firmware that does not fit. An error before this line, of the "
        "driver, is nearer to the cause.",
        "dpdk-devbind.py --status; ls -l /dev/vfio; journalctl -k -g vfio", "DPDK lib/eal, drivers/bus/pci",
        Printer::dpdk),
    complaining("dpdk-other", unknown, kDpdk, "",
                "DPDK, which drives NICs from a program. Usual causes: huge pages, a device that is not bound to its "
                "driver, an option or number of queues that the device does not offer, or another DPDK program that "
                "uses the same device or file prefix.",
                "dpdk-devbind.py --status; grep Huge /proc/meminfo", "DPDK lib, drivers", Printer::dpdk),

    // ---- OpenSM: "DATE TIME [THREAD] 0x01 -> function: ERR NNNN: ".
    marked(
        "opensm-host-other", host, kOpensm,
        "llocat|malloc|emory|osm_vendor|osmv_|umad_|__osm_ca|_hca_|console|osm_log|osm_db|libvendor|get_all_port_attr",
        "OpenSM could not access the port of its own host, or its files. Usual causes: ib_umad or "
        "/dev/infiniband/umad* that is not accessible, a port that is down or in use by another subnet manager, or a "
        "full file system (/var/cache/opensm, /var/log).",
        "ibstat; ls -l /dev/infiniband; df -h /var", "OpenSM libvendor, opensm/osm_db_files.c"),
    marked("opensm-configuration-other", software, kOpensm,
           "subn_|prtn|qos_|parse_|osm_qos|opts_|conf_file|conf "
           "file|congestion_|event_plugin|osm_opensm_init|perfmgr_db_dump|root guid|guid_routing|node_name_map",
           "OpenSM reports an error in its configuration: options (opensm.conf), partitions, QoS, routing files or "
           "plugins. A name, number or file is wrong, or a setting does not match the fabric. OpenSM continues with a "
           "default or without this part of the configuration. Correct the entry that the line names.",
           "grep -n ERR /var/log/opensm.log | head; ls /etc/opensm /etc/rdma/opensm.conf",
           "OpenSM opensm/osm_subnet.c"),
    marked("opensm-client-other", unknown, kOpensm,
           "sa_|osmt_|osmtest|infr_|sr_rcv|mcmr_|pr_rcv|gi_rcv|informinfo|osm_report|osm_service",
           "OpenSM's subnet administrator reports an error of a request from a host (path, multicast group, service, "
           "events), or of a trap. Usual causes: a host with another partition, subnet prefix or key, a group that "
           "does not exist or requires another rate or MTU, or a host that left. The GUID or LID in the line "
           "identifies the host. A single rejected request does not affect the fabric.",
           "saquery PR; saquery -g; smpquery portinfo -D 0", "OpenSM opensm/osm_sa_*.c", Printer::fabric),
    marked(
        "opensm-fabric-other", network, kOpensm, "",
        "OpenSM reports an error of a sweep of the InfiniBand fabric, in which it discovers nodes, assigns LIDs and "
        "writes routes to the switches. Usual causes: a node, switch or link that does not answer or changes during "
        "the sweep, a cable between the wrong ports, two nodes with one GUID, a second subnet manager with another "
        "key, or a topology that the routing engine does not support. The GUID and port in the line show the location.",
        "sminfo; iblinkinfo; ibqueryerrors; ibdiagnet", "OpenSM opensm", Printer::fabric),

    // ---- iwpmd.
    complaining(
        "iwpmd-other", unknown, "iwpmd[|^iwpmd:|^iwpmd ", "",
        "iwpmd, the port mapper for iWARP NICs, reports an error. Usual causes: no iWARP device or driver, ports of "
        "the mapper that are in use, or missing rights on netlink. RoCE and InfiniBand do not require iwpmd.",
        "systemctl status iwpmd; rdma link show", "rdma-core iwpmd"),

    // ---- Firmware tools: "-E- ".
    marked(
        "firmware-tool-arguments-other", software, "^-E- ",
        "nknown flag|nknown option|nvalid --|nvalid option|nvalid flag|nvalid parameter|nvalid argument|nvalid "
        "value|nvalid range|nvalid command|nknown command|nknown sub|nknown param|Bad |bad |must be specified|must be "
        "provided|must be used|should be|hould be specified|is required|equires|issing|llegal|an't be used|annot be "
        "used|can not be used|not be specified|ot allowed with|oo many|out of range|mutually|annot be combined|annot "
        "specify|an't specify|not a valid|is not valid|is not recognized|ot applicable|only with|lease specify|lease "
        "use|lease provide|flag must|The argument|combination|onflicting|Unsupported binary|not defined|not have "
        "a|Usage|command line",
        "A firmware tool (mlxconfig, mlxlink, flint, mlxfwmanager, mlxreg) rejects its command line: a flag, "
        "parameter, number or file is unknown, missing, or not valid for the command or this device. Nothing was "
        "changed. Compare the command line with --help, and with the parameters of the device (mlxconfig show_confs).",
        "mlxconfig -d {pci} query | head -40; mlxlink --help", "mstflint mlxconfig, mlxlink, flint"),
    marked("firmware-tool-image-other", host, "^-E- ",
           "image|Image|burn|Burn|flash|Flash|ROM|PSID|VSD|ignature|GUID|guid|MFA|omponent|section|CRC|crc|FW "
           "|irmware|VPD|vpd|sector|boot",
           "A firmware tool (flint, mlxfwmanager) could not read, check or write the firmware of the NIC. Usual "
           "causes: an image for another model (PSID) or a broken file, flash that is write-protected or locked by "
           "another tool, a secure NIC that accepts signed images only, or a NIC that does not answer. The old "
           "firmware is unchanged unless the write had begun.",
           "mstflint -d {pci} query full; devlink dev info pci/{pci}", "mstflint mlxfwops, flint, mlxfwupdate"),
    marked("firmware-tool-other", host, "^-E- ", "",
           "A diagnostic or firmware tool of NVIDIA (mlxlink, mlxconfig, mcra, mget_temp, ibdiagnet) failed on this "
           "host. Usual causes: no access to the PCI device (root, lockdown, a virtual function or container), a "
           "register or function that the firmware or the model does not have, a port number or cable that does not "
           "exist, or a NIC that does not answer.",
           "ls -l /dev/mst /dev/infiniband; mst status; devlink dev info pci/{pci}", "mstflint"),

    // ---- Slurm, by the subject.
    marked("slurm-cgroup-other", host, kSlurm, "cgroup|memory.max|cpuset|eBPF|ebpf|bpf_|systemd*scope|dbus",
           "Slurm could not use control groups on this node, which limit the CPUs, memory and devices of jobs. Usual "
           "causes: a mix of cgroup v1 and v2, a controller that is not delegated to slurmd's scope, a kernel without "
           "the controller, or a wrong cgroup.conf. A job without its device rule may see no GPU.",
           "stat -fc %T /sys/fs/cgroup; cat /etc/slurm/cgroup.conf; systemctl show slurmd -p Delegate",
           "Slurm src/plugins/cgroup, src/interfaces/cgroup.c", Printer::slurm),
    marked("slurm-gres-other", host, kSlurm,
           "gres|GRES|gpu_|GPU|nvml|NVML|rsmi|oneapi|MIG|imex|IMEX|AutoDetect|NVIDIA_VISIBLE|CUDA_VISIBLE",
           "Slurm reports an error of generic resources (the GPUs and other devices of a node). Usual causes: "
           "gres.conf or slurm.conf that differ from the devices of the node, a GPU driver or library (NVML, ROCm SMI) "
           "that slurmd does not find at its start, or a GPU that is missing.",
           "slurmd -G; nvidia-smi -L; cat /etc/slurm/gres.conf", "Slurm src/interfaces/gres.c, src/plugins/gres, gpu",
           Printer::slurm),
    marked("slurm-authentication-other", host, kSlurm,
           "munge|Munge|MUNGE|auth/|auth_|SlurmUser|ecurity "
           "violation|uthenticat|cred_|redential|jwt|JWT|jwks|sack|certmgr|certgen|tls/|TLS|s2n",
           "The authentication between Slurm's daemons and commands failed. Usual causes: munged does not run, this "
           "host has another munge.key or slurm.key, the clocks differ, another host does not have the user (UID), or "
           "the user slurm (SlurmUser) has another UID on the controller.",
           "munge -n | unmunge; timedatectl; md5sum /etc/munge/munge.key", "Slurm src/plugins/auth, cred"),
    marked("slurm-pmi-other", unknown, kSlurm, "mpi/|pmix|PMIx|PMIX|pmi2|PMI2|^PMI|pmi_|cray_shasta|slingshot",
           "Slurm could not start an MPI program (PMIx, PMI-2) or set up the network (Slingshot VNI). Usual causes: a "
           "program that was built for another PMI or PMIx release, PMIx that is not on every node, a wrong --mpi, or "
           "a rank that ended during the start.",
           "srun --mpi=list; ldconfig -p | grep pmix; env | grep -E 'PMI|SLINGSHOT'", "Slurm src/plugins/mpi, switch",
           Printer::slurm | Printer::ranks),
    marked("slurm-files-other", host, kSlurm,
           "checkpoint|state file|state save|StateSave|statesave|nable to open|an't open|ould not open|annot "
           "open|create dir|mkdir|chdir|unlink|rename|No space|TMPDIR|spool|pidfile|pid file|fopen|open(|write "
           "state|recover|namespace|job_container|setns|container_|execve|mount|prolog|epilog|Prolog|Epilog|rlimit|"
           "setuid|setgid|initgroups|core spec|numactl|affinity|chown|chmod|/proc/|fork",
           "Slurm reports an error of files, processes or limits of this host: its state and spool directories, the "
           "prolog and epilog, TMPDIR, namespaces, or limits of a task. Usual causes: a full or read-only file system, "
           "a directory or file that is missing on this node, missing rights, or a script that failed.",
           "df -h /var/spool /tmp; journalctl -u slurmd -p warning; scontrol show config | grep -E 'Spool|State'",
           "Slurm src/slurmd, src/slurmctld, src/common", Printer::slurm),
    marked("slurm-configuration-other", host, kSlurm,
           "arsing error|arse error|nrecognized key|nknown key|onfiguration file|is defunct|from cgroup.conf|in "
           "slurm.conf|in cgroup.conf|in gres.conf",
           "Slurm reads its configuration on this host (slurm.conf, cgroup.conf, gres.conf, topology.conf). Usual "
           "causes: a key that belongs in another of these files or that this release does not know, or a file that "
           "differs from that of the controller. The daemon does not start after \"fatal\".",
           "md5sum /etc/slurm/*.conf; slurmd -V; slurmd -C", "Slurm src/common/parse_config.c, read_config.c",
           Printer::slurm),
    marked(
        "slurm-option-other", software, kSlurm,
        "nvalid --|nvalid option|nvalid value|--*nvalid|--*specif|nvalid node name|nvalid job|nvalid user|nvalid "
        "partition|nvalid time|nvalid generic|nvalid mem|nvalid cpu|nvalid account|nvalid depend|nvalid feature|nvalid "
        "distribution|nvalid qos|nvalid QOS|nvalid reserv|is not a valid|mutually exclusive|nrecognized option|nknown "
        "option|nknown key|nknown parameter|nvalid parameter|nvalid *Type|.conf|arsing|arse "
        "error|onfiguration|Parameters|nvalid spec|nvalid format|must be|duplicate|Duplicate|opology",
        "Slurm rejects an option of a job, or an entry of its configuration (slurm.conf, topology.conf, ...), which "
        "the line names. Correct the option or entry. The configuration files must be the same on the controller and "
        "all nodes; then run scontrol reconfigure.",
        "scontrol show config | head; scontrol show hostnames; md5sum /etc/slurm/*.conf",
        "Slurm src/common/slurm_opt.c, read_config.c, parse_config.c"),
    marked(
        "slurm-connection-other", unknown, kSlurm,
        "slurm_send|slurm_receive|slurm_recv|slurm_msg|send_recv|nix socket|socket to|socket error|Socket timed|open "
        "socket|socket for|connect|onnection|ommunicat|Zero Bytes|timed out|imeout|port "
        "|listen|accept|bind|persist|Agent|agent|unpack|header|RPC|rpc|forward|slurm_open|address|resolve|getaddrinfo",
        "A TCP connection between Slurm's daemons and commands failed (RDMA is not used). Usual causes: a daemon or "
        "node that does not run or is too busy, a firewall (6817, 6818, SrunPortRange), a host name that resolves to "
        "another address, or daemons of different releases. The slurmd log of the node in the line shows the cause.",
        "scontrol ping; sinfo -R; getent hosts {peer}", "Slurm src/common/slurm_protocol_api.c, src/conmgr"),

    // ---- Containers and device plugins, by the source file.
    complaining("container-cgroup-other", host, "runc|OCI runtime|crun|containerd",
                "cgroup|^intelrdt|eBPF|bpf|device filter|devices.allow|systemd property|rootless|user namespace|idmap",
                "The container runtime could not set up the control groups, device rules or namespaces of a container "
                "on this host. Usual causes: a mix of cgroup v1 and v2, different cgroup drivers in the kubelet and "
                "the runtime, a kernel without the controller, or a runtime without the required privilege.",
                "stat -fc %T /sys/fs/cgroup; runc --version; journalctl -u containerd -p warning",
                "runc libcontainer/cgroups", Printer::node_service),
    complaining(
        "dra-gpu-other", host,
        "nvlib.go:|device_state.go:|device_health.go:|allocatable.go:|prepared.go:|sharing.go:|vfio-device.go:|vfio-"
        "cdi.go:|partitions.go:|mig.go:|deviceinfo.go:|gpu-kubelet-plugin",
        "",
        "NVIDIA's DRA driver, which allocates GPUs and IMEX channels of this node to pods by resource claims, reports "
        "an error. Usual causes: a driver root or NVML library that is not found, a GPU, MIG device or IMEX channel "
        "that does not exist, NVLink fabric that is not attached (fabric manager, IMEX), a checkpoint of an earlier "
        "release, or a sharing mode (MPS, time-slicing) that the claim or GPU does not allow.",
        "kubectl get resourceslices; kubectl describe pod POD; nvidia-smi -q | grep -A 3 Fabric",
        "NVIDIA k8s-dra-driver-gpu cmd/gpu-kubelet-plugin", Printer::node_service),
    complaining(
        "dra-compute-domain-other", unknown,
        "computedomain.go:|cdclique.go:|cdstatus.go:|daemonset.go:|daemonsetpods.go:|podmanager.go:|"
        "resourceclaimtemplate.go:|dnsnames.go:|computedomain-|compute-domain|ComputeDomain|compute domain",
        "",
        "NVIDIA's DRA driver for compute domains (NVLink between nodes), which starts IMEX daemons on the nodes of a "
        "job, reports an error. Usual causes: nodes that are not in one NVLink domain or not ready, an IMEX daemon "
        "that does not start, an API server that cannot be reached, or a domain that is being deleted.",
        "kubectl get computedomains -A -o yaml; kubectl logs -n nvidia-dra-driver-gpu -l app=compute-domain-daemon",
        "NVIDIA k8s-dra-driver-gpu cmd/compute-domain-controller"),
    complaining(
        "sriov-plugin-other", host,
        "netDeviceProvider.go:|netResourcePool.go:|pciNetDevice.go:|accelDeviceProvider.go:|auxNetDevice|"
        "vdpaInfoProvider.go:|vhostNetInfoProvider.go:|netlink_provider.go:|vdpa_provider.go:|ddp.go:|rdma_provider.go:"
        "|rdmaInfoProvider.go:|discoverHostDevices()|initServers()|AddTargetDevices()|GetDeviceSpecs()",
        "",
        "The SR-IOV network device plugin, which offers the virtual functions of this node to pods, reports an error. "
        "Usual causes: a selector of its configuration (ConfigMap) that matches no function or contradicts itself, "
        "functions that were not created or have another driver, vDPA or vhost devices that do not exist, or a kubelet "
        "that was restarted.",
        "kubectl describe node NODE | grep -A 8 Allocatable; ls /sys/bus/pci/devices/{pci}/; kubectl get cm -A | grep "
        "sriov",
        "sriov-network-device-plugin pkg", Printer::node_service),
    complaining(
        "nvidia-device-plugin-other", host,
        "mig-strategy.go:|nvml-mig-device.go:|nvml-device.go:|device_map.go:|nvml_devices.go:|nvml_manager.go:|plugin-"
        "manager.go:|cuda-device.go:|mig-dp.go:|pciutil.go:|tegra_devices.go:|wsl_devices.go:|lm/"
        "nvml.go:|resource.go:*CUDA|imex.go:|rm.go:|fabric.go:",
        "",
        "NVIDIA's device plugin or GPU feature discovery, which offer the GPUs of this node to pods and label the "
        "node, report an error. Usual causes: a driver or NVML library that the pod does not find (runtime class, "
        "driver root), a MIG setup that differs from the strategy of the plugin, GPUs that failed, or a wrong value of "
        "the configuration (MPS, IMEX channels).",
        "kubectl logs -n gpu-operator -l app=nvidia-device-plugin-daemonset; nvidia-smi -L; kubectl describe node NODE",
        "NVIDIA k8s-device-plugin internal/rm, internal/lm", Printer::node_service),
    complaining("nvidia-runtime-other", host,
                "NVIDIA runtime|NVIDIA Container Runtime|CUDA compat|cuda compat|forward compat|NVIDIA device "
                "nodes|NVIDIA_VISIBLE_DEVICES|OCI specification|OCI spec file|GPU Instance ID|Compute Instance ID|MIG "
                "minors|DRM device|ld.so.conf|driver root|graphics mounts|device majors|low-level "
                "runtime|nvidia-container-runtime",
                "",
                "NVIDIA's container runtime or one of its hooks, which add the GPUs and libraries of the driver to a "
                "container, report an error. Usual causes: a driver or driver root that is not found, a runtime whose "
                "configuration names no runc, a path that is not absolute or cannot be written, or an image that "
                "brings its own CUDA compatibility library.",
                "nvidia-ctk --version; cat /etc/nvidia-container-runtime/config.toml; nvidia-smi",
                "NVIDIA container toolkit internal, cmd/nvidia-cdi-hook", Printer::node_service),
    complaining(
        "nic-operator-other", host,
        "nic-configuration|NicDevice|NicConfiguration|NicFirmware|NICFirmware|NIC "
        "firmware|nvconfig|NVConfig|spectrum-x|Spectrum-X|SPC-X|SpectrumX|cma_roce_mode|mlnx_qos|^DMS|DMS server|DMS "
        "client",
        "",
        "NVIDIA's NIC configuration operator, which writes firmware and settings of NICs (mlxconfig, mlnx_qos, "
        "cma_roce_mode, DMS), reports an error. Usual causes: a setting or template that this NIC does not support "
        "(PSID, link type), a firmware file that cannot be downloaded or is for another model, a tool that failed, or "
        "a pending reboot.",
        "kubectl get nicdevices -A -o yaml; kubectl logs -n nvidia-network-operator -l app=nic-configuration-daemon",
        "Mellanox nic-configuration-operator"),
    complaining(
        "cdi-other", host,
        "CDI spec|CDI Spec|CDI device|CDI hook|CDI handler|CDI modifier|CDI edits|cdi spec|CDI Cache|unresolvable "
        "CDI|nvidia-cdi-hook|CDI container edits",
        "",
        "A runtime or tool could not use CDI, which describes devices (GPUs, NICs) for containers in files in /etc/cdi "
        "and /var/run/cdi. Usual causes: a file that is missing or older than the driver (nvidia-ctk cdi generate "
        "writes the file again), a device name that is not in the file, a runtime without CDI, or a directory that "
        "cannot be written.",
        "nvidia-ctk cdi list; ls -l /etc/cdi /var/run/cdi", "NVIDIA container toolkit, container-device-interface",
        Printer::node_service),
};

}  // namespace

const std::span<const LineMessage> kSourceMessages = kRows;

}  // namespace fabric::lines
