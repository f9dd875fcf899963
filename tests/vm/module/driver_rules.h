/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What drivers accept and how they answer: one text for the simulated NICs of the virtual server (this module) and for
 * those of the unit tests (tests/support/sim_*.cpp).  Pure functions and tables of C and C++, of Linux 6.12's drivers
 * unless noted; files are below drivers/net/ethernet/{mellanox,broadcom,intel} or drivers/.
 */
#ifndef FABSIM_DRIVER_RULES_H
#define FABSIM_DRIVER_RULES_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <net/dcbnl.h>
#else
#include <errno.h>
#include <linux/dcbnl.h>
#include <stddef.h>
#endif

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* the kernel's own; -524 in the one byte of a reply shows as -12 */
#endif

#define RULE_BNXT_CLASSES 8  /* traffic classes, bp->max_tc */
#define RULE_BNXT_LOSSLESS 2 /* lossless ones, bp->max_lltc */
#define RULE_ANY 0xffffffffu /* no limit, or all bits of a number */

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

/* en_dcbnl.c, mlx5e_build_tc_tx_bw(): the percentage that firmware gets for a class. */
static inline int rule_mlx5_ets_bw(const struct ieee_ets* set, int tc) {
  int i, zeros = 0, last = 0;

  if (set->tc_tsa[tc] != IEEE_8021QAZ_TSA_ETS) return 100; /* MLX5E_MAX_BW_ALLOC */
  if (set->tc_tx_bw[tc]) return set->tc_tx_bw[tc];
  for (i = 0; i < 8; i++)
    if (set->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS && !set->tc_tx_bw[i]) zeros++, last = i;
  return 100 / zeros + (tc == last ? 100 % zeros : 0);
}

/*
 * mlx5e_dcbnl_ieee_getets() after mlx5e_dcbnl_ieee_setets(): the percentages are firmware's.  ETS classes of 0 % are a
 * group of their own, which is served after the others and shares 100 %.  They are shown as 0 only if a class of the
 * others has less than 100 %: beside a single class of 100 % their shares are shown, and all add up to 200.
 */
static inline void rule_mlx5_shown_ets(const struct ieee_ets* set, struct ieee_ets* shown) {
  int i, shows_zeros = 0;

  *shown = *set;
  for (i = 0; i < 8; i++)
    if (set->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS && set->tc_tx_bw[i] && set->tc_tx_bw[i] < 100) shows_zeros = 1;
  for (i = 0; i < 8; i++) {
    const int is_zero = set->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS && !set->tc_tx_bw[i];

    shown->tc_tx_bw[i] = (unsigned char)(is_zero && shows_zeros ? 0 : rule_mlx5_ets_bw(set, i));
  }
}

/* mlx5/core/en_dcbnl.c, mlx5e_dcbnl_ieee_setmaxrate(); Kbit/s. */
#define RULE_MLX5_SMALL_UNIT 100000u /* MLX5E_100MB */
#define RULE_MLX5_LARGE_UNIT 1000000u
#define RULE_MLX5_MAX_RATE (255ull * RULE_MLX5_LARGE_UNIT) /* more is EINVAL */

/*
 * The rate that the NIC keeps: a byte of small units up to 25.5 Gbit/s, then of large ones.  `old`: without the fixes
 * of November 2025, as in Linux 5.10 and in OFED 25.10: no EINVAL, the number of units is cut off to a byte, and small
 * units count below 26 Gbit/s.  So 400 Gbit/s becomes 144, and 25.6 Gbit/s becomes 0.1.
 */
static inline unsigned long long rule_mlx5_rate(unsigned long long kbit, int old) {
  const int small = old ? kbit < 26 * RULE_MLX5_LARGE_UNIT : kbit <= 255 * RULE_MLX5_SMALL_UNIT;
  const unsigned int unit = small ? RULE_MLX5_SMALL_UNIT : RULE_MLX5_LARGE_UNIT;
  const unsigned char units = (unsigned char)(kbit / unit);

  if (!kbit) return 0;
  return (unsigned long long)(small && !units ? 1 : units) * unit;
}

