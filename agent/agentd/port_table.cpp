// SPDX-License-Identifier: Apache-2.0
#include "agentd/port_table.h"

#include <algorithm>

#include "base/find.h"

namespace fabric::agentd {

// udevd ends the processing of an event, and with it a renaming, after this time (event_timeout= of udev.conf(5)).
static constexpr std::chrono::seconds kUdevEventTimeout{180};

bool waits_for_speed(const Policy& policy, const Port& port) {
  return std::ranges::any_of(policy.ports, [&](const PortPolicy& entry) { return may_match(entry, port); });
}

Renames PortTable::note_renames(std::map<std::string, Port>& present, bool is_whole) {
  // A bond that is formed or ended has a new RDMA device, which no job can have open.
  const auto keeps_netdev = [](const Port& port) { return !port.is_member() && port.role != PortRole::bond; };
  // A netdev may have a second RDMA device (rxe).
  const auto has_device = [](const auto& ports, const std::string& id, int ifindex) {
    const auto* port = find_in(ports, id);
    return port != nullptr && port->ifindex == ifindex;
  };
  if (!is_whole) {
    std::set<int> found;
    for (const auto& [id, port] : present) found.insert(port.ifindex);
    std::erase_if(present, [&](const auto& each) {
      const PortEntry* own = find_in(entries_, each.first);
      return own != nullptr && !found.contains(own->port.ifindex) && !ids_on(each.second.ifindex, {}).empty();
    });
  }
  Renames known, expected;
  for (const auto& [id, port] : present) {
    const PortEntry* own = find_in(entries_, id);
    if (port.ifindex == 0 || !keeps_netdev(port) || (own != nullptr && own->port.ifindex == port.ifindex)) continue;
    const auto entry = std::ranges::find_if(entries_, [&, &port = port](const auto& each) {
      const Port& before = each.second.port;
      return before.ifindex == port.ifindex && before.number == port.number && before.pci == port.pci &&
             before.kernel_driver == port.kernel_driver && keeps_netdev(before) &&
             !has_device(present, each.first, port.ifindex);
    });
    if (entry != entries_.end()) {
      known.emplace_back(entry->first, id);
      continue;
    }
    // Another port of the earlier agent may have had this name: ports that exchanged their names.
    const std::optional<int>* same = find_in(expected_, id);
    if (same != nullptr && (!*same || *same == port.ifindex)) continue;
    const auto earlier = std::ranges::find_if(expected_, [&, &port = port](const auto& each) {
      return each.second == port.ifindex && each.first.find('@') == std::string::npos &&
             !has_device(present, each.first, port.ifindex);
    });
    if (earlier != expected_.end()) expected.emplace_back(earlier->first, id);
  }
  rename_ids(entries_, known);
  rename_ids(expected_, expected);
  known.insert(known.end(), expected.begin(), expected.end());
  rename_ids(seen_before_, known);
  if (!is_whole)
    for (const auto& [id, entry] : entries_) present.emplace(id, entry.port);
  return known;
}

std::vector<Port> PortTable::drop_missing(const std::map<std::string, Port>& present) {
  std::vector<Port> gone;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (present.contains(entry->first)) {
      ++entry;
      continue;
    }
    gone.push_back(std::move(entry->second.port));
    entry = entries_.erase(entry);
  }
  return gone;
}

PortTable::TakeResult PortTable::take(const std::string& id, Port port, const Policy& policy) {
  auto [place, is_new] = entries_.try_emplace(id);
  PortEntry& entry = place->second;
  using Kind = TakeResult::Kind;
  TakeResult found;
  // Another ifindex means another device, so its values are not drift. A renamed netdev is the same device.
  if (is_new || entry.port.ifindex != port.ifindex) found.device = Kind::other;
  else if (entry.port.netdev != port.netdev) found.device = Kind::renamed;
  if (found.device == Kind::other) {
    const PortEntry last = std::exchange(entry, {.port = {}, .carrier = port.carrier});
    if (const auto expected = expected_.find(id); expected != expected_.end()) {
      if (!expected->second || *expected->second == port.ifindex) entry.arrival = Arrival::settled;
      expected_.erase(expected);
      seen_before_.insert(id);
    } else if (expects_all_) {
      entry.arrival = Arrival::settled;
    }
    // A netdev that could not be found for a moment, and has its index again, is not a new device.
    if (port.ifindex == 0 && last.arrival == Arrival::settled) expected_[id] = last.port.ifindex;
    entry.seen.recreated = !seen_before_.insert(id).second && entry.arrival == Arrival::appeared;
  }
  const PortPolicy* before = policy_for(policy, entry.port);
  if (!port.speed) port.speed = entry.port.speed;  // without a link the last known speed is used for matching
  entry.port = std::move(port);                    // the match also depends on speed and role
  found.other_entry = policy_for(policy, entry.port) != before;
  if (found.device == Kind::renamed && before == nullptr && entry.arrival == Arrival::unmatched)
    entry.arrival = Arrival::renamed;
  return found;
}

