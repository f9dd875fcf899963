// SPDX-License-Identifier: Apache-2.0
// Rails: the RoCE ports for collectives of the GPUs, and what several in one subnet require.
#include "judge/rails.h"

#include "judge/finding.h"
#include "judge/network.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "node/endpoints.h"

namespace fabric {

std::shared_ptr<const std::vector<const Port*>> rails(const View& view) {
  if (view.rails != nullptr) return view.rails;
  const auto for_gpus = gpu_devices(view);
  std::vector<const Port*> out;
  for (const Port& port : view.now.ports)
    if (is_active(port) && is_roce(port) && !port.netdev.empty() && for_gpus->contains(port.rdma) &&
        serves_jobs(view.now, port))
      out.push_back(&port);
  return std::make_shared<const std::vector<const Port*>>(std::move(out));
}

// Several rails in one subnet. Without a rule (ip-rule(8)) packets leave through the first route to the subnet. An IPv4
// address belongs to the host, not to the interface: any rail answers ARP for all of them
// (Documentation/networking/ip-sysctl.rst: arp_ignore, arp_announce, arp_filter, rp_filter). IPv6 neighbor discovery
// answers for the addresses of the interface only (net/ipv6/ndisc.c, ndisc_recv_ns).

namespace {

struct RailNetdev {
  const Port* port = nullptr;
  std::string netdev;
  const Interface* interface = nullptr;
  Address address;
};

std::vector<RailNetdev> rails_with_address(const View& view) {
  const auto all = rails(view);
  std::vector<RailNetdev> out;
  for (const Port* port : *all)
    for (const NamedInterface& each : interfaces_of(view.now, *port)) {
      if (!each.interface->addresses || contains(out, each.netdev, &RailNetdev::netdev)) continue;
      // The first IPv4 address, else the first IPv6 address: beside IPv4, an IPv6 address is usually from the router,
      // and jobs do not use it.
      const Address* found = nullptr;
      for (const Address& address : *each.interface->addresses) {
        if (!address.global || address.dad_failed) continue;
        if (found == nullptr || (found->ip.v6 && !address.ip.v6)) found = &address;
      }
      if (found != nullptr) out.push_back({port, each.netdev, each.interface, *found});
    }
  return out;
}

// The subnet of one rail contains the address of the other. Addresses of /32 (/128) have no subnet; `address` reports
// equal addresses; a VRF is a separate routing domain.
bool share_subnet(const RailNetdev& a, const RailNetdev& b) {
  const unsigned longest = a.address.ip.v6 ? 127 : 31;
  if (a.address.ip.v6 != b.address.ip.v6 || a.address.prefix > longest || b.address.prefix > longest) return false;
  if (a.address.ip == b.address.ip || a.interface->vrf != b.interface->vrf) return false;
  return in_subnet(a.address.ip, b.address.ip, std::min(a.address.prefix, b.address.prefix));
}

// Groups of at least two rails that share a subnet, directly or through another rail.
std::vector<std::vector<RailNetdev>> groups(std::vector<RailNetdev> all) {
  std::vector<std::vector<RailNetdev>> out;
  while (!all.empty()) {
    std::vector<RailNetdev> group{all.front()};
    all.erase(all.begin());
    for (size_t i = 0; i < group.size(); ++i) {
      const auto is_separate = [&](const RailNetdev& rail) { return !share_subnet(group[i], rail); };
      const auto sharing = std::stable_partition(all.begin(), all.end(), is_separate);
      group.insert(group.end(), sharing, all.end());
      all.erase(sharing, all.end());
    }
    if (group.size() > 1) out.push_back(std::move(group));
  }
  return out;
}

std::string subnet_of(const RailNetdev& rail) {
  return to_text(network_of(rail.address.ip, rail.address.prefix)) + "/" + to_text(rail.address.prefix);
}

// Priority of the rule of VRFs (drivers/net/vrf.c, FIB_RULE_PREF): rules after it never match.
constexpr uint32_t kVrfRule = 1000;

enum class By : uint8_t { source, source_or_device };

// A rule for the address (or for the device, because RoCE looks up routes with the device of the GID: addr_resolve() in
// drivers/infiniband/core/addr.c) leads to a table with a route through this rail. A rule for some destinations counts
// too: its author knows the topology.
bool has_own_route(const Network& network, const RailNetdev& rail, By by) {
  if (!network.rules) return false;
  for (const RoutingRule& rule : *network.rules) {
    const bool by_source = rule.source && in_subnet(rail.address.ip, *rule.source, rule.source_prefix) &&
                           rule.source_prefix > rail.address.prefix;
    const bool by_device = by == By::source_or_device && rule.device == rail.netdev;
    if (!by_source && !by_device) continue;
    if (rule.table == main_table(*rail.interface) || rule.table == kTableDefault) continue;
    if (!rail.interface->vrf.empty() && rule.priority >= kVrfRule) continue;
    if (contains(rail.interface->routes, rule.table, &Route::table)) return true;
  }
  return false;
}

// "ens0, ens1 and ens2"
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i + 1 == names.size();
    append_item(out, names[i], is_last ? " and " : ", ");
  }
  return out;
}

// Missing configuration as text, and the commands that add it.
struct Faults {
  std::vector<std::string> observed, expected, commands;
};

