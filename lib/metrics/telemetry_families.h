// SPDX-License-Identifier: Apache-2.0
// Telemetry of ports and devices other than counters -> families. Pure. A value that was not read has no series.
#pragma once

#include "metrics/family.h"
#include "model/node.h"
#include "model/policy.h"

namespace fabric {

// device and port: "mlx5_0", "1"; of a bond's member "mlx5_bond_0", "1@ens1f0np0", as in Port::id().
Labels port_labels(const Port& port);

// Every port and device of the node, in order of importance. Call it after add_counters(): a sum that the counters have
// already given (link downs, FEC words) is not added again.
void add_telemetry(FamilySet& families, const Node& node, const Published& published = {});

// The parts.
void add_link_status(FamilySet& families, const Port& port);
void add_fec(FamilySet& families, const Port& port, const Published& published = {});
void add_module(FamilySet& families, const Port& port, const Published& published = {});
// `device` is the first port of the device.
void add_device(FamilySet& families, const Port& device, const Platform& platform, const Published& published = {});

}  // namespace fabric
