// SPDX-License-Identifier: Apache-2.0
// Failed work completions and asynchronous events of a NIC, as any library prints them.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kWc =
    "rdma-core libibverbs/verbs.h, Linux drivers/infiniband/core/verbs.c, NCCL src/transport/net_ib.cc, UCX "
    "ib_mlx5_log.c";
constexpr std::string_view kAsync = "rdma-core libibverbs/enum_strs.c, NCCL src/transport/net_ib.cc, UCX ib_device.c";

constexpr LineMessage kCompletionRows[] = {
    // Failed work completions: the texts of enum ibv_wc_status in libraries that print no number.
    {"wc-local-length", host, "local length error|Local length on ",
     "A message is longer than the receive that was posted for it, or a packet is larger than the path MTU of the "
     "receiver. Compare active_mtu of the two ports first: if it differs, set the netdev MTU of both hosts and of the "
     "switch ports (NCCL 2.20 and later does not lower it). If it is equal, the application or library has a bug, or "
     "the peers run different versions.",
     "ibv_devinfo -d {rdma} | grep active_mtu; ip link show {netdev}", kWc, 1},
    {"wc-local-qp", software, "local QP operation error|Local QP operation on |local QP operation err (",
     "The NIC rejected the work request of this host as inconsistent with its queue pair.", "journalctl -k -g {pci}",
     kWc, 2},
    {"wc-local-eec", software, "local EE context operation error",
     "The NIC rejected the work request: error in the end-to-end context of a reliable datagram.",
     "journalctl -k -g {pci}", kWc, 3},
    {"wc-local-protection", host, "local protection error|Local protection on ",
     "The NIC could not access the buffer of this host. The network and the peer are not involved. GPU memory: the "
     "peer memory module (nvidia_peermem) does not fit the driver, ACS redirects between GPU and NIC, or the IOMMU "
     "translates. Else the buffer is not registered, or was freed during the transfer.",
     "fabric-agentctl check --only iommu,acs,gpudirect", kWc, 4},
    {"wc-flushed", none, "Work Request Flushed Error|WR flushed",
     "The queue pair was already in the error state, and this request was discarded. This is a consequence: the first "
     "error of this queue pair, on this host or its peer, is the cause: the first completion with another status. "
     "Without one it is normal: the peer has disconnected.",
     "grep -hE 'ompletion|async event' LOG-OF-EVERY-RANK | head", kWc, 5, Role::consequence},
    {"wc-memory-window", software,
     "memory bind operation error|memory management operation error|Memory window bind on ",
     "A memory window could not be bound: wrong access rights or key.", "journalctl -k -g {pci}", kWc, 6},
    {"wc-bad-response", peer, "bad response error|Bad response on ",
     "The peer answered with an unexpected transport operation: damaged state or a firmware fault there.",
     "journalctl -k -p warning", kWc, 7},
    {"wc-local-access", software, "local access error|Local access on ",
     "A write from the peer did not match the access rights of the local buffer.", "journalctl -k -g {pci}", kWc, 8},
    {"wc-remote-invalid-request", peer, "remote invalid request error|Invalid request on ",
     "The peer was reached and rejected the request as invalid: a message longer than its receive buffer, packets "
     "larger than the path MTU of its queue pair (active_mtu of the two ports differs, and the library does not lower "
     "it), an operation that is not enabled, or too many outstanding reads or atomics.",
     "ibv_devinfo -v -d {rdma} | grep -E 'active_mtu|fw_ver|max_qp_rd_atom'", kWc, 9},
    {"wc-remote-access", peer, "remote access error|Remote access on ",
     "The peer does not permit access to the memory: wrong key, deregistered memory, or its process ended.",
     "journalctl -k -g 'Xid|amdgpu'", kWc, 10},
    {"wc-remote-operation", peer, "remote operation error|Remote QP on ",
     "The NIC of the peer was reached, and could not carry out the operation: it cannot access the memory there (of a "
     "GPU: peer memory module, ACS, IOMMU of that host), or its queue pair was in the error state. The peer's first "
     "error shows which. The peer may be another process of this host.",
     "on the peer: fabric-agentctl check --only iommu,acs,gpudirect", kWc, 11},
    {"wc-retry-exceeded-infiniband", network, "Transport retry count exceeded on *:*/IB",
     "Transport retry exceeded (IBV_WC_RETRY_EXC_ERR) on InfiniBand: the peer did not acknowledge packets, although "
     "they were resent. The peer's process, node or port is gone, or a link on the path has errors, or the subnet "
     "manager has changed the routes. If many jobs name the same LID, look at its node, else at the links of the path.",
     "fabric-agentctl diagnose {port}; ibtracert LID PEER-LID; ibqueryerrors", kWc},
    {"wc-retry-exceeded", network,
     "transport retry counter exceeded|Transport retry count exceeded|RETRY EXCEEDED ERROR status|InfiniBand retry "
     "count between two MPI processes",
     "Transport retry exceeded (IBV_WC_RETRY_EXC_ERR): the peer did not acknowledge packets, although they were "
     "resent. The path loses packets (link down, congestion, routing), the peer's process or node is gone, or its GID "
     "or rail is unreachable: NCCL_IB_HCA names ports that are not connected to each other, or NCCL_IB_GID_INDEX a GID "
     "that no router forwards (RoCE v1, link-local). If small messages pass, "
     "the MTU of a switch port on the path is below that of the netdevs, also after a change of its speed: test with "
     "ping -M do -s (MTU of the netdev - 28), or ib_write_bw -m with the path MTU of the job.",
     "fabric-agentctl diagnose {port}", kWc, 12},
    {"wc-rnr-exceeded", peer,
     "RNR retry counter exceeded|Receive-no-ready retry count exceeded|RECEIVER NOT READY RETRY EXCEEDED|\"receiver "
     "not ready\" retry count between two MPI processes",
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
    on_silence(
        {"wc-response-timeout", unknown, "response timeout error",
         "The peer did not respond in time. The line does not show the place: the peer's process or host is gone, "
         "or the path does not reach it. EFA: if no transfer between the two instances ever succeeds, the "
         "security group does not allow all traffic from and to itself, in both directions.",
         "fabric-agentctl diagnose {port}; ping -c 3 {peer}", kWc, 20}),
    {"wc-general", unknown, "status general error|: general error",
     "The transport failed for a reason that no other status covers. The vendor error shows it, or a line of the NIC's "
     "driver or library at this time.",
     "journalctl -k -g {pci}", kWc, 21},

    // Asynchronous events of the NIC.
    {"async-port-error", cable, "sync*event*port error|IBV_EVENT_PORT_ERR|event*: PORT_ERR",
     "The port lost its link while the job was running: cable, module or switch port. If several hosts report it, look "
     "at the switch first. Failed completions after it (status 12) are consequences.",
     "fabric-agentctl diagnose {port}", kAsync},
    {"async-port-active", cable, "sync*event*port active", "The port has its link again: it was down before this line.",
     "fabric-agentctl diagnose {port}", kAsync},
    {"async-device-fatal", host,
     "sync*event*local catastrophic error|sync fatal event: local catastrophic|ibv_get_async_event "
     "failed|IBV_EVENT_DEVICE_FATAL",
     "The NIC stopped: a fatal firmware, hardware or PCIe error. Its driver resets it; the job must be restarted.",
     "devlink health show pci/{pci}", kAsync},
    {"async-qp-fatal", host, "local work queue catastrophic error|IBV_EVENT_QP_FATAL|qp event*fatal|QP event*fatal",
     "The NIC could not process a queue pair: its work queue is damaged, or PCIe accesses failed.",
     "journalctl -k -g {pci}", kAsync},
    {"async-qp-request", software, "invalid request local work queue error",
     "The NIC received an invalid request from the peer on this queue pair.", "journalctl -k -g {pci}", kAsync},
    consequence_of("wc", {"async-qp-access", software, "local access violation work queue error",
                          "A request of the peer failed at this host: wrong key, beyond the bounds, longer than the "
                          "receive, or the NIC cannot reach the memory of the GPU (ACS, IOMMU, relaxed ordering, "
                          "nvidia-peermem). The completion that failed with it has the status.",
                          "fabric-agentctl check --only iommu,acs,gpudirect", kAsync}),
    {"async-cq", software, "sync*event*CQ error|CQ overrun|IBV_EVENT_CQ_ERR|CQ*got completion queue overflow",
     "A completion queue overflowed: the library did not poll it in time or made it too small, or the NIC could not "
     "write to it (an IOMMU fault).",
     "journalctl -k -g {pci}", kAsync},
    {"async-srq", software, "SRQ catastrophic error",
     "The shared receive queue is damaged; its queue pairs receive nothing more.", "journalctl -k -g {pci}", kAsync},
    {"async-gid", host, "sync*event*GID table change|GID table changed",
     "An IP address of the netdev was added, removed or changed while the job was running: its GID index can name "
     "another address now.",
     "ip -d addr show dev {netdev}", kAsync},
    {"async-lid", network, "sync*event*LID change|IBV_EVENT_LID_CHANGE",
     "The subnet manager gave the port another LID; existing connections fail.", "ibstat {rdma}", kAsync},
    {"async-pkey", network, "sync*event*P_Key change", "The subnet manager changed the partition of the port.",
     "grep . /sys/class/infiniband/{rdma}/ports/*/pkeys/0", kAsync},
    {"async-sm", network, "sync*event*SM change|sync*event*client reregistration",
     "The subnet manager restarted, or another one took over the subnet: multicast groups and services are registered "
     "again.",
     "sminfo", kAsync},
    {"async-path-migration", network, "path migration request error|sync*event*path migrated",
     "The connection moved, or failed to move, to its alternate path.", "fabric-agentctl diagnose {port}", kAsync},
};

}  // namespace

const std::span<const LineMessage> kCompletionMessages = kCompletionRows;

}  // namespace fabric::lines