// Adds the rails with an effective value that is not in `allowed`.
void check_setting(const std::vector<RailNetdev>& group, const std::string& key, ConfValue Interface::*member,
                   const std::set<unsigned>& allowed, unsigned wanted, Faults& faults) {
  std::vector<std::string> names;
  std::set<unsigned> values;
  std::string command = "sysctl -w";
  for (const RailNetdev& rail : group) {
    const ConfValue& conf = rail.interface->*member;
    const auto value = conf.effective();
    if (!value || allowed.contains(*value)) continue;
    if (*conf.all > wanted && names.empty()) command += " net.ipv4.conf.all." + key + "=" + to_text(wanted);
    names.push_back(rail.netdev);
    values.insert(*value);
    command += " net.ipv4.conf." + name_in_sysctl(rail.netdev) + "." + key + "=" + to_text(wanted);
  }
  if (names.empty()) return;
  const std::string text = joined(values, "/", [](unsigned value) { return to_text(value); });
  faults.observed.push_back(key + " " + text + " on " + listed(names));
  faults.expected.push_back(key + " " + to_text(wanted));
  faults.commands.push_back(std::move(command));
}

// Adds the rails without source routing. The commands first copy the routes of the rail into its own table, then add
// the rule: no moment without a route.
void check_routes(const Network& network, const std::vector<RailNetdev>& group, Faults& faults) {
  if (!network.rules) return;
  std::vector<std::string> names;
  uint32_t table = 100;
  for (const RailNetdev& rail : group) {
    if (has_own_route(network, rail, By::source_or_device)) continue;
    do ++table;
    while (network.tables.contains(table));
    names.push_back(rail.netdev);
    const bool v6 = rail.address.ip.v6;
    const std::string ip = v6 ? "ip -6 " : "ip ", address = to_text(rail.address.ip),
                      end = " dev " + rail.netdev + " src " + address + " table " + to_text(table);
    faults.commands.push_back(ip + "route replace " + subnet_of(rail) + end);
    for (const Route& route : rail.interface->routes)
      if (route.table == main_table(*rail.interface) && route.gateway && route.gateway->v6 == v6 &&
          route.destination.v6 == v6)
        faults.commands.push_back(ip + "route replace " + to_text(route.destination) + "/" + to_text(route.prefix) +
                                  " via " + to_text(*route.gateway) + end);
    std::string rule = ip + "rule add ";
    if (!rail.interface->vrf.empty()) rule += "pref " + to_text(kVrfRule - 100) + " ";
    faults.commands.push_back(rule + "from " + address + " lookup " + to_text(table));
  }
  if (names.empty()) return;
  faults.observed.push_back("no source routing for " + listed(names));
  faults.expected.push_back("a rule and a table for each rail's address");
}

Finding rails_finding(const View& view, const std::vector<RailNetdev>& group) {
  const Network& network = view.now.network;
  Faults faults;
  check_routes(network, group, faults);
  const bool v6 = group.front().address.ip.v6;
  if (!v6) {
    bool routed = true, filters_arp = true;
    for (const RailNetdev& rail : group) {
      routed = routed && has_own_route(network, rail, By::source);
      filters_arp = filters_arp && rail.interface->arp_filter.effective().value_or(0) != 0;
    }
    // arp_filter answers only on the interface to which the kernel routes the answer: with source routing this is
    // enough.
    if (!routed || !filters_arp) check_setting(group, "arp_ignore", &Interface::arp_ignore, {1, 2}, 1, faults);
    check_setting(group, "arp_announce", &Interface::arp_announce, {2}, 2, faults);
    // Strict filtering accepts packets only on the interface of the route back. Without source routing that is the
    // first rail, and ARP on the other rails is not answered.
    if (!routed) check_setting(group, "rp_filter", &Interface::rp_filter, {0, 2}, 2, faults);
  }

  std::vector<std::string> names;
  for (const RailNetdev& rail : group) names.push_back(rail.port->id());
  const RailNetdev& widest =
      *std::ranges::min_element(group, {}, [](const RailNetdev& rail) { return rail.address.prefix; });
  std::string subject = subnet_of(widest);
  if (!widest.interface->vrf.empty()) subject += " in " + widest.interface->vrf;
  const std::string own_link = listed(names) + ", each through its own link";
  if (faults.observed.empty() && v6) return good(subject, own_link, "routes for each rail");
  if (faults.observed.empty()) return good(subject, own_link, "ARP and routes for each rail");
  std::string meaning, remedy = "Run these commands and add them to the network configuration";
  if (v6) {
    meaning =
        "Several rails are in one IPv6 subnet. Without a rule for each address, packets leave through the first rail "
        "in the routing table: rails share one link while others idle, and answers arrive on another rail.";
  } else {
    meaning =
        "Several rails are in one subnet. Without these settings one rail answers ARP for the others, and packets "
        "leave through the first rail in the routing table: rails share one link while others idle, and RoCE packets "
        "that reach the wrong NIC are dropped.";
    remedy += " (sysctls: to [sysctl] of fabric-agent.toml)";
  }
  remedy += "; or use one subnet per rail.\n" + joined(faults.commands, "\n");
  return bad(Status::warning, subject, listed(names) + ": " + joined(faults.observed, "; "),
             joined(faults.expected, ", "), std::move(meaning), std::move(remedy));
}

void ask_rails(const View& view, Findings& findings) {
  for (const std::vector<RailNetdev>& group : groups(rails_with_address(view)))
    findings.push_back(rails_finding(view, group));
}

}  // namespace

std::string rails_fault(const View& view, const Port& port) {
  for (const std::vector<RailNetdev>& group : groups(rails_with_address(view))) {
    if (!contains(group, port.id(), [](const RailNetdev& rail) { return rail.port->id(); })) continue;
    if (Finding found = rails_finding(view, group); found.status != Status::ok) return found.observed;
  }
  return {};
}

constexpr Rule kRails{
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
    .ask = ask_rails,
};

constexpr Rule kTable[]{kRails};
const std::span<const Rule> kRailsRules = kTable;

}  // namespace fabric
