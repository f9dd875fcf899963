#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# What is not a port's over netlink: PCIe read requests, set by a service of their own that has the power, and host settings.
# Set, read back with setpci and sysctl, drifted, repaired, restored.
. /mnt/host/scenarios/lib/agent.sh
check "the package installs" install_agent

device_control() { echo $((0x$(setpci -s "$(nic "$1")" CAP_EXP+8.w))); }
mrrs() { echo $((128 << ($(device_control "$1") >> 12 & 7))); }
mrrs_are() { local n; for n in 0 1; do [[ $(mrrs $n) = "$1" ]] || { mrrs $n; return 1; }; done; }
sysctl_is() { [[ $(sysctl -n "$1") = "$2" ]]; }
host_config() {
  cat >"$CONFIG" <<TOML
mode = "$1"
reread = "2s"
[sysctl]
"net.ipv4.tcp_ecn" = 1
"net.ipv4.conf.all.arp_ignore" = 2
"kernel.numa_balancing" = 0
[[port]]
name = "all"
mrrs = 4096
TOML
}
ecn=$(sysctl -n net.ipv4.tcp_ecn) balancing=$(sysctl -n kernel.numa_balancing)
first=$(mrrs 0) others=$(($(device_control 0) & 0x8fff))
eq "the card begins with another read request size" "$first" 512
check "fresh values differ from the wanted" test "$ecn" != 1

host_config audit
systemctl restart fabric-agent-pci.service fabric-agent.service
sleep 4
check "audit: nothing was written" mrrs_are 512
check "audit: nor to sysctls" sysctl_is net.ipv4.tcp_ecn "$ecn"
check "audit: plan names them" sh -c 'fabric-agentctl plan | grep -q tcp_ecn && fabric-agentctl plan | grep -q mrrs'

host_config enforce
systemctl restart fabric-agent-pci.service fabric-agent.service
check "PCIe read requests of 4096 bytes" wait_until 10 mrrs_are 4096
check "tcp_ecn" wait_until 10 sysctl_is net.ipv4.tcp_ecn 1
check "arp_ignore" wait_until 10 sysctl_is net.ipv4.conf.all.arp_ignore 2
check "numa_balancing, which takes another capability" wait_until 10 sysctl_is kernel.numa_balancing 0
check "what is published names the bridges' ACS and the cards" grep -q mrrs /run/fabric-agent/pci.json
sysctl -qw net.ipv4.tcp_ecn=0
check "a foreign sysctl is put back" wait_until 15 sysctl_is net.ipv4.tcp_ecn 1
eq "other bits of device control stay" "$(($(device_control 0) & 0x8fff))" "$others"

systemctl stop fabric-agent.service
check "restore" fabric-agentctl restore --disruptive now
check "read requests as before" wait_until 5 mrrs_are "$first"
check "tcp_ecn as before" sysctl_is net.ipv4.tcp_ecn "$ecn"
eq "numa_balancing as before" "$(sysctl -n kernel.numa_balancing)" "$balancing"
[[ $FABSIM_FAILED -gt 0 ]] && { agent_log 60; journalctl -u fabric-agent-pci --no-pager | tail -20; fabric-agentctl plan; cat /run/fabric-agent/pci.json; }
finish
