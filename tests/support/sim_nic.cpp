// SPDX-License-Identifier: Apache-2.0
// The behavior of the drivers, each rule from Linux 6.12: mlx5/core/en_dcbnl.c, bnxt/bnxt_dcb.c.
#include "support/sim_nic.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "vm/module/driver_rules.h"

namespace fabric::test {
namespace {

constexpr uint32_t kBufferTotal = 524'032;  // bytes, of a 400G card
constexpr uint16_t kDefaultCable = 7;       // meters, MLX5E_DEFAULT_CABLE_LEN

std::string eight(const uint8_t* values) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += (i ? "," : "") + std::to_string(values[i]);
  return out;
}

std::string hex(uint8_t value) {
  char text[8];
  std::snprintf(text, sizeof text, "0x%02x", value);
  return text;
}

std::string app_text(const dcb_app& entry) {
  return "sel=" + std::to_string(entry.selector) + " proto=" + std::to_string(entry.protocol) +
         " prio=" + std::to_string(entry.priority);
}

bool is_dscp(const dcb_app& entry) { return entry.selector == IEEE_8021QAZ_APP_SEL_DSCP; }

bool same(const dcb_app& a, const dcb_app& b) {
  return a.selector == b.selector && a.protocol == b.protocol && a.priority == b.priority;
}

struct PersonalityRow {
  const char *name, *kernel_driver;
};
// In the order of Personality.
constexpr PersonalityRow kPersonalities[]{{"mlx5", "mlx5_core"}, {"bnxt", "bnxt_en"},  {"ice", "ice"},
                                          {"nodcb", "ionic"},    {"full", "fabsim"},   {"i40e", "i40e"},
                                          {"qede", "qede"},      {"mlx4", "mlx4_core"}};

}  // namespace

std::string name_of(Personality personality) { return kPersonalities[static_cast<size_t>(personality)].name; }

SimNic::SimNic(std::string nic_name, int index, Personality kind)
    : name(std::move(nic_name)), ifindex(index), personality(kind) {
  firmware_defaults();
}

const char* SimNic::kernel_driver() const { return kPersonalities[static_cast<size_t>(personality)].kernel_driver; }

Port SimNic::port() const {
  Port out;
  out.rdma = "sim" + std::to_string(ifindex);
  out.netdev = name;
  out.ifindex = ifindex;
  out.pci = "0000:0" + std::to_string(ifindex % 10) + ":00.0";
  out.card = card;
  out.kernel_driver = kernel_driver();
  out.link_layer = LinkLayer::ethernet;
  return out;
}

void SimNic::firmware_defaults() {
  ets = {};
  ets.ets_cap = 8;
  pfc = {};
  pfc.pfc_cap = 8;
  app.clear();
  dscp_mode = ets_known = pfc_known = shows_agents_dcb = false;
  pause = {true, true};
  pause_autoneg = personality != Personality::mlx5 && personality != Personality::full;
  trust = {dcbnl::kSelectorPcp};
  for (uint8_t i = 0; i < 8; ++i) ets.prio_tc[i] = i;
  buffer = {};
  buffer.total_size = kBufferTotal;
  buffer.buffer_size[0] = kBufferTotal / 2;
  lossy.fill(true);
  room.fill(0);
  last_xoff = 0;
  manual_buffers = false;
  maxrate = {};
  if (personality == Personality::mlx5) {
    ethtool.pfc_prevention = 8000;                        // kernel commit 2afa609f5c97
    dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE;  // firmware until a host asks
    pfc.delay = kDefaultCable;
    std::fill_n(ets.tc_tsa, 8, uint8_t{IEEE_8021QAZ_TSA_VENDOR});
    std::swap(ets.prio_tc[0], ets.prio_tc[1]);
  }
  if (personality == Personality::bnxt) {
    ets = {}, ets.ets_cap = traffic_classes, pfc.pfc_cap = RULE_BNXT_LOSSLESS, firmware_dscp.clear();
    rule_bnxt_first_queues(tc_to_qidx.data());
  }
  if (personality == Personality::mlx4) mlx4_defaults();
  if (personality == Personality::qede) dcbx = DCB_CAP_DCBX_LLD_MANAGED | DCB_CAP_DCBX_VER_IEEE;
  if (personality == Personality::ice) ice_load();
}

