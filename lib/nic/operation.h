// SPDX-License-Identifier: Apache-2.0
// The operation that writes one setting of a port.
#pragma once

#include "kernel/kernel.h"
#include "kernel/netlink/dcbnl.h"
#include "setting/reading.h"

namespace fabric {

// A port, and the kernel interfaces by which it is read and written.
struct PortIo {
  Kernel& kernel;
  std::string netdev;
  std::string rdma{};       // its RDMA device; empty: none
  unsigned port = 1;        // of the RDMA device
  std::string pci{};        // of the function below; empty for software devices
  bool fec_in_use = false;  // Driver::fec_in_use
  // For a reading: the requested settings. For a write: the settings that may be written in the same message.
  Keys wanted{};

  [[nodiscard]] bool has_ethtool() const { return kernel.generic && kernel.ethtool; }
};

// Op::disruptive. Harmless: by the source of the driver, the write stops nothing.
inline constexpr bool kDisruptive = true, kHarmless = false;

// The settings that a write can change, and that are therefore read again after it.
enum class Reach : uint8_t {
  everything,  // the effects of the write are unknown
  netdev,      // the groups dcb and netdev
  itself,
};

// The operation of one setting.
struct Op {
  // Writes the setting of `want` (as Driver::expected gave it), which differs from `have`, the newest reading of the
  // port. Null: not offered by this driver.
  using Write = Result<void>(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have);
  Write* write = nullptr;
  // The kernel's function: "FILE FUNCTION()", below Driver::source unless it begins with "/". After a semicolon: facts
  // that the reading does not show. fabric-concepts(7) lists it.
  std::string_view source{};
  // The write stops traffic (link flap, NIC reopen), breaks running jobs (a smaller MTU), or its effects are unknown.
  bool disruptive = true;
  Reach reach = Reach::everything;
  bool none = false;  // an OrNone can be none with this driver
};
struct SettingOp {
  SettingId setting;
  Op op;
};

}  // namespace fabric
