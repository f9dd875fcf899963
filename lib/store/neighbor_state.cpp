// SPDX-License-Identifier: Apache-2.0
#include "store/neighbor_state.h"

#include "base/parse.h"
#include "store/files.h"
#include "store/toml_value.h"

namespace fabric::state {
namespace {

constexpr int64_t kMaxSeconds = int64_t{1} << 40;

// A member of a table, where it is there and in its range.
template <class Number>
bool get(const toml::table& table, std::string_view key, int64_t max, Number& out) {
  int64_t value = 0;
  const auto* node = table.get(key);
  if (node == nullptr || read_integer(*node, 0, max, value)) return false;
  out = static_cast<Number>(value);
  return true;
}

std::vector<std::string> texts_at(const toml::table& table, std::string_view key) {
  std::vector<std::string> out;
  each_of(table, key, [&](const toml::node& node) {
    if (std::string text; !read_text(node, text)) out.push_back(clean_text(text));
  });
  return out;
}

std::vector<int64_t> numbers_at(const toml::table& table, std::string_view key, int64_t max) {
  std::vector<int64_t> out;
  each_of(table, key, [&](const toml::node& node) {
    if (int64_t number = 0; !read_integer(node, 0, max, number)) out.push_back(number);
  });
  return out;
}

void eight_at(const toml::table& table, std::string_view key, Eight& out) {
  const auto numbers = numbers_at(table, key, UINT8_MAX);
  for (size_t i = 0; i < out.size() && i < numbers.size(); ++i) out[i] = static_cast<uint8_t>(numbers[i]);
}

std::optional<DcbxEts> ets_at(const toml::table& neighbor, std::string_view key) {
  const auto* table = table_at(neighbor, key);
  if (table == nullptr) return std::nullopt;
  DcbxEts out;
  out.willing = flag_at(*table, "willing");
  get(*table, "max_classes", UINT8_MAX, out.max_classes);
  eight_at(*table, "prio_tc", out.prio_tc);
  eight_at(*table, "bw", out.bw);
  eight_at(*table, "tsa", out.tsa);
  return out;
}

std::optional<DcbxPfc> pfc_at(const toml::table& neighbor) {
  const auto* table = table_at(neighbor, "pfc");
  DcbxPfc out;
  if (table == nullptr || !get(*table, "enabled", UINT8_MAX, out.enabled.bits)) return std::nullopt;
  out.willing = flag_at(*table, "willing");
  out.mbc = flag_at(*table, "mbc");
  get(*table, "capability", UINT8_MAX, out.capability);
  return out;
}

std::optional<std::vector<DcbxApp>> app_at(const toml::table& neighbor) {
  if (neighbor.get("app") == nullptr) return std::nullopt;
  std::vector<DcbxApp> out;
  each_of(neighbor, "app", [&](const toml::node& node) {
    const auto* table = node.as_table();
    DcbxApp app;
    if (table != nullptr && get(*table, "selector", 7, app.selector) &&
        get(*table, "protocol", UINT16_MAX, app.protocol) && get(*table, "priority", 7, app.priority))
      out.push_back(app);
  });
  return out;
}

Neighbor read_neighbor(const toml::table& table, const std::string& source) {
  Neighbor out;
  out.source = source;
  out.netdev = clean_text_at(table, "netdev");
  out.chassis_id = clean_text_at(table, "chassis_id");
  out.port_id = clean_text_at(table, "port_id");
  out.port_description = clean_text_at(table, "port_description");
  out.system_name = clean_text_at(table, "system_name");
  out.system_description = clean_text_at(table, "system_description");
  out.management = texts_at(table, "management");
  get(table, "ttl", UINT16_MAX, out.ttl);
  get(table, "heard", kMaxSeconds, out.heard);
  unsigned number = 0;
  if (get(table, "max_frame", UINT16_MAX, number)) out.max_frame = number;
  if (get(table, "vlan", UINT16_MAX, number)) out.vlan = number;
  out.dcbx = clean_text_at(table, "dcbx");
  out.ets = ets_at(table, "ets");
  out.ets_recommended = ets_at(table, "ets_recommended");
  out.pfc = pfc_at(table);
  out.app = app_at(table);
  out.malformed = texts_at(table, "malformed");
  return out;
}

std::string list_toml(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + toml_string(text);
  return "[" + out + "]";
}

std::string eight_toml(const Eight& eight) {
  std::string out;
  for (const uint8_t number : eight) out += (out.empty() ? "" : ", ") + std::to_string(number);
  return "[" + out + "]";
}

std::string flag_toml(bool flag) { return flag ? "true" : "false"; }

std::string ets_toml(std::string_view key, const std::optional<DcbxEts>& ets) {
  if (!ets) return {};
  return std::string(key) + " = { willing = " + flag_toml(ets->willing) +
         ", max_classes = " + std::to_string(ets->max_classes) + ", prio_tc = " + eight_toml(ets->prio_tc) +
         ", bw = " + eight_toml(ets->bw) + ", tsa = " + eight_toml(ets->tsa) + " }\n";
}

std::string dcbx_toml(const Neighbor& neighbor) {
  std::string out;
  if (!neighbor.dcbx.empty()) out += "dcbx = " + toml_string(neighbor.dcbx) + "\n";
  out += ets_toml("ets", neighbor.ets) + ets_toml("ets_recommended", neighbor.ets_recommended);
  if (const auto& pfc = neighbor.pfc)
    out += "pfc = { willing = " + flag_toml(pfc->willing) + ", mbc = " + flag_toml(pfc->mbc) +
           ", capability = " + std::to_string(pfc->capability) + ", enabled = " + std::to_string(pfc->enabled.bits) +
           " }\n";
  if (!neighbor.app) return out;
  std::string entries;
  for (const DcbxApp& app : *neighbor.app)
    entries += (entries.empty() ? "" : ", ") + ("{ selector = " + std::to_string(app.selector)) +
               ", protocol = " + std::to_string(app.protocol) + ", priority = " + std::to_string(app.priority) + " }";
  return out + "app = [" + entries + "]\n";
}

std::string seconds_toml(double seconds) { return std::to_string(static_cast<int64_t>(seconds)); }

std::string neighbor_toml(const Neighbor& neighbor) {
  std::string out = "\n[[neighbor]]\n";
  for (auto [key, text] : {std::pair{"netdev", &neighbor.netdev},
                           {"chassis_id", &neighbor.chassis_id},
                           {"port_id", &neighbor.port_id},
                           {"port_description", &neighbor.port_description},
                           {"system_name", &neighbor.system_name},
                           {"system_description", &neighbor.system_description}})
    if (!text->empty()) out += std::string(key) + " = " + toml_string(*text) + "\n";
  out += "ttl = " + std::to_string(neighbor.ttl) + "\nheard = " + seconds_toml(neighbor.heard) + "\n";
  if (!neighbor.management.empty()) out += "management = " + list_toml(neighbor.management) + "\n";
  if (neighbor.max_frame) out += "max_frame = " + std::to_string(*neighbor.max_frame) + "\n";
  if (neighbor.vlan) out += "vlan = " + std::to_string(*neighbor.vlan) + "\n";
  if (!neighbor.malformed.empty()) out += "malformed = " + list_toml(neighbor.malformed) + "\n";
  return out + dcbx_toml(neighbor);
}

// Times become lengths of time as seen at `now`.
void look_back(Neighbors& neighbors, double now) {
  for (auto& [netdev, since] : neighbors.listening) since = std::max(0.0, now - since);
  for (Neighbor& neighbor : neighbors.heard) neighbor.age = std::max(0.0, now - neighbor.heard);
  if (neighbors.source == kLldpSource)
    std::erase_if(neighbors.heard, [](const Neighbor& each) { return each.age > each.ttl + kNeighborDelay; });
}

Result<NeighborFile> read_file(std::string_view text, const std::string& name) {
  const auto read_table = parse_state(text, name);
  if (!read_table) return read_table.error();
  const toml::table& table = *read_table;
  NeighborFile out;
  if (!get(table, "updated", kMaxSeconds, out.updated)) return error(EBADMSG, name + ":1:1: no time in it");
  Neighbors& known = out.neighbors;
  known.source = clean_text_at(table, "source");
  if (known.source.empty()) known.source = kLldpSource;
  if (const auto* since_when = table_at(table, "listening"))
    for (auto&& [key, node] : *since_when) {
      const std::string_view netdev = key;
      if (double since = 0; get(*since_when, netdev, kMaxSeconds, since))
        known.listening.emplace(clean_text(netdev), since);
    }
  each_of(table, "neighbor", [&](const toml::node& node) {
    const auto* values = node.as_table();
    if (values == nullptr) return;
    if (Neighbor neighbor = read_neighbor(*values, known.source); !neighbor.netdev.empty())
      known.heard.push_back(std::move(neighbor));
  });
  return out;
}

Result<Neighbors> seen_at(NeighborFile file, const std::string& name, std::optional<double> now) {
  const double seen = now.value_or(file.updated);
  if (seen - file.updated > kNeighborFileAge)
    return error(ESTALE, name + ": written " + std::to_string(static_cast<int64_t>(seen - file.updated)) +
                             " s ago: its writer hangs or is gone");
  look_back(file.neighbors, seen);
  return std::move(file.neighbors);
}

}  // namespace

std::string neighbors_toml(const Neighbors& neighbors, double updated) {
  std::string out = "# Written by fabric-lldp.service; see fabric-exporter(8). Times are seconds since boot.\n";
  out += "updated = " + seconds_toml(updated) + "\n";
  if (!neighbors.source.empty() && neighbors.source != kLldpSource)
    out += "source = " + toml_string(neighbors.source) + "\n";
  out += "\n[listening]\n";
  for (const auto& [netdev, since] : neighbors.listening)
    out += toml_string(netdev) + " = " + seconds_toml(since) + "\n";
  for (const Neighbor& neighbor : neighbors.heard) out += neighbor_toml(neighbor);
  return out;
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
  std::optional<double> now;
  if (const auto uptime = root.read_line("proc/uptime"))
    if (const auto fields = words(*uptime); !fields.empty()) now = parse_double(fields.front());
  auto neighbors = seen_at(**last_, name, now);
  if (!neighbors) return neighbors.error();
  return std::optional(std::move(*neighbors));
}

Result<std::optional<Neighbors>> load_neighbors(const Root& root) { return NeighborReader().load(root); }

Result<void> save_neighbors(const std::string& directory, const Neighbors& neighbors, double updated) {
  return replace_file(directory, kNeighborFile, neighbors_toml(neighbors, updated));
}

}  // namespace fabric::state
