// SPDX-License-Identifier: Apache-2.0
#include "agentd/port_manager.h"

#include "node/scan.h"

namespace fabric::agentd {
namespace {

constexpr std::chrono::seconds kLockPatience{10};
constexpr std::chrono::seconds kNaming{180};  // udevd gives up an event then (event_timeout= of udev.conf(5))

bool asks_for_speed(const Policy& policy) {
  return std::ranges::any_of(policy.ports, [](const PortPolicy& entry) { return !entry.match.speed.empty(); });
}

qos::NotificationKind announced_by(const Change& change) {
  return change.sysctl.empty() ? qos::notification_of(change.setting) : qos::NotificationKind::nothing;
}

}  // namespace

World real_world(Kernel& kernel) {
  World world{.kernel = kernel, .scan = {}, .busy = {}};
  world.directory = kernel.root.path();
  world.scan = [&kernel](const Policy& policy) {
    ScanOptions what = ports_only();
    what.topology = asks_for_role(policy);
    what.serials = what.members = true;
    what.exclude = policy.exclude;
    return scan(kernel, what).ports;
  };
  world.busy = [&kernel](const Port& port) { return qos::is_in_use(kernel, port); };
  world.read_only = !kernel.root.is_host();
  return world;
}

PortManager::PortManager(World world, Policy policy)
    : world_(std::move(world)),
      policy_(std::move(policy)),
      config_(confirm::digest(wanted_config(policy_))),
      drift_(policy_.conflict, policy_.reread) {
  remember_published();
}

std::vector<std::string> PortManager::rescan() {
  std::map<std::string, Port> found;
  for (Port& port : world_.scan(policy_)) found.emplace(port.id(), std::move(port));
  drop_missing(found);
  check_originals();
  std::vector<std::string> fresh;
  for (auto& [id, port] : found)
    if (take_port(id, std::move(port))) fresh.push_back(id);
  return fresh;
}

void PortManager::drop_missing(const std::map<std::string, Port>& found) {
  std::erase_if(ports_, [&](const auto& entry) {
    const auto& [id, managed] = entry;
    if (found.contains(id)) return false;
    const bool excluded = matches_any(policy_.exclude, managed.port.rdma);
    world_.log(
        port_entry(id, LOG_NOTICE,
                   excluded ? "excluded; its settings are unchanged" : "port removed; managed again when it returns"));
    drift_.restart(id);
    return true;
  });
}

bool PortManager::take_port(const std::string& id, Port port) {
  auto [entry, is_new] = ports_.try_emplace(id);
  PortEntry& managed = entry->second;
  const bool same_device = !is_new && managed.port.ifindex == port.ifindex;
  const bool renamed = same_device && managed.port.netdev != port.netdev;
  // Another netdev is another device, so its values are not drift. A renamed one is the same device.
  if (!same_device) begin_port(id, port, managed);
  const PortPolicy* before = policy_for(policy_, managed.port);
  port.qos = std::move(managed.port.qos);
  if (!port.speed) port.speed = managed.port.speed;  // without a link the last known speed is matched
  managed.port = std::move(port);                    // the match uses speed and role, too
  const bool other_entry = policy_for(policy_, managed.port) != before;
  if (other_entry) drift_.restart(id);  // the previous entry's values are not drift
  managed.renamed = managed.renamed || (renamed && before == nullptr);
  decide_release(id, managed);
  return !same_device || renamed || other_entry;
}

void PortManager::begin_port(const std::string& id, const Port& port, PortEntry& managed) {
  drift_.restart(id);
  managed = {};
  if (Memory* memory = find_in(memory_, id)) memory->releasing &= policy_for(policy_, port) == nullptr;
  const int* device = find_in(devices_, id);
  managed.fresh = known_.erase(id) == 0 || (device != nullptr && *device != port.ifindex);
  managed.new_device = managed.fresh && memory_.contains(id);
  managed.carrier = port.carrier;
  std::string text = "found on " + (port.netdev.empty() ? "no netdev" : port.netdev);
  if (const std::string why = why_unmanageable(port); !why.empty()) text += "; unmanaged: " + why;
  world_.log(port_entry(id, LOG_INFO, text));
}

qos::Options PortManager::options_for(const PortEntry& managed, const PortPolicy& entry, qos::Instant now) {
  qos::Options options;
  options.dry_run = !is_enforcing();
  options.disruptive = policy_.disruptive;
  options.window_open = managed.fresh || window_is_open();
  options.only = qos::own_keys(managed.port);
  options.derived = entry.derived;
  options.busy = world_.busy;
  options.conflict = [this, id = managed.port.id(), now](const Port&, SettingId setting) {
    return drift_.held(id, key_text(setting), now);
  };
  options.save_original = [this](const Port& port, const Qos& before) { return save_original(port, before); };
  return options;
}

Result<Fd> PortManager::lock(qos::Instant now) {
  if (policy_.mode != Mode::enforce) return Fd();
  auto taken = state::take_lock(world_.directory);
  if (!taken) return locked_out(taken.error(), now);
  locked_out_since_.reset();
  refresh_suspension();
  return taken;
}

Result<void> PortManager::keep(const std::string& id, qos::Instant now) {
  PortEntry* found = find_in(ports_, id);
  if (found == nullptr) return {};
  PortEntry& managed = *found;
  end_self_test(managed);
  const PortPolicy* wanted = policy_for(policy_, managed.port);
  if (wanted == nullptr) return release(managed, now);
  // udev renames a netdev right after it appears; a later rename is an operator's, and jobs may use the port.
  if (std::exchange(managed.renamed, false) && managed.unmatched && now - *managed.unmatched < kNaming)
    managed.fresh = true;
  auto locked = lock(now);
  if (!locked) return locked.error();
  Changes changes = qos::reconcile(world_.kernel, managed.port, wanted->want, options_for(managed, *wanted, now));
  const bool gone = contains(changes, ENODEV, &Change::code);
  // ENODEV once is a reset that may be over soon. Twice, with the netdev present: the last scan is stale.
  if (gone && (!std::exchange(managed.gone, true) || !qos::is_there(world_.kernel, managed.port)))
    return error(ENODEV, id);
  managed.gone = gone;
  record_results(managed, std::move(changes), now);
  return gone ? Result<void>(error(ENODEV, id)) : Result<void>{};
}

Result<void> PortManager::keep_host(qos::Instant now) {
  auto locked = lock(now);
  if (!locked) return locked.error();
  qos::SysctlOptions options;
  options.dry_run = !is_enforcing();
  options.conflict = [this, now](const std::string& name) { return drift_.held(kHostSubject, name, now); };
  options.save_original = [this](const std::string& name, const std::string& before) -> Result<void> {
    auto originals = qos::load_sysctl_originals(world_.directory);
    return originals ? qos::save_sysctl_original(world_.directory, *originals, name, before) : originals.error();
  };
  record_results(host_, qos::reconcile_sysctl(world_.kernel.root, policy_.sysctl, options), now);
  return {};
}

// Compares the results of a pass with the previous pass; then the evidence is reset.
void PortManager::record_results(PortEntry& managed, Changes changes, qos::Instant now) {
  const Settings before = std::exchange(managed.last, {});
  for (Change& change : changes) {
    if (auto old = before.find(change.key()); old != before.end()) managed.last.insert(*old);
    if (!suspended_reason_.empty() && change.outcome == Outcome::differs) {
      change.outcome = Outcome::pending;
      change.detail = suspended_reason_;
    }
    process_change(managed, std::move(change), now);
  }
  managed.fresh = managed.new_device = managed.carrier_lost = false;
  managed.notified.clear();
}

// A short wait for another writer is normal. A lock that stays taken (a stopped process) or cannot be opened is logged:
// nothing is enforced.
Error PortManager::locked_out(Error failure, qos::Instant now) {
  if (!locked_out_since_) locked_out_since_ = now;
  if (failure.code != EWOULDBLOCK || now - *locked_out_since_ >= kLockPatience)
    log_error_once(failure.text() + "; no port is written until the lock is free");
  return failure;
}

void PortManager::process_change(PortEntry& managed, Change change, qos::Instant now) {
  using Transition = qos::Drift::Transition;
  const auto drifted = note_drift(managed, change);
  const std::string key = change.key();
  Memory& memory = memory_[change.port];
  const qos::Writer* writer = find_in(memory.writers, key);
  const bool written = managed.notified.contains(announced_by(change)) ||
                       (writer != nullptr && qos::is_alive(world_.kernel.root, *writer));
  // A device that does not answer is not evidence of drift, and must not delay writes when it answers again.
  const auto transition = change.code == ENODEV ? Transition::nothing : drift_.observe(change, now, written);
  const Change* before = find_in(managed.last, key);
  // Not written because the driver refused it, not because of another writer: still refused.
  if (change.outcome == Outcome::conflict && !drift_.in_conflict(change.port, key) && before != nullptr) {
    std::string from = std::move(change.from);
    change = *before;
    change.from = std::move(from);
  }
  if (auto entry = message_for(change, before, transition, drifted)) world_.log(*entry);
  if (transition == Transition::repaired || transition == Transition::conflict)
    memory.reported[key].last_repair = utc_now();
  if (transition == Transition::conflict) {
    memory.writers[key] = drifted ? drifted->writer : qos::Writer{};
    change.outcome = Outcome::conflict;
    change.detail = "repeatedly changed back by " + (drifted ? drifted->by : "another process");
  } else if (change.outcome == Outcome::conflict && before != nullptr && before->outcome == Outcome::conflict) {
    change.detail = before->detail;
  }
  managed.last.insert_or_assign(key, std::move(change));
}

// A setting that was in sync now differs: records when, from and to which value, how often, and the likely writer.
std::optional<qos::Suspect> PortManager::note_drift(const PortEntry& managed, const Change& change) {
  auto& good = memory_[change.port].good;
  const auto known = good.find(change.key());
  // What an apply that awaits confirmation has set is no drift.
  const bool off =
      change.from != change.to && change.from != "-" && change.outcome != Outcome::unsupported && !awaits_confirmation_;
  std::optional<qos::Suspect> suspect;
  if (off && known != good.end() && known->second == change.to) {
    const qos::Writer* notified = find_in(managed.notified, announced_by(change));
    qos::Evidence seen;
    seen.new_device = managed.new_device;
    seen.carrier_lost = managed.carrier_lost;
    seen.notified = notified != nullptr;
    if (notified != nullptr) seen.writer = *notified;
    else if (announced_by(change) == qos::NotificationKind::nothing)
      seen.writer = qos::find_holder(world_.kernel.root, managed.port);
    seen.firmware_dcbx = managed.port.qos.dcbx == Dcbx::firmware;
    suspect = qos::suspect_of(change.setting, seen);
    SettingState& state = memory_[change.port].reported[change.key()];
    ++state.drifts[std::string(to_text(suspect->cause))];
    state.last_drift = utc_now();
    state.drift_from = change.to;
    state.drift_to = change.from;
    state.drift_by = suspect->by;
  }
  if (off && known != good.end()) good.erase(known);
  if (is_done(change.outcome)) good[change.key()] = change.to;
  return suspect;
}

void PortManager::on_notification(const std::string& id, qos::NotificationKind how) {
  PortEntry* managed = find_in(ports_, id);
  if (managed == nullptr || policy_for(policy_, managed->port) == nullptr) return;
  const auto [writer, is_first] = managed->notified.try_emplace(how);  // a burst comes from one writer
  if (is_first) writer->second = qos::find_writer(world_.kernel.root, how, managed->port.netdev);
}

PortManager::LinkEvents PortManager::link_changed(const rtnl::Link& link) {
  LinkEvents events;
  for (const std::string& id : ports_on(link.ifindex, {})) {
    PortEntry& managed = ports_[id];
    events.rescan = events.rescan || managed.port.netdev != link.name;
    // Down and up within a second may be one message; carrier_down_count shows it (net/core/link_watch.c).
    bool flapped =
        managed.carrier_downs && link.carrier_down_count && *managed.carrier_downs != *link.carrier_down_count;
    if (link.carrier == true && (managed.carrier == false || flapped)) events.carrier_up = true;
    if (flapped || link.carrier == false) managed.carrier_lost = true;
    managed.carrier = link.carrier;
    managed.carrier_downs = link.carrier_down_count;
  }
  events.speed = events.carrier_up && asks_for_speed(policy_);
  return events;
}

bool PortManager::has_sysctl_of(const std::string& netdev) const {
  return !netdev.empty() &&
         std::ranges::any_of(policy_.sysctl, [&](const auto& each) { return qos::is_sysctl_of(each.first, netdev); });
}

Result<void> PortManager::settle(const std::string& id) {
  const PortEntry* managed = find_in(ports_, id);
  if (managed == nullptr || !is_enforcing() || policy_for(policy_, managed->port) == nullptr) return {};
  auto lock = state::take_lock(world_.directory);
  if (!lock) return lock.error();
  return qos::settle(world_.kernel, managed->port);
}

}  // namespace fabric::agentd
