// SPDX-License-Identifier: Apache-2.0
// RDMA netlink, client NLDEV (rdma/rdma_netlink.h, drivers/infiniband/core/nldev.c of Linux 6.12). Reading needs no privilege.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/node.h"
#include "sys/netlink.h"

namespace fabric::nldev {

struct Device {
  uint32_t index = 0;
  std::string name;
  uint32_t last_port = 0;
  std::string firmware;   // empty when the driver gives none
  std::string protocol;   // "ib", "roce", "iw", "opa"; empty when the kernel does not say
};
struct PortLink {
  uint32_t port = 0;
  std::optional<uint8_t> state, phys_state;
  std::optional<uint32_t> netdev_index;
  std::string netdev;
};

// Pure parsers of one message (attributes follow nlmsghdr directly).
Result<Device> parse_device(View8 payload);
Result<PortLink> parse_port(View8 payload);
std::vector<Counter> parse_statistics(View8 payload);
struct CounterStatus {
  uint32_t index = 0;
  std::string name;
  std::optional<bool> optional_on;  // is it on? Absent: it is always on
  bool operator==(const CounterStatus&) const = default;
};
std::vector<CounterStatus> parse_counter_status(View8 payload);
// Queue pairs of one RES_QP_GET message on `port` or not yet on any. The kernel's carry RES_KERN_NAME; all others are a
// process's, also while it dies and its RES_PID is gone (fill_res_name_pid).
struct QueuePairs {
  unsigned user = 0, kernel = 0;
};
QueuePairs parse_queue_pairs(View8 payload, uint32_t port);

// Of a RES_GET reply: kind and count of every sort of object.
std::vector<ResourceCount> parse_resources(View8 payload);

Result<std::vector<Device>> devices(Netlink& rdma);
Result<PortLink> port(Netlink& rdma, uint32_t device, uint32_t port);
// The port's default hardware counters in one reply (STAT_GET). EINVAL: the driver has none;
// EMSGSIZE: more than one reply holds, read sysfs.
Result<std::vector<Counter>> statistics(Netlink& rdma, uint32_t device, uint32_t port);
// Which hardware counters the port has, and which of the optional ones are on (STAT_GET_STATUS, Linux 5.16). EINVAL: none,
// or an older kernel.
Result<std::vector<CounterStatus>> counter_status(Netlink& rdma, uint32_t device, uint32_t port);
// Switches on exactly these optional counters (STAT_SET; needs CAP_NET_ADMIN). EINVAL: one of them is not optional.
Result<void> set_optional_counters(Netlink& rdma, uint32_t device, uint32_t port, std::span<const uint32_t> indices);
// Queue pairs that user processes hold on the port, or have created without choosing a port yet (RES_QP_GET; those of
// the kernel, as QP1's, do not count). Sees processes of every user, of this PID namespace and below.
Result<unsigned> user_queue_pairs(Netlink& rdma, uint32_t device, uint32_t port);
// Objects in use on the device (RES_GET), users' and the kernel's together: to tell them apart takes a dump of each object,
// and that of a queue pair is a command to the firmware (ib_query_qp in fill_res_qp_entry). Of this PID namespace and below.
Result<std::vector<ResourceCount>> resources(Netlink& rdma, uint32_t device);

}  // namespace fabric::nldev
