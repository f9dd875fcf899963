// SPDX-License-Identifier: Apache-2.0
#include "node/port_role.h"

#include <algorithm>

#include "kernel/netlink/devlink.h"
#include "kernel/rdma/infiniband.h"
#include "nic/capabilities.h"

namespace fabric::scanning {
namespace {

std::string net_folder(const std::string& netdev) { return "sys/class/net/" + netdev; }

bool has_gids(const Root& root, const std::string& rdma) {
  for (const std::string& number : root.names_in(infiniband::device_folder(rdma) + "/ports"))
    if (!root.names_in(infiniband::device_folder(rdma) + "/ports/" + number + "/gids").empty()) return true;
  return false;
}

// An SMI sub-device (Linux 6.11, ib_add_sub_device() in drivers/infiniband/core/device.c) by the netlink of that
// kernel. In files: other devices of its function have a uverbs device and it has none; in a capture without these
// folders, it is an InfiniBand device without a GID beside one that has them.
bool is_smi(const Context& context, const Port& port) {
  const Root& root = context.kernel.root;
  if (const nldev::Device* device = context.device(port.rdma); device != nullptr && device->smi) return true;
  const std::string function = infiniband::device_folder(port.rdma) + "/device";
  if (root.names_in(function + "/infiniband").size() < 2) return false;
  const auto uverbs = root.names_in(function + "/infiniband_verbs");
  if (!uverbs.empty())
    return std::ranges::none_of(uverbs, [&](const std::string& name) {
      return root.line_of(function + "/infiniband_verbs/" + name + "/ibdev") == port.rdma;
    });
  if (port.link_layer != LinkLayer::infiniband || has_gids(root, port.rdma)) return false;
  return std::ranges::any_of(root.names_in(function + "/infiniband"),
                             [&](const std::string& other) { return has_gids(root, other); });
}

// The PCI address of the physical function of a virtual one; empty: `function` is not one.
std::string physical_function_of(const Root& root, const std::string& function) {
  return root.link_name(function + "/physfn");
}

// Whether the function manages the NVLink switches of an HGX or DGX (Blackwell): a ConnectX inside the machine, without
// a port, whose VPD has "SMDL=SW_MNG" (NVIDIA's fabricmanager looks for it; only root can read it). Without the VPD: an
// InfiniBand function of two lanes, as on DGX B200; the slots of NICs have eight or more.
bool is_nvlink_management(const Root& root, const std::string& function) {
  const auto vendor = root.number_in<uint16_t>(function + "/vendor", 16);
  if (vendor != kNvidiaNetworking || !root.line_of(function + "/class").starts_with("0x0207")) return false;
  const auto lanes = pci::parse_link_width(root.line_of(function + "/max_link_width"));
  if (!lanes || *lanes > kMostLanesOfManagement) return false;  // the VPD takes a while to read
  // In a guest the link of a virtual function may be as narrow.
  if (is_guests_function(pci_id_of(root, function))) return false;
  if (*lanes <= 2) return true;
  const auto vpd = root.read(function + "/vpd");
  return vpd && vpd->find("SW_MNG") != std::string::npos;
}

// The address of the primary function, if this one is secondary. Since Linux 6.9 the functions of a Socket Direct NIC,
// one below each socket, are one netdev, whose parent is the primary function; the secondary ones are silent on the
// network (Documentation/networking/multi-pf-netdev.rst): no netdev, no GID, and a port that is DOWN. debugfs names
// them to root. Without it: another function of the NIC, in another slot, has a netdev, and this one has not even the
// link-local GIDs that it would have with a netdev in another network namespace. Empty: it is not secondary.
std::string multi_pf_primary(const Root& root, const std::string& function) {
  const auto vendor = root.number_in<uint16_t>(function + "/vendor", 16);
  if (vendor != kNvidiaNetworking || root.exists(function + "/physfn")) return {};
  if (!root.names_in(function + "/net").empty()) return {};
  const std::string address = base_name(function), debug = "sys/kernel/debug/mlx5/";
  const auto first_word = [&](const std::string& file) {  // "0000:08:00.0 vhca 0x0"
    const std::string line = root.line_of(file);
    return line.substr(0, line.find(' '));
  };
  const auto functions = root.names_in(debug);
  for (const std::string& each : functions) {
    const std::string folder = debug + each + "/multi-pf/";
    for (const std::string& file : root.names_in(folder))
      if (file.starts_with("secondary") && first_word(folder + file) == address) return first_word(folder + "primary");
  }
  if (!functions.empty()) return {};

  const auto own = root.names_in(function + "/infiniband");
  if (own.size() != 1) return {};
  const std::string device = infiniband::device_folder(own.front()), port = infiniband::port_folder(own.front(), 1);
  const std::string guid = root.line_of(device + "/sys_image_guid");
  if (guid.find_first_not_of("0:") == std::string::npos || root.line_of(port + "/link_layer") != "Ethernet" ||
      infiniband::parse_state(root.line_of(port + "/state")) != kPortDown)
    return {};
  for (const std::string& other : root.names_in("sys/class/infiniband")) {
    const std::string folder = infiniband::device_folder(other);
    if (root.line_of(folder + "/sys_image_guid") != guid || root.names_in(folder + "/device/net").empty()) continue;
    const auto place = pci::location_at(root, folder + "/device");
    if (!place || place->below != 0 || card_of(place->pci) == card_of(address)) continue;
    const auto gids = infiniband::gids(root, own.front(), 1);
    return gids && gids->empty() ? place->pci : std::string();
  }
  return {};
}

// A virtual function to which the host has given no GUID has none, and on InfiniBand no LID. On Ethernet some drivers
// read the GUID of the function (Capabilities::guid_by_host): that of a physical function is in the card. Other vendors
// have physical functions without one (EFA).
bool has_no_guid(const Root& root, const Port& port) {
  const std::string guid = root.line_of(infiniband::device_folder(port.rdma) + "/node_guid");
  if (guid.empty() || guid.find_first_not_of("0:") != std::string::npos) return false;
  if (port.link_layer == LinkLayer::ethernet) return capabilities_of(port.kernel_driver).guid_by_host;
  return port.link_layer == LinkLayer::infiniband &&
         root.line_of(infiniband::port_folder(port.rdma, port.number) + "/lid") == "0xffff";
}

bool has_switch_id(const Root& root, const std::string& netdev) {
  return !root.line_of(net_folder(netdev) + "/phys_switch_id").empty();
}

// nullopt: unknown.
std::optional<bool> mode_by_devlink(const Context& context, const std::string& pci) {
  Netlink* generic = context.kernel.generic.get();
  if (generic == nullptr) return std::nullopt;
  const auto family = ethtool::resolve(*generic, "devlink");
  if (!family) return std::nullopt;
  const auto answer = devlink::is_switchdev(*generic, family->id, {"pci", pci});
  if (!answer) return std::nullopt;
  return *answer;
}

// The representors show the mode to any user, devlink to privileged ones. phys_switch_id alone proves nothing: mlx5 has
// it in legacy mode too (mlx5e_devlink_port_register(), Linux 6.12).
bool is_in_switchdev_mode(const Context& context, const Port& port) {
  const Root& root = context.kernel.root;
  const auto netdevs = root.names_in(infiniband::device_folder(port.rdma) + "/device/net");
  for (const std::string& netdev : netdevs)
    if (is_representor(root, netdev)) return true;
  const bool has_switch =
      std::ranges::any_of(netdevs, [&](const std::string& netdev) { return has_switch_id(root, netdev); });
  return has_switch && mode_by_devlink(context, port.pci).value_or(false);
}

// The host's function of a DPU whose Arm cores own the E-Switch has a netdev without a switch: the kernel answers
// EOPNOTSUPP (dev_get_port_parent_id(); MLX5_ESWITCH_MANAGER in mlx5e_devlink_port_register(), Linux 6.12).
bool is_of_a_dpu(const Root& root, const Port& port) {
  if (!is_dpu_function(port.pci_id) || port.netdev.empty()) return false;
  const auto id = root.read_line(net_folder(port.netdev) + "/phys_switch_id");
  return !id && id.error().code == EOPNOTSUPP;
}

}  // namespace

bool has_unknown_mode(const Context& context, const Port& port) {
  return port.role == PortRole::physical && is_active(port) && is_roce(port) && port.gids.empty() &&
         !is_unread(port, PortPart::gids) && !port.netdev.empty() && !port.pci.empty() &&
         has_switch_id(context.kernel.root, port.netdev) && !mode_by_devlink(context, port.pci);
}

bool is_representor(const Root& root, const std::string& netdev) {
  return root.line_of(net_folder(netdev) + "/phys_port_name").find("pf") != std::string::npos;
}

bool is_for_guests(const Root& root, const std::string& rdma) {
  const std::string device = infiniband::device_folder(rdma) + "/device";
  const auto resolved = root.resolve(device);
  return !physical_function_of(root, device).empty() || (resolved && is_subfunction_device(*resolved));
}

bool is_elsewhere(const Root& root, const std::string& function) {
  for (const char* kind : {"/infiniband", "/net"})
    if (root.exists(function + kind) && root.names_in(function + kind).empty()) return true;
  return false;
}

RoleOfFunction role_of_function(const Root& root, const std::string& function) {
  PciDevice ids;
  ids.vendor = root.number_in<uint16_t>(function + "/vendor", 16).value_or(0);
  ids.device = root.number_in<uint16_t>(function + "/device", 16).value_or(0);
  if (is_data_direct(ids)) return {FunctionRole::data_direct};
  if (is_nvlink_management(root, function)) return {FunctionRole::nvlink_management};
  if (std::string owner = physical_function_of(root, function); !owner.empty())
    return {FunctionRole::virtual_function, std::move(owner)};
  if (std::string owner = multi_pf_primary(root, function); !owner.empty())
    return {FunctionRole::multi_pf_secondary, std::move(owner)};
  return {};
}

void read_device_role(const Context& context, const std::string& function, const std::string& device, Port& port) {
  const Root& root = context.kernel.root;
  if (is_smi(context, port)) {
    port.role = PortRole::smi;
    if (const nldev::Device* known = context.device(port.rdma)) port.owner = known->parent;
    return;
  }
  if (function.empty()) return;
  port.no_node_guid = port.link_layer == LinkLayer::ethernet && has_no_guid(root, port);
  const RoleOfFunction found = role_of_function(root, function);
  switch (found.role) {
    case FunctionRole::data_direct: port.role = PortRole::data_direct; return;
    case FunctionRole::nvlink_management: port.role = PortRole::nvlink_management; return;
    case FunctionRole::virtual_function:
      port.owner = found.owner;
      port.role = is_elsewhere(root, function + "/physfn") ? PortRole::guest_function : PortRole::virtual_function;
      return;
    case FunctionRole::multi_pf_secondary:
    case FunctionRole::physical: break;
  }
  if (is_subfunction_device(device)) {
    port.role = is_elsewhere(root, function) ? PortRole::guest_function : PortRole::subfunction;
    port.owner = device;
  } else if (is_guests_function(port.pci_id) || has_no_guid(root, port)) {
    port.role = PortRole::guest_function;
  } else if (found.role == FunctionRole::multi_pf_secondary) {
    port.owner = found.owner;
    port.role = PortRole::multi_pf_secondary;
  }
}

void read_link_role(Context& context, Port& port) {
  const Root& root = context.kernel.root;
  if (port.role == PortRole::virtual_function && !is_active(port)) {
    const std::string physical = "sys/bus/pci/devices/" + port.owner + "/virtfn";
    for (unsigned number = 0; !port.vf && root.exists(physical + std::to_string(number)); ++number)
      if (root.link_name(physical + std::to_string(number)) == port.pci) port.vf = number;
  }
  if (!port.netdev.empty() && is_representor(root, port.netdev)) {
    port.role = PortRole::representor;
    return;
  }
  if (port.role != PortRole::physical) return;
  constexpr size_t kPlanes = 3;  // a NIC without planes has at most two ports
  port.switchdev = port.link_layer == LinkLayer::ethernet && !port.pci.empty() && is_in_switchdev_mode(context, port);
  if (!port.bond.empty()) port.role = PortRole::bond;
  else if (port.switchdev) port.role = PortRole::switchdev_uplink;
  else if (is_of_a_dpu(root, port)) port.role = PortRole::dpu_owned;
  else if (root.names_in(infiniband::device_folder(port.rdma) + "/ports").size() >= kPlanes)
    port.role = PortRole::plane;
}

}  // namespace fabric::scanning
