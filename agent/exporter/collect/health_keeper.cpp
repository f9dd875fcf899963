// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/health_keeper.h"

#include "base/clock.h"
#include "base/files.h"
#include "judge/engine.h"
#include "judge/health_state.h"
#include "node/signals.h"
#include "topology/built.h"

namespace fabric::exporter {
namespace {

constexpr double kLongestPace = 60;  // in a longer gap between two updates, no exporter was running
constexpr int64_t kSlack = 2;        // the two clocks round differently
// A source that failed is read again after ten seconds, and health is updated every ten.
constexpr std::chrono::seconds kPatience{35};

// True if counters of the previous reading are missing, because a source failed.
bool is_partial(const std::vector<Port>& before, const std::vector<Port>& now) {
  for (const Port& port : now)
    for (const Port& old : before) {
      if (old.id() != port.id() || old.ifindex != port.ifindex) continue;
      const PortCounters &had = old.counters, &has = port.counters;
      if (has.hw.size() < had.hw.size() || has.pma.size() < had.pma.size() || has.ethtool.size() < had.ethtool.size() ||
          (had.carrier_down && !has.carrier_down))
        return true;
    }
  return false;
}

// nullopt: the directory is empty, or the file does not exist.
Result<std::optional<HealthMemory>> load_memory(const std::string& directory, const char* name) {
  if (directory.empty()) return std::optional<HealthMemory>();
  auto root = Root::open(directory);
  if (!root) return root.error();
  return parse_file(root->read_foreign(name), (directory + "/" + name).substr(1), parse_health);
}

Result<void> save_memory(const std::string& directory, const char* name, const HealthMemory& memory) {
  if (directory.empty()) return {};
  auto saved = replace_file(directory, name, health_text(memory));
  if (!saved) return error(saved.error().code, directory + saved.error().what);  // `what` lacks the directory
  return saved;
}

}  // namespace

// Findings do not survive a reboot. Acknowledgements of findings that have ended survive it: they do not cover a new
// finding.
Result<void> HealthKeeper::load() {
  auto spent = load_memory(lasting_, kSpentName);
  if (spent && *spent) memory_.acks = spent_ = std::move((*spent)->acks);
  auto states = load_memory(directory_, kHealthName);
  if (states && *states) memory_ = std::move(**states);
  memory_.health.states_only = true;
  if (!states) return states.error();
  if (!spent) return spent.error();
  return {};
}

Result<void> HealthKeeper::save_spent() {
  HealthMemory spent;
  std::ranges::copy_if(memory_.acks, std::back_inserter(spent.acks), [](const AckSeen& ack) { return ack.spent; });
  for (AckSeen& ack : spent.acks) ack.met = 0;  // no longer needed
  if (spent.acks == spent_) return {};
  auto saved = save_memory(lasting_, kSpentName, spent);
  if (saved) spent_ = std::move(spent.acks);
  return saved;
}

void HealthKeeper::advance(const Snapshot& snapshot, const Policy* policy, Moment now) {
  Node before, newest;  // the readings of the ports that have been read since the last update
  std::map<std::string, Signals> signals;
  newest.taken = snapshot.node.taken;
  before.taken = taken_;
  newest.topology = snapshot.node.topology;
  newest.platform = snapshot.node.platform;
  before.platform = std::exchange(platform_, snapshot.node.platform);
  memory_.health.ages.clear();
  for (const DeviceAge& age : snapshot.ages) {
    std::vector<Port> ports;
    std::ranges::copy_if(snapshot.node.ports, std::back_inserter(ports),
                         [&](const Port& port) { return port.rdma == age.device; });
    for (const Port& port : ports)
      if (!port.is_member()) memory_.health.ages[port.id()] = in_seconds(snapshot.node.taken - age.taken);
    EarlierPorts& had = before_[age.device];
    if (had.taken == age.taken) continue;
    // The window is not advanced: the events counted during the failure belong to the next one.
    if (is_partial(had.ports, ports) && age.taken - had.taken < kPatience) continue;
    newest.ports.insert(newest.ports.end(), ports.begin(), ports.end());
    for (const Port& old : had.ports)
      for (const Port& port : ports)
        if (is_same_port(port, old)) signals[port.id()] = signals_of(old, port, in_seconds(age.taken - had.taken));
    before.ports.insert(before.ports.end(), std::make_move_iterator(had.ports.begin()),
                        std::make_move_iterator(had.ports.end()));
    had = {age.taken, std::move(ports)};
  }
  for (const CollectorRun& run : snapshot.runs)  // a device that hangs from the start has no ports
    if (run.is_of_hanging_device() && !contains(snapshot.ages, run.device, &DeviceAge::device))
      memory_.health.ages[run.device] = run.seconds;
  // A device that had no ports answers now, or is gone: the finding about its name alone is over.
  if (auto* stale = find_in(memory_.health.rules, "stale_readings"))
    std::erase_if(*stale, [&](const auto& state) {
      return state.first.find('/') == std::string::npos && !memory_.health.ages.contains(state.first);
    });
  std::erase_if(before_, [&](const auto& had) { return !contains(snapshot.ages, had.first, &DeviceAge::device); });
  View view{
      .now = newest,
      .before = &before,
      .policy = policy,
      .plan = nullptr,
      .signals = &signals,
      .health = &memory_.health,
      .built = std::make_shared<const Built>(built_of(snapshot.node)),  // of all ports, also those without a reading
      .no_policy = {}};
  if (taken_ == Clock::time_point{}) view.before = nullptr;  // the first update
  advance_health(memory_.health, view, now.boot, now.wall);
  taken_ = snapshot.node.taken;
}

Result<void> HealthKeeper::update(const Snapshot& snapshot, const Policy* policy, Moment now,
                                  const std::function<const Report*()>& judge) {
  // The time without a finding counts only while an exporter is running: it stops while none is running, and when the
  // clock is set.
  const auto watched = static_cast<int64_t>(std::clamp(now.boot - memory_.health.now, 0.0, kLongestPace));
  int64_t unwatched = 0;
  if (memory_.health.wall != 0) unwatched = now.wall - memory_.health.wall - watched;
  if (std::abs(unwatched) <= kSlack) unwatched = 0;
  for (AckSeen& ack : memory_.acks) ack.met = std::min(ack.met + unwatched, now.wall);

  const bool gap = now.boot - memory_.health.now > kLongestPace;
  advance(snapshot, policy, now);
  follow_history(memory_.history, memory_.health, gap);
  std::optional<Error> failed;
  auto root = Root::open(root_);
  if (!root) {
    failed = root.error();
  } else if (auto read = load_acks(*root)) {
    acks_ = std::move(*read);
  } else {
    failed = read.error();
  }
  const Report* report = judge();
  if (!acks_.empty() && report != nullptr) follow_acks(memory_.acks, acks_, *report, now.wall);
  else if (acks_.empty() && !failed) memory_.acks.clear();
  auto saved = save_memory(directory_, kHealthName, memory_);
  if (saved) saved = save_spent();
  if (!saved && !failed) failed = saved.error();
  std::string text;
  if (failed) text = failed->text();
  if (std::exchange(reported_, text) == text || !failed) return {};
  return *failed;
}

}  // namespace fabric::exporter
