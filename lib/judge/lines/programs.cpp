// SPDX-License-Identifier: Apache-2.0
// Inference libraries, storage clients and perftest.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum Cause;

constexpr std::string_view kPerftest = "perftest src/perftest_communication.c";

constexpr LineMessage kProgramRows[] = {
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
     "DeepEP waited too long for another rank: that rank is late (it compiles kernels or loads the model) or died, or "
     "connections of NVSHMEM failed; lines before this one report failed connections.",
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

const std::span<const LineMessage> kProgramMessages = kProgramRows;

}  // namespace fabric::lines
