// SPDX-License-Identifier: Apache-2.0
#include "agentd/keeper.h"

#include <algorithm>
#include <ctime>

#include "agentd/messages.h"
#include "qos/busy.h"
#include "qos/state.h"
#include "scan/scan.h"

namespace fabric::agentd {
namespace {

constexpr std::chrono::seconds kLockPatience{10};

std::string utc_now() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, length};
}

std::vector<Port> scan_ports(Kernel& kernel, const Policy& policy) {
  return scan(kernel, {.topology = false, .settings = false, .counters = false, .gids = false, .verbs = false, .exclude = policy.exclude}).ports;
}

bool device_is_gone(const Changes& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const Change& change) { return change.code == ENODEV; });
}

}  // namespace

World real_world(Kernel& kernel) {
  World world{.kernel = kernel, .scan = {}, .busy = {}};
  world.directory = kernel.root.path();
  world.scan = [&kernel](const Policy& policy) { return scan_ports(kernel, policy); };
  world.busy = [&kernel](const Port& port) { return qos::has_user_queue_pairs(kernel, port); };
  world.read_only = !kernel.root.is_host();
  return world;
}

Keeper::Keeper(World world, Policy policy)
    : world_(std::move(world)), policy_(std::move(policy)), drift_(policy_.conflict, policy_.reread) {}

void Keeper::set_policy(Policy policy) {
  policy_ = std::move(policy);
  config_error_.clear();
  drift_.clear(policy_.conflict, policy_.reread);
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
    world_.log({message_id::port, LOG_NOTICE, entry->first + ": the port is gone; kept again when it comes back",
                {{"FABRIC_PORT", entry->first}}});
    drift_.restart(entry->first);
    entry = ports_.erase(entry);
  }
  std::vector<std::string> fresh;
  for (auto& [id, port] : found) {
    auto [entry, is_new] = ports_.try_emplace(id);
    Port& known = entry->second.port;
    if (!is_new && known.ifindex == port.ifindex && known.netdev == port.netdev) continue;
    // Another netdev is another device: what it shows is nobody's doing. A renamed one is still the same.
    if (is_new || known.ifindex != port.ifindex) {
      drift_.restart(id);
      entry->second = Kept{};
      world_.log({message_id::port, LOG_INFO, id + ": found on " + (port.netdev.empty() ? "no netdev" : port.netdev), {{"FABRIC_PORT", id}}});
    }
    entry->second.port = std::move(port);
    fresh.push_back(id);
  }
  return fresh;
}

