#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# run: --timeout 1500 --cmdline fabsim.personality=mlx5,bnxt,ice,nodcb
# Everything that can go wrong in a write: refused in the reply's byte while the ACK says success, ignored, the device gone
# in the middle, agentd killed at each write. Each is reported for what it is and the other NICs are finished.
. /mnt/host/scenarios/lib/agent.sh
check "the package installs" install_agent
systemctl stop fabric-agent.service
config enforce

settings_of() { fabric-agentctl status --json | jq -r --arg p "$(port "$1")" '.. | objects | select(.port? == $p)'; }
outcome_is() { settings_of "$1" | jq -e --arg k "$2" --arg o "$3" '.. | objects | select((.setting? == $k or .key? == $k) and .outcome? == $o)'; }
reset_nics() {
  local n
  systemctl stop fabric-agent.service
  rm -rf /var/lib/fabric-agent/*
  for n in 0 1 2 3; do fabsim "$n" fail clear; fabsim "$n" wipe 1; fabsim "$n" reload 50; done
  for n in 0 1 2 3; do rdmadev "$n" >/dev/null; done
  sleep 1
  clear_calls
}

reset_nics
fabsim 0 fail "setpfc 95 -1"
fabsim 1 fail "setets ignore -1"
systemctl start fabric-agent.service
check "refused: PFC of NIC 0" wait_until 20 outcome_is 0 pfc refused
check "refused: the errno is told" sh -c "fabric-agentctl status --json | grep -q EOPNOTSUPP || fabric-agentctl check --interval 0 | grep -q EOPNOTSUPP"
eq "refused: the rest of NIC 0 is done" "$(dcb_get 0 .ets.prio_tc)" "[0,0,0,1,0,0,2,0]"
check "ignored: ETS of NIC 1" wait_until 20 outcome_is 1 ets ignored
check "NIC 2 is finished all the same" wait_until 20 as_profile 2
check "NIC without DCB: PFC unsupported" wait_until 10 outcome_is 3 pfc unsupported
check "NIC without DCB: its MTU is set" test "$(cat "/sys/class/net/$(netdev 3)/mtu")" = 4200
fabric-agentctl check --interval 0 --json >"$OUT/check-faults.json"
# The program of ionic's vendor can set what the kernel cannot: one finding names those settings.
check "check: refused, ignored and unsupported are named" jq -e --arg a "$(port 0)" --arg b "$(port 1)" --arg c "$(port 3)" \
  '[(.checks[] | select(.subject == $a and .id == "pfc" and .status == "critical")), (.checks[] | select(.subject == $b and .id == "ets" and .status == "critical")),
    (.checks[] | select(.subject == $c and .id == "vendor-settings" and .status == "unknown" and (.expected | contains("pfc"))))] | length == 3' "$OUT/check-faults.json"
pfc_writes() { fabsim 0 calls | awk '$1 == "setpfc" { print $2 }'; }
before=$(pfc_writes)
sleep 12
calls=$(($(pfc_writes) - before))
check "a refused write is not hammered ($calls in 12 s)" test "$calls" -le 4

reset_nics
fabsim 1 fail "setets vanish 1"
systemctl start fabric-agent.service
check "vanished in the middle: the others are finished" wait_until 30 all_as_profile 0 2
check "vanished: it is really gone" test ! -d "/sys/bus/pci/devices/$(nic 1)/net"
fabsim 1 fail clear
fabsim 1 reload 50
check "and back: it gets the profile" wait_until 30 as_profile 1

# Killed at each write, before and after it took effect: the next start ends in sync, and the originals can be
# restored. Of the 64 entries of mlx5's DSCP map, one message, a few stand for all.
reset_nic() {
  fabsim "$1" fail clear
  fabsim "$1" reload "20 fw"
  rdmadev "$1" >/dev/null
  wait_until 10 test -e "/sys/class/infiniband/$(rdmadev "$1")/ports/1/gids/0"
  rm -rf /var/lib/fabric-agent/*
  fabsim "$1" calls 0
}
points() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) if (n <= 12 || i < 4 || i == int(n / 2) || i >= n - 5) print i }'; }
systemctl stop fabric-agent.service
for n in 0 1 2; do
  reset_nic "$n"
  first=$(readback "$n")
  fabric-agentd --once >/tmp/once.log 2>&1
  total=$(fabsim "$n" calls | awk '/^(set|del)/ { sum += $2 } END { print sum }')
  check "NIC $n: a profile takes several writes ($total)" test "$total" -ge 5
  for action in kill killafter; do
    for skip in $(points "$total"); do
      reset_nic "$n"
      fabsim "$n" fail "any $action 1 $skip"
      fabric-agentd --once >/tmp/once.log 2>&1
      eq "NIC $n: $action at write $skip: it struck" $? 137
      fabsim "$n" fail clear
      fabric-agentd --once >/tmp/once.log 2>&1
      check "NIC $n: $action at write $skip: the next start ends in sync" as_profile "$n"
      fabric-agentctl restore --port "$(port "$n")" >/tmp/restore.log 2>&1
      eq "NIC $n: $action at write $skip: what stood at first is restored" "$(readback "$n")" "$first"
    done
  done
done
check "no kernel warning" sh -c '! dmesg | grep -E "WARNING:|BUG:|Oops"'
[[ $FABSIM_FAILED -gt 0 ]] && { agent_log 60; cat /tmp/once.log /tmp/restore.log; }
finish
