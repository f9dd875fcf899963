#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a /sys of 8 mlx5 HCAs (or as many as said; 21 counters and 39 hw_counters each) and 16 netdevs below DIR, as files.

Usage: fake_sys.py DIR [HCAS]
"""
import os
import sys

COUNTERS = """excessive_buffer_overrun_errors link_downed link_error_recovery local_link_integrity_errors
multicast_rcv_packets multicast_xmit_packets port_rcv_constraint_errors port_rcv_data port_rcv_errors port_rcv_packets
port_rcv_remote_physical_errors port_rcv_switch_relay_errors port_xmit_constraint_errors port_xmit_data
port_xmit_discards port_xmit_packets port_xmit_wait symbol_error unicast_rcv_packets unicast_xmit_packets
VL15_dropped""".split()
# What counts InfiniBand's link; on an Ethernet port these are zero.
ZERO = """link_downed link_error_recovery local_link_integrity_errors port_rcv_constraint_errors
port_rcv_remote_physical_errors port_xmit_constraint_errors port_xmit_discards symbol_error VL15_dropped""".split()
HW_COUNTERS = """duplicate_request implied_nak_seq_err local_ack_timeout_err np_cnp_sent np_ecn_marked_roce_packets
out_of_buffer out_of_sequence packet_seq_err req_cqe_error req_cqe_flush_error req_remote_access_errors
req_remote_invalid_request req_rnr_retries_exceeded req_transport_retries_exceeded resp_cqe_error resp_cqe_flush_error
resp_local_length_error resp_remote_access_errors rnr_nak_retry_err roce_adp_retrans roce_adp_retrans_to
roce_slow_restart roce_slow_restart_cnps roce_slow_restart_trans rp_cnp_handled rp_cnp_ignored rx_atomic_requests
rx_dct_connect rx_icrc_encapsulated rx_read_requests rx_write_requests vendor_a vendor_b vendor_c vendor_d vendor_e
vendor_f vendor_g vendor_h""".split()
NETDEV = {"address": "02:00:00:00:00:01", "addr_assign_type": "0", "addr_len": "6", "broadcast": "ff:ff:ff:ff:ff:ff",
          "carrier": "1", "carrier_changes": "2", "carrier_down_count": "1", "carrier_up_count": "1", "dev_id": "0x0",
          "dev_port": "0", "dormant": "0", "duplex": "full", "flags": "0x1003", "ifalias": "", "iflink": "2",
          "link_mode": "0", "mtu": "4200", "name_assign_type": "4", "netdev_group": "0", "operstate": "up",
          "phys_port_id": "", "phys_port_name": "p0", "phys_switch_id": "", "proto_down": "0", "speed": "400000",
          "tx_queue_len": "1000", "type": "1"}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as out:
        out.write(text + "\n")


def link(path, target):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def netdev(sys_dir, index, name, pci):
    folder = f"{sys_dir}/devices/pci0000:00/{pci}/net/{name}"
    for file, text in {**NETDEV, "ifindex": str(index + 2)}.items():
        write(f"{folder}/{file}", text)
    link(f"{folder}/device", f"../../../{pci}")
    link(f"{sys_dir}/class/net/{name}", f"../../devices/pci0000:00/{pci}/net/{name}")


def hca(sys_dir, index, pci, name):
    folder = f"{sys_dir}/devices/pci0000:00/{pci}/infiniband/mlx5_{index}"
    port = f"{folder}/ports/1"
    for file, text in {"fw_ver": "28.39.1002", "hca_type": "MT4129", "board_id": "MT_0000000838", "node_type": "1: CA"}.items():
        write(f"{folder}/{file}", text)
    for file, text in {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "400 Gb/sec (4X NDR)",
                       "link_layer": "Ethernet", "gids/0": "0000:0000:0000:0000:0000:ffff:0a00:0001",
                       "gid_attrs/types/0": "RoCE v2", "gid_attrs/ndevs/0": name, "hw_counters/lifespan": "10"}.items():
        write(f"{port}/{file}", text)
    for number, counter in enumerate(COUNTERS):
        write(f"{port}/counters/{counter}", "0" if counter in ZERO else str(index * 1_000_003 + number * 97 + 1))
    for number, counter in enumerate(HW_COUNTERS):
        write(f"{port}/hw_counters/{counter}", str(index * 1_000_033 + number * 89))
    link(f"{folder}/device", f"../../../{pci}")
    link(f"{sys_dir}/class/infiniband/mlx5_{index}", f"../../devices/pci0000:00/{pci}/infiniband/mlx5_{index}")


def main():
    sys_dir = sys.argv[1] + "/sys"
    hcas = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    os.makedirs(f"{sys_dir}/bus/pci/drivers/mlx5_core")
    for index in range(16):
        pci = f"0000:{0x10 + index:02x}:00.0"
        for file, text in {"vendor": "0x15b3", "device": "0x1021", "class": "0x020000", "numa_node": "0"}.items():
            write(f"{sys_dir}/devices/pci0000:00/{pci}/{file}", text)
        link(f"{sys_dir}/devices/pci0000:00/{pci}/driver", "../../../bus/pci/drivers/mlx5_core")
        link(f"{sys_dir}/bus/pci/devices/{pci}", f"../../../devices/pci0000:00/{pci}")
        netdev(sys_dir, index, f"eth{index}", pci)
        if index < hcas:
            hca(sys_dir, index, pci, f"eth{index}")


if __name__ == "__main__":
    main()
