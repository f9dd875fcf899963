// SPDX-License-Identifier: Apache-2.0
// RDMA netlink with devices of the test's choosing behind it: answers GET, PORT_GET, STAT_GET, STAT_GET_STATUS and
// STAT_SET with the messages that drivers/infiniband/core/nldev.c of Linux 6.12 makes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernel/netlink/netlink.h"
#include "model/node.h"

namespace fabric::test {

struct SimRdmaPort {
  uint8_t state = 4, phys_state = 5;
  std::string netdev;  // empty: none, or in another network namespace
  std::vector<Counter> counters;
  int statistics_errno = 0;                 // EINVAL: the driver has none
  std::map<std::string, bool> optional{};   // optional counters, indexed after the others -> on
  int optional_errno = 0;                   // of STAT_SET
  std::vector<std::string> optional_log{};  // every STAT_SET that was obeyed: "a,b"
};

struct SimRdmaDevice {
  std::string name, firmware, protocol = "roce";
  std::map<uint32_t, SimRdmaPort> ports;
};

class SimRdma : public Netlink {
 public:
  std::map<uint32_t, SimRdmaDevice> devices;  // by index
  int failure = 0;                            // every request fails with this errno
  int requests = 0;

  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override;
};

}  // namespace fabric::test
