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

// The name of a counter, kept once for the whole program: the same hundreds are read on every port again and again.
class CounterName {
 public:
  CounterName() = default;
  // For names of drivers and files, which are few: each is kept for ever. Takes a lock for a moment.
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
  // The one copy of this text; null for an empty one. May be called by any thread.
  static const std::string* keep(std::string_view text);
  const std::string* kept_ = nullptr;
};

struct CounterRow;

// A counter as its source names it, and what it means: its row of the catalogue (nic/counter_row.h), which node finds
// once, when the source is opened.
struct Counter {
  CounterName name;
  uint64_t value = 0;
  const CounterRow* row = nullptr;  // null: the catalogue does not have it, or nobody has looked
  char priority = 0;                // '0' to '7' of a row for each priority, else 0
  uint8_t bits = 64;                // width in the hardware of this port's driver
  // What it means follows from its name.
  bool operator==(const Counter& other) const { return name == other.name && value == other.value; }
};

// Per-port readings that only grow (or are gone: an absent source is an empty list).
struct PortCounters {
  std::vector<Counter> hw;       // RDMA hw counters: NETLINK_RDMA STAT_GET, else ports/N/hw_counters/
  std::vector<Counter> pma;      // ports/N/counters/, in the files' own units (port_*_data: words of 4 bytes)
  std::vector<Counter> ethtool;  // ethtool -S of the netdev, names by the driver
  std::optional<uint64_t> carrier_down;
};

// Number of RDMA objects of one kind on the device, in total or, in further entries, by owner as last read
// (counters/owners.h).
struct ResourceCount {
  std::string kind;   // nldev's words: "qp", "cq", "mr", "pd", "cm_id", "ctx", "srq"
  std::string owner;  // "user", "kernel"; empty: all of them
  uint64_t count = 0;
  bool operator==(const ResourceCount&) const = default;
};

// A devlink health reporter of the function below the port (net/devlink/health.c of Linux 6.12).
struct HealthReporter {
  std::string name;  // "fw", "fw_fatal", "tx", "rx", "hw"
  bool healthy = true;
  uint64_t errors = 0, recoveries = 0;
  bool recovers = true;  // false: no recovery; after an error it is not healthy until the driver is loaded again
  bool operator==(const HealthReporter&) const = default;
};

}  // namespace fabric
