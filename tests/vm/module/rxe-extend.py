#!/usr/bin/python3
"""rxe-extend.py DIR: extends the soft-RoCE driver's source in DIR for the test bed.

* the hardware counters that mlx5 has and soft-RoCE has not, under mlx5's names, in hw_counters and in RDMA netlink;
* mlx5's optional counters, on NICs of that vendor: off until they are turned on ("rdma statistic set link ... optional-counters");
* port counters by performance MADs, so that the folder ports/1/counters appears as on a real adapter;
* a file "sim" in /sys/class/infiniband/X: "NAME VALUE" sets one of them, "NAME +N" raises it.

Works on the source of Linux 6.1 and 6.12. Each change names the line that it hangs on; when a kernel's source has moved on, the
script says which line it did not find, and changes nothing silently.
"""
import pathlib
import sys

# mlx5/counters.c: basic_q_cnts, out_of_seq_q_cnts, retrans_q_cnts, extended_err_cnts, roce_accl_cnts, cong_cnts
HARDWARE = (
    "rx_write_requests rx_read_requests rx_atomic_requests rx_dct_connect out_of_buffer out_of_sequence rnr_nak_retry_err "
    "packet_seq_err implied_nak_seq_err local_ack_timeout_err resp_local_length_error resp_cqe_error req_cqe_error "
    "req_remote_invalid_request req_remote_access_errors resp_remote_access_errors resp_cqe_flush_error "
    "req_cqe_flush_error req_transport_retries_exceeded req_rnr_retries_exceeded roce_adp_retrans roce_adp_retrans_to "
    "roce_slow_restart roce_slow_restart_cnps roce_slow_restart_trans rp_cnp_ignored rp_cnp_handled "
    "np_ecn_marked_roce_packets np_cnp_sent rx_icrc_encapsulated").split()
# op_cnts: the kernel leaves them out of sysfs, and of netlink until they are on (since 5.16)
OPTIONAL = ("cc_rx_ce_pkts cc_rx_cnp_pkts cc_tx_cnp_pkts "
            "rdma_tx_packets rdma_tx_bytes rdma_rx_packets rdma_rx_bytes").split()  # rdma_*: Linux 6.15
# names in ports/1/counters: drivers/infiniband/core/sysfs.c
PORT = (
    "symbol_error link_error_recovery link_downed port_rcv_errors port_xmit_discards port_xmit_wait port_xmit_data "
    "port_rcv_data port_xmit_packets port_rcv_packets local_link_integrity_errors excessive_buffer_overrun_errors "
    "port_rcv_remote_physical_errors port_rcv_switch_relay_errors port_xmit_constraint_errors port_rcv_constraint_errors "
    "VL15_dropped").split()

SIM = r"""
#include <rdma/ib_pma.h>

static const char * const sim_names[] = {
%(names)s
};

static u64 sim_port(struct rxe_dev *rxe, int i)
{
	return atomic64_read(&rxe->sim[%(n_hardware)d + i]);
}

static ssize_t sim_store(struct device *device, struct device_attribute *attr, const char *buf, size_t len)
{
	struct rxe_dev *rxe = rdma_device_to_drv_device(device, struct rxe_dev, ib_dev);
	char name[48], value[24];
	s64 n;
	int i;

	if (sscanf(buf, "%%47s %%23s", name, value) != 2 || kstrtos64(value + (value[0] == '+'), 0, &n))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(sim_names); i++) {
		if (strcmp(name, sim_names[i]))
			continue;
		if (value[0] == '+')
			atomic64_add(n, &rxe->sim[i]);
		else
			atomic64_set(&rxe->sim[i], n);
		return len;
	}
	return -ENOENT;
}

static DEVICE_ATTR_WO(sim);

/* Answers what drivers/infiniband/core/sysfs.c asks for the files in ports/1/counters. Data is counted in words of four bytes. */
static int sim_process_mad(struct ib_device *ib, int flags, u32 port, const struct ib_wc *wc, const struct ib_grh *grh,
			   const struct ib_mad *in, struct ib_mad *out, size_t *out_size, u16 *pkey_index)
{
	struct rxe_dev *rxe = to_rdev(ib);
	void *data = (u8 *)out + 64;
	struct ib_pma_portcounters_ext *ext = data;
	struct ib_pma_portcounters *old = data;
	u64 sent = atomic64_read(&rxe->stats_counters[RXE_CNT_SENT_PKTS]);
	u64 received = atomic64_read(&rxe->stats_counters[RXE_CNT_RCVD_PKTS]);

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT || in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;
	memset(out->data, 0, sizeof(out->data));
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		((struct ib_class_port_info *)data)->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		ext->port_xmit_data = cpu_to_be64(sim_port(rxe, 6) + sent * 256);
		ext->port_rcv_data = cpu_to_be64(sim_port(rxe, 7) + received * 256);
		ext->port_xmit_packets = cpu_to_be64(sim_port(rxe, 8) + sent);
		ext->port_rcv_packets = cpu_to_be64(sim_port(rxe, 9) + received);
		ext->port_unicast_xmit_packets = ext->port_xmit_packets;
		ext->port_unicast_rcv_packets = ext->port_rcv_packets;
		break;
	case IB_PMA_PORT_COUNTERS:
		old->symbol_error_counter = cpu_to_be16(sim_port(rxe, 0));
		old->link_error_recovery_counter = sim_port(rxe, 1);
		old->link_downed_counter = sim_port(rxe, 2);
		old->port_rcv_errors = cpu_to_be16(sim_port(rxe, 3));
		old->port_xmit_discards = cpu_to_be16(sim_port(rxe, 4));
		old->port_xmit_wait = cpu_to_be32(sim_port(rxe, 5));
		old->link_overrun_errors = (sim_port(rxe, 10) & 0xf) << 4 | (sim_port(rxe, 11) & 0xf);
		old->port_rcv_remphys_errors = cpu_to_be16(sim_port(rxe, 12));
		old->port_rcv_switch_relay_errors = cpu_to_be16(sim_port(rxe, 13));
		old->port_xmit_constraint_errors = sim_port(rxe, 14);
		old->port_rcv_constraint_errors = sim_port(rxe, 15);
		old->vl15_dropped = cpu_to_be16(sim_port(rxe, 16));
		break;
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
"""


