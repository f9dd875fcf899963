// SPDX-License-Identifier: Apache-2.0
// The collector's threads, and the data that they share. Private to collect/.
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/parse.h"
#include "exporter/collect/device_reader.h"
#include "exporter/collect/host_reader.h"

namespace fabric::exporter {

using Lock = std::unique_lock<std::mutex>;

// A thread that reads one device or the host. Every member is guarded by Collector::Shared::mutex, except what a
// derived class calls its own.
struct Reader {
  explicit Reader(std::string device = {}) : rdma(std::move(device)) {}
  virtual ~Reader() = default;
  // When there is work next.
  [[nodiscard]] virtual Clock::time_point due(const Collector::Shared& shared) const = 0;
  // Reads without the lock, publishes with it.
  virtual void work(Collector::Shared& shared, Lock& lock) = 0;

  // Does not wake the thread. A reading in progress answers the request.
  void ask() { asked += reading ? 0 : 1; }
  void ask_rescan() {
    rescan = true;
    ++asked;
    wake.notify_one();
  }
  // `what` may hang in the kernel.
  void without(Lock& lock, auto&& what) {
    busy_since = Clock::now();
    lock.unlock();
    what();
    lock.lock();
    busy_since.reset();
  }
  [[nodiscard]] bool is_pending() const { return asked > done; }
  [[nodiscard]] bool is_read_due() const { return is_pending() || Clock::now() >= rescan_due; }

  const std::string rdma;        // the device; empty: the host
  uint64_t asked = 1, done = 0;  // requests to read
  bool rescan = true;            // the next reading includes what rarely changes
  bool reading = false;          // a request is being answered
  bool retired = false;          // the device is gone
  Clock::time_point rescan_due{};
  Clock::time_point taken{};                    // the newest reading
  std::optional<Clock::time_point> busy_since;  // the thread is outside the lock, in the kernel
  std::string no_thread;                        // why it could not be started
  std::condition_variable wake;
};

struct DeviceThread final : Reader {
  DeviceThread(const CollectorOptions& options, const std::string& device);
  [[nodiscard]] Clock::time_point due(const Collector::Shared& shared) const override;
  void work(Collector::Shared& shared, Lock& lock) override;

  std::shared_ptr<const DeviceReading> shown = std::make_shared<const DeviceReading>();
  DeviceBursts bursts;

 private:
  void sample(Collector::Shared& shared, Lock& lock);
  void read(Collector::Shared& shared, Lock& lock);

  const Sampling sampling_;
  Clock::time_point sampled_{};
  DeviceReader reader_;    // the thread's own
  DeviceSampler sampler_;  // the thread's own
};

struct HostThread final : Reader {
  explicit HostThread(const CollectorOptions& options);
  [[nodiscard]] Clock::time_point due(const Collector::Shared& shared) const override;
  void work(Collector::Shared& shared, Lock& lock) override;
  // The ports or the topology, which the collectors depend on, have changed.
  void ask_collectors();
  [[nodiscard]] bool has_collector_due() const;

  // One of host_collectors().
  struct Collected {
    explicit Collected(const HostCollector& which) : collector(which) {}
    HostCollector collector;
    [[nodiscard]] bool is_due() const { return asked || Clock::now() >= due; }
    bool asked = false;
    Clock::time_point due = Clock::time_point::max(), taken{};
    HostCollection shown;
  };
  HostReading shown;
  std::vector<Collected> collected;
  const char* current = "agent";  // the collector that is reading now, if any

 private:
  void read_host(Collector::Shared& shared, Lock& lock);
  void collect(Collected& which, Collector::Shared& shared, Lock& lock);
  void update_devices(Collector::Shared& shared, const std::vector<std::string>& names);

  HostReader reader_;    // the thread's own
  size_t left_out_ = 0;  // devices beyond kMostDevices
};

struct Collector::Shared : std::enable_shared_from_this<Collector::Shared> {
  explicit Shared(CollectorOptions how) : options(std::move(how)), host(std::make_shared<HostThread>(options)) {}

  const CollectorOptions options;
  Fd wake;
  mutable std::mutex mutex;
  bool stop = false;
  uint64_t version = 0, generation = 0;
  const std::shared_ptr<HostThread> host;
  std::map<std::string, std::shared_ptr<DeviceThread>, decltype(&natural_less)> devices{natural_less};

  // With the mutex, all of these.
  void start(const std::shared_ptr<Reader>& reader);
  void notify_published();
  void each(const auto& with) const {
    with(static_cast<Reader&>(*host));
    for (const auto& [name, device] : devices) with(static_cast<Reader&>(*device));
  }
  [[nodiscard]] bool hangs(const Reader& reader) const;
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] bool reads_devices() const;
};

// RDMA devices that are read; each has a thread (fabric-exporter.service, TasksMax=).
inline constexpr size_t kMostDevices = 128;

}  // namespace fabric::exporter
