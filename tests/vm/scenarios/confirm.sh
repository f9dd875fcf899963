#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# apply --confirm: the previous settings are restored unless the apply is confirmed, also when the shell that asked is
# killed, and when agentd is killed, too. A late interface gets its settings soon after its last rename.
. /mnt/host/scenarios/lib/agent.sh
check "the package installs" install_agent
config audit
reload_agent
for n in 0 1 2; do BEFORE[n]=$(readback $n); done
as_before() {
  local n
  for n in 0 1 2; do [[ $(readback $n) = "${BEFORE[n]}" ]] || { echo "NIC $n: $(readback $n)"; return 1; }; done
}
pfc_is_on() { [[ $(dcb_get 0 .pfc.pfc_en) = 8 ]]; }

# As from an operator's shell: a session of its own, killed with all that it started.
in_shell() { setsid bash -c "$*; sleep 300" >/tmp/shell.log 2>&1 & shell=$!; }

in_shell fabric-agentctl apply --disruptive now --confirm 12
check "applied on trial" wait_until 10 pfc_is_on
kill -KILL -- "-$shell"
check "the shell is dead, and the old settings return" wait_until 30 as_before
check "status says that it was not confirmed" sh -c 'fabric-agentctl status | grep -qi "confirm"'

rm -rf /var/lib/fabric-agent/*
systemctl restart fabric-agent.service
in_shell fabric-agentctl apply --disruptive now --confirm 12
check "on trial again" wait_until 10 pfc_is_on
systemctl kill --signal=KILL fabric-agent.service
kill -KILL -- "-$shell"
check "shell and agent are dead, and the old settings return" wait_until 30 as_before

# agentd may not write kernel.numa_balancing, the guard may: whichever is first, all settings are restored. In turn agentd
# is stopped until the guard has acted, the guard until agentd has, and neither.
mkdir -p /etc/fabric-agent/conf.d
balancing=$(sysctl -n kernel.numa_balancing) ecn=$(sysctl -n net.ipv4.tcp_ecn)
printf '[sysctl]\n"kernel.numa_balancing" = %s\n"net.ipv4.tcp_ecn" = %s\n' $((1 - balancing)) $((ecn == 1 ? 2 : 1)) \
  >/etc/fabric-agent/conf.d/80-host.toml
systemctl restart fabric-agent.service
host_as_before() { [[ $(sysctl -n kernel.numa_balancing) = "$balancing" && $(sysctl -n net.ipv4.tcp_ecn) = "$ecn" ]]; }
host_is_written() { [[ $(sysctl -n kernel.numa_balancing) != "$balancing" && $(sysctl -n net.ipv4.tcp_ecn) != "$ecn" ]]; }
reverted() { jq -e '.reverted != "" and .before == {} and .sysctl == {}' /var/lib/fabric-agent/confirm.json >/dev/null; }
agentd_pid() { systemctl show --property=MainPID --value fabric-agent.service; }
guard_pid() { pgrep -f 'fabric-agentctl apply --disruptive now --confirm 3' | head -1; }
for first in guard agentd either guard agentd either; do
  check "$first first: applied on trial" fabric-agentctl apply --disruptive now --confirm 3
  check "$first first: the host is written" host_is_written
  case $first in
    guard) stopped=$(agentd_pid) ;;
    agentd) stopped=$(guard_pid) ;;
    *) stopped= ;;
  esac
  [[ $stopped ]] && kill -STOP "$stopped"
  sleep 5
  [[ $stopped ]] && kill -CONT "$stopped"
  check "$first first: the host's settings return" wait_until 20 host_as_before
  check "$first first: the ports' settings return" wait_until 20 as_before
  check "$first first: the record says so" wait_until 20 reverted
done
ln -sf /dev/null /etc/fabric-agent/conf.d/80-host.toml # accepts the removal

systemctl restart fabric-agent.service
rm /etc/fabric-agent/conf.d/80-host.toml
check "nothing awaits confirmation: confirm says so" sh -c 'fabric-agentctl confirm; [ $? = 2 ]'
check "applied once more" fabric-agentctl apply --disruptive now --confirm 10
check "confirmed" fabric-agentctl confirm
sleep 14
check "what was confirmed stays" pfc_is_on
check "restore by hand" fabric-agentctl restore --disruptive now
check "restored" wait_until 10 as_before

# From the last rename by udev (of the netdev, then of the RDMA device) to the first setting, by the kernel's clock.
config enforce
check "enforcing" sh -c 'systemctl restart fabric-agent.service'
check "all as the profile" wait_until 40 all_as_profile 0 1 2
sleep 3
mkdir -p /etc/fabric-agent/conf.d
printf '[sysctl]\n"net.core.optmem_max" = 131073\n' >/etc/fabric-agent/conf.d/90-new.toml
check "an apply that the agent would undo is refused" sh -c 'fabric-agentctl apply --port host; [ $? = 3 ]'
reload_agent
check "once it has read the file again, it is not" fabric-agentctl apply --port host
udevadm monitor --kernel --subsystem-match=net --subsystem-match=infiniband >/tmp/uevents &
monitor=$!
for n in 0 2; do
  fabsim "$n" log 0
  fabsim "$n" reload 300
  sleep 1
  check "NIC $n: a new device gets the profile" wait_until 30 as_profile "$n"
  renamed=$(grep " move .*$(nic "$n")" /tmp/uevents | tail -1 | sed 's/^KERNEL\[\([0-9.]*\)\].*/\1/')
  first=$(fabsim "$n" log | awk 'NR == 1 { print $1 }')
  check "NIC $n: it was renamed, then set" test -n "$renamed" -a -n "$first"
  awk -v n="$n" -v a="$renamed" -v b="$first" 'BEGIN { printf "figure: NIC %s: from the last rename to the first setting %.0f ms\n", n, (b - a) * 1000 }'
done
kill $monitor
[[ $FABSIM_FAILED -gt 0 ]] && { cat /tmp/uevents; agent_log 60; }
finish
