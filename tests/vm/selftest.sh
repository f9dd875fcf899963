#!/bin/bash
# Proves the virtual GPU server: tests/vm/run [--kernel 6.1] tests/vm/selftest.sh
set -u
. /usr/lib/fabsim/lib.sh

# what an older kernel does not have: apptrust and mlx5's rtt_resp_dscp (6.2), RDMA rates above 100G from ethtool's speed
case $(uname -r) in
6.1.*) HAVE_APPTRUST=0 CC_FILES=20 RATE="100 Gb/sec (4X EDR)" ;;
*) HAVE_APPTRUST=1 CC_FILES=22 RATE="400 Gb/sec (4X NDR)" ;;
esac

ets_all() { echo "0,1,2,3,4,5,6,7 ets,ets,ets,ets,ets,ets,ets,ets $1"; }
carrier_up() { [[ $(cat "/sys/class/net/$(netdev "$1")/carrier") = 1 ]]; }
downs() { cat "/sys/class/net/$(netdev "$1")/carrier_down_count"; }
log_of() { fabsim "$1" log | sed 's/^[0-9.]* //'; }
# What the kernel says to a value written to a file: its error, or "taken".
put() { local said; if said=$({ echo "$1" >"$2"; } 2>&1); then echo taken; else echo "${said##*: }"; fi; }
# The values of some files in a folder, in one line.
values() { local folder=$1; shift; (cd "$folder" && cat "$@" | xargs); }
reload_as() { fabsim "$1" personality "$2"; fabsim "$1" reload "0 fw"; wait_until 5 rdmadev "$1"; }

section() { echo "-- $1"; }

section "the machine"
eq "hostname" "$(hostname)" fabric-vm
eq "NUMA nodes" "$(cat /sys/devices/system/node/online)" 0-1
eq "distance" "$(cat /sys/devices/system/node/node0/distance)" "10 21"
for n in 0 1 2 3; do
	eq "NIC $n on node $((n / 2))" "$(cat "/sys/bus/pci/devices/$(nic $n)/numa_node")" $((n / 2))
	eq "GPU $n on node $((n / 2))" "$(cat "/sys/bus/pci/devices/$(gpu $n)/numa_node")" $((n / 2))
	eq "GPU $n identity" "$(cat "/sys/bus/pci/devices/$(gpu $n)"/{vendor,device,class} | xargs)" "0x10de 0x2330 0x030200"
done
ids=("0x15b3 0x1021" "0x14e4 0x1760" "0x8086 0x1592" "0x15b3 0x1021")
drivers=(mlx5_core bnxt_en ice mlx5_core)
for n in 0 1 2 3; do
	dev=$(netdev $n)
	eq "NIC $n identity" "$(cat "/sys/bus/pci/devices/$(nic $n)"/{vendor,device} | xargs)" "${ids[$n]}"
	eq "NIC $n identity in config space" "$(setpci -s "$(nic $n)" 0.w 2.w | sed 's/^/0x/' | xargs)" "${ids[$n]}"
	eq "NIC $n driver link" "$(basename "$(readlink "/sys/bus/pci/devices/$(nic $n)/driver")")" "${drivers[$n]}"
	eq "NIC $n ethtool -i" "$(ethtool -i "$dev" | sed -n 's/^driver: //p')" "${drivers[$n]}"
	eq "NIC $n link" "$(cat "/sys/bus/pci/devices/$(nic $n)"/{current,max}_link_{speed,width} | xargs)" \
		"32.0 GT/s PCIe 16 32.0 GT/s PCIe 16"
	eq "NIC $n RDMA device is ACTIVE" "$(cat "/sys/class/infiniband/$(rdmadev $n)/ports/1/state")" "4: ACTIVE"
	eq "NIC $n speed" "$(cat "/sys/class/net/$dev/speed")" 400000
	eq "NIC $n rate" "$(cat "/sys/class/infiniband/$(rdmadev $n)/ports/1/rate")" "$RATE"
	eq "NIC $n MTU" "$(cat "/sys/class/net/$dev/mtu")" 1500
	eq "NIC $n global pause" "$(ethtool -a "$dev" | awk '/^(RX|TX):/ { print $2 }' | xargs)" "on on"
	check "NIC $n has the address $(address $n)" grep -q "inet $(address $n)/24" <(ip addr show dev "$dev")
	check "NIC $n has port counters" test -r "/sys/class/infiniband/$(rdmadev $n)/ports/1/counters/port_xmit_data"
done
lstopo --of console --whole-io -v >/tmp/lstopo
eq "hwloc sees the GPUs" "$(grep -c '10de:2330' /tmp/lstopo)" 4
eq "hwloc sees the RDMA devices" "$(grep -c 'OpenFabrics.*roce' /tmp/lstopo)" 4
eq "nobody sees QEMU's NICs" "$(lspci -n | grep -c '8086:10d3\|1234:1111')" 0
check "the topology is as topology.json says" python3 - <<'PY'
import json, os
def bridges(pci):
    return os.path.realpath("/sys/bus/pci/devices/" + pci).split("/")[3:-1]
def path_class(gpu, nic):
    a, b = bridges(gpu["pci"]), bridges(nic["pci"])
    common = [x for x, y in zip(a, b) if x == y]
    if gpu["numa"] != nic["numa"]:
        return "SYS"
    return "PIX" if len(common) > 1 else "PHB" if common else "NODE"
