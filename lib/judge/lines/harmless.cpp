// SPDX-License-Identifier: Apache-2.0
// Lines that programs print on healthy machines, although they have words of an error: optional parts that are
// absent, choices that a program made, debug output. They come first.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr LineMessage on_reset(std::string_view before_netdev, LineMessage row) {
  row.resets_netdev_after = before_netdev;
  return row;
}

constexpr LineMessage kRows[] = {
    {"nccl-option-off", none,
     "NCCL INFO GIN/Plugin: Failed to initialize any|NCCL INFO*features will be disabled|NCCL INFO*feature disabled "
     "without|NCCL INFO*Failed to open*dv symbols|NCCL INFO*Failed to open libmlx5.so|NCCL INFO NET/OFI Setting "
     "FI_|NET/OFI CUDA flush enabled|NCCL INFO NET/OFI*not supported|NCCL INFO*is not supported on this platform, "
     "skipping|Cannot initialize CollNet, using point-to-point network instead",
     "Information of NCCL, RCCL or the libfabric plugin of NCCL: an optional feature is off, because its library is "
     "absent, the device does not offer it or a variable does not switch it on (CollNet: no SHARP in the network; NCCL "
     "uses the point-to-point network); or a default that the plugin has set. Harmless.",
     "env | grep -E 'NCCL_|RCCL_|OFI_NCCL|FI_'", "NCCL src/misc, RCCL src/init.cc, aws-ofi-nccl src"},
    {"nccl-port-speed", none,
     "ibv_query_port_speed*errno 93|ibv_query_port_speed*errno 95|ibv_query_port_speed*not supported",
     "A program asked for the bandwidth that the port has now (ibv_query_port_speed(3) of rdma-core 62), and the "
     "kernel or the driver does not know this query, as mlx5 of Linux 7.0 and efa of 7.3 do. It continues with the "
     "rate of ibv_query_port(3). Harmless. NCCL_IB_QUERY_PORT_SPEED=0 keeps NCCL from asking.",
     "cat /sys/class/infiniband/*/ports/*/rate", "NCCL src/misc/ibvwrap.cc, rdma-core libibverbs/verbs.c"},
    {"nccl-topology-unread", none,
     "Topology detection : could not read|Topology detection: could not read|KV Convert to int : could not find "
     "value|Topology detection : network path",
     "Information of NCCL or RCCL: the kernel or the virtual machine (Hyper-V, Azure, another cloud) does not show a "
     "value of sysfs, such as the PCIe link speed or width of a GPU, a NIC or the bridge above it, or a device has no "
     "NUMA node (-1, the BIOS names none). The topology detection ignores it and takes a default. Harmless, no action "
     "is needed; if performance is low in a virtual machine, NCCL_TOPO_FILE gives its true topology.",
     "echo $NCCL_TOPO_FILE; nvidia-smi topo -m", "NCCL src/graph/xml.cc"},
    {"transfer-library-note", none,
     "NIXL telemetry is disabled|NUMA PCIe capacity is non-uniform|batch-copy optimization enabled|more devices "
     "discovered than|skip duplicate creation|Auto-detected GID index|Registered GPU memory via DMA-BUF|Registered "
     "DMA-BUF chunk|GPU buffer into * chunks|pinned host memory for the atomic|IPC disabled, all transfers|Falling "
     "back to write-with-immediate|Elastic buffer uses|Loading CUBIN|DeepEP initialized "
     "with|UCCL_EP_TRANSPORT=*initialized|Registered atomic_buffer_ptr|- continuing with default|Host ignoring IBGDA "
     "state",
     "Information of a library for transfers between GPUs (NIXL, UCCL, MORI, DeepEP, MSCCL++, NVSHMEM): a choice of "
     "the library, or an option that is off. Harmless.",
     "env | grep -E 'NIXL_|UCCL_|MORI_|EP_'", "NIXL, UCCL, MORI, DeepEP, MSCCL++"},
    {"nccl-gdr-distance", none, "GPU Direct RDMA Disabled for GPU*distance",
     "NCCL does not use GPUDirect RDMA between this GPU and this NIC, because they are too far apart in the topology "
     "(the numbers are kinds of paths: 7 crosses the CPU sockets). For a NIC that is not next to the GPU it is normal, "
     "no fault. If the channels of the GPU use this NIC ('via NET/IB' without GDRDMA), its data goes through the "
     "memory of the host, and the job is slower: no NIC is on the PCIe switch of the GPU, or a virtual machine or "
     "container hides the topology. NCCL_NET_GDR_LEVEL allows a longer path, as a test.",
     "nvidia-smi topo -m; fabric-agentctl topo; grep -h 'via NET' LOG-OF-EVERY-RANK | sort | uniq -c",
     "NCCL src/graph/paths.cc"},
    {"gdrcopy-absent", none,
     "GDRCopy library not found|isabling GDRCopy|GDRCopy is not available|gdrcopy is not installed|libgdrapi.so*not "
     "found*isabl",
     "Information: GDRCopy, by which the CPU writes to GPU memory with low latency, is not installed. NVSHMEM and "
     "others go on without it. Harmless.",
     "lsmod | grep gdrdrv; ldconfig -p | grep gdrapi", "NVSHMEM src/modules/transport/common/transport_gdr_common.cpp"},
    {"cufile-compatible", none,
     "cufio*running in compatible mode|cufio*with compat mode enabled|cufio*NOTICE*compat|NOTICE  cufio*compat",
     "Information of GPUDirect Storage: it reads and writes this file through the memory of the host (compatibility "
     "mode), because nvidia-fs, the file system or cufile.json does not allow the direct way. Harmless, but slower.",
     "gdscheck -p; grep -c ERROR cufile.log", "GPUDirect Storage libcufile"},
    {"dcgm-no-profiling", none,
     "Not collecting DCP metrics|Not collecting GPU metrics; *DCP|Not collecting * metrics; no fields",
     "Information of dcgm-exporter: it leaves out metrics that this host or its configuration does not have, such as "
     "those of profiling (DCGM_FI_PROF_*), and goes on with the others. Harmless.",
     "dcgmi modules -l", "dcgm-exporter"},
    {"dcgm-module-unused", none, "Incompatible hardware vendor for sysmon|fieldId = * status = -6",
     "DCGM leaves out what this host does not have: the module sysmon monitors NVIDIA CPUs (Grace) only, and is not "
     "loaded with a CPU of another vendor; a field with the status -6 (not supported) has no value on this GPU. "
     "Harmless: the other modules and fields work.",
     "dcgmi modules -l; lscpu | grep Vendor", "DCGM modules/sysmon/DcgmModuleSysmon.cpp, dcgm_structs.h"},
    {"dpdk-note", none,
     "EAL: No free *hugepages reported|EAL: No available *hugepages reported|No legacy callbacks, legacy socket|EAL: "
     "*Invalid NUMA socket|_probe_one_driver(): *Invalid NUMA socket|EAL: WARNING: cpu flags constant_tsc|EAL: Probing "
     "VFIO support|EAL: VFIO support initialized|EAL: Selected IOVA mode",
     "Information of DPDK at its start: a mode that it chose, no free huge pages of this size or on this NUMA node, no "
     "NUMA node of a device, or an optional part that is absent. Harmless if the program starts; if it ends with "
     "\"Cannot init memory\", reserve huge pages (vm.nr_hugepages) on the node of the NIC.",
     "grep Huge /proc/meminfo; grep . /sys/devices/system/node/node*/hugepages/*/nr_hugepages", "DPDK lib/eal"},
    {"mlx5-cpu-set", none, "mlx5: Warning: can not get local cpu set",
     "Information of the mlx5 library of rdma-core: it cannot read the CPUs next to the NIC in sysfs, as in a "
     "container, and chooses its doorbell without them. Harmless.",
     "cat /sys/class/infiniband/{rdma}/device/local_cpus", "rdma-core providers/mlx5/mlx5.c mlx5_local_cpu_set()"},
    {"nvshmem-empty-gid", none, "read failed in ib_roce_get_version_num",
     "Information of NVSHMEM: it reads the type of every entry of the GID table, and an empty entry has none (EINVAL). "
     "Harmless.",
     "show_gids; rdma link show", "NVSHMEM src/modules/transport/common/transport_ib_common.cpp"},
    // Files of /etc/rdma/modules list modules that a kernel or an initramfs need not have.
    {"module-optional", none,
     "Failed to find module 'xprtrdma|Failed to find module 'svcrdma|Failed to find module 'rpcrdma|Failed to find "
     "module 'ib_iser|Failed to find module 'ib_srp|Failed to find module 'rds_rdma|Failed to find module "
     "'opa_vnic|Failed to find module 'hfi1|Failed to find module 'iw_cxgb",
     "The list of modules of rdma-core names one that this kernel or initramfs does not have: NFS over RDMA (xprtrdma, "
     "svcrdma), iSER, SRP, RDS, or the driver of another vendor. Harmless unless this host uses that protocol.",
     "ls /etc/rdma/modules; modinfo -n rpcrdma ib_iser", "rdma-core kernel-boot/modules"},
    {"ompi-osc-priority", none, "OSC UCX component priority set inside component query failed",
     "Information of Open MPI: its one-sided communication does not use UCX, because UCX has no RDMA device that fits "
     "here. Another component is used. Harmless unless the job needs RDMA: then see which transports UCX has.",
     "ucx_info -d | grep -E 'Transport|Device'", "Open MPI ompi/mca/osc/ucx/osc_ucx_component.c"},
    {"nvrm-bar-size",
     none,
     "NVRM: *Attempting to resize BAR1|NVRM: *BAR1 already at requested size|NVRM: resizable BAR disabled|NVRM: BAR "
     "resize resource not "
     "supported|NVRM: Not resizing BAR because|NVRM: Resizable BAR is not supported on this kernel",
     {"Information of the GPU driver at its start: it enlarges BAR1, the window on PCIe to the memory of the GPU, or "
      "leaves the size that the BIOS gave it. Harmless, no action: the GPU works. GPUDirect RDMA reaches as much GPU "
      "memory as BAR1 shows. ",
      {Work::in_machine, "If a job needs more, enable Above 4G Decoding and Resizable BAR in the BIOS."}},
     "nvidia-smi -q -d MEMORY | grep -A 3 BAR1",
     "NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv-pci.c"},
    {"sfp-diagnostics", none, "odule address swap to access page",
     "Information of a driver: the module keeps its diagnostics (temperature, voltage, optical power) in an old way "
     "that Linux does not read. Harmless, no action: the link works, only these values are not shown.",
     "ethtool -m {netdev}", "Linux drivers/net/phy/sfp.c, drivers/net/ethernet/intel"},
    {"mlx5-late-event", none, "vent for bogus CQ|vent for bogus QP|vent for bogus SRQ|vent for bogus resource",
     "Information of mlx5_core: an event of a queue came after the queue was destroyed. Harmless at the end of a "
     "program, no action; if there are many while jobs run, update driver and firmware.",
     "journalctl -k -g {pci}", "Linux drivers/net/ethernet/mellanox/mlx5/core/eq.c"},
    {"module-cage-empty", none, "query_mcia_reg failed: status: 0x3",
     "Information of mlx5_core: a program (ethtool -m, an exporter) asked for the EEPROM of a module, and the cage is "
     "empty (status 3). Harmless, no action for a port that is not used; if a module is in the cage, the NIC does not "
     "see it: insert it again.",
     "ethtool -m {netdev}; ip -br link", "Linux drivers/net/ethernet/mellanox/mlx5/core/port.c"},
    {"bnxt-note", none,
     "bnxt_en*Device requests max timeout of|bnxt_en*Module part number|bnxt_en*DBR recovery is currently|"
     "bnxt_en*Unable do read adapter's DSN",
     "Information of bnxt_en: commands to the firmware may take longer than the kernel's limit for hung tasks, the "
     "part number of the module that another line is about, the recovery of lost doorbells that is off, or a serial "
     "number of PCIe (DSN) that this function does not have. Harmless by itself, no action.",
     "ethtool -m {netdev}; sysctl kernel.hung_task_timeout_secs",
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c, bnxt_hwrm.c"},
    {"rdma-event-note", none,
     "hns_*end queue drained|hns_*SRQ limit reach|hns_*SRQ last wqe|hns_*ath migration succeeded|hfi1_*logical state "
     "changed to PORT_|hfi1_*physical state changed to PHYS_",
     "Information of an RDMA driver: a normal event of a queue (drained, limit reached), or a new state of the port. "
     "Harmless by itself, no action.",
     "rdma link show", "Linux drivers/infiniband/hw/hns/hns_roce_hw_v2.c, hfi1/chip.c"},
    {"rdmacm-timewait", none,
     "unhandled event: RDMA_CM_EVENT_TIMEWAIT_EXIT|RDMA_CM_EVENT_TIMEWAIT_EXIT*^ignor|^ignor*RDMA_CM_EVENT_TIMEWAIT_"
     "EXIT|cma event RDMA_CM_EVENT_TIMEWAIT_EXIT, error 0|cma_event type RDMA_CM_EVENT_TIMEWAIT_EXIT",
     "The normal end of a connection of rdma_cm: its queue pair may be used again. Harmless, no action.",
     "rdma resource show cm_id", "rdma-core librdmacm/cma.c"},
    {"efa-removed-peer", none, "completion of a packet to a removed peer|packet from a removed peer",
     "Information of libfabric's EFA provider: a packet to a peer that was removed meanwhile completed, and is "
     "ignored. Harmless, no action if the peer has ended as planned.",
     "fi_info -p efa", "libfabric prov/efa/src/rdm"},
    {"nvrm-no-cooling", none, "NVRM: devfreq cooling cannot",
     "Information of the GPU driver: this platform has no cooling device for the GPU (devfreq), which only embedded "
     "systems have. Harmless.",
     "nvidia-smi -q -d TEMPERATURE", "NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv-pci.c"},
    {"driver-command-again", none, "DEV_CMD *error, *retrying",
     "The firmware of an AMD Pensando NIC was not ready for a command (IONIC_RC_EAGAIN), and the driver sends it "
     "again. Harmless: if the command does not succeed in time, a line with \"timeout\" or \"failed\" follows.",
     "journalctl -k -g ionic", "Linux drivers/net/ethernet/pensando/ionic/ionic_main.c"},
    {"wireless-rules", none, "Direct firmware load for regulatory.db|failed to load regulatory.db",
     "Information of the kernel's part for wireless networks: its file of radio rules is not installed. Harmless: no "
     "wired network needs it.",
     "modinfo -n cfg80211", "Linux net/wireless/reg.c"},
    {"kernel-note", none,
     "interrupt took too long*perf_event_max_sample_rate|interrupt took too long (|hrtimer: interrupt took|perf: "
     "interrupt took",
     "Information of the kernel: an interrupt of its profiler (perf) or timer took longer than planned, and the kernel "
     "takes fewer samples. Harmless; usual on a busy host or in a virtual machine.",
     "sysctl kernel.perf_event_max_sample_rate", "Linux kernel/events/core.c"},
    // The expansion ROM: BAR 6 of any function.
    {"pci-rom", none,
     "can't claim BAR 6 [|BAR 6: can't assign|BAR 6: failed to assign|BAR 6: no space for|BAR 6 [mem*failed to "
     "assign|BAR 6 [mem*can't assign|BAR 6 [mem*can't claim|^ROM [mem*can't claim|^ROM [mem*can't assign|^ROM "
     "[mem*failed to assign",
     "Information of PCIe at boot: the expansion ROM of a device (BAR 6), which only boot firmware reads, has no "
     "address, or the one from the BIOS was not usable and the kernel assigns another. Harmless: no driver needs it.",
     "lspci -vv -s {pci}", "Linux drivers/pci/setup-res.c"},
    {"ibacm-no-interface", none, "unable to assign EP name|acm_ep_up: ERROR - unable to get",
     "ibacm leaves this port or partition (pkey) out, because it has no IPoIB interface and so no name. Harmless: RoCE "
     "does not need ibacm, and no IP address is resolved over that partition.",
     "ip -br link show type ipoib; systemctl status ibacm", "rdma-core ibacm/src/acm.c acm_ep_up()"},
    {"gpu-daemon-log", none,
     "failed to open IMEX log file|failed to open fabric manager log file|failed to open Fabric Manager log file",
     "Information of nvidia-imex or the fabric manager: its log file cannot be opened (no such directory in the "
     "container), and its log goes to the standard output. Harmless: the daemon runs.",
     "grep -i LOG_FILE /etc/nvidia-imex/config.cfg /usr/share/nvidia/nvswitch/fabricmanager.cfg",
     "NVIDIA IMEX, fabric manager"},
    {"nccl-no-plugin", none,
     "Plugin: Failed to find nccl*symbol|Plugin: Could not find: libnccl|Plugin: Failed to find nccl*Plugin_v|Plugin: "
     "No plugin found|Plugin load returned*using internal|Plugin load returned*using default|Plugin: "
     "External*unavailable|TUNER/Plugin: Plugin load returned|PROFILER/Plugin: Plugin load returned|ENV/Plugin: Plugin "
     "load returned|PROFILER/Plugin: Could not find|RAS/Plugin: Could not|ENV/Plugin: Could not find|GIN/Plugin: Could "
     "not find",
     "Information of NCCL: an optional plugin (network, tuner, profiler) or this version of its interface is absent, "
     "and NCCL tries another version or uses its own code. Harmless; only on EFA is the network plugin needed.",
     "echo $NCCL_NET_PLUGIN $NCCL_TUNER_PLUGIN $LD_LIBRARY_PATH", "NCCL src/plugin"},
    {"ofi-skipped-provider", none,
     "fi_getinfo: provider usnic returned|fi_getinfo: provider*returned -61|no PSM2 device is active|no PSM "
     "device|psm2*no hfi*found|fi_getinfo: provider*returned -38|skipping provider|configuration*overwriting*provider",
     "Information of libfabric: it asks all its providers, and this one has no device on this host (-61, ENODATA). "
     "Harmless: another provider is used. FI_PROVIDER chooses the provider.",
     "fi_info -l; echo $FI_PROVIDER", "libfabric src/fabric.c"},
    {"ofi-mrail-unset", none, "OFI_MRAIL_ADDR*env variable",
     "Information of libfabric: its layer mrail, which joins several rails, is not used, because no variable names the "
     "rails (FI_OFI_MRAIL_ADDR). Harmless.",
     "fi_info -l; env | grep MRAIL", "libfabric prov/mrail/src/mrail_init.c"},
    {"ucx-configuration-shown", none, "UCX  INFO*cfg#|UCX INFO*cfg#",
     "Information of UCX: the transports and devices that it uses within and between hosts. Harmless.", "ucx_info -v",
     "UCX src/ucp/core/ucp_worker.c"},
    {"ucx-unused-variable", none, "unused environment variable|unused env variable",
     "A variable of the environment has the prefix UCX_ and a name that this release does not know or did not use: "
     "another release, a name with a typing error, or a variable of another program. Harmless unless it was meant to "
     "change something: compare its name with ucx_info -cf.",
     "env | grep UCX_; ucx_info -cf | grep NAME", "UCX src/ucs/config/parser.c"},
    {"vllm-custom-allreduce", none,
     "Custom allreduce is not supported|ustom allreduce is disabled|FlashInfer All Reduce is "
     "disabled|SymmMemCommunicator: Device capability|SymmMemCommunicator*not available|Custom quick allreduce is "
     "disabled|MSCCL++ is disabled",
     "A note of vLLM or SGLang: its own allreduce is not used for these GPUs (no NVLink between all of them, a number "
     "of GPUs or an architecture that it lacks), and NCCL is used instead. Harmless; disable_custom_all_reduce=True "
     "silences it.",
     "nvidia-smi topo -m", "vLLM vllm/distributed/device_communicators/custom_all_reduce.py"},
    {"vllm-waiting", none, "No available shared memory broadcast block found|o available block found in 60 second",
     "A process of vLLM or SGLang waits for its workers, which load or compile the model, or run a long step. Harmless "
     "by itself while they do; if it repeats for many minutes a worker hangs: look at the stack (py-spy dump) and the "
     "log of every worker, and at /dev/shm.",
     "py-spy dump --pid PID; df -h /dev/shm", "vLLM vllm/distributed/device_communicators/shm_broadcast.py"},
    {"torch-name-lookup", none,
     "The hostname of the client socket cannot be retrieved|The IPv6 network addresses of*cannot be retrieved|The IPv6 "
     "network addresses of (|errno: 97 - Address family not supported by protocol|client socket cannot be initialized "
     "to connect to [*ip6-localhost",
     "PyTorch could not look up the name of the other host (DNS: err=-3 is EAI_AGAIN) or an IPv6 address of it (errno "
     "97, EAFNOSUPPORT: IPv6 is off). The connection over IPv4 does not need it. Harmless; an entry in /etc/hosts "
     "silences it.",
     "getent hosts $MASTER_ADDR", "PyTorch torch/csrc/distributed/c10d/socket.cpp"},
    {"lldpad-new-file", none, "lldpad*config file failed to load",
     "Information of lldpad at its start: it has no configuration file yet (/var/lib/lldpad/lldpad.conf), and makes "
     "one. "
     "Harmless; if the file was there, its settings were lost, because it could not be parsed.",
     "ls -l /var/lib/lldpad; lldptool -t -i {netdev}", "lldpad config.c"},
    {"container-end", none, "shim disconnected",
     "Information of containerd: the process of a container ended, and the rest of the container is removed. "
     "Harmless by itself; if the end was not wanted, the exit code of the container and its own log have the reason.",
     "crictl ps -a; journalctl -u containerd -u kubelet", "containerd runtime/v2/shim.go"},
    {"torch-not-destroyed", none,
     "find_unused_parameters=True was specified|destroy_process_group() was not called before program exit|process "
     "group has NOT been destroyed|Guessing device ID based on global rank|using GPU *to perform barrier as devices "
     "used by this process are currently unknown|NCCL_BLOCKING_WAIT is deprecated|NCCL_ASYNC_ERROR_HANDLING is "
     "deprecated|NCCL_AVOID_RECORD_STREAMS is the default now",
     "A note of PyTorch about the program: a process group that was not destroyed at its end, a device that barrier() "
     "has to guess (pass device_id to init_process_group), or a variable with an old name. Harmless for the transfer; "
     "a wrong guess of the device can hang.",
     "env | grep -E 'NCCL_|TORCH_'", "PyTorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp"},
    {"perftest-note", none,
     "Changing to this MTU|Changing msg size to this MTU|Changing to this size|Changing to that max value|Max msg size "
     "in RawEth is MTU|Max msg size in UD is|Number of outstanding reads is above max|Current TX depth is|CPU is not "
     "PCIe relaxed ordering compliant|You should disable PCIe RO with|changing to duplex mode|Setting inline size "
     "to|Large message requested and CQ moderation|It can lead to inaccurate results|BW peak won't be measured|Note "
     "(1): pps not supported|Warning: Continuing without NUMA binding|Unable to validata PKey Index, changing|Perftest "
     "doesn't supports CUDA tests with inline|inline size set to 0|Changing CQ moderation to|Will run with the port "
     "active mtu|Current iteration number will not complete full cycle|Conflicting CPU frequency values detected|CPU "
     "Frequency is not max|Using a different number of QPs|Setting burst size to tx depth|ATOMIC tests have only "
     "8B|not recognized to implement inline feature",
     "A note of perftest: it has changed an option that does not fit the test (inline size, moderation, MTU), or the "
     "frequency of the CPU varies, so that latencies in microseconds are less exact; a run by duration (-D) measures "
     "the average bandwidth only, not the peak. Harmless.",
     "cpupower frequency-info", "perftest src/perftest_parameters.c"},
    {"dcgm-no-nvswitch", none,
     "ReadNvSwitch*returned No data|ReadNvSwitch*No data is available|Not loading NSCQ|NSCQ*no nvswitches|Could not "
     "load NSCQ|nscq*dlwrap|Could not find NVSwitch|ReadLinkStatesAllSwitches() returned No data|There are no "
     "NvSwitches|Not attached to NvSwitches",
     "DCGM looks for NVSwitches and finds none, or no library (libnvidia-nscq) to read them. Harmless on a host "
     "without NVSwitch; with NVSwitch install libnvidia-nscq of the release of the driver.",
     "lspci -d 10de: | grep -i nvswitch", "DCGM modules/nvswitch"},
    {"rasdaemon-note", none,
     "only decoding architectural errors|rasdaemon*Can't locate a mounted debugfs|rasdaemon*Can't get * "
     "traces|rasdaemon*is not supported|rasdaemon: ras:*event enabled|rasdaemon*Listening to events|rasdaemon*Can't "
     "set affinity|mcelog*Family * Model * CPU: only decoding",
     "A note of rasdaemon or mcelog at its start: it has no special decoder for this CPU, or the kernel lacks a trace "
     "event. Harmless: the general errors are decoded.",
     "ras-mc-ctl --summary", "rasdaemon ras-mce-handler.c"},
    {"qed-attention", none,
     "pglueb_rbc_attn_handler*ICPL error|Current day drivers don't support RoCE & iWARP|qed*MFW*is in the process of "
     "initializing",
     "A note of the qed driver of a Marvell FastLinQ NIC: an attention at load or reload that later kernels print for "
     "debugging only (ICPL error), or the choice of RoCE instead of iWARP. Harmless.",
     "ethtool -i {netdev}; uname -r", "Linux drivers/net/ethernet/qlogic/qed/qed_int.c"},
    {"driver-note", none,
     "running in slave mode|Slot(*): * ignored|Link Down/Up ignored|sfp*: no PHY detected|platform doesn't support "
     "global atomics|counters are not supported on current FW|PTM is not supported by PCIe|disabling Extended Tags "
     "(this device|No more images in PCI ROM|CLS mismatch (|busn_res: can not insert|ATR is being enabled since|FW Up: "
     "clearing broken state|enabling unsafe global rkey|did not enable P_Key index support|FEC autoneg o*encoding:|DA "
     "module inserted|optical module inserted|Enslaving as a backup interface with a down link|FEC autoneg on "
     "encoding|SR-IOV: failed to initialize SR-IOV because no VFs|Read timeout value*using default|hogged CPU for "
     ">|Persistence mode is deprecated|NVRM: No NVIDIA GPU found|is not a valid child device|VPD access "
     "failed*just*|Skipped * previous similar message|ATOMIC capability isn't|Detected virtual function|Invalid MAC "
     "address *using random|ssigning random MAC|sing random MAC|^ice *MAC * does not exist for VF|bnxt_en*TS query for "
     "T|^hns3 *Reset done|^hns3 *reinit finished|MLX5E: StrdRq(|NVRM: *Could not get root gen speed",
     "Information of a driver or of PCIe at start or after a change of the link: a module that was inserted, an "
     "optional feature that is absent, a virtual function, a setting in use, or a hint for developers. Harmless.",
     "ip -br link", "Linux drivers/net/ethernet"},
    on_reset(" PHC on ", {"netdev-clock-removed", none, "removed PHC on |: PHC removed",
                          "Information: the driver removed the PTP clock (PHC) of this interface, because the driver "
                          "is stopped or unbound (shutdown, DPDK with vfio or uio), or resets the interface after a "
                          "change of its settings on this host. Harmless by itself, no action if that was wanted; else "
                          "find what unbound or reset the driver at this time.",
                          "journalctl -g '{netdev}|vfio|lldpad|NetworkManager'; ethtool -i {netdev}",
                          "Linux drivers/net/ethernet/intel ixgbe_ptp.c, i40e_ptp.c, igb_ptp.c"}),
    {"ionic-firmware-back", none,
     "ionic*FW heartbeat restored|ionic*FW Up: restarting LIFs|ionic*FW Up: LIFs restarted",
     "Information: the firmware of the AMD Pensando NIC runs (its heartbeat counts) again after a stall or restart, "
     "and the driver goes on. Harmless, no action is needed if it does not repeat; if it repeats, update the firmware.",
     "journalctl -k -g ionic; devlink dev info pci/{pci}", "Linux drivers/net/ethernet/pensando/ionic/ionic_dev.c"},
    {"sonic-no-vdm", none,
     "ERR pmon#*Failed to get VDM |ERR pmon#*VDM freeze status|ERR pmon#*VDM unfreeze status|ERR pmon#*Failed to "
     "freeze VDM|ERR pmon#*Failed to unfreeze VDM",
     "Information of SONiC: the transceiver in this port has no VDM values or statistics (diagnostics of CMIS modules: "
     "it is not of the CMIS kind, or lacks this observable), so that xcvrd cannot read or freeze them. Harmless, no "
     "action: the message has the wrong severity, and later releases do not print it.",
     "show interfaces transceiver eeprom", "SONiC sonic-platform-daemons xcvrd/dom"},
    {"switch-port-changed", none, "IF_DOWN_CFG_CHANGE|IF_DOWN_CONFIG_CHANGE",
     "Information of a switch (NX-OS): the port went down for a moment, because its configuration was changed. "
     "Harmless, no action is needed if the port comes up again.",
     "on the switch: show interface status; show accounting log", "NX-OS ETHPORT"},
    {"ice-start", none, "DCBx/LLDP in SW mode|DDP package already present on device",
     "Information of ice at its start: LLDP and DCBX of this port are left to software of the host (lldpad, an LLDP "
     "daemon), or the DDP package was loaded before by another port of the NIC. Harmless.",
     "devlink dev info pci/{pci}; ethtool --show-priv-flags {netdev}",
     "Linux drivers/net/ethernet/intel/ice/ice_main.c"},
    {"iommu-tables-note", none,
     "DMAR: IOMMU feature * inconsistent|DMAR: No ATSR found|DMAR: No SATC found|DMAR: No RMRR found",
     "Information of the kernel at its start: the IOMMUs of the machine do not all have a feature, and it uses those "
     "that all have; or the table of the BIOS (DMAR) does not have an optional part. Harmless, no action.",
     "journalctl -k -g DMAR; fabric-agentctl check --only iommu", "Linux drivers/iommu/intel/iommu.c"},
    {"pcie-log-size", none, "DPC: RP PIO log size * is invalid",
     "A table of the PCIe port names a wrong size of its error log: the kernel then shows less of an error that the "
     "port contains (DPC). Harmless; no action but an update of the BIOS.",
     "dmidecode -s bios-version", "Linux drivers/pci/pcie/dpc.c"},
    {"mana-newer-host", none,
     "mana *Received unknown reconfig type|mana *Received unknown SOC|mana *Received unknown gdma",
     "The Azure host sent the driver of the NIC (mana) an event that this older driver does not know, and ignores. "
     "Harmless; a newer kernel knows it.",
     "uname -r; journalctl -k -g mana", "Linux drivers/net/ethernet/microsoft/mana/hw_channel.c"},
    {"rxe-inline-probe", none, "rdma_rxe: invalid max inline data",
     "A program asked Soft-RoCE for more inline data than it has, and got EINVAL: libfabric tries sizes until one "
     "fits. Harmless: the device works.",
     "rdma link show", "Linux drivers/infiniband/sw/rxe/rxe_qp.c rxe_qp_chk_cap(), libfabric prov/verbs"},
    {"ib-port-init", none, "Port: *Link INIT|Port: *Link ACTIVE",
     "Information: the state of an RDMA port. ACTIVE: it is ready. INIT: the link of an InfiniBand port is up, and the "
     "port waits for the subnet manager. Harmless for a moment; if it stays INIT no subnet manager answers.",
     "ibstat; sminfo", "Linux drivers/net/ethernet/mellanox/mlx5/core/ipoib"},
    {"daemon-stopped", none, "nvidia-persistenced*Received signal 15|nvidia-persistenced*Shutdown (",
     "A daemon notes that it was asked to stop (signal 15, SIGTERM), as at a stop or restart of its service. Harmless.",
     "systemctl status UNIT", "nvidia-persistenced"},
    {"fabric-manager-start", none,
     "nvidia-fabricmanager*using NVSwitch management port|wrapper: using NVSwitch management port|wrapper: found "
     "NVSwitch LPF",
     "Information of the start of the NVIDIA fabric manager: the management ports of the NVSwitches (LPF) that it "
     "found, and the one that it chose. Harmless.",
     "systemctl status nvidia-fabricmanager; ibstat", "nvidia-fabricmanager"},
    {"rccl-cumem-unused", none, "NCCL WARN cuMem support requires",
     "RCCL does not use memory of the virtual memory management of the GPU (cuMem), because this GPU, kernel or ROCm "
     "does not offer it for RDMA, and allocates memory in the ordinary way. Harmless; an error of the job has another "
     "line.",
     "env | grep NCCL_CUMEM; uname -r", "RCCL src/misc/rocmwrap.cc ncclIsCuMemSupported()"},
    {"kubelet-statistics", none, "Partial failure issuing cadvisor.ContainerInfoV2",
     "The kubelet asked for statistics of a container that had just begun or ended, and goes on with those of the "
     "others. Harmless.",
     "kubectl get --raw /api/v1/nodes/NODE/proxy/stats/summary | head",
     "Kubernetes pkg/kubelet/stats/cadvisor_stats_provider.go"},
    {"service-skipped", none,
     "was skipped because of an unmet condition check|was skipped because no trigger condition checks were "
     "met|Condition check resulted in * being skipped",
     "Information of systemd: a service or mount was skipped, because its unit names a condition that this machine "
     "does not meet (ConditionSecurity=, ConditionPathExists=). Harmless.",
     "systemctl show UNIT -p Conditions", "systemd src/core/job.c"},
    {"log-library-note", none, "Logging before InitGoogleLogging()|log messages before absl::InitializeLog()",
     "Information of the log library of a program (glog, Abseil): the program has not initialized the library yet, and "
     "the first messages go to the standard error. Harmless.",
     "grep -nE '^[EF][0-9]{4} ' OUTPUT | head", "glog src/logging.cc, Abseil absl/log"},
    {"hcoll-unused", none, "is not available but requested in hierarchy|ml_discover_hierarchy exited with error",
     "Information of HCOLL (the collectives of HPC-X): the transports or devices that were chosen (UCX_TLS, "
     "HCOLL_BCOL, HCOLL_SBGP) do not offer what HCOLL needs. Open MPI uses its own collectives, and the program runs. "
     "Harmless; --mca coll ^hcoll removes the message.",
     "env | grep -E 'HCOLL|UCX_TLS'; ompi_info | grep coll", "HPC-X hcoll"},
    {"opensm-state", none,
     "Entering DISCOVERING state|Entering MASTER state|Entering STANDBY state|SUBNET UP|OpenSM*starting|Exiting SM|"
     "tables configured on all switches",
     "Information of OpenSM, the subnet manager: it starts, searches the fabric (DISCOVERING), has become master or "
     "standby, or has written the routes. Harmless; MASTER and STANDBY that alternate mean two subnet managers.",
     "sminfo; saquery -s", "OpenSM opensm/osm_sm_state_mgr.c"},
    {"smbdirect-success", none, "status='success (0)'|status='success(0)'",
     "Debug output of SMB Direct or another kernel service: an RDMA request has ended with success. Harmless.",
     "rdma resource show", "Linux fs/smb/server/transport_rdma.c"},
    {"mooncake-no-device", host, "opology discovery complete. Found 0 HCAs",
     "Mooncake found no RDMA device on this host or in this container, and uses TCP or ends: /dev/infiniband is not in "
     "the container, the driver is not loaded, or the filter of devices excludes all.",
     "ls -l /dev/infiniband; ibv_devinfo -l; env | grep -E 'MC_|MOONCAKE'", "Mooncake topology.cpp"},
    {"mooncake-gid-chosen", none, "Find best gid index:|RDMA device*opened|Topology discovery complete",
     "Information of Mooncake: the GID index and the devices that it uses. Harmless; on RoCE the index of a RoCE v2 "
     "GID with the IPv4 address is wanted (MC_GID_INDEX).",
     "echo $MC_GID_INDEX; fabric-agentctl check --only gid-index", "Mooncake rdma_context.cpp"},
    {"cuda-link-note", none,
     "nvlink warning :|nvlink info    :|ptxas info|ptxas warning :|warning : Skipping incompatible",
     "Output of the CUDA compiler and its linker (nvlink, ptxas) while a program or a kernel is built. It is not about "
     "the links between GPUs. A warning is harmless.",
     "nvcc --version", "CUDA nvlink"},
    {"mpi-no-cuda-support", none,
     "find-available:not-valid*ignored|The call to cuInit failed*harmless|CUDA support disabled|The library attempted "
     "to open the following supporting CUDA libraries|cuInit returned*CUDA*awareness|mpi_cuda_support "
     "0|component_repository_open: unable to open mca_",
     "Open MPI was built with CUDA or another optional library, finds no GPU driver or library on this host, and goes "
     "on without that component. Harmless on hosts without it; --mca opal_warn_on_missing_libcuda 0 or --mca "
     "mca_base_component_show_load_errors 0 silences it.",
     "ldconfig -p | grep libcuda; ompi_info | grep -i cuda", "Open MPI opal/mca/common/cuda"},
    {"openib-unused", none,
     "OpenFabrics connection schemes reported that they were able to be|the openib BTL (OpenFabrics|There are more "
     "than one active ports on host|No OpenFabrics connection schemes",
     "The old openib transport of Open MPI does not use this port, or warns that several ports have the default subnet "
     "prefix. Harmless: UCX or TCP is used instead; --mca btl ^openib --mca pml ucx removes the note.",
     "ompi_info | grep ucx", "Open MPI help-mpi-btl-openib.txt"},
    {"absent-entry-read", none,
     "_stats:*stats get failed*Feature unavailable|_stats:*stats get failed*not supported|clearCounterIdList: No "
     "counters found on object|removeObject: Trying to remove nonexisting",
     "A program asks for a counter or a statistic (FEC, queues of the PFC watchdog) that this chip or port does not "
     "have (feature unavailable), or removes an object that no longer exists, and goes on. Harmless, no action is "
     "needed.",
     "show interfaces counters", "SONiC sonic-sairedis, SAI"},
    {"pipe-closed-early", none, "yes: standard output: Broken pipe|yes: standard output: broken pipe",
     "The program yes(1), which answers the questions of another program in a script, was stopped because that program "
     "has ended (EPIPE). Harmless: look at the end of the script for its own result.",
     "journalctl -b -g install", "coreutils yes(1)"},
    {"devinfo-gid", none, "Failed to query gid to port",
     "ibv_devinfo -v could not read an entry of the GID table: an empty one, or one of another network namespace. "
     "Harmless unless it fails for every entry.",
     "fabric-agentctl check --only gid", "rdma-core libibverbs/examples/devinfo.c"},
    {"lease-lost", unknown, "DHCP lease lost|DHCPv4 lease lost|DHCPv6 lease lost",
     "systemd-networkd gave up the DHCP address of this interface: a consequence of a lost carrier, of a change of the "
     "MTU (UseMTU) that restarts the link, or of a lease that the DHCP server did not renew. Look at the line before: "
     "\"Lost carrier\" means the link.",
     "journalctl -u systemd-networkd -g {netdev}; networkctl status {netdev}", "systemd src/network/networkd-dhcp4.c"},
    {"corrected-memory",
     host,
     "mce_record*orrected error|rasdaemon*orrected error, no action|mc_event*1 Corrected error|Corrected error, no "
     "action required",
     {"A corrected ECC error of a memory module: the line names the bank, channel, csrow or DIMM. Once it is harmless. "
      "Compare the count and the log of the BMC later",
      {Work::in_machine, ", and replace the DIMM if it rises"},
      "."},
     "ras-mc-ctl --error-count; ipmitool sel elist",
     "rasdaemon ras-mce-handler.c"},
    {"efa-no-rdma-read", none,
     "FI_HMEM capability requires RDMA, which|device does not support RDMA read|use_device_rdma*not supported|falling "
     "back to*send/recv|Device rdma*is not supported, disabling",
     "The EFA device of this instance type has no RDMA read or write: libfabric copies through the host, or uses "
     "messages. Normal on this type; GPUDirect RDMA needs an instance type with RDMA read.",
     "fi_info -p efa; ibv_devinfo -v | grep -i rdma", "libfabric prov/efa"},
};

}  // namespace

const std::span<const LineMessage> kHarmlessMessages = kRows;

}  // namespace fabric::lines
