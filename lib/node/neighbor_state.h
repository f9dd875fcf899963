// SPDX-License-Identifier: Apache-2.0
// The neighbors that fabric-lldp.service has heard: /run/fabric-lldp/neighbors.json, written whole and renamed into
// place.
#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "kernel/capture/root.h"
#include "wire/neighbor.h"

namespace fabric {

// A neighbor as in the file, whose neighbors have one source. `fabric-agentctl neighbors --json` adds the source, and
// replaces the time by the age.
void to_json(Json& json, const Neighbor& neighbor);

}  // namespace fabric

namespace fabric::state {

inline constexpr const char* kNeighborFile = "run/fabric-lldp/neighbors.json";
inline constexpr const char* kLldpSource = "fabric-lldp";
// Seconds: the listener writes at least every kNeighborHeartbeat; a file older than kNeighborFileAge is stale.
inline constexpr double kNeighborHeartbeat = 60, kNeighborFileAge = 150;
// Seconds from a neighbor's frame until it is in the file, at most.
inline constexpr double kNeighborDelay = 15;

// Times are seconds since boot, as in NeighborTable.
std::string neighbors_text(const Neighbors& neighbors, double updated);
// Parses neighbors_text(). `now` (absent: the time of writing) turns times into lengths of time: `age` is filled, and
// `listening` becomes a duration. Leaves out neighbors whose time to live is over.
Result<Neighbors> parse_neighbors(std::string_view text, const std::string& name, std::optional<double> now);

// The file itself, with times in seconds since boot.
struct NeighborFile : Neighbors {
  double updated = 0;
};

// nullopt: no listener (no file, or a stale one). The current time is proc/uptime below the root.
Result<std::optional<Neighbors>> load_neighbors(const Root& root);
// load_neighbors() for repeated calls: only a text that differs from the last one is parsed.
class NeighborReader {
 public:
  Result<std::optional<Neighbors>> load(const Root& root);

 private:
  std::string text_;
  std::optional<Result<NeighborFile>> last_;
};
Result<void> save_neighbors(const std::string& directory, const Neighbors& neighbors, double updated);

}  // namespace fabric::state
