// SPDX-License-Identifier: Apache-2.0
// Messages of communication libraries, without those of work completions.
#include "loglines/loglines.h"

namespace fabric::loglines {
namespace {

constexpr std::string_view kEvents = "rdma-core libibverbs/enum_strs.c, NCCL src/transport/net_ib.cc, UCX ib_device.c";
constexpr std::string_view kNcclVerbs = "NCCL src/misc/ibvwrap.cc";
constexpr std::string_view kNcclSocket = "NCCL src/misc/socket.cc";
constexpr std::string_view kNcclNet = "NCCL src/transport/net_ib.cc";
constexpr std::string_view kInit = "rdma-core libibverbs/init.c";
constexpr std::string_view kOpenib = "Open MPI opal/mca/btl/openib/help-mpi-btl-openib.txt";

constexpr Message kMessages[] = {
    // Asynchronous events of the NIC.
    {"async-port-error", Cause::cable, "sync*event*port error", "The port lost its link while the job was running.",
     "fabric-agentctl diagnose {port}", kEvents},
    {"async-port-active", Cause::cable, "sync*event*port active",
     "The port has its link again: it was down before this line.", "fabric-agentctl diagnose {port}", kEvents},
    {"async-device-fatal", Cause::host, "sync*event*local catastrophic error|ibv_get_async_event failed",
     "The NIC stopped: a fatal firmware, hardware or PCIe error. Its driver resets it; the job must be restarted.",
     "devlink health show pci/{pci}", kEvents},
    {"async-qp-fatal", Cause::host, "local work queue catastrophic error",
     "The NIC could not process a queue pair: its work queue is damaged, or PCIe accesses failed.",
     "journalctl -k -g {pci}", kEvents},
    {"async-qp-request", Cause::software, "invalid request local work queue error",
     "The NIC received an invalid request from the peer on this queue pair.", "journalctl -k -g {pci}", kEvents},
    {"async-qp-access", Cause::software, "local access violation work queue error",
     "The peer accessed memory of this host with a wrong key or beyond its bounds, or the NIC cannot reach the memory "
     "of the GPU (ACS, IOMMU, relaxed ordering, nvidia-peermem).",
     "fabric-agentctl check --only iommu,acs,gpudirect", kEvents},
    {"async-cq", Cause::software, "sync*event*CQ error|CQ overrun|CQ*got completion queue overflow",
     "A completion queue overflowed: the application did not poll it in time, or it is too small.",
     "journalctl -k -g {pci}", kEvents},
    {"async-srq", Cause::software, "SRQ catastrophic error",
     "The shared receive queue is damaged; its queue pairs receive nothing more.", "journalctl -k -g {pci}", kEvents},
    {"async-gid", Cause::host, "sync*event*GID table change|GID table changed",
     "An IP address of the netdev was added, removed or changed while the job was running: its GID index can name "
     "another address now.",
     "ip -d addr show dev {netdev}", kEvents},
    {"async-lid", Cause::network, "sync*event*LID change",
     "The subnet manager gave the port another LID; existing connections fail.", "ibstat {rdma}", kEvents},
    {"async-pkey", Cause::network, "sync*event*P_Key change", "The subnet manager changed the partition of the port.",
     "grep . /sys/class/infiniband/{rdma}/ports/*/pkeys/0", kEvents},
    {"async-sm", Cause::network, "sync*event*SM change|sync*event*client reregistration",
     "The subnet manager restarted, or another one took over the subnet: multicast groups and services are registered "
     "again.",
     "sminfo", kEvents},
    {"async-path-migration", Cause::network, "path migration request error|sync*event*path migrated",
     "The connection moved, or failed to move, to its alternate path.", "fabric-agentctl diagnose {port}", kEvents},

    // NCCL and RCCL (the same code).
    {"registration-memlock", Cause::host,
     "reg_mr*failed*Cannot allocate memory|Failed to register memory 0x*Cannot allocate memory|"
     "ibv_create_qp*failed*Cannot allocate memory|ibv_create_cq*failed*Cannot allocate memory|"
     "BTL failed to initialize while trying to|memlock limits are set too low|Please check max locked memory",
     "Memory could not be locked: the memlock limit of the process is too low, or the NIC has no resources left.",
     "fabric-agentctl check --only memlock",
     "NCCL src/misc/ibvwrap.cc, UCX ib_md.c, Open MPI help-mpi-btl-openib.txt, Mooncake rdma_context.cpp"},
    {"gpudirect-registration", Cause::host, "reg_mr*failed*Bad address|Failed to register memory 0x*Bad address",
     "The NIC could not map GPU memory: nvidia-peermem is not loaded, or does not fit the driver.",
     "lsmod | grep -E 'nvidia_peermem|nv_peer_mem'",
     "NCCL src/misc/ibvwrap.cc, UCX ib_md.c, Mooncake rdma_context.cpp"},
    {"registration-invalid", Cause::software, "reg_mr*failed*Invalid argument",
     "The NIC or its driver does not support this kind of memory or access flag (relaxed ordering, GPU memory).",
     "fabric-agentctl check --only gpudirect", kNcclVerbs},
    {"dmabuf-registration", Cause::host, "ibv_reg_dmabuf_mr*failed",
     "GPU memory could not be registered through dma-buf: kernel, NIC driver or GPU driver do not support it.",
     "uname -r; ibv_devinfo -d {rdma} | grep fw_ver", kNcclVerbs},
    {"open-device", Cause::host, "ibv_open_device failed|NET/IB : Unable to open device|ibv_open_device(*) failed",
     "The RDMA device cannot be opened: /dev/infiniband is missing in the container, or the NIC is in a fatal state.",
     "ls -l /dev/infiniband; ibv_devinfo -d {rdma}", kNcclNet},
    {"modify-qp-invalid", Cause::software,
     "ibv_modify_qp*failed*Invalid argument|ibv_modify_qp*failed with 22|"
     "non-zero status: 22 ibv_modify_qp failed|Failed to modify QP * to RTR|modify QP to RTR*Invalid argument",
     "The connection could not be set up: the peers use GIDs of different kinds or indexes (NCCL_IB_GID_INDEX, RoCE v1 "
     "and v2, IPv4 and IPv6), or different MTUs.",
     "fabric-agentctl check --only gid", kNcclVerbs},
    {"modify-qp-no-gid", Cause::host,
     "ibv_modify_qp*failed*No data available|ibv_modify_qp*No such device|Failed to query GID",
     "The GID index has no entry: the address or its netdev is gone, or moved to another index after a link flap.",
     "grep . /sys/class/infiniband/{rdma}/ports/*/gids/* | grep -v :0000:0000:0000:0000$", kNcclVerbs},
    {"modify-qp-timeout", Cause::network,
     "ibv_modify_qp*failed*Connection timed out|ibv_create_ah(*failed: Connection timed out|"
     "ibv_modify_qp*failed*No route to host|non-zero status: 110 ibv_modify_qp failed|"
     "modify QP to RTR*Connection timed out|modify QP to RTR*No route to host",
     "The address of the peer could not be resolved to a MAC address: no ARP or neighbor discovery answer on this "
     "rail.",
     "ip route get {peer}; ip neigh show dev {netdev}",
     "NCCL src/misc/ibvwrap.cc, UCX ib_device.c, NVSHMEM ibrc.cpp, Mooncake rdma_endpoint.cpp"},
    {"modify-qp-unreachable", Cause::network,
     "ibv_modify_qp*Network is unreachable|ibv_create_ah(*failed: Network is unreachable|"
     "non-zero status: 101 ibv_modify_qp failed|modify QP to RTR*Network is unreachable",
     "This host has no route from the local GID to the GID of the peer.", "ip route get {peer}", kNcclVerbs},
    {"nccl-no-device", Cause::host, "NET/IB : No device found",
     "NCCL found no usable RDMA device and falls back to TCP: none is in the container, none is up, or NCCL_IB_HCA "
     "excludes all.",
     "fabric-agentctl topo; echo $NCCL_IB_HCA", kNcclNet},
    {"nccl-no-libibverbs", Cause::host, "Failed to open libibverbs.so",
     "NCCL found no libibverbs and uses TCP: rdma-core is not installed in the container.",
     "ldconfig -p | grep libibverbs", "NCCL src/misc/ibvsymbols.cc"},
    {"nccl-no-gdr", Cause::host, "GPU Direct RDMA Disabled for HCA",
     "NCCL copies through host memory on this NIC: it found neither nvidia-peermem nor DMA-BUF.",
     "fabric-agentctl check --only gpudirect", "NCCL src/graph/topo.cc"},
    {"rccl-iommu", Cause::host, "Missing \"iommu=pt\" from kernel command line",
     "The IOMMU translates the accesses of the devices: peer-to-peer transfers are slow or hang.",
     "fabric-agentctl check --only iommu", "RCCL src/init.cc"},
    {"nccl-no-socket", Cause::host, "no socket interface found|NET/Socket : no interface found|No IP interface found",
     "NCCL found no netdev for its bootstrap connections: NCCL_SOCKET_IFNAME names none that is up.",
     "ip -br addr; echo $NCCL_SOCKET_IFNAME", "NCCL src/bootstrap.cc"},
    {"nccl-peer-closed", Cause::peer,
     "Connection closed by remote peer|Call to recv from*Connection reset by peer|Call to recv from*Broken pipe|"
     "Call to send to*Connection reset by peer|Call to send to*Broken pipe",
     "The process of a peer ended or closed its connection. This is a consequence; the cause is the first error in the "
     "log of that peer.",
     "fabric-agentctl explain --log FILE", kNcclSocket},
    {"nccl-refused", Cause::peer, "ocket*onnect*Connection refused|onnect to*<*failed : Connection refused",
     "The peer does not listen: its process is not running, or a firewall rejects the connection.", "ping -c 3 {peer}",
     kNcclSocket},
    {"nccl-no-route", Cause::network, "ocket*onnect*No route to host|onnect to*<*No route to host",
     "The netdev of the bootstrap connection has no path to the peer, or a firewall rejects it.", "ip route get {peer}",
     kNcclSocket},
    {"nccl-connect-abort", Cause::network, "onnect to*<*Software caused connection abort",
     "NCCL lost the error of a first connection on the same socket: the peer does not listen, or has no path from this "
     "netdev (NCCL_SOCKET_IFNAME, a bridge like docker0, a firewall).",
     "ip route get {peer}; echo $NCCL_SOCKET_IFNAME", kNcclSocket},
    {"nccl-connect-timeout", Cause::network,
     "Call to connect failed : Connection timed out|ocketStartConnect*Connection timed out|"
     "ocketPollConnect*Connection timed out|onnect to*<*Connection timed out",
     "The peer did not answer the bootstrap connection: wrong netdev (NCCL_SOCKET_IFNAME), firewall, or node down.",
     "ping -c 3 {peer}", kNcclSocket},
    {"nccl-truncated", Cause::software, "Message truncated : received",
     "The peers disagree on the size of a message: different collectives, sizes or NCCL versions.",
     "grep -h 'NCCL version' FILE", "NCCL src/transport/net_socket.cc"},
    {"nccl-ib-fatal", Cause::host, "fatal error (detected in ncclIb",
     "NCCL stops using the NIC because of an event that it reported; the lines with \"async\" around this one name it.",
     "fabric-agentctl explain --log FILE", kNcclNet},
    {"nccl-proxy", Cause::host, "[Proxy Service*Failed to execute operation",
     "A transport could not be set up. The NCCL WARN line before this one names the call that failed.",
     "fabric-agentctl explain --log FILE", "NCCL src/proxy.cc"},
    {"nccl-remote-error", Cause::peer, "ncclRemoteError: A call failed",
     "A call to a peer failed: its process ended, or the network lost the connection. The NCCL WARN lines of all ranks "
     "before this one name the first failure.",
     "fabric-agentctl explain --log FILE", "NCCL src/init.cc"},
    {"nccl-system-error", Cause::host, "ncclSystemError: System call",
     "A system call or a call of libibverbs failed. The NCCL WARN line before this one names it (NCCL_DEBUG=WARN).",
     "fabric-agentctl explain --log FILE", "NCCL src/init.cc"},
    {"nccl-watchdog", Cause::peer,
     "Watchdog caught collective operation timeout|detected by watchdog|Timeout at NCCL work|"
     "Some NCCL operations have failed or timed out",
     "A collective did not finish in time: one rank hangs, died, or its network path is stuck. Find the rank that did "
     "not enter the collective; then look at the port of its node.",
     "fabric-agentctl diagnose", "PyTorch ProcessGroupNCCL.cpp"},
    {"nccl-timeout-bootstrap", Cause::peer,
     "Timeout waiting for connection from peer|Timeout waiting for*ranks to connect",
     "Not all ranks started or reached the first one.", "ip -br addr", "NCCL src/bootstrap.cc"},

    // UCX.
    {"ucx-endpoint-timeout", Cause::network,
     "UCX*Endpoint timeout|ucp_ep_create*failed: Endpoint timeout|transport error: Endpoint timeout",
     "UCX closed a connection after its retries: the peer is unreachable or gone.", "fabric-agentctl diagnose {port}",
     "UCX src/ucs/type/status.c"},
    {"ucx-unreachable", Cause::software, "no*transport to*Destination is unreachable|Destination is unreachable",
     "UCX found no transport that both ends share: UCX_TLS or UCX_NET_DEVICES exclude it, or the peers have different "
     "devices.",
     "ucx_info -d | grep -E 'Transport|Device'", "UCX src/ucp/wireup/select.c"},
    {"ucx-no-device", Cause::host, "network device*is not available, please use one or more of",
     "UCX_NET_DEVICES names a device that this node does not have, or that is down.", "fabric-agentctl status",
     "UCX src/ucp/core/ucp_context.c"},
    {"ucx-no-transport", Cause::host, "transport '*' is not available, please use one or more of",
     "UCX_TLS names a transport that this node does not have: no usable RDMA device, or a UCX without this transport.",
     "ucx_info -d | grep -E 'Transport|Device'; ibv_devinfo -l", "UCX src/ucp/core/ucp_context.c"},
    {"ucx-devx", Cause::host,
     "mlx5dv_devx_obj_create(*failed|mlx5dv_devx_obj_modify(*failed|mlx5dv_create_cq(*failed|"
     "Error in mlx5dv_devx_obj_|ibv_create_cq(*failed: Connection timed out",
     "A firmware command of the NIC failed or timed out: the firmware hangs, is too old, or lacks the resource.",
     "journalctl -k -g {pci}; devlink health show pci/{pci}", "UCX src/uct/ib/mlx5/dv/ib_mlx5_dv.c, NVSHMEM ibgda.cpp"},

    // rdma-core.
    {"verbs-abi", Cause::software, "does not support the kernel ABI of",
     "The libibverbs provider of the container or host does not fit the kernel's driver, and its devices are missing: "
     "both must come from the same driver release.",
     "ibv_devinfo -l; uname -r", kInit},
    {"verbs-no-provider", Cause::host,
     "no userspace device-specific driver found for|couldn't open config directory '*libibverbs.d",
     "libibverbs has no provider library for this device (libmlx5, libbnxt_re, libirdma, ...), and does not offer it.",
     "ls /etc/libibverbs.d; ibv_devinfo -l", kInit},
    {"verbs-no-driver", Cause::software, "libibverbs: Warning: couldn't load driver",
     "A file in /etc/libibverbs.d names a provider that is not installed. Harmless, unless it is the one of the NIC.",
     "ls /etc/libibverbs.d; ibv_devinfo -l", kInit},
    {"verbs-no-sysfs", Cause::host, "couldn't stat '/sys/class/infiniband/",
     "The container has /dev/infiniband of this device but not its entry in /sys: the device belongs to another "
     "network namespace.",
     "rdma system show; ls /sys/class/infiniband", kInit},
    {"smp-no-answer", Cause::network, "umad (*bad status 110",
     "A node of the subnet did not answer a management packet: it is down, its link has errors, or it restarts.",
     "iblinkinfo; ibqueryerrors", "rdma-core libibnetdisc/query_smp.c"},
    {"rdmacm-address", Cause::network, "RDMA_CM_EVENT_ADDR_ERROR|RDMA_CM_EVENT_ROUTE_ERROR",
     "librdmacm could not resolve the address or the route of the peer.", "ip route get {peer}",
     "rdma-core librdmacm/cma.c"},
    {"rdmacm-unreachable", Cause::network, "RDMA_CM_EVENT_UNREACHABLE",
     "The peer did not answer the connection request.", "ping -c 3 {peer}", "rdma-core librdmacm/cma.c"},
    {"rdmacm-rejected", Cause::peer, "RDMA_CM_EVENT_REJECTED",
     "The peer rejected the connection: nothing listens there.", "ping -c 3 {peer}", "rdma-core librdmacm/cma.c"},

    // Open MPI.
    {"ompi-init-device", Cause::host, "There was an error initializing an OpenFabrics device",
     "Open MPI could not open the RDMA device, or its openib BTL does not support it; use the UCX PML.",
     "ibv_devinfo -d {rdma}; ompi_info | grep ucx", kOpenib},
    {"ompi-no-cpc", Cause::software, "No OpenFabrics connection schemes reported that they were able to be used",
     "The openib BTL found no way to connect on this port: use the UCX PML (mpirun --mca pml ucx).",
     "ompi_info | grep ucx", kOpenib},
    {"ompi-partial-registration", Cause::host, "configured to only allow registering part of your physical memory",
     "The driver's translation table covers only a part of the memory; registration of large buffers fails.",
     "grep . /sys/module/mlx4_core/parameters/log_num_mtt", kOpenib},
    {"ompi-no-parameters", Cause::software, "No preset parameters were found for the device that Open MPI detected",
     "The openib BTL does not know this NIC. Performance may be low; use the UCX PML.", "ompi_info | grep ucx",
     kOpenib},
    {"ompi-openib-unused", Cause::software, "By default, for Open MPI 4.0 and later, infiniband ports on a device",
     "The openib BTL leaves this port to UCX. Without the UCX PML, Open MPI uses TCP.", "ompi_info | grep ucx",
     kOpenib},
    {"ompi-no-pml", Cause::software, "No components were able to be opened in the pml framework",
     "No PML that was asked for can be used: UCX found no device for it, or this Open MPI was built without UCX.",
     "ompi_info | grep ucx; ucx_info -d | grep -E 'Transport|Device'", "Open MPI opal/mca/base/help-mca-base.txt"},
    {"ompi-libfabric", Cause::software, "Open MPI failed an OFI Libfabric library call",
     "A libfabric call failed; the lines after this one name the call and the provider.", "fi_info -l",
     "Open MPI opal/mca/common/ofi/help-common-ofi.txt"},
    {"ompi-lost-daemon", Cause::peer, "has lost communication with a remote daemon",
     "mpirun lost the daemon of a node: the node crashed, or its management network failed.", "ping -c 3 {peer}",
     "Open MPI orte/mca/errmgr, PRRTE src/mca/errmgr"},
};

}  // namespace

std::span<const Message> library_messages() { return kMessages; }

}  // namespace fabric::loglines
