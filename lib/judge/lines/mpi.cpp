// SPDX-License-Identifier: Apache-2.0
// Open MPI with PRRTE and PMIx, MPICH and Hydra, MVAPICH, UCC and SHARP.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr LineMessage kRows[] = {
    {"gasnet-portable-conduit", software,
     "Using GASNet's mpi-conduit|Using GASNet's udp-conduit|supported by a GASNet native conduit|not detected at "
     "configure time (missing drivers|high-performance native GASNet conduit",
     "The program was built with a portable conduit of GASNet (mpi, udp), although this node has InfiniBand or another "
     "network that a native conduit supports: configure found no headers of verbs or libfabric where GASNet was built. "
     "The program works, but slowly. Build GASNet, or Legion, Legate, Chapel or UPC++, with the native conduit (ibv, "
     "ofi, ucx) on a node that has the headers of rdma-core or libfabric.",
     "ibv_devices; env | grep -E 'GASNET_|CHPL_COMM'", "GASNet mpi-conduit, udp-conduit"},
    {"cuda-linker", software, "nvlink error |nvlink fatal|ptxas fatal|ptxas error|nvcc fatal|nvcc error",
     "The linker or assembler of CUDA (nvlink, ptxas) failed while a program or a kernel was built: an undefined "
     "reference, a missing -rdc or library, or an architecture (sm_NN) that this CUDA does not know. It is not about "
     "the links between GPUs: build the program with the CUDA and flags that it requires.",
     "nvcc --version; grep -n arch= BUILD-LOG", "CUDA nvlink, ptxas"},
    {"ompi-tcp-identifier", software,
     "unexpected process identifier|did not receive the expected network identification|expected network "
     "identification indicating|server did not receive magic|cannot find a corresponding process|accepted a TCP "
     "connection from what appears",
     "A TCP connection of Open MPI reached another process than wanted, or a program other than Open MPI: an interface "
     "whose address exists on several hosts (docker0, virbr0, a link-local address), or a port scanner. Name the "
     "network of the cluster: --mca btl_tcp_if_include 10.0.0.0/16, or exclude the others with btl_tcp_if_exclude "
     "lo,docker0,virbr0.",
     "ip -br addr; ompi_info --param btl tcp --level 9", "Open MPI opal/mca/btl/tcp"},
    {"ompi-tcp-peer-gone", peer,
     "An MPI communication peer process has unexpectedly disconnected|mca_btl_tcp_frag_recv: readv "
     "failed|mca_btl_tcp_frag_send: writev failed|mca_btl_tcp_endpoint_recv_blocking|mca_base_sock*peer closed|peer "
     "hung up|oob_tcp*Connection reset|oob_tcp*lost connection|btl_tcp_endpoint*Connection reset by peer",
     "Another process of this MPI job closed its TCP connection: it crashed, was killed or called abort. A "
     "consequence: the cause is the first error in the output of that process, on the host that the line names; look "
     "there for signals and the OOM killer.",
     "journalctl -k -g oom-kill; dmesg | tail", "Open MPI help-mpi-btl-tcp.txt"},
    {"ompi-interface-parameter", software,
     "An invalid value was given for btl_tcp_if_|An invalid value was given for btl_usnic_if_|An invalid value was "
     "given for oob_tcp_if_|invalid if_inexclude|None of the TCP networks specified|No network interfaces were found "
     "for out-of-band|Specified interface name*not found",
     "The list of interfaces or networks that Open MPI was given (btl_tcp_if_include, oob_tcp_if_include) names none "
     "of this host: another interface name, or a subnet without an address here. Use the subnet (10.0.0.0/16), which "
     "is the same on all hosts, instead of a name.",
     "ip -br addr; env | grep OMPI_MCA", "Open MPI help-mpi-btl-tcp.txt, PRRTE help-oob-tcp.txt"},
    {"ompi-unreachable", software,
     "at least one MPI process is unreachable|At least one pair of MPI processes are unable to reach each other|unable "
     "to reach each other for|Reachable in one direction|BTLs attempted: self",
     "Two MPI processes have no transport in common: a process without an RDMA device or UCX on one host, a --mca btl "
     "list that lacks tcp or sm, or two hosts whose networks do not meet. The line names both hosts. Allow UCX (--mca "
     "pml ucx) or tcp, and compare ompi_info and the devices of both.",
     "ompi_info | grep -E 'ucx|btl'; ibv_devices; ip -br addr", "Open MPI help-mpi-runtime.txt, help-mca-bml-r2.txt"},
    wrapping({"ompi-mpi-init", unknown,
              "It looks like MPI_INIT failed for some reason|It looks like MPI_Init failed|PML add procs failed|It "
              "looks like orte_init failed|It looks like prte_init failed|It looks like opal_init failed|An error "
              "occurred in MPI_Init|ompi_rte_init failed",
              "Open MPI could not start in this process. The lines after it name the step (\"PML add procs failed\": "
              "no transport between processes; \"ompi_rte_init failed\": the process was started without mpirun or "
              "with another PMIx), and a line before it names the reason.",
              "ompi_info | head; srun --mpi=list; env | grep -E 'PMIX|OMPI'", "Open MPI help-mpi-runtime.txt"}),
    {"ompi-no-pmi", software,
     "PMIx_Init failed for the following reason|No PMIx server was reachable|OPAL ERROR: Unreachable in "
     "file*pmix|PMI1/2 was detected|application appears to have been direct launched|was not built with SLURM's PMI "
     "support",
     "The process found no PMIx server of its launcher: it was started with srun, and Open MPI and Slurm have no PMI "
     "in common, or without mpirun. Use srun --mpi=pmix with a Slurm that has PMIx (srun --mpi=list), or mpirun inside "
     "of the allocation.",
     "srun --mpi=list; ompi_info | grep -i pmix; env | grep -E 'PMIX|PMI_'", "Open MPI help-mpi-runtime.txt"},
    {"ompi-shared-memory", host,
     "It appears as if there is not enough space for|not enough space for /*the shared-memory backing|shared-memory "
     "backing file|A system call failed during shared memory initialization|A system call failed during sm BTL|unable "
     "to create shared memory BTL coordinating|mmap on * failed*sm|shmem: mmap: an error occurred|error creating "
     "shared memory object|Error setting size of shared memory object|MM FIFO*more available memory|shared memory "
     "allocation failed|available memory.*dev/shm|Please check that /dev/shm",
     "The shared memory of the processes of this host could not be created: /dev/shm (or the session directory in "
     "TMPDIR) is full or too small. In a container raise it (docker run --shm-size, --ipc=host, an emptyDir of medium "
     "Memory); on a host remove files of killed jobs.",
     "df -h /dev/shm $TMPDIR; ls -l /dev/shm", "Open MPI help-opal-shmem-mmap.txt, UCX src/uct/sm/mm/posix, opa-psm2"},
    {"ompi-knem", host, "open the /dev/knem device|knem device due to|knem*failed to open|btl*knem*fail",
     "Open MPI cannot open /dev/knem, and copies between the processes of this host in another way (CMA, shared "
     "memory), perhaps slower. Load the module knem and give the users the right to it, or switch it off "
     "(OMPI_MCA_btl_sm_use_knem=0, OMPI_MCA_btl_vader_single_copy_mechanism=cma).",
     "ls -l /dev/knem; lsmod | grep knem", "Open MPI help-mpi-btl-sm.txt"},
    {"ompi-cma", host,
     "Linux kernel CMA support was requested|CMA*ptrace_scope|insufficient ptrace "
     "permissions|process_vm_readv*Operation not "
     "permitted|process_vm_writev*Operation not permitted|vader*single-copy mechanism|sm single-copy "
     "mechanism|btl_vader_single_copy|process_vm_readv(*EPERM|Read -1, expected",
     "A process may not read the memory of another one of this host (CMA, process_vm_readv): ptrace is restricted "
     "(kernel.yama.ptrace_scope) or the container has no CAP_SYS_PTRACE or another user namespace. Set "
     "OMPI_MCA_btl_vader_single_copy_mechanism=none (UCX_TLS=^cma), or add --cap-add SYS_PTRACE. Messages are copied "
     "twice meanwhile.",
     "sysctl kernel.yama.ptrace_scope; grep CapEff /proc/PID/status",
     "Open MPI opal/mca/btl/vader/help-btl-vader.txt, UCX src/uct/sm/scopy/cma"},
    consequence_of(
        "ompi|mpich|ucx|wc|ofi|cxi|efa|psm3|nccl|gpu|out|object|registration|open|modify",
        {"mpi-abort", software,
         "MPI_ABORT was invoked on rank|called MPI_Abort|Abort(*) on node *: Fatal error|Abort(*): Fatal error "
         "in|Abort(*) (rank * in comm *): Fatal error|Abort(*) on node *: application",
         "The program itself ended the job (MPI_Abort), or MPI did after an error: the code in brackets is of the "
         "program, and the reason is in its output before this line. The network is not at fault by itself.",
         "grep -hE 'rror|abort' OUTPUT-OF-EVERY-RANK | head", "Open MPI help-mpi-api.txt, MPICH src/mpi/init/abort.c"}),
    consequence_of("mpich|ofi|ucx|wc|object|registration",
                   {"mpich-launcher-gone", unknown, "write_line error; fd=|system msg for write_line failure",
                    "A process of MPICH, MVAPICH or Intel MPI could not tell its launcher (PMI) that it ends: the "
                    "launcher is gone, or the program was started without mpirun or srun (fd=-1). A consequence: the "
                    "first error line before it is the cause.",
                    "grep -hE 'rror|abort' OUTPUT-OF-EVERY-RANK | head", "MPICH src/pmi/simple_pmiutil.c"}),
    consequence_of("ompi|mpich|ucx|wc|ofi|nccl|gpu|out|object|registration",
                   {"mpi-errors-fatal", unknown,
                    "*** An error occurred in MPI_|MPI_ERRORS_ARE_FATAL|will now abort,|reported by process [|mpirun "
                    "noticed that process rank|Primary job  terminated normally, but|mpirun has exited due to process "
                    "rank|prterun noticed that process rank|detected that one or more processes exited with non-zero "
                    "status|BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES|YOUR APPLICATION TERMINATED WITH THE "
                    "EXIT STRING|Exit of one or more process*caused",
                    "The launcher or the MPI library reports that a process ended, with its rank, host and exit code "
                    "or signal: 9 is a kill (often the OOM killer or a memory limit), 11 a crash, 7 a full /dev/shm. A "
                    "consequence: the first error in the output of that process is the cause.",
                    "journalctl -k -g oom-kill; coredumpctl list",
                    "Open MPI help-mpi-errors.txt, PRRTE help-errmgr-base.txt, MPICH hydra"}),
    // The line before the launcher's own.
    {"ssh-closed", peer, "ssh_exchange_identification: |kex_exchange_identification: ",
     "The SSH server of a remote node closed the connection before login: too many connections at a time "
     "(MaxStartups, PerSourcePenalties of sshd_config), or access rules (hosts.deny). The launcher (mpirun) could not "
     "start its daemon there. Look at the log of sshd on that node, and open fewer SSH connections at a time "
     "(plm_rsh_num_concurrent), or with the launcher of the scheduler.",
     "on that node: journalctl -u sshd; sshd -T | grep -i startups", "OpenSSH ssh"},
    {"ssh-login", peer,
     "Permission denied (publickey|Permission denied (password|Permission denied (gssapi|Permission denied "
     "(keyboard|Received disconnect from *Too many authentication failures",
     "The SSH server of a remote node refused the login: the public key of this user is not in authorized_keys there "
     "(or its files have the wrong permissions), or another user name is needed. The launcher (mpirun) cannot start "
     "its daemon without a password: copy the key to all nodes (ssh-copy-id).",
     "ssh {peer} hostname; on that node: journalctl -u sshd", "OpenSSH ssh"},
    {"ssh-host-key", host, "Host key verification failed.|REMOTE HOST IDENTIFICATION HAS CHANGED",
     "SSH of this host does not know the host key of a remote node, or another key is stored for it (the node was "
     "installed again). The launcher (mpirun) cannot start its daemon there, because a launcher cannot answer the "
     "prompt. Add the host keys of all nodes to known_hosts (ssh-keyscan), or set StrictHostKeyChecking=accept-new.",
     "ssh {peer} hostname; ssh-keygen -F {peer}", "OpenSSH ssh"},
    {"ssh-name", host, "ssh: Could not resolve hostname",
     "The name of a node in the host file cannot be resolved on this host or in this container (DNS, /etc/hosts), so "
     "that the launcher (mpirun) cannot start its daemon there. Use full names or addresses in the host file, or "
     "correct the DNS; Temporary failure: the DNS server does not answer, or the pod of the worker does not run yet.",
     "getent hosts NAME; cat /etc/resolv.conf", "OpenSSH ssh"},
    {"ssh-connect", peer, "ssh: connect to host",
     "SSH could not connect to a remote node, for the reason at the end of the line: refused, no SSH server listens "
     "there (sshd is not started, or in a container it uses another port: plm_rsh_args \"-p PORT\", ~/.ssh/config); "
     "timed out or no route, the node is down or a firewall is between. The launcher (mpirun) cannot start its daemon "
     "there.",
     "ping -c 3 {peer}; on that node: systemctl status sshd; ss -ltnp", "OpenSSH ssh"},
    {"ompi-daemon", peer,
     "An ORTE daemon has unexpectedly failed|A PRTE daemon has unexpectedly failed|ORTE was unable to reliably start "
     "one or more daemons|PRTE was unable to reliably start one or more daemons|PRTE has lost communication with|A "
     "daemon (pid *) died unexpectedly|HYDT_bscd*failed|HYDU_sock_connect*unable to connect|HYDU_sock_write*write "
     "error (Bad file descriptor)|control_cb*assert (!closed) failed|unable to connect "
     "from|HYD_pmcd_pmiserv*|HYDT_bscu_wait_for_completion|bstrap*unexpected failure",
     "The launcher (mpirun, hydra) lost or could not start its daemon on a host: ssh without a key or with output in "
     "the shell profile, another Open MPI or LD_LIBRARY_PATH there, a firewall between the hosts, or the host failed. "
     "Test: ssh HOST orted --version (hydra_pmi_proxy), then the name and interfaces of the host.",
     "ssh {peer} which orted prted hydra_pmi_proxy; ip -br addr",
     "Open MPI, PRRTE help-errmgr-base.txt, MPICH src/pm/hydra"},
    {"ompi-binding", software,
     "A request was made to bind to that would result in binding more|would result in binding more processes than "
     "cpus|Open MPI tried to bind a|tried to bind a new process|WARNING: a request was made to bind a process|does not "
     "support binding|Conflicting directives for mapping|number of cpus to map",
     "The launcher cannot bind the processes as asked: more processes than CPUs in the allocation or cgroup "
     "(container, Slurm --cpus-per-task), or options that contradict each other. Use --bind-to none or --map-by "
     ":OVERSUBSCRIBE as a test, and compare with nproc.",
     "nproc; grep Cpus_allowed_list /proc/self/status", "Open MPI, PRRTE help-prte-rmaps-base.txt"},
    {"ompi-mca-component", software,
     "A requested component was not found|A deprecated MCA variable value was specified|An invalid value was supplied "
     "for an MCA variable|An invalid value was supplied for an enum variable|Two mutually-exclusive MCA variables|MCA "
     "framework parameters can only take a single negation",
     "An option --mca or a variable OMPI_MCA_ names a component or a value that this Open MPI does not have: built "
     "without it, its library is missing, or the name is of another release. Compare it with ompi_info, and look in "
     "openmpi-mca-params.conf and the environment for it.",
     "ompi_info | grep MCA; env | grep OMPI_MCA; cat ~/.openmpi/mca-params.conf",
     "Open MPI help-mca-base.txt, help-mca-var.txt"},
    {"ompi-psm2", host,
     "PSM2 was unable to open an endpoint|Initialization of PSM2 library failed|PSM was unable to open an "
     "endpoint|can't open hfi unit|Error obtaining unique transport key|PSM2 can't open|PSM can't open|PSM2 no hfi "
     "units are available|hfi1 port is not active|assign_context command failed|PSM error handler|PSM2 error "
     "handler|hfp_gen1_context_open|hfi_userinit: assign_context",
     "The Omni-Path library (PSM, PSM2) could not open an HFI of this host: its link is down or has no LID, driver "
     "hfi1 is not loaded, /dev/hfi1_0 is not accessible, or more processes run than the HFI has contexts "
     "(num_user_contexts). On one host only: PSM2_DEVICES=self,shm.",
     "opainfo; ls -l /dev/hfi1_*; grep . /sys/class/infiniband/hfi1_*/nfreectxts",
     "opa-psm2 psm_ep.c, MVAPICH, Open MPI help-mtl-psm2.txt"},
    {"mpich-ofi-open", host,
     "OFI endpoint open failed|OFI fi_open domain failed|OFI domain open failed|OFI EP enable failed|OFI fi_fabric "
     "failed|OFI resource bind failed|create_vni_context",
     "MPICH or Intel MPI could not open its network on this host: libfabric's provider or its RDMA device does not "
     "work here, and no other rank is involved yet. Usual causes: the memlock limit (ulimit -l), a device that is not "
     "in the container, no interface with an address, or a provider that does not fit (FI_PROVIDER, "
     "I_MPI_OFI_PROVIDER). FI_LOG_LEVEL=warn prints the call that failed.",
     "ulimit -l; fi_info -l; ls -l /dev/infiniband; env | grep -E 'FI_|I_MPI|MPIR_CVAR'",
     "MPICH src/mpid/ch4/netmod/ofi/ofi_init.c"},
    {"mpich-ofi", unknown,
     "MPIDI_OFI_handle_cq_error|OFI poll failed|OFI tagged * failed|OFI call * failed|OFI get address vector map "
     "failed|OFI address vector * failed|OFI addrinfo() failed|OFI provider*not found",
     "MPICH or Intel MPI passes on an error of libfabric: the function of it and the text in brackets (a name like "
     "\"Cannot allocate memory\", UNDELIVERABLE or \"No data available\") decide. No provider or device: FI_PROVIDER, "
     "I_MPI_OFI_PROVIDER and the container; a poll that failed: the peer ended or the network lost it.",
     "fi_info -l; env | grep -E 'FI_|I_MPI|MPIR_CVAR'", "MPICH src/mpid/ch4/netmod/ofi"},
    {"mpich-pmi", software,
     "unable to find the process group structure|PMI_Get_appnum returned|PMI2_*returned "
     "*pmi|MPIR_pmi_init|MPII_Init_thread*pmi|PMI_Init returned|PMI_Barrier returned|PMI_KVS_*returned|unrecognized "
     "PMI|readline failed*pmi|PMIU_readline|unexpected PMI",
     "MPICH, MVAPICH or Intel MPI could not talk to its launcher (PMI): the program was built for another one. Use the "
     "mpiexec of the same MPI, or with Slurm srun --mpi=pmi2 (Intel MPI: I_MPI_PMI_LIBRARY=libpmi2.so).",
     "srun --mpi=list; ldd PROGRAM | grep -iE 'mpi|pmi'; env | grep PMI", "MPICH src/pmi, src/util/mpir_pmi.c"},
    {"mpich-socket", peer,
     "connection closed by peer (set=|Communication error with rank|unable to connect to * on "
     "port|MPIDU_Sock|MPID_nem_tcp_connpoll|dcp_recv*closed|MPIDI_CH3I_Progress*connection|MPIDI_CH3*connect*failed|"
     "Process failed (set",
     "A connection between two MPI ranks broke or was not made: the other rank (its number is in the line) ended, or "
     "its host name resolves to an address that this host cannot reach (127.0.1.1, another network). Name the "
     "interface (-iface, MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE).",
     "getent hosts {peer}; ip -br addr", "MPICH src/mpid/ch3/channels/nemesis, src/mpi/errhan"},
    {"mvapich-resources", host,
     "mv2*Cannot create cq|mv2*Failed to create|rdma_iba_hca_init*|cannot create cq|MV2_*is "
     "not|mv2_increase_open_files_limit|Error getting HCA|No active HCAs found|No HCA found|Got FATAL event|Got "
     "completion with error 12*vendor code=|rdma_open_hca*",
     "MVAPICH could not set up the RDMA device of this host: no active HCA (port down, not in the container), the "
     "memlock limit (cannot create cq), or an event of the device. Compare ibv_devinfo and ulimit -l inside of the "
     "job; MV2_IBA_HCA chooses the device.",
     "ibv_devinfo; ulimit -l; env | grep MV2_", "MVAPICH src/mpid/ch3/channels/mrail"},
    {"ucc-no-team", software,
     "no tl teams were created|no cl teams were created|no CLs left|no tl contexts were created|TL CONTEXT ERROR|no "
     "components supported|team*create failed*no tl|failed to create *tl team|UCC no CL components|no TLs are "
     "available|no plugins found in ucc",
     "UCC has no transport layer for this team of processes: UCC_TLS excludes all that fit (ucp, nccl, sharp, cuda, "
     "self), UCC or UCX were built without them, or the team has one process. Look at UCC_LOG_LEVEL=info and ucc_info "
     "-s; --mca coll_ucc_enable 0 goes on without UCC.",
     "ucc_info -cf | grep TLS; env | grep UCC_", "UCC src/components/cl/basic/cl_basic_team.c"},
    {"ucc-required-tl", software,
     "is not part of the context|required TL|UCC*component * was not found|UCC*is not available*TL|failed to open "
     "UCC|requested TL*not|UCC_TLS*invalid",
     "The UCC configuration names a transport layer that is not loaded in this context (nccl, sharp, cuda): UCC was "
     "built without it, its library is missing, or the job has no device for it. Take it out of UCC_TLS and "
     "UCC_CL_BASIC_TLS, or use a UCC that was built with it.",
     "ucc_info -s; env | grep UCC_", "UCC src/core/ucc_context.c"},
    {"sharp-lock", network, "SAT lock|SAT group*failed|Streaming*lock failed|sharp*lock failed|failed to lock SAT",
     "The streaming aggregation tree (SAT) of SHARP could not be locked: another job holds it, or the switches or "
     "their firmware do not support streaming aggregation. The number is a code of SHARP, not an errno. NCCL goes on "
     "without SHARP; NCCL_COLLNET_ENABLE=0 silences it. Look at other SHARP jobs and the log of sharp_am.",
     "sharp_hello; grep -iE 'lock|job' /var/log/sharp_am.log", "nccl-rdma-sharp-plugins src/sharp_plugin.c"},
    {"sharp-no-resource", network,
     "failed with status: No resource|AM*no resources|quota*sharp|sharp_alloc_groups*failed|No available SHARP "
     "resources|sharp_comm_init*No resource",
     "The SHARP aggregation manager has no resource (tree, group or quota of the switches) left for this job: other "
     "SHARP jobs hold it, or the quota in its configuration is too small. See sharp_am.log and sharp_manager; use "
     "fewer ranks of each host or fewer groups for SHARP, or go on without it.",
     "grep -iE 'resource|quota|job' /var/log/sharp_am.log; env | grep SHARP", "SHARP libsharp"},
    {"sharp-no-manager", network,
     "Failed to connect to AM|No AM found|AM service record|unable to find AM|sharpd*Service not found|Begin job "
     "id:*failed with status:|ServiceRecord*sharp|Failed to connect to Aggregation|sharp*AM server|Aggregation "
     "Manager*not|sharpd: not found|sharp_init_session*failed|sharp_get_job_data|Failed to initialize SHArP|Failed to "
     "initialize sharp|sharp_coll_init*failed|SHARP initialization failed|Failed to create SHARP job",
     "SHARP could not begin its job: no aggregation manager (sharp_am) answers for this subnet, its service record is "
     "not in the subnet administrator, sharpd does not run on this host, or the versions differ. See that sharp_am "
     "runs at the master subnet manager and look at its log; collectives go on without SHARP (NCCL_COLLNET_ENABLE=0, "
     "HCOLL_ENABLE_SHARP=0).",
     "sharp_hello; saquery SR; systemctl status sharp_am sharpd", "SHARP libsharp, sharpd"},
    {"sharp-port-of-sm", host,
     "port is used by SM|sharp_get_local_data: error|collect_ports_data*not valid|device * port * is not valid",
     "SHARP does not use this port because the subnet manager runs on it (or it is not active), and no other port of "
     "the host is left. Run the subnet manager on another node or port, or choose another device for SHARP "
     "(SHARP_COLL_IB_DEV_NAME).",
     "sminfo; ibstat; env | grep SHARP", "SHARP libsharp"},
    {"sharp-am-place", host, "Local Port validation failed|must bind to port with master SM",
     "The SHARP aggregation manager (sharp_am) runs on the wrong host or port: it must run at the port of the master "
     "subnet manager, whose LID the line gives. Run sharp_am on the host of the master SM (sminfo), or make the SM of "
     "this host the master (priority).",
     "sminfo; ibstat | grep -i lid; systemctl status sharp_am", "SHARP sharp_am"},
    wrapping({"nccl-in-framework", unknown,
              "ncclCommInitRank failed|ncclCommInitAll failed|ncclAllReduce failed|ncclGroupEnd "
              "failed|ncclInternalError: Internal check failed|NCCL Error *: internal error|NCCL Error 2: unhandled "
              "system error|ncclInvalidUsage: This usually reflects|NCCL error*invalid usage|NCCL Error 5: invalid "
              "usage|NCCL Error 1: unhandled cuda error|NCCL Error 6|NCCL Error 4: invalid argument|ncclSystemError",
              "A framework (Horovod, TensorFlow, PyTorch, CuPy) passes on the result of a call of NCCL: system error "
              "(ncclSystemError: a system call or libibverbs), internal error, invalid usage (a rank or GPU twice) or "
              "a CUDA error. The line does not say which: run with NCCL_DEBUG=INFO, and read the first NCCL WARN of "
              "all ranks before it.",
              "grep -hE 'NCCL WARN' LOG-OF-EVERY-RANK | head; env | grep NCCL_DEBUG", "NCCL src/init.cc"}),
    {"ompi-no-nics", host,
     "high-performance Open MPI point-to-point messaging module|was unable to find any relevant network interfaces",
     "Open MPI finds no usable RDMA device on this host or in this container for the module that the next lines name, "
     "and uses another transport. See ibv_devices, the user-space driver (libibverbs provider) in the image and "
     "/dev/infiniband in the container; if UCX is used, --mca btl ^openib silences it.",
     "ibv_devices; ls -l /dev/infiniband; ompi_info | grep ucx", "Open MPI help-mpi-btl-base.txt"},
    {"ompi-pml-differ", software, "selected pml *, but peer",
     "Two processes of the job chose different transports for messages (PML: ucx, ob1, cm) and cannot communicate. On "
     "one of the hosts UCX finds no RDMA device, or Open MPI has another build or setting. Compare ibv_devices and "
     "ompi_info of both hosts, or set the transport for all processes: --mca pml ucx.",
     "ibv_devices; ompi_info | grep -E 'pml|ucx'; env | grep OMPI_MCA", "Open MPI ompi/mca/pml/base/pml_base_select.c"},
    {"ompi-unbound", software, "OFI driver detected multiple NICs",
     "The process is not bound to CPUs, so that Open MPI cannot choose the NIC that is nearest to it, and the job is "
     "slower than it could be. Start it with mpirun --bind-to core (or numa); the launcher of a batch system binds by "
     "an option of its own (srun --cpu-bind).",
     "mpirun --report-bindings hostname", "Open MPI opal/mca/common/ofi/help-common-ofi.txt"},
    {"ompi-bml-note", none,
     "mca: bml: Using |mca: bml: Not using |enabling accelerator IPC to rank|removing old agreement|dropping data, "
     "with local completion|flag is specified for the * BTL without any|OPAL DEBUG WARNING|insuficiently tested in "
     "post-failure|is not tested for post-failure|bug in post-failure operation|NOTIFYERRORS was set|multiple "
     "equidistant NICs",
     "Information of Open MPI or PRRTE: the transport to a process, a NIC that was chosen without the binding of the "
     "process, or a component that is not tested for a fault-tolerant run. Harmless; bind the processes (--bind-to "
     "core) if a job should use the nearest NIC.",
     "mpirun --display map hostname", "Open MPI ompi/mca/bml/r2, opal/mca/common/ofi"},
    {"ompi-program", software,
     "attempted to initialize MPI|MPI_FINALIZE was invoked|unnamed MPI_Comm handles still allocated|intercepted a call "
     "to free memory that is still being used|allocated via MPI_ALLOC_MEM but not freed|Detected mismatched "
     "split_type|unexpected split type in a call|invoked an MPI function that is not supported|deprecated MPI_Info "
     "key|MPI_Info_set warning|proc-per-resource MPI_Info key|MPI_Cancel for a request|OMPI programming "
     "error|Communicator disjointness|wrong send request type|SHMEM_ABORT was invoked|negative-weight cycle "
     "detected|graph is not (unidirectionally) bipartite|is not a valid JSON string|expects input type|invalid peer "
     "index|dpm_disconnect_init: error|internal error has occurred when creating a new communicator|shmem_*initialized "
     "more than once|was configured without support for heterogeneous",
     "Open MPI reports a wrong or unsupported call of the program: the order of init and finalize, handles or memory "
     "that are not freed, a deprecated key, or calls that differ between the ranks. The line does not report a network "
     "error.",
     "ompi_info | head; coredumpctl list", "Open MPI help-mpi-runtime.txt, help-comm.txt, help-dpm.txt"},
    {"ompi-parameters", software,
     "eager limit\" MCA parameter|MCA parameter mpi_|MCA parameter * has been set|user-supplied value attempted "
     "to|mca_base_env_list|Unable to locate the variable file|cannot contain a token that has more than one|was set in "
     "an unexpected way|re-registered with a different type|name collision was detected on an MCA|--mca "
     "mpi_cuda_support|ERROR (coll/xhc)|only supports one accelerator framework|User specified an accelerator "
     "component|Only one PML must be provided|Maximum outstanding requests must be|does not support multiple "
     "different|conflicting directives regarding a prefix|invalid MCA parameter information level|could not parse "
     "mpi_show_mca_params|mpi_no_free_handles|ess_base_forward_signals|parameter checking has been compiled "
     "out|unrecognized syslog level|value was given for the syslog facility|could not parse regular expression|No "
     "collective modules are available|UBCL|PRTE was unable to find any|Bad parameter value for parameter|invalid "
     "deprecation warning value|invalid value for launch key|keyval parser: error|Duplicate cmd line entry|none of "
     "them said that they could be used|require support from a prior collective|requested that it be excluded|made to "
     "exclude a hook component|Requested buffer size * exceeds limit|Requested aligned buffer size|incorrect value for "
     "cts|plog_base_order|specified network is not parseable|include and exclude lists were specified|static and "
     "dynamic port ranges|malformed IP address or netmask|malformed IPv4 address",
     "A parameter of Open MPI, PRRTE or PMIx (--mca, OMPI_MCA_, PRTE_MCA_, PMIX_MCA_, openmpi-mca-params.conf) has an "
     "invalid value, names a component that this build does not have, or excludes too much. Correct the parameter that "
     "the line names; ompi_info --all --parsable lists the values.",
     "env | grep -E 'OMPI_MCA|PRTE_MCA|PMIX_MCA'; ompi_info --all | grep NAME",
     "Open MPI help-mca-base.txt, help-mca-var.txt, help-mpi-pml-ob1.txt"},
    {"ompi-hosts", software,
     "unable to open the hostfile|hostfile given is not a regular file|bad parameter in the hostfile|parse error in "
     "the hostfile|requested hosts are not included|requested hosts is not included|Missing requested host|relative "
     "host was|empty hosts was not available|more slots on a node than|slots on a node than its maximum|hostfile was "
     "provided that contains|not present in the allocation|unknown to the DVM|\"--activate\" directive|hostfile given "
     "to \"--activate\"|add-host or add-hostfile directive|is already assigned to *, check|unable to open the "
     "rankfile|rankfile that was used claimed|Rankfile claimed host|invalid syntax in the rankfile|rank is missing its "
     "location|parsing the rankfile|LSF affinity file|affinity file provided in",
     "mpirun rejects its host list (--host, --hostfile, a rankfile): a file that cannot be read, a wrong entry, a host "
     "that is not in the allocation of the scheduler or has another name there, or more slots than the host has. "
     "Compare the list with the allocation (scontrol show hostnames, $PBS_NODEFILE).",
     "mpirun --display allocation hostname; scontrol show hostnames",
     "PRRTE help-hostfile.txt, help-dash-host.txt, help-rmaps_rank_file.txt"},
    {"ompi-allocation", unknown,
     "srun returned non-zero exit status|srun * returned non-zero exit|usable \"srun\" in its path|process starter for "
     "PRTE|process starter requires a minimum Slurm|SLURM resource allocator|PBS_NODEFILE|PBS_PPN|PE_HOSTFILE|Grid "
     "Engine Parallel Environment|LSF failed when queried|flux_open returned|flux_kvs_lookup|LSF process "
     "starter|usable \"srun\" command|PBS_Nodefile|unable to find an allocation for this job|No available launching "
     "agents|cmd line to launch remote daemons is too long|concurrent daemons to launch|unable to find any available "
     "allocation",
     "mpirun could not read the list of nodes from the scheduler (Slurm, PBS, LSF, Grid Engine, Flux), or could not "
     "start its daemons with the scheduler. Usual causes: mpirun runs outside of an allocation, variables of the job "
     "are missing (sudo, ssh, a container without the environment or without srun), or srun failed on a node and "
     "printed the reason in a line nearby.",
     "env | grep -E 'SLURM_|PBS_|LSB_'; srun hostname; which srun",
     "PRRTE help-plm-slurm.txt, help-ras-slurm.txt, help-ras-pbs.txt"},
    {"ompi-sockets", host,
     "No usable network interfaces were found on this host|No sockets were able to be opened on the "
     "available|accept(3) system call failed on a TCP socket|failed to get or set flags on a TCP socket|failed to look "
     "up the peer IP address|no available interfaces were found|no non-loopback interfaces were found|no loopback "
     "interfaces were found|unable to bind its listening socket|listener thread failed to start|unable to create the "
     "rendezvous file|stale rendezvous file|server rendezvous file",
     "Open MPI, PRRTE or PMIx on this host could not open its control sockets (TCP) or files: all interfaces are down "
     "or excluded (oob_tcp_if_include, if_exclude), the ports of a fixed range are in use, the limit of open files is "
     "reached, or TMPDIR is full or belongs to another user. RDMA is not used here.",
     "ip -br addr; ulimit -n; df -h $TMPDIR; env | grep -E 'OMPI_MCA|PRTE_MCA|PMIX_MCA'",
     "PRRTE help-oob-tcp.txt, OpenPMIx help-ptl-base.txt"},
    {"ompi-tcp-handshake", software,
     "failed to handshake with a connecting peer|inbound MPI TCP connection request from a peer|did not receive "
     "version information when connecting|TCP connection from an unprivileged source|does not match the ID registered "
     "by the host",
     "A TCP connection of Open MPI or PRRTE came from an unexpected address or process: an interface or address that "
     "several hosts have (docker0, virbr0), another job or release, or a port scanner. Select the network of the "
     "cluster: --mca btl_tcp_if_include 10.0.0.0/16.",
     "ip -br addr; env | grep OMPI_MCA", "Open MPI help-mpi-btl-tcp.txt, PRRTE help-oob-tcp.txt"},
    {"ompi-gpu",
     host,
     "The call to cu*failed|CUDA: error calling|CUDA: unable to set ctx|Error in accelerator mem|accelerator "
     "mem_copy|accelerator/*mem_copy|coll/accelerator: Error|Failed to cuMemcpy GPU memory|call to allocate memory "
     "within the CUDA support failed|outstanding event handles|therefore cannot utilize CUDA|CUDA-aware support is "
     "disabled|HIP error: * file: * line: |Could not create hipStream|Could not allocate hipStream|No HIP capab|Large "
     "BAR support is not enabled|create_ipc_event failed|get_ipc_event_handle failed|check_addr failed (dst|IPC cannot "
     "be set|UNKNOWN GPU IPC control",
     {"Open MPI's access to the memory of a GPU failed (CUDA or ROCm: copy, IPC, events, registration). The value is a "
      "code of CUDA or HIP: 1 or 101 is an invalid pointer or device of the program, 2 is memory that is used up, 700 "
      "and above is an earlier error of a kernel of the program. The network is not at fault. ",
      {Work::in_machine, "Large BAR requires Above 4G Decoding in the firmware setup."}},
     "nvidia-smi; journalctl -k -g 'NVRM|amdgpu'; ompi_info | grep -iE 'cuda|rocm'",
     "Open MPI help-accelerator-cuda.txt, opal/mca/accelerator"},
    {"ompi-ofi-contexts", host,
     "does not have enough free bits in its tag|^fi_av_open failed|^fi_cq_open failed|^fi_tx_context "
     "failed|^fi_rx_context failed|^fi_bind |does not have enough bits for source rank|Scalable Endpoint feature is "
     "required|number of OFI contexts|available OFI contexts|available contexts from provider|bigger than supported by "
     "selected transport|bigger than supported by PSM2",
     "The libfabric provider does not have the resources that Open MPI's MTL ofi requests: bits of the tag, contexts "
     "for the processes of a host, or the size of a message; or the provider could not create a queue or an address "
     "vector (memlock, contexts in use). Use fewer processes per NIC or another setting (mtl_ofi_num_ctxts, "
     "mtl_ofi_enable_sep), or another transport (--mca pml ucx or ob1).",
     "fi_info -v | grep -E 'mem_tag_format|cnt|ctx'; ompi_info --param mtl ofi --level 9", "Open MPI help-mtl-ofi.txt"},
    {"ompi-ofi-abort", unknown,
     "OFI MTL is aborting the MPI job|^fi_trecv failed|^fi_recv failed|^fi_tsend|^fi_tinject|^fi_trecvmsg "
     "failed|^fi_injectdata|^fi_inject failed|Error returned from fi_cq_readerr|mca_btl_ofi*fi_cq_readerr",
     "A call of libfabric failed in Open MPI's MTL ofi, or in another program on libfabric, and the program ends. The "
     "number is an errno or an error code of libfabric. The lines of the provider (FI_LOG_LEVEL=warn) have the reason: "
     "a peer that ended, a lost path, or a limit of the NIC.",
     "fi_info -l; FI_LOG_LEVEL=warn mpirun ...", "Open MPI ompi/mca/mtl/ofi"},
    {"ompi-peer-endpoint", peer,
     "not able to find endpoint information for a remote endpoint|could not find modex|does not have usnic modex "
     "info|error receiving modex",
     "A process of the job has not published the address of its network endpoint: the process could not open its NIC "
     "(no device in its container, another build or setting of Open MPI), or ended before. Look at the output and the "
     "devices of the host of that process.",
     "ibv_devices; fi_info -l; ompi_info | head", "Open MPI help-mtl-ofi.txt, opal/mca/btl/uct"},
    {"ompi-psm2-operation", unknown,
     "Error in psm2_|(psm2_mq_|PSM2 EP connect error|PSM2 returned unhandled|unexpected PSM2 error|PSM2 "
     "epid|Omni-Path*CUDA devices present|CUDA devices present*Omni-Path",
     "A call of the Omni-Path library (PSM2) failed in Open MPI: a peer that ended or cannot be reached, a port that "
     "went down, or contexts that are used up. The name of the error in the line shows the cause. PSM2 requires "
     "PSM2_CUDA=1 for memory of GPUs.",
     "opainfo; env | grep PSM2", "Open MPI ompi/mca/mtl/psm2"},
    {"ompi-node-setup", host,
     "knem kernel module, but it discovered|Unable to get the user home directory|Unable to get the current working "
     "directory|shared memory segment that was too small|Unable to open file <*to write MCA|PMIx was unable to set "
     "up|PMIx was unable to change|PMIx was unable to create a shared memory|PMIx tried to fork a new process|call to "
     "mkdir was unable to create|open a shared memory backing file, but|The specified fork agent|unable to find a "
     "usable compression library|syslog support requested but|Failed to open the stacktrace output|No event method "
     "available|Failed to open /proc/self/maps|Failed to sscanf /proc/self/maps|opal_sockaddr2str|daemon could not "
     "establish its identity|Cannot determine number of local processes|We attempted to remove a file, "
     "but|PMIX_MCA_gds=hash",
     "Open MPI or PMIx could not use a file, directory, module or library of this host: a home or working directory "
     "that does not exist on this node, TMPDIR or /dev/shm that is full or not writable, a program that is missing on "
     "this node, or a knem module of another release. Compare the node with one that works.",
     "df -h $TMPDIR /dev/shm; ls -ld $HOME $PWD; lsmod | grep knem",
     "Open MPI opal/mca/base, OpenPMIx help-pmix-util.txt, help-pfexec-base.txt"},
    {"pmix-usage", unknown,
     "usable plugins for the * framework|PMIx progress thread|PMIx server was given|PMIx tool|Collection strategy "
     "during a collective|multiple possible servers to which|received msg header indicates a size|data array is "
     "nested|server * overwriting the function pointers|not a permitted return for",
     "PMIx, with which the processes of a job find each other and their launcher, rejects a call, or two of its "
     "releases are incompatible: those of the program (in a container), of Open MPI and of Slurm. Compare the "
     "releases; RDMA is not used here.",
     "srun --mpi=list; ompi_info | grep -i pmix; pmix_info --version",
     "OpenPMIx help-pmix-server.txt, help-pmix-runtime.txt, help-ptl-base.txt"},
};

}  // namespace

const std::span<const LineMessage> kMpiMessages = kRows;

}  // namespace fabric::lines
