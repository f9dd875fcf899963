// SPDX-License-Identifier: Apache-2.0
// Simulates RDMA netlink for devices that the test defines. Answers GET, PORT_GET, STAT_GET, STAT_GET_STATUS, STAT_SET
// and RES_*_GET with the same messages as drivers/infiniband/core/nldev.c of Linux 6.12.
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
  int statistics_errno = 0;                // EINVAL: the driver has none
  std::map<std::string, bool> optional{};  // optional counter -> on; their indexes follow those of the others
  // The counts of optional counters, which begin at 0 when they are switched on (mlx5_ib_modify_stat()).
  std::map<std::string, uint64_t> optional_counts{};
  int optional_errno = 0;                         // result of STAT_SET
  std::map<std::string, int> optional_refused{};  // counter -> the errno with which the driver does not change it
  std::vector<std::string> optional_log{};        // every successful STAT_SET: "a,b"
};

struct SimRdmaDevice {
  std::string name{}, firmware{}, protocol = "roce";
  std::map<uint32_t, SimRdmaPort> ports{};
  std::map<std::string, uint64_t> resources{};    // kind -> number of objects in use, for the summary
  std::map<std::string, uint64_t> limits{};       // kind -> the device's limit; without: not reported
  int resources_errno = EOPNOTSUPP;               // result of the summary; 0: success
  std::map<std::string, nldev::Owners> owners{};  // by kind; other kinds have no dump
  std::string parent{};                           // not empty: an SMI sub-device of this device
};

// Kinds of objects for which a dump lists the owners.
struct ResourceKind {
  const char* name;
  uint16_t command, table, entry;
};
inline constexpr std::array<ResourceKind, 3> kResourceKinds{
    {{"qp", RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY},
     {"cq", RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY},
     {"mr", RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY}}};
// An entry of such a dump: an object of the kernel or of a process (fill_res_name_pid).
AttrWriter resource_entry(bool of_kernel);

class SimRdma : public Netlink {
 public:
  std::map<uint32_t, SimRdmaDevice> devices;  // by index
  int failure = 0;                            // every request fails with this errno
  std::map<std::string, int> owners_errno;    // by kind: the dump of its owners fails with this errno
  int requests = 0, owner_dumps = 0;

  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override;

 private:
  Result<std::vector<Message>> dump_owners(uint16_t type, AttrWriter head, const SimRdmaDevice& device);
  Result<std::vector<Message>> talk_of_port(uint16_t type, const AttrWriter& head, const std::vector<Attr>& request,
                                            SimRdmaDevice& device);
};

}  // namespace fabric::test
