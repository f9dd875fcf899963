// SPDX-License-Identifier: Apache-2.0
// Shared by the checks of group host: on which machines they apply.
#pragma once

#include <algorithm>
#include <string>

#include "model/view.h"

namespace fabric {

inline bool has_rdma(const View& view) { return !view.now.ports.empty(); }

// On a machine for GPU jobs over RDMA a slow CPU setting costs more than the power it saves.
inline bool has_gpus_and_rdma(const View& view) { return has_rdma(view) && !view.now.topology.gpus.empty(); }

// In a guest the host controls frequency, idle states and clocks.
inline bool is_virtual(const View& view) { return !view.now.topology.hypervisor.empty(); }

// The value in [sysctl] of fabric-agent.toml, which is the operator's choice; nullptr: none.
inline const std::string* wanted_sysctl(const View& view, const std::string& name) {
  if (view.policy == nullptr) return nullptr;
  return find_in(view.policy->sysctl, name);
}

}  // namespace fabric
