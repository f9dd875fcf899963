// SPDX-License-Identifier: Apache-2.0
// What fabric-lldp.service has heard: /run/fabric-lldp/neighbors.json, written whole and renamed into place.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "wire/neighbor.h"

namespace fabric::state {

inline constexpr const char* kNeighborFile = "run/fabric-lldp/neighbors.json";
inline constexpr const char* kLldpSource = "fabric-lldp";
// The listener writes at least that often; an older file is stale.
inline constexpr double kNeighborHeartbeat = 60, kNeighborFileAge = 150;
// How much later than it was heard a neighbor's frame may get into the file.
inline constexpr double kNeighborDelay = 15;

// Times as seconds since boot, as NeighborTable has them.
std::string neighbors_text(const Neighbors& neighbors, double updated);
// The same back, as seen at `now` (absent: when it was written): `age` is filled, `listening` says how long, those
// whose time is over are left out (of another source than the listener, none: it looks after that itself). Unreadable
// entries are left out as well.
Result<Neighbors> parse_neighbors(std::string_view text, const std::string& name, std::optional<double> now);

// The file itself, with times in seconds since boot.
struct NeighborFile : Neighbors {
  double updated = 0;
};

// nullopt: no listener (no file, or a stale one). The current time is proc/uptime below the root.
Result<std::optional<Neighbors>> load_neighbors(const Root& root);
// The same, for who asks again and again: only a text that is another one than last time is parsed.
class NeighborReader {
 public:
  Result<std::optional<Neighbors>> load(const Root& root);

 private:
  std::string text_;
  std::optional<Result<NeighborFile>> last_;
};
Result<void> save_neighbors(const std::string& directory, const Neighbors& neighbors, double updated);

}  // namespace fabric::state
