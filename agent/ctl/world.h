// SPDX-License-Identifier: Apache-2.0
// What the verbs read: kernel, configuration, and the two compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ctl/options.h"
#include "kernel/kernel.h"
#include "model/change.h"
#include "scan/scan.h"
#include "settings/reconcile.h"
#include "settings/sysctl.h"

namespace fabric::ctl {

using Plan = std::map<std::string, Changes>;  // by port id

struct World {
  Kernel kernel;
  std::optional<Policy> policy;
  std::string no_policy;  // why there is none
};

// Opens the kernel (or captured tree) and reads the configuration. A configuration that is missing or faulty is told in
// `no_policy`, unless --config names it: then it is an Error.
Result<World> open_world(const Options& options);
// As open_world, but without a configuration there is no answer.
Result<World> open_configured_world(const Options& options);

// Seconds since 1970, of a captured machine those at which it was captured.
int64_t wall_now(const Kernel& kernel);

// Refuses an apply of other settings than a running agent enforces, which it would undo at once. One that is just
// reading its configuration again is given `patience`.
Result<void> refuse_against_other_config(const World& world, std::chrono::milliseconds patience);

// A scan that leaves out what the policy excludes.
Node look(World& world, ScanOptions what);

// Is the port meant by --port? No list means every port.
bool is_chosen(const Options& options, const Port& port);
// The Error names a --port that no port of the node is, nor, where the verb has something to say of it, the host.
Result<void> check_ports(const Options& options, const Node& node);

// How this program reconciles: the policy's rule for disruptive writes, unless the command line gives one.
qos::Options reconcile_options(World& world, const Options& options);
// The same for one port: its own settings, and which of them the entry derives.
qos::Options port_options(qos::Options options, const Port& port, const PortPolicy& entry);

// The settings of the host itself ([sysctl]) stand beside the ports under this name.
inline constexpr const char* kHost = "host";
bool names_host(const Options& options);
Changes host_changes(World& world, bool dry_run, decltype(qos::SysctlOptions::save_original) save);

// A dry run of every chosen port that the policy has an entry for. Empty for a captured tree: its settings cannot be
// read.
Plan make_plan(World& world, Node& node, const Options& options);

}  // namespace fabric::ctl
