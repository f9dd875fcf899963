// SPDX-License-Identifier: Apache-2.0
#include "agentd/keeper.h"

#include <algorithm>

#include "agentd/messages.h"
#include "base/parse.h"
#include "config/config.h"
#include "model/bond.h"
#include "scan/scan.h"
#include "settings/busy.h"
#include "settings/sysctl.h"
#include "store/state.h"

namespace fabric::agentd {
namespace {

constexpr std::chrono::seconds kLockPatience{10};
constexpr std::chrono::seconds kNaming{180};  // udevd gives up an event then (event_timeout= of udev.conf(5))

std::vector<Port> scan_ports(Kernel& kernel, const Policy& policy) {
  return scan(kernel, {.topology = asks_for_role(policy),
                       .platform = false,
                       .settings = false,
                       .counters = false,
                       .gids = false,
                       .network = false,
                       .verbs = false,
                       .members = true,
                       .exclude = policy.exclude})
      .ports;
}

bool asks_for_speed(const Policy& policy) {
  return std::any_of(policy.ports.begin(), policy.ports.end(),
                     [](const PortPolicy& entry) { return !entry.match.speed.empty(); });
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, text); });
}

bool device_is_gone(const Changes& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const Change& change) { return change.code == ENODEV; });
}

Changes host_changes(const std::vector<qos::SysctlChange>& found) {
  Changes changes;
  for (const qos::SysctlChange& one : found)
    changes.push_back({Keeper::kHost, {}, one.outcome, one.code, false, one.from, one.to, one.detail, one.name});
  return changes;
}

}  // namespace

std::tm local_time() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::tzset();  // the zone may have been set anew
  ::localtime_r(&now, &parts);
  return parts;
}

World real_world(Kernel& kernel) {
  World world{.kernel = kernel, .scan = {}, .busy = {}};
  world.directory = kernel.root.path();
  world.scan = [&kernel](const Policy& policy) { return scan_ports(kernel, policy); };
  world.busy = [&kernel](const Port& port) { return qos::has_user_queue_pairs(kernel, port); };
  world.read_only = !kernel.root.is_host();
  return world;
}

Keeper::Keeper(World world, Policy policy)
    : world_(std::move(world)),
      policy_(std::move(policy)),
      config_(confirm::digest(wanted_config(policy_))),
      drift_(policy_.conflict, policy_.reread) {
  remember_published();
}

void Keeper::set_config_error(std::string text) { config_error_ = std::move(text); }

std::vector<std::string> Keeper::rescan() {
  std::map<std::string, Port> found;
  for (Port& port : world_.scan(policy_)) {
    std::string id = port.id();
    found.emplace(std::move(id), std::move(port));
  }
  for (auto entry = ports_.begin(); entry != ports_.end();) {
    if (found.count(entry->first) != 0) {
      ++entry;
      continue;
    }
    const bool excluded = matches_any(policy_.exclude, entry->second.port.rdma);
    world_.log({message_id::port,
                LOG_NOTICE,
                entry->first + (excluded ? ": excluded; its settings stay as they are"
                                         : ": the port is gone; kept again when it comes back"),
                {{"FABRIC_PORT", entry->first}}});
    drift_.restart(entry->first);
    set_aside(entry->first, entry->second);
    entry = ports_.erase(entry);
  }
  std::vector<std::string> fresh;
  for (auto& [id, port] : found) {
    auto [entry, is_new] = ports_.try_emplace(id);
    Kept& kept = entry->second;
    const bool renamed = !is_new && kept.port.ifindex == port.ifindex && kept.port.netdev != port.netdev;
    const bool same = !is_new && !renamed && kept.port.ifindex == port.ifindex;
    // Another netdev is another device: what it shows is nobody's doing. A renamed one is still the same.
    if (is_new || kept.port.ifindex != port.ifindex) {
      drift_.restart(id);
      set_aside(id, kept);
      kept = taken_back(id, port);
      kept.fresh = known_.erase(id) == 0;
      kept.new_device = kept.fresh && memory_.count(id) != 0;
      kept.carrier = port.carrier;
      world_.log({message_id::port,
                  LOG_INFO,
                  id + ": found on " + (port.netdev.empty() ? "no netdev" : port.netdev) +
                      (port.left_alone.empty() ? "" : "; left alone: " + port.left_alone),
                  {{"FABRIC_PORT", id}}});
    }
    const PortPolicy* before = policy_for(policy_, kept.port);
    port.qos = std::move(kept.port.qos);
    if (!port.speed) port.speed = kept.port.speed;  // while the link is down it stays the port that it was
    kept.port = std::move(port);                    // speed and role are matched as well
    const bool other_entry = policy_for(policy_, kept.port) != before;
    if (other_entry) drift_.restart(id);  // what the one before wanted is no other writer's
    kept.renamed = kept.renamed || (renamed && before == nullptr);
    decide(id, kept);
    if (!same || other_entry) fresh.push_back(id);
  }
  return fresh;
}

