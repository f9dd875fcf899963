// SPDX-License-Identifier: Apache-2.0
// Of one port what burst.h needs and no more, many times a second: one netlink request (or held files of these counters
// alone), one ethtool request for the values, whose names are read again once a second. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "counters/burst.h"
#include "counters/catalogue.h"
#include "counters/reader.h"

namespace fabric {

class SampleReader {
 public:
  using Clock = Backoff::Clock;

  // Opens what there is. `access` must outlive the reader; of the port only its names are needed.
  SampleReader(const CounterAccess& access, const Port& port);

  // What could be read now; good until the next call. A source that failed is absent, and left alone for a while
  // (Backoff).
  const PortCounters& read(Clock::time_point now);
  // Of the newest reading: when each of its sources had answered.
  [[nodiscard]] const ReadTimes& times() const { return times_; }
  // Of the newest reading: of the source that failed first, or is left alone; empty where there is none.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  struct File {
    std::string name, path;
    Fd fd;
  };
  struct Folder {
    const char* name;
    CounterSource source;
    std::vector<File> files{};
    bool gone = false;  // the device that these were of
  };
  struct Source {
    bool exists = true;
    Backoff backoff;
    std::string error;
  };

  void open(Folder& folder) const;
  [[nodiscard]] std::optional<uint32_t> index() const;
  bool due(const Source& source, Clock::time_point now);
  void fail(Source& source, Clock::time_point now, const Error& why);
  void read_files(Source& source, Folder& folder, Clock::time_point now, std::vector<Counter>& out);
  void read_hw(Clock::time_point now);
  Result<std::vector<Counter>> read_netlink();
  void read_pma(Clock::time_point now);
  void read_ethtool(Clock::time_point now);
  Result<void> read_names(Clock::time_point now);
  [[nodiscard]] bool counts_rdma_bytes() const;

  CounterAccess access_;
  std::string rdma_, netdev_, driver_;
  unsigned number_;
  ethtool::Selection wanted_;       // those of counters_.ethtool
  std::optional<uint32_t> device_;  // nldev index; absent: files
  Folder hw_files_{"hw_counters", CounterSource::hw}, pma_files_{"counters", CounterSource::pma};
  Source hw_, pma_, ethtool_;
  bool member_, needs_pma_ = false;                  // the port's own byte counters: each read is a firmware command
  std::optional<std::pair<size_t, size_t>> judged_;  // how many others there were when that was found out
  size_t total_ = 0;                                 // how many statistics the driver has; 0: its names are to be read
  Clock::time_point named_{};                        // when the names were read
  PortCounters counters_;
  ReadTimes times_{};
  std::string failure_;
};

}  // namespace fabric
