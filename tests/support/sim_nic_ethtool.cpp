// SPDX-License-Identifier: Apache-2.0
// The kernel's side of generic netlink: the ethtool family as far as pause, private flags and the state of the link go,
// and devlink.
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "kernel/netlink/newer_uapi.h"
#include "support/sim_nic_sockets.h"

namespace fabric::test {
namespace {

constexpr uint16_t kEthtoolFamily = 21, kDevlinkFamily = 22;
constexpr uint32_t kMonitorGroup = 6;

class Generic final : public Netlink {
 public:
  explicit Generic(SimKernel& sim) : sim_(sim) {}

  Replies talk(uint16_t type, uint16_t, View8 payload) override {
    if (payload.size() < sizeof(genlmsghdr)) return kernel_error(EINVAL);
    genlmsghdr header;
    std::memcpy(&header, payload.data(), sizeof header);
    auto attributes = parse_attributes(payload, sizeof header);
    if (type == GENL_ID_CTRL) return family(header, attributes);
    if (type == kDevlinkFamily) return devlink(payload, attributes);
    if (type != kEthtoolFamily) return kernel_error(ENOENT);
    const Attr* nest = fabric::find(attributes, ETHTOOL_A_PAUSE_HEADER);
    if (nest == nullptr) return kernel_error(EINVAL);
    auto device = parse_attributes(nest->value);
    // ethnl_parse_header_dev_get(): by the index if there is one, and then of the given name.
    const Attr* name = fabric::find(device, ETHTOOL_A_HEADER_DEV_NAME);
    const auto index = value_of<uint32_t>(device, ETHTOOL_A_HEADER_DEV_INDEX);
    SimNic* nic = nullptr;
    if (index) nic = sim_.find(static_cast<int>(*index));
    else if (name != nullptr) nic = sim_.find(name->text());
    if (nic == nullptr || (name != nullptr && nic->name != name->text())) return kernel_error(ENODEV);
    switch (header.cmd) {
      case ETHTOOL_MSG_PAUSE_GET: return get_pause(*nic);
      case ETHTOOL_MSG_PAUSE_SET: return set_pause(*nic, attributes);
      case ETHTOOL_MSG_LINKSTATE_GET: return link_state(*nic, attributes);
      case ETHTOOL_MSG_PRIVFLAGS_GET: return private_flags(*nic);
      case ETHTOOL_MSG_PRIVFLAGS_SET: return set_private_flags(*nic, attributes);
      case ETHTOOL_MSG_RINGS_GET:
      case ETHTOOL_MSG_RINGS_SET:
      case ETHTOOL_MSG_CHANNELS_GET:
      case ETHTOOL_MSG_CHANNELS_SET:
      case ETHTOOL_MSG_FEC_GET:
      case ETHTOOL_MSG_FEC_SET: return answer_ethtool_settings(*nic, kEthtoolFamily, header.cmd, attributes);
      default: return kernel_error(EOPNOTSUPP);
    }
  }

 private:
  [[nodiscard]] bool has_devlink() const {
    return std::ranges::any_of(sim_.nics(), [](const SimNic& nic) { return nic.devlink.has_value(); });
  }

  Replies devlink(View8 payload, const std::vector<Attr>& attributes) {
    const std::string pci = text_of(attributes, DEVLINK_ATTR_DEV_NAME);
    for (SimNic& nic : sim_.nics())
      if (nic.present && nic.devlink && nic.port().pci == pci)
        return answer_devlink(*nic.devlink, kDevlinkFamily, pci, payload);
    return kernel_error(ENODEV);
  }