/*
 * PFC of mlx5: mlx5/core/port.c, mlx5_set_port_pfc().  A change of the bits writes the register PFCC without the masks
 * that keep global pause (pptx_mask_n and pprx_mask_n, which mlx5_set_port_pfc_prevention() sets), so that global pause
 * goes off.  mlx5_set_port_pause() keeps PFC: its masks of priorities are 0.
 */

/* Receive buffers of mlx5: mlx5/core/en/port_buffer.c. */
#define RULE_MLX5_CABLE 1u /* MLX5E_PORT_BUFFER_* */
#define RULE_MLX5_PFC 2u
#define RULE_MLX5_MAP 4u
#define RULE_MLX5_SIZES 8u

/* struct mlx5e_port_buffer while it is worked on, and what the checks need. */
struct rule_mlx5_buffers {
  unsigned int size[8]; /* bytes */
  unsigned char prio2buffer[8];
  bool lossless[8];
  unsigned int room[8];   /* above the threshold at which pause is sent, of a lossless buffer */
  unsigned int total;     /* port_buffer_size - internal_buffers_size */
  unsigned int xoff;      /* the room that the link needs now: rule_mlx5_xoff() */
  unsigned int last_xoff; /* priv->dcbx.xoff; 0 when the driver is loaded */
  unsigned int max_mtu;
  unsigned int cell;
};

/* calculate_xoff(): bytes.  `mbps` is 0 without a carrier; at least 40 Gbit/s count. */
static inline unsigned int rule_mlx5_xoff(unsigned int cable, unsigned int mbps, unsigned int mtu) {
  const unsigned int speed = mbps > 40000 ? mbps : 40000;

  return (301 + 216 * cable / 100) * speed / 1000 + 272 * mtu / 100;
}

/* update_xoff_threshold(): of all lossless buffers, or of none. */
static inline int rule_mlx5_set_thresholds(struct rule_mlx5_buffers* b) {
  const unsigned int least = b->xoff + (b->max_mtu > 9216 ? b->max_mtu : 9216) + b->cell; /* MINIMUM_MAX_MTU */
  int i;

  for (i = 0; i < 8; i++)
    if (b->lossless[i] && b->size[i] < least) return -ENOMEM;
  for (i = 0; i < 8; i++) b->room[i] = b->lossless[i] ? b->xoff : 0;
  return 0;
}

/* update_buffer_lossy(): judged by the sizes there are, and only if a flag changes. */
static inline int rule_mlx5_update_lossless(struct rule_mlx5_buffers* b, unsigned int pfc_en,
                                            const unsigned char* prio2buffer, int* updated) {
  int i, prio, changed = 0;

  for (i = 0; i < 8; i++) {
    bool lossless = false;

    for (prio = 0; prio < 8; prio++) lossless = lossless || (prio2buffer[prio] == i && (pfc_en >> prio & 1));
    changed = changed || lossless != b->lossless[i];
    b->lossless[i] = lossless;
  }
  if (!changed) return 0;
  *updated = 1;
  return rule_mlx5_set_thresholds(b);
}

/*
 * mlx5e_port_manual_buffer_config(): cable, PFC, map, sizes, each judged before the next is looked at; then, if none of
 * them has looked at the sizes, only if xoff, which follows the link's speed and the MTU, is another than the last
 * time. port_set_buffer() rounds down to cells.  If it fails, `b` is of no use.  `map` and `size` are used only if they
 * change.
 */
