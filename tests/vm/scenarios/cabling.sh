#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# Cables: real lldpds at their other ends. NICs 1 and 3 stand for ports of two switches, and their lldpd says so; an lldpd on
# NICs 0 and 2 says who the host is. Wires are moved by the simulated NICs' `peer`.
. /mnt/host/scenarios/lib/agent.sh
check "the package installs" install_agent
check "the listener is enabled by installing" eval 'systemctl is-enabled --quiet fabric-lldp && systemctl is-active --quiet fabric-lldp'
systemctl stop fabric-lldp

PLAN=/etc/fabric-agent/cabling.csv
declare -A SOCKET=([1]=/run/leaf1.socket [3]=/run/leaf2.socket)
# Findings of the group that are not ok: "cabling rxe0/1 critical".
found() { fabric-agentctl check --only cabling --interval 0 --json | jq -r '.checks[] | select(.status != "ok") | "\(.id) \(.subject) \(.status)"' | sort; }
found_is() { [[ $(found) = "$1" ]] || { echo "found: $(found)"; fabric-agentctl neighbors; return 1; }; }
neighbor() { fabric-agentctl neighbors --json | jq -r --arg dev "$(netdev "$1")" '.ports[] | select(.netdev == $dev) | .neighbors[] | "\(.system_name) \(.port_id)"'; }
neighbor_is() { [[ $(neighbor "$1") = "$2" ]] || { echo "NIC $1: $(neighbor "$1")"; return 1; }; }
leaf() { local n=$1; shift; lldpcli -u "${SOCKET[$n]}" "$@"; }

# leaf_up NIC NAME PORT: that NIC's end of the wire is a port of a switch. The daemon keeps to the foreground: one pid file.
leaf_up() {
  lldpd -d -I "$(netdev "$1")" -u "${SOCKET[$1]}" >/run/leaf-"$1".log 2>&1 &
  wait_until 20 leaf "$1" show configuration || return 1
  leaf "$1" configure system hostname "$2" && leaf "$1" configure lldp tx-interval 5 &&
    leaf "$1" configure ports "$(netdev "$1")" lldp portidsubtype local "$3" && leaf "$1" update
}
# pfc NIC MASK: what the switch port announces.
announce_pfc() {
  leaf "$1" unconfigure lldp custom-tlv
  leaf "$1" configure lldp custom-tlv oui 00,80,c2 subtype 11 oui-info "08,$2" && leaf "$1" update
}
rewire() { fabsim "$1" peer "$2"; fabsim "$2" peer "$1"; }

cat >"$PLAN" <<CSV
side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name
fabric-vm,dcim.interface,$(netdev 0),leaf1,dcim.interface,Ethernet1/1
leaf2.example.com,dcim.interface,Eth1/1,fabric-vm,dcim.interface,$(netdev 2)
CSV
config enforce '' '[cabling]' "file = \"$PLAN\""
check "the plan is taken" fabric-agentctl config check
reload_agent
check "the ports are set" wait_until 30 all_as_profile
check "a plan, and nobody listens: it says so" found_is "cabling host unknown"

lldpd -d -I "$(netdev 0),$(netdev 2)" -u /run/host.socket >/run/host.log 2>&1 &
check "leaf1 on NIC 1" leaf_up 1 leaf1 Ethernet1/1
check "leaf2 on NIC 3" leaf_up 3 leaf2 Ethernet1/1
check "the listener starts" systemctl start fabric-lldp
eq "its user is nobody's" "$(ps -o user= -p "$(systemctl show -P MainPID fabric-lldp)")" fabric-lldp
eq "its only capability" "$(systemctl show -P AmbientCapabilities fabric-lldp)" cap_net_raw
check "leaf1 is heard on NIC 0" wait_until 30 neighbor_is 0 "leaf1 Ethernet1/1"
check "leaf2 is heard on NIC 2" wait_until 30 neighbor_is 2 "leaf2 Ethernet1/1"
check "as planned: nothing to say" found_is ""
fabric-agentctl neighbors

rewire 0 3
rewire 2 1
check "swapped wires: leaf2 on NIC 0" wait_until 40 eval 'neighbor 0 | grep -q leaf2'
check "leaf1 on NIC 2" wait_until 40 eval 'neighbor 2 | grep -q leaf1'
# What was heard before stays for its time to live (4 x 5 s).
check "both are named, once the old neighbors are forgotten" wait_until 60 found_is "$(printf 'cabling %s critical\n' "$(port 0)" "$(port 2)" | sort)"
check "each names the other" eval 'fabric-agentctl check --only cabling --interval 0 --json | jq -r ".checks[].meaning" | grep -c "$(netdev 0).*$(netdev 2).*swapped\|$(netdev 2).*$(netdev 0).*swapped" | grep -qx 2'
rewire 0 1
rewire 2 3
check "put right: nothing to say" wait_until 90 found_is ""

check "the switch announces PFC on priority 3, as here" announce_pfc 1 08
check "nothing to say" wait_until 20 found_is ""
check "it announces priority 4" announce_pfc 1 10
check "peer-pfc names the port" wait_until 20 found_is "peer-pfc $(port 0) critical"
check "and both masks" eval 'fabric-agentctl check --only peer-pfc --interval 0 --json | jq -r ".checks[].observed" | grep -q "PFC 3 here, 4 at leaf1 Ethernet1/1"'
check "neighbors shows it" eval 'fabric-agentctl neighbors | grep "$(netdev 0)" | grep -q leaf1'
check "mended on the switch" announce_pfc 1 08
check "nothing to say again" wait_until 20 found_is ""

systemctl disable --now --quiet fabric-lldp
check "its file goes with it" wait_until 10 test ! -e /run/fabric-lldp

[[ $FABSIM_FAILED -gt 0 ]] && { fabric-agentctl neighbors; found; cat /run/fabric-lldp/neighbors.json; journalctl -u fabric-lldp --no-pager | tail -20; tail -n 5 /run/leaf-*.log /run/host.log; }
kill $(jobs -p)
finish
