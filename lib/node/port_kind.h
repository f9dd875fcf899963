// SPDX-License-Identifier: Apache-2.0
// What kind of port it is, and what could not be read of it.
#pragma once

#include "node/node.h"

namespace fabric {

// "200 Gb/s"
std::string rate_text(double bytes_per_second);

// A number of four digits or, from 10,000 on, whole; without trailing zeros: "2.5", "16", "50000".
std::string number_text(double value);

// False for virtual functions (checked in the guest) and members of a bond (checked with the bond).
inline bool is_judged(const Port& port) { return !port.virtual_function && !port.is_member(); }

// A virtual function shows the module of its physical one, a bond that of none.
inline bool has_cage(const Port& port) {
  return !port.netdev.empty() && !port.virtual_function && port.bond != port.netdev && !port.pci.empty();
}

inline bool is_active(const Port& port) { return port.state == kPortActive; }

// iWARP (soft-iWARP, Chelsio, Intel in that mode) runs over TCP: no RoCE GIDs, no RoCE path MTU.
inline bool is_roce(const Port& port) { return port.link_layer == LinkLayer::ethernet && !port.iwarp && !port.usnic; }

// Ports that should be equal: same driver, model, link layer, and the same position on the card (the second port of a
// dual-port card often serves another network).
bool are_twins(const Port& a, const Port& b);

// "This host disabled the port": the netdev is administratively down, or the physical state of an InfiniBand port is
// Disabled. (RoCE drivers report Disabled for every port without a link.)
bool is_switched_off(const Port& port);

// True if Port::unread names the subject.
bool is_unread(const Port& port, std::string_view subject);

// The reason in Port::unread for the subject ("settings", "gids", ...), else "not readable as this user, or ...".
std::string why_unread(const Port& port, std::string_view subject);

}  // namespace fabric
