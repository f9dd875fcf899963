// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/verbs.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <net/if.h>

#include <algorithm>
#include <memory>

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

// libibverbs does not set errno on some of its failures.
Error failure(const std::string& device, const char* act) {
  if (errno == 0) errno = EIO;
  return error(errno, device + ": " + act);
}

}  // namespace

Result<std::string> query(const std::string& name) {
  errno = 0;
  int count = 0;
  const std::unique_ptr<ibv_device*, FreeList> list(ibv_get_device_list(&count));
  if (!list) return failure(name, "list verbs devices");
  ibv_device** const end = list.get() + count;
  ibv_device** const found =
      std::find_if(list.get(), end, [&](ibv_device* each) { return name == ibv_get_device_name(each); });
  if (found == end) return error(ENODEV, name + ": no verbs device");
  errno = 0;
  const std::unique_ptr<ibv_context, Close> context(ibv_open_device(*found));
  if (!context) return failure(name, "open verbs device");

  ibv_device_attr device{};
  if (const int code = ibv_query_device(context.get(), &device); code != 0)
    return error(code > 0 ? code : errno, name + ": query device");
  const std::string firmware = clean_text(trim(device.fw_ver));
  std::string out;
  if (!firmware.empty()) out = "firmware " + firmware + "\n";

  const auto query_speed =
      reinterpret_cast<int (*)(ibv_context*, uint32_t, uint64_t*)>(::dlsym(RTLD_DEFAULT, "ibv_query_port_speed"));
  std::vector<ibv_gid_entry> gids(kMostGids);
  const ssize_t gid_count = ibv_query_gid_table(context.get(), gids.data(), gids.size(), 0);
  if (gid_count >= 0) out += "gids\n";  // else too many entries, or a provider without the query
  gids.resize(static_cast<size_t>(std::max<ssize_t>(gid_count, 0)));
  for (unsigned port = 1; port <= device.phys_port_cnt; ++port) {
    ibv_port_attr attributes{};
    if (const int code = ibv_query_port(context.get(), static_cast<uint8_t>(port), &attributes); code != 0)
      return error(code > 0 ? code : errno, name + ": query port");
    LinkLayer layer = LinkLayer::unknown;
    if (attributes.link_layer == IBV_LINK_LAYER_ETHERNET) layer = LinkLayer::ethernet;
    if (attributes.link_layer == IBV_LINK_LAYER_INFINIBAND) layer = LinkLayer::infiniband;
    // enum ibv_mtu: 1 is 256, each step doubles (IBTA specification, PortInfo:NeighborMTU).
    uint32_t mtu = 0;
    if (attributes.active_mtu >= IBV_MTU_256 && attributes.active_mtu <= IBV_MTU_4096)
      mtu = uint32_t{128} << static_cast<unsigned>(attributes.active_mtu);
    const std::string number = std::to_string(port);
    out += "port " + number + " " + std::to_string(attributes.state) + " " + std::to_string(attributes.phys_state) +
           " " + std::to_string(mtu) + " " + std::string(to_text(layer)) + "\n";
    if (uint64_t speed = 0; query_speed != nullptr && query_speed(context.get(), port, &speed) == 0 && speed > 0)
      out += "speed " + number + " " + std::to_string(speed) + "\n";
    for (const ibv_gid_entry& gid : gids) {
      if (gid.port_num != port) continue;
      Ip ip{.v6 = true};
      std::ranges::copy(gid.gid.raw, ip.bytes.begin());
      const char* type = gid.gid_type == IBV_GID_TYPE_ROCE_V2 ? " v2 " : " v1 ";
      char netdev[IF_NAMESIZE] = "";
      if (gid.ndev_ifindex != 0) ::if_indextoname(gid.ndev_ifindex, netdev);
      out += "gid " + number + " " + std::to_string(gid.gid_index) + " " + gid_text(ip) + type + netdev + "\n";
    }
  }
  return out;
}

std::optional<DeviceAttributes> parse_device(std::string_view text) {
  DeviceAttributes device;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = words(line);
    if (parts.empty()) continue;
    if (parts[0] == "firmware" && parts.size() == 2) {
      device.firmware = parts[1];
    } else if (parts[0] == "gids" && parts.size() == 1) {
      device.has_gid_table = true;
    } else if (parts[0] == "port" && parts.size() == 6) {
      const auto number = parse_number<unsigned>(parts[1]), state = parse_number<unsigned>(parts[2]),
                 phys = parse_number<unsigned>(parts[3]), mtu = parse_number<unsigned>(parts[4]);
      if (!number || !state || !phys || !mtu) return std::nullopt;
      const LinkLayer layer = parse_word<LinkLayer>(parts[5]).value_or(LinkLayer::unknown);
      device.ports[*number] = {*state, *phys, *mtu, layer};
    } else if (parts[0] == "speed" && parts.size() == 3) {
      const auto number = parse_number<unsigned>(parts[1]);
      const auto speed = parse_number<uint64_t>(parts[2]);
      if (!number || !speed || *speed == 0 || !device.ports.contains(*number)) return std::nullopt;
      device.ports[*number].rate = static_cast<double>(*speed) * 100e6 / 8;
    } else if (parts[0] == "gid" && (parts.size() == 5 || parts.size() == 6)) {
      const auto number = parse_number<unsigned>(parts[1]), index = parse_number<unsigned>(parts[2]);
      if (!number || !index || !device.ports.contains(*number)) return std::nullopt;
      Gid gid{*index, std::string(parts[3]), "IB/RoCE v1", {}};  // as in sysfs
      if (parts[4] == "v2") gid.type = "RoCE v2";
      if (parts.size() == 6) gid.netdev = parts[5];
      device.ports[*number].gids.push_back(std::move(gid));
    } else {
      return std::nullopt;
    }
  }
  return device;
}

}  // namespace fabric::verbs
