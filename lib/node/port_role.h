// SPDX-License-Identifier: Apache-2.0
// The evidence for Nic::role and Port::role, in the order of a port's scan.
#pragma once

#include "node/port_reader.h"
#include "node/topology.h"

namespace fabric::scanning {

// Whether the RDMA device is that of a virtual function or a subfunction, which are added and removed with guests.
bool is_for_guests(const Root& root, const std::string& rdma);

// Whether a function's devices are in another network namespace: the class's folder below the function stays, and does
// not show them (drivers/base/core.c, cleanup_glue_dir() and class_dir_child_ns_type(), Linux 6.12).
bool is_elsewhere(const Root& root, const std::string& function);

struct RoleOfFunction {
  FunctionRole role = FunctionRole::physical;
  std::string owner{};  // the physical function of a virtual one, the primary function of a secondary one
};
// `function`: the folder of a PCI function.
RoleOfFunction role_of_function(const Root& root, const std::string& function);

// By the function and the device alone: fills role, owner. `function`: the folder of its PCI function, empty for
// software devices; `device`: the name of the device that its class device is on, which is the function or an auxiliary
// device below it.
void read_device_role(const Context& context, const std::string& function, const std::string& device, Port& port);
// Fills role, switchdev and vf from the netdev and the E-Switch above it. Requires state, netdev and bond.
void read_link_role(Context& context, Port& port);

// Whether the port has a GID table without any GID although it is ACTIVE, and only the mode of its E-Switch, which
// devlink did not answer, decides whether that is by design. In legacy mode the kernel adds a link-local GID for each
// netdev (enum_netdev_default_gids() in drivers/infiniband/core/roce_gid_mgmt.c, Linux 6.12).
bool has_unknown_mode(const Context& context, const Port& port);

// The E-Switch's port for a virtual function or a subfunction: "pf0vf3", "c1pf0sf1"; the wire's is "p0"
// (net/devlink/port.c of Linux 6.12, __devlink_port_phys_port_name_get).
bool is_representor(const Root& root, const std::string& netdev);

}  // namespace fabric::scanning
