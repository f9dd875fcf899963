// SPDX-License-Identifier: Apache-2.0
// The published state file, and errors.
#include "agentd/port_manager.h"
#include "enforce/selftest.h"
#include "judge/rule.h"

namespace fabric::agentd {

// Continues the drift record of an earlier agent of this boot; its ports are not new ones.
void PortManager::remember_published() {
  if (world_.read_only) return;
  auto root = Root::open(world_.directory);
  if (!root) return;
  const auto state = state::load_agent_state(*root);
  if (!state || !*state) return;
  devices_ = state::agent_devices(*root).value_or({});
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
        {message_id::configuration, LOG_WARNING, config.error + "\nthe last valid configuration stays in use"});
  if (world_.read_only) return;
  if (auto saved = save_last_good(world_.directory, config.config, rule_rows()); !saved)
    log_error_once(saved.error().text() + "; a start without a valid configuration would not enforce this one");
}

// Under the lock: `fabric-agentctl` writes the same file, so it is read again.
Result<void> PortManager::save_original(const Port& port, const Qos& before) {
  auto originals = state::load_originals(world_.directory);
  if (!originals && originals.error().code == EBADMSG) {
    auto aside = state::set_originals_aside(world_.directory);
    if (!aside) return aside.error();
    log_error_once(originals.error().text() + "; renamed to " + *aside +
                   "; the current settings are saved as originals");
    originals = state::Originals{};
    check_originals();
  }
  if (!originals) return originals.error();
  if (state::find_original(*originals, port) == originals->end())
    for (const auto& [card, other] : *originals)
      if (other.place == state::port_place(port))
        world_.log(port_entry(port.id(), LOG_NOTICE,
                              "another card than " + card + " is in its place; the originals of both are kept"));
  return state::save_original(world_.directory, *originals, port, before);
}

void PortManager::check_originals() {
  if (world_.read_only) return;
  const auto originals = state::load_originals(world_.directory);
  const auto root = Root::open(world_.directory);
  const std::string aside = std::string(state::kOriginalsFile) + ".corrupt";
  originals_error_ = !originals                    ? originals.error().text()
                     : root && root->exists(aside) ? "/" + aside + ": it could not be read, and was replaced"
                                                   : std::string();
}

void PortManager::end_self_test(PortEntry& managed) {
  if (world_.read_only || managed.port.netdev.empty()) return;
  const auto root = Root::open(world_.directory);
  if (!root || !root->exists(state::kSelfTestFile)) return;
  const auto lock = state::take_lock(world_.directory);
  if (!lock) return;  // it is under way
  qos::Options options;
  options.busy = world_.busy;
  const auto ended = qos::end_self_test(world_.kernel, {&managed.port, 1}, world_.directory, options);
  if (!ended) return log_error_once(ended.error().text());
  if (ended->empty()) return;
  const std::string id = managed.port.id();
  const std::string what = "a self-test was interrupted; the settings from before it are restored";
  if (std::ranges::any_of(*ended, is_left_to_do)) return log_error_once(id + ": " + what + " when the port is idle");
  world_.log(port_entry(id, LOG_WARNING, what));
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
  state.originals_error = originals_error_;
  for (const auto& [id, memory] : memory_)
    if (memory.lost_entry && ports_.contains(id)) state.lost_entry.push_back(id);
  const auto add = [&](const std::string& id, const PortEntry& managed) {
    auto& settings = state.ports[id];
    const Memory* memory = find_in(memory_, id);
    for (const auto& [key, change] : managed.last) {
      const SettingState* known = memory == nullptr ? nullptr : find_in(memory->reported, key);
      SettingState& state_of_setting = settings[key];
      if (known != nullptr) state_of_setting = *known;
      state_of_setting.outcome = to_text(change.outcome);
      state_of_setting.detail = change.detail;
      state_of_setting.repairs = drift_.repairs(id, key);
    }
  };
  for (const auto& [id, managed] : ports_)
    if (policy_for(policy_, managed.port) != nullptr || !managed.last.empty()) add(id, managed);
  if (!host_.last.empty()) add(kHostSubject, host_);
  return state;
}

void PortManager::publish() {
  if (world_.read_only) return;
  AgentState now = state();
  AgentState same = now;
  same.updated = published_.updated;
  state::Devices devices;
  for (const auto& [id, managed] : ports_)
    if (now.ports.contains(id)) devices[id] = managed.port.ifindex;
  if (same == published_ && config_ == published_config_ && devices == published_devices_)
    return;  // a conflicting writer must not make us write files continuously
  if (auto saved = state::save_agent_state(world_.directory, now, config_, devices); !saved)
    return log_error_once(saved.error().text() + "; enforcement continues; retried with the next change");
  published_ = std::move(now);
  published_config_ = config_;
  published_devices_ = std::move(devices);
}

void PortManager::log_error_once(const std::string& what) {
  if (what == last_error_) return;
  last_error_ = what;
  world_.log({message_id::trouble, LOG_ERR, what});
}

namespace {

// From harmless to worst: a port is counted under its worst setting.
constexpr std::array kRanking{Outcome::in_sync, Outcome::applied, Outcome::unverified, Outcome::unsupported,
                              Outcome::pending, Outcome::differs, Outcome::ignored,    Outcome::refused,
                              Outcome::unsaved, Outcome::conflict};

size_t rank(Outcome outcome) { return static_cast<size_t>(std::ranges::find(kRanking, outcome) - kRanking.begin()); }

}  // namespace

std::string PortManager::status() const {
  std::map<size_t, size_t> ports_at;
  size_t matched = 0;
  for (const auto& [id, managed] : ports_) {
    if (policy_for(policy_, managed.port) == nullptr) continue;
    ++matched;
    size_t worst = 0;
    for (const auto& [key, change] : managed.last) worst = std::max(worst, rank(change.outcome));
    ++ports_at[worst <= rank(Outcome::applied) ? rank(Outcome::in_sync) : worst];
  }
  std::string text =
      std::string(to_text(policy_.mode)) + ": " + std::to_string(matched) + (matched == 1 ? " port" : " ports");
  for (const auto& [worst, count] : ports_at) {
    std::string word(to_text(kRanking[worst]));
    std::ranges::replace(word, '_', ' ');
    text += ", " + std::to_string(count) + " " + word;
  }
  if (matched < ports_.size()) text += ", " + std::to_string(ports_.size() - matched) + " unmanaged";
  if (!suspended_reason_.empty()) text += "; " + suspended_reason_;
  return config_error_.empty() ? text : text + "; configuration invalid, the last valid one stays in use";
}

int PortManager::exit_code() const {
  int worst = 0;
  for (const auto& [id, managed] : ports_)
    for (const auto& [key, change] : managed.last) worst = std::max(worst, severity(change.outcome));
  for (const auto& [key, change] : host_.last) worst = std::max(worst, severity(change.outcome));
  return worst;
}

}  // namespace fabric::agentd