static inline int rule_mlx5_config_buffers(struct rule_mlx5_buffers* b, unsigned int change, unsigned int pfc_en,
                                           int paused, const unsigned char* map, const unsigned int* size) {
  unsigned long long sum = 0;
  int i, err = 0, updated = 0;

  if (change & RULE_MLX5_CABLE) {
    updated = 1;
    err = rule_mlx5_set_thresholds(b);
  }
  if (!err && (change & RULE_MLX5_PFC)) err = rule_mlx5_update_lossless(b, pfc_en, b->prio2buffer, &updated);
  if (!err && (change & RULE_MLX5_MAP)) /* fill_pfc_en() */
    err = rule_mlx5_update_lossless(b, paused ? 0xff : pfc_en, map, &updated);
  if (err) return err;
  if (change & RULE_MLX5_SIZES) {
    for (i = 0; i < 8; i++) {
      if (b->lossless[i] && !size[i]) return -EINVAL;
      b->size[i] = size[i];
      sum += size[i];
    }
    if (sum > b->total) return -EINVAL;
    updated = 1;
    err = rule_mlx5_set_thresholds(b);
  }
  if (!err && !updated && b->xoff != b->last_xoff) err = rule_mlx5_set_thresholds(b);
  if (err) return err;
  b->last_xoff = b->xoff;
  for (i = 0; i < 8; i++) {
    if (change & RULE_MLX5_MAP) b->prio2buffer[i] = map[i];
    b->size[i] -= b->size[i] % b->cell;
  }
  return 0;
}

/* mlx5e_dcbnl_setbuffer(): what changes.  Sizes are compared as they came, before they are rounded. */
static inline unsigned int rule_mlx5_buffer_change(const struct dcbnl_buffer* now, const struct dcbnl_buffer* want) {
  unsigned int change = 0;
  int i;

  for (i = 0; i < 8; i++) {
    if (now->prio2buffer[i] != want->prio2buffer[i]) change |= RULE_MLX5_MAP;
    if (now->buffer_size[i] != want->buffer_size[i]) change |= RULE_MLX5_SIZES;
  }
  return change;
}

/*
 * DCQCN of mlx5, in the order of the files: infiniband/hw/mlx5/cong.c, mlx5_ib_dbg_cc_name[].  The driver cuts a number
 * off to the bits of its field (MLX5_SET; include/linux/mlx5/mlx5_ifc.h) before firmware judges it, so that 64 as a
 * DSCP becomes 0 and is taken.  Ranges and values from the factory: NVIDIA, "DCQCN parameters"; mstflint,
 * tools_open_roce_cc_ecn.
 */
enum {
  RULE_MLX5_CC_NP = 16, /* the first parameter of the notification point */
  RULE_MLX5_CC_PRIO_MODE = 18,
  RULE_MLX5_CC_RTT_VALID = 20, /* from here: Linux 6.2 and later */
  RULE_MLX5_CC_PARAMS = 22,
};

struct rule_mlx5_cc {
  const char *name, *ofed; /* ofed null: no file there (OFED 25.10, mlx5/core/en_ecn.c) */
  unsigned int mask, min, max, value;
  int sets; /* mlx5_ib_set_cc_param_mask_val(): the parameter that a write sets to `to` as well; 0: none */
  unsigned int to;
};

#define RULE_MLX5_LINE_RATE 400000u /* Mbit/s */

