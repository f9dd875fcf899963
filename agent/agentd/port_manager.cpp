// SPDX-License-Identifier: Apache-2.0
#include "agentd/port_manager.h"

#include "agentd/schedule.h"
#include "base/find.h"
#include "enforce/restore.h"
#include "enforce/sysctl.h"
#include "judge/rule.h"
#include "policy/show_config.h"

namespace fabric::agentd {

static constexpr std::chrono::seconds kLockPatience{10};
static constexpr std::chrono::minutes kLongestUnsettled{1};
static constexpr std::chrono::seconds kProtectionPause{30};
static constexpr int kMaxWindowWait = 60;  // minutes

// After so many failures in a row; nullopt: none.
static std::optional<std::chrono::milliseconds> pause_after(unsigned failures, std::chrono::milliseconds longest) {
  constexpr unsigned kMostDoublings = 12;
  if (failures == 0) return std::nullopt;
  const std::chrono::milliseconds pause{1'000U << std::min(failures - 1, kMostDoublings)};
  return std::min(pause, longest);
}

// Call it after a pass that has read the port to its end. `lost`: Reconciled::lost_protection.
static void remember_protection(PortEntry& entry, std::optional<Qos> lost) {
  if (lost) {
    entry.lost_protection = std::move(lost);
  } else if (entry.have.pause.value_or(Pause{}) != Pause{} || entry.have.pfc.value_or(PrioSet{}).bits != 0) {
    entry.may_lack_pause_and_pfc = false;
    entry.lost_protection.reset();
  }
}

PortManager::PortManager(Environment environment, Policy policy)
    : environment_(std::move(environment)),
      policy_(std::move(policy)),
      config_(confirm::digest(wanted_config(policy_))),
      errors_(environment_.log),
      results_(environment_, policy_),
      originals_(environment_, errors_),
      releases_(environment_, errors_, results_),
      suspension_(environment_, errors_),
      unsettled_(environment_.read_only ? "" : environment_.directory,
                 [this](const std::string& what) { errors_.once(what); }) {
  remember_published();
  unsettled_.load();
  left_ = unsettled_.ids();
}

void PortManager::publish() {
  if (environment_.read_only) return;
  AgentState now = state_of(view());
  now.config = config_;
  AgentState same = now;
  same.updated = published_.updated;
  state::Devices devices;
  for (const auto& [id, entry] : table_.entries())
    // A port without an entry, too: an entry that a restart brings does not make it a new one.
    if (now.ports.contains(id) || entry.arrival == Arrival::unmatched) devices[id] = entry.port.ifindex;
  if (same == published_ && devices == published_devices_) return;
  if (auto saved = state::save_agent_state(environment_.directory, now, devices); !saved)
    return errors_.once(saved.error().text() + "; enforcement continues; retried with the next change");
  published_ = std::move(now);
  published_devices_ = std::move(devices);
}

void PortManager::remember_published() {
  if (environment_.read_only) return;
  const auto root = Root::open(environment_.directory);
  if (!root) return;
  const auto state = state::load_agent_state(*root);
  if (!state) {
    // A newer release, before a downgrade, or a damaged file: without it the ports would be taken for new ones.
    errors_.once(state.error().text() + "; every port that is present counts as one that an earlier agent managed");
    return table_.expect_all();
  }
  if (!*state) return;
  const state::Devices devices = state::agent_devices(*root).value_or({});
  for (const auto& [id, settings] : (*state)->ports) {
    const int* device = find_in(devices, id);
    std::optional<int> ifindex;
    if (device != nullptr) ifindex = *device;
    table_.expect(id, ifindex);
    for (const auto& [key, known] : settings) {
      if (!known.last_drift.empty() || !known.last_repair.empty()) results_.resume(id, key, known);
      // If no entry matches the port now, the earlier agent was restoring it or its entry has been removed since.
      const bool is_left =
          known.outcome == Outcome::pending || known.outcome == Outcome::refused || known.outcome == Outcome::ignored;
      if (is_left && (*state)->mode == Mode::enforce) releases_.expect(id);
    }
  }
  for (const auto& [id, device] : devices)
    if (!(*state)->ports.contains(id)) table_.expect(id, device);
}

void PortManager::set_policy(Policy policy) {
  const Policy old = std::exchange(policy_, std::move(policy));
  config_ = confirm::digest(wanted_config(policy_));
  config_error_.clear();
  results_.reset(policy_);
  originals_.forget_refusals();
  suspension_.end_reverted();
  releases_.reload(old, policy_, table_);
}

void PortManager::note_config(const ConfigInUse& config) {
  config_error_.clear();
  if (config.error) config_error_ = config.error->text();
  if (config.error)
    return environment_.log(
        {message_id::configuration, LOG_WARNING, config_error_ + "\nthe last valid configuration stays in use"});
  if (environment_.read_only) return;
  if (auto saved = save_last_good(environment_.directory, config.config, rule_rows()); !saved)
    errors_.once(saved.error().text() + "; a start without a valid configuration would not enforce this one");
}

std::vector<std::string> PortManager::rescan() {
  std::map<std::string, Port> present;
  FoundPorts found_ports = environment_.scan(policy_);
  std::string unread = found_ports.unread;
  if (!unread.empty()) unread = "RDMA devices cannot be listed: " + unread;
  for (Port& port : found_ports.ports) {
    // Without its netdev's index and address it would be taken for another device, and for another card.
    const bool is_whole = !is_unread(port, PortPart::netdev);
    if (is_whole) present.emplace(port.id(), std::move(port));
    else unread = port.id() + ": " + why_unread(port, PortPart::netdev);
  }
  // A port that could not be listed is not gone.
  incomplete_scans_ = unread.empty() ? 0 : incomplete_scans_ + 1;
  if (!unread.empty()) errors_.once(unread + "; the known ports are kept");
  const Renames renames = table_.note_renames(present, unread.empty());
  releases_.note_renames(renames);
  rename_ids(left_, renames);
  rename_ids(restored_, renames);
  for (const auto& [before, after] : renames) {
    environment_.log(port_entry(after, LOG_NOTICE, "its RDMA device was renamed; it was " + before));
    results_.drop(before);
    results_.drop(after);
    originals_.drop(before);
  }
  for (const Port& gone : table_.drop_missing(present)) {
    std::string what = "port removed; managed again when it returns";
    if (matches_any(policy_.exclude, gone.rdma)) what = "excluded; its settings are unchanged";
    environment_.log(port_entry(gone.id(), LOG_NOTICE, what));
    results_.drop(gone.id());
    originals_.drop(gone.id());
  }
  originals_.check();
  std::vector<std::string> fresh;
  for (auto& [id, port] : present) {
    using Kind = PortTable::TakeResult::Kind;
    const PortTable::TakeResult found = table_.take(id, std::move(port), policy_);
    const Port& taken = table_.find(id)->port;
    if (found.device == Kind::other) {
      results_.drop(id);
      releases_.new_device(taken, policy_);
      std::string what = "found on " + taken.netdev;
      if (taken.netdev.empty()) what = "found without a netdev";
      if (const std::string why = why_unmanageable(taken); !why.empty()) what += "; unmanaged: " + why;
      environment_.log(port_entry(id, LOG_INFO, what));
    }
    if (found.other_entry) results_.restart(id);
    releases_.decide(taken, policy_);
    const bool has_new_id = contains(renames, id, &Renames::value_type::second);
    if (found.device != Kind::same || found.other_entry || has_new_id) fresh.push_back(id);
  }
  if (unread.empty()) table_.expect_no_more();
  return fresh;
}

std::optional<std::chrono::milliseconds> PortManager::rescan_after() const {
  return pause_after(incomplete_scans_, policy_.reread);
}

Result<Fd> PortManager::lock(qos::Instant now) {
  if (policy_.mode != Mode::enforce) return Fd();
  auto taken = state::take_lock(environment_.directory);
  if (taken) {
    locked_out_since_.reset();
    suspension_.refresh(config_);
    return taken;
  }
  // A short wait for another writer is normal. A lock that stays taken (by a stopped process) or cannot be opened is
  // logged, because it prevents all enforcement.
  if (!locked_out_since_) locked_out_since_ = now;
  if (taken.error().code != EWOULDBLOCK || now - *locked_out_since_ >= kLockPatience)
    errors_.once(taken.error().text() + "; no port is written until the lock is free");
  return taken;
}

Result<void> PortManager::reconcile_port(const std::string& id, qos::Instant now) {
  PortEntry* found = table_.find(id);
  if (found == nullptr) return {};
  PortEntry& entry = *found;
  const PortPolicy* wanted = policy_for(policy_, entry.port);
  if (originals_.end_self_test(entry.port, turns_, allows_front_end(entry.port), now)) restored_.insert(id);
  if (wanted == nullptr) return release(entry, now);
  auto locked = lock(now);
  if (!locked) return locked.error();
  qos::Terms terms{.in_use = environment_.in_use,
                   .wanted_of = wanted_of_bond(),
                   .disruptive = policy_.disruptive,
                   .front_end = wanted->front_end,
                   .derived = wanted->derived};
  terms.window = maintenance_now();
  if (PortTable::is_new(entry, now)) terms.window = qos::Maintenance::open;
  terms.in_conflict = [this, &id, now](SettingId setting) { return results_.is_held(id, key_text(setting), now); };
  terms.original = protection_before(entry);
  entry.waits_for_member = must_wait_for_member(entry.port, now);
  const qos::SaveOriginal save = [this](const Port& port, const Qos& before) { return originals_.save(port, before); };
  const Qos before = entry.have;
  bool write_now = false;  // a conflict is over: its setting is written at once
  do {
    qos::Reconciled done;
    if (is_enforcing())
      done =
          qos::reconcile(environment_.kernel, entry.port, wanted->want, turns_.terms_for(entry.port, terms, now), save);
    else done = qos::plan(environment_.kernel, entry.port, wanted->want, terms);
    Changes& changes = done.changes;

    const bool gone = contains(changes, ENODEV, &Change::code);
    PassEnd end = PassEnd::whole;
    if (gone) end = PassEnd::gone;
    else if (contains(changes, true, &Change::is_lost)) end = PassEnd::lost;
    entry.cut_short = end == PassEnd::whole ? 0 : entry.cut_short + 1;
    if (done.have) entry.have = std::move(*done.have);
    if (!done.is_settled) ++entry.unsettled;
    if (end != PassEnd::whole) entry.may_lack_pause_and_pfc = true;
    else remember_protection(entry, std::move(done.lost_protection));
    entry.changed = !(entry.have == before);
    // A first ENODEV may be a reset that ends soon. After a second one, with the netdev present, the last scan is
    // stale.
    const PassEnd end_before = std::exchange(entry.end, end);
    if (gone && !(end_before == PassEnd::gone && qos::is_there(environment_.kernel, entry.port)))
      return error(ENODEV, id);
    write_now = results_.record({.subject = id,
                                 .have = &entry.have,
                                 .seen = entry.seen,
                                 .suspended = suspension_.reason(),
                                 .on_trial = suspension_.is_awaiting(),
                                 .is_idle = [&] { return !environment_.in_use(entry.port); }},
                                std::move(changes), now);
    PortTable::passed(entry);
    if (gone) return error(ENODEV, id);
  } while (write_now);
  return {};
}

std::optional<std::vector<std::string>> PortManager::ports_of_killed_self_test(qos::Instant now) {
  if (environment_.read_only) return std::nullopt;
  const auto root = Root::open(environment_.directory);
  if (!root || !root->exists(state::kSelfTestFile)) return std::nullopt;
  std::vector<std::string> due;
  if (const auto lock = state::take_lock(environment_.directory); !lock) {
    self_test_is_new_ = true;  // it is running
    return due;
  }
  const auto record = state::load_originals(environment_.directory, state::kSelfTestFile);
  if (!record) return std::nullopt;  // reported by OriginalsStore
  const bool is_new = std::exchange(self_test_is_new_, false);
  const std::map<std::string, qos::Instant> waited = std::exchange(self_test_waits_, {});
  for (const auto& absent : state::absent_originals(*record, table_.ports()))
    errors_.once("a self-test of " + absent->first +
                 " was interrupted; its settings from before are restored when the port is present and not excluded");
  for (const std::string& id : table_.ids()) {
    const Port& port = table_.find(id)->port;
    const auto original = state::original_for(*record, port);
    if (!original) continue;
    const qos::Use use = environment_.in_use(port);
    const bool is_idle = !use || (use.is_front_end() && (original->front_end || allows_front_end(port)));
    const qos::Instant* last = find_in(waited, id);
    const bool lacks_protection =
        !is_idle && original->may_lack_pause_and_pfc && last != nullptr && now - *last >= kProtectionPause;
    const bool is_due = is_new || (is_idle && last != nullptr) || lacks_protection;
    if (is_due) due.push_back(id);
    if (!is_idle) self_test_waits_[id] = is_due || last == nullptr ? now : *last;
  }
  if (due.empty() && self_test_waits_.empty()) return std::nullopt;
  return due;
}

std::optional<std::chrono::milliseconds> PortManager::retry_after(const std::string& id) const {
  const PortEntry* entry = find_in(table_.entries(), id);
  if (entry == nullptr) return std::nullopt;
  return pause_after(entry->cut_short, policy_.reread);
}

qos::WantedOf PortManager::wanted_of_bond() {
  return [this](const Port& other) -> std::optional<Qos> {
    const auto& entries = table_.entries();
    const auto found = std::ranges::find_if(entries, [&](const auto& each) {
      const Port& port = each.second.port;
      return port.rdma == other.rdma && port.number == other.number && port.netdev == other.netdev;
    });
    if (found == entries.end()) return std::nullopt;
    const auto& [id, entry] = *found;
    if (const PortPolicy* wanted = policy_for(policy_, entry.port)) return wanted->want;
    if (!releases_.is_restoring(id)) return std::nullopt;
    auto originals = state::load_originals(environment_.directory);
    if (!originals) return std::nullopt;
    if (auto original = state::original_for(std::move(*originals), entry.port)) return std::move(*original);
    return Qos{};
  };
}

bool PortManager::must_wait_for_member(const Port& port, qos::Instant now) {
  if (qos::bond_above(environment_.kernel.root, port).empty()) return false;
  turns_.note_others(table_.ports(), now);
  return !turns_.why_wait(port, now).empty();
}

bool PortManager::waits_for_member(const std::string& id) const {
  const PortEntry* entry = find_in(table_.entries(), id);
  return entry != nullptr && entry->waits_for_member && (results_.has_pending(id) || releases_.is_restoring(id));
}

std::vector<std::string> PortManager::links_recovered() {
  std::vector<std::string> out = table_.links_recovered();
  std::erase_if(left_, [&](const std::string& id) {
    const PortEntry* entry = find_in(table_.entries(), id);
    if (entry == nullptr || !entry->carrier.value_or(false)) return false;
    // Nothing will announce the link. Another device has new thresholds.
    if (unsettled_.contains(entry->port)) out.push_back(id);
    return true;
  });
  return out;
}

std::vector<std::string> PortManager::waiting_for(const std::string& id) const {
  std::vector<std::string> out;
  const PortEntry* entry = find_in(table_.entries(), id);
  if (entry == nullptr || !entry->changed || entry->port.bond.empty()) return out;
  for (const auto& [other, each] : table_.entries())
    if (other != id && each.port.bond == entry->port.bond && each.port.rdma == entry->port.rdma) out.push_back(other);
  return out;
}

std::function<std::optional<Qos>(const Port&)> PortManager::protection_before(const PortEntry& entry) {
  if (entry.lost_protection) return [lost = entry.lost_protection](const Port&) { return lost; };
  if (!entry.may_lack_pause_and_pfc) return {};
  return [this](const Port& port) -> std::optional<Qos> {
    auto originals = state::load_originals(environment_.directory);
    if (!originals) return std::nullopt;
    return state::original_for(std::move(*originals), port);
  };
}

Result<void> PortManager::release(PortEntry& entry, qos::Instant now) {
  entry.changed = false;
  table_.passed_unmatched(entry, policy_, now);
  const std::string id = entry.port.id();
  if (!releases_.is_restoring(id)) {
    results_.replace(id, {});
    return {};
  }
  auto locked = lock(now);  // before the question: another program may have written a member
  if (!locked) return locked.error();
  entry.waits_for_member = must_wait_for_member(entry.port, now);
  if (entry.waits_for_member) return {};
  // With "never" the agent may have added protection, which is taken away on an idle port.
  qos::Terms terms{.in_use = environment_.in_use,
                   .wanted_of = wanted_of_bond(),
                   .disruptive = policy_.disruptive == Disruptive::never ? Disruptive::idle : policy_.disruptive,
                   .window = maintenance_now()};
  // A release wants the original settings themselves: only a lost protection is more than they have.
  if (entry.lost_protection) terms.original = protection_before(entry);
  if (!suspension_.reason().empty()) return {};
  auto done = releases_.restore(entry.port, turns_.terms_for(entry.port, terms, now), now);
  if (!done) return {};
  if (std::ranges::any_of(done->changes, was_written)) restored_.insert(id);
  if (!done->is_settled) ++entry.unsettled;
  if (!done->have) return {};
  entry.changed = !(*done->have == entry.have);
  entry.have = std::move(*done->have);
  remember_protection(entry, std::move(done->lost_protection));
  return {};
}

Result<void> PortManager::reconcile_host(qos::Instant now) {
  auto locked = lock(now);
  if (!locked) return locked.error();
  const auto pass_over_host = [&] {
    const Root& root = environment_.kernel.root;
    const qos::SysctlConflict is_held = [&](const std::string& name) {
      return results_.is_held(kHostSubject, name, now);
    };
    if (!is_enforcing()) return qos::plan_sysctl(root, policy_.sysctl, is_held);
    const qos::SaveSysctl save = [&](const std::string& name, const std::string& before) {
      return originals_.save_sysctl(name, before);
    };
    return qos::reconcile_sysctl(root, policy_.sysctl, save, is_held);
  };
  const Results::Pass pass{
      .subject = kHostSubject, .suspended = suspension_.reason(), .on_trial = suspension_.is_awaiting()};
  while (results_.record(pass, pass_over_host(), now)) {
  }
  return {};
}

Result<void> PortManager::settle(const std::string& id) {
  PortEntry* entry = table_.find(id);
  if (entry == nullptr) return {};
  unsettled_.load();  // fabric-agentctl may have written the port
  const PortPolicy* wanted = is_enforcing() ? policy_for(policy_, entry->port) : nullptr;
  const bool is_enforced = wanted != nullptr;
  const bool is_left = policy_.mode == Mode::enforce && unsettled_.contains(entry->port);
  if (!is_enforced && !is_left && !restored_.contains(id)) {
    entry->unsettled = 0;
    return {};
  }
  auto lock = state::take_lock(environment_.directory);
  if (!lock) {
    if (lock.error().code != EWOULDBLOCK) ++entry->unsettled;
    return lock.error();
  }
  entry->seen.settled = true;
  auto settled = qos::settle(environment_.kernel, entry->port, is_enforced ? wanted->want : Qos());
  if (!settled) {
    ++entry->unsettled;
    errors_.once(settled.error().text() + "; " + id + " has buffer thresholds of another link speed; trying again");
    return settled;
  }
  entry->unsettled = 0;
  if (entry->carrier.value_or(true)) {
    restored_.erase(id);
    unsettled_.remove(entry->port);
  }
  return settled;
}

std::optional<std::chrono::milliseconds> PortManager::settle_after(const std::string& id) const {
  const PortEntry* entry = find_in(table_.entries(), id);
  if (entry == nullptr) return std::nullopt;
  return pause_after(entry->unsettled, kLongestUnsettled);
}

Suspension::NextSteps PortManager::watch_confirm() {
  const std::vector<Port> ports = table_.ports();
  const Root& root = environment_.kernel.root;
  if (std::ranges::any_of(ports, [&](const Port& port) { return !qos::bond_above(root, port).empty(); }))
    turns_.note_others(ports, std::chrono::steady_clock::now());
  const auto present = [&](const confirm::Record& record) {
    return confirm::with_excluded(record, ports, policy_,
                                  [this](const Policy& all) { return environment_.scan(all).ports; });
  };
  const auto front_end = [this](const Port& port) { return allows_front_end(port); };
  Suspension::NextSteps next = suspension_.watch(config_, {.present = present, .front_end = front_end}, turns_);
  restored_.insert(next.written.begin(), next.written.end());
  return next;
}

void PortManager::on_notification(const std::string& id, NotificationKind how) {
  PortEntry* entry = table_.find(id);
  if (how == NotificationKind::nothing || entry == nullptr || policy_for(policy_, entry->port) == nullptr) return;
  const auto [writers, is_first] = entry->seen.notified.try_emplace(how);  // one writer causes a whole burst
  if (is_first) writers->second = qos::find_candidates(environment_.kernel.root, how, entry->port.netdev);
}

qos::Maintenance PortManager::maintenance_now() const {
  if (minutes_until_open(policy_.maintenance, environment_.now_local(), 1) == 0) return qos::Maintenance::open;
  return qos::Maintenance::closed;
}

bool PortManager::allows_front_end(const Port& port) const {
  const PortPolicy* entry = policy_for(policy_, port);
  return entry != nullptr && entry->front_end;
}

bool PortManager::waits_for_idle(const std::string& id) const {
  return is_enforcing() && policy_.disruptive == Disruptive::idle && results_.has_pending(id) &&
         maintenance_now() == qos::Maintenance::open;
}

bool PortManager::is_idle(const std::string& id) {
  const PortEntry* entry = table_.find(id);
  if (entry == nullptr) return true;
  const qos::Use use = environment_.in_use(entry->port);
  return !use || (use.is_front_end() && allows_front_end(entry->port));
}

std::optional<std::chrono::minutes> PortManager::until_window() const {
  if (!is_enforcing() || policy_.disruptive == Disruptive::never) return std::nullopt;
  if (maintenance_now() == qos::Maintenance::open) return std::nullopt;
  const auto& ports = table_.entries();
  if (std::ranges::none_of(ports, [this](const auto& each) { return results_.has_pending(each.first); }))
    return std::nullopt;
  const int minutes = minutes_until_open(policy_.maintenance, environment_.now_local(), kMaxWindowWait);
  return std::chrono::minutes(std::max(1, minutes));
}

}  // namespace fabric::agentd