  Replies family(const genlmsghdr& header, const std::vector<Attr>& attributes) {
    const Attr* name = fabric::find(attributes, CTRL_ATTR_FAMILY_NAME);
    if (header.cmd == CTRL_CMD_GETFAMILY && name != nullptr && name->text() == DEVLINK_GENL_NAME && has_devlink()) {
      auto out = generic_reply(CTRL_CMD_NEWFAMILY);
      out.text(CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME).u16(CTRL_ATTR_FAMILY_ID, kDevlinkFamily);
      return std::vector<Message>{{GENL_ID_CTRL, out.data()}};
    }
    if (header.cmd != CTRL_CMD_GETFAMILY || name == nullptr || name->text() != ETHTOOL_GENL_NAME)
      return kernel_error(ENOENT);
    AttrWriter group;
    group.u32(CTRL_ATTR_MCAST_GRP_ID, kMonitorGroup).text(CTRL_ATTR_MCAST_GRP_NAME, ETHTOOL_MCGRP_MONITOR_NAME);
    auto out = generic_reply(CTRL_CMD_NEWFAMILY);
    out.text(CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME)
        .u16(CTRL_ATTR_FAMILY_ID, kEthtoolFamily)
        .nest(CTRL_ATTR_MCAST_GROUPS, AttrWriter().nest(1, group));
    return std::vector<Message>{{GENL_ID_CTRL, out.data()}};
  }

  static Replies get_pause(SimNic& nic) {
    int verdict = 0;
    if (!begin(nic, "getpause", verdict) && verdict < 0) return kernel_error(-verdict);
    auto out = generic_reply(ETHTOOL_MSG_PAUSE_GET_REPLY);
    out.nest(ETHTOOL_A_PAUSE_HEADER, AttrWriter().u32(ETHTOOL_A_HEADER_DEV_INDEX, static_cast<uint32_t>(nic.ifindex)));
    // ice_get_pauseparam(), i40e_get_pauseparam(): off while PFC is on, whatever the PHY has.
    const bool intel = nic.personality == Personality::ice || nic.personality == Personality::i40e;
    const Pause shown = intel && nic.pfc.pfc_en != 0 ? Pause{} : nic.pause;
    out.u8(ETHTOOL_A_PAUSE_AUTONEG, nic.pause_autoneg)
        .u8(ETHTOOL_A_PAUSE_RX, shown.rx)
        .u8(ETHTOOL_A_PAUSE_TX, shown.tx);
    return std::vector<Message>{{kEthtoolFamily, out.data()}};
  }

  static Replies set_pause(SimNic& nic, const std::vector<Attr>& attributes) {
    Pause wanted = nic.pause;
    if (const Attr* rx = fabric::find(attributes, ETHTOOL_A_PAUSE_RX)) wanted.rx = rx->u8().value_or(0) != 0;
    if (const Attr* tx = fabric::find(attributes, ETHTOOL_A_PAUSE_TX)) wanted.tx = tx->u8().value_or(0) != 0;
    const Attr* autoneg = fabric::find(attributes, ETHTOOL_A_PAUSE_AUTONEG);
    const bool nvidia = nic.personality == Personality::mlx5 || nic.personality == Personality::mlx4;
    if (nvidia && autoneg != nullptr && autoneg->u8() == 1) return kernel_error(EINVAL);
    if (wanted == nic.pause) return done(0);  // ethnl_set_pause(): no call of the driver
    return done(call(nic, "setpause", [&] { return nic.set_pause(wanted); }));
  }

  // linkstate_prepare_data() and linkstate_fill_reply() of Linux 6.12, for a netdev that is up. Drivers give no reason
  // while there is a link (ENODATA). The number of losses is sent on request.
  static Replies link_state(const SimNic& nic, const std::vector<Attr>& attributes) {
    auto out = generic_reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY);
    out.nest(ETHTOOL_A_LINKSTATE_HEADER,
             AttrWriter().u32(ETHTOOL_A_HEADER_DEV_INDEX, static_cast<uint32_t>(nic.ifindex)));
    out.u8(ETHTOOL_A_LINKSTATE_LINK, nic.carrier);
    if (const auto& reason = nic.ethtool.down_reason; reason && !nic.carrier) {
      out.u8(ETHTOOL_A_LINKSTATE_EXT_STATE, reason->state);
      if (reason->substate != 0) out.u8(ETHTOOL_A_LINKSTATE_EXT_SUBSTATE, reason->substate);
    }
    const auto flags = value_of<uint32_t>(parse_nested(attributes, ETHTOOL_A_LINKSTATE_HEADER), ETHTOOL_A_HEADER_FLAGS);
    if ((flags.value_or(0) & ETHTOOL_FLAG_STATS) != 0) out.u32(uapi::kLinkStateExtDownCount, nic.carrier_downs);
    return std::vector<Message>{{kEthtoolFamily, out.data()}};
  }