qos::Options Keeper::options_for(const Kept& kept, const PortPolicy& entry, qos::Instant now) {
  qos::Options options;
  options.dry_run = policy_.mode == Mode::audit || !held_.empty();
  options.disruptive = policy_.disruptive;
  options.window_open = kept.fresh || window_is_open();
  options.only = qos::own_keys(kept.port);
  options.derived = entry.derived;
  options.busy = world_.busy;
  options.conflict = [this, id = kept.port.id(), now](const Port&, SettingId setting) {
    return drift_.held(id, key_text(setting), now);
  };
  options.save_original = [this](const Port& port, const Qos& before) { return save_original(port, before); };
  return options;
}

// Under the lock: `fabric-agentctl` writes the same file, so what is on disk counts.
Result<void> Keeper::save_original(const Port& port, const Qos& before) {
  auto originals = state::load_originals(world_.directory);
  if (!originals && originals.error().code == EBADMSG) {
    auto aside = state::set_originals_aside(world_.directory);
    if (!aside) return aside.error();
    trouble(originals.error().text() + "; kept as " + *aside + ", and begun anew with what stands now");
    originals = state::Originals{};
  }
  if (!originals) return originals.error();
  return state::save_original(world_.directory, *originals, port, before);
}

Result<Fd> Keeper::lock(qos::Instant now) {
  if (policy_.mode != Mode::enforce) return Fd();
  auto taken = state::take_lock(world_.directory);
  if (!taken) return locked_out(taken.error(), now);
  locked_out_since_.reset();
  refresh_hold();
  return taken;
}

Result<void> Keeper::keep(const std::string& id, qos::Instant now) {
  auto entry = ports_.find(id);
  if (entry == ports_.end()) return {};
  Kept& kept = entry->second;
  const PortPolicy* wanted = policy_for(policy_, kept.port);
  if (wanted == nullptr) return release(kept, now);
  // udev names what has just appeared; a later name is somebody's, and jobs may be on it.
  if (std::exchange(kept.renamed, false) && kept.unmatched && now - *kept.unmatched < kNaming) kept.fresh = true;
  auto locked = lock(now);
  if (!locked) return locked.error();
  Changes changes = qos::reconcile(world_.kernel, kept.port, wanted->want, options_for(kept, *wanted, now));
  const bool gone = device_is_gone(changes);
  // Twice, and it is still there: what was read before is stale. Once is a reset that may be over in a moment.
  if (gone && (!std::exchange(kept.gone, true) || !qos::is_there(world_.kernel, kept.port))) return error(ENODEV, id);
  kept.gone = gone;
  take_in(kept, std::move(changes), now);
  return gone ? Result<void>(error(ENODEV, id)) : Result<void>{};
}

Result<void> Keeper::keep_host(qos::Instant now) {
  auto locked = lock(now);
  if (!locked) return locked.error();
  qos::SysctlOptions options;
  options.dry_run = policy_.mode == Mode::audit || !held_.empty();
  options.conflict = [this, now](const std::string& name) { return drift_.held(kHost, name, now); };
  options.save_original = [this](const std::string& name, const std::string& before) -> Result<void> {
    auto originals = qos::load_sysctl_originals(world_.directory);
    return originals ? qos::save_sysctl_original(world_.directory, *originals, name, before) : originals.error();
  };
  take_in(host_, host_changes(qos::reconcile_sysctl(world_.kernel.root, policy_.sysctl, options)), now);
  return {};
}

// What a pass has found is compared with the pass before; then evidence begins anew.
void Keeper::take_in(Kept& kept, Changes changes, qos::Instant now) {
  Settings before;
  before.swap(kept.last);
  for (Change& change : changes) {
    if (auto old = before.find(change.key()); old != before.end()) kept.last.insert(*old);
    if (!held_.empty() && change.outcome == Outcome::differs) {
      change.outcome = Outcome::pending;
      change.detail = held_;
    }
    digest(kept, std::move(change), now);
  }
  kept.fresh = kept.new_device = kept.carrier_lost = false;
  kept.heard.clear();
}

// Another writer's moment is no news. A lock that stays taken (a stopped process) or cannot be opened is: nothing is
// kept.
Error Keeper::locked_out(Error failure, qos::Instant now) {
  if (!locked_out_since_) locked_out_since_ = now;
  if (failure.code != EWOULDBLOCK || now - *locked_out_since_ >= kLockPatience)
    trouble(failure.text() + "; no port is written until the lock can be taken");
  return failure;
}