t = json.load(open("/usr/lib/fabsim/topology.json"))
got = [{"gpu": g["pci"], "nic": n["pci"], "class": path_class(g, n)} for g in t["gpus"] for n in t["nics"]]
assert got == t["paths"], got
PY
check "multi-user.target is reached before this script" systemctl -q is-active multi-user.target
eq "no unit has failed" "$(systemctl --failed --no-legend)" ""

section "mlx5"
eq "ETS after driver start" "$(dcb_get 0 '[.ets.tc_tsa[0], .ets.prio_tc]')" "[255,[1,0,2,3,4,5,6,7]]"
eq "cable after driver start" "$(dcb_get 0 .pfc.delay)" 7
eq "DCBX" "$(dcb_get 0 .dcbx)" 13
eq "no apptrust" "$(dcb_get 0 .apptrust)" null
eq "ETS sum 90 is refused" "$(result 0 ets $(ets_all 50,40,0,0,0,0,0,0))" -22
eq "CB shaper is refused" "$(result 0 ets 0,1,2,3,4,5,6,7 cbs,ets,ets,ets,ets,ets,ets,ets 0,100,0,0,0,0,0,0)" -95
eq "ETS is taken" "$(result 0 ets $(ets_all 50,0,0,50,0,0,0,0))" 0
eq "ETS reads back" "$(dcb_get 0 .ets.tc_tx_bw)" "[50,0,0,50,0,0,0,0]"
eq "a DGRAM entry is refused" "$(result 0 app add dgram 4791 3)" -22
eq "a DSCP entry is taken" "$(result 0 app add dscp 26 3)" 0
eq "trust follows" "$(dcb_get 0 .trust)" '"dscp"'
eq "the same again is taken" "$(result 0 app add dscp 26 3)" 0
eq "another priority replaces it" "$(result 0 app add dscp 26 4; dcb_get 0 '[.app[] | [.protocol, .priority]]')" $'0\n[[26,4]]'
eq "deleting it with the wrong priority" "$(result 0 app del dscp 26 3)" -2
eq "deleting it" "$(result 0 app del dscp 26 4)" 0
eq "trust is back" "$(dcb_get 0 .trust)" '"pcp"'
dev=$(netdev 0)
downs=$(cat "/sys/class/net/$dev/carrier_down_count")
eq "no PFC counters without PFC" "$(counter 0 rx_prio3_pause)" ""
eq "global pause counters with pause" "$(counter 0 rx_global_pause)" 0
eq "PFC is taken beside global pause" "$(result 0 pfc 0x08 30)" 0
eq "the link flapped" "$(cat "/sys/class/net/$dev/carrier_down_count")" $((downs + 1))
check "and comes back" wait_until 5 carrier_up 0
eq "cable length" "$(dcb_get 0 .pfc.delay)" 30
eq "PFC counters with PFC" "$(counter 0 rx_prio3_pause)" 0
eq "but only of its priority" "$(counter 0 rx_prio4_pause)" ""
downs=$(cat "/sys/class/net/$dev/carrier_down_count")
eq "a cable of 1000 m is ignored, the same PFC does not flap" \
	"$(result 0 pfc 0x08 1000; dcb_get 0 .pfc.delay; cat "/sys/class/net/$dev/carrier_down_count")" $'0\n30\n'"$downs"
check "pause with autoneg is refused" eval "! ethtool -A $dev autoneg on rx on tx on"
check "pause off" ethtool -A "$dev" rx off tx off
eq "no global pause counters without pause" "$(counter 0 rx_global_pause)" ""
fabsim 0 stat "rx_prio3_pause +1234"
eq "a raised counter shows in ethtool and dcbnl" "$(counter 0 rx_prio3_pause) $(dcb_get 0 .pfc.indications[3])" "1234 1234"
check "rings" ethtool -G "$dev" rx 3000
eq "rings are rounded up to a power of two" "$(ethtool -g "$dev" | awk '/^RX:/ { r = $2 } END { print r }')" 4096
eq "a lossless buffer that is too small" "$(result 0 buffer 0,0,0,1,0,0,0,0 262016,65536,0,0,0,0,0,0)" -12
eq "one that is large enough by the sizes of the same message" "$(result 0 buffer 0,0,0,1,0,0,0,0 262016,262016,0,0,0,0,0,0)" -12
eq "buffers, then the map" \
	"$(result 0 buffer 0,0,0,0,0,0,0,0 262016,262016,0,0,0,0,0,0) $(result 0 buffer 0,0,0,1,0,0,0,0 262016,262016,0,0,0,0,0,0)" "0 0"
eq "buffers are cut to cells of 128 bytes" "$(result 0 buffer 0,0,0,1,0,0,0,0 262000,262143,0,0,0,0,0,0; dcb_get 0 .buffer.size[0:2])" $'0\n[261888,262016]'
eq "buffers beyond the port's" "$(result 0 buffer 0,0,0,1,0,0,0,0 262144,262272,0,0,0,0,0,0) $(dcb_get 0 .buffer.total)" "-22 524160"
eq "a lossless buffer of nothing" "$(result 0 buffer 0,0,0,1,0,0,0,0 262016,0,0,0,0,0,0,0)" -22
eq "a rate over 255 Gbit/s" "$(result 0 maxrate 400000000,0,0,0,0,0,0,0)" -22
eq "rates are cut to 100 Mbit/s, and to 1 Gbit/s above 25.5" \
	"$(result 0 maxrate 25550000,25500000,150000,50000,399,0,0,255000000; dcb_get 0 .maxrate)" $'0\n[25000000,25500000,100000,100000,100000,0,0,255000000]'
