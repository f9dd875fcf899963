// SPDX-License-Identifier: Apache-2.0
// NCCL and RCCL (the same code), and PyTorch above them.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum Cause;

constexpr std::string_view kNcclVerbs = "NCCL src/misc/ibvwrap.cc";
constexpr std::string_view kNcclSocket = "NCCL src/misc/socket.cc";
constexpr std::string_view kNcclNet = "NCCL src/transport/net_ib.cc";

constexpr LineMessage kNcclRows[] = {
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
     "NCCL or RCCL copies through host memory on this NIC: it found neither a peer memory module nor DMA-BUF.",
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
     "NCCL stops using the NIC because of an event that the NIC reported; the lines with \"async\" around this one "
     "name the event.",
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
     "lock. Look for errors of the GPU first; this line says nothing about the network.",
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
};

}  // namespace

const std::span<const LineMessage> kNcclMessages = kNcclRows;

}  // namespace fabric::lines
