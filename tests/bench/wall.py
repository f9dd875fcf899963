#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wall time of a command: wall.py TIMES PROGRAM [ARGUMENT]..."""
import os
import statistics
import subprocess
import sys
import time

times = []
for _ in range(int(sys.argv[1])):
    begin = time.monotonic()
    subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    times.append((time.monotonic() - begin) * 1000)
name = os.path.basename(sys.argv[2]) + " " + sys.argv[3]
print(f"wall      {name:28} {statistics.median(times):8.1f} ms ({min(times):.1f}-{max(times):.1f})")