static const struct rule_mlx5_cc rule_mlx5_cc_rows[RULE_MLX5_CC_PARAMS] = {
    {"rp_clamp_tgt_rate", "clamp_tgt_rate", 1, 0, 1, 0, 0, 0},
    {"rp_clamp_tgt_rate_ati", "clamp_tgt_rate_after_time_inc", 1, 0, 1, 1, 0, 0},
    {"rp_time_reset", "rpg_time_reset", RULE_ANY, 1, 131071, 300, 0, 0},
    {"rp_byte_reset", "rpg_byte_reset", RULE_ANY, 0, 32767, 32767, 0, 0},
    {"rp_threshold", "rpg_threshold", RULE_ANY, 1, 31, 1, 0, 0},
    {"rp_ai_rate", "rpg_ai_rate", RULE_ANY, 1, 131071, 5, 0, 0},
    {"rp_max_rate", "rpg_max_rate", RULE_ANY, 0, RULE_MLX5_LINE_RATE, 0, 0, 0},
    {"rp_hai_rate", "rpg_hai_rate", RULE_ANY, 1, 131071, 50, 0, 0},
    {"rp_min_dec_fac", "rpg_min_dec_fac", RULE_ANY, 0, 100, 50, 0, 0},
    {"rp_min_rate", "rpg_min_rate", RULE_ANY, 1, RULE_MLX5_LINE_RATE, 1, 0, 0},
    {"rp_rate_to_set_on_first_cnp", "rate_to_set_on_first_cnp", RULE_ANY, 0, RULE_MLX5_LINE_RATE, 0, 0, 0},
    {"rp_dce_tcp_g", "dce_tcp_g", RULE_ANY, 0, 1023, 1019, 0, 0},
    {"rp_dce_tcp_rtt", "dce_tcp_rtt", RULE_ANY, 1, 131071, 1, 0, 0},
    {"rp_rate_reduce_monitor_period", "rate_reduce_monitor_period", RULE_ANY, 1, 131071, 4, 0, 0},
    {"rp_initial_alpha_value", "initial_alpha_value", RULE_ANY, 1, 1023, 1023, 0, 0},
    {"rp_gd", "rpg_gd", RULE_ANY, 0, 15, 11, 0, 0},
    {"np_min_time_between_cnps", "min_time_between_cnps", RULE_ANY, 0, 131071, 4, 0, 0},
    {"np_cnp_dscp", "cnp_dscp", 0x3f, 0, 63, 48, 0, 0},
    {"np_cnp_prio_mode", NULL, 1, 0, 1, 0, 0, 0},
    {"np_cnp_prio", "cnp_802p_prio", 7, 0, 7, 6, RULE_MLX5_CC_PRIO_MODE, 0},
    {"rtt_resp_dscp_valid", NULL, 1, 0, 1, 0, 0, 0},
    {"rtt_resp_dscp", NULL, 0x3f, 0, 63, 0, RULE_MLX5_CC_RTT_VALID, 1},
};

