// SPDX-License-Identifier: Apache-2.0
// The rules of `diagnose`, the most specific first.
#include "diagnosis/diagnosis_case.h"

namespace fabric {
namespace {

using enum Symptom;
using enum Culprit;
constexpr Status kWarn = Status::warning, kCritical = Status::critical;

constexpr Rule kRules[] = {
    // The link.
    {"admin-down",
     host,
     kWarn,
     {link, loss},
     "This host has switched the port off.",
     "Switch it on: ip link set {netdev} up",
     "The netdev is administratively down; of an InfiniBand port, the physical state is Disabled. RoCE drivers say "
     "Disabled of every port without a "
     "link. Look who did it: journalctl -k, then a network manager or a script that takes the port down.",
     judges::admin_down},
    {"no-cable",
     cable,
     kCritical,
     {link, loss},
     "Nothing is plugged into this port.",
     "Plug the cable in, on this end first.\nThen see: ethtool {netdev}",
     "The NIC itself says No cable. It looks for a module or a copper cable in its own cage; the far end does not "
     "matter.",
     judges::no_cable},
    {"module-unusable",
     cable,
     kCritical,
     {link, loss},
     "The NIC does not accept the module or the cable.",
     "See what stands in the cage: ethtool -m {netdev}\nReseat it; else replace it by a type that the NIC's firmware "
     "supports.",
     "The NIC's own reason for the missing link names cable, EEPROM, calibration, power budget or heat: all of them "
     "are about what stands in this "
     "host's cage. Or the module (CMIS) is not ready and not failed: the NIC's firmware wakes what it accepts and has "
     "the power for.",
     judges::module_unusable},
    {"module-fault",
     cable,
     kCritical,
     {link, loss, overrun},
     "The module on this end is failing.",
     "Replace the module (or the cable, where it is one piece) on this end: {netdev}\nIf it was too hot, see the "
     "airflow and its neighbours first.",
     "Link errors, and our module reports a transmitter fault, laser bias or tx power or temperature beyond its own "
     "alarm limits. What "
     "the module says of its transmitter is about this end alone. The far end of the cable counts what it damages: "
     "packets that this port sends and that do not arrive, with the transmitter "
     "beyond its alarm limits now, are this as well.",
     judges::module_fault},
    {"rx-power-low",
     cable,
     kCritical,
     {link, loss, overrun},
     "Too little light arrives: the fibre, a connector, or the far end's transmitter.",
     "Clean and reseat the connectors at both ends of {netdev}.\nRead the tx power of the same lane at {peer}: low "
     "there is its module, good there is the fibre.\n"
     "Replace what is found.",
     "Link errors together with rx power below the module's own limits on some lanes. Our rx is the far end's tx and "
     "the fibre between; our own "
     "transmitter has no fault. Low light without errors is not this.",
     judges::rx_power_low},
    {"no-light",
     cable,
     kCritical,
     {link, loss},
     "No lane receives any light: fibre out or broken, or the far end's transmitter is off.",
     "See whether the port at {peer} is enabled.\nThen follow the fibre: reseat both ends, try another one.",
     "Our module measures no light on any lane, or reports loss of signal on all. One that measured none with a link "
     "as well does not measure. "
     "It cannot be told from this end whether the fibre or the far transmitter is dark.",
     judges::no_light},
    {"device-reset",
     host,
     kCritical,
     {link, loss},
     "The NIC's firmware failed or was reset; the link and the connections went with it.",
     "Read what the firmware left: devlink health show, then devlink health dump show pci/{pci} reporter fw\n"
     "Look at the kernel's log: journalctl -k -g {pci}\nUpdate the firmware, or have the card replaced if it happens "
     "again.",
     "A devlink health reporter of the firmware or the hardware (fw, fw_fatal, hw) counted an error or a recovery in "
     "the window. A link that goes down "
     "without one is not this; reporters of queues (tx, rx) are not either. Where the link stayed, only a recovery of "
     "the firmware or its fatal state says so.",
     judges::device_reset},
    {"far-end-silent",
     peer,
     kCritical,
     {link, loss},
     "The device at the far end of the cable does not answer link training.",
     "Enable the port at {peer}, and compare speed and auto-negotiation: ethtool {netdev}\nThen try another switch "
     "port.",
     "The NIC has a signal or a cable and says that no partner was detected, or that the remote side is not ready.",
     judges::far_end_silent},
    {"link-mode-mismatch",
     network,
     kCritical,
     {link, loss},
     "Speed or FEC differ between the two ends.",
     "Compare speed and FEC: ethtool {netdev}; ethtool --show-fec {netdev}\nSet the switch port {peer} alike, or fec "
     "in the policy.",
     "The NIC says that FEC does not lock or that no common mode was found. Both ends have light, and each waits for "
     "the other's mode.",
     judges::link_mode},
    {"switch-restart",
     network,
     kCritical,
     {link, loss},
     "The switch at the far end went away for a moment: all links to it were lost together.",
     "Look at the switch {peer}: uptime, log, power.",
     "Two ports or more, of several cards, to one switch lost their link in the same window, none to it stayed, and "
     "none elsewhere was lost. Where all of "
     "this host's links end on that switch, where they are of one card (socket direct: in two slots), or where the "
     "driver was loaded anew, it may have been this host: not concluded.",
     judges::switch_restart},
    {"bad-lane",
     cable,
     kCritical,
     {link, loss, overrun},
     "One lane of the link damages bits: cable, connector or one of the two modules.",
     "Read the lane's power at both ends: ethtool -m {netdev}\nClean and reseat, then replace cable or module.",
     "FEC met its errors on one lane (nine in ten of them), and some words were beyond correction. A bad reference "
     "clock or a bad switch port "
     "would spread over all lanes.",
     judges::bad_lane},
    {"damaged-link",
     cable,
     kCritical,
     {link, loss, overrun},
     "The link damages bits.",
     "Clean and reseat cable and modules of {netdev} at both ends, then replace the cable.\nIf the errors stay, try "
     "another port of {peer}.",
     "Ten or more symbol errors, wrong CRCs or code words beyond correction in the window, of 1e-13 of the bits or "
     "more, and no reading that says which part of the link it is. "
     "Six or more recoveries of the link say the same, less surely, and so do local errors beyond the port's own limit "
     "(InfiniBand) and the NIC where it has no link for a large number of physical errors. Fewer "
     "are not enough evidence, nor are errors on all links of this speed, or of cards like this one, at once, three or "
     "more, nor receive errors alone where a buffer overran (InfiniBand).",
     judges::link_errors},
    {"flapping-link",
     cable,
     kWarn,
     {link, loss},
     "This one link goes down again and again: cable, connector, or one of the two ports.",
     "Reseat the cable of {netdev} at both ends, then replace it and the modules.\nIf it goes on, try another port of "
     "{peer}, then another card.",
     "The link went down three times or more in the window, another link to the same switch held, and no other port of "
     "this host lost its link: neither "
     "the switch nor the host as a whole. Where no other cable leads to that switch, this is not concluded.",
     judges::flapping_link},

    // Settings of the two ends.
    {"pfc-off-here",
     host,
     kCritical,
     {discards, loss},
     "Priority flow control is off on this port for a priority that is lossless at the other end or by policy.",
     "Look: fabric-agentctl plan --port {netdev}\nMend: fabric-agentctl apply --port {netdev}, or set pfc in the "
     "policy.",
     "RoCE packets are lost, and this port's PFC lacks a priority with traffic that the switch (LLDP, DCBX) or the "
     "policy has: nothing holds the sender back when "
     "a buffer fills.",
     judges::pfc_off_here},
    {"pfc-off-switch",
     network,
     kCritical,
     {discards, loss},
     "Priority flow control is off on the switch port for a lossless priority of this host.",
     "Switch PFC on for the priority on {peer}.\nSee what it announces: fabric-agentctl neighbors",
     "RoCE packets are lost, this port's PFC has the priority, and the switch announces (DCBX) that its own has not: "
     "it neither heeds our pause nor "
     "sends any.",
     judges::pfc_off_switch},
    {"wrong-priority",
     host,
     kCritical,
     {discards, loss},
     "RoCE data of this port does not go by the priority that PFC protects.",
     "Look: fabric-agentctl plan --port {netdev}\nMend: fabric-agentctl apply --port {netdev}",
     "RoCE packets are lost, and trust or the DSCP map of this port is not what the policy wants; or less than a tenth "
     "of what RDMA sent went by a priority with "
     "PFC, by the policy where it is off here, and the driver counts both (mlx5, bnxt). Where nine tenths went by such "
     "a priority both ways, a setting that differs is not this.",
     judges::wrong_priority},
    {"headroom",
     host,
     kCritical,
     {discards, loss},
     "Frames of a lossless priority do not fit into the buffer of this port: its headroom is too small, or missing.",
     "See cable length and buffers: fabric-agentctl show --port {netdev}\nSet cable_length to the real length, and "
     "buffer_size = \"auto\" in the policy.",
     "Frames of a lossless priority were discarded here although PFC is on at both ends. What is in flight when pause "
     "is sent must fit behind it: cable "
     "length, MTU and speed decide how much that is. Losses that are far more than these frames are not explained by "
     "them. A port that never asked for pause may have the priority in a buffer without any headroom.",
     judges::headroom},

    // Why this host cannot take what arrives.
    {"pcie-degraded",
     host,
     kCritical,
     {tx_pause, pcie, discards, receiver},
     "The PCIe link of this NIC is narrower or slower than it could be, and cannot take what the port receives.",
     "See both ends of the link: lspci -vvs {pci} | grep LnkSta\nReseat the card and its riser; then replace what the "
     "loss follows.",
     "Pause sent, PCIe stalls or errors, together with a PCIe link below its maximum and below that of NICs like it, "
     "or slower than the port.",
     judges::pcie_degraded},
    {"pcie-path",
     host,
     kWarn,
     {pcie, tx_pause},
     "The PCIe path of this NIC has errors.",
     "Look at the kernel's log: journalctl -k -g AER\nReseat card and riser between the ends that are named.",
     "AER counted new errors on the function or a bridge above it (of those that were corrected, more than 1e-12 of "
     "the bits), or the NIC counted signal "
     "errors of its PCIe link.",
     judges::pcie_errors},
    {"far-numa",
     host,
     kWarn,
     {tx_pause, pcie, receiver},
     "The NIC is far from the GPUs that it serves: the way between the sockets cannot take what the port receives.",
     "See the matrix: fabric-agentctl topo\nGive each GPU its nearest NIC: fabric-agentctl topo --format nccl; or put "
     "the card into a slot on the GPU's socket.",
     "Pause sent or PCIe stalls, and no GPU is as near to this NIC as GPUs are to NICs like it.",
     judges::far_numa},
    {"pcie-stall",
     host,
     kWarn,
     {tx_pause, pcie},
     "PCIe does not take what the port receives, although its link is whole.",
     "See fabric-agentctl check --only platform: IOMMU, ACS, relaxed ordering, MRRS\nSee memory bandwidth and what "
     "else uses the socket.",
     "The NIC waited for PCIe credits in more than 5 % of the seconds, or its PCIe buffer overflowed ten times, with a "
     "full link and no errors: the root complex "
     "or memory behind it is slow.",
     judges::pcie_stall},
    {"slow-receiver",
     host,
     kWarn,
     {tx_pause, receiver},
     "This host's application is late: it posts no receives, and the port has to hold the network.",
     "Look at the processes with queue pairs: rdma resource show qp link {rdma}\nSee their CPUs, pinning and queue "
     "depths; a hung GPU or process shows here first.",
     "Pause sent, and packets came without a receive posted for them (out_of_buffer), while PCIe and NUMA are as they "
     "should be.",
     judges::slow_receiver},
    {"receiver-late",
     host,
     kWarn,
     {receiver},
     "An application on this host posts its receives too late.",
     "Look at the processes with queue pairs: rdma resource show qp link {rdma}\nDeepen the receive queues, and see "
     "whether its threads get their CPU.",
     "Packets came without a receive posted for them, and this port held nobody. The network is not at fault. A few "
     "beside many receiver-not-ready answers of others are not this.",
     judges::receiver_late},
    {"peer-not-ready",
     peer,
     kWarn,
     {receiver},
     "The application at the far end of the connections posts its receives too late.",
     "Find the far ends: rdma resource show qp link {rdma}\nRun fabric-agentctl diagnose there.",
     "Receiver-not-ready answers arrived here, in more than one of a thousand packets and ten a second, or connections "
     "were given up for them; here a receive was posted "
     "for nearly all. Some of them are flow control at work and no fault.",
     judges::peer_not_ready},
    {"endless-pause",
     host,
     kCritical,
     {tx_pause},
     "This host sends pause without end: it takes nothing any more and holds up the network.",
     "See whether a process or GPU hangs: journalctl -k -b; nvidia-smi\nTake the port out of the network if it stays "
     "so: ip link set {netdev} down\nReset the NIC: devlink dev reload pci/{pci}",
     "The NIC itself counted a pause storm, or paused a priority for nine tenths of the window, and nothing at the "
     "slot explains it. Where it took nothing meanwhile, "
     "by its own count of storms or by the bytes received, what makes a NIC slow does not explain it. What is lost or "
     "thrown away while a "
     "host pauses for eight tenths or more, or when its NIC has ceased to pause for that, could not be delivered to "
     "it, and is its own doing.",
     judges::pause_storm},
    {"host-holds-network",
     host,
     kWarn,
     {tx_pause},
     "This host cannot take what it receives; what in it is slow is not known.",
     "Watch it: fabric-agentctl counters --watch\nRead PCIe counters: ethtool -S {netdev} | grep -i pci\nSee check "
     "--only topology,platform,host.",
     "Pause is sent by this NIC and by nobody else, for more than 5 % of the window; neither PCIe nor NUMA nor missing "
     "receives say why.",
     judges::host_holds},

    // Why the network holds this port.
    {"ecn-ignored",
     host,
     kWarn,
     {ignored, rx_pause},
     "Congestion notifications arrive and this port does not slow down.",
     "Look: fabric-agentctl show --port {netdev} (ecn_rp)\nSwitch the reaction point on for the RoCE priority: ecn_rp "
     "in the policy, then fabric-agentctl apply.",
     "The NIC ignored a tenth of the notifications or more, at least one a second: its reaction point is off for the "
     "priority.",
     judges::ecn_ignored},
    {"ecn-unanswered",
     host,
     kWarn,
     {unanswered},
     "Packets arrive with a congestion mark, and this port does not tell their senders.",
     "Look: fabric-agentctl show --port {netdev} (ecn_np)\nSwitch the notification point on for the RoCE priority: "
     "ecn_np in the policy, then fabric-agentctl apply.",
     "A thousand packets or more came with the mark, and not one notification was sent, on a RoCE port whose ecn_np "
     "lacks the priority (without PFC: has none) or is not known. Congestion "
     "control that measures delay instead needs no notifications, and is not this.",
     judges::ecn_unanswered},
    {"global-pause",
     network,
     kWarn,
     {rx_pause},
     "The switch sends global pause: it stops all priorities, and PFC is not used.",
     "Switch 802.3x flow control off on {peer}, and PFC on for the RoCE priority.",
     "Global pause frames arrive on a port with PFC.",
     judges::global_pause},
    {"incast",
     network,
     kWarn,
     {rx_pause},
     "The network is congested: many send to one, and switches hold this port and mark its packets.",
     "See which ports of the fabric are full: queue depth and ECN marks of {peer} and above\nLook at job placement and "
     "rail use; compare ECN thresholds with PFC's: marks should come first.",
     "Pause received for more than 5 % of the window together with congestion notifications for what this port sends, "
     "ten a second or more. Notifications alone are congestion control "
     "at work and no fault; where the driver counts frames of pause and not its time, this is not concluded.",
     judges::incast},
    {"pause-spread",
     network,
     kCritical,
     {rx_pause},
     "The network holds this port without any sign of congestion on its own paths: pause spreads from elsewhere.",
     "Look for the port that sends pause: fabric-agentctl diagnose on the other hosts of the pod, and PFC counters of "
     "{peer} towards them\nThe first of them that has tx pause is the source.\nIf no host has: see that {peer} marks "
     "(ECN) the queue of the RoCE priority.",
     "Pause received for more than 5 % of the window with hardly any notification: the full queue is one that this "
     "port's packets do not fill. Where "
     "a port of this host pauses without end, that may be the source; where no mark was ever counted, switches may not "
     "mark at all. Where the driver does not count notifications, this is not concluded.",
     judges::pause_spread},
    {"no-credits",
     network,
     kWarn,
     {starved},
     "The InfiniBand network gives this port no credits: a receiver or a link beyond the switch is full.",
     "Follow the waiting: PortXmitWait of the ports along the path (ibqueryerrors); behind the last port that waits is "
     "the slow one.\n"
     "Look at job placement and routing, many to one; ask the receivers: fabric-agentctl diagnose",
     "By port_xmit_wait of an NVIDIA card, it had data and no credits for 5 % of the window or more, and its own link "
     "is clean. A tick is taken as eight bytes "
     "of the port, the least that these cards count. The counter has 32 bits and then stands still, after 0.7 s of "
     "waiting at 400 Gb/s: only short windows "
     "show much, and one that is full says nothing until perfquery -R has reset it.",
     judges::no_credits},

    // Lost, and not here.
    {"damaged-elsewhere",
     network,
     kCritical,
     {marked, loss},
     "Packets arrive that were damaged on another link of the InfiniBand fabric.",
     "Look for symbol errors along the path, above {peer}: ibqueryerrors\nCompare the hosts that see it: the link that "
     "their paths share is the one.",
     "Ten or more packets came with the bad packet delimiter (port_rcv_remote_physical_errors): a device on the way, "
     "or the sender's card, had found them damaged "
     "and said so. This port's own cable does not make that mark.",
     judges::damaged_elsewhere},
    {"damaged-in-network",
     network,
     kCritical,
     {loss},
     "RoCE packets are changed on their way: a device in the network damages them.",
     "Compare the hosts that see it: what they have in common is the switch or line card.\nReplace that.",
     "Invariant CRCs are wrong, enough for what is lost, while every link's own CRC is right here: bits changed inside "
     "a device and were sent on with a good frame.",
     judges::damaged_in_network},
    {"send-drops",
     host,
     kWarn,
     {loss},
     "This port throws away what it should send.",
     "See ethtool -S {netdev} | grep -i discard\nSee whether the link was down, or a steering rule or rate limit "
     "drops.",
     "Discards on sending rose together with losses that the transport noticed, one for ten packets that had to be "
     "sent again or more. A port that had no link, was held by the network or waits for InfiniBand's "
     "credits discards as well: there this is not concluded.",
     judges::send_drops},
    {"peer-silent",
     peer,
     kCritical,
     {loss},
     "The far end of a connection does not answer at all.",
     "Find the far ends: rdma resource show qp link {rdma}\nSee whether those hosts and processes live, and whether "
     "their GID and route still hold: fabric-agentctl check --only network.",
     "Connections were given up while hardly a NAK came back (where NAKs are not counted, hardly anything arrived out "
     "of order): packets are not lost one by one, nobody answers. "
     "Where a GID of this port went meanwhile, answers may not find it, where no gateway of it answers, nobody beyond "
     "can be reached, and where the switch takes shorter "
     "frames than RoCE's, the large ones never arrive: not concluded. Nor is it where the network held this port for "
     "eight tenths of the window: what waited here was given up.",
     judges::peer_silent},
    {"loss-in-network",
     network,
     kCritical,
     {loss},
     "RoCE packets are lost or reordered between this port and its peers.",
     "Look for discards of the RoCE priority on {peer} and along the path, and whether {peer} counts damaged frames "
     "(FCS, FEC) from this port.\n"
     "Run fabric-agentctl diagnose on the far ends: what their ports throw away is missed here.\nCompare PFC, trust, "
     "DSCP map and ECN of the switches with this host: fabric-agentctl neighbors; fabric-agentctl show\n"
     "With adaptive routing, packets out of sequence alone are no loss.",
     "The transport noticed losses (ten or more, and more than one in a million packets; of packets out of order ten "
     "in a million), while this port discarded hardly anything and its own link has no errors, "
     "or too few for so much. "
     "Where its discards are not counted, or it discards enough for so much, and does not tell of which priority, has "
     "no lossless one or RoCE arrives outside those that PFC protects, this is not concluded; nor where the network "
     "held this port for eight tenths of the window, and no packet was missed.",
     judges::loss_in_network},
};

constexpr Rule kNothing{
    "not-enough-evidence",
    unknown,
    Status::unknown,
    {},
    "Something is wrong, and what was read does not say where.",
    "",
    "A symptom that no rule explains with confidence. What to collect is said with it; rules that came near are named.",
    nullptr};

}  // namespace

std::span<const Rule> rules() { return kRules; }

const Rule* find_rule(std::string_view id) {
  for (const Rule& rule : kRules)
    if (rule.id == id) return &rule;
  return id == kNothing.id ? &kNothing : nullptr;
}

}  // namespace fabric
