// SPDX-License-Identifier: Apache-2.0
// The evidence for Port::role, in the order of a port's scan.
#pragma once

#include "node/port_reader.h"

namespace fabric::scanning {

// Whether the RDMA device is that of a virtual function or a subfunction, which are added and removed with guests.
bool is_for_guests(const Root& root, const std::string& rdma);

// By the device alone: fills role, owner. `function`: the folder of its PCI function, empty for software devices;
// `device`: the name of the device that its class device is on, which is the function or an auxiliary device below it.
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

// Whether the function manages the NVLink switches of an HGX or DGX (Blackwell): a ConnectX inside the machine, without
// a port, whose VPD has "SMDL=SW_MNG" (NVIDIA's fabricmanager looks for it; only root can read it). Without the VPD: an
// InfiniBand function of two lanes, as on DGX B200; the slots of NICs have eight or more.
bool is_nvlink_management(const Root& root, const std::string& function);

// The address of the primary function, if this one is secondary. Since Linux 6.9 the functions of a Socket Direct NIC,
// one below each socket, are one netdev, whose parent is the primary function; the secondary ones are silent on the
// network (Documentation/networking/multi-pf-netdev.rst): no netdev, no GID, and a port that is DOWN. debugfs names
// them to root. Without it: another function of the NIC, in another slot, has a netdev, and this one has not even the
// link-local GIDs that it would have with a netdev in another network namespace. Empty: it is not secondary.
std::string multi_pf_primary(const Root& root, const std::string& function);

}  // namespace fabric::scanning
