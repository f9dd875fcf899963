// SPDX-License-Identifier: Apache-2.0
// Whether a job may be using a port.
#pragma once

#include <concepts>

#include "kernel/kernel.h"
#include "node/node.h"

namespace fabric::qos {

// Asked before each disruptive write. It cannot be left out: it has no default, and one that was made of an empty
// function answers that the port is in use.
class UseCheck {
 public:
  template <std::predicate<const Port&> Ask>
  requires(!std::same_as<Ask, UseCheck>) UseCheck(Ask ask) : ask_(std::move(ask)) {}
  [[nodiscard]] bool operator()(const Port& port) const { return !ask_ || ask_(port); }

 private:
  std::function<bool(const Port&)> ask_;
};

// True if a process, or a connection of the kernel (NVMe-oF, NFS, Lustre), has a queue pair on the port or on a virtual
// function or subfunction of it, or a process memory registered with such a device (RDMA netlink), if a guest has such
// a function open (vfio), or another network namespace its RDMA device (rdma system netns exclusive). True also when it
// cannot be known: a job may be running.
bool is_in_use(Kernel& kernel, const Port& port);

// is_in_use(). The kernel must outlive it.
UseCheck ask_kernel(Kernel& kernel);

}  // namespace fabric::qos
