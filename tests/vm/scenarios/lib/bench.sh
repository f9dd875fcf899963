# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The guest's part of the scenario bench: figures, which decide nothing; what the pages say and how the counters come, which does.
. /mnt/host/scenarios/lib/agent.sh
BENCH=/mnt/host/bench
pids=() started=()
trap '((${#pids[@]})) && kill "${pids[@]}" 2>/dev/null' EXIT
off='sample_interval = "0"' anew='max_age = "0"' free='sample_cpu_budget = "100%"' timed='groups = ["timings"]'

figures() { sed 's/^/figure: /'; }
page() { curl -sf "http://127.0.0.1:$1/metrics"; }
# start PORT NAME COMMAND...: adds NAME:PID to `started`.
start() {
  local port=$1 name=$2
  shift 2
  "$@" 2>/dev/null &
  pids+=($!)
  started+=("$name:$!")
  check "$name answers" wait_until 60 page "$port"
}
# exporter PORT NAME [LINE OF THE TABLE exporter]... [-- OPTION...]
exporter() {
  local port=$1 name=$2 file=/tmp/exporter-$1.toml
  shift 2
  printf '%s\n' 'mode = "audit"' '[exporter]' >"$file"
  while (($#)) && [[ $1 != -- ]]; do echo "$1" >>"$file"; shift; done
  start "$port" "$name" fabric-exporter --config "$file" --listen "127.0.0.1:$port" "${@:2}"
}
node_exporter() {
  start 19481 node_exporter "$HOST/node_exporter" --path.sysfs=/tmp/sys --web.listen-address=127.0.0.1:19481 \
    --collector.disable-defaults --collector.infiniband --collector.netclass
}
stop() { kill "${pids[@]}"; wait "${pids[@]}"; pids=() started=(); }
# trace PID PORT SCRAPES: what it asks of the kernel meanwhile.
trace() {
  strace -f -y -s 200 -o /tmp/strace -p "$1" 2>/tmp/tracer &
  local tracer=$!
  wait_until 30 grep -q attached /tmp/tracer
  sleep 3
  for ((i = 0; i < $3; i++)); do page "$2" >/dev/null; sleep 2; done
  kill -INT $tracer
  wait $tracer
  python3 $BENCH/syscalls.py /tmp/strace 4
}

check "the package installs" install_agent
check "traffic, so that there is something counted" eval 'traffic_start 0 1 3 && traffic_wait 0 && traffic_start 2 3 3 && traffic_wait 2'
for n in 0 1 2 3; do sim "$n" np_cnp_sent $((n + 7)); sim "$n" port_xmit_wait $((n + 70)); done

# How the service, with its own user and in its sandbox, reads.
printf '%s\n' 'mode = "audit"' '[exporter]' "$off" "$anew" >"$CONFIG"
systemctl restart fabric-exporter.service
check "the service is ready" wait_until 60 curl -sf localhost:10479/-/ready
service=$(systemctl show -p MainPID --value fabric-exporter.service)
trace "$service" 10479 5 >"$OUT/calls"
figures <"$OUT/calls"
check "hardware counters come by netlink, of four devices" awk '/^statistics by netlink/ { all = $4 >= $7 } END { exit !all }' "$OUT/calls"
check "and none of them from a file" grep -q 'hw_counters files: 0 calls$' "$OUT/calls"
eq "nor is such a file held" "$(find "/proc/$service/fd" -lname '*/hw_counters/*' | wc -l)" 0
systemctl stop fabric-agent.service fabric-exporter.socket fabric-exporter.service

# node_exporter drops every device where one has no board_id; soft-RoCE has none. All else is the kernel's own.
mkdir -p /tmp/sys/class/infiniband
ln -s /sys/class/net /tmp/sys/class/net
for device in /sys/class/infiniband/*; do
  mkdir "/tmp/sys/class/infiniband/${device##*/}"
  ln -s "$device"/* "/tmp/sys/class/infiniband/${device##*/}"
  echo SIM_0000000001 >"/tmp/sys/class/infiniband/${device##*/}/board_id"
  echo soft-RoCE >"/tmp/sys/class/infiniband/${device##*/}/hca_type"
