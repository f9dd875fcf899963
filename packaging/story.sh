#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Demonstrates the commands of fabric-agent. quickstart runs it in the virtual GPU server. It writes its status, 0 or 1, to the file
# "status" in the shared folder, and ends when that folder has a file "end".
. /usr/lib/fabsim/lib.sh

HOST=/mnt/host
CONFIG=/etc/fabric-agent/fabric-agent.toml
wrong=0

chapter() { printf '\n# %s\n' "$*"; }
run() {
  printf '$ %s\n' "$*"
  "$@"
}
must() { "$@" || { printf '!! failed: %s\n' "$*"; wrong=1; }; }
in_sync() { fabric-agentctl plan >/dev/null; }

chapter "A GPU server with four simulated 400G RoCE NICs. The package is installed, in audit mode."
dpkg --install "$HOST"/fabric-agent_*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; wrong=1; }
must wait_until 60 systemctl is-active --quiet fabric-agent.service
run rdma link
run fabric-agentctl topo

chapter "Check the node."
run fabric-agentctl check

chapter "Show the writes that the policy requires."
run fabric-agentctl plan
(($? == 2)) || wrong=1

chapter "Apply the policy and enforce it."
run sed -i 's/^mode = .*/mode = "enforce"/' $CONFIG
run systemctl reload fabric-agent
must wait_until 60 in_sync
run fabric-agentctl status
run fabric-agentctl check

dev=$(netdev 0)
wanted=$(dcb pfc show dev "$dev" prio-pfc)
still_wanted() { [[ $(dcb pfc show dev "$dev" prio-pfc) == "$wanted" ]]; }
chapter "Another tool switches PFC off."
run dcb pfc set dev "$dev" prio-pfc all:off
must wait_until 60 still_wanted
run dcb pfc show dev "$dev" prio-pfc
printf '# The agent restored it. The journal:\n'
journalctl -u fabric-agent --no-pager -o cat -n 5

echo $wrong >$HOST/status.new && mv $HOST/status.new $HOST/status
until [[ -e $HOST/end ]]; do sleep 0.2; done
exit $wrong
