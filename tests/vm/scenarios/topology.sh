#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# topo gives the class that the virtual server was built with for every GPU and NIC, and hwloc's own reading of the same
# machine gives the same.
. /mnt/host/scenarios/lib/agent.sh
check "the package installs" install_agent
BUILT=/usr/lib/fabsim/topology.json
[[ -e $BUILT ]] || BUILT=/mnt/host/topology.json
fabric-agentctl topo --json >"$OUT/topo.json"
fabric-agentctl topo | tee "$OUT/topo.txt"
paths() { jq -c '[.paths[] | {gpu, nic, class}] | map(select(.nic | test("^0000:[26][46]:"))) | sort_by(.gpu + .nic)' "$1"; }
eq "every pair as it was built" "$(paths "$OUT/topo.json")" "$(paths $BUILT)"
eq "every pairing as it was built" "$(jq -c '.pairs | sort_by(.gpu)' "$OUT/topo.json")" "$(jq -c '.pairs | sort_by(.gpu)' $BUILT)"
eq "NUMA nodes of the GPUs" "$(jq -c '[.gpus[].numa]' "$OUT/topo.json")" "$(jq -c '[.gpus[].numa]' $BUILT)"
lstopo-no-graphics --whole-io --of xml >/tmp/hwloc.xml
fabric-agentctl topo --json --hwloc-xml /tmp/hwloc.xml >"$OUT/topo-hwloc.json"
eq "hwloc's reading of the machine gives the same" "$(paths "$OUT/topo-hwloc.json")" "$(paths "$OUT/topo.json")"
check "check finds a NIC for each GPU" sh -c 'fabric-agentctl check --interval 0 --json | jq -e "[.checks[] | select(.subject | test(\"GPU\"))] | length >= 4"'
fabsim cfg "$(nic 3) link 3 8 5 16"
check "a link at x8 of x16 is named" sh -c "fabric-agentctl check --interval 0 --json | jq -e '.checks[] | select(.status != \"ok\" and (.observed | test(\"x8\")))'"
cp /tmp/hwloc.xml "$OUT"
finish