done
python3 $BENCH/fake_sys.py /tmp/tree 4

# Both pages have the same devices, and ours has what the kernel's files say.
series() { # FILE NAME
  python3 - "$@" <<'P'
import re, sys
for line in open(sys.argv[1], encoding="utf-8"):
    if found := re.match(rf"({sys.argv[2]})\{{(.*)\}} (\S+)$", line):
        print(found[1], *sorted(found[2].split(",")), float(found[3]))
P
}
devices() { grep "^$2{" "$1" | grep -oE '[{,]device="[^"]*"' | tr -d '{,' | sort -u; }
hw_files() {
  for file in /sys/class/infiniband/*/ports/1/hw_counters/*; do
    IFS=/ read -r _ _ _ _ device _ <<<"$file"
    [[ $file == */lifespan ]] || echo "fabric_rdma_hw_counters_total counter=\"${file##*/}\" device=\"$device\" port=\"1\" $(<"$file").0"
  done
}
exporter 19479 "fabric-exporter with all hardware counters" "$off" "$anew" 'raw = "all"'
node_exporter
page 19479 >/dev/null
page 19479 >"$OUT/ours"
page 19481 >"$OUT/theirs"
eq "four devices" "$(devices "$OUT/ours" fabric_port_info | wc -l)" 4
eq "the same ones on both pages" "$(devices "$OUT/theirs" node_infiniband_info)" "$(devices "$OUT/ours" fabric_port_info)"
check "each hardware counter is as its file says" diff <(hw_files | sort) <(series "$OUT/ours" fabric_rdma_hw_counters_total | sort)
stop

# A scrape: all read anew; held; and on plain files, which links these figures with those of tests/bench/run elsewhere.
exporter 19479 "fabric-exporter" "$off" "$anew"
exporter 19480 "fabric-exporter held (5 s)" "$off"
node_exporter
exporter 19482 "fabric-exporter, plain files" "$off" "$anew" -- --root /tmp/tree
sleep 5
targets=()
for i in "${!started[@]}"; do targets+=("${started[i]}:$((19479 + i))"); done
python3 $BENCH/compare.py 9 20 "${targets[@]}" | figures
trace "${started[2]##*:}" 19481 3 | sed 's/a scrape/node_exporter, a scrape/' | figures
stop

# The burst sampler; the last one reads plain files. Where an interval changed on the way (the emulated NICs take long to answer,
# and are then asked less often), the cost of a sample is of the intervals at the end.
exporter 19483 "sampling every 1s" 'sample_interval = "1s"' "$free" "$timed"
exporter 19484 "sampling every 0" "$off"
exporter 19485 "sampling every 100ms" 'sample_interval = "100ms"' "$free" "$timed"
exporter 19486 "sampling every 10ms" 'sample_interval = "10ms"' "$free" "$timed"
exporter 19487 "sampling every 100ms, files" 'sample_interval = "100ms"' "$free" "$timed" -- --root /tmp/tree
sleep 20
sampler() { # PORT: seconds of CPU so far, samples a second now, the intervals
  page "$1" | awk '/^fabric_sampler_cpu_seconds_total/ { cpu += $NF } /^fabric_sampler_interval_seconds/ { rate += 1 / $NF; all = all " " $NF }
    END { print cpu, rate, all }'
}
declare -A before
for port in 19483 19485 19486 19487; do
  before[$port]="$EPOCHREALTIME $(sampler $port)"
  eq "${started[port - 19483]%:*}: intervals of four devices on the page" "$(wc -w <<<"${before[$port]}")" 7
done
python3 $BENCH/cpu_share.py 60 "${started[@]}" | figures
for port in 19483 19485 19486 19487; do
  echo "${before[$port]} $EPOCHREALTIME $(sampler $port)" | awk -v of="${started[port - 19483]%:*}" '{
    share = ($9 - $2) / ($8 - $1); printf "figure: %s: the samplers %.2f %% of a core, %.0f us a sample, intervals now %s %s %s %s s\n",
    of, share * 100, share / $10 * 1e6, $11, $12, $13, $14 }'
done
trace "${started[2]##*:}" 19485 0 | sed -n "s/a device's reading/a sample of a device/p" | figures
stop
finish
