# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the scenarios share: the package, a profile that fits all four simulated NICs, and ways to ask the kernel and the
# modules (never our own programs alone) what became of it. Sourced inside the virtual GPU server.
. /usr/lib/fabsim/lib.sh

HOST=${HOST:-/mnt/host}
CONFIG=/etc/fabric-agent/fabric-agent.toml

install_agent() {
  dpkg -i "$HOST"/fabric-agent_*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; return 1; }
  wait_until 30 systemctl is-active --quiet fabric-agent.service
}

# config MODE [TOP-LEVEL LINE...]: DSCP 26 -> priority 3 (lossless), 48 -> 6 (CNP), for each vendor what its driver can do.
config() {
  local mode=$1
  shift
  {
    echo "mode = \"$mode\""
    printf '%s\n' 'reread = "5s"' "$@"
    cat <<'TOML'

[[port]]
name = "mlx5"
match = { driver = "mlx5_core" }
dcbx = "host"
pause = "off"
mtu = 4200
trust = "dscp"
dscp_map = { 26 = 3, 48 = 6 }
ets = { prio_tc = [0, 0, 0, 1, 0, 0, 2, 0], tsa = ["ets", "ets", "strict"], bw = [50, 50, 0] }
pfc = [3]
cable_length = 30

[[port]]
name = "bnxt"
match = { driver = "bnxt_en" }
dcbx = "host"
pause = "off"
mtu = 4200
trust = "dscp"
dscp_map = { 26 = 3, 48 = 6 }
ets = { prio_tc = [0, 0, 0, 1, 0, 0, 2, 0], tsa = ["ets", "ets", "strict"], bw = [50, 50, 0] }
pfc = [3]

[[port]]
name = "ice"
match = { driver = "ice" }
dcbx = "host"
pause = "off"
mtu = 4200
trust = "dscp"
dscp_map = { 26 = 3, 48 = 6 }
ets = { prio_tc = [0, 1, 2, 3, 4, 5, 6, 7], tsa = ["ets", "ets", "ets", "ets", "ets", "ets", "ets", "ets"], bw = [30, 5, 5, 40, 5, 5, 5, 5] }
pfc = [3]

[[port]]
name = "ionic"
match = { driver = "ionic" }
pause = "off"
mtu = 4200
pfc = [3]
TOML
  } >$CONFIG
}

# Reloads and waits until agentd says that it works by the new configuration.
reload_agent() { systemctl reload fabric-agent.service && wait_until 20 systemctl is-active --quiet fabric-agent.service; }

port() { echo "$(rdmadev "$1")/1"; }

# Set operations that the module counted on all NICs, or on one: "setpfc 1 setets 1 ...", without the zeros.
writes() {
  local n
  for n in ${1:-0 1 2 3}; do fabsim "$n" calls | awk -v n="$n" '$1 ~ /^(set|del)/ && $2 > 0 { print "nic" n, $1, $2 }'; done
}
clear_calls() { local n; for n in 0 1 2 3; do fabsim "$n" calls 0; fabsim "$n" log 0; done; }

# What the kernel says, normalised: one JSON per NIC with everything that the profile touches.
# bnxt keeps and shows the delay without any effect; the agent marks there that PFC was set.
readback() {
  local n=$1 dev
  dev=$(netdev "$n")
  raw "$n" get 2>/dev/null | jq -c --argjson mtu "$(cat "/sys/class/net/$dev/mtu")" \
    --arg pause "$(ethtool -a "$dev" 2>/dev/null | awk '/^[RT]X:/ { printf "%s", $2 } END { print "" }')" \
    --arg card "$(fabsim "$n" personality)" \
    '{ack, dcbx, trust, pfc_en: .pfc.pfc_en, delay: (if $card == "bnxt" then null else .pfc.delay end), prio_tc: .ets.prio_tc, tsa: .ets.tc_tsa, bw: .ets.tc_tx_bw,
      dscp: ([.app[]? | select(.selector == "dscp") | {key: (.protocol | tostring), value: .priority}] | from_entries),
      mtu: $mtu, pause: $pause}'
}

# Is the profile of config() on NIC N, by the kernel's word?
as_profile() {
  local n=$1
  readback "$n" | jq -e --arg pers "$(fabsim "$n" personality)" '
    .pfc_en == 8 and .mtu == 4200 and .pause == "offoff" and .trust == "dscp" and .dscp["26"] == 3 and .dscp["48"] == 6
    and (.dcbx % 2 == 1)
    and (if $pers == "ice" then .prio_tc == [0, 1, 2, 3, 4, 5, 6, 7] and .bw == [30, 5, 5, 40, 5, 5, 5, 5]
         else .prio_tc == [0, 0, 0, 1, 0, 0, 2, 0] and .bw[0:2] == [50, 50] and .tsa[2] == 0 end)
    and (if $pers == "mlx5" then .delay == 30 and (.dscp | length) == 64 and .dscp["27"] == 3 and .dscp["8"] == 1
         else (.dscp | length) == 2 end)' >/dev/null
}

# Of the NICs given, or of all.
all_as_profile() {
  local n
  (($#)) || set -- 0 1 2 3
  for n; do as_profile "$n" || { echo "nic $n:"; readback "$n"; return 1; }; done
}

# What an operator sees when a scenario fails.
agent_log() { journalctl -u fabric-agent.service --no-pager -o short-monotonic | tail -n "${1:-40}"; }
