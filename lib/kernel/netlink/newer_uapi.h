// SPDX-License-Identifier: Apache-2.0
// Numbers that the kernel's headers of Linux 5.15 (Ubuntu 22.04) lack: from include/uapi of Linux 6.2, or of a later
// one where noted.
#pragma once

#include <cstdint>

namespace fabric::uapi {

// rdma/rdma_netlink.h, Linux 5.16
inline constexpr uint16_t kRdmaStatGetStatus = 24;         // RDMA_NLDEV_CMD_STAT_GET_STATUS
inline constexpr uint16_t kRdmaStatHwcounterIndex = 94;    // RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, u32
inline constexpr uint16_t kRdmaStatHwcounterDynamic = 95;  // RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC, u8
// rdma/rdma_netlink.h, Linux 6.11
inline constexpr uint16_t kRdmaDevType = 99;      // RDMA_NLDEV_ATTR_DEV_TYPE, u8; absent: an ordinary device
inline constexpr uint16_t kRdmaParentName = 100;  // RDMA_NLDEV_ATTR_PARENT_NAME, string
inline constexpr uint8_t kRdmaDeviceSmi = 1;      // RDMA_DEVICE_TYPE_SMI
// rdma/rdma_netlink.h, Linux 7.3 (kernel commit 5911f6d6e7cc)
inline constexpr uint16_t kRdmaResSummaryEntryMax = 118;  // RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_MAX, u64
// linux/ethtool.h, Linux 5.16
inline constexpr uint8_t kLinkExtStateModule = 10;          // ETHTOOL_LINK_EXT_STATE_MODULE
inline constexpr uint8_t kLinkExtSubstateCmisNotReady = 1;  // ETHTOOL_LINK_EXT_SUBSTATE_MODULE_CMIS_NOT_READY
// linux/ethtool.h, Linux 7.0
inline constexpr uint8_t kLinkExtStateOtpSpeedViolation = 11;  // ETHTOOL_LINK_EXT_STATE_OTP_SPEED_VIOLATION
inline constexpr uint8_t kLinkExtStateBmcRequestDown = 12;     // ETHTOOL_LINK_EXT_STATE_BMC_REQUEST_DOWN
// linux/ethtool_netlink.h, Linux 6.2
inline constexpr uint16_t kLinkStateExtDownCount = 7;  // ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT

// linux/ethtool_netlink_generated.h, Linux 6.18: nests in ETHTOOL_A_FEC_STATS
inline constexpr uint16_t kFecStatHist = 5;     // ETHTOOL_A_FEC_STAT_HIST
inline constexpr uint16_t kFecHistBinLow = 2;   // ETHTOOL_A_FEC_HIST_BIN_LOW, u32
inline constexpr uint16_t kFecHistBinHigh = 3;  // ETHTOOL_A_FEC_HIST_BIN_HIGH, u32
inline constexpr uint16_t kFecHistBinVal = 4;   // ETHTOOL_A_FEC_HIST_BIN_VAL, uint: u32, or u64 if it is larger

}  // namespace fabric::uapi
