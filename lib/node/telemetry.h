// SPDX-License-Identifier: Apache-2.0
// A port's unprivileged readings besides counters: link status, FEC, objects in use (and how many of a device's queue
// pairs, completion queues and memory regions belong to processes and to the kernel), the device's health reports.
#pragma once

#include "kernel/capture/root.h"
#include "kernel/netlink/devlink.h"
#include "kernel/netlink/ethtool.h"
#include "kernel/netlink/netlink.h"
#include "kernel/rdma/nldev.h"
#include "kernel/telemetry.h"
#include "node/counter_reader.h"
#include "node/node.h"
#include "node/source.h"

namespace fabric {

// Expensive: the kernel visits every object, and most drivers query the firmware about every queue pair. So it is read
// when the count has changed, at most once a minute, else every ten minutes. A kind that cannot be reported, or not
// within 0.3 s, has no owners; it is retried after a minute, then twice as long each time, up to ten.
class OwnerReader {
 public:
  using Clock = std::chrono::steady_clock;

  // `counts`: the current ones. Error: a kind could not be read, now or when last tried.
  Result<void> read(Netlink& rdma, uint32_t device, const std::vector<ResourceCount>& counts, Clock::time_point now);
  // Appends the known owners of the kinds in `counts`.
  void add_to(std::vector<ResourceCount>& counts) const;

 private:
  struct Known {
    uint64_t count = 0;  // at that reading
    std::optional<nldev::Owners> owners{};
    std::optional<Error> failure{};
    Clock::time_point changed_due{}, due{};
    std::chrono::minutes pause{};  // after failures
  };
  void read(Known& known, Netlink& rdma, nldev::Object kind, std::chrono::milliseconds patience,
            Clock::time_point now) const;

  uint32_t device_ = 0;           // nldev index: another one is another device
  std::array<Known, 3> known_{};  // by nldev::Object
};

// Sources; pointers may be null.
struct TelemetryAccess {
  const Root& root;
  Netlink* generic = nullptr;
  std::optional<ethtool::Family> ethtool{};
  Netlink* rdma = nullptr;
  OwnerReader* owners = nullptr;  // the device's, given to one of its ports if the device is read repeatedly
};

// Link status, FEC and resources with every reading (a netlink request each); health reporters once a minute. A source
// that the driver lacks is tried once.
class TelemetryReader {
 public:
  // `access` must outlive the reader.
  TelemetryReader(const TelemetryAccess& access, const Port& port);

  // Replaces the port's previous reading; unreadable values are absent.
  Attempt read(Port& port);
  // As PortReader::Waiting.
  struct Waiting {
    Backoff link{}, fec{}, resources{}, reporters{};
  };
  [[nodiscard]] Waiting waiting() const {
    return {link_.backoff, fec_.backoff, resources_.backoff, reporters_.backoff};
  }
  void resume(const Waiting& waiting);
  [[nodiscard]] bool any() const { return link_.there || fec_.there || resources_.there || reporters_.there; }

 private:
  using Clock = Backoff::Clock;
  Result<void> read_reporters();
  void read_owners(Port& port, Attempt& attempt) const;

  TelemetryAccess access_;
  std::string netdev_;
  uint32_t device_ = 0;   // nldev index
  uint16_t devlink_ = 0;  // family
  std::vector<devlink::Handle> handles_;
  Source link_, fec_, resources_, reporters_;
  Clock::time_point reporters_due_{};
  std::vector<HealthReporter> reported_;
};

}  // namespace fabric
