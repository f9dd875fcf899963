// SPDX-License-Identifier: Apache-2.0
// Receive buffers and rate limits of mlx5: mlx5/core/en_dcbnl.c, with the rules of driver_rules.h; and of "full", which
// keeps them plainly.
#include <algorithm>

#include "support/sim_nic.h"
#include "vm/module/driver_rules.h"

namespace fabric::test {
namespace {

template <class Values>
std::string list(const Values& values) {
  std::string out;
  for (auto value : values) out += (out.empty() ? "" : ",") + std::to_string(value);
  return out;
}

}  // namespace

// mlx5e_port_manual_buffer_config()
int SimNic::mlx5_config_buffers(unsigned change, const dcbnl_buffer* wanted) {
  rule_mlx5_buffers next{};
  next.total = buffer.total_size;
  next.cell = cell;
  next.max_mtu = max_mtu;
  next.xoff = xoff();
  next.last_xoff = last_xoff;
  std::ranges::copy(room, next.room);
  std::ranges::copy(buffer.buffer_size, next.size);
  std::ranges::copy(buffer.prio2buffer, next.prio2buffer);
  std::ranges::transform(lossy, next.lossless, std::logical_not());
  const int err = rule_mlx5_config_buffers(&next, change, pfc.pfc_en, pause.rx || pause.tx,
                                           wanted != nullptr ? wanted->prio2buffer : nullptr,
                                           wanted != nullptr ? wanted->buffer_size : nullptr);
  if (err != 0) return err;
  std::ranges::copy(next.size, buffer.buffer_size);
  std::ranges::copy(next.prio2buffer, buffer.prio2buffer);
  std::ranges::transform(next.lossless, lossy.begin(), std::logical_not());
  std::ranges::copy(next.room, room.begin());
  last_xoff = next.last_xoff;
  return 0;
}

uint32_t SimNic::xoff() const { return rule_mlx5_xoff(pfc.delay, carrier ? speed : 0, mtu); }

ieee_ets SimNic::mlx5_shown_ets() const {
  ieee_ets out;
  rule_mlx5_shown_ets(&ets, &out);
  return out;
}

// mlx5e_dcbnl_setbuffer(): an unchanged value is success, and does not make the host the owner.
int SimNic::set_buffer(const dcbnl_buffer& wanted) {
  log.push_back("setbuffer prio2buffer=" + list(wanted.prio2buffer) + " size=" + list(wanted.buffer_size));
  if (personality != Personality::mlx5) {
    const uint32_t total = buffer.total_size;
    buffer = wanted;
    buffer.total_size = total;
    return 0;
  }
  const unsigned change = rule_mlx5_buffer_change(&buffer, &wanted);
  if (change == 0) return 0;
  manual_buffers = true;
  return mlx5_config_buffers(change, &wanted);
}

// mlx5e_dcbnl_ieee_setpfc(): the bits and the toggle first, then the buffers; only the cable's length is taken back.
// The bits end global pause (mlx5_set_port_pfc()).
int SimNic::mlx5_set_pfc(const ieee_pfc& wanted) {
  unsigned change = 0;
  if (pfc.pfc_en != wanted.pfc_en) flap(), pause = {}, change |= RULE_MLX5_PFC;
  pfc.pfc_en = wanted.pfc_en;
  const uint16_t old_cable = pfc.delay;
  if (wanted.delay > 0 && wanted.delay < 1000 && wanted.delay != pfc.delay)
    change |= RULE_MLX5_CABLE, pfc.delay = wanted.delay;
  const int err = manual_buffers && shows_ownership ? mlx5_config_buffers(change, nullptr) : 0;
  if (err != 0) pfc.delay = old_cable;
  return err;
}

// mlx5e_dcbnl_ieee_setmaxrate()
int SimNic::set_maxrate(const ieee_maxrate& wanted) {
  log.push_back("setmaxrate " + list(wanted.tc_maxrate));
  if (personality == Personality::mlx5 && !truncates_rates)
    for (uint64_t kbit : wanted.tc_maxrate)
      if (kbit > RULE_MLX5_MAX_RATE) return -EINVAL;
  for (int tc = 0; tc < 8; ++tc) {
    uint64_t kbit = wanted.tc_maxrate[tc];
    if (personality == Personality::mlx4) kbit = mlx4_rate(kbit);
    maxrate.tc_maxrate[tc] = personality == Personality::mlx5 ? rule_mlx5_rate(kbit, truncates_rates) : kbit;
  }
  return 0;
}

}  // namespace fabric::test
