// SPDX-License-Identifier: Apache-2.0
// Inference libraries, storage clients and perftest.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kPerftest = "perftest src/perftest_communication.c";

constexpr LineMessage kProgramRows[] = {
    // Before the call that writes sriov_numvfs.
    {"sriov-cni-function", host,
     "/physfn/net: no such file|/physfn: no such file|failed to get VF information|failed to get pf of",
     "The SR-IOV CNI got a device that is no virtual function of a physical function on this host: inside a virtual "
     "machine (there use the host-device CNI), or the virtual functions were removed or made again after the device "
     "plugin had found them (restart the device plugin).",
     "ls -l /sys/bus/pci/devices/{pci}/; kubectl logs -n kube-system -l app=sriovdp",
     "sriov-cni pkg/config, pkg/utils"},
    {"container-start", none,
     "snapshotter * in metadata plugin|load plugin*io.containerd.snapshotter|initialize a tracing processor|"
     "kernel does not support swap|kernel does not support cgroup|bridge-nf-call-ip*is disabled|locating sandbox id|"
     "config version `*deprecated",
     "containerd or Docker tries every plugin and limit when it starts, and goes on without those that this host "
     "lacks.",
     "systemctl status containerd docker", "containerd, Docker moby"},
    {"nvshmem-not-mlx5", software, "is not enumerated as an mlx5 device",
     "NVSHMEM's IBGDA, by which the GPU drives the NIC itself, works with mlx5 only, and skips this device. Without "
     "an mlx5 NIC the job needs another transport (NVSHMEM_REMOTE_TRANSPORT).",
     "ibv_devinfo -l; echo $NVSHMEM_REMOTE_TRANSPORT $NVSHMEM_IB_ENABLE_IBGDA",
     "NVSHMEM src/modules/transport/ibgda/ibgda.cpp"},
    {"nvshmem-no-peermem", host, "neither nv_peer_mem, or nvidia_peermem detected",
     "NVSHMEM skips this transport, because the kernel module that gives the NIC the GPU's memory is not loaded. Load "
     "it, or use DMA-BUF.",
     "modprobe nvidia_peermem; fabric-agentctl check --only gpudirect",
     "NVSHMEM src/modules/transport/common/transport_gdr_common.cpp"},
    {"nvshmem-init",
     unknown,
     "init failed for transport: IBGDA",
     "NVSHMEM could not start this transport. The line before this one has the reason.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head",
     "NVSHMEM src/host/transport/transport.cpp",
     0,
     Role::consequence,
     Call::none,
     {},
     true,
     "nvshmem"},
    {"nvshmem-ibgda", host, "cannot allocate buffer on the specified memory type",
     "NVSHMEM found no NIC that the GPU can drive itself (IBGDA, mlx5 only). The GPU driver needs "
     "PeerMappingOverride=1 in NVreg_RegistryDwords, and the container access to the NIC.",
     "grep RegistryDwords /proc/driver/nvidia/params; ls -l /dev/infiniband",
     "NVSHMEM src/host/transport/transport.cpp"},
    {"nvshmem-address", network, "Unable to create ah",
     "NVSHMEM could not make the address handle of a peer: its address is not resolved (ARP, neighbor discovery), or "
     "the GID index (NVSHMEM_IB_GID_INDEX) has no entry. If perftest works between the two hosts with this GID index, "
     "it is a fault of this NVSHMEM release on RoCE: use a newer one.",
     "echo $NVSHMEM_IB_GID_INDEX; fabric-agentctl check --only gid", "NVSHMEM src/modules/transport/ibgda/ibgda.cpp"},
    {"nvshmem-connect",
     unknown,
     "nvshmem setup connections failed|connect EPS failed|_init2rtr failed|_rtr2rts failed|ep_connect failed|"
     "transport create connect failed|NVSHMEM API called before NVSHMEM initialization has completed",
     "NVSHMEM could not connect its peers, and its initialization failed. This is a consequence. The first line with "
     "\"non-zero status\" or \"NULL value\" names the call.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head",
     "NVSHMEM src/host/init/init.cu",
     0,
     Role::consequence,
     Call::none,
     {},
     true,
     "nvshmem|modify|object|ah|ucx"},
    {"nvshmem-version", software, "incompatible version of the transport interface",
     "The transport library of NVSHMEM belongs to another release than its host library: use one NVSHMEM release in "
     "the "
     "image.",
     "echo $LD_LIBRARY_PATH; ldconfig -p | grep nvshmem", "NVSHMEM src/modules/transport/ibrc/ibrc.cpp"},
    {"nvshmem-atomics",
     host,
     "does not support all necessary atomic operations",
     {"NVSHMEM skips this NIC: its firmware does not allow PCIe atomics. Set PCI_ATOMIC_MODE with mlxconfig",
      {Work::ends_jobs, ", then reset the firmware of the NIC"},
      "."},
     "mstconfig -d {pci} query | grep PCI_ATOMIC_MODE",
     "NVSHMEM src/modules/transport/ibgda/ibgda.cpp"},
    {"lnet-timeout", network, "kiblnd_check_*Timed out",
     "A Lustre peer did not answer over RDMA in time: it is down, or the path to it loses packets.",
     "lctl list_nids; lnetctl peer show", "Lustre lnet/klnds/o2iblnd/o2iblnd_cb.c"},
    {"sglang-aborted", none, "KVTransferError*Aborted by AbortReq",
     "The client or the router aborted this request, and its transfer of the KV cache ended with it. Not a fault of "
     "the "
     "transfer.",
     "grep -h Abort LOG-OF-THE-ROUTER | head", "SGLang python/sglang/srt/disaggregation"},
    {"sglang-prefill", peer, "KVTransferError*from prefill instance",
     "The prefill instance did not send the KV cache: its process ended, or it reports an error of its own.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "SGLang python/sglang/srt/disaggregation"},
    {"sglang-transfer",
     unknown,
     "KVTransferError(",
     "A transfer of the KV cache failed. This is a consequence: another rank of the request, the transfer library "
     "(Mooncake, NIXL) or the prefill instance reported the error before.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head",
     "SGLang python/sglang/srt/disaggregation",
     0,
     Role::consequence,
     Call::none,
     {},
     true,
     "sglang|mooncake|nixl|wc|ucx|modify"},
    {"nixl-disconnect", peer, "NIXL_ERR_REMOTE_DISCONNECT",
     "NIXL lost the connection to a peer: its process ended, or UCX gave up. The UCX ERROR lines before this one name "
     "the cause.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NIXL src/plugins/ucx"},
    {"mooncake-gid-netdev", software, "GID index * has no associated network device|GID*has no associated net",
     "Mooncake 0.3.8 refuses a GID without a netdev. On InfiniBand, and in a pod whose netdev is elsewhere, that is "
     "normal: use another version. On RoCE choose the index of the RoCE v2 address (MC_GID_INDEX).",
     "rdma link show; echo $MC_GID_INDEX",
     "Mooncake mooncake-transfer-engine/src/transport/rdma_transport/rdma_context.cpp"},
    {"mooncake-variable", software,
     "Ignore value from environment variable MC_|Ignore MC_|Invalid MC_|MC_*environment value|Failed to parse MC_|"
     "Invalid value for MC_|Ignoring invalid MC_|MC_*cannot be enabled at the sa|MC_*has no valid mappings|MC_*is "
     "deprecated; use|MC_MS_FILTERS is set but|MC_STORE_NUMA_SOCKET_ID=|invalid MC_MS_AUTO_DISC|non-positive MC_|"
     "Invalid port range [|RDMA protocol requires device names|is not a valid directory path. Still logging",
     "A variable of Mooncake (MC_..., such as MC_IB_TC, the traffic class) or its device list has a value that it "
     "does not accept, and Mooncake takes its default. Correct the variable that the line names.",
     "env | grep MC_", "Mooncake mooncake-transfer-engine/src/config.cpp"},
    {"mooncake-gid-index", software, "GID is NULL, please check your GID index",
     "The GID index that Mooncake uses has no entry: set MC_GID_INDEX to the index of the RoCE v2 IPv4 GID.",
     "echo $MC_GID_INDEX; fabric-agentctl check --only gid", "Mooncake rdma_context.cpp"},
    {"mooncake-no-nic",
     host,
     "RdmaTransport: No available RNIC|Failed to open device*on port*with GID|Disable device |cannot initialize RDMA "
     "resources",
     "Mooncake can use no NIC: every device was refused before this line, and the first refusal is the cause.",
     "fabric-agentctl status; echo $MC_GID_INDEX",
     "Mooncake mooncake-transfer-engine/src/transport/rdma_transport/rdma_transport.cpp",
     0,
     Role::consequence,
     Call::none,
     {},
     true},
    {"mooncake-handshake", peer,
     "ibverbs init qp failed|andshake*End of file|andshake*refused|Failed to exchange handshake",
     "The other side closed the connection while addresses were exchanged: its log has the reason.", "ping -c 3 {peer}",
     "Mooncake rdma_endpoint.cpp, yalantinglibs coro_io"},
    {"mooncake-metadata", peer,
     "transfer_metadata*response code: 404|Failed to retrieve segment descriptor|response body: metadata not found",
     "The metadata server has no entry for the segment of the peer: the peer has not registered it, or its process "
     "ended. The network is not at fault, if the server answers.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "Mooncake mooncake-transfer-engine/src/transfer_metadata.cpp"},
    {"mooncake-inactive",
     unknown,
     "Too many errors found in local RNIC|rdma_context.cpp*Context is not active: ",
     "Mooncake stopped using a NIC after errors of its transfers. This is a consequence: the status of the slices that "
     "failed before is the cause.",
     "grep -h 'Process failed for slice' LOG-OF-EVERY-RANK | head",
     "Mooncake mooncake-transfer-engine/src/transport/rdma_transport/worker_pool.cpp",
     0,
     Role::consequence,
     Call::none,
     {},
     false,
     "wc"},
    {"nixl-peer", peer, "Handshake from peer '*not received after|P2P backend could not connect to IP",
     "The other agent of NIXL did not answer: its process is not started or ended, its address or port is wrong, or a "
     "firewall or security group blocks it.",
     "ping -c 3 {peer}", "NIXL src/plugins/libfabric, src/core/nixl_p2p_metadata_backend.cpp"},
    {"nixl-rails", peer, "Rail count mismatch (local",
     "The peer offers another number of network devices (rails) than this host: another kind of instance, or its "
     "container lacks devices.",
     "fi_info -p efa; ls -l /dev/infiniband", "NIXL src/plugins/libfabric/libfabric_backend.cpp"},
    {"nixl-plugin-missing", host,
     "unsupported backend '|getPluginParams: backend '*not found|Plugin file does not exist",
     "NIXL has no plugin for this backend: the file libplugin_*.so is not in NIXL_PLUGIN_DIR, or a library that it "
     "needs "
     "(of UCX: libucp, libfabric) is not found by the loader (LD_LIBRARY_PATH), so that it was not loaded.",
     "env | grep -E 'NIXL_PLUGIN_DIR|LD_LIBRARY'; ldd $NIXL_PLUGIN_DIR/libplugin_UCX.so | grep 'not found'",
     "NIXL src/core/nixl_agent.cpp, nixl_plugin_manager.cpp"},
    {"nixl-plugin-version", software, "Plugin API version mismatch for",
     "A plugin was built for another release of NIXL: use NIXL and its plugins of one release in the image.",
     "pip show nixl; echo $NIXL_PLUGIN_DIR", "NIXL src/core/nixl_plugin_manager.cpp"},
    {"nixl-backend",
     unknown,
     "NIXL_ERR_BACKEND|no specified or potential backend could send",
     "NIXL passes on that its backend, UCX or libfabric, refused a call (such as the registration of GPU memory) or "
     "lost the connection. This is a consequence: the backend's own error is before it.",
     "grep -hE 'UCX|libfabric|NIXL' LOG-OF-EVERY-RANK | head",
     "NIXL src/core/nixl_agent.cpp",
     0,
     Role::consequence,
     Call::none,
     {},
     true,
     "nixl|ucx|registration|gpudirect|object|open|ofi|wc|memlock"},
    {"nixl-metadata", software, "metadata for remote agent*not found",
     "The agents of NIXL have not exchanged their metadata: order of start or names. The network is not at fault.",
     "grep -h agent LOG-OF-EVERY-RANK | head", "NIXL src/core/nixl_agent.cpp"},
    {"nvshmem-uar", host, "cannot allocate mlx5dv_devx_uar|devx_alloc_uar*failed|cudaHostRegister with IoMemory failed",
     "A doorbell page of the NIC could not be allocated or mapped to the GPU: the GPU driver needs "
     "PeerMappingOverride=1 in NVreg_RegistryDwords, or the NIC's pages are used up (PF_LOG_BAR_SIZE).",
     "grep RegistryDwords /proc/driver/nvidia/params", "NVSHMEM src/modules/transport/ibgda/ibgda.cpp"},
    {"nvshmem-transport", unknown, "init failed for remote transport|init failed for transport",
     "A transport of NVSHMEM did not start; NVSHMEM_DEBUG=INFO prints the reason before this line.",
     "env | grep NVSHMEM", "NVSHMEM src/host/transport/transport.cpp"},
    {"nvshmem-address-family", none, "is invalid for family*ignoring address",
     "The address range by which the GID entry is chosen (NVSHMEM_IB_ADDR_RANGE, NCCL_IB_ADDR_RANGE) is of another "
     "address family than NVSHMEM_IB_ADDR_FAMILY or NCCL_IB_ADDR_FAMILY, and is skipped. Harmless by itself: '::' is "
     "the "
     "default of NVSHMEM.",
     "env | grep IB_ADDR", "NVSHMEM src/modules/transport/common/transport_ib_common.h, NCCL src/transport/net_ib"},
    {"nvshmem-call", software,
     "Unable to register zero length buffers|Unable to register managed memory as|Unable to register nvshmem heap|"
     "Unable to register overlapping memory|Unable to double register|symmetry check for size|Cannot register user "
     "buffer|user buffer*not allocated|user buffer*not a multiple|Address,size not mmapped|already tracked|Unable "
     "to process pointers outside|Unable to process unaligned|Address not registered. Unable|ersion 1 team config|"
     "Stride is invalid for|No more teams available|nvshmem*Requested * teams|Requested too many teams|Cannot "
     "destroy a pre-defined team|Cannot destroy a team with|Invalid <start|Starting PE (|team with NULL config|"
     "Unable to allocate enough duplicate teams|Unique ID is not initialized|Unique ID not initialized|nvshmem API "
     "called before|NVSHMEM is not initialized. Unable|NVSHMEM requires the same number of PEs|Missing init flags "
     "for bootstrap|nvshmem_init_attr_t|NVSHMEMI_MAP_BY|_MAP_BY is not valid|NVSHMEM_IBGDA_*not supported|"
     "NVSHMEM_IBGDA_*must|NVSHMEM_QP_DEPTH|NVSHMEM_SRQ_DEPTH|IBGDA_NUM_SHARED_DCI > |NVSHMEM_IBGDA_NIC_HANDLER is "
     "not valid|Invalid qp size specified|NVSHMEM_HCA_LIST and NVSHMEM_HCA_PE_MAPPING|Invalid libfabric transport "
     "persona|not supported with limited MPG|Plugin bootstrap requires|mmap symmetric buf*not supported|Unsupported "
     "heap kind for NVLS|IBGDA only supports",
     "The program, or a variable of the environment, asks NVSHMEM for what it does not do: a call in the wrong "
     "order or with other arguments on some ranks, a buffer that cannot be registered, too many teams "
     "(NVSHMEM_MAX_TEAMS), or a value of NVSHMEM_... that does not fit. The line names it. The network is not at "
     "fault.",
     "env | grep NVSHMEM", "NVSHMEM src/host, src/modules/transport"},
    {"nvshmem-skipped", none,
     "port with non IB/RoCE link layer|port with non-IB link layer|is not enumerated as an mlx5 device. Skipping|is "
     "not supported (expected HCA interface|FI_OPT_CUDA_API_PERMITTED returned as not implemented|Using default qp.|"
     "gdr_unmap failed ... Continue|gdr_unpin failed ... Continue|Unable to dlopen libmlx5dv. Disabling",
     "A note of NVSHMEM at its start: a device or port is left out, because it is of another kind or not active, or "
     "an option is not offered. Harmless if the ports that the job shall use are not among them.",
     "ibv_devinfo -l; env | grep NVSHMEM", "NVSHMEM src/modules/transport"},
    {"deepep-rdma-timeout", network, "DeepEP*RDMA sender timeout|DeepEP*RDMA receiver timeout|DeepEP*RDMA*timeout",
     "Data of another rank did not arrive over RDMA, or was not consumed: the path between the two ranks of this rail, "
     "or a rank that hangs.",
     "fabric-agentctl diagnose", "DeepEP csrc/kernels/internode.cu"},
    {"deepep-timeout", peer,
     "DeepEP error: timeout|DeepEP timeout check failed|DeepEP error: CPU recv timeout|DeepEP*timeout",
     "DeepEP waited too long for another rank: that rank is late (it compiles kernels or loads the model) or died, or "
     "connections of NVSHMEM failed; lines before this one report failed connections.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "DeepEP csrc/deep_ep.cpp"},
    {"perftest-sgid", software, "Invalid gid index|Failed to query sgid",
     "The GID index does not exist on this port: choose the RoCE v2 index (-x), or leave it out.",
     "fabric-agentctl check --only gid", kPerftest},
    {"perftest-data-direct", host, "Couldn't get data direct sysfs path",
     "The NIC has no data direct function: do not use --use_data_direct.", "lspci -d 15b3:2100", kPerftest},
    {"perftest-no-devices", host,
     "Did not detect devices|Did not detect any RDMA devices|If device exists, check if driver is up|No IB devices "
     "found",
     "libibverbs finds no RDMA device at all: the driver of the NIC or its RDMA part (mlx5_ib, bnxt_re, irdma) is not "
     "loaded, the container has no /dev/infiniband, its devices are in another network namespace, or the provider of "
     "rdma-core for this NIC is missing.",
     "rdma link show; rdma system show; ls -l /dev/infiniband; lsmod | grep ib_uverbs",
     "perftest src/perftest_resources.c ctx_find_dev()"},
    {"perftest-device", software, "Unable to find the Infiniband/RoCE device|^IB device * not found",
     "The device that was named with -d does not exist here, or the container has no RDMA device (/dev/infiniband).",
     "ibv_devinfo -l; ls -l /dev/infiniband", "perftest src"},
    {"perftest-limit", unknown, "result is below bw limit|rate  is below msg_rate limit",
     "The test ran, and its result is below the limit that it was given. Compare it with the speed of the link and of "
     "the PCIe slot; look at the NUMA node, the MTU and lost packets.",
     "fabric-agentctl counters; fabric-agentctl check --only pcie", "perftest src/send_bw.c"},
    {"huge-pages", host, "Failed to allocate hugepage",
     "This host has no huge pages left, or none are configured: vm.nr_hugepages.", "grep Huge /proc/meminfo",
     "perftest src/host_memory.c"},
    {"perftest-resources-missing",
     host,
     "Couldn't create IB resources|Failed to create IB resources|Couldn't create rdma resources",
     "The test could not create its objects: no device or no /dev/infiniband in the container, memlock or IPC_LOCK, or "
     "another network namespace. The line before it has the step.",
     "ls -l /dev/infiniband; ulimit -l; rdma system show",
     kPerftest,
     0,
     Role::cause,
     Call::none,
     {},
     true},
    {"perftest-region",
     host,
     "failed to create mr|Failed to create MR",
     "A consequence: the buffer could not be registered. The line before it has the errno.",
     "ulimit -l; fabric-agentctl check --only memlock,gpudirect",
     "perftest src/perftest_resources.c ctx_init()",
     0,
     Role::consequence,
     Call::none,
     {},
     true,
     "registration|dmabuf|gpudirect"},
    {"perftest-remote-qp",
     network,
     "Couldn't connect to remote QP",
     "A consequence: the queue pair could not be connected. The line before it names the transition that failed.",
     "rdma link show; fabric-agentctl check --only gid,gid-index",
     kPerftest,
     0,
     Role::consequence,
     Call::none,
     {},
     true,
     "modify|gid|rdmacm|wc"},
    {"perftest-disconnect", none, "Failed to disconnect RDMA CM",
     "The test has ended and its result is valid; the peer closed the connection first (ECONNRESET with iWARP, "
     "transport type IW, whose connection is TCP). Harmless.",
     "rdma link show", kPerftest},
    {"spdk-queue-state", host, "expected state: IBV_QPS_",
     "The driver left a queue pair in another state than SPDK asked for: update the driver and rdma-core.",
     "ethtool -i {netdev}", "SPDK lib/nvmf/rdma.c"},
    {"perftest-connect", peer,
     "Couldn't connect to *:18515|Unable to open file descriptor for socket connection|"
     "Unable to init the socket connection",
     "The server of the test does not run, or a firewall blocks its TCP port (18515).", "ping -c 3 {peer}", kPerftest},
    {"perftest-queue-pair", software, "Unable to Connect the HCA's through the link",
     "The test could not connect its queue pairs; the line before this one names the step. To RTR: the two ends use "
     "different GID types or indexes (-x) or link layers, or the GID index is empty here. An iWARP NIC needs -R. A GID "
     "of zeros before it: the index has no entry in this network namespace. A container needs a netdev of this NIC: a "
     "secondary network with a macvlan or a virtual function.",
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
