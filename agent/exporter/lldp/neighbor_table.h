// SPDX-License-Identifier: Apache-2.0
// Neighbours by the netdev on which they were heard, as long as their time to live lasts. No I/O, no clock: times are
// seconds since boot, given by the caller.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/neighbor.h"

namespace fabric {

class NeighborTable {
 public:
  // A cable has one end there; a few more are firmware's agents beside the host's, or a hub. Whoever floods a port with
  // names cannot drive out those that are known.
  static constexpr size_t kPerPort = 4;

  // From now on these are listened to (ifindex -> name). One that is renamed keeps what was heard, one that is not
  // named any more is forgotten. True: something changed.
  bool listen(const std::map<int, std::string>& netdevs, double now);
  // A time to live of 0 takes the neighbour out at once. True: somebody is new, gone, or says something else than
  // before. Of an ifindex that is not listened to: nothing.
  bool hear(int ifindex, Neighbor neighbor, double now);
  // Takes out whose time is over.
  bool expire(double now);
  // When the next one's time is over.
  [[nodiscard]] std::optional<double> next_expiry() const;

  // Times as seconds since boot: Neighbor::heard, and in `listening` since when.
  [[nodiscard]] Neighbors neighbors() const;

 private:
  struct Port {
    std::string name;
    double since = 0;
    std::vector<Neighbor> heard{};
  };
  std::map<int, Port> ports_;
};

}  // namespace fabric
