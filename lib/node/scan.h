// SPDX-License-Identifier: Apache-2.0
// Kernel -> Node.
#pragma once

#include "kernel/kernel.h"
#include "node/node.h"
#include "setting/setting_table.h"

namespace fabric {

struct ScanOptions {
  bool topology = true;      // GPUs and NICs: some milliseconds on a large server
  bool platform = true;      // with the topology: the platform around GPUs and NICs (links, power, IOMMU, AER)
  bool settings = true;      // dcbnl, pause, MTU of every port ...
  Keys keys = Keys().set();  // ... and those of these settings that cost a file or a firmware command each
  bool counters = true;      // hw, pma, ethtool; with them link status, FEC, resources, health reporters
  bool gids = true;
  bool network = true;   // addresses, routes, neighbors: some netlink dumps
  bool verbs = true;     // port attributes by libibverbs: opens the device for a moment, commands to its firmware
  bool serials = false;  // Port::card by serial number: a firmware command for each function, once
  bool members = false;  // the members of a bond as ports of their own, which own most settings, behind the bond
  // The neighbors at the other ends of the cables: from fabric-lldp.service, else from the firmware's DCBX agent.
  bool neighbors = false;
  // Port::module: as fabric-agentd has published it recently, else read from the modules (requires CAP_NET_ADMIN).
  bool optics = false;
  bool host = false;                   // Node::host: a file for every process and several for every CPU
  std::vector<std::string> exclude{};  // globs of RDMA devices that are not opened
  std::string only{};                  // opens only this RDMA device; empty: all
};

// The ports alone, without their settings, counters and addresses.
inline ScanOptions ports_only() {
  ScanOptions out;
  out.topology = out.platform = out.settings = out.counters = out.gids = out.network = out.verbs = false;
  return out;
}

// Never fails as a whole: unreadable members are absent and named in Port::unread or Node::unseen. Ports are in natural
// order. Members that were not requested are empty; a scan with few options is cheap.
Node scan(Kernel& kernel, const ScanOptions& options = {});

}  // namespace fabric
