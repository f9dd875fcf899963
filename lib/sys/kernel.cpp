// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel.h"

#include <linux/netlink.h>

namespace fabric {

Result<Kernel> open_kernel(const std::string& root) {
  auto directory = Root::open(root);
  if (!directory) return directory.error();
  Kernel kernel{.root = std::move(directory).value()};
  if (!kernel.root.is_host()) return kernel;

  auto route = open_netlink(NETLINK_ROUTE);
  if (!route) return route.error();
  kernel.route = std::move(route).value();
  auto generic = open_netlink(NETLINK_GENERIC);
  if (!generic) return generic.error();
  kernel.generic = std::move(generic).value();
  // Kernels before 5.6 and some trimmed ones have no ethtool family: what it tells is absent then.
  if (auto family = ethtool::resolve(*kernel.generic)) kernel.ethtool = *family;
  // EPROTONOSUPPORT: no RDMA stack loaded (and none to load).
  if (auto rdma = open_netlink(NETLINK_RDMA)) kernel.rdma = std::move(rdma).value();
  if (auto statistics = ethtool::open_statistics()) kernel.statistics = std::move(statistics).value();
  kernel.verbs = true;
  return kernel;
}

}  // namespace fabric
