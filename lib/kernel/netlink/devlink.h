// SPDX-License-Identifier: Apache-2.0
// devlink by generic netlink, read only: the error counts of a device's health reporters, what a reporter diagnoses,
// the serial number, and the mode of the E-Switch (linux/devlink.h, net/devlink/health.c and dev.c of Linux 6.12). No
// privilege is needed but for the diagnosis and the mode.
#pragma once

#include "kernel/capture/root.h"
#include "kernel/netlink/netlink.h"
#include "kernel/telemetry.h"

namespace fabric::devlink {

// One instance: {"pci", "0000:17:00.0"}, {"auxiliary", "mlx5_core.eth.0"}.
struct Handle {
  std::string bus, device;
  bool operator==(const Handle&) const = default;
};

// The instance of a function, "0000:17:00.0", or of a subfunction, "mlx5_core.sf.4", which has one of its own.
Handle handle_of(const std::string& device);
// The same, and the instances of the auxiliary devices below it that carry its netdev: mlx5 keeps the reporters "tx"
// and "rx" there (mlx5/core/en/devlink.c). Empty: without a device.
std::vector<Handle> handles_of(const Root& root, const std::string& device);

// Parses one message of the dump; nullopt: another message. No I/O.
struct Reported {
  Handle of;
  HealthReporter reporter;
};
std::optional<Reported> parse_reporter(View8 payload);

// DEVLINK_CMD_HEALTH_REPORTER_GET as a dump of this instance only, so that a hung instance delays no other; kernels
// before 6.6 dump all, and other instances are filtered here. Reporters of the same name (of several ports) are merged:
// in error if any is. Empty: no reporters. ENODEV: unknown instance.
Result<std::vector<HealthReporter>> health_reporters(Netlink& generic, uint16_t family, const Handle& of);

// DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE: the driver's answer is a tree in the order of its text (devlink_fmsg_snd());
// the numbers in it, by their names. The driver asks the firmware. Needs CAP_NET_ADMIN (EPERM). EOPNOTSUPP: the
// reporter has no diagnosis.
Result<std::map<std::string, uint64_t>> read_diagnosis(Netlink& generic, uint16_t family, const Handle& of,
                                                       const std::string& reporter);
// The part of an answer in its messages so far: the kernel begins the next one wherever one is full.
struct Diagnosis {
  std::map<std::string, uint64_t> numbers{};
  std::string name{};  // of the value that follows
};
// Adds one message of the answer. Texts and names without a number are left out.
void add_diagnosis(View8 payload, Diagnosis& so_far);

// DEVLINK_CMD_INFO_GET: the board's serial number, else that of the function. Empty: the driver reports none.
Result<std::string> serial_number(Netlink& generic, uint16_t family, const Handle& of);

// DEVLINK_CMD_ESWITCH_GET: whether the E-Switch of the function is in switchdev mode. EPERM: without CAP_NET_ADMIN
// (GENL_ADMIN_PERM); EOPNOTSUPP: the function does not manage an E-Switch.
Result<bool> is_switchdev(Netlink& generic, uint16_t family, const Handle& of);

}  // namespace fabric::devlink
