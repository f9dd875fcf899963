// SPDX-License-Identifier: Apache-2.0
// Names of what is watched beside the counters: link, FEC, the module in the cage, objects in use, the device's health,
// PCIe.
#pragma once

#include <array>

#include "metrics/family.h"

namespace fabric::metrics {

inline constexpr Metric kLinkDownReason{
    "fabric_link_down_reason_info",
    "Why there is no link, as the NIC says it (reason, detail: ethtool's words), or Switched off of a netdev that is "
    "administratively down; 1 while it is so, absent while the link is up or the driver does not say.",
    MetricKind::gauge};

inline constexpr Metric kFecMode{
    "fabric_phy_fec_info", "Forward error correction in use, by mode (off, rs, baser, llrs); the value is always 1.",
    MetricKind::gauge};
inline constexpr Metric kFecLaneBits{"fabric_phy_fec_lane_corrections_total",
                                     "Single bits corrected by FEC, by lane of the PCS."};
inline constexpr Metric kFecLaneCorrected{"fabric_phy_fec_lane_corrected_words_total",
                                          "FEC code words corrected, by lane of the PCS."};
inline constexpr Metric kFecLaneUncorrectable{"fabric_phy_fec_lane_uncorrectable_words_total",
                                              "FEC code words beyond correction, by lane of the PCS."};

inline constexpr Metric kModuleInfo{"fabric_module_info",
                                    "The cable or module in the cage (form_factor, vendor, part_number, serial_number, "
                                    "medium, technology); the value is always 1.",
                                    MetricKind::gauge};
inline constexpr Metric kModuleState{
    "fabric_module_state", "State of a CMIS module: 1 low power, 2 powering up, 3 ready, 4 powering down, 5 fault.",
    MetricKind::gauge};
inline constexpr Metric kModuleLength{"fabric_module_cable_length_meters",
                                      "Length of a cable that cannot be taken off its ends.", MetricKind::gauge};
inline constexpr Metric kModuleTemperature{"fabric_module_temperature_celsius", "Temperature of the module.",
                                           MetricKind::gauge};
inline constexpr Metric kModuleVoltage{"fabric_module_voltage_volts", "Supply voltage of the module.",
                                       MetricKind::gauge};
inline constexpr Metric kModuleRxPower{"fabric_module_rx_power_watts", "Light received, by lane.", MetricKind::gauge};
inline constexpr Metric kModuleTxPower{"fabric_module_tx_power_watts", "Light sent, by lane.", MetricKind::gauge};
inline constexpr Metric kModuleTxBias{"fabric_module_tx_bias_amperes", "Current through the laser, by lane.",
                                      MetricKind::gauge};
inline constexpr Metric kModuleTemperatureLimit{
    "fabric_module_temperature_limit_celsius",
    "The module's own limits of its temperature, by limit (high_alarm, high_warning, low_warning, low_alarm).",
    MetricKind::gauge};
inline constexpr Metric kModuleVoltageLimit{
    "fabric_module_voltage_limit_volts", "The module's own limits of its supply voltage, by limit.", MetricKind::gauge};
inline constexpr Metric kModuleRxPowerLimit{
    "fabric_module_rx_power_limit_watts",
    "The module's own limits of the light received, by limit; the same for all lanes.", MetricKind::gauge};
inline constexpr Metric kModuleTxPowerLimit{"fabric_module_tx_power_limit_watts",
                                            "The module's own limits of the light sent, by limit.", MetricKind::gauge};
inline constexpr Metric kModuleTxBiasLimit{"fabric_module_tx_bias_limit_amperes",
                                           "The module's own limits of the laser current, by limit.",
                                           MetricKind::gauge};
inline constexpr Metric kModuleFlag{
    "fabric_module_flag",
    "The module's own verdict on a reading, of all lanes the worst: 0 within its limits, 1 beyond a warning limit, 2 "
    "beyond an alarm limit at some time since the reading before.",
    MetricKind::gauge};
inline constexpr Metric kModuleLanesLost{
    "fabric_module_lanes_without_signal",
    "Lanes that report loss of signal or of lock, by side (medium: from the cable; host: from the NIC).",
    MetricKind::gauge};
inline constexpr Metric kModuleTxFaults{"fabric_module_lanes_with_transmit_fault",
                                        "Lanes whose laser is switched off for a fault.", MetricKind::gauge};

inline constexpr Metric kResources{"fabric_rdma_resources",
                                   "RDMA objects in use on the device, users' and the kernel's together, by kind (qp, "
                                   "cq, mr, ctx: a process that has the device open).",
                                   MetricKind::gauge};
inline constexpr Metric kResourcesByOwner{
    "fabric_rdma_resources_by_owner",
    "Of the queue pairs, completion queues and memory regions (kind: qp, cq, mr), those of processes (owner user) and "
    "those of the kernel (owner kernel). Counted when fabric_rdma_resources has changed, at most once a minute. A kind "
    "of which there are more than the device lists in 0.3 s is absent.",
    MetricKind::gauge};

inline constexpr Metric kDeviceHealthy{"fabric_device_healthy",
                                       "1 when none of the device's own health reporters (devlink) finds anything "
                                       "wrong, 0 from an error until it recovers.",
                                       MetricKind::gauge};
inline constexpr Metric kDeviceErrors{"fabric_device_health_errors_total",
                                      "Errors that the device's health reporter reported (devlink), by reporter."};
inline constexpr Metric kDeviceRecoveries{"fabric_device_recoveries_total",
                                          "Times the device was recovered from such an error, by all its reporters."};

inline constexpr Metric kPcieErrors{
    "fabric_pcie_errors_total",
    "PCIe errors of the device's function (Advanced Error Reporting), by severity (correctable, nonfatal, fatal)."};

// All of them, in the order of the manual page.
inline constexpr std::array kTelemetry{&kLinkDownReason,
                                       &kFecMode,
                                       &kFecLaneBits,
                                       &kFecLaneCorrected,
                                       &kFecLaneUncorrectable,
                                       &kModuleInfo,
                                       &kModuleState,
                                       &kModuleLength,
                                       &kModuleTemperature,
                                       &kModuleVoltage,
                                       &kModuleRxPower,
                                       &kModuleTxPower,
                                       &kModuleTxBias,
                                       &kModuleTemperatureLimit,
                                       &kModuleVoltageLimit,
                                       &kModuleRxPowerLimit,
                                       &kModuleTxPowerLimit,
                                       &kModuleTxBiasLimit,
                                       &kModuleFlag,
                                       &kModuleLanesLost,
                                       &kModuleTxFaults,
                                       &kResources,
                                       &kResourcesByOwner,
                                       &kDeviceHealthy,
                                       &kDeviceErrors,
                                       &kDeviceRecoveries,
                                       &kPcieErrors};

}  // namespace fabric::metrics
