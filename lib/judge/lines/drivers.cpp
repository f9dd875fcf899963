// SPDX-License-Identifier: Apache-2.0
// NIC drivers and firmware, modules and cables, netdevs.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kHealth = "Linux drivers/net/ethernet/mellanox/mlx5/core/health.c";
constexpr std::string_view kEvents = "Linux drivers/net/ethernet/mellanox/mlx5/core/events.c";
constexpr std::string_view kReporter = "devlink health show pci/{pci}";
constexpr std::string_view kModule = "ethtool -m {netdev}";

constexpr LineMessage on_link_down(LineMessage row) {
  row.is_link_down = true;
  return row;
}

constexpr LineMessage on_nic_failure(LineMessage row) {
  row.is_nic_failure = true;
  return row;
}

constexpr LineMessage on_nic_stall(LineMessage row) {
  row.is_nic_stall = true;
  return row;
}

constexpr LineMessage kDriverRows[] = {
    // The kernel: health of mlx5 firmware.
    on_nic_failure(
        {"mlx5-health-compromised", host, "device's health compromised",
         "The firmware of the NIC stopped counting: it hangs. The driver starts recovery; jobs on the port fail.",
         kReporter, kHealth}),
    on_nic_failure({"mlx5-fatal", host, "mlx5_*Fatal error*detected",
                    "The driver found the NIC in a fatal state (PCIe access lost, firmware stopped, or reset by "
                    "another function).",
                    kReporter, kHealth}),
    on_nic_failure({"mlx5-synd-firmware", host, "firmware internal error",
                    "Internal error of the NIC's firmware. Collect the dump for the vendor, and update the firmware.",
                    "devlink health dump show pci/{pci} reporter fw", kHealth}),
    on_nic_failure({"mlx5-synd-irisc",
                    host,
                    "irisc not responding",
                    {"A processor of the NIC, which runs its firmware, does not respond. ",
                     {Work::in_machine, "Power-cycle the node. "},
                     "If it recurs, update the firmware, then have the NIC replaced."},
                    kReporter,
                    kHealth}),
    on_nic_failure({"mlx5-synd-hardware",
                    host,
                    "unrecoverable hardware error",
                    {"The NIC has a hardware fault. ", {Work::in_machine, "Replace it if it recurs."}},
                    kReporter,
                    kHealth}),
    {"mlx5-synd-crc", host, "firmware CRC error", "The firmware image in memory is damaged: burn it again.",
     "mstflint -d {pci} verify", kHealth},
    {"mlx5-synd-pci-fetch", host, "ICM fetch PCI error|ICM fetch PCI data poisoned error",
     "The NIC could not read host memory over PCIe: PCIe errors, an IOMMU fault or a memory error.",
     "fabric-agentctl check --only aer,pcie", kHealth},
    on_nic_failure(
        {"mlx5-synd-hw-fatal", host, "HW fatal error", "Fatal hardware error of the NIC.", kReporter, kHealth}),
    {"mlx5-synd-async-eq", host, "async EQ buffer overrun",
     "The event queue overflowed: the host did not handle the NIC's interrupts in time.", "grep mlx5 /proc/interrupts",
     kHealth},
    {"mlx5-synd-eq", host,
     "synd 0x*: EQ error|synd 0x*Invalid EQ refer|synd 0x*Invalid EQ refr|Health issue observed, EQ error|Health issue "
     "observed, Invalid EQ ref",
     "The NIC reports a fault of an event queue.", kReporter, kHealth},
    {"mlx5-synd-ffser", host, "FFSER error", "The NIC reports a serial link or memory fault (FFSER).", kReporter,
     kHealth},
    {"mlx5-high-temperature", host,
     "synd 0x*High temp|High temperature on sensors with bit set|High temprature|Health issue observed, High temp",
     "A sensor of the NIC is too hot; the firmware may stop the NIC.", "sensors; devlink health show pci/{pci}",
     kEvents},
    on_nic_failure({"mlx5-recovery-failed",
                    host,
                    "health recovery failed|Health recovery failed|health recovery flow aborted|flow aborted, PCI "
                    "reads still|NIC state*is invalid|"
                    "Driver is in error state. Unloading",
                    {"The driver could not recover the NIC. ",
                     {Work::ends_jobs, "Reload the driver"},
                     {Work::in_machine, " or power-cycle the node"},
                     "."},
                    kReporter,
                    kHealth}),
    {"mlx5-iseg",
     host,
     "FW is unable to respond to initialization segment reads|Waiting for FW initialization, timeout|in "
     "pre-initializing state, aborting",
     {"The firmware does not start or does not answer. Check its image. ", {Work::in_machine, "Power-cycle the node."}},
     "mstflint -d {pci} query",
     kHealth},
    {"mlx5-load-failed", host, "mlx5_init_one failed with error code|mlx5_load_one failed with error code",
     "The driver could not start the NIC, and its ports are missing. The lines before this one name the step: the "
     "firmware does not answer (-110, -16), or does not fit the driver (-22).",
     "journalctl -k -g mlx5_core; mstflint -d {pci} query", "Linux drivers/net/ethernet/mellanox/mlx5/core/main.c"},
    {"mlx5-command-timeout", host,
     "timeout. Will cause a leak of a command resource|No done completion|Async, timeout*leak of a command|"
     "mlx5_core*ailed to allocate command entry",
     "The firmware of the NIC did not answer a command, or so many that the driver has no entry left for another: the "
     "firmware hangs, or PCIe lost the command. The first such line names the command.",
     kReporter, "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c"},
    consequence(
        {"mlx5-reset-dropped", none, "rop new reset work|being removed, stop waiting for PCI",
         "mlx5_core is being removed from this device, and does not begin a reset or recovery any more. This is a "
         "consequence of the removal; no action if that was wanted.",
         "journalctl -k -g {pci}", "Linux drivers/net/ethernet/mellanox/mlx5/core/fw_reset.c"}),
    {"mlx5-reset-semaphore",
     host,
     "Failed to lock SW reset semaphore|Failed to unlock SW reset semaphore",
     {"The driver could not take the semaphore of the NIC that a reset needs: another function or host of the NIC "
      "holds it, or the NIC does not answer on PCIe. The fatal error before it is the cause. ",
      {Work::ends_jobs, "Reset the NIC"},
      {Work::in_machine, ", or power-cycle the node"},
      "."},
     "journalctl -k -g {pci}; devlink health show pci/{pci}",
     "Linux drivers/net/ethernet/mellanox/mlx5/core/health.c"},
    {"mlx5-command-queue",
     host,
     "canceled on out of queue timeout|timeout while waiting for command semaphore",
     {"A command waited too long for a place in the command queue of the NIC's firmware, and was given up: an earlier "
      "command does not come back because the firmware hangs, or very many commands are sent at once (a job that makes "
      "or frees thousands of queue pairs). The first command timeout, or a health message of the NIC, is nearest to "
      "the cause. ",
      {Work::ends_jobs, "Reset the NIC. "},
      "Update its firmware if it recurs."},
     "journalctl -k -g {pci}; devlink health show pci/{pci}",
     "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c"},
    // wait_func_handle_exec_timeout(), mlx5_eq_poll_irq_disabled(), mlx5e_tx_reporter_timeout_recover()
    {"mlx5-lost-interrupt", host, "cmd[*recovered after timeout|Recovered * eqes on EQ|Recover * eqes on EQ",
     "An interrupt of the NIC did not arrive: the firmware had done the work, and the driver found it by its timeout "
     "only. Each time costs seconds. In a virtual machine the hypervisor or its IOMMU (interrupt remapping) does not "
     "deliver the interrupts of the virtual function; on a host look at the affinity of the interrupts, isolated CPUs "
     "and the IOMMU.",
     "grep mlx5 /proc/interrupts; journalctl -k -g 'IOMMU|remapping'; uname -r",
     "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c, eq.c"},
    {"mlx5-uar-limit",
     host,
     "ALLOC_UAR(0x802)*limits exceeded|Only * UAR pages (need more than",
     {"The doorbell pages (UAR) in the NIC's BAR are used up: too many processes on this NIC, or 64 KiB pages. The "
      "firmware answers; RAM and locked memory are not the limit. Run fewer processes on this NIC",
      {Work::in_machine, ", or set PF_LOG_BAR_SIZE one or two higher with mlxconfig, then a cold reboot"},
      "."},
     "mstconfig -d {pci} query | grep BAR_SIZE",
     "Linux drivers/net/ethernet/mellanox/mlx5/core/uar.c, mlx4/main.c"},
    {"mlx5-limit", host,
     "failed, status limits exceeded(0x8)|failed, status no resources(0xf)|failed, status no resources(0xF)",
     "The firmware has no more objects of this kind: the queue pairs, completion queues or memory regions of the NIC, "
     "or of its virtual function, are used up.",
     "rdma resource show", "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c"},
    {"mlx5-qp-rejected", software,
     "RST2INIT_QP(*status bad|INIT2RTR_QP(*status bad|RTR2RTS_QP(*status bad|RTS2RTS_QP(*status "
     "bad|SQERR2RTS_QP(*status bad|INIT2INIT_QP(*status bad",
     "A program asked for a queue pair attribute that is impossible (timeout, retry count, rnr_retry, max_rd_atomic, "
     "traffic class), or for a transition that is not allowed: bad parameter. The firmware rejected the command and "
     "works; the process named below passes the value to ibv_modify_qp.",
     "ps -p PID; grep -hE 'modify_qp|RTR|RTS' LOG-OF-EVERY-RANK | head",
     "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c"},
    {"mlx5-register-missing", none,
     "ACCESS_REG(0x805) op_mod(0x1) failed, status bad resource|ACCESS_REG(0x805) op_mod(0x1) failed, status bad "
     "parameter",
     "No fault: a program (mlxlink, a monitor, ethtool) or the driver read a register that this NIC or firmware does "
     "not have; op_mod(0x1) is a read. The vendor knows by the syndrome which register.",
     "mstflint -d {pci} query", "Linux drivers/net/ethernet/mellanox/mlx5/core/port.c, cmd.c"},
    {"mlx5-capabilities", software, "QUERY_HCA_CAP(*failed, status bad ",
     "The kernel's driver asks the NIC for a group of capabilities (op_mod) that its firmware does not have, mostly "
     "because the firmware is older than the kernel. A driver that asks without need, and then gives up what it was "
     "doing (SR-IOV cannot be enabled, switchdev, representors), is a regression of that kernel. Update the firmware "
     "of the card, or use a kernel whose driver asks only if the firmware supports it.",
     "devlink dev info pci/{pci}; uname -r", "Linux drivers/net/ethernet/mellanox/mlx5/core/fw.c"},
    {"mlx5-command-failed", software, "failed, status*, syndrome (0x|failed, status*syndrome(0x",
     "The firmware rejected a command of the driver, and works: a program or the driver asked for something that this "
     "firmware does not do. The syndrome is the vendor's code for the reason.",
     "mstflint -d {pci} query", "Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c"},
    {"mlx5-slot-power-unknown", none, "PCIe slot power capability was not advertised",
     "A note: the PCIe slot does not say how much power it has. Harmless.", "lspci -vv -s {pci} | grep -i powerlimit",
     kEvents},
    {"mlx5-module-id", none, "Module ID not recognized: 0x",
     "ethtool -m, or a monitor, asked for a kind of module that this driver cannot decode; newer kernels do not print "
     "it as an error. Harmless: the link is not affected.",
     kModule, "Linux drivers/net/ethernet/mellanox/mlx5/core/port.c"},
    {"mlx5-region-memory",
     host,
     "mr_umem_get*umem get failed",
     {"The memory of a region could not be pinned or mapped; a number beyond -4095 is not an errno. GPU memory: the "
      "window of the GPU's BAR1 is used up (a Tesla T4 has 256 MiB, part of it reserved). ",
      {Work::in_machine,
       "Use a GPU with a large BAR1, or resizable BAR and addresses above 4 GB in the firmware setup; "},
      "else register smaller pieces."},
     "nvidia-smi -q -d MEMORY; lspci -vv -s GPU | grep 'Region 1'",
     "Linux drivers/infiniband/hw/mlx5/mr.c, nv_peer_memory issue 101"},
    consequence_of(
        "mlx5",
        {"mlx5-key-cache", host, "async reg mr failed|reg_mr_callback",
         "The driver could not make memory keys in advance, because a command to the firmware failed: the error of "
         "mlx5_core before this line is the cause.",
         kReporter, "Linux drivers/infiniband/hw/mlx5/mr.c"}),
    {"mlx5-error-cqe", host, "ERR CQE on SQ|Error cqe on cqn",
     "The NIC could not process a packet of the netdev: often a PCIe or IOMMU fault, or a driver bug.", kReporter,
     "Linux drivers/net/ethernet/mellanox/mlx5/core/en/reporter_tx.c"},
    {"mlx5-pci-error", host, "Device was enter error state|mlx5_pci_err_detected|PCI slot is unavailable",
     "The PCIe slot of the NIC failed; the driver stopped and will reset the NIC.",
     "fabric-agentctl check --only aer,pcie", "Linux drivers/net/ethernet/mellanox/mlx5/core/main.c"},
    {"mlx5-completion", software, "mlx5: *: got completion with error:",
     "A work request of a program failed; libmlx5 prints its completion in hexadecimal. The library above reports it "
     "in another line, with the status in words.",
     "grep -hE 'WARN|ERROR' LOG-OF-EVERY-RANK | head", "rdma-core providers/mlx5/cq.c"},
    {"mlx5-dump-cqe", software, "dump error cqe|Responder error cqe on cqn|Requestor error cqe on cqn",
     "A work request of the kernel failed; the lines around this one have its status or syndrome.",
     "journalctl -k -g 'WC error|syndrome'", "Linux drivers/infiniband/hw/mlx5/cq.c"},

    // Cables and modules.
    {"module-hot",
     cable,
     "Port module event[error]*High Temperature",
     {"The module in the cage is too hot, and the NIC switched it off",
      {Work::at_link | Work::at_machine, ": check airflow, then the module"},
      "."},
     kModule,
     kEvents},
    {"module-unsupported", cable,
     "Port module event[error]*nknown identifier|Port module event[error]*nsupported cable|Port module "
     "event[error]*ong range for non|Port module event[error]*nforce part number|unsupported or unqualified module was "
     "detected|unsupported SFP|n unsupported module type was detected|Unqualified SFP+ module detected|bnxt_en*SFP+ "
     "module is shut",
     "The NIC does not accept the module or cable.", kModule, kEvents},
    {"module-bus",
     cable,
     "Port module event[error]*us stuck|Port module event[error]*ad cable|Port module event[error]*ad or shorted|ice "
     "*Device cannot communicate with the module",
     {"The NIC cannot read the module: it is damaged, or not fully inserted. ",
      {Work::at_link, "Insert it again, then change the module or the cable."}},
     kModule,
     kEvents},
    {"module-shorted",
     cable,
     "Port module event[error]*able is shorted",
     {"The cable is shorted", {Work::at_link, ": replace it"}, "."},
     kModule,
     kEvents},
    {"module-power",
     cable,
     "Port module event[error]*ower budget exceeded|Port module event[error]*nsufficient power|module's power "
     "requirements exceed the device's power supply",
     {"The module needs more power than the cage of the NIC provides, and has no link",
      {Work::at_link, ": use one of a lower power class"},
      "."},
     kModule,
     kEvents},
    {"module-disabled", host, "Port module event*able disabled",
     "The firmware of the NIC has switched the module off, and the port has no link: the port was disabled by a "
     "setting or by another host of the NIC, or the module is not permitted or gets no power. mlxlink has the reason.",
     "mlxlink -d {pci} -m; ip link set {netdev} up", kEvents},
    {"module-eeprom",
     cable,
     "query_mcia_reg failed|access register MCIA|register MCIA (module|MCIA*status: |MLX4_CMD_MAD_IFC Get Module "
     "info|Cannot read module EEPROM memory",
     {"The firmware of the NIC could not read the EEPROM of the module in the cage: the module does not answer, it is "
      "of a kind that the NIC does not support, or the I2C bus to it failed; the status says which. ",
      {Work::at_link, "Insert the module again, then change module or cable."}},
     "ethtool -m {netdev}; mlxlink -d {pci} -m",
     "Linux drivers/net/ethernet/mellanox/mlx5/core/port.c, mlx4/port.c"},
    {"module-unplugged", cable, "Port module event*able unplugged|Port module event*able removed",
     "The cable or module was unplugged.", "fabric-agentctl diagnose {port}", kEvents},
    {"slot-power-off",
     host,
     "powered down due to insufficient/unadvertised power on the PCIe slot",
     {"The NIC switched ports off, because the PCIe slot advertises less power than NIC and modules need, or none. The "
      "cable is not at fault. Update the NIC's firmware",
      {Work::in_machine, ", use a slot that advertises enough, or modules that need less"},
      "."},
     "lspci -vv -s {pci} | grep -i powerlimit",
     kEvents},
    {"slot-power", host, "Detected insufficient power on the PCIe slot",
     "The PCIe slot advertises less power than the NIC needs. Some systems (DGX Spark) advertise nothing, and the line "
     "at every boot is harmless; otherwise modules may stay off or the NIC slows down. A bandwidth test (ib_write_bw) "
     "decides.",
     "lspci -vv -s {pci} | grep -i powerlimit", kEvents},

    // Netdevs.
    on_nic_stall(
        {"netdev-watchdog", host, "NETDEV WATCHDOG",
         "A transmit queue timed out: the NIC, its driver or its interrupt stopped, or the peer paused the port "
         "without end (PFC storm). The driver resets the queue or the NIC. If it recurs, update the driver; with a "
         "virtual NIC (ena, virtio) also look at the host of the virtual machine.",
         "fabric-agentctl diagnose {port}; ethtool -i {netdev}", "Linux net/sched/sch_generic.c"}),
    on_nic_stall(
        {"tx-timeout", host,
         "TX timeout detected|TX timeout on queue|EQ 0x*: Cons = 0x*, irqn = 0x|tx_timeout: VSI_num|tx_timeout: "
         "VSI_seid|tx_timeout recovery "
         "level|tx_timeout count: |tx hang*detected on queue|Detected Hardware Unit Hang|Detected Tx Unit Hang|Fake "
         "Tx hang detected",
         "The driver found a transmit queue without progress (hang) and resets it: NIC fault, lost interrupt or PFC "
         "storm; of a NIC of the host's board or of a virtual machine mostly its driver or firmware: update it.",
         "fabric-agentctl diagnose {port}; ethtool -i {netdev}",
         "Linux mlx5 en_main.c, bnxt.c, ice_main.c, i40e_main.c, ixgbe_main.c, hns3_enet.c, e1000e netdev.c"}),
    {"other-link-down", none,
     "systemd-networkd[*]: veth*: Lost carrier|systemd-networkd[*]: cali*: Lost carrier|systemd-networkd[*]: lxc*: "
     "Lost carrier|systemd-networkd[*]: cni*: Lost carrier|systemd-networkd[*]: docker*: Lost "
     "carrier|systemd-networkd[*]: br-*: Lost carrier|systemd-networkd[*]: virbr*: Lost carrier|systemd-networkd[*]: "
     "vnet*: Lost carrier|systemd-networkd[*]: tap*: Lost carrier|systemd-networkd[*]: tun*: Lost "
     "carrier|systemd-networkd[*]: flannel*: Lost carrier|systemd-networkd[*]: kube-*: Lost "
     "carrier|systemd-networkd[*]: wl*: Lost carrier|NetworkManager[*device (veth*): carrier: link "
     "disconnected|NetworkManager[*device (cali*): carrier: link disconnected|NetworkManager[*device (lxc*): carrier: "
     "link disconnected|NetworkManager[*device (cni*): carrier: link disconnected|NetworkManager[*device (docker*): "
     "carrier: link disconnected|NetworkManager[*device (br-*): carrier: link disconnected|NetworkManager[*device "
     "(virbr*): carrier: link disconnected|NetworkManager[*device (vnet*): carrier: link "
     "disconnected|NetworkManager[*device (tap*): carrier: link disconnected|NetworkManager[*device (tun*): carrier: "
     "link disconnected|NetworkManager[*device (flannel*): carrier: link disconnected|NetworkManager[*device (kube-*): "
     "carrier: link disconnected|NetworkManager[*device (wl*): carrier: link disconnected",
     "A netdev without a cable of the fabric lost its carrier: that of a container or virtual machine (it ended), a "
     "bridge, or a wireless one.",
     "ip -details link show {netdev}", "systemd-networkd, NetworkManager"},
    on_link_down({"link-down", cable,
                  "mlx5_core*: Link down|mlx4_en*: Link Down|ionic*: Link down|NIC Link is Down|hns3*: link "
                  "down|cxgb4*: link down|qede_link_update*Link is down|systemd-networkd[*: Lost "
                  "carrier|NetworkManager[*: carrier: link disconnected",
                  "The link went down: cable, module, far end (switch port), or an administrator.",
                  "fabric-agentctl diagnose {port}",
                  "Linux mlx5 en_main.c, ice_main.c, bnxt.c, ionic_lif.c, hns3_enet.c, cxgb4_main.c, qede_main.c; "
                  "systemd-networkd, NetworkManager"}),
    {"netdev-not-configured", host, "NetworkManager[*Activation: failed for connection",
     "NetworkManager could not activate the connection, and the netdev has no addresses of it: the reason is in the "
     "change of state before this line.",
     "nmcli device status; journalctl -u NetworkManager -g {netdev}", "NetworkManager src/core/devices/nm-device.c"},
    on_link_down({"bond-link-down", cable, "link status definitely down|: link status down for*disabling it in",
                  "A port of the bond lost its link; the bond continues with the others, at less bandwidth.",
                  "grep -A 3 Slave /proc/net/bonding/*", "Linux drivers/net/bonding/bond_main.c"}),
    {"bond-no-lacp", network, "No 802.3ad response from the link partner|An illegal loopback occurred on slave",
     "The switch does not answer LACP on the ports of the bond, or returns the host's own frames (illegal loopback): "
     "the switch has no port channel for these ports, or the two switches do not act as one (MLAG, ESI). One link "
     "carries all the traffic. Once, while the bond comes up, it is no fault if the partner has a MAC address later.",
     "grep -E 'Slave|Aggregator|Partner' /proc/net/bonding/*", "Linux drivers/net/bonding/bond_3ad.c"},
    {"gid-not-added", host, "unable to add gid|GID add failed port=",
     "An address of a netdev was not added to the GID table of its RDMA device: the table is full (error -28: many "
     "VLANs, containers or IPv6 addresses), or the NIC's firmware rejected it (-22). RDMA cannot use this address.",
     "rdma link show; ip -br addr; fabric-agentctl check --only gid", "Linux drivers/infiniband/core/cache.c"},
    {"ipoib-multicast", network, "multicast join failed for",
     "The subnet manager did not let this port join a multicast group of IPoIB: none is running (status -11, -110), or "
     "the port's rate, MTU or P_Key does not fit the group's (-22).",
     "sminfo; saquery -g", "Linux drivers/infiniband/ulp/ipoib/ipoib_multicast.c"},
    {"martian-source", host, "martian source * from *, on dev",
     "A packet came in on a netdev on which this host expects none from that sender: several ports in one subnet (ARP "
     "answers on any of them), or routes and rp_filter that do not fit. Use a subnet for each port, or rules by source "
     "address with rp_filter 2, arp_ignore 1 and arp_announce 2.",
     "ip rule; ip route get {peer}; sysctl net.ipv4.conf.all.rp_filter", "Linux net/ipv4/route.c"},
    {"ipv6-link-wait", none, "ADDRCONF(NETDEV_UP)*link is not ready",
     "IPv6 waits for the link of this netdev, as at each start; 'link becomes ready' follows when it is up. If it "
     "never does, the port has no link.",
     "ip -br link", "Linux net/ipv6/addrconf.c"},
    {"pci-io-space", none, "no space for [io |[io *can't assign|[io *failed to assign|failed to assign [io ",
     "The firmware gave this bridge or device no I/O ports. GPUs and NICs do not use them: their memory (a line with "
     "[mem) is what counts.",
     "lspci -vv -s {pci}", "Linux drivers/pci/setup-bus.c"},
    {"syn-cookies", none, "Possible SYN flooding on port",
     "Many processes connect to this port at once, and the kernel answers with cookies. Harmless at the start of a "
     "large job; if connections fail, raise net.core.somaxconn.",
     "ss -ltn", "Linux net/ipv4/tcp_input.c"},
    {"nfs-no-answer", unknown, "nfs: server *not responding",
     "The NFS server does not answer: its host, the path to it, or the link of this host. Processes that use the mount "
     "wait until it does.",
     "ping -c 3 {peer}; fabric-agentctl status", "Linux net/sunrpc/clnt.c"},
    {"rdma-small-mtu", host, "too low for RDMA traffic. Minimum MTU",
     "The MTU of the netdev is too small for RDMA: raise it (ip link set mtu).", "ip link show {netdev}",
     "Linux drivers/infiniband/hw/irdma/main.c"},
    {"conntrack-full", host, "nf_conntrack: table full, dropping packet",
     "The firewall's connection table is full: new TCP connections of this host fail, such as NCCL's bootstrap. RoCE "
     "traffic does not pass through it.",
     "sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max",
     "Linux net/netfilter/nf_conntrack_core.c"},
    {"checksum-failure", host, "hw csum failure",
     "The NIC's checksum of a packet is wrong: a driver or firmware bug, or damaged memory.", "ethtool -i {netdev}",
     "Linux net/core/dev.c"},
    {"neighbor-overflow", host, "neighbor table overflow|neighbour table overflow",
     "The neighbor table is full: new peers cannot be resolved.", "sysctl net.ipv4.neigh.default.gc_thresh3",
     "Linux net/core/neighbour.c"},
    {"duplicate-address", network, "duplicate address*detected!",
     "Another station has the IPv6 address of this netdev; the address and its GID are not usable.",
     "ip -6 addr show dev {netdev} dadfailed", "Linux net/ipv6/addrconf.c"},

    // Other drivers.
    {"bnxt-recovery-info", none, "bnxt_en*Error recovery info:",
     "No fault: the driver notes how it will recover the NIC, if its firmware fails one day (msglevel of ethtool).",
     kReporter, "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"i40e-no-dcb", none, "i40e*DCB init failed|i40e*Query for DCB configuration failed",
     "No fault: the NIC's firmware offers no DCB (its LLDP agent is off, or it is a mode without DCB), or has no "
     "configuration of the switch yet (NOT_READY), and the driver goes on with DCB disabled. The port works; no "
     "action, unless PFC is needed on it. The number is a status of i40e in kernels before 6.4, not an errno.",
     "ethtool --show-priv-flags {netdev}", "Linux drivers/net/ethernet/intel/i40e/i40e_main.c"},
    // Older kernels print "Firmware fatal reset event". "Solicited firmware reset event" is not a failure.
    on_nic_failure({"bnxt-firmware-fatal",
                    host,
                    "bnxt_en*irmware fatal reset event|bnxt_en*irmware non-fatal reset event|bnxt_en*Fatal firmware "
                    "reset event|bnxt_en*Non-fatal firmware reset event|bnxt_en*Firmware not responding, "
                    "status|bnxt_en*Detected firmware fatal condition|bnxt_en*abandoning msg*due to firmware status",
                    {"The firmware of the NIC failed or does not answer, and the driver resets it. ",
                     {Work::in_machine, "If it does not come back, power-cycle the node. "},
                     "Update the firmware if it recurs."},
                    kReporter,
                    "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"}),
    on_nic_failure({"bnxt-recovery-failed",
                    host,
                    "bnxt_en*Firmware reset aborted|bnxt_en*RESET_DONE not set during FW reset|bnxt_en*previous "
                    "firmware reset has not completed|bnxt_en*Failed to reinitialize after aborted firmware reset",
                    {"The driver could not bring the NIC back after a reset of its firmware. ",
                     {Work::ends_jobs, "Reload the driver"},
                     {Work::in_machine, " or power-cycle the node"},
                     "."},
                    kReporter,
                    "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"}),
    {"bnxt-doorbells", host, "bnxt_en*doorbells dropped by the device",
     "The NIC dropped doorbells, the writes by which CPUs announce work: they came faster than the NIC handles them. "
     "Queue pairs stall until the driver has repeated them.",
     "rdma resource show qp link {port}; fabric-agentctl counters", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-command-timeout", host, "bnxt_en*Error (timeout: |bnxt_en*out of seq response",
     "A firmware command did not finish: the firmware hangs.", kReporter,
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_hwrm.c"},
    {"bnxt-command-failed", software, "bnxt_en*hwrm req_type 0x*error ",
     "The firmware rejected a command of the driver: driver and firmware often come from different releases.",
     "ethtool -i {netdev}", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_hwrm.c"},
    on_nic_failure({"bnxt-re-stalled",
                    host,
                    "FW STALL Detected|bnxt_en*cmdq[0x*timedout (",
                    {"The firmware of the NIC does not answer the commands of bnxt_re. ",
                     {Work::in_machine, "Power-cycle the node. "},
                     "Update the firmware; if RDMA is not used on this NIC, blacklist bnxt_re (modprobe.d(5))."},
                    kReporter,
                    "Linux drivers/infiniband/hw/bnxt_re/qplib_rcfw.c"}),
    {"bnxt-pause-storm", host, "bnxt_en*Pause Storm detected",
     "The firmware of the NIC reports pause without end. If this port sends it, this host does not drain its receive "
     "buffers; if it is paused, another host beyond the switch does not.",
     "fabric-agentctl diagnose {port}", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"mlx5-trust-channels", host, "change trust state while in channel mode",
     "The trust mode of the port (PCP or DSCP) was not changed, because a qdisc of the port (mqprio in channel mode) "
     "fixes the classes of its queues. Delete this qdisc first: tc qdisc del dev {netdev} root; then set the trust "
     "mode again. Without the right trust mode RoCE has no PFC of its own.",
     "tc qdisc show dev {netdev}; dcb app show dev {netdev}",
     "Linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c"},
    {"bnxt-ring-monitor", host, "bnxt_en*Ring monitor event",
     "The firmware of the NIC reports a receive ring that does not move on, and the driver resets this ring: packets "
     "of its queue are lost. The rest of the port goes on. If it repeats, update the firmware and the driver.",
     "ethtool -S {netdev} | grep -E 'resets|discard'; ethtool -i {netdev}",
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c bnxt_async_event_process()"},
    {"bnxt-tpa", host, "bnxt_en*TPA end agg_buf|bnxt_en*TPA cons",
     "The NIC and its driver disagree about a packet that was received in parts (TPA: aggregation, GRO in hardware): "
     "an error of the driver or firmware, and data can be corrupted. Update them; until then ethtool -K {netdev} "
     "rx-gro-hw off lro off.",
     "ethtool -k {netdev} | grep -E 'gro|lro'; ethtool -i {netdev}",
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c bnxt_tpa_end()"},
    {"bnxt-temperature",
     host,
     "bnxt_en*Chip temperature has gone above|bnxt_en*Chip temperature has crossed",
     {"The NIC is too hot; its firmware may stop it", {Work::at_machine, ": check fans and airflow"}, "."},
     "sensors",
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-re-rejected", host, "bnxt_en*cmdq[0x*status 0x|QPLIB: cmdq[0x*status 0x",
     "The firmware of the NIC answered a command of bnxt_re with an error status: it does not do what the driver asks. "
     "Driver and firmware must be of one release; keep command and status for the vendor. EFAULT (-14) of rdma_connect "
     "after it is bnxt_re's number for this.",
     "ethtool -i {netdev}; modinfo -F version bnxt_re", "Linux drivers/infiniband/hw/bnxt_re/qplib_rcfw.c"},
    on_nic_failure({"bnxt-re-stopped", host,
                    "L2 driver notified to stop|bnxt_re*Attempting to recover|bnxt_re*Handle device suspend",
                    "The Ethernet driver (bnxt_en) resets the NIC, and the RDMA device goes away: jobs on it end. The "
                    "reason for the reset is before it.",
                    "journalctl -k -g {pci}", "Linux drivers/infiniband/hw/bnxt_re/main.c"}),
    {"bnxt-vfs-refused", host, "Reject SRIOV config request",
     "The driver refuses to make virtual functions: the PF's netdev must be up first, and no firmware reset may be in "
     "progress. Bring the PF up before it gets VFs, or wait and repeat.",
     "ip link set {netdev} up; journalctl -k -g {pci}", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_sriov.c"},
    {"rdma-register-failed",
     host,
     "Couldn't register device with driver model|Couldn't set up InfiniBand P_Key/GID cache|Couldn't create per-port "
     "data|Couldn't register device with rdma cgroup",
     {"The kernel's RDMA core could not register this device, so that there is no RDMA device of the NIC: memory, a "
      "step of its driver that failed in the lines before, or modules of the kernel and of OFED that are mixed. ",
      {Work::ends_jobs, "Load the driver again, from one release; reboot if the name is still taken."}},
     "journalctl -k -g 'infiniband|mlx5'; rdma link show; modinfo -F filename ib_core mlx5_ib",
     "Linux drivers/infiniband/core/device.c ib_register_device()"},
    consequence_of("bnxt|ionic|irdma|mlx5",
                   {"rdma-setup-failed", host,
                    "Couldn't change QP1 state to|Couldn't create ib_mad |ib_post_recv failed: -|Couldn't post receive "
                    "WRs|Couldn't start port|Couldn't open port|on MAD QP|bnxt_re*Failed to create HW|bnxt_re*Failed "
                    "to modify HW|bnxt_re*Failed to destroy HW|bnxt_re*Failed to allocate HW|bnxt_re*Failed to create "
                    "Fence|bnxt_re*Free MW failed|Failed to allocate HW AH|bnxt_re*Failed to create AH entry",
                    "An object of an RDMA device could not be made, changed or removed, because the command before it "
                    "failed. A port without its QP1, for management datagrams (MAD), has no connection manager "
                    "(rdma_cm); \"registered successfully\" after it proves nothing.",
                    "journalctl -k -g {rdma}", "Linux drivers/infiniband/core/mad.c, hw/bnxt_re/ib_verbs.c"}),
    {"bnxt-speed", host, "bnxt_en*Link speed * no longer supported",
     "The speed that was set for this port is not possible any more: another module or cable was inserted, or the "
     "firmware changed. The driver takes another speed. Set the speed or autonegotiation again, or insert the former "
     "kind of module.",
     "ethtool {netdev}; ethtool -m {netdev}", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-pf-unavailable", host, "bnxt_en*while PF is unavailable|bnxt_en*while PF unavailable",
     "This virtual function cannot ask its PF: the PF is in a reset, its driver is not loaded, or its interface is "
     "down. Look at the state and the log of the PF on the host.",
     "on the host: ip link show PF; journalctl -k -g bnxt_en", "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"ice-rdma-unsupported", unknown,
     "ice *Aux drivers are not supported|ice *RDMA is not supported|ice *RDMA support is not",
     "This Intel NIC, or the mode that it is in (safe mode, a profile of its firmware, too few interrupts), offers no "
     "RDMA: ice makes no device for irdma. This is expected of a NIC for management or TCP. If jobs are to use this "
     "NIC, correct the mode on this host, or use another port or NIC for RDMA.",
     "devlink dev info pci/{pci}; devlink dev param show pci/{pci} name enable_roce; journalctl -k -g {pci}",
     "Linux drivers/net/ethernet/intel/ice"},
    {"hfi1-module",
     cable,
     "hfi1_*QSFP cable|hfi1_*QSFP supply|hfi1_*QSFP *power|hfi1_*QSFP *bias",
     {"The module or active cable of an Omni-Path port reports a value out of its limits: temperature, voltage, bias "
      "or optical power; too hot means bad air flow at the port. ",
      {Work::at_link, "Check fans and air flow, reseat the cable, then replace it."}},
     "opainfo; ethtool -m {netdev}",
     "Linux drivers/infiniband/hw/hfi1/chip.c"},
    {"hfi1-request", software, "hfi1_*Eager buffer map size invalid|hfi1_*Expected buffer too big",
     "A program (PSM) asked the driver for a mapping of a wrong size: its library (libpsm2) and the driver hfi1 are of "
     "releases that do not fit each other.",
     "modinfo -F version hfi1; ldconfig -p | grep psm2", "Linux drivers/infiniband/hw/hfi1/file_ops.c, user_exp_rcv.c"},
    {"hfi1-firmware",
     host,
     "hfi1_*8051 start timeout|hfi1_*Unable to load 8051|hfi1_*irmware*8051",
     {"The link firmware of an Omni-Path adapter (the 8051 processor) does not start, and the port does not come up. "
      "Check the firmware files (hfi1_dc8051.fw). ",
      {Work::ends_jobs, "Reload hfi1. "},
      {Work::in_machine, "If that does not help, power-cycle the node, then replace the adapter."}},
     "ls /lib/firmware/hfi1_*; journalctl -k -g hfi1",
     "Linux drivers/infiniband/hw/hfi1/firmware.c"},
    {"hfi1-drain",
     host,
     "hfi1_*cannot stop/drain VLs|hfi1_*SC disable timed out|hfi1_*drain*timeout",
     {"The port of an Omni-Path adapter could not drain its virtual lanes, so that a new MTU is not set: packets are "
      "stuck without credits of the other end. Look at the link and at congestion of the fabric. ",
      {Work::ends_jobs, "Take the link down and up."}},
     "opainfo; journalctl -k -g hfi1",
     "Linux drivers/infiniband/hw/hfi1/driver.c, pio.c"},
    {"bnxt-congestion-control", host,
     "bnxt_re*ailed to setup CC enable|bnxt_re*ailed to modify CC|bnxt_re*ailed to query CC|bnxt_re*CC param",
     "Congestion control of RoCE (DCQCN, by ECN) could not be set or read in the firmware of the NIC: the NIC does not "
     "slow down when the network is congested. Update the firmware, then set and check it with niccli or configfs.",
     "devlink dev info pci/{pci}; ls /sys/kernel/config/bnxt_re", "Linux drivers/infiniband/hw/bnxt_re/main.c"},
    {"bnxt-resources", host,
     "FW unable to meet the resources|bnxt_en*Not enough rings available|bnxt_en*rings reservation "
     "failed|bnxt_en*ailed to reserve default rings",
     "The firmware of the NIC does not have as many rings, queues or contexts as the driver wants: too many functions "
     "(VFs, ports, the RDMA driver) share the card. Reduce the number of VFs or queues, or change the card's profile.",
     "ethtool -l {netdev}; devlink resource show pci/{pci}; ip link show {netdev}",
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-region-size", software, "MR Size: * > Max supported",
     "A program registers a memory region that is larger than the NIC permits. Register it in smaller pieces; the NIC "
     "has no fault.",
     "ibv_devinfo -v -d {rdma} | grep max_mr_size", "Linux drivers/infiniband/hw/bnxt_re/ib_verbs.c"},
    {"bnxt-classes", host, "cannot support the configured traffic classes",
     "The firmware of the NIC does not have the traffic classes that were set, and QoS is back at its default values: "
     "PFC and the priorities of RoCE may be lost. See what the firmware supports, then set the classes again.",
     "dcb ets show dev {netdev}; dcb pfc show dev {netdev}; devlink dev info pci/{pci}",
     "Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c"},
    {"bnxt-post", software, "FP: QP (0x*Q is full|FP: QP (0x*is in the 0x",
     "A program posted a request to a queue pair that is full, or that is not connected (state 0 is RESET, 1 INIT): "
     "the queue is too small for it, it posts before ibv_modify_qp has brought the queue pair up, or after an error "
     "that it did not see. The NIC has no fault.",
     "rdma resource show qp", "Linux drivers/infiniband/hw/bnxt_re/qplib_fp.c"},
    consequence_of(
        "wc", {"ionic-completion", unknown, "qp * msn cqe with error|qp * npg cqe with error|qp * recv cqe with error",
               "A work request of the kernel on an AMD Pensando NIC failed. The two rows of hexadecimal after it (cqe) "
               "are its completion: the status in the second row says why.",
               "journalctl -k -g 'cqe|ionic'", "Linux drivers/infiniband/hw/ionic/ionic_datapath.c"}),
    {"ionic-queue-state",
     host,
     "ionic*qp * bad msn 0x|ionic*bad cqe type|ionic*bad cqe qid|ionic*bad cqe for empty|ionic*unexpected cqe type|"
     "ionic*recv index * invalid|ionic*recv index * not posted",
     {"The NIC reported a completion that does not fit the state of the driver's queue: an index, a number or a kind "
      "that was not posted. Driver and firmware disagree, and the queue pair is not usable. ",
      {Work::ends_jobs, "Reset the NIC. "},
      "Update both to one release if it recurs."},
     "modinfo -F version ionic_rdma; devlink dev info pci/{pci}",
     "Linux drivers/infiniband/hw/ionic/ionic_datapath.c, ionic_admin.c"},
    on_nic_failure({"ionic-firmware",
                    host,
                    "ionic*IONIC_CMD_*failed: TIMEOUT|ionic*FW heartbeat stalled at|ionic*FW Down: Stopping "
                    "LIFs|ionic*DEVCMD*timeout after|ionic*DEVCMD*FW is down",
                    {"The firmware of the AMD Pensando NIC stopped: its heartbeat no longer counts, or it does not "
                     "answer a command, because it hangs or restarts. The driver takes the ports down (stops the "
                     "LIFs), and starts them again when the firmware returns. Wait some minutes for it. ",
                     {Work::in_machine, "If it does not return, power-cycle the node. "},
                     "Update the firmware; open a case with the vendor if it repeats."},
                    "journalctl -k -g ionic; devlink dev info pci/{pci}",
                    "Linux drivers/net/ethernet/pensando/ionic/ionic_dev.c, ionic_lif.c"}),
    {"ionic-command-failed", host,
     "ionic*DEV_CMD *) error, |ionic*IONIC_CMD_*failed: IONIC_RC_|ionic*: opcode * error |ionic_rdma: incompatible "
     "version|ionic_rdma: Firmware RDMA Version|ionic: Firmware RDMA Version",
     "The firmware of the NIC rejected a command of the driver: the two do not fit each other, or a resource is used "
     "up. Driver, firmware and libionic must come from the same release (AMD's bundle). A refused UD queue pair "
     "(CREATE_QP BAD_ATTR) leaves a port without QP1 and rdma_cm, while RC connections work.",
     "modinfo -F version ionic_rdma; devlink dev info pci/{pci}",
     "Linux drivers/net/ethernet/pensando/ionic/ionic_main.c, infiniband/hw/ionic/ionic_admin.c, ionic_ibdev.c"},
    {"ionic-rdma-timeout", host, "admin command timed out, aq",
     "The RDMA unit of the NIC did not answer a command of ionic_rdma, which resets it: its queue pairs are lost.",
     "journalctl -k -g ionic; devlink dev info pci/{pci}", "Linux drivers/infiniband/hw/ionic/ionic_admin.c"},
    {"sfp-transmitter",
     cable,
     "module transmit fault indicated|module persistently indicates fault",
     {"The module reports a fault of its transmitter (laser); if that lasts, it is switched off and the link stays "
      "down. ",
      {Work::at_link, "Reseat the module and clean its connector, then replace it."}},
     "ethtool -m {netdev}",
     "Linux drivers/net/phy/sfp.c"},
    {"sfp-eeprom",
     cable,
     "EEPROM base structure checksum failure|EEPROM extended structure checksum failure|EEPROM short read|^sfp*ailed "
     "to read EEPROM",
     {"The EEPROM of the module cannot be read over I2C, or its checksum is wrong: a bad contact, a module that is "
      "defective or badly coded, or one that is not ready yet. The port does not use it. ",
      {Work::at_link, "Reseat the module, then use another one."}},
     "ethtool -m {netdev}",
     "Linux drivers/net/phy/sfp.c"},
    {"mana-version", host, "VfVerifyVersionOutput",
     "The driver of the Azure NIC (mana) and the Azure host do not agree about the version of their interface, or the "
     "host refused the request: the virtual function has no network interface and no RDMA. Use a newer kernel or "
     "image, or deploy the machine again, on another host.",
     "uname -r; journalctl -k -g mana", "Linux drivers/net/ethernet/microsoft/mana/gdma_main.c"},
    {"mana-refused", host,
     "HWC: Failed hw_channel req: 0x|mana*Command 0x*failed with status: 0x|mana*ailed*status=0xc|mana*ailed*, 0xc0",
     "The Azure host refused a request of the NIC's driver; the status is of the host: not supported (an older host, "
     "or a size of machine without it), resources that are used up, or an invalid parameter of an old driver: then use "
     "a newer kernel. If the driver does not start, traffic takes the slow synthetic path (hv_netvsc).",
     "uname -r; journalctl -k -g mana", "Linux drivers/net/ethernet/microsoft/mana/hw_channel.c"},
    {"mana-command", host, "HWC: Request timed out|mana*Command 0x*timed out",
     "The Azure host did not answer a command of the NIC's driver: the host is being serviced, or its device hangs.",
     "journalctl -k -g mana", "Linux drivers/net/ethernet/microsoft/mana/hw_channel.c"},
    {"efa-dereg", none, "Failed to process command DEREG_MR",
     "A race at the end of a process: the accelerator's driver has released the buffer before EFA deregistered it "
     "(RESOURCE_BUSY of the admin queue). Harmless after a process has ended; if it repeats while jobs run, update the "
     "EFA driver.",
     "modinfo -F version efa", "AWS Neuron's troubleshooting guide, Linux drivers/infiniband/hw/efa/efa_com.c"},
    {"efa-command", host, "Failed to process command*comp_status|efa *Failed to process command",
     "The EFA device rejected a command of the driver: no resource left for another object (err -12: fewer processes "
     "or endpoints on the device), or a wrong request.",
     "rdma resource show", "Linux drivers/infiniband/hw/efa/efa_com.c"},
    {"efa-timeout", host,
     "efa *Wait for completion (polling) timeout|efa *Wait for completion (interrupt) timeout|efa *Reset indication|"
     "efa *Reading register timed out|efa *Admin queue is closed",
     "The EFA device does not answer its driver: stop and start the instance, or wait for its retirement.",
     "journalctl -k -g efa", "Linux drivers/infiniband/hw/efa/efa_com.c"},
    {"efa-interrupt", host, "efa *didn't receive any MSI-X interrupt",
     "An interrupt of the EFA device was lost: check the isolation of CPUs and the affinity of interrupts, then the "
     "version of the driver.",
     "grep efa /proc/interrupts; modinfo -F version efa", "Linux drivers/infiniband/hw/efa/efa_com.c"},
    {"irdma-reads", host, "Q1 Resource Check",
     "The NIC has run out of resources for incoming RDMA reads (its queue Q1): too many reads or queue pairs at once. "
     "It is not reset for that. Let the job have fewer outstanding reads or queue pairs; update irdma and the NVM.",
     "rdma resource show; modinfo -F version irdma", "Linux drivers/infiniband/hw/irdma/icrdma_if.c"},
    on_nic_failure({"irdma-critical", host,
                    "ICE OICR event notification: oicr|critical PE Error, GLPE_CRITERR|ice *HMC Error|rocep*: HMC "
                    "Error|rocep*: Requesting a reset|irdma*Requesting a reset|AEQ has overflowed|CQP: [Error] maj=",
                    "The RDMA unit of the NIC reports a critical error (HMC is its cache in host memory), and irdma "
                    "has the whole NIC reset: its link is down for seconds each time. Update ice, irdma and NVM "
                    "together; where RDMA is not used on this NIC, blacklist irdma.",
                    "journalctl -k -g irdma; ethtool -i {netdev}", "Linux drivers/infiniband/hw/irdma/icrdma_if.c"}),
    {"irdma-mad", host, "abnormal ae_id*qp_id = 1",
     "An asynchronous error on QP 1 of this RDMA device, which carries rdma_cm: new connections through this port fail "
     "until irdma is loaded again. A driver fault that newer kernels have fixed.",
     "journalctl -k -g irdma; uname -r", "Linux drivers/infiniband/hw/irdma/hw.c"},
    {"irdma-completion-queue", software, "Processing CQ[*op error, AE",
     "A completion queue overflowed, or the NIC could not write to it: the program does not poll it in time or made it "
     "too small, or a fault of the driver.",
     "ibv_devinfo -v -d {rdma} | grep max_cqe; ethtool -i {netdev}", "Linux drivers/infiniband/hw/irdma/hw.c"},
    {"irdma-read-limit", software, "above max_hw_ord=|above max_hw_ird=",
     "The program asks for more outstanding reads or atomics (max_rd_atomic, max_dest_rd_atomic) than the NIC has, and "
     "ibv_modify_qp fails with EINVAL.",
     "ibv_devinfo -v -d {rdma} | grep rd_atom", "Linux drivers/infiniband/hw/irdma/verbs.c"},
    {"irdma-tos", software, "application TOS[*] and remote client TOS[",
     "The two sides of a connection use different types of service (traffic class): their packets go out in different "
     "priorities. Set the same one on both sides.",
     "fabric-agentctl topo --format nccl", "Linux drivers/infiniband/hw/irdma/cm.c"},
    {"irdma-abnormal", unknown, "abnormal ae_id|qp async event qp_id|related AE for CQ misc",
     "An asynchronous event closed a queue pair of the NIC; its name says which side caused it.",
     "fabric-agentctl counters", "Linux drivers/infiniband/hw/irdma/hw.c"},
    {"ice-channels",
     host,
     "Cannot change channels when RDMA is active",
     {"The driver refuses (EBUSY) to change the number of queues while irdma uses their interrupts. Set the channels "
      "at boot before irdma loads. ",
      {Work::ends_jobs, "Or unload irdma first, which removes the RDMA devices of this NIC."}},
     "ethtool -l {netdev}; lsmod | grep irdma",
     "Linux drivers/net/ethernet/intel/ice/ice_ethtool.c"},
    {"ice-vfs-msix", host, "MSI-X interrupts available for SR-IOV|Not enough MSI-X|not enough device MSI-X vectors",
     "The function has no MSI-X vectors left for virtual functions: on machines with many CPUs ice and irdma take all "
     "of them. Lower msix_vec_per_pf_max with devlink before the driver loads, or do not load irdma where RDMA is not "
     "used.",
     "devlink dev param show; grep {pci} /proc/interrupts", "Linux drivers/net/ethernet/intel/ice/ice_sriov.c"},
    // set_rdma_caps() disables RDMA of a device with more than four ports.
    {"ice-no-rdma",
     host,
     "ice *RDMA functionality is not available with the current device",
     {"This Intel NIC has more than four functions (ports) in its present configuration. The driver then disables "
      "RDMA, and irdma creates no RDMA device. ",
      {Work::ends_jobs, "Select a port mode with four ports or fewer (Intel's EPCT), then reboot."}},
     "devlink dev info pci/{pci}; lspci -s {pci}; rdma link show",
     "Linux drivers/net/ethernet/intel/ice/ice_common.c"},
    consequence(
        {"iavf-reinit", none, "iavf *Hardware came out of reset",
         "The virtual function starts again after a reset by its PF. Harmless by itself, no action is needed; if it "
         "repeats, the lines beside it, and the log of the PF on the host, have the reason of the resets.",
         "journalctl -k -g iavf; on the host: ip link show PF",
         "Linux drivers/net/ethernet/intel/iavf/iavf_main.c iavf_watchdog_task()"}),
    {"iavf-reset",
     host,
     "iavf *Never saw reset|iavf *Reset never finished|iavf *Reset task did not complete|iavf *VF disabled",
     {"A reset of this virtual function by its PF did not end, so that it does not work or is disabled (its interface "
      "is gone): settings of the function (trust, MAC, VLAN) were changed again and again, many functions are reset at "
      "the same time, or the PF is in a reset itself. Look at the log of the PF (ice, i40e) for this VF. ",
      {Work::ends_jobs, "Bind iavf to the function again, or make the functions again."}},
     "journalctl -k -g 'iavf|ice|i40e'; on the host: ip link show PF",
     "Linux drivers/net/ethernet/intel/iavf/iavf_main.c iavf_disable_vf()"},
    {"vf-mailbox", host,
     "Unable to send the message to VF|ARQ Overflow Error detected|ARQ Critical Error detected|ARQ VF Error "
     "detected|ASQ Overflow Error detected",
     "The physical function could not put a message into the mailbox of a virtual function (EBUSY: it is full), or its "
     "own queue overflowed: the driver of the VF does not fetch its messages (it was removed, hangs or is in a reset), "
     "or many VFs are initialized at a time. Messages are lost, and a VF may stay badly initialized. Initialize the "
     "VFs one after the other, reset the VF or bind it to its driver again, and update the drivers of both (i40e, ice; "
     "iavf, DPDK).",
     "ip link show {netdev}; journalctl -k -g {pci}",
     "Linux drivers/net/ethernet/intel i40e_virtchnl_pf.c, ice_virtchnl.c, i40e_main.c"},
    {"vf-not-trusted", software, "VF is not trusted, switch the VF|VF * is not trusted|nprivileged VF * is attempting",
     "A virtual function asked for something that only a trusted one may set: another MAC address or more of them, "
     "promiscuous mode, more VLANs. Let the user of the function keep the address that its PF gave it, or trust it "
     "(ip link set PF vf N trust on).",
     "ip link show {netdev}; journalctl -k -g {pci}",
     "Linux drivers/net/ethernet/intel i40e_virtchnl_pf.c, ice_virtchnl.c"},
    {"vf-request-refused", host, "VF * failed opcode |failed to honor VF",
     "The PF refused a request of one of its virtual functions; the opcode is the request, retval its status "
     "(ERR_PARAM: a parameter that the function may not use, or a function that was changed or reset meanwhile). The "
     "function lacks what it asked for: queues, interrupts, an address or a VLAN. Compare the settings of the VF "
     "(trust, MAC, VLAN) and the versions of the drivers of both; the log of the VF has the other half.",
     "ip link show {netdev}; journalctl -k -g {pci}; in the guest: journalctl -k -g iavf",
     "Linux drivers/net/ethernet/intel/ice/ice_virtchnl.c, i40e/i40e_virtchnl_pf.c"},
    {"iavf-pf-reset", host,
     "Reset indication received from the PF|Reset warning received from the PF|VF reset*requested by PF|iavf *PF reset",
     "The driver of the physical function (ice, i40e) on the host resets this virtual function: after a change of its "
     "settings there (MAC address, VLAN, trust), or because the whole NIC is reset. Look at the log of the physical "
     "function on the host at this time. In a virtual machine that is the hypervisor.",
     "on the host: journalctl -k -g 'ice|i40e'", "Linux drivers/net/ethernet/intel/iavf/iavf_virtchnl.c"},
    {"iavf-pf", host,
     "Virtual channel Req <-> Resp completion timeout|PF returned error|iavf *error IAVF_|iavf *dmin queue command "
     "never completed|iavf *dmin Queue command never completed|iavf *PF not responding|iavf *to communicate with "
     "PF|iavf *Unable to get VF config|iavf *Failed to init adminq",
     "The PF (physical function; ice, i40e) of this virtual function rejects its request or answers with an error or "
     "not at all, and the function may have no configuration and no interface: the PF is down, in a reset, without a "
     "driver or with one of another version, or its policy (trust, VLAN, MAC) forbids it. The log of the PF, on the "
     "host, has the reason.",
     "journalctl -k -g iavf; on the host: ip link show PF", "Linux drivers/net/ethernet/intel/iavf"},
    consequence({"hns-command",
                 host,
                 "hns3*failed to set gid|hns_*failed to set gid|hns_*set HEM *fail|hns3*cmd failed "
                 "-|hns3*CMDQ|hns_*CMDQ|hns_*mailbox|hns_*ailed to *ret = -",
                 {"A command of the driver to the hardware or firmware of the NIC failed: its command queue is busy or "
                  "stopped, often during a reset, or after one that did not end. The first of these lines is the "
                  "cause. If it lasts, ",
                  {Work::ends_jobs, "reload the driver or reboot; "},
                  "update the driver and the firmware."},
                 "journalctl -k -g hns; ethtool -i {netdev}",
                 "Linux drivers/infiniband/hw/hns/hns_roce_hw_v2.c"}),
    {"hns-request", software,
     "hns_*check * size error|hns*nvalid request local work queue|hns*ocal access violation|hns_*nvalid "
     "parameter|hns_*nvalid length of data|hns_*ailed to post WQE, QP state|hns_*nvalid cqe size",
     "A program asked the NIC for something that it does not have or permit: a queue or inline data that is too large, "
     "a post to a queue pair that is not connected, an access with a wrong or freed key or beyond a region, or an "
     "operation that the queue pair does not allow (atomics, access flags). The queue pair then is in error.",
     "ibv_devinfo -v -d {rdma}", "Linux drivers/infiniband/hw/hns"},
    {"hns-queue-error", host, "hns*ocal work queue 0x*catas|hns*SRQ catas error|hns*rc domain violation",
     "The NIC stopped a queue pair, because its setup is wrong: the sub-event says which part (context, path MTU, "
     "addresses of its pages, service level, port). The queue pair is in error. For MTU compare the MTU of port and "
     "path on both hosts; else driver, library (libhns) and firmware must fit each other.",
     "ibv_devinfo -d {rdma} | grep mtu; journalctl -k -g hns", "Linux drivers/infiniband/hw/hns/hns_roce_hw_v2.c"},
    on_nic_failure(
        {"hns-function-reset", host, "hns_*unction level reset",
         "The function of the NIC is being reset (FLR), and all its RDMA connections end: a virtual machine took it or "
         "gave it back, an administrator reset it, or an error before it.",
         "journalctl -k -g 'hns|vfio'", "Linux drivers/infiniband/hw/hns/hns_roce_hw_v2.c"}),
    {"hns-congestion", host, "hns_*for congestion selection|hns_*congestion type|hns_*^cong type",
     "The driver does not know the algorithm of congestion control that the NIC is set to (DCQCN, LDCP, HC3, DIP): "
     "driver and firmware do not fit each other. Update one of them, or set an algorithm that both have.",
     "journalctl -k -g hns; ethtool -i {netdev}", "Linux drivers/infiniband/hw/hns/hns_roce_hw_v2.c"},
    on_nic_failure(
        {"hns-reset-failed",
         host,
         "hns3*re-init failed|hns3*reset failed|hclge*ailed to *reset|hns3*VF is disabled",
         {"The driver could not bring the NIC or its virtual function back after a reset. Look at the PF's log. ",
          {Work::ends_jobs, "Load the driver again."}},
         "journalctl -k -g hns3",
         "Linux drivers/net/ethernet/hisilicon/hns3"}),
    {"azure-vf-removed", host, "hv_netvsc*Data path switched from VF|hv_netvsc*VF unregistering",
     "The Azure host took the virtual function away, to service the host or its network, and gives it back later: RDMA "
     "over it ends, and TCP continues without acceleration. Restart the job when it is back.",
     "journalctl -k -g hv_netvsc", "Linux drivers/net/hyperv/netvsc_drv.c"},
    consequence({"mana-message", unknown, "Failed to send mana message|mana*ailed to *: -110",
                 "A request of the driver to the Azure host failed; the HWC line before it has the reason.",
                 "journalctl -k -g mana", "Linux drivers/net/ethernet/microsoft/mana"}),
    {"exporter-no-rate", none, "obtaining InfiniBand class",
     "node_exporter cannot read a file of an RDMA device that its driver does not offer (the rate of mana): the port "
     "has no fault. Exclude the device in the exporter, or update it.",
     "rdma link show", "node_exporter collector/infiniband_linux.go"},
    {"amd-drivers-missing", host, "Drivers not loaded (",
     "amd-smi does not find a kernel driver (ionic_rdma, amdgpu): it is not installed, or a file in /etc/modprobe.d "
     "blacklists it.",
     "grep -r blacklist /etc/modprobe.d; lsmod | grep -E 'ionic|amdgpu'", "ROCm amd-smi"},
    {"rxe-namespace", host,
     "rxe_newlink: failed to add|rxe_newlink: already configured|error: Too many open files in system",
     "A Soft-RoCE link was not made: its name or its netdev is used in another network namespace, or the container is "
     "in RDMA's exclusive namespace mode (ENFILE of rdma link add). Device and netdev must be in one namespace.",
     "rdma link show; rdma system show", "Linux drivers/infiniband/sw/rxe/rxe.c"},
    consequence({"rxe-queue-pair", unknown, "rdma_rxe: qp#*moved to error state",
                 "A queue pair of Soft-RoCE failed; the line has no reason. The program that used it, beside this "
                 "line, has it.",
                 "journalctl -k -g rxe", "Linux drivers/infiniband/sw/rxe/rxe_qp.c"}),
    {"rdma-namespace-mode", host,
     "incorrect RDMA subsystem network namespace|RDMA subsystem namespace mode|rdma netns*exclusive",
     "RDMA is in the exclusive network namespace mode; a device plugin that shares devices between pods needs the "
     "shared one: rdma system set netns shared while no pod runs (persistent: options ib_core netns_mode=1). Exclusive "
     "mode needs the RDMA CNI with virtual functions.",
     "rdma system show", "k8s-rdma-shared-dev-plugin"},
    {"irdma-init", host, "IRDMA hardware initialization FAILED|HW runtime init FAIL",
     "irdma could not start the RDMA unit of the NIC, and its RDMA device is missing: its firmware does not fit the "
     "driver, or other functions have used up its resources.",
     "journalctl -k -g irdma; devlink dev info pci/{pci}", "Linux drivers/infiniband/hw/irdma/hw.c"},
    {"ice-safe-mode",
     host,
     "DDP*ntering Safe Mode|DDP*ntering safe mode|in Safe Mode is not supported|Direct firmware load for intel/ice/ddp",
     {"ice has no DDP package that fits, and runs the NIC in safe mode: one queue, no RDMA, no PFC. Install the "
      "package (from the distribution's firmware packages or Intel's driver), also in the initramfs",
      {Work::ends_jobs, ", then reload ice"},
      "."},
     "ls -l /lib/firmware/updates/intel/ice/ddp /lib/firmware/intel/ice/ddp; devlink dev info pci/{pci}",
     "Linux drivers/net/ethernet/intel/ice/ice_main.c"},
    {"intel-recovery-mode",
     host,
     "irmware recovery mode detected",
     {"The firmware of the NIC is damaged and runs in recovery mode, without traffic. Write its NVM again (nvmupdate)",
      {Work::in_machine, ", then power-cycle the node"},
      "."},
     "devlink dev info pci/{pci}",
     "Linux ice_main.c, i40e_main.c, ixgbe_main.c"},
    {"ice-firmware-lldp", host, "with FW LLDP agent active",
     "The LLDP agent in the firmware of the NIC is on, which excludes a bond for virtual functions: switch it off "
     "(ethtool --set-priv-flags, fw-lldp-agent off).",
     "ethtool --show-priv-flags {netdev}", "Linux drivers/net/ethernet/intel/ice/ice_lag.c"},
    on_nic_failure({"ice-rebuild-failed",
                    host,
                    "Rebuild failed, unload and reload driver",
                    {"The driver could not restore an Intel NIC after a reset, and its ports stay down. ",
                     {Work::ends_jobs, "Load the driver again."}},
                    "journalctl -k -g {pci}; ethtool -i {netdev}",
                    "Linux drivers/net/ethernet/intel/ice/ice_main.c"}),
    {"ice-malicious", software, "Malicious Driver Detection event|OICR: MDD event",
     "The NIC stopped a queue because of an invalid (\"malicious\") descriptor, and its packets are dropped: a bug of "
     "its driver, of the user of a virtual function, or of a program that drives the NIC itself (DPDK, OVS). Update "
     "that program or driver, and switch off the offload that makes the descriptor (TSO, checksum).",
     "journalctl -k -g 'Malicious Driver'", "Linux ice_main.c, i40e_main.c"},

    {"mlx5-vf-link", none, "PCIe link width is x0",
     "No fault: a virtual function has no link of its own, and reports width x0. The slot is judged at its PF.",
     "lspci -vv -s {pci} | grep LnkSta", "Linux drivers/net/ethernet/mellanox/mlx5/core/main.c"},
    {"mlx5-pcie-slow",
     host,
     "PCIe link below the device's capability|PCIe width is lower than device's capability|PCIe speed is slower than "
     "device's capability",
     {"The PCIe link of the NIC is slower or narrower than the NIC can: an older slot or one with fewer lanes, a "
      "riser, a setting of the platform's firmware, or a bad contact. A network port faster than this link does not "
      "reach its rate. ",
      {Work::in_machine,
       "Compare with the NICs in equal slots, correct the slot's speed and lanes (bifurcation) in the firmware setup, "
       "reseat the NIC and its riser, or use another slot."}},
     "fabric-agentctl check --only pcie; lspci -vv -s {pci} | grep -E 'LnkCap|LnkSta'",
     "mlnx-ofed-kernel drivers/net/ethernet/mellanox/mlx5/core/uar.c"},
    {"mlx5-pcie-full", none, "PCIe link at the device's capability",
     "No fault: the PCIe link of the NIC is as fast and as wide as the NIC can, by this value.",
     "lspci -vv -s {pci} | grep -E 'LnkCap|LnkSta'", "mlnx-ofed-kernel drivers/net/ethernet/mellanox/mlx5/core/uar.c"},

    // Any driver; -110 and others are errnos.
    {"driver-load-failed",
     host,
     "probe of *:*:*.*failed with error|*:*:*.*probe with driver*failed with error|probe of *rdma*failed with error|"
     "probe of *roce*failed with error|probe of mlx*failed with error|probe of *.eth*failed with error|"
     "*rdma*probe with driver*failed with error|mlx*probe with driver*failed with error|"
     // A NIC, a GPU or a drive whose address is cut out of the line.
     "^bnx2x: probe of*failed with error|^bnxt_en: probe of*failed with error|^be2net: probe of*failed with error|"
     "^i40e: probe of*failed with error|^ice: probe of*failed with error|^ixgbe: probe of*failed with error|"
     "^igb: probe of*failed with error|^qede: probe of*failed with error|^cxgb4: probe of*failed with error|"
     "^tg3: probe of*failed with error|^nvidia: probe of*failed with error|^amdgpu: probe of*failed with error|"
     "^nvme: probe of*failed with error",
     {"A driver could not start the device that the line names; the ports of a NIC, or the GPU, are missing then. The "
      "lines before this one name the step: the device does not answer (-110, -16, -5), it does not fit the driver "
      "(-22, -95), or a resource is used up (-12, -28). ",
      {Work::in_machine, "A GPU may lack address space for its BARs: enable Above 4G Decoding in the BIOS."}},
     "journalctl -k -g {pci}; lspci -nnks {pci}",
     "Linux drivers/base/dd.c"},
};

}  // namespace

const std::span<const LineMessage> kDriverMessages = kDriverRows;

}  // namespace fabric::lines