/* The driver, then firmware. */
static inline int rule_mlx5_cc_write(const struct rule_mlx5_cc* row, unsigned int value, unsigned int* kept) {
  *kept = value & row->mask;
  return *kept < row->min || *kept > row->max ? -EINVAL : 0;
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

/*
 * Queues of bnxt.  The NIC pauses a priority only if the queue of its traffic class is lossless, which firmware decides
 * for each queue; here it is the last RULE_BNXT_LOSSLESS.  At first each class has the queue of its number
 * (bnxt/bnxt.c, bnxt_hwrm_queue_qportcfg()).  Only a PFC that needs it gives classes other queues: an ETS that moves a
 * priority to another class leaves it on the queue of that class, and pfc_en shows PFC all the same.
 */
static inline void rule_bnxt_first_queues(unsigned char* queue) {
  int i;

  for (i = 0; i < 8; i++) queue[i] = (unsigned char)i;
}

static inline bool rule_bnxt_is_lossless(int queue, int classes) {
  return queue < classes && queue + RULE_BNXT_LOSSLESS >= classes;
}

/* Whether the NIC pauses this priority. */
static inline bool rule_bnxt_pauses(const unsigned char* queue, const struct ieee_ets* ets, unsigned int pfc_en,
                                    int prio, int classes) {
  return (pfc_en >> prio & 1) && rule_bnxt_is_lossless(queue[ets->prio_tc[prio] & 7], classes);
}

/*
 * bnxt/bnxt_dcb.c, bnxt_hwrm_queue_pfc_cfg() and bnxt_queue_remap(): EINVAL if too many classes would be lossless; 1 if
 * the classes were given other queues, for which the NIC is closed and opened; else 0.
 */
static inline int rule_bnxt_pfc(unsigned char* queue, const struct ieee_ets* ets, unsigned int pfc_en, int classes) {
  unsigned int lossless = 0, used = 0;
  int i, next, count = 0, remap = 0;

  for (i = 0; i < 8; i++)
    if (pfc_en >> i & 1) lossless |= 1u << ets->prio_tc[i];
  for (i = 0; i < classes; i++) {
    if (!(lossless >> i & 1)) continue;
    count++;
    if (!rule_bnxt_is_lossless(queue[i], classes)) remap = 1;
  }
  if (count > RULE_BNXT_LOSSLESS) return -EINVAL;
  if (!remap) return 0;
  for (i = 0, next = classes - RULE_BNXT_LOSSLESS; i < classes; i++) {
    if (!(lossless >> i & 1)) continue;
    used |= 1u << next;
    queue[i] = (unsigned char)next++;
  }
  for (i = 0, next = 0; i < classes; i++) {
    if (lossless >> i & 1) continue;
    while (used >> next & 1) next++;
    queue[i] = (unsigned char)next++;
  }
  return 1;
}

/*
 * Congestion control of bnxt_re, in the order of the firmware command's mask bits, which is that of the files in
 * debugfs (infiniband/hw/bnxt_re/debugfs.c, Linux 6.15 and later). Largest values: the fields of struct
 * cmdq_modify_roce_cc, bnxt_re/roce_hsi.h: g and num_phases_per_state are whole bytes.  Broadcom's comments on the
 * fields (FreeBSD, sys/dev/bnxt/bnxt_en/hsi_struct_def.h) name smaller limits for chips of "CC support level 1"
 * alone: 1024 for init_cr and init_tr, 2047 for rtt.  Whether firmware takes all of them is not public; here it is of
 * level 0 and refuses what is in the reserved bits. Values at the start: bnxt_re_setup_cc() of
 * Linux 6.12 sets enable_cc, cc_mode and tos_ecn; the others are firmware's, and no source has them. Files in configfs:
 * Broadcom's own module, bnxt_re/configfs.c, releases in which all numbers wait for `apply`.
 */
enum {
  RULE_BNXT_ENABLE = 0,
  RULE_BNXT_TOS_ECN = 5,
  RULE_BNXT_TOS_DSCP = 6,
  RULE_BNXT_ALT_VLAN_PCP = 7,
  RULE_BNXT_ALT_DSCP = 8,
  RULE_BNXT_CC_MODE = 10,
  RULE_BNXT_TX_QUEUE = 12,
  RULE_BNXT_CC_FILES = 14,
  RULE_BNXT_ROCE_PRIO = RULE_BNXT_CC_FILES, /* this and the next: configfs only */
  RULE_BNXT_NO_PRIO_VLAN = 15,
  RULE_BNXT_CC_PARAMS = 16,
};

struct rule_bnxt_cc {
  const char *name, *configfs; /* configfs null: no file there */
  unsigned int width;          /* bits that reach firmware from debugfs (bnxt_qplib_modify_cc()) */
  unsigned int configfs_most;  /* more is EINVAL */
  unsigned int configfs_width; /* bits that configfs keeps */
  unsigned int max, value;     /* firmware's */
};

static const struct rule_bnxt_cc rule_bnxt_cc_rows[RULE_BNXT_CC_PARAMS] = {
    {"enable_cc", "ecn_enable", 0xff, RULE_ANY, 0xff, 1, 1},
    {"run_avg_weight_g", "g", 0xff, RULE_ANY, 0xff, 0xff, 8},
    {"num_phase_per_state", "nph_per_state", 0xff, RULE_ANY, 0xff, 0xff, 5},
    {"init_cr", "init_cr", 0xffff, RULE_ANY, 0xffff, 0xffff, 200},
    {"init_tr", "init_tr", 0xffff, RULE_ANY, 0xffff, 0xffff, 800},
    {"tos_ecn", "ecn_marking", 3, 2, 3, 3, 0},
    {"tos_dscp", "roce_dscp", 0x3f, 0x3f, 0x3f, 0x3f, 26},
    {"alt_vlan_pcp", "cnp_prio", 0xff, RULE_ANY, 7, 7, 7},
    {"alt_vlan_dscp", "cnp_dscp", 0xffff, 0x3f, 0x3f, 0x3f, 48},
    {"rtt", "rtt", 0xffff, RULE_ANY, 0xffff, 0x3fff, 40},
    {"cc_mode", "cc_mode", 0xff, 1, 1, 1, 1},
    {"tcp_cp", "tcp_cp", 0xffff, RULE_ANY, 0xffff, 0x3ff, 0},
    {"tx_queue", NULL, 0xff, 0, 0, 0, 0},
    {"inactivity_cp", "inact_th", 0xffff, RULE_ANY, 0xffff, 0xffff, 10000},
    {"roce_prio", "roce_prio", 7, RULE_ANY, 7, 7, 3},
    {"disable_prio_vlan_tx", "disable_prio_vlan_tx", 1, RULE_ANY, 1, 1, 0},
};

/*
 * bnxt_re_cc_config_set(): firmware's refusal is not looked at, so the write succeeds all the same.  True: firmware
 * takes the value.
 */
static inline bool rule_bnxt_cc_debugfs(const struct rule_bnxt_cc* row, unsigned int value, unsigned int* kept) {
  *kept = value & row->width;
  return *kept <= row->max;
}

/* g_store() and the others: the module's copy.  Firmware judges at `apply`, all numbers in one command. */
static inline int rule_bnxt_cc_configfs(const struct rule_bnxt_cc* row, unsigned int value, unsigned int* kept) {
  if (value > row->configfs_most) return -EINVAL;
  *kept = value & row->configfs_width;
  return 0;
}

/* ice/ice_dcb_lib.c, ice_dcb_get_num_tc(): contiguous classes in use from 0, 1 if there is a gap. */
static inline bool rule_ice_has_gap(const struct ieee_ets* ets) {
  unsigned int used = 0;
  int i;

  for (i = 0; i < 8; i++) used |= 1u << (ets->prio_tc[i] & 7);
  return used & (used + 1);
}

static inline int rule_ice_classes(const struct ieee_ets* ets) {
  int i, last = 0;

  if (rule_ice_has_gap(ets)) return 1;
  for (i = 0; i < 8; i++)
    if (ets->prio_tc[i] > last) last = ets->prio_tc[i];
  return last + 1;
}

/* What the result byte of an accepted set may be: ice/ice_dcb_lib.h. */
#define RULE_ICE_HW_CHG_RST 0
#define RULE_ICE_NO_HW_CHG 1
#define RULE_ICE_HW_CHG 2

#define RULE_ICE_CLASSES 8 /* func_caps.common_cap.maxtc */

/* ice/ice_type.h, struct ice_dcbx_cfg, as far as a port of ours has it. */
struct rule_ice_cfg {
  struct ieee_ets ets; /* etscfg, with maxtcs as ets_cap, and etsrec as the recommended values */
  unsigned char pfc_en;
  bool dscp_mode;             /* pfc_mode */
  unsigned long long mapped;  /* dscp_mapped: a bit for each DSCP of an APP entry */
  unsigned char dscp_map[64]; /* all DSCPs, those without an entry too */
};

/*
 * struct ice_qos_cfg: each dcbnl operation changes `desired` first, and ice_pf_dcb_cfg() then sends the whole of it.
 * What is refused stays in `desired`, and is a part of the next change: of PFC, ETS or the DSCPs.  The getters show
 * `local`.  The driver is loaded with `desired` all zero (devm_kzalloc()).
 */
struct rule_ice {
  struct rule_ice_cfg local, desired;
};

/* ice_pf_dcb_cfg(): after each change the recommended values are those in use. */
static inline void rule_ice_recommend(struct ieee_ets* ets) {
  int i;

  for (i = 0; i < 8; i++) {
    ets->tc_reco_bw[i] = ets->tc_tx_bw[i];
    ets->tc_reco_tsa[i] = ets->tc_tsa[i];
    ets->reco_prio_tc[i] = ets->prio_tc[i];
  }
}

/* ice/ice_dcb_lib.c, ice_dcb_sw_dflt_cfg(): VLAN mode, one traffic class, no PFC.  `desired` stays as it is. */
static inline void rule_ice_defaults(struct rule_ice* ice) {
  static struct rule_ice_cfg none; /* zeros */

  ice->local = none;
  ice->local.ets.willing = 1;
  ice->local.ets.ets_cap = RULE_ICE_CLASSES;
  ice->local.ets.tc_tx_bw[0] = 100;
  ice->local.ets.tc_tsa[0] = IEEE_8021QAZ_TSA_ETS;
  rule_ice_recommend(&ice->local.ets);
}

/* ice/ice_dcb_nl.c, ice_dcbnl_setets(), ice_dcbnl_setpfc(), ice_dcbnl_setapp() */
static inline bool rule_ice_refuses(unsigned int dcbx) {
  return (dcbx & DCB_CAP_DCBX_LLD_MANAGED) || !(dcbx & DCB_CAP_DCBX_VER_IEEE);
}

/* ice/ice_dcb_lib.c, ice_dcb_bwchk(): the classes in use, whatever their algorithm. */
static inline int rule_ice_bandwidths(struct ieee_ets* ets) {
  const int classes = rule_ice_classes(ets);
  unsigned char sum = 0; /* as in the driver */
  int i;

  for (i = 0; i < classes; i++) sum += ets->tc_tx_bw[i];
  if (classes > 1 && sum && sum != 100) return -EINVAL;
  if (classes == 1 || !sum) ets->tc_tx_bw[0] = 100;
  return 0;
}

/*
 * ice/ice_dcb_nl.c, ice_dcbnl_setets(), before ice_pf_dcb_cfg(): 0 or EINVAL, and in both cases `desired` has the
 * values.  In DSCP mode the map of priorities to classes stays, in silence.
 */
static inline int rule_ice_setets(struct rule_ice* ice, const struct ieee_ets* want) {
  struct ieee_ets* ets = &ice->desired.ets;
  int i, reco_sum = 0;

  ets->willing = want->willing;
  ets->cbs = want->cbs;
  for (i = 0; i < 8; i++) {
    ets->tc_tx_bw[i] = want->tc_tx_bw[i];
    ets->tc_tsa[i] = want->tc_tsa[i];
    if (!ice->desired.dscp_mode) {
      ets->prio_tc[i] = want->prio_tc[i];
      ets->reco_prio_tc[i] = want->reco_prio_tc[i];
    }
    ets->tc_reco_bw[i] = want->tc_reco_bw[i];
    ets->tc_reco_tsa[i] = want->tc_reco_tsa[i];
    reco_sum += want->tc_reco_bw[i];
  }
  if (rule_ice_bandwidths(ets)) return -EINVAL;
  ets->ets_cap = RULE_ICE_CLASSES;
  if (!reco_sum) ets->tc_reco_bw[0] = 100;
  return 0;
}

static inline bool rule_ice_differs(const struct rule_ice_cfg* local, const struct rule_ice_cfg* desired) {
  const struct ieee_ets *now = &local->ets, *next = &desired->ets;
  int i;

  for (i = 0; i < 8; i++)
    if (now->tc_tx_bw[i] != next->tc_tx_bw[i] || now->tc_tsa[i] != next->tc_tsa[i] ||
        now->prio_tc[i] != next->prio_tc[i] || now->tc_reco_bw[i] != next->tc_reco_bw[i] ||
        now->tc_reco_tsa[i] != next->tc_reco_tsa[i] || now->reco_prio_tc[i] != next->reco_prio_tc[i])
      return true;
  for (i = 0; i < 64; i++)
    if (local->dscp_map[i] != desired->dscp_map[i]) return true;
  return now->willing != next->willing || now->cbs != next->cbs || now->ets_cap != next->ets_cap ||
         local->pfc_en != desired->pfc_en || local->dscp_mode != desired->dscp_mode || local->mapped != desired->mapped;
}

/*
 * ice/ice_dcb_lib.c, ice_pf_dcb_cfg(), up to the firmware: RULE_ICE_NO_HW_CHG if `desired` is what the NIC has already,
 * EINVAL, or 0: `desired` goes to the firmware, whose answer is the driver's.  The netdev is closed and opened,
 * whatever the firmware answers.
 */
static inline int rule_ice_check(struct rule_ice* ice) {
  if (!rule_ice_differs(&ice->local, &ice->desired)) return RULE_ICE_NO_HW_CHG;
  return rule_ice_bandwidths(&ice->desired.ets);
}

/* The firmware has taken it; ice_pf_dcb_recfg(): classes with a gap mean the defaults, and the answer is success. */
static inline void rule_ice_take(struct rule_ice* ice) {
  rule_ice_recommend(&ice->desired.ets);
  ice->local = ice->desired;
  if (rule_ice_has_gap(&ice->local.ets)) rule_ice_defaults(ice);
}

/*
 * ice/ice_dcb_nl.c, ice_dcbnl_setapp(), before the kernel's list of entries is asked: only DSCP.  The list comes next:
 * an entry that is listed is EEXIST.  rule_ice_map() is EINVAL for a DSCP with another entry, and the new one is taken
 * off the list; else it changes `desired`, which goes to the firmware.  The first entry switches the port to L3 DSCP
 * mode and overwrites ETS.  Every answer of ice_pf_dcb_cfg() but 0 is answered by 1, and the entry stays listed.
 */
static inline int rule_ice_setapp(const struct dcb_app* app, unsigned int dcbx) {
  if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || rule_ice_refuses(dcbx)) return -EINVAL;
  return app->protocol >= 64 || app->priority >= RULE_ICE_CLASSES ? -EINVAL : 0;
}

