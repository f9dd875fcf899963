// SPDX-License-Identifier: Apache-2.0
#include "loglines/loglines.h"

namespace fabric::loglines {
namespace {

using enum Cause;

constexpr std::string_view kWc =
    "rdma-core libibverbs/verbs.h, Linux drivers/infiniband/core/verbs.c, NCCL src/transport/net_ib.cc, UCX "
    "ib_mlx5_log.c";
constexpr std::string_view kAsync = "rdma-core libibverbs/enum_strs.c, NCCL src/transport/net_ib.cc, UCX ib_device.c";
constexpr std::string_view kNcclVerbs = "NCCL src/misc/ibvwrap.cc";
constexpr std::string_view kNcclSocket = "NCCL src/misc/socket.cc";
constexpr std::string_view kNcclNet = "NCCL src/transport/net_ib.cc";
constexpr std::string_view kInit = "rdma-core libibverbs/init.c";
constexpr std::string_view kOpenib = "Open MPI opal/mca/btl/openib/help-mpi-btl-openib.txt";
constexpr std::string_view kEfa = "libfabric prov/efa/src/efa_errno.h";
constexpr std::string_view kOfiVerbs = "libfabric prov/verbs/src/verbs_init.c";
constexpr std::string_view kOpx = "libfabric prov/opx/src/fi_opx_hfi1.c";
constexpr std::string_view kPsm3 = "libfabric prov/psm3/psm3/psm_ep.c, psm_verbs_ep.c";
constexpr std::string_view kCxi = "libfabric prov/cxi/src/cxip_cq.c, MPICH src/mpid/ch4/netmod/ofi/ofi_events.c";
constexpr std::string_view kHealth = "Linux drivers/net/ethernet/mellanox/mlx5/core/health.c";
constexpr std::string_view kEvents = "Linux drivers/net/ethernet/mellanox/mlx5/core/events.c";
constexpr std::string_view kReporter = "devlink health show pci/{pci}";
constexpr std::string_view kModule = "ethtool -m {netdev}";
constexpr std::string_view kXid = "NVIDIA open-gpu-kernel-modules, NVIDIA's Xid catalog";
constexpr std::string_view kPerftest = "perftest src/perftest_communication.c";

constexpr Message kMessages[] = {
    // Work completions that failed: the texts of enum ibv_wc_status in libraries that print no number.
    {"wc-local-length", software, "local length error|Local length on ",
     "A message is longer than the receive that was posted for it. The application or library has a bug, or the peers "
     "run different versions.",
     "grep -h 'NCCL version' FILE", kWc, 1},
    {"wc-local-qp", software, "local QP operation error|Local QP operation on ",
     "The NIC rejected the work request of this host as inconsistent with its queue pair.", "journalctl -k -g {pci}",
     kWc, 2},
    {"wc-local-eec", software, "local EE context operation error",
     "The NIC rejected the work request: error in the end-to-end context of a reliable datagram.",
     "journalctl -k -g {pci}", kWc, 3},
    {"wc-local-protection", software, "local protection error|Local protection on ",
     "The NIC could not access the buffer of this host: it is not registered, was deregistered or freed during the "
     "transfer, or GPUDirect RDMA cannot read it (IOMMU, ACS, nvidia-peermem).",
     "fabric-agentctl check --only iommu,acs,gpudirect", kWc, 4},
    {"wc-flushed", peer, "Work Request Flushed Error|WR flushed",
     "The queue pair was already in the error state, and this request was discarded. This is a consequence: the first "
     "error of this queue pair, on this host or its peer, is the cause.",
     "fabric-agentctl explain --log FILE", kWc, 5},
    {"wc-memory-window", software,
     "memory bind operation error|memory management operation error|Memory window bind on ",
     "A memory window could not be bound: wrong access rights or key.", "journalctl -k -g {pci}", kWc, 6},
    {"wc-bad-response", peer, "bad response error|Bad response on ",
     "The peer answered with an unexpected transport operation: damaged state or a firmware fault there.",
     "journalctl -k -p warning", kWc, 7},
    {"wc-local-access", software, "local access error|Local access on ",
     "A write from the peer did not match the access rights of the local buffer.", "journalctl -k -g {pci}", kWc, 8},
    {"wc-remote-invalid-request", peer, "remote invalid request error|Invalid request on ",
     "The peer rejected the request as invalid: message longer than its receive buffer, an operation that is not "
     "enabled, or too many outstanding reads or atomics.",
     "ibv_devinfo -v -d {rdma} | grep -E 'fw_ver|max_qp_rd_atom'", kWc, 9},
    {"wc-remote-access", peer, "remote access error|Remote access on ",
     "The peer does not permit access to the memory: wrong key, deregistered memory, or its process ended.",
     "journalctl -k -g 'Xid|amdgpu'", kWc, 10},
    {"wc-remote-operation", peer, "remote operation error|Remote QP on ",
     "The peer could not complete the operation. Its queue pair is in the error state; look at the peer's first error.",
     "ping -c 3 {peer}", kWc, 11},
    {"wc-retry-exceeded", network,
     "transport retry counter exceeded|Transport retry count exceeded|RETRY EXCEEDED ERROR status|"
     "InfiniBand retry count between two MPI processes",
     "Transport retry exceeded (IBV_WC_RETRY_EXC_ERR): the peer did not acknowledge packets, although they were sent "
     "again and again. The path loses packets (link down, PFC or ECN misconfigured, routing), the peer's process or "
     "node is gone, or its GID or rail is unreachable.",
     "fabric-agentctl diagnose {port}", kWc, 12},
    {"wc-rnr-exceeded", peer,
     "RNR retry counter exceeded|Receive-no-ready retry count exceeded|RECEIVER NOT READY RETRY EXCEEDED|"
     "\"receiver not ready\" retry count between two MPI processes",
     "RNR retry exceeded: the peer's application had posted no receive for too long. Its process hangs, is overloaded "
     "or stopped.",
     "fabric-agentctl counters", kWc, 13},
    {"wc-rdd-violation", software, "local RDD violation error",
     "The reliable datagram domain of the queue pair does not match.", "journalctl -k -g {pci}", kWc, 14},
    {"wc-remote-invalid-rd", software, "remote invalid RD request", "The peer rejected a reliable datagram.",
     "journalctl -k -g {pci}", kWc, 15},
    {"wc-aborted", peer, "aborted error (16)|status operation aborted|Remote side aborted on ",
     "The operation was aborted: the peer closed or reset its queue pair.", "ping -c 3 {peer}", kWc, 16},
    {"wc-invalid-eecn", software, "invalid EE context number", "The end-to-end context number is invalid.",
     "journalctl -k -g {pci}", kWc, 17},
    {"wc-invalid-eec-state", software, "invalid EE context state", "The end-to-end context is in the wrong state.",
     "journalctl -k -g {pci}", kWc, 18},
    {"wc-fatal", host, "status fatal error", "The NIC reports a fatal error of its own.",
     "devlink health show pci/{pci}", kWc, 19},
    {"wc-response-timeout", peer, "response timeout error", "The peer did not respond in time.",
     "fabric-agentctl diagnose {port}", kWc, 20},
    {"wc-general", host, "status general error|: general error",
     "The transport failed for a reason that no other status covers.", "journalctl -k -g {pci}", kWc, 21},

    // Asynchronous events of the NIC.
    {"async-port-error", cable, "sync*event*port error", "The port lost its link while the job was running.",
     "fabric-agentctl diagnose {port}", kAsync},
    {"async-port-active", cable, "sync*event*port active", "The port has its link again: it was down before this line.",
     "fabric-agentctl diagnose {port}", kAsync},
    {"async-device-fatal", host, "sync*event*local catastrophic error|ibv_get_async_event failed",
     "The NIC stopped: a fatal firmware, hardware or PCIe error. Its driver resets it; the job must be restarted.",
     "devlink health show pci/{pci}", kAsync},
    {"async-qp-fatal", host, "local work queue catastrophic error",
     "The NIC could not process a queue pair: its work queue is damaged, or PCIe accesses failed.",
     "journalctl -k -g {pci}", kAsync},
    {"async-qp-request", software, "invalid request local work queue error",
     "The NIC received an invalid request from the peer on this queue pair.", "journalctl -k -g {pci}", kAsync},
    {"async-qp-access", software, "local access violation work queue error",
     "The peer accessed memory of this host with a wrong key or beyond its bounds, or the NIC cannot reach the memory "
     "of the GPU (ACS, IOMMU, relaxed ordering, nvidia-peermem).",
     "fabric-agentctl check --only iommu,acs,gpudirect", kAsync},
    {"async-cq", software, "sync*event*CQ error|CQ overrun|CQ*got completion queue overflow",
     "A completion queue overflowed: the application did not poll it in time, or it is too small.",
     "journalctl -k -g {pci}", kAsync},
    {"async-srq", software, "SRQ catastrophic error",
     "The shared receive queue is damaged; its queue pairs receive nothing more.", "journalctl -k -g {pci}", kAsync},
    {"async-gid", host, "sync*event*GID table change|GID table changed",
     "An IP address of the netdev was added, removed or changed while the job was running: its GID index can name "
     "another address now.",
     "ip -d addr show dev {netdev}", kAsync},
    {"async-lid", network, "sync*event*LID change",
     "The subnet manager gave the port another LID; existing connections fail.", "ibstat {rdma}", kAsync},
    {"async-pkey", network, "sync*event*P_Key change", "The subnet manager changed the partition of the port.",
     "grep . /sys/class/infiniband/{rdma}/ports/*/pkeys/0", kAsync},
    {"async-sm", network, "sync*event*SM change|sync*event*client reregistration",
     "The subnet manager restarted, or another one took over the subnet: multicast groups and services are registered "
     "again.",
     "sminfo", kAsync},
    {"async-path-migration", network, "path migration request error|sync*event*path migrated",
     "The connection moved, or failed to move, to its alternate path.", "fabric-agentctl diagnose {port}", kAsync},

    // NCCL and RCCL (the same code).
    {"registration-memlock", host,
     "reg_mr*failed*Cannot allocate memory|Failed to register memory 0x*Cannot allocate memory|"
     "ibv_create_qp*failed*Cannot allocate memory|ibv_create_cq*failed*Cannot allocate memory|"
     "BTL failed to initialize while trying to|memlock limits are set too low|Please check max locked memory|"
     "libibverbs: Warning: RLIMIT_MEMLOCK is",
     "Memory could not be locked: the memlock limit of the process is too low, or the NIC has no resources left.",
     "fabric-agentctl check --only memlock",
     "NCCL src/misc/ibvwrap.cc, UCX ib_md.c, rdma-core libibverbs/init.c, Open MPI help-mpi-btl-openib.txt, Mooncake "
     "rdma_context.cpp"},
    {"gpudirect-registration", host, "reg_mr*failed*Bad address|Failed to register memory 0x*Bad address",
     "The NIC could not map GPU memory: no peer memory module is loaded (nvidia-peermem; for AMD that of the RDMA "
     "stack), or it does not fit the driver.",
     "fabric-agentctl check --only gpudirect", "NCCL src/misc/ibvwrap.cc, UCX ib_md.c, Mooncake rdma_context.cpp"},
    {"registration-invalid", software, "reg_mr*failed*Invalid argument",
     "The NIC or its driver does not support this kind of memory or access flag (relaxed ordering, GPU memory).",
     "fabric-agentctl check --only gpudirect", kNcclVerbs},
    {"dmabuf-registration", host, "ibv_reg_dmabuf_mr*failed",
     "GPU memory could not be registered through dma-buf: kernel, NIC driver or GPU driver do not support it.",
     "uname -r; ibv_devinfo -d {rdma} | grep fw_ver", kNcclVerbs},
    {"open-device", host, "ibv_open_device failed|NET/IB : Unable to open device|ibv_open_device(*) failed",
     "The RDMA device cannot be opened: /dev/infiniband is missing in the container, or the NIC is in a fatal state.",
     "ls -l /dev/infiniband; ibv_devinfo -d {rdma}", kNcclNet},
    {"modify-qp-invalid", software,
     "ibv_modify_qp*failed*Invalid argument|ibv_modify_qp*failed with 22|"
     "non-zero status: 22 ibv_modify_qp failed|Failed to modify QP * to RTR|modify QP to RTR*Invalid argument",
     "The connection could not be set up: the peers use GIDs of different kinds or indexes (NCCL_IB_GID_INDEX, RoCE v1 "
     "and v2, IPv4 and IPv6), or different MTUs.",
     "fabric-agentctl check --only gid", kNcclVerbs},
    {"modify-qp-no-gid", host,
     "ibv_modify_qp*failed*No data available|ibv_modify_qp*No such device|Failed to query GID",
     "The GID index has no entry: the address or its netdev is gone, or moved to another index after a link flap.",
     "grep . /sys/class/infiniband/{rdma}/ports/*/gids/* | grep -v :0000:0000:0000:0000$", kNcclVerbs},
    {"modify-qp-timeout", network,
     "ibv_modify_qp*failed*Connection timed out|ibv_create_ah(*failed: Connection timed out|"
     "ibv_modify_qp*failed*No route to host|non-zero status: 110 ibv_modify_qp failed|"
     "modify QP to RTR*Connection timed out|modify QP to RTR*No route to host",
     "The address of the peer could not be resolved to a MAC address: no ARP or neighbor discovery answer on this "
     "rail.",
     "ip route get {peer}; ip neigh show dev {netdev}",
     "NCCL src/misc/ibvwrap.cc, UCX ib_device.c, NVSHMEM ibrc.cpp, Mooncake rdma_endpoint.cpp"},
    {"modify-qp-unreachable", network,
     "ibv_modify_qp*Network is unreachable|ibv_create_ah(*failed: Network is unreachable|"
     "non-zero status: 101 ibv_modify_qp failed|modify QP to RTR*Network is unreachable",
     "This host has no route from the local GID to the GID of the peer.", "ip route get {peer}", kNcclVerbs},
    {"nccl-no-device", host, "NET/IB : No device found",
     "NCCL found no usable RDMA device and falls back to TCP: none is in the container, none is up, or NCCL_IB_HCA "
     "excludes all.",
     "fabric-agentctl topo; echo $NCCL_IB_HCA", kNcclNet},
    {"nccl-no-libibverbs", host, "Failed to open libibverbs.so",
     "NCCL found no libibverbs and uses TCP: rdma-core is not installed in the container.",
     "ldconfig -p | grep libibverbs", "NCCL src/misc/ibvsymbols.cc"},
    {"nccl-no-gdr", host, "GPU Direct RDMA Disabled for HCA",
     "NCCL or RCCL copies through host memory on this NIC: it found neither peer memory nor DMA-BUF.",
     "fabric-agentctl check --only gpudirect", "NCCL src/graph/topo.cc"},
    {"rccl-iommu", host, "Missing \"iommu=pt\" from kernel command line",
     "The IOMMU translates the accesses of the devices: peer-to-peer transfers are slow or hang.",
     "fabric-agentctl check --only iommu", "RCCL src/init.cc"},
    {"nccl-no-socket", host, "no socket interface found|NET/Socket : no interface found|No IP interface found",
     "NCCL found no netdev for its bootstrap connections: NCCL_SOCKET_IFNAME names none that is up.",
     "ip -br addr; echo $NCCL_SOCKET_IFNAME", "NCCL src/bootstrap.cc"},
    {"nccl-peer-closed", peer,
     "Connection closed by remote peer|Call to recv from*Connection reset by peer|Call to recv from*Broken pipe|"
     "Call to send to*Connection reset by peer|Call to send to*Broken pipe",
     "The process of a peer ended or closed its connection. This is a consequence; the cause is the first error in the "
     "log of that peer.",
     "fabric-agentctl explain --log FILE", kNcclSocket},
    {"nccl-refused", peer, "ocket*onnect*Connection refused|onnect to*<*failed : Connection refused",
     "The peer does not listen: its process is not running, or a firewall rejects the connection.", "ping -c 3 {peer}",
     kNcclSocket},
    {"nccl-no-route", network, "ocket*onnect*No route to host|onnect to*<*No route to host",
     "The netdev of the bootstrap connection has no path to the peer, or a firewall rejects it.", "ip route get {peer}",
     kNcclSocket},
    {"nccl-connect-abort", network, "onnect to*<*Software caused connection abort",
     "NCCL lost the error of a first connection on the same socket: the peer does not listen, or has no path from this "
     "netdev (NCCL_SOCKET_IFNAME, a bridge like docker0, a firewall).",
     "ip route get {peer}; echo $NCCL_SOCKET_IFNAME", kNcclSocket},
    {"nccl-connect-timeout", network,
     "Call to connect failed : Connection timed out|ocketStartConnect*Connection timed out|"
     "ocketPollConnect*Connection timed out|onnect to*<*Connection timed out",
     "The peer did not answer the bootstrap connection: wrong netdev (NCCL_SOCKET_IFNAME), firewall, or node down.",
     "ping -c 3 {peer}", kNcclSocket},
    {"nccl-truncated", software, "Message truncated : received",
     "The peers disagree on the size of a message: different collectives, sizes or NCCL versions.",
     "grep -h 'NCCL version' FILE", "NCCL src/transport/net_socket.cc"},
    {"nccl-ib-fatal", host, "fatal error (detected in ncclIb",
     "NCCL stops using the NIC because of an event that it reported; the lines with \"async\" around this one name it.",
     "fabric-agentctl explain --log FILE", kNcclNet},
    {"nccl-proxy", host, "[Proxy Service*Failed to execute operation",
     "A transport could not be set up. The NCCL WARN line before this one names the call that failed.",
     "fabric-agentctl explain --log FILE", "NCCL src/proxy.cc"},
    {"nccl-remote-error", peer,
     "ncclRemoteError: A call failed|NCCL error*remote process exited or there was a network error",
     "A call to a peer failed: its process ended, or the network lost the connection. The NCCL WARN lines of all ranks "
     "before this one name the first failure.",
     "fabric-agentctl explain --log FILE", "NCCL src/init.cc"},
    {"nccl-system-error", host, "ncclSystemError: System call|NCCL error*unhandled system error",
     "A system call or a call of libibverbs failed. The NCCL WARN line before this one names it (NCCL_DEBUG=WARN).",
     "fabric-agentctl explain --log FILE", "NCCL src/init.cc"},
    {"nccl-watchdog", peer,
     "Watchdog caught collective operation timeout|detected by watchdog|Timeout at NCCL work|"
     "Some NCCL operations have failed or timed out",
     "A collective did not finish in time: one rank hangs, died, or its network path is stuck. Find the rank that did "
     "not enter the collective; then look at the port of its node.",
     "fabric-agentctl diagnose", "PyTorch ProcessGroupNCCL.cpp"},
    {"nccl-cuda", host,
     "NCCL WARN Cuda failure|NCCL WARN HIP failure|ncclUnhandledCudaError: Call to CUDA|NCCL error*unhandled cuda "
     "error",
     "A call of CUDA or HIP failed, for the reason in quotes: the memory of the GPU is used up, or the GPU or an "
     "earlier kernel on it has failed. The network is not at fault.",
     "journalctl -k -g 'NVRM|amdgpu'", "NCCL src/include/checks.h"},
    {"nccl-shm", host, "Error while creating shared memory segment|failed to extend /dev/shm/nccl",
     "/dev/shm is too small for NCCL, or full: containers have 64 MB by default (docker run --shm-size, an emptyDir of "
     "medium Memory), and segments of killed jobs stay. The network is not at fault.",
     "df -h /dev/shm; ls -l /dev/shm", "NCCL src/misc/shmutils.cc"},
    {"torch-watchdog", software, "watchdog got stuck for",
     "PyTorch's own watchdog hangs in a call of CUDA or NCCL: a GPU or its driver hangs, or another thread holds a "
     "lock. Look for errors of the GPU first; this line does not speak of the network.",
     "journalctl -k -g 'NVRM|amdgpu|blocked for more'", "PyTorch ProcessGroupNCCL.cpp"},
    {"torch-store", peer, "client socket has timed out after|client socket has failed to connect to",
     "The process did not reach the first rank over TCP (MASTER_ADDR, MASTER_PORT): that rank does not run, its name "
     "resolves to another address, or a firewall blocks the port. RDMA is not used for this.",
     "ping -c 3 {peer}", "PyTorch torch/csrc/distributed/c10d/socket.cpp"},
    {"gloo-peer", peer, "gloo*Connection closed by peer|gloo*Connection reset by peer|Gloo connectFullMesh failed",
     "A rank ended, or Gloo took an address that the other ranks cannot reach (GLOO_SOCKET_IFNAME; a host name that "
     "resolves to 127.0.1.1). Gloo uses TCP, not RDMA.",
     "echo $GLOO_SOCKET_IFNAME; getent hosts $HOSTNAME", "PyTorch ProcessGroupGloo.cpp, Gloo transport/tcp/pair.cc"},
    {"nccl-timeout-bootstrap", peer, "Timeout waiting for connection from peer|Timeout waiting for*ranks to connect",
     "Not all ranks started or reached the first one.", "ip -br addr", "NCCL src/bootstrap.cc"},

    // UCX.
    {"ucx-endpoint-timeout", network,
     "UCX*Endpoint timeout|ucp_ep_create*failed: Endpoint timeout|transport error: Endpoint timeout",
     "UCX closed a connection after its retries: the peer is unreachable or gone.", "fabric-agentctl diagnose {port}",
     "UCX src/ucs/type/status.c"},
    {"ucx-unreachable", software,
     "no*transport to*Destination is unreachable|Destination is unreachable|UCX*no active messages transport to",
     "UCX found no transport that both ends share: UCX_TLS or UCX_NET_DEVICES exclude it, or the peers have different "
     "devices.",
     "ucx_info -d | grep -E 'Transport|Device'", "UCX src/ucp/wireup/select.c"},
    {"ucx-no-device", host, "network device*is not available, please use one or more of",
     "UCX_NET_DEVICES names a device that this node does not have, or that is down.", "fabric-agentctl status",
     "UCX src/ucp/core/ucp_context.c"},
    {"ucx-no-transport", host, "transport '*' is not available, please use one or more of",
     "UCX_TLS names a transport that this node does not have: no usable RDMA device, or a UCX without this transport.",
     "ucx_info -d | grep -E 'Transport|Device'; ibv_devinfo -l", "UCX src/ucp/core/ucp_context.c"},
    {"ucx-devx", host,
     "mlx5dv_devx_obj_create(*failed|mlx5dv_devx_obj_modify(*failed|mlx5dv_create_cq(*failed|"
     "Error in mlx5dv_devx_obj_|ibv_create_cq(*failed: Connection timed out",
     "A firmware command of the NIC failed or timed out: the firmware hangs, is too old, or lacks the resource.",
     "journalctl -k -g {pci}; devlink health show pci/{pci}", "UCX src/uct/ib/mlx5/dv/ib_mlx5_dv.c, NVSHMEM ibgda.cpp"},

    // rdma-core.
    {"verbs-abi", software, "does not support the kernel ABI of",
     "The libibverbs provider of the container or host does not fit the kernel's driver, and its devices are missing: "
     "both must come from the same driver release.",
     "ibv_devinfo -l; uname -r", kInit},
    {"verbs-no-provider", host,
     "no userspace device-specific driver found for|couldn't open config directory '*libibverbs.d",
     "libibverbs has no provider library for this device (libmlx5, libbnxt_re, libirdma, ...), and does not offer it.",
     "ls /etc/libibverbs.d; ibv_devinfo -l", kInit},
    {"verbs-no-driver", software, "libibverbs: Warning: couldn't load driver",
     "A file in /etc/libibverbs.d names a provider that is not installed. Harmless, unless it is the one of the NIC.",
     "ls /etc/libibverbs.d; ibv_devinfo -l", kInit},
    {"verbs-no-sysfs", host, "couldn't stat '/sys/class/infiniband/",
     "The container has /dev/infiniband of this device but not its entry in /sys: the device belongs to another "
     "network namespace.",
     "rdma system show; ls /sys/class/infiniband", kInit},
    {"smp-no-answer", network, "umad (*bad status 110",
     "A node of the subnet did not answer a management packet: it is down, its link has errors, or it restarts.",
     "iblinkinfo; ibqueryerrors", "rdma-core libibnetdisc/query_smp.c"},
    {"rdmacm-address", network, "RDMA_CM_EVENT_ADDR_ERROR|RDMA_CM_EVENT_ROUTE_ERROR",
     "librdmacm could not resolve the address or the route of the peer.", "ip route get {peer}",
     "rdma-core librdmacm/cma.c"},
    {"rdmacm-unreachable", network, "RDMA_CM_EVENT_UNREACHABLE", "The peer did not answer the connection request.",
     "ping -c 3 {peer}", "rdma-core librdmacm/cma.c"},
    {"rdmacm-rejected", peer, "RDMA_CM_EVENT_REJECTED", "The peer rejected the connection: nothing listens there.",
     "ping -c 3 {peer}", "rdma-core librdmacm/cma.c"},

    // Open MPI.
    {"ompi-init-device", host, "There was an error initializing an OpenFabrics device",
     "Open MPI could not open the RDMA device, or its openib BTL does not support it; use the UCX PML.",
     "ibv_devinfo -d {rdma}; ompi_info | grep ucx", kOpenib},
    {"ompi-no-cpc", software, "No OpenFabrics connection schemes reported that they were able to be used",
     "The openib BTL found no way to connect on this port: use the UCX PML (mpirun --mca pml ucx).",
     "ompi_info | grep ucx", kOpenib},
    {"ompi-partial-registration", host, "configured to only allow registering part of your physical memory",
     "The driver's translation table covers only a part of the memory; registration of large buffers fails.",
     "grep . /sys/module/mlx4_core/parameters/log_num_mtt", kOpenib},
    {"ompi-no-parameters", software, "No preset parameters were found for the device that Open MPI detected",
     "The openib BTL does not know this NIC. Performance may be low; use the UCX PML.", "ompi_info | grep ucx",
     kOpenib},
    {"ompi-openib-unused", software, "By default, for Open MPI 4.0 and later, infiniband ports on a device",
     "The openib BTL leaves this port to UCX. Without the UCX PML, Open MPI uses TCP.", "ompi_info | grep ucx",
     kOpenib},
    {"ompi-no-pml", software, "No components were able to be opened in the pml framework",
     "No PML that was asked for can be used: UCX found no device for it, or this Open MPI was built without UCX.",
     "ompi_info | grep ucx; ucx_info -d | grep -E 'Transport|Device'", "Open MPI opal/mca/base/help-mca-base.txt"},
    {"ompi-libfabric", software, "Open MPI failed an OFI Libfabric library call",
     "A libfabric call failed; the lines after this one name the call and the provider.", "fi_info -l",
     "Open MPI opal/mca/common/ofi/help-common-ofi.txt"},
    {"ompi-lost-daemon", peer, "has lost communication with a remote daemon",
     "mpirun lost the daemon of a node: the node crashed, or its management network failed.", "ping -c 3 {peer}",
     "Open MPI orte/mca/errmgr, PRRTE src/mca/errmgr"},

    // libfabric's providers.
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
     "verbs:*rdma_create_id: No such device|verbs:*rdma_create_id: No such file|"
     "rdma_create_event_channel failed: No such",
     "librdmacm found no RDMA device: rdma_cm is not loaded, or /dev/infiniband is not in the container.",
     "ls -l /dev/infiniband; lsmod | grep rdma_cm", kOfiVerbs},
    {"verbs-bind", host, "verbs:*rdma_bind_addr: |verbs:*rdma_getaddrinfo: ",
     "The provider cannot use the local address: it is not on the netdev of an RDMA device, or its name does not "
     "resolve.",
     "ip -br addr; rdma link show", kOfiVerbs},
    {"verbs-resolve", network, "verbs:*rdma_resolve_addr: |verbs:*rdma_resolve_route: ",
     "The address of the peer could not be resolved on this rail: no route, or no answer to ARP or neighbor discovery.",
     "ip route get {peer}; ip neigh show dev {netdev}", kOfiVerbs},

