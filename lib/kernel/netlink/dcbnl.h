// SPDX-License-Identifier: Apache-2.0
// dcbnl: reads and writes a netdev's DCB settings by the kernel's DCB netlink. Messages and layouts: linux/dcbnl.h and
// net/dcb/dcbnl.c of Linux 6.12.
#pragma once

#include <linux/dcbnl.h>

#include "kernel/netlink/netdev.h"
#include "setting/setting_table.h"

namespace fabric::dcbnl {

// Newer than the headers of Debian 12 (values: include/uapi/linux/dcbnl.h of Linux 6.12).
inline constexpr uint16_t kAttrAppTrustTable = 11;  // since 6.2
inline constexpr uint16_t kAttrDcbApp = 2;          // entry with a selector outside 802.1Q (PCP)
inline constexpr uint8_t kSelectorPcp = 255;

using AppTable = std::vector<dcb_app>;

// The answer to one IEEE_GET, with GDCBX. A part that the driver does not offer, or could not read, is absent.
struct IeeeConfig {
  std::optional<ieee_ets> ets;
  std::optional<ieee_pfc> pfc;
  std::optional<AppTable> app;
  std::optional<std::vector<uint8_t>> trust;  // apptrust selectors in order of precedence, kernel 6.2 and later
  std::optional<ieee_maxrate> maxrate;
  std::optional<dcbnl_buffer> buffer;
  std::optional<uint8_t> dcbx;  // DCB_CAP_DCBX_*
  // The peer's settings as received by the firmware's DCBX agent, if the driver reports them (qede, bnx2x, cxgb4).
  std::optional<ieee_ets> peer_ets{};
  std::optional<ieee_pfc> peer_pfc{};
  std::optional<AppTable> peer_app{};
};

// The IeeeConfig in a RTM_GETDCB reply or an RTNLGRP_DCB notification (payload starts with struct dcbmsg). Pure.
Result<IeeeConfig> parse_ieee_config(View8 payload);
// Name of the netdev in it; empty when absent.
std::string message_netdev(View8 payload);

// EOPNOTSUPP: the netdev has no dcbnl; ENODEV: no such netdev here.
Result<IeeeConfig> get(Netlink& route, const std::string& netdev);
// Only the APP table; empty if the driver has none.
Result<AppTable> get_app(Netlink& route, const std::string& netdev);

// Each sends one kind of attribute only (set_ets() with a PFC: two) and checks both results: NLMSG_ERROR and the u8 in
// the reply, which is the low byte of a negative errno while the ACK reports success (net/dcb/dcbnl.c: dcbnl_ieee_set).
// Success only means that nothing refused the request: a driver without the operation ignores it. So read the setting
// back. ENODEV also if the device was renamed (check_name(), directly before the message); ESTALE if it was renamed
// between that check and the message, which another device may have got then (check_name_kept()).
Result<void> set_ets(Netlink& route, const NetdevId& netdev, const ieee_ets& ets);
// The PFC is set directly after the ETS, and not at all if that is refused. If the PFC is refused, the ETS stays.
Result<void> set_ets(Netlink& route, const NetdevId& netdev, const ieee_ets& ets, const ieee_pfc& pfc);
Result<void> set_pfc(Netlink& route, const NetdevId& netdev, const ieee_pfc& pfc);
Result<void> set_app(Netlink& route, const NetdevId& netdev, const AppTable& entries);
// One entry, with the driver's own answer: 0, or a positive number of its own.
Result<int> add_app(Netlink& route, const NetdevId& netdev, const dcb_app& entry);
Result<void> del_app(Netlink& route, const NetdevId& netdev, const AppTable& entries);
Result<void> set_trust(Netlink& route, const NetdevId& netdev, const std::vector<uint8_t>& selectors);
Result<void> set_maxrate(Netlink& route, const NetdevId& netdev, const ieee_maxrate& rate);
Result<void> set_buffer(Netlink& route, const NetdevId& netdev, const dcbnl_buffer& buffer);
// DCB_CMD_SET_ALL: applies earlier requests on drivers that defer them (qed). EOPNOTSUPP: others.
Result<void> set_all(Netlink& route, const NetdevId& netdev);
// The driver answers 0: accepted, 1: refused (EINVAL here). ice answers 1 also if the mode is set already, so read it
// back.
Result<void> set_dcbx(Netlink& route, const NetdevId& netdev, uint8_t mode);

// PFC by the older CEE command (dcbnl_getpfccfg() of net/dcb/dcbnl.c), if the driver has it: a second source for the
// self-test.
Result<PrioSet> cee_pfc(Netlink& route, const std::string& netdev);

}  // namespace fabric::dcbnl
