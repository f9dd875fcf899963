// SPDX-License-Identifier: Apache-2.0
// Health of the module: power, laser bias and temperature, by the module's own limits.
#include <cmath>

#include "health/rule.h"

namespace fabric {
namespace {

using enum HealthMeasure;

std::string power_text(double watts) { return number_text(std::round(100 * std::log10(watts * 1e3)) / 10) + " dBm"; }
std::string current_text(double amperes) { return number_text(amperes * 1e3) + " mA"; }

// 2: outside the alarm limits, 1: outside the warning limits.
double severity_of(double value, const ModuleLimits& limits) {
  if ((limits.high_alarm && value > *limits.high_alarm) || (limits.low_alarm && value < *limits.low_alarm)) return 2;
  if ((limits.high_warning && value > *limits.high_warning) || (limits.low_warning && value < *limits.low_warning))
    return 1;
  return 0;
}

void compare(HealthReading& worst, const std::string& name, const ModuleReading& reading, const ModuleLimits& limits,
             std::string (*text)(double)) {
  const double severity = reading.value ? severity_of(*reading.value, limits) : 0;
  if (severity == 0) return;
  worst.amount = std::max(worst.amount, severity);
  const auto& low = limits.low_warning ? limits.low_warning : limits.low_alarm;
  const auto& high = limits.high_warning ? limits.high_warning : limits.high_alarm;
  append_item(worst.evidence, name + " " + text(*reading.value) + " (limits: " + (low ? text(*low) : "any") + " to " +
                                  (high ? text(*high) : "any") + ")");
}

// nullopt: the page of the lanes could not be read.
std::optional<HealthReading> read_lanes(const Port& port) {
  HealthReading out{port.id()};
  size_t lanes = 0;
  for (const ModuleLane& lane : port.module->lanes) {
    const std::string name = "lane " + std::to_string(lane.number);
    if (lane.tx_fault.value_or(false)) {
      out.amount = 2;
      append_item(out.evidence, name + " transmitter fault");
    }
    if (lane.rx_power.value || lane.tx_power.value || lane.tx_bias.value) ++lanes;
    if (lane.rx_power.value.value_or(1) < kDark || lane.tx_power.value.value_or(1) < kDark) continue;
    compare(out, name + " rx power", lane.rx_power, port.module->rx_power_limits, power_text);
    compare(out, name + " tx power", lane.tx_power, port.module->tx_power_limits, power_text);
    compare(out, name + " laser bias", lane.tx_bias, port.module->tx_bias_limits, current_text);
  }
  if (lanes == 0 && out.evidence.empty()) return std::nullopt;
  if (out.evidence.empty()) out.evidence = std::to_string(lanes) + " lanes within the module's limits";
  return out;
}

// Ports that are up; port-state covers the others. A bond is ACTIVE while one of its members has a link.
std::optional<HealthReading> read_lane_power(const View&, const HealthRule&, const Port& port) {
  const bool is_up = is_active(port) && (!port.is_member() || port.carrier.value_or(true));
  if (!is_up || !port.module || port.module->lanes.empty()) return std::nullopt;
  // Limits from a memory range with a wrong checksum are not evidence.
  if (!port.module->bad_checksums.empty() ||
      (port.module->rx_power_limits == ModuleLimits{} && port.module->tx_power_limits == ModuleLimits{}))
    return std::nullopt;
  return read_lanes(port);
}

std::optional<HealthReading> read_module_temperature(const View&, const HealthRule&, const Port& port) {
  if (!port.module || !port.module->temperature.value) return std::nullopt;
  HealthReading reading{port.id(), *port.module->temperature.value};
  reading.evidence = number_text(std::round(reading.amount * 10) / 10) + " degrees Celsius";
  if (port.module->bad_checksums.empty()) {
    reading.warning = port.module->temperature_limits.high_warning;
    reading.critical = port.module->temperature_limits.high_alarm;
  }
  return reading;
}

constexpr HealthRow kRules[]{
    {.check = "optics",
     .window = {"lane_power", level, HealthLimits{1, 2, 0, 10, kMinute},
                "1: outside the module's warning limits, 2: outside its alarm limits",
                "SFF-8636, SFF-8472, CMIS: the limits in the module's memory", "within the module's limits"},
     .quiet = 0.95,
     .meaning =
         "A lane's optical power or laser bias is outside the module's limits: bit errors first, then link down.",
     .remedy = "Compare the lanes at both ends: ethtool -m {netdev}. Low rx power: clean both ends and swap the fiber. "
               "Low tx power or high bias: replace the module.",
     .read_port = read_lane_power},
    {.check = "module-temperature",
     .window = {"module_temperature", level, HealthLimits{70, 75, 0, 10, kMinute},
                "degrees Celsius; the module's own limits if it has any",
                "70 is the end of the commercial range of QSFP and OSFP modules", "below the module's limit"},
     .quiet = 0.95,
     .meaning = "The module is too hot: bit errors first, then it turns its laser off.",
     .remedy = "Check fans and blank panels, and the temperature of the neighboring modules: ethtool -m {netdev}",
     .read_port = read_module_temperature},
};

}  // namespace

std::span<const HealthRow> optics_health_rules() { return kRules; }

extern const Check kOpticsCheck{
    .id = "optics",
    .group = group::device,
    .title = "Lane power or laser current is outside the limits of the module",
    .meaning =
        "Compares received power, sent power and laser current of each lane with the limits in the module's EEPROM "
        "(SFF-8472, SFF-8636, CMIS). A value beyond a warning limit is a warning, beyond an alarm limit critical. Only "
        "links that are up are checked; of a bond, the module of each member.",
    .inspect = "ethtool -m NETDEV",
    .fix =
        "Low received power: clean both ends, remove sharp bends, replace the fiber. Low sent power or high current: "
        "replace the module.",
};
extern const Check kModuleTemperatureCheck{
    .id = "module-temperature",
    .group = group::device,
    .title = "The transceiver module is too hot",
    .meaning =
        "A hot module causes bit errors and turns its laser off. The limits are those of the module, else 70 and 75 "
        "degrees Celsius ([health] module_temperature).",
    .inspect = "ethtool -m NETDEV; temperatures of the neighboring modules",
    .fix = "Restore the air flow: fans and blank panels. Replace a module that is hotter than its neighbors.",
};

}  // namespace fabric
