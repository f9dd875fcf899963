// SPDX-License-Identifier: Apache-2.0
// The checks that the health rules answer, and their runbook.
#include "checks/checks.h"

namespace fabric {
namespace {

constexpr std::string_view kCounters = "counters", kDevice = "device";

}  // namespace

const std::array<HealthCheck, 17> kHealthChecks{{
    {"link-flap", kCounters, "Does the link stay up?",
     "Times that carrier or the physical link went down within the window (12 h by default), counted by the kernel "
     "(carrier_down_count) and the NIC. Each stops RoCE for seconds and may end connections. What happens while the "
     "machine boots or the driver is loaded anew does not count. Look: journalctl -k -g 'Link|carrier'; ip -s -s link "
     "show DEV; the switch port's log. Clean and reseat the connectors, then replace the cable or the transceivers, "
     "then "
     "try another switch port. It clears by itself when the window has passed; fabric-agentctl ack link-flap says that "
     "it "
     "is known."},
    {"link-errors", kCounters, "Does the link damage bits?",
     "Symbol and CRC errors, FEC words beyond repair, ICRC errors and InfiniBand's link recoveries against the bits "
     "that "
     "the link has carried: IEEE 802.3 promises 1e-13. An InfiniBand port whose local errors passed its own limit "
     "tells so at once. "
     "While a link goes and comes, damaged frames alone count. The physical link of this port is at fault: clean, "
     "reseat or "
     "replace the cable and the transceivers, then try another switch port. ICRC errors alone, without the others, "
     "were "
     "made inside a switch or a NIC. Look: ethtool -S DEV | grep -e phy -e fec; ethtool -I --show-fec DEV; on "
     "InfiniBand "
     "perfquery."},
    {"pre-fec-ber", kCounters, "Has FEC margin left?",
     "Bits that forward error correction has to mend, by the bits of the link. RS(544,514) mends up to 2.4e-4, "
     "RS(528,514) "
     "at 25 Gb/s a lane up to 5e-5, BASE-R 1e-8; from there on frames are lost. A link that gets near announces a "
     "failing laser, a dirty connector or a cable at its end of "
     "life, and comes first at noon when it is warm. Look: ethtool -I --show-fec DEV; mlxlink -d PCI -c -e. Clean and "
     "reseat, then replace the cable while no job runs."},
    {"loss", kCounters, "Are RDMA packets lost, reordered or answered too late?",
     "Packets vanish or overtake each other in the network: packets out of sequence, sequence NAKs and repeated "
     "requests "
     "against all packets, ACK timeouts a second, connections given up; on InfiniBand packets that a switch has marked "
     "as "
     "damaged. Compare PFC, trust, DSCP map and ECN of this port with the switches, and look for discards on the path "
     "and "
     "on the peer. Look: fabric-agentctl counters; rdma statistic show link DEV; fabric-agentctl diagnose. Networks "
     "with "
     "adaptive routing reorder on purpose: raise [health] out_of_sequence there."},
    {"discards", kCounters, "Do port buffers overrun?",
     "A buffer overran that PFC should have protected: see that PFC is on for the priority at both ends, and that "
     "cable_length and the headroom are large enough. Look: ethtool -S DEV | grep discard; dcb pfc show dev DEV; dcb "
     "buffer show dev DEV; fabric-agentctl check --only peer-pfc."},
    {"pause-storm", kCounters, "Does this port send pause without end?",
     "This host cannot take what it receives and holds up the network, which spreads to every port of the switch: look "
     "for a hung process, a slow PCIe link or failed GPU memory, and reset the NIC if it stays so. Judged by the share "
     "of "
     "time for which it held a priority, not by the number of frames. Look: ethtool -S DEV | grep -e pause_duration -e "
     "storm; fabric-agentctl check --only pcie; nvidia-smi -q -d ECC."},
    {"pause-held", kCounters, "Is this port held by the network's pause without end?",
     "The switch holds a priority of this port nearly all the time (rx pause duration): a receiver somewhere behind it "
     "does not take its packets, or PFC has locked up. This host is the victim. Look: ethtool -S DEV | grep "
     "rx_prio.*pause_duration; on the switch, PFC counters and watchdog of the ports towards the receivers; find the "
     "node "
     "whose check says pause-storm."},
    {"receiver", kCounters, "Is the receiving host late with its buffers?",
     "The receiving application posts its buffers too late; the network is not at fault: look at its CPU load, pinning "
     "and queue depths. Receiver-not-ready NAKs alone are flow control at work and no fault; retries exceeded are."},
    {"congestion", kCounters, "How much congestion is signalled?",
     "Congestion notifications (CNP) sent and obeyed, and packets received with the ECN mark. This is DCQCN at work "
     "and "
     "never a fault: listed with --verbose. See fabric-agentctl counters."},
    {"pcie-errors", kCounters, "Does the PCIe path take what the port receives?",
     "The slot is too slow or disturbed: see the pcie and aer checks, reseat the card, and compare relaxed ordering, "
     "MRRS "
     "and IOMMU settings. Look: ethtool -S DEV | grep pci."},
    {"requests", kCounters, "Are RDMA requests rejected?",
     "One side rejects the other's requests (keys, lengths, access rights): the application or its peer is at fault, "
     "or a "
     "peer died. Look: rdma statistic show link DEV, and the job's log."},
    {"cnp-ignored", kCounters, "Does this sender obey congestion notifications?",
     "Congestion notifications arrive and are ignored: switch the ECN reaction point on for the RoCE priority of this "
     "NIC. Look: fabric-agentctl show --port DEV (ecn_rp)."},
    {"counters-frozen", kCounters, "Do the counters still count?",
     "Traffic passes on the lossless priorities and not one RDMA counter moves, or the counters of the port cannot be "
     "read any more: what every other check says of this port is then worth nothing. Hung firmware, or a driver that "
     "waits for it. Look: journalctl -k -g 'mlx5|bnxt|timeout'; time cat "
     "/sys/class/infiniband/DEV/ports/1/counters/port_xmit_data. Reset or reload the device while no job runs."},
    {"optics", kDevice, "Do light and laser current of each lane stay within the module's limits?",
     "Power received and sent and the laser's current of each lane are compared with the limits that the module's "
     "maker "
     "wrote into it (SFF-8472, SFF-8636, CMIS): warning limits give a warning, alarm limits are critical. Little light "
     "received: clean both ends, look for a sharp bend, swap the fibre; little sent, or much current: replace the "
     "module. "
     "Only links that are up are judged; of a bond, the module of each member. Look: ethtool -m DEV."},
    {"module-temperature", kDevice, "Is the module cool enough?",
     "A module too hot makes bit errors and switches its laser off. The limits are its own, else 70 and 75 degrees "
     "Celsius ([health] module_temperature). Look: ethtool -m DEV; fans, blank panels, and whether the modules beside "
     "it "
     "are hot as well."},
    {"gid-changed", kDevice, "Do the GIDs stay?",
     "A GID of the port is another one now or gone: its netdev lost or changed an address. Connections made with the "
     "old "
     "one break at their next retry, and applications that were given an index use another address. Look: ip address "
     "show "
     "dev DEV; journalctl -u systemd-networkd -u NetworkManager; show_gids. It clears by itself after ten minutes."},
    {"device-health", kDevice, "Does the NIC say that it is well?",
     "devlink's health reporters tell of errors of firmware, queues and the device itself. State error: it did not "
     "recover. Look: devlink health show; devlink health dump show pci/ADDRESS reporter NAME (keep it for the vendor). "
     "Mend: devlink health recover pci/ADDRESS reporter NAME, while no job runs; if it comes back, update the firmware "
     "or "
     "replace the card."},
}};

}  // namespace fabric
