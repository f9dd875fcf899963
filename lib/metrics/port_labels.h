// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metrics/family.h"
#include "node/port.h"

namespace fabric {

// The labels device and port: "mlx5_0", "1". For a bond's member "mlx5_bond_0", "1@ens1f0np0", as in Port::id().
Labels port_labels(const Port& port);
Labels id_labels(std::string_view id);  // Port::id()

}  // namespace fabric
