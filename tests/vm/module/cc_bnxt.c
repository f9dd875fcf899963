// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control of bnxt_re, one set of values in firmware behind two doors:
 *   debugfs bnxt_re/<PCI address>/cc_config/          Linux 6.15, drivers/infiniband/hw/bnxt_re/debugfs.c: personality "bnxt"
 *   configfs bnxt_re/<RDMA device>/ports/1/cc/        Broadcom's own module, configfs.c: personality "bnxt-oot"
 */
#include <linux/configfs.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include "driver_rules.h"
#include "fabsim.h"

#define params	rule_bnxt_cc_rows

static_assert(RULE_BNXT_CC_PARAMS <= FAB_CC_PARAMS);

void fab_bnxt_cc_reset(struct fab_nic *nic)
{
	int i;

	for (i = 0; i < RULE_BNXT_CC_PARAMS; i++) {
		WRITE_ONCE(nic->cc[i], params[i].value);
		WRITE_ONCE(nic->cc_pending[i], params[i].value);
	}
	nic->cc_changed = 0;
}

/* bnxt_re_cc_config_get(): tx_queue cannot be read */
static ssize_t param_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	struct fab_cc_file *f = file->private_data;
	int err = fab_get(f->nic, FAB_GETCC);
	char text[16];

	if (err || f->index == RULE_BNXT_TX_QUEUE)
		return err ?: -EINVAL;
	return simple_read_from_buffer(to, len, pos, text, scnprintf(text, sizeof(text), "%d\n", READ_ONCE(f->nic->cc[f->index])));
}

/* bnxt_re_cc_config_set(): firmware's refusal is not looked at, so it is success all the same */
static ssize_t param_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct fab_cc_file *f = file->private_data;
	struct fab_call call;
	int err = 0;
	u32 value;

	if (len >= 16 || kstrtou32_from_user(from, len, 0, &value))
		return -EINVAL;
	if (fab_begin(&call, f->nic, FAB_SETCC, "%s=%u", params[f->index].name, value)) {
		if (f->index == RULE_BNXT_TX_QUEUE)
			err = -EOPNOTSUPP;
		else if (rule_bnxt_cc_debugfs(&params[f->index], value, &value))
			WRITE_ONCE(f->nic->cc[f->index], value);
	}
	err = fab_end(&call, err);
	return err ?: len;
}

static const struct file_operations param_fops = {
	.owner = THIS_MODULE, .open = simple_open, .read = param_read, .write = param_write,
};

/* bnxt_re_debugfs_add_pdev() */
void fab_bnxt_attach(struct fab_nic *nic)
{
	struct dentry *dir;
	int i;

	nic->cc_dir = debugfs_create_dir(pci_name(nic->pdev), fab_bnxt_root);
	dir = debugfs_create_dir("cc_config", nic->cc_dir);
	for (i = 0; i < RULE_BNXT_CC_FILES; i++) {
		nic->cc_file[i].nic = nic;
		nic->cc_file[i].index = i;
		debugfs_create_file(params[i].name, 0400, dir, &nic->cc_file[i], &param_fops);
	}
}

