// SPDX-License-Identifier: Apache-2.0
#include "enforce/unsettled.h"

#include <algorithm>

#include "base/files.h"
#include "base/find.h"
#include "base/json.h"
#include "nic/driver.h"
#include "node/port_settings.h"

namespace fabric::qos {

FABRIC_JSON(Unsettled::Entry, device, restart)

std::string Unsettled::entries_text(const Entries& ports) { return state_text({{"ports", ports}}); }

Result<Unsettled::Entries> Unsettled::parse(std::string_view text, const std::string& name) {
  auto json = parse_state(text, name);
  if (!json) return json.error();
  Entries ports;
  try {
    read_member(*json, "ports", ports);
  } catch (const std::exception& fault) {
    return unreadable_state(name, fault);
  }
  return ports;
}

Unsettled::Unsettled(std::string directory, ReportError report)
    : directory_(std::move(directory)), report_(std::move(report)) {}

void Unsettled::load() {
  if (directory_.empty()) return;
  auto ports = read();
  if (ports) ports_ = std::move(*ports);
  else report_(ports.error().text() + "; ports that an earlier program has written are not settled");
}

void Unsettled::add(const Root& root, const Port& port, std::optional<Instant> restart) {
  const bool has_settle = driver_for(port.kernel_driver, &root, port.netdev).settle != nullptr;
  if ((!has_settle && bond_above(root, port).empty()) || (contains(port) && !restart)) return;
  Entry entry{.device = port.ifindex};
  if (restart) entry.restart = std::chrono::floor<std::chrono::milliseconds>(restart->time_since_epoch()).count();
  update([&](Entries& ports) { ports[port.id()] = entry; });
}

static bool is_of(const Unsettled::Entries::value_type& each, const Port& port) {
  return each.second.device == port.ifindex && (each.first == port.id() || port.ifindex != 0);
}

void Unsettled::remove(const Port& port) {
  const auto is_its = [&](const auto& each) { return each.first == port.id() || is_of(each, port); };
  if (std::ranges::any_of(ports_, is_its)) update([&](Entries& ports) { std::erase_if(ports, is_its); });
}

bool Unsettled::contains(const Port& port) const {
  return std::ranges::any_of(ports_, [&](const auto& each) { return is_of(each, port); });
}

std::optional<Instant> Unsettled::restart_of(const Port& port) const {
  constexpr auto kMost = std::chrono::floor<std::chrono::milliseconds>(Instant::duration::max());
  std::optional<int64_t> last;
  for (const auto& each : ports_)
    if (is_of(each, port)) last = std::max(last, each.second.restart);
  if (!last || *last < 0 || *last > kMost.count()) return std::nullopt;
  return Instant(std::chrono::milliseconds(*last));
}

std::set<std::string> Unsettled::ids() const {
  std::set<std::string> out;
  for (const auto& [id, device] : ports_) out.insert(id);
  return out;
}

Result<Unsettled::Entries> Unsettled::read() const {
  const auto root = Root::open(directory_);
  if (!root) return root.error();
  auto ports = parse_file(root->read(kFile), kFile, parse);
  if (!ports) return ports.error();
  return std::move(*ports).value_or(Entries{});
}

void Unsettled::update(const std::function<void(Entries&)>& change) {
  change(ports_);
  if (directory_.empty()) return;
  // Another program may have changed the file. One that cannot be read is replaced: it lasts for this boot only.
  Entries all = ports_;
  if (auto present = read()) {
    all = std::move(*present);
    change(all);
  }
  Result<void> done;
  if (all.empty()) done = remove_file(directory_, kFile);
  else done = replace_file(directory_, kFile, entries_text(all));
  if (!done)
    report_(done.error().text() + "; if this program ends before carrier-up, a port may have to be settled by hand");
}

}  // namespace fabric::qos
