// SPDX-License-Identifier: Apache-2.0
#include "node/vnic_state.h"

#include <cmath>

#include "base/files.h"
#include "base/find.h"
#include "base/json.h"
#include "nic/vnic.h"
#include "node/published.h"

namespace fabric::state {

static void from_json(const Json& json, Vnic& vnic) {
  read_times(json, vnic);
  read_member(json, "functions", vnic.functions);
}

std::string vnic_text(const Vnic& vnic, double read) {
  return state_text({{"read", std::floor(read)}, {"interval", vnic.interval}, {"functions", vnic.functions}});
}

Result<Vnic> parse_vnic(std::string_view text, const std::string& name, std::optional<double> now) {
  return parse_readings<Vnic>(text, name, now, "fabric-agentd does not read the counters any more");
}

Result<std::optional<Vnic>> load_vnic(const Root& root) {
  return parse_file(root.read_foreign(kVnicFile), kVnicFile, [&](std::string_view text, const std::string& name) {
    return parse_vnic(text, name, uptime(root));
  });
}

void add_vnic(Port& port, const Vnic& vnic) {
  const auto* counters = find_in(vnic.functions, devlink_device(port));
  HealthReporter* reporter = find_where(
      port.reporters, [](const HealthReporter& each) { return each.name == kVnicReporter && each.diagnosis.empty(); });
  if (counters != nullptr && reporter != nullptr) reporter->diagnosis = *counters;
}

}  // namespace fabric::state
