#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# selftest PORT: each setting once, then everything as before; a kill at any moment is restored by the next restore and by the next
# start of the agent, in audit mode as well; refused while a process uses the port.
. /mnt/host/scenarios/lib/agent.sh
check "the package installs" install_agent
config audit
reload_agent
systemctl stop fabric-agent.service
RECORD=/var/lib/fabric-agent/selftest.json
cd /tmp || exit 1

for n in 0 1 2; do BEFORE[n]=$(readback $n); done
as_before() { [[ $(readback "$1") = "${BEFORE[$1]}" ]] || { readback "$1"; return 1; }; }
no_record() { [[ ! -e $RECORD ]]; }
carrier_of() { [[ $(cat "/sys/class/net/$(netdev "$1")/carrier") = 1 ]]; }

for n in 0 1 2; do
  port=$(netdev "$n")
  check "NIC $n: without --yes nothing is written" sh -c "! fabric-agentctl selftest $port && [ ! -e $RECORD ]"
  fabsim "$n" log 0
  fabric-agentctl selftest "$port" --yes >"$OUT/selftest-$n" 2>&1
  check "NIC $n: it wrote" test "$(fabsim "$n" log | grep -c .)" -ge 8
  check "NIC $n: settings as before" wait_until 20 as_before "$n"
  check "NIC $n: no record is left" no_record
  check "NIC $n: a report" sh -c "jq -e '.restored and (.steps | length >= 7)' fabric-selftest-$port.json"
  check "NIC $n: no write that was expected to be harmless took the link down" \
    sh -c "jq -e '[.steps[] | select(.carrier_downs > 0 and (.disruptive | not))] == []' fabric-selftest-$port.json"
done

# Killed after so many milliseconds: the writes are spread over the time.
for n in 0 2; do
  for ms in 50 150 300 600 1200 2400; do
    setsid fabric-agentctl selftest "$(netdev "$n")" --yes >/dev/null 2>&1 &
    test=$!
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    kill -KILL "$test" 2>/dev/null
    wait "$test" 2>/dev/null
    if ((ms % 300 == 0)); then
      systemctl start fabric-agent.service
      check "NIC $n, killed after $ms ms: the agent restores it" wait_until 30 no_record
      systemctl stop fabric-agent.service
    else
      fabric-agentctl restore --port "$(netdev "$n")" >/dev/null 2>&1
    fi
    check "NIC $n, killed after $ms ms: no record is left" wait_until 30 no_record
    wait_until 20 carrier_of "$n"
    check "NIC $n, killed after $ms ms: settings as before" wait_until 20 as_before "$n"
  done
done

# Nobody runs a command, and no agent runs. The configuration of the test was a file that is gone.
for n in 0 2; do
  for ms in 200 900; do
    cp "$CONFIG" trial.toml
    setsid fabric-agentctl --config trial.toml selftest "$(netdev "$n")" --yes >/dev/null 2>&1 &
    test=$!
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    kill -KILL "$test" 2>/dev/null
    wait "$test" 2>/dev/null
    rm trial.toml
    check "NIC $n, killed after $ms ms: its guard restores it" wait_until 30 no_record
    wait_until 20 carrier_of "$n"
    check "NIC $n, killed after $ms ms: the guard leaves the settings as before" wait_until 20 as_before "$n"
  done
done
no_guard() { ! systemctl list-units --no-legend 'fabric-agent-selftest-*.scope' | grep -q .; }
check "no guard is left" wait_until 90 no_guard # the last one may still wait for its link

# An agent in audit mode runs, and the guard is killed, too.
systemctl start fabric-agent.service
for ms in 200 900; do
  setsid fabric-agentctl selftest "$(netdev 0)" --yes >/dev/null 2>&1 &
  test=$!
  sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
  systemctl kill -s KILL 'fabric-agent-selftest-*.scope' 2>/dev/null
  kill -KILL "$test" 2>/dev/null
  wait "$test" 2>/dev/null
  check "killed after $ms ms with its guard: the running agent restores it at once" wait_until 10 no_record
  wait_until 20 carrier_of 0
  check "killed after $ms ms with its guard: settings as before" wait_until 20 as_before 0
done
systemctl stop fabric-agent.service

check "traffic" traffic_start 0 1 300
check "refused while a process uses the port" \
  sh -c "fabric-agentctl selftest $(netdev 0) --yes 2>&1 | grep -qE 'queue pairs|registered memory'; [ ! -e $RECORD ]"
traffic_stop 0
finish
