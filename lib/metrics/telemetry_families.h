// SPDX-License-Identifier: Apache-2.0
// What is watched of ports beside their counters -> families. Pure: what was not read has no series.
#pragma once

#include "metrics/family.h"
#include "model/node.h"

namespace fabric {

// device and port: "mlx5_0", "1"; of a bond's member "mlx5_bond_0", "1@ens1f0np0", as in Port::id().
Labels port_labels(const Port& port);

// Of every port and device of the node, in the order of worth. Behind add_counters(): of a sum that a port's counters
// have already given (link downs, FEC words), nothing is added.
void add_telemetry(FamilySet& families, const Node& node);

// The parts.
void add_link_status(FamilySet& families, const Port& port);
void add_fec(FamilySet& families, const Port& port);
void add_module(FamilySet& families, const Port& port);
// Of the device or its function: `device` is the first of its ports.
void add_device(FamilySet& families, const Port& device, const Platform& platform);

}  // namespace fabric
