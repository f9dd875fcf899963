// SPDX-License-Identifier: Apache-2.0
#include "agentd/unsettled.h"

#include "base/files.h"
#include "base/find.h"
#include "base/json.h"
#include "nic/driver.h"

namespace fabric::agentd {
namespace {

constexpr const char* kFile = "run/fabric-agent/unsettled.json";

Result<state::Devices> parse(std::string_view text, const std::string& name) {
  auto json = parse_state(text, name);
  if (!json) return json.error();
  state::Devices ports;
  try {
    read_member(*json, "ports", ports);
  } catch (const std::exception& fault) {
    return unreadable_state(name, fault);
  }
  return ports;
}

}  // namespace

void Unsettled::load() {
  if (environment_.read_only) return;
  const auto root = Root::open(environment_.directory);
  if (!root) return;
  auto ports = parse_file(root->read(kFile), kFile, parse);
  if (!ports) return errors_.once(ports.error().text() + "; ports that an earlier agent has written are not settled");
  ports_ = std::move(*ports).value_or(state::Devices{});
  for (const auto& [id, device] : ports_) left_.insert(id);
}

void Unsettled::add(const Port& port) {
  if (driver_for(port.kernel_driver, &environment_.kernel.root, port.netdev).settle == nullptr) return;
  const auto [known, is_new] = ports_.try_emplace(port.id(), port.ifindex);
  if (!is_new && known->second == port.ifindex) return;
  known->second = port.ifindex;
  save();
}

void Unsettled::remove(const std::string& id) {
  left_.erase(id);
  if (ports_.erase(id) != 0) save();
}

void Unsettled::new_device(const Port& port) {
  const int* device = find_in(ports_, port.id());
  if (device != nullptr && *device != port.ifindex) remove(port.id());
}

std::vector<std::string> Unsettled::left_with_link(const PortTable& table) {
  std::vector<std::string> out;
  for (const std::string& id : left_) {
    const PortEntry* entry = find_in(table.entries(), id);
    if (entry != nullptr && entry->carrier.value_or(false)) out.push_back(id);
  }
  for (const std::string& id : out) left_.erase(id);
  return out;
}

void Unsettled::save() {
  if (environment_.read_only) return;
  Result<void> done;
  if (ports_.empty()) done = remove_file(environment_.directory, kFile);
  else done = replace_file(environment_.directory, kFile, state_text({{"ports", ports_}}));
  if (!done)
    errors_.once(done.error().text() + "; after a restart of the agent, a port may have to be settled by hand");
}

}  // namespace fabric::agentd
