// SPDX-License-Identifier: Apache-2.0
// The reader of a port's counters for exporter, check and diagnose: RDMA hardware counters (one netlink request, else
// files), ports/N/counters, ethtool statistics, carrier and link state; and for the burst sampler, which wants some of
// them many times a second. Not thread-safe: one reader, one thread.
#pragma once

#include "base/fd.h"
#include "counters/burst.h"
#include "kernel/capture/root.h"
#include "kernel/netlink/ethtool.h"
#include "kernel/netlink/netlink.h"
#include "model/node.h"

namespace fabric {

// Sources; pointers may be null.
struct CounterAccess {
  const Root& root;
  Netlink* rdma = nullptr;
  ethtool::Statistics* statistics = nullptr;
  std::span<const std::string> asked{};  // globs of statistics to keep beside those of the catalogue
  // Maximum age of values that rarely change on Ethernet: InfiniBand link counters that are zero, LinkUp of an ACTIVE
  // port.
  std::chrono::milliseconds idle_age = std::chrono::seconds(30);
  std::optional<uint32_t> device{};  // nldev index, if known
  bool once = false;                 // a scan: files are not held open, all statistics are kept, the link is not read
  // Only what burst.h uses: the link is not read, ports/N/counters only where the driver does not count RDMA bytes
  // elsewhere, the names of statistics once a second.
  bool sampling = false;
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
  ReadTimes times{};
  std::vector<Attempt> attempts;  // only groups that the port has
};

// Replaces the port's previous reading.
void apply(PortReading reading, Port& port);

// After a failure a source is not read for 10 s, then twice as long each time, up to 5 minutes: restricted functions
// write a line to the kernel log for each read.
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
  // An absent source is not an error. `access` must outlive the reader.
  PortReader(const CounterAccess& access, const Port& port);

  PortReading read(Backoff::Clock::time_point now = Backoff::Clock::now());

  // Sources in backoff, to be handed to the next reader of the same port if its device was not re-created.
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
    bool rarely_changes = false;  // once it reads `usual`
    bool idle = false;            // not read until idle_due_
    std::string_view usual = "0";
  };
  using Clock = Backoff::Clock;

  void open_rdma();
  void open_link(const Port& port);
  [[nodiscard]] std::vector<File> open_files(const std::string& folder, CounterSource source) const;
  [[nodiscard]] std::optional<uint32_t> find_device() const;
  void end_idleness();
  void choose_pma(const PortReading& reading);
  void read_link(PortReading& reading);
  void read_hw(PortReading& reading);
  Result<std::vector<Counter>> read_netlink();
  void read_device(Attempt& attempt, std::vector<Counter>& hw);
  void read_pma(PortReading& reading);
  void read_ethtool(PortReading& reading);
  Result<std::vector<Counter>> read_statistics();

  CounterAccess access_;
  std::string rdma_, netdev_, driver_, folder_;
  unsigned number_;
  bool member_;
  ethtool::Selection kept_;
  std::optional<uint32_t> device_;  // nldev index; absent: files
  std::vector<File> pma_, hw_, device_hw_, link_;
  Clock::time_point now_{}, idle_due_{};
  std::optional<Clock::time_point> named_;               // a sampler: when names of statistics were read
  std::optional<std::pair<size_t, size_t>> pma_chosen_;  // a sampler: sizes of the other lists then
  Waiting waiting_;
  bool has_ethtool_ = false;
};

// Whether one of the globs ([exporter] ethtool) matches the name of an ethtool statistic.
bool matches_any(std::span<const std::string> globs, std::string_view name);

// nullopt for text such as "N/A (no PMA)". Pure.
std::optional<uint64_t> parse_counter_file(std::string_view text);

}  // namespace fabric