check "more descriptors than there are is refused" eval "! ethtool -G $dev rx 8193"
check "channels" ethtool -L "$dev" combined 4
eq "channels read back" "$(ethtool -l "$dev" | awk '/^Combined:/ { print $2 }' | xargs)" "8 4"
check "more channels than there are is refused" eval "! ethtool -L $dev combined 9"
fec() { ethtool --show-fec "$1" | awk -F': ' '/FEC/ { print $2 }' | xargs; }
eq "FEC at first" "$(fec "$dev")" "Auto RS"
before=$(downs 0)
check "FEC off" ethtool --set-fec "$dev" encoding off
eq "FEC reads back, the link flapped" "$(fec "$dev") $(downs 0)" "Off Off $((before + 1))"
check "FEC that the port does not have" eval "! ethtool --set-fec $dev encoding llrs"
check "FEC back" ethtool --set-fec "$dev" encoding auto
eq "DCBX to firmware, and back" "$(result 0 dcbx 0; dcb_get 0 .dcbx; result 0 dcbx 9; dcb_get 0 .dcbx)" $'0\n12\n0\n9'
result 0 app add dscp 26 3 >/dev/null
index=$(cat "/sys/class/net/$dev/ifindex")
fabsim 0 reload 200
begin=$(date +%s%N)
check "driver reload: address and RDMA device are back" wait_until 5 eval 'ip addr show dev $(netdev 0) | grep -q 10.1.0.1/24 && rdmadev 0'
echo "      $((($(date +%s%N) - begin) / 1000000)) ms after the netdev"
check "a new ifindex" test "$(cat "/sys/class/net/$(netdev 0)/ifindex")" != "$index"
eq "what firmware keeps and what the driver resets" "$(dcb_get 0 '[.pfc.pfc_en, .pfc.delay, .ets.tc_tsa[0], (.app | length), .trust]')" \
	'[8,7,255,64,"dscp"]'
fabsim 0 reload "0 fw"
check "firmware reset: RDMA device is back" wait_until 5 rdmadev 0
eq "everything is at its default" "$(dcb_get 0 '[.pfc.pfc_en, (.app | length), .trust]')" '[0,0,"pcp"]'

section "mlx5: congestion control"
cc=/sys/kernel/debug/mlx5/$(nic 0)/cc_params
eq "its files" "$(ls "$cc" | wc -l) $(stat -c %a "$cc/np_cnp_dscp")" "$CC_FILES 600"
defaults="300 32767 1019 48 6 4"
files="rp_time_reset rp_byte_reset rp_dce_tcp_g np_cnp_dscp np_cnp_prio np_min_time_between_cnps"
# shellcheck disable=SC2086
eq "what NV configuration says" "$(values "$cc" $files)" "$defaults"
fabsim 0 log clear
fabsim 0 calls clear
eq "a value" "$(put 0x20 "$cc/np_cnp_dscp") $(cat "$cc/np_cnp_dscp")" "taken 32"
eq "the mode of the CNP's priority" "$(put 1 "$cc/np_cnp_prio_mode") $(cat "$cc/np_cnp_prio_mode")" "taken 1"
eq "goes back with the priority" "$(put 5 "$cc/np_cnp_prio") $(values "$cc" np_cnp_prio np_cnp_prio_mode)" "taken 5 0"
eq "out of range" "$(put 32 "$cc/rp_threshold") $(put 0 "$cc/rp_time_reset") $(put 1 "$cc/rp_threshold")" "Invalid argument Invalid argument taken"
eq "cut off to the field's width" "$(put 64 "$cc/np_cnp_dscp") $(cat "$cc/np_cnp_dscp")" "taken 0"
eq "not a number" "$(put many "$cc/rp_ai_rate")" "Invalid argument"
fabsim 0 fail "setcc 5"
eq "an injected errno" "$(put 7 "$cc/rp_ai_rate") $(cat "$cc/rp_ai_rate")" "Input/output error 5"
eq "all is written down" "$(log_of 0)" "setcc np_cnp_dscp=32 -> 0
setcc np_cnp_prio_mode=1 -> 0
setcc np_cnp_prio=5 -> 0
setcc rp_threshold=32 -> -22
setcc rp_time_reset=0 -> -22
setcc rp_threshold=1 -> 0
setcc np_cnp_dscp=64 -> 0
setcc rp_ai_rate=7 -> -5"
eq "and counted" "$(fabsim 0 calls | awk '$1 ~ /^set/ && $2')" "setcc 8"
# shellcheck disable=SC2086
eq "a silent wipe" "$(fabsim 0 wipe 1; values "$cc" $files)" "$defaults"
put 10 "$cc/np_cnp_dscp" >/dev/null
fabsim 0 reload 0
check "a driver reload" wait_until 5 rdmadev 0
# shellcheck disable=SC2086
eq "starts from NV configuration" "$(values "$cc" $files)" "$defaults"
check "no traffic class" test ! -e "/sys/class/infiniband/$(rdmadev 0)/tc"

