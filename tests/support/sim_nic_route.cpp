// SPDX-License-Identifier: Apache-2.0
// The kernel's side of links and dcbnl: takes the bytes that were sent apart and answers with bytes.
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "support/sim_nic_sockets.h"

namespace fabric::test {
namespace {

template <class Struct>
bool readable(SimNic& nic, const std::string& op, AttrWriter& out, uint16_t type, const Struct& value) {
  int verdict = 0;
  const bool ok = begin(nic, op, verdict) || verdict == 0;
  if (ok) out.pod(type, value);
  return ok;
}

class Route final : public Netlink {
 public:
  explicit Route(SimKernel& sim) : sim_(sim) {}

  Replies talk(uint16_t type, uint16_t flags, View8 payload) override {
    switch (type) {
      case RTM_GETLINK: return get_link((flags & NLM_F_DUMP) == NLM_F_DUMP, payload);
      case RTM_SETLINK: return set_link(payload);
      case RTM_GETROUTE: return get_routes();
      case RTM_GETADDR:
      case RTM_GETRULE: return std::vector<Message>{};  // none
      case RTM_GETDCB:
      case RTM_SETDCB:
        return (flags & NLM_F_DUMP) == NLM_F_DUMP ? Replies(kernel_error(EOPNOTSUPP)) : dcb(type, payload);
      default: return kernel_error(EOPNOTSUPP);
    }
  }

 private:
  static Message link_message(const SimNic& nic) {
    ifinfomsg header{};
    header.ifi_index = nic.ifindex;
    AttrWriter out;
    out.header(header)
        .text(IFLA_IFNAME, nic.name)
        .u32(IFLA_MTU, nic.mtu)
        .u32(IFLA_MIN_MTU, nic.min_mtu)
        .u32(IFLA_MAX_MTU, nic.max_mtu);
    out.u8(IFLA_CARRIER, nic.carrier).u32(IFLA_CARRIER_DOWN_COUNT, nic.carrier_downs);
    return {RTM_NEWLINK, out.data()};
  }

  SimNic* addressed(View8 payload) {
    if (payload.size() < sizeof(ifinfomsg)) return nullptr;
    ifinfomsg header;
    std::memcpy(&header, payload.data(), sizeof header);
    auto attributes = parse_attributes(payload, sizeof header);
    if (const Attr* name = fabric::find(attributes, IFLA_IFNAME)) return sim_.find(name->text());
    return sim_.find(header.ifi_index);
  }

  Replies get_link(bool dump, View8 payload) {
    std::vector<Message> out;
    if (dump) {
      for (const SimNic& nic : sim_.nics())
        if (nic.present) out.push_back(link_message(nic));
      return out;
    }
    SimNic* nic = addressed(payload);
    if (nic == nullptr) return kernel_error(ENODEV);
    out.push_back(link_message(*nic));
    return out;
  }

  Replies get_routes() {
    std::vector<Message> out;
    for (const SimNic& nic : sim_.nics()) {
      if (!nic.present || !nic.has_default_route) continue;
      rtmsg header{};
      header.rtm_family = AF_INET;
      header.rtm_table = RT_TABLE_MAIN;
      header.rtm_type = RTN_UNICAST;
      out.push_back(
          {RTM_NEWROUTE, AttrWriter().header(header).u32(RTA_OIF, static_cast<uint32_t>(nic.ifindex)).data()});
    }
    return out;
  }

  Replies set_link(View8 payload) {
    SimNic* nic = addressed(payload);
    if (nic == nullptr) return kernel_error(ENODEV);
    auto attributes = parse_attributes(payload, sizeof(ifinfomsg));
    const Attr* attr = fabric::find(attributes, IFLA_MTU);
    if (attr == nullptr || !attr->u32()) return kernel_error(EINVAL);
    const uint32_t mtu = *attr->u32();
    if (mtu < nic->min_mtu) return kernel_error(EINVAL, "mtu less than device minimum");
    if (mtu > nic->max_mtu) return kernel_error(EINVAL, "mtu greater than device maximum");
    if (mtu == nic->mtu) return done(0);
    return done(call(*nic, "setmtu", [&] { return nic->set_mtu(mtu); }));
  }

