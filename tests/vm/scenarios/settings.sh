#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# by hand: two boots of five minutes on a quiet machine
# run: --cmdline 'fabsim.personality=mlx5,bnxt,ice,ofed fabsim.fw_lldp=1' --timeout 1800
# run: --cmdline 'fabsim.personality=full,nodcb,i40e,mlx5 fabsim.fw_lldp=1' --timeout 1800
# Every setting, on every kind of card: set, read back by the kernel's own tools, drifted, repaired, restored. One row of
# the tables below = one setting: what the profile says, how the kernel is asked, what it must say, who disturbs it.
. /mnt/host/scenarios/lib/agent.sh

ROWS=() # NIC <tab> KEY <tab> TOML <tab> READ <tab> WANT <tab> FOREIGN
row() { ROWS+=("$(printf '%s\t' "$@")"); }

net() { netdev "$1"; }
ecn() { echo "/sys/class/net/$(netdev "$1")/ecn/$2"; }
mlx5_cc() { echo "/sys/kernel/debug/mlx5/$(nic "$1")/cc_params/$2"; }
bnxt_cc() { echo "/sys/kernel/debug/bnxt_re/$(nic "$1")/cc_config/$2"; }
ring() { ethtool -g "$(net "$1")" | awk -v k="$2:" '/^Current/ { on = 1 } on && $1 == k { print $2 }'; }
combined() { ethtool -l "$(net "$1")" | awk '/^Current/ { on = 1 } on && $1 == "Combined:" { print $2 }'; }
# What is in use: ice and drivers like it show what the module can do as configured.
fec() { ethtool --show-fec "$(net "$1")" | sed -n 's/^Active FEC encoding.*: *//p' | tr '[:upper:]' '[:lower:]' | xargs; }
private_flag() { ethtool --show-priv-flags "$(net "$1")" | awk -v f="$2" '$1 == f || $1 == f ":" { print $NF }'; }
pause() { ethtool -a "$(net "$1")" | awk '/^[RT]X:/ { printf "%s ", $2 }' | xargs; }
# rdma_cm's value is kept by the kernel; the directory is made to see it.
rdma_cm() {
  local folder
  folder=/sys/kernel/config/rdma_cm/$(rdmadev "$1")
  mkdir -p "$folder" && cat "$folder/ports/1/$2"
  rmdir "$folder"
}
set_rdma_cm() {
  local folder
  folder=/sys/kernel/config/rdma_cm/$(rdmadev "$1")
  mkdir -p "$folder" && echo "$3" >"$folder/ports/1/$2"
  rmdir "$folder"
}
optional_on() { rdma statistic mode link "$(port "$1")" | grep -o 'optional-counters .*' | cut -d' ' -f2 | tr ',' '\n' | sort | paste -sd, ; }
hex() { printf '%d\n' "$(cat "$1")"; }
enabled() { local p; for p in 0 1 2 3 4 5 6 7; do cat "$1/enable/$p"; done | paste -sd' '; }
# Whether the notification point is on, as it is while it is for one priority.
notifies() { [[ $(enabled "$1") == *1* ]] && echo on || echo off; }

DCB_ETS='{ prio_tc = [0, 0, 0, 1, 0, 0, 2, 0], tsa = ["ets", "ets", "strict"], bw = [50, 50, 0] }'
foreign_ets() { raw "$1" ets 0,0,0,0,0,0,0,0 ets,ets,strict,strict,strict,strict,strict,strict 20,80,0,0,0,0,0,0; }