static inline int rule_ice_map(struct rule_ice* ice, const struct dcb_app* app) {
  struct rule_ice_cfg* next = &ice->desired;
  int i;

  if (next->mapped >> app->protocol & 1) return -EINVAL;
  next->mapped |= 1ull << app->protocol;
  if (!ice->local.dscp_mode) {
    next->dscp_mode = true;
    next->ets.willing = 0;
    for (i = 0; i < 64; i++) next->dscp_map[i] = (unsigned char)(i >> 3);
    for (i = 0; i < RULE_ICE_CLASSES; i++) {
      next->ets.tc_tx_bw[i] = i ? 0 : 100;
      next->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_ETS;
      next->ets.prio_tc[i] = (unsigned char)i;
    }
  }
  next->dscp_map[app->protocol] = app->priority;
  return 0;
}

/*
 * ice/ice_dcb_nl.c, ice_dcbnl_delapp(): asks for the firmware's agent alone, not for IEEE.  The kernel's list drops the
 * entry before anything else can fail.  rule_ice_unmap() is EINVAL for an entry that did not come by setapp; 0:
 * `desired` goes to the firmware, where RULE_ICE_NO_HW_CHG is answered by 2; RULE_ICE_HW_CHG: the last entry is gone,
 * the firmware gets the defaults of VLAN mode, with PFC off, and `desired` keeps ETS and PFC for the next change.
 */
static inline int rule_ice_delapp(unsigned int dcbx) { return dcbx & DCB_CAP_DCBX_LLD_MANAGED ? -EINVAL : 0; }

static inline int rule_ice_unmap(struct rule_ice* ice, const struct dcb_app* app) {
  struct rule_ice_cfg* next = &ice->desired;

  if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= 64 || !(next->mapped >> app->protocol & 1))
    return -EINVAL;
  next->mapped &= ~(1ull << app->protocol);
  next->dscp_map[app->protocol] = app->protocol % 8;
  if (next->mapped || !next->dscp_mode) return 0;
  next->dscp_mode = false;
  return RULE_ICE_HW_CHG;
}

/*
 * i40e/i40e_main.c, i40e_hw_dcb_config(): the algorithms of the classes in use, counted from 0, one if there is a gap.
 * Nothing adds up bandwidths.  With a gap the NIC has one class, and the getter shows the others all the same.
 */
static inline int rule_i40e_ets(const struct ieee_ets* want) {
  const int classes = rule_ice_classes(want);
  int i;

  for (i = 0; i < classes; i++)
    if (want->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS && want->tc_tsa[i] != IEEE_8021QAZ_TSA_STRICT) return -EINVAL;
  return 0;
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
