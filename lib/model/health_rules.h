// SPDX-License-Identifier: Apache-2.0
// The health rules and their limits. A limit is a number that somebody published; where nobody did, it says "ours".
#pragma once

#include <array>

#include "model/health.h"

namespace fabric {

inline constexpr double kMinute = 60, kHour = 3600;
inline constexpr std::nullopt_t kNever = std::nullopt;

inline constexpr std::array kHealthRules{
    // gpud: three times in 12 h. azurehpc takes a node out after five within a day.
    HealthRule{"link_flap", "link-flap", HealthMeasure::count, {3, 5, 12 * kHour, 0, kMinute}, 1, 1, true},
    // By bits, after FEC. IEEE 802.3 promises 1e-13 above 100 Gb/s, 1e-12 below. At 400 Gb/s the first is 144 an hour
    // (NVSentinel: 120 symbol errors).
    HealthRule{"bit_errors", "link-errors", HealthMeasure::ratio, {1e-13, kNever, kMinute, 0, kMinute}, 3, 0.5, true},
    // NVSentinel: link_error_recovery more than 5 a minute.
    HealthRule{"link_recoveries", "link-errors", HealthMeasure::count, {6, kNever, kMinute, 0, kMinute}, 1, 0.5, true},
    // NVSentinel: any of local_link_integrity_errors is fatal. It counts a threshold that was passed, not an error.
    HealthRule{"link_integrity", "link-errors", HealthMeasure::count, {1, kNever, kMinute, 0, kMinute}, 1, 0.5, true},
    // RS(544,514) corrects up to 2.4e-4 (IEEE 802.3 annex 120D); a tenth of it leaves no margin for a warm day (ours).
    // Where the code mends less, less is allowed (health_readings.cpp).
    HealthRule{"pre_fec_ber", "pre-fec-ber", HealthMeasure::ratio, {2.4e-5, 2.4e-4, 20, 10, kMinute}, 100, 0.5, true},
    // By packets. One lost packet in a thousand and go-back-N sends more than it gains; both are ours.
    HealthRule{"out_of_sequence", "loss", HealthMeasure::ratio, {1e-5, 1e-3, 20, 10, kMinute}, 10, 0.5, true},
    // A second. NVSentinel: local_ack_timeout_err more than 1.
    HealthRule{"ack_timeouts", "loss", HealthMeasure::ratio, {1, kNever, 20, 10, kMinute}, 3, 0.5, true},
    // A second, on InfiniBand. NVSentinel: port_rcv_errors more than 10; a tenth of it is ours, as with discards.
    HealthRule{"remote_physical_errors", "loss", HealthMeasure::ratio, {1, kNever, kMinute, 0, kMinute}, 10, 0.5, true},
    // A connection that was given up has ended a job (ours).
    HealthRule{"retries_exceeded", "loss", HealthMeasure::count, {1, 1, kMinute, 0, kMinute}, 1},
    // Priorities with PFC promise to lose nothing (IEEE 802.1Qbb); a few when a link comes up are left out (ours).
    HealthRule{"lossless_discards", "discards", HealthMeasure::count, {10, kNever, kMinute, 0, kMinute}, 1, 0.5, true},
    // A second. NVSentinel: port_xmit_discards more than 100; AWS: rx_drops more than 100. A tenth of it is ours: RoCE
    // feels it.
    HealthRule{"port_discards", "discards", HealthMeasure::ratio, {10, kNever, kMinute, 0, kMinute}, 10, 0.5, true},
    // NVSentinel: any of excessive_buffer_overrun_errors is fatal. A link with credits cannot overrun.
    HealthRule{"buffer_overruns", "discards", HealthMeasure::count, {1, kNever, kMinute, 0, kMinute}, 1},
    // Share of the time. SONiC's watchdog: more than 80 % (of most ASICs), 99 % (Mellanox) of the detection time.
    HealthRule{"tx_pause", "pause-storm", HealthMeasure::ratio, {0.8, 0.99, 10, 10, 30}, 0},
    // mlx5 counts a storm when its own watchdog had to act.
    HealthRule{"pause_storms", "pause-storm", HealthMeasure::count, {1, 1, kMinute, 0, kMinute}, 1},
    HealthRule{"rx_pause", "pause-held", HealthMeasure::ratio, {0.8, 0.99, 10, 10, 30}, 0},
    // As retries_exceeded. Receiver-not-ready NAKs alone are flow control at work and never judged.
    HealthRule{"rnr_retries_exceeded", "receiver", HealthMeasure::count, {1, 1, kMinute, 0, kMinute}, 1},
    // A second (ours): a sender that obeys ignores none.
    HealthRule{"cnp_ignored", "cnp-ignored", HealthMeasure::ratio, {1, kNever, kMinute, 0, kMinute}, 10},
    // Of the NIC's own PCIe counters: signal integrity and overflows, a second (ours).
    HealthRule{"pcie_errors", "pcie-errors", HealthMeasure::ratio, {1, kNever, kMinute, 0, kMinute}, 3},
    // Share of the time in which the NIC could not write to or read from the host (ours).
    HealthRule{"pcie_stalls", "pcie-errors", HealthMeasure::ratio, {0.5, kNever, 20, 10, kMinute}, 0},
    // By bits of the PCIe link. DCGM: 1e-12, which is 0.96 a minute and lane at 16 GT/s, 1.92 at 32, 3.84 at 64.
    HealthRule{"pcie_replays", "aer", HealthMeasure::ratio, {1e-12, kNever, kMinute, 0, kMinute}, 2},
    // Ours: the end of a job may leave a few.
    HealthRule{"request_errors", "requests", HealthMeasure::count, {5, kNever, kMinute, 0, kMinute}, 1},
    // 1: outside of the module's own warning limits, 2: of its alarm limits (SFF-8636, SFF-8472, CMIS).
    HealthRule{"lane_power", "optics", HealthMeasure::level, {1, 2, 0, 10, kMinute}, 0, 0.95},
    // Degrees Celsius, where the module has no limits itself: 70 is the end of the commercial range of QSFP and OSFP
    // modules.
    HealthRule{"module_temperature", "module-temperature", HealthMeasure::level, {70, 75, 0, 10, kMinute}, 0, 0.95},
    // 1: RDMA traffic goes on and no RDMA counter moves (ours).
    HealthRule{"frozen_counters", "counters-frozen", HealthMeasure::level, {1, kNever, 0, 30, 30}},
    // Seconds since a port's counters could be read last (ours).
    HealthRule{"stale_readings", "counters-frozen", HealthMeasure::level, {60, kNever, 0, 0, 0}},
    // Connections made before have the old one (ours).
    HealthRule{"gid_changed", "gid-changed", HealthMeasure::count, {1, kNever, 10 * kMinute, 0, 0}, 1, 1, true},
    // devlink health: 1: a reporter counted an error within ten minutes, 2: it is in the state "error" now
    // (devlink-health(7)).
    HealthRule{"device_errors", "device-health", HealthMeasure::count, {1, kNever, 10 * kMinute, 0, 0}, 1},
    HealthRule{"device_state", "device-health", HealthMeasure::level, {kNever, 1, 0, 0, 0}},
};

using AllHealthLimits = std::array<HealthLimits, kHealthRules.size()>;
constexpr AllHealthLimits default_health_limits() {
  AllHealthLimits out;
  for (size_t i = 0; i < out.size(); ++i) out[i] = kHealthRules[i].limits;
  return out;
}

// [health] of the configuration.
struct HealthPolicy {
  AllHealthLimits limits = default_health_limits();
  double boot_grace = 30 * kMinute;   // OCI ignores what happens to links in the first 1800 s
  double reload_grace = 2 * kMinute;  // links come up within one after a driver was loaded (ours)
  bool operator==(const HealthPolicy&) const = default;
};

}  // namespace fabric
