// SPDX-License-Identifier: Apache-2.0
// Reads the machine: one thread for each RDMA device, and one for the host (which devices exist, the topology, the
// agent's state, addresses, the platform). Each publishes its newest reading, which no one changes any more, as a
// pointer; the one mutex guards the pointers alone. A hung sysfs read or dead firmware delays its own thread only. The
// caller's thread never does device I/O.
#pragma once

#include "exporter/collect/device.h"

namespace fabric::exporter {

struct DeviceAge {
  std::string device;
  Clock::time_point taken;  // when the reading that is shown was completed
};

// The newest readings of the whole machine, as the page, the checks and health see them.
struct Snapshot {
  Node node;
  Plan plan;
  std::vector<CollectorRun> runs;
  std::vector<DeviceAge> ages;
  std::vector<PortBursts> bursts{};
  std::vector<SampledDevice> sampled{};
  // Grows whenever something that rarely changes has been read: a device, the topology, addresses, the agent's state.
  uint64_t generation = 0;
  std::optional<Clock::time_point> modules_taken{};  // when fabric-agentd read the modules; nullopt: none are shown
};

struct HostCollector;

struct CollectorOptions {
  std::string root = "/";
  std::shared_ptr<const Policy> policy;  // null: none could be read. Its `exclude` is honored
  std::chrono::seconds reread{60};       // devices, settings, GIDs, addresses, the platform
  std::chrono::seconds topology{3600};
  std::chrono::seconds host{300};        // a file for each process and several for each CPU
  std::chrono::milliseconds stuck{500};  // a reading that takes longer is not waited for
  std::function<Result<Kernel>(const std::string& root)> open = open_kernel;  // for each device
  Sampling sampling{};
  std::map<std::string, DeviceBursts> bursts{};            // of the collector before this one: its histograms go on
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

  // Asks every reader that is idle to read again.
  void refresh();
  // As refresh(), and also reads everything that rarely changes: a device was added, removed or renamed.
  void rescan();
  // The same for the devices that have one of these netdevs, or a GID of one.
  void reread(const std::set<std::string>& netdevs);

  // Everything that does not hang is newer than `age`.
  [[nodiscard]] bool fresh(std::chrono::milliseconds age) const;
  // A requested reading is under way that does not hang.
  [[nodiscard]] bool busy() const;
  // Everything that does not hang has been read once.
  [[nodiscard]] bool complete() const;
  // Everything has been read once.
  [[nodiscard]] bool has_all() const;

  // Grows with every reading.
  [[nodiscard]] uint64_t version() const;
  [[nodiscard]] Snapshot snapshot() const;
  // For the collector that replaces this one.
  [[nodiscard]] std::map<std::string, DeviceBursts> bursts() const;

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace fabric::exporter
