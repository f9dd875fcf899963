#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# run: --timeout 2100
# Faults injected by name and by netem: the exporter names the check, the culprit and the metric within two of its readings (ten
# seconds each), and takes it back when it is over. Its memory outlives a restart. The limits are the defaults; windows and
# waiting times are shorter, so that the scenario is.
. /mnt/host/scenarios/lib/agent.sh
PAGE=/tmp/page
HEARD=35 # seconds: two readings, and what the emulated server takes for them
GONE=90

check "the package installs" install_agent
lasting='{ confirm = "0s", clear = "5s" }' counted='{ window = "20s", confirm = "0s", clear = "5s" }' paused='{ window = "10s", confirm = "5s", clear = "5s" }'
health=('[rules]' 'boot_grace = "0s"' 'reload_grace = "0s"' 'link-flap = { window = "40s", clear = "1s" }' 'gid-changed = { window = "40s" }'
  "link-errors = { bit_errors = $counted, bit_errors_slow = $counted, link_recoveries_slow = $counted }"
  "pre-fec-ber = { pre_fec_ber = $counted, module_from_nic = $lasting }" "loss = { out_of_sequence = $counted, ack_timeouts = $counted }"
  "discards = { lossless_discards = $counted, port_discards = $counted }" "pcie-errors = { pcie_errors = $counted }"
  "device-health = { queue_faults = $counted }"
  "unprotected-traffic = { unprotected_sent = $counted, unprotected_received = $counted }" "cnp-ignored = $counted" "requests = $counted"
  "pause-storm = { tx_pause = $paused }" "pause-held = $paused" "optics = $lasting" "module-temperature = $lasting"
  'roce-unprotected = { much_traffic = 1e6 }') # bytes: the emulated wire is slow
config enforce 'optics = "10s"' "${health[@]}"
check "the configuration is taken" fabric-agentctl config check
reload_agent
systemctl restart fabric-exporter.service
check "the ports are set" wait_until 40 all_as_profile

scrape() { curl -sf localhost:10479/metrics >$PAGE; }
# What the exporter complains of: "check subject status", of what lasts (the groups counters and device, and the port's state).
complaints() {
  scrape && sed -nE 's/^fabric_check_status\{check="([^"]*)",subject="([^"]*)"\} ([123])$/\1 \2 \3/p' $PAGE |
    grep -E '^(link-|pre-fec|loss|discards|pause-|unprotected-|receiver|pcie-errors|requests|cnp-|counters-frozen|optics|module-|gid-changed|device-health|port-state|aer)' | sort
}
complaints >/tmp/first
echo "complaints to begin with:"
cat /tmp/first
news() { complaints | comm -13 /tmp/first -; }
# named CHECK N STATUS: that, and of NIC N nothing else.
named() {
  news >/tmp/news
  [[ $(grep -cE "^$1 $(port "$2") $3\$" /tmp/news) = 1 && $(grep -cF " $(port "$2") " /tmp/news) = 1 ]]
}
silent() { news >/tmp/news; [[ ! -s /tmp/news ]]; }
# blamed N CULPRIT RULE
blamed() {
  scrape && grep -F 'fabric_diagnosis{' $PAGE | grep -F "device=\"$(rdmadev "$1")\"" | grep -F "culprit=\"$2\"" | grep -qF "rule=\"${3:+$3\"}"
}
# The value of a metric of NIC N with these labels.
value() { scrape && grep -F "$2{" $PAGE | grep -F "device=\"$(rdmadev "$1")\"" | grep -E "${3:-.}" | awk '{ sum += $NF } END { printf "%d\n", sum }'; }