/* Broadcom's module: what its setup script asks of "info" */
static int info_show(struct seq_file *m, void *v)
{
	seq_puts(m, "fw_service_prof_type_sup\t: 0\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(info);

/* The folders below one "mkdir": DEVICE, ports, 1, cc */
struct oot_device {
	struct config_group device, ports, port, cc;
};

static bool is_rdma_device(struct fab_nic *nic, const char *name)
{
	struct device *child = device_find_child_by_name(&nic->pdev->dev, name);
	bool is = child && child->class && !strcmp(child->class->name, "infiniband");

	put_device(child);
	return is;
}

static struct fab_nic *oot_nic(const char *name)
{
	int i;

	for (i = 0; i < fab_n_nics; i++)
		if (fab_nics[i]->pers == &fab_bnxt_oot && is_rdma_device(fab_nics[i], name))
			return fab_nics[i];
	return NULL;
}

static struct fab_nic *nic_of(struct config_item *item)
{
	struct oot_device *d = container_of(to_config_group(item), struct oot_device, cc);

	return oot_nic(config_item_name(&d->device.cg_item));
}

/* A file shows what was written to it last, whether it was applied or not; a driver's start and "wipe" forget it. */
static ssize_t oot_show(struct config_item *item, int i, char *buf)
{
	struct fab_nic *nic = nic_of(item);

	if (!nic)
		return -EINVAL;
	return fab_get(nic, FAB_GETCC) ?: sprintf(buf, "%#x\n", READ_ONCE(nic->cc_pending[i]));
}

static ssize_t oot_store(struct config_item *item, int i, const char *buf, size_t len)
{
	struct fab_nic *nic = nic_of(item);
	struct fab_call call;
	int err = 0;
	u32 value;

	if (!nic || sscanf(buf, "%x", &value) != 1)
		return -EINVAL;
	if (fab_begin(&call, nic, FAB_SETCC, "%s=%#x, not applied", params[i].name, value)) {
		err = rule_bnxt_cc_configfs(&params[i], value, &value);
		if (!err) {
			WRITE_ONCE(nic->cc_pending[i], value);
			nic->cc_changed |= BIT(i);
		}
	}
	err = fab_end(&call, err);
	return err ?: len;
}

#define OOT_FILE(_name, _index)										\
static ssize_t _name##_show(struct config_item *item, char *buf) { return oot_show(item, _index, buf); }	\
static ssize_t _name##_store(struct config_item *item, const char *buf, size_t len)			\
{													\
	return oot_store(item, _index, buf, len);							\
}													\
CONFIGFS_ATTR(, _name)

OOT_FILE(ecn_enable, RULE_BNXT_ENABLE);
OOT_FILE(ecn_marking, RULE_BNXT_TOS_ECN);
OOT_FILE(cc_mode, RULE_BNXT_CC_MODE);
OOT_FILE(cnp_prio, RULE_BNXT_ALT_VLAN_PCP);
OOT_FILE(roce_prio, RULE_BNXT_ROCE_PRIO);
OOT_FILE(roce_dscp, RULE_BNXT_TOS_DSCP);
OOT_FILE(cnp_dscp, RULE_BNXT_ALT_DSCP);
OOT_FILE(disable_prio_vlan_tx, RULE_BNXT_NO_PRIO_VLAN);

/* apply_show(): what firmware has */
static ssize_t apply_show(struct config_item *item, char *buf)
{
	static const char * const ecn[] = { "Not-ECT", "ECT(1)", "ECT(0)", "ECT(0)" };
	struct fab_nic *nic = nic_of(item);
	u32 *cc;

	if (!nic)
		return -EINVAL;
	cc = nic->cc;
	return fab_get(nic, FAB_GETCC) ?:
	       sprintf(buf, "ecn status (ecn_enable)\t\t\t\t\t: %s\n"
		       "ecn marking (ecn_marking)\t\t\t\t: %s\n"
		       "congestion control mode (cc_mode)\t\t\t: %s\n"
		       "send priority vlan (VLAN 0)\t\t\t\t: %s\n"
		       "running avg. weight(g)\t\t\t\t\t: %u\n"
		       "roce prio (roce_prio)\t\t\t\t\t: %u\n"
		       "roce dscp (roce_dscp)\t\t\t\t\t: %u\n"
		       "cnp prio (cnp_prio)\t\t\t\t\t: %u\n"
		       "cnp dscp (cnp_dscp)\t\t\t\t\t: %u\n",
		       cc[RULE_BNXT_ENABLE] ? "Enabled" : "Disabled", ecn[cc[RULE_BNXT_TOS_ECN] & 3], cc[RULE_BNXT_CC_MODE] ? "DCQCN-P" : "DCQCN-D",
		       cc[RULE_BNXT_NO_PRIO_VLAN] ? "Disabled" : "Enabled", cc[1], cc[RULE_BNXT_ROCE_PRIO], cc[RULE_BNXT_TOS_DSCP],
		       cc[RULE_BNXT_ALT_VLAN_PCP], cc[RULE_BNXT_ALT_DSCP]);
}

/*
 * bnxt_re_program_cnp_dcb_values(): without congestion control the module forgets what it has of CNPs and does not send it.
 * Then one command with what was written since the last time, which firmware takes or refuses as a whole.
 */
static int oot_apply(struct fab_nic *nic)
{
	int i;

	if (nic->cc_changed && !READ_ONCE(nic->cc_pending[RULE_BNXT_ENABLE])) {
		WRITE_ONCE(nic->cc_pending[RULE_BNXT_ALT_VLAN_PCP], 0);
		WRITE_ONCE(nic->cc_pending[RULE_BNXT_ALT_DSCP], 0);
		nic->cc_changed &= ~(BIT(RULE_BNXT_ALT_VLAN_PCP) | BIT(RULE_BNXT_ALT_DSCP));
	}
	for (i = 0; i < RULE_BNXT_CC_PARAMS; i++)
		if ((nic->cc_changed & BIT(i)) && nic->cc_pending[i] > params[i].max)
			return -EINVAL;
	for (i = 0; i < RULE_BNXT_CC_PARAMS; i++)
		if (nic->cc_changed & BIT(i))
			WRITE_ONCE(nic->cc[i], nic->cc_pending[i]);
	return 0;
}

/* apply_store(): only 1 does something */
static ssize_t apply_store(struct config_item *item, const char *buf, size_t len)
{
	struct fab_nic *nic = nic_of(item);
	struct fab_call call;
	int err = 0;
	u32 value;

	if (!nic || sscanf(buf, "%x", &value) != 1)
		return -EINVAL;
	if (fab_begin(&call, nic, FAB_SETCC, "apply=%#x", value) && value == 1)
		err = oot_apply(nic);
	nic->cc_changed = 0;
	err = fab_end(&call, err) ? -EINVAL : 0;
	return err ?: len;
}
CONFIGFS_ATTR(, apply);

static struct configfs_attribute *oot_attrs[] = {
	&attr_ecn_enable, &attr_ecn_marking, &attr_cc_mode, &attr_cnp_prio, &attr_roce_prio, &attr_roce_dscp, &attr_cnp_dscp,
	&attr_disable_prio_vlan_tx, &attr_apply, NULL,
};

static void oot_release(struct config_item *item)
{
	kfree(container_of(to_config_group(item), struct oot_device, device));
}

static struct configfs_item_operations oot_device_ops = { .release = oot_release };
static const struct config_item_type oot_device_type = { .ct_owner = THIS_MODULE, .ct_item_ops = &oot_device_ops };
static const struct config_item_type oot_folder_type = { .ct_owner = THIS_MODULE };
static const struct config_item_type oot_cc_type = { .ct_owner = THIS_MODULE, .ct_attrs = oot_attrs };

static struct config_group *oot_make(struct config_group *group, const char *name)
{
	struct oot_device *d;

	if (!oot_nic(name))
		return ERR_PTR(-ENODEV);
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return ERR_PTR(-ENOMEM);
	config_group_init_type_name(&d->device, name, &oot_device_type);
	config_group_init_type_name(&d->ports, "ports", &oot_folder_type);
	config_group_init_type_name(&d->port, "1", &oot_folder_type);
	config_group_init_type_name(&d->cc, "cc", &oot_cc_type);
	configfs_add_default_group(&d->ports, &d->device);
	configfs_add_default_group(&d->port, &d->ports);
	configfs_add_default_group(&d->cc, &d->port);
	return &d->device;
}

static void oot_drop(struct config_group *group, struct config_item *item)
{
	struct oot_device *d = container_of(to_config_group(item), struct oot_device, device);

	configfs_remove_default_groups(&d->port);
	configfs_remove_default_groups(&d->ports);
	configfs_remove_default_groups(&d->device);
	config_item_put(item);
}

static struct configfs_group_operations oot_root_ops = { .make_group = oot_make, .drop_item = oot_drop };
static const struct config_item_type oot_root_type = { .ct_owner = THIS_MODULE, .ct_group_ops = &oot_root_ops };
static struct configfs_subsystem oot_root = {
	.su_group = { .cg_item = { .ci_namebuf = "bnxt_re", .ci_type = &oot_root_type } },
};
static bool oot_registered;

/* Its folder in configfs comes with the first NIC that has this driver and stays until fabsim is unloaded.  Under RTNL. */
void fab_bnxt_oot_attach(struct fab_nic *nic)
{
	nic->cc_dir = debugfs_create_dir(pci_name(nic->pdev), fab_bnxt_root);
	debugfs_create_file("info", 0400, nic->cc_dir, nic, &info_fops);
	if (oot_registered)
		return;
	config_group_init(&oot_root.su_group);
	mutex_init(&oot_root.su_mutex);
	oot_registered = !configfs_register_subsystem(&oot_root);
}

void fab_bnxt_oot_exit(void)
{
	if (oot_registered)
		configfs_unregister_subsystem(&oot_root);
}
