// SPDX-License-Identifier: Apache-2.0
// RDMA devices as sysfs shows them: /sys/class/infiniband (Documentation/ABI/stable/sysfs-class-infiniband;
// drivers/infiniband/core/sysfs.c of Linux 6.12). World-readable.
#pragma once

#include "kernel/capture/root.h"
#include "kernel/rdma/port.h"

namespace fabric::infiniband {

inline constexpr const char* kClass = "sys/class/infiniband";

// Empty if the kernel has no RDMA devices (ENOENT). An Error: the list could not be read.
Result<std::vector<std::string>> devices(const Root& root);
// The device's ports, without those that lead only to other devices on the same board.
Result<std::vector<unsigned>> ports(const Root& root, const std::string& device);
// "sys/class/infiniband/mlx5_0"; "sys/class/infiniband/mlx5_0/ports/1"
std::string device_folder(const std::string& device);
std::string port_folder(const std::string& device, unsigned port);
// The driver's counters of the whole function: EFA's commands (efa_verbs.c, since Linux 5.14), and all counters of mlx5
// in switchdev mode, whose ports are the switch's (mlx5/counters.c: before 6.5 they count nothing).
std::string device_counters_folder(const std::string& device);

// "4: ACTIVE" -> 4
std::optional<unsigned> parse_state(std::string_view text);
// "400 Gb/sec (4X NDR)" -> 50e9 bytes per second. nullopt for 0.
std::optional<double> parse_rate(std::string_view text);
// "400 Gb/sec (4X NDR)" -> 4, "NDR". RoCE has such a text too, in which only the product is true.
std::optional<IbWidth> parse_width(std::string_view text);

// The GIDs in use among the first 256 slots (soft-RoCE has 1,024, and each is a file), up to 64 empty slots in a row,
// because the kernel fills the table from the front. ENOENT: there is no table.
Result<std::vector<Gid>> gids(const Root& root, const std::string& device, unsigned port);

// The LID of an InfiniBand port, and that of the subnet manager that configured it, as the port keeps them (lid_show(),
// sm_lid_show()). ENOENT: the port has no such files.
struct Lids {
  uint32_t own = 0, subnet_manager = 0;
  bool active = false;  // filled by the caller: the port was ACTIVE when they were read
};
Result<Lids> lids(const Root& root, const std::string& device, unsigned port);
// Whether it is a LID of a port: not 0, and not the permissive LID (IB_LID_PERMISSIVE, OPA_LID_PERMISSIVE in
// rdma/ib_verbs.h and opa_addr.h), which mlx5 shows until a subnet manager has configured the port.
constexpr bool is_lid(uint32_t lid) { return lid != 0 && lid != 0xffff && lid != 0xffff'ffff; }

// The P_Keys in the first 16 places of the port's partition table, by place; 0: the place is empty. ENOENT: there is no
// table.
Result<std::vector<uint16_t>> pkeys(const Root& root, const std::string& device, unsigned port);

}  // namespace fabric::infiniband
