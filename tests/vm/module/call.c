// SPDX-License-Identifier: GPL-2.0
/*
 * Each operation of the simulated drivers passes here: it is counted, written down when it changes something, slowed down, and
 * can be made to go wrong.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>
#include "fabsim.h"

const char * const fab_op_names[FAB_OPS + 1] = {
	[FAB_SETETS] = "setets", [FAB_SETPFC] = "setpfc", [FAB_SETAPP] = "setapp", [FAB_DELAPP] = "delapp",
	[FAB_SETBUFFER] = "setbuffer", [FAB_SETTRUST] = "settrust", [FAB_SETDCBX] = "setdcbx",
	[FAB_SETMAXRATE] = "setmaxrate", [FAB_SETPAUSE] = "setpause", [FAB_SETRING] = "setring", [FAB_SETTUNABLE] = "settunable", [FAB_SETFEC] = "setfec", [FAB_SETCHANNELS] = "setchannels",
	[FAB_SETLINK] = "setlink", [FAB_SETMTU] = "setmtu", [FAB_SETPRIVFLAGS] = "setprivflags",
	[FAB_SETCC] = "setcc", [FAB_SETTCLASS] = "settclass", [FAB_SETCOUNTER] = "setcounter",
	[FAB_GETETS] = "getets", [FAB_GETPFC] = "getpfc", [FAB_GETBUFFER] = "getbuffer", [FAB_GETDCBX] = "getdcbx",
	[FAB_GETMAXRATE] = "getmaxrate", [FAB_GETTRUST] = "gettrust", [FAB_GETPAUSE] = "getpause",
	[FAB_GETRING] = "getring", [FAB_GETFEC] = "getfec", [FAB_GETSTATS] = "getstats", [FAB_GETEEPROM] = "geteeprom",
	[FAB_GETCHANNELS] = "getchannels", [FAB_GETCC] = "getcc", [FAB_GETTCLASS] = "gettclass", [FAB_GETVNIC] = "getvnic",
	[FAB_ANY] = "any",
};

/* Counts the call and returns what is to go wrong with it.  The first rule that matches takes the call. */
static enum fab_action fab_strike(struct fab_nic *nic, enum fab_op op, int *err)
{
	enum fab_action action = FAB_DO;
	int i;

	spin_lock(&nic->call_lock);
	nic->calls[op]++;
	for (i = 0; i < FAB_MAX_FAULTS; i++) {
		struct fab_fault *f = &nic->faults[i];

		if (!f->count || !(f->op == op || (f->op == FAB_ANY && op < FAB_FIRST_GET)))
			continue;
		if (f->skip) {
			f->skip--;
			continue;
		}
		if (f->count > 0)
			f->count--;
		action = f->action;
		*err = f->err;
		break;
	}
	spin_unlock(&nic->call_lock);
	return action;
}

/* For operations that only read: 0, or the injected negative errno. */
int fab_get(struct fab_nic *nic, enum fab_op op)
{
	int err = 0;

	return fab_strike(nic, op, &err) == FAB_ERRNO ? err : 0;
}

/* Before an operation that changes something.  True: do it.  Then, in any case, return what fab_end() says. */
bool fab_begin(struct fab_call *call, struct fab_nic *nic, enum fab_op op, const char *fmt, ...)
{
	va_list ap;

	call->nic = nic;
	call->op = op;
	call->err = 0;
	va_start(ap, fmt);
	vsnprintf(call->args, sizeof(call->args), fmt, ap);
	va_end(ap);
	if (nic->delay_ms)
		msleep(nic->delay_ms);
	call->action = fab_strike(nic, op, &call->err);
	if (call->action == FAB_KILL) {
		send_sig(SIGKILL, current, 1);
		call->err = -EINTR;
	}
	return call->action == FAB_DO || call->action == FAB_KILLAFTER || call->action == FAB_VANISH;
}

int fab_end(struct fab_call *call, int err)
{
	struct fab_nic *nic = call->nic;
	struct fab_log_entry *entry;

	if (call->action == FAB_ERRNO || call->action == FAB_IGNORE || call->action == FAB_KILL)
		err = call->err;
	spin_lock(&nic->call_lock);
	if (nic->log_used < FAB_LOG_ENTRIES) {
		entry = &nic->log[nic->log_used++];
		entry->ns = ktime_get_ns();
		entry->op = call->op;
		entry->result = err;
		memcpy(entry->args, call->args, sizeof(entry->args));
	} else {
		nic->log_lost++;
	}
	spin_unlock(&nic->call_lock);
	if (call->action == FAB_KILLAFTER)
		send_sig(SIGKILL, current, 1);
	if (call->action == FAB_VANISH)
		schedule_work(&nic->vanish_work);
	return err;
}
