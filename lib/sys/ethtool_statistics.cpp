// SPDX-License-Identifier: Apache-2.0
// Driver statistics by the SIOCETHTOOL ioctl: count, names, values (net/ethtool/ioctl.c: ethtool_get_sset_info,
// ethtool_get_strings, ethtool_get_stats).
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

#include "base/fd.h"
#include "sys/ethtool.h"

namespace fabric::ethtool {
namespace {

constexpr int kAttempts = 4;
// Kernels before 6.1 copy as many values as the driver has now, whatever was asked for: room for those that came up
// between the count and the copy.
constexpr uint32_t kSlack = 1024;
constexpr uint32_t kMostStatistics = 65'536;

// A header of `Struct`, and room for `trailing` bytes of what follows it, aligned for 64-bit values; the kernel writes there.
template <class Struct>
class Request {
 public:
  explicit Request(size_t trailing) : words_(std::make_unique_for_overwrite<uint64_t[]>((sizeof(Struct) + trailing + 7) / 8)) {
    std::memset(words_.get(), 0, sizeof(Struct));
  }
  Struct* get() { return reinterpret_cast<Struct*>(words_.get()); }
  [[nodiscard]] const std::byte* trailing() const { return reinterpret_cast<const std::byte*>(words_.get()) + sizeof(Struct); }

 private:
  std::unique_ptr<uint64_t[]> words_;
};

// Names as the kernel gives them.
struct Names {
  Request<ethtool_gstrings> request;
  size_t count = 0;
  [[nodiscard]] View8 bytes() const { return {request.trailing(), count * ETH_GSTRING_LEN}; }
};

std::string_view name_at(View8 names, size_t i) {
  const std::string_view name(reinterpret_cast<const char*>(names.data()) + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
  return name.substr(0, name.find('\0'));
}

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
    if (values && values->size() != count) return error(EAGAIN, netdev + ": statistics: another set");
    return values;
  }

 private:
  template <class Pair>
  Result<std::vector<Counter>> read_as(const std::string& netdev, const Pair& pair) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto count = this->count(netdev);
      if (!count) return count.error();
      if (*count == 0) return pair({}, {});
      auto names = this->names(netdev, *count);
      if (!names) return names.error();
      auto values = read_values(netdev, *count);
      if (!values) return values.error();
      // The driver changed its set in between: the kernel said so (0 values), or the copy is of another length.
      if (values->size() == names->count) return pair(names->bytes(), *values);
    }
    return error(EAGAIN, netdev + ": statistics: the set keeps changing");
  }

  Result<void> ask(const std::string& netdev, void* request) {
    ifreq ifr{};
    if (netdev.size() >= sizeof ifr.ifr_name) return error(ENODEV, netdev + ": statistics");
    std::copy(netdev.begin(), netdev.end(), ifr.ifr_name);
    ifr.ifr_data = static_cast<char*>(request);
    if (::ioctl(fd_.get(), SIOCETHTOOL, &ifr) < 0) return error(errno, netdev + ": statistics");
    return {};
  }

  Result<uint32_t> count(const std::string& netdev) {
    Request<ethtool_sset_info> request(sizeof(uint32_t));
    request.get()->cmd = ETHTOOL_GSSET_INFO;
    request.get()->sset_mask = 1u << ETH_SS_STATS;
    if (auto asked = ask(netdev, request.get()); !asked) return asked.error();
    if (request.get()->sset_mask == 0) return error(EOPNOTSUPP, netdev + ": statistics");
    uint32_t count;
    std::memcpy(&count, request.trailing(), sizeof count);
    return std::min(count, kMostStatistics);
  }

  Result<Names> names(const std::string& netdev, uint32_t count) {
    Names names{Request<ethtool_gstrings>((size_t{count} + kSlack) * ETH_GSTRING_LEN)};
    auto* request = names.request.get();
    request->cmd = ETHTOOL_GSTRINGS;
    request->string_set = ETH_SS_STATS;
    request->len = count;
    if (auto asked = ask(netdev, request); !asked) return asked.error();
    names.count = std::min(request->len, count + kSlack);
    return names;
  }

  Result<std::vector<uint64_t>> read_values(const std::string& netdev, uint32_t count) {
    Request<ethtool_stats> request((size_t{count} + kSlack) * sizeof(uint64_t));
    request.get()->cmd = ETHTOOL_GSTATS;
    request.get()->n_stats = count;
    if (auto asked = ask(netdev, request.get()); !asked) return asked.error();
    std::vector<uint64_t> out(std::min(request.get()->n_stats, count + kSlack));
    if (!out.empty()) std::memcpy(out.data(), request.trailing(), out.size() * sizeof(uint64_t));
    return out;
  }

  Fd fd_;
};

}  // namespace

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
  const size_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(names.data()), count * ETH_GSTRING_LEN});
  if (count != total_ || hash != hash_) {
    places_.clear();
    for (size_t i = 0; i < count; ++i)
      if (const std::string_view name = name_at(names, i); wants_(name)) places_.push_back({i, name});
    total_ = count;
    hash_ = hash;
  }
  std::vector<Counter> out;
  out.reserve(places_.size());
  for (const Place& place : places_) out.push_back({place.name, values[place.at]});
  return out;
}

std::vector<Counter> Selection::of(const std::vector<Counter>& all) {
  std::vector<Counter> out;
  places_.clear();
  total_ = all.size();
  hash_ = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!wants_(all[i].name)) continue;
    places_.push_back({i, all[i].name});
    out.push_back(all[i]);
  }
  return out;
}

Result<std::unique_ptr<Statistics>> open_statistics() {
  // The agents may open AF_NETLINK sockets, but none of the internet's: any socket takes this ioctl.
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0 /* NETLINK_ROUTE */));
  if (!fd) return error(errno, "statistics: socket");
  return std::unique_ptr<Statistics>(std::make_unique<IoctlStatistics>(std::move(fd)));
}

}  // namespace fabric::ethtool
