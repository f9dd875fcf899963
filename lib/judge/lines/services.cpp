// SPDX-License-Identifier: Apache-2.0
// Lines of services that start jobs, give them devices and manage networks: Slurm, Kubernetes, containers,
// systemd-networkd and NetworkManager, OpenSM and its tools, switches.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr LineMessage kRows[] = {
    {"slurm-gres-duplicate", host,
     "duplicate records for gpu|gres.conf*duplicate|gres.conf for gpu*has File count|fatal: gres.conf|Invalid GRES "
     "data for gpu|gres/gpu*plugin*not|AutoDetect*not|autodetect nvml|autodetect rsmi|gres_plugin*fatal",
     "slurmd cannot use gres.conf of this host: it lists the GPUs twice (AutoDetect=nvml and Name=gpu lines), a File "
     "that does not exist, or this slurmd was built without NVML or RSMI. Keep one form: remove the double Name=gpu "
     "lines, or AutoDetect; then restart slurmd.",
     "slurmd -G; cat /etc/slurm/gres.conf; nvidia-smi -L", "Slurm src/plugins/gres, src/interfaces/gres.c"},
    {"slurm-hardware", host,
     "Node configuration differs from hardware|invalid GRES core specification|Low RealMemory|Low "
     "socket*core*thread|Low CPUs|cgroup.procs' failed: No space left|appears to have a different "
     "slurm.conf|slurm.conf hash",
     "The line of this node in slurm.conf (or Cores= in gres.conf) does not fit its hardware: CPUs, sockets, cores or "
     "memory; a cpuset that is then empty (ENOSPC of cgroup.procs); or the node has another slurm.conf than the "
     "controller. Slurm may drain the node. slurmd -C prints the line that fits: correct slurm.conf, copy it to all "
     "nodes, then scontrol reconfigure and resume the node.",
     "slurmd -C; scontrol show node NODE; md5sum /etc/slurm/*.conf", "Slurm src/slurmctld/node_mgr.c"},
    {"slurm-node-down", host,
     "Node unexpectedly rebooted|down* * Not responding|drain* * Not responding|Reason=Not responding",
     "Slurm does not use the node: its slurmd does not answer slurmctld (stopped, a firewall, another munge.key or "
     "clock), or the node rebooted without an order of Slurm (power, crash, watchdog). Start slurmd, find the reason "
     "of the reboot in the journal and the BMC's log, then scontrol update nodename=NODE state=resume.",
     "systemctl status slurmd; journalctl -b -1 -e; ipmitool sel elist; sinfo -R", "Slurm src/slurmctld/node_mgr.c"},
    {"slurm-configless", host,
     "failed to fetch remote config|error: fetch_config: |_establish_configuration|resolve_ctls_from_dns",
     "slurmd or a command found no slurm.conf on this host and got none from slurmctld (configless): no --conf-server "
     "or DNS record (SRV _slurmctld._tcp), slurmctld does not answer on port 6817 or has no "
     "SlurmctldParameters=enable_configless, or munge does not work between the two.",
     "ls /etc/slurm /run/slurm/conf; dig +short SRV _slurmctld._tcp; munge -n | unmunge; scontrol ping",
     "Slurm src/common/fetch_config.c"},
    {"slurm-plugin", host,
     "find the specified plugin name for|load specified plugin name for|cannot find * plugin for */|error: cannot "
     "create * context for */|MPI: Cannot create context for |Plugin init() callback failed|create freezer cgroup "
     "namespace|cgroup namespace '|plugin not compiled with",
     "Slurm on this host cannot load a plugin that its configuration names: the plugin was not built, because a "
     "library was missing (munge-devel, PMIx, hwloc, NVML, dbus for cgroup/v2), its package is not installed, or the "
     "host does not offer what it needs (the version of cgroups). Install or rebuild Slurm with it, or select another "
     "plugin in slurm.conf or cgroup.conf. The first such error of the daemon has the reason.",
     "scontrol show config | grep -i -E 'plugin|type'; ls /usr/lib*/slurm; stat -fc %T /sys/fs/cgroup",
     "Slurm src/common/plugin.c"},
    {"slurm-pmix-peer", peer,
     "pmix*Cannot establish|pmix*Unable to connect|pmix*exceeded the retry limit|pmix*Cannot send message|pmix*Cannot "
     "connect",
     "Slurm's PMIx plugin, which connects the step daemons (slurmstepd) of a job over TCP, does not reach the one of "
     "another node: that node or its step ended, a firewall is between, or it resolves to another address. "
     "SLURM_PMIX_DIRECT_CONN=false as a test. RDMA is not used.",
     "sinfo -R; scontrol show node NODE; journalctl -u slurmd -p warning", "Slurm src/plugins/mpi/pmix"},
    {"slurm-drained", host,
     "state set to DRAIN|setting state to DRAIN|Draining job * nodes|drain_nodes: node|error: Setting node * state to "
     "DRAIN|set state to DRAIN|state set to DOWN|set to state DOWN|setting node * to DOWN|Kill task failed|prolog "
     "failed|batch job complete failure|Prolog failed|Prolog failure|prolog failure|Epilog failure|Epilog "
     "failed|epilog failed",
     "Slurm takes the node of the line out of use (DRAIN, DOWN): the reason is in a line before it and in the field "
     "Reason: a failed prolog or health check, a task that could not be killed (a process that waits for a driver or "
     "file system), a GPU that is missing. Correct it, then scontrol update nodename=NODE state=resume.",
     "scontrol show node NODE; sinfo -R; journalctl -k -p err", "Slurm src/slurmctld/node_mgr.c"},
    {"slurm-node-refused", peer, "slurm_*: Connection reset by peer|slurm_*: Connection refused|slurm_*: Broken pipe",
     "The daemon or program of Slurm at the other end refused or closed the connection, so that its host is reached: "
     "it does not run, has ended (srun, whose job is over) or restarts, or a firewall rejects its port "
     "(SrunPortRange). Look there. TCP is used, not RDMA.",
     "scontrol ping; scontrol show config | grep -i port; journalctl -u slurmd", "Slurm src/common, src/slurmctld"},
    {"slurm-node-silent", unknown,
     "Node ping apparently hung|Nodes * not responding|not responding, setting DOWN|unable to * agents*slurmd|Zero "
     "Bytes were transmitted or received|slurm_receive_msg*|Communication connection "
     "failure|slurm_unpack_received_msg|Protocol authentication error|Munge decode failed|Rewound credential|Expired "
     "credential|Invalid authentication credential|slurm_send_node_msg",
     "Daemons of Slurm do not reach or do not trust each other: the node is down or its slurmd ended, a firewall, "
     "another munge.key, clocks that differ (Rewound or Expired credential), or another Slurm version. One node: look "
     "at its slurmd, power and management NIC first; many at one time: at the controller and its network. TCP is used, "
     "not RDMA.",
     "scontrol ping; munge -n | ssh {peer} unmunge; timedatectl; ss -ltnp", "Slurm src/slurmctld, src/common"},
    {"munge-error", host,
     "munge: Error: |munged: Error|munged*Failed to |munged*rror: |munge.service: Control process|munge.service: Main "
     "process exited, code=exited, status=1|munge.service: Failed|Failed to start munge|Failed to start MUNGE|If "
     "munged is up, restart with|Munge encode failed",
     "MUNGE, by which Slurm's daemons trust each other, does not work on this host: munged does not run, because its "
     "key or a directory is missing or has the wrong owner or mode (/etc/munge/munge.key, /run/munge, /var/log/munge), "
     "the key differs from that of the other host (Invalid credential), or the clocks do (Expired, Rewound); or munged "
     "takes no more connections (Resource temporarily unavailable), because it has too few threads (--num-threads=10) "
     "or the host is overloaded.",
     "journalctl -u munge -e; ls -l /etc/munge/munge.key; munge -n | unmunge; timedatectl", "MUNGE src/munged"},
    {"slurm-cgroup", host,
     "Unable to initialize cgroup|cannot create cgroup context|slurm*cgroup*rror|slurm*cgroup*ailed|cgroup*slurm*ailed",
     "Slurm could not set up the cgroup of a job or task on this host: cgroup.conf names a version or controller (v1, "
     "v2, devices, memory) that the kernel or systemd does not offer, or slurmd runs without Delegate=yes. GPUs and "
     "memory are then not limited, or the job does not start.",
     "cat /etc/slurm/cgroup.conf; mount | grep cgroup; systemctl show slurmd -p Delegate", "Slurm src/plugins/cgroup"},
    {"sriov-no-devices", host,
     "no devices in device pool|skipping creating resource server|no devices found*resource|No devices found. Waiting "
     "indefinitely|No devices found*plugin",
     "No device of the node fits the selectors of this resource: no virtual functions were made (sriov_numvfs), they "
     "have another driver, or a selector (vendors, devices, drivers, pfNames, isRdma) is wrong; a GPU plugin found no "
     "GPU. Pods that ask for the resource stay pending. Correct the ConfigMap or policy, and restart the device "
     "plugin.",
     "lspci -nn | grep -iE 'virtual|nvidia'; cat /sys/class/net/*/device/sriov_numvfs; kubectl get cm -A | grep -i "
     "sriov",
     "sriov-network-device-plugin cmd/sriovdp/manager.go"},
    {"cni-no-message", host, "netplugin failed|plugin*signal: killed|cni plugin*killed|CNI*terminated",
     "The CNI program on the node was killed or crashed and wrote nothing: the memory limit of the CNI or multus pod "
     "(an OOM kill), or a program of another release or architecture in /opt/cni/bin. Look at the kernel log for an "
     "OOM kill, raise the limit, and read the kubelet's log.",
     "journalctl -k -g oom-kill; journalctl -u kubelet -g cni; ls -l /opt/cni/bin",
     "containernetworking/cni pkg/invoke/exec.go"},
    {"cni-no-address", software,
     "Could not allocate IP in range|no IP addresses available in range|failed to allocate for range|no available IP "
     "addresses in|IPAM*exhausted|ippool*exhausted",
     "The range of addresses of a pod network has no free one left: it is too small for the pods, or addresses of "
     "deleted pods are still reserved. Enlarge the range in the network attachment, or delete stale reservations "
     "(IPPool of whereabouts, files of host-local in /var/lib/cni/networks).",
     "kubectl get ippools -A; kubectl get net-attach-def -A -o yaml; ls /var/lib/cni/networks",
     "whereabouts, containernetworking/plugins host-local"},
    {"dra-prepare", host,
     "ailed to prepare dynamic resources|FailedPrepareDynamicResources|DRA driver * is not registered|DRA driver "
     "name*not found|NodePrepareResources*fail|NodePrepareResources*error|NodeUnprepareResources*error",
     "The kubelet could not prepare the devices of a pod's claim (DRA, dynamic resource allocation): the plugin of the "
     "DRA driver (compute-domain.nvidia.com, gpu.nvidia.com, dra.net) is not registered on this node, because its "
     "DaemonSet pod does not run, or it did not answer in time (DeadlineExceeded: a process still holds the GPU or its "
     "driver hangs). Look at that pod on this node, and at its log.",
     "kubectl get pods -A -o wide | grep -i dra; ls /var/lib/kubelet/plugins_registry; journalctl -u kubelet -g DRA",
     "Kubernetes pkg/kubelet/cm/dra"},
    consequence_of(
        "dra|kubelet",
        wrapping({"dra-claim", unknown,
                  "get container claim info state|get information for ResourceClaim|claim info*not found*ResourceClaim",
                  "The kubelet has no devices for this claim (DRA), because the claim was not prepared before. The "
                  "line with \"Failed to prepare dynamic resources\" before it has the reason, with the driver.",
                  "kubectl describe resourceclaim -A; journalctl -u kubelet -g 'dynamic resources'",
                  "Kubernetes pkg/kubelet/cm/dra"})),
    {"driver-container-in-use",
     host,
     "UNLOAD_STORAGE_MODULES|not unload NVIDIA driver kernel modules|unload*driver*driver is in use|Module nvidia is "
     "in use by|rmmod: ERROR: Module nvidia*in use|rmmod: ERROR: Module mlx5*in use|rmmod: ERROR: Module ib_*in use",
     {"The driver that is loaded is still in use, and is not replaced: a process that holds the device "
      "(/dev/nvidia*), or modules on top of it (nvidia-fs, gdrdrv, nvidia_peermem; for the RDMA driver the storage "
      "modules nvme_rdma, ib_isert, ib_srpt, rpcrdma). Find them with lsmod and lsof. ",
      {Work::ends_jobs,
       "Drain the node, end the processes and unload these modules, then start the driver pod again. "},
      "The RDMA driver container unloads the storage modules itself with UNLOAD_STORAGE_MODULES=true."},
     "lsmod | grep -E '^nvidia|^mlx5_core|^ib_core'; lsof /dev/nvidia*; kubectl get nodes",
     "NVIDIA gpu-driver-container, doca-driver-build"},
    {"cni-no-network", host,
     "No networks found in|err in GetCNIConfigFromFile|GetCNIConfig: err|failed getting the delegate|cannot find a "
     "network-attachment-definition|no network config found in|cni plugin not initialized|getKubernetesDelegate*not "
     "found|network-attachment-definitions*not found|failed to find plugin \"",
     "The network that a pod asks for has no CNI configuration or program on this node: a NetworkAttachmentDefinition "
     "without a config (or with a name that has no file in /etc/cni/net.d), a plugin that is not in /opt/cni/bin "
     "(sriov, rdma and others: install each by its DaemonSet), or the network provider has not started yet. Correct "
     "it, then restart multus.",
     "ls /etc/cni/net.d /opt/cni/bin; kubectl get net-attach-def -A -o yaml", "multus-cni pkg/k8sclient"},
    {"rdma-plugin-no-devices", host, "no Rdma Devices were found for resource|missing RDMA device spec for device",
     "The device plugin found no RDMA device on this node that fits the selectors of its resource (vendors, deviceIDs, "
     "ifNames), or one without all its character devices in /dev/infiniband (issm, umad: ib_umad is not loaded; "
     "uverbs: no RDMA driver for it). It offers none: pods that ask for the resource stay pending here. Compare the "
     "ConfigMap with the node, load the modules, restart the plugin.",
     "rdma link show; ls /dev/infiniband; lsmod | grep -E 'ib_umad|ib_uverbs'; kubectl get cm -A | grep -i rdma",
     "k8s-rdma-shared-dev-plugin pkg/resources/server.go, pkg/types"},
    {"vfs-off",
     host,
     "SRIOV is disabled [|SR-IOV is disabled on|SRIOV is not enabled|SR-IOV is not enabled",
     {"The interface or device has no virtual functions: none were made (sriov_numvfs is 0), or SR-IOV is off: in the "
      "firmware of the NIC (mlxconfig: SRIOV_EN, NUM_OF_VFS) or of the machine, or by an option of the driver. Without "
      "one the container or machine gets no network of it. Write the number to sriov_numvfs; ",
      {Work::in_machine, "change the firmware or BIOS setting, then reboot."}},
     "grep . /sys/class/net/*/device/sriov_*vfs; journalctl -k -g SR-IOV",
     "docker-sriov-plugin driver/sriov.go"},
    {"ceph-rdma-connection", unknown, "RDMAConnectedSocketImpl*ailed|RDMAConnectedSocketImpl*rror",
     "A connection of Ceph's RDMA messenger failed at the step that the line names. The errno decides: a transition "
     "(RTR) that timed out is an address of the peer that was not resolved, ENOMEM the memlock limit, a reset the end "
     "of the other daemon. The first such line of both daemons is nearest to the cause.",
     "ceph config dump | grep rdma; ip neigh; ping -c 3 {peer}", "Ceph src/msg/async/rdma/RDMAConnectedSocketImpl.cc"},
    {"sriov-vf-setup", host,
     "failed to allocate VF|failed to find VF|VF * not found|failed to get netlink device with name|failed to load "
     "netconf|unable to get VF|failed to rename netdevice|failed to get RDMA device|no matching virtual function|RDMA "
     "device not found|failed to move RDMA dev|rdma-cni*fail|cannot attach rdma|move RDMA device|failed to restore VF",
     "The SR-IOV or RDMA CNI could not prepare the virtual function for the pod: it is in another namespace or has "
     "another driver, its RDMA device is missing (RDMA driver not loaded) or RDMA is not in exclusive namespace mode "
     "(rdma system set netns exclusive), or the PF refuses the setting (VLAN, MAC, trust).",
     "rdma system show; rdma link show; ip -details link show PF", "SR-IOV CNI pkg/sriov, RDMA CNI"},
    {"container-no-gpu", host,
     "could not select device driver \"|with capabilities: [[gpu]]|nvidia-container-cli: initialization "
     "error|nvidia-container-runtime*not found|unknown or invalid runtime name: nvidia|exec: "
     "\"nvidia-container-runtime|libnvidia-ml.so*not found|failed to get device cgroup|unresolvable CDI "
     "devices|CDI*unresolvable|no runtime for \"nvidia\" is configured|RuntimeHandler \"nvidia\" not "
     "supported|nvidia-container-cli*libnvidia-ml|change root failed: no such file",
     "The container runtime of this host cannot give the container a GPU: the NVIDIA container toolkit is not "
     "installed or not configured (nvidia-ctk runtime configure, then restart docker or containerd), the CDI file is "
     "missing (nvidia-ctk cdi generate), or the driver is not loaded (\"initialization error\", \"driver not "
     "loaded\").",
     "nvidia-smi; nvidia-ctk --version; cat /etc/docker/daemon.json", "NVIDIA container toolkit, Docker"},
    {"ofed-build", host,
     "Failed to build mlnx|Failed to build MLNX|Failed to build "
     "*-modules|mlnx-ofed-kernel*failed|doca-ofed*installation failed|MLNX_OFED*Failed executing|current installed "
     "ofed does not support this kernel|Bad return status for module build|kernel headers for kernel * cannot be "
     "found|dkms: autoinstall for kernel * failed|Kernel headers for target kernel|kernel-devel*not installed|One or "
     "more packages depends on MLNX_OFED|Could not resolve Linux kernel version|Failed to resolve kernel version|do "
     "not have drivers available|MLNX_OFED_LINUX is intended for|un with --add-kernel-support|un "
     "mlnx_add_kernel_support",
     "The modules of a driver (MLNX_OFED, DOCA, NVIDIA's GPU driver) could not be built or installed for the kernel of "
     "this host: its headers (kernel-devel, linux-headers) are missing, or this release does not support the kernel. "
     "The log that the installer names has the first compiler error. Install the headers, a newer release of the "
     "driver, or a kernel of its list. Packages that depend on the former release are removed first.",
     "uname -r; ls /lib/modules/$(uname -r)/build; dkms status", "MLNX_OFED install.pl, driver containers"},
    {"module-refused", host,
     "could not insert '*': Invalid argument|could not insert '*': Exec format error|could not insert '*': Unknown "
     "symbol|Failed loading kernel module|Module * belong to kernel which is not",
     "The kernel refuses a module, because it was built for other modules or another kernel than the loaded ones: the "
     "kernel log names the symbol. Build and install it again against the loaded RDMA stack (MLNX_OFED or that of the "
     "kernel) and GPU driver: the RDMA driver first, then nvidia_peermem, nvidia-fs, Lustre and others on top of it.",
     "journalctl -k -g 'disagrees about|Unknown symbol'; modinfo MODULE | grep -E 'vermagic|filename'; dkms status",
     "kmod, MLNX_OFED openibd"},
    {"k8s-operator-not-ready", host,
     "DOCA-OFED*not ready|mofed*not ready|drivers/.driver-ready|driver-not-ready|waiting for "
     "mofed|openibd*restart*failed|MOFED driver*fail|Unloading*module*in use|rmmod: ERROR: Module|Module * is in "
     "use|before unloading HCA|Unloading HCA driver: *FAILED|Unloading "
     "ib_core*FAILED|toolkit-not-ready|cuda-validation*fail|gpu-operator*not ready|nic-cluster-policy*notReady",
     "A driver container of the network or GPU operator is not ready: a module could not be unloaded because another "
     "one or a process uses it (nvidia_peermem, storage over RDMA, a mount), or the build for this kernel failed or "
     "still runs, which takes minutes (startupProbe). The log of its pod has the step. Stop what uses the module, or "
     "set UNLOAD_STORAGE_MODULES=true; drain the node and restart the pod.",
     "lsmod | grep -E 'mlx5|rdma|nvidia'; kubectl logs -n nvidia-network-operator POD",
     "NVIDIA network operator, GPU operator"},
    {"udev-rename", host,
     "Failed to rename network interface|Failed to process device, ignoring: File exists|Failed to process device, "
     "ignoring: Device or resource busy|Error changing net interface name",
     "udev could not give the netdev its name: another netdev has it (EEXIST; names eth* and ib* collide with those of "
     "the kernel), or the netdev is up already or in a bond or bridge (EBUSY). Use names that the kernel does not give "
     "(NamePolicy, or Name=roce0 in a .link file for each address), and rename before the netdev is set up.",
     "udevadm test-builtin net_setup_link /sys/class/net/{netdev}; ls /etc/systemd/network /etc/udev/rules.d",
     "systemd src/udev/udev-event.c"},
    {"networkd-busy",
     host,
     "Failed to set IAID+DUID|DHCP4 CLIENT: Failed|Could not set DHCP|Could not bring up interface|Failed to configure "
     "DHCP|networkd*: Failed|Could not process link message|Failed to set MTU|Could not set route|Could not set "
     "address",
     {"systemd-networkd could not apply a setting to this interface (EBUSY: the client still runs, here after the "
      "driver was loaded again; EINVAL: a value that the driver does not take; EEXIST: it is set already), and leaves "
      "it in the state failed. ",
      {Work::ends_jobs,
       "Run networkctl reconfigure, or restart systemd-networkd; do not reload the driver under the management "
       "interface."}},
     "networkctl status {netdev}; journalctl -u systemd-networkd -g {netdev}",
     "systemd src/network"},
    {"nm-configuration", unknown,
     "config: unknown key|keyfile: *invalid|NetworkManager*<warn>*keyfile|nm*invalid connection|unknown connection "
     "property",
     "A key or value in a file of NetworkManager's configuration is not known to this release, and is ignored: the "
     "line names the key, section and file. Correct its name (a per-connection default is written connection.KEY), "
     "then nmcli general reload.",
     "NetworkManager --print-config; nmcli general reload", "NetworkManager src/core/nm-config.c"},
    {"bond-speed", host,
     "failed to get link speed/duplex|link speed*mismatch*bond|Cannot set bond|bond*: Error: |enslave*failed|cannot "
     "enslave|bond*unable to update mode|link is not up*bond|MTU*bond*differs|bonding*slave*does not support|Error: "
     "Device can not be enslaved",
     "The bond or team could not take or judge a port: its netdev is down, in use, or of another speed or MTU, or its "
     "driver does not report its speed yet (then it is settled when the link is up). Take the port down, add it, and "
     "compare the ports.",
     "cat /proc/net/bonding/*; ip -br link; ethtool {netdev}", "Linux drivers/net/bonding/bond_main.c"},
    {"opensm-bind", host,
     "osm_sm_bind: ERR|MAD Controller bind failed|osm_vendor_bind: "
     "ERR|osm_opensm_bind*failed|umad_open_port*failed|osm_vendor_open_port: ERR|ERR 5402|ERR 5424|ERR 5426|ERR "
     "2E10|Error binding port|umad_register*failed|can't get port to bind|Can't find suitable port",
     "OpenSM or another user of management packets could not attach to the port of this host, and exits: ib_umad is "
     "not loaded, /dev/infiniband/umad is missing or held by another process, the port GUID does not exist here, or "
     "the port is Ethernet. The line before it (osm_vendor_bind, umad) has the errno; after an update of the kernel "
     "use an OpenSM that fits.",
     "lsmod | grep ib_umad; ls -l /dev/infiniband; ibstat -p; systemctl status opensm",
     "OpenSM opensm/osm_sm.c, libvendor/osm_vendor_ibumad.c"},
    consequence({"opensm-unbind", unknown, "_unbind: ERR*No previous bind",
                 "A consequence: OpenSM or a part of it ends, and releases a port that it was not attached to. The "
                 "first ERR line before it has the cause.",
                 "grep -n ERR /var/log/opensm.log | head", "OpenSM opensm/osm_perfmgr.c, osm_sm.c"}),
    {"opensm-mad-timeout", network,
     "sm_mad_ctrl_send_err_cb: ERR|ERR 3113|ERR 3119|ERR 3120|ERR 5411|ERR 5438|umad_receiver: ERR|MAD completed in "
     "error|Errors on subnet. Duplicate GUID|ERR 5409|ERR 5410",
     "A node or switch of the InfiniBand subnet did not answer a management packet of OpenSM: its link is bad or just "
     "went down, it restarts, or its firmware hangs. The line (or the one after it) has the path by ports (DR path): "
     "follow it with smpquery -D, and look at the errors of that link.",
     "iblinkinfo; ibqueryerrors; smpquery -D nodeinfo PATH", "OpenSM opensm/osm_sm_mad_ctrl.c"},
    {"opensm-dead-end", network, "pr_rcv_*Dead end path|Dead end path on switch",
     "The tables of the switch that the line names have no way to the LID: the routing of the subnet is not complete, "
     "mostly after a link or switch was lost or while OpenSM calculates it again. The path between two nodes does not "
     "exist until then. Look at the links of this switch, and whether OpenSM ends its sweep (SUBNET UP).",
     "iblinkinfo; ibroute LID; grep -E 'SUBNET UP|ERR' /var/log/opensm.log", "OpenSM opensm/osm_sa_path_record.c"},
    {"opensm-link-trap",
     cable,
     "Local Link integrity threshold reached|Excessive Buffer Overrun Threshold reached|Flow Control Update watchdog "
     "timer expired",
     {"A port of the InfiniBand subnet reported to the subnet manager that its link is bad: errors of the link itself, "
      "packets beyond its receive buffer, or no flow control packets from the other end. The line names the LID of "
      "the switch or host that reports it, and the port there. See whether its counters still rise",
      {Work::at_link, ", then reseat or replace the cable of this port"},
      "."},
     "ibqueryerrors; iblinkinfo; smpquery nodedesc LID",
     "OpenSM opensm/osm_trap_rcv.c"},
    {"opensm-sa-request", software,
     ": ERR 1B|: ERR 1F|: ERR 4B0|validate_more_comp_fields|validate_port_caps|validate_other_comp_fields|mcmr_rcv_*: "
     "ERR|pr_rcv_*: ERR|__osm_mcmr|sending IB_SA_MAD_STATUS|Provided Join State|osm_mcmr_rcv_join*|cannot join port",
     "The subnet administrator refused a request of a node: a join of a multicast group (IPoIB) whose rate, MTU or "
     "P_Key the port does not have, or a path between ports without a common partition. Compare the group (saquery -g) "
     "with the port (smpquery portinfo), and partitions.conf.",
     "saquery -g; smpquery portinfo LID PORT; cat /etc/opensm/partitions.conf",
     "OpenSM opensm/osm_sa_mcmember_record.c, osm_sa_path_record.c"},
    {"opensm-database", host, "persistent database|osm_db_*: ERR",
     "OpenSM could not read or write one of its files of LIDs, keys and neighbors (guid2lid, guid2mkey, neighbors in "
     "/var/cache/opensm, or OSM_CACHE_DIR): the folder is absent, full or not writable, or a file is damaged. The "
     "fabric "
     "is not at fault. With a damaged file OpenSM may give ports other LIDs than before, or exit: correct or remove "
     "the "
     "file when no job runs.",
     "ls -l /var/cache/opensm; df -h /var; grep -n ERR /var/log/opensm.log | head", "OpenSM opensm/osm_db_files.c"},
    {"opensm-routing", network,
     "Duplicated LID|duplicated LIDs|: ERR 0F|ERR 0D05|: ERR AB|: ERR AD|Not enough VLs available|ucast_mgr_*: "
     "ERR|ftree*ERR|updn*ERR|lid_mgr_*: ERR|failed to build*routing|falling back to*minhop|dfsssp*",
     "OpenSM could not route the subnet as configured, or found an address (LID, GUID) twice: the fabric does not have "
     "the form that the routing engine needs (a cable in a wrong port, a switch that is missing), too few VLs, or a "
     "cloned GUID. It falls back to another engine; compare iblinkinfo with the plan.",
     "iblinkinfo; ibnetdiscover; grep -n routing_engine /etc/opensm/opensm.conf", "OpenSM opensm/osm_ucast_*.c"},
    {"ib-counters",
     cable,
     "[SymbolErrorCounter ==|[LinkErrorRecoveryCounter ==|[LinkDownedCounter ==|[PortRcvErrors "
     "==|[LocalLinkIntegrityErrors ==|[PortLocalPhysicalErrors ==|[PortXmitDiscards ==|[PortRcvRemotePhysicalErrors "
     "==|-E- lid=*symbol|symbol_error_counter*exceeds|link_down_counter*threshold|BER exceeds|High BER|effective BER",
     {"Counters of errors of InfiniBand ports, as ibqueryerrors or ibdiagnet print them: symbol errors, link "
      "recoveries and links that went down are of a bad cable or connector, or of restarts since the counters began; "
      "PortXmitDiscards and PortXmitWait of congestion. Clear them (ibqueryerrors -k), see which port counts again, "
      "and ",
      {Work::at_link, "reseat or replace its cable."}},
     "ibqueryerrors -k; ibqueryerrors --details; iblinkinfo",
     "infiniband-diags src/ibqueryerrors.c"},
    {"ibdiag-link",
     cable,
     "-W- *link*width|Unexpected actual link speed|Unexpected width|link comes up at*lower|Could be 4X|Link speed is "
     "lower|Unexpected actual link width",
     {"A link of the InfiniBand fabric is slower or narrower than both ends can do (iblinkinfo: \"Could be\"): a cable "
      "of a lower rate or with a broken lane, or a setting of one end. Compare the two ports with mlxlink",
      {Work::at_link, ", and reseat or replace the cable"},
      "."},
     "iblinkinfo -l; mlxlink -d {rdma} -m",
     "infiniband-diags, ibdiagnet"},
    {"firmware-psid", software,
     "PSID mismatch|PSID on flash*differs|PSID*does not match*image|no matching image*PSID|image file was not found "
     "for PSID",
     "The firmware image is for another board than this NIC (PSID), and nothing was written. Use the image of the "
     "vendor of this card for the PSID on its flash: servers of Lenovo, Dell, HPE and others have NICs with a PSID of "
     "their own (OEM).",
     "mstflint -d {pci} query; mlxfwmanager --query", "MFT flint, mstflint"},
    {"ibstat-no-device", host, "stat of IB device '*No such file|stat of IB device '*No such device",
     "ibstat finds no RDMA device of this name on this host or in this container: the name is wrong, the device was "
     "renamed or removed, or it is in another network namespace.",
     "ls /sys/class/infiniband; rdma link show; rdma system show", "rdma-core infiniband-diags/ibstat.c"},
    {"ibstat-no-width",
     cable,
     "stat of IB device '",
     {"ibstat could not read a port, and stops: mostly a port without a cable or module (it has no link width, "
      "EINVAL), which old releases of rdma-core do not expect. ",
      {Work::at_link, "Plug the cable and the module if the port is to be used. "},
      "Update rdma-core; ibv_devinfo shows the ports meanwhile."},
     "ibv_devinfo -l; rdma link show; ls /sys/class/infiniband",
     "rdma-core infiniband-diags/ibstat.c"},
    {"ib-no-route", network,
     "can't find a route to the|SubnGet(LFT) failed|SubnGet(MFT) failed|SubnGet() failed|Failed to discover fabric|PMA "
     "query failures|Failed to reset errors|ports have errors beyond threshold|can't reach to target",
     "A tool of infiniband-diags queried nodes of the fabric, and a node did not answer or has no route. Usual causes: "
     "a switch or node that is down or restarts, a forwarding table that the subnet manager has not written, or a link "
     "with errors. The LID, GUID or port in the line shows the location.",
     "ibnetdiscover; ibqueryerrors; sminfo", "rdma-core infiniband-diags"},
    {"ib-width-speed",
     cable,
     "Peer ports operating at active width|Peer ports operating at active speed|Peer ports operating at active "
     "extended speed",
     {"An InfiniBand link runs with less width or speed than both ends support. Usual causes: a cable or connector "
      "with bad lanes, or a port that is limited by its setting. ",
      {Work::at_link, "Reseat or replace the cable, "},
      "and compare the enabled speeds of both ports."},
     "iblinkinfo; mlxlink -d {pci} -c",
     "rdma-core infiniband-diags/ibportstate.c"},
    {"ib-tool-arguments", software,
     "only lid routed is supported|only lid routes are supported|Cannot specify cache and direct route|loading cached "
     "fabric failed|invalid diff check key|Invalid lid specified|ERROR: lid not specified|ERROR: guid not "
     "specified|ERROR: name not specified|Unknown query type|Failed to find port: ",
     "A tool of infiniband-diags cannot use the address on its command line (LID, GUID, direct route, name): no node "
     "of the fabric has this address, the node left, or this query requires a LID. Compare the address with the output "
     "of ibnetdiscover.",
     "ibnetdiscover; ibstat; sminfo", "rdma-core infiniband-diags"},
    {"ib-sa-query", network,
     "Query SA failed|Query result returned 0x|Failed to query SA:ClassPortInfo|Failed to find lid for|SA "
     "verification: failed|can't resolve destination port|can't resolve source port|cannot get SM_Key",
     "The subnet administrator (with the subnet manager) did not answer a query, or rejected it. Usual causes: no "
     "subnet manager runs for this port, the port is not active, a partition or key is wrong, or the record does not "
     "exist. RoCE has no subnet manager.",
     "sminfo; ibstat; saquery -s", "rdma-core infiniband-diags/saquery.c"},
    {"ib-acm-client", host,
     "ib_acm_resolve_ip failed|ib_acm_resolve_name failed|ib_acm_resolve_path failed|ib_acm_query_perf failed|,unable "
     "to contact service|Failed to query perf data|unable to open any providers|fail to initialize umad|Failed to read "
     "server port|ibacm*sd_listen_fds",
     "ib_acme or another program could not query ibacm, the service that caches addresses and paths of InfiniBand. The "
     "service does not run, or has no port (no InfiniBand, ib_umad is not loaded) or no provider library. RoCE does "
     "not require ibacm.",
     "systemctl status ibacm; ls -l /dev/infiniband; ibstat", "rdma-core ibacm"},
    {"ib-tool-no-answer", network,
     "ibwarn: [*] *timed out|_do_madrpc: recv failed: Connection timed out|mad_rpc: _do_madrpc failed; dport|bad "
     "status 110; Connection timed out",
     "A tool for InfiniBand sent a management packet and got no answer: the node or switch at this LID or path is down "
     "or restarts, a link or route to it is bad, or the subnet manager changes the LIDs. A port of this host that is "
     "not Active has the same effect: ibstat. If other nodes answer this host, look at the one that is named.",
     "ibstat; sminfo; iblinkinfo; ibqueryerrors", "rdma-core libibmad, infiniband-diags"},
    {"ib-tool-no-port", host,
     "ibpanic: [*]|can't open MAD port|mad_rpc: _do_madrpc failed|_do_madrpc: recv failed|ibwarn: [*] "
     "_do_madrpc|perfquery: iberror: failed|iberror: failed: Failed to open|iberror: query",
     "A tool for InfiniBand (ibstat, perfquery, smpquery, ibnetdiscover) could not open or use a port for management "
     "packets: root rights or /dev/infiniband/umad are missing, or the port is Ethernet or down.",
     "ls -l /dev/infiniband; ibstat; sminfo", "rdma-core libibmad, infiniband-diags"},
    {"switch-module-access",
     network,
     "xcvrd Error: unable to access file|pmon*unable to access file*/sys/bus/i2c|BF_PLTFM*elect_qsfp",
     {"The switch cannot access a module (transceiver, QSFP) or see whether it is plugged, so that the port does not "
      "come up: its platform driver (CPLD, I2C) is not loaded or lacks this file, or the I2C access to the cage "
      "failed. Load or update the platform driver or SONiC, and restart pmon",
      {Work::at_link, "; if only one port is affected, reseat or replace its module"},
      "."},
     "on the switch: show platform summary; show interfaces transceiver presence; lsmod",
     "SONiC sonic-platform-daemons"},
    {"switch-port-error",
     cable,
     "oper error event: mac_|oper error event: fec_|oper error event: high_|oper error event: signal_|oper error "
     "event: code_|oper error event: no_rx",
     {"The MAC or PHY of the switch port reports an error of the link. mac_local_fault: this port receives no valid "
      "signal; mac_remote_fault: the other end reports that it receives none; fec_ and high_: too many bit errors. The "
      "other ports of the switch are not affected. Look at transceiver and cable of this port, and at the NIC or "
      "switch port at the other end, its speed and FEC",
      {Work::at_link, ": reseat, clean or replace the transceiver or cable"},
      "."},
     "on the switch: show interfaces transceiver eeprom --dom; show interfaces fec-stats",
     "SONiC sonic-swss orchagent/portsorch.cpp"},
    {"switch-module-unsupported",
     cable,
     "UNSUPPORTED_TRANSCEIVER|VN_DATA_CRC_ERROR|GBIC_SECURITY_CRYPT-|gbic-invalid|UNSUPPORTED_SFP|SFP_NOT_SUPPORTED|%*"
     "Transceiver for interface * is not supported",
     {"The switch does not accept, or does not know, the transceiver or cable in this port: it is of another vendor "
      "(without the vendor's code and check sum), or of a kind or speed that the switch does not support. The link "
      "does not come up, or is without support. Compare it with the compatibility list of the switch (show interface "
      "transceiver), or permit others (service unsupported-transceiver)",
      {Work::at_link, "; else use a transceiver or cable that the switch supports"},
      "."},
     "on the switch: show interface transceiver; show interface status err-disabled",
     "NX-OS, IOS, EOS"},
    {"switch-bpdu-guard", network,
     "BPDUGUARD|with BPDU Guard enabled|bpduguard error|bpdu-protection|BPDU_GUARD|bpduGuard",
     "The switch disabled the port, because a spanning tree message (BPDU) came from it: another switch, or a bridge "
     "with STP on a host, is connected where only a host is expected, or a loop returns the switch's own. Remove that "
     "switch, stop STP on the bridge of the host, or take BPDU guard off the port; then shutdown and no shutdown on "
     "the port.",
     "on the switch: show interface status err-disabled; show spanning-tree; on the host: bridge -d link",
     "NX-OS, IOS, EOS"},
    {"switch-port-disabled",
     network,
     "IF_DOWN_ERROR_DISABLED|%PM-*ERR_DISABLE|%ETH-*ERRDISABLE|ERRDOWN_DOWNNOTIFY|Error disabled. Reason:|in "
     "err-disable state|is errdisabled|in errdisable state",
     {"The switch disabled this port because of an error, for the reason in the line; the link stays down until "
      "someone enables it (or errdisable recovery). Link flaps: the cable or module; BPDU, loop, port security: the "
      "device at the port; DCX: the host does not acknowledge DCBX (LLDP) messages; speed, a setting that does not fit "
      "the module. Look at the log before it and correct the cause",
      {Work::at_link, " (check the cable and the module at both ends)"},
      ", then shutdown and no shutdown on the port."},
     "on the switch: show interface status err-disabled; show logging",
     "NX-OS ETHPORT, IOS PM, EOS"},
    {"switch-port-security", network, "PSECURE_VIOLATION|%PORT_SECURITY-|%PORT-SECURITY-|%ETH_PORT_SEC-",
     "Port security of the switch: a MAC address that is not allowed, or one too many, sends on this port, and the "
     "switch drops its packets or disables the port: another device was connected, or a host with virtual machines or "
     "containers of their own addresses. Correct the allowed addresses or their number, or find the device; then "
     "shutdown and no shutdown if the port is disabled.",
     "on the switch: show port-security; show mac address-table", "IOS, NX-OS"},
    {"switch-spanning-tree", network,
     "CHNL_MISCFG|ROOTGUARD_BLOCK|LOOPGUARD_BLOCK|ROOTGUARD_CONFIG|channel-misconfig|BRIDGE_ASSURANCE_BLOCK|"
     "RECV_1Q_NON_TRUNK|INCONSISTENT_PORT|BLOCK_PVID",
     "Spanning tree of the switch blocks or disables a port: the two ends of a port channel are configured differently "
     "(bundled, LACP, on one side only), so that the switch sees a loop; another switch wants to be the root (root "
     "guard); no BPDU comes any more (loop guard, bridge assurance); or the VLANs of the two ends differ. Align the "
     "configuration of both ends, then enable the port again.",
     "on the switch: show spanning-tree inconsistentports; show port-channel summary; show logging", "IOS, NX-OS, EOS"},
    {"switch-port-off", network, "IF_DOWN_ADMIN_DOWN|IF_DOWN_PARENT_ADMIN_DOWN|is down (Administratively down)",
     "Someone switched this port (or its parent) off in the configuration of the switch (shutdown): the host at it has "
     "no link. The cable is not at fault. If the port is needed: no shutdown.",
     "on the switch: show running-config interface; show accounting log", "NX-OS ETHPORT"},
    {"switch-port-removed", network, "IF_DOWN_INTERFACE_REMOVED|is down (Interface removed)|IF_DOWN_MODULE_REMOVED",
     "The port went away from the switch: its line card (module) or fabric extender (FEX) was removed or restarts, or "
     "the breakout of the port was changed in the configuration. The cable is not at fault.",
     "on the switch: show module; show fex; show running-config interface", "NX-OS ETHPORT"},
    {"switch-agent-ended", network,
     "%PROCMGR-*PROCESS_RESTART|%PROCMGR-*PROCESS_TERMINATED|%PROCMGR-*PROCESS_DELAYRESTART|"
     "%PROCMGR-*PROCESS_NOTRESTART|%SYSMGR-*SERVICE_CRASHED|%AGENT-*RESTART",
     "An agent (process) of the switch ended, and is started again: what it controls is lost or interrupted for a "
     "short time (BGP or Rib: sessions and routes; Stp: spanning tree; others: ports, modules). Look why it ended "
     "(show agent logs crash, core files); update the software of the switch (EOS, NX-OS) if it crashed; check that "
     "the BGP sessions returned.",
     "on the switch: show agent logs crash; show core; show ip bgp summary; show logging", "EOS ProcMgr, NX-OS sysmgr"},
    {"switch-restarts", network, "%PROCMGR-*SHUTDOWNREQUESTED",
     "The switch stops: its process manager was asked to end all agents, as at a reload or an update of its software; "
     "its ports go down. Look who reloaded the switch and why; no action if it was planned.",
     "on the switch: show reload cause; show logging", "EOS ProcMgr"},
    {"switch-link-changed",
     cable,
     "changed state to down|operational status down|Set operation status DOWN to host interface|oper status "
     "changed*down|%*is link down|IF_DOWN_LINK_FAILURE|phy link down|link changed to down|Port * "
     "oper*state*down|oper_status*down",
     {"A port of the switch lost its link: cable or module of this port, or the NIC or switch at the other end, which "
      "may restart or be switched off. Look at the reason of the switch (show interface, transceiver) and at the other "
      "end at this time",
      {Work::at_link, ", and check or reseat both ends of the cable"},
      "."},
     "on the switch: show interfaces transceiver; on the host: fabric-agentctl diagnose",
     "SONiC sonic-swss, NX-OS, EOS"},
    {"switch-no-lossless", network,
     "No lossless TC found on port|registerInWdDb|no lossless|Failed to get PFC mask|PFC watchdog*not enabled",
     "This switch port has no lossless traffic class (no PFC priority), so that the PFC watchdog has nothing to watch, "
     "and RoCE on it drops packets under congestion. If the port carries RoCE, set pfc_enable in PORT_QOS_MAP; else "
     "leave the watchdog off there.",
     "on the switch: show pfc priority; show runningconfiguration all", "SONiC sonic-swss orchagent/pfcwdorch.cpp"},
    {"switch-stormed", network,
     " stormed |PFC storm|pfc storm|PFCWD_STORM|PFC_WD*storm|PFCWD-*|PFC "
     "watchdog*detected|startWdActionOnQueue*storm|pfcwd*stuck|PFC_WATCHDOG|PFCWD*STUCK|PFC_STORM_DETECTED|restored*"
     "storm|storm restored|pauseStormDetected",
     "The PFC watchdog of the switch found a pause storm on a priority of this port, and drops (or forwards) its "
     "packets until it ends: the device at the port sends pause frames without end. Look at the host or switch behind "
     "it: a receiver that is slow (PCIe, IOMMU, memory), or a NIC that hangs; its counters of sent pause "
     "(tx_prioN_pause) grow.",
     "on the host at the port: fabric-agentctl diagnose; ethtool -S {netdev} | grep pause", "SONiC pfcwd, NX-OS, EOS"},
    {"switch-sai", network,
     "SAI_STATUS_INSUFFICIENT_RESOURCES|SAI_STATUS_TABLE_FULL|SAI_STATUS_NO_MEMORY|SAI_STATUS_BUFFER_OVERFLOW|"
     "Encountered failure in create operation|Encountered failure in set operation|exiting "
     "orchagent|syncd*sendGetResponse|SAI_STATUS_INVALID_PARAMETER|SAI_STATUS_FAILURE|failed to execute "
     "api*SAI_STATUS_",
     "The ASIC driver (SAI) of the switch refused a setting: a table or buffer is full, or this value or attribute is "
     "not supported by this switch; after a failed create operation orchagent exits and the switch restarts its "
     "services. The line names the object: compare it with the last change of the configuration.",
     "on the switch: show logging | grep -E 'SAI|orchagent'; crm show resources all",
     "SONiC sonic-swss, sonic-sairedis"},
    {"switch-module",
     cable,
     "xcvrd*read eeprom*fail|xcvrd*Failed to|CMIS: *timed out|CMIS: *ailed|CMIS: *no suitable app|transceiver*not "
     "supported|unsupported transceiver|TRANSCEIVER*UNSUPPORTED|high alarm*rx|rx power low "
     "alarm|IF_SFP_*|SFP*checksum|DOM*alarm|HIGH_ALARM|LOW_ALARM",
     {"The switch reports the module in a port: it cannot be read or configured (CMIS), is not supported, or a value "
      "(temperature, light) is beyond its alarm limit. Compare with the list of modules that the switch "
      "supports",
      {Work::at_link, "; reseat the module, clean the fiber, then try another module"},
      "."},
     "on the switch: show interfaces transceiver eeprom --dom",
     "SONiC sonic-xcvrd, NX-OS, EOS"},
    {"opensm-port-down",
     cable,
     "SM port is down|SM port is DOWN|Local port*is down*SM",
     {"The port of this host that OpenSM uses has no link: cable, module, or the switch port at its other end. OpenSM "
      "waits, and the subnet has no subnet manager unless another one runs. ",
      {Work::at_link, "Reseat the cable or try another one."}},
     "ibstat; sminfo; fabric-agentctl status",
     "OpenSM opensm/osm_state_mgr.c"},
    {"k8s-probe", software, "prober.go:*\"Probe errored\"|prober.go:*\"Probe failed\"",
     "The kubelet asked a container whether it works (startup, readiness, liveness), and it did not, or it had ended: "
     "the line names the pod. A pod that is not ready gets no requests; one that is not alive is restarted. Its own "
     "log has the reason.",
     "kubectl describe pod POD; kubectl logs POD --previous", "Kubernetes pkg/kubelet/prober"},
    {"k8s-topology", host,
     "cannot be allocated with Topology locality|cannot be allocated with Topology "
     "Locality|TopologyAffinityError|Topology Affinity Error",
     "The kubelet refuses the pod: its topology manager finds no NUMA node with free CPUs, GPUs and NICs for all "
     "resources that the pod requests together. Request less per pod, free the resources of this node, or use another "
     "policy (best-effort instead of single-numa-node or restricted).",
     "kubectl describe node NODE; grep -i topology /var/lib/kubelet/config.yaml; nvidia-smi topo -m",
     "Kubernetes pkg/kubelet/cm/topologymanager"},
    {"k8s-unschedulable", unknown,
     "Insufficient rdma/|Insufficient openshift.io/|Insufficient hugepages|Insufficient *.com/|nodes are "
     "available:|FailedScheduling|didn't match Pod's node affinity",
     "Kubernetes finds no node for the pod: all devices of this resource (GPU, RDMA, SR-IOV, EFA, huge pages) are in "
     "use or the device plugin of the nodes offers none, or labels and taints exclude the nodes. Compare the requests "
     "with the Allocatable of a node; if it is 0 there, look at the device plugin.",
     "kubectl describe node NODE | grep -A 12 Allocatable; kubectl get pods -A -o wide", "Kubernetes scheduler"},
    {"k8s-admission", host,
     "UnexpectedAdmissionError|Allocate failed due to|requested number of devices unavailable|no pre-allocated "
     "device|Device plugin * not registered|failed to get preferred allocation|device plugin*has no endpoint|endpoint "
     "* stopped|can't allocate unregistered device|Unhealthy device",
     "The kubelet of the node could not give the pod its devices: the device plugin has ended or reports fewer healthy "
     "devices than the pod asks for. Look at the log of the plugin and at the devices, restart the plugin, and start "
     "the pod again.",
     "kubectl describe node NODE; journalctl -u kubelet -g device; kubectl get pods -A | grep -i plugin",
     "Kubernetes kubelet device manager"},
    {"k8s-memory", software,
     "OOMKilled|Memory cgroup out of memory|Container * was OOM|The node was low on resource|memory "
     "limit*exceeded|exceeded its memory limit",
     "A container was killed, or a pod evicted, because it used up its memory limit or the memory of the node; files "
     "in /dev/shm (emptyDir of medium Memory) count as well. Raise the limit (resources.limits.memory). The peers of "
     "its ranks see closed connections.",
     "kubectl describe pod POD; journalctl -k -g oom-kill", "Kubernetes kubelet"},
    {"k8s-sandbox", host,
     "Failed to create pod sandbox|FailedCreatePodSandBox|failed to setup network for sandbox|error adding pod * to "
     "CNI network|failed (add):|NetworkPlugin cni failed|networkPlugin cni failed",
     "The network of a pod could not be set up: the rest of the line names the CNI plugin (multus, sriov, rdma, "
     "calico) and its reason: no free address, no virtual function, a file or program that is missing, or the daemon "
     "of the plugin that does not run on this node.",
     "kubectl describe pod POD; journalctl -u kubelet -g cni; ls /etc/cni/net.d", "Kubernetes kubelet, multus"},
    {"firmware-tool-devices", host,
     "No supported devices found|-E- Failed to identify|-E- Failed to query|-E- The firmware image was already "
     "updated|-E- Failed to send access register|-E- failed to "
     "get|MFE_CR_ERROR|ME_CR_ERROR|ME_ICMD_*|ME_REG_ACCESS_*|-E- Unsupported|livefish",
     "A firmware tool of NVIDIA (mlxfwmanager, mlxconfig, mlxlink, mstflint) cannot reach or use the NIC: no device "
     "(run it on the host as root; mst start), no access through Secure Boot or a virtual function, or the NIC is in "
     "recovery mode (livefish: write the firmware again). The words after -E- decide.",
     "lspci -d 15b3:; mst status; cat /sys/kernel/security/lockdown", "mstflint, MFT"},
    {"lldpad-set", host,
     "802.1Qaz set attributes failed|nlconnect failed abort hardware set|802.1Qaz get app attributes failed",
     "lldpad could not send its DCB settings (PFC, ETS, priorities of applications) to the kernel, or not read them: "
     "its "
     "netlink socket failed (memory, a permission, a container), or the netdev is gone. The port keeps the former "
     "settings; RoCE may have no lossless priority. Compare what the port has: lldpad does not report settings that "
     "the driver refuses.",
     "dcb pfc show dev {netdev}; dcb ets show dev {netdev}; fabric-agentctl check --only pfc", "lldpad lldp_8021qaz.c"},
    {"lldpad-twice", software, "another lldpad instance is running|lldpad already running",
     "A second lldpad was started, and ends: one runs already. End that one first if the new one is to be used, such "
     "as "
     "a unit of systemd and a script that both start it.",
     "systemctl status lldpad; pgrep -a lldpad", "lldpad lldpad.c"},
    {"lldp-dcbx", network,
     "DCBX*mismatch|DCBX*not received|PFC*mismatch*peer|DCBX negotiation|dcbx*peer*error|PFC "
     "configuration mismatch|No DCBX|LLDP*multiple neighbors|Peer*PFC*does not match",
     "The two ends of a link disagree about PFC or ETS, or no DCBX message came from the other end: RoCE has no "
     "lossless priority then. Set the same PFC priority on host and switch (a fixed setting on both, or DCBX willing "
     "on the host).",
     "fabric-agentctl check --only pfc; dcb pfc show dev {netdev}; lldptool ti -n -i {netdev}",
     "lldpad, switch operating systems"},
};

}  // namespace

const std::span<const LineMessage> kServiceMessages = kRows;

}  // namespace fabric::lines