  // dcb_doit(), net/dcb/dcbnl.c
  Replies dcb(uint16_t type, View8 payload) {
    if (payload.size() < sizeof(dcbmsg)) return kernel_error(EINVAL);
    dcbmsg header;
    std::memcpy(&header, payload.data(), sizeof header);
    auto top = parse_attributes(payload, sizeof header);
    const Attr* name = fabric::find(top, DCB_ATTR_IFNAME);
    if (name == nullptr) return kernel_error(EINVAL);
    SimNic* nic = sim_.find(name->text());
    if (nic == nullptr) return kernel_error(ENODEV);
    if (nic->personality == Personality::nodcb) return kernel_error(EOPNOTSUPP);
    const bool changes = header.cmd == DCB_CMD_IEEE_SET || header.cmd == DCB_CMD_IEEE_DEL ||
                         header.cmd == DCB_CMD_SDCBX || header.cmd == DCB_CMD_SET_ALL;
    if (changes && type == RTM_GETDCB) return kernel_error(EPERM);
    switch (header.cmd) {
      case DCB_CMD_IEEE_GET: return ieee_get(*nic, header);
      case DCB_CMD_PFC_GCFG: return cee_pfc(*nic, header);
      case DCB_CMD_IEEE_SET: return ieee_change(*nic, header, top, false);
      case DCB_CMD_IEEE_DEL: return ieee_change(*nic, header, top, true);
      case DCB_CMD_SDCBX: return set_dcbx(*nic, header, top);
      case DCB_CMD_SET_ALL: return set_all(*nic, header, top);
      default: return kernel_error(EOPNOTSUPP);
    }
  }

  // dcbnl_getpfccfg() for drivers that have it. mlx4 returns what was set over CEE, which is nothing here.
  static Replies cee_pfc(const SimNic& nic, const dcbmsg& header) {
    const bool is_mlx4 = nic.personality == Personality::mlx4;
    if (nic.personality != Personality::mlx5 && nic.personality != Personality::ice && !is_mlx4)
      return kernel_error(EOPNOTSUPP);
    AttrWriter priorities, out;
    for (uint16_t prio = 0; prio < 8; ++prio)
      priorities.u8(static_cast<uint16_t>(DCB_PFC_UP_ATTR_0 + prio), is_mlx4 ? 0 : nic.pfc.pfc_en >> prio & 1);
    out.header(header).bytes(DCB_ATTR_PFC_CFG, priorities.data());
    return std::vector<Message>{{RTM_GETDCB, out.data()}};
  }

  static Replies ieee_get(SimNic& nic, const dcbmsg& header) {
    AttrWriter ieee;
    readable(nic, "getets", ieee, DCB_ATTR_IEEE_ETS, shown_ets(nic));
    readable(nic, "getpfc", ieee, DCB_ATTR_IEEE_PFC, shown_pfc(nic));
    if (nic.has_rates()) readable(nic, "getmaxrate", ieee, DCB_ATTR_IEEE_MAXRATE, nic.maxrate);
    if (nic.has_buffers()) readable(nic, "getbuffer", ieee, DCB_ATTR_DCB_BUFFER, nic.buffer);
    AttrWriter table;
    for (const dcb_app& entry : nic.app) table.pod(DCB_ATTR_IEEE_APP, entry);
    ieee.bytes(DCB_ATTR_IEEE_APP_TABLE, table.data());
    if (nic.personality == Personality::full) {
      AttrWriter trust;
      for (uint8_t selector : nic.trust)
        trust.u8(selector <= IEEE_8021QAZ_APP_SEL_DSCP ? uint16_t{DCB_ATTR_IEEE_APP} : dcbnl::kAttrDcbApp, selector);
      ieee.nest(dcbnl::kAttrAppTrustTable, trust);
    }
    AttrWriter out;
    out.header(header)
        .text(DCB_ATTR_IFNAME, nic.name)
        .bytes(DCB_ATTR_IEEE, ieee.data())
        .u8(DCB_ATTR_DCBX, shown_dcbx(nic));
    return std::vector<Message>{{RTM_GETDCB, out.data()}};
  }

  // In host mode bnxt shows zeros until an ETS or a PFC is set (bnxt_dcbnl_ieee_getets(), getpfc()).
  static bool shows_zeros(const SimNic& nic, bool known) {
    return nic.personality == Personality::bnxt && !known && (shown_dcbx(nic) & DCB_CAP_DCBX_HOST) != 0;
  }

  static ieee_ets shown_ets(const SimNic& nic) {
    if (nic.personality == Personality::mlx5) return nic.mlx5_shown_ets();
    ieee_ets out = nic.ets;
    if (shows_zeros(nic, nic.ets_known)) out = {}, out.ets_cap = nic.traffic_classes;
    return out;
  }

  static ieee_pfc shown_pfc(const SimNic& nic) {
    ieee_pfc out = nic.pfc;
    if (shows_zeros(nic, nic.pfc_known)) out = {}, out.pfc_cap = nic.pfc.pfc_cap;
    return out;
  }