# What all cards with DCB have.
dcb_rows() {
  local n=$1 ets=$2 foreign_ets=$3
  row "$n" dcbx '"host"' "dcb_get $n '.dcbx % 2'" 1 ''
  row "$n" trust '"dscp"' "dcb_get $n .trust" '"dscp"' ''
  row "$n" dscp_map '{ 26 = 3, 48 = 6 }' "dcb_get $n '[.app[] | select(.selector == \"dscp\" and (.protocol == 26 or .protocol == 48)) | .priority]'" '[3,6]' \
    "raw $n app del dscp 26 3"
  row "$n" ets "$ets" "dcb_get $n '.ets.prio_tc[3], .ets.tc_tx_bw[0]' | paste -sd' '" "$4" "$foreign_ets"
  row "$n" pfc '[3]' "dcb_get $n .pfc.pfc_en" 8 "raw $n pfc 0x10"
}
netdev_rows() {
  local n=$1
  row "$n" mtu 4200 "cat /sys/class/net/\$(net $n)/mtu" 4200 "ip link set \$(net $n) mtu 1500"
  row "$n" ring_rx 512 "ring $n RX" 512 "ethtool -G \$(net $n) rx 1024"
  row "$n" ring_tx 512 "ring $n TX" 512 "ethtool -G \$(net $n) tx 1024"
  row "$n" channels 2 "combined $n" 2 "ethtool -L \$(net $n) combined 4"
  row "$n" roce_tos 106 "rdma_cm $n default_roce_tos" 106 "set_rdma_cm $n default_roce_tos 0"
  row "$n" roce_mode '"v2"' "rdma_cm $n default_roce_mode" 'RoCE v2' ''
  row "$n" fec '"rs"' "fec $n" rs "ethtool --set-fec \$(net $n) encoding baser"
}
pause_row() { row "$1" pause '"off"' "pause $1" 'off off' "$2"; }
buffer_rows() {
  local n=$1
  row "$n" prio2buffer '[0, 0, 0, 1, 0, 0, 0, 0]' "dcb_get $n .buffer.prio2buffer[3]" 1 ''
  row "$n" maxrate '[0, 0, 0, 0, 0, 10000000, 0, 0]' "dcb_get $n .maxrate[5]" 10000000 "raw $n maxrate 0,0,0,0,0,5000000,0,0"
}

# The DCQCN parameters: OFED's name, upstream's file, a value that is no default, a foreign one.
DCQCN='clamp_tgt_rate rp_clamp_tgt_rate 1 0
clamp_tgt_rate_after_time_inc rp_clamp_tgt_rate_ati 0 1
rpg_time_reset rp_time_reset 310 400
rpg_byte_reset rp_byte_reset 16384 1000
rpg_threshold rp_threshold 2 5
rpg_max_rate rp_max_rate 100000 50000
rpg_ai_rate rp_ai_rate 4 9
rpg_hai_rate rp_hai_rate 40 90
rpg_gd rp_gd 10 9
rpg_min_dec_fac rp_min_dec_fac 60 20
rpg_min_rate rp_min_rate 10 20
rate_to_set_on_first_cnp rp_rate_to_set_on_first_cnp 1000 2000
dce_tcp_g rp_dce_tcp_g 1000 900
dce_tcp_rtt rp_dce_tcp_rtt 2 5
rate_reduce_monitor_period rp_rate_reduce_monitor_period 5 8
initial_alpha_value rp_initial_alpha_value 1000 900
min_time_between_cnps np_min_time_between_cnps 5 50'

# "pfc-prevention-tout: 8000"
watchdog() { ethtool --get-tunable "$(net "$1")" pfc-prevention-tout | awk '{ print $NF }'; }

# A value that does not count is none.
rtt_resp() { [[ $(cat "$(mlx5_cc "$1" rtt_resp_dscp_valid)") = 1 ]] && cat "$(mlx5_cc "$1" rtt_resp_dscp)" || echo none; }

mlx5_rows() {
  local n=$1 name file value foreign
  dcb_rows "$n" "$DCB_ETS" "foreign_ets $n" '1 50'
  pause_row "$n" "ethtool -A \$(net $n) rx on tx on"
  netdev_rows "$n"
  buffer_rows "$n"
  row "$n" buffer_size '"auto"' "dcb_get $n '.buffer.size[1] > 100000'" true ''
  row "$n" optional_counters '["cc_tx_cnp_pkts"]' "optional_on $n" cc_tx_cnp_pkts "rdma statistic unset link \$(port $n) optional-counters"
  row "$n" pfc_watchdog 200 "watchdog $n" 200 "ethtool --set-tunable \$(net $n) pfc-prevention-tout 8000"
  row "$n" cable_length 30 "dcb_get $n .pfc.delay" 30 "raw $n pfc 8 50"
  [[ $2 = debugfs ]] || return 0
  while read -r name file value foreign; do
    row "$n" "$name" "$value" "cat \$(mlx5_cc $n $file)" "$value" "echo $foreign >\$(mlx5_cc $n $file)"
  done <<<"$DCQCN"
  row "$n" cnp_dscp 46 "cat \$(mlx5_cc $n np_cnp_dscp)" 46 "echo 5 >\$(mlx5_cc $n np_cnp_dscp)"
  row "$n" cnp_prio 6 "cat \$(mlx5_cc $n np_cnp_prio)" 6 "echo 5 >\$(mlx5_cc $n np_cnp_prio)"
  row "$n" rtt_resp_dscp 20 "rtt_resp $n" 20 "echo 5 >\$(mlx5_cc $n rtt_resp_dscp)"
}

