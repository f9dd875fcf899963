#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU per scrape and memory of several exporters, interleaved in one run. Only the ratios mean anything.

Usage: compare.py ROUNDS SCRAPES NAME:PID:PORT...   The first two are fabric-exporter, reading anew and
with held values; the others are compared with the first. Ends with a table of the targets.
CPU is the scheduler's time of the whole process. "rested": a tenth of a second between two scrapes, so that caches have
forgotten as much as on a node that is scraped now and then.
"""
import http.client
import itertools
import os
import statistics
import sys
import time


def cpu(pid):
    """Milliseconds of the process, threads that have ended included: its clock, as clock_getcpuclockid(3) names it."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e6


def memory(pid, field):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


CLIENTS = itertools.cycle(f"127.0.0.{number}" for number in range(2, 252))  # each has its own limit of requests a second


def connect(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=10, source_address=(next(CLIENTS), 0))


def scrape(port, encoding):
    connection = connect(port)
    connection.request("GET", "/metrics", headers={"Accept-Encoding": encoding})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    if reply.status != 200:
        sys.exit(f"port {port}: HTTP {reply.status}")
    return body


def rested(targets, scrapes=30, pause=0.1):
    """Milliseconds of CPU a scrape of each, the others' in between."""
    spent = {name: [] for name, _, _ in targets}
    for _ in range(scrapes):
        for name, pid, port in targets:
            time.sleep(pause)
            before = cpu(pid)
            scrape(port, "identity")
            time.sleep(0.01)
            spent[name].append(cpu(pid) - before)
    return {name: statistics.median(values) for name, values in spent.items()}


def table(scraped, targets):
    """Beside the targets: the first of `targets` reads anew, the second holds its values, the rivals follow by name."""
    (anew, pid, _), (held, _, _) = targets[:2]
    devices = int(os.environ.get("BENCH_DEVICES", "8"))
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        threads = next(int(line.split()[1]) for line in status if line.startswith("Threads:"))
    rows = []
    for rival, limit, held_limit in (("infiniband", 8, 50), ("netclass", 20, None)):
        name = next((name for name, _, _ in targets if name.endswith(rival)), None)
        if name is None:
            continue
        rows.append((f"scrape CPU by files / {name}", f"1/{scraped[name] / scraped[anew]:.1f}", f"<= 1/{limit}"))
        if held_limit:
            rows.append((f"scrape CPU, held values / {name}", f"1/{scraped[name] / scraped[held]:.1f}", f"<= 1/{held_limit}"))
    rows.append(("resident", f"{memory(pid, 'VmRSS') / 1024:.1f} MB", "<= 14 MB"))
    rows.append(("anonymous", f"{memory(pid, 'RssAnon') / 1024:.1f} MB", "<= 6 MB"))
    rows.append((f"threads, {devices} devices", str(threads), f"<= {2 + devices}"))
    print(f"\n{'':60} {'measured':>10}   target")
    for what, measured, target in rows:
        print(f"{what:60} {measured:>10}   {target}")
    print()


def main():
    rounds, scrapes = int(sys.argv[1]), int(sys.argv[2])
    targets = [(name, int(pid), int(port)) for name, pid, port in (arg.split(":") for arg in sys.argv[3:])]
    print(f"{rounds} rounds of {scrapes} scrapes, interleaved; load {os.getloadavg()[0]:.1f}")
    scraped = {}
    for encoding in ("identity", "gzip"):
        spent = {name: [] for name, _, _ in targets}
        for name, _, port in targets:
            scrape(port, encoding)
        for _ in range(rounds):
            for name, pid, port in targets:
                before = cpu(pid)
                for _ in range(scrapes):
                    scrape(port, encoding)
                time.sleep(0.05)
                spent[name].append((cpu(pid) - before) / scrapes)
        first = statistics.median(spent[targets[0][0]])
        if encoding == "identity":
            scraped = {name: statistics.median(values) for name, values in spent.items()}
        for name, pid, port in targets:
            body, middle = scrape(port, encoding), statistics.median(spent[name])
            series = sum(1 for line in body.splitlines() if line and not line.startswith(b"#")) if encoding == "identity" else ""
            print(f"{encoding:9} {name:28} {middle:8.3f} ms CPU a scrape ({min(spent[name]):.3f}-{max(spent[name]):.3f}), "
                  f"{middle / first:6.1f}x, {len(body):7} bytes" + (f", {series} series: {middle * 1000 / series:.1f} us each" if series else ""))
    alone = rested(targets)
    for name, _, _ in targets:
        print(f"rested    {name:28} {alone[name]:8.3f} ms CPU a scrape, {alone[name] / alone[targets[0][0]]:6.1f}x")
    base = memory(targets[0][1], "VmRSS")
    for name, pid, _ in targets:
        rss, anonymous = memory(pid, "VmRSS"), memory(pid, "RssAnon")
        print(f"memory    {name:28} {rss:8} kB resident, {rss / base:5.1f}x, {anonymous} kB of it anonymous")
    table(scraped, targets)


if __name__ == "__main__":
    main()
