// SPDX-License-Identifier: Apache-2.0
// The queue counters of mlx5's firmware (devlink health reporter "vnic") as fabric-agentd read them:
// /run/fabric-agent/vnic.json, written whole and renamed into place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/capture/root.h"
#include "node/port.h"

namespace fabric::state {

inline constexpr const char* kVnicFile = "run/fabric-agent/vnic.json";

// The device whose devlink instance has the port's reporters: its PCI function, or a subfunction, "mlx5_core.sf.4".
// Empty: none.
inline const std::string& devlink_device(const Port& port) { return is_subfunction(port) ? port.owner : port.pci; }
// Whether the reporter "vnic" counts the queues of this machine's programs: not of a function that none of them opens.
inline bool has_counted_queues(const Port& port) { return is_own_device(port) || is_endpoint(port); }

struct Vnic {
  // devlink_device() -> HealthReporter::diagnosis. Without functions that have no such reporter or could not be read.
  std::map<std::string, std::map<std::string, uint64_t>> functions{};
  double interval = 60;  // seconds from one reading to the next
  double age = 0;        // seconds since this reading
  double read = 0;       // its time, in seconds since boot
};

// `read` and `now` are seconds since boot.
std::string vnic_text(const Vnic& vnic, double read);
// Parses vnic_text(); ESTALE if it is older than longest_age() (node/published.h) at `now` (absent: the time of
// writing).
Result<Vnic> parse_vnic(std::string_view text, const std::string& name, std::optional<double> now);

// nullopt: no file. The current time is proc/uptime below the root.
Result<std::optional<Vnic>> load_vnic(const Root& root);

// Fills HealthReporter::diagnosis of the port's reporter "vnic", unless this process has read it itself.
void add_vnic(Port& port, const Vnic& vnic);

}  // namespace fabric::state