ofed_rows() {
  local n=$1 name file value foreign half
  mlx5_rows "$n" sysfs
  while read -r name file value foreign; do
    half=roce_rp
    [[ $name = min_time_between_cnps ]] && half=roce_np
    row "$n" "$name" "$value" "cat \$(ecn $n $half/$name)" "$value" "echo $foreign >\$(ecn $n $half/$name)"
  done <<<"$DCQCN"
  row "$n" ecn_rp '[3]' "enabled \$(ecn $n roce_rp)" '0 0 0 1 0 0 0 0' "echo 0 >\$(ecn $n roce_rp/enable/3)"
  row "$n" ecn_np '[3]' "notifies \$(ecn $n roce_np)" on "for p in 0 1 2 3 4 5 6 7; do echo 0 >\$(ecn $n roce_np/enable)/\$p; done"
  row "$n" cnp_dscp 46 "cat \$(ecn $n roce_np/cnp_dscp)" 46 "echo 5 >\$(ecn $n roce_np/cnp_dscp)"
  row "$n" cnp_prio 6 "cat \$(ecn $n roce_np/cnp_802p_prio)" 6 "echo 5 >\$(ecn $n roce_np/cnp_802p_prio)"
}

bnxt_rows() {
  local n=$1 name file value foreign
  dcb_rows "$n" "$DCB_ETS" "foreign_ets $n" '1 50'
  pause_row "$n" "ethtool -A \$(net $n) rx on tx on"
  netdev_rows "$n"
  while read -r name file value foreign; do
    row "$n" "$name" "$value" "hex \$(bnxt_cc $n $file)" "$value" "echo $foreign >\$(bnxt_cc $n $file)"
  done <<'T'
cc_mode cc_mode 1 0
cc_g run_avg_weight_g 5 2
cc_phases num_phase_per_state 3 7
cc_init_cr init_cr 300 100
cc_init_tr init_tr 200 100
cc_rtt rtt 50 90
cc_tcp_cp tcp_cp 9 30
cc_inactivity_cp inactivity_cp 9000 100
cnp_dscp alt_vlan_dscp 46 5
T
}

ice_rows() {
  local n=$1
  dcb_rows "$n" '{ prio_tc = [0, 1, 2, 3, 4, 5, 6, 7], tsa = ["ets", "ets", "ets", "ets", "ets", "ets", "ets", "ets"], bw = [30, 5, 5, 40, 5, 5, 5, 5] }' \
    "raw $n ets 0,1,2,3,4,5,6,7 ets,ets,ets,ets,ets,ets,ets,ets 44,8,8,8,8,8,8,8" '3 30'
  row "$n" fw_lldp false "private_flag $n fw-lldp-agent" off "ethtool --set-priv-flags \$(net $n) fw-lldp-agent on"
  pause_row "$n" ''
  netdev_rows "$n"
}

i40e_rows() {
  local n=$1
  row "$n" fw_lldp false "private_flag $n disable-fw-lldp" on "ethtool --set-priv-flags \$(net $n) disable-fw-lldp off"
  row "$n" ets "$DCB_ETS" "dcb_get $n '.ets.prio_tc[3], .ets.tc_tx_bw[0]' | paste -sd' '" '1 50' "foreign_ets $n"
  row "$n" pfc '[3]' "dcb_get $n .pfc.pfc_en" 8 "raw $n pfc 0x10"
  pause_row "$n" ''
  netdev_rows "$n"
}

full_rows() {
  local n=$1
  dcb_rows "$n" "$DCB_ETS" "foreign_ets $n" '1 50'
  pause_row "$n" "ethtool -A \$(net $n) rx on tx on"
  netdev_rows "$n"
  buffer_rows "$n"
  row "$n" apptrust '["dscp", "pcp"]' "dcb_get $n .apptrust" '["dscp","pcp"]' "raw $n apptrust pcp"
}

# ionic shows the PFC that the vendor's tool has set as pause: it is left alone.
nodcb_rows() { netdev_rows "$1"; }

for n in 0 1 2 3; do
  case $(fabsim $n personality) in
  mlx5) mlx5_rows $n debugfs ;;
  *) "$(fabsim $n personality)_rows" $n ;;
  esac
done

