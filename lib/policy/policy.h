// SPDX-License-Identifier: Apache-2.0
// What the operator wants, as read from TOML by config/.
#pragma once

#include "node/node.h"
#include "policy/rules.h"
#include "setting/setting_table.h"

namespace fabric {

enum class Mode : uint8_t { audit, enforce };
enum class Disruptive : uint8_t { idle, now, never };
template <>
inline constexpr std::string_view kEnumWords<Mode>[] { "audit", "enforce" };
template <>
inline constexpr std::string_view kEnumWords<Disruptive>[] { "idle", "now", "never" };

// Which ports. Every list that is given must have a pattern (glob) that matches; no list at all matches every port.
struct Match {
  std::vector<std::string> driver;  // kernel driver or ours: "mlx5_core", "mlx5"
  std::vector<std::string> rdma;    // "mlx5_*"
  std::vector<std::string> netdev;  // "ens*"
  std::vector<std::string> pci;     // address: "0000:17:*"
  std::vector<std::string> pci_id;  // vendor and device: "15b3:1021"
  std::vector<std::string> speed;   // Mb/s: "400000"
  std::vector<std::string> numa;    // NUMA node: "0"
  std::vector<std::string> role;    // "compute", "host"
  bool operator==(const Match&) const = default;
};

// How one kind of RoCE packet is marked: the DSCP of its IP header, and the priority that the DSCP maps to.
struct Mark {
  uint8_t dscp = 0, priority = 0;
  bool operator==(const Mark&) const = default;
};

struct PortPolicy {
  std::string name;  // of the [[port]] entry, else "port#1"
  Match match;
  Qos want;
  std::string where;                              // "FILE:LINE" of the entry
  std::array<std::string, kSettingCount> origin;  // "FILE:LINE" that gave each value
  Keys derived{};  // follow from traffic and cnp: where a driver does not offer one, nothing is said
  std::optional<Mark> traffic{}, cnp{};        // RoCE data and congestion notifications, as they hold for the entry
  std::string traffic_origin{}, cnp_origin{};  // "FILE:LINE"
  std::string profile{}, profile_origin{};     // the profile below the entry; empty: none
};

// A foreign writer that comes back `rounds` times within `window` is a conflict.
struct ConflictRule {
  unsigned rounds = 5;
  std::chrono::milliseconds window{60'000};
};

// When disruptive writes may be made: days and time of day, local time. `to` may be past midnight (before `from`).
struct Window {
  uint8_t days = 0x7f;        // bit 0 Sunday ... bit 6 Saturday (as tm_wday)
  unsigned from = 0, to = 0;  // minutes of the day
  bool operator==(const Window&) const = default;
};
// True if `minute` of `weekday` (0 Sunday) is inside one of them, or if there are none.
bool in_window(const std::vector<Window>& windows, int weekday, unsigned minute);

// What becomes of a port that no [[port]] entry matches any more after a reload.
enum class Release : uint8_t { leave, restore };
template <>
inline constexpr std::string_view kEnumWords<Release>[] { "leave", "restore" };

// Which RDMA hardware counters the exporter publishes under their drivers' own names, beside the common ones.
enum class RawCounters : uint8_t { unmapped, all };
template <>
inline constexpr std::string_view kEnumWords<RawCounters>[] { "unmapped", "all" };

// Series that the exporter publishes only on request: each group costs a node with eight NICs some 50 to 300 of them.
enum class SeriesGroup : uint8_t { module_limits, casts, lanes, bursts, checks, owners, timings };
template <>
inline constexpr std::string_view kEnumWords<SeriesGroup>[] {
  "module_limits", "casts", "lanes", "bursts", "checks", "owners", "timings"
};

// Metrics published beside the default series.
struct Published {
  RawCounters raw = RawCounters::unmapped;
  std::vector<SeriesGroup> groups{};
  [[nodiscard]] bool has(SeriesGroup group) const;
};

// Expected hardware of the site's machines ([expect]); absent values are judged by the machine's own symmetry.
struct Expect {
  std::optional<unsigned> gpus{}, compute_nics{};
  std::optional<PathClass> path_class{};  // the worst between a GPU and its NIC
  std::optional<unsigned> gid_index{};    // of the RoCE v2 GID on every compute port
  std::optional<uint32_t> speed{};        // Mb/s of every compute port
  bool operator==(const Expect&) const = default;
};

// Versions that are allowed (patterns), by what they are for.
using Versions = std::map<std::string, std::vector<std::string>>;

struct Policy {
  Mode mode = Mode::audit;
  Disruptive disruptive = Disruptive::idle;
  std::chrono::milliseconds reread{30'000};
  ConflictRule conflict;
  std::vector<Window> maintenance;  // empty: any time
  Release release = Release::leave;
  std::vector<PortPolicy> ports;              // first match wins
  std::map<std::string, std::string> sysctl;  // "net.ipv4.tcp_ecn" -> "1"
  std::map<std::string, std::string> sysctl_origin;
  Expect expect{};
  Versions firmware{};        // by board id, PCI id ("15b3:1021") or a pattern of the kernel driver
  Versions driver_version{};  // by a pattern of the kernel driver
  Cabling cabling{};          // the site's plan of this host's cables
  std::vector<std::string> listen{"0.0.0.0:10479", "[::]:10479"};  // exporter, when not socket-activated
  std::chrono::milliseconds max_age{5'000};  // exporter: older readings are read again when a scrape asks
  std::vector<std::string> exclude;          // globs of RDMA devices never opened
  unsigned series_limit = 4'000;
  Published published;
  std::vector<std::string> ethtool;          // globs of ethtool statistics published under the driver's own names
  std::chrono::milliseconds optics{60'000};  // agentd: how often modules are read; 0: never
  std::chrono::milliseconds sample_interval{1'000};  // of the burst sampler; 0: it does not run
  double sample_cpu_budget = 0.02;  // CPU time that all its threads together may take, as a share of one core
  RulePolicy rules{};
  std::map<std::string, std::string, std::less<>> origin;  // "exporter.listen" -> "FILE:LINE"; absent: the default
};

// The entry for the port, or null: the port is left alone. InfiniBand ports, VFs (their settings belong to the PF) and
// ports without a netdev have none.
const PortPolicy* policy_for(const Policy& policy, const Port& port);
// Whether the entry matches the port, or would if its link were up: one that is down does not have the speed that an
// entry may ask for.
bool may_match(const PortPolicy& entry, const Port& port);
// Why it is left alone: "subfunction: ...", "no [[port]] entry matches"; empty where it has an entry.
std::string why_left_alone(const Policy& policy, const Port& port);

// Whether an entry of the policy matches by role, which needs the topology.
bool asks_for_role(const Policy& policy);
// The settings that some entry of the policy sets: no others are worth reading.
Keys wanted_keys(const Policy& policy);

}  // namespace fabric
