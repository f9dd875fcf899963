// SPDX-License-Identifier: Apache-2.0
// Metrics other than counters: link, FEC, module, RDMA objects, device health, PCIe.
#pragma once

#include <array>

#include "nic/metrics.h"

namespace fabric::metrics {

inline constexpr Metric kLinkDownReason{
    "fabric_link_down_reason_info",
    "Reason for a link that is down, as reported by the NIC (reason, detail: ethtool's words), or Switched off if the "
    "netdev is administratively down; always 1. Absent while the link is up or the driver reports no reason."};

inline constexpr Metric kFecMode{"fabric_phy_fec_info",
                                 "Active forward error correction, by mode (off, rs, baser, llrs); always 1."};
inline constexpr Metric kFecLaneBits{"fabric_phy_fec_lane_corrections_total",
                                     "Single bits corrected by FEC, by lane of the PCS."};
inline constexpr Metric kFecLaneCorrected{"fabric_phy_fec_lane_corrected_words_total",
                                          "FEC code words corrected, by lane of the PCS."};
inline constexpr Metric kFecLaneUncorrectable{"fabric_phy_fec_lane_uncorrectable_words_total",
                                              "FEC code words beyond correction, by lane of the PCS."};

inline constexpr Metric kFecNearLimit{
    "fabric_phy_fec_near_limit_words_total",
    "FEC code words in which two thirds or more of the symbols that the code can correct (correctable) were "
    "corrected."};
inline constexpr Metric kFecWords{"fabric_phy_fec_words_total",
                                  "FEC code words, by the largest number of corrected symbols of the bin (symbols)."};

inline constexpr Metric kModuleInfo{
    "fabric_module_info",
    "Cable or module in the cage (form_factor, vendor, part_number, serial_number, medium, technology); always 1."};
inline constexpr Metric kModuleState{
    "fabric_module_state", "State of a CMIS module: 1 low power, 2 powering up, 3 ready, 4 powering down, 5 fault."};
inline constexpr Metric kModuleLength{"fabric_module_cable_length_meters", "Length of a cable with fixed ends."};
inline constexpr Metric kModuleTemperature{"fabric_module_temperature_celsius", "Temperature of the module."};
inline constexpr Metric kModuleVoltage{"fabric_module_voltage_volts", "Supply voltage of the module."};
inline constexpr Metric kModuleRxPower{"fabric_module_rx_power_watts", "Light received, by lane."};
inline constexpr Metric kModuleTxPower{"fabric_module_tx_power_watts", "Light sent, by lane."};
inline constexpr Metric kModuleTxBias{"fabric_module_tx_bias_amperes", "Current through the laser, by lane."};
inline constexpr Metric kModuleRxPowerLowest{"fabric_module_rx_power_lowest_watts",
                                             "Light received on the lane in use that receives least."};
inline constexpr Metric kModuleTxPowerLowest{"fabric_module_tx_power_lowest_watts",
                                             "Light sent on the lane in use that sends least."};
inline constexpr Metric kModuleTemperatureLimit{
    "fabric_module_temperature_limit_celsius",
    "The module's own limits of its temperature, by limit (high_alarm, high_warning, low_warning, low_alarm)."};
inline constexpr Metric kModuleVoltageLimit{"fabric_module_voltage_limit_volts",
                                            "The module's own limits of its supply voltage, by limit."};
inline constexpr Metric kModuleRxPowerLimit{
    "fabric_module_rx_power_limit_watts",
    "The module's own limits of the light received, by limit; the same for all lanes."};
inline constexpr Metric kModuleTxPowerLimit{"fabric_module_tx_power_limit_watts",
                                            "The module's own limits of the light sent, by limit."};
inline constexpr Metric kModuleTxBiasLimit{"fabric_module_tx_bias_limit_amperes",
                                           "The module's own limits of the laser current, by limit."};
inline constexpr Metric kModuleFlag{"fabric_module_flag",
                                    "The module's own flags for a reading, worst of the lanes in use: 0 within limits, "
                                    "1 beyond a warning limit, 2 beyond an alarm limit since the previous reading."};
inline constexpr Metric kModuleLanesLost{
    "fabric_module_lanes_without_signal",
    "Lanes that report loss of signal or of lock, by side (medium: from the cable; host: from the NIC)."};
inline constexpr Metric kModuleInputErrors{
    "fabric_module_input_bit_error_ratio",
    "Damaged bits per bit, before FEC, among those that arrive at the module, by side (medium: from the cable; host: "
    "from the NIC); of the worst data path of a CMIS module with VDM. Absent without a link."};
inline constexpr Metric kModuleInputSnr{
    "fabric_module_input_snr_decibels",
    "Signal-to-noise ratio of what arrives at the module, by side, on its worst lane; CMIS modules with VDM."};
inline constexpr Metric kModuleTxFaults{"fabric_module_lanes_with_transmit_fault",
                                        "Lanes whose laser is switched off for a fault."};

inline constexpr Metric kResources{"fabric_rdma_resources",
                                   "RDMA objects in use on the device, users' and the kernel's together, by kind (qp, "
                                   "cq, mr, ctx: a process that has the device open)."};
inline constexpr Metric kResourcesMost{"fabric_rdma_resources_limit",
                                       "RDMA objects that the device can have, by kind (qp, cq, mr)."};
inline constexpr Metric kResourcesByOwner{
    "fabric_rdma_resources_by_owner",
    "Queue pairs, completion queues and memory regions (kind: qp, cq, mr) of processes (owner user) and of the kernel "
    "(owner kernel). Counted when fabric_rdma_resources changes, at most once a minute. Absent for a kind that takes "
    "the device more than 0.3 s to list."};

inline constexpr Metric kDeviceHealthy{
    "fabric_device_healthy",
    "1 if all health reporters of the device (devlink) are healthy, 0 from an error until it recovers."};
inline constexpr Metric kDeviceErrors{"fabric_device_health_errors_total",
                                      "Errors of the device by health reporter (devlink)."};
inline constexpr Metric kDeviceRecoveries{"fabric_device_recoveries_total",
                                          "Recoveries of the device from such an error, all reporters together."};

inline constexpr Metric kQueueFaults{
    "fabric_device_queue_faults_total",
    "Overruns of the device's completion and event queues, and commands beyond a quota, all together, as the firmware "
    "counts them since the driver was loaded (mlx5's devlink health reporter vnic)."};
inline constexpr Metric kVnicCounters{
    "fabric_device_vnic_counters",
    "Values of mlx5's devlink health reporter vnic, under the driver's names (counter); published with raw = \"all\"."};

inline constexpr Metric kPcieErrors{
    "fabric_pcie_errors_total",
    "PCIe errors of the device's function (Advanced Error Reporting), by severity (correctable, nonfatal, fatal)."};

constexpr auto pointers_to(const auto&... metrics) { return std::array{&metrics...}; }

// All metrics of this file, in the order of the manual page.
inline constexpr auto kTelemetry = pointers_to(
    kLinkDownReason, kFecMode, kFecLaneBits, kFecLaneCorrected, kFecLaneUncorrectable, kFecNearLimit, kFecWords,
    kModuleInfo, kModuleState, kModuleLength, kModuleTemperature, kModuleVoltage, kModuleRxPower, kModuleTxPower,
    kModuleTxBias, kModuleRxPowerLowest, kModuleTxPowerLowest, kModuleTemperatureLimit, kModuleVoltageLimit,
    kModuleRxPowerLimit, kModuleTxPowerLimit, kModuleTxBiasLimit, kModuleFlag, kModuleLanesLost, kModuleTxFaults,
    kModuleInputErrors, kModuleInputSnr, kResources, kResourcesMost, kResourcesByOwner, kDeviceHealthy, kDeviceErrors,
    kDeviceRecoveries, kQueueFaults, kVnicCounters, kPcieErrors);

}  // namespace fabric::metrics
