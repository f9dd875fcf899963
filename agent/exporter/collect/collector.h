// SPDX-License-Identifier: Apache-2.0
// Reads the machine: one thread for each RDMA device, and one for the host (the list of devices, the topology, the
// agent's state, addresses, the platform). Each thread publishes its newest reading as a pointer to an object that is
// never changed afterwards; the mutex guards only the pointers. A hung sysfs read or dead firmware delays its own
// thread only. The caller's thread never does device I/O.
#pragma once

#include "exporter/collect/device.h"
#include "exporter/collect/sampler.h"

namespace fabric::exporter {

struct DeviceAge {
  std::string device;
  Clock::time_point taken;  // when the published reading was completed
};

// The newest readings of the whole machine, for the page, the checks and health.
struct Snapshot {
  Node node;
  Plan plan;
  std::vector<CollectorRun> runs;
  std::vector<DeviceAge> ages;
  std::vector<PortBursts> bursts{};
  std::vector<SampledDevice> sampled{};
  // Grows with each reading of values that rarely change: a device, the topology, addresses, the agent's state.
  uint64_t generation = 0;
  std::optional<Clock::time_point> modules_taken{};  // when fabric-agentd read the modules; nullopt: no modules
  std::optional<Clock::time_point> vnic_taken{};     // the same for the counters of reporters "vnic"
};

struct HostCollector;

struct CollectorOptions {
  std::string root = "/";
  std::shared_ptr<const Policy> policy;  // null: no policy could be read. The devices in its `exclude` are not read
  std::chrono::seconds reread{60};       // interval of devices, settings, GIDs, addresses, the platform
  std::chrono::seconds topology{3600};   // interval of the topology
  std::chrono::seconds host{300};        // interval of the host: a file for each process and several for each CPU
  std::chrono::milliseconds stuck{500};  // a reading that takes longer hangs, and is not waited for
  std::function<Result<Kernel>(const std::string& root)> open = open_kernel;  // for each device
  Sampling sampling{};
  std::map<std::string, DeviceBursts> bursts{};            // bursts() of the previous collector: histograms continue
  const std::vector<HostCollector>* collectors = nullptr;  // null: all of host_collectors()
};

class Collector {
 public:
  // `wake` is an eventfd that is written to when all requested readings are done. The collector keeps a duplicate.
  Collector(CollectorOptions options, int wake);
  // Returns at once; a thread that hangs in the kernel is left behind.
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Requests a new reading from every idle reader.
  void refresh();
  // Like refresh(), but also reads the values that rarely change: a device was added, removed or renamed.
  void rescan();
  // Like rescan(), for the devices that have one of these netdevs, or a GID of one.
  void reread(const std::set<std::string>& netdevs);

  // True if every reading is newer than `age`, except those that hang.
  [[nodiscard]] bool fresh(std::chrono::milliseconds age) const;
  // True while a requested reading is in progress and does not hang.
  [[nodiscard]] bool busy() const;
  // True if everything has been read once, except readings that hang.
  [[nodiscard]] bool complete() const;
  // True if everything has been read once.
  [[nodiscard]] bool has_all() const;

  // Grows with every reading.
  [[nodiscard]] uint64_t version() const;
  [[nodiscard]] Snapshot snapshot() const;
  // The bursts, for the collector that replaces this one.
  [[nodiscard]] std::map<std::string, DeviceBursts> bursts() const;

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace fabric::exporter