void SimNic::reload() {
  const SimNic before = *this;
  firmware_defaults();
  mtu = 1500;
  carrier = true;
  if (personality != Personality::mlx5) return;
  // Firmware keeps these over a driver's reload.
  pfc.pfc_en = before.pfc.pfc_en;
  app = before.app;
  pause = before.pause;
  dcbx = before.dcbx;
  buffer = before.buffer;
  lossy = before.lossy;
  room = before.room;
  maxrate = before.maxrate;
}

void SimNic::flap() {
  if (carrier) ++carrier_downs;
  carrier = false;
}

void SimNic::reopen() { ++carrier_downs; }

bool SimNic::host_controlled() const {
  constexpr uint8_t kHost = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
  return !firmware_agent && (dcbx & kHost) == kHost && (dcbx & DCB_CAP_DCBX_LLD_MANAGED) == 0;
}

bool SimNic::listed(const dcb_app& entry) const {
  return std::ranges::any_of(app, [&](const dcb_app& other) { return same(entry, other); });
}

bool SimNic::listed_dscp(uint16_t dscp) const {
  return std::ranges::any_of(app, [&](const dcb_app& other) { return is_dscp(other) && other.protocol == dscp; });
}

void SimNic::unlist(const dcb_app& entry) {
  std::erase_if(app, [&](const dcb_app& other) { return same(entry, other); });
}

int SimNic::set_ets(const ieee_ets& wanted) {
  log.push_back("setets prio_tc=" + eight(wanted.prio_tc) + " tsa=" + eight(wanted.tc_tsa) +
                " bw=" + eight(wanted.tc_tx_bw));
  if (personality == Personality::ice) return ice_set_ets(wanted);
  if (personality == Personality::qede) return offered_ets = wanted, 0;
  if ((personality == Personality::bnxt || personality == Personality::i40e) && !host_controlled()) return -EINVAL;
  if (personality == Personality::bnxt) {
    if (int err = rule_bnxt_ets(&wanted, traffic_classes); err != 0) return err;
  } else if (personality == Personality::i40e) {
    if (int err = rule_i40e_ets(&wanted); err != 0) return err;
    shows_agents_dcb = false;
  } else if (int err = rule_mlx5_ets(&wanted); err != 0) {
    return err;
  }
  std::copy_n(wanted.prio_tc, 8, ets.prio_tc);
  std::copy_n(wanted.tc_tsa, 8, ets.tc_tsa);
  std::copy_n(wanted.tc_tx_bw, 8, ets.tc_tx_bw);
  std::copy_n(wanted.tc_rx_bw, 8, ets.tc_rx_bw);
  ets_known = true;
  if (personality == Personality::bnxt) reopen();
  return 0;
}

int SimNic::set_pfc(const ieee_pfc& wanted) {
  log.push_back("setpfc pfc_en=" + hex(wanted.pfc_en) + " delay=" + std::to_string(wanted.delay));
  if (personality == Personality::qede) return offered_pfc = wanted, 0;
  if (personality == Personality::ice) return ice_set_pfc(wanted);
  if (personality == Personality::bnxt) return bnxt_set_pfc(wanted);
  if (personality == Personality::i40e && !host_controlled()) return -EINVAL;
  shows_agents_dcb = false;  // i40e_hw_dcb_config() writes all registers
  if (personality == Personality::mlx5) return mlx5_set_pfc(wanted);
  if (personality == Personality::mlx4) return mlx4_set_pfc(wanted.pfc_en);
  const bool changed = pfc.pfc_en != wanted.pfc_en;
  pfc.pfc_en = wanted.pfc_en;
  if (changed && personality != Personality::full) reopen();
  if (personality == Personality::full) pfc.delay = wanted.delay;
  return 0;
}

