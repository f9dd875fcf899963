// SPDX-License-Identifier: Apache-2.0
// What the verbs that write share.
#pragma once

#include "base/fd.h"
#include "ctl/verbs.h"
#include "ctl/world.h"
#include "store/state.h"

namespace fabric::ctl {

// What every verb that writes asks before it touches anything: the root is this host's. Another is a captured tree.
Result<void> must_be_host(const Options& options);

struct Writer {
  World world;
  Fd lock;
  state::Originals originals;
  Node node;
};
// Takes the lock. Every refusal comes before the first write.
Result<Writer> open_writer(const Options& options, Result<World> world);

// Restores what an interrupted selftest has left.
Result<Changes> end_self_test(Writer& writer, const Options& options);

// fabric-agentd runs in enforce mode.
bool is_enforced(const World& world);

// Reports the error; kFailure.
int failure(const Error& error, Output& output);

}  // namespace fabric::ctl
