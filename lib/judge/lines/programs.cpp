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
     "The SR-IOV CNI got a device that is not a virtual function of a physical function on this host: inside a virtual "
     "machine (there use the host-device CNI), or the virtual functions were removed or made again after the device "
     "plugin had found them (restart the device plugin).",
     "ls -l /sys/bus/pci/devices/{pci}/; kubectl logs -n kube-system -l app=sriovdp",
     "sriov-cni pkg/config, pkg/utils"},
    {"container-start", none,
     "snapshotter * in metadata plugin|load plugin*io.containerd.snapshotter|initialize a tracing processor|kernel "
     "does not support swap|kernel does not support cgroup|bridge-nf-call-ip*is disabled|locating sandbox id|config "
     "version `*deprecated",
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
    consequence_of(
        "nvshmem",
        wrapping({"nvshmem-init", unknown, "init failed for transport: IBGDA",
                  "NVSHMEM could not start this transport. The line before this one has the reason.",
                  "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NVSHMEM src/host/transport/transport.cpp"})),
    {"nvshmem-ibgda", host,
     "cannot allocate buffer on the specified memory type|no active IB device that supports GPU-initiated",
     "NVSHMEM found no NIC that the GPU can drive itself (IBGDA, mlx5 only). A port must be active, and of "
     "NVSHMEM_HCA_LIST if that is set; the GPU driver needs PeerMappingOverride=1 in NVreg_RegistryDwords, or "
     "NVSHMEM_IBGDA_NIC_HANDLER=cpu; the container needs access to the NIC.",
     "grep RegistryDwords /proc/driver/nvidia/params; ls -l /dev/infiniband",
     "NVSHMEM src/host/transport/transport.cpp"},
    {"nvshmem-address", network, "Unable to create ah",
     "NVSHMEM could not make the address handle of a peer: its address is not resolved (ARP, neighbor discovery), or "
     "the GID index (NVSHMEM_IB_GID_INDEX) has no entry. If perftest works between the two hosts with this GID index, "
     "it is a fault of this NVSHMEM release on RoCE: use a newer one.",
     "echo $NVSHMEM_IB_GID_INDEX; fabric-agentctl check --only gid", "NVSHMEM src/modules/transport/ibgda/ibgda.cpp"},
    consequence_of(
        "nvshmem|modify|object|ah|ucx",
        wrapping(
            {"nvshmem-connect", unknown,
             "nvshmem setup connections failed|connect EPS failed|_init2rtr failed|_rtr2rts failed|ep_connect failed|"
             "transport create connect failed|NVSHMEM API called before NVSHMEM initialization has completed",
             "NVSHMEM could not connect its peers, and its initialization failed. This is a consequence. The first "
             "line with \"non-zero status\" or \"NULL value\" names the call.",
             "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NVSHMEM src/host/init/init.cu"})),
    {"nvshmem-version", software, "incompatible version of the transport interface",
     "The transport library of NVSHMEM belongs to another release than its host library: use one NVSHMEM release in "
     "the image.",
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
     "A Lustre peer did not answer over RDMA in time: it is down, the path to it loses packets, or the RDMA port of "
     "this host failed. If all peers time out, look at this host first.",
     "lnetctl peer show; lctl ping {peer}@o2ib; fabric-agentctl diagnose {port}",
     "Lustre lnet/klnds/o2iblnd/o2iblnd_cb.c"},
    {"sglang-aborted", none, "KVTransferError*Aborted by AbortReq",
     "The client or the router aborted this request, and its transfer of the KV cache ended with it. Not a fault of "
     "the transfer.",
     "grep -h Abort LOG-OF-THE-ROUTER | head", "SGLang python/sglang/srt/disaggregation"},
    {"sglang-prefill", peer, "KVTransferError*from prefill instance",
     "The prefill instance did not send the KV cache: its process ended, or it reports an error of its own.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "SGLang python/sglang/srt/disaggregation"},
    consequence_of(
        "sglang|mooncake|nixl|wc|ucx|modify",
        wrapping({"sglang-transfer", unknown, "KVTransferError(",
                  "A transfer of the KV cache failed. This is a consequence: another rank of the request, the transfer "
                  "library (Mooncake, NIXL) or the prefill instance reported the error before.",
                  "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "SGLang python/sglang/srt/disaggregation"})),
    {"mori-queue-pair", host, "ModifyRst2Init failed|ModifyInit2Rtr failed|ModifyRtr2Rts failed",
     "MORI: the RDMA driver (ionic, bnxt, mlx5) refused to move a queue pair to its next state (INIT, RTR, RTS). "
     "Invalid argument: the user library (libionic), the kernel module (ionic_rdma) and the firmware of the AMD "
     "Pensando NIC do not fit each other, or the port, GID index (MORI_IB_GID_INDEX) or MTU is wrong. Timed out at "
     "RTR: the peer's address has no ARP answer. They must be of one release, and rdma link must show the port active.",
     "rdma link show; modinfo -F version ionic_rdma; devlink dev info; fabric-agentctl check --only gid",
     "ROCm MORI src/application/transport/rdma/providers"},
    {"mori-completion-queues", software, "cqs_in_pool=",
     "MORI could not create another completion queue on this NIC: it has one for each queue pair, and too many are in "
     "use already (in_pool), so that the resources of the NIC are exhausted. Use fewer queue pairs for each transfer "
     "(qp_per_transfer) and smaller queues; check the limit of locked memory (ulimit -l).",
     "rdma resource show; fabric-agentctl check --only memlock",
     "ROCm MORI src/application/transport/rdma/providers/ibverbs"},
    {"nixl-block-size", software,
     "is not divisible by remote block size|different block size is not supported|dst_num_blocks[engine_id] == "
     "nixl_agent_meta|self.num_blocks >= nixl_agent_meta|Remote P worker |Remote D worker |assert remote_block_len",
     "The engines of prefill and decode use KV caches of different shapes, types or layouts, or blocks of different "
     "sizes or numbers (other parallelism, tensor parallel size and heads), which this NIXL connector (vLLM) does not "
     "support or cannot combine; no KV cache is transferred. Start both with the same --block-size (and the same "
     "parallelism, attention backend and --gpu-memory-utilization or --num-gpu-blocks-override), or update vLLM.",
     "grep -hE 'block.size|num_gpu_blocks' LOG-OF-EVERY-RANK | head", "vLLM vllm/distributed/kv_transfer nixl"},
    {"nixl-engine-id", software, "NIXL agent engine ID mismatch",
     "The handshake of NIXL reached another engine than the one that was asked for: the address of the side channel is "
     "that of this engine itself or of one that was restarted. Set VLLM_NIXL_SIDE_CHANNEL_HOST and "
     "VLLM_NIXL_SIDE_CHANNEL_PORT of each engine to an address of its own that the other nodes reach.",
     "env | grep VLLM_NIXL; ss -ltnp", "vLLM vllm/distributed/kv_transfer nixl"},
    consequence_of(
        "nixl|ucx|wc|ofi|registration|modify",
        {"nixl-handshake", peer,
         "NIXL transfer failure: handshake|nixl_connector*Handshake failed for request|nixl*worker.py*Handshake failed "
         "for "
         "request",
         "The NIXL connector of vLLM could not do the handshake with the other engine (prefill or decode), so that the "
         "request gets no KV cache: the other engine crashed, restarts or cannot be reached (side channel host and "
         "port), or the two are configured differently (parallelism, block size, versions). Read the exception after "
         "the line, then the log of the other engine for its first error.",
         "grep -hE 'rror|Traceback' LOG-OF-EVERY-RANK | head; env | grep VLLM_NIXL",
         "vLLM vllm/distributed/kv_transfer nixl"}),
    {"nixl-disconnect", peer, "NIXL_ERR_REMOTE_DISCONNECT",
     "NIXL lost the connection to a peer: its process ended, or UCX gave up. The UCX ERROR lines before this one name "
     "the cause.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NIXL src/plugins/ucx"},
    {"mooncake-gid-netdev", software, "GID*has no associated net",
     "Mooncake 0.3.8 refuses a GID without a netdev. On InfiniBand, and in a pod whose netdev is elsewhere, that is "
     "normal: use another version. On RoCE choose the index of the RoCE v2 address (MC_GID_INDEX).",
     "rdma link show; echo $MC_GID_INDEX",
     "Mooncake mooncake-transfer-engine/src/transport/rdma_transport/rdma_context.cpp"},
    {"mooncake-variable", software,
     "Ignore value from environment variable MC_|Ignore MC_|Invalid MC_|MC_*environment value|Failed to parse MC_|"
     "Invalid value for MC_|Ignoring invalid MC_|MC_*cannot be enabled at the sa|MC_*has no valid mappings|MC_*is "
     "deprecated; use|MC_MS_FILTERS is set but|MC_STORE_NUMA_SOCKET_ID=|invalid MC_MS_AUTO_DISC|non-positive MC_|"
     "Invalid port range [|RDMA protocol requires device names|is not a valid directory path. Still logging",
     "A variable of Mooncake (MC_..., such as MC_IB_TC, the traffic class) or its device list has an invalid value, "
     "and Mooncake uses the default. Correct the variable that the line names.",
     "env | grep MC_", "Mooncake mooncake-transfer-engine/src/config.cpp"},
    {"mooncake-gid-index", software,
     "GID is NULL, please check your GID index|rdma_context.cpp:*Device * GID * not available",
     "The GID index that Mooncake uses has no entry: set MC_GID_INDEX to the index of the RoCE v2 IPv4 GID.",
     "echo $MC_GID_INDEX; fabric-agentctl check --only gid", "Mooncake rdma_context.cpp"},
    {"mooncake-no-gid", host, "No suitable GID found on ",
     "The port has no GID that Mooncake uses without MC_GID_INDEX: that of a RoCE v2 address; older releases know "
     "only an IPv4 address. Give the netdev of the port an address of the network, or set MC_GID_INDEX to an entry of "
     "its GID table; with IPv6 only, use a newer Mooncake.",
     "fabric-agentctl check --only gid,address; show_gids; echo $MC_GID_INDEX",
     "Mooncake mooncake-transfer-engine/src/transport/rdma_transport/rdma_context.cpp"},
    consequence(wrapping(
        {"mooncake-no-nic", host,
         "RdmaTransport: No available RNIC|Failed to open device*on port*with GID|Disable device |cannot initialize "
         "RDMA "
         "resources",
         "Mooncake can use no NIC: every device was refused before this line, and the first refusal is the cause.",
         "fabric-agentctl status; echo $MC_GID_INDEX",
         "Mooncake mooncake-transfer-engine/src/transport/rdma_transport/rdma_transport.cpp"})),
    consequence({"mooncake-start", unknown,
                 "Failed to install*transport, type=|Failed to initialize transfer engine|real_client.cpp*Failed to "
                 "create client",
                 "Mooncake did not start: its transport could not be set up on this host. The first error of the "
                 "transport before this line (device, GID, memory registration, metadata server) is the cause.",
                 "fabric-agentctl status; env | grep -E 'MC_|MOONCAKE'",
                 "Mooncake mooncake-transfer-engine, mooncake-store"}),
    {"mooncake-handshake", peer,
     "ibverbs init qp failed|andshake*End of file|andshake*refused|Failed to exchange handshake",
     "The other side closed the connection while addresses were exchanged: its log has the reason.", "ping -c 3 {peer}",
     "Mooncake rdma_endpoint.cpp, yalantinglibs coro_io"},
    {"mooncake-metadata", peer,
     "transfer_metadata*response code: 404|Failed to retrieve segment descriptor|response body: metadata not found",
     "The metadata server has no entry for the segment of the peer: the peer has not registered it, or its process "
     "ended. The network is not at fault, if the server answers.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "Mooncake mooncake-transfer-engine/src/transfer_metadata.cpp"},
    consequence_of("wc", {"mooncake-inactive", unknown,
                          "Too many errors found in local RNIC|rdma_context.cpp*Context is not active: ",
                          "Mooncake stopped using a NIC after errors of its transfers. This is a consequence: the "
                          "status of the slices that failed before is the cause.",
                          "grep -h 'Process failed for slice' LOG-OF-EVERY-RANK | head",
                          "Mooncake mooncake-transfer-engine/src/transport/rdma_transport/worker_pool.cpp"}),
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
     "needs (of UCX: libucp, libfabric) is not found by the loader (LD_LIBRARY_PATH), so that it was not loaded.",
     "env | grep -E 'NIXL_PLUGIN_DIR|LD_LIBRARY'; ldd $NIXL_PLUGIN_DIR/libplugin_UCX.so | grep 'not found'",
     "NIXL src/core/nixl_agent.cpp, nixl_plugin_manager.cpp"},
    {"nixl-plugin-version", software, "Plugin API version mismatch for",
     "A plugin was built for another release of NIXL: use NIXL and its plugins of one release in the image.",
     "pip show nixl; echo $NIXL_PLUGIN_DIR", "NIXL src/core/nixl_plugin_manager.cpp"},
    consequence_of(
        "nixl|ucx|registration|gpudirect|object|open|ofi|wc|memlock",
        wrapping({"nixl-backend", unknown, "NIXL_ERR_BACKEND|no specified or potential backend could send",
                  "NIXL passes on that its backend, UCX or libfabric, refused a call (such as the registration of GPU "
                  "memory) or lost the connection. This is a consequence: the backend's own error is before it.",
                  "grep -hE 'UCX|libfabric|NIXL' LOG-OF-EVERY-RANK | head", "NIXL src/core/nixl_agent.cpp"})),
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
     "The address range that selects the GID (NVSHMEM_IB_ADDR_RANGE, NCCL_IB_ADDR_RANGE) has another address family "
     "than NVSHMEM_IB_ADDR_FAMILY or NCCL_IB_ADDR_FAMILY, and is skipped. Harmless by itself: '::' is the default of "
     "NVSHMEM.",
     "env | grep IB_ADDR", "NVSHMEM src/modules/transport/common/transport_ib_common.h, NCCL src/transport/net_ib"},
    {"nvshmem-call", software,
     "Unable to register zero length buffers|Unable to register managed memory as|Unable to register nvshmem "
     "heap|Unable to register overlapping memory|Unable to double register|symmetry check for size|Cannot register "
     "user buffer|user buffer*not allocated|user buffer*not a multiple|Address,size not mmapped|already tracked|Unable "
     "to process pointers outside|Unable to process unaligned|Address not registered. Unable|ersion 1 team "
     "config|Stride is invalid for|No more teams available|nvshmem*Requested * teams|Requested too many teams|Cannot "
     "destroy a pre-defined team|Cannot destroy a team with|Invalid <start|Starting PE (|team with NULL config|Unable "
     "to allocate enough duplicate teams|Unique ID is not initialized|Unique ID not initialized|nvshmem API called "
     "before|NVSHMEM is not initialized. Unable|NVSHMEM requires the same number of PEs|Missing init flags for "
     "bootstrap|nvshmem_init_attr_t|NVSHMEMI_MAP_BY|_MAP_BY is not valid|NVSHMEM_IBGDA_*not "
     "supported|NVSHMEM_IBGDA_*must|NVSHMEM_QP_DEPTH|NVSHMEM_SRQ_DEPTH|IBGDA_NUM_SHARED_DCI > "
     "|NVSHMEM_IBGDA_NIC_HANDLER is not valid|Invalid qp size specified|NVSHMEM_HCA_LIST and "
     "NVSHMEM_HCA_PE_MAPPING|Invalid libfabric transport persona|not supported with limited MPG|Plugin bootstrap "
     "requires|mmap symmetric buf*not supported|Unsupported heap kind for NVLS|IBGDA only supports",
     "NVSHMEM rejects a call of the program or a variable of the environment, which the line names: a call in the "
     "wrong order or with arguments that differ between the ranks, a buffer that cannot be registered, too many teams "
     "(NVSHMEM_MAX_TEAMS), or an invalid value of NVSHMEM_.... The network is not at fault.",
     "env | grep NVSHMEM", "NVSHMEM src/host, src/modules/transport"},
    {"nvshmem-skipped", none,
     "port with non IB/RoCE link layer|port with non-IB link layer|is not enumerated as an mlx5 device. Skipping|is "
     "not supported (expected HCA interface|FI_OPT_CUDA_API_PERMITTED returned as not implemented|Using default qp.|"
     "gdr_unmap failed ... Continue|gdr_unpin failed ... Continue|Unable to dlopen libmlx5dv. Disabling",
     "Information of NVSHMEM at start: a device or port is skipped, because it has another type or is not active, or "
     "an option is not supported. Harmless unless the job should use the skipped port.",
     "ibv_devinfo -l; env | grep NVSHMEM", "NVSHMEM src/modules/transport"},
    {"deepep-rdma-timeout", network, "DeepEP*RDMA*timeout",
     "Data of another rank did not arrive over RDMA, or was not consumed: the path between the two ranks of this rail, "
     "or a rank that hangs.",
     "fabric-agentctl diagnose", "DeepEP csrc/kernels/internode.cu"},
    {"deepep-timeout", peer, "DeepEP*timeout",
     "DeepEP waited too long for another rank: that rank is late (it compiles kernels or loads the model) or died, or "
     "connections of NVSHMEM failed; lines before this one report failed connections.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "DeepEP csrc/deep_ep.cpp"},
    {"perftest-sgid", software, "Invalid gid index|Failed to query sgid",
     "The GID index does not exist on this port: choose the RoCE v2 index (-x), or leave it out.",
     "fabric-agentctl check --only gid", kPerftest},
    {"perftest-data-direct", host, "Couldn't get data direct sysfs path",
     "The NIC has no data direct function: do not use --use_data_direct.", "lspci -d 15b3:2100", kPerftest},
    {"perftest-no-devices", host,
     "Did not detect devices|Did not detect any RDMA devices|If device exists, check if driver is up",
     "libibverbs finds no RDMA device at all: the driver of the NIC or its RDMA part (mlx5_ib, bnxt_re, irdma) is not "
     "loaded, the container has no /dev/infiniband, its devices are in another network namespace, or the provider of "
     "rdma-core for this NIC is missing.",
     "rdma link show; rdma system show; ls -l /dev/infiniband; lsmod | grep ib_uverbs",
     "perftest src/perftest_resources.c ctx_find_dev()"},
    {"perftest-device", software, "Unable to find the Infiniband/RoCE device|^IB device * not found",
     "The device that was named with -d does not exist here, or the container has no RDMA device (/dev/infiniband).",
     "ibv_devinfo -l; ls -l /dev/infiniband", "perftest src"},
    {"perftest-name", host, "Problem in resolving basic address and port",
     "The name or the address of the server, as it was given to the test, cannot be resolved on this host or in this "
     "container: a wrong name, or no entry in /etc/hosts or the DNS. Give its IP address.",
     "getent hosts NAME; cat /etc/resolv.conf", "perftest src/perftest_communication.c ethernet_client_connect()"},
    {"perftest-limit", unknown, "result is below bw limit|rate  is below msg_rate limit",
     "The test ran, and its result is below the limit that it was given. Compare it with the speed of the link and of "
     "the PCIe slot; look at the NUMA node, the MTU and lost packets.",
     "fabric-agentctl counters; fabric-agentctl check --only pcie", "perftest src/send_bw.c"},
    {"huge-pages", host, "Failed to allocate hugepage",
     "This host has no huge pages left, or none are configured: vm.nr_hugepages.", "grep Huge /proc/meminfo",
     "perftest src/host_memory.c"},
    wrapping({"perftest-resources-missing", host,
              "Couldn't create IB resources|Failed to create IB resources|Couldn't create rdma resources",
              "The test could not create its objects: no device or no /dev/infiniband in the container, memlock or "
              "IPC_LOCK, another network namespace, or an option over a limit of the device (inline size -I, depth -t, "
              "--eqn). The line before it has the step.",
              "ls -l /dev/infiniband; ulimit -l; rdma system show", kPerftest}),
    consequence_of("registration|dmabuf|gpudirect",
                   wrapping({"perftest-region", host, "failed to create mr|Failed to create MR",
                             "A consequence: the buffer could not be registered. The line before it has the errno.",
                             "ulimit -l; fabric-agentctl check --only memlock,gpudirect",
                             "perftest src/perftest_resources.c ctx_init()"})),
    consequence_of("modify|gid|rdmacm|wc",
                   wrapping({"perftest-remote-qp", network, "Couldn't connect to remote QP",
                             "A consequence: the queue pair could not be connected. The line before it names the "
                             "transition that failed.",
                             "rdma link show; fabric-agentctl check --only gid,gid-index", kPerftest})),
    {"perftest-disconnect", none, "Failed to disconnect RDMA CM",
     "The test has ended and its result is valid; the peer closed the connection first (ECONNRESET with iWARP, "
     "transport type IW, whose connection is TCP). Harmless.",
     "rdma link show", kPerftest},
    {"spdk-queue-state", host, "expected state: IBV_QPS_|: bad state updated: ",
     "The driver left a queue pair in another state than SPDK asked for, or reports a state that does not exist: "
     "update the driver and rdma-core.",
     "ethtool -i {netdev}", "SPDK lib/nvmf/rdma.c"},
    {"spdk-no-device", host, "rdma_get_devices() failed",
     "SPDK found no RDMA device on this host or in this container: the driver of the NIC is not loaded (Soft-RoCE: no "
     "rdma link), /dev/infiniband or the provider library is not in the container, or the device is in another "
     "network namespace. The other end was not asked.",
     "rdma link show; ls -l /dev/infiniband; ibv_devices", "SPDK lib/nvme/nvme_rdma.c, lib/nvmf/rdma.c"},
    {"perftest-connect", peer,
     "Couldn't connect to *:18515|Unable to open file descriptor for socket connection|Unable to init the socket "
     "connection",
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
     "ethernet_read_keys: Couldn't read remote address|Failed to exchange data between server and clients|Unable to "
     "read to socket/rdma_cm|Unable to write to socket/rdma_cm",
     "The other side of the test ended; its error is the cause.", "ping -c 3 {peer}", kPerftest},
    {"perftest-gpu", host,
     "cuMemAlloc error=|cuMemAllocHost error=|cuMemAllocManaged error=|cuCtxCreate* error=|cuCtxSetCurrent() "
     "error=|cuMemGetHandleForAddressRange error=|cuDeviceGetByPCIBusId failed|hipMalloc error=|could not verify "
     "dmabuf support|ROCm device * but found only|Couldn't initialize ROCm "
     "device|muMemAlloc|muCtx*error=|muDeviceGetByPCIBusId|muMemGetHandle|cnMalloc "
     "error=|cnCtx*error=|cnMemGetHandle|Couldn't initialize mlu device|There are no available device(s) that "
     "support|Couldn't init GPU context|Couldn't initialize Neuron device|Can't allocate Neuron memory|dmabuf fd of "
     "Neuron|GPU touch functions not available|kernel plugin|Failed to load CUDA library|Failed to load CUDA "
     "runtime|Failed to load MUSA|Failed to resolve "
     "cuGetProcAddress|load_cuda_function:|CU_MEM_RANGE_FLAG_DMA_BUF|DMA-BUF is not supported on this|OFED stack does "
     "not support DMA-BUF|DMABUF requested but not supported in this build|init_gpu_stop_flag() error|clSVMAlloc "
     "failed|clCreateCommandQueue|SVM needed caps|Validation plugin|validation kernel|MU_MEM_RANGE_FLAG|Data "
     "validation requested|VALIDATION: ERROR|Failed to map device memory allocation|va for the allocated "
     "tensor|clEnqueueSVMMigrateMem failed|cn_error_code:|gpu_touch thread",
     "perftest could not use the memory of a GPU or accelerator: the driver or library of the device is not in the "
     "container, the device number (--use_cuda=N) does not exist, the memory of the device is used up, DMA-BUF is not "
     "available (open kernel module, a newer driver, CUDA or rdma-core), or this perftest was built without it. Test "
     "without --use_cuda_dmabuf, with nvidia_peermem loaded.",
     "nvidia-smi -L; fabric-agentctl check --only gpudirect; ib_write_bw --help | grep -iE 'cuda|rocm|dmabuf'",
     "perftest src/cuda_memory.c, rocm_memory.c, musa_memory.c, mlu_memory.c, neuron_memory.c"},
    {"perftest-socket", peer,
     "Couldn't connect to *:|Unable to set up socket connection|Couldn't read/write remote address|Couldn't send local "
     "address|Couldn't send/recv local address|Couldn't read remote address|Failed to exchange * Size data "
     "between|Failed to sync between server and client|Failed to sync before stopping|Couldn't send reports|Couldn't "
     "read reports|client read/write: |Problems with warm up|bad event waiting for connect request|unable to connect "
     "to *server: retries|Unable to connect (retries|Unable to send my QP number|server read: |accept() failed|Current "
     "implementation is not compatible with versions|unexpected CM event",
     "The TCP or librdmacm connection on which the two sides of a test exchange addresses was not established or was "
     "closed: the server does not run yet, ended with an error of its own, listens on another port (-p), or a firewall "
     "blocks the connection. Start the server first, and read its output.",
     "ping -c 3 {peer}; ss -ltnp", "perftest src/perftest_communication.c, rdma-core libibverbs/examples"},
    {"perftest-listen", software, "Couldn't listen to port|oob_try_bind: ",
     "The server of a test cannot listen on its TCP port: another server of the test still uses the port. End that "
     "server, or choose another port on both sides (-p).",
     "ss -ltnp", "perftest src/perftest_communication.c, rdma-core libibverbs/examples"},
    {"perftest-no-link-layer", host,
     "Couldn't set the link layer|Link layer on port * is Unknown|Error when trying to query port|Unable to query port "
     "* attributes|Invalid port requested for device|Couldn't get port info|Unable to query port info for port|Failed "
     "to query port * props|Couldn't get local LID|Couldn't set Eth MTU",
     "The test could not use the port of the RDMA device: the port number does not exist (-i), the port is not active "
     "(an earlier line has the state), or an InfiniBand port has no LID because no subnet manager answers.",
     "ibv_devinfo -d {rdma}; fabric-agentctl status",
     "perftest src/perftest_parameters.c, rdma-core libibverbs/examples"},
    {"perftest-gid-family", software,
     "Found Incompatibility issue with GID types|Please Try to use a different IP version|Could not get local gid for "
     "gid index",
     "The two sides of the test use GIDs of different types (IPv4 and IPv6, or RoCE v1 and v2), or the GID index is "
     "empty. Pass the index of the RoCE v2 IPv4 GID to both sides (-x).",
     "fabric-agentctl check --only gid,gid-index", "perftest src/perftest_resources.c"},
    {"perftest-post", unknown,
     "Couldn't post recv|Couldn't post send|Couldn't post receive|Failed to post receive recv_wqes|Post send "
     "failed|failed to post receives: |failed to post sends: |post recv error: |post send error ",
     "A work request could not be posted: the queue is full (depth -t, -r), an element is larger than the queue pair "
     "allows, or the queue pair is in the error state after an earlier failed completion. The line before shows the "
     "cause.",
     "rdma resource show qp link {port}", "perftest src/perftest_resources.c, rdma-core libibverbs/examples"},
    {"perftest-completion", unknown,
     "A completion with Error in|Completion with wc_flags mismatch|A completion with flags mismatch|Failed wr_id |Poll "
     "send CQ ne=|Error polling cq|Completion for unknown wr_id|Work completion error|parse WC failed|Failed to get "
     "cq_event|Failed to get completion events|Failed to get cq event!|Failed to notify * to CQ|Failed to notify "
     "events|poll CQ failed|recv wc error|Polled RDMA_WRITE completion without|failed polling CQ|Test exited with "
     "Error|Error occurred in run_iter",
     "A test stopped because a completion failed or could not be read. The status of the completion (IBV_WC_..., a "
     "number) in this or the next lines shows the cause: 12 is the path or the peer, 13 a peer that posted no receive, "
     "10 and 11 the access to the peer's memory, 5 an earlier failure of the same queue pair.",
     "fabric-agentctl counters; fabric-agentctl diagnose",
     "perftest src/perftest_resources.c, rdma-core libibverbs/examples"},
    consequence_of(
        "perftest|wc|modify|rdmacm|registration|object|gpudirect|query",
        wrapping(
            {"perftest-cleanup", unknown,
             "Failed to destroy resources|Couldn't destroy all SEND resources|Failed to destroy_ctx|Failed to close "
             "connection between server and client|Trying to close this side resources|Couldn't destroy QP|Couldn't "
             "destroy CQ|Couldn't destroy AH|Couldn't destroy send CQ|Couldn't deregister MR|Couldn't deallocate "
             "PD|Couldn't deallocate * PD|Couldn't destroy completion channel|Couldn't release context|Failed to "
             "destroy AH|Failed to deregister send credit|Failed to close send event channel|Failed to close receive "
             "event channel|Failed to close device context|Failed to destroy data encryption|Failed to destroy "
             "MKey|Failed to mark shm for removal|Couldn't leave multicast group|Couldn't destroy flow|Couldn't "
             "destroy sniffer flow|Couldn't destroy promisc flow|Couldn't free DM",
             "A test could not free its objects at its end. The line is a consequence of an error in the lines before, "
             "which ended the test. Without such an error the result is valid.",
             "rdma resource show", "perftest src/perftest_resources.c, rdma-core libibverbs/examples"})),
    {"perftest-numa", host,
     "Failed to run on node|could not set memory policy|Failed to migrate memory to node|pages could not be "
     "migrated|Failed to set CPU affinity|failed to pin to CPU|Kernel support for NUMA is not available",
     "The process could not be bound to the CPUs or the memory of a NUMA node: the node does not exist, or is not in "
     "the cgroup of the container or job. The test continues; its bandwidth may be lower.",
     "grep -E 'Cpus_allowed_list|Mems_allowed_list' /proc/self/status; numactl -H",
     "perftest src/perftest_resources.c"},
    consequence_of(
        "perftest|wc|modify|rdmacm|registration|object|gpudirect|query|open|verbs",
        wrapping(
            {"perftest-step-failed", unknown,
             "Unable to create the resources needed by comm struct|Unable to set up my IB connection parameters|Unable "
             "to run iter fs rate|Failed to create CQs|Failed to initialize validation context|Unable to access "
             "performance counters|Unable to calibrate cycles|Couldn't allocate context|Couldn't allocate work buf",
             "A step of perftest or of a pingpong example failed before data was sent. The line is a consequence: the "
             "line before names the call (open the device, register memory, create a queue, resolve the address).",
             "ibv_devinfo -l; ulimit -l; rdma link show", "perftest src/perftest_resources.c"})),
    {"perftest-multicast", network,
     "Mcast group on the SM|Join Sender to Mcast|Failed to Join Mcast request|failed to get mlid from MAD|failed to "
     "receive MAD response",
     "The test could not join or leave its multicast group at the subnet manager: no subnet manager answers (RoCE does "
     "not have one), the group or its rate or MTU does not exist, or /dev/infiniband/umad is not accessible.",
     "sminfo; saquery -g; ls -l /dev/infiniband", "perftest src/multicast_resources.c"},
    {"mlx5-threads", software, "ERROR: multithreading violation",
     "The program uses a queue of the NIC from several threads, although it disabled the locks of the provider "
     "(MLX5_SINGLE_THREADED=1). Unset the variable.",
     "env | grep MLX5_", "rdma-core providers/mlx5/mlx5.h"},
    {"rsocket-tool", unknown,
     "^rbind: |^rlisten: |^raccept: |^rconnect: |rconnect failed|^rpoll: |^rsend: |^rrecv: |^riomap: |^riowrite: "
     "|^rsetsockopt|rsocket failed: ",
     "A call of rsockets (TCP sockets over RDMA, librdmacm) failed in a test program (rstream, riostream, rcopy). The "
     "errno shows the cause: ENODEV means no RDMA device for the address, ECONNREFUSED no server, ETIMEDOUT no path, "
     "EADDRINUSE a server that still runs.",
     "rdma link show; ip -br addr; ping -c 3 {peer}", "rdma-core librdmacm/examples, librdmacm/rsocket.c"},
    {"test-data-mismatch", unknown, "data verification failed byte|^data mismatch!|invalid data in page",
     "A test of rdma-core received data that differ from the data of the peer. Usual causes: the two sides run with "
     "different options or releases (-v, size), or memory was freed or changed during the transfer. Less often a PCIe "
     "device, memory or the IOMMU corrupts data: look for AER and EDAC lines in the kernel log.",
     "journalctl -k -g 'AER|EDAC|mce'; ib_write_bw --version", "rdma-core librdmacm/examples"},
    {"ip-arguments", software,
     "Error: argument \"|Error: duplicate \"|Error: argument of \"|\" is a garbage|Command line is not complete|Error: "
     "inet prefix is expected|Error: inet address is expected|address is expected rather than \"|prefix is expected "
     "rather than \"|or end of line is expected instead of|Object \"*\" is unknown|Object \"*\" not found|Command "
     "\"*\" not found|Command \"*\" is unknown|Option \"*\" is unknown|: unknown command \"*\"?|: unknown option "
     "\"*\"?|Not enough information: \"|Please provide device name|Wrong device name|Wrong link name|Please provide a "
     "device type|Please provide a device name|Please provide a link type|There is filter option without data|doesn't "
     "support switches yet|valid options are: {|Unknown parameter '|Parameter name expected|Port identification "
     "(\"|dev identification (\"|Devlink handle|Expected \"bus_name/dev_name|Unexpected extra character|Wrong "
     "identification string|Invalid pfc mapping|Invalid prio-|Invalid pg-bw|Invalid tc-|Invalid reco-|Invalid buffer "
     "size mapping|Illegal value for buffer size|Invalid list of selectors|Bandwidth percentages in|is expected to be "
     "0..7|Invalid default priority|Port ID of 0 is invalid|Too many arguments to command|Netns identifier|Unknown "
     "option \"|payload expected to have size|What is \"*\"?|ethtool: bad command line argument|Device and address are "
     "required|missing virtual network identifier|Flush requires arguments",
     "ip, rdma, devlink, dcb, tc or ethtool rejects its command line: an object, command, option or value is "
     "incomplete or unknown to this release. The program sent no request to the kernel, and nothing was changed. "
     "Compare the command with the manual page; a command of newer documentation needs a newer iproute2 or ethtool.",
     "ip -V; ethtool --version; man dcb", "iproute2 lib/utils.c, rdma, devlink, dcb, ip"},
    {"ip-no-device", host,
     "Cannot find device \"|Device \"*\" does not exist|Cannot get device settings: No such device|Cannot get driver "
     "information: No such device|netlink error: no device matches name|Netdevice \"*\" not found",
     "This network namespace has no interface of this name: the interface has another name (udev, a predictable name), "
     "its driver is not loaded, or it was moved to a container.",
     "ip -br link; lsns -t net; journalctl -k -p warning", "iproute2 ip, ethtool"},
    {"netlink-unsupported", host,
     "RTNETLINK answers: Operation not supported|kernel answers: Operation not supported|devlink answers: Operation "
     "not supported|netlink error: Operation not supported|Netlink error: Operation not supported|Cannot set device *: "
     "Operation not supported|Cannot get device *: Operation not supported|Cannot set new settings: |RDMA monitoring "
     "is not supported by the kernel|Failed to connect to devlink Netlink|Failed to connect to vdpa Netlink|Failed to "
     "open NETLINK_RDMA socket|Cannot change RX network flow|Cannot get register dump|Cannot get EEE settings",
     "The kernel or the driver of the NIC does not support the request of ip, rdma, devlink, dcb or ethtool, or not in "
     "this mode. Usual causes: an old driver or firmware, a module that is not loaded (ib_core for rdma), a virtual "
     "function, or a value that the hardware does not support. The setting is unchanged.",
     "uname -r; ethtool -i {netdev}; devlink dev info pci/{pci}",
     "iproute2 lib/libnetlink.c, lib/mnl_utils.c, ethtool"},
    {"netlink-answer", unknown,
     "RTNETLINK answers: |link settings update failed|kernel answers: |devlink answers: |Failed to send flush "
     "request|Cannot send link request|netlink receive error|Dump was interrupted and may be inconsistent",
     "The kernel rejected a request of ip, rdma, devlink or dcb. The errno shows the cause: EEXIST means that the "
     "object exists already, ENODEV or ENOENT that no such device or object exists, EPERM that the request requires "
     "root (CAP_NET_ADMIN), EBUSY that the object is in use, EINVAL that the driver does not accept a value. The "
     "kernel log often has the driver's reason.",
     "journalctl -k -n 20; ip -br link", "iproute2 lib/libnetlink.c"},
    {"nvme-cli", unknown,
     "Discovery Descriptor *:|failed to get discovery log|could not add new controller|failed to add controller, "
     "error|skipping unsupported adrfam|skipping unsupported transport|ctrl device * not found|need a transport "
     "(-t)|need a address (-a)|traddr * is not a numeric address|failed to disconnect, error|nvme*failed to perform "
     "DIM",
     "nvme-cli or libnvme could not discover or connect a controller of NVMe over fabrics. Usual causes: a missing "
     "address or transport option, a target that does not answer or does not list this host (NQN), a module that is "
     "not loaded (nvme-rdma, nvme-tcp), or a connection that exists already. The kernel log has the reason.",
     "nvme discover -t rdma -a {peer} -s 4420; lsmod | grep nvme; journalctl -k -g nvme",
     "nvme-cli fabrics.c, libnvme src/nvme/fabrics.c"},
};

}  // namespace

const std::span<const LineMessage> kProgramMessages = kProgramRows;

}  // namespace fabric::lines
