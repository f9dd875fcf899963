#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# run: --timeout 1200
# A running job comes first: with a queue pair open, a PFC difference on mlx5 stays pending and the traffic goes on; when the
# job ends it is applied. Then real RDMA traffic over a lossy wire: the right counters rise at the right ends.
. /mnt/host/scenarios/lib/agent.sh
install_agent && config enforce && reload_agent
check "all as the profile" wait_until 40 all_as_profile
sleep 4

pfc_is() { fabric-agentctl status --json | jq -e --arg p "$(port 0)" --arg o "$1" '.. | objects | select(.port? == $p) | .. | objects | select((.setting? == "pfc" or .key? == "pfc") and .outcome? == $o)'; }
check "a job runs" traffic_start 0 1 60 # longer than all that is asked of it, on a busy machine
sleep 2
packets0=$(hw_counter 0 sent_pkts)
downs0=$(cat "/sys/class/net/$(netdev 0)/carrier_down_count")
fabsim 0 log 0
# Firmware loses PFC under the job: nothing of ours may bring the link down now.
fabsim 0 wipe 1
check "PFC is pending while the job runs" wait_until 15 pfc_is pending
check "plan says so" sh -c 'fabric-agentctl plan | grep -q pending'
check "check says so" sh -c 'fabric-agentctl check --interval 0 --json | jq -e ".checks[] | select(.id == \"pfc\" and .status != \"ok\")"'
sleep 2
# (The cable's length travels in the same message, with the PFC bits as they are: no flap.)
eq "PFC was not written" "$(fabsim 0 log | grep -c 'setpfc pfc_en=0x08')" 0
eq "the link stayed up" "$(cat "/sys/class/net/$(netdev 0)/carrier_down_count")" "$downs0"
check "the traffic went on" test "$(hw_counter 0 sent_pkts)" -gt $((packets0 + 100))
eq "what needs no stop was repaired meanwhile" "$(dcb_get 0 .ets.prio_tc)" "[0,0,0,1,0,0,2,0]"
check "the job ended well" traffic_wait 0
check "then PFC is applied" wait_until 20 as_profile 0
sleep 3

# The drivers' own names of counters and the owners of RDMA objects are published on request.
mkdir -p /etc/fabric-agent/conf.d
printf '[exporter]\nraw = "all"\ngroups = ["owners"]\n' >/etc/fabric-agent/conf.d/90-raw.toml
systemctl reload fabric-exporter

# One per cent loss on both wires' ends.
# A scrape waits half a second for new readings, then takes what is held: on a slow machine the second one has them.
metric() {
  curl -sf localhost:10479/metrics >/dev/null
  sleep 1.5
  curl -sf localhost:10479/metrics | awk -v d="$(rdmadev "$1")" -v c="$2" 'index($0, "fabric_rdma_hw_counters_total{") == 1 &&
    index($0, "device=\"" d "\"") && index($0, "counter=\"" c "\"") { print $NF }'
}
metric 0 sent_pkts >/dev/null
curl -sf localhost:10479/metrics >"$OUT/metrics-before"
check "promised counters are there" test -n "$(metric 0 rcvd_seq_err)"
a0=$(metric 0 rcvd_seq_err) b0=$(metric 1 out_of_seq_request)
for n in 0 1; do tc qdisc add dev "$(netdev "$n")" root netem loss 1%; done
traffic_start 0 1 8
sleep 1
fabric-agentctl check --interval 4s --json >"$OUT/check-loss.json"
traffic_wait 0 >/dev/null
sleep 6 # what the exporter holds may be 5 s old
a1=$(metric 0 rcvd_seq_err) b1=$(metric 1 out_of_seq_request)
echo "figure: requester: rcvd_seq_err $a0 -> $a1; responder: out_of_seq_request $b0 -> $b1"
check "loss: the requester's counter rose on /metrics" test "${a1:-0}" -gt "${a0:-0}"
check "loss: the responder's counter rose on /metrics" test "${b1:-0}" -gt "${b0:-0}"
eq "loss: /metrics equals the kernel's own at the requester" "$a1" "$(hw_counter 0 rcvd_seq_err)"
eq "loss: and at the responder" "$b1" "$(hw_counter 1 out_of_seq_request)"
rdma statistic show link "$(port 0)"
lost_at() { jq -e --arg p "$(port "$1")" '.checks[] | select(.id == "loss" and .subject == $p and .status != "ok")' "$OUT/check-loss.json"; }
check "loss: check says so, at the requester" lost_at 0
check "loss: check says so, at the responder" lost_at 1
silent_at() { ! lost_at "$1"; }
check "loss: the other pair stays silent" eval 'silent_at 2 && silent_at 3'
for n in 0 1; do tc qdisc del dev "$(netdev "$n")" root; done

# The owners of the queue pairs, as the kernel's own tool shows them (the kernel's have their module in brackets). The exporter counts
# again a minute after the last change.
queue_pairs() { rdma resource show qp | grep -E "^(link|dev) $(rdmadev 0)[/ ]" | case $1 in kernel) grep -cF 'comm [' ;; user) grep -vcF 'comm [' ;; esac; }
shown_of() {
  curl -sf localhost:10479/metrics | awk -v d="$(rdmadev 0)" -v o="$1" 'index($0, "fabric_rdma_resources_by_owner{") == 1 &&
    index($0, "device=\"" d "\"") && index($0, "kind=\"qp\"") && index($0, "owner=\"" o "\"") { print $NF }'
}
owners_agree() {
  user=$(queue_pairs user) kernel=$(queue_pairs kernel)
  [[ $user -ge 1 && $kernel -ge 1 && $(shown_of user) = "$user" && $(shown_of kernel) = "$kernel" ]]
}
job_is_gone() { [[ $(shown_of user) = 0 && $(shown_of kernel) = "$(queue_pairs kernel)" ]]; }
traffic_start 0 1 250
check "whose the queue pairs are: a job's and the kernel's" wait_until 200 owners_agree
traffic_stop 0
check "whose the queue pairs are: none of a job's when it has ended" wait_until 200 job_is_gone

# Counters raised by name.
np0=$(metric 2 np_cnp_sent)
sim 2 np_cnp_sent +1234
sleep 6
eq "a counter raised by name" "$(($(metric 2 np_cnp_sent) - np0))" 1234
fabsim 0 stat "rx_prio3_pause +77"
sleep 6
metric 0 sent_pkts >/dev/null
check "PFC frames per priority" sh -c "curl -sf localhost:10479/metrics | grep -E '^fabric_[a-z_]*pfc[a-z_]*\{.*device=\"$(rdmadev 0)\".*priority=\"3\".*\} 77$'"
[[ $FABSIM_FAILED -gt 0 ]] && agent_log 60
finish
