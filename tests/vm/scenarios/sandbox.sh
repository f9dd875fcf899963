#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# A process in agentd's sandbox, as one that took it over: uid 0 with CAP_NET_ADMIN reaches no container engine, no D-Bus
# and no systemd, and writes below /sys only where settings are written; what agentd needs works.
. /mnt/host/scenarios/lib/agent.sh

# inside UNIT COMMAND...: in the mount namespace of the unit's process.
inside() { nsenter -m -t "$(systemctl show -p MainPID --value "$1")" -- "${@:2}"; }
not() { ! "$@"; }

# As container engines have them.
mkdir -p /run/containerd
python3 - <<'P' &
import socket, time
for path in "/run/docker.sock", "/run/containerd/containerd.sock":
    s = socket.socket(socket.AF_UNIX); s.bind(path); s.listen(); globals()[path] = s
time.sleep(600)
P
wait_until 10 test -S /run/docker.sock

check "the package installs" install_agent
eq "of /run it has its own, udev's, and of systemd's" "$(inside fabric-agent ls /run | xargs)" "fabric-agent systemd udev"
for path in /run/docker.sock /run/containerd /run/dbus /run/systemd/private /run/initctl; do
  check "agentd has no $path" inside fabric-agent test ! -e $path
done
for path in /sys/kernel/debug/fabsim /sys/kernel/config /sys/devices/system/cpu /sys/devices/virtual /sys/class /proc/irq; do
  check "agentd cannot write $path" not inside fabric-agent test -w $path
done
for path in /sys/kernel/debug/mlx5 /sys/kernel/debug/bnxt_re /sys/kernel/config/rdma_cm; do
  check "agentd can write $path" inside fabric-agent test -w $path
done
# Landlock is the process's own: what enters its namespaces does not have it. A kernel without it is named in the journal.
mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
eq "the journal names a kernel without Landlock" "$(journalctl -u fabric-agent -o cat | grep -q Landlock && echo named || echo silent)" \
  "$(grep -qw landlock /sys/kernel/security/lsm && echo silent || echo named)"
# The units' filters, as they apply to a process: connect(2) is refused also for abstract sockets.
filter=$(systemctl show -p SystemCallFilter --value fabric-agent.service)
check "connect is filtered" not grep -qw connect <<<"$filter"
check "sendmsg is not" grep -qw sendmsg <<<"$filter"
# The programs isolate themselves from other processes of their user (kernel/host/isolation.h), also below the units' filters.
check "the exporter reloads: its own filter is not that of ExecReload=" systemctl reload fabric-exporter
check "every service is isolated" not grep -q 'can signal other' <(journalctl -u 'fabric-*' -o cat)
for unit in fabric-agent fabric-exporter; do
  check "$unit has a memory limit" test "$(systemctl show -p MemoryMax --value $unit.service)" != infinity
  check "$unit runs" systemctl is-active --quiet $unit.service
done
eq "fabric-agent-pci ran" "$(systemctl show -p Result --value fabric-agent-pci.service)" success
check "modules are read, by the confined decoder" wait_until 90 jq -e '.modules | length > 0' /run/fabric-agent/optics.json
# Of the NICs with a health reporter vnic, which CAP_NET_ADMIN alone may ask.
fabsim 3 vnic "cq_overrun 4"
counted() {
  jq -e --arg first "$(nic 0)" --arg last "$(nic 3)" \
    '.functions | keys == [$first, $last] and .[$last].cq_overrun == 4 and .[$first].cq_overrun == 0' /run/fabric-agent/vnic.json
}
check "the counters of mlx5's queues are published" wait_until 90 counted
check "the agent's words reach the journal" test -n "$(journalctl -u fabric-agent -o cat _COMM=fabric-agentd | head -1)"
config enforce
check "enforcing works" reload_agent
check "and is reported" wait_until 30 sh -c 'fabric-agentctl status | grep -q "^Agent: running, enforce"'
# The drop-in of SECURITY.md, with which systemd believes nothing that the agent says.
install -D -m 644 /dev/stdin /run/systemd/system/fabric-agent.service.d/no-notify.conf <<'U'
[Service]
Type=exec
NotifyAccess=none
WatchdogSec=0
U
systemctl daemon-reload
systemctl restart fabric-agent.service
check "without notifications it enforces as well" wait_until 30 sh -c 'fabric-agentctl status | grep -q "^Agent: running, enforce"'
check "and has no notification socket" not grep -qz '^NOTIFY_SOCKET=' "/proc/$(systemctl show -p MainPID --value fabric-agent.service)/environ"
[[ ${FABSIM_FAILED:-0} -gt 0 ]] && { agent_log 60; inside fabric-agent find /run -maxdepth 3; }
finish
