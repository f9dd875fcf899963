// SPDX-License-Identifier: Apache-2.0
#include "exporter/lldp/neighbor_table.h"

#include <algorithm>

namespace fabric {
namespace {

double end_of(const Neighbor& neighbor) { return neighbor.heard + neighbor.ttl; }

}  // namespace

bool NeighborTable::listen(const std::map<int, std::string>& netdevs, double now) {
  bool changed = std::erase_if(netdevs_, [&](const auto& netdev) { return !netdevs.contains(netdev.first); }) > 0;
  for (const auto& [ifindex, name] : netdevs) {
    auto [netdev, is_new] = netdevs_.try_emplace(ifindex, Netdev{name, now});
    if (!is_new && netdev->second.name == name) continue;
    changed = true;
    netdev->second.name = name;
    for (Neighbor& neighbor : netdev->second.heard) neighbor.netdev = name;
  }
  return changed;
}

bool NeighborTable::hear(int ifindex, Neighbor neighbor, double now) {
  const auto netdev = netdevs_.find(ifindex);
  if (netdev == netdevs_.end()) return false;
  auto& heard = netdev->second.heard;
  const auto known = std::ranges::find_if(heard, [&](const Neighbor& each) {
    return each.chassis_id == neighbor.chassis_id && each.port_id == neighbor.port_id;
  });
  if (neighbor.ttl == 0) {
    if (known == heard.end()) return false;
    heard.erase(known);
    netdev->second.since = now;
    return true;
  }
  neighbor.ttl = std::min(neighbor.ttl, kLongestTtl);
  neighbor.netdev = netdev->second.name;
  neighbor.heard = now;
  if (known == heard.end()) {
    if (heard.size() == kPerPort) {
      const auto overdue = std::ranges::find_if(heard, [&](const Heard& each) {
        double patience = kPatience;
        if (each.again) patience = each.ttl / 2.0;
        return now - each.heard > patience;
      });
      if (overdue == heard.end()) return false;
      heard.erase(overdue);
    }
    heard.push_back({std::move(neighbor)});
    return true;
  }
  known->again = true;
  known->heard = now;
  Neighbor& previous = *known;
  if (previous == neighbor) return false;
  previous = std::move(neighbor);
  return true;
}

bool NeighborTable::expire(double now) {
  size_t gone = 0;
  for (auto& each : netdevs_) {
    Netdev& netdev = each.second;
    gone += std::erase_if(netdev.heard, [&](const Neighbor& neighbor) {
      const bool over = end_of(neighbor) <= now;
      if (over) netdev.since = std::max(netdev.since, neighbor.heard);
      return over;
    });
  }
  return gone > 0;
}

std::optional<double> NeighborTable::next_expiry() const {
  std::optional<double> next;
  for (const auto& [ifindex, netdev] : netdevs_)
    for (const Neighbor& each : netdev.heard) next = std::min(next.value_or(end_of(each)), end_of(each));
  return next;
}

Neighbors NeighborTable::neighbors() const {
  Neighbors out;
  for (const auto& [ifindex, netdev] : netdevs_) {
    out.listening.emplace(netdev.name, netdev.since);
    out.heard.insert(out.heard.end(), netdev.heard.begin(), netdev.heard.end());
  }
  return out;
}

}  // namespace fabric
