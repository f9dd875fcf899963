// SPDX-License-Identifier: Apache-2.0
// Helpers for checks: findings, and which ports are compared with each other.
#pragma once

#include "judge/report.h"
#include "judge/view.h"
#include "node/port_kind.h"

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

// Why a port is down by design; nullopt: it is not down, or should be up. By design are, while another port is active:
// the second port of a card if equal ports on other cards are down too; an onboard port; a port that is
// administratively down or has no module if no equal port is active and it is not beside a GPU. Not one that was up
// in `before`, or whose cable is planned.
std::optional<std::string> why_unused(const View& view, const Port& port);
// By its position a port that may be unused, though something is plugged into it: worth a warning.
bool may_be_spare(const View& view, const Port& port);

}  // namespace fabric
