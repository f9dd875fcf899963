// SPDX-License-Identifier: Apache-2.0
#include "node/optics_state.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "base/parse.h"
#include "kernel/host/child.h"

namespace fabric {

constexpr std::array<std::pair<const char*, bool ModuleFlags::*>, 4> kFlags{
    {{"high_alarm", &ModuleFlags::high_alarm},
     {"low_alarm", &ModuleFlags::low_alarm},
     {"high_warning", &ModuleFlags::high_warning},
     {"low_warning", &ModuleFlags::low_warning}}};

// The names of the flags that are set.
static void to_json(Json& json, const ModuleFlags& flags) {
  json = Json::array();
  for (const auto& [name, member] : kFlags)
    if (flags.*member) json.push_back(name);
}

static void from_json(const Json& json, ModuleFlags& flags) {
  const auto set = json.get<std::vector<std::string>>();
  for (const auto& [name, member] : kFlags) flags.*member = std::ranges::count(set, name) > 0;
}

static void to_json(Json& json, const ModuleReading& reading) {
  json = {{"value", reading.value}, {"flags", reading.flags}};
}

static void from_json(const Json& json, ModuleReading& reading) {
  read_member(json, "value", reading.value);
  read_member(json, "flags", reading.flags);
}

static void to_json(Json& json, const ModuleLimits& limits) {
  json = {{"high_alarm", limits.high_alarm},
          {"low_alarm", limits.low_alarm},
          {"high_warning", limits.high_warning},
          {"low_warning", limits.low_warning}};
}

static void from_json(const Json& json, ModuleLimits& limits) {
  read_member(json, "high_alarm", limits.high_alarm);
  read_member(json, "low_alarm", limits.low_alarm);
  read_member(json, "high_warning", limits.high_warning);
  read_member(json, "low_warning", limits.low_warning);
}

static void to_json(Json& json, const ModuleLane& lane) {
  json = {{"number", lane.number},   {"rx_power", lane.rx_power}, {"tx_power", lane.tx_power},
          {"tx_bias", lane.tx_bias}, {"rx_los", lane.rx_los},     {"rx_lol", lane.rx_lol},
          {"tx_los", lane.tx_los},   {"tx_lol", lane.tx_lol},     {"tx_fault", lane.tx_fault},
          {"path", lane.path}};
}

static void from_json(const Json& json, ModuleLane& lane) {
  read_number(json, "number", lane.number, 0U, 255U);
  read_member(json, "rx_power", lane.rx_power);
  read_member(json, "tx_power", lane.tx_power);
  read_member(json, "tx_bias", lane.tx_bias);
  read_member(json, "rx_los", lane.rx_los);
  read_member(json, "rx_lol", lane.rx_lol);
  read_member(json, "tx_los", lane.tx_los);
  read_member(json, "tx_lol", lane.tx_lol);
  read_member(json, "tx_fault", lane.tx_fault);
  read_member(json, "path", lane.path);
}

static void to_json(Json& json, const ModuleInput& input) {
  json = {{"side", input.side}, {"lane", input.lane}, {"error_ratio", input.error_ratio}, {"snr", input.snr}};
}

static void from_json(const Json& json, ModuleInput& input) {
  read_member(json, "side", input.side);
  read_number(json, "lane", input.lane, 0U, 255U);
  read_member(json, "error_ratio", input.error_ratio);
  if (input.error_ratio && !(*input.error_ratio >= 0 && *input.error_ratio <= 1))
    throw std::range_error("error_ratio: out of range");
  read_member(json, "snr", input.snr);
}

static void to_json(Json& json, const Transceiver& module) {
  json = {{"identifier", module.identifier},
          {"form_factor", module.form_factor},
          {"standard", module.standard},
          {"vendor", module.vendor},
          {"oui", module.oui},
          {"part_number", module.part_number},
          {"revision", module.revision},
          {"serial_number", module.serial_number},
          {"date", module.date},
          {"connector", module.connector},
          {"technology", module.technology},
          {"fault_cause", module.fault_cause},
          {"medium", module.medium},
          {"cable_length", module.cable_length},
          {"state", module.state},
          {"temperature", module.temperature},
          {"voltage", module.voltage},
          {"temperature_limits", module.temperature_limits},
          {"voltage_limits", module.voltage_limits},
          {"rx_power_limits", module.rx_power_limits},
          {"tx_power_limits", module.tx_power_limits},
          {"tx_bias_limits", module.tx_bias_limits},
          {"bad_checksums", module.bad_checksums},
          {"checksum_matched", module.checksum_matched},
          {"lanes", module.lanes},
          {"inputs", module.inputs}};
}

static void from_json(const Json& json, Transceiver& module) {
  read_member(json, "identifier", module.identifier);
  read_member(json, "form_factor", module.form_factor);
  read_member(json, "standard", module.standard);
  read_member(json, "vendor", module.vendor);
  read_member(json, "oui", module.oui);
  read_member(json, "part_number", module.part_number);
  read_member(json, "revision", module.revision);
  read_member(json, "serial_number", module.serial_number);
  read_member(json, "date", module.date);
  read_member(json, "connector", module.connector);
  read_member(json, "technology", module.technology);
  read_member(json, "fault_cause", module.fault_cause);
  read_member(json, "medium", module.medium);
  read_member(json, "cable_length", module.cable_length);
  read_member(json, "state", module.state);
  if (module.state && (*module.state < ModuleState::low_power || *module.state > ModuleState::fault))
    throw std::range_error("state: out of range");
  read_member(json, "temperature", module.temperature);
  read_member(json, "voltage", module.voltage);
  read_member(json, "temperature_limits", module.temperature_limits);
  read_member(json, "voltage_limits", module.voltage_limits);
  read_member(json, "rx_power_limits", module.rx_power_limits);
  read_member(json, "tx_power_limits", module.tx_power_limits);
  read_member(json, "tx_bias_limits", module.tx_bias_limits);
  read_member(json, "bad_checksums", module.bad_checksums);
  read_member(json, "checksum_matched", module.checksum_matched);
  read_member(json, "lanes", module.lanes);
  read_member(json, "inputs", module.inputs);
}

namespace state {

static void from_json(const Json& json, Optics& optics) {
  read_required(json, "read", optics.read);
  read_required(json, "interval", optics.interval);
  read_number(json, "read", optics.read, 0.0, kLatestTime);
  read_number(json, "interval", optics.interval, 0.0, kLatestTime);
  read_member(json, "modules", optics.modules);
}

std::string optics_text(const Optics& optics, double read) {
  return state_text({{"read", std::floor(read)}, {"interval", optics.interval}, {"modules", optics.modules}});
}

Result<Optics> parse_optics(std::string_view text, const std::string& name, std::optional<double> now) {
  auto out = read_state<Optics>(text, name);
  if (!out) return out;
  out->age = std::max(0.0, now.value_or(out->read) - out->read);
  if (out->age > longest_age(out->interval))
    return stale(name, out->age, "fabric-agentd does not read modules any more");
  return out;
}

Result<Transceiver> decode_apart(std::span<const eeprom::Page> pages) {
  constexpr ChildLimits kChild{std::chrono::seconds(5), size_t{256} << 10, true};
  const std::string name = "module memory";
  const auto text = run_in_child(
      [&]() -> Result<std::string> {
        auto module = eeprom::decode(pages);
        if (!module) return module.error();
        return optics_text({{{name, std::move(*module)}}}, 0);
      },
      name, kChild);
  if (!text && (text.error().code == ECHILD || text.error().code == ETIMEDOUT || text.error().code == EFBIG))
    return error(EBADMSG, name + ": its decoder crashed or did not end");
  if (!text) return text.error();
  auto answer = parse_optics(*text, name, {});
  if (!answer || answer->modules.empty()) return error(EBADMSG, name + ": its decoder did not answer");
  return std::move(answer->modules.begin()->second);
}

std::optional<double> uptime(const Root& root) {
  const std::string line = root.line_of("proc/uptime");
  const auto fields = words(line);
  if (fields.empty()) return std::nullopt;
  return parse_double(fields.front());
}

Result<std::optional<Optics>> load_optics(const Root& root) {
  return parse_file(root.read_foreign(kOpticsFile), kOpticsFile, [&](std::string_view text, const std::string& name) {
    return parse_optics(text, name, uptime(root));
  });
}

Result<void> save_optics(const std::string& directory, const Optics& optics, double read) {
  return replace_file(directory, kOpticsFile, optics_text(optics, read));
}

}  // namespace state
}  // namespace fabric
