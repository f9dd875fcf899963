#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# run: --timeout 1200
# RoCE moves from priority 3 to 4 while jobs run on mlx5, bnxt and ice: nothing of its class is written until they have ended.
# Then, by the module's log of calls: the new priority lossless beside the old one, the traffic, the release of the old one.
. /mnt/host/scenarios/lib/agent.sh
install_agent && config enforce && reload_agent
check "RoCE is on priority 3" wait_until 40 all_as_profile
sleep 4

# The same profile with RoCE on priority 4.
move_config() {
  config enforce
  sed -i -e 's/26 = 3/26 = 4/; s/^pfc = \[3\]/pfc = [4]/' \
    -e 's/prio_tc = \[0, 0, 0, 1, 0, 0, 2, 0\]/prio_tc = [0, 0, 0, 0, 1, 0, 2, 0]/' \
    -e 's/bw = \[30, 5, 5, 40, 5, 5, 5, 5\]/bw = [30, 5, 5, 5, 40, 5, 5, 5]/' "$CONFIG"
}
# Changes of RoCE's class that the module has logged.
class_writes() { fabsim "$1" log | grep -E ' ?(setets|setpfc|setapp|delapp|setbuffer|settrust)\b'; }
outcome_is() {
  fabric-agentctl status --json |
    jq -e --arg p "$(port "$1")" --arg s "$2" --arg o "$3" '.. | objects | select(.port? == $p) | .. | objects | select((.setting? == $s or .key? == $s) and .outcome? == $o)'
}

# The job of NIC N has neither ended nor failed.
runs() { kill -0 "$(cat "/run/fabsim-traffic-$1.client.pid")" && kill -0 "$(cat "/run/fabsim-traffic-$1.server.pid")"; }

check "a job runs on mlx5 and bnxt" traffic_start 0 1 900
check "a job runs on ice and mlx5" traffic_start 2 3 900
sleep 2
clear_calls
downs=$(for n in 0 1 2; do cat "/sys/class/net/$(netdev "$n")/carrier_down_count"; done | paste -sd' ')
move_config
check "the new policy is loaded" reload_agent
sleep 8 # a periodic reading, too
fabric-agentctl plan >"$OUT/plan-busy.txt"
fabric-agentctl plan --json >"$OUT/plan-busy.json"
for n in 0 1 2; do
  pers=$(fabsim "$n" personality)
  eq "$pers: nothing of RoCE's class was written under the job" "$(class_writes "$n")" ""
  eq "$pers: RoCE is on priority 3 with PFC" "$(dcb_get "$n" '[.pfc.pfc_en, (.app[] | select(.selector == "dscp" and .protocol == 26) | .priority)]')" "[8,3]"
  for key in dscp_map ets pfc; do check "$pers: $key is pending" wait_until 10 outcome_is "$n" $key pending; done
  check "$pers: the plan names what the others wait for" jq -e --arg p "$(port "$n")" \
    '[.[] | select(.port == $p and .outcome == "pending")] | length >= 3 and any(.detail | test("queue pairs|registered memory"))' "$OUT/plan-busy.json"
done
eq "no link went down" "$(for n in 0 1 2; do cat "/sys/class/net/$(netdev "$n")/carrier_down_count"; done | paste -sd' ')" "$downs"
check "the first job is still running" runs 0
check "the second job is still running" runs 2
traffic_stop 0
traffic_stop 2

moved() { dcb_get "$1" '[.pfc.pfc_en, (.app[] | select(.selector == "dscp" and .protocol == 26) | .priority)]' | grep -qxF '[16,4]'; }
# The number of the first line of the log that matches.
line_of() { fabsim "$1" log | grep -nE "$2" | head -n 1 | cut -d: -f1; }
for n in 0 1 2; do
  pers=$(fabsim "$n" personality)
  check "$pers: then RoCE moves to priority 4" wait_until 60 moved "$n"
  eq "$pers: the NIC drops no packets of it" "$(fabsim "$n" lossless)" 0x10
  fabsim "$n" log >"$OUT/calls-$pers.txt"
  echo "calls of $pers:"
  class_writes "$n"
  both=$(line_of "$n" 'setpfc pfc_en=0x18') last=$(line_of "$n" 'setpfc pfc_en=0x10')
  traffic=$(line_of "$n" 'setapp .*26.*4')
  check "$pers: both priorities lossless ($both), then the traffic ($traffic), then the release ($last)" \
    test "${both:-9999}" -lt "${traffic:-0}" -a "${traffic:-9999}" -lt "${last:-0}"
done
sleep 3
eq "plan exits 0 when all is done" "$(fabric-agentctl plan >/dev/null; echo $?)" 0

# A refusal half way: without PFC on priority 5 the traffic stays where it is, and the plan says why.
sed -i -e 's/26 = 4/26 = 5/; s/^pfc = \[4\]/pfc = [5]/' -e 's/\[0, 0, 0, 0, 1, 0, 2, 0\]/[0, 0, 0, 0, 0, 1, 2, 0]/' \
  -e 's/\[30, 5, 5, 5, 40, 5, 5, 5\]/[30, 5, 5, 5, 5, 40, 5, 5]/' "$CONFIG"
for n in 0 1 2; do fabsim "$n" fail "setpfc 5 -1"; done
clear_calls
reload_agent
for n in 0 1 2; do
  pers=$(fabsim "$n" personality)
  check "$pers: PFC is refused" wait_until 20 outcome_is "$n" pfc refused
  check "$pers: the DSCP map waits for it" wait_until 10 outcome_is "$n" dscp_map pending
  check "$pers: RoCE is on priority 4 with PFC" moved "$n"
  eq "$pers: the NIC drops no packets of it" "$(fabsim "$n" lossless)" 0x10
done
for n in 0 1 2; do fabsim "$n" fail clear; done

# Another program moves RoCE's priority to another class of bnxt, whose queue is lossy, while the driver shows its PFC.
check "bnxt: RoCE moves to priority 5" wait_until 90 eval 'dcb_get 1 .pfc.pfc_en | grep -qx 32'
dcbraw "$(netdev 1)" ets 0,0,0,0,0,2,2,0 ets,ets,strict,0,0,0,0,0 50,50,0,0,0,0,0,0 >/dev/null
check "bnxt: the agent says that the priority has no PFC any more" wait_until 30 eval 'agent_log 40 | grep -q "pfc changed to none by"'
check "bnxt: the agent gives the priority a lossless queue again" wait_until 90 eval 'fabsim 1 lossless | grep -qx 0x20'
[[ $FABSIM_FAILED -gt 0 ]] && agent_log 60
finish
