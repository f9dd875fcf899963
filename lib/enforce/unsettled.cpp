// SPDX-License-Identifier: Apache-2.0
#include "enforce/unsettled.h"

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

void Unsettled::remove(const std::string& id) {
  if (ports_.contains(id)) update([&](Entries& ports) { ports.erase(id); });
}

bool Unsettled::contains(const Port& port) const {
  const Entry* entry = find_in(ports_, port.id());
  return entry != nullptr && entry->device == port.ifindex;
}

std::optional<Instant> Unsettled::restart_of(const Port& port) const {
  constexpr auto kMost = std::chrono::floor<std::chrono::milliseconds>(Instant::duration::max());
  if (!contains(port)) return std::nullopt;
  const Entry& entry = ports_.at(port.id());
  if (!entry.restart || *entry.restart < 0 || *entry.restart > kMost.count()) return std::nullopt;
  return Instant(std::chrono::milliseconds(*entry.restart));
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
