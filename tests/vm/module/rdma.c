// SPDX-License-Identifier: GPL-2.0
/*
 * What a NIC's RDMA device has beside soft-RoCE's own: fabsim_ib puts it where it belongs and asks here.
 *
 * tc/1/traffic_class is OFED's, drivers/infiniband/hw/mlx5/main_ext.c: "N" or "tclass=N" for all queue pairs (negative: not set),
 * "src_ip=A,dst_ip=B,tclass=N" for some.  Here rules are kept as they were written; nothing is done to queue pairs.
 */
#include "fabsim.h"

static struct fab_nic *nic_at(int index)
{
	return index >= 0 && index < fab_n_nics ? fab_nics[index] : NULL;
}

bool fabsim_has_tclass(int index)
{
	struct fab_nic *nic = nic_at(index);

	return nic && nic->pers->tclass;
}
EXPORT_SYMBOL_GPL(fabsim_has_tclass);

bool fabsim_has_optional_counters(int index)
{
	struct fab_nic *nic = nic_at(index);

	return nic && nic->pers->optional_counters;
}
EXPORT_SYMBOL_GPL(fabsim_has_optional_counters);

/* The RDMA device is new. */
void fabsim_tclass_reset(int index)
{
	struct fab_nic *nic = nic_at(index);

	mutex_lock(&nic->tclass_lock);
	nic->tclass = -1;
	memset(nic->tclass_rule, 0, sizeof(nic->tclass_rule));
	mutex_unlock(&nic->tclass_lock);
}
EXPORT_SYMBOL_GPL(fabsim_tclass_reset);

ssize_t fabsim_tclass_show(int index, char *buf)
{
	struct fab_nic *nic = nic_at(index);
	int i, n = 0, err = fab_get(nic, FAB_GETTCLASS);

	if (err)
		return err;
	mutex_lock(&nic->tclass_lock);
	if (nic->tclass >= 0)
		n = sysfs_emit(buf, "Global tclass=%d\n", nic->tclass);
	for (i = 0; i < FAB_TCLASS_RULES; i++)
		if (nic->tclass_rule[i].match[0])
			n += sysfs_emit_at(buf, n, "%stclass=%d\n", nic->tclass_rule[i].match, nic->tclass_rule[i].tclass);
	mutex_unlock(&nic->tclass_lock);
	return n;
}
EXPORT_SYMBOL_GPL(fabsim_tclass_show);

/* Splits "src_ip=A,tclass=N" in "src_ip=A," and N. */
static int parse_tclass(char *text, struct fab_tclass_rule *rule)
{
	static const char * const keys[] = { "src_ip=", "dst_ip=", "src_ip6=", "dst_ip6=" };
	bool has = false;
	char *word;
	int i;

	while ((word = strsep(&text, ","))) {
		word = strim(word);
		if (!*word)
			continue;
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			if (strstarts(word, keys[i]))
				break;
		if (i < ARRAY_SIZE(keys)) {
			if (strlcat(rule->match, word, sizeof(rule->match)) >= sizeof(rule->match) - 1)
				return -EINVAL;
			strlcat(rule->match, ",", sizeof(rule->match));
			continue;
		}
		if (strstarts(word, "tclass="))
			word += strlen("tclass=");
		if (kstrtoint(word, 0, &rule->tclass) || rule->tclass > 0xff)
			return -EINVAL;
		has = true;
	}
	return has ? 0 : -EINVAL;
}

static int set_tclass(struct fab_nic *nic, const struct fab_tclass_rule *want)
{
	struct fab_tclass_rule *rule, *free = NULL;

	if (!want->match[0]) {
		nic->tclass = max(want->tclass, -1);
		return 0;
	}
	for (rule = nic->tclass_rule; rule < nic->tclass_rule + FAB_TCLASS_RULES; rule++) {
		if (!strcmp(rule->match, want->match))
			break;
		if (!rule->match[0] && !free)
			free = rule;
	}
	if (rule == nic->tclass_rule + FAB_TCLASS_RULES)
		rule = free;
	if (!rule)
		return -ENOMEM;
	if (want->tclass < 0)
		rule->match[0] = 0;
	else
		*rule = *want;
	return 0;
}

int fabsim_tclass_store(int index, const char *buf)
{
	struct fab_nic *nic = nic_at(index);
	struct fab_tclass_rule want = { };
	char text[FAB_ARGS_LEN];
	struct fab_call call;
	int err;

	if (strscpy(text, buf, sizeof(text)) < 0)
		return -EINVAL;
	err = parse_tclass(strim(text), &want);
	if (fab_begin(&call, nic, FAB_SETTCLASS, "%stclass=%d", want.match, want.tclass) && !err) {
		mutex_lock(&nic->tclass_lock);
		err = set_tclass(nic, &want);
		mutex_unlock(&nic->tclass_lock);
	}
	return fab_end(&call, err);
}
EXPORT_SYMBOL_GPL(fabsim_tclass_store);

/* Optional counters: the kernel keeps which are on, the driver only says yes. */
int fabsim_set_counter(int index, const char *name, bool on)
{
	struct fab_call call;

	fab_begin(&call, nic_at(index), FAB_SETCOUNTER, "%s=%s", name, on ? "on" : "off");
	return fab_end(&call, 0);
}
EXPORT_SYMBOL_GPL(fabsim_set_counter);
