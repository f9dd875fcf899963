// SPDX-License-Identifier: Apache-2.0
// The outside world as one argument.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sys/ethtool.h"
#include "sys/netlink.h"
#include "sys/root.h"

namespace fabric {

// The netlink members are null where there is no such thing: a captured tree, or a machine without the RDMA stack.
struct Kernel {
  Root root;
  std::unique_ptr<Netlink> route{}, generic{}, rdma{};
  std::optional<ethtool::Family> ethtool{};
  std::unique_ptr<ethtool::Statistics> statistics{};
  bool verbs = false;  // libibverbs may be asked (the running machine only)
};

// "/" is the running machine; any other directory a captured tree, read without netlink.
Result<Kernel> open_kernel(const std::string& root = "/");

}  // namespace fabric
