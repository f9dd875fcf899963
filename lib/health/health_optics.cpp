// SPDX-License-Identifier: Apache-2.0
// Light and heat of the module, judged by the module maker's own limits.
#include <cmath>
#include <string>

#include "health/health_ports.h"
#include "model/finding.h"

namespace fabric {
namespace {

constexpr double kDark = 1e-6;  // watts, -30 dBm: below what any receiver takes; a lane that is not used

std::string power_text(double watts) { return number_text(std::round(100 * std::log10(watts * 1e3)) / 10) + " dBm"; }
std::string current_text(double amperes) { return number_text(amperes * 1e3) + " mA"; }

struct Worst {
  double severity = 0;
  std::string evidence{};
  size_t lanes = 0;  // of which anything was read
};

// 2: beyond the alarm limits, 1: beyond those of a warning.
double severity_of(double value, const ModuleLimits& limits) {
  if ((limits.high_alarm && value > *limits.high_alarm) || (limits.low_alarm && value < *limits.low_alarm)) return 2;
  if ((limits.high_warning && value > *limits.high_warning) || (limits.low_warning && value < *limits.low_warning))
    return 1;
  return 0;
}

std::string limits_text(const ModuleLimits& limits, std::string (*text)(double)) {
  const auto& low = limits.low_warning ? limits.low_warning : limits.low_alarm;
  const auto& high = limits.high_warning ? limits.high_warning : limits.high_alarm;
  return (low ? text(*low) : "any") + " to " + (high ? text(*high) : "any");
}

void judge(Worst& worst, const std::string& what, const ModuleReading& reading, const ModuleLimits& limits,
           std::string (*text)(double)) {
  if (!reading.value) return;
  const double severity = severity_of(*reading.value, limits);
  if (severity == 0) return;
  worst.severity = std::max(worst.severity, severity);
  worst.evidence +=
      (worst.evidence.empty() ? "" : ", ") + what + " " + text(*reading.value) + " (" + limits_text(limits, text) + ")";
}

bool has_limits(const ModuleLimits& limits) {
  return limits.low_alarm || limits.low_warning || limits.high_alarm || limits.high_warning;
}

// A lane without light in either direction on a link that is up carries nothing: a module may have more lanes than are
// used.
bool is_unused(const ModuleLane& lane) {
  return lane.rx_power.value.value_or(1) < kDark || lane.tx_power.value.value_or(1) < kDark;
}

Worst judge_lanes(const Transceiver& module) {
  Worst worst;
  for (const ModuleLane& lane : module.lanes) {
    const std::string name = "lane " + std::to_string(lane.number);
    if (lane.tx_fault.value_or(false)) {
      worst.severity = 2;
      worst.evidence += (worst.evidence.empty() ? "" : ", ") + name + " laser off for a fault";
    }
    if (lane.rx_power.value || lane.tx_power.value || lane.tx_bias.value) ++worst.lanes;
    if (is_unused(lane)) continue;
    judge(worst, name + " receives", lane.rx_power, module.rx_power_limits, power_text);
    judge(worst, name + " sends", lane.tx_power, module.tx_power_limits, power_text);
    judge(worst, name + " laser", lane.tx_bias, module.tx_bias_limits, current_text);
  }
  return worst;
}

// A bond is ACTIVE while one of its members has a link.
bool is_up(const Port& port) { return is_active(port) && (!port.is_member() || port.carrier.value_or(true)); }

}  // namespace

// On links that are up: what is wrong with one that is down, port-state tells.
void read_lane_power(const View& view, HealthReadings& out) {
  for (const Port& port : view.now.ports) {
    if (!is_watched(port) || !is_up(port) || !port.module) continue;
    const Transceiver& module = *port.module;
    // Limits that stand in a range with a wrong checksum are no evidence.
    if (!module.bad_checksums.empty() || module.lanes.empty() ||
        (!has_limits(module.rx_power_limits) && !has_limits(module.tx_power_limits)))
      continue;
    Worst worst = judge_lanes(module);
    if (worst.lanes == 0 && worst.evidence.empty()) continue;  // their page could not be read: not known
    if (worst.evidence.empty()) worst.evidence = std::to_string(worst.lanes) + " lanes within the module's limits";
    out.push_back({port.id(), worst.severity, 0, worst.evidence});
  }
}

void read_module_temperature(const View& view, HealthReadings& out) {
  for (const Port& port : view.now.ports) {
    if (!is_watched(port) || !port.module || !port.module->temperature.value) continue;
    HealthReading reading{port.id(), *port.module->temperature.value};
    reading.evidence = number_text(std::round(reading.amount * 10) / 10) + " degrees Celsius";
    const ModuleLimits& limits = port.module->temperature_limits;
    if (port.module->bad_checksums.empty()) {
      reading.warning = limits.high_warning;
      reading.critical = limits.high_alarm;
    }
    out.push_back(std::move(reading));
  }
}

}  // namespace fabric
