// SPDX-License-Identifier: Apache-2.0
#include "node/optics_state.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/parse.h"
#include "kernel/host/child.h"
#include "setting/record.h"

namespace fabric {

template <>
inline constexpr std::tuple kFields<ModuleReading>{Field{"value", &ModuleReading::value},
                                                   Field{"flags", &ModuleReading::flags}};
template <>
inline constexpr std::tuple kFields<ModuleLimits>{
    Field{"high_alarm", &ModuleLimits::high_alarm}, Field{"low_alarm", &ModuleLimits::low_alarm},
    Field{"high_warning", &ModuleLimits::high_warning}, Field{"low_warning", &ModuleLimits::low_warning}};
template <>
inline constexpr std::tuple kFields<ModuleLane>{Field{"number", &ModuleLane::number, {.max = UINT8_MAX}},
                                                Field{"rx_power", &ModuleLane::rx_power},
                                                Field{"tx_power", &ModuleLane::tx_power},
                                                Field{"tx_bias", &ModuleLane::tx_bias},
                                                Field{"rx_los", &ModuleLane::rx_los},
                                                Field{"rx_lol", &ModuleLane::rx_lol},
                                                Field{"tx_los", &ModuleLane::tx_los},
                                                Field{"tx_lol", &ModuleLane::tx_lol},
                                                Field{"tx_fault", &ModuleLane::tx_fault},
                                                Field{"path", &ModuleLane::path, {.max = UINT8_MAX}}};
template <>
inline constexpr std::tuple kFields<Transceiver>{Field{"identifier", &Transceiver::identifier},
                                                 Field{"form_factor", &Transceiver::form_factor},
                                                 Field{"standard", &Transceiver::standard},
                                                 Field{"vendor", &Transceiver::vendor},
                                                 Field{"oui", &Transceiver::oui},
                                                 Field{"part_number", &Transceiver::part_number},
                                                 Field{"revision", &Transceiver::revision},
                                                 Field{"serial_number", &Transceiver::serial_number},
                                                 Field{"date", &Transceiver::date},
                                                 Field{"connector", &Transceiver::connector},
                                                 Field{"technology", &Transceiver::technology},
                                                 Field{"fault_cause", &Transceiver::fault_cause},
                                                 Field{"medium", &Transceiver::medium},
                                                 Field{"cable_length", &Transceiver::cable_length},
                                                 Field{"state", &Transceiver::state, {.min = 1, .max = 5}},
                                                 Field{"temperature", &Transceiver::temperature},
                                                 Field{"voltage", &Transceiver::voltage},
                                                 Field{"temperature_limits", &Transceiver::temperature_limits},
                                                 Field{"voltage_limits", &Transceiver::voltage_limits},
                                                 Field{"rx_power_limits", &Transceiver::rx_power_limits},
                                                 Field{"tx_power_limits", &Transceiver::tx_power_limits},
                                                 Field{"tx_bias_limits", &Transceiver::tx_bias_limits},
                                                 Field{"bad_checksums", &Transceiver::bad_checksums},
                                                 Field{"checksum_matched", &Transceiver::checksum_matched},
                                                 Field{"lane", &Transceiver::lanes}};
template <>
inline constexpr std::tuple kFields<state::Optics>{
    Field{"read", &state::Optics::read, {.required = true, .min = 0, .max = 1'000'000'000'000}},
    Field{"interval", &state::Optics::interval, {.required = true, .min = 0, .max = 1'000'000'000'000}},
    Field{"module", &state::Optics::modules}};

constexpr std::array<std::pair<std::string_view, bool ModuleFlags::*>, 4> kFlags{
    {{"high_alarm", &ModuleFlags::high_alarm},
     {"low_alarm", &ModuleFlags::low_alarm},
     {"high_warning", &ModuleFlags::high_warning},
     {"low_warning", &ModuleFlags::low_warning}}};

// The names of the flags that are set.
static std::string value_toml(const ModuleFlags& flags) {
  std::vector<std::string> set;
  for (const auto& [name, member] : kFlags)
    if (flags.*member) set.emplace_back(name);
  return value_toml(set);
}

static MaybeProblem read_value(const toml::node& node, const FieldRule& rule, ModuleFlags& out) {
  std::vector<std::string> set;
  auto problem = read_value(node, rule, set);
  for (const auto& [name, member] : kFlags) out.*member = std::ranges::count(set, name) > 0;
  return problem;
}

namespace state {

std::string optics_toml(const Optics& optics, double read) {
  return document_toml(
      "# Written by fabric-agentd; see fabric-agentd(8). Seconds since boot, seconds; celsius, volts, watts, amperes, "
      "meters.\n",
      Optics{optics.modules, optics.interval, 0, std::floor(read)});
}

Result<Optics> parse_optics(std::string_view text, const std::string& name, std::optional<double> now) {
  auto out = parse_record<Optics>(text, name);
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
        return optics_toml({{{name, std::move(*module)}}}, 0);
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
  return fields.empty() ? std::nullopt : parse_double(fields.front());
}

Result<std::optional<Optics>> load_optics(const Root& root) {
  return parse_file(root.read_foreign(kOpticsFile), kOpticsFile, [&](std::string_view text, const std::string& name) {
    return parse_optics(text, name, uptime(root));
  });
}

Result<void> save_optics(const std::string& directory, const Optics& optics, double read) {
  return replace_file(directory, kOpticsFile, optics_toml(optics, read));
}

}  // namespace state
}  // namespace fabric
