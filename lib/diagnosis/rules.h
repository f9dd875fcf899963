// SPDX-License-Identifier: Apache-2.0
// The families of rules, in the order in which they are asked.
#pragma once

#include "diagnosis/diagnosis.h"

namespace fabric {

std::span<const Rule> link_off_rules();    // link_rules.cpp
std::span<const Rule> optics_rules();      // optics_rules.cpp
std::span<const Rule> link_mode_rules();   // link_rules.cpp
std::span<const Rule> link_error_rules();  // link_error_rules.cpp
std::span<const Rule> setting_rules();     // setting_rules.cpp
std::span<const Rule> pcie_rules();        // pcie_rules.cpp
std::span<const Rule> receiver_rules();    // receiver_rules.cpp
std::span<const Rule> pause_rules();       // receiver_rules.cpp
std::span<const Rule> congestion_rules();  // congestion_rules.cpp
std::span<const Rule> loss_rules();        // loss_rules.cpp

}  // namespace fabric
