// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/verbs.h"

#include <infiniband/verbs.h>

#include <memory>

namespace fabric::verbs {
namespace {

struct FreeList {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};
struct Close {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};

// libibverbs leaves errno alone on some of its failures.
Error failure(const std::string& device, const char* act) {
  return error(errno != 0 ? errno : EIO, device + ": " + act);
}

}  // namespace

Result<uint32_t> active_mtu(const std::string& device, uint8_t port) {
  errno = 0;
  int count = 0;
  const std::unique_ptr<ibv_device*, FreeList> list(ibv_get_device_list(&count));
  if (!list) return failure(device, "list verbs devices");
  ibv_device* found = nullptr;
  for (int i = 0; i < count; ++i)
    if (device == ibv_get_device_name(list.get()[i])) found = list.get()[i];
  if (found == nullptr) return error(ENODEV, device + ": no verbs device");

  errno = 0;
  const std::unique_ptr<ibv_context, Close> context(ibv_open_device(found));
  if (!context) return failure(device, "open verbs device");
  ibv_port_attr attributes{};
  if (const int code = ibv_query_port(context.get(), port, &attributes); code != 0)
    return error(code > 0 ? code : errno, device + ": query port");
  // enum ibv_mtu: 1 is 256, each step doubles (IBTA specification, PortInfo:NeighborMTU).
  if (attributes.active_mtu < IBV_MTU_256 || attributes.active_mtu > IBV_MTU_4096)
    return error(EPROTO, device + ": path MTU " + std::to_string(attributes.active_mtu));
  return uint32_t{128} << static_cast<unsigned>(attributes.active_mtu);
}

}  // namespace fabric::verbs
