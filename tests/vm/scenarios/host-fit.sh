#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# Limits of the services that start jobs: a stub of slurmd whose drop-in limits locked memory is named with file and line,
# after the drop-in is mended the restart is asked for, and after that nothing. What the unit files come to is compared
# with systemd's own word for a unit with every trap of their syntax.
. /mnt/host/scenarios/lib/agent.sh
check "the package installs" install_agent

DIR=/etc/systemd/system/slurmd.service.d
mkdir -p $DIR
printf '%s\n' '[Unit]' 'Description=stub' '[Service]' 'ExecStart=/bin/sleep infinity' 'LimitMEMLOCK=infinity' \
  >/etc/systemd/system/slurmd.service
finding() { fabric-agentctl check --interval 0 --only memlock --json | jq -c '.checks[] | select(.subject == "slurmd.service")'; }
says() { finding | jq -e "$1" >/dev/null || { finding; return 1; }; }
restart() { systemctl daemon-reload && systemctl restart slurmd.service; }

check "a service without limit starts" restart
check "and is in order" says '.status == "ok" and (.observed | test("^unlimited .sleep"))'

printf '# site limits\n[Service]\nLimitMEMLOCK=64K\n' >$DIR/50-limits.conf
check "a limit of the next start is foretold" says '.status == "warning" and (.observed | contains("50-limits.conf:3"))'
restart
check "the limit is critical, with file and line" says \
  '.status == "critical" and (.observed | test("^64 KiB .*64 KiB by /etc/systemd/system/slurmd.service.d/50-limits.conf:3"))'
check "and with the way to mend it" says '.remedy | contains("50-limits.conf:3 write LimitMEMLOCK=infinity")'
fabric-agentctl check --interval 0 --only memlock >/tmp/host-check.txt
check "an ordinary user sees the same" sh -c 'runuser -u nobody -- fabric-agentctl check --interval 0 --only memlock | grep -q 50-limits.conf:3'

printf '[Service]\nLimitMEMLOCK=infinity\n' >$DIR/50-limits.conf
check "mended and not restarted" says '.status == "critical" and (.remedy | contains("systemctl restart slurmd.service"))'
restart
check "mended and restarted" says '.status == "ok"'

# Each value as systemd accepts or ignores it: an ignored value leaves the one in the unit file.
systemd_says() { systemctl daemon-reload; systemctl show -p LimitMEMLOCKSoft --value slurmd.service; }
we_say() { finding | jq -r '.observed | capture("; (?<limit>[^;]*) by ").limit | sub(" .hard.*"; "")'; }
in_words() {
  case $1 in infinity) echo unlimited ;; *) awk -v n="$1" 'BEGIN { split("bytes KiB MiB GiB TiB", u); i = 1; while (n && n % 1024 == 0 && i < 5) { n /= 1024; i++ }; print n, u[i] }' ;; esac
}
for value in 8M '64K:infinity' '1G 512M' 1.5G '' unlimited 8m %i 8M:4M infinity:8M '8M:' 0 '1 K'; do
  printf '[Service]\nLimitMEMLOCK=%s\n' "$value" >$DIR/50-limits.conf
  eq "LimitMEMLOCK=$value" "$(we_say)" "$(in_words "$(systemd_says)")"
done
printf '[Unit]\nLimitMEMLOCK=1M\n[Service]\nEnvironment=A=\\\n# LimitMEMLOCK=2M\n  LimitMEMLOCK=3M\n; LimitMEMLOCK=4M\nLimitMEMLOCK = 5M \n' >$DIR/50-limits.conf
eq "comments, sections, a continued line" "$(we_say)" "$(in_words "$(systemd_says)")"
mkdir -p /run/systemd/system/slurmd.service.d /etc/systemd/system/service.d
printf '[Service]\nLimitMEMLOCK=6M\n' >/run/systemd/system/slurmd.service.d/50-limits.conf
eq "a drop-in of the same name in /run is hidden" "$(we_say)" "$(in_words "$(systemd_says)")"
printf '[Service]\nLimitMEMLOCK=7M\n' >/run/systemd/system/slurmd.service.d/60-limits.conf
eq "one of a later name wins" "$(we_say)" "$(in_words "$(systemd_says)")"
printf '[Service]\nLimitMEMLOCK=9M\n' >/etc/systemd/system/service.d/70-all.conf
eq "one for all services" "$(we_say)" "$(in_words "$(systemd_says)")"
ln -s /dev/null $DIR/70-all.conf
eq "and masked for this one" "$(we_say)" "$(in_words "$(systemd_says)")"

cp /tmp/host-check.txt "$OUT"
[[ $FABSIM_FAILED -gt 0 ]] && { finding; systemctl cat slurmd.service; }
finish
