// SPDX-License-Identifier: Apache-2.0
// The machine that a verb works on, live or captured, its policy, and the changes that apply would make.
#pragma once

#include "ctl/options.h"
#include "enforce/reconcile.h"
#include "node/scan.h"

namespace fabric::ctl {

struct Machine {
  Kernel kernel;
  std::optional<Policy> policy;
  std::optional<Error> no_policy{};  // the reason if there is no policy, or only the last valid one

  [[nodiscard]] const Policy* policy_or_null() const;
};

// Opens the kernel (or captured tree) and reads the configuration. If the configuration is missing or invalid,
// `no_policy` has the reason and `policy` is the last valid one, if any. If --config names that file, an Error instead.
Result<Machine> open_machine(const Options& options);
// Like open_machine(), but requires a valid configuration.
Result<Machine> open_configured_machine(const Options& options);

// Seconds since 1970; for a captured machine, the time of the capture.
int64_t wall_now(const Kernel& kernel);

// A scan without the ports that the policy excludes.
Node scan_machine(Machine& machine, ScanOptions what);

// Completes the GPUs by NVIDIA's library, or by what a capture has recorded of it. Without either nothing changes.
void ask_nvml(Machine& machine, Topology& topology);

// True if `name` is the port ("mlx5_0/1"), its RDMA device ("mlx5_0"), its netdev or an alternative name of the netdev.
bool names_port(const std::string& name, const Port& port);
// True if --port names the port, or is absent.
bool is_chosen(const Options& options, const Port& port);
// The Error names an unknown --port. The verbs that handle sysctl settings also accept `host`.
Result<void> check_ports(const Options& options, const Node& node);

// The terms of disruptive writes: --disruptive, else the policy's.
qos::Terms write_terms(Machine& machine, const Options& options, qos::WantedOf wanted_of);
// write_terms() of writes that apply the policy. The result refers to the machine and the node.
qos::Terms apply_terms(Machine& machine, const Node& node, const Options& options);

// Whether an entry of the configuration names the port as one that may carry the default route (qos::Terms::front_end).
// `machine` must outlive the function.
std::function<bool(const Port&)> front_end_of(const Machine& machine);

// True if --port names kHostSubject, or is absent.
bool names_host(const Options& options);

// A dry run of every chosen port with a policy. Empty for a captured tree without recorded settings.
Plan make_plan(Machine& machine, const Node& node, const Options& options);

}  // namespace fabric::ctl