section "ofed"
reload_as 0 ofed
ecn=/sys/class/net/$(netdev 0)/ecn
eq "its files" "$(ls "$ecn/roce_rp" | wc -l) $(ls "$ecn/roce_np" | wc -l) $(ls -d "$ecn"/roce_?p/enable/[0-7] | wc -l) $(stat -c %a "$ecn/roce_rp/rpg_gd")" "17 4 16 644"
eq "what NV configuration says" "$(values "$ecn" roce_rp/enable/0 roce_np/enable/7 roce_rp/clamp_tgt_rate_after_time_inc roce_np/cnp_dscp roce_np/cnp_802p_prio)" "1 1 1 48 6"
eq "anybody reads" "$(su -s /bin/sh nobody -c "cat $ecn/roce_np/cnp_dscp")" 48
fabsim 0 log clear
eq "ECN off on a priority" "$(put 0 "$ecn/roce_np/enable/3"; values "$ecn/roce_np/enable" 2 3 4)" $'taken\n1 0 1'
eq "the other side has its own" "$(cat "$ecn/roce_rp/enable/3")" 1
eq "the same again" "$(put 0 "$ecn/roce_np/enable/3")" taken
eq "a value" "$(put 40 "$ecn/roce_np/cnp_dscp") $(cat "$ecn/roce_np/cnp_dscp")" "taken 40"
eq "is the one in debugfs" "$(cat "$cc/np_cnp_dscp")" 40
eq "out of range" "$(put 32 "$ecn/roce_rp/rpg_threshold")" "Invalid argument"
eq "what reached firmware" "$(log_of 0)" $'setcc np enable/3=0 -> 0\nsetcc np_cnp_dscp=40 -> 0\nsetcc rp_threshold=32 -> -22'
eq "its rates overflow" "$(result 0 maxrate 400000000,25600000,25500000,26000000,0,0,0,0; dcb_get 0 .maxrate[0:4])" \
	$'0\n[144000000,100000,25500000,26000000]'
tclass=/sys/class/infiniband/$(rdmadev 0)/tc/1/traffic_class
eq "no traffic class at first" "$(cat "$tclass")" ""
eq "traffic class" "$(put 106 "$tclass") $(cat "$tclass")" "taken Global tclass=106"
eq "out of range" "$(put tclass=256 "$tclass") $(cat "$tclass")" "Invalid argument Global tclass=106"
eq "a rule" "$(put "dst_ip=10.1.0.2,tclass=104" "$tclass"; cat "$tclass")" $'taken\nGlobal tclass=106\ndst_ip=10.1.0.2,tclass=104'
eq "no longer set" "$(put -1 "$tclass"; cat "$tclass")" $'taken\ndst_ip=10.1.0.2,tclass=104'
eq "it is written down" "$(log_of 0 | grep -c settclass)" 4
fabsim 0 reload 0
check "a driver reload" wait_until 5 test -e "/sys/class/infiniband/$(rdmadev 0)/tc/1/traffic_class"
eq "forgets all" "$(values "/sys/class/net/$(netdev 0)/ecn" roce_np/enable/3 roce_np/cnp_dscp) $(cat "/sys/class/infiniband/$(rdmadev 0)/tc/1/traffic_class")" "1 48 "
reload_as 0 mlx5
check "gone with the driver" test ! -e "/sys/class/net/$(netdev 0)/ecn" -a ! -e "/sys/class/infiniband/$(rdmadev 0)/tc"

section "bnxt"
eq "PFC before ETS is refused" "$(result 1 pfc 0x08)" -22
eq "ETS over 100 is refused" "$(result 1 ets 0,0,0,1,0,0,2,0 ets,ets,strict,0,0,0,0,0 60,60,0,0,0,0,0,0)" -22
eq "ETS is taken" "$(result 1 ets 0,0,0,1,0,0,2,0 ets,ets,strict,0,0,0,0,0 50,50,0,0,0,0,0,0)" 0
check "and the link comes back" wait_until 5 carrier_up 1
eq "now PFC is taken" "$(result 1 pfc 0x08 30)" 0
eq "its delay is kept and shown" "$(dcb_get 1 '[.pfc.pfc_en, .pfc.delay]')" '[8,30]'
eq "its class has a lossless queue now" "$(fabsim 1 lossless)" 0x08
eq "ETS moves the priority to another class" "$(result 1 ets 0,0,0,2,0,0,2,0 ets,ets,strict,0,0,0,0,0 50,50,0,0,0,0,0,0)" 0
eq "its queue drops packets, and PFC is still shown" "$(fabsim 1 lossless) $(dcb_get 1 .pfc.pfc_en)" "0x00 8"
eq "the same PFC again" "$(result 1 pfc 0x08 30)" 0
eq "gives it a lossless queue" "$(fabsim 1 lossless)" 0x08
check "and the link comes back" wait_until 5 carrier_up 1
eq "DGRAM and DSCP entries" "$(result 1 app add dgram 4791 3 dscp 26 3)" 0
eq "an exact duplicate is refused" "$(result 1 app add dscp 26 3)" -17
eq "no buffers, no rates" "$(dcb_get 1 '[.buffer, .maxrate]')" '[null,null]'
eq "its counters have its names" "$(fabsim 1 stat "rx_pfc_ena_frames_pri3 7"; counter 1 rx_pfc_ena_frames_pri3; dcb_get 1 .pfc.indications[3])" $'7\n7'
eq "DCBX without HOST is taken" "$(result 1 dcbx 8)" 0
eq "and then all is refused" "$(result 1 pfc 0x08)" -22
eq "DCBX back" "$(result 1 dcbx 9)" 0

