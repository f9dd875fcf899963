// SPDX-License-Identifier: Apache-2.0
// UCX, rdma-core, Open MPI and the providers of libfabric.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kInit = "rdma-core libibverbs/init.c";
constexpr std::string_view kOpenib = "Open MPI opal/mca/btl/openib/help-mpi-btl-openib.txt";
constexpr std::string_view kEfa = "libfabric prov/efa/src/efa_errno.h";
constexpr std::string_view kOfiVerbs = "libfabric prov/verbs/src/verbs_init.c";
constexpr std::string_view kOpx = "libfabric prov/opx/src/fi_opx_hfi1.c";
constexpr std::string_view kPsm3 = "libfabric prov/psm3/psm3/psm_ep.c, psm_verbs_ep.c";
constexpr std::string_view kCxi = "libfabric prov/cxi/src/cxip_cq.c, MPICH src/mpid/ch4/netmod/ofi/ofi_events.c";

constexpr LineMessage kLibraryRows[] = {
    consequence_of(
        "ucx|memlock|object|open|registration",
        wrapping({"ompi-ucx-worker", unknown, "pml_ucx.c*Failed to create UCP worker|pml_ucx.c*Failed to init",
                  "Open MPI could not start UCX. The UCX line before this one has the reason.",
                  "ucx_info -d | grep -E 'Transport|Device'", "Open MPI ompi/mca/pml/ucx/pml_ucx.c"})),
    consequence_of(
        "ucx|wc|ofi|efa|cxi",
        wrapping(
            {"mpich-ucx", peer, "returned failed request in UCX netmod|returned failed request in OFI netmod",
             "MPICH passes on an error of UCX or libfabric. This is a consequence; the line before it has the reason.",
             "grep -hE 'UCX|libfabric' LOG-OF-EVERY-RANK | head", "MPICH src/mpid/ch4/netmod"})),
    // UCX.
    // With these two errnos; others are of resources or of the NIC (calls.cpp).
    {"ucx-queue-pair", software,
     "UCX  ERROR*failed to create * QP *: Invalid argument|UCX  ERROR*failed to create qp: Invalid argument|UCX  "
     "ERROR*create_qp(*failed: Invalid argument|UCX  ERROR*failed to create * QP *: Operation not supported|UCX  "
     "ERROR*failed to create qp: Operation not supported|UCX  ERROR*create_qp(*failed: Operation not supported|UCX  "
     "ERROR ibv_modify_qp(DC",
     "UCX asks for a queue pair of a transport (rc: RC, ud: UD, dc: DC, DCT), or of a size, that the RDMA driver of "
     "the adapter, its firmware or the library does not support, so that UCX cannot open this transport: QLogic "
     "FastLinQ (qedr) and iWARP have no UD, only mlx5 has DC, and a library and a kernel driver of different releases "
     "(MLNX_OFED, inbox) do not fit. Use only the others: UCX_TLS=rc,self,sm (without ud and dc), or tcp; smaller "
     "queues (UCX_RC_TX_QUEUE_LEN, UCX_UD_TX_QUEUE_LEN); update driver, firmware and rdma-core.",
     "ibv_devinfo -v -d {rdma}; ucx_info -d | grep -E 'Transport|Device'", "UCX src/uct/ib/base/ib_iface.c"},
    {"ucx-ud-timeout", network, "ud_iface.c*Endpoint timeout|ud_ep.c*Endpoint timeout|UD endpoint*unhandled timeout",
     "UCX's UD transport sends a packet again until the peer acknowledges it or UCX_UD_TIMEOUT is over, and now gave "
     "up: the path loses packets (link counters, drops, PFC), or the process or the port of the peer is gone. No "
     "status of a completion comes before this line.",
     "fabric-agentctl diagnose {port}; env | grep UCX_UD", "UCX src/uct/ib/ud/base/ud_ep.c"},
    consequence_of(
        "wc",
        {"ucx-endpoint-timeout", peer,
         "UCX*Endpoint timeout|ucp_ep_create*failed: Endpoint timeout|transport error: Endpoint timeout",
         "UCX closed a connection after its retries: the peer is unreachable or gone. This is a consequence; the first "
         "error, with the status of a completion, is the cause.",
         "fabric-agentctl diagnose {port}", "UCX src/ucs/type/status.c"}),
    {"ucx-unreachable", software,
     "Destination is unreachable|UCX*no active messages transport to|UCX*No transports selected to",
     "UCX found no transport that both ends share: UCX_TLS or UCX_NET_DEVICES exclude it, or the peers have different "
     "devices.",
     "ucx_info -d | grep -E 'Transport|Device'", "UCX src/ucp/wireup/select.c"},
    {"ucx-no-device", host, "network device*is not available, please use one or more of",
     "UCX_NET_DEVICES names a device that this node does not have, or that is down.", "fabric-agentctl status",
     "UCX src/ucp/core/ucp_context.c"},
    {"ucx-no-gpu", software, "transport*'cuda*not available, please use|transport*'rocm*not available, please use",
     "This UCX was built without CUDA or ROCm, or does not find their libraries: it has no transport for GPU memory. "
     "Use a UCX with them in the image.",
     "ucx_info -v; ucx_info -d | grep -E 'Transport|Device'", "UCX src/ucp/core/ucp_context.c"},
    {"ucx-no-transport", host,
     "transport '*' is not available, please use one or more of|transports '*' are not available, please use one or "
     "more of",
     "UCX_TLS names a transport that this node does not have: no usable RDMA device, or a UCX without this transport.",
     "ucx_info -d | grep -E 'Transport|Device'; ibv_devinfo -l", "UCX src/ucp/core/ucp_context.c"},
    // UCX, and NCCL on RoCE, always fill in a GID: the netdev of the GID is missing.
    {"modify-qp-netdev", host, "UCX*RTR*No such device|ibv_modify_qp failed with 19 *next state RTR*local GID",
     "The network device of the GID of this RDMA device is gone, or is not in the network namespace of this process: a "
     "container or pod that was given the RDMA device without its netdev. The queue pair does not go to RTR; nothing "
     "was sent. Give the pod the interface of the device too (the resource of the network, RDMA CNI, host network), or "
     "choose a device (UCX_NET_DEVICES, NCCL_IB_HCA) and a GID index with a netdev.",
     "rdma link show; ip -br addr; fabric-agentctl check --only gid", "UCX src/uct/ib, NCCL src/misc/ibvwrap.cc"},
    {"devx-refused", host, "evx object with syndrome|evX object*syndrome",
     "The firmware of the NIC refused to make an object for a program (DEVX): firmware, DOCA and driver do not fit "
     "each other, the function (VF, SF) lacks the privilege, or the objects are used up. The syndrome is the vendor's "
     "code for the reason; keep it for the support.",
     "journalctl -k -g {pci}; mstflint -d {pci} query; rdma resource show",
     "DOCA core linux_devx_obj.cpp, UCX src/uct/ib/mlx5"},
    {"ofi-av-insert", unknown,
     "fi_av_insert: number of addresses inserted|fi_av_insert*ailed|fi_av_insert: ret|fi_av_insert*rror",
     "libfabric could not put the address of the peer into its table (address vector). The verbs provider could not "
     "make an address handle: a GID index without a route to the peer (0 is link-local; FI_VERBS_GID_IDX, show_gids), "
     "or no neighbor answer. In other providers the address is of another provider or format than this endpoint: use "
     "the same provider and version on both hosts.",
     "env | grep FI_; fi_info -l; fabric-agentctl check --only gid; ip neigh", "libfabric fi_av(3), util/pingpong.c"},
    {"ucx-devx", host,
     "mlx5dv_devx_obj_create(*failed|mlx5dv_devx_obj_modify(*failed|mlx5dv_create_cq(*failed|Error in "
     "mlx5dv_devx_obj_create",
     "The firmware of the NIC refused a command (DEVX: another queue, memory key or object) or did not answer: it "
     "hangs, is too old, or lacks the resource. The kernel log has a line of mlx5_core with the same syndrome. Update "
     "the firmware; fewer endpoints and channels, or UCX_IB_MLX5_DEVX=n, as a test.",
     "journalctl -k -g {pci}; devlink health show pci/{pci}", "UCX src/uct/ib/mlx5/dv/ib_mlx5_dv.c, NVSHMEM ibgda.cpp"},

    {"ucx-transport-missing", software, "UCX*Cannot use */|UCX*annot use transport|UCX*does not support transport",
     "The device does not offer this transport (ud, rc, dc) to UCX: its driver or rdma-core is too old for it, or "
     "never has it. Use a newer driver, or exclude the transport (UCX_TLS=rc,self,sm).",
     "ucx_info -d | grep -E 'Transport|Device'; uname -r", "UCX src/tools/perf, src/ucp/core/ucp_context.c"},
    {"ucx-pkey", software, "unable to find specified pkey|there is no valid pkey to use on",
     "The port has no partition of this key (UCX_IB_PKEY): the subnet manager did not make it a member. On RoCE leave "
     "the variable unset.",
     "grep . /sys/class/infiniband/{rdma}/ports/*/pkeys/0; echo $UCX_IB_PKEY", "UCX src/uct/ib/base/ib_iface.c"},
    {"ucx-relaxed-ordering", software, "IB_PCI_RELAXED_ORDERING=yes requires",
     "UCX_IB_PCI_RELAXED_ORDERING=yes needs a newer rdma-core or driver than the image has: use try or auto, or a "
     "newer rdma-core.",
     "echo $UCX_IB_PCI_RELAXED_ORDERING; ibv_devinfo -v -d {rdma}", "UCX src/uct/ib/base/ib_md.c"},
    {"ucx-mnnvl", software, "multi-node NVLINK support is requested but not supported",
     "UCX_CUDA_IPC_ENABLE_MNNVL is set on a host without NVLink between nodes, or whose fabric or IMEX is not set up.",
     "nvidia-smi -q | grep -A 3 Fabric; systemctl status nvidia-imex", "UCX src/uct/cuda/cuda_ipc/cuda_ipc_md.c"},
    {"ucx-link-local", software, "sgix*dgid fe80:",
     "Detail of a failed request: the peer was addressed by its link-local GID (fe80::), which reaches its own segment "
     "only. Choose the GID index of the RoCE v2 IPv4 address (UCX_IB_GID_INDEX); tc is the traffic class.",
     "fabric-agentctl topo --format nccl; echo $UCX_IB_GID_INDEX", "UCX src/uct/ib/mlx5/ib_mlx5_log.c"},
    consequence_of("wc", wrapping({"ucx-request", unknown, "ib_mlx5_log.c*wqe[",
                                   "Detail of a request that failed: queue pair, peer (dgid, dlid), GID index (sgix) "
                                   "and traffic class (tc). The line before it has the status.",
                                   "fabric-agentctl diagnose {port}", "UCX src/uct/ib/mlx5/ib_mlx5_log.c"})),
    {"ucx-no-accelerated", software, "accelerated IB support was not found",
     "UCX in the image was built without the vendor's support (mlx5): RDMA is slower. Use a UCX that was built with "
     "rdma-core's mlx5 provider.",
     "ucx_info -v; ucx_info -d | grep -E 'Transport|Device'", "NIXL src/utils/ucx/ucx_utils.cpp"},

    {"ompi-memory-hooks", none, "using OPAL memory hooks as external events",
     "No fault: Open MPI reports freed memory to UCX.", "ucx_info -v", "Open MPI opal/mca/common/ucx/common_ucx.c"},

    // rdma-core.
    {"verbs-abi-software", software, "Driver rxe does not support the kernel|Driver siw does not support the kernel",
     "The libibverbs provider of a software RDMA device, rxe or siw, does not fit the kernel: install a newer "
     "rdma-core.",
     "ibv_devinfo -l; uname -r", kInit},
    {"verbs-other-driver", none,
     "does not support the kernel ABI of*infiniband/rxe|does not support the kernel ABI of*infiniband/siw",
     "No fault: libibverbs tried the provider of another driver on a software RDMA device, rxe or siw. The device "
     "works if ibv_devinfo lists it.",
     "ibv_devinfo -l; ls /etc/libibverbs.d", kInit},
    {"verbs-abi", software, "does not support the kernel ABI of",
     "The libibverbs provider of the container or host does not fit the kernel's driver, and its devices are missing: "
     "both must come from the same driver release.",
     "ibv_devinfo -l; uname -r", kInit},
    {"verbs-no-provider", software,
     "no userspace device-specific driver found for|couldn't open config directory '*libibverbs.d",
     "libibverbs has no provider library for the device (libmlx5, libbnxt_re, libirdma, libionic, ...), and does not "
     "offer it, although the kernel has it. Install ibverbs-providers (Debian, Ubuntu) or the vendor's library in the "
     "image of the container, or on the host.",
     "ls /etc/libibverbs.d; ibv_devinfo -l", kInit},
    {"verbs-comp-mask", software, "invalid comp_mask",
     "The program asks the verbs library for fields that it does not know, or passes a mask (comp_mask) that it has "
     "not set: program and library (MLNX_OFED 4, ibv_exp_) are of different releases, as with the openib BTL of Open "
     "MPI up to 4.0. The device is not at fault; most programs go on over another transport. Use UCX (--mca pml ucx "
     "--mca btl ^openib), or build the program for the library of this host.",
     "ofed_info -s; ompi_info | grep -E 'ucx|openib'", "MLNX_OFED libibverbs"},
    {"cxgb4-old-driver", host, "libcxgb4 warning*downlevel iw_cxgb4 driver",
     "The kernel's driver iw_cxgb4 is older than the library of rdma-core. Update the kernel or the driver.",
     "modinfo iw_cxgb4; uname -r", "rdma-core providers/cxgb4/dev.c"},
    {"verbs-two-releases", software,
     "couldn't load driver*IBVERBS_PRIVATE_|couldn't load driver*not found (required by|couldn't load driver*undefined "
     "symbol",
     "libibverbs and the provider library of a NIC are of different releases: two versions of rdma-core (or OFED) are "
     "mixed, mostly by LD_LIBRARY_PATH or an image that has libraries of the host mounted over its own. The devices of "
     "this provider are missing; without such a NIC it does no harm. Use both from one release.",
     "echo $LD_LIBRARY_PATH; ldconfig -p | grep -E 'ibverbs|mlx'; ls /etc/libibverbs.d", kInit},
    {"verbs-provider-missing", software,
     "couldn't load driver 'libmlx5|couldn't load driver 'libbnxt_re|couldn't load driver 'libionic|couldn't load "
     "driver 'libirdma|couldn't load driver 'libefa|couldn't load driver 'libhns|couldn't load driver 'liberdma",
     "The provider library of a NIC is missing, or of another rdma-core release: where this NIC is in the node, its "
     "devices are missing. Install ibverbs-providers (rdma-core) of the release of libibverbs in the image. Without "
     "such a NIC, the file in /etc/libibverbs.d that names it does no harm.",
     "ibv_devinfo -l; ls /sys/class/infiniband /etc/libibverbs.d", kInit},
    {"verbs-no-driver", none, "libibverbs: Warning: couldn't load driver",
     "Information: a file in /etc/libibverbs.d names the library of a device (its provider) that is not installed. "
     "This is harmless unless the NIC needs this provider.",
     "ls /etc/libibverbs.d; ibv_devinfo -l", kInit},
    {"verbs-no-sysfs", host, "couldn't stat '/sys/class/infiniband/",
     "The container has /dev/infiniband of this device but not its entry in /sys: the device belongs to another "
     "network namespace.",
     "rdma system show; ls /sys/class/infiniband", kInit},
    {"smp-no-answer", network, "umad (*bad status 110",
     "A node of the subnet did not answer a management packet: it is down, its link has errors, or it restarts.",
     "iblinkinfo; ibqueryerrors", "rdma-core libibnetdisc/query_smp.c"},
    {"verbs-abi-fatal", software, "kernel ABI version * doesn't match library version",
     "libibverbs of the image does not fit the kernel: install a newer rdma-core.", "ibv_devinfo -l; uname -r", kInit},
    {"library-fork", software,
     "executed an operation involving a call*to the|libfabric EFA provider is operating in|Open MPI is currently "
     "operating in a condition that could",
     "The program called fork() or system() while memory was registered for RDMA, and fork support is off: parent or "
     "child may see wrong data, and libfabric ends the job. Set FI_EFA_FORK_SAFE=1 (EFA) or RDMAV_FORK_SAFE=1 for all "
     "ranks, use a kernel of 5.13 or newer, or do not fork: data loaders of Python with spawn.",
     "uname -r; env | grep FORK", "libfabric prov/efa, Open MPI help-opal-runtime.txt"},
    {"sysv-shm-huge-pages", host, "shmget(*Operation not permitted|shmget*: Operation not permitted",
     "A segment of System V shared memory with huge pages (SHM_HUGETLB) is not permitted to this user (EPERM); no "
     "limit is reached. Permit it (vm.hugetlb_shm_group with the group of the user, or CAP_IPC_LOCK in the "
     "container), or leave huge pages off (UCX_SYSV_HUGETLB_MODE=no, UCX_MM_HUGETLB_MODE=no).",
     "sysctl vm.hugetlb_shm_group vm.nr_hugepages; id; env | grep HUGETLB", "shmget(2), UCX src/ucs/sys/sys.c"},
    {"sysv-shm-limit", host, "shmget(*No space left|shmget(*error|shmget*fail|shmget: |semget*No space left",
     "A segment of System V shared memory could not be made (shmget): the limit of its size (kernel.shmmax), of all "
     "sizes (kernel.shmall) or of the number of segments (kernel.shmmni; ENOSPC) is reached, or huge pages are "
     "missing. Raise the limit, and remove stale segments of killed jobs (ipcs -m, ipcrm); or configure a smaller "
     "pool. The network is not at fault.",
     "ipcs -lm; ipcs -m; sysctl kernel.shmmni kernel.shmmax kernel.shmall; grep Huge /proc/meminfo", "shmget(2)"},
    {"verbs-fork", host, "fork()-safety requested but init failed",
     "fork() safety is not available: kernel or library are too old, or the memlock limit is too low. Unset "
     "RDMAV_FORK_SAFE and IBV_FORK_SAFE, or update the kernel.",
     "uname -r; ulimit -l", kInit},
    {"verbs-no-devices", host,
     "No IB devices found|no IB devices found|No RDMA devices found|no RDMA devices found|IB device not found|No "
     "InfiniBand devices found|Failed to get IB devices list|no RDMA capable device",
     "The program found no RDMA device: none is in the container (/dev/infiniband, another network namespace), its "
     "driver or the provider library in the image is missing.",
     "ls -l /dev/infiniband /sys/class/infiniband; rdma system show; ibv_devinfo -l", "rdma-core libibverbs/device.c"},
    {"verbs-resolver", network, "Neigh resolution process failed|resolver: Failed",
     "libibverbs could not resolve the address of the peer: no answer to ARP or neighbor discovery, or no route.",
     "ip route get {peer}; ip neigh show dev {netdev}", "rdma-core libibverbs/neigh.c"},
    {"verbs-umad", host, "can't open UMAD port|umad_init|ibpanic:*failed to open|ibwarn*mad_rpc_open_port",
     "The device for management packets cannot be opened: the module ib_umad is not loaded (modprobe ib_umad), "
     "/dev/infiniband/umad is not in the container, or the port is Ethernet. On RoCE only tools of InfiniBand need it.",
     "ls -l /dev/infiniband; lsmod | grep ib_umad", "rdma-core libibumad/umad.c"},
    {"memlock-limit", host,
     "no mlock permission|UCX  WARN *mlock(*failed|BTL failed to initialize while trying to|memlock limits are set too "
     "low|lease check max locked memory|lease set max locked memory|libibverbs: Warning: RLIMIT_MEMLOCK "
     "is|OMPI_ERR_OUT_OF_RESOURCE*openib",
     "The memlock limit of the process is too low for RDMA; this is not a lack of RAM. Services ignore limits.conf: "
     "set LimitMEMLOCK=infinity in the unit of slurmd, sshd or containerd. It is harmless if the job does not use this "
     "NIC and goes on: UCX tries every NIC.",
     "ulimit -l; fabric-agentctl check --only memlock",
     "UCX src/uct/ib/base/ib_log.c, rdma-core libibverbs/init.c, Open MPI help-mpi-btl-openib.txt"},
    {"rdma-send-only-member", network, "Unable to multicast join|SM doesn't support Send Only Full Member",
     "The subnet manager of the InfiniBand fabric does not know members of a multicast group that only send, and the "
     "join of a program fails. Update the subnet manager (OpenSM), or let the program join as a full member.",
     "sminfo; saquery -g", "Linux drivers/infiniband/core/cma.c"},
    {"ofi-port-mtu", host, "reports an unrecognized MTU",
     "The port of this RDMA device reports no valid MTU: it is down or not set up, or its driver is older than the "
     "MTU. Look at the state of the port, and bring it up.",
     "ibv_devinfo -d {rdma}; rdma link show", "libfabric prov/verbs/src/verbs_info.c"},
    {"ofi-private-data", software, "CM data overflow|private data*too large|private data*too long|private data*exceeds",
     "The program gives more private data with its connection request than the connection manager can send in this "
     "mode (XRC and RDMA CM add data of their own). Send less, or use another mode (FI_VERBS_PREFER_XRC=0).",
     "env | grep FI_VERBS", "libfabric prov/verbs/src/verbs_cm.c"},
    {"ucx-port-absent", software, "UCX  ERROR *failed to find port",
     "UCX is configured to use a device or port that this host does not have: UCX_NET_DEVICES, or the program, names "
     "it. Correct the name (ucx_info -d lists them), or give the container the device.",
     "ucx_info -d | grep Device; env | grep UCX_NET_DEVICES", "UCX src/uct/ib/base/ib_device.c"},
    {"rdmacm-removed", host, "RDMA_CM_EVENT_DEVICE_REMOVAL|cma detected device removal|device removal event",
     "The RDMA device was removed while it was in use: its driver was unloaded or reset, or it was moved to another "
     "network namespace.",
     "journalctl -k -g {rdma}; rdma link show", "rdma-core librdmacm/cma.c"},
    consequence({"rdmacm-disconnected", peer, "RDMA_CM_EVENT_DISCONNECTED|RDMA_CM_EVENT_TIMEWAIT_EXIT",
                 "The peer closed the connection. This is a consequence unless the job had just ended.",
                 "ping -c 3 {peer}", "rdma-core librdmacm/cma.c"}),
    {"rdmacm-unreachable", network, "CM_EVENT_UNREACHABLE",
     "The peer did not answer the connection request: no path for its answer, a firewall, or its node is down.",
     "ping -c 3 {peer}", "rdma-core librdmacm/cma.c"},
    {"rdmacm-rejected", peer,
     "RDMA_CM_EVENT_REJECTED|: rejected (8)|Unexpected CM event bl blka 8|onnection rejected|onnect request rejected",
     "The peer rejected the connection: nothing listens on this port there, or its program refused it for a reason of "
     "its own (IB_CM_REJ_CONSUMER_DEFINED).",
     "ping -c 3 {peer}", "rdma-core librdmacm/cma.c"},
    // rping_bind_client(), rping_connect_client(), rping_accept(): the state is one of rping's own, -1 is not an errno.
    consequence({"rdmacm-step", unknown,
                 "wait for CONNECTED state|waiting for addr/route resolution state|wait for CONNECT_REQUEST state|"
                 "wait for CONNECTED error|wait for RDMA_*state|^connect error -1",
                 "A program on librdmacm (rping) did not reach the next step of its connection. Neither the number of "
                 "the state nor -1 is an errno. The event before this line decides: ADDR_ERROR and ROUTE_ERROR are of "
                 "the path, REJECTED of the peer's program, UNREACHABLE of a peer that does not answer.",
                 "rdma link show; ping -c 3 {peer}", "rdma-core librdmacm/examples/rping.c"}),
    {"rdmacm-unexpected", network, "Unexpected CM event",
     "The connection was not made: librdmacm reported another event than the program waited for, by its number in "
     "rdma_cma.h: 1 and 3 for an address or a route that is not resolved, 6 and 7 for a peer that did not answer.",
     "ip route get {peer}; ping -c 3 {peer}", "perftest src/perftest_communication.c"},

    // Open MPI.
    {"ompi-init-device", software, "There was an error initializing an OpenFabrics device",
     "The openib BTL of this Open MPI does not know the RDMA device, or could not open it: use UCX (--mca pml ucx), "
     "and exclude openib (--mca btl ^openib).",
     "ibv_devinfo -d {rdma}; ompi_info | grep ucx", kOpenib},
    {"ompi-partial-registration", host, "configured to only allow registering part of your physical memory",
     "A parameter of the driver limits how much memory can be registered (the translation table of mlx4_core: "
     "log_num_mtt, log_mtts_per_seg), and large jobs fail or hang. Raise it to twice the memory of the host.",
     "grep . /sys/module/mlx4_core/parameters/log_num_mtt", kOpenib},
    {"ompi-no-parameters", none, "No preset parameters were found for the device that Open MPI detected",
     "Information: the old openib BTL has no parameters for this NIC and uses defaults. Harmless, but it may be "
     "slower: use the UCX PML.",
     "ompi_info | grep ucx", kOpenib},
    {"ompi-openib-unused", none, "By default, for Open MPI 4.0 and later, infiniband ports on a device",
     "Information: the old openib BTL does not use this port, but leaves it to UCX. Harmless if this Open MPI has the "
     "UCX PML; without it Open MPI uses TCP. --mca btl ^openib removes the message.",
     "ompi_info | grep ucx", kOpenib},
    {"ompi-no-pml", unknown, "No components were able to be opened in the pml framework",
     "None of the requested PMLs can be used on this node: UCX or its libraries cannot be loaded, UCX finds no RDMA "
     "device, this Open MPI was built without UCX, or --mca pml names one that it does not have.",
     "ompi_info | grep ucx; ldd LIBDIR/openmpi/mca_pml_ucx.so; ucx_info -d | grep -E 'Transport|Device'",
     "Open MPI opal/mca/base/help-mca-base.txt"},
    {"ompi-libfabric", software, "Open MPI failed an OFI Libfabric library call",
     "A libfabric call failed; the lines after this one name the call and the provider.", "fi_info -l",
     "Open MPI opal/mca/common/ofi/help-common-ofi.txt"},
    {"ompi-tcp-interface", software, "Open MPI failed to TCP connect to a peer MPI process",
     "Open MPI took an address that the peer cannot reach: a bridge of containers, a link-local address (169.254), or "
     "another network. Name the network of the hosts with --mca btl_tcp_if_include, or the peer's process ended.",
     "ip -br addr", "Open MPI opal/mca/btl/tcp/help-mpi-btl-tcp.txt"},
    {"mpich-shm", software, "MPIDU_Init_shm_init*unable to allocate shared memory",
     "MPICH could not make its shared memory segment: /dev/shm is full or too small in the container, or the launcher "
     "gave the ranks a wrong list of those that share a host (PMI).",
     "df -h /dev/shm", "MPICH src/mpid/common/shm/mpidu_init_shm.c"},
    {"ompi-lost-daemon", peer, "has lost communication with a remote daemon|unable to complete a TCP connection",
     "mpirun lost the daemon of a node, or a daemon does not reach another one: that node crashed, its management "
     "network failed, or a firewall is between.",
     "ping -c 3 {peer}", "Open MPI orte/mca/errmgr, PRRTE src/mca/errmgr"},

    // libfabric's providers.
    {"ofi-no-provider", host,
     "fi_getinfo() call failed|fi_getinfo: -61|fi_getinfo*No data available|OFI fi_getinfo*fail|fi_getinfo(*) "
     "failed|OFI addrinfo() failed*No data available",
     "libfabric found no provider that has a device here and all that the program requires: FI_PROVIDER (of Intel MPI "
     "also I_MPI_OFI_PROVIDER) names one without its hardware, or a provider without hardware hides the others; no "
     "interface has an address; or the container has the library and no device. MPI: try FI_PROVIDER=tcp as a test. "
     "EFA: start the container with /dev/infiniband/uverbs of all EFA devices (--device, or the EFA device plugin) and "
     "unlimited memlock; its provider also ends if another verbs device is visible and cannot be opened, so mount no "
     "hostPath of /dev/infiniband.",
     "fi_info -l; FI_LOG_LEVEL=warn fi_info; env | grep -E 'FI_|I_MPI'; ls -l /dev/infiniband",
     "libfabric src/fabric.c, MPICH src/mpid/ch4/netmod/ofi/init_provider.c, aws-ofi-nccl src/nccl_ofi_ofiutils.c"},
    wrapping({"ofi-no-protocol", host, "Unable to find a protocol that worked",
              "Neither protocol of NCCL's libfabric plugin could start: no EFA device in the container, or a libfabric "
              "that is too old. The line before it has the reason.",
              "fi_info -p efa; ls -l /dev/infiniband", "aws-ofi-nccl src/nccl_ofi_net.c"}),
    {"ofi-option", software, "NET/OFI*Protocol not available|NET/OFI*rotocol not supported",
     "The libfabric provider in use does not know this option: it is not EFA, or too old. Use the libfabric of the EFA "
     "installer.",
     "fi_info -p efa; fi_info --version", "aws-ofi-nccl src/nccl_ofi_rdma.c"},
    {"ofi-open", host,
     "NET/OFI Couldn't open |NET/OFI*Could not open|NET/OFI*fi_fabric|NET/OFI*fi_domain|NET/OFI*fi_endpoint",
     "NCCL's libfabric plugin could not open an object of the device: it never got its EFA device, or lost it. The "
     "number is libfabric's error.",
     "fi_info -p efa; ls -l /dev/infiniband", "aws-ofi-nccl src/nccl_ofi_ofiutils.c"},
    {"ofi-rails", software, "number of remote control rails|number of remote rails",
     "The peer uses another number of network devices (rails): another kind of instance, a container without all "
     "devices, or other settings of the plugin (OFI_NCCL variables) or version.",
     "fi_info -p efa; env | grep OFI_NCCL", "aws-ofi-nccl src/nccl_ofi_rdma.cpp"},
    {"ofi-test-expected", none, "entry as expected:",
     "A test of libfabric (fabtests) got the error that it asked for: no fault.", "fi_info -l", "libfabric fabtests"},
    {"efa-receive-buffers", host, "ailure to post internal receive buffers|FI_EFA_ERR_INTERNAL_RX_BUF_POST",
     "libfabric's EFA provider could not register or post its own receive buffers: the memlock limit of the process "
     "(ulimit -l; LimitMEMLOCK of the service that starts the job) is too low, or huge pages are used up.",
     "ulimit -l; fabric-agentctl check --only memlock", "libfabric prov/efa"},
    {"ofi-provider-absent", host, "Requested OFI provider|No provider found*verbs|fi_getinfo*no provider matches",
     "libfabric on this host does not offer the provider that the program asks for (verbs, cxi, efa): libfabric was "
     "built without it, it is another libfabric (LD_LIBRARY_PATH), or the host or container has no device for it. "
     "Compare fi_info -l with the list of RDMA devices.",
     "fi_info -l; fi_info -p verbs; ibv_devices", "Mercury src/na/na_ofi.c"},
    {"ofi-no-match", host, "fi_getinfo: provider*output empty list",
     "This provider found no device for the request: none is in the container, its driver is not loaded, or it lacks a "
     "capability that the program needs.",
     "fi_info -l; ls -l /dev/infiniband", "libfabric src/fabric.c"},
    {"ofi-nccl-plugin", host, "NET/OFI aws-ofi-nccl initialization failed",
     "NCCL's libfabric plugin could not start, and NCCL uses its own transports: on EFA that is TCP. The lines before "
     "this one name the reason.",
     "fi_info -p efa", "aws-ofi-nccl src/nccl_ofi_net.c"},

    // verbs: VRB_WARN_ERRNO prints the function and the errno.
    {"verbs-no-device", host,
     "verbs:*rdma_create_id: No such device|verbs:*rdma_create_id: No such file|rdma_create_event_channel "
     "failed|rdma_create_event_channel: No such|librdmacm*read ABI version|librdmacm*unable to get RDMA device list",
     "librdmacm found no RDMA device: the driver of the NIC or the module rdma_ucm is not loaded (modprobe rdma_ucm, "
     "ibv_devices), or /dev/infiniband/rdma_cm is not in the container.",
     "ls -l /dev/infiniband; lsmod | grep rdma_cm", kOfiVerbs},

    // cxi (Slingshot).
    {"cxi-undeliverable", network, "OFI poll failed*UNDELIVERABLE|cxi:*UNDELIVERABLE",
     "The NIC gave up after its retries: the link or the node of the peer is down, or the network lost the packets.",
     "cxi_stat; dmesg | grep -i cxi", kCxi},
    {"cxi-no-target", peer, "OFI poll failed*PTLTE_NOT_FOUND|cxi:*PTLTE_NOT_FOUND",
     "The endpoint of the peer does not exist (any more): its process ended, or has not enabled it yet.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", kCxi},
    {"cxi-vni", software, "OFI poll failed*VNI_NOT_FOUND|cxi:*VNI_NOT_FOUND",
     "The peer does not take part in this virtual network (VNI): the ranks were started as different jobs.",
     "echo $SLINGSHOT_VNIS", kCxi},
    {"cxi-cq-exhausted", software, "suspects a hang due to completion queue exhaustion",
     "The completion queue is full: the job has more operations in flight than it has entries. Raise "
     "FI_CXI_DEFAULT_CQ_SIZE.",
     "echo $FI_CXI_DEFAULT_CQ_SIZE", kCxi},

    // opx and psm2 (Omni-Path), psm3.
    {"opx-no-device", host, "detected no HFIs, cannot continue",
     "No Omni-Path NIC was found: its driver (hfi1) is not loaded, or the NIC is not on the bus.",
     "lspci -d 8086:24f0; lsmod | grep hfi1", kOpx},
    {"opx-no-active-port", cable, "HFI has no active ports, cannot continue|PSM2 no hfi units are active",
     "No port of an Omni-Path NIC of this host is active. PortState of opainfo decides: Offline or Polling is a cable, "
     "module or switch port; Init a fabric manager that has not configured it. The peers take no part.",
     "opainfo", "libfabric prov/opx/src/fi_opx_hfi1.c, opa-psm2 psm_ep.c"},
    {"opx-open", host, "active HFI device*unable to open",
     "The Omni-Path NICs are active and cannot be opened: all contexts are in use, or /dev/hfi1_* denies access.",
     "ls -l /dev/hfi1_*; grep . /sys/class/infiniband/hfi1_*/nfreectxts", kOpx},
    {"opx-pkey", network, "specified FI_OPX_PKEY of*internal driver error|Unable to get default Pkey",
     "The partition key is not in the table of the port: the fabric manager did not assign it.",
     "grep . /sys/class/infiniband/*/ports/*/pkeys/0", kOpx},
    // PSM decides this without a packet.
    {"psm-devices", software,
     "endpoints could not be connected because|PSM*Endpoint could not be reached|attempting to run multi-node job "
     "without",
     "PSM has no device that could reach the endpoint: PSM2_DEVICES (PSM3_DEVICES) leaves out the NIC (hfi, nic) for "
     "ranks of other hosts or shm for those of this host, or the endpoint is of another subnet. Nothing was sent, so "
     "that neither the network nor the other host is at fault. Unset the variable.",
     "env | grep -E 'PSM2_DEVICES|PSM3_DEVICES'; opainfo", "opa-psm2 psm_ep_connect.c, libfabric prov/psm3"},
    {"psm-differs", software,
     "Connect packet too small|is incompatible with local epid protocol|Mismatched address format: remote EP|Confirm "
     "all nodes are running the same interconnect|Trying to connect to a HFI*different subnet|mismatched PSM3_RDMA "
     "config|Mismatched protocol: remote EP|PSM*UUID key mismatch|PSM*Incompatible PSM version|PSM*Invalid MTU",
     "The two ends of a PSM connection (Omni-Path, PSM3) do not fit each other: another interconnect, subnet, address "
     "format, MTU, PSM version or key of the job. Compare interconnect, PSM3_ADDR_FMT, variables and library on both "
     "hosts.",
     "opainfo; fi_info -p psm3; env | grep PSM", "libfabric prov/psm3, opa-psm2 ptl_ips/ips_proto_connect.c"},
    // A connect request is sent again until an answer comes.
    on_silence({"psm-connect", unknown,
                "psm*ep_connect*timed out|psm*ep_connect*timeout|PSM2 endpoint*connect|Couldn't connect to * "
                "endpoint|Couldn't connect to *Time elapsed *Still trying|Detected connection timeout|unable to "
                "connect to remote endpoint*psm",
                "PSM (Omni-Path, PSM3) got no answer from the endpoint of another rank in time. That does not show the "
                "place: the other rank has ended (at the end of a job it may have finished before) or does not run "
                "yet, its port or that of this host is down, or the path loses packets. The output of the other rank "
                "decides first. Then compare: one rank in the lines of many hosts is the place; one host that reports "
                "many ranks is. FI_PSM2_CONN_TIMEOUT and FI_PSM3_CONN_TIMEOUT only help a slow start.",
                "opainfo; fi_info -p psm3; env | grep PSM",
                "libfabric prov/psm3, opa-psm2 ptl_ips/ips_proto_connect.c"}),
    {"psm3-open", host,
     "PSM3 can't open nic unit|Unable to initialize verbs NIC|Unable to initialize * NIC /sys/class/",
     "PSM3, a provider of libfabric, cannot use this NIC; the lines before this one name the call that failed "
     "(memlock, /dev/infiniband, a device or its library without what PSM3 needs). PSM3 is not needed on a single "
     "node: FI_PROVIDER chooses another one (verbs, tcp), PSM3_NIC another NIC.",
     "ulimit -l; ls -l /dev/infiniband; env | grep -E 'FI_PROVIDER|PSM3'", kPsm3},

    // EFA.
    {"efa-unresponsive-handshake", network,
     "Unresponsive receiver*reachable by EFA device but handshake failed|with error. RC: *Error: 4126|prov_errno*4126",
     "The EFA device reaches the peer, but the handshake fails: the peer's process is not ready, or a security group "
     "lacks the rule to or from itself.",
     "rdma link show", kEfa},
    {"efa-unresponsive", peer,
     "Unresponsive receiver*connection previously established|Unresponsive remote*was previously responsive|with "
     "error. RC: *Error: 4124|prov_errno*4124",
     "The peer stopped answering: its process or instance is gone or hangs.", "fabric-agentctl counters", kEfa},
    {"efa-unreachable", network, "Unreachable remote*never received a response",
     "The peer never answered: wrong subnet or security group, or the instance is down. The security group must allow "
     "all traffic to and from itself, and both instances need the same subnet.",
     "rdma link show", kEfa},
    {"efa-rnr", peer, "Destination resource not ready*no work queue entries posted on receive queue",
     "The peer had posted no receive: its application is slow or hangs.", "fabric-agentctl counters", kEfa},
    {"efa-local-memory", software, "Local memory registration is invalid, has insufficient access flags",
     "The buffer of this host is not registered, or was freed during the transfer.",
     "lsmod | grep -E 'efa|nvidia_peermem'", kEfa},
    {"efa-remote-memory", peer, "Remote memory registration is invalid, has insufficient access flags",
     "The buffer of the peer is not registered, or its process ended.", "fabric-agentctl counters", kEfa},
    {"efa-bad-qp", peer, "Bad queue pair*QP does not exist or is in error state",
     "The queue pair of the peer is gone: its process ended or restarted.", "fabric-agentctl counters", kEfa},
    {"efa-reset", peer,
     "rror: 8 (Connection was reset by remote peer|prov_errno*Connection was reset by remote peer|efa*Connection was "
     "reset by remote peer",
     "The peer reset the connection: its process ended.", "fabric-agentctl counters", kEfa},
};

}  // namespace

const std::span<const LineMessage> kLibraryMessages = kLibraryRows;

}  // namespace fabric::lines
