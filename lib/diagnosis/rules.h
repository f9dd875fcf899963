// SPDX-License-Identifier: Apache-2.0
// The families of rules, in the order in which they are asked.
#pragma once

#include "diagnosis/diagnosis.h"

namespace fabric {

std::span<const Rule> link_rules();        // link_rules.cpp
std::span<const Rule> cable_rules();       // cable_rules.cpp
std::span<const Rule> setting_rules();     // setting_rules.cpp
std::span<const Rule> pcie_rules();        // pcie_rules.cpp
std::span<const Rule> host_rules();        // receiver_rules.cpp
std::span<const Rule> congestion_rules();  // congestion_rules.cpp
std::span<const Rule> path_rules();        // loss_rules.cpp
std::span<const Rule> far_end_rules();     // receiver_rules.cpp
std::span<const Rule> loss_rules();        // loss_rules.cpp

}  // namespace fabric