before=$(downs 1)
check "rings" ethtool -G "$(netdev 1)" rx 1000
eq "are as asked, the link went down" "$(ethtool -g "$(netdev 1)" | awk '/^RX:/ { r = $2 } END { print r }') $(downs 1)" "1000 $((before + 1))"
check "and the link comes back" wait_until 5 carrier_up 1
before=$(downs 1)
check "channels" ethtool -L "$(netdev 1)" combined 2
eq "take it down, too" "$(downs 1)" $((before + 1))
check "and the link comes back" wait_until 5 carrier_up 1
cc=/sys/kernel/debug/bnxt_re/$(nic 1)/cc_config
eq "congestion control" "$(ls "$cc" | wc -l) $(stat -c %a "$cc/cc_mode") $(values "$cc" enable_cc cc_mode tos_ecn alt_vlan_dscp)" "14 400 1 1 0 48"
fabsim 1 log clear
eq "a value" "$(put 1 "$cc/tos_ecn") $(cat "$cc/tos_ecn")" "taken 1"
eq "firmware refuses, the driver does not say so" "$(put 16384 "$cc/rtt") $(cat "$cc/rtt")" "taken 40"
eq "cut off to the bits of the command" "$(put 64 "$cc/tos_dscp") $(cat "$cc/tos_dscp")" "taken 0"
eq "cut off to the driver's variable" "$(put 256 "$cc/enable_cc") $(cat "$cc/enable_cc")" "taken 0"
eq "the file that does nothing" "$(put 1 "$cc/tx_queue") $(cat "$cc/tx_queue" 2>&1 | sed 's/.*: //')" "Operation not supported Invalid argument"
eq "all is written down" "$(log_of 1)" $'setcc tos_ecn=1 -> 0\nsetcc rtt=16384 -> 0\nsetcc tos_dscp=64 -> 0\nsetcc enable_cc=256 -> 0\nsetcc tx_queue=1 -> -95'
fabsim 1 reload 0
check "a driver reload" wait_until 5 rdmadev 1
eq "forgets all" "$(values "$cc" enable_cc tos_ecn)" "1 0"

section "bnxt-oot"
check "without it there is nothing in configfs" test ! -e /sys/kernel/config/bnxt_re
reload_as 1 bnxt-oot
eq "not in debugfs" "$(ls "/sys/kernel/debug/bnxt_re/$(nic 1)")" info
eq "what its setup script asks" "$(grep -c 'fw_service_prof_type_sup.*: 0' "/sys/kernel/debug/bnxt_re/$(nic 1)/info")" 1
check "no folder for an unknown device" eval '! mkdir /sys/kernel/config/bnxt_re/none'
check "a folder for its device" mkdir "/sys/kernel/config/bnxt_re/$(rdmadev 1)"
cc=/sys/kernel/config/bnxt_re/$(rdmadev 1)/ports/1/cc
eq "its files" "$(cd "$cc" && echo ./* | sed "s#./##g")" "apply cc_mode cnp_dscp cnp_prio disable_prio_vlan_tx ecn_enable ecn_marking roce_dscp roce_prio"
fabsim 1 log clear
eq "a value" "$(put 0x28 "$cc/cnp_dscp") $(cat "$cc/cnp_dscp")" "taken 0x28"
eq "has not reached firmware" "$(sed -n 's/^cnp dscp.*: //p' "$cc/apply")" 48
eq "apply" "$(put 0x1 "$cc/apply") $(sed -n 's/^cnp dscp.*: //p' "$cc/apply")" "taken 40"
eq "out of range" "$(put 0x40 "$cc/cnp_dscp") $(put 2 "$cc/cc_mode")" "Invalid argument Invalid argument"
eq "both bits of ECN at once" "$(put 3 "$cc/ecn_marking")" "Invalid argument"
eq "all is written down" "$(log_of 1)" $'setcc alt_vlan_dscp=0x28, not applied -> 0\nsetcc apply=0x1 -> 0\nsetcc alt_vlan_dscp=0x40, not applied -> -22\nsetcc cc_mode=0x2, not applied -> -22\nsetcc tos_ecn=0x3, not applied -> -22'
rmdir "/sys/kernel/config/bnxt_re/$(rdmadev 1)"
mkdir "/sys/kernel/config/bnxt_re/$(rdmadev 1)"
eq "the folder is only a view" "$(cat "$cc/cnp_dscp")" 0x28
fabsim 1 reload 0
check "a driver reload" wait_until 5 rdmadev 1
eq "forgets all" "$(cat "$cc/cnp_dscp")" 0x30
rmdir "/sys/kernel/config/bnxt_re/$(rdmadev 1)"
reload_as 1 bnxt

