# In-guest helpers for test scripts: ". /usr/lib/fabsim/lib.sh". NICs are named by number 0..3 (PCI address order); a PCI address
# is taken, too, wherever a number is.
#
#   nic N            PCI address            gpu N       PCI address of GPU N
#   netdev N         its network device     rdmadev N   its RDMA device    (both wait until it is there)
#   gid N            index of its IPv4 RoCE v2 GID      address N   its IPv4 address
#   fabsim N FILE [VALUE]   reads or writes a control file of the NIC; "fabsim cfg VALUE" the global one
#   dcb_get N [JQ]   all of its DCB settings as JSON, or what the jq expression picks
#   raw N ...        dcbraw on its network device; prints the driver's answer, "result" (0 ok, -22 EINVAL, ...)
#   result N ...     the same as one number ("ack N" when the kernel refused before the driver was asked)
#   counter N NAME   one "ethtool -S" counter, empty when it is not there
#   hw_counter N NAME       one RDMA hardware counter
#   acs BDF VALUE    sets the ACS control register (hexadecimal; 1d = redirect on) of a bridge, which gets the capability if it has none
#   sim N NAME VALUE        sets ("+5": raises) one of the RDMA counters that soft-RoCE does not count itself
#
#   check NAME COMMAND...   passes when the command succeeds; a failing one's output is shown
#   eq NAME GOT WANT        passes when both are equal
#   finish                  prints "N passed, N failed" and exits 1 when one failed
#   wait_until S COMMAND... until the command succeeds, S seconds at most (twice that: the machine below may be busy)
#   traffic_start A B S [OPTIONS...]   ib_write_bw from NIC A to NIC B for S seconds; traffic_wait A: waits and prints MB/s;
#   traffic_stop A          ends it early
. /usr/lib/fabsim/nics

FABSIM_PASSED=0 FABSIM_FAILED=0

nic() { case $1 in *:*) echo "$1" ;; *) echo "${FABSIM_NICS[$1]:?no NIC $1}" ;; esac; }
gpu() { echo "${FABSIM_GPUS[$1]:?no GPU $1}"; }

_nic_number() {
	local i
	for i in "${!FABSIM_NICS[@]}"; do if [[ ${FABSIM_NICS[$i]} = "$1" || $i = "$1" ]]; then echo "$i"; return; fi; done
	return 1
}

_only_entry() {
	local i entry
	for ((i = 0; i < 200; i++)); do
		for entry in "$1"/*; do
			[[ -e $entry && ${entry##*/} != rxe[0-9]* ]] && { echo "${entry##*/}"; return; }
		done
		sleep 0.05
	done
	echo "nothing in $1" >&2
	return 1
}

netdev() { _only_entry "/sys/bus/pci/devices/$(nic "$1")/net"; }
rdmadev() { _only_entry "/sys/bus/pci/devices/$(nic "$1")/infiniband"; }
address() { fabsim_address "$(_nic_number "$1")"; }

gid() {
	local ports i n
	ports=/sys/class/infiniband/$(rdmadev "$1")/ports/1
	n=$(_nic_number "$1")
	for i in 0 1 2 3 4 5; do
		if grep -q "ffff:0a0$((1 + n / 2)):000$((1 + n % 2))" "$ports/gids/$i" 2>/dev/null; then echo "$i"; return; fi
	done
	echo "NIC $1 has no GID of its address" >&2
	return 1
}

fabsim() {
	local file=/sys/kernel/debug/fabsim/cfg
	if [[ $1 = cfg ]]; then shift; else file=/sys/kernel/debug/fabsim/$(nic "$1")/$2; shift 2; fi
	if (($#)); then echo "$*" >"$file"; else cat "$file"; fi
}

raw() { local n=$1; shift; dcbraw "$(netdev "$n")" "$@"; }
result() { raw "$@" | jq -r 'if .ack != 0 then "ack \(.ack)" else .result end'; }
dcb_get() { raw "$1" get | jq -c "${2:-.}"; }
counter() { ethtool -S "$(netdev "$1")" | sed -n "s/^ *$2: //p"; }
hw_counter() { cat "/sys/class/infiniband/$(rdmadev "$1")/ports/1/hw_counters/$2"; }
sim() { echo "$2 $3" >"/sys/class/infiniband/$(rdmadev "$1")/sim"; }

acs() {
	local bdf=$1 value=$2 header
	if ! setpci -s "$bdf" ECAP_ACS+6.w >/dev/null 2>&1; then
		header=$(setpci -s "$bdf" 100.l)
		fabsim cfg "$bdf 100 4 $(printf %x $(((0x$header & 0xfffff) | 0x200 << 20)))"
		fabsim cfg "$bdf 200 4 1000d"
		fabsim cfg "$bdf 204 4 5f 7f0000"
	fi
	setpci -s "$bdf" "ECAP_ACS+6.w=$value"
}

check() {
	local name=$1
	shift
	if "$@" >/run/fabsim-check 2>&1; then
		FABSIM_PASSED=$((FABSIM_PASSED + 1))
		echo "ok    $name"
	else
		FABSIM_FAILED=$((FABSIM_FAILED + 1))
		echo "FAIL  $name"
		sed 's/^/      /' /run/fabsim-check
	fi
}

eq() {
	if [[ $2 = "$3" ]]; then
		FABSIM_PASSED=$((FABSIM_PASSED + 1))
		echo "ok    $1"
	else
		FABSIM_FAILED=$((FABSIM_FAILED + 1))
		printf 'FAIL  %s\n      got:  %s\n      want: %s\n' "$1" "$2" "$3"
	fi
}

finish() {
	echo "$FABSIM_PASSED passed, $FABSIM_FAILED failed"
	exit $((FABSIM_FAILED > 0))
}

wait_until() {
	local end=$((SECONDS + 2 * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

traffic_start() {
	local a=$1 b=$2 seconds=$3 port=$((18515 + $(_nic_number "$1"))) files=/run/fabsim-traffic-$1
	shift 3
	ib_write_bw -d "$(rdmadev "$b")" -x "$(gid "$b")" -p $port -D "$seconds" -s 16384 --tx-depth=32 -F "$@" >"$files.server" 2>&1 &
	echo $! >"$files.server.pid"
	wait_until 30 _listening $port || return 1
	ib_write_bw -d "$(rdmadev "$a")" -x "$(gid "$a")" -p $port -D "$seconds" -s 16384 --tx-depth=32 -F "$@" 127.0.0.1 >"$files.client" 2>&1 &
	echo $! >"$files.client.pid"
	wait_until 60 _has_memory "$(rdmadev "$a")"
}

_has_memory() { rdma resource show mr | grep -q "^dev $1 .*ib_write_bw"; }
_listening() { ss -Hltn "sport = :$1" | grep -q .; }

traffic_wait() {
	local files=/run/fabsim-traffic-$1
	wait "$(cat "$files.client.pid")" && wait "$(cat "$files.server.pid")" || { cat "$files.client" >&2; return 1; }
	awk 'NF == 5 && $1 ~ /^[0-9]+$/ { print $4 }' "$files.client"
}

traffic_stop() {
	local files=/run/fabsim-traffic-$1
	kill "$(cat "$files.client.pid")" "$(cat "$files.server.pid")" 2>/dev/null
	wait "$(cat "$files.client.pid")" "$(cat "$files.server.pid")" 2>/dev/null
	true
}
