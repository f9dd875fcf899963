// SPDX-License-Identifier: Apache-2.0

#include "base/parse.h"
#include "kernel/netlink/devlink.h"
#include "kernel/rdma/infiniband.h"
#include "nic/capabilities.h"
#include "nic/driver.h"
#include "node/scan_port.h"
#include "wire/vpd.h"

namespace fabric::scanning {
namespace {

// Vendors' own drivers carry a version; the kernel's are as old as the kernel.
std::string driver_version(const Root& root, std::string module) {
  if (module.empty()) return {};
  std::ranges::replace(module, '-', '_');
  for (const std::string& file : {"sys/module/" + module + "/version", std::string("proc/sys/kernel/osrelease")})
    if (std::string version = root.line_of(file); !version.empty()) return version;
  return {};
}

void read_hardware(const Context& context, Port& port) {
  const Root& root = context.kernel.root;
  const std::string link = std::string(infiniband::kClass) + "/" + port.rdma + "/device";
  const auto resolved = root.resolve(link);
  if (!resolved) {
    const nldev::Device* device = context.device(port.rdma);
    const bool has_parent = root.exists(std::string(infiniband::kClass) + "/" + port.rdma + "/parent");
    port.kernel_driver = software_driver(has_parent, device != nullptr ? device->protocol : std::string_view());
    return;
  }
  const auto place = pci::parse_location(*resolved);
  const std::string folder = place ? place->folder : *resolved;
  if (place) port.pci = place->pci;
  port.kernel_driver = driver_of(root, folder);
  port.pci_id = pci_id_of(root, folder);
  port.driver_version = driver_version(root, port.kernel_driver);
  // Settings of a function that shares its port belong to the one that owns it; a subfunction is an auxiliary device
  // "mlx5_core.sf.4" (mlx5/core/sf/dev/dev.c).
  const std::string device = base_name(*resolved);
  if (const std::string owner = root.link_name(folder + "/physfn"); !owner.empty())
    port.left_alone = "virtual function: set on its physical function " + owner;
  else if (device.find(".sf.") != std::string::npos)
    port.left_alone = "subfunction (" + device + "): set on its function " + port.pci;
  port.virtual_function = !port.left_alone.empty();
  port.numa = pci::numa_node(root, folder, context.cpu_nodes);
}

// A placeholder ("0000", "N/A") is none.
std::string checked(std::string_view serial) {
  const std::string text(trim(serial));
  const bool plain = std::ranges::all_of(text, [](char letter) { return letter > ' ' && letter <= '~'; });
  const bool varied = std::ranges::any_of(text, [&](char letter) { return letter != text.front(); });
  return plain && varied && text.size() >= 6 ? text : std::string();
}

std::string by_devlink(Kernel& kernel, const Port& port) {
  if (!kernel.generic) return {};
  const auto family = ethtool::resolve(*kernel.generic, "devlink");
  if (!family) return {};
  const auto serial = devlink::serial_number(*kernel.generic, family->id, {"pci", port.pci});
  return serial ? checked(*serial) : std::string();
}

}  // namespace

// The `driver` link of the folder, else the DRIVER of its uevent file (trees that were copied without links).
std::string driver_of(const Root& root, const std::string& folder) {
  if (std::string name = root.link_name(folder + "/driver"); !name.empty()) return name;
  const std::string uevent = root.text_of(folder + "/uevent");
  for (const std::string_view line : split(uevent, '\n'))
    if (line.starts_with("DRIVER=")) return std::string(trim(line.substr(7)));
  return {};
}

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
  const verbs::Device* device = find_in(by_verbs, port.rdma);
  return device != nullptr ? find_in(device->ports, port.number) : nullptr;
}

void Context::note_unseen(const std::string& what) {
  if (!contains(unseen, what)) unseen.push_back(what);
}

void note(Port& port, const char* subject, const Error& failure) {
  port.unread.push_back(std::string(subject) + ": " + failure.text());
}

std::optional<std::string> read_noted(const Root& root, const std::string& file, const char* subject, Port& port) {
  auto line = root.read_line(file);
  if (line) return std::move(line).value();
  if (line.error().code != ENOENT) note(port, subject, line.error());
  return std::nullopt;
}

void read_identity(const Context& context, Port& port) {
  const Root& root = context.kernel.root;
  const std::string folder = std::string(infiniband::kClass) + "/" + port.rdma;
  const nldev::Device* device = context.device(port.rdma);
  read_hardware(context, port);
  port.driver = driver_for(port.kernel_driver).name;  // read_link() looks for further evidence on the netdev
  if (const verbs::Device* known = find_in(context.by_verbs, port.rdma)) port.firmware = known->firmware;
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
  if (port.link_layer == LinkLayer::infiniband) port.left_alone = "InfiniBand";
  // RDMA_NODE_RNIC, _USNIC and _USNIC_UDP of enum rdma_node_type (rdma/ib_verbs.h), as core/sysfs.c prints them.
  const std::string type = read_noted(root, folder + "/node_type", "node type", port).value_or("").substr(0, 2);
  port.iwarp = type == "4:";
  port.usnic = type == "5:" || type == "6:";
  if (port.usnic) port.left_alone = "usNIC, no RoCE";
}

// What identifies the card of a port: the serial number of its board by devlink, else of its VPD, which only root may
// read (PCI Local Bus Specification 3.0, appendix I); else the port's own address.

std::string vpd_serial(std::string_view vpd) {
  const auto fields = vpd_fields(vpd);
  const VpdField* serial = find_where(fields, [](const VpdField& field) { return field.key == "SN"; });
  return serial == nullptr ? std::string() : checked(serial->text);
}

void read_card(Context& context, Port& port) {
  port.card = port.card_address;
  if (!context.options.serials || port.pci.empty() || port.virtual_function) return;
  Kernel& kernel = context.kernel;
  const auto [known, is_new] = kernel.serials.try_emplace(port.pci + "#" + std::to_string(port.ifindex));
  if (is_new) {
    known->second = by_devlink(kernel, port);
    if (known->second.empty())
      if (const auto vpd = kernel.root.read("sys/bus/pci/devices/" + port.pci + "/vpd"))
        known->second = vpd_serial(*vpd);
  }
  if (known->second.empty()) return;
  port.card =
      "serial:" + known->second + "/" + port.pci.substr(port.pci.rfind('.') + 1) + "." + std::to_string(port.number);
}

// A card in two slots (socket direct) has one serial number, and a bond stands on a function of its member.
void tell_cards_apart(std::vector<Port>& ports) {
  std::vector<bool> shared(ports.size());
  for (size_t i = 0; i < ports.size(); ++i)
    shared[i] = std::ranges::any_of(ports, [&](const Port& other) {
      return &other != &ports[i] && other.card == ports[i].card && other.card_address != ports[i].card_address;
    });
  for (size_t i = 0; i < ports.size(); ++i)
    if (shared[i]) ports[i].card = ports[i].card_address;
}

}  // namespace fabric::scanning
