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

// MLX5E_PORT_BUFFER_*
constexpr unsigned kCable = 1, kPfc = 2, kMap = 4, kSizes = 8;

}  // namespace

// The driver's working copy of struct mlx5e_port_buffer, and the input of its checks.
struct SimNic::Mlx5Buffers {
  dcbnl_buffer buffer;
  std::array<bool, 8> lossy;
  uint32_t least;  // bytes, of a lossless buffer

  // update_xoff_threshold()
  [[nodiscard]] int check() const {
    for (size_t i = 0; i < 8; ++i)
      if (!lossy[i] && buffer.buffer_size[i] < least) return -ENOMEM;
    return 0;
  }
  // update_buffer_lossy(): judged by the sizes there are, and only if a flag changes.
  int update_lossy(uint8_t pfc_en, const uint8_t* prio2buffer) {
    const auto before = lossy;
    lossy.fill(true);
    for (int prio = 0; prio < 8; ++prio)
      if ((pfc_en >> prio & 1) != 0) lossy[prio2buffer[prio]] = false;
    return lossy == before ? 0 : check();
  }
  int resize(const uint32_t* sizes) {
    uint64_t sum = 0;
    for (size_t i = 0; i < 8; ++i) {
      if (!lossy[i] && sizes[i] == 0) return -EINVAL;
      buffer.buffer_size[i] = sizes[i];
      sum += sizes[i];
    }
    return sum > buffer.total_size ? -EINVAL : check();
  }
};

// mlx5e_port_manual_buffer_config(): cable, PFC, map, sizes, each judged before the next is looked at. Without a
// carrier 40 Gb/s count.
int SimNic::mlx5_config_buffers(unsigned change, const dcbnl_buffer* wanted) {
  const uint32_t mbps = carrier ? std::max(speed, 40'000u) : 40'000u;
  const uint32_t xoff = (301 + 216u * pfc.delay / 100) * mbps / 1000 + 272 * mtu / 100;
  Mlx5Buffers next{buffer, lossy, xoff + std::max(max_mtu, 9216u) + cell};
  int err = (change & kCable) != 0 ? next.check() : 0;
  if (err == 0 && (change & kPfc) != 0) err = next.update_lossy(pfc.pfc_en, buffer.prio2buffer);
  if (err == 0 && (change & kMap) != 0)
    err = next.update_lossy(pause.rx || pause.tx ? uint8_t{0xff} : pfc.pfc_en, wanted->prio2buffer);  // fill_pfc_en()
  if (err == 0 && (change & kSizes) != 0) err = next.resize(wanted->buffer_size);
  if (err == 0 && change == 0) err = next.check();  // xoff has changed with the link's speed, or the MTU
  if (err != 0) return err;
  if ((change & kMap) != 0) std::copy_n(wanted->prio2buffer, 8, next.buffer.prio2buffer);
  for (uint32_t& size : next.buffer.buffer_size) size = size / cell * cell;
  buffer = next.buffer;
  lossy = next.lossy;
  return 0;
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
  const unsigned change = (std::ranges::equal(wanted.prio2buffer, buffer.prio2buffer) ? 0 : kMap) |
                          (std::ranges::equal(wanted.buffer_size, buffer.buffer_size) ? 0 : kSizes);
  if (change == 0) return 0;
  manual_buffers = true;
  return mlx5_config_buffers(change, &wanted);
}

// mlx5e_dcbnl_ieee_setpfc(): the bits and the toggle first, then the buffers; only the cable's length is taken back.
int SimNic::mlx5_set_pfc(const ieee_pfc& wanted) {
  unsigned change = 0;
  if (pfc.pfc_en != wanted.pfc_en) flap(), change |= kPfc;
  pfc.pfc_en = wanted.pfc_en;
  const uint16_t old_cable = pfc.delay;
  if (wanted.delay > 0 && wanted.delay < 1000 && wanted.delay != pfc.delay) change |= kCable, pfc.delay = wanted.delay;
  const int err = manual_buffers && shows_ownership ? mlx5_config_buffers(change, nullptr) : 0;
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
