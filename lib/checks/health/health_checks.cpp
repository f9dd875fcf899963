// SPDX-License-Identifier: Apache-2.0
// The checks that health rules answer. Thresholds are in health/rule.h.
#include <array>

#include "checks/registry.h"

namespace fabric {
namespace {

constexpr Check kRows[] = {
    {.id = "link-flap",
     .group = group::counters,
     .title = "The link stays up",
     .meaning = "Counts how often carrier or the physical link went down within the window (12 hours by default), as "
                "counted by the kernel (carrier_down_count) and the NIC. Each flap stops RoCE for seconds and can end "
                "connections. Flaps while the machine boots or the driver loads do not count. The finding clears when "
                "the window has passed.",
     .inspect = "journalctl -k -g 'Link|carrier'; ip -s -s link show dev NETDEV; the log of the switch port",
     .fix = "Clean and reseat the connectors, then replace the cable or the transceivers, then use another switch "
            "port. fabric-agentctl ack link-flap acknowledges a known flap."},
    {.id = "link-errors",
     .group = group::counters,
     .title = "The link carries no damaged bits",
     .meaning = "Compares symbol and CRC errors, uncorrectable FEC code words, ICRC errors and InfiniBand link "
                "recoveries with the number of bits carried; IEEE 802.3 requires a bit error ratio of 1e-13 or less. "
                "An InfiniBand port that exceeds its own threshold of local errors is reported at once. While a link "
                "goes down and up, only damaged frames count. ICRC errors without other errors come from inside a "
                "switch or a NIC.",
     .inspect = "ethtool -S NETDEV | grep -e phy -e fec; ethtool -I --show-fec NETDEV; perfquery (InfiniBand)",
     .fix = "Clean, reseat or replace the cable and the transceivers of this port, then use another switch port."},
    {.id = "pre-fec-ber",
     .group = group::counters,
     .title = "FEC has margin left",
     .meaning = "Bits corrected by forward error correction per bit carried. RS(544,514) corrects up to 2.4e-4, "
                "RS(528,514) at 25 Gb/s per lane up to 5e-5, BASE-R 1e-8; beyond that frames are lost. A ratio near "
                "the limit announces a failing laser, a dirty connector or an aging cable, and gets worse when warm.",
     .inspect = "ethtool -I --show-fec NETDEV; mlxlink -d ADDRESS -c -e",
     .fix = "Clean and reseat the connectors, then replace the cable while no job runs."},
    {.id = "loss",
     .group = group::counters,
     .title = "RDMA packets arrive complete, in order and in time",
     .meaning = "Packets are lost or reordered in the network: packets out of sequence, sequence NAKs and repeated "
                "requests per packet, ACK timeouts per second, transport retry exceeded; on InfiniBand packets that a "
                "switch marked as damaged. Networks with adaptive routing reorder packets by design.",
     .inspect = "fabric-agentctl diagnose; fabric-agentctl counters; rdma statistic show link RDMADEV/1",
     .fix = "Configure the same PFC, trust, DSCP map and ECN on this port and on the switches; remove the cause of "
            "discards on the path and at the peer. With adaptive routing raise [health] out_of_sequence."},
    {.id = "discards",
     .group = group::counters,
     .title = "Port buffers do not overrun",
     .meaning = "A buffer overran that PFC should have protected.",
     .inspect = "ethtool -S NETDEV | grep discard; dcb pfc show dev NETDEV; dcb buffer show dev NETDEV; "
                "fabric-agentctl check --only peer-pfc",
     .fix = "Enable PFC for the priority at both ends. Raise cable_length or the headroom in the policy."},
    {.id = "pause-storm",
     .group = group::counters,
     .title = "This port does not send a PFC storm",
     .meaning = "This host does not take what it receives and pauses the network, which spreads to every port of the "
                "switch. Measures the share of time with PFC pause sent, not the number of frames. Causes are a hung "
                "process, a slow PCIe link or failed GPU memory.",
     .inspect = "ethtool -S NETDEV | grep -e pause_duration -e storm; fabric-agentctl check --only pcie; nvidia-smi "
                "-q -d ECC",
     .fix = "Stop the hung process. Reset the NIC if the storm continues."},
    {.id = "pause-held",
     .group = group::counters,
     .title = "This port is not paused by a PFC storm",
     .meaning = "The switch pauses a priority of this port nearly all the time (PFC pause received): a receiver "
                "behind it does not take its packets, or PFC is in deadlock. This host is the victim.",
     .inspect = "ethtool -S NETDEV | grep rx_prio.*pause_duration; on the switch: PFC counters and PFC watchdog of the "
                "ports towards the receivers",
     .fix = "Find the node whose check reports pause-storm and fix it there."},
    {.id = "receiver",
     .group = group::counters,
     .title = "The receiving application posts its buffers in time",
     .meaning = "RNR retry exceeded: the receiving application posts its buffers too late. The network is not at "
                "fault. RNR NAKs alone are flow control at work and not a fault.",
     .inspect = "rdma statistic show link RDMADEV/1; top on the receiving host",
     .fix = "Fix CPU load, pinning and queue depths of the receiving application."},
    {.id = "pcie-errors",
     .group = group::counters,
     .title = "The PCIe path keeps up with the port",
     .meaning = "The PCIe counters of the NIC show signal errors, overflows or stalls: the slot is too slow or has bit "
                "errors.",
     .inspect = "ethtool -S NETDEV | grep pci; fabric-agentctl check --only pcie --only aer --only pci-tuning",
     .fix = "Reseat the NIC. Set relaxed ordering, MRRS and IOMMU mode as on the other NICs."},
    {.id = "requests",
     .group = group::counters,
     .title = "RDMA requests are not rejected",
     .meaning = "One side rejects requests of the other (keys, lengths, access rights): the application or its peer is "
                "at fault, or a peer died.",
     .inspect = "rdma statistic show link RDMADEV/1; the log of the job",
     .fix = "Fix or restart the job. The network is not at fault."},
    {.id = "cnp-ignored",
     .group = group::counters,
     .title = "This sender obeys congestion notifications",
     .meaning = "Congestion notification packets (CNP) arrive and are ignored, so congestion ends in PFC pause.",
     .inspect = "fabric-agentctl show (ecn_rp)",
     .fix = "Set ecn_rp in the policy to the RoCE priority, then fabric-agentctl apply."},
    {.id = "counters-frozen",
     .group = group::counters,
     .title = "The counters count",
     .meaning = "Traffic passes on the lossless priorities and no RDMA counter moves, or the counters of the port can "
                "no longer be read. Every other check of this port is then unreliable. The cause is hung firmware, or "
                "a driver that waits for it.",
     .inspect = "journalctl -k -g 'mlx5|bnxt|timeout'; time cat "
                "/sys/class/infiniband/RDMADEV/ports/1/counters/port_xmit_data",
     .fix = "Reset or reload the device while no job runs."},
    {.id = "optics",
     .group = group::device,
     .title = "Lane power and laser current are within the limits of the module",
     .meaning = "Compares received power, sent power and laser current of each lane with the limits in the module's "
                "EEPROM (SFF-8472, SFF-8636, CMIS). A value beyond a warning limit is a warning, beyond an alarm limit "
                "critical. Only links that are up are checked; of a bond, the module of each member.",
     .inspect = "ethtool -m NETDEV",
     .fix = "Low received power: clean both ends, remove sharp bends, replace the fiber. Low sent power or high "
            "current: replace the module."},
    {.id = "module-temperature",
     .group = group::device,
     .title = "The transceiver module is cool enough",
     .meaning = "A hot module causes bit errors and turns its laser off. The limits are those of the module, else 70 "
                "and 75 degrees Celsius ([health] module_temperature).",
     .inspect = "ethtool -m NETDEV; temperatures of the neighboring modules",
     .fix = "Restore the air flow: fans and blank panels. Replace a module that is hotter than its neighbors."},
    {.id = "gid-changed",
     .group = group::device,
     .title = "The GIDs of the port are stable",
     .meaning = "A GID of the port changed or disappeared: its netdev lost or changed an address. Existing connections "
                "break at their next retry, and applications that use a GID index get another address. The finding "
                "clears after 10 minutes.",
     .inspect = "ip address show dev NETDEV; journalctl -u systemd-networkd -u NetworkManager; show_gids",
     .fix = "Make the addresses of NETDEV static in the network configuration, then restart the job."},
    {.id = "device-health",
     .group = group::device,
     .title = "The NIC reports no internal error",
     .meaning = "The health reporters of devlink count errors of firmware, queues and the device. State error means "
                "that the device did not recover.",
     .inspect = "devlink health show; devlink health dump show pci/ADDRESS reporter NAME (keep it for the vendor)",
     .fix = "devlink health recover pci/ADDRESS reporter NAME, while no job runs. If the error returns, update the "
            "firmware or replace the NIC."},
};

}  // namespace

std::span<const Check> checks_of_health_rules() { return kRows; }

}  // namespace fabric
