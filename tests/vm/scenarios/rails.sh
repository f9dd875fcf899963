#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# run: --cmdline fabsim.personality=mlx5
# Addresses of the rails. What check says of two rails in one subnet without source routing is mended by the very lines that it
# gives; a missing and a duplicate address, a gateway that does not answer, pins of the site: one finding each, and silence after.
. /mnt/host/scenarios/lib/agent.sh
check "the package installs" install_agent

only=(--only network --only gid)
report() { fabric-agentctl check --interval 0 --json "${only[@]}" || true; }
complaints() { report | jq -c '[.checks[] | select(.status != "ok") | [.id, .subject, .status]]'; }
complains_of() { [[ $(complaints) = "$1" ]] || { report | jq '.checks[] | select(.status != "ok")'; return 1; }; }
field() { report | jq -r --arg id "$1" --arg field "$2" '.checks[] | select(.id == $id and .status != "ok") | .[$field]'; }
# what the kernel says: by which device a packet with this source leaves
device_for() { ip route get 10.1.0.200 from "$1" | sed -n 's/.* dev \([^ ]*\).*/\1/p'; }

A=$(netdev 0) B=$(netdev 1) D=$(netdev 3)
check "the machine as it is: nothing to say" wait_until 20 complains_of '[]'
check "two rails in one subnet are looked at" sh -c "fabric-agentctl check --interval 0 --json --only rails | jq -e '[.checks[].subject] == [\"10.1.0.0/24\", \"10.2.0.0/24\"]'"

for pref in 10 11 20 21; do ip rule del pref $pref; done  # the guest's own, by source and by device
sysctl -qw net.ipv4.conf.all.rp_filter=0
for dev in "$A" "$B"; do
  sysctl -qw "net.ipv4.conf.$dev.arp_ignore=0" "net.ipv4.conf.$dev.arp_announce=0" "net.ipv4.conf.$dev.rp_filter=1"
done
eq "without rules both rails send by one" "$(device_for 10.1.0.1)" "$(device_for 10.1.0.2)"
check "rails without source routing: that finding and no other" complains_of '[["rails","10.1.0.0/24","warning"]]'
for word in "arp_ignore 0" "arp_announce 0" "rp_filter 1" "no source routing for $A and $B"; do
  check "it names: $word" grep -qF "$word" <(field rails observed)
done
fabric-agentctl check --interval 0 --only rails >"$OUT/rails.txt" || true
field rails remedy | tail -n +2 | tee "$OUT/remedy.sh"
check "the lines of the remedy run" bash -e "$OUT/remedy.sh"
check "and mend it" complains_of '[]'
eq "the first rail sends by itself" "$(device_for 10.1.0.1)" "$A"
eq "and the second, too" "$(device_for 10.1.0.2)" "$B"

ip address del 10.2.0.2/24 dev "$D"
check "a rail without an address: that finding and no other" wait_until 10 complains_of "[[\"address\",\"$(port 3)\",\"critical\"]]"
ip address add 10.2.0.2/24 dev "$D"
ip route replace 10.2.0.1/32 dev "$D" src 10.2.0.2 table 104
check "silent with it" wait_until 10 complains_of '[]'

ip address add 10.1.0.1/24 dev "$B"
check "an address on two rails: one finding" wait_until 10 sh -c "[ \"\$(fabric-agentctl check --interval 0 --json --only network --only gid | jq -c '[.checks[] | select(.status != \"ok\") | [.id, .status]]')\" = '[[\"address\",\"critical\"]]' ]"
check "it names the address" grep -qF "10.1.0.1 is also on" <(field address observed)
ip address del 10.1.0.1/24 dev "$B"
check "silent without it" wait_until 10 complains_of '[]'

ip route add 10.50.0.0/16 via 10.1.0.254 dev "$A"
ip neighbour replace 10.1.0.254 dev "$A" nud failed
check "a gateway that does not answer: that finding" complains_of "[[\"gateway\",\"$(port 0)\",\"critical\"]]"
ip route del 10.50.0.0/16
check "silent without it" complains_of '[]'

config audit
only+=(--only expect)
mkdir -p /etc/fabric-agent/conf.d
printf '[expect]\ngpus = 4\ncompute_nics = 4\nclass = "PHB"\nspeed = "400G"\ngid_index = %s\n' "$(gid 0)" >/etc/fabric-agent/conf.d/expect.toml
check "the configuration is taken" fabric-agentctl config check
check "a machine as the site expects it" complains_of '[]'
printf '[expect]\ngpus = 8\nclass = "PIX"\n' >/etc/fabric-agent/conf.d/expect.toml
check "a site that expects more: the node and the two GPUs behind another switch" complains_of '[["expect","node","critical"],["expect","GPU1","critical"],["expect","GPU3","critical"]]'
finish
