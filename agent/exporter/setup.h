// SPDX-License-Identifier: Apache-2.0
// What the program needs before it serves: its configuration, its sockets, where it keeps things, and whom it tells.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "exporter/options.h"
#include "model/policy.h"

namespace fabric::exporter {

// To the journal, at a level of sd-daemon(3), or to the terminal.
void log(const char* level, const std::string& text);

// SIGTERM, SIGINT and SIGHUP wait for the event loop. Before any thread, which inherits it, and first of all: a SIGHUP
// that comes while we start must not end us.
void block_signals();

struct Configuration {
  std::shared_ptr<const Policy> policy;  // null: none
  std::string why_none;
};
// What configuration there is; says its warnings. No file at the default place is no fault.
Result<Configuration> configure(const Options& options);

// The sockets that systemd passes, else those of the options, else of the policy.
Result<std::vector<Fd>> listeners(const Options& options, const Policy& policy);

// Where systemd lets the service keep what survives a restart, and what survives a boot; empty: it was not started so.
std::string state_directory();
std::string lasting_directory();

}  // namespace fabric::exporter
