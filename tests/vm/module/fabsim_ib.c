// SPDX-License-Identifier: GPL-2.0
/*
 * Moves soft-RoCE's RDMA devices on simulated NICs below the NIC's PCI function, where a real driver's device is: then
 * /sys/class/infiniband/X/device exists, udev gives persistent names and hwloc shows OpenFabrics devices.  To be loaded before
 * "rdma link add".
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

struct net_device *fabsim_get_netdev(int index);

static struct device *fab_ib_parent(struct ib_device *ib)
{
	struct device *parent = NULL;
	struct net_device *nd;
	struct ib_device *on;
	int i;

	for (i = 0; !parent && i < 16; i++) {
		nd = fabsim_get_netdev(i);
		if (!nd)
			continue;
		on = ib_device_get_by_netdev(nd, RDMA_DRIVER_RXE);
		if (on == ib)
			parent = nd->dev.parent;
		if (on)
			ib_device_put(on);
		dev_put(nd);
	}
	return parent;
}

static int fab_ib_add(struct ib_device *ib)
{
	struct device *parent = ib->ops.driver_id == RDMA_DRIVER_RXE ? fab_ib_parent(ib) : NULL;

	if (!parent)
		return -EOPNOTSUPP;
	return device_move(&ib->dev, parent, DPM_ORDER_NONE);
}

static void fab_ib_remove(struct ib_device *ib, void *data)
{
}

static struct ib_client fab_ib_client = { .name = "fabsim", .add = fab_ib_add, .remove = fab_ib_remove };

static int __init fab_ib_init(void)
{
	return ib_register_client(&fab_ib_client);
}

static void __exit fab_ib_exit(void)
{
	ib_unregister_client(&fab_ib_client);
}

module_init(fab_ib_init);
module_exit(fab_ib_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("sysfs place of soft-RoCE devices on simulated NICs");
