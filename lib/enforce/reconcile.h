// SPDX-License-Identifier: Apache-2.0
// Compares, writes only differences, one kind at a time, and reads back. The only code that changes a NIC.
#pragma once

#include "node/port_settings.h"
#include "policy/policy.h"

namespace fabric::qos {

struct Options {
  bool dry_run = false;  // a plan: nothing is written, "differs" / "pending" instead
  Disruptive disruptive = Disruptive::idle;
  bool window_open = true;   // the maintenance window; while it is closed, disruptive writes wait
  Keys only = Keys().set();  // the others are left alone
  // Derived from others (traffic, cnp): not reported where the driver does not offer one.
  Keys derived{};
  // True if a user's queue pair is open on the port. Called before each disruptive write. Null: never busy.
  std::function<bool(const Port&)> busy;
  // Keys that are in conflict on this port: reported, not written.
  std::function<bool(const Port&, SettingId)> conflict;
  // Called once per port before its first write with its reading: must make it durable; on failure nothing is written.
  std::function<Result<void>(const Port&, const Qos& before)> save_original;
  // Called after each accepted write, so that its notification is not taken for a foreign one.
  std::function<void(const Port&, SettingId)> wrote;
};

// One Change per setting that `want` gives, in the order of kSettings. `port.qos` is set to the last reading. A second
// call finds nothing to write, but for what this one reported as pending, refused or ignored. Does not wait for a link
// that its writes took down: call settle() when the carrier is back.
Changes reconcile(Kernel& kernel, Port& port, const Qos& want, const Options& options);

// To be called when the port's carrier has come up (Driver::settle).
Result<void> settle(Kernel& kernel, const Port& port);

// True if a process, or a connection of the kernel (NVMe-oF, NFS, Lustre), has a queue pair on the port or on a virtual
// function or subfunction of it, or a process memory registered with such a device (RDMA netlink), if a guest has such
// a function open (vfio), or another network namespace its RDMA device (rdma system netns exclusive). True also when it
// cannot be known: a job may be running.
bool is_in_use(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