# The rows as one [[port]] entry for each NIC.
write_config() {
  local n line nic key toml
  {
    printf 'mode = "%s"\nreread = "3s"\n' "$1"
    for n in 0 1 2 3; do
      printf '\n[[port]]\nname = "nic%s"\nmatch = { pci = "%s" }\n' "$n" "$(nic "$n")"
      for line in "${ROWS[@]}"; do
        IFS=$'\t' read -r nic key toml _ <<<"$line"
        [[ $nic != "$n" ]] || echo "$key = $toml"
      done
    done
  } >"$CONFIG"
}

# each FUNCTION: calls it with NIC KEY READ WANT FOREIGN of every row.
each() {
  local line nic key read want foreign
  for line in "${ROWS[@]}"; do
    IFS=$'\t' read -r nic key _ read want foreign <<<"$line"
    "$1" "$nic" "$key" "$read" "$want" "$foreign"
  done
}
# each_of_round FUNCTION: the same for the ROUND-th four rows of every NIC.
each_of_round() {
  local line nic key read want foreign seen=(0 0 0 0)
  for line in "${ROWS[@]}"; do
    IFS=$'\t' read -r nic key _ read want foreign <<<"$line"
    ((seen[nic]++ / 4 == ROUND)) && "$1" "$nic" "$key" "$read" "$want" "$foreign"
  done
  true
}
ask() { eval "$1" 2>/dev/null; }
says() { [[ $(ask "$1") = "$2" ]]; }

modprobe -q rdma_cm
declare -A BEFORE
remember() { BEFORE[$1.$2]=$(ask "$3"); }
as_wanted() { check "NIC $1 ($(fabsim "$1" personality)): $2 is $4" wait_until 10 says "$3" "$4" || ask "$3"; }
each remember

check "the agent is installed" install_agent
write_config enforce
check "the configuration is good" fabric-agentctl config check
for n in 0 1 2 3; do fabsim $n log 0; done
check "the agent takes it" reload_agent
# A quiet machine: links back, every port looked after.
settled() { fabric-agentctl plan --json | jq -e '[.. | objects | select(.outcome? == "differs" or .outcome? == "pending")] | length == 0'; }
check "nothing is left to do" wait_until 60 settled
fabric-agentctl plan >"$OUT/plan" 2>&1
fabric-agentctl status >"$OUT/status" 2>&1
for n in 0 1 2 3; do fabsim $n log >"$OUT/log-$n"; done
each as_wanted

# first NIC CALL: line of the first such call in the module's log.
first() { grep -n "$2" "$OUT/log-$1" | head -1 | cut -d: -f1; }
last() { grep -n "$2" "$OUT/log-$1" | tail -1 | cut -d: -f1; }
before() { check "NIC $1: $2 before $3" test "$(first "$1" "$2")" -lt "$(last "$1" "$3")"; }
for n in 0 1 2 3; do
  case $(fabsim $n personality) in
  ice) before $n setapp setets ;;
  bnxt) before $n setets setpfc ;;
  mlx5 | ofed)
    before $n setbuffer setpfc
    check "NIC $n: PFC is sent again when the carrier is back" test "$(grep -c 'setpfc pfc_en=0x08' "$OUT/log-$n")" -ge 2
    ;;
  esac
done

for n in 0 1 2 3; do fabsim $n log 0; done
sleep 4
for n in 0 1 2 3; do eq "NIC $n: another reading writes nothing" "$(fabsim $n log)" ''; done

# Four settings of each NIC at a time: what is not notified is found by the next reading, which then serves all.
disturb() { [[ -z $5 ]] || ask "$5" >/dev/null; }
put_back() { [[ -z $5 ]] || check "NIC $1 ($(fabsim "$1" personality)): $2 is put back" wait_until 25 says "$3" "$4"; }
for ((i = 0; i < 16; i++)); do
  ROUND=$i each_of_round disturb
  ROUND=$i each_of_round put_back
done
check "who disturbed is told" sh -c 'fabric-agentctl status --json | jq -e "[.. | .drifts? // empty | select(. > 0)] | length > 0"'

for n in 0 1 2 3; do fabsim $n wipe 1; done
check "nothing is left to do after a silent wipe" wait_until 40 settled
each as_wanted

systemctl stop fabric-agent.service
sleep 2
check "restore" fabric-agentctl restore --disruptive now
sleep 3
as_before() { eq "NIC $1 ($(fabsim "$1" personality)): $2 stands as before" "$(ask "$3")" "${BEFORE[$1.$2]}"; }
each as_before
[[ $FABSIM_FAILED -gt 0 ]] && agent_log 80
finish
