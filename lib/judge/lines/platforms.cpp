// SPDX-License-Identifier: Apache-2.0
// Lines of programs that start jobs and give them devices: Slurm, Kubernetes with its plugins; and of switches.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kSlurm = "Slurm src/slurmctld, src/slurmd, src/srun";
constexpr std::string_view kSriovCni = "SR-IOV CNI pkg/config, pkg/sriov";

constexpr LineMessage kPlatformRows[] = {
    // Slurm.
    {"slurm-gpus-missing", host, "count reported lower than configured",
     "A node reports fewer GPUs than gres.conf and slurm.conf name, and Slurm drains it: a GPU is missing (fell off "
     "the bus, driver not loaded), or MIG was changed. After the repair restart slurmd.",
     "nvidia-smi -L; journalctl -k -g 'NVRM|amdgpu'; scontrol show node", kSlurm},
    {"slurm-gpu-file", host, "stat gres.conf file",
     "slurmd does not start: the device file of gres.conf does not exist, because the GPU driver is not loaded yet or "
     "the file names another device. Load it before slurmd (nvidia-persistenced, nvidia-modprobe).",
     "nvidia-smi -L; ls -l /dev/nvidia* /dev/dri", kSlurm},
    {"slurm-pmix", host, "can not load PMIx library|cannot load PMIx library|specified plugin name for mpi/",
     "Slurm on this node does not find the PMIx library that it was built with: install that version, or start with "
     "--mpi=pmi2.",
     "srun --mpi=list; ldconfig -p | grep pmix", "Slurm src/plugins/mpi/pmix"},
    {"slurm-first-start", unknown,
     "Could not open node state file*No such file|Could not open job state file*No such file|Could not open trigger "
     "state file*No such file|Could not open reservation state file*No such file|NOTE: Trying backup state save "
     "file|Incomplete node data checkpoint file|Incomplete job data checkpoint file|error: Could not open *_state*No "
     "such file",
     "slurmctld found no saved state (ENOENT). Normal and harmless at its first start on a new cluster: there is no "
     "state of nodes and jobs yet. If slurmctld ran before, StateSaveLocation names another or an empty directory, or "
     "its file system is not mounted or readable: stop it before it overwrites the jobs' state.",
     "scontrol show config | grep StateSaveLocation; ls -la /var/spool/slurm*", "Slurm src/slurmctld/node_mgr.c"},
    consequence({"slurm-pmix-event", unknown, "pmix: ERROR: Error handler invoked: status",
                 "The PMIx server of a job step received an event; the number is a status of PMIx, not an errno (-25 "
                 "PMIX_ERR_UNREACH: a process ended, or its connection was lost). A consequence: the messages before "
                 "it, and the log of the ranks, have the first failure.",
                 "grep -hE 'rror' LOG-OF-EVERY-RANK | head; journalctl -u slurmd",
                 "Slurm src/plugins/mpi/pmix/pmixp_client_v2.c"}),
    {"slurm-controller", unknown,
     "ontact slurm controller|ontact slurmctld|Unable to allocate resources: Socket timed out|Unable to create step "
     "for job*Socket timed out",
     "The command got no answer from slurmctld: the controller does not run or is too busy, a firewall is between, or "
     "slurm.conf or the munge key of this host differ from the controller's. It uses TCP, not RDMA.",
     "scontrol ping; munge -n | unmunge", kSlurm},
    {"slurm-credential", host, "Error generating job credential|Job credential expired|Invalid job credential",
     "Slurm does not start the step, because a node or the controller rejects its credential: the clocks of the hosts "
     "differ (chrony, NTP), munged does not run or has another key, or the controller does not know the user.",
     "timedatectl; munge -n | unmunge; getent passwd $USER", "Slurm src/interfaces/cred.c"},
    {"slurm-step-resources", software,
     "Unable to create step for job*: Memory required|Unable to create step for job*not available|Unable to create "
     "step for job*are busy|Unable to create step for job*More processors|Unable to allocate resources: Memory "
     "required|Unable to allocate resources: *not available|Unable to allocate resources: *are busy|Unable to allocate "
     "resources: More processors",
     "Slurm does not start the job or step: it asks for more memory, CPUs or GPUs than the job has, or than its other "
     "steps leave (--mem, --exact, --overlap).",
     "scontrol show job $SLURM_JOB_ID", kSlurm},
    {"slurm-refused", software, "Unable to create step for job|error: Unable to allocate resources: ",
     "Slurm does not start the job or step, for the reason in the rest of the line: an account, partition, QOS or "
     "limit, or a job that has ended or ends.",
     "scontrol show job $SLURM_JOB_ID; sacctmgr show assoc user=$USER", kSlurm},
    {"slurm-time-limit", software, "CANCELLED AT *DUE TO TIME LIMIT",
     "Slurm ended the job at its time limit (--time). The errors of the network after it are consequences.",
     "scontrol show job $SLURM_JOB_ID", kSlurm},
    {"slurm-node-failed", host, "CANCELLED AT *DUE TO NODE FAIL",
     "Slurm ended the job because one of its nodes failed or did not answer.", "sinfo -R", kSlurm},
    consequence_of(
        "slurm|nccl|wc|async|gpu|out|library",
        {"slurm-cancelled", unknown, "slurmstepd: error: *CANCELLED AT|srun: Job step aborted|srun: error: *: Killed",
         "Slurm ended a job or a step: another task of it failed first, a user cancelled it, or another job preempted "
         "it. A task that was killed (SIGKILL) often used up the memory of the job or the node: the kernel's OOM "
         "killer is then in the log of its node. This is a consequence.",
         "sacct -j $SLURM_JOB_ID --format=JobID,State,ExitCode,NodeList; journalctl -k -g 'oom-kill'", kSlurm}),
    consequence_of(
        "nccl|wc|async|gpu|torch",
        wrapping(
            {"slurm-task-aborted", unknown, "srun: error: *: Aborted",
             "A task of the job ended itself (SIGABRT): an error that the program did not handle, an assertion, or "
             "PyTorch's watchdog of NCCL. This is a consequence; the output of that task before it has the reason.",
             "grep -hE 'WARN|ERROR|Traceback|assert' LOG-OF-EVERY-RANK | head", kSlurm})),
    {"slurm-task-crashed", software,
     "srun: error: *: Segmentation fault|srun: error: *: Bus error|srun: error: *: Floating point exception",
     "A task of the job crashed; the ranks on other nodes see closed connections and retry errors. If it is always the "
     "same node, look at its memory.",
     "coredumpctl list; journalctl -k -g 'EDAC|mce'", kSlurm},

    // Kubernetes.
    {"k8s-device-unhealthy", host,
     "the device will go unhealthy|device marked unhealthy|cannot allocate unhealthy devices|no healthy devices "
     "present",
     "A device plugin reports devices of this node as unhealthy, and no pod gets them: after an Xid of the GPU, or "
     "when the device is gone. Its log and the kernel log have the reason; restart the plugin after the repair or the "
     "reset.",
     "journalctl -k -g 'NVRM|amdgpu'; kubectl describe node", "NVIDIA k8s-device-plugin, kubelet device manager"},
    {"mount-propagation", host, "but it is not a shared mount|but it is not a shared or slave mount",
     "A container (of the GPU operator, a CSI driver or another one) needs mount propagation, but the mount of this "
     "node that the line names (or of the snap, container or virtual machine that the runtime runs in) is private, not "
     "a shared mount; the container does not start. Make it shared: mount --make-rshared /, permanently in a unit; "
     "MountFlags=slave in the unit of docker, or another container around it, causes it.",
     "findmnt -o TARGET,PROPAGATION; systemctl show docker containerd -p MountFlags",
     "runc libcontainer/rootfs_linux.go, moby daemon/oci_linux.go"},
    {"k8s-netdev-missing", host, "ailed*: Link not found|Fail to *Link not found",
     "A program looked for a netdev that is not in this network namespace: that of a virtual function is still in the "
     "namespace of a pod, or the netdev was renamed or removed.",
     "ip -br link; lsns -t net", "netlink (Go library) link_linux.go, SR-IOV and RDMA plugins"},
    {"sriov-no-resource", software, "VF pci addr is required",
     "The pod names an SR-IOV network and got no virtual function: it does not ask for the resource that the network "
     "attachment names (resources.requests).",
     "kubectl get net-attach-def -o yaml; kubectl describe pod", kSriovCni},
    {"networkd-sriov", host, "Could not set up SR-IOV|Failed to configure SR-IOV virtual function",
     "systemd could not set a value of a virtual function from the [SR-IOV] section of a .link or .network file: the "
     "driver does not accept it (VLAN, trust, MAC, link state), or the virtual function was not made. Use fewer "
     "settings, and compare with ip link set {netdev} vf N.",
     "cat /sys/class/net/{netdev}/device/sriov_numvfs; ip -details link show {netdev}; journalctl -k -p warning",
     "systemd src/shared/netif-sriov.c"},
    {"sriov-interface", host,
     "failed to move vf * to netns|error setting up interface in container namespace|failed to set up pod "
     "interface*from the device",
     "The virtual function could not be moved into the pod or brought up there: a netdev of this name exists already "
     "(EEXIST), its PF is down or refuses it (EIO), or another program (udev, NetworkManager) renames it meanwhile.",
     "ip -br link; journalctl -k -p warning", kSriovCni},
    {"sriov-admin-mac", software, "configure VF admin mac",
     "The operator sets a MAC address for a virtual function that takes none: a port of InfiniBand. Set its link type "
     "(linkType: ib) in the policy, or use a newer operator.",
     "rdma link show; kubectl get sriovnetworknodepolicies -A -o yaml",
     "sriov-network-operator pkg/host/internal/sriov"},
    {"firmware-tool-open", host, "-E- Failed to open the device|-E- Failed to open device|-E- Cannot open Device",
     "The firmware tool (mstconfig, mlxconfig, mstflint) cannot open the NIC: no access to its configuration space "
     "from the pod, or the kernel's lockdown with Secure Boot.",
     "cat /sys/kernel/security/lockdown; mokutil --sb-state", "mstflint mlxconfig"},

    {"sriov-cni-configuration", software,
     "vlan id must be configured|non-zero vlan id must|vlan id * invalid|vlan QoS PCP|vlan Proto * invalid|invalid "
     "link_state value|failed to parse NetConf|SRIOV-CNI failed to load netconf|SRIOV-CNI failed to parse "
     "args|LoadConf(): failed to load netconf|network configuration attribute is required|RDMA-CNI is expected to be "
     "called as part|IPAM plugin returned missing IP|failed to parse MAC address|unknown link state",
     "The configuration of a pod's network (the NetworkAttachmentDefinition, or an annotation of the pod) has a value "
     "that the SR-IOV or RDMA CNI does not accept: VLAN, QoS, link state, MAC address, IPAM, or the order of the "
     "plugins. Correct the entry that the line names; the node is not at fault.",
     "kubectl get net-attach-def -A -o yaml; kubectl describe pod POD", "sriov-cni pkg/config, rdma-cni"},
    {"rdma-cni-mode", host, "RDMA subsystem namespace awareness mode",
     "The RDMA CNI requires that each RDMA device of this node belongs to one network namespace: set the mode to "
     "exclusive (rdma system set netns exclusive, option netns_mode=0 of ib_core, or rdmaMode of the SR-IOV operator), "
     "before any other namespace exists. In shared mode, do not use the RDMA CNI.",
     "rdma system show; kubectl get net-attach-def -A -o yaml", "rdma-cni pkg/rdma"},
    {"sriov-cni-vf", host,
     "pci address * is already allocated|does not have a interface name or a dpdk driver|type=\"sriov\"*rollback "
     "failed|type=\"sriov\"*setupVF failed|failed to configure VF|failed to get original vf information|failed to set "
     "vf * vlan|failed to set vf * min_tx_rate|failed to set vf * spoofchk|failed to set vf * trust|failed to set vf * "
     "link state|failed to restore spoofchk|failed to restore original administrative|failed to restore original "
     "effective|failed to lookup vf|failed to find vf |failed to lookup master|no symbolic link for the "
     "virtfn|sriov_numfs of device|PF network device not found|shared PF not found|VF device * has no entries|VF "
     "device * sysfs path|effective mac address is different|hardware mac address is different|failed to set netlink "
     "MAC address|error saving the pci allocation|error cleaning the pci allocation|error obtaining lock for "
     "device|acquire exclusive lock on|PCI file [|PCI address lock file|pci address file for|error obtaining VF "
     "ID|error reseting VF|failed to move * to tempNS|in tempNS: |failed to rename host device|to netns: |to target "
     "namespace: |error bringing interface up in container ns|failed to find interface with any of the possible "
     "names|LinkSetName failed|LinkSetNsFd failed|failed to get init netns|failed to move interface * to init "
     "netns|discovered more than one RDMA device|cannot find RDMA link from name|failed to restore RDMA device|failed "
     "to derive PCI device ID from mac|could not find VF PCI device|more than one VF PCI device|failed to write "
     "arp_notify|failed to write ndisc_notify|failed to write optimistic_dad|create data cache directory|cache data in "
     "the path|error removing cache file|sriov data directory|sriov lock directory|container data in the path|failed "
     "to send Gratuitous ARP|failed to send GARP|failed to send NA message",
     "The SR-IOV or RDMA CNI could not set up or release a virtual function of a pod. The function is in another "
     "namespace or still allocated to another pod, its physical function is down or rejects the value (VLAN, MAC, "
     "rate, trust), another program renamed its interface, its driver does not support the value (then remove "
     "link_state, vlan or trust from the network definition), or the files under /var/lib/cni cannot be written. Look "
     "at the function on the node; stale files under /var/lib/cni belong to pods that ended.",
     "ip link show; ls /var/lib/cni/sriov /var/lib/cni/rdma; journalctl -k -p warning",
     "sriov-cni pkg/sriov, rdma-cni pkg/rdma"},
    {"multus-configuration", host,
     "type=\"multus*LoadNetConf|type=\"multus*LoadDelegateNetConf|type=\"multus*delegateAddDeviceID|type=\"multus*"
     "DeviceIDInConfList|type=\"multus*CNIArgsInConfList|type=\"multus*InjectCNIVersion|cannot find master CNI "
     "config|in master CNI config|cannot encode master CNI config|cluster primary CNI config|primary CNI plugin: "
     "|primary CNI Configuration|cannot move original master file|cni-conf-dir is not found|multus-conf-file is not "
     "found|cannot create multus|multusConfigPath|cniVersion in master|wrong cniVersion format|at least one delegate "
     "must be specified|a plugin delegate must have",
     "Multus on this node has no valid configuration of the network of the cluster (the primary CNI plugin), or could "
     "not read the configuration of an additional network: the file in /etc/cni/net.d is missing, was written later or "
     "is not valid JSON. The pods of the primary plugin must be ready first.",
     "ls -l /etc/cni/net.d; kubectl get pods -n kube-system -o wide; kubectl get net-attach-def -A",
     "multus-cni pkg/types, pkg/server/config"},
    {"multus-daemon", host,
     "Daemon not reachable over socketfile|failed to start the CNI server using socket|pod info socket "
     "directory|failed to send CNI request|GetPodResourceMap|getKubeletClient|error getting pod resources from "
     "client|PerNodeCertificate|perNodeClient|bootstrap kubeconfig|failed to start cert manager|net-attach-def "
     "informer cache",
     "The daemon of Multus on this node (its thick plugin) does not run, or cannot reach the API server or the "
     "kubelet. Look at the pod kube-multus of the node.",
     "kubectl get pods -n kube-system -o wide | grep multus; ls -l /run/multus",
     "multus-cni pkg/server, pkg/kubeletclient"},
    {"sriov-policy", software,
     "numVfs(|exceed the maximum allowed value(|is not equal to the interface|is not equal to the LinkType|VF index "
     "range|is overlapped with existing policy|has to be defined in nicSelector|'deviceType: |NumVfs (|is larger than "
     "TotalVfs|externally managed|checkExternallyManagedPF|eSwitchMode must be switchdev|bridge configuration is not "
     "supported|is not supported when netFilter|field can't be specified if the resource is not in|SriovOperatorConfig "
     "can't|no supported NIC is selected by the nicSelector|is not supported by the webhook|both guid rangeStart and "
     "rangeEnd|either guid list or guid range|either PCI address or PF GUID|vdpaType",
     "The SR-IOV network operator rejects a policy or its setting. The policy selects no NIC of a node (vendor, device "
     "ID, interface, root device), requests more virtual functions than the NIC has, overlaps another policy, or "
     "combines settings that exclude each other. Correct the SriovNetworkNodePolicy; the state of the node lists its "
     "NICs and their maximum.",
     "kubectl get sriovnetworknodestates -n sriov-network-operator -o yaml; kubectl get sriovnetworknodepolicies -A -o "
     "yaml",
     "sriov-network-operator pkg/webhook/validate.go"},
    {"sriov-config-daemon", host,
     "configSriov|ConfigSriov|SetSriovNumVfs|SetNetdevMTU|DiscoverSriov*: failed|DiscoverSriov*: "
     "unable|DiscoverSriov*: could not|DiscoverSriov*: "
     "error|GetDevlinkDeviceParam|SetDevlinkDeviceParam|SetNicSriovMode|GetNicSriovMode|can't set eSwitch mode to|to "
     "set eSwitch "
     "to|configureHWOptionsForSwitchdev|CreateVDPADevice|DeleteVDPADevice|CreateOVSBridge|RemoveOVSBridge|"
     "RemoveInterfaceFromOVSBridge|GetOVSBridges|failed to connect to OVSDB|find OVSDB "
     "socket|detachPFFromBridge|BindDefaultDriver|BindDpdkDriver|RebindVf|UnbindDriver|LoadKernelModule()|UdevRule|"
     "EnableHwTcOffload|MellanoxBlueFieldMode|WriteSriovResult|ReadSriovResult|WriteConfFile()|cannot configure sriov "
     "interfaces|cannot reset sriov interfaces|error trying to drain the "
     "node|SriovSupportedNics|GetNetDevNodeGUID|VFIsReady|applied config from host|applied status config",
     "The daemon of the SR-IOV network operator could not configure the NICs of this node: the virtual functions "
     "(sriov_numvfs, SR-IOV in the firmware or BIOS), their driver (vfio-pci, modules), the switch mode (devlink), the "
     "MTU, udev rules, vDPA or an Open vSwitch bridge. The error at the end of the line and the kernel log of the node "
     "have the reason. A failed drain waits for pods that cannot be evicted.",
     "kubectl logs -n sriov-network-operator -l app=sriov-network-config-daemon; journalctl -k -p warning; cat "
     "/sys/class/net/{netdev}/device/sriov_totalvfs",
     "sriov-network-operator pkg/host, pkg/daemon"},
    {"rdma-plugin-configuration", software,
     "configuration missmatch. neither|Cannot specify both \"selectors\" and|devices list is empty|no resources "
     "configuration found|invalid \"periodicUpdateInterval\"|error: resource name \"|error: Empty resourcePrefix|one "
     "or more invalid configuration(s) given|no resource configuration; exiting|unsupported deviceType:|unable to get "
     "SelectorObj|make sure the config is in json format|resource name \"*\" contains invalid|resource name \"*\" "
     "already exists|mutually exclusive options|selector should have a single value|need at least one selector|unable "
     "to convert SelectorObj",
     "The configuration (ConfigMap) of the RDMA shared device plugin or of the SR-IOV network device plugin is wrong: "
     "no or contradicting selectors, a resource name that is used twice or has invalid characters, an unknown device "
     "type, or invalid JSON. Correct the configuration and restart the plugin.",
     "kubectl get cm -A | grep -E 'rdma|sriov'; kubectl logs -n kube-system -l app=rdma-shared-dp",
     "k8s-rdma-shared-dev-plugin, sriov-network-device-plugin"},
    {"device-plugin-restart", host,
     "most likely Kubelet restarted|server endpoint not found|unable to restart server|serving incoming requests "
     "failed|has repeatedly crashed recently|Error: starting resource servers|error starting resource servers|Error: "
     "initializing resource servers|error initializing resource servers|error discovering host devices|failed to dial "
     "socket|could not register with kubelet|Could not start device plugin|Could not register device plugin",
     "A device plugin of Kubernetes lost the kubelet, or could not start or register with it: the kubelet was "
     "restarted (its socket in /var/lib/kubelet/device-plugins is new) or does not run, the directory is not mounted "
     "into the plugin, or no device could be listed. The plugin registers again. If it does not, restart its pod.",
     "ls -l /var/lib/kubelet/device-plugins; systemctl status kubelet; kubectl describe node NODE",
     "sriov-network-device-plugin pkg/resources/server.go, k8s-rdma-shared-dev-plugin, NVIDIA k8s-device-plugin"},
    {"gpu-operator-validation", host,
     "driver is not ready: |error validating driver installation|toolkit is not ready|plugin is not ready|cuda is not "
     "ready|mofed is not ready|vfio-pci is not ready|vgpu*is not ready|nvidia-fs is not ready|gdrcopy is not "
     "ready|unable to find any allocatable GPU resource|GPU resources are not discovered by the node|failed to "
     "validate the driver|error validating vGPU|Error validating driver",
     "The validator of the NVIDIA GPU Operator waits for a component of this node: driver, container toolkit, device "
     "plugin, CUDA or MOFED. Pods that depend on this component stay in Init. Look at the pod of the component on this "
     "node first (nvidia-driver-daemonset, mofed), then at nvidia-smi and the kernel log.",
     "kubectl get pods -n gpu-operator -o wide; nvidia-smi; lsmod | grep -E 'nvidia|mlx5'",
     "NVIDIA gpu-operator cmd/nvidia-validator"},
    {"operator-api", unknown,
     "Error while syncing state|Reconciler error|Failed to list ClusterPolicy|Failed to fetch node state|error syncing "
     "state|Couldn't get NetworkAttachmentDefinition CR|Couldn't create NetworkAttachmentDefinition CR|Couldn't update "
     "NetworkAttachmentDefinition CR|Fail to sync DaemonSet|problem running manager|unable to list nodes prior "
     "to|failed to list OFED pods|Couldn't sync * objects|Could not get DaemonSet|could not get daemonset list",
     "A Kubernetes operator (GPU, network, SR-IOV) could not read or write an object of the cluster, or one of its "
     "steps failed. The operator tries again. The error at the end of the line shows the cause: a conflict or a "
     "timeout of the API server is temporary; a missing permission (RBAC), a resource definition (CRD) of another "
     "release or a node without labels requires a correction.",
     "kubectl get events -A --sort-by=.lastTimestamp | tail; kubectl get clusterpolicy -o yaml; kubectl get "
     "nicclusterpolicy -o yaml",
     "NVIDIA gpu-operator, network-operator, sriov-network-operator controllers"},
    // Switches.
    {"switch-pause-storm", network, "PFC Watchdog detected PFC storm|PFC watchdog detected*storm",
     "The switch gets pause frames of a priority without end on this port, and drops the queue to protect the network. "
     "The device behind the port sends them: a NIC or host that does not drain its receive buffers.",
     "on the host behind the port: fabric-agentctl diagnose", "SONiC sonic-swss orchagent/pfcwdorch.cpp"},
};

}  // namespace

const std::span<const LineMessage> kPlatformMessages = kPlatformRows;

}  // namespace fabric::lines
