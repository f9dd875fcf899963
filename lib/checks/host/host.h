// SPDX-License-Identifier: Apache-2.0
// What the checks of the group "host" have in common: on which machines they ask at all.
#pragma once

#include <algorithm>
#include <string>

#include "checks/check.h"

namespace fabric {

inline constexpr const char* kHostSubject = "host";

// Jobs of this machine use RDMA.
inline bool has_rdma(const View& view) { return !view.now.ports.empty(); }

// A machine that was bought for GPU jobs over RDMA: there a CPU setting costs more than the power it saves.
inline bool has_gpus_and_rdma(const View& view) { return has_rdma(view) && !view.now.topology.gpus.empty(); }

// Its host and not the guest decides over frequency, idle states and clocks.
inline bool is_virtual(const View& view) { return !view.now.topology.hypervisor.empty(); }

// The value that the configuration's [sysctl] table wants for it, or null: then the operator has chosen.
inline const std::string* wanted_sysctl(const View& view, const std::string& name) {
  if (view.policy == nullptr) return nullptr;
  const auto found = view.policy->sysctl.find(name);
  return found == view.policy->sysctl.end() ? nullptr : &found->second;
}

}  // namespace fabric
