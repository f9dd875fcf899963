// SPDX-License-Identifier: Apache-2.0
// ConnectX-3, mlx4_en of Linux 6.12: mlx4/en_dcb_nl.c, en_ethtool.c and en_netdev.c. mlx4_en_ets_validate() judges as
// rule_mlx5_ets() does, and the driver has no operation for APP entries, which stay in the kernel's list.
#include "support/sim_nic.h"

namespace fabric::test {

// mlx4_en_init_netdev(). mlx4_en_get_profile(): global pause is on unless the module's parameters switch on PFC.
void SimNic::mlx4_defaults() {
  pause_autoneg = false;
  dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
  std::fill_n(ets.tc_tsa, 8, uint8_t{IEEE_8021QAZ_TSA_VENDOR});
}

// mlx4_en_dcbnl_setdcbx(): another mode begins without ETS and PFC.
int SimNic::mlx4_set_dcbx(uint8_t mode) {
  constexpr uint8_t kBoth = DCB_CAP_DCBX_VER_IEEE | DCB_CAP_DCBX_VER_CEE;
  if (mode == dcbx) return 0;
  if ((mode & kBoth) == kBoth || (mode & DCB_CAP_DCBX_HOST) == 0) return 1;
  dcbx = mode;
  ets = {};
  ets.ets_cap = 8;
  return mlx4_set_pfc(0);
}

// mlx4_en_dcbnl_ieee_setpfc(): pause goes off with PFC on, and does not come back.
int SimNic::mlx4_set_pfc(uint8_t enabled) {
  pfc.pfc_en = enabled;
  if (enabled != 0) pause = {};
  return 0;
}

// mlx4_en_set_pauseparam()
int SimNic::mlx4_set_pause(const Pause& wanted) {
  pause = wanted;
  if (wanted.rx || wanted.tx) pfc.pfc_en = 0;
  return 0;
}

// mlx4_en_dcbnl_ieee_setmaxrate(): rounds up, and keeps 16 bits of units.
uint64_t SimNic::mlx4_rate(uint64_t kbit) {
  constexpr uint64_t kUnit = 100'000;  // MLX4_RATELIMIT_UNITS_IN_KB
  return uint64_t{static_cast<uint16_t>((kbit + kUnit - 1) / kUnit)} * kUnit;
}

}  // namespace fabric::test
