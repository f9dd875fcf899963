// SPDX-License-Identifier: Apache-2.0
#include "node/vnic_state.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/find.h"
#include "base/json.h"
#include "nic/vnic.h"
#include "node/optics_state.h"

namespace fabric::state {

static void from_json(const Json& json, Vnic& vnic) {
  read_required(json, "read", vnic.read);
  read_required(json, "interval", vnic.interval);
  read_number(json, "read", vnic.read, 0.0, kLatestTime);
  read_number(json, "interval", vnic.interval, 0.0, kLatestTime);
  read_member(json, "functions", vnic.functions);
}

std::string vnic_text(const Vnic& vnic, double read) {
  return state_text({{"read", std::floor(read)}, {"interval", vnic.interval}, {"functions", vnic.functions}});
}

Result<Vnic> parse_vnic(std::string_view text, const std::string& name, std::optional<double> now) {
  auto out = read_state<Vnic>(text, name);
  if (!out) return out;
  out->age = std::max(0.0, now.value_or(out->read) - out->read);
  if (out->age > longest_age(out->interval))
    return stale(name, out->age, "fabric-agentd does not read the counters any more");
  return out;
}

Result<std::optional<Vnic>> load_vnic(const Root& root) {
  return parse_file(root.read_foreign(kVnicFile), kVnicFile, [&](std::string_view text, const std::string& name) {
    return parse_vnic(text, name, uptime(root));
  });
}

Result<void> save_vnic(const std::string& directory, const Vnic& vnic, double read) {
  return replace_file(directory, kVnicFile, vnic_text(vnic, read));
}

void add_vnic(Port& port, const Vnic& vnic) {
  const auto* counters = find_in(vnic.functions, port.pci);
  HealthReporter* reporter = find_where(
      port.reporters, [](const HealthReporter& each) { return each.name == kVnicReporter && each.diagnosis.empty(); });
  if (counters != nullptr && reporter != nullptr) reporter->diagnosis = *counters;
}

}  // namespace fabric::state
