// SPDX-License-Identifier: Apache-2.0
#include "node/port_reader.h"

#include <algorithm>

#include "base/parse.h"
#include "kernel/netlink/devlink.h"
#include "kernel/netlink/rtnl.h"
#include "kernel/rdma/infiniband.h"
#include "nic/capabilities.h"
#include "nic/driver.h"
#include "node/port_role.h"
#include "node/port_settings.h"
#include "node/telemetry.h"
#include "wire/vpd.h"

namespace fabric::scanning {
namespace {

// Vendors' own drivers have a version; for the kernel's drivers it is the kernel's release.
std::string driver_version(const Root& root, std::string module) {
  if (module.empty()) return {};
  std::ranges::replace(module, '-', '_');
  for (const std::string& file : {"sys/module/" + module + "/version", std::string("proc/sys/kernel/osrelease")})
    if (std::string version = root.line_of(file); !version.empty()) return version;
  return {};
}

// The serial number, or an empty text for a placeholder ("0000", "N/A").
std::string real_serial(std::string_view serial) {
  const std::string text(trim(serial));
  const bool plain = std::ranges::all_of(text, [](char letter) { return letter > ' ' && letter <= '~'; });
  const bool varied = std::ranges::any_of(text, [&](char letter) { return letter != text.front(); });
  if (!plain || !varied || text.size() < 6) return {};
  return text;
}

// The driver of the function in `folder`, "mlx5_core": from its `driver` link, else from DRIVER of its uevent file
// (trees that were copied without links). Empty: unknown.
std::string driver_of(const Root& root, const std::string& folder) {
  if (std::string name = root.link_name(folder + "/driver"); !name.empty()) return name;
  const std::string uevent = root.text_of(folder + "/uevent");
  for (const std::string_view line : split(uevent, '\n'))
    if (line.starts_with("DRIVER=")) return std::string(trim(line.substr(7)));
  return {};
}

// The file's line. A missing file is silently absent; any other failure is noted under `subject`.
std::optional<std::string> read_noted(const Root& root, const std::string& file, const char* subject, Port& port,
                                      PortPart part = PortPart::other) {
  auto line = root.read_line(file);
  if (line) return std::move(line).value();
  if (line.error().code != ENOENT) note_unread(port, part, subject, line.error());
  return std::nullopt;
}

}  // namespace

std::string pci_id_of(const Root& root, const std::string& folder) {
  std::string id;
  for (const char* file : {"/vendor", "/device"}) {
    const std::string text = root.line_of(folder + file);  // "0x15b3"
    if (!text.starts_with("0x")) return {};
    append_item(id, text.substr(2), ":");
  }
  return id;
}

const nldev::Device* Context::device(const std::string& name) const { return find_in(netlink, name); }

const verbs::PortAttributes* Context::attributes(const Port& port) const {
  const verbs::DeviceAttributes* device = find_in(by_verbs, port.rdma);
  if (device == nullptr) return nullptr;
  return find_in(device->ports, port.number);
}

void note_unread(Port& port, PortPart part, std::string_view subject, const Error& failure) {
  port.unread.push_back({part, std::string(subject) + ": " + failure.text()});
}

void Context::note_unseen(const std::string& what) {
  if (!contains(unseen, what)) unseen.push_back(what);
}

void read_identity(const Context& context, Port& port) {
  const Root& root = context.kernel.root;
  const std::string folder = infiniband::device_folder(port.rdma);
  const nldev::Device* device = context.device(port.rdma);
  std::string function, above;  // the folder of the function, and the device that the class device is on
  if (const auto resolved = root.resolve(folder + "/device")) {
    const auto place = pci::parse_location(*resolved);
    function = place ? place->folder : *resolved;
    above = base_name(*resolved);
    if (place) port.pci = place->pci;
    port.kernel_driver = driver_of(root, function);
    port.pci_id = pci_id_of(root, function);
    port.driver_version = driver_version(root, port.kernel_driver);
    port.numa = pci::numa_node(root, function, context.cpu_nodes);
  } else {
    const std::string_view protocol = device != nullptr ? std::string_view(device->protocol) : std::string_view();
    port.kernel_driver = software_driver(root.exists(folder + "/parent"), protocol);
  }
  port.driver = driver_for(port.kernel_driver).name;  // read_link() looks for further evidence on the netdev
  if (const verbs::DeviceAttributes* known = find_in(context.by_verbs, port.rdma)) port.firmware = known->firmware;
  if (port.firmware.empty()) port.firmware = read_noted(root, folder + "/fw_ver", "firmware", port).value_or("");
  if (port.firmware.empty() && device != nullptr) port.firmware = device->firmware;
  port.board_id = read_noted(root, folder + "/board_id", "board", port).value_or("");
  port.hca_type = read_noted(root, folder + "/hca_type", "HCA type", port).value_or("");
  if (const auto* attributes = context.attributes(port)) port.link_layer = attributes->link_layer;
  const std::string layer = infiniband::port_folder(port.rdma, port.number) + "/link_layer";
  if (port.link_layer == LinkLayer::unknown)
    port.link_layer =
        parse_word<LinkLayer>(read_noted(root, layer, "link layer", port).value_or("")).value_or(LinkLayer::unknown);
  if (port.link_layer == LinkLayer::unknown && device != nullptr) {
    if (device->protocol == "ib") port.link_layer = LinkLayer::infiniband;
    if (device->protocol == "roce" || device->protocol == "iw") port.link_layer = LinkLayer::ethernet;
  }
  // RDMA_NODE_RNIC, _USNIC and _USNIC_UDP of enum rdma_node_type (rdma/ib_verbs.h), as core/sysfs.c prints them.
  const std::string type = read_noted(root, folder + "/node_type", "node type", port).value_or("").substr(0, 2);
  if (type == "4:") port.transport = RdmaTransport::iwarp;
  if (type == "5:" || type == "6:") port.transport = RdmaTransport::usnic;
  read_device_role(context, function, above, port);
}

std::string vpd_serial(std::string_view vpd) {
  const auto fields = vpd_fields(vpd);
  const VpdField* serial = find_where(fields, [](const VpdField& field) { return field.key == "SN"; });
  if (serial == nullptr) return {};
  return real_serial(serial->text);
}

// The serial number of the board by devlink, else by its VPD, which only root may read (PCI Local Bus
// Specification 3.0, appendix I); else the port's own address.
void read_card(Context& context, Port& port) {
  port.card = port.card_address;
  if (!context.options.serials || port.pci.empty() || is_virtual(port)) return;
  Kernel& kernel = context.kernel;
  const auto [known, is_new] = kernel.serials.try_emplace(port.pci + "#" + std::to_string(port.ifindex));
  if (is_new) {
    if (kernel.generic)
      if (const auto family = ethtool::resolve(*kernel.generic, "devlink"))
        if (const auto serial = devlink::serial_number(*kernel.generic, family->id, {"pci", port.pci}))
          known->second = real_serial(*serial);
    if (known->second.empty())
      if (const auto vpd = kernel.root.read("sys/bus/pci/devices/" + port.pci + "/vpd"))
        known->second = vpd_serial(*vpd);
  }
  if (known->second.empty()) return;
  port.card =
      "serial:" + known->second + "/" + port.pci.substr(port.pci.rfind('.') + 1) + "." + std::to_string(port.number);
}

void make_cards_unique(std::vector<Port>& ports) {
  std::vector<bool> shared(ports.size());
  for (size_t i = 0; i < ports.size(); ++i)
    shared[i] = std::ranges::any_of(ports, [&](const Port& other) {
      return &other != &ports[i] && other.card == ports[i].card && other.card_address != ports[i].card_address;
    });
  for (size_t i = 0; i < ports.size(); ++i)
    if (shared[i]) ports[i].card = ports[i].card_address;
}

namespace {

std::string net_folder(const Port& port) { return "sys/class/net/" + port.netdev; }

// The function's netdev. If there are several, the one with the port's number (dev_port counts from 0); none if that is
// ambiguous. Representors belong to the E-Switch.
std::string netdev_of_function(const Root& root, const Port& port) {
  auto names = root.list(infiniband::device_folder(port.rdma) + "/device/net");
  if (!names || names->empty()) return {};
  if (names->size() > 1) std::erase_if(*names, [&](const std::string& name) { return is_representor(root, name); });
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

// The function's netdev is in another network namespace, as in is_elsewhere() (port_role.h): in the shared mode of
// RDMA the files of the port still have its name there, or that of the bond above, which may be another netdev's here.
bool has_netdev_elsewhere(const Root& root, const Port& port) {
  const auto names = root.list(infiniband::device_folder(port.rdma) + "/device/net");
  return names && names->empty();
}

// Whether RDMA netlink names the netdev of another port of the device: then a port without a name has none here. It may
// be the E-Switch's port for a function (hw/mlx5/ib_rep.c of Linux 6.12), which is not on the function's netdev.
bool names_other_netdev(const Context& context, const nldev::Device& device, const Port& port) {
  const auto numbers = infiniband::ports(context.kernel.root, port.rdma);
  return numbers && std::ranges::any_of(*numbers, [&](unsigned number) {
           if (number == port.number) return false;
           const auto other = nldev::port(*context.kernel.rdma, device.index, number);
           return other && !other->netdev.empty();
         });
}

using Members = std::vector<std::pair<std::string, pci::Location>>;

// The netdevs of a bond and their functions, without members of another driver than the port's: these carry no RoCE.
Members members_of(const Root& root, const std::string& bond_folder, const Port& port) {
  Members out;
  const std::string names = root.line_of(bond_folder + "/bonding/slaves");  // Documentation/networking/bonding.rst
  for (const std::string_view name : words(names)) {
    auto place = pci::location_at(root, "sys/class/net/" + std::string(name) + "/device");
    if (place && driver_of(root, place->folder) == port.kernel_driver) out.emplace_back(name, std::move(*place));
  }
  return out;
}

// The settings of the bond that is the port's netdev. nullopt: it is no bond, or its files cannot be read.
std::optional<BondSettings> bond_settings(const Root& root, const Port& port) {
  const std::string folder = net_folder(port) + "/bonding/";
  const std::string mode = root.line_of(folder + "mode");  // "802.3ad 4"
  if (mode.empty()) return std::nullopt;
  const auto mii = root.number_in<unsigned>(folder + "miimon"), arp = root.number_in<unsigned>(folder + "arp_interval");
  return BondSettings{.mode = mode.substr(0, mode.find(' ')), .is_unwatched = mii == 0u && arp == 0u};
}

// Fills the members that the netdev has, and returns its MTU.
std::optional<uint32_t> read_netdev(Context& context, Port& port) {
  if (port.netdev.empty()) return std::nullopt;
  const Root& root = context.kernel.root;
  if (!context.kernel.route) {
    port.ifindex = root.number_in<int>(net_folder(port) + "/ifindex").value_or(0);
    port.counters.carrier_down = root.number_in<uint64_t>(net_folder(port) + "/carrier_down_count");
    // The carrier of an interface that is administratively down answers EINVAL: it has none.
    const auto carrier = root.read_line(net_folder(port) + "/carrier");
    if (carrier && !carrier->empty()) port.carrier = *carrier == "1";
    else if (!carrier && carrier.error().code == EINVAL) port.carrier = false;
    return root.number_in<uint32_t>(net_folder(port) + "/mtu");
  }
  const auto link = rtnl::link(*context.kernel.route, port.netdev);
  if (!link) {
    if (link.error().code == ENODEV) {
      port.netdev.clear();  // soft-RoCE names a netdev of another namespace
      return std::nullopt;
    }
    note_unread(port, PortPart::netdev, "netdev, mtu, carrier", link.error());
    port.card.clear();  // of a bond's member: the bond's
    port.card_address.clear();
    return std::nullopt;
  }
  port.ifindex = link->ifindex;
  port.carrier = link->carrier;
  port.altnames = link->altnames;
  port.counters.carrier_down = link->carrier_down_count;
  // The GUID serves a bond, whose netdev has no permanent address: it is the GUID of the device's function. It comes
  // second because some drivers make it of the netdev's present address (bnxt_re, irdma).
  port.card_address.clear();
  if (!port.pci.empty() && !link->permanent.empty()) port.card_address = "mac:" + link->permanent;
  else if (!port.pci.empty()) {
    const std::string guid = root.line_of(infiniband::device_folder(port.rdma) + "/node_guid");
    if (guid.find_first_not_of("0:") != std::string::npos)
      port.card_address = "guid:" + guid + "/" + std::to_string(port.number);
  }
  read_card(context, port);
  return link->mtu;
}

// An unknown speed is "-1" or, while the interface is down, EINVAL. RoCE drivers round the rate to InfiniBand's
// classes, and report some rate even without a link.
void read_speed(const Root& root, Port& port) {
  if (!port.netdev.empty()) {
    const auto text = root.read_line(net_folder(port) + "/speed");
    if (text) port.speed = parse_number<uint32_t>(*text);
    else if (text.error().code != ENOENT && text.error().code != EINVAL)
      note_unread(port, PortPart::speed, "speed, rate", text.error());
    if (port.speed == 0u || port.speed == UINT32_MAX) port.speed.reset();
  }
  if (port.speed) port.rate = *port.speed * 1e6 / 8;
  if (port.speed || (port.link_layer == LinkLayer::ethernet && port.carrier == false)) return;
  const auto text = root.read_line(infiniband::port_folder(port.rdma, port.number) + "/rate");
  if (text) {
    port.rate = infiniband::parse_rate(*text);
    if (port.link_layer == LinkLayer::infiniband) port.width = infiniband::parse_width(*text);
  } else if (text.error().code != ENOENT) note_unread(port, PortPart::rate, "rate", text.error());
  port.has_no_width = !text && text.error().code == EINVAL;
}

}  // namespace

// Links "lower_NAME" lead to the netdevs below, in their own namespace (net/core/dev.c, netdev_adjacent_sysfs_add). A
// tunnel has its kind in uevent (SET_NETDEV_DEVTYPE() in drivers/net/vxlan/vxlan_core.c and geneve.c of Linux 6.12).
void read_gids(const Context& context, Port& port) {
  const Root& root = context.kernel.root;
  const auto* attributes = context.attributes(port);
  if (attributes != nullptr && context.by_verbs.at(port.rdma).has_gid_table) port.gids = attributes->gids;
  else if (auto gids = infiniband::gids(root, port.rdma, port.number)) port.gids = std::move(*gids);
  else if (gids.error().code != ENOENT || port.link_layer == LinkLayer::ethernet)
    note_unread(port, PortPart::gids, "gids", gids.error());
  if (has_unknown_mode(context, port))
    port.unread.push_back({PortPart::eswitch, "mode of the E-Switch (devlink, CAP_NET_ADMIN)"});
  for (Gid& gid : port.gids) {
    if (gid.netdev.empty() || port.netdev.empty() || gid.netdev == port.netdev) continue;
    const std::string folder = "sys/class/net/" + gid.netdev, kind = root.text_of(folder + "/uevent");
    gid.above = root.exists(folder + "/lower_" + port.netdev);
    gid.overlay = kind.starts_with("DEVTYPE=vxlan\n") || kind.starts_with("DEVTYPE=geneve\n");
  }
  // The table is full if no index is without a GID up to the last one that has a file.
  const std::string table = infiniband::port_folder(port.rdma, port.number) + "/gids/";
  const auto taken = static_cast<unsigned>(port.gids.size());
  const bool has_gap = port.gids.empty() || port.gids.back().index + 1 != taken;
  port.full_gid_table = 0;
  if (!has_gap && root.exists(table + "0") && !root.exists(table + std::to_string(taken))) port.full_gid_table = taken;
}

void read_link(Context& context, Port& port) {
  const Root& root = context.kernel.root;
  const nldev::Device* device = context.device(port.rdma);
  // Absent also if netlink fails: then the files have the values, or the reason.
  std::optional<nldev::PortLink> netlink;
  if (device != nullptr)
    if (auto answer = nldev::port(*context.kernel.rdma, device->index, port.number)) netlink = std::move(*answer);

  // libibverbs, RDMA netlink, sysfs: the first that has the state.
  const std::string folder = infiniband::port_folder(port.rdma, port.number);
  if (const auto* attributes = context.attributes(port)) {
    port.state = attributes->state;
    port.phys_state = attributes->phys_state;
  } else {
    if (netlink && netlink->state) port.state = *netlink->state;
    else if (const auto text = read_noted(root, folder + "/state", "state", port, PortPart::state))
      port.state = infiniband::parse_state(*text);
    if (netlink && netlink->phys_state) port.phys_state = *netlink->phys_state;
    else if (const auto text = read_noted(root, folder + "/phys_state", "state", port, PortPart::state))
      port.phys_state = infiniband::parse_state(*text);
  }

  // The netdev by RDMA netlink (for a bond's device its active member), else the netdev of the first GID (there the
  // bond), else soft-RoCE's own file, else the function's netdev. If netlink answers without a name, the netdev of
  // those two files is in another namespace: a container's eth0.
  bool is_unnamed = false;
  port.netdev.clear();
  if (port.link_layer != LinkLayer::infiniband) {
    if (netlink) port.netdev = netlink->netdev;
    else port.netdev = root.line_of(folder + "/gid_attrs/ndevs/0");
    if (!netlink && port.netdev.empty()) port.netdev = root.line_of(infiniband::device_folder(port.rdma) + "/parent");
    if (!netlink && has_netdev_elsewhere(root, port)) port.netdev.clear();
    is_unnamed = netlink && port.netdev.empty() && names_other_netdev(context, *device, port);
    if (port.netdev.empty() && !is_unnamed) port.netdev = netdev_of_function(root, port);
  }
  port.driver = driver_for(port.kernel_driver, &root, port.netdev).name;
  // The port is a bond if its netdev is one, or if other members of the netdev's bond have no RDMA device of their own
  // because it is part of this port's device (RoCE LAG). Members with RDMA devices of their own are bonded for IP only.
  port.bond.clear();
  if (port.netdev.empty() || root.exists(net_folder(port) + "/bonding")) port.bond = port.netdev;
  else
    for (const auto& [member, place] : members_of(root, net_folder(port) + "/master", port))
      if (member != port.netdev && !root.exists(place.folder + "/infiniband")) {
        port.bond = root.link_name(net_folder(port) + "/master");
        break;
      }
  if (!port.bond.empty()) port.netdev = port.bond;
  port.bonding = port.bond.empty() ? std::nullopt : bond_settings(root, port);
  read_link_role(context, port);
  if (is_unnamed && port.role == PortRole::switchdev_uplink) port.role = PortRole::representor;
  const auto mtu = read_netdev(context, port);
  if (const auto* attributes = context.attributes(port)) port.active_mtu = attributes->active_mtu;
  else if (mtu && port.link_layer == LinkLayer::ethernet) port.active_mtu = roce_mtu(*mtu);  // as the kernel does
  if (port.active_mtu == 0u) port.active_mtu.reset();
  if (port.netdev.empty() && port.link_layer == LinkLayer::ethernet && !is_virtual(port))
    port.role = PortRole::netdev_elsewhere;
  read_speed(root, port);
  // The netdev of a VF has the speed of one link, below a RoCE LAG too.
  if (const auto* attributes = context.attributes(port); attributes != nullptr && attributes->rate)
    if (is_virtual(port) || !port.rate) port.rate = attributes->rate;
}

// mlx5 RoCE LAG: one RDMA device on a bond, whose member netdevs are physical functions with settings of their own
// (drivers/net/ethernet/mellanox/mlx5/core/lag of Linux 6.12).
std::vector<Port> bond_members(Context& context, const Port& bond) {
  std::vector<Port> members;
  if (bond.role != PortRole::bond) return members;
  const Root& root = context.kernel.root;
  for (const auto& [name, place] : members_of(root, net_folder(bond), bond)) {
    Port member = bond;
    member.role = PortRole::bond_member;
    member.bonding.reset();
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
    // With another mode than 802.3ad the first is "N/A" and the second empty (drivers/net/bonding/bond_sysfs*.c).
    const auto own = root.number_in<unsigned>(net_folder(member) + "/bonding_slave/ad_aggregator_id"),
               of_bond = root.number_in<unsigned>(net_folder(bond) + "/bonding/ad_aggregator");
    // A bond with ad_select "bandwidth" or "count" keeps other aggregators in reserve, on purpose.
    const auto select = root.line_of(net_folder(bond) + "/bonding/ad_select");
    const bool is_reserve = select.starts_with("bandwidth") || select.starts_with("count");
    if (own && of_bond && !is_reserve) member.aggregator = Aggregator{*own, *of_bond};
    read_counters(context, member);
    members.push_back(std::move(member));
  }
  return members;
}

void read_settings(Context& context, Port& port) {
  if (port.netdev.empty()) return;
  if (!context.kernel.route) {  // a captured tree: the one setting that is a file
    const auto text =
        read_noted(context.kernel.root, "sys/class/net/" + port.netdev + "/mtu", "mtu", port, PortPart::mtu);
    if (text) port.qos.mtu = parse_number<uint32_t>(*text);
    return;
  }
  auto reading = qos::read(context.kernel, port, context.options.keys);
  if (!reading) {
    note_unread(port, PortPart::settings, "settings", reading.error());
    return;
  }
  port.qos = std::move(reading->values);
  port.capacity = std::move(reading->capacity);
}

void read_counters(Context& context, Port& port) {
  if (!context.options.counters) return;
  const Kernel& kernel = context.kernel;
  const nldev::Device* device = context.device(port.rdma);
  CounterAccess access{.root = kernel.root, .rdma = kernel.rdma.get(), .statistics = kernel.statistics.get()};
  if (device != nullptr) access.device = device->index;
  fabric::read_counters(access, port);
  TelemetryReader telemetry({kernel.root, kernel.generic.get(), kernel.ethtool, kernel.rdma.get()}, port);
  if (const Attempt attempt = telemetry.read(port); !attempt.success)
    port.unread.push_back({PortPart::other, "telemetry: " + attempt.error});
  if (telemetry.may_diagnose()) return;
  if (!context.vnic) context.vnic = state::load_vnic(kernel.root);
  if (*context.vnic && **context.vnic) state::add_vnic(port, ***context.vnic);
  else
    context.note_unseen(
        "the NIC's counts of faults of queues (CAP_NET_ADMIN, or fabric-agentd running, which publishes them)");
}

}  // namespace fabric::scanning
