// SPDX-License-Identifier: Apache-2.0
// What each health rule's finding means, and what to do.
#include <algorithm>
#include <array>

#include "health/health.h"
#include "model/health_rules.h"

namespace fabric {
namespace {

constexpr std::array kTexts{
    HealthText{"link_flap", "stays up",
               "The link went down and came back: RoCE stood still each time, and connections may have ended.",
               "Clean and reseat the connectors of this port, then replace the cable or the transceivers, then try "
               "another switch port."},
    HealthText{"bit_errors", "fewer than 1e-13 of the bits",
               "Bits arrive damaged in spite of FEC, and each costs RoCE a retransmission: the physical link is at "
               "fault, or, where "
               "there are ICRC errors alone, a device on the way.",
               "Clean, reseat or replace the cable and the transceivers, then try another switch port."},
    HealthText{"link_recoveries", "at most 5 a minute",
               "The link trains again and again, and carries nothing meanwhile.",
               "Clean, reseat or replace the cable, then try another switch port."},
    HealthText{"link_integrity", "none",
               "So many bits arrive damaged on this InfiniBand link that the port itself has passed its limit of them.",
               "Clean, reseat or replace the cable, then try another switch port."},
    HealthText{"pre_fec_ber", "below a tenth of what FEC mends (2.4e-4 at 50 Gb/s a lane and more)",
               "FEC has little margin left: a little more heat or dirt, and frames are lost.",
               "Clean and reseat the connectors, compare the lanes' light (ethtool -m), and replace the cable while no "
               "job runs."},
    HealthText{"out_of_sequence", "none, or few of many packets",
               "Packets vanish or overtake each other in the network, and RoCE sends them again.",
               "Compare PFC, trust, DSCP map and ECN of this port with the switches, and look for discards on the path "
               "and on the peer."},
    HealthText{"ack_timeouts", "fewer than one a second",
               "Answers do not come: packets are lost without a trace, or the peer is gone.",
               "See whether the peer lives, then look for discards and link failures on the path."},
    HealthText{
        "remote_physical_errors", "fewer than one a second",
        "Packets arrive that a switch on the way had found damaged: another link of the InfiniBand fabric is at fault.",
        "Look for symbol errors along the path (ibqueryerrors), and at what the hosts that see it have in common."},
    HealthText{"retries_exceeded", "none",
               "A connection was given up after the last retry: its job has ended or is about to.",
               "Find the peer in the job's log, and look for a link that is down or loses packets between the two."},
    HealthText{"lossless_discards", "none on lossless priorities", "A buffer overran that PFC should have protected.",
               "See that PFC is on for the priority at both ends, and that cable_length and the headroom are large "
               "enough."},
    HealthText{"port_discards", "few", "The port throws packets away for want of buffer, and RoCE sends them again.",
               "See whether RoCE travels on a lossless priority at both ends (trust, DSCP map, PFC)."},
    HealthText{"buffer_overruns", "none", "A link with credits overran its buffer, which it never should.",
               "Replace the cable, then look at the firmware of both ends."},
    HealthText{"tx_pause", "pauses the network for less than 80 % of the time",
               "This host cannot take what it receives and holds up the network.",
               "Look for a hung process, a slow PCIe link or failed GPU memory, and reset the NIC if it stays so."},
    HealthText{"pause_storms", "none",
               "The NIC counted a pause storm: this host could not take what it received and held up the network.",
               "Look for a hung process, a slow PCIe link or failed GPU memory, and reset the NIC if it stays so."},
    HealthText{"rx_pause", "held by the network for less than 80 % of the time",
               "The switch lets this port send almost nothing: a receiver behind it does not take its packets.",
               "Find the node that pauses (check pause-storm there), and look at the PFC watchdog of the switches."},
    HealthText{
        "rnr_retries_exceeded", "no connection given up",
        "The receiving application posts its buffers too late, and a connection was given up; the network is not "
        "at fault.",
        "Look at the CPU load, pinning and queue depths of the application at the other end."},
    HealthText{"cnp_ignored", "none", "Congestion notifications arrive and this sender does not slow down.",
               "Switch the ECN reaction point on for the RoCE priority of this NIC (ecn_rp)."},
    HealthText{"pcie_errors", "none", "The slot is too slow or disturbed, and the port's buffers fill up.",
               "See the pcie check, reseat the card, and compare relaxed ordering, MRRS and IOMMU settings."},
    HealthText{"pcie_stalls", "less than half of the time",
               "The host takes or gives data more slowly than the port: the PCIe path is the bottleneck.",
               "See the pcie, acs and iommu checks, and whether the GPU or the memory used is on another socket."},
    HealthText{"pcie_replays", "fewer than 1e-12 of the bits",
               "The PCIe link repeats what was damaged more often than it may.",
               "Reseat card, riser and cable between the two ends of this link, and replace what the errors follow."},
    HealthText{"request_errors", "none, or the few of a job's end",
               "One side rejects the other's requests: the application or its peer is at fault, or a peer died.",
               "Read the job's log on both sides for the failed work requests."},
    HealthText{"lane_power", "within the module's limits",
               "A lane has too little or too much light or current: it makes bit errors, and then the link goes down.",
               "Little light received: clean both ends and swap the fibre; little sent or much current: replace the "
               "module."},
    HealthText{"module_temperature", "below the module's limit",
               "The module is too hot: it makes bit errors and switches its laser off.",
               "See fans and blank panels, and whether the modules beside it are hot as well."},
    HealthText{
        "frozen_counters", "RDMA counters move with the traffic",
        "RDMA traffic goes on and no RDMA counter moves: what the other checks say of this port is worth nothing.",
        "Read the kernel's log for the device, then reload its driver while no job runs."},
    HealthText{"stale_readings", "read within the last minute",
               "The port's counters cannot be read any more: hung firmware, or a driver that waits for it.",
               "Read the kernel's log for the device, then reset it while no job runs."},
    HealthText{
        "gid_changed", "GIDs as they were",
        "An address of the port went or became another one: connections made with the old GID break.",
        "See who changes the addresses (journalctl -u systemd-networkd -u NetworkManager), and let new connections "
        "be made."},
    HealthText{"device_errors", "no new errors",
               "The NIC's driver reported errors of firmware or queues and recovered from them.",
               "Keep devlink health dump show for the vendor, and update the firmware while no job runs."},
    HealthText{"device_state", "all healthy", "The NIC's driver reported an error that it did not recover from.",
               "Keep devlink health dump show for the vendor, then devlink health recover while no job runs."},
};
static_assert(kTexts.size() == kHealthRules.size());

}  // namespace

const HealthText& health_text(std::string_view rule) {
  const auto found =
      std::find_if(kTexts.begin(), kTexts.end(), [&](const HealthText& text) { return text.rule == rule; });
  return found == kTexts.end() ? kTexts.front() : *found;
}

}  // namespace fabric
