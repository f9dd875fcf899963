// SPDX-License-Identifier: Apache-2.0
// Kernel -> Node.
#pragma once

#include "kernel/kernel.h"
#include "node/node.h"
#include "setting/setting_table.h"

namespace fabric {

struct ScanOptions {
  bool topology = true;      // GPUs and NICs: some milliseconds on a large server
  bool platform = true;      // and, where those are read, what the platform gives them: links, power, IOMMU, AER
  bool settings = true;      // dcbnl, pause, MTU of every port ...
  Keys keys = Keys().set();  // ... and of what costs a file or a firmware command of its own, these
  bool counters = true;      // hw, pma, ethtool; with them link status, FEC, resources, health reporters
  bool gids = true;
  bool network = true;   // addresses, routes, neighbors: some netlink dumps
  bool verbs = true;     // port attributes by libibverbs: opens the device for a moment, commands to its firmware
  bool serials = false;  // Port::card by serial number: a firmware command for each function, once
  bool members = false;  // the members of a bond as ports of their own, behind the bond's: settings are theirs
  // The neighbors at the other ends of the cables: from fabric-lldp.service, else from the firmware's DCBX agent.
  bool neighbors = false;
  // Port::module: what fabric-agentd has published of late; else the modules themselves, where the caller may
  // (CAP_NET_ADMIN).
  bool optics = false;
  bool host = false;                   // Node::host: a file for every process and several for every CPU
  std::vector<std::string> exclude{};  // globs of RDMA devices that are not opened
  std::string only{};                  // this RDMA device and no other is opened; empty: all
};

// The ports alone, without their settings, counters and addresses.
inline ScanOptions ports_only() {
  ScanOptions out;
  out.topology = out.platform = out.settings = out.counters = out.gids = out.network = out.verbs = false;
  return out;
}

// Never fails as a whole: unreadable members are absent and named in Port::unread or Node::unseen. Ports are in natural
// order. A re-scan with fewer options is cheap; members that were not requested are empty.
Node scan(Kernel& kernel, const ScanOptions& options = {});

// Parts of a scan, for who has read the ports elsewhere. Failures are named in node.unseen.
namespace scanning {

// Node::network and Node::neighbors for the netdevs that node.ports and their GIDs name; opens no RDMA device.
void read_network(Kernel& kernel, Node& node);

}  // namespace scanning

}  // namespace fabric
