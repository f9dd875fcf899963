// SPDX-License-Identifier: GPL-2.0
/*
 * mlx5's devlink instance, with its health reporters: drivers/net/ethernet/mellanox/mlx5/core/health.c (fw, fw_fatal) and
 * diag/reporter_vnic.c (vnic; Linux 6.4, here on older kernels, too).  The instance comes and goes with the driver, and its counters
 * begin at 0.  Nothing else of devlink answers: the serial number would be the card's identity, which is its address here.
 */
#include <linux/mutex.h>
#include <net/devlink.h>
#include "fabsim.h"

static const struct {
	const char *name;
	bool wide;	/* u64 */
} fab_vnic_counters[] = {
	{ "total_error_queues" }, { "send_queue_priority_update_flow" }, { "comp_eq_overrun" }, { "async_eq_overrun" },
	{ "cq_overrun" }, { "invalid_command" }, { "quota_exceeded_command" }, { "nic_receive_steering_discard", true },
	{ "generated_pkt_steering_fail", true }, { "handled_pkt_steering_fail", true },
};

/* Against the control file while the driver comes and goes; never taken in a devlink operation. */
static DEFINE_MUTEX(fab_devlink_lock);

/* mlx5_reporter_vnic_diagnose_counters(): it ignores that the firmware does not answer, and shows zeros. */
static int fab_vnic_diagnose(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg, struct netlink_ext_ack *extack)
{
	struct fab_nic *nic = devlink_health_reporter_priv(reporter);
	int i, err = fab_get(nic, FAB_GETVNIC);

	if (err)
		return err;
	devlink_fmsg_pair_nest_start(fmsg, "vNIC env counters");
	devlink_fmsg_obj_nest_start(fmsg);
	for (i = 0; i < ARRAY_SIZE(fab_vnic_counters); i++) {
		u64 value = nic->fw_dead ? 0 : atomic64_read(&nic->vnic[i]);

		if (fab_vnic_counters[i].wide)
			devlink_fmsg_u64_pair_put(fmsg, fab_vnic_counters[i].name, value);
		else
			devlink_fmsg_u32_pair_put(fmsg, fab_vnic_counters[i].name, value);
	}
	devlink_fmsg_obj_nest_end(fmsg);
	devlink_fmsg_pair_nest_end(fmsg);
	return 0;
}

static int fab_fw_fatal_recover(struct devlink_health_reporter *reporter, void *priv, struct netlink_ext_ack *extack)
{
	return 0;
}

enum { FAB_FW, FAB_FW_FATAL, FAB_VNIC };

static const struct devlink_health_reporter_ops fab_reporters[FAB_REPORTERS] = {
	[FAB_FW] = { .name = "fw" },
	[FAB_FW_FATAL] = { .name = "fw_fatal", .recover = fab_fw_fatal_recover },
	[FAB_VNIC] = { .name = "vnic", .diagnose = fab_vnic_diagnose },
};

static const struct devlink_ops fab_devlink_ops = { };

static void fab_devlink_free(struct fab_nic *nic, struct devlink *devlink)
{
	int i;

	for (i = 0; i < FAB_REPORTERS; i++)
		if (nic->reporters[i])
			devlink_health_reporter_destroy(nic->reporters[i]);
	memset(nic->reporters, 0, sizeof(nic->reporters));
	devlink_free(devlink);
}

int fab_devlink_add(struct fab_nic *nic)
{
	struct devlink *devlink;
	int i, err = 0;

	BUILD_BUG_ON(ARRAY_SIZE(fab_vnic_counters) != FAB_VNIC_COUNTERS);
	if (!nic->pers->vnic)
		return 0;
	devlink = devlink_alloc(&fab_devlink_ops, 0, &nic->pdev->dev);
	if (!devlink)
		return -ENOMEM;
	mutex_lock(&fab_devlink_lock);
	for (i = 0; i < FAB_VNIC_COUNTERS; i++)
		atomic64_set(&nic->vnic[i], 0);
	nic->fw_dead = false;
	for (i = 0; i < FAB_REPORTERS && !err; i++) {
		struct devlink_health_reporter *reporter = devlink_health_reporter_create(devlink, &fab_reporters[i], 0, nic);

		if (IS_ERR(reporter))
			err = PTR_ERR(reporter);
		else
			nic->reporters[i] = reporter;
	}
	if (err) {
		fab_devlink_free(nic, devlink);
	} else {
		devlink_register(devlink);
		nic->devlink = devlink;
	}
	mutex_unlock(&fab_devlink_lock);
	return err;
}

void fab_devlink_remove(struct fab_nic *nic)
{
	mutex_lock(&fab_devlink_lock);
	if (nic->devlink) {
		devlink_unregister(nic->devlink);
		fab_devlink_free(nic, nic->devlink);
		nic->devlink = NULL;
	}
	mutex_unlock(&fab_devlink_lock);
}

/* "fw_fatal 1": the firmware has died, 0: it has recovered.  Any other name is a counter's. */
int fab_vnic_set(struct fab_nic *nic, const char *name, bool add, s64 value)
{
	int i, err = -ENOENT;

	mutex_lock(&fab_devlink_lock);
	if (!nic->devlink) {
		err = -ENODEV;
	} else if (!strcmp(name, "fw_fatal")) {
		nic->fw_dead = value;
		devlink_health_reporter_state_update(nic->reporters[FAB_FW_FATAL], value ? DEVLINK_HEALTH_REPORTER_STATE_ERROR :
						     DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
		err = 0;
	} else {
		for (i = 0; i < FAB_VNIC_COUNTERS && err; i++) {
			if (strcmp(name, fab_vnic_counters[i].name))
				continue;
			if (add)
				atomic64_add(value, &nic->vnic[i]);
			else
				atomic64_set(&nic->vnic[i], value);
			err = 0;
		}
	}
	mutex_unlock(&fab_devlink_lock);
	return err;
}

/* The name of a counter, and its value; NULL: there are no more. */
const char *fab_vnic_at(struct fab_nic *nic, unsigned int i, s64 *value)
{
	if (i >= FAB_VNIC_COUNTERS)
		return NULL;
	*value = atomic64_read(&nic->vnic[i]);
	return fab_vnic_counters[i].name;
}
