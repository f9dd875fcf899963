/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fabsim: simulated RoCE NICs.  See ../README.md for what it is and for the control files.
 *
 * One struct fab_nic stands for one card: it lives as long as the module, like the card's firmware.  Its netdev comes
 * and goes with the (simulated) driver.  All settings are protected by RTNL, as in real drivers.
 */
#ifndef FABSIM_H
#define FABSIM_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <net/dcbnl.h>

#define FAB_HAVE_APPTRUST (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0))
#define FAB_HAVE_RTT_RESP (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)) /* mlx5: cc_params/rtt_resp_dscp */
#define FAB_HAVE_LINK_EXT_STATS (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0))
#define FAB_SEL_PCP 255 /* DCB_APP_SEL_PCP of kernel 6.2 */
#define FAB_MAX_NICS 16
#define FAB_MAX_STATS 512
#define FAB_MAX_FAULTS 16
#define FAB_LOG_ENTRIES 4096
#define FAB_ARGS_LEN 152
#define FAB_QUEUES 8
#define FAB_CC_PARAMS 22
#define FAB_CC_FILES 38 /* and OFED's eight enable files of each side */
#define FAB_TCLASS_RULES 8
#define FAB_EEPROM_PAGES 49 /* lower half, then upper pages 0x00 .. 0x2f */
#define FAB_VNIC_COUNTERS 10
#define FAB_REPORTERS 3

/* Every operation that is counted; those before FAB_FIRST_GET change something and are logged, too. */
enum fab_op {
  FAB_SETETS,
  FAB_SETPFC,
  FAB_SETAPP,
  FAB_DELAPP,
  FAB_SETBUFFER,
  FAB_SETTRUST,
  FAB_SETDCBX,
  FAB_SETMAXRATE,
  FAB_SETPAUSE,
  FAB_SETRING,
  FAB_SETTUNABLE,
  FAB_SETFEC,
  FAB_SETCHANNELS,
  FAB_SETLINK,
  FAB_SETMTU,
  FAB_SETPRIVFLAGS,
  FAB_SETCC,
  FAB_SETTCLASS,
  FAB_SETCOUNTER,
  FAB_FIRST_GET,
  FAB_GETETS = FAB_FIRST_GET,
  FAB_GETPFC,
  FAB_GETBUFFER,
  FAB_GETDCBX,
  FAB_GETMAXRATE,
  FAB_GETTRUST,
  FAB_GETPAUSE,
  FAB_GETRING,
  FAB_GETFEC,
  FAB_GETCHANNELS,
  FAB_GETSTATS,
  FAB_GETEEPROM,
  FAB_GETCC,
  FAB_GETTCLASS,
  FAB_GETVNIC,
  FAB_OPS,
  FAB_ANY = FAB_OPS, /* in a fault rule: any operation that changes something */
};

enum fab_action { FAB_DO, FAB_ERRNO, FAB_IGNORE, FAB_KILL, FAB_KILLAFTER, FAB_VANISH };

struct fab_fault {
  enum fab_op op;
  enum fab_action action;
  int err;
  int count; /* how often it still strikes, -1 = for ever, 0 = unused */
  int skip;  /* calls to let pass first */
};

struct fab_log_entry {
  u64 ns;
  int result;
  enum fab_op op;
  char args[FAB_ARGS_LEN];
};

/* What a counter means, so that traffic and the standard ethtool statistics find it under any vendor's name. */
enum fab_role {
  FAB_NO_ROLE,
  FAB_RX_PACKETS,
  FAB_RX_BYTES,
  FAB_TX_PACKETS,
  FAB_TX_BYTES,
  FAB_RX_DROPPED,
  FAB_TX_DROPPED,
  FAB_RX_CRC,
  FAB_RX_OVERSIZE,
  FAB_RX_RDMA_PACKETS,
  FAB_RX_RDMA_BYTES,
  FAB_TX_RDMA_PACKETS,
  FAB_TX_RDMA_BYTES,
  FAB_LINK_DOWN,
  FAB_RX_PAUSE,
  FAB_TX_PAUSE,
  FAB_FEC_BITS,
  FAB_FEC_CORRECTED,
  FAB_FEC_UNCORRECTABLE,
  FAB_PRIO_RX_PACKETS,
  FAB_PRIO_RX_BYTES,
  FAB_PRIO_TX_PACKETS,
  FAB_PRIO_TX_BYTES,
  FAB_PRIO_RX_PAUSE,
  FAB_PRIO_TX_PAUSE,
  FAB_ROLES,
};

