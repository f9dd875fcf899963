// SPDX-License-Identifier: Apache-2.0
// Work completions that failed: the numbers of enum ibv_wc_status, and their texts in libraries that print no number.
#include "loglines/loglines.h"

namespace fabric::loglines {
namespace {

constexpr std::string_view kVerbs =
    "rdma-core libibverbs/verbs.h, Linux drivers/infiniband/core/verbs.c, NCCL src/transport/net_ib.cc, "
    "UCX ib_mlx5_log.c";

constexpr Message kMessages[] = {
    {"wc-local-length", Cause::software, "local length error|Local length on ",
     "A message is longer than the receive that was posted for it. The application or library has a bug, or the peers "
     "run different versions.",
     "grep -h 'NCCL version' FILE", kVerbs, 1},
    {"wc-local-qp", Cause::software, "local QP operation error|Local QP operation on ",
     "The NIC rejected the work request of this host as inconsistent with its queue pair.", "journalctl -k -g {pci}",
     kVerbs, 2},
    {"wc-local-eec", Cause::software, "local EE context operation error",
     "The NIC rejected the work request: error in the end-to-end context of a reliable datagram.",
     "journalctl -k -g {pci}", kVerbs, 3},
    {"wc-local-protection", Cause::software, "local protection error|Local protection on ",
     "The NIC could not access the buffer of this host: it is not registered, was deregistered or freed during the "
     "transfer, or GPUDirect RDMA cannot read it (IOMMU, ACS, nvidia-peermem).",
     "fabric-agentctl check --only iommu,acs,gpudirect", kVerbs, 4},
    {"wc-flushed", Cause::peer, "Work Request Flushed Error|WR flushed",
     "The queue pair was already in the error state, and this request was discarded. This is a consequence: the first "
     "error of this queue pair, on this host or its peer, is the cause.",
     "fabric-agentctl explain --log FILE", kVerbs, 5},
    {"wc-memory-window", Cause::software,
     "memory bind operation error|memory management operation error|Memory window bind on ",
     "A memory window could not be bound: wrong access rights or key.", "journalctl -k -g {pci}", kVerbs, 6},
    {"wc-bad-response", Cause::peer, "bad response error|Bad response on ",
     "The peer answered with an unexpected transport operation: damaged state or a firmware fault there.",
     "journalctl -k -g mlx5_core", kVerbs, 7},
    {"wc-local-access", Cause::software, "local access error|Local access on ",
     "A write from the peer did not match the access rights of the local buffer.", "journalctl -k -g {pci}", kVerbs, 8},
    {"wc-remote-invalid-request", Cause::peer, "remote invalid request error|Invalid request on ",
     "The peer rejected the request as invalid: message longer than its receive buffer, an operation that is not "
     "enabled, or too many outstanding reads or atomics.",
     "ibv_devinfo -v -d {rdma} | grep -E 'fw_ver|max_qp_rd_atom'", kVerbs, 9},
    {"wc-remote-access", Cause::peer, "remote access error|Remote access on ",
     "The peer does not permit access to the memory: wrong key, deregistered memory, or its process ended.",
     "journalctl -k -g Xid", kVerbs, 10},
    {"wc-remote-operation", Cause::peer, "remote operation error|Remote QP on ",
     "The peer could not complete the operation. Its queue pair is in the error state; look at the peer's first error.",
     "ping -c 3 {peer}", kVerbs, 11},
    {"wc-retry-exceeded", Cause::network,
     "transport retry counter exceeded|Transport retry count exceeded|RETRY EXCEEDED ERROR status|"
     "InfiniBand retry count between two MPI processes",
     "Transport retry exceeded (IBV_WC_RETRY_EXC_ERR): the peer did not acknowledge packets, although they were sent "
     "again and again. The path loses packets (link down, PFC or ECN misconfigured, routing), the peer's process or "
     "node is gone, or its GID or rail is unreachable.",
     "fabric-agentctl diagnose {port}", kVerbs, 12},
    {"wc-rnr-exceeded", Cause::peer,
     "RNR retry counter exceeded|Receive-no-ready retry count exceeded|RECEIVER NOT READY RETRY EXCEEDED|"
     "\"receiver not ready\" retry count between two MPI processes",
     "RNR retry exceeded: the peer's application had posted no receive for too long. Its process hangs, is overloaded "
     "or stopped.",
     "fabric-agentctl counters", kVerbs, 13},
    {"wc-rdd-violation", Cause::software, "local RDD violation error",
     "The reliable datagram domain of the queue pair does not match.", "journalctl -k -g {pci}", kVerbs, 14},
    {"wc-remote-invalid-rd", Cause::software, "remote invalid RD request", "The peer rejected a reliable datagram.",
     "journalctl -k -g {pci}", kVerbs, 15},
    {"wc-aborted", Cause::peer, "aborted error (16)|status operation aborted|Remote side aborted on ",
     "The operation was aborted: the peer closed or reset its queue pair.", "ping -c 3 {peer}", kVerbs, 16},
    {"wc-invalid-eecn", Cause::software, "invalid EE context number", "The end-to-end context number is invalid.",
     "journalctl -k -g {pci}", kVerbs, 17},
    {"wc-invalid-eec-state", Cause::software, "invalid EE context state",
     "The end-to-end context is in the wrong state.", "journalctl -k -g {pci}", kVerbs, 18},
    {"wc-fatal", Cause::host, "status fatal error", "The NIC reports a fatal error of its own.",
     "devlink health show pci/{pci}", kVerbs, 19},
    {"wc-response-timeout", Cause::peer, "response timeout error", "The peer did not respond in time.",
     "fabric-agentctl diagnose {port}", kVerbs, 20},
    {"wc-general", Cause::host, "status general error|: general error",
     "The transport failed for a reason that no other status covers.", "journalctl -k -g {pci}", kVerbs, 21},
};

}  // namespace

std::span<const Message> completion_messages() { return kMessages; }

}  // namespace fabric::loglines