  static Replies private_flags(const SimNic& nic) {
    const auto flags = nic.private_flags();
    if (flags.empty()) return kernel_error(EOPNOTSUPP);
    AttrWriter bits;
    uint32_t index = 0;
    for (const auto& [name, on] : flags) {
      AttrWriter bit;
      bit.u32(ETHTOOL_A_BITSET_BIT_INDEX, index++).text(ETHTOOL_A_BITSET_BIT_NAME, name);
      if (on) bit.flag(ETHTOOL_A_BITSET_BIT_VALUE);
      bits.nest(ETHTOOL_A_BITSET_BITS_BIT, bit);
    }
    AttrWriter bitset;
    bitset.u32(ETHTOOL_A_BITSET_SIZE, index).nest(ETHTOOL_A_BITSET_BITS, bits);
    auto out = generic_reply(ETHTOOL_MSG_PRIVFLAGS_GET_REPLY);
    out.nest(ETHTOOL_A_PRIVFLAGS_FLAGS, bitset);
    return std::vector<Message>{{kEthtoolFamily, out.data()}};
  }

  // ethnl_set_privflags(): a verbose bitset by name; the driver is asked only where something changes.
  static Replies set_private_flags(SimNic& nic, const std::vector<Attr>& attributes) {
    auto flags = nic.private_flags();
    const Attr* bitset = fabric::find(attributes, ETHTOOL_A_PRIVFLAGS_FLAGS);
    if (bitset == nullptr) return kernel_error(EINVAL);
    if (flags.empty()) return kernel_error(EOPNOTSUPP);
    const auto members = parse_attributes(bitset->value);
    const Attr* bits = fabric::find(members, ETHTOOL_A_BITSET_BITS);
    if (bits == nullptr) return kernel_error(EINVAL);
    for (const Attr& each : parse_attributes(bits->value)) {
      const auto bit = parse_attributes(each.value);
      const Attr* name = fabric::find(bit, ETHTOOL_A_BITSET_BIT_NAME);
      if (name == nullptr) return kernel_error(EINVAL);
      const bool on = fabric::find(bit, ETHTOOL_A_BITSET_BIT_VALUE) != nullptr;
      auto flag = flags.find(name->text());
      if (flag == flags.end()) return kernel_error(EOPNOTSUPP, "bit name not found");
      if (flag->second == on) continue;
      const int verdict = call(nic, "setprivflag", [&] { return nic.set_private_flag(flag->first, on); });
      if (verdict < 0) return kernel_error(-verdict);
    }
    return done(0);
  }

  SimKernel& sim_;
};

}  // namespace

std::map<std::string, bool> SimNic::private_flags() const {
  auto out = ethtool.private_flags;
  const std::string_view driver = kernel_driver();
  if (driver == "ice") out["fw-lldp-agent"] = firmware_agent;
  if (driver == "i40e") out["disable-fw-lldp"] = !firmware_agent;
  return out;
}

int SimNic::set_private_flag(const std::string& flag, bool on) {
  log.push_back("setprivflag " + flag + (on ? " on" : " off"));
  if (flag == "fw-lldp-agent") return set_agent(on);
  if (flag == "disable-fw-lldp") return set_agent(!on);
  ethtool.private_flags[flag] = on;
  return 0;
}

AttrWriter generic_reply(uint8_t command) {
  genlmsghdr header{};
  header.cmd = command;
  header.version = 1;
  AttrWriter out;
  out.header(header);
  return out;
}

std::unique_ptr<Netlink> open_sim_generic(SimKernel& sim) { return std::make_unique<Generic>(sim); }

}  // namespace fabric::test
