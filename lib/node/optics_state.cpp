// SPDX-License-Identifier: Apache-2.0
#include "node/optics_state.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "kernel/host/child.h"
#include "node/published.h"

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

FABRIC_JSON(ModuleReading, value, flags)
FABRIC_JSON(ModuleLimits, high_alarm, low_alarm, high_warning, low_warning)

FABRIC_JSON_MEMBERS(ModuleLane, number, rx_power, tx_power, tx_bias, rx_los, rx_lol, tx_los, tx_lol, tx_fault, path)

static void to_json(Json& json, const ModuleLane& lane) { write_members(json, lane); }

static void from_json(const Json& json, ModuleLane& lane) {
  read_members(json, lane);
  read_number(json, "number", lane.number, 0U, 255U);
}

FABRIC_JSON_MEMBERS(ModuleInput, side, lane, error_ratio, snr)

static void to_json(Json& json, const ModuleInput& input) { write_members(json, input); }

static void from_json(const Json& json, ModuleInput& input) {
  read_members(json, input);
  read_number(json, "lane", input.lane, 0U, 255U);
  if (input.error_ratio && !(*input.error_ratio >= 0 && *input.error_ratio <= 1))
    throw std::range_error("error_ratio: out of range");
}

FABRIC_JSON_MEMBERS(Transceiver, identifier, form_factor, standard, vendor, oui, part_number, revision, serial_number,
                    date, connector, technology, fault_cause, medium, cable_length, state, temperature, voltage,
                    temperature_limits, voltage_limits, rx_power_limits, tx_power_limits, tx_bias_limits, bad_checksums,
                    checksum_matched, lanes, inputs)

static void to_json(Json& json, const Transceiver& module) { write_members(json, module); }

static void from_json(const Json& json, Transceiver& module) {
  read_members(json, module);
  if (module.state && (*module.state < ModuleState::low_power || *module.state > ModuleState::fault))
    throw std::range_error("state: out of range");
}

namespace state {

static void from_json(const Json& json, Optics& optics) {
  read_times(json, optics);
  read_member(json, "modules", optics.modules);
}

std::string optics_text(const Optics& optics, double read) {
  return state_text({{"read", std::floor(read)}, {"interval", optics.interval}, {"modules", optics.modules}});
}

Result<Optics> parse_optics(std::string_view text, const std::string& name, std::optional<double> now) {
  return parse_readings<Optics>(text, name, now, "fabric-agentd does not read modules any more");
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

Result<std::optional<Optics>> load_optics(const Root& root) {
  return parse_file(root.read_foreign(kOpticsFile), kOpticsFile, [&](std::string_view text, const std::string& name) {
    return parse_optics(text, name, uptime(root));
  });
}

}  // namespace state
}  // namespace fabric
