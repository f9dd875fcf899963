// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <algorithm>
#include <utility>

#include "check/checks.h"

namespace fabric {
namespace {

constexpr std::string_view kLink = "link", kSettingsGroup = "settings", kTopology = "topology", kPlatform = "platform", kNetwork = "network", kCabling = "cabling", kHostGroup = "host", kAgent = "agent",
                           kCounters = "counters";

constexpr Check kPlain[] = {
    {"port-state", kLink, "Is every RDMA port ACTIVE and its link up?",
     "A port that is not ACTIVE carries no RDMA. Its physical state tells the culprit: Disabled is this host (ip link "
     "set up), Polling is "
     "no signal (cable, transceiver, switch port), training or recovery is a bad cable or unequal speed and FEC; INIT "
     "on InfiniBand is a "
     "missing subnet manager.",
     ask_port_state},
    {"rate", kLink, "Does every port run at the speed of its twins?",
     "Ports of the same adapter at the same place are compared with each other; one that runs slower has lost lanes or "
     "speed. Compare "
     "speed and FEC with the switch port, then replace cable or transceiver.",
     ask_rate},
    {"roce-mtu", kLink, "Is the MTU large enough for the RoCE path MTU 4096?",
     "RoCE needs 96 bytes around its payload: a netdev MTU of 4192 or more gives 4096, 1500 gives 1024. A smaller path "
     "MTU means more "
     "packets and lower throughput. An MTU that the policy asks for is not reported.",
     ask_roce_mtu},
    {"gid", kLink, "Has every RoCE port a RoCE v2 GID of a routable address?",
     "The GID table follows the IP addresses of the netdev. Without a RoCE v2 GID no connection can be made; a "
     "link-local one does not "
     "cross routers. Give the netdev an address.",
     ask_gid},
    {"pfc-and-pause", kSettingsGroup, "Is global pause off where PFC is on?",
     "Global (802.3x) pause and PFC exclude each other: with both, pause stops every priority and PFC may be ignored. "
     "Switch global pause "
     "off (ethtool -A DEV rx off tx off) and keep it off with pause = \"off\".",
     ask_pfc_and_pause},
    {"locality", kTopology, "Is every GPU as near to a NIC as its siblings?",
     "The nearest NIC of each GPU is compared with that of the machine's other GPUs, in nvidia-smi's classes (PIX PXB "
     "PHB NODE SYS). A GPU "
     "that is farther away has lost its NIC, or a card sits in the wrong slot. See fabric-agentctl topo.",
     ask_locality},
    {"pairing", kTopology, "Has every GPU a NIC of its own, as the GPUs beside it?",
     "GPUs and NICs are paired as well as the machine allows; a NIC that then breaks the symmetry of the others is "
     "reported: it serves more GPUs than they do (a NIC is missing), sits on a NUMA node without a GPU while GPUs share "
     "(wrong slot), or has no RDMA device. Groups of NICs that differ as a whole are taken as built so. See "
     "fabric-agentctl topo.",
     ask_pairing},
    {"pcie", kTopology, "Do the PCIe links of NICs, GPUs and the switches above them run at full width and speed?",
     "Present width and speed are compared with devices of the same model, then with the device's own maximum; a link "
     "between a switch and the port above it with what both its ends can do. A NIC whose slot is slower than its port is "
     "critical. Idle GPUs lower their speed, so only their width is judged. Look: lspci -vv -s ADDRESS (LnkCap, LnkSta); "
     "for a bridge, reseat the riser or switch board between the two addresses, else the card.",
     ask_pcie},
    {"acs", kPlatform, "Can each GPU and its NIC talk directly through the PCIe switch that they share?",
     "ACS request and completion redirect on a switch's downstream ports send every packet between GPU and NIC up to the "
     "root complex and back: GPUDirect RDMA loses half its throughput or more, without any error. It is meant for machines "
     "that give single devices to virtual machines, and the kernel switches it on at every boot where it drives an IOMMU, "
     "iommu=pt or not. Look: lspci -vvv -s ADDRESS (ACSCtl). Clear: setpci -s ADDRESS ECAP_ACS+6.w=0000; for good in the "
     "firmware setup, or by pci=disable_acs_redir= on the kernel's command line. Only bridges between a GPU and the NIC "
     "that serves it are judged, as fabric-agent-pci.service read them: systemctl restart fabric-agent-pci reads again. "
     "With direct translated P2P (DirectTrans+ and ATS) the redirect does no harm.",
     ask_acs},
    {"iommu", kPlatform, "Do GPUs and RDMA NICs pass the IOMMU without translation?",
     "An IOMMU that translates looks up every DMA address: small messages take longer, throughput suffers when its cache "
     "does not hold the working set, and peer-to-peer traffic that ACS redirects is translated, too. Look: cat "
     "/sys/kernel/iommu_groups/*/type (DMA strict, DMA-FQ lazy, identity pass-through) and /proc/cmdline. Mend: iommu=pt "
     "on the kernel's command line (with intel_iommu=on or amd_iommu=on where devices go to virtual machines; "
     "iommu.passthrough=1 on arm64), update-grub, reboot. Not asked in a virtual machine.",
     ask_iommu},
    {"aer", kPlatform, "Are there no new PCIe errors on the way to GPUs and NICs?",
     "The kernel counts PCIe errors of each function. Correctable ones (BadTLP, RxErr, Rollover) are repeated by the link, "
     "cost throughput and announce worse; non-fatal ones lost a transaction, fatal ones the link. The function named saw "
     "it: what arrives damaged was sent by the other end of its link. Reseat card, riser and cable, move the card to "
     "another slot: the error follows the card or stays with the slot. Look: grep . "
     "/sys/bus/pci/devices/ADDRESS/aer_dev_*, journalctl -k -g AER. Errors of the past are shown, and are no fault. Where "
     "firmware owns error reporting there are no counters (pcie_ports=native gives them).",
     ask_aer},
    {"gpu-bar", kPlatform, "Is the whole memory of each GPU within reach of its NIC?",
     "A NIC reaches GPU memory through the GPU's largest prefetchable BAR (NVIDIA: BAR1). One that is smaller than its "
     "siblings' or left at 256 MiB although the GPU offers more means that the firmware did not find room: switch on Above "
     "4G Decoding and Resizable BAR, update the firmware. Look: lspci -vv -s ADDRESS (Region, Physical Resizable BAR); "
     "nvidia-smi -q -d MEMORY (BAR1).",
     ask_gpu_bar},
    {"gpudirect", kPlatform, "Can the RDMA driver reach GPU memory?",
     "GPUDirect RDMA takes nvidia_peermem (or the older nv_peer_mem), or dma-buf: NVIDIA's open kernel modules, or a "
     "kernel with CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY for AMD. Without, NCCL and RCCL copy through host memory "
     "(NCCL_DEBUG=INFO says GDRDMA where it works). Look: cat /proc/driver/nvidia/version; lsmod | grep peer. Mend: "
     "modprobe nvidia_peermem; echo nvidia_peermem > /etc/modules-load.d/nvidia_peermem.conf.",
     ask_gpudirect},
    {"pci-tuning", kPlatform, "Have the NICs equal and sufficient PCIe settings?",
     "Maximum read request (MRRS), maximum payload (MPS), relaxed ordering and 10-bit tags of each RDMA NIC are compared "
     "with those of its model; a NIC that differs is the slow one of a collective. An MRRS below 512 starves a NIC that "
     "serves GPUs. Look: lspci -vv -s ADDRESS (DevCtl, DevCtl2). MRRS is a setting (mrrs); relaxed ordering belongs to the "
     "NIC's firmware (mlxconfig PCI_WR_ORDERING), MPS to the firmware setup. As fabric-agent-pci.service read them: "
     "systemctl restart fabric-agent-pci reads again.",
     ask_pci_tuning},
    {"pci-power", kPlatform, "Are GPUs and NICs in use awake?",
     "A function in D3 has to be woken before it answers, and some do not wake. On a server nothing but a tool for laptops "
     "puts a GPU or a NIC in use to sleep. Look: cat /sys/bus/pci/devices/ADDRESS/power_state. Mend: echo on > "
     "/sys/bus/pci/devices/ADDRESS/power/control, and remove what set it to auto.",
     ask_pci_power},
    {"cabling", kCabling, "Does every cable end where it should?",
     "The other end of each port, as it names itself by LLDP, is compared with the site's plan ([cabling] in "
     "fabric-agent.toml(5): cables as NetBox exports them) and, without a plan, with what the port's twins hear. A swapped "
     "pair or a wrong switch mixes rails: collectives cross the spine, and nothing else shows it. Look: fabric-agentctl "
     "neighbors; on the switch, show lldp neighbors. Nobody heard: the listener (systemctl enable --now fabric-lldp) or a "
     "running lldpd is asked; the switch must send LLDP, and NIC firmware with an LLDP agent of its own keeps the frames to "
     "itself (ice: ethtool --set-priv-flags DEV fw-lldp-agent off; i40e: disable-fw-lldp on; ConnectX: mlxconfig "
     "LLDP_NB_RX_MODE_P1=0).",
     ask_cabling},
    {"peer-pfc", kCabling, "Has the switch port PFC on the same priorities as this port?",
     "PFC works where both ends agree. On a priority that is lossless here and not at the switch, bursts are dropped there "
     "and RoCE falls back to retransmission: throughput breaks down under incast, and every link tests well alone. The "
     "switch announces its PFC in DCBX's PFC TLV. Look: fabric-agentctl neighbors; dcb pfc show dev DEV; on the switch, "
     "show priority-flow-control. Set both to the priority of RoCE (mostly 3).",
     ask_peer_pfc},
    {"peer-ets", kCabling, "Does the switch share out the wire between priorities as this port does?",
     "ETS gives each group of priorities its part of the wire. The groups of the lossless priorities and their bandwidth are "
     "compared with the switch's recommendation, else its configuration (DCBX's ETS TLVs); classes may be numbered as each "
     "end likes. Look: dcb ets show dev DEV; on the switch, its scheduler or QoS profile. The policy's ets sets this end.",
     ask_peer_ets},
    {"peer-app", kCabling, "Do the switch and this port put RoCE into the same priority?",
     "The switch's application table (DCBX) says which priority DSCP values and UDP port 4791 (RoCE v2) have there. Where "
     "this port's DSCP map says something else, packets are lossless at one end and ordinary at the other. Look: dcb app "
     "show dev DEV; fabric-agentctl neighbors --json. The policy's traffic and dscp_map set this end.",
     ask_peer_app},
    {"memlock", kHostGroup, "May the services that start jobs lock memory without limit?",
     "RDMA pins the memory that it works on, and the kernel counts that against RLIMIT_MEMLOCK of the process. Jobs "
     "inherit the limit of the service that starts them (slurmd, pbs_mom, containerd, ...), not the one in "
     "limits.conf, which holds for logins only. The running process is the truth: see grep 'Max locked' "
     "/proc/PID/limits. A drop-in with LimitMEMLOCK=infinity helps from the next daemon-reload and restart on. "
     "Services that only ask another one to start containers (dockerd, kubelet) are listed and not judged.",
     ask_memlock},
    {"limits-conf", kHostGroup, "Does limits.conf leave users' locked memory unlimited where jobs get it?",
     "pam_limits gives a login the memlock entries of /etc/security/limits.conf and limits.d. Jobs have them where "
     "Slurm propagates the submitting shell's limits (its default), or where no service starts jobs. A finite entry "
     "then makes ibv_reg_mr fail with ENOMEM. See ulimit -l in a new shell.",
     ask_limits_conf},
    {"numa-balancing", kHostGroup, "Is automatic NUMA balancing off?",
     "With it the kernel unmaps pages now and then to see which CPU uses them, and moves them. GPU jobs are bound to "
     "their NUMA node already and pay page faults for nothing. See sysctl kernel.numa_balancing. A value that the "
     "configuration's [sysctl] table wants is not reported here.",
     ask_numa_balancing},
    {"governor", kHostGroup, "Do the CPUs run at full speed?",
     "The cpufreq governor performance keeps CPUs fast; powersave with intel_pstate or amd-pstate-epp does so with the "
     "energy preference performance. Others raise the frequency only after the work has begun. See cpupower "
     "frequency-info. Not asked in virtual machines.",
     ask_governor},
    {"c-states", kHostGroup, "May all CPUs sleep equally deeply?",
     "A CPU in a deep idle state (C6, AMD's C2) takes 100 microseconds and more to wake. Whether that is worth the "
     "power is the site's choice, and shown with --verbose; reported is what was chosen and did not come about: deep "
     "states switched off on some CPUs only, or an option on the kernel's command line that this driver does not "
     "heed. See cpupower idle-info.",
     ask_c_states},
    {"irq-affinity", kHostGroup, "Are the queues of each NIC served by CPUs near to it?",
     "Each queue of a NIC interrupts one CPU (/proc/irq/N/effective_affinity_list), which should be on the NIC's NUMA "
     "node. Queues beyond the number of its CPUs have to go elsewhere and are not reported, nor those of commands and "
     "events. irqbalance moves interrupts every ten seconds unless it is told not to.",
     ask_irq_affinity},
    {"clock-source", kHostGroup, "Is the clock one that is read without a system call?",
     "With tsc a look at the clock takes some 20 nanoseconds; with hpet or acpi_pm it takes microseconds and waits for "
     "all other CPUs that look. The kernel falls back to them when it finds the counters of the CPUs unequal: see "
     "journalctl -k -g clocksource. Not reported in virtual machines.",
     ask_clock_source},
    {"snc", kHostGroup, "Into how many NUMA nodes is a package divided?",
     "Sub-NUMA clustering (Intel SNC, AMD NPS) divides a package into several NUMA nodes. Never a fault, listed with "
     "--verbose: a GPU and a NIC on one package may then be SYS, as they are on two nodes, and a process that is bound "
     "to its GPU's node has only that part of the package's CPUs and memory bandwidth.",
     ask_snc},
    {"hugepages", kHostGroup, "How much memory is set aside as huge pages?",
     "Listed with --verbose; reported only where more than half of the memory is reserved, which nobody else can use "
     "then. See grep Huge /proc/meminfo.",
     ask_huge_pages},
    {"lockdown", kHostGroup, "Does the kernel restrict root?",
     "Under lockdown (Secure Boot) the kernel refuses even root some debugfs files and writes to PCI configuration "
     "space. Never a fault, listed with --verbose: it explains why some settings cannot be read or kept. See "
     "/sys/kernel/security/lockdown.",
     ask_lockdown},
    {"address", kNetwork, "Has every RoCE port an IP address, and one of its own?",
     "RoCE finds its peers by IP address. A compute port without one, where its twins have one, is left out of every "
     "collective; an address that two ports or two hosts share leads connections to the wrong one. Look: ip address show. "
     "Mend the network configuration (networkctl status DEV, netplan, nmcli), not the interface alone: it comes back at the next boot.",
     ask_address},
    {"rails", kNetwork, "Do rails in one IPv4 subnet answer ARP and send each by its own link?",
     "Linux answers ARP for an address on any interface, and sends by the first route to a subnet. With several rails in one "
     "subnet that mixes them up: half the links carry nothing, RoCE packets reach the wrong NIC and are dropped, connections hang at "
     "random. Needed are arp_ignore 1 or 2 and arp_announce 2 (the greater of net.ipv4.conf.all and of the interface counts), a routing rule "
     "for each rail's address with a table of its own (ip rule add from ADDRESS lookup TABLE), and without such rules rp_filter 0 or 2. The finding has "
     "the lines to run. Look: ip rule; ip route show table all; sysctl -a | grep -e arp_ -e rp_filter. Rails in subnets of their own "
     "(/31 for instance) need none of it.",
     ask_rails},
    {"gateway", kNetwork, "Does the gateway of every rail answer?",
     "The kernel's neighbour table is read, nothing is sent. FAILED: the gateway did not answer ARP (IPv4) or neighbour discovery (IPv6) "
     "when it was last asked, so nothing beyond the subnet can be reached over this rail. Ask again: ping -c 3 -I DEV GATEWAY; ip neighbour show dev DEV. Then compare "
     "VLAN, address and prefix with the switch port.",
     ask_gateway},
    {"gid-index", kNetwork, "Is the RoCE v2 GID at the same index on all compute ports?",
     "NCCL before 2.21, perftest and many others are given one GID index for all ports. Where one port has another address at that index, its "
     "connections fail or use RoCE v1. The table is filled in the order of addresses, link-local ones among them. Look: "
     "/sys/class/infiniband/DEV/ports/1/gids and gid_attrs/types, or show_gids. A site can pin the index with [expect] gid_index. A GID that two ports have is critical.",
     ask_gid_index},
    {"mtu-chain", kNetwork, "Does the MTU fit from RoCE over the netdev to the switch?",
     "RoCE's path MTU and 96 bytes of headers have to fit into the netdev's MTU, and that with 18 bytes of Ethernet into the largest frame of the switch port "
     "(as it announces it by LLDP). What does not fit is dropped without a word: small messages pass, large ones hang. Twins should have the same MTU. Look: ip -d link show DEV; ibv_devinfo; "
     "on the switch the MTU of the port (9216 is common).",
     ask_mtu_chain},
    {"firmware", kNetwork, "Do all cards of a kind run the same, allowed firmware?",
     "Without [firmware] in the configuration the cards of one board id are compared with each other, and those that differ from most are named. With it, "
     "each card's version must be one of those listed for its board id, PCI id or driver; [driver_version] does the same for drivers. Look: cat "
     "/sys/class/infiniband/*/fw_ver, ethtool -i DEV. Update with the vendor's tool while no job runs.",
     ask_firmware},
    {"expect", kTopology, "Is the machine what [expect] of the configuration says?",
     "Pins of the site: how many GPUs and compute NICs there are, how near each GPU's NIC is at worst (PIX PXB PHB NODE SYS), the speed of compute ports. Nothing is "
     "asked where nothing is pinned. Look: fabric-agentctl topo, lspci -nn, the kernel's log. If the machine is right, correct [expect] in fabric-agent.toml.",
     ask_expect},
    {"agent", kAgent, "Does the agent run, with the configuration that is in the file?",
     "Without the agent nobody repairs settings after a reboot, a driver reload or another tool's write. Start it with "
     "systemctl enable "
     "--now fabric-agent; after a change of the configuration, systemctl reload fabric-agent.",
     ask_agent},
    {"kept", kAgent, "Which ports are left alone, and why?",
     "Settings of a virtual function, a subfunction or a representor belong to the physical function; InfiniBand has "
     "none of them; a netdev in another network namespace is its owner's. A port that no [[port]] entry matches is left "
     "alone on purpose. Never a fault: listed with --verbose and in the JSON.",
     ask_kept},
};
constexpr size_t kPlainCount = std::size(kPlain);
constexpr size_t kBeforeSettings = 4;  // the rows of the link group come first, as people read a node from the wire up

template <size_t Row>
void ask_setting_row(const View& view, Findings& findings) {
  ask_setting(Row, view, findings);
}
template <size_t Row>
void ask_counter_row(const View& view, Findings& findings) {
  ask_counters(kCounterClasses[Row], view, findings);
}

using Table = std::vector<Check>;

template <size_t... Row>
void append_settings(Table& table, std::index_sequence<Row...>) {
  (table.push_back({kSettings[Row].key, kSettingsGroup, kSettings[Row].help, setting_runbook(kSettings[Row].key),
                    ask_setting_row<Row>}),
   ...);
}
template <size_t... Row>
void append_counters(Table& table, std::index_sequence<Row...>) {
  (table.push_back({kCounterChecks[Row].id, kCounters, kCounterChecks[Row].question, kCounterChecks[Row].runbook,
                    ask_counter_row<Row>}),
   ...);
}

Table make_table() {
  Table table(kPlain, kPlain + kBeforeSettings);
  append_settings(table, std::make_index_sequence<kSettingCount>());
  table.insert(table.end(), kPlain + kBeforeSettings, kPlain + kPlainCount);
  append_counters(table, std::make_index_sequence<kCounterClasses.size()>());
  return table;
}

bool is_wanted(const Check& check, std::span<const std::string> only) {
  return only.empty() || std::any_of(only.begin(), only.end(),
                                     [&](const std::string& name) { return name == check.id || name == check.group; });
}

}  // namespace

std::span<const Check> checks() {
  static const Table table = make_table();
  return table;
}

const Check* find_check(std::string_view id) {
  for (const Check& check : checks())
    if (check.id == id) return &check;
  return nullptr;
}

bool names_check(std::string_view name) {
  const auto all = checks();
  return std::any_of(all.begin(), all.end(),
                     [&](const Check& check) { return name == check.id || name == check.group; });
}

Report run_checks(const View& view, std::span<const std::string> only) {
  Report report;
  for (const Check& check : checks()) {
    if (!is_wanted(check, only)) continue;
    const size_t first = report.findings.size();
    check.ask(view, report.findings);
    for (size_t i = first; i < report.findings.size(); ++i) report.findings[i].id = check.id;
  }
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return rank(a.status) < rank(b.status); });
  return report;
}

}  // namespace fabric