    // cxi (Slingshot).
    {"cxi-undeliverable", network, "OFI poll failed*UNDELIVERABLE|cxi:*UNDELIVERABLE",
     "The NIC gave up after its retries: the link or the node of the peer is down, or the network lost the packets.",
     "cxi_stat; dmesg | grep -i cxi", kCxi},
    {"cxi-no-target", peer, "OFI poll failed*PTLTE_NOT_FOUND|cxi:*PTLTE_NOT_FOUND",
     "The endpoint of the peer does not exist (any more): its process ended, or has not enabled it yet.",
     "fabric-agentctl explain --log FILE", kCxi},
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
     "No port of an Omni-Path NIC is active: no link, or no fabric manager has configured it.", "opainfo",
     "libfabric prov/opx/src/fi_opx_hfi1.c, opa-psm2 psm_ep.c"},
    {"opx-open", host, "active HFI device*unable to open",
     "The Omni-Path NICs are active and cannot be opened: all contexts are in use, or /dev/hfi1_* denies access.",
     "ls -l /dev/hfi1_*; grep . /sys/class/infiniband/hfi1_*/nfreectxts", kOpx},
    {"opx-pkey", network, "specified FI_OPX_PKEY of*internal driver error|Unable to get default Pkey",
     "The partition key is not in the table of the port: the fabric manager did not assign it.",
     "grep . /sys/class/infiniband/*/ports/*/pkeys/0", kOpx},
    {"psm3-open", host, "PSM3 can't open nic unit",
     "PSM3 cannot use the NIC; the lines before this one name the call that failed. On a single node it is not needed.",
     "ulimit -l; ls -l /dev/infiniband", kPsm3},
    {"psm3-resources", host, "Unable to create send CQ of size*Cannot allocate memory|Unable to create UD QP",
     "A verbs object of PSM3 could not be created: the memlock limit of the process is too low, or the NIC has no "
     "resources left.",
     "fabric-agentctl check --only memlock", kPsm3},

