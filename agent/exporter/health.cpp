// SPDX-License-Identifier: Apache-2.0
#include "exporter/health.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "check/health.h"
#include "config/acks.h"
#include "config/health_state.h"
#include "counter/signals.h"
#include "qos/files.h"

namespace fabric::exporter {
namespace {

double seconds(Clock::duration span) { return std::chrono::duration<double>(span).count(); }

// Two readings of the ports that have been read anew.
struct Two {
  Node before, now;
  std::map<std::string, Signals> signals;
};

}  // namespace

Moment moment_now() {
  timespec boot{};
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  return {static_cast<double>(boot.tv_sec) + static_cast<double>(boot.tv_nsec) * 1e-9, static_cast<int64_t>(std::time(nullptr))};
}

Result<void> HealthKeeper::load() {
  if (directory_.empty()) return {};
  auto root = Root::open(directory_);
  if (!root) return root.error();
  auto text = root->read(kHealthName);
  if (!text && text.error().code == ENOENT) return {};
  if (!text) return text.error();
  auto memory = parse_health(*text, directory_ + "/" + kHealthName);
  if (!memory) return memory.error();
  memory_ = std::move(*memory);
  memory_.health.alone = true;
  return {};
}

void HealthKeeper::advance(const Snapshot& snapshot, const Policy* policy, Moment now) {
  Two two;
  two.now.taken = snapshot.node.taken;
  two.before.taken = taken_;
  two.now.topology = snapshot.node.topology;
  two.now.platform = snapshot.node.platform;
  two.before.platform = std::exchange(platform_, snapshot.node.platform);
  memory_.health.ages.clear();
  for (const DeviceAge& age : snapshot.ages) {
    std::vector<Port> ports;
    std::copy_if(snapshot.node.ports.begin(), snapshot.node.ports.end(), std::back_inserter(ports), [&](const Port& port) { return port.rdma == age.device; });
    for (const Port& port : ports)
      if (!port.is_member()) memory_.health.ages[port.id()] = seconds(snapshot.node.taken - age.taken);
    Reading& had = before_[age.device];
    if (had.taken == age.taken) continue;
    two.now.ports.insert(two.now.ports.end(), ports.begin(), ports.end());
    for (const Port& old : had.ports)
      for (const Port& port : ports)
        if (port.id() == old.id()) two.signals[port.id()] = signals_of(old, port, seconds(age.taken - had.taken));
    two.before.ports.insert(two.before.ports.end(), std::make_move_iterator(had.ports.begin()), std::make_move_iterator(had.ports.end()));
    had = {age.taken, std::move(ports)};
  }
  std::erase_if(before_, [&](const auto& entry) {
    return std::none_of(snapshot.ages.begin(), snapshot.ages.end(), [&](const DeviceAge& age) { return age.device == entry.first; });
  });
  const View view{.now = two.now,
                  .before = taken_ == Clock::time_point{} ? nullptr : &two.before,
                  .policy = policy,
                  .plan = nullptr,
                  .signals = &two.signals,
                  .health = &memory_.health,
                  .no_policy = {}};
  advance_health(memory_.health, view, now.boot, now.wall);
  taken_ = snapshot.node.taken;
}

Result<void> HealthKeeper::read_acks() {
  auto root = Root::open(root_);
  if (!root) return root.error();
  auto acks = load_acks(*root);
  if (!acks) return acks.error();
  acks_ = std::move(*acks);
  return {};
}

Result<void> HealthKeeper::save() {
  if (directory_.empty()) return {};
  auto saved = replace_file(directory_, kHealthName, health_toml(memory_));
  if (!saved) return error(saved.error().code, directory_ + saved.error().what);  // it is told as seen from there
  return saved;
}

Result<void> HealthKeeper::take(const Snapshot& snapshot, const Policy* policy, Moment now) {
  advance(snapshot, policy, now);
  auto read = read_acks();
  const View view{.now = snapshot.node, .policy = policy, .plan = &snapshot.plan, .health = &memory_.health, .no_policy = {}};
  if (!acks_.empty()) follow_acks(memory_.acks, acks_, run_checks(view), now.wall);
  else memory_.acks.clear();
  auto saved = save();
  const Error* failed = !read ? &read.error() : !saved ? &saved.error() : nullptr;
  const std::string said = failed == nullptr ? std::string() : failed->text();
  if (std::exchange(said_, said) == said || failed == nullptr) return {};
  return *failed;
}

}  // namespace fabric::exporter