/* When a counter is among the strings of "ethtool -S". */
enum fab_visible { FAB_ALWAYS, FAB_WITH_PFC, FAB_WITH_PAUSE, FAB_NEVER };

struct fab_stat {
  const char* name; /* with %d: one for each of the eight priorities */
  enum fab_role role;
  enum fab_visible visible;
};

struct fab_nic;
struct devlink;
struct devlink_health_reporter;

/* OFED's traffic class of the queue pairs to which "match", as it was written, applies. */
struct fab_tclass_rule {
  char match[96];
  int tclass;
};

/* One file of a driver's own in debugfs or sysfs. */
struct fab_cc_file {
  struct fab_nic* nic;
  int index;
  struct kobj_attribute attr;
};

/* What a driver says of a link that is down: nothing, that its own cable is out, also that the other end is dark. */
enum fab_reasons { FAB_NO_REASON, FAB_OWN_CABLE, FAB_BOTH_ENDS };

/* Everything in which one vendor's driver differs from another's. */
struct fab_personality {
  const char* name;
  const char* driver; /* ethtool -i and the sysfs driver link */
  const char* fw_version;
  u16 vendor, device;
  const struct dcbnl_rtnl_ops* dcbnl; /* NULL: no DCB at all */
  const char* priv_flag;              /* name of the only private flag, or NULL: firmware LLDP agent */
  bool priv_flag_disables;            /* it is on when the agent is off */
  u32 ring_max, ring_default;
  u16 pfc_watchdog;             /* default of ethtool's pfc-prevention-tout in ms; 0: no such tunable */
  u32 ring_multiple;            /* 0: rounded up to a power of two */
  bool hides_pause;             /* global pause reads as off while PFC is on */
  bool reopens;                 /* rings and channels: NIC is closed and opened, link goes down */
  bool reopens_for_trust;       /* a change of trust: the same */
  bool optional_counters;       /* its RDMA device has some that can be turned on */
  bool vnic;                    /* it has a devlink instance, with the health reporter vnic */
  enum fab_reasons reasons;     /* get_link_ext_state() */
  bool tclass;                  /* its RDMA device has tc/1/traffic_class */
  const struct fab_stat* stats; /* ends with an entry without a name */

  /* firmware defaults; then what the driver does at each (re-)initialisation */
  void (*fw_reset)(struct fab_nic* nic);
  void (*driver_init)(struct fab_nic* nic);
  void (*registered)(struct fab_nic* nic); /* just after the netdev was made, still under RTNL */
  void (*attach)(struct fab_nic* nic);     /* then: its files in debugfs, sysfs and configfs */
  int (*getets)(struct fab_nic* nic, struct ieee_ets* ets);
  int (*setets)(struct fab_nic* nic, struct ieee_ets* ets);
  int (*getpfc)(struct fab_nic* nic, struct ieee_pfc* pfc);
  int (*setpfc)(struct fab_nic* nic, struct ieee_pfc* pfc);
  int (*setapp)(struct fab_nic* nic, struct dcb_app* app);
  int (*delapp)(struct fab_nic* nic, struct dcb_app* app);
  u8 (*setdcbx)(struct fab_nic* nic, u8 mode);
  int (*setbuffer)(struct fab_nic* nic, struct dcbnl_buffer* buffer);
  int (*setmaxrate)(struct fab_nic* nic, struct ieee_maxrate* rate);
  int (*setpause)(struct fab_nic* nic, const struct ethtool_pauseparam* pause);
  int (*setprivflag)(struct fab_nic* nic, bool on);
  int (*setfec)(struct fab_nic* nic, u32 fec); /* NULL: any one mode */
  /* priority of a packet, from its DSCP (-1: not IP) and its VLAN priority (-1: untagged) */
  int (*classify)(struct fab_nic* nic, int dscp, int pcp);
  bool (*pauses)(struct fab_nic* nic, int prio); /* whether the NIC sends PFC frames of it; NULL: as pfc_en says */
};