  static uint8_t shown_dcbx(const SimNic& nic) {
    if (!nic.firmware_agent) return nic.dcbx;
    return nic.agent_runs_dcbx ? DCB_CAP_DCBX_VER_IEEE | DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_VER_IEEE;
  }

  // dcbnl_ieee_set(), dcbnl_ieee_del(): in the kernel's order, up to the first answer that is not 0; the ACK says
  // success.
  static Replies ieee_change(SimNic& nic, const dcbmsg& header, const std::vector<Attr>& top, bool remove) {
    const Attr* nest = fabric::find(top, DCB_ATTR_IEEE);
    if (nest == nullptr) return kernel_error(EINVAL);
    auto ieee = parse_attributes(nest->value);
    int verdict = 0;
    auto each = [&](uint16_t type, auto&& act) {
      const Attr* attr = fabric::find(ieee, type);
      if (verdict == 0 && attr != nullptr) verdict = act(*attr);
    };
    const auto set = [&]<class Struct>(uint16_t type, const char* op, int (SimNic::*act)(const Struct&)) {
      if (!remove)
        each(type, [&](const Attr& attr) {
          const auto value = attr.pod<Struct>();
          return value ? call(nic, op, [&] { return (nic.*act)(*value); }) : -ERANGE;
        });
    };
    nic.message_goes_on = fabric::find(ieee, DCB_ATTR_IEEE_PFC) != nullptr;
    set(DCB_ATTR_IEEE_ETS, "setets", &SimNic::set_ets);
    nic.message_goes_on = false;
    if (nic.has_rates()) set(DCB_ATTR_IEEE_MAXRATE, "setmaxrate", &SimNic::set_maxrate);
    set(DCB_ATTR_IEEE_PFC, "setpfc", &SimNic::set_pfc);
    if (nic.has_buffers()) set(DCB_ATTR_DCB_BUFFER, "setbuffer", &SimNic::set_buffer);
    each(DCB_ATTR_IEEE_APP_TABLE, [&](const Attr& a) { return change_table(nic, a, remove); });
    if (!remove) each(dcbnl::kAttrAppTrustTable, [&](const Attr& a) { return change_trust(nic, a); });
    AttrWriter out;
    out.header(header).u8(DCB_ATTR_IEEE, static_cast<uint8_t>(verdict));
    return std::vector<Message>{{RTM_SETDCB, out.data()}};
  }

  static int change_table(SimNic& nic, const Attr& table, bool remove) {
    for (const Attr& attr : parse_attributes(table.value)) {
      auto entry = attr.pod<dcb_app>();
      if (!entry) return -ERANGE;
      int verdict = remove ? call(nic, "delapp", [&] { return nic.del_app(*entry); })
                           : call(nic, "setapp", [&] { return nic.set_app(*entry); });
      if (verdict != 0) return verdict;
    }
    return 0;
  }

  static int change_trust(SimNic& nic, const Attr& table) {
    std::vector<uint8_t> selectors;
    for (const Attr& attr : parse_attributes(table.value)) selectors.push_back(attr.u8().value_or(0));
    return call(nic, "settrust", [&] { return nic.set_trust(selectors); });
  }

  static Replies set_dcbx(SimNic& nic, const dcbmsg& header, const std::vector<Attr>& top) {
    const Attr* mode = fabric::find(top, DCB_ATTR_DCBX);
    if (mode == nullptr || !mode->u8()) return kernel_error(EINVAL);
    int answer = call(nic, "setdcbx", [&] { return nic.set_dcbx(*mode->u8()); });
    AttrWriter out;
    out.header(header).u8(DCB_ATTR_DCBX, answer != 0);  // 1 for any refusal: no errno here
    return std::vector<Message>{{RTM_SETDCB, out.data()}};
  }

  // dcbnl_setall()
  static Replies set_all(SimNic& nic, const dcbmsg& header, const std::vector<Attr>& top) {
    if (fabric::find(top, DCB_ATTR_SET_ALL) == nullptr) return kernel_error(EINVAL);
    if (nic.personality != Personality::qede) return kernel_error(EOPNOTSUPP);
    const int verdict = call(nic, "setall", [&] { return nic.set_all(); });
    AttrWriter out;
    out.header(header).u8(DCB_ATTR_SET_ALL, static_cast<uint8_t>(verdict));
    return std::vector<Message>{{RTM_SETDCB, out.data()}};
  }

  SimKernel& sim_;
};

}  // namespace

std::unique_ptr<Netlink> open_sim_route(SimKernel& sim) { return std::make_unique<Route>(sim); }

}  // namespace fabric::test