show() { cat /tmp/news; grep -F 'fabric_diagnosis{' $PAGE | grep -v '"none"'; grep -E '^fabric_health_' $PAGE; }
told() { # told NAME CHECK N STATUS
  local began=$SECONDS
  check "$1: $2 names it" eval "wait_until $HEARD named $2 $3 $4 || { show; false; }"
  echo "figure: $1: named after $((SECONDS - began)) s"
}
culprit() { check "$1: the culprit is the $3" eval "wait_until 20 blamed $2 $3 $4 || { show; false; }"; }
over() {
  local began=$SECONDS
  check "$1: taken back" eval "wait_until $GONE silent || { show; false; }"
  echo "figure: $1: taken back after $((SECONDS - began)) s"
}
# drive N FILE TEXT...: writes them once a second until stopped.
drive() {
  local n=$1
  shift
  while :; do
    for text; do fabsim "$n" stat "$text"; done
    sleep 1
  done &
  DRIVER=$!
}
stop() { kill "$DRIVER"; wait "$DRIVER" 2>/dev/null; true; }

# By name: counters of the wire.
a=$(value 0 fabric_phy_crc_errors_total)
fabsim 0 stat "rx_crc_errors_phy +5000"
told "CRC errors" link-errors 0 1
culprit "CRC errors" 0 cable damaged-link
eq "CRC errors: the metric" $(($(value 0 fabric_phy_crc_errors_total) - a)) 5000
over "CRC errors"

a=$(value 0 fabric_phy_fec_uncorrectable_words_total)
fabsim 0 stat "fec_uncorrectable_blocks +5000"
told "words that FEC cannot correct" link-errors 0 1
culprit "words that FEC cannot correct" 0 cable damaged-link
eq "words that FEC cannot correct: the metric" $(($(value 0 fabric_phy_fec_uncorrectable_words_total) - a)) 5000
over "words that FEC cannot correct"

a=$(value 0 fabric_phy_fec_corrections_total)
fabsim 0 stat "rx_corrected_bits_phy +500000000"
told "FEC has no margin" pre-fec-ber 0 1
eq "FEC has no margin: the metric" $(($(value 0 fabric_phy_fec_corrections_total) - a)) 500000000
over "FEC has no margin"

# The port's buffers and its slot.
a=$(value 0 fabric_priority_discarded_packets_total 'priority="3"')
fabsim 0 stat "rx_prio3_discards +5000"
told "discards of the lossless priority" discards 0 1
# Headroom, or PFC that the switch has off: without DCBX of the switch, no culprit is named.
culprit "discards of the lossless priority" 0 unknown not-enough-evidence
eq "discards: the metric" $(($(value 0 fabric_priority_discarded_packets_total 'priority="3"') - a)) 5000
over "discards of the lossless priority"

a=$(value 0 fabric_pcie_buffer_overflows_total)
fabsim 0 stat "outbound_pci_buffer_overflow +5000"
told "PCIe does not take it" pcie-errors 0 1
eq "PCIe does not take it: the metric" $(($(value 0 fabric_pcie_buffer_overflows_total) - a)) 5000
culprit "PCIe does not take it" 0 host slow-pcie
over "PCIe does not take it"

# Pause, by its duration: microseconds, more than a loop of drive() takes on a slow machine.
paused() { value 0 fabric_pfc_paused_seconds_total "direction=\"$1\".*priority=\"3\"|priority=\"3\".*direction=\"$1\""; }
a=$(paused tx)
drive 0 "tx_prio3_pause_duration +4000000" "tx_prio3_pause +100"
told "this host holds the network" pause-storm 0 "[12]"
# Any rule: the page looks back a minute or two, in which PCIe did not take it either.
check "this host holds the network: the culprit is the host" eval 'wait_until 20 blamed 0 host || { show; false; }'
stop
check "this host holds the network: the metric" test $(($(paused tx) - a)) -ge 10
over "this host holds the network"

a=$(paused rx)
drive 0 "rx_prio3_pause_duration +4000000" "rx_prio3_pause +100"
told "the network holds this host" pause-held 0 "[12]"
culprit "the network holds this host" 0 network paused-by-network
stop
check "the network holds this host: the metric" test $(($(paused rx) - a)) -ge 10
over "the network holds this host"

