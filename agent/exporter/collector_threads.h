// SPDX-License-Identifier: Apache-2.0
// What the collector's threads share, and the threads. For collector.cpp alone.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/fd.h"
#include "exporter/collector.h"
#include "exporter/device_reader.h"
#include "exporter/host_reader.h"
#include "exporter/parts.h"

namespace fabric::exporter {

// One reader as the others see it. `asked` and `done` count requests. Each thread waits for itself alone: to wake them all
// for every change would cost more than what they read.
struct Slot {
  std::condition_variable work;
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
// Nobody asks it for a page: `asked` counts changes of what it reads about, `done` those that its reading knew of.
struct PartSlot : Slot {
  explicit PartSlot(const Part& which) : part(which) { asked = 0; }
  const Part part;
  bool waits = false;  // has work, and lets the devices be read first
  PartReading reading_shown;
};

struct Collector::Shared {
  CollectorOptions options;
  Fd wake;
  mutable std::mutex mutex;
  bool stop = false;
  uint64_t version = 0, news = 0;  // Collector::version(), Snapshot::news
  std::shared_ptr<HostSlot> host = std::make_shared<HostSlot>();
  std::map<std::string, std::shared_ptr<DeviceSlot>> devices;
  std::vector<std::shared_ptr<PartSlot>> parts;

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
    return reads_devices() || std::any_of(parts.begin(), parts.end(), [&](const auto& slot) { return slot->asked > slot->done && !hangs(*slot); });
  }
  void ask_parts() {
    for (const auto& slot : parts) {
      ++slot->asked;
      slot->work.notify_one();
    }
  }
  // Those that wait for the devices to be read.
  void wake_parts() {
    for (const auto& slot : parts)
      if (slot->waits) slot->work.notify_one();
  }
};

inline constexpr size_t kMostDevices = 128;  // RDMA devices that are read: fabric-exporter.service may have 256 tasks

// Starts the threads that read the host and its parts; they start and end those of the devices.
void start_threads(const std::shared_ptr<Collector::Shared>& shared);

// Every device reads again all that seldom changes.
void rescan_devices(Collector::Shared& shared);

}  // namespace fabric::exporter
