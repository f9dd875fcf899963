#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does memory grow with the scrapes? growth.py SCRAPES PID PORT: anonymous memory at ten points of that many scrapes."""
import sys

from compare import connect, memory


def main():
    scrapes, pid, port = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    points = []
    for number in range(scrapes + 1):
        if number % max(scrapes // 10, 1) == 0:
            points.append(memory(pid, "RssAnon"))
        connection = connect(port)
        connection.request("GET", "/metrics")
        reply = connection.getresponse()
        reply.read()
        connection.close()
        if reply.status != 200:
            sys.exit(f"HTTP {reply.status}")
    print(f"growth    {scrapes} scrapes: anonymous kB " + " ".join(map(str, points)))


if __name__ == "__main__":
    main()
