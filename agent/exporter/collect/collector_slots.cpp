// SPDX-License-Identifier: Apache-2.0
// What each reader of the collector does when it is its turn.
#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "exporter/collect/collector_threads.h"
#include "kernel/capture/root.h"
#include "kernel/rdma/infiniband.h"

namespace fabric::exporter {
namespace {

using Shared = Collector::Shared;

// What the parts are read about: has it changed?
bool changes(const DeviceReading& a, const DeviceReading& b) {
  return a.scans != b.scans && !are_same_subjects(a.ports, b.ports);
}
bool changes(const HostReading& a, const HostReading& b) { return a.topology_read != b.topology_read; }
bool changes(const PartReading&, const PartReading&) { return false; }

// Was something read that seldom changes?
bool is_news(const DeviceReading& now, const DeviceReading& before) { return now.scans != before.scans; }
bool is_news(const HostReading& now, const HostReading& before) {
  return now.agent_acted || now.topology_read != before.topology_read;
}
bool is_news(const PartReading&, const PartReading&) { return true; }

// Shows what was read.
template <class SlotType, class Reading>
void publish(Shared& shared, SlotType& slot, Reading&& reading, Clock::time_point due) {
  std::lock_guard lock(shared.mutex);
  if (changes(reading, slot.shown)) shared.ask_parts();
  if (is_news(reading, slot.shown)) ++shared.news;
  slot.shown = std::forward<Reading>(reading);  // a device's is copied into the memory of the one before
  slot.due = due;
  slot.done = slot.begun;
  slot.reading = false;
  slot.taken = Clock::now();
  ++shared.version;
}

// There is a slot for each of `names`, and for no other.
void follow_devices(Shared& shared, const std::vector<std::string>& names) {
  std::lock_guard lock(shared.mutex);
  std::erase_if(shared.devices,
                [&](const auto& slot) { return std::find(names.begin(), names.end(), slot.first) == names.end(); });
  for (const std::string& name : names) {
    auto& slot = shared.devices[name];
    if (slot) continue;
    slot = std::make_shared<DeviceSlot>(shared.options, name);
    slot->asked = shared.host->asked;
    slot->done = slot->asked - 1;
  }
}

bool is_excluded(const std::string& name, const std::vector<std::string>& globs) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, name); });
}

bool is_for_guests(const Root& root, const std::string& name) {
  const std::string device = std::string(infiniband::kClass) + "/" + name + "/device";
  const auto resolved = root.resolve(device);
  return root.exists(device + "/physfn") || (resolved && resolved->find(".sf.") != std::string::npos);
}

// Each may cost a thread. Functions for guests go first: udev names them behind their owner, before the next card. How
// many were left out.
size_t leave_out(const std::string& directory, std::vector<std::string>& names) {
  if (names.size() <= kMostDevices) return 0;
  std::sort(names.begin(), names.end(), natural_less);
  if (const auto root = Root::open(directory))
    std::stable_partition(names.begin(), names.end(),
                          [&](const std::string& name) { return !is_for_guests(*root, name); });
  const size_t left = names.size() - kMostDevices;
  names.resize(kMostDevices);
  return left;
}

CollectorRun too_many(size_t left_out) {
  return {
      "devices", "", false, 0,
      std::to_string(left_out) + " RDMA devices beyond the first 128 are not read: [exporter] exclude those of guests"};
}

// The machine as far as it is known. With the mutex held.
Node known_of(const Shared& shared) {
  Node out;
  if (shared.host->shown.node) out.topology = shared.host->shown.node->topology;
  for (const auto& [name, slot] : shared.devices)
    for (const Port& port : slot->shown.ports) {
      out.ports.push_back(port);
      out.ports.back().counters = {};
    }
  return out;
}

}  // namespace

void DeviceSlot::read(const std::shared_ptr<Shared>& shared, Work work) {
  auto next = due;
  if (work.rescan) {
    reader.rescan();
    next = Clock::now() + shared->options.reread;
  }
  publish(*shared, *this, reader.read(), next);
}

void HostSlot::read(const std::shared_ptr<Shared>& shared, Work work) {
  auto next = due;
  std::vector<std::string> names;
  if (work.rescan) {
    names = reader.devices();
    const auto& policy = shared->options.policy;
    if (policy) std::erase_if(names, [&](const std::string& device) { return is_excluded(device, policy->exclude); });
    left_out = leave_out(shared->options.root, names);
    follow_devices(*shared, names);
    next = Clock::now() + shared->options.reread;
  }
  HostReading now = reader.read(work.rescan ? &names : nullptr, work.asked);
  if (left_out > 0) now.runs.push_back(too_many(left_out));
  if (now.agent_acted) {
    std::lock_guard lock(shared->mutex);
    shared->rescan_devices();
  }
  publish(*shared, *this, std::move(now), next);
}

void PartSlot::read(const std::shared_ptr<Shared>& shared, Work) {
  Node known;
  {
    std::lock_guard lock(shared->mutex);
    known = known_of(*shared);
  }
  PartReading now = read_part(part, shared->options.root, std::move(known));
  publish(*shared, *this, std::move(now), Clock::now() + shared->options.*part.every);
}

}  // namespace fabric::exporter
