// SPDX-License-Identifier: GPL-2.0
/*
 * Control files: /sys/kernel/debug/fabsim/cfg and /sys/kernel/debug/fabsim/<PCI address>/...; see ../README.md for their words.
 */
#include <linux/debugfs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include "fabsim.h"

static struct dentry *fab_root;
struct dentry *fab_mlx5_root, *fab_bnxt_root;	/* where the drivers have theirs */

/* Each control is a show function and a store function that gets the text as a stripped string. */
#define FAB_CONTROL(_name)										\
static int _name##_open(struct inode *inode, struct file *file)						\
{													\
	return single_open(file, _name##_show, inode->i_private);					\
}													\
static ssize_t _name##_write(struct file *file, const char __user *from, size_t len, loff_t *pos)	\
{													\
	char text[128];											\
	int err;											\
													\
	if (len >= sizeof(text))									\
		return -EINVAL;										\
	if (copy_from_user(text, from, len))								\
		return -EFAULT;										\
	text[len] = 0;											\
	err = _name##_store(((struct seq_file *)file->private_data)->private, strim(text));		\
	return err ? err : len;										\
}													\
static const struct file_operations _name##_fops = {							\
	.owner = THIS_MODULE, .open = _name##_open, .read = seq_read, .write = _name##_write,		\
	.llseek = seq_lseek, .release = single_release,							\
}

/* stat: "NAME VALUE" sets a counter, "NAME +N" raises it */
struct fab_set_stat {
	const char *name;
	bool add;
	s64 value;
};

/* name has room for 40 characters */
static int fab_parse_set(char *text, char *name, struct fab_set_stat *set)
{
	char value[24];

	if (sscanf(text, "%39s %23s", name, value) != 2)
		return -EINVAL;
	set->name = name;
	set->add = value[0] == '+';
	return kstrtos64(value + set->add, 0, &set->value);
}

static int fab_visit_set(void *arg, const char *name, atomic64_t *value)
{
	struct fab_set_stat *set = arg;

	if (strcmp(name, set->name))
		return 0;
	if (set->add)
		atomic64_add(set->value, value);
	else
		atomic64_set(value, set->value);
	return 1;
}

static int stat_store(struct fab_nic *nic, char *text)
{
	struct fab_set_stat set;
	char name[40];

	if (fab_parse_set(text, name, &set))
		return -EINVAL;
	return fab_stats_walk(nic, false, fab_visit_set, &set) ? 0 : -ENOENT;
}

static int fab_visit_show(void *arg, const char *name, atomic64_t *value)
{
	seq_printf(arg, "%s %lld\n", name, (s64)atomic64_read(value));
	return 0;
}

static int stat_show(struct seq_file *m, void *v)
{
	fab_stats_walk(m->private, false, fab_visit_show, m);
	return 0;
}
FAB_CONTROL(stat);

/* vnic: the same of the counters of mlx5's health reporter, and "fw_fatal 0|1" */
static int vnic_store(struct fab_nic *nic, char *text)
{
	struct fab_set_stat set;
	char name[40];

	if (fab_parse_set(text, name, &set))
		return -EINVAL;
	return fab_vnic_set(nic, name, set.add, set.value);
}

static int vnic_show(struct seq_file *m, void *v)
{
	const char *name;
	unsigned int i;
	s64 value;

	for (i = 0; (name = fab_vnic_at(m->private, i, &value)); i++)
		seq_printf(m, "%s %lld\n", name, value);
	return 0;
}
FAB_CONTROL(vnic);

/* calls: how often each operation was called; any write resets */
static int calls_store(struct fab_nic *nic, char *text)
{
	spin_lock(&nic->call_lock);
	memset(nic->calls, 0, sizeof(nic->calls));
	spin_unlock(&nic->call_lock);
	return 0;
}

static int calls_show(struct seq_file *m, void *v)
{
	struct fab_nic *nic = m->private;
	int i;

	for (i = 0; i < FAB_OPS; i++)
		seq_printf(m, "%s %llu\n", fab_op_names[i], nic->calls[i]);
	return 0;
}
FAB_CONTROL(calls);

/* log: the operations that change something, in order; any write empties it */
static int log_store(struct fab_nic *nic, char *text)
{
	spin_lock(&nic->call_lock);
	nic->log_used = 0;
	nic->log_lost = 0;
	spin_unlock(&nic->call_lock);
	return 0;
}

static int log_show(struct seq_file *m, void *v)
{
	struct fab_nic *nic = m->private;
	int i;

	for (i = 0; i < READ_ONCE(nic->log_used); i++) {
		struct fab_log_entry *e = &nic->log[i];
		u64 s = e->ns;
		u32 ns = do_div(s, NSEC_PER_SEC);

		seq_printf(m, "%llu.%06u %s %s -> %d\n", s, ns / 1000, fab_op_names[e->op], e->args, e->result);
	}
	if (nic->log_lost)
		seq_printf(m, "lost %llu\n", nic->log_lost);
	return 0;
}
FAB_CONTROL(log);

