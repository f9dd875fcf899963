#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What processes cost while nobody asks them anything: CPU and wake-ups over the same time, and memory at its end.

Usage: cpu_share.py SECONDS NAME:PID...   The first is the one that the others are compared with.
CPU is the scheduler's time of the whole process; wake-ups are its voluntary switches.
"""
import os
import sys
import time

from compare import cpu, memory


def switches(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as status:
            total += next(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt_switches"))
    return total


def main():
    seconds = float(sys.argv[1])
    targets = [(name, int(pid)) for name, pid in (arg.rsplit(":", 1) for arg in sys.argv[2:])]
    before = [(cpu(pid), switches(pid)) for _, pid in targets]
    begin = time.monotonic()
    time.sleep(seconds)
    spent = time.monotonic() - begin
    shares = [(cpu(pid) - was) / 10 / spent for (_, pid), (was, _) in zip(targets, before)]
    for (name, pid), share, (_, woken) in zip(targets, shares, before):
        print(f"idle      {name:28} {share:8.3f} % of a core, {share / max(shares[0], 1e-9):6.1f}x, "
              f"{(switches(pid) - woken) / spent:7.1f} wake-ups a second, "
              f"{memory(pid, 'VmRSS')} kB resident, {memory(pid, 'RssAnon')} kB of it anonymous")


if __name__ == "__main__":
    main()
