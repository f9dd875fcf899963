// SPDX-License-Identifier: Apache-2.0
// The GIDs of a port: whether it has one that jobs can use, at which index, whether they change, and whether another
// device has the same.
#include "judge/gid.h"

#include "judge/finding.h"
#include "judge/network.h"
#include "judge/port_context.h"
#include "judge/rails.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "node/endpoints.h"
#include "node/topology.h"

namespace fabric {
namespace {

bool is_ipv4(const Gid& gid) { return gid.gid.starts_with("0000:0000:0000:0000:0000:ffff:"); }

std::string describe(const Gid& gid) {
  std::string out = "index " + to_text(gid.index) + " " + gid.gid;
  if (!gid.netdev.empty()) out += " on " + gid.netdev;
  return out;
}

// The bond that the netdev of the port's NIC is a member of; empty: none.
std::string bond_of(const Node& node, const Port& port) {
  const Nic* nic = nic_at(node.topology, port.pci);
  if (nic == nullptr) return {};
  return nic->bond;
}

// The other member of the port's bond, which has its GIDs. The kernel keeps the GIDs of an active-backup bond at its
// active member (bonding_default_del_cmd in drivers/infiniband/core/roce_gid_mgmt.c, Linux 6.12).
const Port* active_member(const Node& node, const Port& port) {
  const std::string bond = bond_of(node, port);
  if (bond.empty()) return nullptr;
  return find_where(node.ports, [&](const Port& other) {
    return other.id() != port.id() && !other.gids.empty() && bond_of(node, other) == bond;
  });
}

// The ports of the bond that have this GID, `port` among them. More than one: no RoCE LAG combines them, which would
// make one RDMA device of the bond. In other modes than active-backup all have the bond's GIDs.
std::vector<const Port*> sharers_of(const Node& node, const Port& port, const Gid& gid) {
  const std::string bond = bond_of(node, port);
  std::vector<const Port*> out;
  if (bond.empty()) return out;
  for (const Port& each : node.ports)
    if (is_endpoint(each) && (&each == &port || each.rdma != port.rdma) && bond_of(node, each) == bond &&
        std::ranges::any_of(each.gids, [&](const Gid& own) { return own.gid == gid.gid && is_routable_v2(own); }))
      out.push_back(&each);
  return out;
}

// The other port of an active-backup bond that no RoCE LAG combines, which has no GIDs because this one is the active
// member.
const Port* backup_of(const Node& node, const Port& port, const Gid& gid) {
  const std::string bond = bond_of(node, port);
  if (bond.empty() || gid.netdev.empty() || gid.netdev == port.netdev) return nullptr;
  return find_where(node.ports, [&](const Port& other) {
    return other.rdma != port.rdma && is_judged(other) && is_roce(other) && is_active(other) && other.gids.empty() &&
           !is_unread(other, PortPart::gids) && bond_of(node, other) == bond;
  });
}

// The netdev of the port's NIC. The netdev of the port itself is the bond, also if the device has no LAG.
std::string member_of(const Node& node, const Port& port) {
  const Nic* nic = nic_at(node.topology, port.pci);
  if (nic == nullptr || nic->netdevs.empty()) return port.netdev;
  return nic->netdevs.front();
}

constexpr const char* kOneDeviceOfBond = "a GID of its own, or one RDMA device for the bond";

// A RoCE LAG combines the ports of one NIC (mlx5/core/lag/lag.c of Linux 6.12), also in active-backup mode. `ports`:
// those of the bond that have an RDMA device, in the order of the node's.
Fix fix_of_bond(const Node& node, const Port& port, const std::vector<const Port*>& ports, const std::string& bond) {
  const bool is_one_nic =
      std::ranges::all_of(ports, [&](const Port* each) { return card_of(each->pci) == card_of(port.pci); });
  if (is_one_nic)
    return {{Work::ends_jobs | Work::when_idle,
             "While no job runs, load the driver again with the bond in place, so that it combines both ports (virtual "
             "functions in legacy mode prevent it): journalctl -k -g lag. "},
            {Work::ends_jobs,
             "Else give each netdev an address of its own: ip link set " + member_of(node, port) + " nomaster"}};
  // The first NIC stays, so that the host keeps the addresses and routes of the bond.
  std::string others;
  for (const Port* each : ports)
    if (card_of(each->pci) != card_of(ports.front()->pci)) append_item(others, member_of(node, *each), " ");
  return {Work::ends_jobs, "Leave the ports of one NIC in " + bond + " and take the others out: for netdev in " +
                               others +
                               "; do ip link set $netdev nomaster; done. Give these a bond for each NIC, or an address "
                               "of their own. A RoCE LAG combines the ports of one NIC only."};
}

Finding shared_gid_finding(const View& view, const Port& port, const std::vector<const Port*>& sharers,
                           const Gid& gid) {
  const std::string bond = bond_of(view.now, port);
  const std::string observed =
      describe(gid) + ": on " + joined(sharers, ", ", [](const Port* each) { return each->id(); });
  // A port that serves no GPU also gets answers that were for one that does.
  if (std::ranges::all_of(sharers, [&](const Port* each) { return has_other_purpose(view, *each); }))
    return good(port.id(), observed + " (serves no GPU)", kOneDeviceOfBond);
  return bad(Status::critical, port.id(), observed, kOneDeviceOfBond,
             bond + " spans " + std::to_string(sharers.size()) +
                 " RDMA devices, and no RoCE LAG combines them: all have its GIDs. The switch sends answers to any of "
                 "the links; those that reach another device are dropped, and connections fail or hang.",
             fix_of_bond(view.now, port, sharers, bond));
}

// Jobs run, and half of the NICs carry nothing. Storage and management need no more of a bond than that.
Finding active_backup_finding(const View& view, const Port& port, const Port& other, const std::string& observed) {
  if (has_other_purpose(view, port)) return good(port.id(), observed + " (serves no GPU)", kOneDeviceOfBond);
  const std::string bond = bond_of(view.now, port);
  return bad(Status::warning, port.id(), observed, kOneDeviceOfBond,
             bond +
                 " is active-backup over two RDMA devices, and no RoCE LAG combines them: RoCE uses the active member "
                 "alone. At a failover the GIDs move to the other device, and all RDMA connections end.",
             fix_of_bond(view.now, port, {std::min(&port, &other), std::max(&port, &other)}, bond));
}

// Why the port needs no routable GID of its own, while no equal port has one. Empty: it needs one.
std::string why_without_gid(const View& view, const Port& port) {
  for (const Port& other : view.now.ports)
    if (&other != &port && are_twins(other, port) && std::ranges::any_of(other.gids, is_routable_v2)) return {};
  if (is_virtual(port) && port.role != PortRole::guest_function) return "no equal function has one";
  const Nic* own = nic_of(view.now.topology, port.rdma);
  const auto is_own_function = [&](const Nic& nic) {  // of a guest, or in a container
    return nic.is_virtual_function() && own != nullptr && !own->is_virtual_function() && nic.root == own->root &&
           nic.bridges == own->bridges;
  };
  if (!functions_of(view.now, port).empty() || std::ranges::any_of(view.now.topology.nics, is_own_function))
    return "jobs use its virtual functions";
  return {};
}

// The virtual functions of the NIC: those below the same bridge.
size_t functions_beside(const Topology& topology, const Nic& nic) {
  return static_cast<size_t>(std::ranges::count_if(topology.nics, [&](const Nic& each) {
    return each.is_virtual_function() && each.root == nic.root && each.bridges == nic.bridges;
  }));
}

// How many virtual functions equal ports have, at least, if each of two or more has some and this one has none. 0:
// otherwise.
size_t functions_of_equals(const View& view, const Port& port) {
  const Topology& topology = view.now.topology;
  const Nic* own = nic_of(topology, port.rdma);
  if (own == nullptr || is_virtual(port) || functions_beside(topology, *own) > 0) return 0;
  size_t equals = 0, least = 0;
  for (const Port& other : view.now.ports) {
    const Nic* nic = &other == &port || !are_twins(other, port) ? nullptr : nic_of(topology, other.rdma);
    if (nic == nullptr || is_virtual(other)) continue;
    const size_t functions = functions_beside(topology, *nic);
    if (functions == 0) return 0;
    least = equals++ == 0 ? functions : std::min(least, functions);
  }
  return equals < 2 ? 0 : least;
}

// "58a2:e1ff:fe00:0002", the identifier of an interface in a link-local GID that is made from a MAC address; empty: it
// is not (RFC 4291, appendix A).
std::string_view mac_part(const Gid& gid) {
  const std::string_view text = gid.gid;
  constexpr size_t kHalf = 20;
  if (!text.starts_with("fe80:0000:0000:0000:") || text.size() != 39) return {};
  const std::string_view part = text.substr(kHalf);
  return part.substr(7, 5) == "ff:fe" ? part : std::string_view{};
}

// The default GID of the port's netdev, which the kernel makes from its MAC address, if a link-local GID behind it is
// made from another one. nullptr: there is none. A netdev on top of it (macvlan, VLAN) has no default GID, and the
// macvlans of several pods may have the same name.
const Gid* odd_default_gid(const Port& port, const Gid& best) {
  const Gid* first = nullptr;
  if (best.netdev != port.netdev) return nullptr;
  for (const Gid& gid : port.gids) {  // by index
    if (gid.netdev != best.netdev || gid.type != best.type || mac_part(gid).empty()) continue;
    if (first == nullptr) first = &gid;
    else if (mac_part(gid) != mac_part(*first)) return first;
  }
  return nullptr;
}

// Either the default GID or the link-local address of the netdev is of an earlier MAC address. The kernel loses the
// change if it comes while the RDMA device registers (Linux 9af0feae8016).
Finding odd_default_finding(const Port& port, const Gid& odd, const Gid& best) {
  return bad(
      Status::warning, port.id(),
      describe(best) + "; default GID " + describe(odd) + " and a link-local GID are made from two MAC addresses",
      "a default GID of the MAC address of the netdev",
      "The MAC address of " + best.netdev +
          " has changed, and one of the two GIDs is of the earlier address: usually the default GID, if the address "
          "was set while the RDMA device registered. The GIDs of the addresses have other indexes than on equal "
          "machines: a job with a fixed index takes the wrong one.",
      {"Compare: cat /sys/class/net/" + best.netdev + "/address. ",
       {Work::ends_jobs | Work::when_idle,
        fill_names("While no job runs, register the RDMA device again, with the MAC address in place: devlink dev "
                   "reload pci/{pci}. ",
                   &port, port.id())},
       {Work::ends_jobs, "Linux 7.0 and kernels with its change 9af0feae8016 keep the GIDs in step."}});
}

// An address has a GID only if the table of the port had a free entry, or two (RoCE v1 and v2). All network namespaces
// share the table: the netdevs of pods above the port's (macvlan) take entries of it. Small tables may be full by
// design (hns: 16 entries, or fewer for a virtual function).
std::optional<Finding> full_table_finding(const View& view, const Port& port) {
  constexpr unsigned kLeast = 32;
  const unsigned entries = port.full_gid_table;
  if (entries < kLeast || !is_endpoint(port)) return std::nullopt;
  std::string without;  // addresses of the port's netdev that have none
  const Interface* own = find_in(view.now.network.interfaces, port.netdev);
  if (own != nullptr && own->addresses)
    for (const Address& each : *own->addresses)
      if (each.global && !contains(port.gids, gid_text(each.ip), &Gid::gid)) append_item(without, to_text(each.ip));
  const auto here = std::ranges::count_if(port.gids, [&](const Gid& gid) { return is_here(view.now, port, gid); });
  const bool all_own =
      std::ranges::all_of(port.gids, [&](const Gid& gid) { return !port.netdev.empty() && gid.netdev == port.netdev; });
  if (without.empty() && all_own) return std::nullopt;
  // A pod with a function of its own does not use the port of the host, whose table it sees.
  const bool has_own_netdev = std::ranges::any_of(view.now.ports, [&](const Port& other) {
    return !other.netdev.empty() && is_roce(other) && std::ranges::any_of(other.gids, [&](const Gid& gid) {
      return is_routable_v2(gid) && is_here(view.now, other, gid);
    });
  });
  if (belongs_elsewhere(view.now, port) && has_own_netdev) return std::nullopt;
  std::string observed = "GID table full: all " + to_text(entries) + " entries are taken",
              meaning =
                  "The next address of the port, or of a netdev above it, gets no GID: a pod with a macvlan "
                  "netdev then has an address and no RDMA.";
  if (!without.empty()) {
    observed += ", none by " + without;
    meaning = "These addresses have no GID, so that no RDMA connection can use them.";
  } else if (here == 0) {
    observed += ", none by an address of this network namespace";
    meaning = "An address of this network namespace gets no GID on this port, so that no RDMA connection can use it.";
  }
  return bad(without.empty() ? Status::warning : Status::critical, port.id(), observed, "a free entry for each address",
             meaning +
                 " The table is that of the port for all network namespaces, and an address takes two entries (RoCE v1 "
                 "and v2).",
             "On the host, let fewer pods share the port: rdmaHcaMax of the RDMA shared device plugin at most " +
                 to_text(entries / 2 - 1) +
                 ", and lower if a pod has several addresses (IPv6). Or give the pods virtual functions, which have "
                 "tables of their own. Entries: grep . /sys/class/infiniband/" +
                 port.rdma + "/ports/" + to_text(port.number) + "/gids/*");
}

// A container with the device files of equal NICs for GPUs, and with the netdevs of most of them, but not of this one.
// (A mount of the host's /dev/infiniband gives all files, whatever networks the container has.)
bool lacks_network(const View& view, const Port& port) {
  const auto has_file = [&](const Port& each) { return view.now.verbs_files.contains(each.rdma); };
  if (!has_file(port) || !belongs_elsewhere(view.now, port) || !is_container(view.now)) return false;
  size_t with = 0, without = 0;
  for (const Port& other : view.now.ports)
    if (other.pci_id == port.pci_id && is_endpoint(other) && has_file(other))
      ++(belongs_elsewhere(view.now, other) ? without : with);
  return with > without && !has_other_purpose(view, port);
}

// Whether a container was given RDMA ports, none of which can be used for RoCE there: their netdevs are elsewhere, and
// they have no GID at all.
bool lacks_any_gid(const Node& node) {
  return !node.ports.empty() && is_container(node) && std::ranges::all_of(node.ports, [&](const Port& port) {
    return is_endpoint(port) && is_roce(port) && belongs_elsewhere(node, port) && port.gids.empty() &&
           !is_unread(port, PortPart::gids);
  });
}

// The GUID of an InfiniBand port: the second half of its first GID, which the subnet prefix precedes. Empty: unknown.
std::string_view guid_of(const Port& port) {
  constexpr size_t kHalf = 20, kWhole = 39;
  for (const Gid& gid : port.gids)
    if (gid.index == 0 && gid.netdev.empty() && gid.gid.size() == kWhole) {
      const std::string_view guid = std::string_view(gid.gid).substr(kHalf);
      return guid.find_first_not_of("0:") == std::string_view::npos ? std::string_view{} : guid;
    }
  return {};
}

// Two InfiniBand ports with one GUID: a firmware image was copied from one card to another with its GUIDs. nullopt: it
// has one of its own.
std::optional<Finding> shared_guid_finding(const Node& node, const Port& port) {
  const auto is_physical = [](const Port& each) {
    return each.role == PortRole::physical && each.link_layer == LinkLayer::infiniband && is_active(each);
  };
  const std::string_view guid = guid_of(port);
  if (!is_physical(port) || guid.empty()) return std::nullopt;
  const Port* other = find_where(node.ports, [&](const Port& each) {
    return &each != &port && is_physical(each) && card_of(each.pci) != card_of(port.pci) && guid_of(each) == guid;
  });
  if (other == nullptr) return std::nullopt;
  return bad(
      Status::critical, port.id(), "GUID " + std::string(guid) + ", like " + other->id(), "a GUID of its own",
      "Two cards have the same GUIDs: a firmware image was copied with them. A subnet manager takes the two "
      "ports for one, so that their routes change or one gets none.",
      {"Read the GUIDs of both cards: mstflint -d " + port.pci + " query; mstflint -d " + other->pci + " query. ",
       {Work::ends_jobs,
        "Write the GUIDs and MAC addresses of its label to the one that was copied to: mstflint "
        "-d ADDRESS -guid GUID -mac MAC sg; then mlxfwreset -d ADDRESS reset"}});
}

// A port that is down loses its addresses: `port-state` reports it. `address` reports a missing address.
std::optional<Finding> ask_gid(const View& view, const Port& port) {
  if (port.link_layer == LinkLayer::infiniband) return shared_guid_finding(view.now, port);
  if (!is_active(port) || !is_roce(port)) return std::nullopt;
  const std::string expected = "a RoCE v2 GID of a routable address";
  if (is_bare_uplink(port)) {
    std::string functions;
    for (const Port* each : functions_of(view.now, port)) append_item(functions, each->id());
    if (functions.empty()) functions = "virtual functions or subfunctions, which have no RDMA device here";
    return good(port.id(), "none: its E-Switch is in switchdev mode, and RoCE runs over " + functions, expected);
  }
  if (auto finding = full_table_finding(view, port)) return finding;
  if (lacks_any_gid(view.now))
    return bad(
        Status::warning, port.id(), "none in this network namespace: its netdev is in another", expected,
        "No RDMA port of this container can be used for RoCE: a GID exists only for an address of a netdev of the "
        "NIC in the same network namespace, and without one no queue pair connects.",
        "Give the pod a second network with a netdev of this NIC: a macvlan on it, or a virtual function (Multus "
        "with the CNI plugin macvlan or SR-IOV). A device plugin that shares the NIC adds its device file alone.");
  if (lacks_network(view, port))
    return bad(
        Status::warning, port.id(), "none in this network namespace: its netdev is in another", expected,
        "This container has the device file of the NIC, and not its netdev, unlike most equal NICs: without a GID here "
        "no program can use it. The GPU next to it has another NIC, or its rank hangs.",
        "Give the pod a network for each NIC: compare its list of networks (annotations k8s.v1.cni.cncf.io/networks or "
        "networking.gke.io/interfaces, resource claims) with its device files. If the NIC is not for this pod, take "
        "its file from it.");
  if (belongs_elsewhere(view.now, port))
    return good(port.id(), "none in this network namespace: its netdev is in another", expected);
  if (!serves_jobs(view.now, port) || lacks_address(view, port)) return std::nullopt;
  const auto read_again = [&](const char* files) -> Fix {
    return {{Work::as_root, "Run the check as root. "},
            "Files: /sys/class/infiniband/" + port.rdma + "/ports/" + to_text(port.number) + files};
  };
  const std::string an_address = give_address(view.now, port, "Configure an IP address");
  if (port.gids.empty() && is_unread(port, PortPart::gids))
    return bad(Status::unknown, port.id(), "-", expected,
               "The GID table could not be read: " + why_unread(port, PortPart::gids) + ".", read_again("/gids"));
  std::vector<Gid> v2;
  std::ranges::copy_if(port.gids, std::back_inserter(v2),
                       [&](const Gid& gid) { return gid.type == "RoCE v2" && is_here(view.now, port, gid); });
  auto best = std::ranges::find_if(v2, is_ipv4);
  if (best == v2.end()) best = std::ranges::find_if(v2, is_routable_v2);
  if (best != v2.end()) {
    if (const auto sharers = sharers_of(view.now, port, *best); sharers.size() > 1)
      return shared_gid_finding(view, port, sharers, *best);
    if (const Port* other = backup_of(view.now, port, *best))
      return active_backup_finding(view, port, *other, describe(*best) + ": " + other->id() + " has none");
    if (const Gid* odd = odd_default_gid(port, *best)) return odd_default_finding(port, *odd, *best);
    return good(port.id(), describe(*best), expected);
  }
  if (std::ranges::any_of(port.gids, [](const Gid& gid) { return gid.type.empty(); }))
    return bad(Status::unknown, port.id(), "GIDs of unknown type", expected, "The types of the GIDs could not be read.",
               read_again("/gid_attrs/types"));
  if (port.gids.empty())
    if (const Port* active = active_member(view.now, port); active != nullptr)
      return active_backup_finding(view, port, *active,
                                   "none: " + active->id() + " is the active member of the bond and has them");
  if (const size_t functions = functions_of_equals(view, port); functions > 0 && !has_other_purpose(view, port))
    return bad(
        Status::warning, port.id(), "no virtual functions, and no routable GID",
        "virtual functions, like equal ports (" + std::to_string(functions) + ")",
        "Jobs use the virtual functions of the equal ports, and this one has none: they were not made, or the driver "
        "refused the number.",
        "journalctl -k -g " + port.pci + "; cat /sys/bus/pci/devices/" + port.pci +
            "/sriov_totalvfs. Then make them as for the other ports (SR-IOV operator, service or udev rule): echo " +
            std::to_string(functions) + " > /sys/bus/pci/devices/" + port.pci + "/sriov_numvfs");
  const std::string why = why_without_gid(view, port);
  if (!why.empty()) return good(port.id(), "no routable RoCE v2 GID: " + why, expected);
  if (port.gids.empty() && is_unread(port, PortPart::eswitch))
    return bad(Status::unknown, port.id(), "no GID at all, and the mode of the E-Switch is unknown", expected,
               "In switchdev mode the uplink has no GIDs by design, and its virtual functions and subfunctions have "
               "them. Here devlink did not answer, and there is no representor yet that would show the mode.",
               "As root: devlink dev eswitch show pci/" + port.pci + ". If the mode is legacy: ip link set " +
                   port.netdev + " up. " + source_of_addresses(view.now, port) + an_address);
  const Ipv6Note ipv6 = note_on_ipv6(view, port);
  const std::string first_steps = source_of_addresses(view.now, port) + ipv6.fix;
  const bool twin_has_gid = std::ranges::any_of(view.now.ports, [&](const Port& other) {
    return &other != &port && are_twins(other, port) && std::ranges::any_of(other.gids, is_routable_v2);
  });
  // The front end of a virtual machine is a function below a netdev of its hypervisor, which has the addresses.
  if (v2.empty() && !twin_has_gid && port.role == PortRole::guest_function && has_other_purpose(view, port) &&
      !view.named.contains(port.id()))
    return good(port.id(), "no RoCE v2 GID (serves no GPU)", expected);
  // The netdev has its addresses: the NIC, or a setting of its driver, has RoCE v1 only.
  const auto v1 = std::ranges::find_if(port.gids, [&](const Gid& gid) {
    return gid.type == "IB/RoCE v1" && !gid.gid.starts_with("fe80:") && is_here(view.now, port, gid);
  });
  if (v2.empty() && v1 != port.gids.end())
    return bad(
        Status::warning, port.id(), "RoCE v1 only: " + describe(*v1), expected,
        "The netdev has addresses, and the NIC or its driver creates GIDs of RoCE v1 only. RoCE v1 does not cross "
        "routers, and a connection with a port that uses RoCE v2 fails. NCCL and UCX prefer RoCE v2.",
        "Leave the port out of jobs (NCCL_IB_HCA), or use RoCE v1 on all ports of the job, in one subnet: "
        "NCCL_IB_ROCE_VERSION_NUM=1. Older NICs have no RoCE v2: ibv_devinfo -v -d " +
            port.rdma);
  if (v2.empty())
    return bad(Status::critical, port.id(), "no RoCE v2 GID", expected,
               "Without a RoCE v2 GID no RoCE v2 connection can be made over this port." + ipv6.meaning,
               first_steps + (port.netdev.empty() || port.carrier == true
                                  ? an_address
                                  : "ip link set " + port.netdev + " up. " + an_address));
  const std::string observed = "only link-local: " + describe(v2.front());
  if (has_other_purpose(view, port)) return good(port.id(), observed + " (serves no GPU)", expected);
  return bad(twin_has_gid ? Status::critical : Status::warning, port.id(), observed, expected,
             "A link-local GID does not cross routers, and most fabrics route between racks." + ipv6.meaning,
             first_steps + give_address(view.now, port, "Configure an IPv4 address or a global IPv6 address"));
}

}  // namespace

std::set<unsigned> gid_indices(const Node& node, const Port& port, bool ipv4) {
  std::set<unsigned> out;
  for (const Gid& gid : port.gids)
    if (is_routable_v2(gid) && is_ipv4(gid) == ipv4 && is_here(node, port, gid)) out.insert(gid.index);
  return out;
}

constexpr Rule kGid{
    .id = "gid",
    .group = group::link,
    .title = "A RoCE port has no RoCE v2 GID with a routable address, or shares it",
    .meaning =
        "The GID table follows the IP addresses of the netdev. Without a RoCE v2 GID no connection can be made. A "
        "link-local GID does not cross routers; it is reported of ports that serve the GPUs, if any do. A missing GID "
        "is "
        "reported of the others too, but not of the front end of a guest. A bond over ports that no RoCE LAG combines "
        "gives both RDMA devices the same GID, and answers reach the wrong one; in active-backup mode it uses one "
        "device, and connections end at a failover. In switchdev mode the uplink has no "
        "GIDs by design: its virtual functions and subfunctions have them. A default GID of an earlier MAC address "
        "shifts the indexes of the others. A GID whose netdev is in another network namespace, or a tunnel (VXLAN, "
        "GENEVE), does not count. All network namespaces share the table of a port: if it is full, the address of "
        "another pod gets no GID. A "
        "container whose RDMA ports have neither a netdev nor a GID can use none of them; one that has the netdevs of "
        "most equal NICs, and the device file alone of another, lacks a network. A port without virtual functions is "
        "reported, if each equal one has some and "
        "jobs use those. Two InfiniBand cards with one GUID "
        "are "
        "reported.",
    .inspect = "ip address show dev NETDEV; grep . /sys/class/infiniband/RDMADEV/ports/1/gids/*",
    .fix =
        "Configure an IPv4 address or a global IPv6 address on the netdev. Give a container a netdev of the NIC "
        "(macvlan, virtual function). Bond only ports of one NIC that has a RoCE LAG.",
    .ask_port = ask_gid,
};

namespace {

// "mlx5_1/1 has GID, too": another netdev has the same GID. Empty: none. `address` reports an address that is
// configured twice.
std::string duplicate_gid(const View& view, const Port& port) {
  std::set<std::string> own_addresses;
  for (const PortAddress& each : addresses_of(view.now, port).value_or(std::vector<PortAddress>{}))
    own_addresses.insert(gid_text(each.address.ip));
  for (const Port& other : view.now.ports) {
    if (&other == &port) break;  // reported for the later port
    if (!serves_jobs(view.now, other) || !is_roce(other) || other.netdev == port.netdev) continue;
    for (const Gid& theirs : other.gids)
      for (const Gid& own : port.gids)
        if (is_routable_v2(own) && own.gid == theirs.gid && is_routable_v2(theirs) && own.netdev != theirs.netdev &&
            !own_addresses.contains(own.gid))
          return other.id() + " has " + own.gid + ", too";
  }
  return {};
}

// `pinned`: by the configuration.
Finding gid_index_finding(const View& view, const Port& port, bool ipv4, unsigned wanted, bool pinned) {
  if (const std::string duplicate = duplicate_gid(view, port); !duplicate.empty())
    return bad(Status::critical, port.id(), duplicate, "a GID of its own",
               "Two RDMA ports have the same GID: peers reach the one that answers, and connections to the other fail.",
               "Configure different addresses on the two netdevs: rdma link show; ip address show");

  const std::set<unsigned> indices = gid_indices(view.now, port, ipv4);
  const std::string family = ipv4 ? "IPv4" : "IPv6";
  std::string expected = family + " at index " + to_text(wanted);
  expected += pinned ? ", [expect] gid_index" : ", like equal ports";
  std::string observed = family + " at index " + joined(indices, ", ", [](unsigned index) { return to_text(index); });
  if (indices.contains(wanted)) return good(port.id(), observed, expected);
  if (indices.empty()) observed = "no " + family + " GID of RoCE v2";

  std::string meaning =
      "A job with one GID index for all ports (NCCL_IB_GID_INDEX, ib_write_bw -x) uses the wrong GID on this port, or "
      "none.";
  // IPv6 on one port only shifts the GID table.
  const auto disabled = ipv6_disabled(view, port);
  const auto all = rails(view);
  for (const Port* other : *all) {
    const auto theirs = ipv6_disabled(view, *other);
    if (!disabled || !theirs || *disabled == *theirs) continue;
    const std::string state = *disabled ? "off" : "on";
    meaning +=
        " IPv6 is " + state + " on " + port.netdev + " and not on " + other->netdev + ", which shifts the table.";
    break;
  }
  return bad(Status::warning, port.id(), observed, expected, std::move(meaning),
             {{Work::ends_jobs | Work::when_idle,
               "While no job runs: ip link set " + port.netdev + " down && ip link set " + port.netdev +
                   " up fills the table again in the order of the addresses; networkctl reconfigure " + port.netdev +
                   " (or ifup) then brings back the routes and IPv6 addresses that this removes. "},
              "With NCCL 2.21 and later, unset NCCL_IB_GID_INDEX instead. Table: /sys/class/infiniband/" + port.rdma +
                  "/ports/" + to_text(port.number) + "/gids"});
}

// `gid` reports ports without a routable RoCE v2 GID.
void ask_gid_index(const View& view, Findings& findings) {
  const auto all = rails(view);
  std::vector<const Port*> ports;
  bool ipv4 = false;
  for (const Port* port : *all) {
    const bool has4 = !gid_indices(view.now, *port, true).empty();
    if (!has4 && gid_indices(view.now, *port, false).empty()) continue;
    ports.push_back(port);
    ipv4 = ipv4 || has4;
  }
  const bool pinned = view.policy != nullptr && view.policy->expect.gid_index;
  if (ports.empty() || (ports.size() == 1 && !pinned)) return;
  unsigned wanted = 0;
  if (pinned) {
    wanted = *view.policy->expect.gid_index;
  } else {  // the index of most ports; on a tie the lowest
    std::map<unsigned, size_t> count;
    for (const Port* port : ports)
      for (const unsigned index : gid_indices(view.now, *port, ipv4)) ++count[index];
    wanted = std::ranges::max_element(count, {}, [](const auto& each) { return each.second; })->first;
  }
  for (const Port* port : ports) findings.push_back(gid_index_finding(view, *port, ipv4, wanted, pinned));
}

}  // namespace

constexpr Rule kGidIndex{
    .id = "gid-index",
    .group = group::network,
    .title = "The index of the RoCE v2 GID differs between compute ports",
    .meaning =
        "NCCL before 2.21, perftest and other programs use one GID index for all ports. On a port with another address "
        "at that index, connections fail or use RoCE v1. The kernel fills the table in the order of the addresses, "
        "link-local addresses included. [expect] gid_index pins the index. Two ports with the same GID are critical.",
    .inspect = "show_gids; grep . /sys/class/infiniband/RDMADEV/ports/1/gid_attrs/types/*",
    .fix =
        "While no job runs: ip link set NETDEV down; ip link set NETDEV up (fills the table again); networkctl "
        "reconfigure NETDEV, or ifup (brings back lost routes and IPv6 addresses); configure addresses in the same "
        "order on all rails; or unset NCCL_IB_GID_INDEX with NCCL 2.21 and later.",
    .ask = ask_gid_index,
};

namespace {

// The GID belongs to the port's netdev or a VLAN of it ("ens1.100", "vlan100"), not to a macvlan, which containers
// create and remove.
bool is_own_gid(const View& view, const Port& port, const Gid& gid) {
  return gid.netdev.empty() || gid.above || gid.netdev == port.netdev || gid.netdev.starts_with(port.netdev + ".") ||
         contains(view.now.ports, gid.netdev, &Port::netdev);
}

// A GID that was replaced or removed. Both readings must have a table.
std::optional<Measured> read_gid_changed(const View& view, const RuleWindow&, const Port& port) {
  const Port* before = port_before(view, port);
  if (before == nullptr || !serves_jobs(view.now, port) || !is_roce(port)) return {};
  if (port.gids.empty() || before->gids.empty()) return {};
  if (before->ifindex != port.ifindex) return {};  // the driver was loaded again: its table fills up
  Measured reading{port.id(), 0, window_of(view)};
  for (const Gid& old : before->gids) {
    if (!is_own_gid(view, port, old)) continue;
    const auto now = std::ranges::find(port.gids, old.index, &Gid::index);
    std::string change = old.gid + " -> removed";
    if (now != port.gids.end() && now->gid != old.gid) {
      change = old.gid + " -> " + now->gid;
    } else if (now != port.gids.end()) {
      // A type that could not be read is empty.
      if (now->type == old.type || now->type.empty() || old.type.empty()) continue;
      change = old.gid + " " + old.type + " -> " + now->type;
    }
    ++reading.amount;
    append_item(reading.evidence, "index " + std::to_string(old.index) + ": " + change);
  }
  if (reading.evidence.empty()) reading.evidence = counted(port.gids.size(), "GID") + " unchanged";
  return reading;
}

constexpr Measurement kGidChangedWindows[]{
    {.window = {"gid_changed", Measure::count, WindowLimits{1, kNever, 10 * kMinute, 0, 0}, "changed GIDs",
                "ours: existing connections use the old GID", "GIDs unchanged"},
     .quiet = 1,
     .transport = true,
     .meaning = "An address of the port was changed or removed: connections that use the old GID break.",
     .remedy = {"Find the program that changes addresses",
                {Work::service, ": journalctl -u systemd-networkd -u NetworkManager"},
                ". Restart the affected jobs."},
     .read_port = read_gid_changed},
};

}  // namespace

constexpr Rule kGidChanged{
    .id = "gid-changed",
    .group = group::device,
    .title = "A GID of the port changed or disappeared",
    .meaning =
        "A GID of the port changed or disappeared: its netdev lost or changed an address. Existing connections break "
        "at their next retry, and applications that use a GID index get another address. The finding clears after 10 "
        "minutes.",
    .inspect = "ip address show dev NETDEV; journalctl -u systemd-networkd -u NetworkManager; show_gids",
    .fix = "Make the addresses of NETDEV static in the network configuration, then restart the job.",
    .windows = kGidChangedWindows,
};

// A container's GID is removed when its processes have ended. A type may be unreadable.
size_t gids_gone(const PortContext& ctx) {
  if (ctx.before == nullptr || ctx.port.gids.empty()) return 0;
  size_t count = 0;
  for (const Gid& old : ctx.before->gids) {
    if (!is_own_gid(ctx.view, *ctx.before, old)) continue;
    bool is_present = false;
    for (const Gid& gid : ctx.port.gids)
      if (gid.gid == old.gid && (gid.type == old.type || gid.type.empty() || old.type.empty())) is_present = true;
    if (!is_present) ++count;
  }
  return count;
}

constexpr Rule kTable[]{kGid, kGidIndex, kGidChanged};
const std::span<const Rule> kGidRules = kTable;

}  // namespace fabric