# RDMA counters by name.
a=$(value 0 fabric_rdma_cnp_ignored_total)
sim 0 rp_cnp_ignored +5000
told "CNPs ignored" cnp-ignored 0 1
eq "CNPs ignored: the metric" $(($(value 0 fabric_rdma_cnp_ignored_total) - a)) 5000
culprit "CNPs ignored" 0 host ecn-off
over "CNPs ignored"

# Optional counters are on the page while they are on. (The policy leaves them alone.)
optional_bytes() { value 0 fabric_rdma_optional_bytes_total 'direction="rx"'; }
sim 0 rdma_rx_bytes 5000
check "optional counters: none while they are off" eval 'scrape && ! grep -q "^fabric_rdma_optional_" $PAGE'
check "optional counters: switched on" rdma statistic set link "$(port 0)" optional-counters rdma_rx_bytes
check "optional counters: the metric" eval 'wait_until 20 eval "[[ \$(optional_bytes) = 5000 ]]"'
check "optional counters: switched off" rdma statistic unset link "$(port 0)" optional-counters
check "optional counters: none any more" eval 'wait_until 20 eval "scrape && ! grep -q ^fabric_rdma_optional_ $PAGE"'

# Faults of queues, which agentd reads once a minute, and the exporter the state of the firmware as often.
HEARD=80
a=$(value 0 fabric_device_queue_faults_total)
fabsim 0 vnic "cq_overrun +3"
fabsim 0 vnic "nic_receive_steering_discard +1000"
told "completion queues overrun" device-health 0 1
eq "completion queues overrun: the metric" $(($(value 0 fabric_device_queue_faults_total) - a)) 3
over "completion queues overrun"
fabsim 0 vnic "fw_fatal 1"
told "the firmware died" device-health 0 2
no_counts() { scrape && ! grep -F 'fabric_device_queue_faults_total{' $PAGE | grep -qF "device=\"$(rdmadev 0)\""; }
check "the firmware died: its zeros are no counts" wait_until 80 no_counts
fabsim 0 vnic "fw_fatal 0"
over "the firmware died"

# The module: agentd publishes what it reads, every ten seconds.
HEARD=50
fabsim 0 eeprom "11 be 04"
fabsim 0 eeprom "11 bf b0"
told "little light on lane 3" optics 0 1
fabsim 0 eeprom "11 be 01"
told "hardly any light on lane 3" optics 0 2
fabsim 0 eeprom default
over "little light on lane 3"
# Of the bits from the NIC 3e-5 reach the module damaged; those from the cable do not.
fabsim 0 eeprom "24 92 89"
fabsim 0 eeprom "24 93 2c"
told "the NIC sends damaged bits" pre-fec-ber 0 1
arrived() { scrape && grep -F 'fabric_module_input_bit_error_ratio{' $PAGE | grep -F "device=\"$(rdmadev 0)\"" | grep -qE "side=\"$1\".* $2\$"; }
check "the NIC sends damaged bits: the metric of its side" eval "arrived host 3e-05 || { show; false; }"
check "the NIC sends damaged bits: the metric of the cable's side" eval "arrived medium 2e-09 || { show; false; }"
fabsim 0 stat "fec_uncorrectable_blocks +5000"
culprit "the NIC sends damaged bits, and receives such" 0 host damaged-in-host
fabsim 0 eeprom default
over "the NIC sends damaged bits"
fabsim 0 eeprom "0 0e 48"
told "module at 72 degrees" module-temperature 0 1
eq "module at 72 degrees: the metric" "$(value 0 fabric_module_temperature_celsius)" 72
fabsim 0 eeprom default
over "module at 72 degrees"

HEARD=35

