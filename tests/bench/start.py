#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time from exec to READY=1, as systemd sees it: start.py PROGRAM [ARGUMENT]... Twenty starts."""
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time


def start(command):
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(folder + "/notify")
        notify.settimeout(10)
        begin = time.monotonic()
        with subprocess.Popen(command, env={**os.environ, "NOTIFY_SOCKET": folder + "/notify"}) as process:
            while b"READY=1" not in notify.recv(4096):
                pass
            took = (time.monotonic() - begin) * 1000
            process.send_signal(signal.SIGTERM)
    return took


times = [start(sys.argv[1:]) for _ in range(20)]
print(f"start     {os.path.basename(sys.argv[1]):28} {statistics.median(times):8.1f} ms to READY ({min(times):.1f}-{max(times):.1f})")
