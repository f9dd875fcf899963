// SPDX-License-Identifier: Apache-2.0
// RDMA netlink with devices of the test's choosing behind it: answers GET, PORT_GET, STAT_GET, STAT_GET_STATUS,
// STAT_SET and RES_*_GET with the messages that drivers/infiniband/core/nldev.c of Linux 6.12 makes.
#pragma once

#include <rdma/rdma_netlink.h>

#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "kernel/rdma/nldev.h"

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
  std::string name{}, firmware{}, protocol = "roce";
  std::map<uint32_t, SimRdmaPort> ports{};
  std::map<std::string, uint64_t> resources{};    // objects in use by kind, as the summary gives them
  int resources_errno = EOPNOTSUPP;               // of the summary; 0: it is there
  std::map<std::string, nldev::Owners> owners{};  // by kind; of others there is no dump
};

// Kinds of objects whose makers a dump lists.
struct ResourceKind {
  const char* name;
  uint16_t command, table, entry;
};
inline constexpr std::array<ResourceKind, 3> kResourceKinds{
    {{"qp", RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY},
     {"cq", RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY},
     {"mr", RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY}}};
// Such an object: the kernel's or a process's (fill_res_name_pid).
AttrWriter resource_entry(bool of_kernel);

class SimRdma : public Netlink {
 public:
  std::map<uint32_t, SimRdmaDevice> devices;  // by index
  int failure = 0;                            // every request fails with this errno
  int requests = 0, owner_dumps = 0;

  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override;

 private:
  Result<std::vector<Message>> dump_owners(uint16_t type, AttrWriter head, const SimRdmaDevice& device);
  Result<std::vector<Message>> talk_of_port(uint16_t type, const AttrWriter& head, const std::vector<Attr>& request,
                                            SimRdmaDevice& device);
};

// For a Kernel that is opened again and again: the same socket each time.
class BorrowedNetlink final : public Netlink {
 public:
  explicit BorrowedNetlink(Netlink& socket) : socket_(socket) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    return socket_.talk(type, flags, payload);
  }
  Result<void> dump(uint16_t type, View8 payload, std::chrono::milliseconds patience, const Take& take) override {
    return socket_.dump(type, payload, patience, take);
  }

 private:
  Netlink& socket_;
};

}  // namespace fabric::test
