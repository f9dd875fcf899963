// SPDX-License-Identifier: Apache-2.0
#include "support/sim_devlink.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "support/sim_nic_sockets.h"

namespace fabric::test {
namespace {

constexpr uint8_t kU32 = 3, kU64 = 4;  // NLA_U32, NLA_U64 of include/net/netlink.h

void put_u64(AttrWriter& out, uint16_t type, uint64_t value) { out.bytes(DEVLINK_ATTR_PAD, {}).u64(type, value); }

// devlink_nl_health_reporter_fill()
Message reporter(uint16_t family, const std::string& pci, const char* name, bool healthy, bool recovers) {
  AttrWriter inner;
  inner.text(DEVLINK_ATTR_HEALTH_REPORTER_NAME, name).u8(DEVLINK_ATTR_HEALTH_REPORTER_STATE, healthy ? 0 : 1);
  put_u64(inner, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, healthy ? 0 : 1);
  put_u64(inner, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 0);
  if (recovers) {
    put_u64(inner, DEVLINK_ATTR_HEALTH_REPORTER_GRACEFUL_PERIOD, 60'000);
    inner.u8(DEVLINK_ATTR_HEALTH_REPORTER_AUTO_RECOVER, 1);
  }
  return {family, generic_reply(DEVLINK_CMD_HEALTH_REPORTER_GET)
                      .text(DEVLINK_ATTR_BUS_NAME, "pci")
                      .text(DEVLINK_ATTR_DEV_NAME, pci)
                      .bytes(DEVLINK_ATTR_HEALTH_REPORTER, inner.data())
                      .data()};
}

// mlx5_reporter_vnic_diagnose_counters(), and devlink_fmsg_prepare_skb(): a flat list whose nests are flags.
AttrWriter diagnosis(const SimDevlink& device) {
  constexpr std::string_view kWide[] = {"nic_receive_steering_discard", "generated_pkt_steering_fail",
                                        "handled_pkt_steering_fail"};
  AttrWriter list;
  list.flag(DEVLINK_ATTR_FMSG_OBJ_NEST_START)
      .flag(DEVLINK_ATTR_FMSG_PAIR_NEST_START)
      .text(DEVLINK_ATTR_FMSG_OBJ_NAME, "vNIC env counters")
      .flag(DEVLINK_ATTR_FMSG_OBJ_NEST_START);
  for (const auto& [name, count] : device.vnic) {
    const bool is_wide = std::ranges::find(kWide, name) != std::end(kWide);
    const uint64_t value = device.firmware_answers ? count : 0;
    list.flag(DEVLINK_ATTR_FMSG_PAIR_NEST_START)
        .text(DEVLINK_ATTR_FMSG_OBJ_NAME, name)
        .u8(DEVLINK_ATTR_FMSG_OBJ_VALUE_TYPE, is_wide ? kU64 : kU32);
    if (is_wide) put_u64(list, DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, value);
    else list.u32(DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, static_cast<uint32_t>(value));
    list.flag(DEVLINK_ATTR_FMSG_NEST_END);
  }
  for (int nest = 0; nest < 3; ++nest) list.flag(DEVLINK_ATTR_FMSG_NEST_END);
  return generic_reply(DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE).bytes(DEVLINK_ATTR_FMSG, list.data());
}

}  // namespace

Result<std::vector<Message>> answer_devlink(SimDevlink& device, uint16_t family, const std::string& pci,
                                            View8 payload) {
  genlmsghdr header{};
  if (payload.size() < sizeof header) return error(EINVAL, "simulated");
  std::memcpy(&header, payload.data(), sizeof header);
  const auto attributes = parse_attributes(payload, sizeof header);
  if (text_of(attributes, DEVLINK_ATTR_DEV_NAME) != pci) return error(ENODEV, "simulated");
  switch (header.cmd) {
    case DEVLINK_CMD_HEALTH_REPORTER_GET: {
      std::vector<Message> out;
      for (const std::string& name : device.reporters) {
        const bool is_fatal = name == "fw_fatal";
        out.push_back(
            reporter(family, pci, name.c_str(), !is_fatal || device.firmware_answers, is_fatal || name == "hw"));
      }
      return out;
    }
    case DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE: {
      if (!device.privileged) return error(EPERM, "simulated");  // GENL_ADMIN_PERM
      const std::string asked = text_of(attributes, DEVLINK_ATTR_HEALTH_REPORTER_NAME);
      if (std::ranges::find(device.reporters, asked) == device.reporters.end()) return error(EINVAL, "simulated");
      if (asked != "vnic") return error(EOPNOTSUPP, "simulated");  // the others have texts, which nothing asks for
      ++device.diagnosed;
      return std::vector{Message{family, diagnosis(device).data()}};
    }
    default: return error(EOPNOTSUPP, "simulated");
  }
}

}  // namespace fabric::test
