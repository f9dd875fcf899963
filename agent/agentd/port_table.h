// SPDX-License-Identifier: Apache-2.0
// The present ports: their devices and links by scans and link messages, and the evidence collected since their last
// pass.
#pragma once

#include "enforce/drift.h"
#include "enforce/suspect.h"
#include "kernel/netlink/rtnl.h"
#include "node/state.h"
#include "policy/policy.h"

namespace fabric::agentd {

// How a port came under management. It decides whether its next pass waits for the maintenance window.
enum class Arrival : uint8_t {
  appeared,      // no pass yet: no job depends on its settings, so the first pass does not wait
  awaits_speed,  // no entry matched, but one may once the link has a speed: the first pass with an entry does not wait
  unmatched,     // no entry matched: if one matches later, jobs may use the port by then, so its pass waits
  renamed,       // renamed while no entry matched: the pass does not wait if udev did it, right after the port appeared
  settled,       // had its first pass, under this agent or an earlier one of this boot: later passes wait
};

// How far the last pass of a port came.
enum class PassEnd : uint8_t {
  whole,  // it read the port to its end; also before the first pass
  lost,   // an answer was lost: a full socket buffer, a timeout
  gone,   // ENODEV: the netdev is gone or another device's, or its driver has detached it
};

// Evidence collected since the last pass of a port: it shows who changed a setting that the next pass finds changed.
struct Sightings {
  bool recreated = false;  // the device is a new one (driver reload): its values are the driver's defaults
  bool carrier_lost = false;
  bool settled = false;  // Driver::settle has written PFC as it was, which the kernel announces like a foreign write
  std::map<NotificationKind, std::vector<qos::Candidate>> notified{};  // possible writers, by kind of notification
};

struct PortEntry {
  Port port;
  Qos have{};  // the settings, as the last pass has read them
  Arrival arrival = Arrival::appeared;
  std::optional<qos::Instant> unmatched_since{};  // time of the first pass without an entry
  Sightings seen{};
  PassEnd end = PassEnd::whole;
  unsigned cut_short = 0;  // passes in a row that did not end whole
  // A pass that was cut short, maybe of an earlier agent, may have switched global pause or PFC off and not have come
  // to the other one, which replaces it: until a pass finds one of them on.
  bool may_lack_pause_and_pfc = true;
  std::optional<Qos> lost_protection{};  // Reconciled::lost_protection of a whole pass, until then
  unsigned unsettled = 0;                // failures in a row to settle the port
  bool waits_for_member = false;         // in the last pass: for the link of another member of the bond
  bool changed = false;                  // the last pass has read other values than the one before
  std::optional<bool> carrier{};
  std::optional<uint32_t> carrier_downs{};
};

// Ports whose RDMA devices were renamed: ids before and after.
using Renames = std::vector<std::pair<std::string, std::string>>;
// Moves the elements of a map or set of ids. Two ports may have exchanged their names.
template <class Ids>
void rename_ids(Ids& ids, const Renames& renames) {
  std::vector<typename Ids::node_type> moved;
  for (const auto& [before, after] : renames) {
    auto node = ids.extract(before);
    if (!node) continue;
    if constexpr (requires { node.mapped(); }) node.key() = after;
    else node.value() = after;
    moved.push_back(std::move(node));
  }
  for (auto& node : moved) {
    if constexpr (requires { node.mapped(); }) ids.erase(node.key());
    ids.insert(std::move(node));
  }
}

class PortTable {
 public:
  // The result of take().
  struct TakeResult {
    enum class Kind : uint8_t {
      same,
      renamed,  // the same device has a netdev of a new name
      other,    // the port was absent, or had another netdev
    } device = Kind::same;
    bool other_entry = false;  // a different entry of the policy matches
  };
  // The result of link_changed().
  struct LinkEvents {
    bool rescan = false;      // a netdev was renamed
    bool carrier_up = false;  // the ports must be settled
  };

  // Announces a port that an earlier agent managed in this boot, with its ifindex if that agent published it: it is not
  // new.
  void expect(const std::string& id, std::optional<int> ifindex) { expected_[id] = ifindex; }
  // An earlier agent of this boot managed ports, and which ones is unknown: until expect_no_more(), no port is new.
  void expect_all() { expects_all_ = true; }
  // All ports that are present have been taken: a port that appears later is new.
  void expect_no_more() { expects_all_ = false; }
  // Renames the ports whose netdevs have another RDMA device's name now, also if that happened while no agent ran: they
  // are the same devices. Call it with each scan, before drop_missing(). `is_whole` false: the scan may lack ports. The
  // known ports that it lacks are added to `present`, because they are not gone. A port that has the name of one of
  // them is left out until that one is found, too: they may have exchanged their names.
  Renames note_renames(std::map<std::string, Port>& present, bool is_whole);
  // Removes the ports that are not among `present`, and returns them.
  std::vector<Port> drop_missing(const std::map<std::string, Port>& present);
  // Adds or updates a port that a scan has found.
  TakeResult take(const std::string& id, Port port, const Policy& policy);
  // Updates the ports on the netdev from a link message.
  LinkEvents link_changed(const rtnl::Link& link);
  // The ports whose carrier, by the last scan, returned without a link message: it was lost, or sent before we
  // listened.
  std::vector<std::string> links_recovered();

  // Records a pass that found no matching entry.
  void passed_unmatched(PortEntry& entry, const Policy& policy, qos::Instant now);
  // Records a pass that has compared the settings. Clears the evidence.
  static void passed(PortEntry& entry);
  // True if the next pass need not wait for the maintenance window.
  static bool is_new(const PortEntry& entry, qos::Instant now);

  [[nodiscard]] PortEntry* find(const std::string& id);
  [[nodiscard]] const std::map<std::string, PortEntry>& entries() const { return entries_; }
  [[nodiscard]] std::vector<std::string> ids() const;
  [[nodiscard]] std::vector<Port> ports() const;
  // The ids of the ports on the netdev, by index or, if that is 0, by name.
  [[nodiscard]] std::vector<std::string> ids_on(int ifindex, const std::string& netdev) const;

 private:
  std::map<std::string, PortEntry> entries_;
  std::map<std::string, std::optional<int>> expected_;
  bool expects_all_ = false;
  std::set<std::string> seen_before_;  // in this boot
};

// True if an entry may match the port once its link has a speed. Call it for a port without a matching entry.
bool waits_for_speed(const Policy& policy, const Port& port);

}  // namespace fabric::agentd