struct fab_nic {
  struct pci_dev* pdev;
  int index; /* in PCI address order */
  struct fab_nic __rcu* peer;
  struct net_device __rcu* nd; /* NULL while the driver is away */
  spinlock_t nd_lock;          /* for readers that need neither RTNL nor RCU: see fabsim_get_netdev() */
  const struct fab_personality *pers, *next_pers;
  u16 true_vendor, true_device; /* QEMU's identity, put back at unload */
  u32 true_class;
  u8 mac[ETH_ALEN];
  bool removed; /* stays away until "reload" */
  bool want_fw_reset;

  /* settings of driver and firmware */
  struct ieee_ets ets;
  struct ieee_pfc pfc;
  struct ieee_maxrate rate;
  struct dcbnl_buffer buffer;
  struct ethtool_pauseparam pause;
  bool ets_known, pfc_known; /* bnxt: something was set since driver load */
  u8 queue[8];               /* bnxt: of each traffic class */
  bool dscp_mode;            /* packets are classified by DSCP */
  u8 dscp2prio[64];
  DECLARE_BITMAP(dscp_mapped, 64);
  int dscp_entries;
  u8 trust[8];
  int n_trust;
  u8 dcbx;
  bool manual_buffers; /* mlx5: the host, not firmware, sizes the buffers */
  bool lossless[8];    /* mlx5: of each buffer; no PFC is sent for another one */
  u32 last_xoff;       /* mlx5: priv->dcbx.xoff */
  bool fw_agent;       /* firmware LLDP agent runs */
  int n_apps;
  u32 rx_ring, tx_ring, channels, speed, fec;
  u16 pfc_watchdog;
  u8 autoneg;

  /* congestion control; not under RTNL, each value stands for itself */
  u32 cc[FAB_CC_PARAMS], cc_pending[FAB_CC_PARAMS];
  u32 cc_changed;   /* bnxt-oot: written, not applied */
  u8 ecn_enable[2]; /* RP, NP: bit = priority */
  struct mutex tclass_lock;
  int tclass; /* OFED: of all queue pairs, -1 = not set */
  struct fab_tclass_rule tclass_rule[FAB_TCLASS_RULES];
  struct dentry* cc_dir;
  struct kobject* ecn_dir[5];
  struct fab_cc_file cc_file[FAB_CC_FILES];

  /* devlink; NULL: the driver has none, or is away */
  struct devlink* devlink;
  struct devlink_health_reporter* reporters[FAB_REPORTERS];
  atomic64_t vnic[FAB_VNIC_COUNTERS];
  bool fw_dead;

  /* link */
  bool want_carrier;
  int flapping;
  struct delayed_work flap_work;

  /* counters: role_at[] is where the counter of a role begins in stat[] */
  atomic64_t stat[FAB_MAX_STATS];
  int role_at[FAB_ROLES];
  u8 (*eeprom)[128];

  /* test control */
  struct dentry* dir;
  struct work_struct vanish_work;
  spinlock_t call_lock;
  struct fab_fault faults[FAB_MAX_FAULTS];
  u64 calls[FAB_OPS];
  u32 delay_ms;
  struct fab_log_entry* log;
  int log_used;
  u64 log_lost;
};

struct fab_call {
  struct fab_nic* nic;
  enum fab_op op;
  enum fab_action action;
  int err;
  char args[FAB_ARGS_LEN];
};

/* core.c */
extern struct fab_nic* fab_nics[FAB_MAX_NICS];
extern int fab_n_nics;
extern unsigned int fab_flap_ms, fab_reopen_ms;
extern bool fab_fw_lldp;
void fab_driver_away(struct fab_nic* nic, bool removed);
int fab_driver_reload(struct fab_nic* nic, unsigned int ms, bool fw_reset);

/* call.c */
extern const char* const fab_op_names[FAB_OPS + 1];
__printf(4, 5) bool fab_begin(struct fab_call* call, struct fab_nic* nic, enum fab_op op, const char* fmt, ...);
int fab_end(struct fab_call* call, int err);
int fab_get(struct fab_nic* nic, enum fab_op op);