// dcb_ieee_setapp() of the kernel's own list: an exact duplicate is EEXIST, another priority is another entry.
int SimNic::set_app(const dcb_app& entry) {
  log.push_back("setapp " + app_text(entry));
  if (is_dscp(entry) && entry.protocol >= 64) return -EINVAL;
  if (personality == Personality::mlx5) return mlx5_set_app(entry);
  if (personality == Personality::ice) return ice_set_app(entry);
  if (personality == Personality::bnxt) return bnxt_set_app(entry);
  if (listed(entry)) return -EEXIST;
  app.push_back(entry);
  return 0;
}

// mlx5e_set_trust_state(): the first entry and the last deletion.
int SimNic::mlx5_set_app(const dcb_app& entry) {
  if (!is_dscp(entry)) return -EINVAL;
  if (app.empty() && reopens_for_trust) reopen();
  std::erase_if(app, [&](const dcb_app& other) { return other.protocol == entry.protocol; });
  app.push_back(entry);
  return 0;
}

int SimNic::del_app(const dcb_app& entry) {
  log.push_back("delapp " + app_text(entry));
  if (personality == Personality::mlx5 && !is_dscp(entry)) return -EINVAL;
  if (personality == Personality::bnxt) return bnxt_del_app(entry);
  if (personality == Personality::ice) return ice_del_app(entry);
  if (!listed(entry)) return -ENOENT;
  unlist(entry);
  if (app.empty() && reopens_for_trust) reopen();
  return 0;
}

int SimNic::set_trust(const std::vector<uint8_t>& selectors) {
  std::string text = "settrust order=";
  for (uint8_t selector : selectors) text += std::to_string(selector) + " ";
  log.push_back(text);
  if (personality != Personality::full) return -EOPNOTSUPP;
  for (uint8_t selector : selectors)
    if (selector != IEEE_8021QAZ_APP_SEL_DSCP && selector != dcbnl::kSelectorPcp) return -EOPNOTSUPP;
  trust = selectors;
  return 0;
}

int SimNic::set_dcbx(uint8_t mode) {
  log.push_back("setdcbx mode=" + hex(mode));
  if ((mode & DCB_CAP_DCBX_LLD_MANAGED) != 0 || firmware_agent) return 1;
  if (personality == Personality::mlx5) {
    if (mode != 0 && (mode & DCB_CAP_DCBX_HOST) == 0) return 1;
    dcbx = mode != 0 ? mode : static_cast<uint8_t>(dcbx & ~DCB_CAP_DCBX_HOST);
    return 0;
  }
  if (personality == Personality::mlx4) return mlx4_set_dcbx(mode);
  switch (personality) {
    case Personality::bnxt:
      if (rule_bnxt_refuses_dcbx(mode) != 0) return 1;
      break;
    case Personality::ice:
      if (rule_intel_refuses_dcbx(mode) != 0 || mode == dcbx || dscp_mode) return 1;
      break;
    default:
      if (rule_plain_refuses_dcbx(mode) != 0) return 1;
  }
  dcbx = mode;
  return 0;
}

int SimNic::set_pause(const Pause& wanted) {
  log.push_back("setpause " + to_text(wanted));
  if ((personality == Personality::ice || personality == Personality::i40e) && pfc.pfc_en != 0) return -EOPNOTSUPP;
  if (personality == Personality::mlx4) return mlx4_set_pause(wanted);
  pause = wanted;
  // bnxt_hwrm_set_pause(), ice_set_fc(), i40e_set_fc(), qed_set_link(): the link is negotiated again.
  if (pause_autoneg) reopen();
  return 0;
}

int SimNic::set_mtu(uint32_t wanted) {
  log.push_back("setmtu " + std::to_string(wanted));
  const uint32_t before = std::exchange(mtu, wanted);
  const int err = mtu_sets_thresholds ? mlx5_config_buffers(0, nullptr) : 0;
  if (err != 0) mtu = before;
  return err;
}

}  // namespace fabric::test
