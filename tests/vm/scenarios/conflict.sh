#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# One fact, five places: status, metrics, check, diagnose and the journal agree on a conflict while it lasts, and on its end.
. /mnt/host/scenarios/lib/agent.sh

config_then_install() {
  install_agent && config enforce && reload_agent && wait_until 40 all_as_profile
}
check "installed, enforcing, all as the profile" config_then_install
sleep 4 # links are back
PORT=$(port 1)
export PORT

by_status() { fabric-agentctl status --json | jq -r --arg p "$PORT" '[.. | objects | select(.port? == $p) | .. | objects | .outcome? // empty] | unique | join(",")'; }
by_metrics() {
  curl -sf localhost:10479/metrics |
    awk -v d="device=\"${PORT%/*}\"" '/^fabric_setting_in_sync\{/ && index($0, d) && index($0, "setting=\"ets\"") { print $NF }'
}
by_check() { fabric-agentctl check --interval 0 --json | jq -r --arg p "$PORT" '[.checks[] | select(.id == "ets") | .. | objects | select(.subject? == $p) | .status // empty] | unique | join(",")'; }
by_diagnose() { fabric-agentctl diagnose --interval 1s --json | jq -r --arg p "$PORT" '[.. | objects | select(.subject? == $p) | tostring | test("\\bets\\b")] | any'; }
last_word() { journalctl -u fabric-agent -o json --no-pager | jq -rs --arg p "$PORT" '[.[] | select(.FABRIC_PORT == $p)] | last | .MESSAGE'; }
say() { printf 'figure: %s: status "%s", metric "%s", check "%s", diagnose "%s", journal "%s"\n' "$1" "$(by_status)" "$(by_metrics)" "$(by_check)" "$(by_diagnose)" "$(last_word)"; }

say "in sync"
dev=$(netdev 1)
(while :; do dcbraw "$dev" ets 0,0,0,0,0,0,0,0 ets,ets,strict,strict,strict,strict,strict,strict 20,80,0,0,0,0,0,0; sleep 0.1; done) >/dev/null 2>&1 &
fighter=$!
says() { [[ $("$1") == *"$2"* ]]; }
check "status: conflict" wait_until 60 says by_status conflict
check "metrics: not in sync" wait_until 30 says by_metrics 0
check "check: critical" wait_until 10 says by_check critical
check "diagnose names the setting" wait_until 10 says by_diagnose true
check "the journal's last word is the conflict" says last_word conflict
say "in conflict"
# All logged calls of the operation have the same arguments: one writer.
same_arguments() { [[ $(fabsim "$1" log | awk -v op="$2" '$2 == op { $1 = ""; print }' | sort -u | wc -l) = 1 ]]; }
ticks() { awk '{ print $14 + $15 }' "/proc/$(systemctl show -p MainPID --value fabric-agent.service)/stat"; }
fabsim 1 log 0
t0=$(ticks)
sleep 5
echo "figure: in conflict: $(fabsim 1 log | grep -c setets) ETS writes in 5 s, $(($(ticks) - t0)) CPU ticks of agentd"
check "in conflict all writes are the other's" same_arguments 1 setets

kill $fighter
wait $fighter 2>/dev/null
sleep 1 # its last child
ended=$((SECONDS - 1))
fabsim 1 log 0
sleep 3
eq "and leaves what the other wrote" "$(fabsim 1 log | grep -c setets)" 0
check "written within a minute after the last foreign write" wait_until $((60 - (SECONDS - ended))) as_profile 1
echo "figure: in sync $((SECONDS - ended)) s after the last foreign write"
check "metrics: in sync" wait_until 30 says by_metrics 1
no_conflict() { ! says by_status conflict; }
check "status: no conflict" wait_until 10 no_conflict
no_finding() { ! says by_check critical; }
check "check: no finding" wait_until 10 no_finding
not_named() { says by_diagnose false; }
check "diagnose: nothing of it" not_named
ended_well() { ! says last_word conflict; }
check "the last word of the journal is no conflict" ended_well
say "afterwards"
[[ $FABSIM_FAILED -gt 0 ]] && agent_log 80
finish
