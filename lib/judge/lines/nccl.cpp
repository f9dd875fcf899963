// SPDX-License-Identifier: Apache-2.0
// NCCL and RCCL (the same code), and PyTorch above them.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kNcclVerbs = "NCCL src/misc/ibvwrap.cc";
constexpr std::string_view kNcclSocket = "NCCL src/misc/socket.cc";
constexpr std::string_view kNcclNet = "NCCL src/transport/net_ib.cc";

constexpr LineMessage kNcclRows[] = {
    {"nccl-hint-acs", host, "NCCL INFO HINT*ACS is enabled",
     "NCCL's own hint to a failed access of GPU memory: ACS redirection on the bridges between GPU and NIC.",
     "fabric-agentctl check --only acs,iommu,gpudirect", kNcclNet},
    {"nccl-hint-rail", network, "NCCL INFO HINT*not cross-rail connected",
     "NCCL's own hint to a connection that timed out: ports of different rails are not connected to each other. Add "
     "routes between the rails, or set NCCL_CROSS_NIC=0.",
     "ip route get {peer}; echo $NCCL_CROSS_NIC", kNcclVerbs},
    {"nccl-gid-namespace", software, "ncclIbRoceGetVersionNum",
     "NCCL 2.22 to 2.25 reads the GID entries of every network namespace, and fails at those of another one (a pod "
     "with a virtual function or macvlan). Use a newer NCCL, or set NCCL_IB_GID_INDEX to the RoCE v2 GID of this pod, "
     "as fabric-agentctl topo --format nccl prints it.",
     "fabric-agentctl topo --format nccl; grep -h 'NCCL version' LOG", kNcclNet},
    {"nccl-qp-no-device", host,
     "NCCL WARN Call to ibv_modify_qp failed with error No such device|NCCL WARN*ibv_modify_qp failed with 19 *next "
     "state RTR",
     "NCCL's queue pair cannot use the GID that it chose: the netdev of this GID is not in the network namespace of "
     "the process (a container without the netdev of its RDMA device), or is gone. Give the container the netdev (a "
     "virtual function, or the host's network), or choose a GID of its own netdevs (NCCL_IB_GID_INDEX, NCCL_IB_HCA).",
     "rdma link show; show_gids; env | grep NCCL_IB; fabric-agentctl check --only gid",
     "Linux drivers/infiniband/core/verbs.c, NCCL src/misc/ibvwrap.cc"},
    {"nccl-mixed-links", software, "Attempted to connect incompatible devices",
     "NCCL_IB_HCA mixes InfiniBand and RoCE ports: list the ports of one link layer on every host.",
     "fabric-agentctl topo --format nccl; echo $NCCL_IB_HCA", kNcclNet},
    {"nccl-no-pci-device", host, "Could not find real path of * (/sys/class/infiniband/",
     "NCCL finds no PCI device of this RDMA device in sysfs: a software device (rxe, siw) has none, or /sys of the "
     "container does not show it. NCCL goes on without its place in the topology. Soft-RoCE is for tests: use the "
     "port of a NIC (NCCL_IB_HCA), or NCCL_IB_DISABLE=1.",
     "rdma link show; ls -l /sys/class/infiniband/; echo $NCCL_IB_HCA", kNcclNet},
    {"nccl-failover", network,
     "failed devices out of|Maximum number of probing attempts|functional device to post the probe",
     "Port failover of NCCL has no port left: every NIC of this connection has failed, or the peer does not answer the "
     "probes on the others. Look at the first error of each port, and at the peer and the path to it.",
     "fabric-agentctl diagnose", "NCCL src/transport/net_ib/p2p_resiliency.cc"},
    consequence_of("wc|async",
                   wrapping({"nccl-port-failed", unknown, "ncclIbResiliency*marked as failed",
                             "A port of a connection failed, and NCCL goes on with the others and tries to recover it. "
                             "The completion error or the event of the port before this line is the cause.",
                             "fabric-agentctl diagnose {port}", "NCCL src/transport/net_ib/p2p_resiliency.cc"})),
    {"nccl-no-algorithm", software, "NCCL WARN No algorithm/protocol available",
     "NCCL has no algorithm and protocol for this operation: NCCL_ALGO or NCCL_PROTO (or a tuner plugin) leaves out "
     "those that can do it, such as NVLS for a datatype that it does not have. Unset them.",
     "env | grep -E 'NCCL_(ALGO|PROTO|TUNER)'; cat /etc/nccl.conf ~/.nccl.conf", "NCCL src/enqueue.cc"},
    {"nccl-rank-twice", software, "has already checked in|ranks have already checked in",
     "Two processes were started with the same rank: the launcher's ranks or world size are wrong.",
     "env | grep -E '^(RANK|WORLD_SIZE|SLURM_PROCID|OMPI_COMM_WORLD_RANK)='", "NCCL src/bootstrap.cc"},
    {"nccl-nvml", host, "nvmlDeviceGetHandleBy*failed|nvmlDeviceGetHandleBy*Not Found",
     "NCCL found a GPU that NVML does not list: the container has only some GPUs of the host, or the ranks of a job "
     "run in containers with different GPUs. Give every rank's container all GPUs of the job. The GPU itself works.",
     "nvidia-smi -L; echo $NVIDIA_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES", "NCCL src/misc/nvmlwrap.cc"},
    {"nccl-optional-symbol", none, "dlvsym failed on ibv_|dlvsym failed on mlx5dv_|dlvsym failed on efadv_",
     "This release of rdma-core lacks a function that NCCL uses only if it is there, and NCCL goes on without it.",
     "ls -l /usr/lib/x86_64-linux-gnu/libibverbs.so*; env | grep LD_LIBRARY_PATH", "NCCL src/misc/ibvsymbols.cc"},
    {"nccl-socket-foreign", software,
     "NCCL*wrong type * != |NCCL*wrong magic |NCCL*invalid magic|NCCL*unexpected magic|ncclSocket*wrong type * != "
     "|ncclSocket*wrong magic |socketFinalize*wrong type * != |socketFinalize*wrong magic ",
     "Another program or job speaks to this port of NCCL, or the ranks run different versions of NCCL.",
     "grep -h 'NCCL version' LOG-OF-EVERY-RANK | sort | uniq -c", kNcclSocket},
    {"nccl-gin-absent", host, "NCCL WARN No GIN-capable|NCCL WARN GIN not supported",
     "NCCL found no NIC that can do GPU-initiated networking (GIN): the NIC or its firmware does not offer it, DOCA or "
     "GPUDirect RDMA (DMA-BUF, nvidia_peermem) is missing, or NCCL_IB_HCA names other ports. NCCL_GIN_TYPE=2 uses a "
     "proxy thread; NCCL_GIN_ENABLE=0 goes on without GIN.",
     "ibv_devinfo -d {rdma} | grep fw_ver; fabric-agentctl check --only gpudirect; env | grep -E "
     "'NCCL_GIN|NCCL_IB_HCA'",
     "NCCL src/gin/gin_host.cc"},
    {"nccl-gin-option", software,
     "NCCL WARN GIN is disabled|Communicator does not support symmetric memory|signals are required, but the GIN "
     "plugin|GIN plugin does not support|requires DMABUF support with GIN",
     "The program asks for GPU-initiated networking (GIN) that this setup of NCCL does not offer: it is switched off "
     "(NCCL_GIN_ENABLE), symmetric memory is off or not possible (NCCL_CUMEM_ENABLE, NCCL_WIN_ENABLE, an old GPU or "
     "driver), or the network plugin lacks a kind of signal or operation. Enable it, use a plugin or release that has "
     "it, or do without GIN.",
     "env | grep -E 'NCCL_GIN|NCCL_CUMEM|NCCL_WIN|NCCL_NET_PLUGIN'", "NCCL src/gin"},
    {"nccl-gin", software, "NCCL WARN DOCA |gin_host_gdaki",
     "GPU-initiated networking (GIN, GDAKI) could not set up its queue pair through DOCA: DOCA, driver or firmware are "
     "too old, or the port needs a GID (GRH). NCCL_GIN_TYPE=2 uses the proxy instead, as a test.",
     "ibv_devinfo -d {rdma} | grep fw_ver; dpkg -l | grep -i doca",
     "NCCL src/transport/net_ib/gdaki/gin_host_gdaki.cc"},
    {"nccl-version-mismatch", software,
     "Mismatched NCCL version|mismatched versions of NCCL|Bootstrap*magic*mismatch|NCCL version mismatch with",
     "The ranks run different versions of NCCL: use the same image on all hosts.",
     "grep -h 'NCCL version' LOG-OF-EVERY-RANK | sort | uniq -c", "NCCL src/init.cc, src/ras/ras.cc"},
    {"nccl-topology-file", software,
     "NCCL WARN Attribute *of node *not found|NCCL WARN XML Parse|NCCL WARN XML Import Channel|NCCL WARN XML Export "
     "Channel|NCCL WARN XML*wrong version|NCCL WARN XML Mismatch|KV Convert to str|Could not open XML|Error : XML "
     "parser is limited|too many XML|NCCL WARN Error : name * too long|NCCL WARN Error : value * too long",
     "NCCL cannot read its topology: the file of NCCL_TOPO_FILE, or that of the plugin or image, is malformed or of "
     "another release. Correct it, or remove it, so that NCCL reads the topology from the host.",
     "echo $NCCL_TOPO_FILE $NCCL_GRAPH_FILE", "NCCL src/graph/xml.cc, xml.h"},
    {"rccl-runtime", software, "Failed to find ROCm runtime|Failed to find HSA|Could not load libhsa",
     "The ROCm runtime is missing in the image of the job.", "ls /opt/rocm/lib; echo $RCCL_ROCR_PATH",
     "RCCL src/misc/rocmwrap.cc"},
    {"nccl-duplicate-gpu", software,
     "Duplicate GPU detected|Multiple Ranks are using the same GPU|multiple ranks using the same NVML device",
     "Two ranks use the same GPU: the launcher sets CUDA_VISIBLE_DEVICES or the local rank wrongly.",
     "env | grep -E 'LOCAL_RANK|VISIBLE_DEVICES'", "NCCL src/init.cc"},
    {"nccl-merged-ports", software,
     "Can't make virtual NIC|Attempted to merge incompatible|Cannot use physical device|Can't merge net devices|"
     "Cannot allocate any more virtual devices|Requested properties for vNic|non-existent virtual device|Could not "
     "force merge NICs|Tried to merge too many NICs|Specified fused NIC|Fusing NET devices from different|"
     "NCCL_NET_MERGE_POLICY: unknown|TOPO/NET : Only matched",
     "NCCL is configured to use several ports as one (NCCL_NET_FORCE_MERGE, NCCL_NET_MERGE_LEVEL, NCCL_IB_MERGE_NICS), "
     "and cannot combine them: a name that does not exist, ports of two link layers or NUMA nodes, too many ports, or "
     "another number of ports on the peer. Correct or unset the variable on every host.",
     "env | grep -E 'MERGE|NCCL_IB_HCA'; ibv_devinfo -l", "NCCL src/graph/topo.cc, src/transport/net_ib"},
    {"nccl-value", software,
     "is being ignored because it is not a power of 2|is too small. Minimum value is|All entries except the first must "
     "have a prefix|Unrecognized element token|Unrecognized prefix token|NCCL WARN*is out of range [|is greater than "
     "the maximum allowed, setting|User asked for a m*channels|NCCL_MIN_NCHANNELS set by environment is ignored|is "
     "larger than #channels|CTAs * is larger than maxCTAs|is not a valid value 0/1, set|is too big. Limiting "
     "value|(must be a multiple of|NCCL WARN Invalid *(maximum |NCCL WARN Invalid *(minimum |Ignoring SHM "
     "locality|Unsetting POLICY|OOO RQ is force enabled|Ip address mask*is invalid for family|Invalid value * for "
     "NCCL_PLUGIN_P2P|invalid netGdrLevel",
     "A variable of NCCL, or a value of the configuration that the program passes, is invalid, and NCCL ignores or "
     "changes the value. The line names the variable and the limit. Correct or unset the variable.",
     "env | grep -E 'NCCL_|RCCL_'; cat /etc/nccl.conf", "NCCL src/init.cc, src/graph, src/transport"},
    consequence_of(
        "nccl|wc|async|modify|open|registration|object|ofi|gpu|torch",
        wrapping(
            {"nccl-connection-state", unknown,
             "NCCL WARN*pass NULL socket|NCCL WARN*file descriptor is -1|NCCL WARN*socket is invalid|NCCL WARN*wrong "
             "socket state|NCCL WARN*unexpected socket state|NCCL WARN*socket state (|NCCL WARN*invalid "
             "socket|response for opId=|size for opId=|find opId=|already completed opId|async opId|Storing response "
             "for already|Attempting to dequeue n|Could not find pool of op|Proxy append|proxy op chain",
             "NCCL used a connection, or an operation of its proxy thread, that is closed or in the wrong state. The "
             "line is a consequence of an earlier error of this rank or its peer. Without an earlier error, the "
             "program calls NCCL from several threads, or NCCL has a bug.",
             "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NCCL src/misc/socket.cc, src/proxy.cc"})),
    {"nccl-no-device", host, "NET/IB : No device found",
     "NCCL found no usable RDMA device and falls back to TCP: none is in the container, none is up, or NCCL_IB_HCA "
     "excludes all. A job on one node does not need one. If RDMA is expected, pass /dev/infiniband and the libraries "
     "(rdma-core) to the container.",
     "fabric-agentctl topo; ibv_devices; echo $NCCL_IB_HCA", kNcclNet},
    {"nccl-no-libibverbs", software, "Failed to open libibverbs.so",
     "NCCL found no libibverbs and uses TCP sockets instead of RDMA: install rdma-core (libibverbs) in the image of "
     "the job. On a host without RDMA it is normal.",
     "ldconfig -p | grep libibverbs", "NCCL src/misc/ibvsymbols.cc"},
    {"nccl-old-gdr", software,
     "GPU Direct RDMA Disabled for HCA*NCCL version 2.22|GPU Direct RDMA Disabled for HCA*NCCL version 2.21|GPU Direct "
     "RDMA Disabled for HCA*NCCL version 2.20|GPU Direct RDMA Disabled for HCA*NCCL version 2.19|GPU Direct RDMA "
     "Disabled for HCA*NCCL version 2.18",
     "NCCL copies through host memory on this NIC. This release, before 2.23, looks only for the older nv_peer_mem: if "
     "lsmod shows nvidia_peermem, GPUDirect works on the host and the job needs a newer NCCL. Else the peer memory "
     "module is not loaded.",
     "lsmod | grep peermem", "NCCL src/misc/gdrwrap.cc, src/transport/net_ib.cc"},
    {"nccl-no-gdr", host, "GPU Direct RDMA Disabled for HCA",
     "NCCL or RCCL copies through host memory on this NIC: it found neither a peer memory module nor DMA-BUF. NCCL "
     "before 2.23 looks for nv_peer_mem only: if lsmod shows nvidia_peermem, the job needs a newer NCCL.",
     "lsmod | grep peermem; fabric-agentctl check --only gpudirect", "NCCL src/graph/topo.cc"},
    {"rccl-iommu", host, "Missing \"*\" from kernel command line",
     "The kernel was booted without an option that RCCL expects (amd_iommu=on, iommu=pt): where the IOMMU translates "
     "the accesses of the devices, peer-to-peer transfers are slow or hang. Add it to the kernel command line.",
     "cat /proc/cmdline; fabric-agentctl check --only iommu", "RCCL src/init.cc"},
    {"rccl-numa-balancing", host,
     "NUMA auto blancing enabled|NUMA auto balancing enabled|NUMA balancing is enabled|numa_balancing is enabled",
     "Automatic NUMA balancing is on: the kernel moves pages between the NUMA nodes while the job runs, which costs "
     "performance and causes jitter. Switch it off: sysctl kernel.numa_balancing=0.",
     "sysctl kernel.numa_balancing", "RCCL src/init.cc"},
    {"p2p-disabled", host,
     "Could not enable P2P between dev|P2P is disabled between*GPU|P2P is not supported between*GPU",
     "These two GPUs have no peer-to-peer access, and NCCL copies through shared memory of the host (SHM): slower, no "
     "fault of the job. GPUs without it (GeForce) cannot; else ACS or an IOMMU (VT-d) that translates is between them "
     "(iommu=pt, ACS off), or the virtual machine does not show the topology.",
     "nvidia-smi topo -p2p r; fabric-agentctl check --only acs,iommu", "NCCL src/graph/paths.cc, src/transport/p2p.cc"},
    {"rccl-environment", software, "NCCL WARN Missing \"*\" from environment",
     "A variable that RCCL expects for transfers between GPUs over PCIe is not set, as the line names it "
     "(HSA_FORCE_FINE_GRAIN_PCIE=1): RCCL may be slow or hang. Export it in the environment of all ranks of the job.",
     "env | grep HSA_", "RCCL src/init.cc"},
    {"rccl-fabric-library", none, "NCCL WARN RCCL_USE_AMD_SMI_LIB not set",
     "A note of RCCL: without RCCL_USE_AMD_SMI_LIB=1 it does not use a UALoE fabric of the GPUs. Harmless on hosts "
     "that have none.",
     "env | grep RCCL_", "RCCL src/misc/amdsmi_wrap.cc"},
    {"nccl-gpu-links", host, "NCCL WARN Failed to find reverse path from remNode",
     "The links between the GPUs (NVLink, XGMI) are not the same in both directions in the topology that the driver "
     "reports: a virtual machine with some of the node's GPUs, or a driver that does not fit.",
     "nvidia-smi topo -m; amd-smi topology", "NCCL src/graph/paths.cc"},
    {"nccl-no-socket", host,
     "no socket interface found|NET/Socket : no interface found|No IP interface found|ncclSocketInit: connecting to "
     "address  with family",
     "NCCL found no netdev for its bootstrap connections: NCCL_SOCKET_IFNAME names none that is up. Some releases "
     "then go on without an address, and fail at the first connection (\"neither AF_INET\"), also on the other ranks.",
     "ip -br addr; echo $NCCL_SOCKET_IFNAME", "NCCL src/bootstrap.cc"},
    {"nccl-peer-closed", peer,
     "Connection closed by remote peer|Call to recv from*Connection reset by peer|Call to recv from*Broken pipe|Call "
     "to send to*Connection reset by peer|Call to send to*Broken pipe",
     "The other rank closed a TCP connection of NCCL (bootstrap, the exchange before RDMA is connected, or data "
     "without RDMA): its process ended or failed before, or refused the step. This is a consequence; the cause is the "
     "first error in the log of that rank, which the address, or the rank in a line beside, names.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", kNcclSocket},
    {"nccl-link-local", host, "onnect to 169.254.*<*returned*, retrying|onnect to fe80:*<*returned*, retrying",
     "The peer announced a link-local address (169.254.0.0/16, fe80::/10), which no other node can reach: NCCL there "
     "uses a netdev that is only for the node itself, such as that of a pod's credentials or of the BMC. Exclude that "
     "netdev on every node, or name the right one: NCCL_SOCKET_IFNAME=^lo,docker,NETDEV.",
     "ip -br addr; echo $NCCL_SOCKET_IFNAME; grep -h 'NET/Socket : Using' LOG-OF-EVERY-RANK", kNcclSocket},
    {"nccl-retrying", none, "NCCL INFO*onnect*returned*, retrying",
     "The peer does not listen yet, or did not answer in time, and NCCL tries again. Harmless at the start of a job; "
     "if it goes on until NCCL gives up, a line with \"exceeded\" follows.",
     "grep -h 'exceeded' LOG-OF-EVERY-RANK | head", kNcclSocket},
    // Debian's installer gives the name of a host this loopback address: no other host has it.
    {"torch-loopback", host,
     "onnect to*127.0.1.1|onnect*remote=[127.0.1.1]|127.0.1.1*onnection refused|127.0.1.1*onnection timed out",
     "The process connects to 127.0.1.1, a loopback address: the name of the other host, or of this one, resolves to "
     "it on the host that published it. The processes of other hosts reach themselves and not the peer. Give the name "
     "its address in the network (/etc/hosts, DNS), or name the interface (NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME) or "
     "the address itself (MASTER_ADDR). RDMA is not used for this.",
     "getent hosts $(hostname); grep 127.0.1.1 /etc/hosts; env | grep -E 'SOCKET_IFNAME|MASTER_ADDR'",
     "PyTorch torch/csrc/distributed/c10d, Gloo, NCCL src/misc/socket.cc"},
    // A name that is a number, as of node "05", is an address to getaddrinfo(): 0.0.0.5.
    {"torch-numeric-name", host,
     "client socket has failed to connect to 0.0.|client socket has failed to connect to [0.0.|trying to connect to "
     "(0.0.|failed to connect/validate to host 0.0.",
     "The address 0.0.x.x belongs to no host: the name of the node is a number (05 is taken for 0.0.0.5), or the "
     "address is 0.0.0.0, at which only a server listens. The store of torchrun cannot be reached. Give the node a "
     "name that is not a number, or set MASTER_ADDR, or --rdzv-endpoint and --local-addr, to an IP address of the node "
     "of rank 0.",
     "hostname; env | grep MASTER_ADDR; getent hosts $(hostname)", "PyTorch torch/csrc/distributed/c10d/socket.cpp"},
    {"torch-store", peer, "client socket has timed out after|client socket has failed to connect to",
     "The process did not reach the first rank over TCP (MASTER_ADDR, MASTER_PORT): that rank does not run, its name "
     "resolves to another address, or a firewall blocks the port. RDMA is not used for this.",
     "ping -c 3 {peer}", "PyTorch torch/csrc/distributed/c10d/socket.cpp"},
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
    {"nccl-collective-mismatch", software, "NET/IB*collective mismatch error",
     "The receiver's size of a transfer is not that of the sender. Likely one of two: the ranks call different "
     "collectives, or not in the same order, or with different sizes. Or writes of the NIC overtake each other, "
     "because its firmware forces relaxed ordering, while this NCCL relies on the order: PCI_WR_ORDERING must be "
     "per_mkey (0), not force_relax (1). Test with NCCL_PROTO=SIMPLE: only the first cause fails with it, too.",
     "mlxconfig -d {pci} q PCI_WR_ORDERING; echo $NCCL_PROTO", kNcclNet},
    {"nccl-truncated", software, "Message truncated : received",
     "The peers disagree on the size of a message: different collectives, sizes or NCCL versions.",
     "grep -h 'NCCL version' FILE", "NCCL src/transport/net_socket.cc"},
    {"nccl-ib-fatal", host, "fatal error (detected in ncclIb",
     "NCCL stops using the NIC because of an event that the NIC reported; the lines with \"async\" around this one "
     "name the event.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", kNcclNet},
    consequence_of(
        "nccl|wc|async|modify|open|registration|object|ofi",
        wrapping({"nccl-proxy", unknown,
                  "[Proxy Service*Failed to execute operation|[Service thread] Error encountered progressing operation|"
                  "Socket recv failed while polling for opId",
                  "A transport could not be set up. The NCCL WARN line before this one names the call that failed.",
                  "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NCCL src/proxy.cc"})),
    {"nccl-remote-error", peer,
     "ncclRemoteError: A call failed|NCCL error*remote process exited or there was a network error",
     "A call to a peer failed: its process ended, or the network lost the connection. The NCCL WARN lines of all ranks "
     "before this one name the first failure.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NCCL src/init.cc"},
    {"nccl-system-error", host, "ncclSystemError: System call|NCCL error*unhandled system error",
     "A system call or a call of libibverbs failed. The NCCL WARN line before this one names it (NCCL_DEBUG=WARN).",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NCCL src/init.cc"},
    on_silence(
        {"nccl-watchdog", unknown,
         "Watchdog caught collective operation timeout|detected by watchdog|Timeout at NCCL work|Some NCCL "
         "operations have failed or timed out",
         "A collective did not finish in time: one rank, this one or another, hangs, died or did other work (a "
         "step or data loader that is slow), or a network path is stuck. The line does not show which: find the "
         "rank that did not enter the collective, and its first error; then look at the port of its node. If the "
         "lines of the ranks differ in SeqNum or OpType by more than a few operations, the ranks are out of step: "
         "look at the program and the log of the rank with the lowest SeqNum first.",
         "fabric-agentctl diagnose", "PyTorch ProcessGroupNCCL.cpp"}),
    {"nccl-nvls",
     host,
     "nvls.cc*NCCL WARN Cuda failure|nvls.cc*NCCL WARN CUDA failure|NVLink SHARP (NVLS) Multicast",
     {"NVLink SHARP (NVLS) could not be set up on this node: the fabric manager or an NVSwitch is in a bad state, "
      "often because the fabric manager was restarted without a reset of the GPUs. NCCL_NVLS_ENABLE=0 goes on without "
      "it. The network is not at fault. ",
      {Work::ends_jobs, "Reset the GPUs, or reboot."}},
     "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A 3 Fabric",
     "NCCL src/transport/nvls.cc"},
    {"nccl-gpu-memory", software,
     "NCCL WARN Cuda failure*out of memory|NCCL WARN HIP failure*out of memory|Failed to CUDA calloc|Failed to CUDA "
     "malloc|Failed to HIP calloc|Failed to HIP malloc",
     "The memory of the GPU is used up, so that NCCL has none for its buffers. Use a smaller batch or memory fraction, "
     "or fewer channels and buffers of NCCL (NCCL_MAX_NCHANNELS, NCCL_BUFFSIZE); look for another process on the GPU. "
     "The network is not at fault.",
     "nvidia-smi; env | grep NCCL_BUFFSIZE", "NCCL src/include/alloc.h"},
    consequence({"nccl-cuda-ended", unknown, "NCCL WARN Cuda failure*driver shutting down",
                 "A consequence: the process ends while NCCL still works, and CUDA is already shut down. The first "
                 "error of this process is before it; a program that ends without ncclCommDestroy has it, too.",
                 "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "NCCL src/include/checks.h"}),
    {"nccl-shm-foreign", software, "Error while attaching to shared memory segment",
     "A rank of this host cannot open the shared memory segment of another one: their containers do not share /dev/shm "
     "(IPC namespace), or the other rank ended. Give the ranks of a host one container or --ipc=host; "
     "NCCL_SHM_DISABLE=1 as a test. The network is not at fault.",
     "ls -l /dev/shm; readlink /proc/PID/ns/ipc", "NCCL src/misc/shmutils.cc"},
    {"nccl-shm", host,
     "Error while creating shared memory segment|failed to extend /dev/shm/nccl|Call to posix_fallocate failed",
     "/dev/shm is too small for NCCL, or full: containers have 64 MB by default (docker run --shm-size, an emptyDir of "
     "medium Memory), and segments of killed jobs stay. The network is not at fault.",
     "df -h /dev/shm; ls -l /dev/shm", "NCCL src/misc/shmutils.cc"},
    {"torch-watchdog", software, "watchdog got stuck for",
     "PyTorch's own watchdog hangs in a call of CUDA or NCCL: a GPU or its driver hangs, or another thread holds a "
     "lock. Look for errors of the GPU first; this line says nothing about the network.",
     "journalctl -k -g 'NVRM|amdgpu|blocked for more'", "PyTorch ProcessGroupNCCL.cpp"},
    consequence_of(
        "nccl|wc|async|gpu|torch|out",
        {"torch-store-closed", peer,
         "TCPStore*recvValue*failed on SocketImpl|TCPStore*sendBytes failed on SocketImpl|SocketImpl(*failed to recv, "
         "got 0",
         "The process that holds PyTorch's store, mostly rank 0, ended: its log has the cause. A consequence on this "
         "rank; the store uses TCP, not RDMA.",
         "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "PyTorch torch/csrc/distributed/c10d/TCPStore.cpp"}),
    {"torch-port-in-use", software, "server socket has failed to bind to|server socket has failed to listen on",
     "PyTorch's store cannot listen on its port (MASTER_PORT) on this host: an old process or another job uses it.",
     "ss -ltnp", "PyTorch torch/csrc/distributed/c10d/socket.cpp"},
    {"torch-rank-bus-error", host, "failed (exitcode: -7)|exitcode  : -7",
     "A rank ended by SIGBUS (7): it accessed a page of a file or of shared memory that the kernel could not provide. "
     "Usual causes: /dev/shm of the container (64 MB by default) is full, huge pages are used up, or a file is on a "
     "full or lost file system. Enlarge /dev/shm with docker run --shm-size or --ipc=host, or an emptyDir of medium "
     "Memory. The peers of the rank see closed connections.",
     "df -h /dev/shm; grep Huge /proc/meminfo; journalctl -k -p warning",
     "PyTorch torch/distributed/elastic/multiprocessing/api.py"},
    {"torch-rank-killed", software, "failed (exitcode: -9)|exitcode  : -9|exits with return code = -9",
     "A rank was killed by SIGKILL: mostly the kernel's OOM killer, or the memory limit of the container or the job. "
     "Its peers see closed connections and retry errors.",
     "journalctl -k -g 'oom-kill'", "PyTorch torch/distributed/elastic/multiprocessing/api.py"},
    consequence_of("nccl|wc|async|gpu|torch|gloo|out",
                   wrapping({"torch-rank-ended", unknown, "failed (exitcode: ",
                             "torchrun reports that a local rank ended; the reason is in the output of that rank, "
                             "which printed its error "
                             "before.",
                             "grep -h -A 20 Traceback LOG-OF-EVERY-RANK | head -40",
                             "PyTorch torch/distributed/elastic/multiprocessing/api.py"})),
    {"gloo-mesh", software, "Gloo connectFullMesh failed|gloo*nable to find address for",
     "Gloo took an interface or an address that this host does not have or that the other ranks cannot reach: "
     "GLOO_SOCKET_IFNAME names another interface, or the name of a host resolves to a loopback address (127.0.1.1). It "
     "uses TCP, not RDMA.",
     "echo $GLOO_SOCKET_IFNAME; getent hosts $HOSTNAME", "PyTorch ProcessGroupGloo.cpp, Gloo transport/tcp"},
    {"gloo-peer", peer, "gloo*Connection closed by peer|gloo*Connection reset by peer",
     "A rank ended, or Gloo took an address that the other ranks cannot reach (GLOO_SOCKET_IFNAME; a host name that "
     "resolves to 127.0.1.1). Gloo uses TCP, not RDMA.",
     "echo $GLOO_SOCKET_IFNAME; getent hosts $HOSTNAME", "PyTorch ProcessGroupGloo.cpp, Gloo transport/tcp/pair.cc"},
    {"nccl-timeout-bootstrap", peer, "Timeout waiting for connection from peer|Timeout waiting for*ranks to connect",
     "Not all ranks started or reached the first one.", "ip -br addr", "NCCL src/bootstrap.cc"},
};

}  // namespace

const std::span<const LineMessage> kNcclMessages = kNcclRows;

}  // namespace fabric::lines
