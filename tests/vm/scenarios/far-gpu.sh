#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# run: --far-gpu
# A GPU that was moved to the other socket: its NIC is beyond the socket link, and check names that GPU.
. /mnt/host/scenarios/lib/agent.sh
MOVED=0000:67:00.0
check "the package installs" install_agent
fabric-agentctl topo --json >"$OUT/topo.json"
fabric-agentctl topo | tee "$OUT/topo.txt"
ask() { jq -r "$1" "$OUT/topo.json"; }
eq "it is on node 1" "$(ask ".gpus[] | select(.pci == \"$MOVED\") | .numa")" 1
eq "and far from the NIC that was beside it" "$(ask ".paths[] | select(.gpu == \"$MOVED\" and .nic == \"$(nic 0)\") | .class")" SYS
gpu=$(ask ".gpus[] | select(.pci == \"$MOVED\") | .name")
fabric-agentctl check --interval 0 --only topology --json >"$OUT/check.json"
jq -r '.checks[] | select(.status != "ok") | "\(.id) \(.subject) \(.status): \(.observed)"' "$OUT/check.json"
complaint() { jq -e --arg gpu "$gpu" ".checks[] | select(.subject == \$gpu and .status != \"ok\") | select($1)" "$OUT/check.json"; }
check "$gpu is named, with what it should have and what to do" complaint '.expected != "" and .remedy != ""'
finish
