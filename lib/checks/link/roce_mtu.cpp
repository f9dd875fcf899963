// SPDX-License-Identifier: Apache-2.0
#include "checks/checks.h"
#include "model/finding.h"

namespace fabric {
namespace {

// iboe_get_mtu (include/rdma/ib_addr.h of Linux 6.12): the path MTU that fits into the netdev's after 96 bytes of GRH,
// BTH, extended headers and ICRC.
constexpr uint32_t kRoceHeaders = 96;
constexpr uint32_t kLargest = 4096;

uint32_t path_mtu(uint32_t netdev_mtu) {
  for (uint32_t size = kLargest; size >= 256; size /= 2)
    if (netdev_mtu >= size + kRoceHeaders) return size;
  return 0;
}

bool is_operators_choice(const View& view, const Port& port) {
  const PortPolicy* entry = view.policy == nullptr ? nullptr : policy_for(*view.policy, port);
  return entry != nullptr && entry->want.mtu && entry->want.mtu == port.qos.mtu;
}

std::string observed_text(const Port& port, uint32_t reached) {
  return "netdev " + (port.qos.mtu ? to_text(*port.qos.mtu) : "-") + ", RoCE " + to_text(reached);
}

Finding judge(const View& view, const Port& port) {
  const std::string expected = "netdev 4192 or more, RoCE 4096";
  if (!port.qos.mtu && !port.active_mtu)
    return bad(Status::unknown, port.id(), "-", expected,
               "The port's MTU could not be read: " + why_unread(port, "mtu") + ".",
               "Ask the kernel: ip link show " + port.netdev + ", ibv_devinfo -d " + port.rdma + ".");
  const uint32_t possible = port.qos.mtu ? path_mtu(*port.qos.mtu) : *port.active_mtu;
  const uint32_t reached = port.active_mtu.value_or(possible);
  const std::string observed = observed_text(port, reached);
  if (reached < possible)
    return bad(Status::warning, port.id(), observed, "RoCE " + to_text(possible),
               "The RDMA device has not followed the netdev's MTU, so messages go in smaller packets than the network "
               "carries.",
               "Set the MTU of " + port.netdev + " once more, or load the RDMA driver again.");
  if (reached >= kLargest || is_operators_choice(view, port)) return good(port.id(), observed, expected);
  return bad(
      Status::warning, port.id(), observed, expected,
      "RoCE cuts messages into packets of " + to_text(reached) +
          " bytes instead of 4096: more packets, lower throughput.",
      "Give " + port.netdev + " an MTU of 4200 or more (9000 is common) on the whole path, and set mtu in the policy.");
}

}  // namespace

void ask_roce_mtu(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports)
    if (is_judged(port) && is_roce(port) && !port.netdev.empty()) findings.push_back(judge(view, port));
}

}  // namespace fabric
