// SPDX-License-Identifier: Apache-2.0
// Shared by the verbs that write.
#pragma once

#include "ctl/machine.h"
#include "ctl/verbs.h"
#include "enforce/rounds.h"
#include "node/state.h"

namespace fabric::ctl {

// Time to wait for a lock: the agent holds the lock while it writes one port.
inline constexpr std::chrono::seconds kLockPatience{5};

// Fails if the root is a captured tree. Every verb that writes calls it before any write.
Result<void> must_be_host(const Options& options);

struct Writer {
  Machine machine;
  Fd lock;
  state::Originals originals;
  Node node;
};
// The conditions of writes that every verb shares with agentd: the members of a bond take turns, and the ports that a
// write may unsettle are recorded, for an agentd that starts before their links are back. Errors are added to `output`.
struct Pacing {
  Pacing(Machine& machine, const Node& node, const std::string& directory, Output& output);
  qos::Unsettled unsettled;
  qos::Turns turns;
};
// Takes the lock, unless nothing will be written (dry_run).
Result<Writer> open_writer(const Options& options, Result<Machine> machine);
// The ports, with the members of bonds and with the serial numbers of NICs, by which saved settings find their port.
Node scan_for_writing(Machine& machine);

// Calls qos::settle() for each port that has lost its carrier by these changes, once the carrier is back, for 10
// seconds at most. Ports without a link after that stay in `unsettled`. False: one has no link, or was not settled.
// `policy`: the one that was applied; null: none was.
bool settle_links(Kernel& kernel, const Node& node, const Changes& changes, qos::Unsettled& unsettled, Output& output,
                  const Policy* policy = nullptr);

// Refuses an apply if a running agent enforces another configuration and would undo it. Waits up to `patience` for an
// agent that is reloading.
Result<void> refuse_against_other_config(const Machine& machine, std::chrono::milliseconds patience);

// True if fabric-agentd runs in enforce mode.
bool is_enforced(const Machine& machine);

// Reports the error, and `advice` if a privilege is missing. Returns kFailure.
int failure(const Error& error, Output& output,
            const char* advice = "Writing requires CAP_NET_ADMIN: run it as root (sudo fabric-agentctl ...).\n");

}  // namespace fabric::ctl
