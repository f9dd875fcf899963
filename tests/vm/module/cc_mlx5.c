// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control of mlx5, one set of values in firmware behind two doors:
 *   debugfs mlx5/<PCI address>/cc_params/   Linux 6.12, drivers/infiniband/hw/mlx5/cong.c
 *   sysfs <netdev>/ecn/roce_{rp,np}/        OFED and DOCA, mlx5/core/en_ecn.c and en_sysfs.c: personality "ofed" only
 *
 * Parameters, ranges and defaults: driver_rules.h.
 */
#include <linux/debugfs.h>
#include <linux/rtnetlink.h>
#include <linux/uaccess.h>
#include "driver_rules.h"
#include "fabsim.h"

#define params	rule_mlx5_cc_rows
#define N_PARAMS	(FAB_HAVE_RTT_RESP ? RULE_MLX5_CC_PARAMS : RULE_MLX5_CC_RTT_VALID)

static_assert(RULE_MLX5_CC_PARAMS <= FAB_CC_PARAMS && FAB_CC_PARAMS + 16 <= FAB_CC_FILES);

/* Firmware starts with what is in NV configuration: DCQCN on for all priorities. */
void fab_mlx5_cc_reset(struct fab_nic *nic)
{
	int i;

	for (i = 0; i < N_PARAMS; i++)
		WRITE_ONCE(nic->cc[i], params[i].value);
	WRITE_ONCE(nic->ecn_enable[0], 0xff);
	WRITE_ONCE(nic->ecn_enable[1], 0xff);
}

static int set_param(struct fab_nic *nic, int i, u32 value)
{
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETCC, "%s=%u", params[i].name, value)) {
		err = rule_mlx5_cc_write(&params[i], value, &value);
		if (!err) {
			WRITE_ONCE(nic->cc[i], value);
			if (params[i].sets)
				WRITE_ONCE(nic->cc[params[i].sets], params[i].to);
		}
	}
	return fab_end(&call, err);
}

static ssize_t param_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	struct fab_cc_file *f = file->private_data;
	int err = fab_get(f->nic, FAB_GETCC);
	char text[16];

	if (err)
		return err;
	return simple_read_from_buffer(to, len, pos, text, scnprintf(text, sizeof(text), "%u\n", READ_ONCE(f->nic->cc[f->index])));
}

static ssize_t param_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct fab_cc_file *f = file->private_data;
	u32 value;
	int err = kstrtou32_from_user(from, len, 0, &value);

	if (!err)
		err = set_param(f->nic, f->index, value);
	return err ?: len;
}

static const struct file_operations param_fops = {
	.owner = THIS_MODULE, .open = simple_open, .read = param_read, .write = param_write,
};

/* mlx5_ib_init_cong_debugfs() */
void fab_mlx5_attach(struct fab_nic *nic)
{
	struct dentry *dir;
	int i;

	nic->cc_dir = debugfs_create_dir(pci_name(nic->pdev), fab_mlx5_root);
	dir = debugfs_create_dir("cc_params", nic->cc_dir);
	for (i = 0; i < N_PARAMS; i++) {
		nic->cc_file[i].nic = nic;
		nic->cc_file[i].index = i;
		debugfs_create_file(params[i].name, 0600, dir, &nic->cc_file[i], &param_fops);
	}
}

void fab_cc_detach(struct fab_nic *nic)
{
	int i;

	debugfs_remove_recursive(nic->cc_dir);
	nic->cc_dir = NULL;
	for (i = ARRAY_SIZE(nic->ecn_dir) - 1; i >= 0; i--) {
		kobject_put(nic->ecn_dir[i]);
		nic->ecn_dir[i] = NULL;
	}
}

/* OFED */
static struct fab_cc_file *file_of(struct kobj_attribute *attr)
{
	return container_of(attr, struct fab_cc_file, attr);
}

static ssize_t ofed_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct fab_cc_file *f = file_of(attr);

	return fab_get(f->nic, FAB_GETCC) ?: sysfs_emit(buf, "%d\n", (int)READ_ONCE(f->nic->cc[f->index]));
}

static ssize_t ofed_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t len)
{
	struct fab_cc_file *f = file_of(attr);
	int value;

	if (sscanf(buf, "%d", &value) != 1)
		return -EINVAL;
	return set_param(f->nic, f->index, value) ?: len;
}

/* index of an enable file: 8 * (0 RP, 1 NP) + priority.  A query that fails reads as nothing. */
static ssize_t enable_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct fab_cc_file *f = file_of(attr);

	if (fab_get(f->nic, FAB_GETCC))
		return 0;
	return sysfs_emit(buf, "%d\n", READ_ONCE(f->nic->ecn_enable[f->index / 8]) >> f->index % 8 & 1);
}

static ssize_t enable_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t len)
{
	struct fab_cc_file *f = file_of(attr);
	u8 *mask = &f->nic->ecn_enable[f->index / 8];
	int on, prio = f->index % 8, err = 0;
	struct fab_call call;

	if (sscanf(buf, "%d", &on) != 1)
		return -EINVAL;
	on &= 1;
	if ((READ_ONCE(*mask) >> prio & 1) == on)
		return len;
	if (fab_begin(&call, f->nic, FAB_SETCC, "%s enable/%d=%d", f->index < 8 ? "rp" : "np", prio, on))
		WRITE_ONCE(*mask, (READ_ONCE(*mask) & ~BIT(prio)) | on << prio);
	err = fab_end(&call, err);
	return err ?: len;
}

static void ofed_file(struct fab_nic *nic, struct kobject *dir, int file, const char *name, int index, bool enable)
{
	struct fab_cc_file *f = &nic->cc_file[file];

	f->nic = nic;
	f->index = index;
	sysfs_attr_init(&f->attr.attr);
	f->attr.attr.name = name;
	f->attr.attr.mode = 0644;
	f->attr.show = enable ? enable_show : ofed_show;
	f->attr.store = enable ? enable_store : ofed_store;
	if (sysfs_create_file(dir, &f->attr.attr))
		pr_warn("fabsim: no file %s\n", name);
}

/* Folders in the order in which they are made: ecn, roce_rp, roce_rp/enable, roce_np, roce_np/enable */
void fab_ofed_attach(struct fab_nic *nic)
{
	static const char * const dirs[] = { "ecn", "roce_rp", "enable", "roce_np", "enable" };
	static const int parent[] = { -1, 0, 1, 0, 3 };
	static const char * const prio[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
	int i;

	static_assert(ARRAY_SIZE(dirs) == ARRAY_SIZE(nic->ecn_dir));
	fab_mlx5_attach(nic);
	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		nic->ecn_dir[i] = kobject_create_and_add(dirs[i], i ? nic->ecn_dir[parent[i]] : &fab_netdev(nic)->dev.kobj);
		if (!nic->ecn_dir[i])
			return;
	}
	for (i = 0; i < N_PARAMS; i++)
		if (params[i].ofed)
			ofed_file(nic, nic->ecn_dir[i < RULE_MLX5_CC_NP ? 1 : 3], i, params[i].ofed, i, false);
	for (i = 0; i < 16; i++)
		ofed_file(nic, nic->ecn_dir[i < 8 ? 2 : 4], FAB_CC_PARAMS + i, prio[i % 8], i, true);
}