IS_MLX5 = r"""
#include <linux/pci.h>

/* Is the NIC below one of NVIDIA's?  The others' drivers have no optional counters. */
static bool sim_is_mlx5(struct ib_device *ib)
{
	struct net_device *nd = %s;
	bool is = nd && nd->dev.parent && dev_is_pci(nd->dev.parent) && to_pci_dev(nd->dev.parent)->vendor == 0x15b3;

	if (nd)
		%s;
	return is;
}
"""


ALLOCATE = """\
	return rdma_alloc_hw_stats_struct(rxe_counter_descs,
					  ARRAY_SIZE(rxe_counter_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
"""
# as mlx5/counters.c, do_alloc_stats(): optional counters are off at first
ALLOCATE_LESS = """\
	int less = sim_is_mlx5(ibdev) ? 0 : %d, i;
	struct rdma_hw_stats *stats = rdma_alloc_hw_stats_struct(rxe_counter_descs, ARRAY_SIZE(rxe_counter_descs) - less,
								 RDMA_HW_STATS_DEFAULT_LIFESPAN);

	for (i = RXE_NUM_OF_COUNTERS + %d; stats && !less && i < RXE_NUM_OF_COUNTERS + %d; i++)
		set_bit(i, stats->is_disabled);
	return stats;
"""


def flags(name):
    return ", .flags = IB_STAT_FLAG_OPTIONAL" if name in OPTIONAL else ""


def change(folder, name, anchor, text, how="after"):
    """Puts text after the only place where anchor stands in the file, or replaces anchor by it."""
    path = folder / name
    source = path.read_text(encoding="utf-8")
    if source.count(anchor) != 1:
        sys.exit(f"rxe-extend.py: {name} has {source.count(anchor)} places, not one, with:\n{anchor}\n"
                 "this kernel's soft-RoCE differs from what is known here: adapt the anchor")
    path.write_text(source.replace(anchor, anchor + text if how == "after" else text), encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1])
    hardware = HARDWARE + OPTIONAL
    total = len(hardware) + len(PORT)
    change(folder, "rxe_verbs.h", "\tatomic64_t\t\tstats_counters[RXE_NUM_OF_COUNTERS];\n",
           f"\tatomic64_t\t\tsim[{total}];\n")
    change(folder, "rxe_hw_counters.c", '\t[RXE_CNT_RDMA_RECV].name           =  "rdma_recvs",\n',
           "".join(f'\t[RXE_NUM_OF_COUNTERS + {i}] = {{ .name = "{name}"{flags(name)} }},\n' for i, name in enumerate(hardware)))
    change(folder, "rxe_hw_counters.c", "for (cnt = 0; cnt < ARRAY_SIZE(rxe_counter_descs); cnt++)",
           "for (cnt = 0; cnt < stats->num_counters; cnt++)", "replace")
    change(folder, "rxe_hw_counters.c", "\treturn ARRAY_SIZE(rxe_counter_descs);", "\treturn stats->num_counters;", "replace")
    change(folder, "rxe_hw_counters.c", ALLOCATE, ALLOCATE_LESS % (len(OPTIONAL), len(HARDWARE), len(hardware)), "replace")
    # 6.1 keeps the netdev in its own structure, 6.12 asks the core for it
    has_get_netdev = "rxe_ib_device_get_netdev" in (folder / "rxe_verbs.h").read_text(encoding="utf-8")
    change(folder, "rxe_hw_counters.c", '#include "rxe_hw_counters.h"\n', IS_MLX5 % (
        ("rxe_ib_device_get_netdev(ib)", "dev_put(nd)") if has_get_netdev else ("to_rdev(ib)->ndev", "/* not counted */")))
    change(folder, "rxe_hw_counters.c", "stats->value[cnt] = atomic64_read(&dev->stats_counters[cnt]);",
           "stats->value[cnt] = cnt < RXE_NUM_OF_COUNTERS ? atomic64_read(&dev->stats_counters[cnt]) :\n"
           "\t\t\tatomic64_read(&dev->sim[cnt - RXE_NUM_OF_COUNTERS]);", "replace")
    change(folder, "rxe_hw_counters.c", "\tBUILD_BUG_ON(ARRAY_SIZE(rxe_counter_descs) != RXE_NUM_OF_COUNTERS);\n", "", "replace")
    names = "\n".join(f'\t"{name}",' for name in hardware + PORT)
    change(folder, "rxe_verbs.c", "static DEVICE_ATTR_RO(parent);\n", SIM % {"names": names, "n_hardware": len(hardware)})
    change(folder, "rxe_verbs.c", "\t&dev_attr_parent.attr,\n", "\t&dev_attr_sim.attr,\n")
    change(folder, "rxe_verbs.c", "\t.get_hw_stats = rxe_ib_get_hw_stats,\n", "\t.process_mad = sim_process_mad,\n")


main()
