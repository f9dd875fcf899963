// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/verbs.h"

#include <infiniband/verbs.h>
#include <net/if.h>

#include <algorithm>
#include <cstdio>

#include "base/parse.h"
#include "kernel/rdma/infiniband.h"

namespace fabric::verbs {
namespace {

constexpr size_t kMostGids = 1'024;
constexpr std::string_view kTypeV1 = "IB/RoCE v1", kTypeV2 = "RoCE v2";  // as in sysfs

struct FreeList {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};
struct Close {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
using Context = std::unique_ptr<ibv_context, Close>;

// libibverbs leaves errno alone on some of its failures.
Error failure(const std::string& device, const char* act) {
  return error(errno != 0 ? errno : EIO, device + ": " + act);
}

Result<Context> open_device(const std::string& device) {
  errno = 0;
  int count = 0;
  const std::unique_ptr<ibv_device*, FreeList> list(ibv_get_device_list(&count));
  if (!list) return failure(device, "list verbs devices");
  ibv_device** const end = list.get() + count;
  ibv_device** const found =
      std::find_if(list.get(), end, [&](ibv_device* each) { return device == ibv_get_device_name(each); });
  if (found == end) return error(ENODEV, device + ": no verbs device");
  errno = 0;
  Context context(ibv_open_device(*found));
  if (!context) return failure(device, "open verbs device");
  return context;
}

Result<PortAttributes> query_port(ibv_context* context, const std::string& device, unsigned number) {
  ibv_port_attr attributes{};
  if (const int code = ibv_query_port(context, static_cast<uint8_t>(number), &attributes); code != 0)
    return error(code > 0 ? code : errno, device + ": query port");
  PortAttributes port;
  port.state = attributes.state;
  port.phys_state = attributes.phys_state;
  if (attributes.link_layer == IBV_LINK_LAYER_ETHERNET) port.link_layer = LinkLayer::ethernet;
  if (attributes.link_layer == IBV_LINK_LAYER_INFINIBAND) port.link_layer = LinkLayer::infiniband;
  // enum ibv_mtu: 1 is 256, each step doubles (IBTA specification, PortInfo:NeighborMTU).
  if (attributes.active_mtu >= IBV_MTU_256 && attributes.active_mtu <= IBV_MTU_4096)
    port.active_mtu = uint32_t{128} << static_cast<unsigned>(attributes.active_mtu);
  return port;
}

Gid gid_of(const ibv_gid_entry& entry) {
  Gid gid;
  gid.index = entry.gid_index;
  char part[8];
  for (size_t i = 0; i < sizeof entry.gid.raw; i += 2) {
    std::snprintf(part, sizeof part, "%s%02x%02x", i == 0 ? "" : ":", entry.gid.raw[i], entry.gid.raw[i + 1]);
    gid.gid += part;
  }
  gid.type = entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? kTypeV2 : kTypeV1;
  char name[IF_NAMESIZE];
  if (entry.ndev_ifindex != 0 && ::if_indextoname(entry.ndev_ifindex, name) != nullptr) gid.netdev = name;
  return gid;
}

void query_gids(ibv_context* context, Device& device) {
  std::vector<ibv_gid_entry> entries(kMostGids);
  const ssize_t count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  if (count < 0) return;  // too many entries, or a provider without it
  entries.resize(static_cast<size_t>(count));
  device.has_gid_table = true;
  for (const ibv_gid_entry& entry : entries)
    if (const auto port = device.ports.find(entry.port_num); port != device.ports.end())
      port->second.gids.push_back(gid_of(entry));
}

bool parse_port(const std::vector<std::string_view>& parts, Device& device) {
  const auto number = parse_number<unsigned>(parts[1]), state = parse_number<unsigned>(parts[2]),
             phys = parse_number<unsigned>(parts[3]), mtu = parse_number<unsigned>(parts[4]);
  if (!number || !state || !phys || !mtu) return false;
  device.ports[*number] = {*state, *phys, *mtu, infiniband::parse_link_layer(parts[5]), {}};
  return true;
}

bool parse_gid(const std::vector<std::string_view>& parts, Device& device) {
  const auto number = parse_number<unsigned>(parts[1]), index = parse_number<unsigned>(parts[2]);
  const auto port = number ? device.ports.find(*number) : device.ports.end();
  if (port == device.ports.end() || !index) return false;
  Gid gid{*index, std::string(parts[3]), std::string(parts[4] == "v2" ? kTypeV2 : kTypeV1), {}};
  if (parts.size() == 6) gid.netdev = parts[5];
  port->second.gids.push_back(std::move(gid));
  return true;
}

}  // namespace

Result<Device> query(const std::string& name) {
  const auto context = open_device(name);
  if (!context) return context.error();
  ibv_device_attr attributes{};
  if (const int code = ibv_query_device(context->get(), &attributes); code != 0)
    return error(code > 0 ? code : errno, name + ": query device");
  Device device;
  device.firmware = clean_text(trim(attributes.fw_ver));
  for (unsigned number = 1; number <= attributes.phys_port_cnt; ++number) {
    auto port = query_port(context->get(), name, number);
    if (!port) return port.error();
    device.ports.emplace(number, std::move(port).value());
  }
  query_gids(context->get(), device);
  return device;
}

std::string to_text(const Device& device) {
  std::string out;
  if (!device.firmware.empty()) out += "firmware " + device.firmware + "\n";
  if (device.has_gid_table) out += "gids\n";
  for (const auto& [number, port] : device.ports) {
    const std::string key = std::to_string(number) + " ";
    out += "port " + key + std::to_string(port.state) + " " + std::to_string(port.phys_state) + " " +
           std::to_string(port.active_mtu) + " " + std::string(fabric::to_text(port.link_layer)) + "\n";
    for (const Gid& gid : port.gids)
      out += "gid " + key + std::to_string(gid.index) + " " + gid.gid + (gid.type == kTypeV2 ? " v2 " : " v1 ") +
             gid.netdev + "\n";
  }
  return out;
}

std::optional<Device> parse_device(std::string_view text) {
  Device device;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = words(line);
    if (parts.empty()) continue;
    if (parts[0] == "firmware" && parts.size() == 2) device.firmware = parts[1];
    else if (parts[0] == "gids" && parts.size() == 1) device.has_gid_table = true;
    else if (parts[0] == "port" && parts.size() == 6 && parse_port(parts, device)) continue;
    else if (parts[0] == "gid" && (parts.size() == 5 || parts.size() == 6) && parse_gid(parts, device)) continue;
    else return std::nullopt;
  }
  return device;
}

}  // namespace fabric::verbs
