#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# by hand: two hours on the emulated server; the arguments 10000 1000 (events, scrapes) make it shorter
# run: --timeout 14400
# 100,000 events (changes of DCB, of MTU, of the link, of addresses) and 10,000 scrapes: memory, descriptors and threads of
# fabric-agentd and fabric-exporter stay as they were after the first tenth, and in the end all ports are in sync.
. /mnt/host/scenarios/lib/agent.sh
EVENTS=${1:-100000} SCRAPES=${2:-10000}
ROUNDS=20 # the first two are the warm-up: caches and arenas fill

config_then_install() {
  # A soak of foreign writes is no conflict here: each is repaired. Of disruptive writes, 1000 within 1000 re-reads would be one.
  install_agent && config enforce 'conflict = { rounds = 1000, window = "1s" }' && sed -i 's/^reread = .*/reread = "2s"/' "$CONFIG" && reload_agent && wait_until 40 all_as_profile
}
check "installed, enforcing, all as the profile" config_then_install
check "the exporter answers" wait_until 60 curl -sf localhost:10479/-/ready

# Both programs must be the same processes from beginning to end.
declare -A pid first
for unit in fabric-agent fabric-exporter; do pid[$unit]=$(systemctl show -p MainPID --value "$unit.service"); done
# memory UNIT (KiB), descriptors UNIT, threads UNIT, as the kernel counts them
memory() { awk '/^VmRSS:/ { print $2 }' "/proc/${pid[$1]}/status"; }
threads() { awk '/^Threads:/ { print $2 }' "/proc/${pid[$1]}/status"; }
descriptors() { find "/proc/${pid[$1]}/fd" -mindepth 1 | wc -l; }

# 40 events: DCB eight, the MTU two, the link flap two, addresses and ARP entries the rest. Of one NIC, in the order in which
# operators' scripts would make them. The PFC of bits 4 and 5 is foreign; a wire's link goes down and up. Each tool runs once: on
# the emulated server starting a process costs as much as the agent's answer.
burst() {
  local n=$1 dev i
  dev=$(netdev "$n")
  {
    for i in 4 5; do echo "pfc set dev $dev prio-pfc all:off $i:on"; done
    for i in 10 11 12 13 14 15; do echo "app add dev $dev dscp-prio $i:1"; done
  } | dcb -force -batch -
  {
    echo "link set $dev mtu 1500"
    echo "link set $dev mtu 4200"
    echo "link set $dev down"
    echo "link set $dev up"
    for i in {1..7}; do
      echo "address add 192.0.2.$i/32 dev $dev"
      echo "address del 192.0.2.$i/32 dev $dev"
      echo "neighbor replace 198.51.100.$i lladdr 02:00:00:00:00:0$i dev $dev"
      echo "neighbor del 198.51.100.$i dev $dev"
    done
  } | ip -batch - -force
} >/dev/null 2>&1

scrape() { # COUNT; each over a connection of its own
  curl -sf --fail-early -H 'Connection: close' "localhost:10479/metrics?round=[1-$1]" -o /dev/null || echo "a scrape failed"
}

printf 'round events scrapes' >"$OUT/soak"
for unit in fabric-agent fabric-exporter; do printf ' %s_kib %s_fds %s_threads' "$unit" "$unit" "$unit" >>"$OUT/soak"; done
echo >>"$OUT/soak"
events=0 scrapes=0 failed=0
for ((round = 1; round <= ROUNDS; round++)); do
  scrape $((SCRAPES / ROUNDS)) >/tmp/scrapes &
  scraper=$!
  while ((events < EVENTS * round / ROUNDS)); do
    burst $((events / 40 % 3)) # NIC 3 is the other end of a wire
    events=$((events + 40))
  done
  wait $scraper
  scrapes=$((scrapes + SCRAPES / ROUNDS)) failed=$((failed + $(wc -l </tmp/scrapes)))
  sleep 2
  {
    printf '%s %s %s' "$round" "$events" "$scrapes"
    for unit in fabric-agent fabric-exporter; do printf ' %s %s %s' "$(memory $unit)" "$(descriptors $unit)" "$(threads $unit)"; done
    echo
  } >>"$OUT/soak"
  tail -n 1 "$OUT/soak"
  ((round == 2)) || continue
  for unit in fabric-agent fabric-exporter; do
    first[$unit.memory]=$(memory $unit) first[$unit.descriptors]=$(descriptors $unit) first[$unit.threads]=$(threads $unit)
  done
done
sed 's/^/figure: /' "$OUT/soak"

check "at least $EVENTS events" test "$events" -ge "$EVENTS"
downs() { cat /sys/class/net/*/carrier_down_count | awk '{ sum += $1 } END { print sum }'; }
check "the links went down ($(downs) times)" test "$(downs)" -ge $((EVENTS / 40))
eq "scrapes that failed, of $scrapes" "$failed" 0
for unit in fabric-agent fabric-exporter; do
  eq "$unit: the same process" "$(systemctl show -p MainPID --value $unit.service)" "${pid[$unit]}"
  now=$(memory $unit) before=${first[$unit.memory]}
  # Some pages of the allocator come and go; a leak of 20 bytes for each event would be 2 MiB.
  check "$unit: memory is flat ($before KiB, then $now KiB)" test "$now" -le $((before + 1024))
  eq "$unit: descriptors" "$(descriptors $unit)" "${first[$unit.descriptors]}"
  eq "$unit: threads" "$(threads $unit)" "${first[$unit.threads]}"
done
check "in the end all as the profile" wait_until 90 all_as_profile 0 1 2
check "no kernel warning" sh -c '! dmesg | grep -E "WARNING:|BUG:|Oops"'
[[ $FABSIM_FAILED -gt 0 ]] && agent_log 80
finish
