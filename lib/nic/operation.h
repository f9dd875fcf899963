// SPDX-License-Identifier: Apache-2.0
// How one setting of a port is written.
#pragma once

#include "kernel/kernel.h"
#include "kernel/netlink/dcbnl.h"
#include "setting/reading.h"

namespace fabric {

// A port, and how it is reached.
struct PortIo {
  Kernel& kernel;
  std::string netdev;
  std::string rdma{};       // its RDMA device; empty: none
  unsigned port = 1;        // of the RDMA device
  std::string pci{};        // of the function below; empty for software devices
  bool fec_in_use = false;  // Driver::fec_in_use
  // Of a reading: the settings that are asked for. Of a write: those that may be written in the same message.
  Keys wanted{};

  [[nodiscard]] bool has_ethtool() const { return kernel.generic && kernel.ethtool; }
};

// Op::disruptive. Harmless: the write stops nothing, as the source of the driver shows.
inline constexpr bool kDisruptive = true, kHarmless = false;

// The settings that a write can change. They are read again after it.
enum class Reach : uint8_t {
  everything,  // nothing is known of it
  netdev,      // those of the groups dcb and netdev
  itself,
};

// How to write one setting.
struct Op {
  // Writes the setting of `want` (as Driver::expected gave it), which differs from `have`, the newest reading of the
  // port. Null: not offered by this driver.
  using Write = Result<void>(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have);
  Write* write = nullptr;
  // Where the kernel does it: "FILE FUNCTION()", below Driver::source unless it begins with "/". After a semicolon:
  // what the reading does not show. fabric-concepts(7) lists it.
  std::string_view source{};
  // The write stops traffic (link flap, NIC reopen), or breaks what runs (a smaller MTU), or nothing is known of it.
  bool disruptive = true;
  Reach reach = Reach::everything;
  bool none = false;  // an OrNone can be none here
};
struct SettingOp {
  SettingId setting;
  Op op;
};

}  // namespace fabric
