#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run:
# run with --all: --kernel 6.1
# The installed package changes nothing; check and plan name every difference; enforce writes what plan said and no more;
# the kernel reads back the profile; a second pass writes nothing; a normal user sees the same.
. /mnt/host/scenarios/lib/agent.sh
. /mnt/host/scenarios/lib/healthy.sh

before=$(for n in 0 1 2 3; do readback "$n"; done)
clear_calls
check "the package installs" install_agent
eq "the agent comes up in audit mode" "$(fabric-agentctl config show | grep -c '^mode = "audit"')" 1
sleep 2
eq "audit: nothing was written by installing" "$(writes)" ""
eq "audit: the NICs are as before" "$(for n in 0 1 2 3; do readback "$n"; done)" "$before"
check "the exporter's user is not root" sh -c 'curl -sf localhost:10479/metrics >/dev/null; test "$(ps -o user= -C fabric-exporter)" != root'

config audit
check "audit: reload" reload_agent
fabric-agentctl check --interval 0 --json >/tmp/check.json
for n in 0 1 2 3; do
  for key in pause mtu trust dscp_map ets pfc; do
    [[ $key = trust && $(readback "$n" | jq -r .trust) = dscp ]] && continue
    check "audit: check names $key of NIC $n" jq -e --arg port "$(port "$n")" --arg id "$key" \
      '.checks[] | select(.id == $id and .subject == $port and .status == "ok" and (.outcome | IN("differs", "pending")) and .observed != .expected and .remedy != "")' /tmp/check.json
  done
done
# Settings that differ page, drain and fail nothing: schedulers ask --brief, the alerts the metrics.
check "audit: a scheduler's check passes" fabric-agentctl check --brief --strict --only pfc,ets,dscp_map,mtu
check "audit: check lists them without a fault" sh -c 'fabric-agentctl check --interval 0 --only settings | grep -q "not enforced (audit mode)"'
silent_metrics() {
  curl -sf localhost:10479/metrics >/tmp/audit.txt && grep -q '^fabric_setting_in_sync{.*setting="pfc".*} 0$' /tmp/audit.txt &&
    ! grep -E '^fabric_check_status\{check="(dcbx|pause|mtu|trust|dscp_map|ets|pfc|cable_length)".*\} [12]' /tmp/audit.txt
}
check "audit: the metrics have them, and no status that an alert counts" wait_until 30 silent_metrics
fabric-agentctl check --interval 0 >/tmp/check.txt
fabric-agentctl plan >/tmp/plan.txt
eq "plan exits 2 when there is something to do" $? 2
fabric-agentctl plan --json >/tmp/plan.json
eq "asking wrote nothing" "$(writes)" ""

clear_calls
config enforce
check "enforce: reload" reload_agent
check "enforce: all four NICs read back as the profile" wait_until 30 all_as_profile
sleep 3 # the links come back and settle
check "enforce: still so" all_as_profile
# Each line of the plan is one operation of the driver; a DSCP map one per entry that differs; mlx5 gets the same PFC again after
# the MTU was written, if its link is up by then, and when its link is back; and the cable's length travels with PFC.
planned() {
  jq -r '.[] | select(.port == "'"$(port "$1")"'") | .setting' /tmp/plan.json | sort | tr '\n' ' '
}
written() {
  fabsim "$1" calls | awk '$2 > 0 && /^(set|del)/ {
    name["setdcbx"] = "dcbx"; name["setpause"] = "pause"; name["setmtu"] = "mtu"; name["setapp"] = "dscp_map"
    name["delapp"] = "dscp_map"; name["setets"] = "ets"; name["setpfc"] = "pfc"
    print ($1 in name ? name[$1] : $1) }' | sort -u | tr '\n' ' '
}
kinds() { tr ' ' '\n' | sed 's/^cable_length$/pfc/; s/^trust$/dscp_map/' | grep . | sort -u | tr '\n' ' '; }
for n in 0 1 2 3; do
  eq "NIC $n: written is what was planned" "$(written "$n")" "$(planned "$n" | kinds)"
  for op in setdcbx setpause setmtu setets; do
    check "NIC $n: $op at most once" sh -c "awk '\$1 == \"$op\" && \$2 > 1 { exit 1 }' /sys/kernel/debug/fabsim/$(nic "$n")/calls"
  done
  if [[ $(fabsim "$n" personality) = mlx5 ]]; then limit=3; else limit=1; fi
  check "NIC $n: setpfc at most $limit times" sh -c "awk '\$1 == \"setpfc\" && \$2 > $limit { exit 1 }' /sys/kernel/debug/fabsim/$(nic "$n")/calls || { grep pfc /sys/kernel/debug/fabsim/$(nic "$n")/log; exit 1; }"