# The cable.
fabsim 0 carrier 0
told "cable pulled" port-state 0 2
eq "cable pulled: the metric" "$(value 0 fabric_port_carrier)" 0
culprit "cable pulled" 0 cable bad-module
check "cable pulled: no card is said to be missing" eval "! grep -E '^fabric_check_status.check=.pairing.*} [12]\$' $PAGE"
fabsim 0 carrier 1
over "cable pulled"
fabsim 1 carrier 0
told "cable pulled at the other end" port-state 1 2
culprit "cable pulled at the other end" 1 cable bad-module
check "cable pulled at the other end: this end says so" eval "wait_until 20 blamed 0 peer no-partner || { show; false; }"
fabsim 1 carrier 1
over "cable pulled at the other end"
sleep 40 # these two have left the window of link-flap
for _ in 1 2 3; do
  fabsim 0 carrier 0
  sleep 0.5
  fabsim 0 carrier 1
  sleep 0.5
done
told "flapping" link-flap 0 1
# Without a neighbor that identifies the switch, no culprit is named.
culprit "flapping" 0 unknown not-enough-evidence
# Restart of the exporter: nothing is forgotten.
since() { scrape && sed -nE "s/^fabric_health_since_timestamp_seconds\{rule=\"link_flap\",subject=\"$(port 0 | sed 's,/,\\/,')\"\} //p" $PAGE; }
a=$(since)
systemctl restart fabric-exporter.service
check "restart: the finding stands" eval "wait_until 10 named link-flap 0 1 || { show; false; }"
b=$(since)
check "restart: since the same moment ($a, $b)" test -n "$a" -a "$((${a%.*} - ${b%.*}))" -ge -1 -a "$((${a%.*} - ${b%.*}))" -le 1
over "flapping"

# A job without a traffic class: RoCE on priority 0, where PFC is off, and nothing is lost.
check "a job without a traffic class runs" traffic_start 0 1 200 --qp-timeout=20 --tx-depth=8
told "no traffic class" unprotected-traffic 0 1
check "the fix has the traffic class of DSCP 26" sh -c 'fabric-agentctl check --only unprotected-traffic | tr -s " \n" " " | grep -qF NCCL_IB_TC=106'
traffic_stop 0
over "no traffic class"

# By netem: a wire that loses packets, under real RDMA traffic. (Soft-RoCE gives up when its queueing discipline is changed.)
# Queue pairs that wait for an emulated server: it answers late, and what is sent again is noise of its own.
check "traffic runs" traffic_start 2 3 120 --qp-timeout=20 --tx-depth=8 --tclass=106
sleep 25
check "traffic is silent" eval "silent || { show; false; }"
traffic_stop 2
for n in 2 3; do tc qdisc add dev "$(netdev "$n")" root netem loss 1%; done
check "traffic runs over a bad wire" traffic_start 2 3 120 --tclass=106
check "loss: named at the end that sends" eval "wait_until 60 eval 'news | grep -qE \"^loss $(port 2) [12]\"' || { show; false; }"
check "loss: named at the end that receives" eval "wait_until 60 eval 'news | grep -qE \"^loss $(port 3) [12]\"' || { show; false; }"
culprit "loss" 3 network loss-in-network
check "loss: fabric-agentctl diagnose says so" eval "fabric-agentctl diagnose --interval 5s | tee $OUT/diagnose-loss | grep -q network"
traffic_stop 2
for n in 2 3; do tc qdisc del dev "$(netdev "$n")" root; done
over "loss"

# An address that changes under running jobs: the kernel announces it. It is forgotten when its window has passed.
dev=$(netdev 0)
ip address add 10.1.9.77/24 dev "$dev"
ip address del 10.1.0.1/24 dev "$dev"
told "address changed" gid-changed 0 1
over "address changed"

fabric-agentctl check --interval 0 >"$OUT/check"
cp $PAGE "$OUT/page"
check "no kernel warning" sh -c '! dmesg | grep -E "WARNING:|BUG:|Oops"'
[[ $FABSIM_FAILED -gt 0 ]] && { journalctl -u fabric-exporter --no-pager | tail -20; agent_log 20; }
finish
