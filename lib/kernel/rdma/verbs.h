// SPDX-License-Identifier: Apache-2.0
// Device and port attributes by libibverbs, as applications see them.
#pragma once

#include <map>
#include <vector>

#include "base/result.h"
#include "kernel/rdma/port.h"

namespace fabric::verbs {

// The device's attributes as lines "firmware 28.39.1002", "gids" (the GIDs of its ports are known), "port 1 4 5 4096
// Ethernet", "speed 1 8000" (in 100 Mb/s), "gid 1 3 GID v2 NETDEV". Opens and closes the device each time, because an
// open context would prevent unloading rxe's module. Some drivers send firmware commands, so this is too expensive for
// every reading of counters. ENODEV, EACCES, ...
Result<std::string> query(const std::string& device);

struct PortAttributes {
  unsigned state = 0, phys_state = 0;  // enum ibv_port_state; PortInfo:PortPhysicalState
  uint32_t active_mtu = 0;             // path MTU in bytes, 256 to 4096
  LinkLayer link_layer = LinkLayer::unknown;
  // The bandwidth that the port has now, in bytes per second: of all links of a RoCE LAG, for a function below it too
  // (while all of them are down, a function that is still up has the most that the NIC can send to itself).
  // ibv_query_port_speed(3) of rdma-core 62, with mlx5 of Linux 7.0 and efa of 7.3; else, and without a link, absent.
  std::optional<double> rate{};
  std::vector<Gid> gids{};
};
struct DeviceAttributes {
  std::string firmware;
  bool has_gid_table = false;  // UVERBS_METHOD_QUERY_GID_TABLE, or sysfs by libibverbs
  std::map<unsigned, PortAttributes> ports;
};
std::optional<DeviceAttributes> parse_device(std::string_view text);

}  // namespace fabric::verbs
