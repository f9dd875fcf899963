// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the functions that QEMU provides, gives them the identity of GPUs and NICs, and drives the NICs under the names of the
 * real drivers.
 *
 *   QEMU e1000e with subsystem vendor 15b3 -> a NIC, numbered in PCI address order; identity by its personality
 *   QEMU bochs-display (1234:1111)         -> a GPU (10de:2330, class 0302)
 *
 * There is no module device table: the module is loaded on purpose only, and no real driver for these functions may be present.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>
#include "fabsim.h"

#define FAB_GPU_VENDOR	0x10de
#define FAB_GPU_DEVICE	0x2330
#define FAB_GPU_CLASS	0x030200	/* 3D controller */
#define FAB_NIC_CLASS	0x020000
#define FAB_GEN5	5		/* 32 GT/s */
#define FAB_GEN3	3

static char *personality = "mlx5";
module_param(personality, charp, 0444);
MODULE_PARM_DESC(personality, "personality of each NIC in PCI address order, comma separated; the last one holds for the rest");
static char *degraded = "";
module_param(degraded, charp, 0444);
MODULE_PARM_DESC(degraded, "PCI addresses of NICs or GPUs whose link came up as 8 GT/s x8 instead of 32 GT/s x16, comma separated");
unsigned int fab_flap_ms = 200;
module_param_named(flap_ms, fab_flap_ms, uint, 0644);
MODULE_PARM_DESC(flap_ms, "how long the link is down after a change that retrains it");
unsigned int fab_reopen_ms = 50;
module_param_named(reopen_ms, fab_reopen_ms, uint, 0644);
MODULE_PARM_DESC(reopen_ms, "how long the link is down when a driver closes and opens the NIC for a change");
static int cards[FAB_MAX_NICS];
static unsigned int n_cards;
module_param_array(cards, int, &n_cards, 0444);
MODULE_PARM_DESC(cards, "which card is in each NIC's slot, in PCI address order: its permanent address follows; absent: 0,1,2,...");
bool fab_fw_lldp;
module_param_named(fw_lldp, fab_fw_lldp, bool, 0444);
MODULE_PARM_DESC(fw_lldp, "ice and i40e boot with their firmware LLDP agent on");

struct fab_nic *fab_nics[FAB_MAX_NICS];
int fab_n_nics;
static struct pci_dev *fab_gpus[FAB_MAX_NICS];
static int fab_n_gpus;
static DEFINE_MUTEX(fab_reload_lock);

static struct fab_nic *fab_nic_of(struct pci_dev *pdev)
{
	int i;

	for (i = 0; i < fab_n_nics; i++)
		if (fab_nics[i]->pdev == pdev)
			return fab_nics[i];
	return NULL;
}

/* Drivers.  All share these two functions; a driver takes only the NICs whose personality names it. */
static int fab_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct fab_nic *nic = fab_nic_of(pdev);
	int err;

	if (!nic || nic->removed || strcmp(pdev->driver->name, nic->pers->driver))
		return -ENODEV;
	err = pcim_enable_device(pdev);
	if (!err)
		err = fab_devlink_add(nic);
	if (err)
		return err;
	err = fab_netdev_create(nic);
	if (err)
		fab_devlink_remove(nic);
	return err;
}

static void fab_remove(struct pci_dev *pdev)
{
	struct fab_nic *nic = fab_nic_of(pdev);

	fab_netdev_destroy(nic);
	fab_devlink_remove(nic);
}

#define FAB_DRIVER(_name, _vendor, _device)								\
	{												\
		.name = _name, .probe = fab_probe, .remove = fab_remove,				\
		.id_table = (const struct pci_device_id[]) { { PCI_DEVICE(_vendor, _device) }, { } },	\
	}

static struct pci_driver fab_drivers[] = {
	FAB_DRIVER("mlx5_core", 0x15b3, 0x1021),
	FAB_DRIVER("bnxt_en", 0x14e4, 0x1760),
	FAB_DRIVER("ice", 0x8086, 0x1592),
	FAB_DRIVER("i40e", 0x8086, 0x1583),
	FAB_DRIVER("ionic", 0x1dd8, 0x1002),
	FAB_DRIVER("fabsim", 0x1055, 0x9660),
};

