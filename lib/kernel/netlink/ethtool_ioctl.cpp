// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/ethtool_ioctl.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/fd.h"

namespace fabric::ethtool {
namespace {

constexpr int kAttempts = 4;
constexpr uint32_t kMostStatistics = 262'144;

std::string_view name_at(View8 names, size_t i) {
  const std::string_view name = as_text(names.subspan(i * ETH_GSTRING_LEN, ETH_GSTRING_LEN));
  return name.substr(0, name.find('\0'));
}

// Any socket accepts this ioctl; the agents may open AF_NETLINK sockets, but none of AF_INET.
Fd open_ioctl() { return Fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0 /* NETLINK_ROUTE */)); }

Result<void> ask_ioctl(const Fd& fd, const std::string& netdev, const char* what, void* request) {
  ifreq ifr{};
  if (netdev.size() >= sizeof ifr.ifr_name) return error(ENODEV, netdev + ": " + what);
  std::copy(netdev.begin(), netdev.end(), ifr.ifr_name);
  ifr.ifr_data = static_cast<char*>(request);
  if (::ioctl(fd.get(), SIOCETHTOOL, &ifr) < 0) return error(errno, netdev + ": " + what);
  return {};
}

// Count, names, values (ethtool_get_sset_info(), ethtool_get_strings(), ethtool_get_stats()).
class IoctlStatistics final : public Statistics {
 public:
  explicit IoctlStatistics(Fd fd) : fd_(std::move(fd)) {}

  Result<std::vector<Counter>> read(const std::string& netdev) override { return read_as(netdev, pair_statistics); }

  Result<std::vector<Counter>> read(const std::string& netdev, Selection& wanted) override {
    return read_as(netdev, [&](View8 names, std::span<const uint64_t> values) { return wanted.of(names, values); });
  }

  Result<std::vector<uint64_t>> values(const std::string& netdev, size_t count) override {
    if (count == 0) return std::vector<uint64_t>{};
    auto values = read_values(netdev, static_cast<uint32_t>(std::min<size_t>(count, kMostStatistics)));
    const bool is_another = (!values && has_grown(values.error())) || (values && values->size() != count);
    if (is_another) return error(EAGAIN, netdev + ": statistics: another set");
    return values;
  }

 private:
  static bool has_grown(const Error& failure) { return failure.code == EFAULT; }

  template <class Pair>
  Result<std::vector<Counter>> read_as(const std::string& netdev, const Pair& pair) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto count = this->count(netdev);
      if (!count) return count.error();
      if (*count == 0) return pair({}, {});
      const Guarded<ethtool_gstrings> room(size_t{*count} * ETH_GSTRING_LEN);
      auto names = this->names(netdev, *count, room);
      if (!names && has_grown(names.error())) continue;
      if (!names) return names.error();
      auto values = read_values(netdev, *count);
      if (!values && has_grown(values.error())) continue;
      if (!values) return values.error();
      // If the sizes differ, the driver changed its set in between: the kernel returned 0 values, or the copy has
      // another length.
      if (values->size() == names->size() / ETH_GSTRING_LEN) return pair(*names, *values);
    }
    return error(EAGAIN, netdev + ": statistics: the set keeps changing");
  }

  Result<void> ask(const std::string& netdev, void* request) const {
    return ask_ioctl(fd_, netdev, "statistics", request);
  }

  Result<uint32_t> count(const std::string& netdev) {
    alignas(ethtool_sset_info) std::array<std::byte, sizeof(ethtool_sset_info) + sizeof(uint32_t)> room{};
    auto* request = reinterpret_cast<ethtool_sset_info*>(room.data());
    request->cmd = ETHTOOL_GSSET_INFO;
    request->sset_mask = 1u << ETH_SS_STATS;
    if (auto asked = ask(netdev, request); !asked) return asked.error();
    if (request->sset_mask == 0) return error(EOPNOTSUPP, netdev + ": statistics");
    uint32_t count;
    std::memcpy(&count, room.data() + sizeof(ethtool_sset_info), sizeof count);
    if (count > kMostStatistics) return error(E2BIG, netdev + ": statistics: " + std::to_string(count));
    return count;
  }

  // The names in the kernel's format; the result points into `room`.
  Result<View8> names(const std::string& netdev, uint32_t count, const Guarded<ethtool_gstrings>& room) {
    ethtool_gstrings* names = room.get();
    if (names == nullptr) return error(ENOMEM, netdev + ": statistics");
    names->cmd = ETHTOOL_GSTRINGS;
    names->string_set = ETH_SS_STATS;
    names->len = count;
    if (auto asked = ask(netdev, names); !asked) return asked.error();
    return View8(room.trailing(), size_t{std::min(names->len, count)} * ETH_GSTRING_LEN);
  }

  Result<std::vector<uint64_t>> read_values(const std::string& netdev, uint32_t count) {
    const Guarded<ethtool_stats> room(size_t{count} * sizeof(uint64_t));
    ethtool_stats* values = room.get();
    if (values == nullptr) return error(ENOMEM, netdev + ": statistics");
    values->cmd = ETHTOOL_GSTATS;
    values->n_stats = count;
    if (auto asked = ask(netdev, values); !asked) return asked.error();
    std::vector<uint64_t> out(std::min(values->n_stats, count));
    if (!out.empty()) std::memcpy(out.data(), room.trailing(), out.size() * sizeof(uint64_t));
    return out;
  }

  Fd fd_;
};

