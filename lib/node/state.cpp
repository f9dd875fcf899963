// SPDX-License-Identifier: Apache-2.0
#include "node/state.h"

#include <stdio.h>

#include <algorithm>

#include "base/files.h"
#include "base/parse.h"
#include "setting/record.h"
#include "setting/setting_table.h"

namespace fabric {

template <>
inline constexpr std::tuple kFields<SettingState>{
    Field{"outcome", &SettingState::outcome},       Field{"detail", &SettingState::detail},
    Field{"repairs", &SettingState::repairs},       Field{"last_repair", &SettingState::last_repair},
    Field{"drifts", &SettingState::drifts},         Field{"last_drift", &SettingState::last_drift},
    Field{"drift_from", &SettingState::drift_from}, Field{"drift_to", &SettingState::drift_to},
    Field{"drift_by", &SettingState::drift_by}};
template <>
inline constexpr std::tuple kFields<AgentState>{
    Field{"mode", &AgentState::mode},
    Field{"updated", &AgentState::updated},
    Field{"config_error", &AgentState::config_error, {.breaks = Breaks::keep}},
    Field{"held", &AgentState::held},
    Field{"originals_error", &AgentState::originals_error, {.breaks = Breaks::keep}},
    Field{"lost_entry", &AgentState::lost_entry},
    Field{"port", &AgentState::ports}};

namespace state {
namespace {

constexpr const char* kWritten = "# Written by fabric-agentd; see fabric-agentd(8). Do not edit.\n";

void note_names(Original& entry, const Port& port) {
  if (port.card.empty()) return;
  entry.place = port_place(port);
  if (port.card != port.card_address) entry.address = port.card_address;
}

// Moves the port's own settings from the entry `old` to that of its key.
void rename(Originals& originals, Originals::iterator old, const Port& port) {
  const std::string key = port_key(port);
  Original& entry = originals[key];
  note_names(entry, port);
  const Keys own = qos::own_keys(port);  // a bond and its member had one entry
  for (size_t i = 0; i < kSettingCount; ++i) {
    if (!own[i]) continue;
    if (!has_value(kSettings[i], entry)) copy_value(kSettings[i], old->second, entry);
    copy_value(kSettings[i], Qos{}, old->second);
  }
  if (keys_of(old->second).none()) originals.erase(old);
  if (keys_of(entry).none()) originals.erase(key);
}

// The serial number cannot be read just now.
bool is_same_card(const Original& entry, const Port& port) {
  return !entry.address.empty() && entry.address == port.card_address && port_key(port) == port.card_address;
}

Result<toml::table> state_table(const Root& root) {
  auto text = root.read_foreign(kStateFile);
  if (!text) return text.error();
  return parse_state(*text, std::string("/") + kStateFile);
}

}  // namespace

std::string port_place(const Port& port) {
  return port.pci.empty() ? "netdev:" + port.netdev : port.pci + "/" + std::to_string(port.number);
}

std::string port_key(const Port& port) { return port.card.empty() ? port_place(port) : port.card; }

Originals::iterator find_original(Originals& originals, const Port& port) {
  const std::string key = port_key(port);
  for (const std::string& former : {port.card_address, port_place(port)})
    if (const auto old = originals.find(former); !former.empty() && former != key && old != originals.end())
      rename(originals, old, port);
  const auto found = originals.find(key);
  if (found != originals.end()) return found;
  return std::ranges::find_if(originals, [&](const auto& each) { return is_same_card(each.second, port); });
}

std::vector<Originals::const_iterator> absent_originals(const Originals& originals, const std::vector<Port>& ports) {
  std::vector<Originals::const_iterator> out;
  for (auto entry = originals.begin(); entry != originals.end(); ++entry) {
    const auto is_its = [&name = entry->first, &original = entry->second](const Port& port) {
      return port_key(port) == name || port.card_address == name || port_place(port) == name ||
             is_same_card(original, port);
    };
    if (std::ranges::none_of(ports, is_its)) out.push_back(entry);
  }
  return out;
}

std::string originals_toml(const Originals& originals) {
  std::string out = kWritten;
  for (const auto& [key, qos] : originals) {
    out += "\n[" + toml_string(key) + "]\n";
    if (!qos.place.empty()) out += "place = " + toml_string(qos.place) + "\n";
    if (!qos.address.empty()) out += "address = " + toml_string(qos.address) + "\n";
    out += settings_toml(qos);
  }
  return out;
}

Result<Originals> parse_originals(std::string_view text, const std::string& name) {
  auto table = parse_state(text, name);
  if (!table) return table.error();
  Originals originals;
  for (auto&& [key, node] : *table) {
    auto qos = read_settings(node, name);
    if (!qos) return qos.error();
    std::string_view port = key;
    Original& entry = originals[std::string(port)] = *qos;
    entry.place = text_at(*node.as_table(), "place");
    entry.address = text_at(*node.as_table(), "address");
  }
  return originals;
}

std::string agent_state_toml(const AgentState& state, const std::string& config, const Devices& devices) {
  std::string lines;
  if (!config.empty()) lines += "config = " + toml_string(config) + "\n";
  if (!devices.empty())
    lines += "devices = { " +
             joined(devices, ", ",
                    [](const auto& each) { return toml_string(each.first) + " = " + std::to_string(each.second); }) +
             " }\n";
  return document_toml(kWritten + lines, state);
}

Result<AgentState> parse_agent_state(std::string_view text, const std::string& name) {
  return parse_record<AgentState>(text, name);
}

Result<Originals> load_originals(const Root& root, const char* file) {
  auto found = parse_file(root.read(file), file, [](std::string_view text, const std::string& name) {
    return text.ends_with('\n') ? parse_originals(text, name) : corrupt(name, {1, 1}, "the file is truncated");
  });
  if (!found) return found.error();
  return std::move(*found).value_or(Originals{});
}

Result<Originals> load_originals(const std::string& directory, const char* file) {
  const auto root = Root::open(directory);
  return root ? load_originals(*root, file) : Result<Originals>(root.error());
}

Result<void> save_originals(const std::string& directory, const Originals& originals, const char* file) {
  return replace_file(directory, file, originals_toml(originals));
}

Result<std::string> set_originals_aside(const std::string& directory) {
  auto folder = make_directory_of(directory, kOriginalsFile);
  if (!folder) return folder.error();
  const std::string name = base_name(kOriginalsFile);
  for (int i = 1; i < 100; ++i) {
    std::string aside = name + ".corrupt" + (i == 1 ? "" : "." + std::to_string(i));
    if (::renameat2(folder->get(), name.c_str(), folder->get(), aside.c_str(), RENAME_NOREPLACE) == 0) return aside;
    if (errno != EEXIST) break;
  }
  return error(errno, std::string("/") + kOriginalsFile + ": cannot be renamed");
}

Result<void> save_original(const std::string& directory, Originals& originals, const Port& port, const Qos& before) {
  const Originals old = originals;
  auto entry = find_original(originals, port);
  if (entry == originals.end()) entry = originals.try_emplace(port_key(port)).first;
  note_names(entry->second, port);
  const Keys own = qos::own_keys(port);
  for (size_t i = 0; i < kSettingCount; ++i)
    if (own[i] && !has_value(kSettings[i], entry->second)) copy_value(kSettings[i], before, entry->second);
  if (originals == old) return {};
  auto saved = save_originals(directory, originals);
  if (!saved) originals = old;
  return saved;
}

void forget(Originals& originals, const Port& port, const Keys& keys) {
  const auto entry = find_original(originals, port);
  if (entry == originals.end()) return;
  for (size_t i = 0; i < kSettingCount; ++i)
    if (keys[i]) copy_value(kSettings[i], Qos{}, entry->second);
  if (keys_of(entry->second).none()) originals.erase(entry);
}

Result<std::shared_ptr<const AgentState>> AgentStateReader::load(const Root& root) {
  using Shared = std::shared_ptr<const AgentState>;
  auto text = root.read_foreign(kStateFile);
  if (!text && text.error().code == ENOENT) return Shared{};
  if (!text) return text.error();
  if (!last_ || *text != text_) {
    auto parsed = parse_agent_state(*text, std::string("/") + kStateFile);
    last_ = parsed ? Result<Shared>(std::make_shared<const AgentState>(std::move(*parsed)))
                   : Result<Shared>(parsed.error());
    text_ = std::move(*text);
  }
  if (!*last_) return *last_;
  if (const bool running = root.is_locked(kAgentLockFile); running != (**last_)->running) {
    AgentState state = ***last_;
    state.running = running;
    last_ = Shared(std::make_shared<const AgentState>(std::move(state)));
  }
  return *last_;
}

Result<std::optional<AgentState>> load_agent_state(const Root& root) {
  auto state = AgentStateReader().load(root);
  if (!state) return state.error();
  return *state ? std::optional<AgentState>(**state) : std::nullopt;
}

Result<void> save_agent_state(const std::string& directory, const AgentState& state, const std::string& config,
                              const Devices& devices) {
  return replace_file(directory, kStateFile, agent_state_toml(state, config, devices));
}

Result<std::string> agent_config(const Root& root) {
  const auto table = state_table(root);
  if (!table) return table.error();
  return text_at(*table, "config");
}

Result<Devices> agent_devices(const Root& root) {
  const auto table = state_table(root);
  if (!table) return table.error();
  Devices devices;
  if (const toml::node* node = table->get("devices")) (void)read_value(*node, {}, devices);
  return devices;
}

}  // namespace state
}  // namespace fabric
