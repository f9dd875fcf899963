// SPDX-License-Identifier: Apache-2.0
// Planes: the ports among which the traffic of one GPU is divided.
#pragma once

#include "judge/view.h"

namespace fabric {

struct GpuPlanes {
  std::string gpus;                // "GPU3"; "GPU2 and GPU3" if they share the ports
  std::vector<const Port*> ports;  // without unused second ports
  std::vector<std::string> lost;   // functions that were built in and have no port: "0000:34:00.1 (missing)"
};
// The planes of each GPU that has several, counted as it was built: the ports of its NIC if all are on one card, or its
// NICs if [cabling] planes names each as another plane. Other NICs of a GPU are NICs of their own, and each counts.
std::vector<GpuPlanes> planes_of_gpus(const View& view);

// Whether the port is down while another plane of its GPU is ACTIVE: `planes` reports it by the GPU's bandwidth.
bool is_lost_plane(const std::vector<GpuPlanes>& all, const Port& port);

// Marks findings about links and counters of ports whose planes are in maintenance as acknowledged by the policy.
void mark_maintenance(const View& view, Report& report);

}  // namespace fabric
