// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"
#include "kernel/netlink/rtnl.h"
#include "kernel/rdma/infiniband.h"
#include "nic/driver.h"
#include "node/scan_port.h"

namespace fabric::scanning {
namespace {

std::string net_folder(const Port& port) { return "sys/class/net/" + port.netdev; }

// libibverbs, RDMA netlink, sysfs: the first that knows.
void read_state(const Context& context, const std::optional<nldev::PortLink>& netlink, Port& port) {
  if (const auto* attributes = context.attributes(port)) {
    port.state = attributes->state;
    port.phys_state = attributes->phys_state;
    return;
  }
  const Root& root = context.kernel.root;
  const std::string folder = infiniband::port_folder(port.rdma, port.number);
  const auto from_file = [&](const char* file) -> std::optional<unsigned> {
    const auto text = read_noted(root, folder + "/" + file, "state", port);
    return text ? infiniband::parse_state(*text) : std::nullopt;
  };
  port.state = netlink && netlink->state ? std::optional<unsigned>(*netlink->state) : from_file("state");
  port.phys_state =
      netlink && netlink->phys_state ? std::optional<unsigned>(*netlink->phys_state) : from_file("phys_state");
}

// Several netdevs on one function: the one with the port's number (dev_port counts from 0), or, where that does not
// decide either, none.
std::string netdev_of_function(const Root& root, const Port& port) {
  const auto names = root.list(std::string(infiniband::kClass) + "/" + port.rdma + "/device/net");
  if (!names || names->empty()) return {};
  if (names->size() == 1) return names->front();
  std::string found;
  for (const std::string& name : *names) {
    const auto number = root.number_in<unsigned>("sys/class/net/" + name + "/dev_port");
    if (!number || *number + 1 != port.number) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

// By RDMA netlink (for a bond's device its active member), else the first GID's netdev (there the bond), soft-RoCE's
// own file, the function. If netlink answers without a name, the netdev of those two files is in another namespace: a
// container's eth0.
std::string find_netdev(const Root& root, const std::optional<nldev::PortLink>& netlink, const Port& port) {
  if (port.link_layer == LinkLayer::infiniband) return {};
  if (netlink) return netlink->netdev.empty() ? netdev_of_function(root, port) : netlink->netdev;
  const std::string first_gid = infiniband::port_folder(port.rdma, port.number) + "/gid_attrs/ndevs/0";
  for (const std::string& file : {first_gid, std::string(infiniband::kClass) + "/" + port.rdma + "/parent"})
    if (std::string name = root.line_of(file); !name.empty()) return name;
  return netdev_of_function(root, port);
}

using Members = std::vector<std::pair<std::string, pci::Location>>;

// The netdevs of a bond and their functions. A member of another kind than the port carries no RoCE.
Members members_of(const Root& root, const std::string& bond_folder, const Port& port) {
  Members out;
  const std::string names = root.line_of(bond_folder + "/bonding/slaves");  // Documentation/networking/bonding.rst
  for (const std::string_view name : words(names)) {
    const auto resolved = root.resolve("sys/class/net/" + std::string(name) + "/device");
    auto place = resolved ? pci::parse_location(*resolved) : std::nullopt;
    if (place && driver_of(root, place->folder) == port.kernel_driver) out.emplace_back(name, std::move(*place));
  }
  return out;
}

// The bond that the port's netdev is, or whose other members have left their RDMA to the port's device (RoCE LAG).
// Members that keep RDMA devices of their own are bonded for IP alone.
std::string bond_of(const Root& root, const Port& port) {
  if (port.netdev.empty() || root.exists(net_folder(port) + "/bonding")) return port.netdev;
  for (const auto& [member, place] : members_of(root, net_folder(port) + "/master", port))
    if (member != port.netdev && !root.exists(place.folder + "/infiniband"))
      return root.link_name(net_folder(port) + "/master");
  return {};
}

// Without netlink. An interface that is administratively down answers EINVAL for its carrier: it has none. The MTU.
std::optional<uint32_t> read_netdev_files(const Root& root, Port& port) {
  port.ifindex = root.number_in<int>(net_folder(port) + "/ifindex").value_or(0);
  port.counters.carrier_down = root.number_in<uint64_t>(net_folder(port) + "/carrier_down_count");
  const auto carrier = root.read_line(net_folder(port) + "/carrier");
  if (carrier && !carrier->empty()) port.carrier = *carrier == "1";
  else if (!carrier && carrier.error().code == EINVAL) port.carrier = false;
  return root.number_in<uint32_t>(net_folder(port) + "/mtu");
}

// The GUID serves a bond, whose netdev has no permanent address: it is that of its device's function. Some drivers make
// it of the netdev's present address (bnxt_re, irdma), so it comes second.
std::string address_of(const Root& root, const Port& port, const std::string& permanent) {
  if (port.pci.empty()) return {};
  if (!permanent.empty()) return "mac:" + permanent;
  const std::string guid = root.line_of("sys/class/infiniband/" + port.rdma + "/node_guid");
  if (guid.find_first_not_of("0:") == std::string::npos) return {};
  return "guid:" + guid + "/" + std::to_string(port.number);
}

// The MTU of the netdev.
std::optional<uint32_t> read_netdev(Context& context, Port& port) {
  if (port.netdev.empty()) return std::nullopt;
  if (!context.kernel.route) return read_netdev_files(context.kernel.root, port);
  const auto link = rtnl::link(*context.kernel.route, port.netdev);
  if (!link) {
    if (link.error().code == ENODEV) port.netdev.clear();  // soft-RoCE names one of another namespace
    else note(port, "netdev, mtu, carrier", link.error());
    return std::nullopt;
  }
  port.ifindex = link->ifindex;
  port.carrier = link->carrier;
  port.altnames = link->altnames;
  port.counters.carrier_down = link->carrier_down_count;
  port.card_address = address_of(context.kernel.root, port, link->permanent);
  read_card(context, port);
  return link->mtu;
}

// Unknown speed is "-1" or, while the interface is down, EINVAL. RoCE drivers squeeze it into InfiniBand's classes for
// the rate, and go on showing some rate without a link.
void read_speed(const Root& root, Port& port) {
  if (!port.netdev.empty()) {
    const auto text = root.read_line(net_folder(port) + "/speed");
    if (text) port.speed = parse_number<uint32_t>(*text);
    else if (text.error().code != ENOENT && text.error().code != EINVAL) note(port, "speed, rate", text.error());
    if (port.speed == 0u || port.speed == UINT32_MAX) port.speed.reset();
  }
  if (port.speed) port.rate = *port.speed * 1e6 / 8;
  if (port.speed || (port.link_layer == LinkLayer::ethernet && port.carrier == false)) return;
  const auto text = read_noted(root, infiniband::port_folder(port.rdma, port.number) + "/rate", "rate", port);
  if (text) port.rate = infiniband::parse_rate(*text);
}

}  // namespace

// Links "lower_NAME" lead to the netdevs below, in their own namespace (net/core/dev.c, netdev_adjacent_sysfs_add).
void read_gids(const Context& context, Port& port) {
  const Root& root = context.kernel.root;
  const auto* attributes = context.attributes(port);
  if (attributes != nullptr && context.by_verbs.at(port.rdma).has_gid_table) port.gids = attributes->gids;
  else if (auto gids = infiniband::gids(root, port.rdma, port.number)) port.gids = std::move(*gids);
  else if (gids.error().code != ENOENT || port.link_layer == LinkLayer::ethernet) note(port, "gids", gids.error());
  for (Gid& gid : port.gids)
    gid.above = !gid.netdev.empty() && !port.netdev.empty() && gid.netdev != port.netdev &&
                root.exists("sys/class/net/" + gid.netdev + "/lower_" + port.netdev);
}

void read_link(Context& context, Port& port) {
  const Root& root = context.kernel.root;
  const nldev::Device* device = context.device(port.rdma);
  std::optional<nldev::PortLink> netlink;  // absent also when netlink fails: the files say why, or know the same
  if (device != nullptr)
    if (auto answer = nldev::port(*context.kernel.rdma, device->index, port.number)) netlink = std::move(*answer);
  read_state(context, netlink, port);
  port.netdev = find_netdev(root, netlink, port);
  port.driver = driver_for(port.kernel_driver, &root, port.netdev).name;
  // The E-Switch's port for a virtual function or a subfunction: "pf0vf3", "c1pf0sf1"; the wire's is "p0"
  // (net/devlink/port.c of Linux 6.12, __devlink_port_phys_port_name_get).
  if (!port.netdev.empty() && root.line_of(net_folder(port) + "/phys_port_name").find("pf") != std::string::npos) {
    port.virtual_function = true;
    port.left_alone = "representor of a virtual function or subfunction: set on the uplink's port";
  }
  port.bond = bond_of(root, port);
  if (!port.bond.empty()) port.netdev = port.bond;
  const auto mtu = read_netdev(context, port);
  if (const auto* attributes = context.attributes(port)) port.active_mtu = attributes->active_mtu;
  else if (mtu && port.link_layer == LinkLayer::ethernet)
    port.active_mtu = verbs::roce_mtu(*mtu);  // as the kernel does
  if (port.active_mtu == 0u) port.active_mtu.reset();
  if (port.netdev.empty() && port.link_layer == LinkLayer::ethernet && port.left_alone.empty())
    port.left_alone = "its netdev is missing or in another network namespace";
  read_speed(root, port);
}

// mlx5 RoCE LAG: one RDMA device on a bond, whose member netdevs are physical functions with settings of their own
// (drivers/net/ethernet/mellanox/mlx5/core/lag of Linux 6.12).
std::vector<Port> bond_members(Context& context, const Port& bond) {
  std::vector<Port> members;
  if (bond.bond.empty() || bond.virtual_function) return members;
  const Root& root = context.kernel.root;
  for (const auto& [name, place] : members_of(root, net_folder(bond), bond)) {
    Port member = bond;
    member.netdev = name;
    member.driver = driver_for(member.kernel_driver, &root, member.netdev).name;
    member.pci = place.pci;
    member.pci_id = pci_id_of(root, place.folder);
    member.numa = pci::numa_node(root, place.folder, context.cpu_nodes);
    member.ifindex = 0;
    member.carrier.reset();
    member.speed.reset();
    member.rate.reset();
    member.counters = {};
    member.unread.clear();
    (void)read_netdev(context, member);
    read_speed(root, member);
    read_counters(context, member);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace fabric::scanning
