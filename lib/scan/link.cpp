// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"
#include "kernel/netlink/rtnl.h"
#include "kernel/rdma/infiniband.h"
#include "scan/port.h"
#include "vendor/driver.h"

namespace fabric::scanning {
namespace {

std::string net_folder(const Port& port) { return "sys/class/net/" + port.netdev; }

// Absent also when netlink fails: the files say why, or know the same.
std::optional<nldev::PortLink> ask_netlink(const Context& context, const Port& port) {
  const nldev::Device* device = context.device(port.rdma);
  if (device == nullptr) return std::nullopt;
  auto answer = nldev::port(*context.kernel.rdma, device->index, port.number);
  if (!answer) return std::nullopt;
  return std::move(answer).value();
}

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
    const auto number = parse_number<unsigned>(root.line_of("sys/class/net/" + name + "/dev_port"));
    if (!number || *number + 1 != port.number) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

// By RDMA netlink (for a bond's device the bond), else the first GID's netdev, soft-RoCE's own file, the function. If
// netlink answers without a name, the netdev of those two files is in another namespace: a container's eth0.
std::string find_netdev(const Root& root, const std::optional<nldev::PortLink>& netlink, const Port& port) {
  if (port.link_layer == LinkLayer::infiniband) return {};
  if (netlink) return netlink->netdev.empty() ? netdev_of_function(root, port) : netlink->netdev;
  const std::string first_gid = infiniband::port_folder(port.rdma, port.number) + "/gid_attrs/ndevs/0";
  for (const std::string& file : {first_gid, std::string(infiniband::kClass) + "/" + port.rdma + "/parent"})
    if (std::string name = root.line_of(file); !name.empty()) return name;
  return netdev_of_function(root, port);
}

// The E-Switch's port for a virtual function or a subfunction: "pf0vf3", "c1pf0sf1"; the wire's is "p0"
// (net/devlink/port.c of Linux 6.12, __devlink_port_phys_port_name_get).
bool is_representor(const Root& root, const Port& port) {
  if (port.netdev.empty()) return false;
  return root.line_of(net_folder(port) + "/phys_port_name").find("pf") != std::string::npos;
}

// Without netlink. An interface that is administratively down answers EINVAL for its carrier: it has none.
void read_netdev_files(const Root& root, Port& port, std::optional<uint32_t>& mtu) {
  const auto number = [&](const char* file) {
    return parse_number<uint64_t>(root.line_of(net_folder(port) + "/" + file));
  };
  port.ifindex = static_cast<int>(number("ifindex").value_or(0));
  port.counters.carrier_down = number("carrier_down_count");
  if (const auto value = number("mtu")) mtu = static_cast<uint32_t>(*value);
  const auto carrier = root.read_line(net_folder(port) + "/carrier");
  if (carrier && !carrier->empty()) port.carrier = *carrier == "1";
  else if (!carrier && carrier.error().code == EINVAL) port.carrier = false;
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

void read_netdev(Context& context, Port& port, std::optional<uint32_t>& mtu) {
  if (port.netdev.empty()) return;
  if (!context.kernel.route) return read_netdev_files(context.kernel.root, port, mtu);
  const auto link = rtnl::link(*context.kernel.route, port.netdev);
  if (!link && link.error().code == ENODEV) return port.netdev.clear();  // soft-RoCE names one of another namespace
  if (!link) return note(port, "netdev, mtu, carrier", link.error());
  port.ifindex = link->ifindex;
  port.carrier = link->carrier;
  port.altnames = link->altnames;
  port.counters.carrier_down = link->carrier_down_count;
  port.card_address = address_of(context.kernel.root, port, link->permanent);
  read_card(context, port);
  mtu = link->mtu;
}

// Unknown speed is "-1" or, while the interface is down, EINVAL.
void read_speed(const Root& root, Port& port) {
  if (port.netdev.empty()) return;
  const auto text = root.read_line(net_folder(port) + "/speed");
  if (text) port.speed = parse_number<uint32_t>(*text);
  else if (text.error().code != ENOENT && text.error().code != EINVAL) note(port, "speed, rate", text.error());
  if (port.speed == 0u || port.speed == UINT32_MAX) port.speed.reset();
}

// RoCE drivers squeeze the speed into InfiniBand's classes, and go on showing some rate without a link.
void read_rate(const Root& root, Port& port) {
  if (port.speed) {
    port.rate = *port.speed * 1e6 / 8;
    return;
  }
  if (port.link_layer == LinkLayer::ethernet && port.carrier == false) return;
  const auto text = read_noted(root, infiniband::port_folder(port.rdma, port.number) + "/rate", "rate", port);
  if (text) port.rate = infiniband::parse_rate(*text);
}

// Links "lower_NAME" lead to the netdevs below, in their own namespace (net/core/dev.c, netdev_adjacent_sysfs_add).
bool is_above(const Root& root, const std::string& netdev, const std::string& lower) {
  return !netdev.empty() && !lower.empty() && netdev != lower &&
         root.exists("sys/class/net/" + netdev + "/lower_" + lower);
}

// Without libibverbs, as the kernel computes it.
void find_active_mtu(const Context& context, Port& port, const std::optional<uint32_t>& netdev_mtu) {
  const auto* attributes = context.attributes(port);
  uint32_t mtu = attributes != nullptr ? attributes->active_mtu : 0;
  if (attributes == nullptr && port.link_layer == LinkLayer::ethernet && netdev_mtu) mtu = verbs::roce_mtu(*netdev_mtu);
  if (mtu != 0) port.active_mtu = mtu;
}

void read_gids(const Context& context, Port& port) {
  const auto* attributes = context.attributes(port);
  if (attributes != nullptr && context.by_verbs.at(port.rdma).has_gid_table) port.gids = attributes->gids;
  else if (auto gids = infiniband::gids(context.kernel.root, port.rdma, port.number)) port.gids = std::move(*gids);
  else if (gids.error().code != ENOENT || port.link_layer == LinkLayer::ethernet) note(port, "gids", gids.error());
  for (Gid& gid : port.gids) gid.above = is_above(context.kernel.root, gid.netdev, port.netdev);
}

}  // namespace

void read_rest(Context& context, Port& port, const std::optional<uint32_t>& mtu) {
  find_active_mtu(context, port, mtu);
  if (context.options.settings) read_settings(context, port);
  if (context.options.gids) read_gids(context, port);
}

std::optional<uint32_t> read_link(Context& context, Port& port) {
  const Root& root = context.kernel.root;
  const auto netlink = ask_netlink(context, port);
  read_state(context, netlink, port);
  port.netdev = find_netdev(root, netlink, port);
  port.driver = driver_for(port.kernel_driver, &root, port.netdev).name;
  if (is_representor(root, port)) {
    port.virtual_function = true;
    port.left_alone = "representor of a virtual function or subfunction: set on the uplink's port";
  }
  if (!port.netdev.empty() && root.exists(net_folder(port) + "/bonding")) port.bond = port.netdev;
  std::optional<uint32_t> mtu;
  read_netdev(context, port, mtu);
  if (port.netdev.empty() && port.link_layer == LinkLayer::ethernet && port.left_alone.empty())
    port.left_alone = "its netdev is missing or in another network namespace";
  read_speed(root, port);
  read_rate(root, port);
  return mtu;
}

void read_member(Context& context, Port& member) {
  member.ifindex = 0;
  member.carrier.reset();
  member.speed.reset();
  member.rate.reset();
  member.qos = {};
  member.limits = {};
  std::optional<uint32_t> mtu;
  read_netdev(context, member, mtu);
  read_speed(context.kernel.root, member);
  read_rate(context.kernel.root, member);
  read_counters(context, member);
}

// mlx5 RoCE LAG: one RDMA device on a bond, whose member netdevs are physical functions with settings of their own
// (drivers/net/ethernet/mellanox/mlx5/core/lag of Linux 6.12).
namespace {

std::string function_of(const Root& root, const std::string& netdev) {
  const auto resolved = root.resolve("sys/class/net/" + netdev + "/device");
  const auto place = resolved ? pci::parse_place(*resolved) : std::nullopt;
  return place ? place->folder : std::string();
}

}  // namespace

std::vector<Port> bond_members(Context& context, const Port& bond) {
  std::vector<Port> members;
  if (bond.bond.empty() || bond.virtual_function) return members;
  const Root& root = context.kernel.root;
  const auto names =
      root.read_line("sys/class/net/" + bond.bond + "/bonding/slaves");  // Documentation/networking/bonding.rst
  for (const std::string_view name : words(names ? std::string_view(*names) : std::string_view{})) {
    const std::string folder = function_of(root, std::string(name));
    if (folder.empty() || driver_of(root, folder) != bond.kernel_driver)
      continue;  // a member of another kind carries no RoCE
    Port member = bond;
    member.netdev = name;
    member.pci = base_name(folder);
    member.pci_id = pci_id_of(root, folder);
    member.numa = pci::numa_node(root, folder, context.cpu_nodes);
    member.gids.clear();
    member.counters = {};
    member.unread.clear();
    read_member(context, member);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace fabric::scanning
