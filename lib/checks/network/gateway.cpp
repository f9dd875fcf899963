// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/network/network.h"

namespace fabric {
namespace {

Finding unanswered(const Port& port, const std::string& netdev, const IpNeighbor& gateway) {
  const std::string address = to_text(gateway.ip);
  const bool failed = gateway.state == "FAILED";
  return bad(failed ? Status::critical : Status::warning, port.id(), address + " is " + gateway.state + " on " + netdev,
             "an answer",
             failed ? "The gateway did not answer the last ARP or neighbor solicitation: nothing beyond the subnet of "
                      "this port can be reached."
                    : "The gateway has not answered ARP or neighbor solicitation yet. If this persists, nothing beyond "
                      "the subnet of this port can be reached.",
             std::string(gateway.ip.v6 ? "ping -6" : "ping") + " -c 3 -I " + netdev + " " + address +
                 "; ip neighbor show dev " + netdev +
                 ". If it fails, configure the same VLAN, address and prefix as on the switch port.");
}

// Without traffic the kernel has no entry and nothing is reported.
std::optional<Finding> ask_port(const View& view, const Port& port) {
  if (!is_judged(port) || !is_active(port) || !is_roce(port)) return std::nullopt;
  const IpNeighbor* worst = nullptr;
  std::string on, good_ones;
  for (const NamedInterface& each : interfaces_of(view.now, port))
    for (const IpNeighbor& gateway : each.interface->gateways) {
      const bool silent = gateway.state == "FAILED" || gateway.state == "INCOMPLETE";
      if (!silent) append_item(good_ones, to_text(gateway.ip) + " " + gateway.state);
      else if (worst == nullptr || gateway.state == "FAILED") worst = &gateway, on = each.netdev;
    }
  if (worst != nullptr) return unanswered(port, on, *worst);
  return good_ones.empty() ? std::nullopt : std::optional(good(port.id(), good_ones, "an answer"));
}

}  // namespace

extern const Check kGatewayCheck{
    .id = "gateway",
    .group = group::network,
    .title = "The gateway of a rail does not answer",
    .meaning =
        "Reads the neighbor table of the kernel and sends nothing. FAILED means that the gateway did not answer ARP "
        "(IPv4) or neighbor discovery (IPv6), so nothing beyond the subnet can be reached through this rail.",
    .inspect = "ip neighbor show dev NETDEV; ping -c 3 -I NETDEV GATEWAY",
    .fix =
        "Configure the same VLAN, address and prefix as on the switch port, and check that the gateway has this "
        "address.",
    .ask_port = ask_port,
};

}  // namespace fabric
