// SPDX-License-Identifier: Apache-2.0
// The published state file, and errors.
#include "agentd/messages.h"
#include "agentd/port_manager.h"
#include "store/state.h"

namespace fabric::agentd {

// Continues the drift record of an earlier agent of this boot; its ports are not new ones.
void PortManager::remember_published() {
  if (world_.read_only) return;
  auto root = Root::open(world_.directory);
  if (!root) return;
  const auto state = state::load_agent_state(*root);
  if (!state || !*state) return;
  for (const auto& [id, settings] : (*state)->ports) {
    known_.insert(id);
    for (const auto& [key, known] : settings) {
      if (!known.last_drift.empty() || !known.last_repair.empty()) memory_[id].reported[key] = known;
      // If no entry matches the port, its restore was pending.
      if (known.outcome == to_text(Outcome::pending) && (*state)->mode == to_text(Mode::enforce))
        memory_[id].previous_mode = Mode::enforce;
    }
  }
}

void PortManager::note_config(const ConfigInUse& config) {
  config_error_ = config.error;
  if (!config.error.empty())
    return world_.log(
        {message_id::configuration, LOG_CRIT, config.error + "\nthe last valid configuration stays in use", {}});
  if (world_.read_only) return;
  if (auto saved = save_last_good(world_.directory, config.config); !saved)
    log_error_once(saved.error().text() + "; a start without a valid configuration would not enforce this one");
}

std::vector<std::string> PortManager::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, managed] : ports_) all.push_back(id);
  return all;
}

std::vector<Port> PortManager::ports() const {
  std::vector<Port> all;
  for (const auto& [id, managed] : ports_) all.push_back(managed.port);
  return all;
}

std::vector<std::string> PortManager::ports_on(int ifindex, const std::string& netdev) const {
  std::vector<std::string> found;
  for (const auto& [id, managed] : ports_)
    if (ifindex != 0 ? managed.port.ifindex == ifindex : !netdev.empty() && managed.port.netdev == netdev)
      found.push_back(id);
  return found;
}

std::vector<std::string> PortManager::links_recovered() {
  std::vector<std::string> back;
  for (const auto& entry : ports_) {
    const PortEntry& managed = entry.second;
    if (managed.port.ifindex == 0 || !managed.port.carrier) continue;
    rtnl::Link seen;
    seen.ifindex = managed.port.ifindex;
    seen.name = managed.port.netdev;
    seen.carrier = managed.port.carrier;
    if (const auto& downs = managed.port.counters.carrier_down) seen.carrier_down_count = static_cast<uint32_t>(*downs);
    const bool known = managed.carrier == seen.carrier && managed.carrier_downs == seen.carrier_down_count;
    if (known || !link_changed(seen).carrier_up) continue;
    for (std::string& each : ports_on(seen.ifindex, {})) back.push_back(std::move(each));
  }
  return back;
}

AgentState PortManager::state() const {
  AgentState state;
  state.running = true;
  state.mode = to_text(policy_.mode);
  state.updated = utc_now();
  state.config_error = config_error_;
  state.held = suspended_reason_;
  const auto add = [&](const std::string& id, const PortEntry& managed) {
    auto& settings = state.ports[id];
    const auto memory = memory_.find(id);
    for (const auto& [key, change] : managed.last) {
      SettingState& state_of_setting = settings[key];
      if (memory != memory_.end())
        if (const auto known = memory->second.reported.find(key); known != memory->second.reported.end())
          state_of_setting = known->second;
      state_of_setting.outcome = to_text(change.outcome);
      state_of_setting.detail = change.detail;
      state_of_setting.repairs = drift_.repairs(id, key);
    }
  };
  for (const auto& [id, managed] : ports_)
    if (policy_for(policy_, managed.port) != nullptr || !managed.last.empty()) add(id, managed);
  if (!host_.last.empty()) add(kHost, host_);
  return state;
}

void PortManager::publish() {
  if (world_.read_only) return;
  AgentState now = state();
  AgentState same = now;
  same.updated = published_.updated;
  if (same == published_ && config_ == published_config_)
    return;  // a conflicting writer must not make us write files continuously
  if (auto saved = state::save_agent_state(world_.directory, now, config_); !saved)
    return log_error_once(saved.error().text() + "; enforcement continues; retried with the next change");
  published_ = std::move(now);
  published_config_ = config_;
}

void PortManager::log_error_once(const std::string& what) {
  if (what == last_error_) return;
  last_error_ = what;
  world_.log({message_id::trouble, LOG_ERR, what, {}});
}

}  // namespace fabric::agentd