/* netdev.c */
struct net_device* fab_netdev(struct fab_nic* nic); /* under RTNL */
struct fab_nic* fab_nic(struct net_device* nd);
int fab_netdev_create(struct fab_nic* nic);
void fab_netdev_destroy(struct fab_nic* nic);
void fab_update_link(struct fab_nic* nic);
void fab_flap(struct fab_nic* nic, unsigned int ms);
void fab_flap_work(struct work_struct* work);
bool fabsim_owns(struct net_device* nd);
struct net_device* fabsim_get_netdev(int index);

/* personality.c, dcb_*.c, dcb.c */
extern const struct fab_personality fab_mlx5, fab_ofed, fab_bnxt, fab_bnxt_oot, fab_ice, fab_i40e, fab_nodcb, fab_full;
extern const struct fab_personality* const fab_personalities[];
extern const struct dcbnl_rtnl_ops fab_dcb_basic, fab_dcb_buffers, fab_dcb_all;
const struct fab_personality* fab_personality_by_name(const char* name);
void fab_common_reset(struct fab_nic* nic);
int fab_plain_getets(struct fab_nic* nic, struct ieee_ets* ets);
int fab_plain_getpfc(struct fab_nic* nic, struct ieee_pfc* pfc);

/* cc_mlx5.c, cc_bnxt.c */
void fab_mlx5_cc_reset(struct fab_nic* nic);
void fab_mlx5_attach(struct fab_nic* nic);
void fab_ofed_attach(struct fab_nic* nic);
void fab_bnxt_cc_reset(struct fab_nic* nic);
void fab_bnxt_attach(struct fab_nic* nic);
void fab_bnxt_oot_attach(struct fab_nic* nic);
void fab_bnxt_oot_exit(void);
void fab_cc_detach(struct fab_nic* nic);

/* devlink.c */
int fab_devlink_add(struct fab_nic* nic);
void fab_devlink_remove(struct fab_nic* nic);
int fab_vnic_set(struct fab_nic* nic, const char* name, bool add, s64 value);
const char* fab_vnic_at(struct fab_nic* nic, unsigned int i, s64* value);

/* rdma.c, for fabsim_ib */
bool fabsim_has_tclass(int index);
bool fabsim_has_optional_counters(int index);
void fabsim_tclass_reset(int index);
ssize_t fabsim_tclass_show(int index, char* buf);
int fabsim_tclass_store(int index, const char* buf);
int fabsim_set_counter(int index, const char* name, bool on);

/* stats.c */
extern const struct fab_stat fab_mlx5_stats[], fab_bnxt_stats[], fab_ice_stats[], fab_i40e_stats[], fab_ionic_stats[];
void fab_stats_layout(struct fab_nic* nic);
int fab_stats_walk(struct fab_nic* nic, bool visible_only, int (*visit)(void* arg, const char* name, atomic64_t* value),
                   void* arg);
#define FAB_NO_STAT (FAB_MAX_STATS - 8) /* where roles are counted that no counter of the personality has */
static inline bool fab_has_stat(struct fab_nic* nic, enum fab_role role) { return nic->role_at[role] != FAB_NO_STAT; }
static inline atomic64_t* fab_stat(struct fab_nic* nic, enum fab_role role, int prio) {
  return &nic->stat[nic->role_at[role] + (role >= FAB_PRIO_RX_PACKETS ? prio : 0)];
}

/* ethtool.c, eeprom.c, debugfs.c, pcicfg.c */
extern const struct ethtool_ops fab_ethtool_ops;
extern struct dentry *fab_mlx5_root, *fab_bnxt_root;
void fab_eeprom_defaults(struct fab_nic* nic);
u8* fab_eeprom_byte(struct fab_nic* nic, unsigned int page, unsigned int offset);
void fab_debugfs_init(void);
void fab_debugfs_exit(void);
void fab_debugfs_drivers_exit(void);
void fab_debugfs_add(struct fab_nic* nic);
int fab_cfg_set(struct pci_dev* pdev, int offset, int size, u32 value, u32 write_mask);
int fab_cfg_link(struct pci_dev* pdev, unsigned int speed, unsigned int width, unsigned int max_speed,
                 unsigned int max_width);
void fab_cfg_mrrs(struct pci_dev* pdev);
int fab_cfg_identity(struct pci_dev* pdev, u16 vendor, u16 device, u32 class);
ssize_t fab_cfg_command(const char* text);
void fab_cfg_exit(void);

#endif
