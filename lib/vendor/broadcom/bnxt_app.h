// SPDX-License-Identifier: Apache-2.0
// bnxt_en's APP entries: DSCPs and the priority of RoCE. The kernel's list is read, not that of the NIC.
//
// roce_prio is the entry of RoCE v2 (UDP port 4791), from which the firmware takes RoCE's priority
// (bnxt_dcbnl_ieee_setapp()); the inbox driver knows no other. No entry is priority 0.
#pragma once

#include "vendor/driver.h"

namespace fabric::bnxt_app {

// The driver refuses with -ENOTSUPP (524), whose low byte, all that dcbnl passes on, reads as -ENOMEM.
Result<void> read_errno(Result<void> written);

// Completes what upstream::read_port() made of the table.
void read(PortIo& io, const dcbnl::AppTable& table, Qos& out);

// trust and dscp_map.
Result<void> write_map(PortIo& io, const Setting& setting, const Qos& want, const Qos& have);
Result<void> write_roce_prio(PortIo& io, const Setting&, const Qos& want, const Qos& have);

// After the first ETS: the driver was loaded, or its firmware was reset, which frees the driver's own
// (bnxt_dcb_free() in bnxt_hwrm_if_change()) and keeps the kernel's list, whose entries the NIC has lost. An entry that
// fails here is missing from the list afterwards, and reported.
void send_again(PortIo& io);

}  // namespace fabric::bnxt_app
