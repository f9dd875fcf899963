// SPDX-License-Identifier: Apache-2.0
// Reads only the counters that burst.h uses, several times a second: one netlink request (or files held open) and one
// ethtool request for the values, whose names are read again once a second. Not thread-safe.
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

  // `access` must outlive the reader; only the names of `port` are used.
  SampleReader(const CounterAccess& access, const Port& port);

  // Valid until the next call. A failed source is absent and retried after a while (Backoff).
  const PortCounters& read(Clock::time_point now);
  // When each source of the newest reading answered.
  [[nodiscard]] const ReadTimes& times() const { return times_; }
  // The first failed or waiting source of the newest reading; empty if all were read.
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
    bool gone = false;  // the files' device was removed
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
  bool member_, needs_pma_ = false;                  // the port's byte counters: each read is a firmware command
  std::optional<std::pair<size_t, size_t>> judged_;  // sizes of the other lists when that was decided
  size_t total_ = 0;                                 // number of the driver's statistics; 0: read their names
  Clock::time_point named_{};                        // when the names were read
  PortCounters counters_;
  ReadTimes times_{};
  std::string failure_;
};

}  // namespace fabric