section "ice"
dev=$(netdev 2)
eq "boots without firmware LLDP agent" "$(ethtool --show-priv-flags "$dev" | awk '/fw-lldp-agent/ { print $NF }')" off
eq "the mode is set already: 1" "$(result 2 dcbx 9)" 1
ethtool --set-priv-flags "$dev" fw-lldp-agent on
eq "with the agent PFC is refused" "$(result 2 pfc 0x08)" -22
eq "and DCBX shows it" "$(dcb_get 2 .dcbx)" 10
ethtool --set-priv-flags "$dev" fw-lldp-agent off
eq "ETS is taken" "$(result 2 ets 0,0,0,1,0,0,0,0 ets,ets,0,0,0,0,0,0 50,50,0,0,0,0,0,0)" 0
eq "the first DSCP entry" "$(result 2 app add dscp 26 3)" 0
eq "overwrites ETS" "$(dcb_get 2 '[.ets.tc_tx_bw, .ets.prio_tc]')" "[[100,0,0,0,0,0,0,0],[0,1,2,3,4,5,6,7]]"
eq "a mapped DSCP is refused" "$(result 2 app add dscp 26 4)" -22
eq "a second one" "$(result 2 app add dscp 24 3)" 0
check "the link comes back" wait_until 5 carrier_up 2
before=$(downs 2)
eq "a DSCP that goes while another stays" "$(result 2 app del dscp 24 3)" 0
eq "restarts the link, too" "$(downs 2)" $((before + 1))
check "the link comes back" wait_until 5 carrier_up 2
eq "DGRAM is refused" "$(result 2 app add dgram 4791 3)" -22
eq "in DSCP mode prio_tc stays" "$(result 2 ets 0,0,0,1,0,0,0,0 ets,ets,ets,ets,ets,ets,ets,ets 50,0,0,50,0,0,0,0; dcb_get 2 '[.ets.prio_tc, .ets.tc_tx_bw]')" \
	$'0\n[[0,1,2,3,4,5,6,7],[50,0,0,50,0,0,0,0]]'
eq "PFC" "$(result 2 pfc 0x08)" 0
eq "an ETS that does not add up to 100" "$(result 2 ets 0,1,2,3,4,5,6,7 ets,ets,ets,ets,ets,ets,ets,ets 50,0,0,60,0,0,0,0)" -22
eq "stays in the driver's copy, so that PFC is refused" "$(result 2 pfc 0x18)" -22
eq "and that PFC comes with the next ETS" "$(result 2 ets 0,1,2,3,4,5,6,7 ets,ets,ets,ets,ets,ets,ets,ets 50,0,0,50,0,0,0,0; dcb_get 2 .pfc.pfc_en)" $'0\n24'
check "pause is refused with PFC" eval "! ethtool -A $dev rx on tx off" # with PFC the card shows none: off would be no change
eq "its counters have its names" "$(fabsim 2 stat "rx_priority_3_xoff.nic 9"; counter 2 rx_priority_3_xoff.nic)" 9

section "i40e"
reload_as 2 i40e
dev=$(netdev 2)
flag() { ethtool --show-priv-flags "$1" | awk '/disable-fw-lldp/ { print $NF }'; }
eq "identity" "$(ethtool -i "$dev" | sed -n 's/^driver: //p') $(cat "/sys/bus/pci/devices/$(nic 2)/device")" "i40e 0x1583"
eq "boots without firmware LLDP agent" "$(flag "$dev")" on
ethtool --set-priv-flags "$dev" disable-fw-lldp off
eq "with the agent all is refused" "$(result 2 pfc 0x08) $(result 2 app add dgram 4791 3) $(dcb_get 2 .dcbx)" "-22 -22 10"
ethtool --set-priv-flags "$dev" disable-fw-lldp on
eq "without it PFC is taken" "$(result 2 pfc 0x08; dcb_get 2 .pfc.pfc_en)" $'0\n8'
eq "an entry twice is EEXIST" "$(result 2 app add dgram 4791 3) $(result 2 app add dgram 4791 3)" "0 -17"
check "pause is refused with PFC" eval "! ethtool -A $dev rx on tx off" # with PFC the card shows none: off would be no change
reload_as 2 ice

section "nodcb, full"
reload_as 1 nodcb
eq "ionic" "$(basename "$(readlink "/sys/bus/pci/devices/$(nic 1)/driver")") $(cat "/sys/bus/pci/devices/$(nic 1)/vendor")" "ionic 0x1dd8"
eq "no DCB at all: EOPNOTSUPP" "$(result 1 pfc 0x08) $(dcb_get 1 .ack)" "ack 95 95"
reload_as 1 full
eq "every attribute" "$(dcb_get 1 '[.ets, .pfc, .buffer, .maxrate] | map(. != null) | all')" true
if ((HAVE_APPTRUST)); then
	eq "apptrust" "$(result 1 apptrust dscp,pcp; dcb_get 1 .apptrust)" $'0\n["dscp","pcp"]'
else
	eq "a kernel without apptrust says yes and does nothing" "$(result 1 apptrust dscp,pcp; dcb_get 1 .apptrust)" $'0\nnull'
fi
reload_as 1 bnxt

section "controls"
fabsim 0 log clear
fabsim 0 calls clear
fabsim 0 fail "setpfc 5"
eq "an injected errno" "$(result 0 pfc 0x10)" -5
eq "strikes once" "$(result 0 pfc 0x10)" 0
fabsim 0 fail "any ignore 1 1"
eq "skip, then ignore" "$(result 0 pfc 0x20; result 0 pfc 0x40; dcb_get 0 .pfc.pfc_en)" $'0\n0\n32'
eq "calls are counted" "$(fabsim 0 calls | grep -x 'setpfc 4')" "setpfc 4"
eq "and written down" "$(fabsim 0 log | sed 's/^[0-9.]* //')" \
	$'setpfc pfc_en=0x10 delay=0 -> -5\nsetpfc pfc_en=0x10 delay=0 -> 0\nsetpfc pfc_en=0x20 delay=0 -> 0\nsetpfc pfc_en=0x40 delay=0 -> 0'
