// SPDX-License-Identifier: Apache-2.0
// Helpers for checks: findings, and which ports are compared with each other.
#pragma once

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

// The state of a setting by its dry run, for check, status, diagnose and the metrics: the outcome is that of the
// running agent where this knows more (the result of its write, a value that only root can read), and in_sync where
// nothing can be judged or done (a virtual function, FEC without a link); `from` says why then.
Change with_agents_word(const Node& node, Change change);

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

// Why a port is down by design; nullopt: it is not down, or should be up. By design are, while another port is active:
// the second port of a card if equal ports on other cards are down too; an onboard port; a port that is
// administratively down or has no module if no equal port is active and it is not beside a GPU. Not one that was up
// in `before`, or whose cable is planned.
std::optional<std::string> why_unused(const View& view, const Port& port);
// By its position a port that may be unused, though something is plugged into it: worth a warning.
bool may_be_spare(const View& view, const Port& port);

// True if Port::unread names the subject.
bool is_unread(const Port& port, std::string_view subject);

// The reason in Port::unread for the subject ("settings", "gids", ...), else "not readable as this user, or ...".
std::string why_unread(const Port& port, std::string_view subject);

}  // namespace fabric
