// SPDX-License-Identifier: Apache-2.0
// Readers of a port's counters: RDMA hardware counters (one netlink request, else files), ports/N/counters, ethtool
// statistics. Three readers share these sources: a scan reads everything once (read_counters), the exporter polls
// (PortReader), and the burst sampler reads a few counters many times a second (BurstReader). A reader is not
// thread-safe.
#pragma once

#include "base/fd.h"
#include "kernel/capture/root.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "kernel/netlink/netlink.h"
#include "node/burst.h"
#include "node/counters.h"
#include "node/node.h"
#include "node/source.h"

namespace fabric {

// The sources of counters; pointers may be null.
struct CounterAccess {
  const Root& root;
  Netlink* rdma = nullptr;
  ethtool::Statistics* statistics = nullptr;
  std::optional<uint32_t> device{};  // nldev index, if known
};

// nldev index of an RDMA device.
std::optional<uint32_t> find_device(Netlink* rdma, const std::string& name);

// Fills port.counters except carrier_down. Adds the sources that it could not read to port.unread.
void read_counters(const CounterAccess& access, Port& port);

// A file of sysfs with a number or a state, held open between readings.
struct CounterFile {
  Counter counter;  // without its value
  std::string path;
  Fd fd{};  // none: the file is opened for each reading
  Backoff backoff{};
  bool rarely_changes = false;  // once its text is `usual`
  bool idle = false;            // not read for now: its text is `usual`
  std::string_view usual = "0";
};

// RDMA hardware counters of a port, read repeatedly: one netlink request, or files if the driver does not implement it.
class HwCounters {
 public:
  using Wanted = bool (*)(const Counter&);
  // `whole_device`: with the device's own counters, which are reported with its first port.
  HwCounters(const CounterAccess& access, const Port& port, Wanted wanted, bool whole_device);

  [[nodiscard]] bool any() const { return device_ || !files_.empty() || !device_files_.empty(); }
  void read(Backoff::Clock::time_point now, Attempt& attempt, std::vector<Counter>& counters);

  Source netlink{};  // in backoff after a failure

 private:
  Result<std::vector<Counter>> read_netlink();

  CounterAccess access_;
  std::string rdma_, driver_, folder_;
  unsigned number_;
  Wanted wanted_;
  CounterResolver resolver_;
  std::optional<uint32_t> device_;  // nldev index; absent: files
  std::vector<CounterFile> files_, device_files_;
};

struct PortReading {
  std::optional<unsigned> state, phys_state;
  std::optional<bool> carrier;
  PortCounters counters;
  std::vector<Attempt> attempts;  // of the groups that the port has
};

// Replaces the port's previous reading.
void apply(PortReading reading, Port& port);

// Counters, carrier and link state of a port for the exporter.
class PortReader {
 public:
  struct CounterOptions {
    std::span<const std::string> asked{};  // globs of statistics to keep in addition to those of the catalogue
    // Maximum age of what rarely changes on Ethernet: InfiniBand link counters of zero, LinkUp of an ACTIVE port.
    std::chrono::milliseconds idle_age = std::chrono::seconds(30);
  };
  // An absent source is not an error. `access` must outlive the reader.
  PortReader(const CounterAccess& access, const Port& port, const CounterOptions& options);
  PortReader(const CounterAccess& access, const Port& port) : PortReader(access, port, CounterOptions()) {}

  PortReading read(Backoff::Clock::time_point now = Backoff::Clock::now());

  // Sources in backoff, to be handed to the next reader of the same port if its device was not re-created.
  struct CounterBackoffs {
    Source hw{}, ethtool{};
  };
  [[nodiscard]] CounterBackoffs waiting() const;
  void resume(CounterBackoffs waiting);

 private:
  using Clock = Backoff::Clock;
  enum class LinkFact : uint8_t { state, phys_state, carrier, carrier_downs };
  struct LinkFile : CounterFile {
    LinkFact fact;
  };
  void read_link(Clock::time_point now, Attempt& attempt, PortReading& reading);

  CounterAccess access_;
  std::string netdev_;
  std::chrono::milliseconds idle_age_;
  Clock::time_point idle_due_{};
  std::vector<LinkFile> link_;
  std::vector<CounterFile> pma_;
  std::optional<HwCounters> hw_;  // absent: the port is a bond's member; the bond has these counters
  Source ethtool_{};
  ethtool::Selection statistics_;
};

struct BurstReading {
  PortCounters counters;
  ReadTimes times{};
  std::vector<Attempt> attempts;  // of the groups that the port has
};

// Reads the counters that the burst metrics use (is_burst_counter()), and no others: ports/N/counters only if the
// driver does not count RDMA bytes elsewhere, the names of statistics once a second.
class BurstReader {
 public:
  // An absent source is not an error. `access` must outlive the reader.
  BurstReader(const CounterAccess& access, const Port& port);

  BurstReading read(Backoff::Clock::time_point now = Backoff::Clock::now());

 private:
  using Clock = Backoff::Clock;
  Result<std::vector<Counter>> read_statistics(Clock::time_point now);
  void choose_pma(const BurstReading& reading);

  CounterAccess access_;
  std::string netdev_, driver_, pma_folder_;
  std::optional<HwCounters> hw_;  // absent: the port is a bond's member; the bond has these counters
  std::vector<CounterFile> pma_;
  std::optional<std::pair<size_t, size_t>> pma_chosen_;  // sizes of the other lists when pma_ was decided
  Source ethtool_{};
  ethtool::Selection statistics_;
  std::optional<Clock::time_point> named_;  // when the names of statistics were read
};

}  // namespace fabric
