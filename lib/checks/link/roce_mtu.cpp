// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/topology/pairing.h"

namespace fabric {
namespace {

// Bytes of GRH, BTH, extended headers and ICRC: iboe_get_mtu() in include/rdma/ib_addr.h of Linux 6.12.
constexpr uint32_t kRoceHeaders = 96;
constexpr uint32_t kLargest = 4096;

uint32_t path_mtu(uint32_t netdev_mtu) {
  for (uint32_t size = kLargest; size >= 256; size /= 2)
    if (netdev_mtu >= size + kRoceHeaders) return size;
  return 0;
}

std::optional<Finding> ask_port(const View& view, const Port& port) {
  if (!is_judged(port) || !is_roce(port) || port.netdev.empty()) return std::nullopt;
  if (port.state.value_or(kPortActive) != kPortActive) return std::nullopt;
  const std::string expected = "netdev 4192 or more, RoCE 4096";
  if (!port.qos.mtu && !port.active_mtu)
    return bad(Status::unknown, port.id(), "-", expected,
               "The MTU of the port could not be read: " + why_unread(port, "mtu") + ".",
               "ip link show dev " + port.netdev + "; ibv_devinfo -d " + port.rdma);
  const uint32_t possible = port.qos.mtu ? path_mtu(*port.qos.mtu) : *port.active_mtu;
  const uint32_t reached = port.active_mtu.value_or(possible);
  const std::string observed = "netdev " + (port.qos.mtu ? to_text(*port.qos.mtu) : "-") + ", RoCE " + to_text(reached);
  if (reached < possible)
    return bad(Status::warning, port.id(), observed, "RoCE " + to_text(possible),
               "The RDMA device did not follow the MTU of its netdev: packets are smaller than the network allows.",
               "ip link set " + port.netdev + " mtu " + to_text(*port.qos.mtu) +
                   "; if nothing changes, reload the RDMA driver.");
  const PortPolicy* entry = view.policy == nullptr ? nullptr : policy_for(*view.policy, port);
  const bool is_wanted = entry != nullptr && entry->want.mtu && entry->want.mtu == port.qos.mtu;
  if (reached >= kLargest || is_wanted) return good(port.id(), observed, expected);
  if (has_other_purpose(view, port)) return good(port.id(), observed + " (serves no GPU)", expected);
  return bad(
      Status::warning, port.id(), observed, expected,
      "RoCE cuts messages into packets of " + to_text(reached) +
          " bytes instead of 4096: more packets, lower throughput.",
      "ip link set " + port.netdev + " mtu 9000 (4200 at least, on the whole path), and set mtu = 9000 in the policy.");
}

}  // namespace

extern const Check kRoceMtuCheck{
    .id = "roce-mtu",
    .group = group::link,
    .title = "The netdev MTU is too small for the RoCE path MTU 4096",
    .meaning =
        "RoCE needs 96 bytes around its payload: a netdev MTU of 4192 or more gives a path MTU of 4096, 1500 gives "
        "1024. A smaller path MTU means more packets and lower throughput. An MTU that the policy wants is not "
        "reported, nor that of a port for storage or management beside NICs that serve the GPUs.",
    .inspect = "ip link show dev NETDEV; ibv_devinfo -d RDMADEV",
    .fix = "Set mtu = 9000 in the policy and configure the same MTU on the switch.",
    .ask_port = ask_port,
};

}  // namespace fabric
