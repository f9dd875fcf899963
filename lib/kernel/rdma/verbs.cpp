// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/verbs.h"

#include <infiniband/verbs.h>
#include <net/if.h>

#include <algorithm>

#include "base/ip.h"
#include "base/parse.h"

namespace fabric::verbs {
namespace {

constexpr size_t kMostGids = 1'024;

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

using Gids = std::vector<ibv_gid_entry>;

std::optional<Gids> query_gids(ibv_context* context) {
  Gids entries(kMostGids);
  const ssize_t count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  if (count < 0) return std::nullopt;  // too many entries, or a provider without it
  entries.resize(static_cast<size_t>(count));
  return entries;
}

std::string port_text(const std::string& number, const ibv_port_attr& port) {
  LinkLayer layer = LinkLayer::unknown;
  if (port.link_layer == IBV_LINK_LAYER_ETHERNET) layer = LinkLayer::ethernet;
  if (port.link_layer == IBV_LINK_LAYER_INFINIBAND) layer = LinkLayer::infiniband;
  // enum ibv_mtu: 1 is 256, each step doubles (IBTA specification, PortInfo:NeighborMTU).
  const bool known = port.active_mtu >= IBV_MTU_256 && port.active_mtu <= IBV_MTU_4096;
  const uint32_t mtu = known ? uint32_t{128} << static_cast<unsigned>(port.active_mtu) : 0;
  return "port " + number + " " + std::to_string(port.state) + " " + std::to_string(port.phys_state) + " " +
         std::to_string(mtu) + " " + std::string(to_text(layer)) + "\n";
}

std::string gid_line(const std::string& port, const ibv_gid_entry& entry) {
  Ip ip{.v6 = true};
  std::ranges::copy(entry.gid.raw, ip.bytes.begin());
  char netdev[IF_NAMESIZE] = "";
  if (entry.ndev_ifindex != 0) ::if_indextoname(entry.ndev_ifindex, netdev);
  return "gid " + port + " " + std::to_string(entry.gid_index) + " " + gid_text(ip) +
         (entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? " v2 " : " v1 ") + netdev + "\n";
}

bool parse_port(const std::vector<std::string_view>& parts, Device& device) {
  const auto number = parse_number<unsigned>(parts[1]), state = parse_number<unsigned>(parts[2]),
             phys = parse_number<unsigned>(parts[3]), mtu = parse_number<unsigned>(parts[4]);
  if (!number || !state || !phys || !mtu) return false;
  device.ports[*number] = {*state, *phys, *mtu, parse_word<LinkLayer>(parts[5]).value_or(LinkLayer::unknown), {}};
  return true;
}

bool parse_gid(const std::vector<std::string_view>& parts, Device& device) {
  const auto number = parse_number<unsigned>(parts[1]), index = parse_number<unsigned>(parts[2]);
  const auto port = number ? device.ports.find(*number) : device.ports.end();
  if (port == device.ports.end() || !index) return false;
  Gid gid{*index, std::string(parts[3]), parts[4] == "v2" ? "RoCE v2" : "IB/RoCE v1", {}};  // as in sysfs
  if (parts.size() == 6) gid.netdev = parts[5];
  port->second.gids.push_back(std::move(gid));
  return true;
}

}  // namespace

Result<std::string> query(const std::string& name) {
  const auto context = open_device(name);
  if (!context) return context.error();
  ibv_device_attr device{};
  if (const int code = ibv_query_device(context->get(), &device); code != 0)
    return error(code > 0 ? code : errno, name + ": query device");
  const std::string firmware = clean_text(trim(device.fw_ver));
  const auto gids = query_gids(context->get());
  std::string out = firmware.empty() ? "" : "firmware " + firmware + "\n";
  if (gids) out += "gids\n";
  for (unsigned port = 1; port <= device.phys_port_cnt; ++port) {
    ibv_port_attr attributes{};
    if (const int code = ibv_query_port(context->get(), static_cast<uint8_t>(port), &attributes); code != 0)
      return error(code > 0 ? code : errno, name + ": query port");
    const std::string number = std::to_string(port);
    out += port_text(number, attributes);
    for (const ibv_gid_entry& gid : gids.value_or(Gids{}))
      if (gid.port_num == port) out += gid_line(number, gid);
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
