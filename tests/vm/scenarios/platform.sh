#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# One defect of the platform at a time: a NIC's link at x8, ACS redirect on a switch's port. `check` names that and nothing
# else, and is silent again when it is mended.
. /mnt/host/scenarios/lib/agent.sh

SWITCH_PORT=$(basename "$(dirname "$(realpath "/sys/bus/pci/devices/$(nic 0)")")")  # NIC 0 is below it, GPU 0 beside it
DMI=/sys/class/dmi/id/sys_vendor

# What check complains of, as "id subject status" lines; the words of a command that runs it may come before.
complaints() {
  "$@" fabric-agentctl check --interval 0 --json | jq -r '.checks[] | select(.status != "ok") | "\(.id) \(.subject) \(.status)"' | sort
}
# And which of it was not there at first.
news() { comm -13 /tmp/first <(complaints); }
read_again() { systemctl restart fabric-agent-pci.service; }

check "the package installs" install_agent
read_again
check "configuration space was read of the switch's port" grep -q "\"$SWITCH_PORT\"" /run/fabric-agent/pci.json

# ACS is a question for real hardware: this server says that it is some.
echo Supermicro >/tmp/vendor
sed 's/ hypervisor//' /proc/cpuinfo >/tmp/cpuinfo
real() { mount --bind /tmp/vendor $DMI && mount --bind /tmp/cpuinfo /proc/cpuinfo; }
guest() { umount $DMI /proc/cpuinfo; }
complaints >/tmp/guest
real
complaints >/tmp/first
cat /tmp/first
eq "nothing of the platform to begin with" "$(grep -E '^(acs|iommu|aer|gpu-bar|gpudirect|pci-tuning|pci-power|pcie) ' /tmp/first)" ""

fabsim cfg "$(nic 3) link 3 8 5 16"
eq "a link at 8 GT/s x8 of 32 GT/s x16" "$(news)" "pcie $(rdmadev 3) critical"
fabsim cfg "$(nic 3) link 5 16 5 16"
eq "and mended" "$(news)" ""

acs "$SWITCH_PORT" 001d
eq "ACS is as it was read last" "$(news)" ""
read_again
eq "ACS redirect between GPU 0 and NIC 0" "$(news)" "acs $SWITCH_PORT warning"
fabric-agentctl check --interval 0 --only acs --json >"$OUT/acs.json"
remedy=$(jq -r '.checks[] | select(.status == "warning") | .remedy' "$OUT/acs.json")
check "with the command that clears it" grep -qF "setpci -s $SWITCH_PORT ECAP_ACS+6.w=0000" <<<"$remedy"
fabric-agentctl check --interval 0 --only acs
guest
eq "in a guest it is the host's affair" "$(complaints | comm -13 /tmp/guest -)" ""
real
setpci -s "$SWITCH_PORT" ECAP_ACS+6.w=0000
read_again
eq "and cleared" "$(news)" ""

rm /run/fabric-agent/pci.json
eq "nobody has published it: root reads it himself" "$(news)" ""
acs "$SWITCH_PORT" 001d
eq "as it is now" "$(news)" "acs $SWITCH_PORT warning"
setpci -s "$SWITCH_PORT" ECAP_ACS+6.w=0000
eq "who may not read does not know" "$(complaints setpriv --reuid 65534 --regid 65534 --clear-groups | grep '^acs ')" "acs host unknown"
read_again
eq "and read again" "$(news)" ""

cp /run/fabric-agent/pci.json "$OUT"
guest
finish
