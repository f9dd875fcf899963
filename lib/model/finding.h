// SPDX-License-Identifier: Apache-2.0
// How the checks of this folder say what they found, and which ports they compare with each other.
#pragma once

#include <string>
#include <vector>

#include "model/report.h"
#include "model/view.h"

namespace fabric {

inline Finding good(std::string subject, std::string observed, std::string expected) {
  return Finding{{}, std::move(subject), Status::ok, std::move(observed), std::move(expected), {}, {}};
}

inline Finding bad(Status status, std::string subject, std::string observed, std::string expected, std::string meaning,
                   std::string remedy) {
  return Finding{
      {}, std::move(subject), status, std::move(observed), std::move(expected), std::move(meaning), std::move(remedy)};
}

// A dry run sees that the port differs; only the running agent knows that it tried, and what became of it.
Change with_agents_word(const Node& node, Change change);

// A link's rate in the unit everybody uses for it: "200 Gb/s".
std::string rate_text(double bytes_per_second);

// A number without trailing zeros: "2.5", "16".
std::string number_text(double value);

// Virtual functions are judged where they are used, in the guest; a bond's members with the bond.
inline bool is_judged(const Port& port) { return !port.virtual_function && !port.is_member(); }

inline constexpr unsigned kPortActive = 4;  // enum ib_port_state (rdma/ib_verbs.h)
inline bool is_active(const Port& port) { return port.state == kPortActive; }

// iWARP (soft-iWARP, Chelsio, Intel's in that mode) runs over TCP: it has neither RoCE's GIDs nor its path MTU.
inline bool is_roce(const Port& port) { return port.link_layer == LinkLayer::ethernet && !port.iwarp; }

// Ports that a machine's builder meant to be alike: same driver, adapter model, link layer, and the same place on the
// card (a dual-port card's second port often serves another network).
bool are_twins(const Port& a, const Port& b);

// "0000:17:00" of "0000:17:00.1": the card that a function is on. Empty for software devices.
std::string card_of(const std::string& pci);

// A port that is down and that nobody wants a link of: the second one of its card, whose twins on other cards are down
// too; or one that this host has switched off, of a model that came with the board: no other of it has a link, and one
// with more PCIe has.
bool is_unused(const View& view, const Port& port);

// Does Port::unread name the subject?
bool is_unread(const Port& port, std::string_view subject);

// The reason that Port::unread gives for the subject ("settings", "gids", ...), else "not readable as this user or
// not offered by this kernel".
std::string why_unread(const Port& port, std::string_view subject);

}  // namespace fabric
