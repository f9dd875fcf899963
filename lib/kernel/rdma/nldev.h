// SPDX-License-Identifier: Apache-2.0
// RDMA netlink, client NLDEV (rdma/rdma_netlink.h, drivers/infiniband/core/nldev.c of Linux 6.12). Reading needs no
// privilege.
#pragma once

#include "kernel/netlink/netlink.h"
#include "kernel/telemetry.h"

namespace fabric::nldev {

struct Device {
  uint32_t index = 0;
  std::string name;
  std::string firmware;  // empty when the driver gives none
  std::string protocol;  // "ib", "roce", "iw", "opa"; empty when the kernel does not say
};
struct PortLink {
  uint32_t port = 0;
  std::optional<uint8_t> state, phys_state;
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

// Of a RES_GET reply: kind and count of every sort of object.
std::vector<ResourceCount> parse_resources(View8 payload);

// Who made the objects of one kind. An entry with RES_KERN_NAME is the kernel's, any other a process's: RES_PID is only
// there while that process lives and is of the reader's PID namespace or below (fill_res_name_pid).
enum class Object : uint8_t { qp, cq, mr };
struct Owners {
  uint64_t user = 0, kernel = 0;
  uint64_t connections = 0;  // of the kernel's queue pairs, the reliable ones: NVMe-oF, NFS, Lustre, SMC-R
  bool operator==(const Owners&) const = default;
};
// Of one message of a dump; with `port`: of those on it or not yet on any. EBADMSG: not the whole of one; it must not
// be counted in part.
Result<Owners> parse_owners(View8 payload, Object kind, std::optional<uint32_t> port = {});

Result<std::vector<Device>> devices(Netlink& rdma);
Result<PortLink> port(Netlink& rdma, uint32_t device, uint32_t port);
// The port's default hardware counters in one reply (STAT_GET). EINVAL: the driver has none;
// EMSGSIZE: more than one reply holds, read sysfs.
Result<std::vector<Counter>> statistics(Netlink& rdma, uint32_t device, uint32_t port);
// Which hardware counters the port has, and which of the optional ones are on (STAT_GET_STATUS, Linux 5.16). EINVAL:
// none, or an older kernel.
Result<std::vector<CounterStatus>> counter_status(Netlink& rdma, uint32_t device, uint32_t port);
// Switches on exactly these optional counters (STAT_SET; needs CAP_NET_ADMIN). EINVAL: one of them is not optional.
Result<void> set_optional_counters(Netlink& rdma, uint32_t device, uint32_t port, std::span<const uint32_t> indices);
// Queue pairs on the port, or created without choosing a port yet (RES_QP_GET), of user processes and of the kernel's
// connections; the kernel's others, as QP1, serve all. Sees processes of every user (before Linux 5.5 of this PID
// namespace and below).
Result<uint64_t> queue_pairs_in_use(Netlink& rdma, uint32_t device, uint32_t port);
// Objects in use on the device (RES_GET), users' and the kernel's together; cheap. It covers all PID namespaces since
// Linux 5.5, as are the dumps below; both leave out what the driver made for itself (RESTRACK_DD).
Result<std::vector<ResourceCount>> resources(Netlink& rdma, uint32_t device);
// Who made them (RES_QP_GET, RES_CQ_GET, RES_MR_GET of the device, no port: those without one too). Not for every
// reading: an entry each, and with a queue pair a command to the firmware (ib_query_qp in fill_res_qp_entry). EINVAL,
// EOPNOTSUPP: the kernel or the driver has no such dump; ETIMEDOUT: it took longer than `patience`. Objects that come
// and go meanwhile may be missed.
Result<Owners> owners(Netlink& rdma, uint32_t device, Object kind, std::chrono::milliseconds patience);
}  // namespace fabric::nldev
