// SPDX-License-Identifier: Apache-2.0
// The module: its memory, light, laser current and temperature, by its own limits.
#include "judge/optics.h"

#include <cmath>

#include "judge/port_context.h"
#include "judge/port_state.h"
#include "judge/rule.h"

namespace fabric {

namespace {

std::optional<Finding> ask_module_memory(const View&, const Port& port) {
  const std::string expected = "a checksum matches";
  if (!port.module) return std::nullopt;
  if (port.module->checksum_matched) return good(port.id(), expected, expected);
  if (port.module->bad_checksums.empty()) return std::nullopt;
  return bad(
      Status::warning, port.id(), "wrong checksums: " + joined(port.module->bad_checksums, "; "), expected,
      "No checksum of the module's memory is right. Its identity, limits and readings may be wrong: the memory or its "
      "I2C bus is damaged, or the maker never wrote the checksums.",
      {"Compare with the label: ethtool -m " + port.netdev + ". ",
       {Work::at_link, "Reseat the module; if the text is damaged, replace it."}});
}

constexpr Rule kModuleMemory{
    .id = "module-memory",
    .group = group::link,
    .title = "The memory of a module has a wrong checksum",
    .meaning =
        "The memory (EEPROM) of a module has a checksum for each range: SFF-8472, SFF-8636 and CMIS. If one range is "
        "wrong, its limits are not used. If all are wrong, nothing that the module reports can be relied on.",
    .inspect = "ethtool -m NETDEV; ethtool -m NETDEV raw on",
    .fix = "Reseat the module. If the text that it reports is damaged, replace it.",
    .ask_port = ask_module_memory,
};

using enum Measure;

std::string power_text(double watts) { return number_text(std::round(100 * std::log10(watts * 1e3)) / 10) + " dBm"; }
std::string current_text(double amperes) { return number_text(amperes * 1e3) + " mA"; }

// A module's reading by the module's own limits, for the rules of the module and for causes.
enum class ModuleBound : uint8_t { fine, warning, alarm };

ModuleBound below(const ModuleReading& reading, const ModuleLimits& limits) {
  if ((reading.flags && reading.flags->low_alarm) ||
      (reading.value && limits.low_alarm && *reading.value < *limits.low_alarm))
    return ModuleBound::alarm;
  if (reading.value && limits.low_warning && *reading.value < *limits.low_warning) return ModuleBound::warning;
  return ModuleBound::fine;
}
ModuleBound outside(const ModuleReading& reading, const ModuleLimits& limits) {
  if ((reading.flags && reading.flags->high_alarm) ||
      (reading.value && limits.high_alarm && *reading.value > *limits.high_alarm))
    return ModuleBound::alarm;
  const ModuleBound low = below(reading, limits);
  if (low != ModuleBound::fine) return low;
  if (reading.value && limits.high_warning && *reading.value > *limits.high_warning) return ModuleBound::warning;
  return ModuleBound::fine;
}

// Adds the reading if it is outside the limits.
void add_if_outside(Measured& worst, const std::string& name, const ModuleReading& reading, const ModuleLimits& limits,
                    std::string (*text)(double)) {
  ModuleReading newest = reading;
  newest.flags.reset();  // latched since the last reading
  const auto severity = static_cast<double>(outside(newest, limits));
  if (severity == 0) return;
  worst.amount = std::max(worst.amount, severity);
  std::string low = "any", high = "any";
  if (limits.low_warning) low = text(*limits.low_warning);
  else if (limits.low_alarm) low = text(*limits.low_alarm);
  if (limits.high_warning) high = text(*limits.high_warning);
  else if (limits.high_alarm) high = text(*limits.high_alarm);
  append_item(worst.evidence, name + " " + text(*reading.value) + " (limits: " + low + " to " + high + ")");
}

// Ports that are up; port-state covers the others.
std::optional<Measured> read_lane_power(const View&, const RuleWindow&, const Port& port) {
  if (!is_up(port) || !port.module || port.module->lanes.empty()) return std::nullopt;
  // Limits from a memory range with a wrong checksum are not evidence.
  if (!port.module->bad_checksums.empty() ||
      (port.module->rx_power_limits == ModuleLimits{} && port.module->tx_power_limits == ModuleLimits{}))
    return std::nullopt;
  Measured out{port.id()};
  size_t lanes = 0;
  for (const ModuleLane& lane : port.module->lanes) {
    const std::string name = "lane " + std::to_string(lane.number);
    if (lane.tx_fault.value_or(false)) {
      out.amount = 2;
      append_item(out.evidence, name + " transmitter fault");
    }
    if (lane.rx_power.value || lane.tx_power.value || lane.tx_bias.value) ++lanes;
    if (lane.rx_power.value.value_or(1) < kDark || lane.tx_power.value.value_or(1) < kDark) continue;
    add_if_outside(out, name + " rx power", lane.rx_power, port.module->rx_power_limits, power_text);
    add_if_outside(out, name + " tx power", lane.tx_power, port.module->tx_power_limits, power_text);
    add_if_outside(out, name + " laser bias", lane.tx_bias, port.module->tx_bias_limits, current_text);
  }
  if (lanes == 0 && out.evidence.empty()) return std::nullopt;  // the page of the lanes could not be read
  if (out.evidence.empty()) out.evidence = counted(lanes, "lane") + " within the module's limits";
  return out;
}

std::optional<Measured> read_module_temperature(const View&, const RuleWindow&, const Port& port) {
  if (!port.module || !port.module->temperature.value) return std::nullopt;
  Measured reading{port.id(), *port.module->temperature.value};
  reading.evidence = number_text(std::round(reading.amount * 10) / 10) + " degrees Celsius";
  if (port.module->bad_checksums.empty()) {
    reading.warning = port.module->temperature_limits.high_warning;
    reading.critical = port.module->temperature_limits.high_alarm;
  }
  return reading;
}

constexpr Measurement kOpticsWindows[]{
    {.window = {"lane_power", level, WindowLimits{1, 2, 0, 10, kMinute},
                "1: outside the module's warning limits, 2: outside its alarm limits",
                "SFF-8636, SFF-8472, CMIS: the limits in the module's memory", "within the module's limits"},
     .quiet = 0.95,
     .meaning =
         "A lane's optical power or laser bias is outside the module's limits: bit errors first, then link down.",
     .remedy = {"Compare the lanes at both ends: ethtool -m {netdev}. ",
                {Work::at_link,
                 "Low rx power: clean both ends and swap the fiber. Low tx power or high bias: replace the module."}},
     .read_port = read_lane_power},
};

constexpr Measurement kModuleTemperatureWindows[]{
    {.window = {"module_temperature", level, WindowLimits{70, 75, 0, 10, kMinute},
                "degrees Celsius; the module's own limits if it has any",
                "70 is the end of the commercial range of QSFP and OSFP modules", "below the module's limit"},
     .quiet = 0.95,
     .meaning = "The module is too hot: bit errors first, then it turns its laser off.",
     .remedy = {Work::at_machine,
                "Check fans and blank panels, and the temperature of the neighboring modules: ethtool -m {netdev}"},
     .read_port = read_module_temperature},
};

constexpr Rule kOptics{
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
    .windows = kOpticsWindows,
};
constexpr Rule kModuleTemperature{
    .id = "module-temperature",
    .group = group::device,
    .title = "The transceiver module is too hot",
    .meaning =
        "A hot module causes bit errors and turns its laser off. The limits are those of the module, else 70 and 75 "
        "degrees Celsius ([rules.module-temperature]).",
    .inspect = "ethtool -m NETDEV; temperatures of the neighboring modules",
    .fix = "Restore the air flow: fans and blank panels. Replace a module that is hotter than its neighbors.",
    .windows = kModuleTemperatureWindows,
};

// The module in this host's cage: its own report about itself and its light.

using enum Symptom;

// The lasers and receivers of the module are off: its lanes are not evidence. CMIS 5.0, 6.3.2. A module with flat
// memory, without lanes, may report any state.
bool is_asleep(const Transceiver& module) {
  const bool awake = !module.state || *module.state == ModuleState::ready || *module.state == ModuleState::fault;
  return !awake && !module.lanes.empty();
}

// Loss of signal is latched until it is read; measured power counts more.
bool is_dark(const ModuleLane& lane) {
  if (lane.rx_power.value) return *lane.rx_power.value < kDark;
  return lane.rx_los.value_or(false);
}

bool is_off(const ModuleLane& lane) { return lane.tx_power.value && *lane.tx_power.value < kDark; }

// True if neither tx power nor laser bias, as far as the lane measures them, shows a working laser.
bool sends_nothing(const ModuleLane& lane) {
  constexpr double kNoCurrent = 1e-4;  // amperes
  return (lane.tx_power.value || lane.tx_bias.value) && lane.tx_power.value.value_or(0) < kDark &&
         lane.tx_bias.value.value_or(0) < kNoCurrent;
}

// Whether the lane is part of the link.
bool is_used(const PortContext& ctx, const ModuleLane& lane) {
  // A dark lane of a link that is up, or was up, is not part of the link.
  if (!is_down(ctx.port)) return !is_dark(lane);
  if (ctx.before != nullptr && !is_down(*ctx.before) && ctx.before->module) {
    for (const ModuleLane& before : ctx.before->module->lanes)
      if (before.number == lane.number && is_dark(before)) return false;
    return true;
  }
  // A lane without light in either direction does not exist if another lane sends: a module of one lane (100GBASE-DR,
  // FR1, LR1) has the registers of four. A laser that died leaves a receiver with light, or a fault. Lanes of a data
  // path (CMIS) exist.
  if (lane.path || !is_dark(lane) || !sends_nothing(lane) || lane.tx_fault.value_or(false)) return true;
  return std::ranges::all_of(ctx.port.module->lanes, sends_nothing);
}

// A module may have a data path for each of two ports: drops the lanes of the other port. The data path of the other
// port is off while this port has a link; or it is lit while another path is dark and this port has no link.
void drop_other_port(const Port& port, std::vector<ModuleLane>& lanes) {
  std::map<unsigned, std::vector<ModuleLane>> paths;
  for (const ModuleLane& lane : lanes)
    if (lane.path) paths[*lane.path].push_back(lane);
  if (paths.size() < 2) return;
  bool any_dark = false;
  for (const auto& [number, path] : paths) any_dark = any_dark || std::ranges::all_of(path, is_dark);
  for (const auto& [number, path] : paths) {
    bool is_other_port = std::ranges::all_of(path, is_off);
    if (is_down(port)) is_other_port = any_dark && std::ranges::none_of(path, is_dark);
    if (is_other_port) std::erase_if(lanes, [id = number](const ModuleLane& lane) { return lane.path == id; });
  }
}

// The module without the parts that are not evidence: lanes of a module that is asleep, limits from a memory range with
// a wrong checksum, lanes that are unused or another port's, loss of signal on a lit lane, and latched flags of a link
// that went down (any link that goes down leaves the receivers dark).
Transceiver trusted(const PortContext& ctx) {
  Transceiver module = *ctx.port.module;
  if (is_asleep(module)) module.lanes.clear();
  if (!module.bad_checksums.empty())
    module.temperature_limits = module.rx_power_limits = module.tx_power_limits = module.tx_bias_limits = {};
  std::erase_if(module.lanes, [&](const ModuleLane& lane) { return !is_used(ctx, lane); });
  drop_other_port(ctx.port, module.lanes);
  const std::optional<double>&low_alarm = module.rx_power_limits.low_alarm,
        &low_warning = module.rx_power_limits.low_warning;
  for (ModuleLane& lane : module.lanes) {
    if (!low_alarm && !low_warning) break;
    const double light = lane.rx_power.value.value_or(0);
    if (light < kDark || light < low_alarm.value_or(0) || light < low_warning.value_or(0)) continue;
    lane.rx_los = false;  // the lane is lit
    if (is_down(ctx.port)) lane.rx_power.flags.reset();
  }
  if (is_down(ctx.port) || !rose(ctx.signals.link_downs)) return module;
  for (ModuleLane& lane : module.lanes) {
    for (ModuleReading* each : {&lane.rx_power, &lane.tx_power, &lane.tx_bias})
      if (each->value) each->flags.reset();
    if (lane.rx_power.value) lane.rx_los = false;
  }
  return module;
}

// "below its alarm limit", or "was below its alarm limit" if only a flag says so: flags cover the time since they were
// last read, the value is current.
std::string beyond_limit_text(const ModuleReading& reading, const ModuleLimits& limits, const std::string& text) {
  ModuleReading value = reading;
  value.flags.reset();
  const bool is_current = !reading.value || outside(value, limits) != ModuleBound::fine;
  return is_current ? text : "was " + text;
}

std::string milliwatt_text(const ModuleReading& reading) {
  if (!reading.value) return "flagged";
  return number_text(*reading.value * 1e3) + " mW";
}

}  // namespace

bool is_partly_lit(const Port& port) {
  if (!port.module || !is_down(port) || is_asleep(*port.module)) return false;
  std::vector<ModuleLane> lanes = port.module->lanes;
  drop_other_port(port, lanes);
  ModuleLimits limits = port.module->rx_power_limits;
  if (!port.module->bad_checksums.empty()) limits = {};
  const auto is_weak = [&](const ModuleLane& lane) {
    ModuleReading now = lane.rx_power;
    now.flags.reset();  // of the time before the link was lost
    return lane.rx_los.value_or(false) || is_dark(lane) || below(now, limits) == ModuleBound::alarm;
  };
  const auto is_lit = [&](const ModuleLane& lane) { return lane.rx_power.value && !is_weak(lane); };
  // A lane without light in either direction may not exist.
  const auto exists = [](const ModuleLane& lane) { return lane.path || !is_dark(lane) || !sends_nothing(lane); };
  return std::ranges::any_of(lanes, is_lit) &&
         std::ranges::any_of(lanes, [&](const ModuleLane& lane) { return is_weak(lane) && exists(lane); });
}

bool is_unheard(const PortContext& ctx) {
  return !ctx.symptoms.has(link) && ctx.symptoms.has(loss) &&
         ctx.lost.requester + ctx.lost.retries_exceeded >=
             std::max(ctx.limit(kFewEvents), rise(ctx.signals.out_of_sequence));
}

InputErrors input_errors(const Port& port) {
  // No link stays up with so many: the reading is of lanes without a signal, or of the time before the link.
  constexpr double kNoSignal = 1e-2;
  InputErrors out;
  if (!port.module || is_down(port) || is_asleep(*port.module)) return out;
  std::vector<ModuleLane> lanes = port.module->lanes;
  drop_other_port(port, lanes);
  if (std::ranges::any_of(lanes, [](const ModuleLane& lane) { return lane.path.has_value(); }))
    std::erase_if(lanes, [](const ModuleLane& lane) { return !lane.path; });
  for (const ModuleInput& input : port.module->inputs) {
    if (input.error_ratio.value_or(kNoSignal) >= kNoSignal) continue;
    const bool is_medium = input.side == ModuleSide::medium;
    const auto belongs = [&](const ModuleLane& lane) {
      return is_medium ? lane.number == input.lane : lane.path.value_or(input.lane) == input.lane;
    };
    if (input.lane != 0 && !lanes.empty() && std::ranges::none_of(lanes, belongs)) continue;
    std::optional<double>& worst = is_medium ? out.from_cable : out.from_nic;
    worst = std::max(worst, input.error_ratio);
  }
  return out;
}

namespace {

// The module is missing, not accepted by the NIC, or failing.
MaybeCause module_trouble(const PortContext& ctx) {
  if (auto out = by_reason(ctx, {"No cable", "Cable issue", "EEPROM issue", "Calibration failure",
                                 "Power budget exceeded", "Overheat", "Module"}))
    return out;
  if (!ctx.port.module) return std::nullopt;
  if (is_down(ctx.port) && is_asleep(*ctx.port.module)) {
    // Modules are read once a minute: a module that was asleep while the port had a link was read while it started.
    const bool is_starting =
        ctx.before != nullptr && !is_down(*ctx.before) && ctx.before->module && is_asleep(*ctx.before->module);
    if (!is_starting)
      return Cause{.evidence = {"the NIC has not enabled the module, and its lasers are off: module state " +
                                std::string(to_text(*ctx.port.module->state))}};
  }

  // The transmitter and the module as a whole. Errors of our transmitter are counted at the far end, and this port only
  // misses responses. In that case only values that are outside their limits now are evidence.
  const bool unheard = is_unheard(ctx);
  if (!ctx.symptoms.has(link) && !unheard) return std::nullopt;
  Transceiver module = trusted(ctx);
  if (unheard)
    for (ModuleLane& lane : module.lanes) {
      lane.tx_power.flags.reset();
      lane.tx_bias.flags.reset();
    }
  Cause out;
  if (module.state == ModuleState::fault) {
    std::string line = "module state: fault";
    if (!module.fault_cause.empty()) line += ", " + module.fault_cause;
    out.add(std::move(line));
  }
  for (const ModuleLane& lane : ctx.port.module->lanes)  // also of dark lanes: rx does not matter here
    if (lane.tx_fault.value_or(false) && !is_asleep(*ctx.port.module))
      out.add("lane " + std::to_string(lane.number) + " of our module: transmitter fault");
  for (const ModuleLane& lane : module.lanes) {
    const std::string name = "lane " + std::to_string(lane.number) + " of our module: ";
    if (outside(lane.tx_bias, module.tx_bias_limits) == ModuleBound::alarm)
      out.add(name + "laser bias " +
              beyond_limit_text(lane.tx_bias, module.tx_bias_limits, "outside its alarm limits"));
    if (below(lane.tx_power, module.tx_power_limits) == ModuleBound::alarm)
      out.add(name + "tx power " + milliwatt_text(lane.tx_power) + ", " +
              beyond_limit_text(lane.tx_power, module.tx_power_limits, "below its alarm limit"));
  }
  if (!unheard && outside(module.temperature, module.temperature_limits) == ModuleBound::alarm)
    out.add("temperature of our module " +
            beyond_limit_text(module.temperature, module.temperature_limits, "outside its alarm limits"));
  if (out.evidence.empty()) return std::nullopt;
  if (!unheard) {
    out.add(error_lines(ctx));
    return out;
  }
  out.add(loss_lines(ctx));
  out.next.push_back("Check for damaged frames (FCS errors, symbol errors) from this port on " + ctx.peer_label());
  return out;
}

}  // namespace

constexpr Rule kBadModule{
    .id = "bad-module",
    .group = group::diagnosis,
    .title = "The module or cable in this port is missing, not accepted by the NIC, or failing.",
    .meaning =
        "The NIC's reason for link down names the cable, EEPROM, calibration, power budget or heat, or no cable; or "
        "the module (CMIS) is not enabled; or, with link errors, it reports a transmitter fault, or laser bias, tx "
        "power or temperature outside its own alarm limits. Sent packets that do not arrive, with the transmitter "
        "outside its limits now, are this too.",
    .fix = {"Identify the module: ethtool -m {netdev}\n",
            {Work::at_link,
             "Plug in or reseat module and cable at this end; else replace them by a type that the NIC's firmware "
             "supports.\n"},
            {Work::at_machine, "If it was too hot, check the airflow and the neighboring modules first."}},
    .culprit = Culprit::cable,
    .status = Status::critical,
    .explains = {link, loss, overrun},
    .excludes =
        "Limits from memory with a wrong checksum, lanes of a module that is asleep or unused, latched flags of a link "
        "that went down.",
    .find_cause = module_trouble,
};

MaybeCause rx_power_low(const PortContext& ctx) {
  if (!ctx.port.module || !ctx.symptoms.has(link)) return std::nullopt;
  const Transceiver module = trusted(ctx);
  Cause out;
  size_t low = 0;
  for (const ModuleLane& lane : module.lanes) {
    const ModuleBound limit = below(lane.rx_power, module.rx_power_limits);
    if (limit == ModuleBound::fine && !lane.rx_los.value_or(false)) continue;
    ++low;
    std::string line = "lane " + std::to_string(lane.number) + ": rx power " + milliwatt_text(lane.rx_power) + ", ";
    if (lane.rx_los.value_or(false)) {
      line += "loss of signal";
    } else {
      const char* kind = limit == ModuleBound::alarm ? "alarm" : "warning";
      line += beyond_limit_text(lane.rx_power, module.rx_power_limits,
                                std::string("below the module's ") + kind + " limit");
    }
    out.add(std::move(line));
  }
  if (low == 0 || std::ranges::all_of(module.lanes, is_dark)) return std::nullopt;
  if (low > 1 && low == module.lanes.size())
    out.add("all lanes alike: more likely the fiber or a connector than one laser");
  out.add(error_lines(ctx));
  return out;
}

MaybeCause no_light(const PortContext& ctx) {
  if (!ctx.port.module || !is_down(ctx.port)) return std::nullopt;
  const auto lanes = trusted(ctx).lanes;
  if (lanes.empty()) return std::nullopt;
  for (const ModuleLane& lane : lanes) {
    const bool has_signal = !lane.rx_los.value_or(true);  // a lane with a signal and without power does not measure
    if (!is_dark(lane) || has_signal) return std::nullopt;
  }
  const std::string which = lanes.size() < ctx.port.module->lanes.size() ? "in use of" : "of";
  std::string line = "none of the " + std::to_string(lanes.size()) + " lanes " + which + " our module receives light";
  if (lanes.size() == 1) line = "the lane " + which + " our module receives no light";
  return Cause{.evidence = {line + "; our transmitter reports no fault"}};
}

constexpr Rule kTable[]{kModuleMemory, kOptics, kModuleTemperature, kBadModule};
const std::span<const Rule> kOpticsRules = kTable;

}  // namespace fabric
