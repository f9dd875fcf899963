// SPDX-License-Identifier: Apache-2.0
#include "node/neighbor_state.h"

#include "base/files.h"
#include "base/json.h"
#include "node/published.h"

namespace fabric {

FABRIC_JSON_MEMBERS(DcbxEts, willing, max_classes, prio_tc, bw, tsa)

static void to_json(Json& json, const DcbxEts& ets) { write_members(json, ets); }

static void from_json(const Json& json, DcbxEts& ets) {
  read_members(json, ets);
  read_number(json, "max_classes", ets.max_classes, 0U, 255U);
}

static void to_json(Json& json, const DcbxPfc& pfc) {
  json = {
      {"willing", pfc.willing}, {"mbc", pfc.mbc}, {"capability", pfc.capability}, {"enabled", to_json(pfc.enabled)}};
}

static void from_json(const Json& json, DcbxPfc& pfc) {
  read_member(json, "willing", pfc.willing);
  read_member(json, "mbc", pfc.mbc);
  read_number(json, "capability", pfc.capability, 0U, 255U);
  read_required(json, "enabled", pfc.enabled);
}

static void to_json(Json& json, const DcbxApp& app) {
  json = {{"selector", app.selector}, {"protocol", app.protocol}, {"priority", app.priority}};
}

static void from_json(const Json& json, DcbxApp& app) {
  read_required(json, "selector", app.selector);
  read_required(json, "protocol", app.protocol);
  read_required(json, "priority", app.priority);
  if (app.selector > 7 || app.priority > 7) throw std::range_error("selector or priority: out of range");
}

FABRIC_JSON_MEMBERS(Neighbor, netdev, chassis_id, port_id, port_description, system_name, system_description, ttl,
                    heard, management, max_frame, vlan, malformed, dcbx, ets, ets_recommended, pfc, app)

void to_json(Json& json, const Neighbor& neighbor) { write_members(json, neighbor); }

static void from_json(const Json& json, Neighbor& neighbor) {
  read_required(json, "netdev", neighbor.netdev);
  read_members(json, neighbor);
  read_number(json, "ttl", neighbor.ttl, 0U, 65'535U);
  read_number(json, "heard", neighbor.heard, 0.0, state::kLatestTime);
}

namespace state {

static void from_json(const Json& json, NeighborFile& file) {
  read_required(json, "updated", file.updated);
  read_number(json, "updated", file.updated, 0.0, kLatestTime);
  read_member(json, "source", file.source);
  if (file.source.empty()) file.source = kLldpSource;
  read_member(json, "listening", file.listening);
  read_member(json, "neighbors", file.heard);
  for (Neighbor& neighbor : file.heard) neighbor.source = file.source;
}

namespace {

// Times become lengths of time up to `now`.
Result<Neighbors> seen_at(NeighborFile file, const std::string& name, std::optional<double> now) {
  const double seen = now.value_or(file.updated);
  if (seen - file.updated > kNeighborFileAge) return stale(name, seen - file.updated, "its writer hangs or is gone");
  for (auto& [netdev, since] : file.listening) since = std::max(0.0, seen - since);
  for (Neighbor& neighbor : file.heard) neighbor.age = std::max(0.0, seen - neighbor.heard);
  std::erase_if(file.heard, [](const Neighbor& each) { return each.age > each.ttl + kNeighborDelay; });
  return Neighbors(std::move(file));
}

}  // namespace

std::string neighbors_text(const Neighbors& neighbors, double updated) {
  return state_text({{"updated", updated},
                     {"source", neighbors.source},
                     {"listening", neighbors.listening},
                     {"neighbors", neighbors.heard}});
}

Result<Neighbors> parse_neighbors(std::string_view text, const std::string& name, std::optional<double> now) {
  auto file = read_state<NeighborFile>(text, name);
  if (!file) return file.error();
  return seen_at(std::move(*file), name, now);
}

Result<std::optional<Neighbors>> NeighborReader::load(const Root& root) {
  const auto parse = [&](const std::string& text, const std::string& name) -> Result<Neighbors> {
    if (!last_ || text != text_) {
      last_ = read_state<NeighborFile>(text, name);
      text_ = text;
    }
    if (!*last_) return last_->error();
    return seen_at(**last_, name, uptime(root));
  };
  return parse_file(root.read_foreign(kNeighborFile), kNeighborFile, parse);
}

Result<std::optional<Neighbors>> load_neighbors(const Root& root) { return NeighborReader().load(root); }

Result<void> save_neighbors(const std::string& directory, const Neighbors& neighbors, double updated) {
  return replace_file(directory, kNeighborFile, neighbors_text(neighbors, updated));
}

}  // namespace state
}  // namespace fabric
