// SPDX-License-Identifier: Apache-2.0
// The operator's configuration, as config.h reads it from TOML.
#pragma once

#include "node/node.h"
#include "policy/rules.h"
#include "setting/setting_table.h"

namespace fabric {

enum class Disruptive : uint8_t { idle, now, never };
template <>
inline constexpr std::string_view kEnumWords<Disruptive>[] { "idle", "now", "never" };

// The behavior of the network, which decides the settings of a port and the meaning of its counters.
//   lossless: PFC on every hop (IEEE 802.1Qbb).
//   scheduled: the leaf holds packets until the receiver's leaf grants credits, and sends them as cells over all paths
//     ("Disaggregated Scheduled Fabric", Meta 2025: virtual output queues and credits). PFC is between NIC and leaf
//     alone, and switches do not mark (ECN).
//   lossy: no PFC; switches mark, and the NIC sends lost packets again ("roce lossy" of NVIDIA Onyx: congestion control
//     based on ECN marking only, no PFC).
enum class FabricKind : uint8_t { lossless, scheduled, lossy };
template <>
inline constexpr std::string_view kEnumWords<FabricKind>[] { "lossless", "scheduled", "lossy" };

struct Fabric {
  FabricKind kind = FabricKind::lossless;
  bool adaptive_routing = false, spraying = false;  // by the switches; by the NICs, or packet by packet
  [[nodiscard]] bool reorders() const { return adaptive_routing || spraying; }
  [[nodiscard]] bool is_lossy() const { return kind == FabricKind::lossy; }
  bool operator==(const Fabric&) const = default;
};

// The ports of an entry. Each list that is not empty must have a pattern (glob) that matches the port.
struct Match {
  std::vector<std::string> driver;  // the kernel driver's name or ours: "mlx5_core", "mlx5"
  std::vector<std::string> rdma;    // "mlx5_*"
  std::vector<std::string> netdev;  // "ens*"
  std::vector<std::string> pci;     // address: "0000:17:*"
  std::vector<std::string> pci_id;  // vendor and device: "15b3:1021"
  std::vector<std::string> speed;   // Mb/s: "400000"
  std::vector<std::string> numa;    // NUMA node: "0"
  std::vector<std::string> role;    // of PortPlace: "compute", "host"
  bool operator==(const Match&) const = default;
};

// The mark of one kind of RoCE packet: the DSCP of its IP header, and the priority that the DSCP maps to.
struct Mark {
  uint8_t dscp = 0, priority = 0;
  bool operator==(const Mark&) const = default;
};

struct PortPolicy {
  std::string name;  // of the [[port]] entry, else "port#1"
  Match match;
  Qos want;
  std::string where;                              // "FILE:LINE" of the entry
  std::array<std::string, kSettingCount> origin;  // "FILE:LINE" of each value
  // Settings derived from traffic and cnp. It is not reported if a driver does not support one of them.
  Keys derived{};
  std::optional<Mark> traffic{}, cnp{};        // RoCE data and CNPs: the entry's, else the file's, else the profile's
  std::string traffic_origin{}, cnp_origin{};  // "FILE:LINE"
  std::string profile{}, profile_origin{};     // the profile that the entry starts from; empty: none
  Fabric fabric{};                             // the entry's, else the file's, else the profile's, each value by itself
  std::string fabric_origin{};                 // "FILE:LINE" of the entry's or profile's; empty: neither has one
  // The operator knows that the entry's ports may carry the machine's default route: without it these are never written
  // disruptively.
  bool front_end = false;
  std::string front_end_origin{};  // "FILE:LINE"
};

// The DSCP of RoCE data as a traffic class byte: DSCP x 4, and ECT(0) (RFC 3168), so that switches can mark.
constexpr unsigned traffic_class_of(unsigned dscp) { return dscp << 2U | 2U; }
// The traffic class with a DSCP that has PFC in the map: DSCP 26, the example of most vendors, if it has PFC, else the
// first. nullopt: none has PFC.
std::optional<unsigned> roce_traffic_class(const DscpMap& map, PrioSet pfc);
// The traffic class that the entry sets; a byte written there may be without ECT(0). nullopt: the entry has none.
std::optional<unsigned> roce_traffic_class(const PortPolicy& entry);
// RoCE's priorities by the entry: those with PFC, and on a lossy fabric that of traffic.
PrioSet roce_priorities(const PortPolicy& entry);

// A conflict: another writer changes a setting `rounds` times within `window`.
struct ConflictRule {
  unsigned rounds = 5;
  std::chrono::milliseconds window{60'000};
};

// Days and local time of day at which disruptive writes are allowed. If `to` is before `from`, it is on the next day.
struct Window {
  uint8_t days = 0x7f;        // bit 0 Sunday ... bit 6 Saturday (as tm_wday)
  unsigned from = 0, to = 0;  // minutes of the day
  bool operator==(const Window&) const = default;
};
// Whether `minute` of `weekday` (0 Sunday) is inside one of the windows. True if there are none.
bool in_window(const std::vector<Window>& windows, int weekday, unsigned minute);

// The treatment of a port that no [[port]] entry matches any more after a reload.
enum class Release : uint8_t { leave, restore };
template <>
inline constexpr std::string_view kEnumWords<Release>[] { "leave", "restore" };

// Which RDMA hardware counters the exporter publishes under their drivers' own names, in addition to the common ones.
enum class RawCounters : uint8_t { unmapped, all };
template <>
inline constexpr std::string_view kEnumWords<RawCounters>[] { "unmapped", "all" };

// Series that the exporter publishes only on request. Each group has some 30 to 500 series on a node with eight NICs.
enum class SeriesGroup : uint8_t { module_limits, casts, lanes, bursts, checks, owners, timings };
template <>
inline constexpr std::string_view kEnumWords<SeriesGroup>[] {
  "module_limits", "casts", "lanes", "bursts", "checks", "owners", "timings"
};

// Metrics published in addition to the default series.
struct Published {
  RawCounters raw = RawCounters::unmapped;
  std::vector<SeriesGroup> groups{};
  [[nodiscard]] bool has(SeriesGroup group) const;
};

// Expected hardware of the site's machines ([expect]). Without a value, the machine's own symmetry is the measure.
struct Expect {
  std::optional<unsigned> gpus{}, compute_nics{};
  std::optional<PathClass> path_class{};  // the worst path between a GPU and its NIC
  std::optional<unsigned> gid_index{};    // index of the RoCE v2 GID on every compute port
  std::optional<uint32_t> speed{};        // speed of every compute port, Mb/s
  bool operator==(const Expect&) const = default;
};

// Allowed versions (patterns) by board id, PCI id or driver.
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
  Fabric fabric{};  // of ports without an entry, and of entries without their own
  Expect expect{};
  Versions firmware{};        // by board id, PCI id ("15b3:1021") or a pattern of the kernel driver
  Versions driver_version{};  // by a pattern of the kernel driver
  Cabling cabling{};          // the site's plan of this host's cables
  std::vector<std::string> listen{"0.0.0.0:10479", "[::]:10479"};  // exporter, if it is not socket-activated
  std::chrono::milliseconds max_age{5'000};                        // exporter: a scrape renews older readings
  std::vector<std::string> exclude;                                // globs of RDMA devices that are never opened
  unsigned series_limit = 4'000;
  Published published;
  std::vector<std::string> ethtool;          // globs of ethtool statistics published under the driver's own names
  std::chrono::milliseconds optics{60'000};  // fabric-agentd: interval between readings of modules; 0: never
  std::chrono::milliseconds sample_interval{1'000};  // of the burst sampler; 0: it does not run
  double sample_cpu_budget = 0.02;  // CPU time of all threads of the burst sampler, as a share of one core
  RulePolicy rules{};
  std::map<std::string, std::string, std::less<>> origin;  // "exporter.listen" -> "FILE:LINE"; absent: the default
};

// The entry for the port, or null if the port is unmanaged. InfiniBand ports, VFs (the PF has their settings) and ports
// without a netdev have no entry.
const PortPolicy* policy_for(const Policy& policy, const Port& port);
// Whether the entry matches the port, or may match it when its link is up: a link that is down has no speed.
bool may_match(const PortPolicy& entry, const Port& port);
// Why the port is unmanaged: "subfunction: ...", "no [[port]] entry matches"; empty if it has an entry.
std::string why_unmanaged(const Policy& policy, const Port& port);
// The entry that matches the unmanaged port in everything but match.role; null if there is none.
const PortPolicy* entry_but_for_role(const Policy& policy, const Port& port);

// Whether an entry of the policy matches by role, which needs the topology.
bool matches_by_role(const Policy& policy);
// The settings that an entry of the policy sets; others need not be read.
Keys wanted_keys(const Policy& policy);

}  // namespace fabric