fabsim 0 fail "setpfc kill"
eq "kill" "$(dcbraw "$(netdev 0)" pfc 0x01 >/dev/null 2>&1; echo $?) $(dcb_get 0 .pfc.pfc_en)" "137 32"
fabsim 0 fail "setpfc killafter"
eq "killafter" "$(dcbraw "$(netdev 0)" pfc 0x01 >/dev/null 2>&1; echo $?) $(dcb_get 0 .pfc.pfc_en)" "137 1"
fabsim 0 log clear
ip link set "$(netdev 0)" mtu 4200
eq "MTU is written down" "$(fabsim 0 log | sed 's/^[0-9.]* //')" "setmtu mtu=4200 -> 0"
fabsim 0 delay_ms 500
begin=$(date +%s%N)
result 0 pfc 0x01 >/dev/null
check "delay_ms" test $((($(date +%s%N) - begin) / 1000000)) -ge 500
fabsim 0 delay_ms 0
result 0 ets $(ets_all 50,0,0,50,0,0,0,0) >/dev/null
fabsim 0 wipe 1
eq "wipe" "$(dcb_get 0 '[.pfc.pfc_en, .ets.tc_tsa[0]]')" "[0,255]"
fabsim 0 fail "setpfc vanish"
result 0 pfc 0x02 >/dev/null
gone() { ! [[ -e /sys/bus/pci/devices/$(nic "$1")/net ]]; }
check "vanish" wait_until 5 gone 0
fabsim 0 reload 0
check "and back" wait_until 5 rdmadev 0
fabsim 0 remove 1
check "remove" gone 0
fabsim 0 reload "0 fw"
check "and back" wait_until 5 rdmadev 0
fabsim 1 carrier 0
check "a pulled cable takes both ends down" wait_until 3 eval '! carrier_up 0 && ! carrier_up 1'
check "mlx5 says why" grep -q 'Autoneg, No partner detected' <(ethtool "$(netdev 0)")
check "bnxt says why" grep -q 'No cable' <(ethtool "$(netdev 1)")
fabsim 1 carrier 1
check "and up" wait_until 3 eval 'carrier_up 0 && carrier_up 1'
fabsim 0 carrier 0
check "the other end down" wait_until 3 eval '! carrier_up 0 && ! carrier_up 1'
check "mlx5 says why, too" grep -q 'No cable' <(ethtool "$(netdev 0)")
check "bnxt does not know" grep -q 'Link detected: no$' <(ethtool "$(netdev 1)")
fabsim 0 carrier 1
check "up again" wait_until 3 eval 'carrier_up 0 && carrier_up 1'
fabsim cfg "$(gpu 0) link 3 8 5 16"
eq "a degraded PCIe link" "$(cat "/sys/bus/pci/devices/$(gpu 0)"/current_link_{speed,width} | xargs)" "8.0 GT/s PCIe 8"
fabsim cfg "$(gpu 0) link 5 16 5 16"
for bridge in 0000:22:01.0 0000:20:00.0; do
	acs $bridge 1d
	check "ACS redirect on at $bridge" grep -q 'ACSCtl:.*ReqRedir+ CmpltRedir+' <(lspci -vvs $bridge)
	acs $bridge 0
	check "and off" grep -q 'ACSCtl:.*ReqRedir- CmpltRedir-' <(lspci -vvs $bridge)
done
check "the module's memory" grep -q FABSIM <(ethtool -m "$(netdev 0)")
fabsim 0 eeprom "11 ba 00"
fabsim 0 eeprom "11 bb 64"
check "changed: receive power of lane 1 is 0.01 mW" grep -q 'Receiver signal.*(Channel 1).* 0.0100 mW' <(ethtool -m "$(netdev 0)")
fabsim 0 eeprom default
sim 0 np_cnp_sent +5
eq "an RDMA counter that soft-RoCE does not have" "$(hw_counter 0 np_cnp_sent)" 5
check "is in RDMA netlink, too" grep -q 'np_cnp_sent 5' <(rdma statistic show link "$(rdmadev 0)/1")
sim 0 port_xmit_wait 77
eq "a port counter" "$(cat "/sys/class/infiniband/$(rdmadev 0)/ports/1/counters/port_xmit_wait")" 77

counters() { rdma statistic mode supported link "$(rdmadev "$1")/1" | sed -n 's/.*optional-counters //p' | xargs; }
eq "optional counters" "$(counters 0)" "cc_rx_ce_pkts,cc_rx_cnp_pkts,cc_tx_cnp_pkts,rdma_tx_packets,rdma_tx_bytes,rdma_rx_packets,rdma_rx_bytes"
eq "not of other vendors" "$(counters 1)" ""
fabsim 0 log clear
sim 0 cc_rx_ce_pkts 7
check "off" eval '! rdma statistic show link "$(rdmadev 0)/1" | grep -q cc_'
check "on" rdma statistic set link "$(rdmadev 0)/1" optional-counters cc_rx_ce_pkts,cc_tx_cnp_pkts
eq "shown" "$(rdma statistic show link "$(rdmadev 0)/1" | grep -o 'cc_[a-z_]* [0-9]*' | xargs)" "cc_rx_ce_pkts 7 cc_tx_cnp_pkts 0"
check "not in sysfs" test ! -e "/sys/class/infiniband/$(rdmadev 0)/ports/1/hw_counters/cc_rx_ce_pkts"
eq "written down" "$(log_of 0)" $'setcounter cc_rx_ce_pkts=on -> 0\nsetcounter cc_tx_cnp_pkts=on -> 0'
check "off again" rdma statistic unset link "$(rdmadev 0)/1" optional-counters
check "not shown" eval '! rdma statistic show link "$(rdmadev 0)/1" | grep -q cc_'