/* fail: "OP ACTION [COUNT [SKIP]]" or "clear" */
static const char * const fab_actions[] = {
	[FAB_IGNORE] = "ignore", [FAB_KILL] = "kill", [FAB_KILLAFTER] = "killafter", [FAB_VANISH] = "vanish",
};

static int fail_store(struct fab_nic *nic, char *text)
{
	struct fab_fault f = { .count = 1 };
	char op[20], action[20];
	int i, err = -ENOSPC;

	if (!strcmp(text, "clear")) {
		spin_lock(&nic->call_lock);
		memset(nic->faults, 0, sizeof(nic->faults));
		spin_unlock(&nic->call_lock);
		return 0;
	}
	if (sscanf(text, "%19s %19s %d %d", op, action, &f.count, &f.skip) < 2)
		return -EINVAL;
	for (f.op = 0; strcmp(op, fab_op_names[f.op]); f.op++)
		if (f.op == FAB_ANY)
			return -EINVAL;
	for (f.action = FAB_IGNORE; f.action <= FAB_VANISH && strcmp(action, fab_actions[f.action]); f.action++)
		;
	if (f.action > FAB_VANISH) {
		if (kstrtoint(action, 0, &f.err) || !f.err)
			return -EINVAL;
		f.action = FAB_ERRNO;
		f.err = -abs(f.err);
	}
	spin_lock(&nic->call_lock);
	for (i = 0; i < FAB_MAX_FAULTS && err; i++) {
		if (nic->faults[i].count)
			continue;
		nic->faults[i] = f;
		err = 0;
	}
	spin_unlock(&nic->call_lock);
	return err;
}

static int fail_show(struct seq_file *m, void *v)
{
	struct fab_nic *nic = m->private;
	int i;

	for (i = 0; i < FAB_MAX_FAULTS; i++) {
		struct fab_fault *f = &nic->faults[i];

		if (!f->count)
			continue;
		if (f->action == FAB_ERRNO)
			seq_printf(m, "%s %d %d %d\n", fab_op_names[f->op], -f->err, f->count, f->skip);
		else
			seq_printf(m, "%s %s %d %d\n", fab_op_names[f->op], fab_actions[f->action], f->count, f->skip);
	}
	return 0;
}
FAB_CONTROL(fail);

/* carrier: 0 = cable pulled, 1 = plugged in */
static int carrier_store(struct fab_nic *nic, char *text)
{
	bool on;

	if (kstrtobool(text, &on))
		return -EINVAL;
	rtnl_lock();
	nic->want_carrier = on;
	fab_update_link(nic);
	rtnl_unlock();
	return 0;
}

static int carrier_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", ((struct fab_nic *)m->private)->want_carrier);
	return 0;
}
FAB_CONTROL(carrier);

/* reload: "MS [fw]": the driver goes for MS milliseconds and comes back; with fw, firmware is reset meanwhile */
static int reload_store(struct fab_nic *nic, char *text)
{
	unsigned int ms = 0;
	char word[8] = "";

	if (sscanf(text, "%u %7s", &ms, word) < 1 || (word[0] && strcmp(word, "fw")))
		return -EINVAL;
	return fab_driver_reload(nic, ms, word[0]);
}

static int reload_show(struct seq_file *m, void *v)
{
	struct fab_nic *nic = m->private;

	seq_printf(m, "%d\n", !!rcu_access_pointer(nic->nd));
	return 0;
}
FAB_CONTROL(reload);

/* remove: the NIC goes and stays away until "reload" */
static int remove_store(struct fab_nic *nic, char *text)
{
	fab_driver_away(nic, true);
	return 0;
}

static int remove_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", ((struct fab_nic *)m->private)->removed);
	return 0;
}
FAB_CONTROL(remove);

/*
 * wipe: firmware forgets ETS, PFC, buffers, rates, pause, DCBX and trust, without a notification.  The driver's memory of its APP
 * entries and the kernel's list of them stay.
 */
static int wipe_store(struct fab_nic *nic, char *text)
{
	rtnl_lock();
	nic->pers->fw_reset(nic);
	fab_update_link(nic);
	rtnl_unlock();
	return 0;
}

static int wipe_show(struct seq_file *m, void *v)
{
	return 0;
}
FAB_CONTROL(wipe);

/* personality: takes effect at the next reload */
static int personality_store(struct fab_nic *nic, char *text)
{
	const struct fab_personality *pers = fab_personality_by_name(text);

	if (!pers)
		return -EINVAL;
	nic->next_pers = pers;
	return 0;
}

static int personality_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s\n", ((struct fab_nic *)m->private)->pers->name);
	return 0;
}
FAB_CONTROL(personality);

