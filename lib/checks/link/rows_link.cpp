// SPDX-License-Identifier: Apache-2.0
#include "checks/checks.h"
#include "checks/rows.h"

namespace fabric {
namespace {

constexpr Check kLinkRows[] = {
    {"port-state", group::link, "Is every RDMA port ACTIVE and its link up?",
     "A port that is not ACTIVE carries no RDMA. The NIC's reason tells the culprit, or the physical state: "
     "Polling is no signal (cable, transceiver, switch port), training or recovery is a bad cable or unequal speed and "
     "FEC, Disabled on InfiniBand is this host; RoCE drivers say Disabled of every port without a link (ip link show "
     "tells "
     "whether it was switched off). INIT on InfiniBand is a missing subnet manager. A bond stays ACTIVE on one leg: "
     "its members are told one by one. "
     "A card that fell off the PCI bus while fabric-exporter watched is told for twelve hours.",
     ask_port_state},
    {"rate", group::link, "Does every port run at the speed of its twins?",
     "Ports of the same adapter at the same place are compared with each other; one that runs slower has lost lanes or "
     "speed. Compare "
     "speed and FEC with the switch port, then replace cable or transceiver.",
     ask_rate},
    {"roce-mtu", group::link, "Is the MTU large enough for the RoCE path MTU 4096?",
     "RoCE needs 96 bytes around its payload: a netdev MTU of 4192 or more gives 4096, 1500 gives 1024. A smaller path "
     "MTU means more "
     "packets and lower throughput. An MTU that the policy asks for is not reported.",
     ask_roce_mtu},
    {"gid", group::link, "Has every RoCE port a RoCE v2 GID of a routable address?",
     "The GID table follows the IP addresses of the netdev. Without a RoCE v2 GID no connection can be made; a "
     "link-local one does not "
     "cross routers. Give the netdev an address.",
     ask_gid},
};

constexpr Check kSettingsRows[] = {
    {"pfc-and-pause", group::settings, "Is global pause off where PFC is on?",
     "Global (802.3x) pause and PFC exclude each other: with both, pause stops every priority and PFC may be ignored. "
     "Switch global pause "
     "off (ethtool -A DEV rx off tx off) and keep it off with pause = \"off\".",
     ask_pfc_and_pause},
};

constexpr Check kTopologyRows[] = {
    {"locality", group::topology, "Is every GPU as near to a NIC as its siblings?",
     "The nearest NIC of each GPU is compared with that of the machine's other GPUs, in nvidia-smi's classes (PIX PXB "
     "PHB NODE SYS). A GPU "
     "that is farther away has lost its NIC, or a card sits in the wrong slot. GPUs that were given to guests "
     "(vfio-pci) are "
     "judged there. See fabric-agentctl topo.",
     ask_locality},
    {"pairing", group::topology, "Has every GPU a NIC of its own, as the GPUs beside it?",
     "GPUs and NICs are paired as well as the machine allows; a NIC that then breaks the symmetry of the others is "
     "reported: it serves more GPUs than they do (a NIC is missing), sits on a NUMA node without a GPU while GPUs "
     "share "
     "(wrong slot), or has no RDMA device. Groups of NICs that differ as a whole are taken as built so. See "
     "fabric-agentctl topo.",
     ask_pairing},
    {"pcie", group::topology,
     "Do the PCIe links of NICs, GPUs and the switches above them run at full width and speed?",
     "Present width and speed are compared with devices of the same model, then with the device's own maximum; a link "
     "between a switch and the port above it with what both its ends can do. A NIC whose slot is slower than its port "
     "is "
     "critical; in several slots (socket direct) they are added up. A device that tells no link where others of its "
     "model do "
     "may have fallen off the bus. Idle GPUs lower their speed, so only their width is judged. Look: lspci -vv -s "
     "ADDRESS (LnkCap, LnkSta); "
     "for a bridge, reseat the riser or switch board between the two addresses, else the card.",
     ask_pcie},
};

}  // namespace

std::span<const Check> link_rows() { return kLinkRows; }
std::span<const Check> settings_rows() { return kSettingsRows; }
std::span<const Check> topology_rows() { return kTopologyRows; }

}  // namespace fabric
