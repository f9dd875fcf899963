// SPDX-License-Identifier: Apache-2.0
// A port's readings other than counters: link status, FEC, objects in use (and how many of a device's
// queue pairs, completion queues and memory regions belong to processes and to the kernel), the device's health
// reporters. All but the diagnosis of a reporter are unprivileged.
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

// Reads the owners of the objects in use. This is expensive: the kernel visits every object, and most drivers query the
// firmware about every queue pair. So a kind is read when its count has changed, at most once a minute, else every ten
// minutes. A kind that cannot be reported within 0.3 s has no owners; it is retried after a minute, then after twice as
// long each time, up to ten minutes.
class OwnerReader {
 public:
  using Clock = std::chrono::steady_clock;

  // `counts`: the current counts. Error: a kind could not be read, now or at the last try.
  Result<void> read(Netlink& rdma, uint32_t device, const std::vector<ResourceCount>& counts, Clock::time_point now);
  // Appends the known owners of the kinds in `counts`.
  void add_to(std::vector<ResourceCount>& counts) const;

 private:
  struct KnownOwners {
    uint64_t count = 0;  // at the last reading
    std::optional<nldev::Owners> owners{};
    std::optional<Error> failure{};
    Clock::time_point changed_due{}, due{};
    std::chrono::minutes pause{};  // after failures
  };
  void read(KnownOwners& known, Netlink& rdma, nldev::Object kind, std::chrono::milliseconds patience,
            Clock::time_point now) const;

  uint32_t device_ = 0;                 // nldev index: another one is another device
  std::array<KnownOwners, 3> known_{};  // by nldev::Object
};

// Fills HealthReporter::diagnosis of mlx5's reporter "vnic", if it is among these reporters of the instance, by
// devlink::read_diagnosis(): EPERM without CAP_NET_ADMIN. Leaves it empty while the reporter "fw_fatal" is in error,
// because the driver ignores that the firmware does not answer, and reports zeros or uninitialized memory
// (mlx5_reporter_vnic_diagnose_counters() of Linux 6.12).
Result<void> diagnose_vnic(Netlink& generic, uint16_t family, const devlink::Handle& of,
                           std::vector<HealthReporter>& reporters);

// Sources; pointers may be null.
struct TelemetryAccess {
  const Root& root;
  Netlink* generic = nullptr;
  std::optional<ethtool::Family> ethtool{};
  Netlink* rdma = nullptr;
  OwnerReader* owners = nullptr;  // if the device is read repeatedly: its reader, for one of its ports
};

// Reads link status, FEC and resources each time (a netlink request each), and health reporters once a minute. A source
// that the driver lacks is tried once.
class TelemetryReader {
 public:
  // `access` must outlive the reader.
  TelemetryReader(const TelemetryAccess& access, const Port& port);

  // Replaces the port's previous reading; unreadable values are absent.
  Attempt read(Port& port);
  // Sources in backoff, as PortReader::CounterBackoffs.
  struct TelemetryBackoffs {
    Backoff link{}, fec{}, resources{}, reporters{};
  };
  [[nodiscard]] TelemetryBackoffs waiting() const {
    return {link_.backoff, fec_.backoff, resources_.backoff, reporters_.backoff};
  }
  void resume(const TelemetryBackoffs& waiting);
  // False: the kernel has refused the diagnosis of a reporter, which needs CAP_NET_ADMIN.
  [[nodiscard]] bool may_diagnose() const { return may_diagnose_; }
  [[nodiscard]] bool any() const { return link_.there || fec_.there || resources_.there || reporters_.there; }

 private:
  using Clock = Backoff::Clock;
  Result<void> read_reporters();

  TelemetryAccess access_;
  std::string netdev_;
  uint32_t device_ = 0;   // nldev index
  uint16_t devlink_ = 0;  // family
  std::vector<devlink::Handle> handles_;
  Source link_, fec_, resources_, reporters_;
  Clock::time_point reporters_due_{};
  bool may_diagnose_ = true;
  std::vector<HealthReporter> reported_;
};

}  // namespace fabric
