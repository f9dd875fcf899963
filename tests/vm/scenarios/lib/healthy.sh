# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# README's commands, and healthy load, on the installed agent. Sourced after agent.sh.
PAGE=/tmp/page

# Every command of README that starts with "$", as it is written there. 1 and 2 are verdicts.
readme_commands() {
  local command status limit
  while IFS= read -r command <&3; do
    bash -c "$command" >/tmp/out 2>&1
    status=$?
    case $command in *agentctl\ plan* | *agentctl\ check*) limit=2 ;; *) limit=0 ;; esac
    check "README: $command" test "$status" -le "$limit" || cat /tmp/out
  done 3< <(sed -n 's/^\$ //p' /mnt/host/README.md)
}

complaints() {
  curl -sf localhost:10479/metrics >$PAGE &&
    sed -nE 's/^fabric_check_status\{check="([^"]*)",subject="([^"]*)"\} ([123])$/\1 \2 \3/p' $PAGE | sort
}
blames() { grep -F 'fabric_diagnosis{' $PAGE | grep -vF 'culprit="none"'; }

# healthy_load MINUTES: RDMA traffic on both wires, bursts of congestion notifications and short pauses, and the exporter with
# its default limits says nothing new of any port, its diagnosis names no culprit.
healthy_load() {
  local minutes=$1 n sent loud=0 scrapes=0 end
  # A queue pair of the emulated server may well be answered later than after the usual 67 ms: then it sends again, as on a
  # bad network. The traffic class is that of DSCP 26, as the policy has it.
  local patient=(--tx-depth=8 --qp-timeout=20 --tclass=106)
  config enforce '[rules]' 'boot_grace = "0s"'
  reload_agent
  systemctl restart fabric-exporter.service
  check "the ports are set" wait_until 40 all_as_profile
  sleep 5
  complaints >/tmp/first
  echo "complaints to begin with:"
  cat /tmp/first
  check "traffic on the first wire" traffic_start 0 1 $((minutes * 60 + 60)) "${patient[@]}"
  check "traffic on the second" traffic_start 2 3 $((minutes * 60 + 60)) "${patient[@]}"
  sent=$(hw_counter 0 sent_pkts)
  end=$((SECONDS + minutes * 60))
  while ((SECONDS < end)); do
    for n in 0 3; do
      sim "$n" rp_cnp_handled +50
      sim "$n" np_cnp_sent +50
      fabsim "$n" stat "rx_prio3_pause +40"
      fabsim "$n" stat "rx_prio3_pause_duration +2000"
    done
    sleep 5
    complaints | comm -13 /tmp/first - >/tmp/news
    blames >/tmp/blames
    scrapes=$((scrapes + 1))
    if [[ -s /tmp/news || -s /tmp/blames ]]; then
      loud=$((loud + 1))
      echo "after $((minutes * 60 - end + SECONDS)) s:"
      cat /tmp/news /tmp/blames
    fi
  done
  check "there was traffic" test "$(hw_counter 0 sent_pkts)" -gt $((sent + 10000))
  traffic_stop 0
  traffic_stop 2
  eq "scrapes with a complaint, of $scrapes in $minutes minutes" "$loud" 0
  echo "figure: healthy load: $loud of $scrapes scrapes in $minutes minutes said anything"
  check "no kernel warning" sh -c '! dmesg | grep -E "WARNING:|BUG:|Oops"'
}
