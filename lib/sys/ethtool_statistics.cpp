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

#include "base/fd.h"
#include "sys/ethtool.h"

namespace fabric::ethtool {
namespace {

constexpr int kAttempts = 4;
// Kernels before 6.1 copy as many values as the driver has now, whatever was asked for: room for those that came up
// between the count and the copy.
constexpr uint32_t kSlack = 1024;
constexpr uint32_t kMostStatistics = 65'536;

// A header of `Struct` and what follows it, aligned for 64-bit values.
template <class Struct>
class Request {
 public:
  explicit Request(size_t trailing) : words_((sizeof(Struct) + trailing + 7) / 8) {}
  Struct* get() { return reinterpret_cast<Struct*>(words_.data()); }
  [[nodiscard]] const std::byte* trailing() const {
    return reinterpret_cast<const std::byte*>(words_.data()) + sizeof(Struct);
  }

 private:
  std::vector<uint64_t> words_;
};

class IoctlStatistics final : public Statistics {
 public:
  explicit IoctlStatistics(Fd fd) : fd_(std::move(fd)) {}

  Result<std::vector<Counter>> read(const std::string& netdev) override {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto count = this->count(netdev);
      if (!count) return count.error();
      if (*count == 0) return std::vector<Counter>{};
      auto names = this->names(netdev, *count);
      if (!names) return names.error();
      auto values = read_values(netdev, *count);
      if (!values) return values.error();
      // The driver changed its set in between: the kernel said so (0 values), or the copy is of another length.
      if (values->size() * ETH_GSTRING_LEN == names->size()) return pair_statistics(*names, *values);
    }
    return error(EAGAIN, netdev + ": statistics: the set keeps changing");
  }

  Result<std::vector<uint64_t>> values(const std::string& netdev, size_t count) override {
    if (count == 0) return std::vector<uint64_t>{};
    auto values = read_values(netdev, static_cast<uint32_t>(std::min<size_t>(count, kMostStatistics)));
    if (values && values->size() != count) return error(EAGAIN, netdev + ": statistics: another set");
    return values;
  }

 private:
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

  Result<Bytes> names(const std::string& netdev, uint32_t count) {
    Request<ethtool_gstrings> request((size_t{count} + kSlack) * ETH_GSTRING_LEN);
    request.get()->cmd = ETHTOOL_GSTRINGS;
    request.get()->string_set = ETH_SS_STATS;
    request.get()->len = count;
    if (auto asked = ask(netdev, request.get()); !asked) return asked.error();
    size_t size = size_t{std::min(request.get()->len, count + kSlack)} * ETH_GSTRING_LEN;
    return Bytes(request.trailing(), request.trailing() + size);
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

std::vector<Counter> pair_statistics(View8 names, std::span<const uint64_t> values) {
  std::vector<Counter> out;
  size_t count = std::min(names.size() / ETH_GSTRING_LEN, values.size());
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    std::string_view name(reinterpret_cast<const char*>(names.data()) + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
    out.push_back({std::string(name.substr(0, name.find('\0'))), values[i]});
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