PortTable::LinkEvents PortTable::link_changed(const rtnl::Link& link) {
  LinkEvents events;
  for (const std::string& id : ids_on(link.ifindex, {})) {
    PortEntry& entry = entries_.at(id);
    events.rescan = events.rescan || entry.port.netdev != link.name;
    // One message may cover a carrier that went down and up within a second; carrier_down_count shows that
    // (net/core/link_watch.c).
    const bool flapped =
        entry.carrier_downs && link.carrier_down_count && *entry.carrier_downs != *link.carrier_down_count;
    if (link.carrier == true && (entry.carrier == false || flapped)) events.carrier_up = true;
    if (flapped || link.carrier == false) entry.seen.carrier_lost = true;
    entry.carrier = link.carrier;
    entry.carrier_downs = link.carrier_down_count;
  }
  return events;
}

std::vector<std::string> PortTable::links_recovered() {
  std::vector<std::string> recovered;
  for (const auto& [id, entry] : entries_) {
    if (entry.port.ifindex == 0 || !entry.port.carrier) continue;
    rtnl::Link seen;
    seen.ifindex = entry.port.ifindex;
    seen.name = entry.port.netdev;
    seen.carrier = entry.port.carrier;
    if (const auto& downs = entry.port.counters.carrier_down) seen.carrier_down_count = static_cast<uint32_t>(*downs);
    const bool known = entry.carrier == seen.carrier && entry.carrier_downs == seen.carrier_down_count;
    if (known || !link_changed(seen).carrier_up) continue;
    for (std::string& each : ids_on(seen.ifindex, {})) recovered.push_back(std::move(each));
  }
  return recovered;
}

void PortTable::passed_unmatched(PortEntry& entry, const Policy& policy, qos::Instant now) {
  entry.seen.notified.clear();
  if (entry.arrival == Arrival::appeared) entry.unmatched_since = now;
  if (entry.arrival != Arrival::appeared && entry.arrival != Arrival::awaits_speed) return;
  entry.arrival = Arrival::unmatched;
  if (waits_for_speed(policy, entry.port)) entry.arrival = Arrival::awaits_speed;
}

void PortTable::passed(PortEntry& entry) {
  entry.arrival = Arrival::settled;
  entry.seen = {};
}

bool PortTable::is_new(const PortEntry& entry, qos::Instant now) {
  switch (entry.arrival) {
    case Arrival::appeared:
    case Arrival::awaits_speed: return true;
    case Arrival::renamed: return entry.unmatched_since && now - *entry.unmatched_since < kUdevEventTimeout;
    case Arrival::unmatched:
    case Arrival::settled: break;
  }
  return false;
}

PortEntry* PortTable::find(const std::string& id) { return find_in(entries_, id); }

std::vector<std::string> PortTable::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, entry] : entries_) all.push_back(id);
  return all;
}

std::vector<Port> PortTable::ports() const {
  std::vector<Port> all;
  for (const auto& [id, entry] : entries_) all.push_back(entry.port);
  return all;
}

std::vector<std::string> PortTable::ids_on(int ifindex, const std::string& netdev) const {
  std::vector<std::string> found;
  for (const auto& [id, entry] : entries_) {
    const bool same_name = ifindex == 0 && !netdev.empty() && entry.port.netdev == netdev;
    if (same_name || (ifindex != 0 && entry.port.ifindex == ifindex)) found.push_back(id);
  }
  return found;
}

}  // namespace fabric::agentd
