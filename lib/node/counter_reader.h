// SPDX-License-Identifier: Apache-2.0
// The reader of a port's counters for exporter, check and diagnose: RDMA hardware counters (one netlink request, else
// files), ports/N/counters, ethtool statistics, carrier and link state; and for the burst sampler, which wants some of
// them many times a second. Not thread-safe: one reader, one thread.
#pragma once

#include "kernel/netlink/ethtool_ioctl.h"
#include "kernel/netlink/netlink.h"
#include "node/burst.h"
#include "node/counter_source.h"
#include "node/node.h"

namespace fabric {

// Sources; pointers may be null.
struct CounterAccess {
  const Root& root;
  Netlink* rdma = nullptr;
  ethtool::Statistics* statistics = nullptr;
  std::span<const std::string> asked{};  // globs of statistics to keep beside those of the catalogue
  // Maximum age of what rarely changes on Ethernet: InfiniBand link counters of zero, LinkUp of an ACTIVE port.
  std::chrono::milliseconds idle_age = std::chrono::seconds(30);
  std::optional<uint32_t> device{};  // nldev index, if known
  bool once = false;                 // a scan: files are not held open, all statistics are kept, the link is not read
  // Only what burst.h uses: the link is not read, ports/N/counters only where the driver does not count RDMA bytes
  // elsewhere, the names of statistics once a second.
  bool sampling = false;
};

struct PortReading {
  std::optional<unsigned> state, phys_state;
  std::optional<bool> carrier;
  PortCounters counters;
  ReadTimes times{};
  std::vector<Attempt> attempts;  // only groups that the port has
};

// nldev index of an RDMA device.
std::optional<uint32_t> find_device(Netlink* rdma, const std::string& name);

// Replaces the port's previous reading.
void apply(PortReading reading, Port& port);

class PortReader {
 public:
  // An absent source is not an error. `access` must outlive the reader.
  PortReader(const CounterAccess& access, const Port& port);

  PortReading read(Backoff::Clock::time_point now = Backoff::Clock::now());

  // Sources in backoff, to be handed to the next reader of the same port if its device was not re-created.
  struct Waiting {
    Source hw{}, ethtool{};
  };
  [[nodiscard]] const Waiting& waiting() const { return waiting_; }
  void resume(Waiting waiting) {
    waiting.hw.there = waiting_.hw.there, waiting.ethtool.there = waiting_.ethtool.there;
    waiting_ = std::move(waiting);
  }

 private:
  using Clock = Backoff::Clock;

  void open_rdma();
  void open_link(const Port& port);
  [[nodiscard]] std::vector<CounterFile> open_files(const std::string& folder, CounterSource source) const;
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
  std::vector<CounterFile> pma_, hw_, device_hw_, link_;
  Clock::time_point now_{}, idle_due_{};
  std::optional<Clock::time_point> named_;               // a sampler: when names of statistics were read
  std::optional<std::pair<size_t, size_t>> pma_chosen_;  // a sampler: sizes of the other lists then
  Waiting waiting_;
};

}  // namespace fabric
