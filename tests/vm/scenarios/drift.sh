#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Changes by others are repaired: on notification within milliseconds, after a silent wipe by the periodic reading, after a
# driver reload on the new device.
. /mnt/host/scenarios/lib/agent.sh

config_then_install() {
  install_agent && config enforce && reload_agent && wait_until 40 all_as_profile
}
check "installed, enforcing, all as the profile" config_then_install
sleep 4 # links are back

for n in 0 1 2; do fabsim "$n" log 0; done
check "apply of ports in sync" fabric-agentctl apply
for n in 0 1 2; do eq "NIC $n: calls no write of the driver" "$(fabsim "$n" log | grep -c .)" 0; done

TIMES=/tmp/repair-times
: >$TIMES
# drift NIC WHAT COMMAND...: a foreign write, then the profile again. The time is the kernel's own: from the foreign call to
# the first call after it that changes the same NIC.
drift() {
  local n=$1 what=$2
  shift 2
  fabsim "$n" log 0
  "$@" >/dev/null 2>&1
  check "NIC $n ($(fabsim "$n" personality)): $what is put back" wait_until 20 as_profile "$n"
  check "NIC $n: $what was foreign, then repaired" test "$(fabsim "$n" log | grep -c .)" -ge 2
  fabsim "$n" log | awk -v what="$what" -v pers="$(fabsim "$n" personality)" \
    'NR == 1 { first = $1 } NR == 2 { printf "%.1f %s %s\n", ($1 - first) * 1000, pers, what }' >>$TIMES
  sleep 1.5 # carrier, udev
}
for n in 0 1 2; do
  dev=$(netdev "$n")
  drift "$n" "a DSCP entry" raw "$n" app del dscp 26 3
  drift "$n" "global pause" sh -c "dcbraw $dev pfc 0; ethtool -A $dev rx on tx on"
  drift "$n" "MTU" ip link set "$dev" mtu 1500
  if [[ $n = 2 ]]; then
    drift "$n" "ETS" raw "$n" ets 0,1,2,3,4,5,6,7 ets,ets,ets,ets,ets,ets,ets,ets 44,8,8,8,8,8,8,8
  else
    drift "$n" "ETS" raw "$n" ets 0,0,0,0,0,0,0,0 ets,ets,strict,strict,strict,strict,strict,strict 20,80,0,0,0,0,0,0
  fi
  drift "$n" "PFC" raw "$n" pfc 0x10
  drift "$n" "PFC by the dcb tool" dcb pfc set dev "$dev" prio-pfc all:off 5:on
done
sort -n $TIMES >"$OUT/repair-times"
awk '{ t[NR] = $1 } END { if (NR) printf "figure: time from foreign write to repair: median %.1f ms, min %.1f ms, max %.1f ms over %d\n", t[int((NR + 1) / 2)], t[1], t[NR], NR }' "$OUT/repair-times"
check "every repair was timed" test "$(wc -l <"$OUT/repair-times")" -ge 18

for n in 0 1 2; do
  fabsim "$n" wipe 1
  check "NIC $n: a silent wipe is repaired within the periodic reading" wait_until 20 as_profile "$n"
  sleep 1
done

for n in 0 2; do
  old=$(cat "/sys/class/net/$(netdev "$n")/ifindex")
  fabsim "$n" reload 300
  new_device() { [[ $(cat "/sys/class/net/$(netdev "$n")/ifindex") != "$old" ]]; } # udev renames it meanwhile
  check "NIC $n: driver reload gives a new device" wait_until 10 new_device
  check "NIC $n: and it gets the profile" wait_until 30 as_profile "$n"
done

check "the journal names port, setting and values" sh -c 'journalctl -u fabric-agent -o json --no-pager | jq -se "map(select(.FABRIC_SETTING == \"pfc\" and .FABRIC_PORT != null and .FABRIC_FROM != null and .FABRIC_TO != null)) | length > 0"'
check "repairs are counted in status" sh -c 'fabric-agentctl status --json | jq -e ".. | .repairs? // empty | select(. > 0)"'
check "and in the metrics" sh -c 'curl -sf localhost:10479/metrics | grep -E "^fabric_setting_repairs_total\{.*setting=\"pfc\".*\} [1-9]"'

check "no kernel warning" sh -c '! dmesg | grep -E "WARNING:|BUG:|Oops"'
[[ $FABSIM_FAILED -gt 0 ]] && agent_log 80
finish
