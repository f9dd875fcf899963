// SPDX-License-Identifier: Apache-2.0
// Readings of a port: counters, objects in use and the device's health reports.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric {

// The name of a counter, stored once for the whole program, because each port has the same hundreds of names in every
// reading.
class CounterName {
 public:
  CounterName() = default;
  // For names of drivers and files, which are few: each is stored for ever. Takes a lock for a moment.
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, CounterName>)
      CounterName(const Text& text)
      : kept_(keep(text)) {}

  [[nodiscard]] std::string_view text() const { return kept_ == nullptr ? std::string_view() : *kept_; }
  [[nodiscard]] std::string str() const { return std::string(text()); }
  operator std::string_view() const { return text(); }

  friend bool operator==(const CounterName& a, const CounterName& b) { return a.kept_ == b.kept_; }
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, CounterName>) friend bool
  operator==(const CounterName& a, const Text& b) {
    return a.text() == std::string_view(b);
  }
  friend std::strong_ordering operator<=>(const CounterName& a, const CounterName& b) { return a.text() <=> b.text(); }
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> &&
           !std::same_as<Text, CounterName>) friend std::strong_ordering
  operator<=>(const CounterName& a, const Text& b) {
    return a.text() <=> std::string_view(b);
  }
  [[nodiscard]] size_t hash() const { return std::hash<const std::string*>{}(kept_); }
  friend std::ostream& operator<<(std::ostream& out, const CounterName& name);

 private:
  // The stored copy of this text; null if the text is empty. Thread-safe.
  static const std::string* keep(std::string_view text);
  const std::string* kept_ = nullptr;
};

struct CounterRow;

// A counter by its source's name, with its row of the catalogue (nic/counter_row.h), which is looked up once, when the
// source is opened.
struct Counter {
  CounterName name;
  uint64_t value = 0;
  const CounterRow* row = nullptr;  // null: the catalogue lacks the counter, or was not searched
  char priority = 0;                // '0' to '7' if the row is for each priority, else 0
  uint8_t bits = 64;                // width in the hardware of this port's driver
  // The other members follow from the name.
  bool operator==(const Counter& other) const { return name == other.name && value == other.value; }
};

// A port's readings that only grow. The list of an absent source is empty.
struct PortCounters {
  std::vector<Counter> hw;       // RDMA hw counters: NETLINK_RDMA STAT_GET, else ports/N/hw_counters/
  std::vector<Counter> pma;      // ports/N/counters/, in the files' own units (port_*_data: words of 4 bytes)
  std::vector<Counter> ethtool;  // ethtool -S of the netdev, names by the driver
  std::optional<uint64_t> carrier_down;
};

// Number of RDMA objects of one kind on the device: in total, and in further entries by owner, as last read
// (node/telemetry.h).
struct ResourceCount {
  std::string kind;   // nldev's words: "qp", "cq", "mr", "pd", "cm_id", "ctx", "srq"
  std::string owner;  // "user", "kernel"; empty: all of them
  uint64_t count = 0;
  std::optional<uint64_t> most{};  // the device's limit, of totals; absent: the kernel does not report it
  bool operator==(const ResourceCount&) const = default;
};

// A devlink health reporter of the function below the port (net/devlink/health.c of Linux 6.12).
struct HealthReporter {
  std::string name;  // "fw", "fw_fatal", "tx", "rx", "hw"
  bool healthy = true;
  uint64_t errors = 0, recoveries = 0;
  bool recovers = true;  // false: after an error the function is not healthy until the driver is loaded again
  // Events that mlx5's reporter "vnic" counted since the driver was loaded, by the driver's names ("cq_overrun";
  // Documentation/networking/devlink/mlx5.rst of Linux 6.12). Requires CAP_NET_ADMIN.
  std::map<std::string, uint64_t> diagnosis{};
  bool operator==(const HealthReporter&) const = default;
};

}  // namespace fabric
