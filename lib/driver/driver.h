// SPDX-License-Identifier: Apache-2.0
// One vendor = one file: what differs from upstream dcbnl. The default is upstream; what a driver cannot do is
// "unsupported", a value, never a failure of the rest.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/change.h"
#include "model/node.h"
#include "model/qos.h"
#include "sys/dcbnl.h"
#include "sys/kernel.h"

namespace fabric {

// One port as its driver sees it, while it is read or written.
struct PortIo {
  Kernel& kernel;
  std::string netdev;
};

// How to write one setting.
struct Op {
  // Writes `want` (as Driver::expected gave it) where it differs from `have`, the newest reading of the whole port.
  // Null: not offered by this driver.
  Result<void> (*write)(PortIo& io, const Qos& want, const Qos& have) = nullptr;
  // The write stops traffic on this driver (link flap, NIC reopen), or breaks what runs (a smaller MTU).
  bool disruptive = false;
};

struct Driver {
  std::string_view name;                           // ours: "mlx5"
  std::span<const std::string_view> kernel_names;  // "mlx5_core"
  // Everything that can be read of the port. What it does not offer stays absent.
  Result<Qos> (*read)(PortIo& io);
  // `want` as this driver will show it when it obeys (mlx5 keeps all 64 DSCPs, say).
  Qos (*expected)(const Qos& want);
  // Brings `have` to what will be read after the setting of `want` has been written: a plan sees what a write does to
  // other settings (ice overwrites ETS with the first DSCP), without writing.
  void (*effect)(const Setting& setting, const Qos& want, Qos& have);
  // Why this driver cannot show the wanted value whatever is written; empty: it can. Nothing is written then.
  std::string (*impossible)(const Setting& setting, const Qos& want, const Qos& have);
  // Why a setting is not offered (`code` 0) or was refused (`code` its errno), and what to do; empty: nothing is known.
  std::string (*remedy)(const Setting& setting, const Qos& have, const std::string& netdev, int code);
  Op dcbx, pause, mtu, trust, dscp_map, ets, pfc, cable_length;
  // Keys in the order in which they must be written.
  std::span<const std::string_view> order;
  // Called after MTU or PFC were written, and to be called after carrier-up: mlx5 recomputes its thresholds when the
  // same PFC is sent again. May be null.
  Result<void> (*settle)(PortIo& io, const Qos& have) = nullptr;
};

// The Op of a row.
const Op& op_of(const Driver& driver, std::string_view key);

// All drivers; the last one, upstream, takes what no other names.
std::span<const Driver* const> drivers();
// Decided from evidence: the kernel driver of the PCI function, or the RDMA link type of a software device.
const Driver& driver_for(std::string_view kernel_driver);

}  // namespace fabric
