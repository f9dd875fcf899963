// SPDX-License-Identifier: Apache-2.0
#include "node/neighbor_state.h"

#include "base/files.h"
#include "node/optics_state.h"
#include "setting/record.h"

namespace fabric {

constexpr FieldRule kSeconds{.min = 0, .max = int64_t{1} << 40};

template <>
inline constexpr std::tuple kFields<DcbxEts>{
    Field{"willing", &DcbxEts::willing}, Field{"max_classes", &DcbxEts::max_classes, {.max = UINT8_MAX}},
    Field{"prio_tc", &DcbxEts::prio_tc}, Field{"bw", &DcbxEts::bw}, Field{"tsa", &DcbxEts::tsa}};
template <>
inline constexpr std::tuple kFields<DcbxPfc>{Field{"willing", &DcbxPfc::willing}, Field{"mbc", &DcbxPfc::mbc},
                                             Field{"capability", &DcbxPfc::capability, {.max = UINT8_MAX}},
                                             Field{"enabled", &DcbxPfc::enabled, {.required = true}}};
template <>
inline constexpr std::tuple kFields<DcbxApp>{Field{"selector", &DcbxApp::selector, {.required = true, .max = 7}},
                                             Field{"protocol", &DcbxApp::protocol, {.required = true}},
                                             Field{"priority", &DcbxApp::priority, {.required = true, .max = 7}}};
template <>
inline constexpr std::tuple kFields<Neighbor>{Field{"netdev", &Neighbor::netdev, {.required = true}},
                                              Field{"chassis_id", &Neighbor::chassis_id},
                                              Field{"port_id", &Neighbor::port_id},
                                              Field{"port_description", &Neighbor::port_description},
                                              Field{"system_name", &Neighbor::system_name},
                                              Field{"system_description", &Neighbor::system_description},
                                              Field{"ttl", &Neighbor::ttl, {.max = UINT16_MAX}},
                                              Field{"heard", &Neighbor::heard, kSeconds},
                                              Field{"management", &Neighbor::management},
                                              Field{"max_frame", &Neighbor::max_frame, {.max = UINT16_MAX}},
                                              Field{"vlan", &Neighbor::vlan, {.max = UINT16_MAX}},
                                              Field{"malformed", &Neighbor::malformed},
                                              Field{"dcbx", &Neighbor::dcbx},
                                              Field{"ets", &Neighbor::ets},
                                              Field{"ets_recommended", &Neighbor::ets_recommended},
                                              Field{"pfc", &Neighbor::pfc},
                                              Field{"app", &Neighbor::app}};
template <>
inline constexpr std::tuple kFields<state::NeighborFile>{
    Field{"updated", &state::NeighborFile::updated, {.required = true, .min = 0, .max = kSeconds.max}},
    Field{"source", &Neighbors::source}, Field{"listening", &Neighbors::listening, kSeconds},
    Field{"neighbor", &Neighbors::heard}};

static std::string value_toml(const PrioSet& set) { return std::to_string(set.bits); }
static MaybeProblem read_value(const toml::node& node, const FieldRule& rule, PrioSet& out) {
  return read_value(node, rule, out.bits);
}

namespace state {
namespace {

// Times become lengths of time as seen at `now`.
void look_back(Neighbors& neighbors, double now) {
  for (auto& [netdev, since] : neighbors.listening) since = std::max(0.0, now - since);
  for (Neighbor& neighbor : neighbors.heard) neighbor.age = std::max(0.0, now - neighbor.heard);
  if (neighbors.source == kLldpSource)
    std::erase_if(neighbors.heard, [](const Neighbor& each) { return each.age > each.ttl + kNeighborDelay; });
}

Result<NeighborFile> read_file(std::string_view text, const std::string& name) {
  auto out = parse_record<NeighborFile>(text, name);
  if (!out) return out;
  if (out->source.empty()) out->source = kLldpSource;
  for (Neighbor& neighbor : out->heard) neighbor.source = out->source;
  return out;
}

Result<Neighbors> seen_at(NeighborFile file, const std::string& name, std::optional<double> now) {
  const double seen = now.value_or(file.updated);
  if (seen - file.updated > kNeighborFileAge) return stale(name, seen - file.updated, "its writer hangs or is gone");
  look_back(file, seen);
  return Neighbors(std::move(file));
}

}  // namespace

std::string neighbors_toml(const Neighbors& neighbors, double updated) {
  return document_toml("# Written by fabric-lldp.service; see fabric-exporter(8). Times are seconds since boot.\n",
                       NeighborFile{neighbors, updated});
}

Result<Neighbors> parse_neighbors(std::string_view text, const std::string& name, std::optional<double> now) {
  auto file = read_file(text, name);
  if (!file) return file.error();
  return seen_at(std::move(*file), name, now);
}

Result<std::optional<Neighbors>> NeighborReader::load(const Root& root) {
  const std::string name = std::string("/") + kNeighborFile;
  auto text = root.read_foreign(kNeighborFile);
  if (!text && text.error().code == ENOENT) return std::optional<Neighbors>{};
  if (!text) return text.error();
  if (!last_ || *text != text_) {
    last_ = read_file(*text, name);
    text_ = std::move(*text);
  }
  if (!*last_) return last_->error();
  auto neighbors = seen_at(**last_, name, uptime(root));
  if (!neighbors) return neighbors.error();
  return std::optional(std::move(*neighbors));
}

Result<std::optional<Neighbors>> load_neighbors(const Root& root) { return NeighborReader().load(root); }

Result<void> save_neighbors(const std::string& directory, const Neighbors& neighbors, double updated) {
  return replace_file(directory, kNeighborFile, neighbors_toml(neighbors, updated));
}

}  // namespace state
}  // namespace fabric
