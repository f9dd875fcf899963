// SPDX-License-Identifier: Apache-2.0
// What the keeper tells: the state file, and trouble.
#include "agentd/keeper.h"
#include "agentd/messages.h"
#include "store/state.h"

namespace fabric::agentd {

// An agent before this one, on this boot: its record of drift goes on, and its ports are no new ones.
void Keeper::remember_published() {
  if (world_.read_only) return;
  auto root = Root::open(world_.directory);
  if (!root) return;
  const auto state = state::load_agent_state(*root);
  if (!state || !*state) return;
  for (const auto& [id, settings] : (*state)->ports) {
    known_.insert(id);
    for (const auto& [key, told] : settings) {
      if (!told.last_drift.empty() || !told.last_repair.empty()) memory_[id].told[key] = told;
      // Where no entry is the port's own, it was to be put back.
      if (told.outcome == to_text(Outcome::pending) && (*state)->mode == to_text(Mode::enforce))
        memory_[id].kept_before = Mode::enforce;
    }
  }
}

std::vector<std::string> Keeper::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, kept] : ports_) all.push_back(id);
  return all;
}

std::vector<Port> Keeper::ports() const {
  std::vector<Port> all;
  for (const auto& [id, kept] : ports_) all.push_back(kept.port);
  return all;
}

std::vector<std::string> Keeper::ports_on(int ifindex, const std::string& netdev) const {
  std::vector<std::string> found;
  for (const auto& [id, kept] : ports_)
    if (ifindex != 0 ? kept.port.ifindex == ifindex : !netdev.empty() && kept.port.netdev == netdev)
      found.push_back(id);
  return found;
}

std::vector<std::string> Keeper::carriers_back() {
  std::vector<std::string> back;
  for (const auto& entry : ports_) {
    const Kept& kept = entry.second;
    if (kept.port.ifindex == 0 || !kept.port.carrier) continue;
    rtnl::Link seen;
    seen.ifindex = kept.port.ifindex;
    seen.name = kept.port.netdev;
    seen.carrier = kept.port.carrier;
    if (const auto& downs = kept.port.counters.carrier_down) seen.carrier_down_count = static_cast<uint32_t>(*downs);
    const bool known = kept.carrier == seen.carrier && kept.carrier_downs == seen.carrier_down_count;
    if (known || !link_changed(seen).carrier_up) continue;
    for (std::string& each : ports_on(seen.ifindex, {})) back.push_back(std::move(each));
  }
  return back;
}

AgentState Keeper::state() const {
  AgentState state;
  state.running = true;
  state.mode = to_text(policy_.mode);
  state.updated = utc_now();
  state.config_error = config_error_;
  state.held = held_;
  const auto add = [&](const std::string& id, const Kept& kept) {
    auto& settings = state.ports[id];
    const auto memory = memory_.find(id);
    for (const auto& [key, change] : kept.last) {
      SettingState& told = settings[key];
      if (memory != memory_.end())
        if (const auto known = memory->second.told.find(key); known != memory->second.told.end()) told = known->second;
      told.outcome = to_text(change.outcome);
      told.detail = change.detail;
      told.repairs = drift_.repairs(id, key);
    }
  };
  for (const auto& [id, kept] : ports_)
    if (policy_for(policy_, kept.port) != nullptr || !kept.last.empty()) add(id, kept);
  if (!host_.last.empty()) add(kHost, host_);
  return state;
}

void Keeper::publish() {
  if (world_.read_only) return;
  AgentState now = state();
  AgentState same = now;
  same.updated = published_.updated;
  if (same == published_ && config_ == published_config_)
    return;  // a writer that fights us must not make us write files all day
  if (auto saved = state::save_agent_state(world_.directory, now, config_); !saved)
    return trouble(saved.error().text() + "; the ports are kept all the same, tried again with the next change");
  published_ = std::move(now);
  published_config_ = config_;
}

void Keeper::trouble(const std::string& what) {
  if (what == last_trouble_) return;
  last_trouble_ = what;
  world_.log({message_id::trouble, LOG_ERR, what, {}});
}

}  // namespace fabric::agentd