// ethtool_tunable_valid(): the id decides type and length.
class IoctlTunables final : public Tunables {
 public:
  Result<uint16_t> pfc_prevention(const std::string& netdev) override {
    return ask(netdev, ETHTOOL_GTUNABLE, "read pfc-prevention-tout", 0);
  }
  Result<void> set_pfc_prevention(const std::string& netdev, uint16_t milliseconds) override {
    if (auto set = ask(netdev, ETHTOOL_STUNABLE, "set pfc-prevention-tout", milliseconds); !set) return set.error();
    return {};
  }

 private:
  static Result<uint16_t> ask(const std::string& netdev, uint32_t command, const char* what, uint16_t value) {
    alignas(ethtool_tunable) std::array<std::byte, sizeof(ethtool_tunable) + sizeof(uint16_t)> room{};
    const ethtool_tunable head{
        .cmd = command, .id = ETHTOOL_PFC_PREVENTION_TOUT, .type_id = ETHTOOL_TUNABLE_U16, .len = sizeof value};
    std::memcpy(room.data(), &head, sizeof head);
    std::memcpy(room.data() + sizeof head, &value, sizeof value);
    if (auto asked = ask_ioctl(open_ioctl(), netdev, what, room.data()); !asked) return asked.error();
    std::memcpy(&value, room.data() + sizeof head, sizeof value);
    return value;
  }
};

}  // namespace

std::unique_ptr<Tunables> open_tunables() { return std::make_unique<IoctlTunables>(); }

Result<std::vector<uint64_t>> Statistics::values(const std::string& netdev, size_t count) {
  auto counters = read(netdev);
  if (!counters) return counters.error();
  if (counters->size() != count) return error(EAGAIN, netdev + ": statistics: another set");
  std::vector<uint64_t> out;
  for (const Counter& counter : *counters) out.push_back(counter.value);
  return out;
}

Result<std::vector<Counter>> Statistics::read(const std::string& netdev, Selection& wanted) {
  auto all = read(netdev);
  if (!all) return all.error();
  return wanted.of(*all);
}

std::vector<Counter> pair_statistics(View8 names, std::span<const uint64_t> values) {
  std::vector<Counter> out;
  size_t count = std::min(names.size() / ETH_GSTRING_LEN, values.size());
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) out.push_back({name_at(names, i), values[i]});
  return out;
}

std::vector<Counter> Selection::of(View8 names, std::span<const uint64_t> values) {
  const size_t count = std::min(names.size() / ETH_GSTRING_LEN, values.size());
  const size_t hash = std::hash<std::string_view>{}(as_text(names.first(count * ETH_GSTRING_LEN)));
  if (count != total_ || hash != hash_) {
    positions_.clear();
    for (size_t i = 0; i < count; ++i) {
      Counter counter{name_at(names, i)};
      if (wants_(counter)) positions_.push_back({i, counter});
    }
    total_ = count;
    hash_ = hash;
  }
  return with(values);
}

std::vector<Counter> Selection::with(std::span<const uint64_t> values) const {
  std::vector<Counter> out;
  out.reserve(positions_.size());
  for (const Position& position : positions_) {
    out.push_back(position.counter);
    out.back().value = values[position.at];
  }
  return out;
}

std::vector<Counter> Selection::of(const std::vector<Counter>& all) {
  std::vector<Counter> out;
  positions_.clear();
  total_ = all.size();
  hash_ = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    Counter counter = all[i];
    if (!wants_(counter)) continue;
    positions_.push_back({i, counter});
    out.push_back(counter);
  }
  return out;
}

Result<std::unique_ptr<Statistics>> open_statistics() {
  Fd fd = open_ioctl();
  if (!fd) return error(errno, "statistics: socket");
  return std::unique_ptr<Statistics>(std::make_unique<IoctlStatistics>(std::move(fd)));
}

Result<Pause> ioctl_pause(const std::string& netdev) {
  ethtool_pauseparam pause{};
  pause.cmd = ETHTOOL_GPAUSEPARAM;
  if (auto asked = ask_ioctl(open_ioctl(), netdev, "pause", &pause); !asked) return asked.error();
  return Pause{pause.rx_pause != 0, pause.tx_pause != 0};
}

}  // namespace fabric::ethtool