reporters() { devlink -j health show | jq -r --arg nic "pci/$(nic "$1")" '.health[$nic][]?.reporter' | xargs; }
faults() { devlink -j health diagnose "pci/$(nic 0)" reporter vnic | grep -oE '"(cq_overrun|handled_pkt_steering_fail)":[0-9]+' | xargs; }
eq "mlx5's health reporters" "$(reporters 0)" "fw fw_fatal vnic"
eq "none of other vendors" "$(reporters 1)" ""
fabsim 0 vnic "cq_overrun +7"
fabsim 0 vnic "handled_pkt_steering_fail 5000000000"
eq "faults of queues" "$(faults)" "cq_overrun:7 handled_pkt_steering_fail:5000000000"
fabsim 0 fail "getvnic 5"
check "refused once" eval '! devlink health diagnose "pci/$(nic 0)" reporter vnic'
fabsim 0 vnic "fw_fatal 1"
check "the firmware died" grep -q 'state error' <(devlink health show "pci/$(nic 0)" reporter fw_fatal)
eq "its counters are zeros" "$(faults)" "cq_overrun:0 handled_pkt_steering_fail:0"
fabsim 0 vnic "fw_fatal 0"
fabsim 0 reload 0
check "a reload" wait_until 5 rdmadev 0
eq "resets them" "$(faults)" "cq_overrun:0 handled_pkt_steering_fail:0"
mrrs() { echo $((128 << ((0x$(setpci -s "$1" CAP_EXP+8.w) >> 12) & 7))); }
eq "read request size of NIC and GPU" "$(mrrs "$(nic 0)") $(mrrs "$(gpu 0)")" "512 512"
check "set through sysfs" python3 - "/sys/bus/pci/devices/$(nic 0)/config" <<'PY'
import os, sys
file = os.open(sys.argv[1], os.O_RDWR)
at = os.pread(file, 1, 0x34)[0]
while os.pread(file, 1, at)[0] != 0x10:
    at = os.pread(file, 1, at + 1)[0]
control = int.from_bytes(os.pread(file, 2, at + 8), "little")
os.pwrite(file, (control & ~0x7000 | 5 << 12).to_bytes(2, "little"), at + 8)
got = int.from_bytes(os.pread(file, 2, at + 8), "little")
assert got == control & ~0x7000 | 5 << 12, hex(got)
PY
check "lspci shows it" grep -q 'MaxReadReq 4096 bytes' <(lspci -vvs "$(nic 0)")
fabsim 0 reload 0
check "a driver reload" wait_until 5 rdmadev 0
eq "leaves it" "$(mrrs "$(nic 0)")" 4096

section "traffic"
for n in 0 1; do ip link set "$(netdev $n)" mtu 4200; done
for n in 0 1; do result $n app add dscp 26 3 >/dev/null; done
check "settled" wait_until 5 eval 'carrier_up 0 && carrier_up 1 && gid 0 && gid 1'
sent=$(hw_counter 0 sent_pkts) tx=$(counter 0 tx_prio3_packets) rx=$(counter 1 rx_packets_pri3)
check "ib_write_bw over NIC 0 and 1" traffic_start 0 1 4 --tclass=104
check "runs to its end" traffic_wait 0
check "the RDMA device counted" test "$(hw_counter 0 sent_pkts)" -gt "$sent"
check "priority 3 counted at the sender" test "$(counter 0 tx_prio3_packets)" -gt "$((tx + 100))"
check "and as RDMA" test "$(counter 0 tx_vport_rdma_unicast_packets)" -gt 100
check "priority 3 counted at the receiver" test "$(counter 1 rx_packets_pri3)" -gt "$((rx + 100))"
lost=$(hw_counter 0 rcvd_seq_err) out_of_seq=$(hw_counter 1 out_of_seq_request)
tc qdisc add dev "$(netdev 0)" root netem loss 2%
check "with loss" traffic_start 0 1 6
check "still runs to its end" traffic_wait 0
check "and raises out_of_seq_request at the receiver" test "$(hw_counter 1 out_of_seq_request)" -gt "$out_of_seq"
check "and rcvd_seq_err at the sender" test "$(hw_counter 0 rcvd_seq_err)" -gt "$lost"
tc qdisc del dev "$(netdev 0)" root
check "traffic again" traffic_start 0 1 200
sleep 2
begin=$SECONDS
fabsim 0 reload 100
check "a driver reload does not wait for the end of traffic" test $((SECONDS - begin)) -lt 100
traffic_stop 0
check "all is back" wait_until 10 eval 'rdmadev 0 && gid 0'
check "and works" eval 'traffic_start 0 1 2 && traffic_wait 0'
ip link set "$(netdev 2)" mtu 4200; ip link set "$(netdev 3)" mtu 4200
check "ib_write_bw over NIC 2 and 3" eval 'traffic_start 2 3 2 && traffic_wait 2'

section "unload"
for n in 0 1 2 3; do rdma link del "$(rdmadev $n)"; done
check "fabsim_ib" rmmod fabsim_ib
check "fabsim" rmmod fabsim
check "and load again" modprobe fabsim_ib
check "all is back" wait_until 20 eval 'rdmadev 0 && rdmadev 1 && rdmadev 2 && rdmadev 3'
eq "the kernel has not complained" "$(dmesg | grep -E 'WARNING|BUG|Oops|Call Trace|hung|refcount')" ""
finish
