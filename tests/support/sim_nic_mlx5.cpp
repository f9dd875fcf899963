// SPDX-License-Identifier: Apache-2.0
// Receive buffers and rate limits of mlx5: Linux 6.12, mlx5/core/en_dcbnl.c and mlx5/core/en/port_buffer.c; and of
// "full", which keeps them plainly.
#include <algorithm>

#include "support/sim_nic.h"

namespace fabric::test {
namespace {

constexpr uint32_t k100Mbps = 100'000, k1Gbps = 1'000'000;  // kbit/s, MLX5E_100MB and MLX5E_1GB

template <class Values>
std::string list(const Values& values) {
  std::string out;
  for (auto value : values) out += (out.empty() ? "" : ",") + std::to_string(value);
  return out;
}

}  // namespace

// mlx5e_port_manual_buffer_config(): update_buffer_lossy(), update_xoff_threshold(). Without a carrier 40 Gb/s count.
int SimNic::mlx5_check_buffers(const dcbnl_buffer& wanted) const {
  const uint32_t mbps = carrier ? std::max(speed, 40'000u) : 40'000u;
  const uint32_t xoff = (301 + 216u * pfc.delay / 100) * mbps / 1000 + 272 * mtu / 100;
  const uint32_t frame = std::max(max_mtu, 9216u);
  const uint8_t lossless = pause.rx || pause.tx ? uint8_t{0xff} : pfc.pfc_en;  // fill_pfc_en()
  uint64_t sum = 0;
  for (uint32_t size : wanted.buffer_size) sum += size;
  if (sum > buffer.total_size) return -EINVAL;
  for (int prio = 0; prio < 8; ++prio) {
    if ((lossless >> prio & 1) == 0) continue;
    const uint32_t size = wanted.buffer_size[wanted.prio2buffer[prio]];
    if (size == 0) return -EINVAL;
    if (size < xoff + frame + cell) return -ENOMEM;
  }
  return 0;
}

// mlx5e_dcbnl_setbuffer(): what is the same already is success, and does not make the host the owner.
int SimNic::set_buffer(const dcbnl_buffer& wanted) {
  log.push_back("setbuffer prio2buffer=" + list(wanted.prio2buffer) + " size=" + list(wanted.buffer_size));
  dcbnl_buffer next = wanted;
  next.total_size = buffer.total_size;
  if (personality == Personality::mlx5) {
    const bool same = std::ranges::equal(wanted.prio2buffer, buffer.prio2buffer) &&
                      std::ranges::equal(wanted.buffer_size, buffer.buffer_size);
    if (same) return 0;
    if (int err = mlx5_check_buffers(wanted); err != 0) return err;
    for (uint32_t& size : next.buffer_size) size = size / cell * cell;
    manual_buffers = true;
  }
  buffer = next;
  return 0;
}

// mlx5e_dcbnl_ieee_setpfc(): the bits first, then the buffers, and the cable's old length where they do not fit.
int SimNic::mlx5_set_pfc(const ieee_pfc& wanted) {
  if (pfc.pfc_en != wanted.pfc_en) flap();
  pfc.pfc_en = wanted.pfc_en;
  const uint16_t old_cable = pfc.delay;
  if (wanted.delay > 0 && wanted.delay < 1000) pfc.delay = wanted.delay;
  const int err = manual_buffers ? mlx5_check_buffers(buffer) : 0;
  if (err != 0) pfc.delay = old_cable;
  return err;
}

// mlx5e_dcbnl_ieee_setmaxrate(): units of 100 Mbit/s up to 25.5 Gbit/s, then of 1 Gbit/s, in a byte.
int SimNic::set_maxrate(const ieee_maxrate& wanted) {
  log.push_back("setmaxrate " + list(wanted.tc_maxrate));
  if (personality == Personality::mlx5 && !truncates_rates)
    for (uint64_t kbit : wanted.tc_maxrate)
      if (kbit > 255ull * k1Gbps) return -EINVAL;
  for (int tc = 0; tc < 8; ++tc) {
    const uint64_t kbit = wanted.tc_maxrate[tc];
    const uint32_t unit = kbit <= 255 * k100Mbps ? k100Mbps : k1Gbps;
    const auto units = static_cast<uint8_t>(kbit / unit);
    const uint64_t kept = kbit == 0 ? 0 : uint64_t{std::max<uint8_t>(units, unit == k100Mbps)} * unit;
    maxrate.tc_maxrate[tc] = personality == Personality::mlx5 ? kept : kbit;
  }
  return 0;
}

}  // namespace fabric::test
