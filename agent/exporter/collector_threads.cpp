// SPDX-License-Identifier: Apache-2.0
#include "exporter/collector_threads.h"

#include <unistd.h>

#include <thread>
#include <utility>

#include "base/parse.h"

namespace fabric::exporter {
namespace {

using Shared = Collector::Shared;

// Why a reader goes to work: what seldom changes is due; or it was asked to look for that now.
struct Work {
  bool rescan = false, asked = false;
};

// Waits until there is something to do: asked, or the seldom things are due. False: end.
bool wait_for_work(Shared& shared, Slot& slot, Clock::time_point due, Work& work) {
  std::unique_lock lock(shared.mutex);
  auto asked = [&] { return shared.stop || slot.retired || slot.asked > slot.done; };
  slot.work.wait_until(lock, due, asked);
  if (shared.stop || slot.retired) return false;
  work = {slot.rescan || Clock::now() >= due, slot.rescan};
  slot.rescan = false;
  slot.done = slot.asked;
  slot.reading = true;
  slot.since = Clock::now();
  return true;
}

// What the parts are read about: has it changed?
bool changes(const DeviceReading& a, const DeviceReading& b) { return !are_same_subjects(a.ports, b.ports); }
bool changes(const HostReading& a, const HostReading& b) { return a.topology_read != b.topology_read; }
bool changes(const PartReading&, const PartReading&) { return false; }

// Was something read that seldom changes?
bool is_news(const DeviceReading& now, const DeviceReading& before) { return now.scans != before.scans; }
bool is_news(const HostReading& now, const HostReading& before) { return now.agent_acted || now.topology_read != before.topology_read; }
bool is_news(const PartReading&, const PartReading&) { return true; }

// Publishes what was read; the last one to be waited for wakes the main thread.
template <class SlotType, class Reading>
void publish(Shared& shared, SlotType& slot, Reading reading) {
  std::lock_guard lock(shared.mutex);
  if (changes(reading, slot.reading_shown)) shared.ask_parts();
  if (is_news(reading, slot.reading_shown)) ++shared.news;
  slot.reading_shown = std::move(reading);
  slot.reading = false;
  slot.taken = Clock::now();
  ++shared.version;
  if (!shared.reads_devices()) shared.wake_parts();
  if (shared.busy()) return;
  uint64_t one = 1;
  // Full only when 2^64-1 wake-ups are unread.
  [[maybe_unused]] auto written = ::write(shared.wake.get(), &one, sizeof one);
}

void device_thread(const std::shared_ptr<Shared>& shared, const std::shared_ptr<DeviceSlot>& slot, const std::string& name) {
  DeviceReader reader(shared->options.root, name, shared->options.policy, shared->options.open);
  Clock::time_point due{};
  Work work;
  while (wait_for_work(*shared, *slot, due, work)) {
    if (work.rescan) {
      std::vector<std::string> others;
      {
        std::lock_guard lock(shared->mutex);
        for (const auto& [other, unused] : shared->devices)
          if (other != name) others.push_back(other);
      }
      reader.rescan(std::move(others));
      due = Clock::now() + shared->options.reread;
    }
    publish(*shared, *slot, reader.read());
  }
}

void start_device(const std::shared_ptr<Shared>& shared, const std::string& name) {
  auto slot = std::make_shared<DeviceSlot>();
  slot->asked = shared->host->asked;
  slot->done = slot->asked - 1;
  shared->devices.emplace(name, slot);
  std::thread(device_thread, shared, slot, name).detach();
}

// Starts and retires device threads so that there is one for each of `names`.
void follow_devices(const std::shared_ptr<Shared>& shared, const std::vector<std::string>& names) {
  std::lock_guard lock(shared->mutex);
  for (auto slot = shared->devices.begin(); slot != shared->devices.end();) {
    bool gone = std::find(names.begin(), names.end(), slot->first) == names.end();
    slot->second->retired = gone;
    if (gone) slot->second->work.notify_one();
    slot = gone ? shared->devices.erase(slot) : std::next(slot);
  }
  if (shared->stop) return;
  for (const std::string& name : names)
    if (shared->devices.find(name) == shared->devices.end()) start_device(shared, name);
}

bool is_excluded(const std::string& name, const std::vector<std::string>& globs) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, name); });
}