    // EFA.
    {"efa-unresponsive-handshake", network, "Unresponsive receiver (reachable by EFA device but handshake failed)",
     "The EFA device reaches the peer, but the handshake fails: the peer's process is not ready, or a security group "
     "lacks the rule to or from itself.",
     "rdma link show", kEfa},
    {"efa-unresponsive", peer,
     "Unresponsive receiver (connection previously established)|Unresponsive remote (was previously responsive)",
     "The peer stopped answering: its process or instance is gone or hangs.", "fabric-agentctl counters", kEfa},
    {"efa-unreachable", network, "Unreachable remote (never received a response)",
     "The peer never answered: wrong subnet or security group, or the instance is down.", "rdma link show", kEfa},
    {"efa-rnr", peer, "Destination resource not ready (no work queue entries posted on receive queue)",
     "The peer had posted no receive: its application is slow or hangs.", "fabric-agentctl counters", kEfa},
    {"efa-local-memory", software, "Local memory registration is invalid, has insufficient access flags",
     "The buffer of this host is not registered, or was freed during the transfer.",
     "lsmod | grep -E 'efa|nvidia_peermem'", kEfa},
    {"efa-remote-memory", peer, "Remote memory registration is invalid, has insufficient access flags",
     "The buffer of the peer is not registered, or its process ended.", "fabric-agentctl counters", kEfa},
    {"efa-bad-qp", peer, "Bad queue pair (QP) number (QP does not exist or is in error state)",
     "The queue pair of the peer is gone: its process ended or restarted.", "fabric-agentctl counters", kEfa},
    {"efa-reset", peer, "Connection was reset by remote peer", "The peer reset the connection: its process ended.",
     "fabric-agentctl counters", kEfa},

