// SPDX-License-Identifier: Apache-2.0
// Lines of programs that start jobs and give them devices: Slurm, Kubernetes with its plugins; and of switches.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum Cause;

constexpr std::string_view kSlurm = "Slurm src/slurmctld, src/slurmd, src/srun";
constexpr std::string_view kSriovCni = "SR-IOV CNI pkg/config, pkg/sriov";

constexpr LineMessage kPlatformRows[] = {
    // Slurm.
    {"slurm-gpus-missing", host, "count reported lower than configured",
     "A node reports fewer GPUs than gres.conf and slurm.conf name, and Slurm drains it: a GPU is missing (fell off "
     "the "
     "bus, driver not loaded), or MIG was changed. After the repair restart slurmd.",
     "nvidia-smi -L; journalctl -k -g 'NVRM|amdgpu'; scontrol show node", kSlurm},
    {"slurm-gpu-file", host, "stat gres.conf file",
     "slurmd does not start: the device file of gres.conf does not exist, because the GPU driver is not loaded yet or "
     "the file names another device. Load it before slurmd (nvidia-persistenced, nvidia-modprobe).",
     "nvidia-smi -L; ls -l /dev/nvidia* /dev/dri", kSlurm},
    {"slurm-pmix", host, "can not load PMIx library|cannot load PMIx library|specified plugin name for mpi/",
     "Slurm on this node does not find the PMIx library that it was built with: install that version, or start with "
     "--mpi=pmi2.",
     "srun --mpi=list; ldconfig -p | grep pmix", "Slurm src/plugins/mpi/pmix"},
    {"slurm-controller", unknown,
     "ontact slurm controller|ontact slurmctld|Unable to allocate resources: Socket timed out|"
     "Unable to create step for job*Socket timed out",
     "The command got no answer from slurmctld: the controller does not run or is too busy, a firewall is between, or "
     "slurm.conf or the munge key of this host differ from the controller's. It uses TCP, not RDMA.",
     "scontrol ping; munge -n | unmunge", kSlurm},
    {"slurm-step-resources", software,
     "Unable to create step for job*: Memory required|Unable to create step for job*not available|"
     "Unable to create step for job*are busy|Unable to create step for job*More processors|"
     "Unable to allocate resources: Memory required|Unable to allocate resources: *not available|"
     "Unable to allocate resources: *are busy|Unable to allocate resources: More processors",
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
    {"slurm-cancelled",
     unknown,
     "slurmstepd: error: *CANCELLED AT|srun: Job step aborted|srun: error: *: Killed",
     "Slurm ended a job or a step: another task of it failed first, a user cancelled it, or another job preempted "
     "it. A task that was killed (SIGKILL) often used up the memory of the job or the node: the kernel's OOM killer "
     "is then in the log of its node. This is a consequence.",
     "sacct -j $SLURM_JOB_ID --format=JobID,State,ExitCode,NodeList; journalctl -k -g 'oom-kill'",
     kSlurm,
     0,
     Role::consequence,
     Call::none,
     {},
     false,
     "slurm|nccl|wc|async|gpu|out|library"},
    {"slurm-task-aborted",
     unknown,
     "srun: error: *: Aborted",
     "A task of the job ended itself (SIGABRT): an error that the program did not handle, an assertion, or PyTorch's "
     "watchdog of NCCL. This is a consequence; the output of that task before it has the reason.",
     "grep -hE 'WARN|ERROR|Traceback|assert' LOG-OF-EVERY-RANK | head",
     kSlurm,
     0,
     Role::consequence,
     Call::none,
     {},
     true,
     "nccl|wc|async|gpu|torch"},
    {"slurm-task-crashed", software,
     "srun: error: *: Segmentation fault|srun: error: *: Bus error|srun: error: *: Floating point exception",
     "A task of the job crashed; the ranks on other nodes see closed connections and retry errors. If it is always the "
     "same node, look at its memory.",
     "coredumpctl list; journalctl -k -g 'EDAC|mce'", kSlurm},

    // Kubernetes.
    {"k8s-device-unhealthy", host,
     "the device will go unhealthy|device marked unhealthy|cannot allocate unhealthy devices|"
     "no healthy devices present",
     "A device plugin reports devices of this node as unhealthy, and no pod gets them: after an Xid of the GPU, or "
     "when "
     "the device is gone. Its log and the kernel log have the reason; restart the plugin after the repair or the "
     "reset.",
     "journalctl -k -g 'NVRM|amdgpu'; kubectl describe node", "NVIDIA k8s-device-plugin, kubelet device manager"},
    {"k8s-netdev-missing", host, "ailed*: Link not found|Fail to *Link not found",
     "A program looked for a netdev that is not in this network namespace: that of a virtual function is still in the "
     "namespace of a pod, or the netdev was renamed or removed.",
     "ip -br link; lsns -t net", "netlink (Go library) link_linux.go, SR-IOV and RDMA plugins"},
    {"sriov-no-resource", software, "VF pci addr is required",
     "The pod names an SR-IOV network and got no virtual function: it does not ask for the resource that the network "
     "attachment names (resources.requests).",
     "kubectl get net-attach-def -o yaml; kubectl describe pod", kSriovCni},
    {"sriov-interface", host,
     "failed to move vf * to netns|error setting up interface in container namespace|"
     "failed to set up pod interface*from the device",
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
     "from "
     "the pod, or the kernel's lockdown with Secure Boot.",
     "cat /sys/kernel/security/lockdown; mokutil --sb-state", "mstflint mlxconfig"},

    // Switches.
    {"switch-pause-storm", network, "PFC Watchdog detected PFC storm|PFC watchdog detected*storm",
     "The switch gets pause frames of a priority without end on this port, and drops the queue to protect the network. "
     "The device behind the port sends them: a NIC or host that does not drain its receive buffers.",
     "on the host behind the port: fabric-agentctl diagnose", "SONiC sonic-swss orchagent/pfcwdorch.cpp"},
};

}  // namespace

const std::span<const LineMessage> kPlatformMessages = kPlatformRows;

}  // namespace fabric::lines
