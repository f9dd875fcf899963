// SPDX-License-Identifier: Apache-2.0
// What the collector's threads share: readers, and a crew that lets them read. For collector.cpp alone.
//
// To wake a thread costs more than to read a quick device, so one worker reads one after the other; where all are
// quick, that is the thread that asked (read_here()). When it takes longer than kPatience, or what is read is known to
// take long, another one helps: what hangs keeps its own worker and nobody else.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "exporter/collect/collector.h"
#include "exporter/collect/device_reader.h"
#include "exporter/collect/host_reader.h"
#include "exporter/collect/parts.h"

namespace fabric::exporter {

// Why a reader goes to work: what seldom changes is due; or it was asked to look for that now.
struct Work {
  bool rescan = false, asked = false;
};

// One reader as the others see it. `asked`, `begun` and `done` count requests. While `reading`, one worker has it for
// its own but for what is shown; all else is read and written under the mutex.
struct Slot {
  virtual ~Slot() = default;
  // Without the mutex: reads, and publishes what was read.
  virtual void read(const std::shared_ptr<Collector::Shared>& shared, Work work) = 0;

  uint64_t asked = 1, begun = 0, done = 0;
  bool rescan = false;
  bool reading = false;
  Clock::time_point since{};  // when the reading under way began
  Clock::duration took{};     // the last one of what changes all the time
  Clock::time_point taken{};
  Clock::time_point due{};  // when what seldom changes is to be read again
};

struct DeviceSlot final : Slot {
  DeviceSlot(const CollectorOptions& options, const std::string& device)
      : name(device), reader(options.root, device, options.policy, options.open) {}
  void read(const std::shared_ptr<Collector::Shared>& shared, Work work) override;
  const std::string name;
  DeviceReader reader;
  DeviceReading shown;
};

struct HostSlot final : Slot {
  explicit HostSlot(const CollectorOptions& options) : reader(options.root, options.topology) {}
  void read(const std::shared_ptr<Collector::Shared>& shared, Work work) override;
  HostReader reader;
  size_t left_out = 0;  // devices beyond kMostDevices
  HostReading shown;
};

// Nobody asks it for a page: `asked` counts changes of what it reads about, `done` those that its reading knew of.
struct PartSlot final : Slot {
  explicit PartSlot(const Part& which) : part(which) {
    asked = 0;
    due = Clock::time_point::max();
  }
  void read(const std::shared_ptr<Collector::Shared>& shared, Work work) override;
  const Part part;
  PartReading shown;
};

struct Collector::Shared {
  explicit Shared(CollectorOptions how) : options(std::move(how)), host(std::make_shared<HostSlot>(options)) {}

  const CollectorOptions options;
  Fd wake;
  mutable std::mutex mutex;
  bool stop = false;
  std::string broken;              // why there is no crew
  uint64_t version = 0, news = 0;  // Collector::version(), Snapshot::news
  std::shared_ptr<HostSlot> host;
  std::map<std::string, std::shared_ptr<DeviceSlot>> devices;
  std::vector<std::shared_ptr<PartSlot>> parts;

  // The crew: at most one worker waits for work, and `called` is for it.
  std::condition_variable work;
  bool idle = false, called = false;
  Fd timer;                                              // for when work has waited for too long or is due
  Clock::time_point expires = Clock::time_point::max();  // the timer; max: it does not

  uint64_t here = 0, times_here = 0;  // the read_here() that is under way and not overdue; 0: there is none
  Clock::time_point here_since{};

  void each(const auto& with) const {
    with(*host);
    for (const auto& [name, slot] : devices) with(*slot);
  }
  [[nodiscard]] bool hangs(const Slot& slot) const { return slot.reading && Clock::now() - slot.since > options.stuck; }
  [[nodiscard]] bool reads_devices() const {
    bool any = false;
    each([&](const Slot& slot) { any = any || ((slot.reading || slot.asked > slot.done) && !hangs(slot)); });
    return any;
  }
  [[nodiscard]] bool busy() const {
    return reads_devices() || std::any_of(parts.begin(), parts.end(),
                                          [&](const auto& slot) { return slot->asked > slot->done && !hangs(*slot); });
  }
  // Who is not reading has to read anew.
  void ask() {
    const uint64_t request = host->asked + 1;
    each([&](Slot& slot) {
      if (!slot.reading) slot.asked = request;
    });
  }
  void ask_parts() {
    for (const auto& slot : parts) ++slot->asked;
  }
  // Every device reads again all that seldom changes.
  void rescan_devices() {
    for (auto& [name, slot] : devices) {
      slot->rescan = true;
      ++slot->asked;
    }
  }
};

inline constexpr size_t kMostDevices =
    128;  // RDMA devices that are read: if all hang, each has a worker (fabric-exporter.service, TasksMax=)
// Ten NICs whose firmware answers take less than that; a thread for each would cost as much again.
inline constexpr auto kPatience = std::chrono::milliseconds(10);
// HTTP may wait for that long when a device that was quick is so no more.
inline constexpr auto kOverdue = std::chrono::milliseconds(50);

// Starts the crew. With the mutex held.
Result<void> start_crew(const std::shared_ptr<Collector::Shared>& shared);
// Somebody begins with what waits, if anything does. `lock` holds the mutex, and gives it back first: who is woken
// wants it.
void call_worker(const std::shared_ptr<Collector::Shared>& shared, std::unique_lock<std::mutex> lock);
// Collector::read_here(), of what has been asked for. `lock` holds the mutex, and gives it back.
bool read_here(const std::shared_ptr<Collector::Shared>& shared, std::unique_lock<std::mutex> lock);
// The crew ends, but for those that hang. With the mutex held.
void end_crew(Collector::Shared& shared);

}  // namespace fabric::exporter
