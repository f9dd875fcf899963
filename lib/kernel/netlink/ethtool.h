// SPDX-License-Identifier: Apache-2.0
// ethtool: generic netlink for settings, the ioctl for driver statistics, which have no netlink form
// (linux/ethtool_netlink.h, net/ethtool/ioctl.c of Linux 6.12).
#pragma once

#include "kernel/netlink/netlink.h"
#include "kernel/telemetry.h"
#include "setting/value.h"

namespace fabric::ethtool {

// A generic netlink family: id and "monitor" multicast group (of ethtool's), from nlctrl. ENOENT: the kernel has none.
struct Family {
  uint16_t id = 0;
  uint32_t monitor_group = 0;
};
Result<Family> resolve(Netlink& generic, const char* name = "ethtool");
Result<Family> parse_family(View8 payload);  // of a CTRL_CMD_NEWFAMILY reply. Pure, as the other parsers here.

Result<Pause> get_pause(Netlink& generic, const Family& family, const std::string& netdev);
// Of a PAUSE reply or notification; nothing when it does not say.
std::optional<Pause> parse_pause(View8 payload);
// Sends RX and TX only: mlx5 refuses an AUTONEG of 1 and others need none.
Result<void> set_pause(Netlink& generic, const Family& family, const std::string& netdev, const Pause& pause);
// The same by the SIOCETHTOOL ioctl (ethtool_get_pauseparam() of net/ethtool/ioctl.c): a second look for the self-test.
Result<Pause> ioctl_pause(const std::string& netdev);
// EOPNOTSUPP where the driver has none, or none of the name.
Result<std::vector<std::pair<std::string, bool>>> get_private_flags(Netlink& generic, const Family& family,
                                                                    const std::string& netdev);
std::vector<std::pair<std::string, bool>> parse_private_flags(View8 payload);
Result<void> set_private_flag(Netlink& generic, const Family& family, const std::string& netdev, std::string_view name,
                              bool on);

// The wanted statistics of a netdev. Their positions are looked up again only when the driver's names have changed.
class Selection {
 public:
  using Wants = std::function<bool(std::string_view name)>;
  explicit Selection(Wants wants) : wants_(std::move(wants)) {}

  // As pair_statistics(), these alone.
  std::vector<Counter> of(View8 names, std::span<const uint64_t> values);
  std::vector<Counter> of(const std::vector<Counter>& all);

  // Newest reading: the number of all statistics, and the position of each wanted one.
  struct Place {
    size_t at;
    CounterName name;
  };
  [[nodiscard]] size_t total() const { return total_; }
  [[nodiscard]] std::span<const Place> places() const { return places_; }

 private:
  Wants wants_;
  std::vector<Place> places_;
  size_t total_ = 0;
  size_t hash_ = 0;  // of the names, which with many queues take 100 kB and more
};

// `ethtool -S`: all driver statistics, by name. Strings are read with every call, since mlx5's set changes with its
// configuration. EOPNOTSUPP where the driver has none.
class Statistics {
 public:
  virtual ~Statistics() = default;
  virtual Result<std::vector<Counter>> read(const std::string& netdev) = 0;
  virtual Result<std::vector<Counter>> read(const std::string& netdev, Selection& wanted);
  // For one who asks many times a second: the values alone, in the order of a read() of `count` of them. EAGAIN: there
  // are more or fewer now. Names that changed at the same number are not noticed.
  virtual Result<std::vector<uint64_t>> values(const std::string& netdev, size_t count);
};
Result<std::unique_ptr<Statistics>> open_statistics();

// Names as ETHTOOL_GSTRINGS gives them (ETH_GSTRING_LEN = 32 bytes each, NUL-padded, not always NUL-terminated) beside
// values as ETHTOOL_GSTATS gives them. If the counts differ, the shorter one applies. Pure.
std::vector<Counter> pair_statistics(View8 names, std::span<const uint64_t> values);

// Ring sizes, channels and FEC of a netdev (net/ethtool/{rings,channels,fec}.c of Linux 6.12). Reading needs no
// privilege, setting CAP_NET_ADMIN. EOPNOTSUPP: the driver has no such operation.

struct Amount {
  uint32_t now = 0, max = 0;
  bool operator==(const Amount&) const = default;
};

// Descriptors. The kernel leaves out a kind of which the driver has none.
struct Rings {
  std::optional<Amount> rx, tx;
  bool operator==(const Rings&) const = default;
};
Result<Rings> get_rings(Netlink& generic, const Family& family, const std::string& netdev);
Rings parse_rings(View8 payload);
// Those given, in one message: the driver rebuilds its queues once. Above the maximum is EINVAL; drivers may round.
Result<void> set_rings(Netlink& generic, const Family& family, const std::string& netdev, std::optional<uint32_t> rx,
                       std::optional<uint32_t> tx);

// Combined channels; nothing where the driver has separate ones for each direction only.
Result<std::optional<Amount>> get_channels(Netlink& generic, const Family& family, const std::string& netdev);
std::optional<Amount> parse_channels(View8 payload);
Result<void> set_channels(Netlink& generic, const Family& family, const std::string& netdev, uint32_t combined);

// The configured modes, not the active one.
Result<Fec> get_fec(Netlink& generic, const Family& family, const std::string& netdev);
std::optional<Fec> parse_fec(View8 payload);
// Exactly these modes.
Result<void> set_fec(Netlink& generic, const Family& family, const std::string& netdev, Fec fec);

}  // namespace fabric::ethtool
