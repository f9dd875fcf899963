// SPDX-License-Identifier: Apache-2.0
// The ports of this node, and the peer, that an error line names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"

namespace fabric::lines {

// InfiniBand ports of a node by their LIDs.
using PortsByLid = std::map<unsigned, const Port*>;

// The names in a line, resolved on a node.
struct Named {
  std::vector<const Port*> ports;      // ports of this node, in the order of the line
  std::vector<std::string> by;         // how the line names each of them: "GID ::ffff:10.1.0.1"
  std::string peer;                    // address or GID of the other end; empty: not named
  std::string peer_lid;                // "LID 12"; empty: not named, or a LID of this node
  bool is_peer_writer = false;         // the other end is named as the host that wrote the line
  std::vector<std::string> elsewhere;  // devices, local GIDs and LIDs that this node does not have: "device mlx5_9"
  std::vector<std::string> devices_elsewhere;  // the devices among them: "mlx5_9"
  std::vector<std::string> pci;  // PCI addresses that belong to no port of this node, as the line has them
};
Named names_in(std::string_view line, const Node& node, const PortsByLid& lids = {});

// The objects that a line names, beside ports and addresses: "the file /etc/hosts", "the device file /dev/nvidia0",
// "the library libibverbs.so.1", "the kernel module rdma_rxe", "the unit slurmd.service", "GPU 2", "rank 11", "virtual
// function 3". At most three.
std::vector<std::string> objects_in(std::string_view line);

// The host that wrote the line, as NCCL ("node-a:91022:91310 [3]"), UCX ("[node-a:4120:0]") and syslog name it, and the
// process ("(pid 9993)", "pid=90211"). Empty: not named.
std::string host_of(std::string_view line);
std::string process_of(std::string_view line);

}  // namespace fabric::lines
