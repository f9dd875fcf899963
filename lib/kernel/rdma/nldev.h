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
  std::string firmware;  // empty: the driver reports none
  std::string protocol;  // "ib", "roce", "iw", "opa"; empty: the kernel does not report it
  bool smi = false;      // an SMI sub-device of `parent`: management packets only (Linux 6.11)
  std::string parent{};
};
struct PortLink {
  uint32_t port = 0;
  std::optional<uint8_t> state, phys_state;
  std::string netdev;
};

// Parsers of one message, without I/O (attributes follow nlmsghdr directly).
Result<Device> parse_device(View8 payload);
Result<PortLink> parse_port(View8 payload);
std::vector<Counter> parse_statistics(View8 payload);
struct CounterStatus {
  uint32_t index = 0;
  std::string name;
  std::optional<bool> optional_on;  // whether the optional counter is on; absent: it is always on
  bool operator==(const CounterStatus&) const = default;
};
std::vector<CounterStatus> parse_counter_status(View8 payload);

// Parses a RES_GET reply: the number of objects of each kind and, of queue pairs, completion queues, memory regions,
// protection domains and SRQs, the device's limit (Linux 7.3).
std::vector<ResourceCount> parse_resources(View8 payload);

// The owners of the objects of one kind. An entry with RES_KERN_NAME is the kernel's, any other is a process's: RES_PID
// is present only while that process lives and is in the reader's PID namespace or below (fill_res_name_pid).
enum class Object : uint8_t { qp, cq, mr };
struct Owners {
  uint64_t user = 0, kernel = 0;
  uint64_t connections = 0;  // the reliable ones of the kernel's queue pairs: NVMe-oF, NFS, Lustre, SMC-R
  bool operator==(const Owners&) const = default;
};
// Parses one message of a dump; with `port`, only objects on that port or not yet on any. EBADMSG: the message is
// incomplete, and must not be counted in part.
Result<Owners> parse_owners(View8 payload, Object kind, std::optional<uint32_t> port = {});

Result<std::vector<Device>> devices(Netlink& rdma);
Result<PortLink> port(Netlink& rdma, uint32_t device, uint32_t port);
// The port's default hardware counters in one reply (STAT_GET). EINVAL: the driver has none;
// EMSGSIZE: they do not fit into one reply; read sysfs.
Result<std::vector<Counter>> statistics(Netlink& rdma, uint32_t device, uint32_t port);
// The port's hardware counters, and whether the optional ones are on (STAT_GET_STATUS, Linux 5.16). EINVAL: no
// counters, or an older kernel.
Result<std::vector<CounterStatus>> counter_status(Netlink& rdma, uint32_t device, uint32_t port);
// Switches on exactly these optional counters (STAT_SET; needs CAP_NET_ADMIN). EINVAL: one of the counters is not
// optional.
Result<void> set_optional_counters(Netlink& rdma, uint32_t device, uint32_t port, std::span<const uint32_t> indices);
// The number of queue pairs of user processes and of the kernel's connections that are on the port, or on no port yet
// (RES_QP_GET); the kernel's other queue pairs, such as QP1, serve all ports. Includes processes of all users (before
// Linux 5.5 those of this PID namespace and below).
Result<uint64_t> queue_pairs_in_use(Netlink& rdma, uint32_t device, uint32_t port);
// Objects in use on the device (RES_GET), users' and the kernel's together; cheap. Since Linux 5.5 this and the dumps
// below cover all PID namespaces; both leave out objects that the driver created for itself (RESTRACK_DD).
Result<std::vector<ResourceCount>> resources(Netlink& rdma, uint32_t device);
// The owners of these objects (RES_QP_GET, RES_CQ_GET, RES_MR_GET of the device, whatever the port). Too expensive for
// every reading: an entry for each object, and a firmware command for each queue pair (ib_query_qp in
// fill_res_qp_entry). EINVAL, EOPNOTSUPP: the kernel or the driver has no such dump; ETIMEDOUT: the dump took longer
// than `patience`. Objects that are created or destroyed meanwhile may be missed.
Result<Owners> owners(Netlink& rdma, uint32_t device, Object kind, std::chrono::milliseconds patience);

}  // namespace fabric::nldev
