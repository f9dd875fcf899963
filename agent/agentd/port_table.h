// SPDX-License-Identifier: Apache-2.0
// The ports that are there now: their devices and links, as scans and link messages show them, and what was seen of
// each since its last pass.
#pragma once

#include "enforce/drift.h"
#include "enforce/suspect.h"
#include "kernel/netlink/rtnl.h"
#include "node/state.h"
#include "policy/policy.h"

namespace fabric::agentd {

// How a port came under management. It decides whether its next pass waits for the maintenance window.
enum class Arrival : uint8_t {
  appeared,      // no pass yet: no job can depend on its settings, so that the first pass does not wait
  awaits_speed,  // no entry matched, and one may once the link has its speed: the first pass that has one does not wait
  unmatched,     // no entry matched: one that comes later finds jobs on the port
  renamed,       // renamed while no entry matched. udev does that right after it appears: then its pass does not wait
  settled,       // had its first pass, under this agent or an earlier one of this boot
};

// What was seen of a port since its last pass: evidence of who made a difference that the next pass finds.
struct Sightings {
  bool recreated = false;  // the device is a new one (driver reload): its values are the driver's defaults
  bool carrier_lost = false;
  std::map<NotificationKind, qos::SuspectProcess> notified{};  // with the writer, as far as one was found
};

struct PortEntry {
  Port port;
  Arrival arrival = Arrival::appeared;
  std::optional<qos::Instant> unmatched_since{};  // the first pass without an entry
  Sightings seen{};
  bool answered_enodev = false;  // in the last pass, although the netdev exists
  std::optional<bool> carrier{};
  std::optional<uint32_t> carrier_downs{};
};

class PortTable {
 public:
  // What a scan has shown of a port.
  struct Found {
    bool new_device = false;   // a port that was not there, or on another netdev
    bool renamed = false;      // the same device
    bool other_entry = false;  // another entry of the policy matches than before
  };
  // What a link message means for its ports.
  struct LinkEvents {
    bool rescan = false;      // renamed
    bool carrier_up = false;  // settle
  };

  // Ports that an earlier agent managed on this boot, with their ifindex as far as it published them: they are not new.
  void expect(const std::string& id, std::optional<int> ifindex) { expected_[id] = ifindex; }
  // Removes the ports that are not among `present`, and returns them.
  std::vector<Port> drop_missing(const std::map<std::string, Port>& present);
  Found take(const std::string& id, Port port, const Policy& policy);
  LinkEvents link_changed(const rtnl::Link& link);
  // Ports whose carrier returned without a link message (it was lost, or came before the first one), by the last scan.
  std::vector<std::string> links_recovered();

  // A pass found no matching entry.
  void passed_unmatched(PortEntry& entry, const Policy& policy, qos::Instant now);
  // A pass has compared the settings: the evidence is used up.
  static void passed(PortEntry& entry);
  // The next pass need not wait for the maintenance window.
  static bool is_new(const PortEntry& entry, qos::Instant now);

  [[nodiscard]] PortEntry* find(const std::string& id);
  [[nodiscard]] const std::map<std::string, PortEntry>& entries() const { return entries_; }
  [[nodiscard]] std::vector<std::string> ids() const;
  [[nodiscard]] std::vector<Port> ports() const;
  // The ids of the ports on the netdev, by index or, when that is 0, by name; empty: not ours.
  [[nodiscard]] std::vector<std::string> ids_on(int ifindex, const std::string& netdev) const;

 private:
  std::map<std::string, PortEntry> entries_;
  std::map<std::string, std::optional<int>> expected_;
  std::set<std::string> seen_before_;  // on this boot
};

// No entry matches the port, it has no link yet, and one that asks for a speed may be its own.
bool waits_for_speed(const Policy& policy, const Port& port);

}  // namespace fabric::agentd
