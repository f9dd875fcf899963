// SPDX-License-Identifier: Apache-2.0
// What all reader threads have in common, and the thread of a device.
#include "exporter/collect/readers.h"

#include <unistd.h>

#include <system_error>
#include <thread>

namespace fabric::exporter {
namespace {

// The thread keeps both alive: it may hang in the kernel when the collector is long gone.
void run(const std::shared_ptr<Collector::Shared>& shared, const std::shared_ptr<Reader>& reader) {
  Lock lock(shared->mutex);
  while (!shared->stop && !reader->retired) {
    if (const auto due = reader->due(*shared); due > Clock::now()) reader->wake.wait_until(lock, due);
    else reader->work(*shared, lock);
  }
}

}  // namespace

void Collector::Shared::start(const std::shared_ptr<Reader>& reader) {
  try {
    std::thread([shared = shared_from_this(), reader] { run(shared, reader); }).detach();
    reader->no_thread.clear();
  } catch (const std::system_error& failed) {
    reader->no_thread = error(failed.code().value(), "start a thread").text();
  }
}

// The loop may be waiting for the last of the readings.
void Collector::Shared::notify_published() {
  ++version;
  if (is_busy()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake.get(), &one, sizeof one);  // fails only at 2^64-1 unread wake-ups
}

bool Collector::Shared::hangs(const Reader& reader) const {
  return !reader.no_thread.empty() || (reader.busy_since && Clock::now() - *reader.busy_since > options.stuck);
}

bool Collector::Shared::reads_devices() const {
  return std::ranges::any_of(devices,
                             [&](const auto& device) { return device.second->is_pending() && !hangs(*device.second); });
}

bool Collector::Shared::is_busy() const {
  if (reads_devices()) return true;
  const bool collects =
      std::ranges::any_of(host->collected, [](const HostThread::Collected& each) { return each.asked; });
  return (host->is_pending() || collects) && !hangs(*host);
}

DeviceThread::DeviceThread(const CollectorOptions& options, const std::string& device)
    : Reader(device),
      sampling_(options.sampling),
      reader_(options.root, device, options.policy, options.open),
      sampler_(options.root, device, options.open) {
  if (const auto before = options.bursts.find(device); before != options.bursts.end()) bursts = before->second;
  bursts.pace = Pace(sampling_.interval, sampling_.cpu_budget);
}

Clock::time_point DeviceThread::due(const Collector::Shared&) const {
  if (is_pending()) return {};
  if (sampling_.interval.count() == 0) return rescan_due;
  // The next multiple of the interval, so that the threads of all devices wake together.
  const auto interval = bursts.pace.interval(), last = sampled_.time_since_epoch();
  return std::min(rescan_due, Clock::time_point(last - last % interval + interval));
}

void DeviceThread::work(Collector::Shared& shared, Lock& lock) {
  if (is_read_due()) read(shared, lock);
  else sample(shared, lock);
}

void DeviceThread::sample(Collector::Shared& shared, Lock& lock) {
  sampled_ = Clock::now();
  sampler_.follow(bursts);
  without(lock, [&] { sampler_.read(); });
  if (shared.stop) return;
  const std::string line = sampler_.record(bursts);
  if (line.empty() || !sampling_.warn) return;
  lock.unlock();
  sampling_.warn(line);
  lock.lock();
}

void DeviceThread::read(Collector::Shared& shared, Lock& lock) {
  const uint64_t request = asked;
  const auto now = Clock::now();
  const bool rescanning = std::exchange(rescan, false) || now >= rescan_due;
  reading = true;
  std::shared_ptr<const DeviceReading> next;
  without(lock, [&] {
    if (rescanning) reader_.rescan();
    next = std::make_shared<const DeviceReading>(reader_.read());
  });
  reading = false;
  done = request;
  if (rescanning) rescan_due = now + shared.options.reread;
  const auto before = std::exchange(shown, std::move(next));
  if (shown->scans != before->scans) {
    ++shared.generation;
    bursts.follow(shown->ports);
    if (!are_same_subjects(shown->ports, before->ports)) shared.host->ask_collectors();
  }
  taken = Clock::now();
  shared.notify_published();
  if (shared.host->has_collector_due()) shared.host->wake.notify_one();  // it may wait for the devices
}

}  // namespace fabric::exporter
