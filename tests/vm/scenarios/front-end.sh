#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# run: --timeout 1500
# README's three lines on a machine whose default route leaves by an mlx5 port: its link stays up and its MTU stays, directly,
# through a device above it, and while the route is gone for a moment; with an entry that names the port it is written. A TCP session of the host holds a port as well.
. /mnt/host/scenarios/lib/agent.sh
check "the package installs" install_agent
dev=$(netdev 0)
# The carrier also goes down with the port at the other end of the wire, so the module's calls that restart the link count.
mark() { mtu=$(cat "/sys/class/net/$dev/mtu") && clear_calls; }
kept() { [[ $(cat "/sys/class/net/$dev/mtu") = "$mtu" && -z $(fabsim 0 calls | awk '$2 > 0 && $1 ~ /^(setmtu|setpfc)$/') ]]; }
by_port() {
  ip address replace 10.98.0.1/24 dev "$dev" && ip link set "$dev" up && ip route replace default via 10.98.0.2 dev "$dev" metric 5
}

check "the default route leaves by $dev" by_port
mark
# README: the three lines
sed -i 's/^mode = .*/mode = "enforce"/' "$CONFIG"
check "README: the reload" reload_agent
sleep 5
fabric-agentctl status >"$OUT/status.txt"
fabric-agentctl plan >"$OUT/plan.txt"
fabric-agentctl check --interval 0 >"$OUT/check.txt"
check "the link of the default route stayed up, its MTU stayed" kept || fabsim 0 calls
for text in plan check; do check "$text says why, and how to allow it" grep -q 'front_end = true' "$OUT/$text.txt"; done
check "status says that it waits" grep -q pending "$OUT/status.txt"
check "the other ports have their MTU" wait_until 40 sh -c "test \$(cat /sys/class/net/$(netdev 1)/mtu) = 9000"
fabric-agentctl apply --disruptive now --port "$dev" >"$OUT/apply.txt" 2>&1
check "not by hand, either" kept

# Through a device above the port, each seen by an agent that starts. Kinds that this kernel lacks are left out.
made=0
for kind in "type bridge" "link $dev type vlan id 7" "link $dev type macvlan" "type bond mode active-backup" "type vrf table 77" \
  "type vxlan id 42 dstport 4789 dev $dev" "link $dev type ipvlan"; do
  systemctl stop fabric-agent.service
  ip route del default dev "$dev" metric 5
  # shellcheck disable=SC2086
  if ip link add above $kind 2>/dev/null; then
    made=$((made + 1))
    case $kind in
    *bond*) ip link set "$dev" down && ip link set "$dev" master above && ip link set "$dev" up ;;
    *bridge* | *vrf*) ip link set "$dev" master above ;;
    esac
    ip link set above up
    ip address add 10.99.0.1/24 dev above
    check "default route by $kind: set" ip route replace default via 10.99.0.2 dev above metric 5
    mark
    systemctl start fabric-agent.service
    sleep 8 # several passes
    check "default route by $kind: the port below is not written" kept
    check "default route by $kind: the plan names it" sh -c 'fabric-agentctl plan | grep -q "on the link of"'
    systemctl stop fabric-agent.service
    ip link set "$dev" nomaster 2>/dev/null
    ip link del above
  fi
  by_port
  systemctl start fabric-agent.service
done
check "some kinds of devices were there ($made)" test $made -ge 1

# An entry that names the port.
mkdir -p /etc/fabric-agent/conf.d
printf '[[port]]\nname = "front"\nmatch = { netdev = "%s" }\nfront_end = true\nmtu = 4200\n' "$dev" >/etc/fabric-agent/conf.d/front.toml
check "with an entry that names it: reload" reload_agent
check "with an entry that names it the MTU is written" wait_until 20 sh -c "test \$(cat /sys/class/net/$dev/mtu) = 4200"
ln -sf /dev/null /etc/fabric-agent/conf.d/front.toml # accepts the removal
mark
ip route del default dev "$dev" metric 5
reload_agent
sleep 5
rm /etc/fabric-agent/conf.d/front.toml
by_port
check "a route that comes back after some seconds has its link all the time" kept
ip route del default dev "$dev" metric 5
check "two minutes after the default route has left the policy's MTU is written" eval 'wait_until 200 sh -c "test \$(cat /sys/class/net/$dev/mtu) = 9000"'

# A TCP session of the host: the other end is in a namespace behind a macvlan or veth where the kernel has one.
if ip netns add far 2>/dev/null && ip link add far0 link "$(netdev 1)" type macvlan mode bridge 2>/dev/null; then
  ip link set far0 netns far
  ip -n far link set lo up
  ip -n far link set far0 up
  ip -n far address add 10.88.0.2/24 dev far0
  ip address add 10.88.0.1/24 dev "$dev"
  ip netns exec far python3 -m http.server --bind 10.88.0.2 4711 >/dev/null 2>&1 &
  wait_until 30 sh -c 'ip netns exec far ss -Hltn | grep -q :4711'
  python3 -c 'import socket, time; s = socket.create_connection(("10.88.0.2", 4711), 5); time.sleep(120)' &
  session=$!
  if wait_until 5 sh -c 'ss -Htn state established | grep -q 10.88.0.2'; then
    ip link set "$dev" mtu 1500
    sleep 6
    eq "with a TCP session over the port its MTU waits" "$(cat "/sys/class/net/$dev/mtu")" 1500
    check "the plan says so" sh -c 'fabric-agentctl plan | grep -q "TCP session"'
    kill $session
    check "then it is written" wait_until 40 sh -c "test \$(cat /sys/class/net/$dev/mtu) = 9000"
    # The other end, seen by its port: sessions in another network namespace are not visible, the device above the port is.
    other=$(netdev 1)
    if [[ -d /sys/class/net/$other && $(ip -n far -d link show far0) = *macvlan* ]]; then
      ip link set "$other" mtu 1500
      sleep 6
      eq "with a container's macvlan above the port its MTU waits" "$(cat "/sys/class/net/$other/mtu")" 1500
      check "the plan names the macvlan" sh -c 'fabric-agentctl plan | grep -q "far0 in another network namespace"'
      ip -n far link del far0
      check "without the macvlan it is written" wait_until 40 sh -c "test \$(cat /sys/class/net/$other/mtu) = 9000"
    fi
  else
    echo "skipped: no TCP session over the simulated wire"
  fi
fi
[[ $FABSIM_FAILED -gt 0 ]] && agent_log 60
finish
