// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "exporter/lldp/lldp.h"

namespace fabric {
namespace {

double end_of(const Neighbor& neighbor) { return neighbor.heard + neighbor.ttl; }

}  // namespace

bool NeighborTable::listen(const std::map<int, std::string>& netdevs, double now) {
  bool changed = std::erase_if(ports_, [&](const auto& port) { return !netdevs.contains(port.first); }) > 0;
  for (const auto& [ifindex, name] : netdevs) {
    auto [port, is_new] = ports_.try_emplace(ifindex, Port{name, now});
    if (!is_new && port->second.name == name) continue;
    changed = true;
    port->second.name = name;
    for (Neighbor& neighbor : port->second.heard) neighbor.netdev = name;
  }
  return changed;
}

bool NeighborTable::hear(int ifindex, Neighbor neighbor, double now) {
  const auto port = ports_.find(ifindex);
  if (port == ports_.end()) return false;
  auto& heard = port->second.heard;
  const auto known = std::ranges::find_if(heard, [&](const Neighbor& each) {
    return each.chassis_id == neighbor.chassis_id && each.port_id == neighbor.port_id;
  });
  if (neighbor.ttl == 0) {
    if (known == heard.end()) return false;
    heard.erase(known);
    port->second.since = now;
    return true;
  }
  neighbor.ttl = std::min(neighbor.ttl, kLongestTtl);
  neighbor.netdev = port->second.name;
  neighbor.heard = now;
  if (known == heard.end()) {
    if (heard.size() == kPerPort) {
      const auto overdue = std::ranges::find_if(
          heard, [&](const Entry& each) { return now - each.heard > (each.again ? each.ttl / 2.0 : kPatience); });
      if (overdue == heard.end()) return false;
      heard.erase(overdue);
    }
    heard.push_back({std::move(neighbor)});
    return true;
  }
  known->again = true;
  known->heard = now;
  Neighbor& was = *known;
  if (was == neighbor) return false;
  was = std::move(neighbor);
  return true;
}

bool NeighborTable::expire(double now) {
  size_t gone = 0;
  for (auto& each : ports_) {
    Port& port = each.second;
    gone += std::erase_if(port.heard, [&](const Neighbor& neighbor) {
      const bool over = end_of(neighbor) <= now;
      if (over) port.since = std::max(port.since, neighbor.heard);
      return over;
    });
  }
  return gone > 0;
}

std::optional<double> NeighborTable::next_expiry() const {
  std::optional<double> next;
  for (const auto& [ifindex, port] : ports_)
    for (const Neighbor& each : port.heard) next = std::min(next.value_or(end_of(each)), end_of(each));
  return next;
}

Neighbors NeighborTable::neighbors() const {
  Neighbors out;
  for (const auto& [ifindex, port] : ports_) {
    out.listening.emplace(port.name, port.since);
    out.heard.insert(out.heard.end(), port.heard.begin(), port.heard.end());
  }
  return out;
}

}  // namespace fabric
