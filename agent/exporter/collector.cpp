// SPDX-License-Identifier: Apache-2.0
#include "exporter/collector.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/fd.h"
#include "base/parse.h"
#include "exporter/device_reader.h"
#include "exporter/host_reader.h"

namespace fabric::exporter {

// One reader as the others see it. `asked` and `done` count requests.
struct Slot {
  uint64_t asked = 1, done = 0;
  bool rescan = false, retired = false;
  bool reading = false;
  Clock::time_point since{};  // when the reading under way began
  Clock::time_point taken{};
};
struct DeviceSlot : Slot {
  DeviceReading reading_shown;
};
struct HostSlot : Slot {
  HostReading reading_shown;
};

struct Collector::Shared {
  CollectorOptions options;
  Fd wake;
  mutable std::mutex mutex;
  std::condition_variable work;
  bool stop = false;
  uint64_t version = 0;
  std::shared_ptr<HostSlot> host = std::make_shared<HostSlot>();
  std::map<std::string, std::shared_ptr<DeviceSlot>> devices;

  void each(const auto& with) const {
    with(*host);
    for (const auto& [name, slot] : devices) with(*slot);
  }
  [[nodiscard]] bool hangs(const Slot& slot) const { return slot.reading && Clock::now() - slot.since > options.stuck; }
  [[nodiscard]] bool busy() const {
    bool any = false;
    each([&](const Slot& slot) { any = any || ((slot.reading || slot.asked > slot.done) && !hangs(slot)); });
    return any;
  }
};

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
  shared.work.wait_until(lock, due, asked);
  if (shared.stop || slot.retired) return false;
  work = {slot.rescan || Clock::now() >= due, slot.rescan};
  slot.rescan = false;
  slot.done = slot.asked;
  slot.reading = true;
  slot.since = Clock::now();
  return true;
}

// Publishes what was read; the last one to be waited for wakes the main thread.
template <class SlotType, class Reading>
void publish(Shared& shared, SlotType& slot, Reading reading) {
  std::lock_guard lock(shared.mutex);
  slot.reading_shown = std::move(reading);
  slot.reading = false;
  slot.taken = Clock::now();
  ++shared.version;
  if (shared.busy()) return;
  uint64_t one = 1;
  // Full only when 2^64-1 wake-ups are unread.
  [[maybe_unused]] auto written = ::write(shared.wake.get(), &one, sizeof one);
}

void device_thread(const std::shared_ptr<Shared>& shared, const std::shared_ptr<DeviceSlot>& slot, const std::string& name) {
  DeviceReader reader(shared->options.root, name, shared->options.policy);
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
    slot = gone ? shared->devices.erase(slot) : std::next(slot);
  }
  if (shared->stop) return;
  for (const std::string& name : names)
    if (shared->devices.find(name) == shared->devices.end()) start_device(shared, name);
  shared->work.notify_all();
}

bool is_excluded(const std::string& name, const std::vector<std::string>& globs) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, name); });
}

void rescan_devices(Shared& shared) {
  std::lock_guard lock(shared.mutex);
  for (auto& [name, slot] : shared.devices) {
    slot->rescan = true;
    ++slot->asked;
  }
  shared.work.notify_all();
}

void host_thread(const std::shared_ptr<Shared>& shared) {
  HostReader reader(shared->options.root, shared->options.topology);
  Clock::time_point due{};
  Work work;
  while (wait_for_work(*shared, *shared->host, due, work)) {
    auto names = work.rescan ? reader.devices() : std::vector<std::string>{};
    if (shared->options.policy)
      std::erase_if(names, [&](const std::string& name) { return is_excluded(name, shared->options.policy->exclude); });
    if (work.rescan) {
      follow_devices(shared, names);
      due = Clock::now() + shared->options.reread;
    }
    HostReading reading = reader.read(work.rescan ? &names : nullptr, work.asked);
    bool agent_acted = reading.agent_acted;
    publish(*shared, *shared->host, std::move(reading));
    if (agent_acted) rescan_devices(*shared);
  }
}

}  // namespace

Collector::Collector(CollectorOptions options, int wake) : shared_(std::make_shared<Shared>()) {
  shared_->options = std::move(options);
  shared_->wake = Fd(::dup(wake));
  shared_->host->reading = true;
  shared_->host->since = Clock::now();
  std::thread(host_thread, shared_).detach();
}

Collector::~Collector() {
  std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->work.notify_all();
}

void Collector::refresh() {
  std::lock_guard lock(shared_->mutex);
  uint64_t request = shared_->host->asked + 1;
  shared_->each([&](Slot& slot) {
    if (!slot.reading) slot.asked = request;
  });
  shared_->work.notify_all();
}

void Collector::rescan() {
  rescan_devices(*shared_);
  std::lock_guard lock(shared_->mutex);
  shared_->host->rescan = true;
  ++shared_->host->asked;
  shared_->work.notify_all();
}

bool Collector::fresh(std::chrono::milliseconds age) const {
  std::lock_guard lock(shared_->mutex);
  bool all = true;
  auto oldest = Clock::now() - age;
  shared_->each([&](const Slot& slot) { all = all && (shared_->hangs(slot) || slot.taken >= oldest); });
  return all;
}

bool Collector::busy() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->busy();
}

bool Collector::complete() const {
  std::lock_guard lock(shared_->mutex);
  bool all = true;
  shared_->each([&](const Slot& slot) { all = all && (slot.taken != Clock::time_point{} || shared_->hangs(slot)); });
  return all;
}

uint64_t Collector::version() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->version;
}

Snapshot Collector::snapshot() const {
  std::lock_guard lock(shared_->mutex);
  Snapshot out{shared_->host->reading_shown.node, {}, shared_->host->reading_shown.runs, {}};
  out.node.taken = Clock::now();
  out.node.ports.clear();
  for (const auto& [name, slot] : shared_->devices) {
    const DeviceReading& shown = slot->reading_shown;
    out.node.ports.insert(out.node.ports.end(), shown.ports.begin(), shown.ports.end());
    out.plan.insert(shown.plan.begin(), shown.plan.end());
    out.runs.insert(out.runs.end(), shown.runs.begin(), shown.runs.end());
    if (slot->taken != Clock::time_point{}) out.ages.push_back({name, slot->taken});
    if (shared_->hangs(*slot)) out.runs.push_back({"reader", name, false, std::chrono::duration<double>(Clock::now() - slot->since).count(), "hangs"});
  }
  std::stable_sort(out.node.ports.begin(), out.node.ports.end(),
                   [](const Port& a, const Port& b) { return natural_less(a.rdma, b.rdma); });
  return out;
}

}  // namespace fabric::exporter