qos::Options Keeper::options_for(const Kept& kept, qos::Instant now) {
  qos::Options options;
  options.dry_run = policy_.mode == Mode::audit;
  options.disruptive = policy_.disruptive;
  options.busy = world_.busy;
  options.conflict = [this, id = kept.port.id(), now](const Port&, std::string_view key) { return drift_.held(id, key, now); };
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

Result<void> Keeper::keep(const std::string& id, qos::Instant now) {
  auto entry = ports_.find(id);
  if (entry == ports_.end()) return {};
  Kept& kept = entry->second;
  const PortPolicy* wanted = policy_for(policy_, kept.port);
  if (wanted == nullptr) {
    kept.last.clear();
    return {};
  }
  Fd lock;
  if (policy_.mode == Mode::enforce) {
    auto taken = state::take_lock(world_.directory);
    if (!taken) return locked_out(taken.error(), now);
    locked_out_since_.reset();
    lock = std::move(*taken);
  }
  Changes changes = qos::reconcile(world_.kernel, kept.port, wanted->want, options_for(kept, now));
  if (device_is_gone(changes)) return error(ENODEV, id);
  std::map<std::string, Change, std::less<>> before;
  before.swap(kept.last);
  for (Change& change : changes) {
    if (auto old = before.find(change.key); old != before.end()) kept.last.insert(*old);
    digest(kept, std::move(change), now);
  }
  return {};
}

// Another writer's moment is no news. A lock that stays taken (a stopped process) or cannot be opened is: nothing is kept.
Error Keeper::locked_out(Error failure, qos::Instant now) {
  if (!locked_out_since_) locked_out_since_ = now;
  if (failure.code != EWOULDBLOCK || now - *locked_out_since_ >= kLockPatience)
    trouble(failure.text() + "; no port is written until the lock can be taken");
  return failure;
}

void Keeper::digest(Kept& kept, Change change, qos::Instant now) {
  auto news = drift_.observe(change, now);
  auto old = kept.last.find(change.key);
  const Change* before = old == kept.last.end() ? nullptr : &old->second;
  // Held because the driver refused it, not because of another writer: still refused.
  if (change.outcome == Outcome::conflict && !drift_.in_conflict(change.port, change.key) && before != nullptr) {
    std::string from = std::move(change.from);
    change = *before;
    change.from = std::move(from);
  }
  using News = qos::Drift::News;
  std::string who;
  if (news == News::repaired || news == News::conflict) who = suspect(world_.kernel.root, kept.port.qos, change.key);
  if (auto entry = message_for(change, before, news, who)) world_.log(*entry);
  if (news == News::repaired || news == News::conflict) kept.repaired_at[change.key] = utc_now();
  if (news == News::conflict) {
    change.outcome = Outcome::conflict;
    change.detail = "changed back again and again by " + (who.empty() ? "an unknown writer" : who);
  } else if (change.outcome == Outcome::conflict && before != nullptr && before->outcome == Outcome::conflict) {
    change.detail = before->detail;
  }
  std::string key = change.key;
  kept.last.insert_or_assign(std::move(key), std::move(change));
}

std::vector<std::string> Keeper::ports_on(int ifindex, const std::string& netdev) const {
  std::vector<std::string> found;
  for (const auto& [id, kept] : ports_)
    if (ifindex != 0 ? kept.port.ifindex == ifindex : !netdev.empty() && kept.port.netdev == netdev) found.push_back(id);
  return found;
}

Keeper::LinkNews Keeper::link_changed(const rtnl::Link& link) {
  LinkNews news;
  for (const std::string& id : ports_on(link.ifindex, {})) {
    Kept& kept = ports_[id];
    news.rescan = news.rescan || kept.port.netdev != link.name;
    // Down and up within a second may be one message: the counter tells (net/core/link_watch.c).
    bool flapped = kept.carrier_downs && link.carrier_down_count && *kept.carrier_downs != *link.carrier_down_count;
    if (link.carrier == true && (kept.carrier == false || flapped)) news.carrier_up = true;
    kept.carrier = link.carrier;
    kept.carrier_downs = link.carrier_down_count;
  }
  return news;
}

Result<void> Keeper::settle(const std::string& id) {
  auto entry = ports_.find(id);
  if (entry == ports_.end() || policy_.mode != Mode::enforce) return {};
  if (policy_for(policy_, entry->second.port) == nullptr) return {};
  auto lock = state::take_lock(world_.directory);
  if (!lock) return lock.error();
  return qos::settle(world_.kernel, entry->second.port);
}

std::vector<std::string> Keeper::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, kept] : ports_) all.push_back(id);
  return all;
}

bool Keeper::waits_for_idle(const std::string& id) const {
  auto entry = ports_.find(id);
  return entry != ports_.end() && policy_.mode == Mode::enforce && policy_.disruptive == Disruptive::idle &&
         std::any_of(entry->second.last.begin(), entry->second.last.end(),
                     [](const auto& each) { return each.second.outcome == Outcome::pending; });
}

bool Keeper::is_idle(const std::string& id) const {
  auto entry = ports_.find(id);
  return entry == ports_.end() || !world_.busy(entry->second.port);
}

void Keeper::trouble(const std::string& what) {
  if (what == last_trouble_) return;
  last_trouble_ = what;
  world_.log({message_id::trouble, LOG_ERR, what, {}});
}

AgentState Keeper::state() const {
  AgentState state;
  state.running = true;
  state.mode = to_text(policy_.mode);
  state.updated = utc_now();
  state.config_error = config_error_;
  for (const auto& [id, kept] : ports_) {
    if (policy_for(policy_, kept.port) == nullptr) continue;
    auto& settings = state.ports[id];
    for (const auto& [key, change] : kept.last) {
      auto at = kept.repaired_at.find(key);
      settings[key] = {std::string(to_text(change.outcome)), change.detail, drift_.repairs(id, key),
                       at == kept.repaired_at.end() ? "" : at->second};
    }
  }
  return state;
}

void Keeper::publish() {
  if (world_.read_only) return;
  AgentState now = state();
  AgentState same = now;
  same.updated = published_.updated;
  if (same == published_) return;  // a writer that fights us must not make us write files all day
  if (auto saved = state::save_agent_state(world_.directory, now); !saved)
    return trouble(saved.error().text() + "; the ports are kept all the same, tried again with the next change");
  published_ = std::move(now);
}

}  // namespace fabric::agentd