    // The kernel: health of mlx5 firmware.
    {"mlx5-health-compromised", host, "device's health compromised",
     "The firmware of the NIC stopped counting: it hangs. The driver starts recovery; jobs on the port fail.",
     kReporter, kHealth},
    {"mlx5-fatal", host, "mlx5_*Fatal error*detected",
     "The driver found the NIC in a fatal state (PCIe access lost, firmware stopped, or reset by another function).",
     kReporter, kHealth},
    {"mlx5-synd-firmware", host, "synd 0x1: firmware internal error|firmware internal error",
     "Internal error of the NIC's firmware. Collect the dump for the vendor, and update the firmware.",
     "devlink health dump show pci/{pci} reporter fw", kHealth},
    {"mlx5-synd-irisc", host, "irisc not responding", "A processor of the NIC does not respond: power-cycle the node.",
     kReporter, kHealth},
    {"mlx5-synd-hardware", host, "unrecoverable hardware error",
     "The NIC has a hardware fault: replace it if it recurs.", kReporter, kHealth},
    {"mlx5-synd-crc", host, "firmware CRC error", "The firmware image in memory is damaged: burn it again.",
     "mstflint -d {pci} verify", kHealth},
    {"mlx5-synd-pci-fetch", host, "ICM fetch PCI error|ICM fetch PCI data poisoned error",
     "The NIC could not read host memory over PCIe: PCIe errors, an IOMMU fault or a memory error.",
     "fabric-agentctl check --only aer,pcie", kHealth},
    {"mlx5-synd-hw-fatal", host, "HW fatal error", "Fatal hardware error of the NIC.", kReporter, kHealth},
    {"mlx5-synd-async-eq", host, "async EQ buffer overrun",
     "The event queue overflowed: the host did not handle the NIC's interrupts in time.", "grep mlx5 /proc/interrupts",
     kHealth},
    {"mlx5-synd-eq", host,
     "synd 0x*: EQ error|synd 0x*Invalid EQ refer|synd 0x*Invalid EQ refr|Health issue observed, EQ error|"
     "Health issue observed, Invalid EQ ref",
     "The NIC reports a fault of an event queue.", kReporter, kHealth},
    {"mlx5-synd-ffser", host, "FFSER error", "The NIC reports a serial link or memory fault (FFSER).", kReporter,
     kHealth},
    {"mlx5-high-temperature", host,
     "synd 0x*High temp|High temperature on sensors with bit set|High temprature|"
     "Health issue observed, High temp",
     "A sensor of the NIC is too hot; the firmware may stop the NIC.", "sensors; devlink health show pci/{pci}",
     kEvents},
    {"mlx5-recovery-failed", host,
     "health recovery failed|Health recovery failed|health recovery flow aborted|NIC state*is invalid|"
     "Driver is in error state. Unloading",
     "The driver could not recover the NIC. Reload the driver or power-cycle the node.", kReporter, kHealth},
    {"mlx5-iseg", host,
     "FW is unable to respond to initialization segment reads|Waiting for FW initialization, timeout|"
     "in pre-initializing state, aborting",
     "The firmware does not start or does not answer: power-cycle the node, check its image.",
     "mstflint -d {pci} query", kHealth},
    {"mlx5-load-failed", host, "mlx5_init_one failed with error code|mlx5_load_one failed with error code",
     "The driver could not start the NIC, and its ports are missing. The lines before this one name the step: the "
     "firmware does not answer (-110, -16), or does not fit the driver (-22).",
     "journalctl -k -g mlx5_core; mstflint -d {pci} query", "Linux drivers/net/ethernet/mellanox/mlx5/core/main.c"},
    {"mlx5-command-timeout", host,
     "timeout. Will cause a leak of a command resource|No done completion|Async, timeout*leak of a command",
     "A firmware command did not finish: the firmware hangs or PCIe lost the command.", kReporter,
     "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c"},
    {"mlx5-command-failed", software, "failed, status*, syndrome (0x|failed, status*syndrome(0x",
     "The firmware rejected a command of the driver; the syndrome is the vendor's code for the reason.",
     "mstflint -d {pci} query", "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c"},
    {"mlx5-error-cqe", host, "ERR CQE on SQ|Error cqe on cqn",
     "The NIC could not process a packet of the netdev: often a PCIe or IOMMU fault, or a driver bug.", kReporter,
     "Linux drivers/net/ethernet/mellanox/mlx5/core/en/reporter_tx.c"},
    {"mlx5-pci-error", host,
     "Device was enter error state|mlx5_pci_err_detected|PCI I/O error detected|PCI slot is unavailable",
     "The PCIe slot of the NIC failed; the driver stopped and will reset the NIC.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/net/ethernet/mellanox/mlx5/core/main.c"},
    {"mlx5-completion", software, "mlx5: *: got completion with error:",
     "A work request of a program failed; libmlx5 prints its completion in hexadecimal. The line with which the "
     "library above reports it has the status in words.",
     "fabric-agentctl explain --log FILE", "rdma-core providers/mlx5/cq.c"},
    {"mlx5-dump-cqe", software, "dump error cqe|Responder error cqe on cqn|Requestor error cqe on cqn",
     "A work request of the kernel failed; the lines around this one have its status or syndrome.",
     "journalctl -k -g 'WC error|syndrome'", "Linux drivers/infiniband/hw/mlx5/cq.c"},

