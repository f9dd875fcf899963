#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run: --timeout 1800
# Healthy load is silent: RDMA traffic on both wires, bursts of congestion notifications and short pauses, and the exporter with
# its default limits says nothing new of any port, its diagnosis names no culprit. One minute; healthy-long takes ten.
. /mnt/host/scenarios/lib/agent.sh
MINUTES=${MINUTES:-1}
PAGE=/tmp/page

check "the package installs" install_agent
# Every command of README that starts with "$", as it is written there. 1 and 2 are verdicts.
while IFS= read -r command <&3; do
  bash -c "$command" >/tmp/out 2>&1
  status=$?
  case $command in *agentctl\ plan* | *agentctl\ check*) limit=2 ;; *) limit=0 ;; esac
  check "README: $command" test "$status" -le "$limit" || cat /tmp/out
done 3< <(sed -n 's/^\$ //p' /mnt/host/README.md)
config enforce '[health]' 'boot_grace = "0s"'
reload_agent
systemctl restart fabric-exporter.service
check "the ports are set" wait_until 40 all_as_profile
sleep 5

scrape() { curl -sf localhost:10479/metrics >$PAGE; }
complaints() { scrape && sed -nE 's/^fabric_check_status\{check="([^"]*)",subject="([^"]*)"\} ([123])$/\1 \2 \3/p' $PAGE | sort; }
blames() { grep -F 'fabric_diagnosis{' $PAGE | grep -vF 'culprit="none"'; }
complaints >/tmp/first
echo "complaints to begin with:"
cat /tmp/first

# A queue pair of the emulated server may well be answered later than after the usual 67 ms: then it sends again, as on a bad network.
PATIENT=(--tx-depth=8 --qp-timeout=20)
check "traffic on the first wire" traffic_start 0 1 $((MINUTES * 60 + 60)) "${PATIENT[@]}"
check "traffic on the second" traffic_start 2 3 $((MINUTES * 60 + 60)) "${PATIENT[@]}"
sent0=$(hw_counter 0 sent_pkts)
loud=0 scrapes=0 end=$((SECONDS + MINUTES * 60))
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
    echo "after $((MINUTES * 60 - end + SECONDS)) s:"
    cat /tmp/news /tmp/blames
  fi
done
check "there was traffic" test "$(hw_counter 0 sent_pkts)" -gt $((sent0 + 10000))
for n in 0 1 2 3; do echo "NIC $n:" $(grep -H . "/sys/class/infiniband/$(rdmadev "$n")/ports/1/hw_counters/"{out_of_seq_request,duplicate_request,rcvd_seq_err,completer_retry_err} | sed 's,.*/,,'); done
traffic_stop 0
traffic_stop 2
eq "scrapes with a complaint, of $scrapes in $MINUTES minutes" "$loud" 0
echo "figure: healthy load: $loud of $scrapes scrapes in $MINUTES minutes said anything"
check "no kernel warning" sh -c '! dmesg | grep -E "WARNING:|BUG:|Oops"'
[[ $FABSIM_FAILED -gt 0 ]] && journalctl -u fabric-exporter --no-pager | tail -20
finish
