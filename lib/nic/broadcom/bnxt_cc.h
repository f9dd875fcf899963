// SPDX-License-Identifier: Apache-2.0
// Congestion control of bnxt_re (Broadcom Thor, Thor2): one set of values in the NIC's firmware, with two interfaces.
//   configfs bnxt_re/<RDMA device>/ports/<port>/cc/: Broadcom's own module (bnxt_re/configfs.c), hex numbers. Older
//     releases show the written value and send it to the firmware on `apply`; newer ones (233) send most of it at once
//     and read it from the firmware, but DSCPs and priorities still wait for `apply`.
//   debugfs bnxt_re/<PCI address>/cc_config/: Linux 6.15 (drivers/infiniband/hw/bnxt_re/debugfs.c, files of mode 0400)
//     and Broadcom's newest modules, decimal numbers, sent at once; Linux ignores the firmware's refusal.
// As in Broadcom's bnxt_setupcc.sh, configfs is preferred. Linux 6.12 has neither.
//
// "cc" is the NIC's congestion control with ECN-capable data: enable_cc and tos_ecn together, as bnxt_re itself
// switches them on (bnxt_re_setup_cc() of Linux 7.3) and Broadcom's script does. Linux 6.12 starts with enable_cc
// alone: no switch marks its data, so that reads as off.
#pragma once

#include <array>

#include "nic/operation.h"

namespace fabric::bnxt_cc {

// Reads the settings of `keys` that belong to it. They stay absent, with a reason, if neither interface is accessible
// (both require root).
void read(const PortIo& io, const Keys& keys, Reading& out);

// Each writes one setting. If the process is killed between a number and its `apply`, an older module keeps showing a
// number that the NIC does not use, and the folder stays. If a later part or `apply` is refused, accepted parts are
// restored, so that the files show the NIC's values. On firmware without service profiles each `apply` also makes
// Broadcom's module rewrite the NIC's DSCP map with the DSCPs of RoCE and of CNPs only.
extern const std::array<SettingOp, 12> kOps;

// Writes the priority that Broadcom's module gives RoCE's DSCP on firmware without service profiles, in addition to the
// APP entry. The result is ignored: newer modules do not show the value, and firmware with service profiles refuses it,
// because there the APP entry counts.
void follow_roce_prio(const PortIo& io, uint32_t prio);

// Driver::remedy() for the settings of this file, ecn_rp and ecn_np. Empty for others.
std::string remedy(const Setting& setting, int code);

}  // namespace fabric::bnxt_cc