// Each costs a thread; what is beyond is mostly functions for guests. How many were left out.
size_t leave_out(std::vector<std::string>& names) {
  if (names.size() <= kMostDevices) return 0;
  std::sort(names.begin(), names.end(), natural_less);
  const size_t left = names.size() - kMostDevices;
  names.resize(kMostDevices);
  return left;
}

CollectorRun too_many(size_t left_out) {
  return {"devices", "", false, 0, std::to_string(left_out) + " RDMA devices beyond the first 128 are not read: [exporter] exclude those of guests"};
}

void host_thread(const std::shared_ptr<Shared>& shared) {
  HostReader reader(shared->options.root, shared->options.topology);
  Clock::time_point due{};
  Work work;
  size_t left_out = 0;
  while (wait_for_work(*shared, *shared->host, due, work)) {
    auto names = work.rescan ? reader.devices() : std::vector<std::string>{};
    if (shared->options.policy)
      std::erase_if(names, [&](const std::string& name) { return is_excluded(name, shared->options.policy->exclude); });
    if (work.rescan) {
      left_out = leave_out(names);
      follow_devices(shared, names);
      due = Clock::now() + shared->options.reread;
    }
    HostReading reading = reader.read(work.rescan ? &names : nullptr, work.asked);
    if (left_out > 0) reading.runs.push_back(too_many(left_out));
    bool agent_acted = reading.agent_acted;
    publish(*shared, *shared->host, std::move(reading));
    if (agent_acted) rescan_devices(*shared);
  }
}

// Until it is due or what it reads about is another, and all devices have been read that do not hang: at the start, and
// when many come or go, it is read once. False: end.
bool wait_for_part(Shared& shared, PartSlot& slot, Clock::time_point due) {
  std::unique_lock lock(shared.mutex);
  while (!shared.stop) {
    slot.waits = slot.asked > slot.done || Clock::now() >= due;
    if (slot.waits && !shared.reads_devices()) break;
    slot.work.wait_until(lock, slot.waits ? Clock::now() + shared.options.stuck : due);
  }
  slot.waits = false;
  slot.reading = true;
  slot.since = Clock::now();
  return !shared.stop;
}

Node known_of(const Shared& shared) {
  Node out;
  out.topology = shared.host->reading_shown.node.topology;
  for (const auto& [name, slot] : shared.devices)
    for (const Port& port : slot->reading_shown.ports) {
      out.ports.push_back(port);
      out.ports.back().counters = {};
    }
  return out;
}

void part_thread(const std::shared_ptr<Shared>& shared, const std::shared_ptr<PartSlot>& slot) {
  auto due = Clock::time_point::max();
  while (wait_for_part(*shared, *slot, due)) {
    std::unique_lock lock(shared->mutex);
    const uint64_t asked = slot->asked;
    Node known = known_of(*shared);
    lock.unlock();
    PartReading reading = read_part(slot->part, shared->options.root, std::move(known));
    due = Clock::now() + shared->options.*slot->part.every;
    lock.lock();
    slot->done = asked;
    lock.unlock();
    publish(*shared, *slot, std::move(reading));
  }
}

}  // namespace

void rescan_devices(Collector::Shared& shared) {
  std::lock_guard lock(shared.mutex);
  for (auto& [name, slot] : shared.devices) {
    slot->rescan = true;
    ++slot->asked;
    slot->work.notify_one();
  }
}

void start_threads(const std::shared_ptr<Collector::Shared>& shared) {
  for (const Part& part : shared->options.parts != nullptr ? *shared->options.parts : parts()) shared->parts.push_back(std::make_shared<PartSlot>(part));
  for (const auto& slot : shared->parts) std::thread(part_thread, shared, slot).detach();
  std::thread(host_thread, shared).detach();
}

}  // namespace fabric::exporter
