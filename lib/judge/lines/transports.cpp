// SPDX-License-Identifier: Apache-2.0
// More of NCCL, UCX and libfabric with its plugin for NCCL, VMA and perftest: messages of their sources, by meaning.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kHccl = "CANN HCCL src/platform/hccp, HCCL troubleshooting of Huawei";

constexpr LineMessage kRows[] = {
    consequence_of(
        "nccl|wc|async|modify|open|registration|object|ofi|gpu",
        {"nccl-allocator-poll", unknown,
         "[Rem Allocator]|[Proxy Service UDS] Poll failed|[Proxy Service] Poll failed|Poll failed with error",
         "A helper thread of NCCL (remote memory allocator, proxy service) lost the local connection to its process: "
         "mostly a consequence of another failure. The first error of this and of the other ranks before it is the "
         "cause.",
         "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NCCL src/allocator.cc, src/proxy.cc"}),
    {"nccl-ipc-handle", host,
     "IpcGetMemHandle failed|IpcOpenMemHandle "
     "failed|cudaIpcOpenMemHandle*failed|hipIpcOpenMemHandle*failed|hipIpcGetMemHandle|failed to peer with "
     "device|failed to open CUDA IPC handle|cuMemImportFromShareableHandle|cuMemExportToShareableHandle",
     "A buffer of a GPU cannot be shared with another process or GPU of this host (CUDA or HIP IPC, peer access): the "
     "driver or GPU does not support it, the containers of the ranks share no IPC or PID namespace (--ipc=host), or "
     "memory of another kind (cuMem) is used. With ROCm, also HSA_ENABLE_IPC_MODE_LEGACY, which some images set: unset "
     "it. NCCL_P2P_DISABLE=1 or NCCL_CUMEM_ENABLE=0 as a test.",
     "nvidia-smi topo -p2p r; readlink /proc/PID/ns/ipc; env | grep NCCL_", "NCCL src/transport/p2p.cc"},
    // HCCL and HCCP of Huawei's Ascend NPUs; the numbers behind ret are errnos, or of enum HcclResult.
    {"ascend-link", cable, "ra_hdc_rdev*ret(-67)|ra rdev init failed*ret(-67)|ra_rdev*ret(-67)",
     "HCCP could not open the RDMA device of an Ascend NPU: -67 (ENOLINK) is a network port of the NPU without a link. "
     "Look at its link and optical module, the cable, the port of the switch (speed, FEC), and whether the port has "
     "its IP address (/etc/hccn.conf). phy_id is the number of the NPU.",
     "hccn_tool -i NPU -link -g; hccn_tool -i NPU -optical -g; hccn_tool -i NPU -ip -g", kHccl},
    {"ascend-listen", host,
     "[HcclSocket][Listen]*fail|bind fail!|bind and listen fail|ra listen start failed|^EJ0003: ",
     "HCCL could not listen at the address and port that the line names: the network port of the Ascend NPU has no "
     "link or not this IP address (errno 99), or another process of an earlier or of the same job uses the port (98; "
     "ports 60000 to 60015 of the host, or from HCCL_IF_BASE_PORT). An error of HCCP before it is the cause.",
     "hccn_tool -i NPU -link -g; hccn_tool -i NPU -ip -g; ss -tlnp", kHccl},
    {"ascend-rank-table", software,
     "in the ranktable is inconsistent|^EJ0004: |TLS switch is inconsistent|ssl fd *tlsv1 alert unknown ca",
     "The settings of a job on Ascend NPUs do not fit its hosts: the rank table names another IP address than the port "
     "of the NPU has, or the same rank twice, or TLS is on at some NPUs only or with other certificates.",
     "hccn_tool -i NPU -ip -g; hccn_tool -i NPU -tls -g", kHccl},
    {"ascend-peer", peer,
     "^EI0006: |^EI0009: |Getting socket times out|wait socket establish timeout|Create Dest error!|createLink para:",
     "HCCL could not connect an Ascend NPU to another rank, or got no answer from it in time (HCCL_CONNECT_TIMEOUT, "
     "120 s): the other rank (dst_rank, remote) ended, hangs or is late. Look first at its log, and at ranks without "
     "any error; then at the link and the IP addresses of both NPUs (ping between them, TLS of both on or off).",
     "hccn_tool -i NPU -link -g; hccn_tool -i NPU -ping -g address {peer}; env | grep HCCL_", kHccl},
    {"nccl-device-counts", software,
     "Detected mixed local Net device counts|Detected mixed local CollNet device counts|have different number of "
     "NICs|NCCL_IGNORE_NET_MISMATCH",
     "The ranks do not see the same number of network devices: a host with a port that is down or missing, a container "
     "without all devices, or another NCCL_IB_HCA. Compare \"NET/IB : Using\" of all ranks; NCCL_IGNORE_NET_MISMATCH=1 "
     "goes on as it is.",
     "grep -h 'NET/IB : Using' LOG-OF-EVERY-RANK | sort | uniq -c; ibv_devices", "NCCL src/init.cc"},
    {"nccl-comm-misuse", software,
     "ncclInvalidUsage: |invalid usage, NCCL version|comm * has already been destroyed|Attempt to use communicator "
     "before the previous operation|corrupted comm object detected|improper usage of ncclCommInitRank|Invalid rank "
     "requested :|Invalid device count requested|invalid device count (|rank * exceeds ndev=|argument not initialized "
     "via NCCL_CONFIG_INITIALIZER|Invalid config * attribute value|is not a valid pointer|argument is NULL|invalid "
     "root *(root should be|invalid reduction operation|mismatchs with NCCL device|NULL "
     "argument*NCCL|ncclCommGetUniqueId should not be called",
     "The program or framework called NCCL with a wrong argument: a communicator that was destroyed or has failed, a "
     "rank, root, device or pointer that does not fit it, or a structure of another NCCL release (the library in use "
     "differs from the headers of the build). The network is not at fault: look at the call and at ldd for two copies "
     "of libnccl.",
     "ldd LIBRARY | grep nccl; grep -h 'NCCL version' LOG-OF-EVERY-RANK | sort | uniq -c",
     "NCCL src/init.cc, src/misc/argcheck.cc"},
    {"nccl-oob-interface", software,
     "verify NCCL_OOB_NET_IFNAME|Invalid NCCL_COMM_ID|No usable listening interface found|No valid "
     "<IPv4_or_hostname>:<port>|Net : Unsupported address family|Net : unsupported IP family|Net : string is null|No "
     "valid [IPv6]:port|verify NCCL_SOCKET_IFNAME|no device found matching|no device found after excluding",
     "A variable of NCCL names no interface or address of this host: NCCL_SOCKET_IFNAME, NCCL_OOB_NET_IFNAME (a "
     "prefix; \"=\" before it for the whole name, \"^\" to exclude) or NCCL_COMM_ID (address:port). Compare it with ip "
     "-br addr on every host.",
     "ip -br addr; env | grep -E 'IFNAME|COMM_ID'", "NCCL src/bootstrap.cc"},
    {"nccl-receive-info", software, "posted incorrect receive info",
     "A peer posted a receive that does not fit the send: the ranks call collectives in another order, with other "
     "sizes, or with another NCCL release. The network is not at fault. Compare the calls and \"NCCL version\" of all "
     "ranks (NCCL_DEBUG_SUBSYS=COLL).",
     "grep -h 'NCCL version' LOG-OF-EVERY-RANK | sort | uniq -c", "NCCL src/transport/net_ib"},
    {"nccl-net-name", software,
     "Failed to initialize any NET plugin|NET/Plugin*failed to initialize|Unable to find a network|NCCL WARN Error: "
     "network|Error: network*not found",
     "The network that NCCL_NET or NCCL_NET_PLUGIN names could not be used: its plugin is not in LD_LIBRARY_PATH or "
     "failed to start, or the name is wrong (IB, Socket, \"AWS Libfabric\"). Unset NCCL_NET as a test, and read the "
     "lines of the plugin before this one.",
     "env | grep NCCL_NET; ldconfig -p | grep nccl-net", "NCCL src/plugin/net.cc"},
    {"nccl-mlx5-data-direct", host, "mlx5dv_get_data_direct_sysfs_path|Data Direct DMA*failed",
     "NCCL asked the NIC for its data direct function (a second PCI function for GPU memory) and got an error: the "
     "NIC, firmware or rdma-core has none. NCCL_IB_DATA_DIRECT=0 goes on without it.",
     "lspci -d 15b3:; ibv_devinfo -d {rdma} | grep fw_ver", "NCCL src/transport/net_ib"},
    {"ofi-nccl-address", network,
     "insert remote address|address vector*insert*failed|AV insert failed|Failed to insert address",
     "The address of the peer could not be used (fi_av_insert): on EFA the peer is not reachable, because the security "
     "group does not allow all inbound and outbound traffic to itself or the instances are in another subnet; else the "
     "table of addresses is full. Test with FI_LOG_LEVEL=warn and fi_pingpong between the two instances.",
     "fi_info -p efa; rdma link show", "aws-ofi-nccl src"},
    {"ofi-nccl-gin", host,
     "GIN requires GDRCopy|NET/OFI*GDA-capable|NET/OFI*GDAKI: not supported|NET/OFI Failed to initialize GDRCopy|GIN "
     "requires the OFI NET plugin|GIN only supports RDMA transport|Failed to resolve GDRCopy "
     "v2|NET/OFI*FI_EFA_GDA_OPS|GDRCopy support not available at compile",
     "GPU-initiated networking (GIN) of NCCL's libfabric plugin lacks a requirement on this host: the RDMA protocol "
     "(OFI_NCCL_PROTOCOL), GDRCopy 2.5 or newer with its module gdrdrv, or an EFA device and a libfabric with which "
     "the GPU can post requests. NCCL_GIN_ENABLE=0 disables GIN.",
     "fi_info --version; lsmod | grep gdrdrv; env | grep -E 'OFI_NCCL|NCCL_GIN'", "aws-ofi-nccl src/rdma/gin"},
    {"ofi-nccl-value", software,
     "NET/OFI*set to invalid value|NET/OFI Invalid value for|NET/OFI WARNING: Use of*deprecated|NET/OFI Conflicted "
     "configuration|NET/OFI Number of forced rails|NCCL_OFI_NIC_DUP_CONNS|FI_OPT_CUDA_API_PERMITTED is not "
     "declared|NET/OFI Provided mr keypool size|NET/OFI unknown transport|NET/OFI * operations are not supported for "
     "SendRecv|EARLY_COMPLETION",
     "A variable of NCCL's libfabric plugin (OFI_NCCL_...) has an invalid value, or contradicts another variable or "
     "the provider. Correct or unset the variable that the line names.",
     "env | grep -E 'OFI_NCCL|FI_'", "aws-ofi-nccl include/nccl_ofi_param_impl.h, src"},
    {"ofi-nccl-version", software,
     "requires at least libfabric|NET/OFI*libfabric version|NET/OFI*Unsupported|Failed to find CUDA runtime|NET/OFI "
     "Failed to find CUDA|nccl_net_ofi*hwloc|NET/OFI Failed to initialize * protocol|NET/OFI Failed to initialize "
     "sendrecv",
     "The libfabric plugin of NCCL does not fit: libfabric is too old, CUDA was not found, or the protocol "
     "(OFI_NCCL_PROTOCOL) could not start. Use libfabric and plugin of one release of the EFA installer "
     "(/opt/amazon/efa, /opt/amazon/ofi-nccl) in LD_LIBRARY_PATH.",
     "fi_info --version; echo $LD_LIBRARY_PATH; env | grep OFI_NCCL", "aws-ofi-nccl src"},
    {"ofi-no-active-port", cable, "no active ports",
     "The RDMA device that the line names has no port in the state active, so that libfabric does not use it: a link "
     "that is down (cable, module, switch port), or InfiniBand without a subnet manager. Harmless if this device shall "
     "not be used: compare ibv_devinfo.",
     "ibv_devinfo -d {rdma}; fabric-agentctl status", "libfabric prov/verbs/src/verbs_init.c"},
    {"psm3-rv", host,
     "psm3_rv|rv mmap|RV module|rv module|/dev/rv|rv_open|unable to open rv|Unable to open "
     "RV|rv_reg_mem|psm3_verbs_*rv",
     "PSM3, a provider of libfabric, could not use the kernel module rv (rendezvous), which caches memory "
     "registrations and registers GPU memory with the NIC. The module is not loaded or has another release, or its "
     "memory is used up (PSM3_RV_MR_CACHE_SIZE). Load the module of the same release, or use PSM3_RDMA=0.",
     "modinfo rv; lsmod | grep ^rv; env | grep PSM3", "libfabric prov/psm3/psm3/psm_rndv_mod.c"},
    {"ofi-shm-region", host,
     "shm_open error|Could not map peer region|Get filesystem * statistics failed|smr*region*failed|unable to open "
     "pidfd|Overwriting shm from dead process",
     "The shared memory provider of libfabric could not open or map the region of a process of this host in /dev/shm: "
     "full or too small, containers without a common IPC or PID namespace, or the other process ended. "
     "FI_PROVIDER=^shm or FI_EFA_ENABLE_SHM_TRANSFER=0 as a test.",
     "df -h /dev/shm; ls -l /dev/shm", "libfabric prov/shm"},
    {"ofi-p2p-off", software, "FI_HMEM_P2P_DISABLED was set|disabled because FI_",
     "A variable of the environment switches the direct way between NIC and GPU memory off (FI_HMEM_P2P_DISABLED), and "
     "the provider then cannot offer GPU memory. Unset the variable; driver and device have no fault.",
     "env | grep FI_", "libfabric prov/efa/src/efa_user_info.c"},
    {"ofi-hmem", host,
     "requires peer to peer|cannot support FI_HMEM|CUDA library or CUDA device is not available|Failed to allocate "
     "CUDA buffer|Could not register dmabuf|FI_HMEM capability requires|explicit dmabuf support|^hmem*not supported|"
     "HMEM*not supported|ofi_hmem_get_dmabuf_fd",
     "libfabric cannot give GPU memory to the NIC (FI_HMEM): CUDA or ROCm is not found in the container, the device "
     "has no peer-to-peer access (nvidia_peermem, DMA-BUF with an open kernel module), or the EFA device is of an "
     "older instance. FI_HMEM_CUDA_USE_DMABUF and FI_EFA_USE_HUGE_PAGE choose the way.",
     "fabric-agentctl check --only gpudirect; fi_info -p efa -c FI_HMEM", "libfabric prov/efa, src/hmem.c"},
    {"ofi-max-mr", host,
     "Unable to register*exceeds|Maximum number of AV|mrs_limit|memory registrations*limit|MR cache*full|Cache is "
     "full|fi_mr_reg*Cannot allocate memory|Unable to reg mr|unable to register MSG MR|Unable to register MR",
     "libfabric could not register memory: the limit of registrations of the device or the memlock limit is reached, "
     "or memory of the GPU is not supported. Raise ulimit -l, or the limit of the cache (FI_MR_CACHE_MAX_COUNT, "
     "FI_MR_CACHE_MAX_SIZE).",
     "ulimit -l; rdma resource show mr; env | grep FI_MR", "libfabric prov"},
    {"cxi-resources", host,
     "Allocate rget CMDQ failed|CXI netdev not found|cxi*Failed to allocate|cxil_*failed|Control TX credits "
     "exhausted|cxi*No space left on device|cxip_*: -28|LE exhaustion|le_pool*|Receive PtlTE*disabled|Failed receive "
     "PtlTE state",
     "A resource of the Slingshot NIC (cxi) is used up or missing on this host: command queues, list entries or memory "
     "regions of the service of this job, or the netdev of the device. Fewer processes per NIC, "
     "FI_CXI_RX_MATCH_MODE=hybrid or software, and cxi_service list show the limits.",
     "cxi_stat; cxi_service list; env | grep FI_CXI", "libfabric prov/cxi"},
    {"opx-selection", software, "HFI selection|FI_OPX_HFI_SELECT|hfi_selector|No local TX context matches remote peer",
     "The variable FI_OPX_HFI_SELECT of the Omni-Path provider has an invalid value or matches no HFI of this host, or "
     "no HFI that it took is of the subnet of the peer (_FI_OPX_MULTI_HFI_FILTER_ with more than two subnets). Correct "
     "or unset the variable; without it the provider uses the HFI nearest to the process.",
     "opainfo; env | grep FI_OPX", "libfabric prov/opx/src/fi_opx_hfi_select.c"},
    {"opx-hfi-failed", host,
     "Unable to open HFI unit|Unable to open a context on HFI unit|opx*link*down|opx*Link down detected|Link has been "
     "down more than|HFI*link is down|opx*Could not read GID|Error opening file*hfi|opx*Detected user specified",
     "The Omni-Path provider (opx) could not use the HFI that it was given: the unit or port does not exist or is not "
     "active, its device file is not accessible, or a value of FI_OPX_HFI_SELECT or FI_OPX_PKEY is wrong.",
     "opainfo; ls -l /dev/hfi1_*; env | grep FI_OPX", "libfabric prov/opx"},
    {"ucx-perftest-affinity", none, "CPU affinity is not set (bound to",
     "Information of ucx_perftest: its process is not bound to one CPU, and its results may vary a little. Harmless. "
     "Bind the process with taskset or numactl for exact results.",
     "taskset -pc PID", "UCX src/tools/perf/perftest.c"},
    {"ucx-gid-config", software,
     "invalid gid[|both GID_INDEX and ROCE_SUBNET_LIST|failed to find a gid which|failed to parse RoCE subnet|wrong "
     "device name:|failed to convert GID|ibv_query_gid(dev|failed to parse gid type",
     "The GID that UCX would use does not exist on this port: UCX_IB_GID_INDEX is out of the table or empty, "
     "UCX_IB_ROCE_SUBNET_LIST excludes all, or UCX_NET_DEVICES names another port. Leave the variables out, or use the "
     "index of the RoCE v2 IPv4 GID.",
     "fabric-agentctl check --only gid; env | grep UCX_", "UCX src/uct/ib/base/ib_device.c"},
    consequence_of("ucx|wc|modify|object|gpu",
                   {"ucx-unfinished", software,
                    "unexpected tag-receive descriptor|was not returned to mpool|was not matched*UCX|UCX*was not "
                    "matched|UCX*were not released|UCX*not completed at",
                    "At its end the program left messages for which it had posted no receive, or requests that it had "
                    "not completed: UCX warns, and frees them. It is about the program, not the network; the results "
                    "up to there are not touched. Match each send with a receive, and complete all requests before "
                    "finalize. UCX_LOG_LEVEL=error hides it.",
                    "env | grep UCX_LOG_LEVEL", "UCX src/ucp/tag/tag_match.c, src/ucs/datastruct/mpool.c"}),
    {"ucx-memory-type", software, "Segmentation fault: invalid permissions for mapped object",
     "The process read or wrote memory that the CPU may not access, mostly memory of a GPU that UCX took for host "
     "memory: UCX was built without CUDA or ROCm, UCX_TLS omits cuda_copy and cuda_ipc (rocm_copy, rocm_ipc), or its "
     "cache of memory types missed the allocation (a static CUDA runtime: UCX_MEMTYPE_CACHE=n).",
     "ucx_info -d | grep -E 'cuda|rocm'; env | grep UCX_", "UCX src/ucs/debug/debug.c ucs_error_signal_handler()"},
    {"ucx-fork", software,
     "a fork() has been issued|fork() warning|ibv_fork_init() was disabled or failed|data corruption might occur when "
     "using registered",
     "The program called fork() or system() after UCX had registered memory: parent or child may see wrong data. Set "
     "RDMAV_FORK_SAFE=1 (UCX_IB_FORK_INIT=y) before the start, use a kernel of 5.12 or newer, or start the child "
     "before MPI_Init. Data loaders of Python: use spawn instead of fork.",
     "uname -r; env | grep -E 'FORK'", "UCX src/uct/ib/base/ib_md.c"},
    {"ucx-gpudirect-missing", host,
     "Couldn't enable GPUDirect RDMA|Please make sure nv_peer_mem|nv_peer_mem, amdgpu plugin|nv_peer_mem*installed "
     "correctly",
     "UCX cannot give GPU memory to this NIC: neither a peer memory module (nvidia_peermem, amdgpu) nor DMA-BUF is "
     "available. Load nvidia_peermem, or use the open kernel module of the driver with DMA-BUF; until then data goes "
     "through host memory.",
     "lsmod | grep peermem; fabric-agentctl check --only gpudirect", "UCX src/uct/ib/base/ib_md.c"},
    {"ucx-cuda-context", software,
     "no active cuda primary context|no cuda context bound to calling thread|no cuda devices available|no device was "
     "found:|cuCtxGetDevice*invalid device context|cuda*invalid device context",
     "UCX needs a CUDA context in the calling thread and finds none: the program has not called cudaSetDevice in this "
     "thread (or before the start of UCX), or the container has no GPU. Set the device first; UCX_TLS=^cuda as a test.",
     "nvidia-smi -L; env | grep VISIBLE_DEVICES", "UCX src/uct/cuda"},
    {"ucx-cma-knem", host,
     "ptrace_scope is|KNEM ABI mismatch|Could not open the KNEM device|xpmem failed to "
     "register|process_vm_readv(pid=|process_vm_writev(pid=|xpmem_get(segid|failed to attach xpmem",
     "UCX cannot copy between the processes of this host: ptrace is restricted (kernel.yama.ptrace_scope, a container "
     "without SYS_PTRACE), or the module KNEM or XPMEM is not loaded or of another release. UCX uses shared memory "
     "instead; UCX_TLS=^cma,knem,xpmem silences it.",
     "sysctl kernel.yama.ptrace_scope; lsmod | grep -E 'knem|xpmem'", "UCX src/uct/sm/scopy, src/uct/sm/mm/xpmem"},
    {"ucx-tcp-connect", network,
     "tcp_ep *: connection establishment|reached maximum number of connection retries|connection establishment "
     "for*from * to * was unsuccessful|connection establishment for socket fd|strict mode (1), connections may "
     "fail|rp_filter is set to|expected lower than*connection",
     "A TCP connection of UCX between two hosts was not made: the address of the interface is not reachable from the "
     "peer (UCX_NET_DEVICES, docker0), a firewall, net.core.somaxconn, or rp_filter in strict mode with several "
     "interfaces in one subnet.",
     "ip route get {peer}; sysctl net.ipv4.conf.all.rp_filter net.core.somaxconn; env | grep UCX_", "UCX src/uct/tcp"},
    {"ucx-rocm-signals", software, "maximum number of signal pool elements|signal mpool creation failed",
     "UCX has no signal object of ROCm left for copies: raise UCX_ROCM_COPY_SIGPOOL_MAX_ELEMS or "
     "UCX_ROCM_IPC_SIGPOOL_MAX_ELEMS, as the line says.",
     "env | grep UCX_ROCM", "UCX src/uct/rocm"},
    {"ucx-am-handler", software,
     "got active message id *, but no handler|UCP Active Message was received with id|is no registered callback for "
     "that id|Invalid data type|attempt to receive AM data with invalid|cannot use a remote key on a different "
     "endpoint|active message header length|atomic variable must be naturally|empty features set passed",
     "A program or library above UCX used its interface wrongly, or the two ends run another release of it: a message "
     "for which no handler is registered, a key or a datatype that does not belong to the endpoint. The network is not "
     "at fault; use one release on all hosts.",
     "ucx_info -v", "UCX src/ucp/core"},
    {"ucx-emulation", software,
     "UCX_PROTO_EMULATION_ENABLE|cannot find remote protocol for|No zero-copy protocol found|endpoint reconfiguration "
     "not supported",
     "UCX finds no protocol for this operation and memory type on the chosen transports: GPU memory without GPUDirect, "
     "or UCX_TLS without rc or cuda. Allow more transports (UCX_TLS=all), or the slower emulation "
     "(UCX_PROTO_EMULATION_ENABLE=y); endpoints of different hosts must see the same devices.",
     "ucx_info -d | grep -E 'Transport|Device'; env | grep UCX_", "UCX src/ucp/proto"},
    {"nvlink-sharp-sizes", software, "Child comms (nRanks|shares resources, but parent comm",
     "A communicator that was split shares the resources of its parent (splitShare, SHARP) and does not fit them. Do "
     "not share (splitShare=0, NCCL_COMM_SPLIT_SHARE_RESOURCES=0), or use the same network for both.",
     "env | grep NCCL_", "NCCL src/init.cc"},
    {"perftest-options", software,
     "only supported with WRITE|--data_validation |Inline feature not available|Events feature not available|is "
     "Available only|Available only on Latency|only available in BW|in BW tests only|works only with Duration|Duration "
     "mode d|run_infinitely|tests with inline|Perftest doesn't support|Perftest supports|must be a multiple of post "
     "list|must be a multiple of receive post|must be a multiple of CQ|aes_xts "
     "|log_dci_streams|log_active_dci_streams|Packet Pacing only|Packet Pacing is only|pps rate limit units|Unknown "
     "rate limit|Invalid rate limit units|Invalid rate limit type|when using Packet Pacing|Invalid MTU - |Please "
     "choose mtu|Raw Ethernet tests|connection not possible in|connection only possible in|supported only on "
     "RC|Signature offload supported|only bw tests|Dual-port mode|Only * Service levels|IB Port can't be less "
     "than|Message Size should be between|Invalid Atomic type|Invalid CPU number|Invalid CPU range|Invalid CPU "
     "list|CPU * out of range. System has|NUMA node * does not exist|--numa_node is|--numa_node "
     "and|--pin_cores|--tph_mem|--cpu_id requires|GPU touch is|Unsupported value for gpu_touch|DMABUF must be enabled "
     "in order|PCIe mapping requires DMA-BUF|DMA-BUF cannot be used without|OpenCL platform ID cannot|Invalid server "
     "UDP port|Invalid client UDP port|Invalid remote UDP port|Invalid local UDP port|Invalid ethertype|invalid "
     "ethertype|Invalid flows value|Invalid burst flow|Flows feature works|Flows is currently|Flows burst|FS rate "
     "test|Latency gap feature|Latency under load|Output verbosity level|Invalid Minimum BW|Invalid Minimum "
     "msgRate|Invalid Command or flag|Please check command line and run again|Duplicated argument: |Multiple QPs "
     "only|MultiCast feature only|Multicast feature works|Using SRQ only|Using Connectionless server|Raw Etherent test "
     "can only run|Invalid link layer value|Write_with_imm can only|Send_with_imm can only|Unsolicited write "
     "receive|For L2 tests you must|For L3 tests You must|For L4 you need|choose server side for|choose client side "
     "for|MAC address by this format|Please increase margin|DURATION > 2|Completion vector specified is "
     "invalid|perftest*must be positive|Bi-Dir is not supported|report per port feature|Specified PKey Index|Setting "
     "Outstanding reads only|Can't use multiple memory types|Scatter2CQE (size|must get three parameters|should get 3 "
     "parameters|flow label must be non-negative|Invalid character in CPU list|--ipv6-addr flag must|must include IP "
     "and Ports|value for hw rate limit|Message size cannot be changed for Atomic|does not support old post "
     "send|doesn't support old post send|supported only with enc/dec|supported only when enc/dec|SRD does not "
     "support|only supports PP rate limiter|is not supported in LAT|data direct is not supported with TPH|On RDMA "
     "verbs rx depth|one of the atomic tests|Failed to parse the performance counter list|Invalid verbosity "
     "level|invalid CUDA memory type|Invalid Neuron Core|Invalid TPH memory type|Invalid remote IP address|Invalid "
     "local IP address|Invalid client IP address|Invalid server IP address|support in LAT and LAT_BY_BW|for source "
     "IP.|Invalid IPv6 source address|Invalid source address.|Payload size should be greater|Failed to parse "
     "DWORD|Invalid hex char in DWORD|MAC address longer than six fields|detected in field|Please provide key "
     "encryption|Please provide data encryption|Please provide credentials|Invalid credentials file|key encryption "
     "key|data encryption key|data_encryption_key|isn't supported for Raw|Can't produce a report|You are not running "
     "the atomic|Failed to set source address|Parser function exited with Error|cannot be used without CUDA|CUDA "
     "DMA-BUF cannot be used|Invalid Command line|does not support RDMA_CM|Please choose from {|Unsupported connection "
     "type",
     "perftest (ib_write_bw and others) rejects its options: one needs another that is missing or comes later on the "
     "command line (--use_cuda=N before --use_cuda_dmabuf), does not fit this test or connection type, or this "
     "perftest was built without it (CUDA, ROCm). Compare with --help of the program.",
     "ib_write_bw --help; ib_write_bw --version", "perftest src/perftest_parameters.c"},
    {"perftest-parameters-differ", software,
     "mismatch: local=|Failed to negotiate parameters|Failed to exchange negotiation parameters|Versions between "
     "server and client do not match|version mismatch*perftest",
     "Client and server of perftest run with different options or versions: give both the same test, -s, -q, -m, "
     "--use_cuda and --report options, and use one release of perftest.",
     "ib_write_bw --version", "perftest src/perftest_communication.c"},
    {"perftest-no-data", network, "Did not get Message for 120 Seconds",
     "A test of perftest stopped while it ran, because no data came for 120 seconds. The path between the ports loses "
     "packets, the MTU (-m) does not pass the switches, or the other side ended: try -m 1024, then look at the "
     "counters of both ports.",
     "fabric-agentctl counters; fabric-agentctl diagnose", "perftest src/perftest_resources.c"},
    consequence_of(
        "wc|perftest",
        wrapping({"perftest-run-failed", unknown,
                  "Error occurred while running|Completion with error at|Failed to complete "
                  "run_iter",
                  "A test of perftest failed while it ran. The status of the completion, in a "
                  "line before this one, decides which side is at fault.",
                  "grep -hE 'Failed status|syndrom' LOG-OF-BOTH-SIDES", "perftest src/perftest_resources.c"})),
    {"perftest-odp", host,
     "isn't ODP capable|doesn't support implicit ODP|ODP * not supported for|ODP Atomics are not supported|ODP is not "
     "available on|T10DIF signature offload is not supported|Packet Pacing isn't supported|Couldn't allocate "
     "TD|Couldn't allocate PAD|Couldn't allocate DMAH|Failed to create DMAH|Couldn't create null MR|No data direct "
     "support|Data Direct is not supported|Device doesn't support dm allocation|Device memory is insufficient|Dev mem "
     "allocation failed|Requested DM size|Failed to allocate device memory of size|Failed to export DM as dmabuf|isn't "
     "completion timestamp capable|Blueflame is not supported|The post send properties are not supported|verb is not "
     "supported with this EFA device|SRD connection was not found|flow steering is not supported|Unable to set up flow "
     "rules|Couldn't attach QP|Couldn't attach promiscuous rule|Couldn't attach SNIFFER rule|Failed to create "
     "mkey|Failed to create dek|RX Depth=* must not exceed|Incompatible OOO settings|RSS isn't supported|Failed to "
     "allocate DV slot|Couldn't allocate parent domain|The device does not support On-Demand Paging|OOO unsupported by "
     "HCA|SRD not detected|XRC not detected|DC not supported",
     "The device, its firmware or this rdma-core does not have the feature that the test asks for (on-demand paging, "
     "out of order, XRC, DC, SRD, AES-XTS): leave the option out.",
     "ibv_devinfo -v -d {rdma}", "perftest src"},
};

}  // namespace

const std::span<const LineMessage> kTransportMessages = kRows;

}  // namespace fabric::lines