void Keeper::digest(Kept& kept, Change change, qos::Instant now) {
  const auto drifted = note_drift(kept, change);
  // Of a device that does not answer nothing is known, and when it answers again nothing is to wait.
  auto news = change.code == ENODEV ? qos::Drift::News::nothing : drift_.observe(change, now);
  auto old = kept.last.find(change.key());
  const Change* before = old == kept.last.end() ? nullptr : &old->second;
  // Held because the driver refused it, not because of another writer: still refused.
  if (change.outcome == Outcome::conflict && !drift_.in_conflict(change.port, change.key()) && before != nullptr) {
    std::string from = std::move(change.from);
    change = *before;
    change.from = std::move(from);
  }
  using News = qos::Drift::News;
  if (auto entry = message_for(change, before, news, drifted)) world_.log(*entry);
  if (news == News::repaired || news == News::conflict) memory_[change.port].told[change.key()].last_repair = utc_now();
  if (news == News::conflict) {
    change.outcome = Outcome::conflict;
    change.detail = "changed back again and again by " + (drifted ? drifted->by : "an unknown writer");
  } else if (change.outcome == Outcome::conflict && before != nullptr && before->outcome == Outcome::conflict) {
    change.detail = before->detail;
  }
  std::string key = change.key();
  kept.last.insert_or_assign(std::move(key), std::move(change));
}

// It had been as wanted, and is found otherwise: when, from what to what, how often, and likely by whom.
std::optional<qos::Suspect> Keeper::note_drift(const Kept& kept, const Change& change) {
  auto& good = memory_[change.port].good;
  const auto stood = good.find(change.key());
  const bool off = change.from != change.to && change.from != "-" && change.outcome != Outcome::unsupported;
  std::optional<qos::Suspect> suspect;
  if (off && stood != good.end() && stood->second == change.to) {
    const qos::Told how = change.sysctl.empty() ? qos::told_by(change.setting) : qos::Told::nothing;
    const auto heard = kept.heard.find(how);
    qos::Evidence seen;
    seen.new_device = kept.new_device;
    seen.carrier_lost = kept.carrier_lost;
    seen.heard = heard != kept.heard.end();
    if (seen.heard) seen.writer = heard->second.writer;
    seen.firmware_dcbx = kept.port.qos.dcbx == Dcbx::firmware;
    if (!seen.new_device && seen.writer.empty())
      seen.daemon = qos::find_daemon(world_.kernel.root,
                                     change.sysctl.empty() && change.setting == SettingId::dcbx ? qos::Told::dcb : how);
    suspect = qos::judge(change.setting, seen);
    SettingState& told = memory_[change.port].told[change.key()];
    ++told.drifts[std::string(to_text(suspect->cause))];
    told.last_drift = utc_now();
    told.drift_from = change.to;
    told.drift_to = change.from;
    told.drift_by = suspect->by;
  }
  if (off && stood != good.end()) good.erase(stood);
  if (change.outcome == Outcome::in_sync || change.outcome == Outcome::applied) good[change.key()] = change.to;
  return suspect;
}

void Keeper::heard(const std::string& id, qos::Told how) {
  auto entry = ports_.find(id);
  if (entry == ports_.end() || policy_for(policy_, entry->second.port) == nullptr) return;
  Heard& heard = entry->second.heard[how];
  if (heard.any) return;  // a burst is one writer's
  heard.any = true;
  heard.writer = qos::find_writer(world_.kernel.root, how);
}

Keeper::LinkNews Keeper::link_changed(const rtnl::Link& link) {
  LinkNews news;
  for (const std::string& id : ports_on(link.ifindex, {})) {
    Kept& kept = ports_[id];
    news.rescan = news.rescan || kept.port.netdev != link.name;
    // Down and up within a second may be one message: the counter tells (net/core/link_watch.c).
    bool flapped = kept.carrier_downs && link.carrier_down_count && *kept.carrier_downs != *link.carrier_down_count;
    if (link.carrier == true && (kept.carrier == false || flapped)) news.carrier_up = true;
    if (flapped || link.carrier == false) kept.carrier_lost = true;
    kept.carrier = link.carrier;
    kept.carrier_downs = link.carrier_down_count;
  }
  news.speed = news.carrier_up && asks_for_speed(policy_);
  return news;
}

Result<void> Keeper::settle(const std::string& id) {
  auto entry = ports_.find(id);
  if (entry == ports_.end() || policy_.mode != Mode::enforce || !held_.empty()) return {};
  if (policy_for(policy_, entry->second.port) == nullptr) return {};
  auto lock = state::take_lock(world_.directory);
  if (!lock) return lock.error();
  return qos::settle(world_.kernel, entry->second.port);
}

}  // namespace fabric::agentd
