// SPDX-License-Identifier: Apache-2.0
// A health rule is one row: its measurement, its limits with their source, and the text of its findings. Rows are in
// the file of their subject (link.cpp, pause.cpp, ...) beside the function that measures, and are added there alone.
#pragma once

#include "base/parse.h"
#include "judge/finding.h"

namespace fabric {

inline constexpr double kMinute = 60, kHour = 3600;
inline constexpr std::nullopt_t kNever = std::nullopt;
// Watts, -30 dBm: less than any receiver detects. A lane with less is not in use if the link is up.
inline constexpr double kDark = 1e-6;

struct HealthRule;
using HealthReadings = std::vector<HealthReading>;

// A reading that is a sum of counter increases, as a rate per second, packet or bit of the port.
struct CounterSum {
  enum class Per : uint8_t { second, packet, bit };
  struct Part {
    std::string_view name;
    Rise Signals::*member = nullptr;
  };
  std::array<Part, 4> parts{};
  Per per = Per::second;
  bool largest = false;           // the parts count the same events: the largest counts, not the sum
  std::array<Part, 2> context{};  // shown, not counted
};

// Adds the readings of the rule's read_port(), of every port but virtual functions. The members of a bond have their
// own cable, module and pause: each is a subject.
void read_ports(const View& view, const HealthRule& rule, HealthReadings& out);
// The sum of the rule's counters. nullopt: the port has none of them.
std::optional<HealthReading> read_counters(const View& view, const HealthRule& rule, const Port& port);
std::optional<HealthReading> sum_counters(const CounterSum& sum, const Port& port, const Signals& signals);

// The window that one key of [health] in the configuration sets.
struct HealthWindow {
  std::string_view key;  // "link_flap"
  HealthMeasure measure = HealthMeasure::level;
  HealthLimits limits;      // warning, critical; window, confirm, clear in seconds. The configuration overrides them
  std::string_view unit;    // of the limits
  std::string_view source;  // who published the limits; "ours": unpublished
  std::string_view expected;
  double least = 1;  // fewer events in the window are not evidence
};

struct HealthRow {
  std::string_view check;  // id of its findings: "link-flap"
  HealthWindow window;
  double quiet = 0.5;   // below this share of a limit the value counts as quiet again
  bool graced = false;  // not counted while the machine boots or the driver reloads, when links come up
  // {netdev}, {rdma} and {pci} of the remedy are replaced by the port's names.
  std::string_view meaning, remedy;
  std::string_view elsewhere{};  // the remedy of ports without RoCE, such as InfiniBand and EFA; empty: the same
  // The same readings over a long window, for faults too slow for a short one: a rule with its own key and state.
  std::optional<HealthWindow> slow{};
  CounterSum sum{};
  void (*read)(const View& view, const HealthRule& rule, HealthReadings& out) = read_ports;
  // Asked by read_ports(); nullopt: the rule does not apply to it.
  std::optional<HealthReading> (*read_port)(const View& view, const HealthRule& rule, const Port& port) = read_counters;
};

// A row with one of its two windows.
struct HealthRule : HealthWindow, HealthRow {
  bool is_slow = false;
};

// The families of rules, each in the file of its name.
std::span<const HealthRow> link_health_rules();
std::span<const HealthRow> loss_health_rules();
std::span<const HealthRow> discard_health_rules();
std::span<const HealthRow> pause_health_rules();
std::span<const HealthRow> pcie_health_rules();
std::span<const HealthRow> optics_health_rules();
std::span<const HealthRow> device_health_rules();

// All of them. Null: unknown key.
const std::vector<HealthRule>& health_rules();
const HealthRule* find_health_rule(std::string_view key);
// The configured limits, or the row's.
const HealthLimits& limits_of(const HealthPolicy& policy, const HealthRule& rule);
const HealthPolicy& health_policy(const View& view);

// How a rule's state follows its readings: a window, a wait before it is raised, a wait before it clears.
// nullptr: no reading, which neither confirms nor clears. A clock that goes back restarts the waits.
void advance(HealthState& state, const HealthRule& rule, const HealthLimits& limits, const HealthReading* reading,
             double now);
// Not read for so long that the state is dropped.
bool is_forgotten(const HealthState& state, const HealthLimits& limits, double now);
// One reading without a memory: its own window, no confirmation.
Status status_of_reading(const HealthRule& rule, const HealthLimits& limits, const HealthReading& reading);

// The port in the earlier reading. Null: absent, or on another PCI function.
const Port* port_before(const View& view, const Port& port);
double window_of(const View& view);  // seconds between the two readings; 0 if there is one
const Signals* signals_of_port(const View& view, const Port& port);

}  // namespace fabric