    // Cables and modules.
    {"module-hot", cable, "Port module event[error]*High Temperature",
     "The module in the cage is too hot, and the NIC switched it off: check airflow, then the module.", kModule,
     kEvents},
    {"module-unsupported", cable,
     "Port module event[error]*nknown identifier|Port module event[error]*nsupported cable|"
     "Port module event[error]*ong range for non|Port module event[error]*nforce part number|"
     "unsupported or unqualified module was detected|unsupported SFP|because an unsupported module type was detected|"
     "Unqualified SFP+ module detected|bnxt_en*SFP+ module is shut",
     "The NIC does not accept the module or cable.", kModule, kEvents},
    {"module-bus", cable,
     "Port module event[error]*us stuck|Port module event[error]*ad cable|Port module event[error]*ad or shorted",
     "The NIC cannot read the module: it is damaged, or not fully inserted.", kModule, kEvents},
    {"module-shorted", cable, "Port module event[error]*able is shorted", "The cable is shorted: replace it.", kModule,
     kEvents},
    {"module-power", cable, "Port module event[error]*ower budget exceeded|Port module event[error]*nsufficient power",
     "The module needs more power than the cage provides.", kModule, kEvents},
    {"module-unplugged", cable, "Port module event*able unplugged|Port module event*able removed",
     "The cable or module was unplugged.", "fabric-agentctl diagnose {port}", kEvents},
    {"slot-power-off", host, "powered down due to insufficient/unadvertised power on the PCIe slot",
     "The NIC switched ports off, because the PCIe slot advertises less power than NIC and modules need, or none. The "
     "cable is not at fault. Update the NIC's firmware, use a slot that advertises enough, or modules that need less.",
     "lspci -vv -s {pci} | grep -i powerlimit", kEvents},
    {"slot-power", host, "Detected insufficient power on the PCIe slot",
     "The PCIe slot advertises less power than the NIC needs. Some systems advertise nothing, and the line is "
     "harmless; else modules may stay off.",
     "lspci -vv -s {pci} | grep -i powerlimit", kEvents},

    // Netdevs.
    {"netdev-watchdog", host, "NETDEV WATCHDOG",
     "A transmit queue stopped: the NIC or its interrupt stopped, or the peer paused the port without end (PFC storm).",
     "fabric-agentctl diagnose {port}", "Linux net/sched/sch_generic.c"},
    {"tx-timeout", host, "TX timeout detected|TX timeout on queue|tx_timeout: VSI_num",
     "The driver found a transmit queue without progress and resets it: NIC fault, lost interrupt or PFC storm.",
     "fabric-agentctl diagnose {port}", "Linux mlx5 en_main.c, bnxt.c, ice_main.c"},
    {"link-down", cable,
     "mlx5_core*: Link down|mlx4_en*: Link Down|ionic*: Link down|NIC Link is Down|hns3*: link down|cxgb4*: link down|"
     "qede_link_update*Link is down",
     "The link went down: cable, module, far end, or an administrator.", "fabric-agentctl diagnose {port}",
     "Linux mlx5 en_main.c, ice_main.c, bnxt.c, ionic_lif.c, hns3_enet.c, cxgb4_main.c, qede_main.c"},
    {"bond-link-down", cable, "link status definitely down|: link status down for*disabling it in",
     "A port of the bond lost its link; the bond goes on with the others, at less bandwidth.",
     "grep -A 3 Slave /proc/net/bonding/*", "Linux drivers/net/bonding/bond_main.c"},
    {"bond-no-lacp", network, "No 802.3ad response from the link partner",
     "The switch does not answer LACP on the ports of the bond: they are in no port channel there, or the two switches "
     "do not act as one (MLAG, ESI). One link carries all the traffic.",
     "grep -E 'Slave|Aggregator|Partner' /proc/net/bonding/*", "Linux drivers/net/bonding/bond_3ad.c"},
    {"gid-not-added", host, "unable to add gid|GID add failed port=",
     "An address of a netdev did not get into the GID table of its RDMA device: the table is full (error -28: many "
     "VLANs, containers or IPv6 addresses), or the NIC's firmware rejected it (-22). RDMA cannot use this address.",
     "rdma link show; ip -br addr; fabric-agentctl check --only gid", "Linux drivers/infiniband/core/cache.c"},
    {"ipoib-multicast", network, "multicast join failed for",
     "The subnet manager did not let this port join a multicast group of IPoIB: none is running (status -11, -110), or "
     "the port's rate, MTU or P_Key does not fit the group's (-22).",
     "sminfo; saquery -g", "Linux drivers/infiniband/ulp/ipoib/ipoib_multicast.c"},
    {"conntrack-full", host, "nf_conntrack: table full, dropping packet",
     "The firewall's connection table is full: new TCP connections of this host fail, such as NCCL's bootstrap. RoCE "
     "does not pass it.",
     "sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max",
     "Linux net/netfilter/nf_conntrack_core.c"},
    {"checksum-failure", host, "hw csum failure",
     "The NIC's checksum of a packet is wrong: a driver or firmware bug, or damaged memory.", "ethtool -i {netdev}",
     "Linux net/core/dev.c"},
    {"neighbor-overflow", host, "neighbor table overflow|neighbour table overflow",
     "The neighbor table is full: new peers cannot be resolved.", "sysctl net.ipv4.neigh.default.gc_thresh3",
     "Linux net/core/neighbour.c"},
    {"duplicate-address", network, "IPv6: duplicate address detected!|duplicate address*detected!",
     "Another station has the IPv6 address of this netdev; the address and its GID are not usable.",
     "ip -6 addr show dev {netdev} dadfailed", "Linux net/ipv6/addrconf.c"},

