// SPDX-License-Identifier: Apache-2.0
// The functions of libibverbs that kernel/rdma/verbs.cpp calls, with one device: mlx5_4, a virtual function of mlx5
// below a RoCE LAG of two links of 400 Gb/s. They take the place of the library in the probe. FAKE_VERBS in the
// environment: how ibv_query_port_speed() answers, as rdma-core 62 does. "lag" (the bandwidth of both links), "down"
// (0: the function is down), "old-kernel" (the kernel has no such method), "no-driver" (its driver has no such
// operation). Compiled with FAKE_VERBS_OLD it is an older libibverbs without the function.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace {

ibv_device device{};
ibv_device* devices[]{&device, nullptr};
ibv_context context{};

#ifndef FAKE_VERBS_OLD
bool is(const char* what) {
  const char* given = std::getenv("FAKE_VERBS");
  return given != nullptr && std::strcmp(given, what) == 0;
}
#endif

}  // namespace

#undef ibv_query_port  // of verbs.h, which calls the provider if there is one

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  std::strcpy(device.name, "mlx5_4");
  *count = 1;
  return devices;
}
void ibv_free_device_list(ibv_device**) {}
const char* ibv_get_device_name(ibv_device* of) { return of->name; }
ibv_context* ibv_open_device(ibv_device* of) {
  context.device = of;
  return &context;
}
int ibv_close_device(ibv_context*) { return 0; }

int ibv_query_device(ibv_context*, ibv_device_attr* attributes) {
  *attributes = {};
  std::strcpy(attributes->fw_ver, "40.48.0302");
  attributes->phys_port_cnt = 1;
  return 0;
}

// The caller's structure has the members of the newest one, from which the compatible one differs only in its length.
int ibv_query_port(ibv_context*, uint8_t, _compat_ibv_port_attr* compatible) {
  auto* attributes = reinterpret_cast<ibv_port_attr*>(compatible);
  attributes->state = IBV_PORT_ACTIVE;
  attributes->phys_state = 5;  // LinkUp
  attributes->active_mtu = IBV_MTU_4096;
  attributes->link_layer = IBV_LINK_LAYER_ETHERNET;
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context*, ibv_gid_entry*, size_t, uint32_t, size_t) { return 0; }

#ifndef FAKE_VERBS_OLD
// UVERBS_METHOD_QUERY_PORT_SPEED of Linux 7.0; in 100 Mb/s.
int ibv_query_port_speed(ibv_context*, uint32_t port, uint64_t* speed) {
  if (is("old-kernel")) return EPROTONOSUPPORT;
  if (is("no-driver")) return EOPNOTSUPP;
  if (port != 1) return EINVAL;
  *speed = is("lag") ? 8'000 : 0;
  return 0;
}
#endif
}
