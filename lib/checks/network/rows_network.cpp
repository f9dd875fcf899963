// SPDX-License-Identifier: Apache-2.0
#include "checks/checks.h"
#include "checks/rows.h"

namespace fabric {
namespace {

constexpr Check kCablingRows[] = {
    {"cabling", group::cabling, "Does every cable end where it should?",
     "The other end of each port, as it names itself by LLDP, is compared with the site's plan ([cabling] in "
     "fabric-agent.toml(5): cables as NetBox exports them) and, without a plan, with what the port's twins hear. A "
     "swapped "
     "pair or a wrong switch mixes rails: collectives cross the spine, and nothing else shows it. Look: "
     "fabric-agentctl "
     "neighbors; on the switch, show lldp neighbors. No neighbor: enable the listener (systemctl enable --now "
     "fabric-lldp); the switch must send LLDP, and NIC firmware with an LLDP agent of its own keeps the frames to "
     "itself (ice: ethtool --set-priv-flags DEV fw-lldp-agent off; i40e: disable-fw-lldp on; ConnectX: mlxconfig "
     "LLDP_NB_RX_MODE_P1=0).",
     ask_cabling},
    {"peer-pfc", group::cabling, "Has the switch port PFC on the same priorities as this port?",
     "PFC works where both ends agree. On a priority that is lossless here and not at the switch, bursts are dropped "
     "there "
     "and RoCE falls back to retransmission: throughput breaks down under incast, and every link tests well alone. The "
     "switch announces its PFC in DCBX's PFC TLV. Look: fabric-agentctl neighbors; dcb pfc show dev DEV; on the "
     "switch, "
     "show priority-flow-control. Set both to the priority of RoCE (mostly 3).",
     ask_peer_pfc},
    {"peer-ets", group::cabling, "Does the switch share out the wire between priorities as this port does?",
     "ETS gives each group of priorities its part of the wire. The groups of the lossless priorities and their "
     "bandwidth are "
     "compared with the switch's recommendation, else its configuration (DCBX's ETS TLVs); classes may be numbered as "
     "each "
     "end likes. Look: dcb ets show dev DEV; on the switch, its scheduler or QoS profile. The policy's ets sets this "
     "end.",
     ask_peer_ets},
    {"peer-app", group::cabling, "Do the switch and this port put RoCE into the same priority?",
     "The switch's application table (DCBX) says which priority DSCP values and UDP port 4791 (RoCE v2) have there. "
     "Where "
     "this port's DSCP map says something else, packets are lossless at one end and ordinary at the other. Look: dcb "
     "app "
     "show dev DEV; fabric-agentctl neighbors --json. The policy's traffic and dscp_map set this end.",
     ask_peer_app},
};

constexpr Check kNetworkRows[] = {
    {"address", group::network, "Has every RoCE port an IP address, and one of its own?",
     "RoCE finds its peers by IP address. A compute port without one, where its twins have one, is left out of every "
     "collective; an address that two ports or two hosts share leads connections to the wrong one. Look: ip address "
     "show. "
     "Mend the network configuration (networkctl status DEV, netplan, nmcli), not the interface alone: it comes back "
     "at the next boot.",
     ask_address},
    {"rails", group::network, "Do rails in one subnet answer ARP and send each by its own link?",
     "Linux sends by the first route to a subnet, and answers ARP (IPv4) for an address on any interface. With several "
     "rails in one "
     "subnet that mixes them up: half the links carry nothing, RoCE packets reach the wrong NIC and are dropped, "
     "connections hang at "
     "random. Needed are arp_ignore 1 or 2 and arp_announce 2 (the greater of net.ipv4.conf.all and of the interface "
     "counts), a routing rule "
     "for each rail's address with a table of its own (ip rule add from ADDRESS lookup TABLE), and without such rules "
     "rp_filter 0 or 2. The finding has "
     "the lines to run. Look: ip rule; ip route show table all; sysctl -a | grep -e arp_ -e rp_filter. Rails in "
     "subnets of their own "
     "(/31 for instance) need none of it.",
     ask_rails},
    {"gateway", group::network, "Does the gateway of every rail answer?",
     "The kernel's neighbour table is read, nothing is sent. FAILED: the gateway did not answer ARP (IPv4) or "
     "neighbour discovery (IPv6) "
     "when it was last asked, so nothing beyond the subnet can be reached over this rail. Ask again: ping -c 3 -I DEV "
     "GATEWAY; ip neighbour show dev DEV. Then compare "
     "VLAN, address and prefix with the switch port.",
     ask_gateway},
    {"gid-index", group::network, "Is the RoCE v2 GID at the same index on all compute ports?",
     "NCCL before 2.21, perftest and many others are given one GID index for all ports. Where one port has another "
     "address at that index, its "
     "connections fail or use RoCE v1. The table is filled in the order of addresses, link-local ones among them. "
     "Look: "
     "/sys/class/infiniband/DEV/ports/1/gids and gid_attrs/types, or show_gids. A site can pin the index with [expect] "
     "gid_index. A GID that two ports have is critical.",
     ask_gid_index},
    {"mtu-chain", group::network, "Does the MTU fit from RoCE over the netdev to the switch?",
     "RoCE's path MTU and 96 bytes of headers have to fit into the netdev's MTU, and that with 18 bytes of Ethernet "
     "into the largest frame of the switch port "
     "(as it announces it by LLDP). What does not fit is dropped without a word: small messages pass, large ones hang. "
     "Twins should have the same MTU. Look: ip -d link show DEV; ibv_devinfo; "
     "on the switch the MTU of the port (9216 is common).",
     ask_mtu_chain},
    {"firmware", group::network, "Do all cards of a kind run the same, allowed firmware?",
     "Without [firmware] in the configuration the cards of one board id are compared with each other, and those that "
     "differ from most are named. With it, "
     "each card's version must be one of those listed for its board id, PCI id or driver; [driver_version] does the "
     "same for drivers. Look: cat "
     "/sys/class/infiniband/*/fw_ver, ethtool -i DEV. Update with the vendor's tool while no job runs.",
     ask_firmware},
};

}  // namespace

std::span<const Check> cabling_rows() { return kCablingRows; }
std::span<const Check> network_rows() { return kNetworkRows; }

}  // namespace fabric