/* The driver lets go of the NIC: netdev and RDMA device disappear. */
void fab_driver_away(struct fab_nic *nic, bool removed)
{
	mutex_lock(&fab_reload_lock);
	nic->removed = removed;
	device_release_driver(&nic->pdev->dev);
	mutex_unlock(&fab_reload_lock);
}

static int fab_become(struct fab_nic *nic, const struct fab_personality *pers)
{
	nic->pers = pers;
	fab_stats_layout(nic);
	pers->fw_reset(nic);
	return fab_cfg_identity(nic->pdev, pers->vendor, pers->device, FAB_NIC_CLASS);
}

/* Driver gone for ms milliseconds, then back, as another vendor's card where that was asked for. */
int fab_driver_reload(struct fab_nic *nic, unsigned int ms, bool fw_reset)
{
	int ret;

	mutex_lock(&fab_reload_lock);
	device_release_driver(&nic->pdev->dev);
	msleep(ms);
	rtnl_lock();
	nic->want_fw_reset |= fw_reset;
	if (nic->next_pers && nic->next_pers != nic->pers)
		fab_become(nic, nic->next_pers);
	nic->next_pers = NULL;
	rtnl_unlock();
	nic->removed = false;
	ret = device_attach(&nic->pdev->dev);
	mutex_unlock(&fab_reload_lock);
	if (ret > 0)
		return 0;
	return ret ?: -ENODEV;
}

static void fab_vanish_work(struct work_struct *work)
{
	fab_driver_away(container_of(work, struct fab_nic, vanish_work), true);
}

static int fab_by_address(const void *a, const void *b)
{
	const struct pci_dev *p = *(struct pci_dev **)a, *q = *(struct pci_dev **)b;

	if (pci_domain_nr(p->bus) != pci_domain_nr(q->bus))
		return pci_domain_nr(p->bus) < pci_domain_nr(q->bus) ? -1 : 1;
	return (p->bus->number << 8 | p->devfn) - (q->bus->number << 8 | q->devfn);
}

static void fab_set_link_registers(struct pci_dev *pdev)
{
	bool bad = strstr(degraded, pci_name(pdev));

	fab_cfg_link(pdev, bad ? FAB_GEN3 : FAB_GEN5, bad ? 8 : 16, FAB_GEN5, 16);
}

static int fab_add_nic(struct pci_dev *pdev, int index, const struct fab_personality *pers)
{
	struct fab_nic *nic = kvzalloc(sizeof(*nic), GFP_KERNEL);

	if (!nic)
		return -ENOMEM;
	nic->log = vzalloc(array_size(FAB_LOG_ENTRIES, sizeof(*nic->log)));
	nic->eeprom = kcalloc(FAB_EEPROM_PAGES, sizeof(*nic->eeprom), GFP_KERNEL);
	if (!nic->log || !nic->eeprom) {
		vfree(nic->log);
		kfree(nic->eeprom);
		kvfree(nic);
		return -ENOMEM;
	}
	nic->pdev = pdev;
	nic->index = index;
	nic->true_vendor = pdev->vendor;
	nic->true_device = pdev->device;
	nic->true_class = pdev->class;
	nic->want_carrier = true;
	nic->fw_agent = fab_fw_lldp;
	nic->tclass = -1;
	nic->mac[0] = 0x02;
	nic->mac[1] = 0xfa;
	nic->mac[2] = 0xb0;
	nic->mac[5] = ((unsigned int)index < n_cards ? cards[index] : index) + 1;
	spin_lock_init(&nic->nd_lock);
	spin_lock_init(&nic->call_lock);
	mutex_init(&nic->tclass_lock);
	INIT_DELAYED_WORK(&nic->flap_work, fab_flap_work);
	INIT_WORK(&nic->vanish_work, fab_vanish_work);
	fab_eeprom_defaults(nic);
	fab_nics[index] = nic;
	fab_n_nics = index + 1;
	fab_set_link_registers(pdev);
	fab_cfg_mrrs(pdev);
	return fab_become(nic, pers);
}

