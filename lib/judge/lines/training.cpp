// SPDX-License-Identifier: Apache-2.0
// Training and inference: PyTorch and Gloo, vLLM, SGLang, Ray, NVSHMEM, DeepEP, Mooncake, NIXL and MORI.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr LineMessage kRows[] = {
    {"gloo-timeout", peer,
     "Timed out waiting *ms for recv|Timed out waiting *ms for send|Timed out waiting * for recv operation|Timed out "
     "waiting * for send operation|Application timeout caused pair closure|gloo*Timed out waiting|Timed out waiting "
     "for clients",
     "Another rank did not take part in a collective of Gloo (over TCP) in time: it hangs, ended, or runs something "
     "else, such as loading data or saving a checkpoint. Look at the log and the stack (py-spy dump) of the other "
     "ranks; raise the timeout of the process group only if the work is that long.",
     "py-spy dump --pid PID; grep -hE 'WARN|ERROR|Traceback' LOG-OF-EVERY-RANK | head",
     "Gloo gloo/transport/tcp/unbound_buffer.cc"},
    {"gloo-rank-differs", software, "op.preamble.length <=|op.getPreamble|Is there a distributed collective mismatch",
     "Two ranks called Gloo with different sizes or in another order: a bug or different data of the ranks (an uneven "
     "last batch, an object of another size). The network is not at fault.",
     "grep -hE 'Traceback|rror' LOG-OF-EVERY-RANK | head", "Gloo gloo/transport/tcp/pair.cc"},
    {"torch-store-retry", peer,
     "TCP client failed to connect/validate|failed to connect/validate to host|waitForInput: poll for socket|wait "
     "timeout after * keys|Socket Timeout*store|DistStoreError|Timed out after * seconds waiting for clients|clients "
     "joined|DistNetworkError|retrieving ncclUniqueId from*got error|store->get(*got "
     "error|RendezvousTimeoutError|RendezvousConnectionError|The connection to the C10d store has failed",
     "The store of PyTorch, by which the ranks find each other over TCP (MASTER_ADDR, MASTER_PORT, rdzv_endpoint), "
     "does not answer or not all ranks joined: rank 0 is late (its log shows where it is; init_process_group has a "
     "timeout), ended or has not started, the name resolves to another address, or a proxy or firewall closes the "
     "connection. RDMA is not used here.",
     "env | grep MASTER_; getent hosts $MASTER_ADDR; ss -ltnp", "PyTorch torch/csrc/distributed/c10d/TCPStore.cpp"},
    consequence_of(
        "nccl|wc|async|gpu|torch|gloo|out|ofi|ucx",
        {"torch-heartbeat", peer,
         "Failed to check the \"should dump\" flag on TCPStore|Terminating the process after attempting to dump debug "
         "info|HeartbeatMonitor|heartbeat timeout*ProcessGroupNCCL|Received a dump signal due to a collective "
         "timeout|Observed flight recorder dump signal|Process group watchdog thread terminated with exception|taking "
         "the entire process down|To avoid data inconsistency, we are taking",
         "The watchdog of PyTorch ends this process after an error or a collective that did not finish, on this rank "
         "or another one. A consequence: the first rank with an error is the cause, or the rank that did not enter the "
         "collective; if only the store is named, rank 0 ended before.",
         "grep -hE 'WARN|ERROR|Traceback' LOG-OF-EVERY-RANK | head; env | grep TORCH_NCCL",
         "PyTorch ProcessGroupNCCL.cpp"}),
    consequence_of(
        "nccl|wc|async|gpu|torch|gloo|cuda|ucx",
        wrapping({"torch-stack", unknown, "Exception raised from * at *(most recent call first)",
                  "The place in PyTorch where an error was reported. A consequence: the line before it has the error. "
                  "An error of CUDA is often of an earlier call (CUDA_LAUNCH_BLOCKING=1 shows it).",
                  "grep -hE 'WARN|ERROR|Traceback|CUDA error' LOG-OF-EVERY-RANK | head",
                  "PyTorch c10/util/Exception.h"})),
    consequence_of(
        "nccl|wc|async|gpu|torch|gloo|out|ompi|mpich",
        {"horovod-shutdown", unknown, "Horovod has been shut down",
         "Horovod ended on all ranks, because a rank ended or failed. A consequence: the first rank with an error is "
         "the "
         "cause.",
         "grep -hE 'WARN|ERROR|Traceback' LOG-OF-EVERY-RANK | head", "Horovod horovod/common/operations.cc"}),
    consequence_of("nccl|wc|async|gpu|torch|gloo|out|slurm",
                   {"torch-worker-signal", unknown,
                    "Sending process * closing signal SIGTERM|Received Signals.SIGTERM death signal|Received 15 death "
                    "signal|Received 1 death signal|Signal 15 (SIGTERM) received by PID|SignalException: "
                    "Process|Closing process * via signal SIGTERM",
                    "torchrun stops the other ranks of the host, because a rank ended or the scheduler sent SIGTERM "
                    "(time limit, preemption, scancel). A consequence: the first \"failed (exitcode\" or Traceback, or "
                    "the log of the scheduler, has the cause.",
                    "grep -hE 'exitcode|Traceback' LOG-OF-EVERY-RANK | head; scontrol show job $SLURM_JOB_ID",
                    "PyTorch torch/distributed/elastic"}),
    {"torch-rank-mismatch", software,
     "Detected mismatch between collectives on ranks|Tensors must be contiguous|Rank * is running collective: "
     "CollectiveFingerPrint|Default process group has not been initialized|Mismatched collectives|collective "
     "operation*mismatch",
     "The ranks call different collectives, or with different shapes: a branch of the program that only some ranks "
     "take. The network is not at fault; TORCH_DISTRIBUTED_DEBUG=DETAIL names the call of each rank.",
     "env | grep TORCH_DISTRIBUTED_DEBUG", "PyTorch ProcessGroupWrapper.cpp"},
    {"jax-coordination", peer,
     "Polled an error from coordination service|Barrier timed out. Id|JAX distributed service detected fatal|"
     "Coordination service agent is in ERROR|The tasks have crashed. Task|PjRT_Client_Connect|joined the rendezvous|"
     "acquire clique for rank",
     "A process of JAX (XLA) waits for another process that does not arrive, at start, in a barrier or in the setup of "
     "a collective, or received the notice that the other process failed. Read the log of the task that the line names "
     "or that did not arrive: it has the first error (the task ended, hangs, or still compiles or loads). The "
     "coordination service uses TCP (coordinator_address).",
     "grep -hE 'Traceback|rror' LOG-OF-EVERY-RANK | head; ss -ltnp",
     "XLA xla/tsl/distributed_runtime, xla/service/rendezvous.cc"},
    {"dynamo-control", peer,
     "nable to create lease*etcd|Check etcd server status|Failed to connect to NATS|etcd*lease*expired|"
     "connect*etcd*refused",
     "NVIDIA Dynamo cannot reach etcd or NATS, with which its frontends and workers find each other: the service does "
     "not run, its address (ETCD_ENDPOINTS, NATS_SERVER) is wrong, or a proxy or firewall blocks the connection. RDMA "
     "is not used here.",
     "env | grep -E 'ETCD|NATS|proxy'; ss -ltnp", "Dynamo lib/runtime/src/transports"},
    {"program-gpu-memory", software,
     "less than desired GPU memory utilization|No available memory for the cache blocks|Please try to increase "
     "--mem-fraction-static|RESOURCE_EXHAUSTED: Out of memory|Capture cuda graph failed*out of memory",
     "The memory of the GPU is too small for the model and the caches of the program: another process uses a part of "
     "the memory, or the share that the program may use (gpu_memory_utilization, mem_fraction_static, "
     "XLA_PYTHON_CLIENT_MEM_FRACTION) is too small or too large. The network is not at fault.",
     "nvidia-smi", "vLLM vllm/v1/worker, SGLang model_runner.py, XLA"},
    {"program-configuration", software,
     "Check batch related parameters|is not divisible by total_model_size|loss scale already at minimum|"
     "CUDAMismatchException|Unexpected result nan|finished reduction in the prior iteration|No backend type "
     "associated with device|compatibility hash mismatch|NIXL is not available",
     "The program of the job rejects its own configuration, model or state: sizes that do not match the number of "
     "ranks, a missing optional library, settings that differ between two instances, or values that became infinite. "
     "The line does not report a network error.",
     "grep -hE 'Traceback|rror' LOG-OF-EVERY-RANK | head", "DeepSpeed, Megatron, PyTorch, vLLM"},
    {"ray-shm", software, "object store is using /tmp",
     "Ray keeps its object store in /tmp, because the shared memory of the container (/dev/shm, 64 MiB by default) is "
     "too small: objects go through the disk and are slow. Start the container with --shm-size of a third of the "
     "memory, --ipc=host, or an emptyDir of medium Memory at /dev/shm.",
     "df -h /dev/shm", "Ray python/ray/_private/services.py"},
    {"ray-metrics", none, "connection to the metrics exporter agent|Metrics will not be exported",
     "Information of Ray: its metrics process on this node does not answer (it has ended, or ray[default] is not "
     "installed). Jobs run without it. Harmless.",
     "ls /tmp/ray/session_latest/logs", "Ray src/ray/core_worker/core_worker_process.cc"},
    {"ray-memory", software, "killed due to memory pressure|due to the node running low on memory",
     "Ray's memory monitor killed a worker, because the memory of the node or container was nearly used up "
     "(RAY_memory_usage_threshold). The peers of the worker see a closed connection. Use fewer or smaller tasks per "
     "node, or raise the limit of the container. The network is not at fault.",
     "free -g; ray status; journalctl -k -g oom-kill", "Ray src/ray/raylet/node_manager.cc"},
    consequence_of(
        "nccl|wc|async|gpu|torch|gloo|out|nvshmem|mooncake|nixl|ucx",
        wrapping(
            {"ray-worker-failed", unknown,
             "error raised in its creation task|have not registered within the timeout|RayTaskError(",
             "A worker of Ray failed in its own code, or during its start. The line is a consequence: the Traceback of "
             "the worker, in this log or in /tmp/ray/session_latest/logs (worker-*.err) of its node, has the cause.",
             "grep -hE 'Traceback|rror' /tmp/ray/session_latest/logs/worker-*.err | head",
             "Ray python/ray/exceptions.py"})),
    {"ray-node-died", peer,
     "The node with node id * and address * has been marked dead|has been marked dead because the detector|The actor "
     "died unexpectedly|The actor is dead because its|ActorDiedError|ActorUnavailableError|WorkerCrashedError|Raylet "
     "is terminated|raylet*Connection to GCS|lost connection to the GCS|Failed to connect to GCS|A worker died or was "
     "killed|Worker unexpectedly exits with a connection error|OwnerDiedError",
     "Ray lost a worker or a node: its process was killed (memory: the OOM killer or Ray's own monitor), crashed, or "
     "its host stopped answering. Look at the logs of that node in /tmp/ray/session_latest/logs (raylet.out, "
     "worker-*.err) for the first error, and at the kernel log there.",
     "ray status; journalctl -k -g oom-kill; ls /tmp/ray/session_latest/logs", "Ray src/ray/gcs"},
    {"ray-channel-timeout", peer, "RayChannelTimeoutError|RayCgraphTimeout",
     "A worker of Ray's compiled graph (vLLM with several nodes) did not deliver its result in time: it hangs, mostly "
     "in NCCL or while it compiles, or it died. Look at the logs of the other workers for the first error; a slow step "
     "needs a longer RAY_CGRAPH_get_timeout.",
     "ray status; grep -hE 'WARN|ERROR' /tmp/ray/session_latest/logs/worker-*.err | head",
     "Ray python/ray/exceptions.py"},
    {"ray-no-resources", software,
     "Error: No available node types can fulfill resource request|cannot be scheduled right now|Current node has no "
     "GPU available|current node has no gpu available|placement group*cannot be|does not have enough GPUs|exceeds "
     "available GPUs|exceeds the total number of available GPUs in the placement|Ray does not allocate any GPUs on the "
     "driver",
     "The job asks for more GPUs than Ray sees: a node has not joined the cluster, its container has no GPUs "
     "(CUDA_VISIBLE_DEVICES), or another job holds them. Compare ray status with the size of tensor and pipeline "
     "parallelism.",
     "ray status; nvidia-smi -L", "Ray, vLLM vllm/executor/ray_utils.py"},
    consequence_of("nccl|wc|async|gpu|torch|gloo|out|ray|nvshmem|mooncake|nixl|ucx",
                   wrapping({"vllm-worker-ended", unknown,
                             "Got fatal signal from worker process|EngineCore hit an exception|EngineCore failed to "
                             "start|Engine core initialization failed|EngineDeadError|Engine core proc * "
                             "died|WorkerProc initialization failed|Worker proc * died unexpectedly|EngineCore "
                             "encountered a fatal error|AsyncLLMEngine has failed|MQLLMEngine|RPC call to * timed out",
                             "vLLM ended because one of its processes ended or did not answer in time. A consequence: "
                             "the first Traceback or NCCL WARN of a worker before this line is the cause (memory of "
                             "the GPU, a shared library, NCCL).",
                             "grep -hE 'Traceback|rror|NCCL WARN' LOG-OF-EVERY-RANK | head", "vLLM vllm/v1/engine"})),
    {"sglang-watchdog", unknown,
     "Received sigquit from a child process|atchdog timeout (self.watchdog_timeout|Scheduler hit an exception|The "
     "memory capacity is unbalanced|Rank 0 scheduler is dead|detokenizer*died|Scheduler or DataParallelController * "
     "terminated|TokenizerManager*health check failed",
     "SGLang ends or complains because a scheduler process hangs or failed: a collective that does not finish, memory "
     "of a GPU that another process holds (\"unbalanced\"), or an exception before this line. Look at the stack "
     "(py-spy) and the first Traceback of all ranks.",
     "nvidia-smi; py-spy dump --pid PID; grep -h Traceback LOG-OF-EVERY-RANK | head",
     "SGLang python/sglang/srt/managers"},
    {"pd-handshake", peer,
     "is healthy before, but now it is down|Failed to connect to bootstrap server|bootstrap server*fail|Error fetching "
     "prefill*info|Could not fetch prefill|Prefill server*not|Decode instance could be dead|Prefill instance could be "
     "dead|Request * timed out after * in KVPoll|in KVPoll.Bootstrapping|in KVPoll.WaitingForInput|Losing connection "
     "with prefill instance|Lost connection with prefill instance|Failed to send kv chunk|Session * failed*remote|NIXL "
     "handshake*failed|Releasing expired KV blocks",
     "In serving with separate prefill and decode instances one side does not answer the other: it ended or is "
     "overloaded, its bootstrap address or port cannot be reached from here, or a transfer of the KV cache (Mooncake, "
     "NIXL) failed before. Look at the log of the other instance for its first error, then at the port in the line.",
     "ss -ltnp; ping -c 3 {peer}; grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head",
     "SGLang python/sglang/srt/disaggregation, vLLM nixl_connector.py"},
    {"mooncake-slow", unknown,
     "Failed to complete transfers after|complete transfers after * seconds|Sync data transfer timeout|Timeout of * "
     "slices|CQ stuck transfer group|CQ completion timeout diagnostic|submitSlicesOnPeer: timed out",
     "A transfer of Mooncake did not finish in time: the path over RDMA between the two devices of the line loses "
     "packets or does not exist, or the peer hangs or ended. Read the lines of rdma_endpoint and worker_pool before "
     "it, and test with ib_write_bw between the two hosts with the same devices and GID index.",
     "fabric-agentctl diagnose; env | grep MC_; ss -ltnp", "Mooncake mooncake-transfer-engine/src"},
    {"mooncake-not-registered", host,
     "not registered by any|Source address not registered|Cannot select device for dest_addr|Dest address not "
     "registered|Device memory not registered",
     "The buffer of this transfer is registered at no RDMA device: its registration failed before on this host "
     "(\"Failed to register memory\": memlock, the limits max_mr_size of the NIC, GPU memory without nvidia_peermem or "
     "DMA-BUF), no device is active, or it was freed.",
     "ulimit -l; fabric-agentctl check --only memlock,gpudirect; ibv_devinfo -v | grep max_mr",
     "Mooncake rdma_transport.cpp, NVSHMEM"},
    {"mooncake-endpoint", peer,
     "Active handshake RPC failed; resetting|Cannot make connection for endpoint|RDMA ready ACK|peer rails are "
     "paused|failed to setup endpoint|Received empty endpoint|Mismatched qp number|QP number mismatch|mismatched "
     "qp|Failed to modify QP to RTR, check mtu, gid, peer lid|Failed to modify QP to INIT, check local context port "
     "num|Failed to modify QP to RTS|received packet mismatch|peer nic not found|Rejecting*handshake|Peer nic not "
     "found in that server|RDMA endpoint*handshake",
     "Mooncake could not connect a queue pair to a device of the peer: the peer has another list of devices or none "
     "that reaches this rail, its GID index or MTU does not fit (RTR), its process was restarted, or its handshake "
     "port cannot be reached. Give both sides the same device list and MC_GID_INDEX, and read the log of the peer at "
     "this time.",
     "env | grep MC_; fabric-agentctl check --only gid,mtu; ss -ltnp", "Mooncake rdma_endpoint.cpp"},
    {"mooncake-metadata-server", peer,
     "Unable to connect*etcd|Failed to connect metadata server|Error from http client|EtcdStoragePlugin: "
     "unable|RedisStoragePlugin: unable|HTTPStoragePlugin*fail|Failed to register RPC meta|Failed to register "
     "rpc|Failed to connect to master|rpc*master*timeout|Master service*not reachable|metadata server*unreachable",
     "Mooncake cannot reach its metadata server or master (etcd, Redis, HTTP): it does not run, the address in "
     "MC_METADATA_SERVER or of the master is wrong, or a proxy (http_proxy) or firewall is between. TCP is used, not "
     "RDMA.",
     "curl -v http://{peer}; env | grep -iE 'MC_|MOONCAKE|proxy'; ss -ltnp", "Mooncake transfer_metadata_plugin.cpp"},
    {"mooncake-store", software,
     "NO_AVAILABLE_HANDLE|OBJECT_NOT_FOUND|NO_SPACE_LEFT*mooncake|Failed to allocate * memory for "
     "segment|INVALID_REPLICA|Failed to mount segment|Segment*already exists|BatchPut*failed|No available "
     "buffer*store|Failed to put*NO_",
     "The store of Mooncake refused a request: it has no space left (raise the size of the segments that the clients "
     "mount, or evict), the object was evicted or never written, or a segment of a client that ended. The network is "
     "not at fault.",
     "grep -h segment LOG-OF-THE-MASTER | tail; env | grep MOONCAKE", "Mooncake mooncake-store"},
    {"mooncake-device-skipped", host, "topology.cpp:*Skipping unavailable device",
     "Mooncake leaves out an RDMA device, because its port is not active or it cannot be opened. It goes on with the "
     "others; if the device should be used, look at its port and link, and at the devices of the container.",
     "rdma link show; ibv_devinfo | grep -E 'hca_id|state'", "Mooncake mooncake-transfer-engine/src/topology.cpp"},
    {"nvshmem-nccl-version", software, "than the version * with which NVSHMEM was built",
     "NVSHMEM does not use NCCL for its collectives, because the NCCL library has another major version than the one "
     "it was built with: its own collectives are slower, nothing fails. Use that release of NCCL, or ignore it.",
     "ldconfig -p | grep nccl; env | grep LD_LIBRARY_PATH", "NVSHMEM src/host/coll/cpu_coll.cpp"},
    {"rccl-topology", host, "Could not determine GPU id of node|alt_rsmi*ailed|alt_rsmi*ould not",
     "RCCL cannot read a GPU from /sys/class/kfd, where the driver shows the topology: the container lacks /sys or "
     "/dev/kfd, the GPU is not visible to it, or amdgpu did not start it.",
     "ls /sys/class/kfd/kfd/topology/nodes /dev/kfd; rocm-smi --showtopo", "RCCL src/misc/alt_rsmi.cc"},
    consequence(
        {"mooncake-recomputes", unknown, "Failed to receive all KVs and hidden states",
         "The KV cache did not arrive from the prefill side, and the decode side computes it again: slower, not wrong. "
         "This is a consequence: the transfer failed, and Mooncake's own lines on both sides say why.",
         "grep -hE '^[EW][0-9]' LOG-OF-BOTH-SIDES | head", "vLLM, Mooncake mooncake_store_connector.py"}),
    consequence(
        {"mooncake-attempts", unknown, "transfer_incomplete max_attempts|Transfer incomplete, retrying",
         "A transfer of Mooncake did not complete: it is tried again, or given up after the last attempt. This is a "
         "consequence; the first error of the transfer engine (slices, handshake), here or at the peer, is the cause.",
         "grep -hE ' E[0-9]|ERROR' LOG-OF-EVERY-RANK | head", "Mooncake mooncake-store/src/client.cpp"}),
    {"doca-gid", host, "doca_verbs*ailed to query roce version|doca_verbs*ailed to query ROCE",
     "DOCA could not read which kind of RoCE the GID of the port has: the GID index is empty or wrong, or the "
     "container does not show /sys/class/infiniband. Check the GID index and the GID table of the port.",
     "show_gids; env | grep GID_INDEX", "NCCL src/transport/net_ib/gdaki/doca-gpunetio"},
    {"nixl-lists", software, "descriptor lists differ in size|descriptor list sizes|lists of different size",
     "The program above NIXL asks for a transfer between two lists of memory of different length: the block counts of "
     "the two sides differ (another model, block size or parallelism). Give both sides the same; the network takes no "
     "part in it.",
     "grep -hE 'block_size|tensor_parallel' LOG-OF-EVERY-RANK | sort | uniq -c", "NIXL src/plugins, src/core"},
    {"mooncake-note", none,
     "Auto-splitting buffer|Re-establish connection|Re-establish EFA connection|Retry active handshake with "
     "updated|Retry passive handshake with updated|simultaneous-open passive setup|Auto GID reprobe switched|Refreshed "
     "GID on|refreshed published GID for|Full NIC coverage:|Disjoint NIC partition|Round-robin NIC assignment|chunk * "
     "-> NIC|protocol does not use device names, ignoring|re-establishing connection: |retiring it for the new "
     "connec|fallback device selection for slice",
     "Information of Mooncake: the division of a large buffer among the NICs, a new GID, or a connection that is "
     "established again after a restart of the peer. Harmless by itself; if connections are established repeatedly, "
     "look at the log of the peer.",
     "env | grep MC_", "Mooncake mooncake-transfer-engine/src/transport"},
    consequence_of("mooncake|wc|modify|registration",
                   wrapping({"mooncake-transfer", unknown, "TRANSFER_FAIL",
                             "A value did not get to or from Mooncake's store, because the transfer to the other node "
                             "failed. This is a consequence: the lines of rdma_transport and worker_pool before it "
                             "have the status of the RDMA operation, or the peer ended.",
                             "grep -hE 'rdma_|worker_pool' LOG-OF-EVERY-RANK | head; fabric-agentctl check",
                             "Mooncake mooncake-store ErrorCode"})),
    {"rdma-library-missing", software,
     "libmlx5.so not available at runtime|libbnxt_re.so not available at runtime|libionic.so not available at "
     "runtime|UCCL P2P: failed to load lib|UCCL P2P: dlsym|Failed to open libmlx5|Failed to load libmlx5|Failed to "
     "load libibverbs|Failed to open libibverbs|libibverbs missing required|missing required verbs symbols|Failed to "
     "get RDMA device list (is rdma-core",
     "A library for RDMA is missing in the image of the job, or has another release: libibverbs, or the provider "
     "library of the NIC (libmlx5, libbnxt_re, libionic, libefa). Install rdma-core (libibverbs, ibverbs-providers) or "
     "the vendor's library in the image, and look at LD_LIBRARY_PATH.",
     "ldconfig -p | grep -E 'ibverbs|mlx5|bnxt|ionic|efa'; echo $LD_LIBRARY_PATH",
     "ROCm MORI, UCCL, MSCCL++, Mooncake"},
    {"mori-control", peer,
     "ReadMessageHeader failed|ReadMessageBody failed|mori*EOF|RecvExact failed|mori*Handshake|MORI-IO*failed",
     "The peer closed the control connection (TCP) of MORI: its process failed or ended. EOF is not an error of the "
     "network: look at the log of the peer for its first error.",
     "grep -hE 'rror|Traceback' LOG-OF-EVERY-RANK | head", "ROCm MORI src/io"},
    {"mori-listen", software, "failed to bind PhoneHome socket|failed to bind/listen on socket",
     "MORI cannot listen on its address and port for the bootstrap: the port is in use by another process, such as one "
     "of an earlier job (EADDRINUSE), or the address is not of this node (EADDRNOTAVAIL). End the process that is left "
     "over or take another port; rank 0 must run on the node of its address.",
     "ss -ltnp; ip -br addr; env | grep -E 'MORI_SOCKET|MASTER_'", "ROCm MORI src/application/bootstrap"},
    {"mori-bootstrap", peer,
     "failed to connect to root after|ailed to connect to root (|^AcceptSocket timed out|failed to accept ring "
     "connection from rank|failed to connect to next rank",
     "The ranks of MORI could not connect to each other over TCP at the start (bootstrap): another rank, or rank 0 "
     "(root), did not start, died or did not connect in time, it uses an interface that this node cannot reach "
     "(MORI_SOCKET_IFNAME), or a firewall is between the nodes. RDMA is not used yet. Check that all ranks run, and "
     "look first at the log of the rank that the line names, or of rank 0.",
     "env | grep -E 'MORI_SOCKET|MASTER_'; ip -br addr; ss -ltnp", "ROCm MORI src/application/bootstrap"},
    {"deepep-configuration", software, "Assertion*num_max_nvl_chunked|Assertion*num_max_rdma_chunked",
     "The configuration of DeepEP (Config: num_max_nvl_chunked_recv_tokens, num_max_rdma_chunked_recv_tokens, the "
     "chunks to send) does not fit this number of ranks and nodes: a buffer is too small for its chunks. The network "
     "is not at fault. Take the values of the release for this number of ranks.",
     "pip show deep_ep; grep -rn num_max_nvl_chunked PROGRAM", "DeepEP csrc/kernels/internode.cu, csrc/config.hpp"},
    {"torch-device-guessed", software, "as device used by this process is currently unknown",
     "PyTorch guesses the GPU of this rank for a barrier, because the program named none: if the guess is wrong, two "
     "ranks use one GPU, and the barrier hangs. Give device_id to init_process_group(), or call "
     "torch.cuda.set_device() "
     "before it. No device and no network is at fault.",
     "env | grep -E 'LOCAL_RANK|CUDA_VISIBLE_DEVICES'; nvidia-smi",
     "PyTorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp"},
    {"deepep-gpudirect", host, "GPUDirect RDMA with CUDA VMM is not supported",
     "The GPU or its driver cannot give the NIC memory of CUDA's virtual memory management (VMM), which DeepEP and "
     "NVSHMEM use: GPUDirect RDMA is off (no nvidia-peermem and no DMA-BUF of the open kernel modules), the GPU is not "
     "one for data centers, or a virtual machine hides it.",
     "lsmod | grep -E 'nvidia_peermem|nvidia'; fabric-agentctl check --only gpudirect",
     "DeepEP csrc/kernels/backend/symmetric.hpp"},
    {"deepep-assertion", software,
     "Assertion exception (*csrc/|Assertion exception (*deep_ep|Assertion failed: *deep_ep/|Assertion failed: "
     "*csrc/kernels|Assertion error *csrc/jit|Assertion error *csrc/elastic|Assertion error *csrc/legacy/buffer|"
     "Assertion error *deep_ep.hpp",
     "An assertion of DeepEP or of its kernels failed; the line has the condition. Usual causes: a number of ranks, "
     "SMs, channels, experts or tokens, a hidden size, an alignment or a buffer that this release does not support, or "
     "an incompatible compiler (NVCC, the cache of kernels). The line does not report a network error.",
     "pip show deep_ep; nvcc --version; env | grep -E 'EP_|NVSHMEM'", "DeepEP csrc, deep_ep/include"},
    {"mori-gpu-memory", software, "Assertion*cqUmem*failed",
     "MORI could not register GPU memory for its queues with the NIC (mlx5dv_devx_umem_reg() by address: EFAULT, 14). "
     "That requires a peer memory bridge between the RDMA driver and the GPU driver, which the kernel's own ib_uverbs "
     "does not have, and since Linux 6.3 not that of a vendor's RDMA stack either. Use a release of MORI that "
     "registers through DMA-BUF (mlx5dv_devx_umem_reg_ex()).",
     "grep ib_register_peer_memory_client /proc/kallsyms; uname -r; pip show mori", "ROCm MORI pull request 560"},
    {"mori-no-gid", host,
     "auto-detect a valid GID|failed to select a valid RDMA GID|RoCE v2 GID not found|No RoCE v2 GID|RoCEv2 GID not "
     "found|no valid GID*found|failed to find valid gid|No valid GID",
     "An RDMA port has no RoCE v2 GID: its netdev has no IP address (or is down, or in another network namespace). "
     "Give the interface of each RDMA port an address, and limit the devices to those with one (show_gids; the filter "
     "of devices of the program).",
     "fabric-agentctl check --only gid; ip -br addr; rdma link show", "ROCm MORI src/application/transport/rdma"},
    {"nvshmem-exchange", peer,
     "non-zero status: *allgather of|allgather of ipc handles failed|bootstrap*allgather failed|host/*allgather*failed",
     "The exchange between the processes at the start of NVSHMEM broke: another process ended or its connection "
     "closed. The status is of NVSHMEM, not an errno. Look at the log of the other processes for the first error, at "
     "the versions of NVSHMEM on all hosts, and at the interface (NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME).",
     "env | grep NVSHMEM; grep -hE 'WARN|ERROR|non-zero' LOG-OF-EVERY-RANK | head", "NVSHMEM src/host/topo/topo.cpp"},
    {"nvshmem-nvls", host,
     "nvls.cpp*non-zero status|non-zero status*cuMulticast|non-zero status*ulticast group|non-zero status*MC handle|"
     "non-zero status*MC group|non-zero status*mc handle|non-zero status*NVLS resource|NVLINK SHARP resource "
     "initialization failed|non-zero status*heap MC memory|non-zero status*unbind_group_mem",
     "NVSHMEM could not make or map memory for multicast over NVLink (NVLS): the state of the NVLink fabric of this "
     "host is wrong (a fabric manager that does not run or was restarted without a reset of the GPUs; NVRM's lines in "
     "the kernel log name it), or the driver or virtual machine has no multicast. NVSHMEM_DISABLE_NVLS=1 goes on "
     "without it. The network is not at fault.",
     "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A 3 Fabric; journalctl -k -g NVRM",
     "NVSHMEM src/host/team/team_internal_nvls.cpp"},
    {"nvshmem-heap", software,
     "symmetric heap*exceeded|Out of symmetric|non-zero status: 2 cu|nvshmem_malloc*fail|nvshmem*cannot "
     "allocate*heap|NVSHMEM_SYMMETRIC_SIZE|nvshmem*out of memory|failed to allocate*symmetric|Heap is not "
     "symmetric|could not allocate symmetric",
     "The symmetric heap of NVSHMEM or MORI is too small or could not be made: raise NVSHMEM_SYMMETRIC_SIZE or "
     "MORI_SHMEM_HEAP_SIZE, leave GPU memory free for it, and give all processes the same size. Registration at the "
     "NIC needs GPUDirect RDMA and room in "
     "BAR1.",
     "env | grep NVSHMEM; nvidia-smi -q -d MEMORY | grep -A 3 BAR1", "NVSHMEM src/host/mem"},
    {"nvshmem-gpu", host,
     "non-zero status*cuda|non-zero status*cuMem|non-zero status*cuCtx|non-zero status*cuDevice|non-zero "
     "status*cuStream|non-zero status*cuEvent|non-zero status*cuPointer|non-zero status*cuOccupancy|non-zero "
     "status*gdrcopy |non-zero status*gdr copy|non-zero status*device path failed|non-zero status*pcie|non-zero "
     "status*Pcie|non-zero status*ernel launch failed|non-zero status*warp size|non-zero status*nvml|non-zero "
     "status*stream priority|non-zero status*stream creation|err=*cudaHostRegister",
     "A call of CUDA, NVML or GDRCopy failed inside of NVSHMEM; the status is an error code of that library, not an "
     "errno. Usual causes: the memory of the GPU is used up (NVSHMEM_SYMMETRIC_SIZE), an earlier error of a kernel or "
     "of the GPU, processes that share a GPU, or a driver that is older than the CUDA of the image. The network is not "
     "at fault.",
     "nvidia-smi; journalctl -k -g NVRM; env | grep NVSHMEM", "NVSHMEM src/host"},
    {"nvshmem-status", unknown, "host/*non-zero status: |NVSHMEM*non-zero status",
     "A call inside of NVSHMEM failed: the text after the status names it; the status is of NVSHMEM (7: internal "
     "error) or of CUDA, not an errno. Read the first such line of all processes with NVSHMEM_DEBUG=INFO: registration "
     "of the heap (GPUDirect, NVSHMEM_SYMMETRIC_SIZE), a transport (IBGDA, IBRC), or the bootstrap.",
     "env | grep NVSHMEM; fabric-agentctl check --only gpudirect,gid", "NVSHMEM src/host"},
    {"nvshmem-bootstrap", software,
     "Bootstrap unable to load|Bootstrap failed to get symbol|Bootstrap plugin init failed|Bootstrap library dlopen "
     "failed|Invalid bootstrap|bootstrap_loader_init|bootstrap*plugin*failed|bootstrap_init failed|Bootstrap plugin "
     "preinit failed|bootstrap version (*is not compatible|Bootstrap versions not compatible|returned an incompatible "
     "version|BOOTSTRAP_UID_SESSION_ID|Invalid UID Session ID",
     "NVSHMEM could not start the exchange between its processes: the library nvshmem_bootstrap_*.so of the chosen way "
     "(NVSHMEM_BOOTSTRAP: MPI, PMI, UID) is missing in LD_LIBRARY_PATH or was built for another MPI, or the launcher "
     "offers another PMI. UID needs an interface (NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME).",
     "env | grep NVSHMEM; ldconfig -p | grep nvshmem_bootstrap; ip -br addr", "NVSHMEM src/host/bootstrap"},
    {"nvshmem-device-state", software,
     "device state*version|NVSHMEM device library version|NVSHMEM host library*version|device_lib_version|Unable to "
     "find device lib|nvshmemx_cumodule_init|CUDA stack size limit has been set",
     "The device code of the program and the NVSHMEM host library do not belong together, or the code uses IBGDA and "
     "the library runs without it: build both with one release, and set NVSHMEM_IB_ENABLE_IBGDA=1 if the program "
     "(DeepEP) needs it.",
     "env | grep NVSHMEM; ldd PROGRAM | grep nvshmem", "NVSHMEM src/host"},
    {"nixl-rail", network,
     "Failed to create rail for|libfabric_rail*Failed to post recv|libfabric_rail*fi_*data "
     "failed|libfabric_rail*fi_read failed|postXfer*failed on rail|CQ read failed on rail|drainPostQueue: post "
     "failed|insertAllAddresses failed",
     "The libfabric backend of NIXL could not use a rail (a network device): the provider refused it, or the address "
     "of the peer is not valid there. Compare fi_info on both hosts and the devices of the container; the error of "
     "libfabric is in the line.",
     "fi_info -l; ls -l /dev/infiniband; env | grep -E 'FI_|NIXL'", "NIXL src/plugins/libfabric"},
    {"nixl-usage", software,
     "NIXL_ERR_INVALID_PARAM|NIXL_ERR_NOT_FOUND|NIXL_ERR_MISMATCH|NIXL_ERR_NOT_ALLOWED|NIXL_ERR_REPOST_ACTIVE|NIXL_ERR_"
     "NOT_SUPPORTED",
     "NIXL refused a call: a descriptor, agent or memory type that was not registered or does not match the other "
     "side, or a backend (plugin) that is not installed. Look at NIXL_PLUGIN_DIR and the list of plugins; the metadata "
     "must be exchanged after each registration. The network is not at fault.",
     "env | grep NIXL; pip show nixl", "NIXL src/core"},
    // After the rows of the single errors of CUDA (gpus.cpp, devices.cpp).
    {"nccl-cuda", host,
     "NCCL WARN Cuda failure|NCCL WARN HIP failure|ncclUnhandledCudaError: Call to CUDA|NCCL error*unhandled cuda "
     "error",
     "A call of CUDA or HIP failed, for the reason in quotes: the memory of the GPU is used up, or the GPU or an "
     "earlier kernel on it has failed. The network is not at fault.",
     "journalctl -k -g 'NVRM|amdgpu'", "NCCL src/include/checks.h"},
};

}  // namespace

const std::span<const LineMessage> kTrainingMessages = kRows;

}  // namespace fabric::lines
