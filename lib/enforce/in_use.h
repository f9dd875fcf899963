// SPDX-License-Identifier: Apache-2.0
// Detects whether a job may be using a port.
#pragma once

#include <concepts>

#include "kernel/kernel.h"
#include "node/node.h"

namespace fabric::qos {

// Called before each disruptive write; returns true if the port is in use. It has no default, so that it cannot be
// forgotten. If it was made from an empty function, it reports every port as in use.
class UseCheck {
 public:
  template <std::predicate<const Port&> Ask>
  requires(!std::same_as<Ask, UseCheck>) UseCheck(Ask ask) : ask_(std::move(ask)) {}
  [[nodiscard]] bool operator()(const Port& port) const { return !ask_ || ask_(port); }

 private:
  std::function<bool(const Port&)> ask_;
};

// True if the port, or a virtual function or subfunction of it, has
// - a queue pair of a process or of the kernel (NVMe-oF, NFS, Lustre), by RDMA netlink,
// - memory that a process has registered, by RDMA netlink,
// - a guest that has the function open (vfio),
// - its RDMA device in another network namespace (rdma system set netns exclusive).
// True also if this cannot be determined: a job may be running.
bool is_in_use(Kernel& kernel, const Port& port);

// A UseCheck that calls is_in_use(). `kernel` must outlive it.
UseCheck ask_kernel(Kernel& kernel);

}  // namespace fabric::qos
