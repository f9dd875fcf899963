// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/neighbor.h"

namespace fabric {

// The neighbors by netdev, until their time to live is over. No I/O, no clock: the caller passes times as seconds since
// boot.
class NeighborTable {
 public:
  // A cable has one neighbor. A hub has more, and a firmware agent can send beside the host's agent. If there are more
  // than this, a new neighbor replaces one that was heard only once or has missed a frame: neighbors that send once do
  // not displace the switch, and the same few neighbors of a hub stay.
  static constexpr size_t kPerPort = 4;
  // Seconds until the second frame is missing: one and a half times the default interval of 30 s.
  static constexpr double kPatience = 45;
  // A frame is valid for at most 18 h (802.1AB 8.5.4). Switches send every 30 s by default, and at least every hour
  // (msgTxInterval, 9.2.5.7).
  static constexpr unsigned kLongestTtl = 4 * 3600;

  // Sets the netdevs to listen on (ifindex -> name). A renamed netdev keeps its neighbors, a missing netdev loses them.
  // True: a netdev has changed.
  bool listen(const std::map<int, std::string>& netdevs, double now);
  // Adds or updates a neighbor, which is identified by chassis and port. A time to live of 0 removes it at once. True:
  // a neighbor is new, gone, or differs from before. Ignores an unknown ifindex.
  bool hear(int ifindex, Neighbor neighbor, double now);
  // Removes the neighbors with an expired time to live. True: a neighbor was removed.
  bool expire(double now);
  // When the next neighbor expires.
  [[nodiscard]] std::optional<double> next_expiry() const;

  // Times are seconds since boot: Neighbor::heard, and `listening`, the time since which the netdev is listened to, or
  // the last frame of its last lost neighbor.
  [[nodiscard]] Neighbors neighbors() const;

 private:
  struct Heard : Neighbor {
    bool again = false;  // heard more than once
  };
  struct Netdev {
    std::string name;
    double since = 0;
    std::vector<Heard> heard{};
  };
  std::map<int, Netdev> netdevs_;  // by ifindex
};

}  // namespace fabric
