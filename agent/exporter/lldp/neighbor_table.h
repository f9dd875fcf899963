// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/neighbor.h"

namespace fabric {

// Neighbors by the netdev on which they were heard, as long as their time to live lasts. No I/O, no clock: times are
// seconds since boot, given by the caller.
class NeighborTable {
 public:
  // A cable has one end there; a few more are firmware's agents beside the host's, or a hub. One more replaces one
  // that has not been heard a second time, or has missed a frame: names that are sent once do not keep out the switch,
  // and of a hub's many the same few stay.
  static constexpr size_t kPerPort = 4;
  // Seconds until a second frame is missing, by the default interval of 30 s.
  static constexpr double kPatience = 45;
  // A frame is valid for 18 h at most (802.1AB 8.5.4). Switches send every 30 s, and every hour at the slowest
  // (msgTxInterval, 9.2.5.7).
  static constexpr unsigned kLongestTtl = 4 * 3600;

  // Sets the netdevs to listen on (ifindex -> name). A renamed one keeps its neighbors, a missing one loses them. True:
  // something changed.
  bool listen(const std::map<int, std::string>& netdevs, double now);
  // A neighbor is known by its chassis and port: a new name replaces the old one. A time to live of 0 takes it out at
  // once. True: a neighbor is new, gone, or differs from before. Of an ifindex that is not listened to: nothing.
  bool hear(int ifindex, Neighbor neighbor, double now);
  // Takes out whose time is over.
  bool expire(double now);
  // When the next one's time is over.
  [[nodiscard]] std::optional<double> next_expiry() const;

  // Times as seconds since boot: Neighbor::heard, and in `listening` since when, or since the last frame of a neighbor
  // that is gone.
  [[nodiscard]] Neighbors neighbors() const;

 private:
  struct Heard : Neighbor {
    bool again = false;  // more than once
  };
  struct Netdev {
    std::string name;
    double since = 0;
    std::vector<Heard> heard{};
  };
  std::map<int, Netdev> netdevs_;  // by ifindex
};

}  // namespace fabric
