/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What drivers accept and how they answer: one text for the simulated NICs of the virtual server (this module) and for
 * those of the unit tests (tests/support/sim_nic*.cpp).  Pure functions of C and C++, of Linux 6.12's drivers unless
 * noted.
 */
#ifndef FABSIM_DRIVER_RULES_H
#define FABSIM_DRIVER_RULES_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <net/dcbnl.h>
#else
#include <errno.h>
#include <linux/dcbnl.h>
#endif

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* the kernel's own; -524 in the one byte of a reply shows as -12 */
#endif

#define RULE_BNXT_CLASSES 8  /* traffic classes, bp->max_tc */
#define RULE_BNXT_LOSSLESS 2 /* lossless ones, bp->max_lltc */

/* mlx5/core/en_dcbnl.c, mlx5e_dbcnl_validate_ets(): the bandwidths of the ETS classes, used or not, add up to 100. */
static inline int rule_mlx5_ets(const struct ieee_ets* want) {
  int i, sum = 0, any = 0;

  for (i = 0; i < 8; i++)
    if (want->prio_tc[i] >= 8) return -EINVAL;
  for (i = 0; i < 8; i++)
    if (want->tc_tsa[i] == IEEE_8021QAZ_TSA_CB_SHAPER) return -EOPNOTSUPP;
  for (i = 0; i < 8; i++) {
    if (want->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS) continue;
    any = 1;
    sum += want->tc_tx_bw[i];
  }
  return any && sum != 100 ? -EINVAL : 0;
}

/* bnxt/bnxt_dcb.c, bnxt_ets_validate(): the highest class in use is not looked at. */
static inline int rule_bnxt_ets(const struct ieee_ets* want, int classes) {
  int i, last = 0, sum = 0, zero = 0;

  for (i = 0; i < 8; i++) {
    if (want->prio_tc[i] > classes) return -EINVAL;
    if (want->prio_tc[i] > last) last = want->prio_tc[i];
    if ((want->tc_tx_bw[i] || want->tc_tsa[i]) && i > classes) return -EINVAL;
  }
  for (i = 0; i < last; i++) {
    switch (want->tc_tsa[i]) {
      case IEEE_8021QAZ_TSA_STRICT: break;
      case IEEE_8021QAZ_TSA_ETS:
        sum += want->tc_tx_bw[i];
        zero = zero || !want->tc_tx_bw[i];
        break;
      default: return -ENOTSUPP;
    }
  }
  return sum > 100 || (zero && sum == 100) ? -EINVAL : 0;
}

/* bnxt/bnxt_dcb.c, bnxt_hwrm_queue_pfc_cfg(): few classes can be lossless. */
static inline int rule_bnxt_pfc(const struct ieee_ets* ets, unsigned int pfc_en) {
  unsigned int lossless = 0, count = 0;
  int i;

  for (i = 0; i < 8; i++)
    if (pfc_en >> i & 1) lossless |= 1u << ets->prio_tc[i];
  for (; lossless; lossless &= lossless - 1) count++;
  return count > RULE_BNXT_LOSSLESS ? -EINVAL : 0;
}

/* ice/ice_dcb_lib.c, ice_dcb_get_num_tc(): contiguous classes in use from 0, 1 if there is a gap. */
static inline int rule_ice_classes(const struct ieee_ets* ets) {
  unsigned int used = 0;
  int i, count = 0;

  for (i = 0; i < 8; i++) used |= 1u << (ets->prio_tc[i] & 7);
  while (used >> count & 1) count++;
  return used == (1u << count) - 1 ? count : 1;
}

/* ice/ice_dcb_nl.c and ice_dcb_lib.c: one traffic class. */
static inline void rule_ice_vlan_ets(struct ieee_ets* ets) {
  static const struct ieee_ets none = {0, 0, 0, {0}, {0}, {0}, {0}, {0}, {0}, {0}};

  *ets = none;
  ets->ets_cap = 8;
  ets->tc_tx_bw[0] = 100;
  ets->tc_tsa[0] = IEEE_8021QAZ_TSA_ETS;
}

/* Is a DCBX mode refused?  None of these drivers lets the host's firmware agent be chosen. */

/* bnxt/bnxt_dcb.c, bnxt_dcbnl_setdcbx(): a mode without HOST is accepted, and then every set is refused. */
static inline int rule_bnxt_refuses_dcbx(unsigned int mode) {
  return (mode & DCB_CAP_DCBX_HOST) && ((mode & DCB_CAP_DCBX_VER_CEE) || !(mode & DCB_CAP_DCBX_VER_IEEE));
}

/* ice/ice_dcb_nl.c, ice_dcbnl_setdcbx(); i40e/i40e_dcb_nl.c, i40e_dcbnl_setdcbx() */
static inline int rule_intel_refuses_dcbx(unsigned int mode) {
  return (mode & DCB_CAP_DCBX_LLD_MANAGED) || ((mode & DCB_CAP_DCBX_VER_IEEE) && (mode & DCB_CAP_DCBX_VER_CEE)) ||
         !(mode & DCB_CAP_DCBX_HOST);
}

/* The kernel's documentation: the host sets IEEE values. */
static inline int rule_plain_refuses_dcbx(unsigned int mode) {
  return (mode & DCB_CAP_DCBX_LLD_MANAGED) || (mode & DCB_CAP_DCBX_VER_CEE) || !(mode & DCB_CAP_DCBX_VER_IEEE) ||
         !(mode & DCB_CAP_DCBX_HOST);
}

#endif
