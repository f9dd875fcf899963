// SPDX-License-Identifier: Apache-2.0
// What changes by the second on one port, read as cheaply as the kernel allows: one netlink request for the RDMA
// hardware counters, descriptors held open for the files, one ethtool request, of whose answer what the catalogue knows
// or somebody asks for is kept. Not thread-safe: one reader, one thread.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "kernel/capture/root.h"
#include "kernel/netlink/ethtool.h"
#include "kernel/netlink/netlink.h"
#include "model/node.h"

namespace fabric {

// Where the readings come from beside the files; each may be null.
struct CounterAccess {
  const Root& root;
  Netlink* rdma = nullptr;
  ethtool::Statistics* statistics = nullptr;
  std::span<const std::string> asked{};  // globs of statistics that are kept beside those of the catalogue
  std::chrono::milliseconds idle_age =
      std::chrono::seconds(30);  // how old may be what on Ethernet says what it always says: InfiniBand's link counters
                                 // that are zero, and LinkUp of an ACTIVE port
};

// How one group of readings went.
struct Attempt {
  std::string_view collector;  // "rdma", "pma", "link", "ethtool"
  bool success = true;
  double seconds = 0;
  std::string error;  // of the first thing that could not be read
};

struct PortReading {
  std::optional<unsigned> state, phys_state;
  std::optional<bool> carrier;
  PortCounters counters;
  std::vector<Attempt> attempts;  // only groups that the port has
};

// Puts the reading in the place of what the port said before.
void apply(PortReading reading, Port& port);

// After a failure a source is left alone for 10 s, then twice as long each time, up to 5 minutes: restricted functions
// answer every read with a line in the kernel log.
class Backoff {
 public:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool due(Clock::time_point now) const { return now >= until_; }
  void failed(Clock::time_point now);
  void succeeded() { wait_ = {}, until_ = {}; }

 private:
  Clock::time_point until_{};
  std::chrono::seconds wait_{};
};

class PortReader {
 public:
  // Opens what there is; a source that is absent is not an error. `access` must outlive the reader.
  PortReader(const CounterAccess& access, const Port& port);

  PortReading read();

  // What is left alone now. A reader of the same port (its device not re-created) goes on where another ended.
  struct Waiting {
    Backoff hw{}, ethtool{};
    std::string hw_error{}, ethtool_error{};
  };
  [[nodiscard]] const Waiting& waiting() const { return waiting_; }
  void resume(Waiting waiting) { waiting_ = std::move(waiting); }

 private:
  struct File {
    CounterName name;
    std::string path;
    Fd fd;
    Backoff backoff{};
    bool seldom = false;  // where it says `usual` it is likely to go on
    bool idle = false;    // so it does: not read until idle_due_
    std::string_view usual = "0";
  };
  using Clock = Backoff::Clock;

  // What RDMA counts; of a bond's member the bond has it.
  void open_rdma(const std::string& folder);
  std::vector<File> open_folder(const std::string& folder) const;
  void end_idleness();
  void read_link(PortReading& reading);
  void read_hw(PortReading& reading);
  void read_device(Attempt& attempt, std::vector<Counter>& hw);
  void read_pma(PortReading& reading);
  void read_ethtool(PortReading& reading);

  CounterAccess access_;
  std::string rdma_, netdev_;
  unsigned number_;
  ethtool::Selection kept_;
  std::optional<uint32_t> device_;  // nldev index; absent: no netlink, or it has no counters of this port
  std::vector<File> pma_, hw_, device_hw_, link_;
  Clock::time_point idle_due_{};
  Waiting waiting_;
  bool has_ethtool_ = false;
};

// Whether one of the globs ([exporter] ethtool) matches the name of an ethtool statistic.
bool matches_any(std::span<const std::string> globs, std::string_view name);

// The number that a counter file holds; nothing for text as "N/A (no PMA)". Pure.
std::optional<uint64_t> parse_counter_file(std::string_view text);

}  // namespace fabric
