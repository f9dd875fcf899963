// SPDX-License-Identifier: Apache-2.0
// Several rails in one subnet. Without a rule (ip-rule(8)) packets leave through the first route to the subnet. An IPv4
// address belongs to the host, not to the interface: any rail answers ARP for all of them
// (Documentation/networking/ip-sysctl.rst: arp_ignore, arp_announce, arp_filter, rp_filter). IPv6 neighbor discovery
// answers for the addresses of the interface only (net/ipv6/ndisc.c, ndisc_recv_ns).

#include "checks/check.h"
#include "checks/network/network.h"

namespace fabric {
namespace {

struct Rail {
  const Port* port = nullptr;
  std::string netdev;
  const Interface* interface = nullptr;
  Address address;
};

// The first IPv4 address, else the first IPv6 one: next to IPv4 that is usually the router's, and jobs do not use it.
const Address* address_of(const Interface& interface) {
  const Address* found = nullptr;
  for (const Address& each : *interface.addresses)
    if (each.global && !each.dad_failed && (found == nullptr || (found->ip.v6 && !each.ip.v6))) found = &each;
  return found;
}

std::vector<Rail> rails_with_address(const View& view) {
  std::vector<Rail> out;
  for (const Port* port : rails(view))
    for (const NamedInterface& each : interfaces_of(view.now, *port)) {
      if (!each.interface->addresses || contains(out, each.netdev, &Rail::netdev)) continue;
      if (const Address* address = address_of(*each.interface))
        out.push_back({port, each.netdev, each.interface, *address});
    }
  return out;
}

// The subnet of one contains the address of the other. Addresses of /32 (/128) have no subnet; `address` reports equal
// addresses; a VRF is a separate routing domain.
bool share_subnet(const Rail& a, const Rail& b) {
  const unsigned longest = a.address.ip.v6 ? 127 : 31;
  if (a.address.ip.v6 != b.address.ip.v6 || a.address.prefix > longest || b.address.prefix > longest) return false;
  if (a.address.ip == b.address.ip || a.interface->vrf != b.interface->vrf) return false;
  return in_subnet(a.address.ip, b.address.ip, std::min(a.address.prefix, b.address.prefix));
}

// Groups of at least two rails that share a subnet, directly or through another rail.
std::vector<std::vector<Rail>> groups(std::vector<Rail> all) {
  std::vector<std::vector<Rail>> out;
  while (!all.empty()) {
    std::vector<Rail> group{all.front()};
    all.erase(all.begin());
    for (size_t i = 0; i < group.size(); ++i) {
      const auto is_other = [&](const Rail& rail) { return !share_subnet(group[i], rail); };
      const auto theirs = std::stable_partition(all.begin(), all.end(), is_other);
      group.insert(group.end(), theirs, all.end());
      all.erase(theirs, all.end());
    }
    if (group.size() > 1) out.push_back(std::move(group));
  }
  return out;
}

std::string subnet_of(const Rail& rail) {
  return to_text(network_of(rail.address.ip, rail.address.prefix)) + "/" + to_text(rail.address.prefix);
}

// The default routing table; in a VRF that of the VRF.
uint32_t main_table(const Interface& interface) { return interface.vrf_table != 0 ? interface.vrf_table : 254; }

// Priority of the rule of VRFs (drivers/net/vrf.c, FIB_RULE_PREF): rules after it never match.
constexpr uint32_t kVrfRule = 1000;

enum class By : uint8_t { source, source_or_device };

// A rule for the address (or for the device, because RoCE looks up routes with the device of the GID: addr_resolve() in
// drivers/infiniband/core/addr.c) leads to a table with a route through this rail. A rule for some destinations counts
// too: its author knows the topology.
bool has_own_route(const Network& network, const Rail& rail, By by) {
  constexpr uint32_t kDefault = 253;
  return network.rules && std::ranges::any_of(*network.rules, [&](const RoutingRule& rule) {
           const bool by_source = rule.source && in_subnet(rail.address.ip, *rule.source, rule.source_prefix) &&
                                  rule.source_prefix > rail.address.prefix;
           const bool by_device = by == By::source_or_device && rule.device == rail.netdev;
           if (rule.table == main_table(*rail.interface) || rule.table == kDefault || !(by_source || by_device))
             return false;
           if (!rail.interface->vrf.empty() && rule.priority >= kVrfRule) return false;
           return contains(rail.interface->routes, rule.table, &Route::table);
         });
}

// Missing configuration: as text, and the commands that fix it.
struct Faults {
  std::vector<std::string> observed, expected, commands;
};

// Adds the rails whose effective value is not in `allowed`.
void check_setting(const std::vector<Rail>& group, const std::string& key, ConfValue Interface::*member,
                   const std::set<unsigned>& allowed, unsigned wanted, Faults& faults) {
  std::vector<std::string> names;
  std::set<unsigned> values;
  std::string command = "sysctl -w";
  for (const Rail& rail : group) {
    const ConfValue& conf = rail.interface->*member;
    const auto value = conf.effective();
    if (!value || allowed.contains(*value)) continue;
    if (*conf.all > wanted && names.empty()) command += " net.ipv4.conf.all." + key + "=" + to_text(wanted);
    names.push_back(rail.netdev);
    values.insert(*value);
    std::string name = rail.netdev;  // sysctl(8): a dot in a name is written as a slash
    std::ranges::replace(name, '.', '/');
    command += " net.ipv4.conf." + name + "." + key + "=" + to_text(wanted);
  }
  if (names.empty()) return;
  const std::string text = joined(values, "/", [](unsigned value) { return to_text(value); });
  faults.observed.push_back(key + " " + text + " on " + listed(names));
  faults.expected.push_back(key + " " + to_text(wanted));
  faults.commands.push_back(std::move(command));
}

// First copies the routes of the rail into its own table, then adds the rule: no moment without a route.
void add_route_commands(const Rail& rail, uint32_t table, Faults& faults) {
  const bool v6 = rail.address.ip.v6;
  const std::string ip = v6 ? "ip -6 " : "ip ", address = to_text(rail.address.ip),
                    end = " dev " + rail.netdev + " src " + address + " table " + to_text(table);
  faults.commands.push_back(ip + "route replace " + subnet_of(rail) + end);
  for (const Route& route : rail.interface->routes)
    if (route.table == main_table(*rail.interface) && route.gateway && route.gateway->v6 == v6 &&
        route.destination.v6 == v6)
      faults.commands.push_back(ip + "route replace " + to_text(route.destination) + "/" + to_text(route.prefix) +
                                " via " + to_text(*route.gateway) + end);
  const std::string before = rail.interface->vrf.empty() ? "" : "pref " + to_text(kVrfRule - 100) + " ";
  faults.commands.push_back(ip + "rule add " + before + "from " + address + " lookup " + to_text(table));
}

void check_routes(const Network& network, const std::vector<Rail>& group, Faults& faults) {
  if (!network.rules) return;
  std::vector<std::string> names;
  uint32_t table = 100;
  for (const Rail& rail : group) {
    if (has_own_route(network, rail, By::source_or_device)) continue;
    while (network.tables.contains(++table)) {
    }
    names.push_back(rail.netdev);
    add_route_commands(rail, table, faults);
  }
  if (names.empty()) return;
  faults.observed.push_back("no source routing for " + listed(names));
  faults.expected.push_back("a rule and a table for each rail's address");
}

void check_arp(const Network& network, const std::vector<Rail>& group, Faults& faults) {
  const bool routed =
      std::ranges::all_of(group, [&](const Rail& rail) { return has_own_route(network, rail, By::source); });
  // arp_filter answers only on the interface to which the kernel routes the answer: as good with source routing.
  const auto filters_arp = [](const Rail& rail) { return rail.interface->arp_filter.effective().value_or(0) != 0; };
  if (!routed || !std::ranges::all_of(group, filters_arp))
    check_setting(group, "arp_ignore", &Interface::arp_ignore, {1, 2}, 1, faults);
  check_setting(group, "arp_announce", &Interface::arp_announce, {2}, 2, faults);
  // Strict filtering accepts packets only on the interface of the route back. Without source routing that is the first
  // rail, and ARP on the other rails is not answered.
  if (!routed) check_setting(group, "rp_filter", &Interface::rp_filter, {0, 2}, 2, faults);
}

Finding finding_for(const View& view, const std::vector<Rail>& group) {
  Faults faults;
  check_routes(view.now.network, group, faults);
  const bool v6 = group.front().address.ip.v6;
  if (!v6) check_arp(view.now.network, group, faults);
  std::vector<std::string> names;
  for (const Rail& rail : group) names.push_back(rail.port->id());
  const Rail& widest = *std::ranges::min_element(group, {}, [](const Rail& rail) { return rail.address.prefix; });
  const std::string subject = subnet_of(widest) + (widest.interface->vrf.empty() ? "" : " in " + widest.interface->vrf);
  if (faults.observed.empty())
    return good(subject, listed(names) + ", each through its own link",
                v6 ? "routes for each rail" : "ARP and routes for each rail");
  return bad(
      Status::warning, subject, listed(names) + ": " + joined(faults.observed, "; "), joined(faults.expected, ", "),
      v6 ? "Several rails are in one IPv6 subnet. Without a rule for each address, packets leave through the first "
           "rail in the routing table: rails share one link while others idle, and answers arrive on another rail."
         : "Several rails are in one subnet. Without these settings one rail answers ARP for the others, and packets "
           "leave through the first rail in the routing table: rails share one link while others idle, and RoCE "
           "packets that reach the wrong NIC are dropped.",
      std::string("Run these commands and add them to the network configuration") +
          (v6 ? "" : " (sysctls: to [sysctl] of fabric-agent.toml)") + "; or use one subnet per rail.\n" +
          joined(faults.commands, "\n"));
}

void ask(const View& view, Findings& findings) {
  for (const std::vector<Rail>& group : groups(rails_with_address(view))) findings.push_back(finding_for(view, group));
}

}  // namespace

std::string rails_fault(const View& view, const Port& port) {
  for (const std::vector<Rail>& group : groups(rails_with_address(view)))
    if (contains(group, port.id(), [](const Rail& rail) { return rail.port->id(); }))
      if (Finding found = finding_for(view, group); found.status != Status::ok) return found.observed;
  return {};
}

extern const Check kRailsCheck{
    .id = "rails",
    .group = group::network,
    .title = "Rails in one subnet share links or MAC addresses",
    .meaning =
        "Linux sends through the first route to a subnet, and answers ARP (IPv4) for an address on any interface. With "
        "several rails in one subnet, half of the links carry nothing, RoCE packets reach the wrong NIC and are "
        "dropped, and connections hang at random. Required are arp_ignore 1 or 2 and arp_announce 2 (the larger value "
        "of net.ipv4.conf.all and the interface counts), a routing rule and a table for the address of each rail, and "
        "without such rules rp_filter 0 or 2. Rails in subnets of their own (/31 for instance) need none of this.",
    .inspect = "ip rule; ip route show table all; sysctl -a | grep -e arp_ -e rp_filter",
    .fix = "Run the commands of the finding and add them to the network configuration.",
    .ask = ask,
};

}  // namespace fabric