done

clear_calls
check "second pass: reload" reload_agent
sleep 7 # one periodic reading more
eq "second pass: nothing written" "$(writes)" ""
fabric-agentctl plan >/tmp/plan2.txt
eq "plan exits 0 when nothing is to do" $? 0
fabric-agentctl check --interval 0 --json >/tmp/check2.json
eq "no setting is named any more" "$(jq -r '[.checks[] | select(.status != "ok") | .id] | map(select(IN("dcbx", "pause", "mtu", "trust", "dscp_map", "ets", "pfc", "cable_length"))) | length' /tmp/check2.json)" 0

no_setting_bad_on_metrics() { ! curl -sf localhost:10479/metrics | grep -E '^fabric_check_status\{check="(dcbx|pause|mtu|trust|dscp_map|ets|pfc|cable_length)".*\} [1-9]'; }
check "the metrics say the same within two scrapes" wait_until 12 no_setting_bad_on_metrics
curl -sf localhost:10479/metrics >/tmp/metrics.txt

runuser -u nobody -- fabric-agentctl check --interval 0 >/tmp/nobody.txt 2>&1
status=$?
eq "a normal user's check gives root's verdict" "$status" "$(fabric-agentctl check --interval 0 >/dev/null 2>&1; echo $?)"
check "a normal user is told what could not be seen, or nothing was hidden" grep -Eqi 'not (seen|readable|visible)|could not|privilege|permission|checked' /tmp/nobody.txt
check "a normal user cannot apply, and is told why" sh -c 'runuser -u nobody -- fabric-agentctl apply 2>&1 | grep -Eqi "root|CAP_NET_ADMIN|permi"'
check "metrics as a normal user" sh -c 'runuser -u nobody -- curl -sf localhost:10479/metrics | grep -q "^fabric_port_info"'

readme_commands

# A bad configuration: reload keeps the old one and says so; a start refuses with file, line, column and the fix.
clear_calls
config enforce 'disruptive = "perhaps"'
check "bad configuration: the reload fails" sh -c '! systemctl reload fabric-agent.service'
check "bad configuration: the agent goes on" systemctl is-active --quiet fabric-agent.service
check "bad configuration: check and status say where it is bad" sh -c 'fabric-agentctl status --json | grep -q "fabric-agent.toml:[0-9]*:[0-9]*: "'
check "bad configuration: the journal says that the old one is kept" sh -c 'journalctl -u fabric-agent.service | grep -q "the last valid configuration stays in use"'
eq "bad configuration: config check refuses it" "$(fabric-agentctl config check 2>&1 | grep -c 'fabric-agent.toml:[0-9]*:[0-9]*: ')" 1
eq "bad configuration: nothing was written" "$(writes)" ""
check "bad configuration: a restart uses the last valid one" systemctl restart fabric-agent.service
check "bad configuration: it enforces" sh -c 'fabric-agentctl status --json | jq -e ".agent.running and .agent.mode == \"enforce\""'
check "bad configuration: a warning" sh -c 'fabric-agentctl check --only agent --interval 0 --json | jq -e ".verdict == \"warning\""'
fabric-agentctl config check >/dev/null 2>&1
eq "bad configuration: exit status of config check" $? 1
rm /var/lib/fabric-agent/config.toml
check "no valid configuration at all: a start is refused" sh -c '! systemctl restart fabric-agent.service'
eq "no valid configuration at all: by the exit status for that" "$(systemctl show -p ExecMainStatus --value fabric-agent.service)" 78
config enforce
systemctl reset-failed fabric-agent.service
check "repaired configuration: it starts" systemctl start fabric-agent.service
dpkg -P fabric-agent >/tmp/purge.txt 2>&1
check "purge: originals that settings differ from are kept" test -s /var/lib/fabric-agent/originals.json
check "purge: says which settings" grep -q pfc /tmp/purge.txt
check "purge: the last valid policy is not kept" test ! -e /var/lib/fabric-agent/config.toml

cp /tmp/*.txt /tmp/*.json "$OUT" 2>/dev/null
[[ $FABSIM_FAILED -gt 0 ]] && agent_log 60
finish
