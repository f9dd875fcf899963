// SPDX-License-Identifier: GPL-2.0
/*
 * Moves soft-RoCE's RDMA devices on simulated NICs below the NIC's PCI function, where a real driver's device is: then
 * /sys/class/infiniband/X/device exists, udev gives persistent names and hwloc shows OpenFabrics devices.  Gives the device what
 * the NIC's driver has beside: OFED's tc/1/traffic_class, optional counters that can be turned on.  To be loaded before
 * "rdma link add".
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

struct net_device *fabsim_get_netdev(int index);
bool fabsim_has_tclass(int index);
bool fabsim_has_optional_counters(int index);
void fabsim_tclass_reset(int index);
ssize_t fabsim_tclass_show(int index, char *buf);
int fabsim_tclass_store(int index, const char *buf);
int fabsim_set_counter(int index, const char *name, bool on);

struct fab_ib {
	int index;
	struct kobject *tc, *port;
	struct kobj_attribute traffic_class;
};

static struct ib_client fab_ib_client;

/* The number of the NIC that a device is on, or -1; then *parent is its PCI function. */
static int fab_ib_index(struct ib_device *ib, struct device **parent)
{
	struct net_device *nd;
	struct ib_device *on;
	int i, found = -1;

	for (i = 0; found < 0 && i < 16; i++) {
		nd = fabsim_get_netdev(i);
		if (!nd)
			continue;
		on = ib_device_get_by_netdev(nd, RDMA_DRIVER_RXE);
		if (on == ib) {
			found = i;
			*parent = nd->dev.parent;
		}
		if (on)
			ib_device_put(on);
		dev_put(nd);
	}
	return found;
}

static ssize_t traffic_class_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return fabsim_tclass_show(container_of(attr, struct fab_ib, traffic_class)->index, buf);
}

static ssize_t traffic_class_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t len)
{
	return fabsim_tclass_store(container_of(attr, struct fab_ib, traffic_class)->index, buf) ?: len;
}

static void fab_ib_add_tclass(struct ib_device *ib, struct fab_ib *f)
{
	fabsim_tclass_reset(f->index);
	f->tc = kobject_create_and_add("tc", &ib->dev.kobj);
	f->port = f->tc ? kobject_create_and_add("1", f->tc) : NULL;
	f->traffic_class = (struct kobj_attribute)__ATTR(traffic_class, 0644, traffic_class_show, traffic_class_store);
	sysfs_attr_init(&f->traffic_class.attr);
	if (!f->port || sysfs_create_file(f->port, &f->traffic_class.attr))
		pr_warn("fabsim_ib: no traffic_class\n");
}

static int fab_ib_modify_stat(struct ib_device *ib, u32 port, unsigned int counter, bool on)
{
	struct fab_ib *f = ib_get_client_data(ib, &fab_ib_client);
	struct rdma_hw_stats *stats = ib->port_data[port].port_counter.hstats;

	if (!f || !stats)
		return -EINVAL;
	return fabsim_set_counter(f->index, stats->descs[counter].name, on);
}

static int fab_ib_add(struct ib_device *ib)
{
	struct device *parent;
	struct fab_ib *f;
	int err, index = ib->ops.driver_id == RDMA_DRIVER_RXE ? fab_ib_index(ib, &parent) : -1;

	if (index < 0)
		return -EOPNOTSUPP;
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	f->index = index;
	err = device_move(&ib->dev, parent, DPM_ORDER_NONE);
	if (err) {
		kfree(f);
		return err;
	}
	if (fabsim_has_tclass(index))
		fab_ib_add_tclass(ib, f);
	if (fabsim_has_optional_counters(index))
		ib->ops.modify_hw_stat = fab_ib_modify_stat;
	ib_set_client_data(ib, &fab_ib_client, f);
	return 0;
}

static void fab_ib_remove(struct ib_device *ib, void *data)
{
	struct fab_ib *f = data;

	ib->ops.modify_hw_stat = NULL;
	kobject_put(f->port);
	kobject_put(f->tc);
	kfree(f);
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
MODULE_DESCRIPTION("what the drivers' RDMA devices have, for soft-RoCE devices on simulated NICs");
