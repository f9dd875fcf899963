// SPDX-License-Identifier: Apache-2.0
// Reads the machine. There is a reader for each RDMA device, one for which devices there are, the topology and the
// agent's state, and one for each part of the machine that belongs to no device (parts.h). They work in threads of the
// collector's own, or where they are asked from, as long as they are quick (read_here()). A hung sysfs read or a dead
// firmware stalls its own reader alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "model/change.h"
#include "model/node.h"
#include "model/policy.h"

namespace fabric::exporter {

using Clock = std::chrono::steady_clock;

// Port id -> what would have to be written to make it as the policy says.
using Plan = std::map<std::string, Changes>;

// The newest attempt of one group of readings.
struct CollectorRun {
  std::string
      collector;  // "rdma", "pma", "ethtool", "link", "settings", "topology", "agent", "network", "platform", "host"
  std::string device;  // empty: the host
  bool success = true;
  double seconds = 0;
  std::string error;
  bool operator==(const CollectorRun&) const = default;
};

struct DeviceAge {
  std::string device;
  Clock::time_point taken;  // when the reading that is shown was done
};

struct Snapshot {
  Node node;
  Plan plan;
  std::vector<CollectorRun> runs;
  std::vector<DeviceAge> ages;
  uint64_t news =
      0;  // grows when what seldom changes has been read: a device, the topology, a part, the agent's doings
  std::optional<Clock::time_point> modules_taken{};  // when fabric-agentd read the modules shown; absent: none is shown
  // What node, beside ports and neighbours, and the plan were put together from.
  std::vector<std::shared_ptr<const Node>> parts{};
  std::vector<std::shared_ptr<const Plan>> plans{};
};

struct Part;

struct CollectorOptions {
  std::string root = "/";
  std::shared_ptr<const Policy> policy;  // null: none could be read. Its `exclude` is obeyed
  std::chrono::seconds reread{60};       // what seldom changes: devices, settings, GIDs
  std::chrono::seconds topology{3600};
  std::chrono::seconds host{300};        // a file for every process and several for every CPU
  std::chrono::milliseconds stuck{500};  // a reading that takes longer is not waited for
  std::function<Result<Kernel>(const std::string& root)> open = open_kernel;  // of each device's reader
  std::function<void()> overdue = nullptr;   // called from another thread: read_here() takes long now, and may hang
  const std::vector<Part>* parts = nullptr;  // to be read beside the devices; null: all there are (parts.h)
};

class Collector {
 public:
  // `wake` is an eventfd, written to when the last reading that is worth waiting for is done. A copy of it is kept.
  Collector(CollectorOptions options, int wake);
  // Returns at once; a thread that hangs in the kernel is left behind.
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Asks every reader that is idle to read again.
  void refresh();
  // The same, and reads in the calling thread as long as that is quick: to wake another costs more than to read a
  // device. True: nothing is left to wait for. False: others read on, and write to `wake`. `overdue` tells when it was
  // not quick after all. May outlive the collector.
  [[nodiscard]] bool read_here();
  // As refresh(), and everything that seldom changes with it: a device came, went or was renamed.
  void rescan();
  // The devices with one of these netdevs, or with a GID of one, read again what seldom changes.
  void reread(const std::set<std::string>& netdevs);
  // Is everything that does not hang newer than `age`?
  [[nodiscard]] bool fresh(std::chrono::milliseconds age) const;
  // Is a reading under way that is worth waiting for?
  [[nodiscard]] bool busy() const;
  // Has everything been read once, so far as it does not hang?
  [[nodiscard]] bool complete() const;
  // Has everything been read once? What hangs from the beginning has not.
  [[nodiscard]] bool has_all() const;

  // Grows with every reading.
  [[nodiscard]] uint64_t version() const;
  // Snapshot::news; 0 before the first reading.
  [[nodiscard]] uint64_t news() const;
  [[nodiscard]] Snapshot snapshot() const;
  // Makes `into`, a snapshot of this collector or an empty one, the newest: what has not changed stays where it is.
  void snapshot(Snapshot& into) const;
  // What every port was when it was read last, without what it counted; not the members of bonds.
  [[nodiscard]] std::vector<Port> ports() const;

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace fabric::exporter