    // Other drivers.
    // Older kernels: "Firmware fatal reset event". "Solicited firmware reset event" is not a failure.
    {"bnxt-firmware-fatal", host,
     "bnxt_en*irmware fatal reset event|bnxt_en*irmware non-fatal reset event|bnxt_en*Fatal firmware reset event|"
     "bnxt_en*Non-fatal firmware reset event|bnxt_en*Firmware not responding, status|"
     "bnxt_en*Detected firmware fatal condition|bnxt_en*abandoning msg*due to firmware status",
     "The firmware of the NIC failed and is reset.", kReporter, "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-recovery-failed", host,
     "bnxt_en*Firmware reset aborted|bnxt_en*RESET_DONE not set during FW reset|"
     "bnxt_en*previous firmware reset has not completed|bnxt_en*Failed to reinitialize after aborted firmware reset",
     "The driver could not bring the NIC back after a reset of its firmware. Reload the driver or power-cycle the "
     "node.",
     kReporter, "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-doorbells", host, "bnxt_en*doorbells dropped by the device",
     "The NIC dropped doorbells, the writes by which CPUs announce work: they came faster than it takes them. Queue "
     "pairs stall until the driver has repeated them.",
     "rdma resource show qp link {port}; fabric-agentctl counters", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-command-timeout", host, "bnxt_en*Error (timeout: ", "A firmware command did not finish: the firmware hangs.",
     kReporter, "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_hwrm.c"},
    {"bnxt-command-failed", software, "bnxt_en*hwrm req_type 0x*error ",
     "The firmware rejected a command of the driver: driver and firmware often come from different releases.",
     "ethtool -i {netdev}", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_hwrm.c"},
    {"bnxt-re-stalled", host, "FW STALL Detected|bnxt_en*cmdq[0x*timedout (",
     "The firmware of the NIC does not answer the commands of bnxt_re: power-cycle the node, update the firmware.",
     kReporter, "Linux drivers/infiniband/hw/bnxt_re/qplib_rcfw.c"},
    {"bnxt-pause-storm", host, "bnxt_en*Pause Storm detected",
     "The firmware of the NIC reports pause without end. If this port sends it, this host does not drain its receive "
     "buffers; if it is paused, another host beyond the switch does not.",
     "fabric-agentctl diagnose {port}", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-temperature", host, "bnxt_en*Chip temperature has gone above|bnxt_en*Chip temperature has crossed",
     "The NIC is too hot; its firmware may stop it: check fans and airflow.", "sensors",
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"qp-command-failed", host,
     "Couldn't change QP1 state to|Couldn't create ib_mad QP|bnxt_re*Failed to create HW QP|"
     "bnxt_re*Failed to modify HW QP|bnxt_re*Failed to destroy HW QP",
     "The firmware of the NIC rejected a command for a queue pair, or did not answer it (-110). A port without its "
     "QP1 has no connection manager (rdma_cm).",
     "journalctl -k -g {rdma}", "Linux drivers/infiniband/core/mad.c, hw/bnxt_re/ib_verbs.c"},
    {"ionic-firmware", host,
     "ionic*FW heartbeat stalled at|ionic*FW Down: Stopping LIFs|ionic*DEVCMD*timeout after|ionic*DEVCMD*FW is down",
     "The firmware of the NIC stopped. The driver stops the ports and starts them again when it is back.",
     "journalctl -k -g ionic; devlink dev info pci/{pci}",
     "Linux drivers/net/ethernet/pensando/ionic/ionic_dev.c, ionic_lif.c"},
    {"ionic-command-failed", host,
     "ionic*DEV_CMD *) error, |ionic*: opcode * error |ionic_rdma: incompatible version|"
     "ionic_rdma: Firmware RDMA Version",
     "The firmware of the NIC rejected a command of the driver: the two do not fit each other, or a resource is used "
     "up. Driver, firmware and libionic must come from the same release.",
     "modinfo -F version ionic_rdma; devlink dev info pci/{pci}",
     "Linux drivers/net/ethernet/pensando/ionic/ionic_main.c, infiniband/hw/ionic/ionic_admin.c, ionic_ibdev.c"},
    {"ionic-rdma-timeout", host, "admin command timed out, aq",
     "The RDMA unit of the NIC did not answer a command of ionic_rdma, which resets it: its queue pairs are lost.",
     "journalctl -k -g ionic; devlink dev info pci/{pci}", "Linux drivers/infiniband/hw/ionic/ionic_admin.c"},
    {"mana-command", host, "HWC: Request timed out|mana*Command 0x*timed out",
     "The Azure host did not answer a command of the NIC's driver: the host is serviced, or its device hangs.",
     "journalctl -k -g mana", "Linux drivers/net/ethernet/microsoft/mana/hw_channel.c"},
    {"efa-command", host, "Failed to process command*comp_status",
     "The EFA device rejected a command of the driver: no resource left (err -12), or a wrong request.",
     "rdma resource show", "Linux drivers/infiniband/hw/efa/efa_com.c"},
    {"irdma-critical", host, "ICE OICR event notification: oicr|critical PE Error, GLPE_CRITERR",
     "The RDMA unit of the NIC reports a critical error, and irdma resets the function: update firmware and driver.",
     "journalctl -k -g irdma; ethtool -i {netdev}", "Linux drivers/infiniband/hw/irdma/icrdma_if.c"},
    {"irdma-init", host, "IRDMA hardware initialization FAILED|HW runtime init FAIL",
     "irdma could not start the RDMA unit of the NIC, and its RDMA device is missing: its firmware does not fit the "
     "driver, or other functions have used up its resources.",
     "journalctl -k -g irdma; devlink dev info pci/{pci}", "Linux drivers/infiniband/hw/irdma/hw.c"},
    {"ice-safe-mode", host, "DDP*ntering Safe Mode|DDP*ntering safe mode|Direct firmware load for intel/ice/ddp",
     "ice has no DDP package that fits, and runs the NIC in safe mode: one queue, no RDMA, no PFC. Install the package "
     "(of the distribution's firmware packages, or of Intel's driver) in the initramfs, too, then reload ice.",
     "ls -l /lib/firmware/updates/intel/ice/ddp /lib/firmware/intel/ice/ddp; devlink dev info pci/{pci}",
     "Linux drivers/net/ethernet/intel/ice/ice_main.c"},
    {"intel-recovery-mode", host, "irmware recovery mode detected",
     "The firmware of the NIC is damaged and runs in recovery mode, without traffic: write its NVM again (nvmupdate), "
     "then power-cycle the node.",
     "devlink dev info pci/{pci}", "Linux ice_main.c, i40e_main.c, ixgbe_main.c"},
    {"ice-rebuild-failed", host, "Rebuild failed, unload and reload driver",
     "The driver could not restore an Intel NIC after a reset: its ports stay down until the driver is loaded again.",
     "journalctl -k -g {pci}; ethtool -i {netdev}", "Linux drivers/net/ethernet/intel/ice/ice_main.c"},
    {"ice-malicious", software, "Malicious Driver Detection event",
     "The NIC stopped a queue because of an invalid descriptor: a bug of its driver, or of the user of a virtual "
     "function.",
     "journalctl -k -g 'Malicious Driver'", "Linux ice_main.c, i40e_main.c"},
    {"irdma-abnormal", peer, "abnormal ae_id",
     "An asynchronous event closed a queue pair; the number is in irdma/defs.h.", "fabric-agentctl counters",
     "Linux drivers/infiniband/hw/irdma/hw.c"},

    // Any driver; -110 and others are errnos.
    {"driver-load-failed", host, "probe of*failed with error|probe with driver*failed with error",
     "A driver could not start the device that the line names; the ports of a NIC, or the GPU, are missing then. The "
     "lines before this one name the step: the device does not answer (-110, -16, -5), it does not fit the driver "
     "(-22, -95), or a resource is used up (-12, -28).",
     "journalctl -k -g {pci}; lspci -nnks {pci}", "Linux drivers/base/dd.c"},

    // PCIe and IOMMU.
    {"aer-corrected", host,
     "severity=Correct|AER: Corrected error*received|AER: Multiple Corrected error*received|AER: Correctable error|"
     "AER: Multiple Correctable error",
     "The PCIe link corrected an error. Many of them cost bandwidth and announce a fault of slot, riser or NIC.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/aer.c"},
    {"aer-nonfatal", host,
     "severity=Uncorrected (Non-Fatal)|severity=Uncorrectable (Non-Fatal)|Uncorrected (Non-Fatal) error*received|"
     "Uncorrectable (Non-Fatal) error*received",
     "A PCIe transaction was lost. The device may continue with wrong data, or its driver resets it.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/aer.c"},
    {"aer-fatal", host,
     "severity=Uncorrected (Fatal)|severity=Uncorrectable (Fatal)|Uncorrected (Fatal) error*received|"
     "Uncorrectable (Fatal) error*received",
     "The PCIe link failed and was reset. Reseat or replace the NIC, riser or cable if it recurs.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/aer.c"},
    {"aer-not-recovered", host, "AER: device recovery failed|AER: can't recover|AER: subordinate device reset failed",
     "After an error of PCIe, Linux could not restore the device, or one beside it: it works again only after its "
     "driver is loaded again, or the node is restarted.",
     "lspci -tv; fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/err.c"},
    {"pcie-serr", host, "NMI: PCI system error (SERR)",
     "A device reports a fatal PCIe error (SERR). The kernel does not know which device: read the log of the BMC, and "
     "the AER lines around this one.",
     "ipmitool sel elist; fabric-agentctl check --only pcie,aer", "Linux arch/x86/kernel/nmi.c"},
    {"pcie-dpc", host, "DPC: containment event", "A PCIe port cut off the devices below it after an error.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/pci/pcie/dpc.c"},
    {"pcie-link-down", host, "pciehp*Link Down|Slot(*: Link Down|Slot(*: Card not present",
     "The device in the slot disappeared from PCIe.", "lspci -tv", "Linux drivers/pci/hotplug/pciehp_ctrl.c"},
    {"pcie-no-answer", host, "Unable to change power state from *device inaccessible|: not ready *; giving up",
     "The device does not answer on PCIe: it has fallen off the bus, or did not come back after a reset or a sleep "
     "state. Power the node off and on; reseat the device if it recurs.",
     "lspci -tv; fabric-agentctl check --only pcie,aer,pci-power", "Linux drivers/pci/pci.c"},
    {"pcie-power-fault", host, "Slot(*: Power fault",
     "The PCIe slot reports a fault of its power, and the device in it is gone: a short circuit, a power cable, or the "
     "device.",
     "lspci -tv", "Linux drivers/pci/hotplug/pciehp_ctrl.c"},
    {"pcie-retrain", host, "retraining non-functional downstream link at",
     "The PCIe link below this bridge did not come up, and Linux tries it at 2.5 GT/s: the device in the slot is "
     "missing, or slow. Reseat the device, riser or cable.",
     "lspci -tv; fabric-agentctl check --only pcie", "Linux drivers/pci/quirks.c"},
    {"pcie-limited", host, "available PCIe bandwidth, limited by",
     "The PCIe link of the device is slower or narrower than it could be.", "fabric-agentctl check --only pcie",
     "Linux drivers/pci/pci.c"},
    {"iommu-fault", host, "IO_PAGE_FAULT|DMAR: [DMA |arm-smmu*event*received|arm-smmu*event: * client: ",
     "The IOMMU blocked an access of the device: a driver bug, or GPUDirect RDMA with an IOMMU that is not in "
     "passthrough.",
     "fabric-agentctl check --only iommu", "Linux drivers/iommu"},
    {"iommu-timeout", host, "AMD-Vi: *Completion-Wait loop timed out|VT-d detected Invalidation Time-out",
     "The IOMMU waits for a device that does not answer: a GPU or NIC has fallen off the bus or hangs. The lines "
     "before this one name it.",
     "journalctl -k -g 'AMD-Vi|DMAR|AER'; fabric-agentctl check --only pcie,aer",
     "Linux drivers/iommu/amd/iommu.c, intel/dmar.c"},
    {"soft-lockup", host, "soft lockup - CPU#|hard LOCKUP on cpu|self-detected stall on CPU|detected stalls on CPUs",
     "A CPU did not schedule for many seconds. If the stack names mlx5e_napi_poll, the NIC's driver is stuck.",
     "journalctl -k | grep -A 30 -E 'lockup|LOCKUP|stall'", "Linux kernel/watchdog.c, kernel/rcu/tree_stall.h"},
    {"hung-task", host, "INFO: task *blocked for more than",
     "A process has waited in the kernel for minutes, and cannot be killed. The stack below the line names the driver "
     "that it waits for: a NIC's or GPU's firmware that hangs, or a file system.",
     "journalctl -k | grep -A 30 'blocked for more'", "Linux kernel/hung_task.c"},
    {"cpu-throttled", host,
     "temperature above threshold, cpu clock throttled|temperature is above threshold, cpu clock is throttled",
     "A CPU is too hot and runs more slowly: its processes post receives late, and the other ranks wait. Check fans, "
     "airflow and power limits.",
     "sensors; grep . /sys/devices/system/cpu/cpu0/thermal_throttle/*", "Linux drivers/thermal/intel/therm_throt.c"},
    {"library-segfault", software,
     "segfault at *in libnccl|segfault at *in librccl|segfault at *in libibverbs|segfault at *in libmlx5",
     "A process crashed inside this library: a bug, or libraries and drivers of releases that do not fit together. It "
     "ends, and its peers see retry or remote errors.",
     "coredumpctl list; grep -h 'NCCL version' FILE", "Linux arch/x86/mm/fault.c"},
    {"out-of-memory", software, "ut of memory: Killed process|oom_kill event in StepId",
     "Linux killed a process because memory, or the limit of its cgroup, was used up. If it was a rank of the job, its "
     "peers see retry or remote errors.",
     "journalctl -k -g 'oom-kill'", "Linux mm/oom_kill.c"},
    {"peermem-invalid-context", software, "nv_get_p2p_free_callback*invalid context",
     "GPU memory was freed while nvidia-peermem had it registered. NVIDIA calls the line harmless; since driver R560 "
     "it is not written.",
     "cat /proc/driver/nvidia/version", "NVIDIA open-gpu-kernel-modules nvidia-peermem.c"},
    {"peer-memory-symbol", host, "symbol ib_register_peer_memory_client",
     "The GPU driver cannot register with the RDMA stack (nvidia-peermem is not loaded): it was built for another one. "
     "Linux's own RDMA stack has no such function and needs DMA-BUF; with OFED or DOCA, build the GPU driver again.",
     "dkms status; fabric-agentctl check --only gpudirect", "NVIDIA open-gpu-kernel-modules nvidia-peermem.c"},
    {"module-symbols", host,
     "rdma: disagrees about version of symbol|rdma: Unknown symbol|_ib: disagrees about version of symbol|"
     "_ib: Unknown symbol|bnxt_re: disagrees about version of symbol|bnxt_re: Unknown symbol|symbol nvidia_p2p_",
     "The kernel refused a module: it was built for another kernel or RDMA stack, as Linux's own RDMA modules beside "
     "those of OFED or of the NIC's vendor, or a part that it needs is missing. Build it again for the stack in use.",
     "dkms status; modinfo -n ib_core mlx5_core bnxt_re irdma ionic_rdma", "Linux kernel/module/main.c"},
    {"gpu-off-bus", host, "NVRM: Xid (*): 79,|NVRM: *fallen off the bus",
     "A GPU does not answer on PCIe any more (Xid 79): its power, its slot or riser, heat, or the GPU itself. Nothing "
     "can use it until the node has been powered off and on.",
     "fabric-agentctl check --only pcie,aer", kXid},
    {"gpu-memory", host,
     "NVRM: Xid (*): 48,|NVRM: Xid (*): 63,|NVRM: Xid (*): 64,|NVRM: Xid (*): 94,|NVRM: Xid (*): 95,|"
     "NVRM: Xid (*): 140,",
     "The memory of a GPU had an uncorrectable error (Xid 48, 94, 95, 140), or a faulty row is replaced (63) or cannot "
     "be (64). The process that used it ends, and its peers see remote errors. Reset the GPU when it is idle; replace "
     "it after 64.",
     "nvidia-smi -q -d ECC,ROW_REMAPPER", kXid},
    {"gpu-nvlink", host,
     "NVRM: Xid (*): 74,|NVRM: Xid (*): 144,|NVRM: Xid (*): 145,|NVRM: Xid (*): 146,|NVRM: Xid (*): 147,|"
     "NVRM: Xid (*): 148,|NVRM: Xid (*): 149,|NVRM: Xid (*): 150,",
     "An NVLink of a GPU reports an error (Xid 74; 144 to 150 of newer GPUs): a connector, an NVSwitch, or a GPU at "
     "its other end that was reset. This is not the RDMA network.",
     "nvidia-smi nvlink -e; nvidia-smi nvlink -s", kXid},
    {"gpu-firmware", host, "NVRM: Xid (*): 119,|NVRM: Xid (*): 120,",
     "The firmware of a GPU (GSP) does not answer (Xid 119) or has failed (120). The GPU needs a reset, or the node a "
     "reboot; if it recurs, update the driver.",
     "nvidia-smi -q | grep -i gsp", kXid},
    {"gpu-program", software, "NVRM: Xid (*): 13,|NVRM: Xid (*): 31,|NVRM: Xid (*): 43,",
     "A program made the GPU fault (Xid 13: exception; 31: page fault; 43: stopped), mostly by a bug of its own. It "
     "ends, and its peers see remote errors.",
     "journalctl -k -g Xid", kXid},
    {"gpu-xid", host, "NVRM: Xid",
     "The GPU driver reports an error. Most kinds end the process that used the GPU, and its peers see remote errors. "
     "The number is in NVIDIA's Xid catalog.",
     "nvidia-smi -q | grep -A 5 -i ecc", kXid},
    {"gpu-init", host, "NVRM: *RmInitAdapter failed",
     "The driver could not start a GPU, and nvidia-smi does not show it: its firmware did not start, or only a reset "
     "of the GPU helps.",
     "journalctl -k -g NVRM; nvidia-smi -L", "NVIDIA open-gpu-kernel-modules"},
    {"amdgpu-reset", host,
     "amdgpu*GPU reset begin|amdgpu*MES failed to respond to msg=|amdgpu*timeout, signaled seq=|amdgpu*ncorrectable "
     "hardware error",
     "The driver of an AMD GPU resets it after a hang or an uncorrectable error; the processes that used the GPU end, "
     "and their peers see remote errors.",
     "journalctl -k -g amdgpu; amd-smi metric --ecc", "Linux drivers/gpu/drm/amd/amdgpu"},
    {"amdgpu-lost", host,
     "amdgpu*device lost from bus|amdgpu*GPU reset(*) failed|amdgpu*ASIC reset failed|amdgpu*ode2 reset failed",
     "An AMD GPU has left the bus, or its reset failed. Nothing can use it until the node has been restarted, or "
     "powered off and on.",
     "fabric-agentctl check --only pcie,aer", "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_device.c"},
    {"amdgpu-memory", host,
     "amdgpu*oison is consumed by|amdgpu*oison is created|amdgpu*ad pages*reaches threshold|"
     "amdgpu*deferred hardware errors detected",
     "The memory of an AMD GPU had an error that could not be corrected. The process that uses it ends, and its peers "
     "see remote errors. Replace the GPU when its bad pages reach the threshold.",
     "amd-smi bad-pages; amd-smi metric --ecc", "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c, amd/amdkfd"},
    {"amdgpu-program", software, "amdgpu*page fault (src_id|Memory access fault by GPU",
     "A program accessed GPU memory that it does not have (of NVIDIA: Xid 31), mostly by a bug of its own. It ends, "
     "and its peers see remote errors.",
     "journalctl -k -g 'page fault'", "Linux drivers/gpu/drm/amd/amdgpu/gmc_v9_0.c, ROCr-Runtime runtime.cpp"},
    {"amdgpu-init", host, "amdgpu*Fatal error during GPU init",
     "The driver could not start an AMD GPU, and amd-smi does not show it. The lines before this one name the part.",
     "journalctl -k -g amdgpu; amd-smi list", "Linux drivers/gpu/drm/amd/amdgpu/amdgpu_kms.c"},
    {"nvswitch-sxid", host, ": SXid (PCI:",
     "An NVSwitch of this node reports an error of NVLink, which is not the RDMA network. After a fatal one the GPUs "
     "behind it cannot be used until GPUs and NVSwitches are reset.",
     "journalctl -u nvidia-fabricmanager; nvidia-smi nvlink -s", "NVIDIA Fabric Manager user guide, appendix D"},
    {"memory-error", host,
     "EDAC MC* CE |EDAC MC* UE |Memory failure: 0x|mce: [Hardware Error]: Machine check|"
     "[Hardware Error]: CPU *: Machine Check",
     "A memory module or the CPU reported an error. An uncorrected one (UE) ends the process that used the page; many "
     "corrected ones (CE) announce a failing module.",
     "grep . /sys/devices/system/edac/mc/mc*/[cu]e_count", "Linux drivers/edac/edac_mc.c, mm/memory-failure.c"},
    {"platform-error", host,
     "[Hardware Error]: Hardware error from APEI|[Hardware Error]: event severity: |[Hardware Error]:*section_type: ",
     "The platform's firmware, which handles hardware errors before Linux sees them, reports one. The lines of the "
     "same number in braces name its kind (section_type) and the device.",
     "journalctl -k -g 'Hardware Error'", "Linux drivers/acpi/apei/ghes.c, drivers/firmware/efi/cper.c"},

    // Programs and libraries of inference, and perftest.
    {"nvshmem-ibgda", host,
     "init failed for transport: IBGDA|cannot allocate buffer on the specified memory type|"
     "is not enumerated as an mlx5 device",
     "NVSHMEM found no NIC that the GPU can drive itself (IBGDA, mlx5 only). The GPU driver needs "
     "PeerMappingOverride=1 in NVreg_RegistryDwords, and the container access to the NIC.",
     "grep RegistryDwords /proc/driver/nvidia/params; ls -l /dev/infiniband",
     "NVSHMEM src/host/transport/transport.cpp"},
    {"nvshmem-address", network, "Unable to create ah",
     "NVSHMEM could not address a peer: its address is not resolved (ARP, neighbor discovery), or the GID index "
     "(NVSHMEM_IB_GID_INDEX) has no entry.",
     "echo $NVSHMEM_IB_GID_INDEX; fabric-agentctl check --only gid", "NVSHMEM src/modules/transport/ibgda/ibgda.cpp"},
    {"nvshmem-connect", network, "nvshmem setup connections failed|connect EPS failed",
     "NVSHMEM could not connect its peers. The first line with \"non-zero status\" or \"NULL value\" names the call.",
     "fabric-agentctl explain --log FILE", "NVSHMEM src/host/init/init.cu"},
    {"deepep-timeout", peer, "DeepEP error: timeout|DeepEP timeout check failed",
     "DeepEP waited too long for another rank: it is late (it compiles kernels or loads the model), it died, or "
     "connections of NVSHMEM failed, of which lines before this one speak then.",
     "fabric-agentctl explain --log FILE", "DeepEP csrc/deep_ep.cpp"},
    {"lnet-timeout", network, "kiblnd_check_*Timed out",
     "A Lustre peer did not answer over RDMA in time: it is down, or the path to it loses packets.",
     "lctl list_nids; lnetctl peer show", "Lustre lnet/klnds/o2iblnd/o2iblnd_cb.c"},
    {"nixl-disconnect", peer, "NIXL_ERR_REMOTE_DISCONNECT",
     "NIXL lost the connection to a peer: its process ended, or UCX gave up. The UCX ERROR lines before this one name "
     "the cause.",
     "fabric-agentctl explain --log FILE", "NIXL src/plugins/ucx"},
    {"mooncake-no-nic", host, "RdmaTransport: No available RNIC|Failed to open device*on port*with GID",
     "Mooncake can use no NIC: the port is down, or MC_GID_INDEX names an index without an address.",
     "fabric-agentctl status; echo $MC_GID_INDEX",
     "Mooncake mooncake-transfer-engine/src/transport/rdma_transport/rdma_context.cpp"},
    {"perftest-connect", peer,
     "Couldn't connect to *:18515|Unable to open file descriptor for socket connection|"
     "Unable to init the socket connection",
     "The server of the test does not run, or a firewall blocks its TCP port (18515).", "ping -c 3 {peer}", kPerftest},
    {"perftest-queue-pair", software, "Unable to Connect the HCA's through the link",
     "The test could not connect its queue pairs; the line before this one names the step. To RTR: the two ends use "
     "different GID types or indexes (-x) or link layers, or the GID index is empty here. An iWARP NIC needs -R.",
     "rdma link show; fabric-agentctl check --only gid,gid-index", "perftest src/perftest_resources.c"},
    {"perftest-port-down", cable, "Port number*state is Down|Port number*state is Init|Port number*state is Armed",
     "The port is not active: it has no link (Down), or no subnet manager has configured it (Init, Armed).",
     "fabric-agentctl status; fabric-agentctl diagnose {port}", "perftest src/perftest_resources.c"},
    {"perftest-exchange", peer,
     "ethernet_read_keys: Couldn't read remote address|Failed to exchange data between server and clients",
     "The other side of the test ended; its error is the cause.", "ping -c 3 {peer}", kPerftest},
};

}  // namespace

std::span<const Message> messages() { return kMessages; }

}  // namespace fabric::loglines
