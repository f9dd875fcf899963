// SPDX-License-Identifier: Apache-2.0
// The operation that writes one setting of a port.
#pragma once

#include "kernel/kernel.h"
#include "kernel/netlink/netdev.h"
#include "setting/reading.h"

namespace fabric {

// A port, and the kernel interfaces by which it is read and written.
struct PortIo {
  Kernel& kernel;
  std::string netdev;       // for readings; a write takes id()
  int ifindex = 0;          // of the netdev when it was read
  std::string rdma{};       // its RDMA device; empty: none
  unsigned port = 1;        // of the RDMA device
  std::string pci{};        // of the function below; empty for software devices
  bool fec_in_use = false;  // Driver::fec_in_use
  Keys requested{};         // a reading: the settings that the caller compares
  Keys writable{};          // a write: the settings that the pass, or the same message, may write, too
  // The port is a member of a bond (mlx5 RoCE LAG). Its RDMA device is the bond's, on the function of one of the
  // members.
  bool is_member = false;

  [[nodiscard]] NetdevId id() const { return {netdev, ifindex}; }
  [[nodiscard]] bool has_ethtool() const { return kernel.generic && kernel.ethtool; }
};

// Ok: the netdev and the RDMA device with these names are still the ones that were read. ENODEV: one of them was
// renamed or is gone; the names may lead to another NIC. Called before each write of a setting. A write by a name calls
// it, or check_rdma_name(), again directly before each of its messages and files; dcbnl and ethtool check the name
// themselves.
Result<void> check_identity(const PortIo& io);
// The RDMA device alone. Ok also if there is none, if its `device` link is unreadable, or for a bond's member, whose
// settings are those of its netdev.
Result<void> check_rdma_name(const PortIo& io);
// Writes a file of the netdev ("ecn/roce_np/cnp_dscp") or of the RDMA device ("tc/1/traffic_class") by a descriptor of
// the device's folder, after a check through the same descriptor: a rename cannot lead the write to another device.
Result<void> write_netdev_file(const PortIo& io, const std::string& file, std::string_view text);
Result<void> write_rdma_file(const PortIo& io, const std::string& file, std::string_view text);

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
// Writes the setting by the operation, if check_identity() agrees. ESTALE: a message by name may have reached another
// device (check_name_kept()).
Result<void> write_setting(const Op& op, const PortIo& io, const Setting& setting, const Qos& want,
                           const Reading& have);
struct SettingOp {
  SettingId setting;
  Op op;
};

}  // namespace fabric
