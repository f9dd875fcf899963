#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""System calls a scrape, from a log of "strace -f -y -s 200". Usage: syscalls.py LOG PORTS

The calls of threads that ask by RDMA netlink for the counters of a port are also told for one such reading.
Clock readings are left out: where the machine's clock is fit for it, they are none.
"""
import collections
import re
import sys

# linux/rdma/rdma_netlink.h: RDMA_NL_NLDEV << 10 | RDMA_NLDEV_CMD_STAT_GET
STATISTICS = "nlmsg_type=0x1411"
FOLDERS = ("/ports/", "/net/", "/sys/", "/run/", "/proc/")


def kind(line):
    """"pread64 counters" of a line that begins a call; None of one that ends it."""
    match = re.match(r"([a-z0-9_]+)\((?:-?\d+<([^>]*)>|[A-Z_]+(?:<[^>]*>)?(?:, \"([^\"]*)\")?)?", line)
    if not match or match[1] in ("clock_gettime", "restart_syscall"):
        return None
    path = match[2] or match[3] or ""
    if "counters/" in path:
        return f"{match[1]} {'hw_counters' if 'hw_counters/' in path else 'counters'}"
    return f"{match[1]} other file" if any(folder in path for folder in FOLDERS) else match[1]


def show(title, calls, divisor):
    total = sum(calls.values())
    parts = ", ".join(f"{name} {number / divisor:.1f}" for name, number in calls.most_common(12))
    print(f"calls     {title:28} {total / divisor:8.1f}: {parts}")


def main():
    threads, readings, hw_files, scrapes = collections.defaultdict(collections.Counter), collections.Counter(), 0, 0
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        for line in log:
            thread, _, call = line.partition(" ")
            call = call.lstrip()
            if (name := kind(call)) is None:
                continue
            threads[thread][name] += 1
            readings[thread] += name == "sendmsg" and STATISTICS in call
            scrapes += "HTTP/1.1 200 OK" in call
            hw_files += name.endswith(" hw_counters")
    ports, requests = int(sys.argv[2]), sum(readings.values())
    # A device that is slow under strace is not waited for: whole rounds of readings count, where there are any.
    if rounds := requests / ports or scrapes:
        show("a scrape", sum(threads.values(), collections.Counter()), rounds)
    if requests:
        show("a device's reading", sum((threads[each] for each in threads if readings[each]), collections.Counter()), requests)
    print(f"statistics by netlink: {requests} requests for {ports} ports in {scrapes} scrapes; hw_counters files: {hw_files} calls")


if __name__ == "__main__":
    main()
