// SPDX-License-Identifier: Apache-2.0
// Rules about what the module in this host's cage says of itself and of the light.
#include <algorithm>

#include "diagnosis/diagnosis_case.h"
#include "model/finding.h"

namespace fabric {

// CMIS 5.0, 6.3.2. Memory that is flat, without lanes, may tell any state.
bool is_asleep(const Transceiver& module) {
  const bool awake = !module.state || *module.state == ModuleState::ready || *module.state == ModuleState::fault;
  return !awake && !module.lanes.empty();
}

}  // namespace fabric

namespace fabric::judges {
namespace {

bool down_or_errors(const Case& one) { return one.symptoms.has(Symptom::link); }

constexpr double kDark = 1e-6;  // watts, -30 dBm: below what any receiver takes

// Loss of signal stays set until it is read; light that is measured now counts more.
bool is_dark(const ModuleLane& lane) {
  return lane.rx_power.value ? *lane.rx_power.value < kDark : lane.rx_los.value_or(false);
}

// A link that is up needs all lanes that it has: one without light is not used. One that was dark while it was up is
// none either.
bool is_used(const Case& one, const ModuleLane& lane) {
  if (!is_down(one.port)) return !is_dark(lane);
  if (one.before == nullptr || is_down(*one.before) || !one.before->module) return true;
  const auto& then = one.before->module->lanes;
  return std::none_of(then.begin(), then.end(),
                      [&](const ModuleLane& old) { return old.number == lane.number && is_dark(old); });
}

// By the module's own limits, now.
bool is_lit(const ModuleReading& light, const ModuleLimits& limits) {
  return light.value && *light.value >= kDark && (limits.low_alarm || limits.low_warning) &&
         *light.value >= limits.low_alarm.value_or(0) && *light.value >= limits.low_warning.value_or(0);
}

// The module, without what is no evidence: lanes of a module whose lasers and receivers are off by its state, limits
// out of a range with a wrong checksum, lanes that are not used, loss of signal where there is light enough, and flags
// of a link that is or was gone. They stay set until they are read, and any link that goes leaves the receivers dark.
Transceiver trusted(const Case& one) {
  Transceiver module = *one.port.module;
  if (is_asleep(module)) module.lanes.clear();
  if (!module.bad_checksums.empty())
    module.temperature_limits = module.rx_power_limits = module.tx_power_limits = module.tx_bias_limits = {};
  std::erase_if(module.lanes, [&](const ModuleLane& lane) { return !is_used(one, lane); });
  for (ModuleLane& lane : module.lanes) {
    if (!is_lit(lane.rx_power, module.rx_power_limits)) continue;
    lane.rx_los = false;
    if (is_down(one.port)) lane.rx_power.flags.reset();
  }
  if (is_down(one.port) || !rose(one.signals.link_downs)) return module;
  for (ModuleLane& lane : module.lanes) {
    for (ModuleReading* each : {&lane.rx_power, &lane.tx_power, &lane.tx_bias})
      if (each->value) each->flags.reset();
    if (lane.rx_power.value) lane.rx_los = false;
  }
  return module;
}

enum class Limit : uint8_t { fine, warning, alarm };

Limit below(const ModuleReading& reading, const ModuleLimits& limits) {
  if ((reading.flags && reading.flags->low_alarm) ||
      (reading.value && limits.low_alarm && *reading.value < *limits.low_alarm))
    return Limit::alarm;
  if (reading.value && limits.low_warning && *reading.value < *limits.low_warning) return Limit::warning;
  return Limit::fine;
}
Limit outside(const ModuleReading& reading, const ModuleLimits& limits) {
  if ((reading.flags && reading.flags->high_alarm) ||
      (reading.value && limits.high_alarm && *reading.value > *limits.high_alarm))
    return Limit::alarm;
  return below(reading, limits);
}

// A flag tells what was at any time since it was read last; the value tells what is.
std::string beyond(const ModuleReading& reading, const ModuleLimits& limits, const char* side) {
  ModuleReading value = reading;
  value.flags.reset();
  const bool still = !reading.value || outside(value, limits) != Limit::fine;
  return std::string(still ? "" : "was ") + side;
}

// What this port sends does not arrive, more than what it should receive.
bool is_unheard(const Case& one) {
  const Loss loss = loss_of(one);
  return one.symptoms.has(Symptom::loss) &&
         loss.requester + loss.given_up >= std::max(10.0, rise(one.signals.out_of_sequence));
}

std::string milliwatts(const ModuleReading& reading) {
  return reading.value ? number_text(*reading.value * 1e3) + " mW" : std::string("flagged");
}

}  // namespace

// Our own transmitter and the module as a whole. What it damages the far end of the cable counts, and this port only
// misses answers: then what is beyond its limits now says so.
Judgement module_fault(const Case& one) {
  const bool unheard = !down_or_errors(one) && is_unheard(one);
  if (!one.port.module || (!down_or_errors(one) && !unheard)) return std::nullopt;
  Transceiver module = trusted(one);
  for (ModuleLane& lane : module.lanes)
    for (ModuleReading* each : {&lane.tx_power, &lane.tx_bias})
      if (unheard) each->flags.reset();
  Verdict out{unheard ? 0.7 : 0.85, {}};
  if (module.state == ModuleState::fault)
    out.evidence.push_back("the module is in its fault state" +
                           (module.fault_cause.empty() ? "" : ": " + module.fault_cause));
  for (const ModuleLane& lane :
       one.port.module->lanes)  // of a lane without light as well: what comes in is another matter
    if (lane.tx_fault.value_or(false) && !is_asleep(*one.port.module))
      out.evidence.push_back("lane " + std::to_string(lane.number) + " of our module: transmitter fault");
  for (const ModuleLane& lane : module.lanes) {
    const std::string name = "lane " + std::to_string(lane.number) + " of our module: ";
    if (outside(lane.tx_bias, module.tx_bias_limits) == Limit::alarm)
      out.evidence.push_back(name + "laser bias " +
                             beyond(lane.tx_bias, module.tx_bias_limits, "beyond its alarm limit"));
    if (below(lane.tx_power, module.tx_power_limits) == Limit::alarm)
      out.evidence.push_back(name + "tx power " + milliwatts(lane.tx_power) + ", " +
                             beyond(lane.tx_power, module.tx_power_limits, "below its alarm limit"));
  }
  if (!unheard && outside(module.temperature, module.temperature_limits) == Limit::alarm)
    out.evidence.push_back("temperature of our module " +
                           beyond(module.temperature, module.temperature_limits, "beyond its alarm limit"));
  if (out.evidence.empty()) return std::nullopt;
  for (std::string& line : unheard ? loss_lines(one) : error_lines(one)) out.evidence.push_back(std::move(line));
  if (unheard)
    out.next.push_back("See that " + one.peer_label() +
                       " counts damaged frames (FCS errors, symbol errors) from this port");
  return out;
}

// Some lanes are dark or nearly so: the light is lost between the far end's lasers and us.
Judgement rx_power_low(const Case& one) {
  if (!one.port.module || !down_or_errors(one)) return std::nullopt;
  const Transceiver module = trusted(one);
  Verdict out{0.7, {}};
  size_t low = 0;
  for (const ModuleLane& lane : module.lanes) {
    const Limit limit = below(lane.rx_power, module.rx_power_limits);
    if (limit == Limit::fine && !lane.rx_los.value_or(false)) continue;
    ++low;
    if (limit != Limit::warning) out.confidence = 0.9;
    out.evidence.push_back(
        "lane " + std::to_string(lane.number) + ": rx power " + milliwatts(lane.rx_power) + ", " +
        (lane.rx_los.value_or(false)
             ? "loss of signal"
             : beyond(lane.rx_power, module.rx_power_limits,
                      limit == Limit::alarm ? "below the module's alarm limit" : "below the module's warning limit")));
  }
  if (low == 0 || std::all_of(module.lanes.begin(), module.lanes.end(), is_dark)) return std::nullopt;
  if (low > 1 && low == module.lanes.size())
    out.evidence.emplace_back("all lanes alike: rather the fibre or a connector than one laser");
  for (std::string& line : error_lines(one)) out.evidence.push_back(std::move(line));
  return out;
}

Judgement no_light(const Case& one) {
  if (!one.port.module || !is_down(one.port)) return std::nullopt;
  const auto lanes = trusted(one).lanes;
  // A module that hears a signal and measures nothing does not measure.
  const auto is_silent = [](const ModuleLane& lane) { return is_dark(lane) && lane.rx_los.value_or(true); };
  if (lanes.empty() || !std::all_of(lanes.begin(), lanes.end(), is_silent)) return std::nullopt;
  return Verdict{0.6,
                 {"none of the " + std::to_string(lanes.size()) +
                  " lanes of our module receives light; our own transmitter tells no fault"}};
}

}  // namespace fabric::judges
