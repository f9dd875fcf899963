// SPDX-License-Identifier: Apache-2.0
// Messages of libfabric's providers.
#include "loglines/loglines.h"

namespace fabric::loglines {
namespace {

constexpr std::string_view kEfa = "libfabric prov/efa/src/efa_errno.h";
constexpr std::string_view kVerbs = "libfabric prov/verbs/src/verbs_init.c";
constexpr std::string_view kOpx = "libfabric prov/opx/src/fi_opx_hfi1.c";
constexpr std::string_view kPsm3 = "libfabric prov/psm3/psm3/psm_ep.c, psm_verbs_ep.c";
constexpr std::string_view kCxi = "libfabric prov/cxi/src/cxip_cq.c, MPICH src/mpid/ch4/netmod/ofi/ofi_events.c";

constexpr Message kMessages[] = {
    {"ofi-no-match", Cause::host, "fi_getinfo: provider*output empty list",
     "This provider found no device for the request: none is in the container, its driver is not loaded, or it lacks a "
     "capability that the program needs.",
     "fi_info -l; ls -l /dev/infiniband", "libfabric src/fabric.c"},
    {"ofi-nccl-plugin", Cause::host, "NET/OFI aws-ofi-nccl initialization failed",
     "NCCL's libfabric plugin could not start, and NCCL uses its own transports: on EFA that is TCP. The lines before "
     "this one name the reason.",
     "fi_info -p efa", "aws-ofi-nccl src/nccl_ofi_net.c"},

    // verbs: VRB_WARN_ERRNO prints the function and the errno.
    {"verbs-no-device", Cause::host,
     "verbs:*rdma_create_id: No such device|verbs:*rdma_create_id: No such file|"
     "rdma_create_event_channel failed: No such",
     "librdmacm found no RDMA device: rdma_cm is not loaded, or /dev/infiniband is not in the container.",
     "ls -l /dev/infiniband; lsmod | grep rdma_cm", kVerbs},
    {"verbs-bind", Cause::host, "verbs:*rdma_bind_addr: |verbs:*rdma_getaddrinfo: ",
     "The provider cannot use the local address: it is not on the netdev of an RDMA device, or its name does not "
     "resolve.",
     "ip -br addr; rdma link show", kVerbs},
    {"verbs-resolve", Cause::network, "verbs:*rdma_resolve_addr: |verbs:*rdma_resolve_route: ",
     "The address of the peer could not be resolved on this rail: no route, or no answer to ARP or neighbor discovery.",
     "ip route get {peer}; ip neigh show dev {netdev}", kVerbs},

    // cxi (Slingshot).
    {"cxi-undeliverable", Cause::network, "OFI poll failed*UNDELIVERABLE|cxi:*UNDELIVERABLE",
     "The NIC gave up after its retries: the link or the node of the peer is down, or the network lost the packets.",
     "cxi_stat; dmesg | grep -i cxi", kCxi},
    {"cxi-no-target", Cause::peer, "OFI poll failed*PTLTE_NOT_FOUND|cxi:*PTLTE_NOT_FOUND",
     "The endpoint of the peer does not exist (any more): its process ended, or has not enabled it yet.",
     "fabric-agentctl explain --log FILE", kCxi},
    {"cxi-vni", Cause::software, "OFI poll failed*VNI_NOT_FOUND|cxi:*VNI_NOT_FOUND",
     "The peer does not take part in this virtual network (VNI): the ranks were started as different jobs.",
     "echo $SLINGSHOT_VNIS", kCxi},
    {"cxi-cq-exhausted", Cause::software, "suspects a hang due to completion queue exhaustion",
     "The completion queue is full: the job has more operations in flight than it has entries. Raise "
     "FI_CXI_DEFAULT_CQ_SIZE.",
     "echo $FI_CXI_DEFAULT_CQ_SIZE", kCxi},

    // opx and psm2 (Omni-Path), psm3.
    {"opx-no-device", Cause::host, "detected no HFIs, cannot continue",
     "No Omni-Path NIC was found: its driver (hfi1) is not loaded, or the NIC is not on the bus.",
     "lspci -d 8086:24f0; lsmod | grep hfi1", kOpx},
    {"opx-no-active-port", Cause::cable, "HFI has no active ports, cannot continue|PSM2 no hfi units are active",
     "No port of an Omni-Path NIC is active: no link, or no fabric manager has configured it.", "opainfo",
     "libfabric prov/opx/src/fi_opx_hfi1.c, opa-psm2 psm_ep.c"},
    {"opx-open", Cause::host, "active HFI device*unable to open",
     "The Omni-Path NICs are active and cannot be opened: all contexts are in use, or /dev/hfi1_* denies access.",
     "ls -l /dev/hfi1_*; grep . /sys/class/infiniband/hfi1_*/nfreectxts", kOpx},
    {"opx-pkey", Cause::network, "specified FI_OPX_PKEY of*internal driver error|Unable to get default Pkey",
     "The partition key is not in the table of the port: the fabric manager did not assign it.",
     "grep . /sys/class/infiniband/*/ports/*/pkeys/0", kOpx},
    {"psm3-open", Cause::host, "PSM3 can't open nic unit",
     "PSM3 cannot use the NIC; the lines before this one name the call that failed. On a single node it is not needed.",
     "ulimit -l; ls -l /dev/infiniband", kPsm3},
    {"psm3-resources", Cause::host, "Unable to create send CQ of size*Cannot allocate memory|Unable to create UD QP",
     "A verbs object of PSM3 could not be created: the memlock limit of the process is too low, or the NIC has no "
     "resources left.",
     "fabric-agentctl check --only memlock", kPsm3},

    // EFA.
    {"efa-unresponsive-handshake", Cause::network,
     "Unresponsive receiver (reachable by EFA device but handshake failed)",
     "The EFA device reaches the peer, but the handshake fails: the peer's process is not ready, or a security group "
     "lacks the rule to or from itself.",
     "rdma link show", kEfa},
    {"efa-unresponsive", Cause::peer,
     "Unresponsive receiver (connection previously established)|Unresponsive remote (was previously responsive)",
     "The peer stopped answering: its process or instance is gone or hangs.", "fabric-agentctl counters", kEfa},
    {"efa-unreachable", Cause::network, "Unreachable remote (never received a response)",
     "The peer never answered: wrong subnet or security group, or the instance is down.", "rdma link show", kEfa},
    {"efa-rnr", Cause::peer, "Destination resource not ready (no work queue entries posted on receive queue)",
     "The peer had posted no receive: its application is slow or hangs.", "fabric-agentctl counters", kEfa},
    {"efa-local-memory", Cause::software, "Local memory registration is invalid, has insufficient access flags",
     "The buffer of this host is not registered, or was freed during the transfer.",
     "lsmod | grep -E 'efa|nvidia_peermem'", kEfa},
    {"efa-remote-memory", Cause::peer, "Remote memory registration is invalid, has insufficient access flags",
     "The buffer of the peer is not registered, or its process ended.", "fabric-agentctl counters", kEfa},
    {"efa-bad-qp", Cause::peer, "Bad queue pair (QP) number (QP does not exist or is in error state)",
     "The queue pair of the peer is gone: its process ended or restarted.", "fabric-agentctl counters", kEfa},
    {"efa-reset", Cause::peer, "Connection was reset by remote peer",
     "The peer reset the connection: its process ended.", "fabric-agentctl counters", kEfa},
};

}  // namespace

std::span<const Message> provider_messages() { return kMessages; }

}  // namespace fabric::loglines