static void fab_free_nics(void)
{
	int i;

	for (i = 0; i < fab_n_nics; i++) {
		struct fab_nic *nic = fab_nics[i];

		cancel_work_sync(&nic->vanish_work);
		nic->pdev->vendor = nic->true_vendor;
		nic->pdev->device = nic->true_device;
		nic->pdev->class = nic->true_class;
		pci_dev_put(nic->pdev);
		vfree(nic->log);
		kfree(nic->eeprom);
		kvfree(nic);
	}
	for (i = 0; i < fab_n_gpus; i++)
		pci_dev_put(fab_gpus[i]);
}

static int fab_find_devices(void)
{
	struct pci_dev *found[FAB_MAX_NICS], *pdev = NULL;
	const struct fab_personality *pers = NULL;
	char *names, *at, *name;
	int i, n = 0, err = 0;

	for_each_pci_dev(pdev) {
		if (pdev->vendor == 0x8086 && pdev->device == 0x10d3 && pdev->subsystem_vendor == 0x15b3 && n < FAB_MAX_NICS)
			found[n++] = pci_dev_get(pdev);
		if (pdev->vendor == 0x1234 && pdev->device == 0x1111 && fab_n_gpus < FAB_MAX_NICS)
			fab_gpus[fab_n_gpus++] = pci_dev_get(pdev);
	}
	sort(found, n, sizeof(found[0]), fab_by_address, NULL);
	names = kstrdup(personality, GFP_KERNEL);
	at = names;
	for (i = 0; i < n; i++) {
		name = strsep(&at, ",");
		if (name && *name)
			pers = fab_personality_by_name(name);
		if (!names || !pers) {
			pr_err("fabsim: bad personality '%s'\n", personality);
			err = -EINVAL;
		}
		if (!err)
			err = fab_add_nic(found[i], i, pers);
		if (err)
			pci_dev_put(found[i]);
	}
	kfree(names);
	for (i = 0; i + 1 < fab_n_nics; i += 2) {
		rcu_assign_pointer(fab_nics[i]->peer, fab_nics[i + 1]);
		rcu_assign_pointer(fab_nics[i + 1]->peer, fab_nics[i]);
	}
	for (i = 0; i < fab_n_gpus; i++) {
		fab_set_link_registers(fab_gpus[i]);
		fab_cfg_mrrs(fab_gpus[i]);
		fab_cfg_identity(fab_gpus[i], FAB_GPU_VENDOR, FAB_GPU_DEVICE, FAB_GPU_CLASS);
	}
	return err;
}

static int __init fab_init(void)
{
	int i, err;

	fab_debugfs_init();
	err = fab_find_devices();
	for (i = 0; !err && i < fab_n_nics; i++)
		fab_debugfs_add(fab_nics[i]);
	for (i = 0; !err && i < ARRAY_SIZE(fab_drivers); i++)
		err = pci_register_driver(&fab_drivers[i]);
	if (!err)
		return 0;
	while (i-- > 0)
		if (fab_drivers[i].driver.p)
			pci_unregister_driver(&fab_drivers[i]);
	fab_debugfs_exit();
	fab_debugfs_drivers_exit();
	fab_bnxt_oot_exit();
	fab_cfg_exit();
	fab_free_nics();
	return err;
}

static void __exit fab_exit(void)
{
	int i;

	fab_debugfs_exit();
	for (i = 0; i < fab_n_nics; i++)
		cancel_work_sync(&fab_nics[i]->vanish_work);
	for (i = 0; i < ARRAY_SIZE(fab_drivers); i++)
		pci_unregister_driver(&fab_drivers[i]);
	fab_debugfs_drivers_exit();
	fab_bnxt_oot_exit();
	fab_cfg_exit();
	fab_free_nics();
}

module_init(fab_init);
module_exit(fab_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("simulated RoCE NICs and GPUs for tests");
