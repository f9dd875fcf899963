// SPDX-License-Identifier: Apache-2.0
// Ports that are not physical functions.
#pragma once

#include <string>

#include "node/port.h"

namespace fabric::test {

inline void make_bond(Port& port, const std::string& name = "bond0") {
  port.role = PortRole::bond;
  port.netdev = port.bond = name;
}

// Keeps the port's netdev.
inline void make_member(Port& port, const std::string& bond = "bond0") {
  port.role = PortRole::bond_member;
  port.bond = bond;
}

inline void make_virtual(Port& port) { port.role = PortRole::virtual_function; }

}  // namespace fabric::test