/* peer: number of the NIC at the other end of the cable, -1 = none */
static void fab_unwire(struct fab_nic *nic)
{
	struct fab_nic *peer = rtnl_dereference(nic->peer);

	RCU_INIT_POINTER(nic->peer, NULL);
	if (peer) {
		RCU_INIT_POINTER(peer->peer, NULL);
		fab_update_link(peer);
	}
	fab_update_link(nic);
}

static int peer_store(struct fab_nic *nic, char *text)
{
	int index;

	if (kstrtoint(text, 0, &index) || index < -1 || index >= fab_n_nics || index == nic->index)
		return -EINVAL;
	rtnl_lock();
	fab_unwire(nic);
	if (index >= 0) {
		fab_unwire(fab_nics[index]);
		rcu_assign_pointer(nic->peer, fab_nics[index]);
		rcu_assign_pointer(fab_nics[index]->peer, nic);
		fab_update_link(nic);
	}
	rtnl_unlock();
	return 0;
}

static int peer_show(struct seq_file *m, void *v)
{
	struct fab_nic *peer;

	rcu_read_lock();
	peer = rcu_dereference(((struct fab_nic *)m->private)->peer);
	seq_printf(m, "%d\n", peer ? peer->index : -1);
	rcu_read_unlock();
	return 0;
}
FAB_CONTROL(peer);

/* lossless: bit = priority whose packets the NIC does not drop, because it sends PFC frames of it */
static int lossless_store(struct fab_nic *nic, char *text)
{
	return -EPERM;
}

static int lossless_show(struct seq_file *m, void *v)
{
	struct fab_nic *nic = m->private;
	unsigned int prio, out = 0;

	for (prio = 0; prio < 8; prio++)
		if (nic->pers->pauses ? nic->pers->pauses(nic, prio) : nic->pfc.pfc_en >> prio & 1)
			out |= 1u << prio;
	seq_printf(m, "0x%02x\n", out);
	return 0;
}
FAB_CONTROL(lossless);

/* delay_ms: how long each operation that changes something takes */
static int delay_ms_store(struct fab_nic *nic, char *text)
{
	return kstrtouint(text, 0, &nic->delay_ms);
}

static int delay_ms_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", ((struct fab_nic *)m->private)->delay_ms);
	return 0;
}
FAB_CONTROL(delay_ms);

/* eeprom: "PAGE OFFSET VALUE" (hexadecimal) changes a byte of the module's memory, "default" restores all */
static int eeprom_store(struct fab_nic *nic, char *text)
{
	unsigned int page, offset, value;
	u8 *byte;

	if (!strcmp(text, "default")) {
		fab_eeprom_defaults(nic);
		return 0;
	}
	if (sscanf(text, "%x %x %x", &page, &offset, &value) != 3)
		return -EINVAL;
	byte = fab_eeprom_byte(nic, page, offset);
	if (!byte)
		return -EINVAL;
	*byte = value;
	return 0;
}

static int eeprom_show(struct seq_file *m, void *v)
{
	return 0;
}
FAB_CONTROL(eeprom);

/* cfg: one for all; see fab_cfg_command() */
static int cfg_store(void *unused, char *text)
{
	return fab_cfg_command(text);
}

static int cfg_show(struct seq_file *m, void *v)
{
	return 0;
}
FAB_CONTROL(cfg);

static const struct {
	const char *name;
	const struct file_operations *fops;
} fab_controls[] = {
	{ "stat", &stat_fops }, { "vnic", &vnic_fops }, { "calls", &calls_fops }, { "log", &log_fops }, { "fail", &fail_fops },
	{ "carrier", &carrier_fops }, { "reload", &reload_fops }, { "remove", &remove_fops }, { "wipe", &wipe_fops },
	{ "personality", &personality_fops }, { "peer", &peer_fops }, { "delay_ms", &delay_ms_fops }, { "eeprom", &eeprom_fops },
	{ "lossless", &lossless_fops },
};

void fab_debugfs_init(void)
{
	fab_mlx5_root = debugfs_create_dir("mlx5", NULL);
	fab_bnxt_root = debugfs_create_dir("bnxt_re", NULL);
	fab_root = debugfs_create_dir("fabsim", NULL);
	debugfs_create_file("cfg", 0600, fab_root, NULL, &cfg_fops);
}

void fab_debugfs_exit(void)
{
	debugfs_remove_recursive(fab_root);
}

/* When no NIC has a driver any more. */
void fab_debugfs_drivers_exit(void)
{
	debugfs_remove_recursive(fab_mlx5_root);
	debugfs_remove_recursive(fab_bnxt_root);
}

void fab_debugfs_add(struct fab_nic *nic)
{
	int i;

	nic->dir = debugfs_create_dir(pci_name(nic->pdev), fab_root);
	for (i = 0; i < ARRAY_SIZE(fab_controls); i++)
		debugfs_create_file(fab_controls[i].name, 0600, nic->dir, nic, fab_controls[i].fops);
}
