// SPDX-License-Identifier: Apache-2.0
// Of one port what burst.h needs and no more, many times a second: one netlink request (or held files of these counters
// alone), one ethtool request for the values, whose names are read again once a second. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "counter/catalogue.h"
#include "counter/reader.h"

namespace fabric {

class SampleReader {
 public:
  using Clock = Backoff::Clock;

  // Opens what there is. `access` must outlive the reader; of the port only its names are needed.
  SampleReader(const CounterAccess& access, const Port& port);

  // What could be read now; good until the next call. A source that failed is absent, and left alone for a while (Backoff).
  const PortCounters& read(Clock::time_point now);
  // Of the newest reading: of the source that failed first, or is left alone; empty where there is none.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  struct File {
    std::string name, path;
    Fd fd;
  };
  struct Source {
    bool exists = true;
    Backoff backoff;
    std::string error;
  };

  [[nodiscard]] std::vector<File> open_files(const char* folder, CounterSource source) const;
  bool due(const Source& source, Clock::time_point now);
  void fail(Source& source, Clock::time_point now, const Error& why);
  void read_files(Source& source, const std::vector<File>& files, Clock::time_point now, std::vector<Counter>& out);
  void read_hw(Clock::time_point now);
  void read_ethtool(Clock::time_point now);
  Result<void> read_names(Clock::time_point now);
  [[nodiscard]] bool counts_rdma_bytes() const;

  CounterAccess access_;
  std::string rdma_, netdev_, driver_;
  unsigned number_;
  ethtool::Selection wanted_;       // those of counters_.ethtool
  std::optional<uint32_t> device_;  // nldev index; absent: files
  std::vector<File> hw_files_, pma_files_;
  Source hw_, pma_, ethtool_;
  bool pma_known_ = false;          // whether the port's own byte counters are needed: each read is a firmware command
  size_t total_ = 0;                // how many statistics the driver has; 0: its names are to be read
  Clock::time_point named_{};       // when the names were read
  PortCounters counters_;
  std::string failure_;
};

}  // namespace fabric
